//! Order in which variables are eliminated, and the variables that are fixed because a table would be too large.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// Elimination order and fixed variables of a round.
#[derive(Debug)]
pub(super) struct EliminationPlan {
    /// Eliminated variables, in order.
    pub(super) order: Vec<usize>,
    /// Variables that are fixed at their current states.
    pub(super) fixed: Vec<usize>,
    /// Number of table entries of all steps together.
    pub(super) num_entries: usize,
}

/// Key by which the next variable to fix is chosen, the smallest first: how often it was fixed, its number of neighbors
/// (descending), its index.
type FixingKey = (usize, Reverse<usize>, usize);

/// Remaining variables, each with its neighbors: the variables that share a table with it.
struct InteractionGraph<'a> {
    num_states: &'a [usize],
    max_entries: usize,
    times_fixed: &'a [usize],
    neighbours: BTreeMap<usize, BTreeSet<usize>>,
    /// Remaining variables, each after the number of entries of the table that its elimination would create.
    by_entries: BTreeSet<(usize, usize)>,
    by_fix_key: BTreeSet<FixingKey>,
}

impl<'a> InteractionGraph<'a> {
    fn new<'t>(
        num_states: &'a [usize],
        scopes: impl Iterator<Item = &'t [usize]>,
        max_entries: usize,
        times_fixed: &'a [usize],
    ) -> Self {
        let mut neighbours: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for scope in scopes {
            for variable in scope {
                neighbours.entry(*variable).or_default().extend(scope.iter().filter(|other| *other != variable));
            }
        }
        let mut graph = Self {
            num_states,
            max_entries,
            times_fixed,
            neighbours,
            by_entries: BTreeSet::new(),
            by_fix_key: BTreeSet::new(),
        };
        for variable in graph.neighbours.keys().copied().collect::<Vec<_>>() {
            graph.add_to_queues(variable);
        }
        graph
    }

    /// Returns the number of entries of the table that the elimination of a variable would create; any number above
    /// `max_entries` becomes `max_entries + 1`.
    fn num_entries(&self, variable: usize) -> usize {
        let mut num_entries = self.num_states[variable];
        for neighbour in self.neighbours.get(&variable).into_iter().flatten() {
            // Stopping here keeps a variable with many neighbors cheap: every neighbor has at least two states.
            if num_entries > self.max_entries {
                break;
            }
            num_entries = num_entries.saturating_mul(self.num_states[*neighbour]);
        }
        num_entries.min(self.max_entries.saturating_add(1))
    }

    fn fixing_key(&self, variable: usize) -> FixingKey {
        let degree = self.neighbours.get(&variable).map_or(0, BTreeSet::len);
        (self.times_fixed[variable], Reverse(degree), variable)
    }

    fn add_to_queues(&mut self, variable: usize) {
        self.by_entries.insert((self.num_entries(variable), variable));
        self.by_fix_key.insert(self.fixing_key(variable));
    }

    fn remove_from_queues(&mut self, variable: usize) {
        self.by_entries.remove(&(self.num_entries(variable), variable));
        self.by_fix_key.remove(&self.fixing_key(variable));
    }

    /// Removes a variable. With `joins`, its neighbors share one table from now on.
    fn remove_variable(&mut self, variable: usize, joins: bool) {
        self.remove_from_queues(variable);
        let neighbours = self.neighbours.remove(&variable).expect("a variable that is still there");
        for neighbour in &neighbours {
            self.remove_from_queues(*neighbour);
            if let Some(of_neighbour) = self.neighbours.get_mut(neighbour) {
                of_neighbour.remove(&variable);
                if joins {
                    of_neighbour.extend(neighbours.iter().filter(|other| *other != neighbour));
                }
            }
            self.add_to_queues(*neighbour);
        }
    }
}

impl EliminationPlan {
    /// Plans a round. Eliminates the variable with the smallest table. If this table has more than `max_entries`, fixes
    /// a variable instead: one that was fixed least often, with the most neighbors.
    ///
    /// `scopes` are the sets of variables that share a table. The time is n log n, if `max_entries` bounds the number
    /// of neighbors.
    pub(super) fn new<'t>(
        num_states: &[usize],
        scopes: impl Iterator<Item = &'t [usize]>,
        max_entries: usize,
        times_fixed: &[usize],
    ) -> Self {
        let mut graph = InteractionGraph::new(num_states, scopes, max_entries, times_fixed);
        let mut plan = Self { order: Vec::new(), fixed: Vec::new(), num_entries: 0 };
        while let (Some((num_entries, smallest)), Some((_, _, hub))) =
            (graph.by_entries.first().copied(), graph.by_fix_key.first().copied())
        {
            if num_entries <= max_entries {
                graph.remove_variable(smallest, true);
                plan.order.push(smallest);
                plan.num_entries = plan.num_entries.saturating_add(num_entries);
            } else {
                graph.remove_variable(hub, false);
                plan.fixed.push(hub);
            }
        }
        plan
    }

    /// Returns the number of assignments of the fixed variables.
    pub(super) fn num_fixings(&self, num_states: &[usize]) -> usize {
        self.fixed.iter().fold(1, |ways, variable| ways.saturating_mul(num_states[*variable]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_plan(num_states: &[usize], scopes: &[&[usize]], max_entries: usize) -> EliminationPlan {
        EliminationPlan::new(num_states, scopes.iter().copied(), max_entries, &vec![0; num_states.len()])
    }

    #[test]
    fn eliminates_chain_from_its_end() {
        let plan = build_plan(&[2, 2, 2, 2], &[&[0, 1], &[1, 2], &[2, 3]], 4);
        assert_eq!((plan.order, plan.fixed, plan.num_entries), (vec![0, 1, 2, 3], vec![], 4 + 4 + 4 + 2));
    }

    #[test]
    fn eliminates_smallest_table_first() {
        let plan = build_plan(&[5, 3, 2], &[&[0, 1], &[1, 2]], 100);
        assert_eq!(plan.order, [2, 0, 1]);
    }

    #[test]
    fn fixes_variable_of_highest_degree_if_tables_are_too_large() {
        // A triangle makes tables of 8 entries. Without its corner of degree 3, a chain is left.
        let scopes: [&[usize]; 4] = [&[0, 1], &[1, 2], &[0, 2], &[2, 3]];
        let plan = build_plan(&[2, 2, 2, 2], &scopes, 4);
        // Variable 3 has one neighbor, so it is eliminated first. The other variables then have equal tables.
        assert_eq!((plan.order, plan.fixed), (vec![3, 1, 2], vec![0]));
        assert_eq!(EliminationPlan::new(&[2; 4], scopes.into_iter(), 4, &[1, 0, 0, 0]).fixed, [1]);
    }

    #[test]
    fn eliminates_hub_with_linear_number_of_entries() {
        let num_readers = 10_000;
        let scopes: Vec<[usize; 2]> = (1..=num_readers).map(|reader| [0, reader]).collect();
        let num_states = vec![6; num_readers + 1];
        let plan =
            EliminationPlan::new(&num_states, scopes.iter().map(<[usize; 2]>::as_slice), 36, &vec![0; num_readers + 1]);
        assert_eq!((plan.fixed.len(), plan.num_entries), (0, num_readers * 36 + 6));
    }
}
