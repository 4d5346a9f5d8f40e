//! Groups argument dimensions that need one common name because a loop or a kernel tiles them together.

use super::dim_labels::DimLabels;
use crate::{
    dialect::ComputeOp,
    mlir::{Op, OpExt},
};
use std::collections::BTreeSet;

/// Argument dimension: argument number and dimension number.
pub(super) type ArgumentDim = (usize, usize);

/// Groups of argument dimensions that get a common name.
pub(super) struct DimNameGroups {
    groups: Vec<Vec<ArgumentDim>>,
    /// Pairs that one op indexes by two different iteration dimensions, the smaller one first.
    apart: BTreeSet<(ArgumentDim, ArgumentDim)>,
}

impl DimNameGroups {
    /// Creates the state in which no dimensions are grouped.
    pub(super) fn new(around: Op<'_>, known: &DimLabels<ArgumentDim>) -> Self {
        let mut apart = BTreeSet::new();
        for compute in around.nested().into_iter().filter_map(ComputeOp::from_op) {
            let dims = known.all_iteration_labels(compute);
            for (number, others) in dims.iter().enumerate() {
                let before = dims[..number].iter().flatten();
                apart.extend(before.flat_map(|one| others.iter().map(|other| (*one.min(other), *one.max(other)))));
            }
        }
        Self { groups: Vec::new(), apart }
    }

    /// Returns whether two dimensions may have one name. Dimensions of one argument, or of one op, must not: a loop
    /// would iterate over their diagonal only.
    pub(super) fn may_share_name(&self, one: ArgumentDim, other: ArgumentDim) -> bool {
        one == other || (one.0 != other.0 && !self.apart.contains(&(one.min(other), one.max(other))))
    }

    /// Merges the groups of two dimensions.
    pub(super) fn merge(&mut self, one: ArgumentDim, other: ArgumentDim) {
        let both: BTreeSet<ArgumentDim> = [one, other].into_iter().flat_map(|origin| self.group_of(origin)).collect();
        self.groups.retain(|group| !both.contains(&group[0]));
        self.groups.push(both.into_iter().collect());
    }

    /// Returns the group of a dimension, including the dimension.
    pub(super) fn group_of(&self, origin: ArgumentDim) -> Vec<ArgumentDim> {
        self.groups.iter().find(|group| group.contains(&origin)).cloned().unwrap_or_else(|| vec![origin])
    }
}
