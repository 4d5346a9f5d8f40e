//! Tables of costs over sets of variables, of which only the possible assignments are kept.
//!
//! Few assignments of an op's buffers are possible: a split says where all of them are. So a table is a list, and tables are brought
//! together as relations are: entries that agree about the variables that both have.

use super::{Cost, Factor};
use std::collections::BTreeMap;

/// A cost for each possible assignment of a set of variables; what is not there is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table<C> {
    /// In rising order.
    pub(super) variables: Vec<usize>,
    /// By rising entry, which is the row-major number of an assignment: the state of the last variable moves fastest.
    pub(super) costs: Vec<(usize, C)>,
}

/// How far apart in a row-major order the states of each variable lie; a variable may occur twice.
fn strides<'a>(variables: &'a [usize], n_states: &'a [usize]) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut stride = 1;
    variables.iter().rev().map(move |&variable| {
        let own = stride;
        stride *= n_states[variable];
        (variable, own)
    })
}

/// The row-major number of an assignment of all variables, among those of `variables`.
pub(super) fn entry_of(variables: &[usize], n_states: &[usize], states: &[usize]) -> usize {
    strides(variables, n_states).map(|(variable, stride)| states[variable] * stride).sum()
}

/// The state of a variable of both, in both entries.
struct Digit {
    variable: usize,
    stride: usize,
    n_states: usize,
    stride_to: usize,
}

/// From the entries of an assignment of some variables to those of others; what only one side has counts nothing.
struct Renumbering {
    digits: Vec<Digit>,
}

impl Renumbering {
    fn new(from: &[usize], to: &[usize], n_states: &[usize]) -> Self {
        let stride_to = |variable| strides(to, n_states).find(|&(other, _)| other == variable).map(|(_, stride)| stride);
        let digit = |(variable, stride)| Some(Digit { variable, stride, n_states: n_states[variable], stride_to: stride_to(variable)? });
        Self { digits: strides(from, n_states).filter_map(digit).collect() }
    }

    /// The same, where only some variables count.
    fn of_those(mut self, counts: impl Fn(usize) -> bool) -> Self {
        self.digits.retain(|digit| counts(digit.variable));
        self
    }

    fn of(&self, entry: usize) -> usize {
        self.digits.iter().map(|digit| entry / digit.stride % digit.n_states * digit.stride_to).sum()
    }
}

/// What is found, by rising entry: where an entry occurs more than once, its least cost.
fn least_costs<C: Cost>(n_entries: usize, mut found: Vec<(usize, C)>) -> Vec<(usize, C)> {
    if n_entries > found.len().saturating_mul(8) {
        found.sort_unstable();
        found.dedup_by_key(|(entry, _)| *entry);
        return found;
    }
    // There are nearly all: no need to sort.
    let mut costs = vec![C::IMPOSSIBLE; n_entries];
    for (entry, cost) in found {
        costs[entry] = costs[entry].min(cost);
    }
    costs.into_iter().enumerate().filter(|(_, cost)| *cost < C::IMPOSSIBLE).collect()
}

/// The number of assignments.
fn n_entries(variables: &[usize], n_states: &[usize]) -> usize {
    variables.iter().fold(1, |product, &variable| product.saturating_mul(n_states[variable]))
}

/// The variables of both, in rising order.
fn union(ours: &[usize], theirs: &[usize]) -> Vec<usize> {
    let mut all = [ours, theirs].concat();
    all.sort_unstable();
    all.dedup();
    all
}

impl<C: Cost> Table<C> {
    /// The factor as a table.
    pub(super) fn of(factor: &Factor<C>, n_states: &[usize]) -> Self {
        let variables = union(&factor.variables, &[]);
        // A factor may name a variable twice: what is possible has it in one state.
        let places: BTreeMap<usize, usize> = strides(&factor.variables, n_states).collect();
        let state_of = |variable: usize, entry: usize| entry / places[&variable] % n_states[variable];
        let is_one = |entry: usize| {
            strides(&factor.variables, n_states).all(|(variable, stride)| entry / stride % n_states[variable] == state_of(variable, entry))
        };
        let entry_of = |entry: usize| strides(&variables, n_states).map(|(variable, stride)| state_of(variable, entry) * stride).sum();
        let possible = factor.costs.iter().filter(|(entry, _)| is_one(**entry)).map(|(&entry, &cost)| (entry_of(entry), cost)).collect();
        Self { costs: least_costs(n_entries(&variables, n_states), possible), variables }
    }

    /// What is left when the variables that are not `free` stay where `states` has them.
    pub(super) fn fixed(&self, n_states: &[usize], states: &[usize], is_free: impl Fn(usize) -> bool) -> Self {
        let left: Vec<usize> = self.variables.iter().copied().filter(|&variable| is_free(variable)).collect();
        let stay: Vec<(usize, usize)> = strides(&self.variables, n_states).filter(|&(variable, _)| !is_free(variable)).collect();
        let renumbering = Renumbering::new(&self.variables, &left, n_states);
        let is_kept = |entry: usize| stay.iter().all(|&(variable, stride)| entry / stride % n_states[variable] == states[variable]);
        // The order stays, as the variables have theirs.
        let costs = self.costs.iter().filter(|(entry, _)| is_kept(*entry)).map(|&(entry, cost)| (renumbering.of(entry), cost)).collect();
        Self { variables: left, costs }
    }

    /// No variables, and nothing to pay.
    fn nothing() -> Self {
        Self { variables: Vec::new(), costs: vec![(0, C::ZERO)] }
    }

    /// What an assignment costs.
    fn cost(&self, entry: usize) -> C {
        self.costs.binary_search_by_key(&entry, |(entry, _)| *entry).map_or(C::IMPOSSIBLE, |index| self.costs[index].1)
    }

    /// The sum of two tables.
    pub(super) fn plus(&self, other: &Self, n_states: &[usize]) -> Self {
        self.plus_over(other, union(&self.variables, &other.variables), n_states)
    }

    /// The sum of two tables as a table over `left` of their variables, with the best states of the others.
    fn plus_over(&self, other: &Self, left: Vec<usize>, n_states: &[usize]) -> Self {
        let shared: Vec<usize> = self.variables.iter().copied().filter(|variable| other.variables.contains(variable)).collect();
        let [our_key, their_key] = [self, other].map(|table| Renumbering::new(&table.variables, &shared, n_states));
        let our_entry = Renumbering::new(&self.variables, &left, n_states);
        let their_entry = Renumbering::new(&other.variables, &left, n_states).of_those(|variable| !shared.contains(&variable));
        let mut theirs: Vec<(usize, usize, C)> =
            other.costs.iter().map(|&(entry, cost)| (their_key.of(entry), their_entry.of(entry), cost)).collect();
        theirs.sort_unstable_by_key(|&(key, entry, _)| (key, entry));
        let mut found = Vec::with_capacity(self.costs.len().max(theirs.len()));
        for &(entry, cost) in &self.costs {
            let key = our_key.of(entry);
            let first = theirs.partition_point(|(other, ..)| *other < key);
            let own = our_entry.of(entry);
            for &(_, new, more) in theirs[first..].iter().take_while(|(other, ..)| *other == key) {
                let sum = cost.saturating_add(more);
                if sum < C::IMPOSSIBLE {
                    found.push((own + new, sum));
                }
            }
        }
        Self { costs: least_costs(n_entries(&left, n_states), found), variables: left }
    }

    /// The sum of tables that all have `variable`, with the best state of `variable` for each assignment of the others.
    pub(super) fn without(tables: &[Self], variable: usize, n_states: &[usize]) -> Self {
        let nothing = Self::nothing();
        let (last, others) = tables.split_last().unwrap_or((&nothing, &[]));
        let sum = match others {
            [] => nothing.clone(),
            [first, more @ ..] => more.iter().fold(first.clone(), |sum, table| sum.plus(table, n_states)),
        };
        let left = union(&sum.variables, &last.variables).into_iter().filter(|&other| other != variable).collect();
        sum.plus_over(last, left, n_states)
    }
}

/// Moves `variable` to its best state under `tables`, all others staying where they are, and says whether it moved. Where states cost
/// the same, it stays.
pub(super) fn settle<'a, C: Cost + 'a>(
    tables: impl IntoIterator<Item = &'a Table<C>>,
    variable: usize,
    n_states: &[usize],
    states: &mut [usize],
) -> bool {
    let mut sums = vec![C::ZERO; n_states[variable]];
    for table in tables {
        let step: usize = strides(&table.variables, n_states).filter(|&(other, _)| other == variable).map(|(_, stride)| stride).sum();
        let first = entry_of(&table.variables, n_states, states) - step * states[variable];
        for (state, sum) in sums.iter_mut().enumerate() {
            *sum = sum.saturating_add(table.cost(first + state * step));
        }
    }
    let best = (0..sums.len()).min_by_key(|state| (sums[*state], *state != states[variable])).expect("a variable has states");
    std::mem::replace(&mut states[variable], best) != best
}
