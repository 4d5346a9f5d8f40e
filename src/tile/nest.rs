//! What a nest of loops does with each op and each tensor of a group.

/// For each level of a nest, outermost first, the dimension of a tensor that is cut there.
pub type Cut = Vec<Option<usize>>;

/// A tensor of an op: which value it is, and the iteration dimension behind each of its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorUse {
    /// The value; two uses of one value have the same number.
    pub value: usize,
    /// For each dimension the iteration dimension that indexes it, if any.
    pub dims: Vec<Option<usize>>,
}

/// An op of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOp {
    /// Names of the iteration dimensions; empty where none is known.
    pub names: Vec<String>,
    /// Sizes of the iteration dimensions.
    pub sizes: Vec<i64>,
    /// How many of the last ones are reduced.
    pub n_reduced: usize,
    /// The operands.
    pub inputs: Vec<TensorUse>,
    /// The result.
    pub output: TensorUse,
}

/// A nest of loops around a group: how each op's tensors are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// For each op the cuts of its operands, then of its result.
    pub cuts: Vec<Vec<Cut>>,
}

/// Why a group cannot be tiled as its hints say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NestError {
    /// A count must divide.
    #[error("cannot cut '{dim}' of {size} into {count} tiles of equal size")]
    Uneven {
        /// Position of the op in the group.
        op: usize,
        /// The name of the dimension.
        dim: String,
        /// What is to be cut.
        size: i64,
        /// Into how many.
        count: i64,
    },
    /// Needs partial results.
    #[error("cannot cut '{dim}', which the op reduces: tiling a reduction is not supported yet")]
    Reduced {
        /// Position of the op in the group.
        op: usize,
        /// The name of the dimension.
        dim: String,
    },
    /// A hint that nothing follows would be dropped silently.
    #[error("is to be tiled along '{dim}', but no op of its group has a dimension of that name")]
    Unknown {
        /// Position of the first op of the group.
        op: usize,
        /// The name of the dimension.
        dim: String,
    },
    /// Which of them should be cut?
    #[error("has two dimensions '{dim}', so a tile count for it has no one meaning")]
    Ambiguous {
        /// Position of the op in the group.
        op: usize,
        /// The name of the dimensions.
        dim: String,
    },
    /// The reader needs more than the iteration makes.
    #[error("reads operand {operand} whole or along another dimension, but it is made tile by tile in the same loop")]
    Crossing {
        /// Position of the reader in the group.
        op: usize,
        /// Position of the writer in the group.
        writer: usize,
        /// Which operand of the reader.
        operand: usize,
    },
}

impl NestError {
    /// Position in the group of the op that the error is about.
    #[must_use]
    pub const fn op(&self) -> usize {
        match self {
            Self::Uneven { op, .. }
            | Self::Reduced { op, .. }
            | Self::Unknown { op, .. }
            | Self::Ambiguous { op, .. }
            | Self::Crossing { op, .. } => *op,
        }
    }
}

impl Nest {
    /// Plans the nest with the given levels (name and count, outermost first).
    ///
    /// # Errors
    /// When the group cannot be tiled so; see [`NestError`].
    pub fn plan(levels: &[(String, i64)], ops: &[GroupOp]) -> Result<Self, NestError> {
        let mut is_used = vec![false; levels.len()];
        let mut cuts = Vec::with_capacity(ops.len());
        for (position, op) in ops.iter().enumerate() {
            let cut_dims = op.cut_dims(position, levels)?;
            for (used, dim) in is_used.iter_mut().zip(&cut_dims) {
                *used |= dim.is_some();
            }
            cuts.push(op.tensors().map(|tensor| tensor.cut(&cut_dims)).collect());
        }
        if let Some(level) = is_used.iter().position(|used| !used) {
            return Err(NestError::Unknown { op: 0, dim: levels[level].0.clone() });
        }
        let nest = Self { cuts };
        nest.check_crossings(ops)?;
        Ok(nest)
    }

    /// A value that is made in the loop exists one tile at a time: its readers there must want just that tile.
    fn check_crossings(&self, ops: &[GroupOp]) -> Result<(), NestError> {
        for (position, op) in ops.iter().enumerate() {
            for (operand, input) in op.inputs.iter().enumerate() {
                let Some(writer) = ops[..position].iter().position(|other| other.output.value == input.value) else { continue };
                if self.cuts[writer].last() != self.cuts[position].get(operand) {
                    return Err(NestError::Crossing { op: position, writer, operand });
                }
            }
        }
        Ok(())
    }
}

impl GroupOp {
    fn tensors(&self) -> impl Iterator<Item = &TensorUse> {
        self.inputs.iter().chain([&self.output])
    }

    /// The iteration dimension that is cut at each level.
    fn cut_dims(&self, op: usize, levels: &[(String, i64)]) -> Result<Vec<Option<usize>>, NestError> {
        let mut sizes = self.sizes.clone();
        let mut dims = Vec::with_capacity(levels.len());
        for (name, count) in levels {
            let dim = self.names.iter().position(|other| other == name);
            if self.names.iter().filter(|other| *other == name).count() > 1 {
                return Err(NestError::Ambiguous { op, dim: name.clone() });
            }
            if let Some(dim) = dim {
                if dim >= self.sizes.len() - self.n_reduced {
                    return Err(NestError::Reduced { op, dim: name.clone() });
                }
                if sizes[dim] % count != 0 {
                    return Err(NestError::Uneven { op, dim: name.clone(), size: sizes[dim], count: *count });
                }
                sizes[dim] /= count;
            }
            dims.push(dim);
        }
        Ok(dims)
    }
}

impl TensorUse {
    fn cut(&self, cut_dims: &[Option<usize>]) -> Cut {
        cut_dims.iter().map(|dim| dim.and_then(|dim| self.dims.iter().position(|&other| other == Some(dim)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(value: usize, dims: &[Option<usize>]) -> TensorUse {
        TensorUse { value, dims: dims.to_vec() }
    }

    fn op(names: &[&str], sizes: &[i64], n_reduced: usize, inputs: Vec<TensorUse>, output: TensorUse) -> GroupOp {
        GroupOp { names: names.iter().map(|&name| name.to_owned()).collect(), sizes: sizes.to_vec(), n_reduced, inputs, output }
    }

    fn levels(levels: &[(&str, i64)]) -> Vec<(String, i64)> {
        levels.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    }

    const BOTH: [Option<usize>; 2] = [Some(0), Some(1)];

    #[test]
    fn each_level_cuts_the_dimension_of_its_name() {
        let add = op(&["A", "B"], &[1024, 4096], 0, vec![tensor(0, &BOTH), tensor(1, &[None, Some(1)])], tensor(2, &BOTH));
        let nest = Nest::plan(&levels(&[("A", 2), ("B", 4)]), &[add]).unwrap();
        assert_eq!(nest.cuts, [vec![vec![Some(0), Some(1)], vec![None, Some(1)], vec![Some(0), Some(1)]]]);
    }

    #[test]
    fn one_name_can_be_cut_twice() {
        let exp = op(&["A", "B"], &[8, 64], 0, vec![tensor(0, &BOTH)], tensor(1, &BOTH));
        assert!(Nest::plan(&levels(&[("A", 2), ("A", 4)]), std::slice::from_ref(&exp)).is_ok());
        let error = Nest::plan(&levels(&[("A", 2), ("A", 8)]), &[exp]).unwrap_err();
        assert_eq!(error, NestError::Uneven { op: 0, dim: "A".to_owned(), size: 4, count: 8 });
    }

    #[test]
    fn a_reduced_dimension_is_not_cut() {
        let max = op(&["A", "B"], &[8, 64], 1, vec![tensor(0, &BOTH)], tensor(1, &[Some(0), None]));
        assert!(Nest::plan(&levels(&[("A", 2)]), std::slice::from_ref(&max)).is_ok());
        let error = Nest::plan(&levels(&[("B", 2)]), &[max]).unwrap_err();
        assert_eq!(error, NestError::Reduced { op: 0, dim: "B".to_owned() });
    }

    #[test]
    fn a_name_of_two_dimensions_has_no_one_meaning() {
        let square = op(&["A", "A"], &[8, 64], 0, vec![tensor(0, &BOTH)], tensor(1, &BOTH));
        assert_eq!(Nest::plan(&levels(&[("A", 2)]), &[square]).unwrap_err(), NestError::Ambiguous { op: 0, dim: "A".to_owned() });
    }

    #[test]
    fn a_name_that_nobody_has_is_an_error() {
        let exp = op(&["A", ""], &[8, 64], 0, vec![tensor(0, &BOTH)], tensor(1, &BOTH));
        assert_eq!(Nest::plan(&levels(&[("C", 2)]), &[exp]).unwrap_err(), NestError::Unknown { op: 0, dim: "C".to_owned() });
    }

    #[test]
    fn a_reader_in_the_loop_gets_the_tile_that_was_made() {
        let exp = op(&["A", "B"], &[64, 64], 0, vec![tensor(0, &BOTH)], tensor(1, &BOTH));
        // The same value read with its dimensions exchanged.
        let add = op(&["B", "A"], &[64, 64], 0, vec![tensor(1, &[Some(1), Some(0)])], tensor(2, &BOTH));
        assert!(Nest::plan(&levels(&[("A", 2)]), &[exp.clone(), add]).is_ok(), "the names follow the data");
        let renamed = op(&["A", "B"], &[64, 64], 0, vec![tensor(1, &[Some(1), Some(0)])], tensor(2, &BOTH));
        let error = Nest::plan(&levels(&[("A", 2)]), &[exp, renamed]).unwrap_err();
        assert_eq!(error, NestError::Crossing { op: 1, writer: 0, operand: 0 });
    }
}
