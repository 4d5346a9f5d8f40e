//! Memoized table operations: the equal layers of a model, and the similar programs of a search, repeat them.

use super::{
    AdditiveCost, CostFactor,
    memo_table::get_or_compute,
    table::{CostTable, Entries},
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{
    collections::BTreeMap,
    hash::{Hash, Hasher},
    rc::Rc,
};

/// Maximum number of entries of all memoized tables, about 25 MB. A memo that is full is emptied.
const MAX_MEMO_ENTRIES: usize = 1 << 20;

/// Shared data, compared by address. Keys own what they compare, so no address is used again.
#[derive(Debug)]
struct ByAddress<T>(Rc<T>);

impl<T> PartialEq for ByAddress<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for ByAddress<T> {}

impl<T> Hash for ByAddress<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Rc::as_ptr(&self.0).hash(state);
    }
}

/// Two numbers for each variable, in the order of the variables: its number of states, and the role that it has in the
/// operation. Variables with equal patterns give equal entries.
type Pattern = SmallVec<[(usize, usize); 8]>;

/// Operation on tables and all that its entries depend on.
#[derive(Debug, PartialEq, Eq, Hash)]
enum TableOperation<C> {
    FromFactor(ByAddress<BTreeMap<usize, C>>, Pattern),
    Fix(ByAddress<Entries<C>>, Pattern),
    AddAndMinimize([ByAddress<Entries<C>>; 2], Pattern),
}

/// Entries of the tables that earlier operations computed. Each follows from its key, so a hit is the result of the
/// computation.
#[derive(Debug)]
pub struct TableMemo<C> {
    computed: FxHashMap<TableOperation<C>, Rc<Entries<C>>>,
    /// Number of entries of all tables.
    num_entries: usize,
    /// Table over no variables with cost zero.
    zero: CostTable<C>,
}

impl<C: AdditiveCost> Default for TableMemo<C> {
    fn default() -> Self {
        Self { computed: FxHashMap::default(), num_entries: 0, zero: CostTable::zero() }
    }
}

impl<C: AdditiveCost> TableMemo<C> {
    /// Returns [`CostTable::from_factor`].
    pub(super) fn convert_factor(&mut self, factor: &CostFactor<C>, num_states: &[usize]) -> CostTable<C> {
        let mut variables = factor.variables.clone();
        variables.sort_unstable();
        variables.dedup();
        // The role of a place is the rank of its variable.
        let rank = |variable| variables.partition_point(|&other| other < variable);
        let pattern = factor.variables.iter().map(|&variable| (num_states[variable], rank(variable))).collect();
        let operation = TableOperation::FromFactor(ByAddress(Rc::clone(&factor.costs)), pattern);
        self.get_or_compute(operation, variables, || CostTable::from_factor(factor, num_states))
    }

    /// Returns [`CostTable::fix_variables`].
    pub(super) fn fix_variables(
        &mut self,
        table: &CostTable<C>,
        num_states: &[usize],
        states: &[usize],
        is_free: impl Fn(usize) -> bool,
    ) -> CostTable<C> {
        let left: Vec<usize> = table.variables.iter().copied().filter(|&variable| is_free(variable)).collect();
        if left.len() == table.variables.len() {
            return table.clone();
        }
        // The role is the state of a fixed variable, and one past the last state for a free one.
        let role = |variable| if is_free(variable) { num_states[variable] } else { states[variable] };
        let pattern = table.variables.iter().map(|&variable| (num_states[variable], role(variable))).collect();
        let operation = TableOperation::Fix(ByAddress(Rc::clone(&table.costs)), pattern);
        self.get_or_compute(operation, left, || table.fix_variables(num_states, states, &is_free))
    }

    /// Returns the sum of two tables, minimized over `eliminated`.
    pub(super) fn add_tables(
        &mut self,
        tables: [&CostTable<C>; 2],
        eliminated: Option<usize>,
        num_states: &[usize],
    ) -> CostTable<C> {
        let [ours, theirs] = tables.map(|table| &table.variables[..]);
        let (mut left, mut pattern) = (Vec::with_capacity(ours.len() + theirs.len()), Pattern::new());
        let (mut our_place, mut their_place) = (0, 0);
        while let Some(&variable) = match (ours.get(our_place), theirs.get(their_place)) {
            (Some(our), Some(their)) => Some(our.min(their)),
            (our, their) => our.or(their),
        } {
            let [is_ours, is_theirs] =
                [(ours, our_place), (theirs, their_place)].map(|(all, place)| all.get(place) == Some(&variable));
            our_place += usize::from(is_ours);
            their_place += usize::from(is_theirs);
            let is_left = eliminated != Some(variable);
            // The role says which tables have the variable: ours, theirs, the result.
            let role = usize::from(is_ours) | usize::from(is_theirs) << 1 | usize::from(is_left) << 2;
            pattern.push((num_states[variable], role));
            if is_left {
                left.push(variable);
            }
        }
        let operation = TableOperation::AddAndMinimize(tables.map(|table| ByAddress(Rc::clone(&table.costs))), pattern);
        self.get_or_compute(operation, left.clone(), || tables[0].add_and_minimize(tables[1], left, num_states))
    }

    /// Eliminates `variable`: returns the sum of tables over it, minimized over its states.
    pub(super) fn eliminate(&mut self, tables: &[CostTable<C>], variable: usize, num_states: &[usize]) -> CostTable<C> {
        let zero = self.zero.clone();
        let (last, others) = tables.split_last().unwrap_or((&zero, &[]));
        let sum = match others {
            [] => zero.clone(),
            [first, more @ ..] => {
                more.iter().fold(first.clone(), |sum, table| self.add_tables([&sum, table], None, num_states))
            }
        };
        self.add_tables([&sum, last], Some(variable), num_states)
    }

    /// Returns the table over `variables` whose entries are the result of `operation`.
    fn get_or_compute(
        &mut self,
        operation: TableOperation<C>,
        variables: Vec<usize>,
        compute: impl FnOnce() -> CostTable<C>,
    ) -> CostTable<C> {
        let num_before = self.computed.len();
        let costs = get_or_compute(&mut self.computed, operation, |_| compute().costs);
        if self.computed.len() > num_before {
            self.num_entries += costs.len();
        }
        if self.num_entries > MAX_MEMO_ENTRIES {
            *self = Self::default();
        }
        CostTable { variables, costs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{assignment::AssignmentProblem, assignment::minimize, layout::StickCost};

    /// Returns a chain of `num_layers` variables, each with a branch of two more variables. All factors are one table.
    fn build_layers(num_layers: usize) -> AssignmentProblem<StickCost> {
        let num_states = vec![3; 3 * num_layers];
        let equal = |states: &[usize]| StickCost { moved_bytes: u64::from(states[0] == states[1]), ..StickCost::ZERO };
        let factor = CostFactor::new(&num_states, vec![0, 1], equal);
        let pairs = (0..num_layers).flat_map(|layer| {
            let first = 3 * layer;
            [[first, first + 1], [first + 1, first + 2], [first, first + 3]]
        });
        let pairs = pairs.filter(|pair| pair[1] < num_states.len());
        let factors = pairs.map(|pair| CostFactor { variables: pair.to_vec(), ..factor.clone() }).collect();
        AssignmentProblem { num_states, factors }
    }

    #[test]
    fn computes_tables_of_equal_branches_once() {
        let count = |num_layers: usize| {
            let (problem, mut memo) = (build_layers(num_layers), TableMemo::default());
            let found = minimize(&problem, &vec![0; problem.num_states.len()], 1 << 10, &mut memo);
            assert_eq!((found.cost, found.is_optimal), (StickCost::ZERO, true));
            memo.computed.len()
        };
        let [few, more] = [10, 20].map(count);
        assert!(more - few <= 2 * 10, "a layer adds its place in the chain, not its branch: {few}, {more}");
    }

    #[test]
    fn empties_full_memo() {
        let (problem, mut memo) =
            (build_layers(10), TableMemo { num_entries: MAX_MEMO_ENTRIES, ..TableMemo::default() });
        let found = minimize(&problem, &[0; 30], 1 << 10, &mut memo);
        assert_eq!(found.cost, StickCost::ZERO);
        assert!(memo.num_entries < 10_000, "{}", memo.num_entries);
    }
}
