//! Candidate states of values for joint planning: in HBM, or in LX under a core view that all users support.

use super::{JointMemo, JointProgram, OpClass, memo::ViewSetKey};
use crate::work::CoreView;
use scratchpad::Capacity;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// State number of a value in HBM. State `n > 0` is LX under view `n - 1`.
pub(super) const HBM_STATE: usize = 0;

/// Maximum number of feasible combinations of core split and value states in an op's cost table.
const MAX_FEASIBLE_ENTRIES: usize = 1 << 18;
/// Maximum number of entries of an op's cost table, feasible or not. Each combination of states has an index.
const MAX_INDEXED_ENTRIES: usize = 1 << 48;

/// Candidate core views of all values.
pub(super) struct ValueStates {
    /// View set of each value; `None` for a value that must be in HBM. Values with equivalent users share a set.
    view_sets: Vec<Option<ViewSet>>,
}

/// Sorted set of core views, interned in a [`JointMemo`].
#[derive(Clone)]
pub(super) struct ViewSet {
    /// Number of the set in the [`JointMemo`]; sets with equal numbers have equal views.
    number: usize,
    views: Rc<[CoreView]>,
}

impl ValueStates {
    /// Computes the candidate states of all values of a program.
    pub(super) fn new(program: &JointProgram, capacity: &Capacity, memo: &mut JointMemo) -> Self {
        let mut intern_view_set = |value: &super::JointValue| {
            // Users of the same class that read the value as the same operand have the same views.
            let users: BTreeMap<(usize, usize), &OpClass> = value
                .users
                .iter()
                .map(|user| (program.op_class(user.op), user.operand))
                .map(|(class, operand)| ((class.number, operand), class))
                .collect();
            let find_views = |(_, bytes): &ViewSetKey| find_common_views(&users, *bytes, capacity).into();
            let number = memo.sets.intern((users.keys().copied().collect(), value.buffer.bytes), find_views);
            ViewSet { number, views: Rc::clone(memo.sets.get(number)) }
        };
        let view_sets =
            program.values.iter().map(|value| value.buffer.barred.is_none().then(|| intern_view_set(value))).collect();
        let mut states = Self { view_sets };
        (0..program.ops.len()).for_each(|op| states.limit_table_size(program, op));
        states
    }

    /// Restricts values of an op to HBM until its cost table is small enough, values with the most views first. Under
    /// each split, a value has two feasible states: HBM, and LX under the view of that split.
    fn limit_table_size(&mut self, program: &JointProgram, op: usize) {
        let values: BTreeSet<usize> = program.ops[op].values.iter().flatten().copied().collect();
        let num_splits = program.op_class(op).splits.len();
        let is_too_large = |states: &Self| {
            let num_states = values.iter().map(|&value| states.num_states(value));
            let num_feasible = num_states
                .clone()
                .filter(|num_states| *num_states > 1)
                .fold(num_splits, |num_feasible, _| num_feasible.saturating_mul(2));
            num_feasible > MAX_FEASIBLE_ENTRIES || num_states.fold(1, usize::saturating_mul) > MAX_INDEXED_ENTRIES
        };
        while is_too_large(self) {
            let Some(&largest) = values.iter().max_by_key(|&&value| self.num_states(value)) else { return };
            self.view_sets[largest] = None;
        }
    }

    /// Returns the number of a value's view set; `None` for a value that must be in HBM.
    pub(super) fn view_set_number(&self, value: usize) -> Option<usize> {
        self.view_sets[value].as_ref().map(|set| set.number)
    }

    /// Returns the candidate views of a value in LX.
    pub(super) fn views(&self, value: usize) -> &[CoreView] {
        self.view_sets[value].as_ref().map_or(&[], |set| &set.views)
    }

    /// Returns the number of states of a value, including HBM.
    pub(super) fn num_states(&self, value: usize) -> usize {
        self.views(value).len() + 1
    }
}

/// Returns the views that all users of a value support and whose slices fit in LX. Keys of `users` are pairs of class
/// number and operand number.
fn find_common_views(users: &BTreeMap<(usize, usize), &OpClass>, bytes: i64, capacity: &Capacity) -> Vec<CoreView> {
    let collect_views =
        |(&(_, operand), &class)| OpClass::views(class, operand).iter().flatten().collect::<BTreeSet<_>>();
    let common =
        users.iter().map(collect_views).reduce(|common, of_user| common.intersection(&of_user).copied().collect());
    let fits = |view: &&CoreView| bytes / view.num_slices() <= capacity.bytes;
    common.into_iter().flatten().filter(fits).cloned().collect()
}
