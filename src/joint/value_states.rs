//! States of values: in HBM, or in LX under a view that all users can have.

use super::{JointMemo, JointProgram, OpClass, memo::ViewSetKey};
use crate::work::CoreView;
use scratchpad::Capacity;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// State of a value in HBM; the other states are views, numbered from 1.
pub(super) const IN_HBM: usize = 0;

/// Maximum number of feasible entries of an op's table.
const MAX_FEASIBLE_ENTRIES: usize = 1 << 18;
/// Maximum number of entries of such a table, feasible or not: each has an index.
const MAX_INDEXED_ENTRIES: usize = 1 << 48;

/// Views under which values can be in LX.
pub(super) struct ValueStates {
    /// For each value its set of views in ascending order; `None` for a value that stays in HBM. Values with equivalent
    /// users share one.
    of_values: Vec<Option<ViewSet>>,
}

/// Set of views.
#[derive(Clone)]
pub(super) struct ViewSet {
    /// Number of the set in the [`JointMemo`]; equal numbers mean equal views.
    number: usize,
    views: Rc<[CoreView]>,
}

impl ValueStates {
    pub(super) fn new(program: &JointProgram, capacity: &Capacity, memo: &mut JointMemo) -> Self {
        let mut set = |value: &super::JointValue| {
            // Equivalent users have the same views.
            let users: BTreeMap<(usize, usize), &OpClass> = value
                .users
                .iter()
                .map(|user| (program.op_class(user.op), user.operand))
                .map(|(kind, operand)| ((kind.number, operand), kind))
                .collect();
            let make = |(_, bytes): &ViewSetKey| find_common_views(&users, *bytes, capacity).into();
            let number = memo.sets.intern((users.keys().copied().collect(), value.buffer.bytes), make);
            ViewSet { number, views: Rc::clone(memo.sets.get(number)) }
        };
        let of_values = program.values.iter().map(|value| value.buffer.barred.is_none().then(|| set(value))).collect();
        let mut states = Self { of_values };
        (0..program.ops.len()).for_each(|op| states.limit_table_size(program, op));
        states
    }

    /// Leaves values of an op in HBM until its table is small enough, those with most views first. Only feasible
    /// entries count: under each split, a value is in HBM or has the one view of that split.
    fn limit_table_size(&mut self, program: &JointProgram, op: usize) {
        let values: BTreeSet<usize> = program.ops[op].values.iter().flatten().copied().collect();
        let num_splits = program.op_class(op).splits.len();
        let is_too_large = |states: &Self| {
            let num_states = values.iter().map(|&value| states.num_states(value));
            let num_possible = num_states
                .clone()
                .filter(|num_states| *num_states > 1)
                .fold(num_splits, |num_possible, _| num_possible.saturating_mul(2));
            num_possible > MAX_FEASIBLE_ENTRIES || num_states.fold(1, usize::saturating_mul) > MAX_INDEXED_ENTRIES
        };
        while is_too_large(self) {
            let Some(&largest) = values.iter().max_by_key(|&&value| self.num_states(value)) else { return };
            self.of_values[largest] = None;
        }
    }

    /// Returns the number of a value's set of views; equal numbers mean equal views.
    pub(super) fn view_set_number(&self, value: usize) -> Option<usize> {
        self.of_values[value].as_ref().map(|set| set.number)
    }

    /// Returns the views of a value in LX.
    pub(super) fn views(&self, value: usize) -> &[CoreView] {
        self.of_values[value].as_ref().map_or(&[], |set| &set.views)
    }

    /// Returns the number of states of a value, including HBM.
    pub(super) fn num_states(&self, value: usize) -> usize {
        self.views(value).len() + 1
    }
}

/// Returns the views that all users of a value, by kind and operand, can have, and under which a slice fits in LX.
fn find_common_views(users: &BTreeMap<(usize, usize), &OpClass>, bytes: i64, capacity: &Capacity) -> Vec<CoreView> {
    let of_user = |(&(_, operand), &kind)| OpClass::views(kind, operand).iter().flatten().collect::<BTreeSet<_>>();
    let common = users.iter().map(of_user).reduce(|common, of_user| common.intersection(&of_user).copied().collect());
    let fits = |view: &&CoreView| bytes / view.num_slices() <= capacity.bytes;
    common.into_iter().flatten().filter(fits).cloned().collect()
}
