//! States of values: in HBM, or in LX under a view that all users can have.

use super::{JointProgram, alike::Alike};
use crate::work::{CoreUse, CoreView, view_of};
use scratchpad::Capacity;
use std::collections::BTreeSet;

/// State of a value in HBM; the other states are views, numbered from 1.
pub(super) const IN_HBM: usize = 0;

/// Maximum number of feasible entries of an op's table.
const MOST_POSSIBLE: usize = 1 << 18;
/// Maximum number of entries of such a table, feasible or not: each has an index.
const MOST_NUMBERED: usize = 1 << 48;

/// For one split of an op the view of each operand that could be in LX; `None` where the split determines no view.
pub(super) type Views = Vec<Option<CoreView>>;

/// Returns the views of each split of each kind of op.
pub(super) fn views_of_kinds(program: &JointProgram) -> Vec<Vec<Views>> {
    let mut may_be_in_lx: Vec<Vec<bool>> = program.kinds.iter().map(|kind| vec![false; kind.operation.operands.len()]).collect();
    for op in &program.ops {
        for (may, value) in may_be_in_lx[op.kind].iter_mut().zip(&op.values) {
            *may |= value.is_some();
        }
    }
    let of_kind = |(kind, may): (&super::Kind, &Vec<bool>)| {
        let view = |split, (operand, may): (usize, &bool)| {
            may.then(|| view_of(0, &CoreUse { op: &kind.operation, operand, split }).ok()).flatten()
        };
        kind.splits.iter().map(|split| may.iter().enumerate().map(|operand| view(split, operand)).collect()).collect()
    };
    program.kinds.iter().zip(&may_be_in_lx).map(of_kind).collect()
}

/// Views under which values can be in LX.
pub(super) struct States {
    /// Sets of views in ascending order; values with equivalent users share one.
    sets: Vec<Vec<CoreView>>,
    /// For each value its set; `None` for a value that stays in HBM.
    of_values: Vec<Option<usize>>,
}

impl States {
    pub(super) fn of(program: &JointProgram, views: &[Vec<Views>], capacity: &Capacity) -> Self {
        let mut sets = Alike::default();
        let set = |value: &super::Value| {
            let kinds: BTreeSet<(usize, usize)> = value.users.iter().map(|user| (program.ops[user.op].kind, user.operand)).collect();
            let make = |(kinds, bytes): &(BTreeSet<_>, i64)| common_views(kinds, *bytes, views, capacity);
            value.buffer.barred.is_none().then(|| sets.number((kinds, value.buffer.bytes), make))
        };
        let of_values = program.values.iter().map(set).collect();
        let mut states = Self { sets: sets.into_made(), of_values };
        (0..program.ops.len()).for_each(|op| states.limit(program, op));
        states
    }

    /// Leaves values of an op in HBM until its table is small enough, those with most views first. Only feasible entries count: under each
    /// split, a value is in HBM or has the one view of that split.
    fn limit(&mut self, program: &JointProgram, op: usize) {
        let values: BTreeSet<usize> = program.ops[op].values.iter().flatten().copied().collect();
        let n_splits = program.kind(op).splits.len();
        let is_too_large = |states: &Self| {
            let n_states = values.iter().map(|&value| states.n_states(value));
            let n_possible = n_states.clone().filter(|n_states| *n_states > 1).fold(n_splits, |n_possible, _| n_possible.saturating_mul(2));
            n_possible > MOST_POSSIBLE || n_states.fold(1, usize::saturating_mul) > MOST_NUMBERED
        };
        while is_too_large(self) {
            let Some(&largest) = values.iter().max_by_key(|&&value| self.n_states(value)) else { return };
            self.of_values[largest] = None;
        }
    }

    /// Returns the number of a value's set of views; equal numbers mean equal views.
    pub(super) fn set(&self, value: usize) -> Option<usize> {
        self.of_values[value]
    }

    /// Returns the views of a set.
    pub(super) fn views(&self, set: Option<usize>) -> &[CoreView] {
        set.map_or(&[], |set| &self.sets[set])
    }

    /// Returns the number of states of a value, including HBM.
    pub(super) fn n_states(&self, value: usize) -> usize {
        self.views(self.set(value)).len() + 1
    }
}

/// Returns the views that all users of a value, by kind and operand, can have, and under which a slice fits in LX.
fn common_views(users: &BTreeSet<(usize, usize)>, bytes: i64, views: &[Vec<Views>], capacity: &Capacity) -> Vec<CoreView> {
    let of_user =
        |&(kind, operand): &(usize, usize)| views[kind].iter().filter_map(|views| views[operand].clone()).collect::<BTreeSet<_>>();
    let common = users.iter().map(of_user).reduce(|common, of_user| common.intersection(&of_user).cloned().collect());
    let fits = |view: &CoreView| bytes / view.slices() <= capacity.bytes;
    common.into_iter().flatten().filter(fits).collect()
}
