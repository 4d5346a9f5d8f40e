//! Sparse cost tables over sets of variables: only feasible assignments have entries.
//!
//! Few assignments of an op's buffers are feasible, because one core split determines all of them. So a table is a
//! list, and two tables are combined like relations, by a join on their common variables.

use super::{AdditiveCost, CostFactor};
use std::{collections::BTreeMap, rc::Rc};

/// Entries with their costs, ascending. An entry is the row-major number of an assignment: the state of the last
/// variable varies fastest.
pub(super) type Entries<C> = Vec<(usize, C)>;

/// Cost of each feasible assignment of a set of variables; assignments without an entry are infeasible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CostTable<C> {
    /// Variables in ascending order.
    pub(super) variables: Vec<usize>,
    /// Equal tables share their entries.
    pub(super) costs: Rc<Entries<C>>,
}

/// Returns the row-major stride of each variable, last variable first. A variable may occur twice.
fn compute_strides<'a>(variables: &'a [usize], num_states: &'a [usize]) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut stride = 1;
    variables.iter().rev().map(move |&variable| {
        let own = stride;
        stride *= num_states[variable];
        (variable, own)
    })
}

/// Returns the entry of `variables` in an assignment `states` of all variables.
pub(super) fn compute_entry(variables: &[usize], num_states: &[usize], states: &[usize]) -> usize {
    compute_strides(variables, num_states).map(|(variable, stride)| states[variable] * stride).sum()
}

/// Variable that two entries have in common, with its stride in each of them.
struct SharedVariable {
    variable: usize,
    stride: usize,
    num_states: usize,
    stride_to: usize,
}

/// Map from entries over one set of variables to entries over another set. Variables of one set only are ignored.
struct EntryMap {
    digits: Vec<SharedVariable>,
}

impl EntryMap {
    fn new(from: &[usize], to: &[usize], num_states: &[usize]) -> Self {
        let stride_to =
            |variable| compute_strides(to, num_states).find(|&(other, _)| other == variable).map(|(_, stride)| stride);
        let digit = |(variable, stride)| {
            Some(SharedVariable { variable, stride, num_states: num_states[variable], stride_to: stride_to(variable)? })
        };
        Self { digits: compute_strides(from, num_states).filter_map(digit).collect() }
    }

    /// Restricts the map to the variables that `counts` selects.
    fn restrict_to(mut self, counts: impl Fn(usize) -> bool) -> Self {
        self.digits.retain(|digit| counts(digit.variable));
        self
    }

    fn map_entry(&self, entry: usize) -> usize {
        self.digits.iter().map(|digit| entry / digit.stride % digit.num_states * digit.stride_to).sum()
    }
}

/// Returns the minimum cost of each entry, in ascending order of entries.
fn compute_min_costs<C: AdditiveCost>(num_entries: usize, mut found: Vec<(usize, C)>) -> Vec<(usize, C)> {
    if num_entries > found.len().saturating_mul(8) {
        found.sort_unstable();
        found.dedup_by_key(|(entry, _)| *entry);
        return found;
    }
    // A dense array is faster than sorting if at least an eighth of the entries occur.
    let mut costs = vec![C::IMPOSSIBLE; num_entries];
    for (entry, cost) in found {
        costs[entry] = costs[entry].min(cost);
    }
    costs.into_iter().enumerate().filter(|(_, cost)| *cost < C::IMPOSSIBLE).collect()
}

/// Values grouped by a key.
enum KeyedGroups<T> {
    /// The values in the order of their keys, and for each key the position of its first value; few keys only.
    Indexed { starts: Vec<usize>, values: Vec<T> },
    /// Keys with their values, sorted by key.
    Sorted(Vec<usize>, Vec<T>),
}

impl<T: Copy> KeyedGroups<T> {
    /// Groups values whose keys are less than `num_keys`.
    fn new(num_keys: usize, values: impl ExactSizeIterator<Item = (usize, T)>) -> Self {
        let mut keyed: Vec<(usize, T)> = values.collect();
        keyed.sort_by_key(|(key, _)| *key);
        let (keys, values): (Vec<usize>, Vec<T>) = keyed.into_iter().unzip();
        if num_keys > keys.len().saturating_mul(4) {
            return Self::Sorted(keys, values);
        }
        let mut starts = vec![0; num_keys + 1];
        keys.iter().for_each(|key| starts[key + 1] += 1);
        (0..num_keys).for_each(|key| starts[key + 1] += starts[key]);
        Self::Indexed { starts, values }
    }

    /// Returns the values of a key.
    fn get(&self, key: usize) -> &[T] {
        match self {
            Self::Indexed { starts, values } => &values[starts[key]..starts[key + 1]],
            Self::Sorted(keys, values) => {
                let first = keys.partition_point(|other| *other < key);
                let length = keys[first..].iter().take_while(|other| **other == key).count();
                &values[first..first + length]
            }
        }
    }
}

/// Returns the number of assignments of `variables`.
fn num_entries(variables: &[usize], num_states: &[usize]) -> usize {
    variables.iter().fold(1, |product, &variable| product.saturating_mul(num_states[variable]))
}

/// Returns the variables of both lists, ascending.
fn union(ours: &[usize], theirs: &[usize]) -> Vec<usize> {
    let mut all = [ours, theirs].concat();
    all.sort_unstable();
    all.dedup();
    all
}

impl<C: AdditiveCost> CostTable<C> {
    /// Converts a factor to a table.
    pub(super) fn from_factor(factor: &CostFactor<C>, num_states: &[usize]) -> Self {
        let variables = union(&factor.variables, &[]);
        if variables == factor.variables {
            let costs = Rc::new(factor.costs.iter().map(|(&entry, &cost)| (entry, cost)).collect());
            return Self { variables, costs };
        }
        // A factor may have a variable twice: entries with two different states of it are dropped.
        let places: BTreeMap<usize, usize> = compute_strides(&factor.variables, num_states).collect();
        let state_of = |variable: usize, entry: usize| entry / places[&variable] % num_states[variable];
        let is_one = |entry: usize| {
            compute_strides(&factor.variables, num_states)
                .all(|(variable, stride)| entry / stride % num_states[variable] == state_of(variable, entry))
        };
        let entry_of = |entry: usize| {
            compute_strides(&variables, num_states).map(|(variable, stride)| state_of(variable, entry) * stride).sum()
        };
        let possible = factor
            .costs
            .iter()
            .filter(|(entry, _)| is_one(**entry))
            .map(|(&entry, &cost)| (entry_of(entry), cost))
            .collect();
        Self { costs: Rc::new(compute_min_costs(num_entries(&variables, num_states), possible)), variables }
    }

    /// Returns the table over the free variables, with the others fixed at their states in `states`.
    pub(super) fn fix_variables(
        &self,
        num_states: &[usize],
        states: &[usize],
        is_free: impl Fn(usize) -> bool,
    ) -> Self {
        let left: Vec<usize> = self.variables.iter().copied().filter(|&variable| is_free(variable)).collect();
        let interval: Vec<(usize, usize)> =
            compute_strides(&self.variables, num_states).filter(|&(variable, _)| !is_free(variable)).collect();
        let renumbering = EntryMap::new(&self.variables, &left, num_states);
        let is_kept = |entry: usize| {
            interval.iter().all(|&(variable, stride)| entry / stride % num_states[variable] == states[variable])
        };
        // Entries stay sorted, because the order of the variables is unchanged.
        let costs = self
            .costs
            .iter()
            .filter(|(entry, _)| is_kept(*entry))
            .map(|&(entry, cost)| (renumbering.map_entry(entry), cost))
            .collect();
        Self { variables: left, costs: Rc::new(costs) }
    }

    /// Returns the table over no variables with cost zero.
    pub(super) fn zero() -> Self {
        Self { variables: Vec::new(), costs: Rc::new(vec![(0, C::ZERO)]) }
    }

    /// Returns the cost of an entry.
    fn cost(&self, entry: usize) -> C {
        self.costs.binary_search_by_key(&entry, |(entry, _)| *entry).map_or(C::IMPOSSIBLE, |index| self.costs[index].1)
    }

    /// Returns the sum of two tables, minimized over the variables that are not in `left`.
    pub(super) fn add_and_minimize(&self, other: &Self, left: Vec<usize>, num_states: &[usize]) -> Self {
        let shared: Vec<usize> =
            self.variables.iter().copied().filter(|variable| other.variables.contains(variable)).collect();
        let [our_key, their_key] = [self, other].map(|table| EntryMap::new(&table.variables, &shared, num_states));
        let our_entry = EntryMap::new(&self.variables, &left, num_states);
        let their_entry =
            EntryMap::new(&other.variables, &left, num_states).restrict_to(|variable| !shared.contains(&variable));
        let theirs =
            other.costs.iter().map(|&(entry, cost)| (their_key.map_entry(entry), (their_entry.map_entry(entry), cost)));
        let theirs = KeyedGroups::new(num_entries(&shared, num_states), theirs);
        let mut found = Vec::with_capacity(self.costs.len().max(other.costs.len()));
        for &(entry, cost) in self.costs.iter() {
            let group = theirs.get(our_key.map_entry(entry));
            if group.is_empty() {
                continue;
            }
            let own = our_entry.map_entry(entry);
            let sums = group.iter().map(|&(new, more)| (own + new, cost.saturating_add(more)));
            found.extend(sums.filter(|(_, sum)| *sum < C::IMPOSSIBLE));
        }
        Self { costs: Rc::new(compute_min_costs(num_entries(&left, num_states), found)), variables: left }
    }
}

/// Sets `variable` to its best state under `tables`, with all other variables unchanged, and returns whether it
/// changed. Ties keep the current state.
pub(super) fn set_best_state<'a, C: AdditiveCost + 'a>(
    tables: impl IntoIterator<Item = &'a CostTable<C>>,
    variable: usize,
    num_states: &[usize],
    states: &mut [usize],
) -> bool {
    let mut sums = vec![C::ZERO; num_states[variable]];
    for table in tables {
        let step: usize = compute_strides(&table.variables, num_states)
            .filter(|&(other, _)| other == variable)
            .map(|(_, stride)| stride)
            .sum();
        let first = compute_entry(&table.variables, num_states, states) - step * states[variable];
        for (state, sum) in sums.iter_mut().enumerate() {
            *sum = sum.saturating_add(table.cost(first + state * step));
        }
    }
    let best =
        (0..sums.len()).min_by_key(|state| (sums[*state], *state != states[variable])).expect("a variable has states");
    std::mem::replace(&mut states[variable], best) != best
}
