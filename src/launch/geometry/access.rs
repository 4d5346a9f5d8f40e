//! Classifies operands: index tensors, and operands that are addressed through one ("SuperDSC schema, section 1").

use crate::{bundle::OpSpec, launch::LaunchError};

/// Addressing mode of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressingMode {
    /// Addressed by its coordinates alone.
    Direct,
    /// Holds the indices for the operand `value`.
    Index {
        /// First operand that it indexes.
        value: usize,
    },
    /// Source of a gather or destination of a scatter, addressed through the operand `index`.
    Value {
        /// Index tensor.
        index: usize,
    },
}

impl AddressingMode {
    /// Returns whether the operand holds indices.
    #[must_use]
    pub const fn is_index(self) -> bool {
        matches!(self, Self::Index { .. })
    }
}

/// Returns the addressing mode of every operand.
pub(super) fn classify_operands(op: &OpSpec) -> Result<Vec<AddressingMode>, LaunchError> {
    let mut accesses = vec![AddressingMode::Direct; op.operands.len()];
    for (value, operand) in op.operands.iter().enumerate() {
        for name in operand.coordinates.iter().filter_map(|coordinate| coordinate.index_name()) {
            let index = op
                .operands
                .iter()
                .position(|other| other.name.as_deref() == Some(name))
                .filter(|index| *index != value)
                .ok_or_else(|| LaunchError::UnknownIndex { operand: value, name: name.to_owned() })?;
            if op.operands[index].allocation.is_lx() {
                return Err(LaunchError::IndexInLx { operand: index });
            }
            if accesses[index] == AddressingMode::Direct {
                accesses[index] = AddressingMode::Index { value };
            }
            if accesses[value] == AddressingMode::Direct {
                accesses[value] = AddressingMode::Value { index };
            }
        }
    }
    Ok(accesses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::Coordinate;
    use crate::bundle::testing::operand;

    #[test]
    fn links_operands_of_indirect_coordinate() {
        let mut index = operand(&[1, 64], vec![Coordinate::constant(0), Coordinate::dim(0)]);
        index.name = Some("rows".to_owned());
        let table = operand(&[8, 64], vec![Coordinate::indirect("rows"), Coordinate::dim(1)]);
        let result = operand(&[2, 64], vec![Coordinate::dim(0), Coordinate::dim(1)]);
        let mut op = OpSpec { operands: vec![index, table, result], ..OpSpec::default() };
        assert_eq!(
            classify_operands(&op).unwrap(),
            [AddressingMode::Index { value: 1 }, AddressingMode::Value { index: 0 }, AddressingMode::Direct]
        );
        op.operands[0].name = None;
        assert_eq!(classify_operands(&op), Err(LaunchError::UnknownIndex { operand: 1, name: "rows".to_owned() }));
    }
}
