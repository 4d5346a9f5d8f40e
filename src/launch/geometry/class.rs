//! Layout classes: tensors of one op with the same layout share a description in the file ("SuperDSC schema, section 3,
//! step 7").

use super::{AddressingMode, DimLabel, LabeledTensor};
use crate::bundle::OpFamily;
use crate::launch::LaunchError;
use std::collections::BTreeSet;

/// Name of a layout class. It only distinguishes classes; except for `KERNEL_IDX` it does not indicate a tensor's role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassName {
    /// `INPUT`
    Input,
    /// `KERNEL`
    Kernel,
    /// `OUTPUT`
    Output,
    /// `KERNEL_IDX`, the index tensors.
    KernelIndex,
}

impl ClassName {
    /// All names, in the order of the enum.
    pub const ALL: [Self; 4] = [Self::Input, Self::Kernel, Self::Output, Self::KernelIndex];

    /// Returns the name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "INPUT",
            Self::Kernel => "KERNEL",
            Self::Output => "OUTPUT",
            Self::KernelIndex => "KERNEL_IDX",
        }
    }

    /// Returns the order in which an op's classes are named.
    const fn naming_order(family: OpFamily) -> [Self; 4] {
        match family {
            OpFamily::Matmul | OpFamily::Conv2d => [Self::Input, Self::Kernel, Self::Output, Self::KernelIndex],
            OpFamily::Depthwise => [Self::Output, Self::Input, Self::Kernel, Self::KernelIndex],
            OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
                [Self::Output, Self::Kernel, Self::Input, Self::KernelIndex]
            }
        }
    }
}

/// A layout class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutClass {
    /// Name of the class.
    pub name: ClassName,
    /// Dimension order of the tensor that created it.
    pub order: Vec<DimLabel>,
    /// Dimensions that run along a stick.
    pub stick: Vec<DimLabel>,
    /// Number of elements of the stick along each of these dimensions.
    pub stick_sizes: Vec<i64>,
}

impl LayoutClass {
    fn new(name: ClassName, tensor: &LabeledTensor) -> Self {
        Self { name, order: tensor.order(), stick: tensor.stick.clone(), stick_sizes: tensor.stick_sizes.clone() }
    }

    /// Returns the number of elements of one stick.
    #[must_use]
    pub fn stick_elements(&self) -> i64 {
        self.stick_sizes.iter().product()
    }

    fn matches_tensor(&self, tensor: &LabeledTensor) -> bool {
        let set = |labels: &[DimLabel]| labels.iter().copied().collect::<BTreeSet<_>>();
        self.stick == tensor.stick && self.stick_sizes == tensor.stick_sizes && set(&self.order) == set(&tensor.order())
    }
}

/// Assigns a class to every tensor, and returns the classes in the order of their first tensors.
pub(super) fn assign_classes(
    family: OpFamily,
    is_indirect: bool,
    tensors: &mut [LabeledTensor],
) -> Result<Vec<LayoutClass>, LaunchError> {
    let names = ClassName::naming_order(family);
    let mut classes: Vec<LayoutClass> = Vec::new();
    for tensor in tensors {
        let by_role = match tensor.access {
            AddressingMode::Index { .. } => Some(ClassName::KernelIndex),
            AddressingMode::Direct | AddressingMode::Value { .. } => is_indirect.then_some(ClassName::Output),
        };
        let known = match by_role {
            Some(name) => classes.iter().position(|class| class.name == name),
            None => classes.iter().position(|class| class.matches_tensor(tensor)),
        };
        tensor.class = known.unwrap_or(classes.len());
        if known.is_none() {
            let free = names.get(classes.len()).copied();
            let name =
                by_role.or(free).ok_or(LaunchError::TooManyClasses { found: classes.len() + 1, limit: names.len() })?;
            classes.push(LayoutClass::new(name, tensor));
        }
    }
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use super::super::Geometry;
    use crate::bundle::Coordinate;
    use crate::bundle::testing::{dense_operand, op, operand};

    fn classes(op: &crate::bundle::OpSpec) -> Vec<(&'static str, Vec<usize>)> {
        let geometry = Geometry::new(op).unwrap();
        let members =
            |class| (0..geometry.tensors.len()).filter(|tensor| geometry.tensors[*tensor].class == class).collect();
        geometry.classes.iter().enumerate().map(|(number, class)| (class.name.name(), members(number))).collect()
    }

    #[test]
    fn shares_class_for_same_dimensions_and_stick() {
        let add = op(
            "add",
            &[8, 128],
            vec![dense_operand(&[8, 128], 0, 1), dense_operand(&[8, 128], 0, 1), dense_operand(&[8, 128], 0, 1)],
        );
        assert_eq!(classes(&add), [("OUTPUT", vec![0, 1, 2])]);
        let transposed = op(
            "ReStickifyOpHBM",
            &[128, 128],
            vec![dense_operand(&[128, 128], 1, 0), dense_operand(&[128, 128], 0, 1)],
        );
        assert_eq!(classes(&transposed), [("OUTPUT", vec![0]), ("KERNEL", vec![1])]);
    }

    #[test]
    fn assigns_class_to_each_matmul_operand() {
        let operands =
            vec![dense_operand(&[8, 128], 0, 2), dense_operand(&[128, 256], 2, 1), dense_operand(&[8, 256], 0, 1)];
        assert_eq!(
            classes(&op("batchmatmul", &[8, 256, 128], operands)),
            [("INPUT", vec![0]), ("KERNEL", vec![1]), ("OUTPUT", vec![2])]
        );
    }

    #[test]
    fn assigns_index_class_to_index_tensor() {
        let mut index = operand(&[1, 64], vec![Coordinate::constant(0), Coordinate::dim(0)]);
        index.name = Some("t".to_owned());
        let table =
            operand(&[512, 1, 64], vec![Coordinate::indirect("t"), Coordinate::constant(0), Coordinate::dim(1)]);
        let gather = op("identity", &[64, 64], vec![index, table, dense_operand(&[64, 64], 0, 1)]);
        assert_eq!(classes(&gather), [("KERNEL_IDX", vec![0]), ("OUTPUT", vec![1, 2])]);
    }
}
