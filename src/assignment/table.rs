//! Tables of costs over sets of variables, walked together.

use super::Cost;

/// A cost for each assignment of a set of variables, row-major: the state of the last variable moves fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table<C> {
    /// In rising order.
    pub(super) variables: Vec<usize>,
    pub(super) costs: Vec<C>,
}

/// Where the entries of a table lie: one step of a variable, in entries.
struct Strides<'a> {
    variables: &'a [usize],
    entries: Vec<usize>,
}

impl<'a> Strides<'a> {
    /// Row-major.
    fn of(variables: &'a [usize], n_states: &[usize]) -> Self {
        let mut entries = vec![1; variables.len()];
        for index in (1..variables.len()).rev() {
            entries[index - 1] = entries[index] * n_states[variables[index]];
        }
        Self { variables, entries }
    }

    /// The step of one variable; a factor may name a variable twice.
    fn along(&self, variable: usize) -> usize {
        self.variables.iter().zip(&self.entries).filter(|(known, _)| **known == variable).map(|(_, step)| step).sum()
    }

    /// The entry of an assignment of all variables.
    fn entry(&self, states: &[usize]) -> usize {
        self.variables.iter().zip(&self.entries).map(|(variable, step)| states[*variable] * step).sum()
    }
}

/// Visits every assignment of some variables in row-major order and keeps the entries of several tables up to date.
struct Walk {
    sizes: Vec<usize>,
    states: Vec<usize>,
    entries: Vec<usize>,
    /// For each variable the step in each table.
    steps: Vec<Vec<usize>>,
}

impl Walk {
    /// Tables may have variables beyond those that are walked: they stay where `start`, an assignment of all variables, has them.
    fn new(walked: &[usize], n_states: &[usize], start: &[usize], tables: &[Strides<'_>]) -> Self {
        let steps: Vec<Vec<usize>> = walked.iter().map(|variable| tables.iter().map(|table| table.along(*variable)).collect()).collect();
        let mut entries: Vec<usize> = tables.iter().map(|table| table.entry(start)).collect();
        for (variable, steps) in walked.iter().zip(&steps) {
            for (entry, step) in entries.iter_mut().zip(steps) {
                *entry -= step * start[*variable];
            }
        }
        Self { sizes: walked.iter().map(|variable| n_states[*variable]).collect(), states: vec![0; walked.len()], entries, steps }
    }

    /// The number of assignments.
    fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    fn advance(&mut self) {
        for (index, steps) in self.steps.iter().enumerate().rev() {
            self.states[index] += 1;
            let wraps = self.states[index] == self.sizes[index];
            for (entry, step) in self.entries.iter_mut().zip(steps) {
                // After the last state, back to the first.
                *entry = if wraps { *entry - step * (self.sizes[index] - 1) } else { *entry + step };
            }
            if !wraps {
                return;
            }
            self.states[index] = 0;
        }
    }
}

impl<C: Cost> Table<C> {
    /// What is left of a row-major table when the variables that are not `free` stay where `states` has them.
    pub(super) fn restricted(
        variables: &[usize],
        costs: &[C],
        n_states: &[usize],
        states: &[usize],
        is_free: impl Fn(usize) -> bool,
    ) -> Self {
        let mut left: Vec<usize> = variables.iter().copied().filter(|variable| is_free(*variable)).collect();
        left.sort_unstable();
        left.dedup();
        let mut walk = Walk::new(&left, n_states, states, &[Strides::of(variables, n_states)]);
        let costs = (0..walk.count())
            .map(|_| {
                let cost = costs[walk.entries[0]];
                walk.advance();
                cost
            })
            .collect();
        Self { variables: left, costs }
    }

    /// Adds a table over the same variables.
    pub(super) fn add(&mut self, other: &Self) {
        for (cost, more) in self.costs.iter_mut().zip(&other.costs) {
            *cost = cost.saturating_add(*more);
        }
    }

    /// The sum of tables that all have `variable`, with the best state of `variable` for each assignment of the others.
    pub(super) fn without(tables: &[Self], variable: usize, n_states: &[usize]) -> Self {
        let mut left: Vec<usize> = tables.iter().flat_map(|table| &table.variables).copied().filter(|other| *other != variable).collect();
        left.sort_unstable();
        left.dedup();
        let strides: Vec<Strides<'_>> = tables.iter().map(|table| Strides::of(&table.variables, n_states)).collect();
        let steps: Vec<usize> = strides.iter().map(|strides| strides.along(variable)).collect();
        let mut walk = Walk::new(&left, n_states, &vec![0; n_states.len()], &strides);
        let mut costs = Vec::with_capacity(walk.count());
        for _ in 0..walk.count() {
            let cost_of = |state: usize| {
                let entries = tables.iter().zip(walk.entries.iter().zip(&steps));
                entries.fold(C::ZERO, |sum, (table, (entry, step))| sum.saturating_add(table.costs[entry + state * step]))
            };
            costs.push((0..n_states[variable]).map(cost_of).min().unwrap_or(C::ZERO));
            walk.advance();
        }
        Self { variables: left, costs }
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
        let strides = Strides::of(&table.variables, n_states);
        let step = strides.along(variable);
        let first = strides.entry(states) - step * states[variable];
        for (state, sum) in sums.iter_mut().enumerate() {
            *sum = sum.saturating_add(table.costs[first + state * step]);
        }
    }
    let best = (0..sums.len()).min_by_key(|state| (sums[*state], *state != states[variable])).unwrap_or(0);
    std::mem::replace(&mut states[variable], best) != best
}
