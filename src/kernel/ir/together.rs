//! Groups argument dimensions that need one common name because a loop or a kernel tiles them together.

use super::dim_labels::DimLabels;
use crate::{
    dialect::ComputeOp,
    mlir::{Op, OpExt},
};
use std::collections::BTreeSet;

/// Argument dimension: argument number and dimension number.
pub(super) type Origin = (usize, usize);

/// Groups of argument dimensions that get a common name.
pub(super) struct Together {
    groups: Vec<Vec<Origin>>,
    /// Pairs that one op indexes by two different iteration dimensions, the smaller one first.
    apart: BTreeSet<(Origin, Origin)>,
}

impl Together {
    /// Creates the state in which no dimensions are grouped.
    pub(super) fn of(around: Op<'_>, known: &DimLabels<Origin>) -> Self {
        let mut apart = BTreeSet::new();
        for compute in around.nested().into_iter().filter_map(ComputeOp::of) {
            let dims = known.all_of_iteration(compute);
            for (number, others) in dims.iter().enumerate() {
                let before = dims[..number].iter().flatten();
                apart.extend(before.flat_map(|one| others.iter().map(|other| (*one.min(other), *one.max(other)))));
            }
        }
        Self { groups: Vec::new(), apart }
    }

    /// Whether two dimensions may have one name. Dimensions of one argument, or of one op, must not: a loop would iterate over
    /// their diagonal only.
    pub(super) fn may_be_one(&self, one: Origin, other: Origin) -> bool {
        one == other || (one.0 != other.0 && !self.apart.contains(&(one.min(other), one.max(other))))
    }

    /// Merges the groups of two dimensions.
    pub(super) fn join(&mut self, one: Origin, other: Origin) {
        let both: BTreeSet<Origin> = [one, other].into_iter().flat_map(|origin| self.group_of(origin)).collect();
        self.groups.retain(|group| !both.contains(&group[0]));
        self.groups.push(both.into_iter().collect());
    }

    /// Returns the group of a dimension, including the dimension.
    pub(super) fn group_of(&self, origin: Origin) -> Vec<Origin> {
        self.groups.iter().find(|group| group.contains(&origin)).cloned().unwrap_or_else(|| vec![origin])
    }
}
