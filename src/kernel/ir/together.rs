//! Which dimensions of arguments are to have one name: those that a loop or a kernel cuts together.

use super::dim_labels::DimLabels;
use crate::{
    dialect::ComputeOp,
    mlir::{Op, OpExt},
};
use std::collections::BTreeSet;

/// A dimension of an argument: the number of the argument, and of the dimension.
pub(super) type Origin = (usize, usize);

/// Dimensions of arguments, in groups that are to have one name.
pub(super) struct Together {
    groups: Vec<Vec<Origin>>,
    /// Two that an op walks along as two of its dimensions, the lesser one first.
    apart: BTreeSet<(Origin, Origin)>,
}

impl Together {
    /// None are in a group yet.
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

    /// Whether two dimensions may have one name. Those of one argument must not, nor those of one op: a loop would see their diagonal only.
    pub(super) fn may_be_one(&self, one: Origin, other: Origin) -> bool {
        one == other || (one.0 != other.0 && !self.apart.contains(&(one.min(other), one.max(other))))
    }

    /// Puts the groups of two dimensions together.
    pub(super) fn join(&mut self, one: Origin, other: Origin) {
        let both: BTreeSet<Origin> = [one, other].into_iter().flat_map(|origin| self.group_of(origin)).collect();
        self.groups.retain(|group| !both.contains(&group[0]));
        self.groups.push(both.into_iter().collect());
    }

    /// The dimensions that are to have the name that one of them has, with that one.
    pub(super) fn group_of(&self, origin: Origin) -> Vec<Origin> {
        self.groups.iter().find(|group| group.contains(&origin)).cloned().unwrap_or_else(|| vec![origin])
    }
}
