//! Minimizes a sum of cost tables over discrete variables (a weighted constraint problem) by variable elimination.
//!
//! * A *variable* has one of a few *states*, such as the stick dimensions of a tensor or the core views of a buffer.
//! * A *factor* is a table of costs over a few variables.
//! * To *eliminate* a variable is to replace all tables over it by one table over their other variables.
//!
//! [`minimize`] documents the method, and the reason why it suits programs.

mod memo_table;
mod plan;
mod table;
mod table_memo;

use plan::EliminationPlan;
use std::{collections::BTreeMap, fmt, hash::Hash, rc::Rc};
use table::{CostTable, compute_entry, set_best_state};

pub(crate) use memo_table::{MemoTable, check_memo_hit, get_or_compute};
pub use table_memo::TableMemo;

/// Maximum number of table entries, feasible or not, of all rounds together if variables are fixed: under a second.
const MAX_ENTRIES: usize = 1 << 24;
/// Maximum number of rounds that fix different variables, and maximum number of consecutive rounds without an
/// improvement.
const MAX_ROUNDS: usize = 32;
const MAX_IDLE_ROUNDS: usize = 4;
/// Maximum number of sweeps of the local search over all variables.
const MAX_SWEEPS: usize = 16;

/// Cost of a choice. Costs are only added and compared.
pub trait AdditiveCost: Copy + Ord + Hash + fmt::Debug {
    /// Cost of zero.
    const ZERO: Self;
    /// Cost of an infeasible choice; absorbing under addition.
    const IMPOSSIBLE: Self;

    /// Returns the sum of two costs; `IMPOSSIBLE` on overflow.
    #[must_use]
    fn saturating_add(self, other: Self) -> Self;
}

/// Cost table over a few variables.
#[derive(Clone, Debug)]
pub struct CostFactor<C> {
    /// Indices into [`AssignmentProblem::num_states`]. A variable may occur twice, such as a tensor that an op reads
    /// twice.
    pub variables: Vec<usize>,
    /// Cost of each feasible assignment of the variables, keyed by its row-major number (the state of the last variable
    /// varies fastest). Assignments without an entry are infeasible. Equal factors share the table.
    pub costs: Rc<BTreeMap<usize, C>>,
}

impl<C: AdditiveCost> CostFactor<C> {
    /// Returns a factor over `variables` with the costs `cost_of(states)`.
    pub fn new(num_states: &[usize], variables: Vec<usize>, mut cost_of: impl FnMut(&[usize]) -> C) -> Self {
        let num_entries: usize = variables.iter().map(|variable| num_states[*variable]).product();
        let mut states = vec![0; variables.len()];
        let costs = (0..num_entries).map(|_| {
            let cost = cost_of(&states);
            for (state, variable) in states.iter_mut().zip(&variables).rev() {
                *state = (*state + 1) % num_states[*variable];
                if *state != 0 {
                    break;
                }
            }
            cost
        });
        let costs = Rc::new(costs.enumerate().filter(|(_, cost)| *cost < C::IMPOSSIBLE).collect());
        Self { variables, costs }
    }
}

/// Discrete variables, and the factors whose sum is minimized.
#[derive(Clone, Debug)]
pub struct AssignmentProblem<C> {
    /// Number of states of each variable, at least 1.
    pub num_states: Vec<usize>,
    /// Summands of the objective.
    pub factors: Vec<CostFactor<C>>,
}

impl<C: AdditiveCost> AssignmentProblem<C> {
    /// Returns the cost of an assignment: the sum of its factors.
    #[must_use]
    pub fn cost(&self, states: &[usize]) -> C {
        let cost_of = |factor: &CostFactor<C>| {
            let entry = compute_entry(&factor.variables, &self.num_states, states);
            factor.costs.get(&entry).copied().unwrap_or(C::IMPOSSIBLE)
        };
        self.factors.iter().map(cost_of).fold(C::ZERO, C::saturating_add)
    }
}

/// State of each variable, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment<C> {
    /// States in the order of [`AssignmentProblem::num_states`].
    pub states: Vec<usize>,
    /// Total cost of the states.
    pub cost: C,
    /// Whether the assignment is proved optimal.
    pub is_optimal: bool,
    /// Number of entries of all tables that were computed: a measure of the work.
    pub num_entries: usize,
}

/// Returns the assignment of minimum cost, or a heuristic one if the optimum requires tables of more than
/// `max_entries`.
///
/// `start` is any assignment. The result never costs more, and is `start` if nothing cheaper is found. Deterministic.
///
/// The table that replaces the tables of an eliminated variable has the cost of the best state for each assignment of
/// the other variables. Eliminating all variables, and going back, yields the best assignment. The work is the number
/// of feasible table entries, which grows with the number of connected variables. A program is a chain of layers with
/// few skip connections. Its tables therefore stay small if the variable with the smallest table is eliminated first.
///
/// If a table would still be too large, a variable is fixed at its current state, and the others are optimized. Further
/// rounds fix other variables, while that reduces the cost. No round increases the cost, because the current assignment
/// is among its candidates.
///
/// `memo` is new, or has the tables of similar problems; it changes the time only.
#[must_use]
pub fn minimize<C: AdditiveCost>(
    problem: &AssignmentProblem<C>,
    start: &[usize],
    max_entries: usize,
    memo: &mut TableMemo<C>,
) -> Assignment<C> {
    let mut search = EliminationSearch::new(problem, start, memo);
    let is_optimal = search.run(max_entries, MAX_ENTRIES);
    Assignment { cost: search.cost, states: search.states, is_optimal, num_entries: search.num_entries }
}

/// State of a search, with the best assignment so far.
struct EliminationSearch<'p, C> {
    problem: &'p AssignmentProblem<C>,
    memo: &'p mut TableMemo<C>,
    /// Factors, merged by their sets of variables; variables with one state are removed.
    tables: Vec<CostTable<C>>,
    states: Vec<usize>,
    cost: C,
    /// Number of entries of all tables computed so far.
    num_entries: usize,
}

impl<'p, C: AdditiveCost> EliminationSearch<'p, C> {
    fn new(problem: &'p AssignmentProblem<C>, start: &[usize], memo: &'p mut TableMemo<C>) -> Self {
        let num_states = &problem.num_states;
        let mut tables: BTreeMap<Vec<usize>, CostTable<C>> = BTreeMap::new();
        for factor in &problem.factors {
            let table = memo.convert_factor(factor, num_states);
            let table = memo.fix_variables(&table, num_states, start, |variable| num_states[variable] > 1);
            let sum = tables.get(&table.variables).map(|same| memo.add_tables([same, &table], None, num_states));
            tables.insert(table.variables.clone(), sum.unwrap_or(table));
        }
        tables.remove(&Vec::new());
        let tables: Vec<CostTable<C>> = tables.into_values().collect();
        let num_entries = tables.iter().map(|table| table.costs.len()).sum();
        Self { problem, memo, tables, states: start.to_vec(), cost: problem.cost(start), num_entries }
    }

    /// Searches with tables of at most `max_entries`, and at most `most_entries` in all rounds together. Returns
    /// whether the result is optimal.
    fn run(&mut self, max_entries: usize, most_entries: usize) -> bool {
        let num_states = &self.problem.num_states;
        let mut times_fixed = vec![0; num_states.len()];
        let num_given = num_states.len() + self.num_entries;
        let (mut num_entries, mut num_idle) = (0_usize, 0);
        for round in 0..MAX_ROUNDS {
            let plan = EliminationPlan::new(
                num_states,
                self.tables.iter().map(|table| &table.variables[..]),
                max_entries,
                &times_fixed,
            );
            let of_one_way = plan.num_entries.saturating_add(num_given);
            if plan.fixed.is_empty()
                || num_entries.saturating_add(of_one_way.saturating_mul(plan.num_fixings(num_states))) <= most_entries
            {
                self.solve_all_fixings(&plan);
                return true;
            }
            num_entries = num_entries.saturating_add(of_one_way);
            if round > 0 && num_entries > most_entries {
                break;
            }
            let found = self.solve(&plan, &self.states.clone());
            num_idle = if self.accept_if_better(found) { 0 } else { num_idle + 1 };
            if num_idle == MAX_IDLE_ROUNDS {
                break;
            }
            for variable in plan.fixed {
                times_fixed[variable] += 1;
            }
        }
        self.improve_locally();
        false
    }

    /// Replaces the best assignment if `states` costs less, and returns whether it does.
    fn accept_if_better(&mut self, states: Vec<usize>) -> bool {
        let cost = self.problem.cost(&states);
        let is_better = cost < self.cost;
        if is_better {
            (self.states, self.cost) = (states, cost);
        }
        is_better
    }

    /// Solves the problem for every assignment of the fixed variables.
    fn solve_all_fixings(&mut self, plan: &EliminationPlan) {
        let num_states = &self.problem.num_states;
        let first = self.states.clone();
        let mut fixed = first.clone();
        for _ in 0..plan.num_fixings(num_states) {
            let found = self.solve(plan, &fixed);
            self.accept_if_better(found);
            // Iterates over all assignments: a variable that returns to its first state advances the next variable.
            for variable in &plan.fixed {
                fixed[*variable] = (fixed[*variable] + 1) % num_states[*variable];
                if fixed[*variable] != first[*variable] {
                    break;
                }
            }
        }
    }

    /// Returns the best assignment in which the plan's fixed variables have their states in `states`.
    fn solve(&mut self, plan: &EliminationPlan, states: &[usize]) -> Vec<usize> {
        let num_states = &self.problem.num_states;
        let mut steps = vec![None; num_states.len()];
        for (step, variable) in plan.order.iter().enumerate() {
            steps[*variable] = Some(step);
        }
        // A table is filed at the step that eliminates the first of its variables.
        let mut waiting: Vec<Vec<CostTable<C>>> = vec![Vec::new(); plan.order.len()];
        let file = |waiting: &mut Vec<Vec<CostTable<C>>>, table: CostTable<C>| {
            if let Some(step) = table.variables.iter().filter_map(|variable| steps[*variable]).min() {
                waiting[step].push(table);
            }
        };
        for table in &self.tables {
            let left = self.memo.fix_variables(table, num_states, states, |variable| steps[variable].is_some());
            file(&mut waiting, left);
        }
        for (step, variable) in plan.order.iter().enumerate() {
            let table = self.memo.eliminate(&waiting[step], *variable, num_states);
            file(&mut waiting, table);
        }
        self.num_entries += waiting.iter().flatten().map(|table| table.costs.len()).sum::<usize>();
        let mut states = states.to_vec();
        for (step, variable) in plan.order.iter().enumerate().rev() {
            set_best_state(&waiting[step], *variable, num_states, &mut states);
        }
        states
    }

    /// Improves the best assignment by local search: moves one variable at a time.
    fn improve_locally(&mut self) {
        let mut states = self.states.clone();
        let mut tables_of: Vec<Vec<&CostTable<C>>> = vec![Vec::new(); self.states.len()];
        for table in &self.tables {
            for variable in &table.variables {
                tables_of[*variable].push(table);
            }
        }
        for _ in 0..MAX_SWEEPS {
            let mut moved = false;
            for (variable, tables) in tables_of.iter().enumerate() {
                moved |= set_best_state(tables.iter().copied(), variable, &self.problem.num_states, &mut states);
            }
            if !moved {
                break;
            }
        }
        self.accept_if_better(states);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::StickCost as Bytes;
    use proptest::prelude::*;

    const AMPLE_ENTRIES: usize = 1 << 20;

    fn find_minimum(problem: &AssignmentProblem<Bytes>, start: &[usize], max_entries: usize) -> Assignment<Bytes> {
        minimize(problem, start, max_entries, &mut TableMemo::default())
    }

    fn single_entry_costs(entry: usize, cost: Bytes) -> Rc<BTreeMap<usize, Bytes>> {
        Rc::new(BTreeMap::from([(entry, cost)]))
    }

    fn moved_bytes_cost(moved_bytes: u64) -> Bytes {
        Bytes { moved_bytes, ..Bytes::ZERO }
    }

    /// Returns all assignments of a small problem.
    fn all_assignments(num_states: &[usize]) -> Vec<Vec<usize>> {
        num_states.iter().fold(vec![vec![]], |known, count| {
            known.iter().flat_map(|states| (0..*count).map(move |state| [&states[..], &[state]].concat())).collect()
        })
    }

    /// Returns a factor that costs `bytes` if its variables have different states, and nothing otherwise.
    fn agreement_factor(num_states: &[usize], variables: Vec<usize>, bytes: u64) -> CostFactor<Bytes> {
        CostFactor::new(num_states, variables, |states| {
            if states.iter().all(|state| *state == states[0]) { Bytes::ZERO } else { moved_bytes_cost(bytes) }
        })
    }

    /// Returns a deterministic pseudorandom cost of these states.
    fn pseudorandom_cost(states: &[usize], seed: u64) -> u64 {
        let mix = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        states.iter().fold(mix(seed, 1), |hash, state| mix(hash, *state as u64)) % 1000
    }

    #[test]
    fn adds_costs_and_keeps_infeasibility() {
        let one = Bytes { moved_bytes: 1, strided_bytes: 4, buffer_bytes: 9 };
        assert_eq!(one.saturating_add(one), Bytes { moved_bytes: 2, strided_bytes: 8, buffer_bytes: 18 });
        assert!(one < moved_bytes_cost(2), "moved bytes count first");
        assert_eq!(Bytes::IMPOSSIBLE.saturating_add(Bytes::ZERO), Bytes::IMPOSSIBLE);
        assert_eq!(Bytes::IMPOSSIBLE.saturating_add(one), Bytes::IMPOSSIBLE);
        assert_eq!(moved_bytes_cost(u64::MAX).saturating_add(one), Bytes::IMPOSSIBLE);
    }

    #[test]
    fn keys_factor_entries_in_row_major_order() {
        let factor =
            CostFactor::new(&[2, 3], vec![0, 1], |states| moved_bytes_cost((10 * states[0] + states[1]) as u64));
        assert_eq!(*factor.costs, [0, 1, 2, 10, 11, 12].map(moved_bytes_cost).into_iter().enumerate().collect());
    }

    #[test]
    fn pays_only_for_cheapest_edge_of_chain() {
        // Variable 0 must have state 0 and variable 3 state 1: the optimum breaks the cheapest edge of the chain.
        let num_states = vec![2; 4];
        let mut factors: Vec<CostFactor<Bytes>> =
            [(0, 5), (1, 2), (2, 7)].map(|(v, bytes)| agreement_factor(&num_states, vec![v, v + 1], bytes)).into();
        factors.push(CostFactor { variables: vec![0], costs: single_entry_costs(0, Bytes::ZERO) });
        factors.push(CostFactor { variables: vec![3], costs: single_entry_costs(1, Bytes::ZERO) });
        let best = find_minimum(&AssignmentProblem { num_states, factors }, &[0, 1, 1, 1], AMPLE_ENTRIES);
        assert_eq!((best.states, best.cost, best.is_optimal), (vec![0, 0, 1, 1], moved_bytes_cost(2), true));
    }

    #[test]
    fn keeps_start_if_nothing_is_cheaper() {
        let num_states = vec![3, 3, 1];
        let problem = AssignmentProblem { factors: vec![agreement_factor(&num_states, vec![0, 1, 0], 4)], num_states };
        for start in [[0, 0, 0], [2, 2, 0]] {
            assert_eq!(find_minimum(&problem, &start, AMPLE_ENTRIES).states, start);
        }
    }

    #[test]
    fn returns_zero_cost_without_variables() {
        let best = find_minimum(&AssignmentProblem::<Bytes> { num_states: vec![], factors: vec![] }, &[], 1);
        assert_eq!(best, Assignment { states: vec![], cost: Bytes::ZERO, is_optimal: true, num_entries: 0 });
    }

    #[test]
    fn counts_factors_of_variables_with_one_state() {
        let problem = AssignmentProblem {
            num_states: vec![1],
            factors: vec![CostFactor { variables: vec![0], costs: single_entry_costs(0, moved_bytes_cost(3)) }],
        };
        assert_eq!(find_minimum(&problem, &[0], 0).cost, moved_bytes_cost(3));
    }

    #[test]
    fn finds_planted_optimum_of_long_chain() {
        let num_variables = 3000;
        let num_states = vec![3; num_variables];
        let planted: Vec<usize> = (0..num_variables).map(|variable| (variable * variable / 7) % 3).collect();
        let factors = (0..num_variables - 3).map(|first| {
            let is_planted = |states: &[usize]| *states == planted[first..first + 4];
            CostFactor::new(&num_states, (first..first + 4).collect(), |states| {
                if is_planted(states) {
                    Bytes::ZERO
                } else {
                    moved_bytes_cost(1 + pseudorandom_cost(states, first as u64))
                }
            })
        });
        let problem = AssignmentProblem { factors: factors.collect(), num_states: num_states.clone() };
        let best = find_minimum(&problem, &vec![0; num_variables], AMPLE_ENTRIES);
        assert_eq!((best.states, best.cost, best.is_optimal), (planted, Bytes::ZERO, true));
    }

    /// Returns a chain in which each variable must have the state of its predecessor or its successor, with one
    /// variable in all tables.
    fn build_coupled_chain(num_variables: usize) -> AssignmentProblem<Bytes> {
        let num_states = vec![60; num_variables + 1];
        let link = |variable: usize| {
            let entry = |(state, step): (usize, usize)| {
                ((state * 60 + state) * 60 + (state + step) % 60, moved_bytes_cost((state * step) as u64))
            };
            let possible = (0..60).flat_map(|state| [(state, 0), (state, 1)]);
            CostFactor { variables: vec![0, variable, variable + 1], costs: Rc::new(possible.map(entry).collect()) }
        };
        AssignmentProblem { num_states, factors: (1..num_variables).map(link).collect() }
    }

    #[test]
    fn skips_infeasible_entries() {
        let of = |num_variables| {
            let best = find_minimum(&build_coupled_chain(num_variables), &vec![0; num_variables + 1], AMPLE_ENTRIES);
            assert!(best.is_optimal && best.cost == Bytes::ZERO);
            best.num_entries
        };
        let (few, many) = (of(75), of(300));
        assert!(many <= 300 * 4 * 120, "{many} entries, of 216000 that a table of three variables could have");
        assert!(many <= 5 * few, "{many} entries for four times the variables that took {few}");
    }

    /// Returns layers with a residual, three branches that join, and variables that every layer shares.
    fn build_layers(n_layers: usize, num_hubs: usize) -> AssignmentProblem<Bytes> {
        let num_variables = num_hubs + 13 * n_layers;
        let num_states: Vec<usize> = (0..num_variables).map(|variable| 3 + variable % 3).collect();
        let mut scopes = Vec::new();
        for layer in 0..n_layers {
            let ops: Vec<usize> = (0..13).map(|op| num_hubs + 13 * layer + op).collect();
            let edges = [
                (0, 1),
                (1, 2),
                (1, 3),
                (1, 4),
                (2, 5),
                (3, 6),
                (5, 7),
                (6, 7),
                (7, 8),
                (4, 8),
                (8, 9),
                (9, 10),
                (0, 10),
                (10, 11),
                (11, 12),
            ];
            scopes.extend(edges.map(|(from, to)| vec![ops[from], ops[to]]));
            // The residual of the next layer reads the sum and the skip connection.
            scopes.extend((layer + 1 < n_layers).then(|| vec![ops[10], ops[12], ops[12] + 1]));
            scopes.extend((0..num_hubs).flat_map(|hub| [vec![hub, ops[5]], vec![hub, ops[6]]]));
        }
        let factor = |(seed, scope): (usize, Vec<usize>)| {
            CostFactor::new(&num_states, scope, |states| moved_bytes_cost(pseudorandom_cost(states, seed as u64)))
        };
        AssignmentProblem {
            factors: scopes.into_iter().enumerate().map(factor).collect(),
            num_states: num_states.clone(),
        }
    }

    #[test]
    fn solves_forty_layers_with_shared_variables_exactly() {
        let problem = build_layers(40, 3);
        let start = vec![0; problem.num_states.len()];
        let best = find_minimum(&problem, &start, 1 << 16);
        assert!(best.is_optimal);
        assert_eq!(best.cost, problem.cost(&best.states));
    }

    #[test]
    fn finds_near_optimum_with_few_entries() {
        let problem = build_layers(40, 3);
        let start = vec![0; problem.num_states.len()];
        let best = find_minimum(&problem, &start, AMPLE_ENTRIES).cost.moved_bytes;
        let (greedy, with_few_entries) = (problem.cost(&start).moved_bytes, find_minimum(&problem, &start, 64));
        assert!(!with_few_entries.is_optimal);
        let found = with_few_entries.cost.moved_bytes;
        assert!(found <= best + best / 10, "{found} bytes, where {best} are best and {greedy} the start");
    }

    /// Returns a table of the feasible entries of `costs`.
    fn collect_feasible_entries(costs: Vec<Bytes>) -> BTreeMap<usize, Bytes> {
        costs.into_iter().enumerate().filter(|(_, cost)| *cost < Bytes::IMPOSSIBLE).collect()
    }

    /// Generates up to 7 variables with up to 4 states, factors of up to 4 variables, some entries infeasible; and a
    /// start.
    fn problems() -> impl Strategy<Value = (AssignmentProblem<Bytes>, Vec<usize>)> {
        let cost = prop_oneof![8 => (0..20_u64, 0..4_u64, 0..4_u64).prop_map(|(moved_bytes, strided_bytes, buffer_bytes)| Bytes { moved_bytes, strided_bytes, buffer_bytes }), 1 => Just(Bytes::IMPOSSIBLE)];
        let num_states = proptest::collection::vec(1..=4_usize, 1..=7);
        num_states.prop_flat_map(move |num_states| {
            let sizes = num_states.clone();
            let cost = cost.clone();
            let scope = proptest::collection::vec(0..num_states.len(), 0..=4);
            let factor = scope.prop_flat_map(move |variables| {
                let num_entries: usize = variables.iter().map(|variable| sizes[*variable]).product();
                (Just(variables), proptest::collection::vec(cost.clone(), num_entries))
            });
            let factors = proptest::collection::vec(
                factor.prop_map(|(variables, costs)| CostFactor {
                    variables,
                    costs: Rc::new(collect_feasible_entries(costs)),
                }),
                0..=8,
            );
            let start: Vec<_> = num_states.iter().map(|count| 0..*count).collect();
            (factors, start, Just(num_states.clone()))
                .prop_map(|(factors, start, num_states)| (AssignmentProblem { num_states, factors }, start))
        })
    }

    proptest! {
        #[test]
        fn small_problems_are_solved_as_exhaustive_search_does((problem, start) in problems()) {
            let found = find_minimum(&problem, &start, AMPLE_ENTRIES);
            let best = all_assignments(&problem.num_states).iter().map(|states| problem.cost(states)).min();
            prop_assert_eq!(Some(found.cost), best);
            prop_assert_eq!(found.cost, problem.cost(&found.states));
            prop_assert!(found.is_optimal);
        }

        #[test]
        fn memo_of_similar_problems_changes_no_result((problem, start) in problems(), max_entries in 0..40_usize) {
            // The same factors, with the variables in the opposite order, and with one variable for two of them.
            let last = problem.num_states.len() - 1;
            let mut turned = problem.clone();
            turned.num_states.reverse();
            for variable in turned.factors.iter_mut().flat_map(|factor| &mut factor.variables) {
                *variable = last - *variable;
            }
            let mut merged = problem.clone();
            if problem.num_states[0] == problem.num_states[last] {
                for variable in merged.factors.iter_mut().flat_map(|factor| &mut factor.variables) {
                    *variable = if *variable == last { 0 } else { *variable };
                }
            }
            let turned_start: Vec<usize> = start.iter().rev().copied().collect();
            let mut memo = TableMemo::default();
            for _ in 0..2 {
                for (problem, start) in [(&problem, &start), (&turned, &turned_start), (&merged, &start)] {
                    let found = minimize(problem, start, max_entries, &mut memo);
                    prop_assert_eq!(found, find_minimum(problem, start, max_entries));
                }
            }
        }

        #[test]
        fn with_few_entries_it_is_never_worse_than_the_start((problem, start) in problems(), max_entries in 0..40_usize) {
            let best = all_assignments(&problem.num_states).iter().map(|states| problem.cost(states)).min();
            // Without a budget for all assignments of the fixed variables, the search falls back to rounds.
            for most_entries in [0, MAX_ENTRIES] {
                let mut memo = TableMemo::default();
                let mut search = EliminationSearch::new(&problem, &start, &mut memo);
                let is_optimal = search.run(max_entries, most_entries);
                prop_assert_eq!(search.cost, problem.cost(&search.states));
                prop_assert!(search.cost <= problem.cost(&start));
                prop_assert!(!is_optimal || Some(search.cost) == best);
            }
        }
    }
}
