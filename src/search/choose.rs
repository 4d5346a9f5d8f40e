//! Search for the plan of least time: a shortest path over segments.
//!
//! All edges are estimated first. Edges on the shortest path are then evaluated, which raises their cost and that of
//! edges that tile the same ops equally, so another path may become the shortest. Once all nests of the shortest path
//! are evaluated, it is the best plan, provided that no estimate is too high.

mod preference;
mod program_plans;
mod segment_edge;
#[cfg(test)]
mod tests;

use super::{
    CostEvaluator, LoopNest, ModeledCost, PricedPlan, SearchedOp, Tiling, estimate::estimate_cost,
    measured_times::MeasuredTimes, runner_up::find_next_best, unlimited_lx::UnlimitedLxCosts,
};
use cost::Objective;
use preference::is_preferred;
use segment_edge::SegmentEdge;
use std::{collections::BTreeSet, ops::Range};

/// Maximum number of ops of a segment.
const MAX_SEGMENT_OPS: usize = 24;
/// Relative tolerance of the search: a plan is accepted if its time exceeds the least estimate of all plans by at most
/// this fraction.
const CONVERGENCE_TOLERANCE: f64 = 0.001;
/// Factors by which estimates are multiplied, one after the other. The first factor admits only nests with a large
/// estimated gain, so that the search ends soon; the last admits every nest that could be better.
const ESTIMATE_FACTORS: [f64; 4] = [1.3, 1.15, 1.05, 1.0];
/// Maximum number of hill-climbing iterations that evaluate the neighbors of a segment's best nest.
const MAX_HILL_CLIMBING_ITERATIONS: usize = 4;
/// Divisor of the step budget: this fraction of it is added for loops around which values stay in LX.
const RESIDENT_STEPS_DIVISOR: usize = 3;
/// Divisor of the step budget if estimates say that loops save nothing.
const SMALL_GAIN_STEPS_DIVISOR: usize = 20;
/// Minimum fraction by which a program exceeds the sum of its ops' best times before loops are searched that have no
/// estimated gain.
const MIN_UNEXPLAINED_FRACTION: f64 = 0.02;
/// Minimum fraction by which ops outside of loops must cost more than known before the search runs another round.
const MIN_COST_INCREASE: f64 = 0.005;
/// Maximum number of search rounds. Each round uses the costs of ops outside of loops in the previous round's plan.
const MAX_ROUNDS: usize = 3;
/// Cost of evaluating a segment in addition to its ops, in search steps.
const STEPS_PER_EVALUATION: usize = 4;
/// Steps that whole-program plans may take: a multiple of the steps of the search, and a minimum.
const PROGRAM_STEPS_PER_STEP: usize = 4;
const MIN_PROGRAM_STEPS: usize = 12_000;

/// Result of a search: the chosen loops, and statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileSearchResult {
    /// Loops around some of the ops.
    pub loops: Vec<LoopNest>,
    /// Costs and statistics of the search, or `None` if loops could save nothing and no segment was evaluated.
    pub found: Option<TileSearchStatistics>,
}

/// Costs and statistics of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct TileSearchStatistics {
    /// Cost of all ops with the loops, or `None` if they cannot be compiled.
    pub cost: Option<ModeledCost>,
    /// Cost of all ops without loops, or `None` if they cannot be compiled that way.
    pub untiled: Option<ModeledCost>,
    /// Next best whole-program plan among those evaluated, if another one can be compiled.
    pub runner_up: Option<PricedPlan>,
    /// Least sum of evaluated or estimated segment times, ns. `None` if plans were compared by bytes.
    pub least_ns: Option<f64>,
    /// Number of evaluations.
    pub num_evaluated: usize,
    /// Number of evaluations in which a rule rejected the plan.
    pub num_infeasible: usize,
    /// Whether the search ended by itself, not for lack of steps.
    pub is_complete: bool,
}

/// Chooses loops in at most `most_steps` steps, plus a few whole-program plans; one step evaluates one op. According to
/// `judge`, the loops never slow the program.
#[must_use]
pub fn choose_tilings(ops: &[SearchedOp], judge: &dyn CostEvaluator, most_steps: usize) -> TileSearchResult {
    if most_steps == 0 || ops.iter().all(|op| !op.may_be_tiled.contains(&true)) {
        return TileSearchResult::default();
    }
    let mut search = ShortestPathSearch::new(ops, judge);
    let promises_much = search.has_large_gain();
    // If the user has written loops and estimates show no gain, the search considers only the user's loops.
    if !promises_much && ops.iter().any(|op| !op.tiled.levels.is_empty()) {
        return TileSearchResult::default();
    }
    let untiled = judge.evaluate_untiled();
    if !promises_much && !search.has_small_gain(untiled.as_deref()) {
        return TileSearchResult::default();
    }
    search.max_program_steps = most_steps.saturating_mul(PROGRAM_STEPS_PER_STEP).max(MIN_PROGRAM_STEPS);
    let most_steps = if promises_much { most_steps } else { most_steps / SMALL_GAIN_STEPS_DIVISOR };
    search.initialize_edges(untiled.as_deref());
    let mut rounds = SearchState { least_ns: f64::INFINITY, is_complete: true, cost: None, loops: Vec::new() };
    search.run_rounds(most_steps, &mut rounds);
    search.assume_resident_values();
    search.run_rounds(most_steps / RESIDENT_STEPS_DIVISOR, &mut rounds);
    let SearchState { least_ns, is_complete, mut cost, mut loops } = rounds;
    let untiled: Option<ModeledCost> = untiled.map(|by_op| by_op.into_iter().sum());
    // Nests that are good in isolation may not be good in combination.
    if cost.is_none_or(|cost| untiled.is_some_and(|untiled| untiled.ns <= cost.ns)) {
        (cost, loops) = (untiled, Vec::new());
    }
    // Estimates do not include copies before loops.
    let least_ns = cost.map_or(least_ns, |cost| least_ns.min(cost.ns));
    let without = untiled.map(|cost| PricedPlan { loops: Vec::new(), cost });
    if loops.is_empty() && !promises_much {
        return TileSearchResult::default();
    }
    let chosen = cost.map(|cost| PricedPlan { loops: loops.clone(), cost });
    let tried: Vec<PricedPlan> = search.evaluated_plans.iter().filter_map(EvaluatedPlan::to_priced_plan).collect();
    let runner_up = chosen.and_then(|chosen| find_next_best(without.iter().chain(&tried), &chosen, Objective::Time));
    let found = TileSearchStatistics {
        cost,
        untiled,
        runner_up,
        least_ns: Some(least_ns),
        num_evaluated: search.num_evaluated(),
        num_infeasible: search.num_infeasible(),
        is_complete,
    };
    TileSearchResult { loops, found: Some(found) }
}

/// Result of several rounds of a search.
struct SearchState {
    /// Least estimated time of a path, ns.
    least_ns: f64,
    /// Whether every round ended by itself, not for lack of steps.
    is_complete: bool,
    /// Cost of the best plan.
    cost: Option<ModeledCost>,
    /// Its loops.
    loops: Vec<LoopNest>,
}

/// Whole-program plan that was evaluated.
struct EvaluatedPlan {
    loops: Vec<LoopNest>,
    /// Cost of each op, or `None` if the plan cannot be compiled.
    by_op: Option<Vec<ModeledCost>>,
}

impl EvaluatedPlan {
    fn to_priced_plan(&self) -> Option<PricedPlan> {
        let by_op = self.by_op.as_ref()?;
        Some(PricedPlan { loops: self.loops.clone(), cost: by_op.iter().copied().sum() })
    }
}

struct ShortestPathSearch<'a> {
    ops: &'a [SearchedOp],
    evaluator: &'a dyn CostEvaluator,
    /// Steps taken.
    steps: usize,
    /// Steps taken for whole-program work: plans, and the neighbors of the nests on the shortest path.
    program_steps: usize,
    /// Maximum of `program_steps`.
    max_program_steps: usize,
    /// Evaluated times of ops.
    measured: MeasuredTimes,
    /// Known cost of each op outside of loops.
    outside: Vec<ModeledCost>,
    /// Cost of each op outside of loops in the plan of the shortest path.
    path_costs: Vec<ModeledCost>,
    /// Time of the fastest evaluated whole-program plan, ns.
    fastest_ns: f64,
    /// Indexed by the first op, then by the number of ops minus one.
    edges: Vec<Vec<SegmentEdge<'a>>>,
    /// Number of evaluated whole-program plans.
    num_plans: usize,
    /// Number of these that are infeasible.
    num_infeasible_plans: usize,
    /// The evaluated whole-program plans.
    evaluated_plans: Vec<EvaluatedPlan>,
}

/// Key of an edge: the ops that it spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SegmentKey {
    first: usize,
    n_ops: usize,
}

impl<'a> ShortestPathSearch<'a> {
    fn new(ops: &'a [SearchedOp], judge: &'a dyn CostEvaluator) -> Self {
        let roomy = UnlimitedLxCosts::new(ops, judge);
        let edge = |range: Range<usize>| SegmentEdge {
            ops,
            has_resident_live_ins: false,
            unlimited_lx_ns: estimate_cost(ops, range.clone(), &[], &[], false, &roomy).ns,
            range,
            axes: Vec::new(),
            queue: None,
            evaluated: Vec::new(),
            num_evaluated: 0,
            num_evaluated_before: 0,
            num_infeasible: 0,
        };
        let from =
            |first: usize| (first + 1..=ops.len().min(first + MAX_SEGMENT_OPS)).map(|end| edge(first..end)).collect();
        Self {
            ops,
            evaluator: judge,
            steps: 0,
            program_steps: 0,
            max_program_steps: MIN_PROGRAM_STEPS,
            measured: MeasuredTimes::default(),
            outside: Vec::new(),
            path_costs: Vec::new(),
            fastest_ns: f64::INFINITY,
            edges: (0..ops.len()).map(from).collect(),
            num_plans: 0,
            num_infeasible_plans: 0,
            evaluated_plans: Vec::new(),
        }
    }

    /// Returns whether loops could save time with every op at its best: LX lacks room without loops, or some op is
    /// faster in tiles.
    fn has_large_gain(&self) -> bool {
        let (untiled_ns, _) = self
            .find_shortest_path(|edge| estimate_cost(edge.ops, edge.range.clone(), &[], &[], false, self.evaluator).ns);
        let (roomy_ns, _) = self.find_shortest_path(|edge| edge.unlimited_lx_ns);
        untiled_ns > roomy_ns * (1.0 + CONVERGENCE_TOLERANCE)
    }

    /// Returns whether the ops together exceed their best times although estimates see no gain: core splits disagree,
    /// which loops may fix.
    fn has_small_gain(&self, untiled: Option<&[ModeledCost]>) -> bool {
        let (roomy_ns, _) = self.find_shortest_path(|edge| edge.unlimited_lx_ns);
        untiled.is_none_or(|by_op| {
            by_op.iter().map(|cost| cost.ns).sum::<f64>() > roomy_ns * (1.0 + MIN_UNEXPLAINED_FRACTION)
        })
    }

    /// Initializes all edges with the cost of their ops without loops. If the program cannot be compiled without loops,
    /// each op is evaluated alone.
    fn initialize_edges(&mut self, by_op: Option<&[ModeledCost]>) {
        self.num_plans += 1;
        self.num_infeasible_plans += usize::from(by_op.is_none());
        let by_op = by_op.map_or_else(|| self.evaluate_ops_alone(), <[ModeledCost]>::to_vec);
        for edge in self.edges.iter_mut().flatten() {
            edge.record_untiled_cost(&by_op);
        }
        self.outside = by_op;
    }

    /// Reopens all edges, assuming that untiled results of earlier ops are in LX. Whole-program evaluation then decides
    /// whether the assumption holds.
    fn assume_resident_values(&mut self) {
        let roomy = UnlimitedLxCosts::new(self.ops, self.evaluator);
        for edge in self.edges.iter_mut().flatten() {
            edge.has_resident_live_ins = true;
            edge.unlimited_lx_ns = estimate_cost(self.ops, edge.range.clone(), &[], &[], true, &roomy).ns;
            edge.queue = None;
            (edge.num_evaluated_before, edge.num_evaluated) = (edge.num_evaluated_before + edge.num_evaluated, 0);
        }
        self.steps = 0;
    }

    /// Replaces the known costs of ops outside of loops by those of the shortest path's plan; returns false if they are
    /// no higher. Without loops, values stay in LX that leave it where a loop makes or reads them.
    fn update_outside_costs(&mut self) -> bool {
        let viewed = std::mem::take(&mut self.path_costs);
        let ns = |costs: &[ModeledCost]| costs.iter().map(|cost| cost.ns).sum::<f64>();
        if viewed.is_empty() || ns(&viewed) <= ns(&self.outside) * (1.0 + MIN_COST_INCREASE) {
            return false;
        }
        for edge in self.edges.iter_mut().flatten() {
            edge.evaluated.retain(|(_, nest)| !nest.is_empty());
            edge.record_untiled_cost(&viewed);
        }
        self.outside = viewed;
        true
    }

    /// Returns the cost of each op compiled alone without loops; the time is infinite if that is impossible.
    fn evaluate_ops_alone(&mut self) -> Vec<ModeledCost> {
        self.num_plans += self.ops.len();
        let never = ModeledCost { ns: f64::INFINITY, hbm_bytes: 0 };
        let alone = (0..self.ops.len()).map(|op| self.evaluator.evaluate_segment(op..op + 1, &[], &[], &[]));
        let costs: Vec<Option<Vec<ModeledCost>>> = alone.collect();
        self.num_infeasible_plans += costs.iter().filter(|cost| cost.is_none()).count();
        costs.into_iter().map(|by_op| by_op.map_or(never, |by_op| by_op.into_iter().sum())).collect()
    }

    fn num_infeasible(&self) -> usize {
        self.num_infeasible_plans + self.edges.iter().flatten().map(|edge| edge.num_infeasible).sum::<usize>()
    }

    fn num_evaluated(&self) -> usize {
        self.num_plans
            + self.edges.iter().flatten().map(|edge| edge.num_evaluated_before + edge.num_evaluated).sum::<usize>()
    }

    fn edge(&self, place: SegmentKey) -> &SegmentEdge<'a> {
        &self.edges[place.first][place.n_ops - 1]
    }

    /// Searches for the best path and plan, in rounds, until a plan has no new costs of ops outside of loops.
    fn run_rounds(&mut self, most_steps: usize, rounds: &mut SearchState) {
        for _ in 0..MAX_ROUNDS {
            rounds.is_complete &= self.refine_shortest_path(most_steps);
            self.hill_climb();
            self.evaluate_traffic_saving_nests();
            rounds.least_ns = rounds.least_ns.min(self.find_shortest_path(|edge| edge.lower_bound_ns(1.0)).0);
            let (found, plan) = self.find_best_plan();
            rounds.is_complete &= self.program_steps < self.max_program_steps;
            let is_better =
                |found: &ModeledCost| rounds.cost.is_none_or(|cost| is_preferred(found, &cost, self.fastest_ns, false));
            if found.as_ref().is_some_and(is_better) {
                (rounds.cost, rounds.loops) = (found, plan);
            }
            if !self.update_outside_costs() {
                break;
            }
        }
    }

    /// Opens or evaluates edges of the shortest path until it is final; returns false if the steps ran out first.
    fn refine_shortest_path(&mut self, most_steps: usize) -> bool {
        for caution in ESTIMATE_FACTORS {
            while let Some(SegmentKey { first, n_ops }) = self.find_least_certain_edge(caution) {
                if self.steps >= most_steps {
                    return false;
                }
                let edge = &mut self.edges[first][n_ops - 1];
                self.steps += if edge.queue.is_none() {
                    edge.enumerate_candidates(self.evaluator)
                } else {
                    edge.evaluate_next(self.evaluator, &mut self.measured, caution)
                };
            }
        }
        true
    }

    /// Returns the edge of the shortest path with the largest gap between evaluated and least time; `None` if the
    /// evaluated path is as good.
    fn find_least_certain_edge(&self, caution: f64) -> Option<SegmentKey> {
        let (least_ns, path) = self.find_shortest_path(|edge| edge.lower_bound_ns(caution));
        let (settled_ns, _) = self.find_shortest_path(SegmentEdge::best_evaluated_ns);
        if settled_ns <= least_ns * (1.0 + CONVERGENCE_TOLERANCE) {
            return None;
        }
        let doubts = path
            .iter()
            .rev()
            .map(|&place| (self.edge(place).potential_saving_ns(caution), place))
            .filter(|(doubt, _)| *doubt > 0.0);
        doubts.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, place)| place)
    }

    /// Evaluates neighbors of the nests on the shortest path while they improve it, because estimates cannot rank nests
    /// that are nearly equal.
    fn hill_climb(&mut self) {
        let (_, path) = self.find_shortest_path(SegmentEdge::best_evaluated_ns);
        for SegmentKey { first, n_ops } in path {
            let edge = &mut self.edges[first][n_ops - 1];
            let mut tried: BTreeSet<Tiling> = edge.evaluated.iter().map(|(_, nest)| nest.clone()).collect();
            for _ in 0..MAX_HILL_CLIMBING_ITERATIONS {
                for nest in edge.find_neighbors() {
                    if self.program_steps < self.max_program_steps && tried.insert(nest.clone()) {
                        self.program_steps += edge.evaluation_steps();
                        edge.evaluate(nest, self.evaluator, &mut self.measured);
                    }
                }
            }
        }
    }

    /// Returns the shortest path and its length; among equal paths, the one with longer last edges.
    fn find_shortest_path(&self, ns_of: impl Fn(&SegmentEdge<'a>) -> f64) -> (f64, Vec<SegmentKey>) {
        let n_ops = self.edges.len();
        // For each op the length of the path to it, and the first op of its last edge.
        let mut best: Vec<Option<(f64, usize)>> = vec![None; n_ops + 1];
        best[0] = Some((0.0, 0));
        for (from, edges) in self.edges.iter().enumerate() {
            let Some((before_ns, _)) = best[from] else { continue };
            for edge in edges {
                let ns = before_ns + ns_of(edge);
                let known = &mut best[edge.range.end];
                if known.is_none_or(|(known, _)| ns < known) {
                    *known = Some((ns, from));
                }
            }
        }
        let mut path = Vec::new();
        let mut end = n_ops;
        while let Some((_, first)) = best[end].filter(|_| end > 0) {
            path.push(SegmentKey { first, n_ops: end - first });
            end = first;
        }
        path.reverse();
        (best[n_ops].map_or(0.0, |(ns, _)| ns), path)
    }
}

/// Returns the predecessor and the successor of `count` in `counts`.
fn find_adjacent_counts(counts: &[i64], count: i64) -> impl Iterator<Item = i64> {
    let at = counts.iter().position(|other| *other == count);
    let near = at.into_iter().flat_map(|at| [at.checked_sub(1), Some(at + 1)]).flatten();
    near.filter_map(|near| counts.get(near).copied())
}
