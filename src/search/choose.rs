//! Search for the plan of least time: a shortest path over segments. All edges are estimated; edges on the path are then evaluated.

mod preference;
#[cfg(test)]
mod tests;
mod whole;

use super::{
    Axis, Cost, Judge, Loops, Nest, PricedPlan, SearchedOp, axes,
    copies::kept_before,
    estimate::{estimate, not_written},
    nests,
    nests::counts,
    roomy::Roomy,
    runner_up::next_best,
    seen::{AsSeen, Seen},
};
use cost::Objective;
use preference::{is_preferred, is_sparing};
use std::{collections::BTreeSet, ops::Range};

/// Maximum number of ops of a segment.
const MOST_OPS: usize = 24;
/// Relative tolerance of the search: a plan is accepted if its time exceeds the least estimate of all plans by at most this fraction.
const CLOSE: f64 = 0.001;
/// Factors by which estimates are multiplied, one after the other. The first admits only nests with a large estimated
/// gain, so that the search ends soon; the last admits every nest that could be better.
const CAUTION: [f64; 4] = [1.3, 1.15, 1.05, 1.0];
/// Maximum number of nests of a segment that are evaluated because they move fewer bytes.
const MOST_SPARING: usize = 8;
/// Maximum number of evaluated nests of a segment.
const MOST_JUDGED: usize = 40;
/// Maximum number of hill-climbing iterations that evaluate the neighbors of a segment's best nest.
const MOST_CLIMBS: usize = 4;
/// Maximum number of nests of a segment that are tried in the whole program.
const MOST_TRIED: usize = 3;
/// Number of estimates of an op that take as long as one evaluation of the op.
const ESTIMATES_A_STEP: usize = 2000;
/// Divisor of the step budget: this fraction of it is added for loops around which values stay in LX.
const STEPS_OF_KEPT: usize = 3;
/// Divisor of the step budget if estimates say that loops save nothing.
const STEPS_OF_LITTLE: usize = 20;
/// Minimum fraction by which a program exceeds the sum of its ops' best times before loops are searched that have no estimated gain.
const WORTH_A_LOOK: f64 = 0.02;
/// Minimum fraction by which ops outside of loops must cost more than known before the search runs another round.
const WORTH_LEARNING: f64 = 0.005;
/// Maximum number of search rounds. Each round uses the costs of ops outside of loops that the previous round's plan showed.
const MOST_ROUNDS: usize = 3;
/// Cost of evaluating a segment in addition to its ops, in search steps.
const STEPS_A_JUDGEMENT: usize = 4;
/// Steps that whole-program plans may take: a multiple of the steps of the search, and a minimum.
const WHOLE_STEPS_A_STEP: usize = 4;
const LEAST_WHOLE_STEPS: usize = 12_000;

/// Result of a search: the chosen loops, and statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Loops around some of the ops.
    pub loops: Vec<Loops>,
    /// Costs and statistics of the search, or `None` if loops could save nothing and no segment was evaluated.
    pub found: Option<Found>,
}

/// Costs and statistics of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Cost of all ops with the loops, or `None` if they cannot be compiled.
    pub cost: Option<Cost>,
    /// Cost of all ops without loops, or `None` if they cannot be compiled that way.
    pub untiled: Option<Cost>,
    /// Next best whole-program plan among those evaluated, if another one can be compiled.
    pub runner_up: Option<PricedPlan>,
    /// Least sum of evaluated or estimated segment times, ns. `None` if plans were compared by bytes.
    pub least_ns: Option<f64>,
    /// Number of evaluations.
    pub n_judged: usize,
    /// Number of evaluations in which a rule rejected the plan.
    pub n_infeasible: usize,
    /// Whether the search ended by itself, not for want of steps.
    pub is_complete: bool,
}

/// Chooses loops in at most `most_steps` steps, plus a few whole-program plans; one step evaluates one op. By `judge`, the loops never slow the
/// program.
#[must_use]
pub fn choose(ops: &[SearchedOp], judge: &dyn Judge, most_steps: usize) -> Chosen {
    if most_steps == 0 || ops.iter().all(|op| !op.may_be_cut.contains(&true)) {
        return Chosen::default();
    }
    let mut search = Search::new(ops, judge);
    let promises_much = search.promises_much();
    // If the user has written loops and estimates show no gain, the search considers only the user's loops.
    if !promises_much && ops.iter().any(|op| !op.tiled.levels.is_empty()) {
        return Chosen::default();
    }
    let untiled = judge.untiled();
    if !promises_much && !search.promises_little(untiled.as_deref()) {
        return Chosen::default();
    }
    search.most_whole_steps = most_steps.saturating_mul(WHOLE_STEPS_A_STEP).max(LEAST_WHOLE_STEPS);
    let most_steps = if promises_much { most_steps } else { most_steps / STEPS_OF_LITTLE };
    search.begin(untiled.as_deref());
    let mut rounds = Rounds { least_ns: f64::INFINITY, is_complete: true, cost: None, loops: Vec::new() };
    search.look(most_steps, &mut rounds);
    search.keep_values();
    search.look(most_steps / STEPS_OF_KEPT, &mut rounds);
    let Rounds { least_ns, is_complete, mut cost, mut loops } = rounds;
    let untiled: Option<Cost> = untiled.map(|by_op| by_op.into_iter().sum());
    // Nests that are good in isolation may not be good in combination.
    if cost.is_none_or(|cost| untiled.is_some_and(|untiled| untiled.ns <= cost.ns)) {
        (cost, loops) = (untiled, Vec::new());
    }
    // Estimates do not include copies before loops.
    let least_ns = cost.map_or(least_ns, |cost| least_ns.min(cost.ns));
    let without = untiled.map(|cost| PricedPlan { loops: Vec::new(), cost });
    if loops.is_empty() && !promises_much {
        return Chosen::default();
    }
    let chosen = cost.map(|cost| PricedPlan { loops: loops.clone(), cost });
    let tried: Vec<PricedPlan> = search.tried.iter().filter_map(Tried::priced).collect();
    let runner_up = chosen.and_then(|chosen| next_best(without.iter().chain(&tried), &chosen, Objective::Time));
    let found = Found {
        cost,
        untiled,
        runner_up,
        least_ns: Some(least_ns),
        n_judged: search.n_judged(),
        n_infeasible: search.n_infeasible(),
        is_complete,
    };
    Chosen { loops, found: Some(found) }
}

/// A segment in the search.
struct Edge<'a> {
    ops: &'a [SearchedOp],
    range: Range<usize>,
    /// Whether results of ops before the segment are in LX for it, if its loops do not tile them.
    keeps: bool,
    /// Estimated time if LX has room for every value, ns.
    roomy_ns: f64,
    /// Empty until the path uses the edge.
    axes: Vec<Axis>,
    /// Nests to evaluate, the fastest expected one last. `None` until the path uses the edge.
    queue: Option<Vec<Waiting>>,
    /// Evaluated nests, fastest first. The initial one has no loop.
    judged: Vec<(Cost, Nest)>,
    /// Number of evaluated nests in the current search of the segment, including infeasible ones, and in earlier
    /// searches.
    n_judged: usize,
    n_judged_before: usize,
    /// Number of infeasible nests among these.
    n_infeasible: usize,
}

/// Nest that may be evaluated.
struct Waiting {
    nest: Nest,
    estimate: Cost,
    /// Expected time, ns: the estimate, raised to the evaluated times of its ops.
    expected_ns: f64,
    /// Version of the evaluated times for which `expected_ns` was computed.
    seen_version: Option<usize>,
}

impl Edge<'_> {
    /// Returns the least time that the segment may take, ns. Nests that were not evaluated count with `caution` times
    /// their estimate.
    fn least_ns(&self, caution: f64) -> f64 {
        let least = |queue: &Vec<Waiting>| {
            if caution > 1.0 {
                return queue.last().map_or(f64::INFINITY, |waiting| waiting.expected_ns);
            }
            queue.iter().map(|waiting| waiting.estimate.ns).fold(f64::INFINITY, f64::min)
        };
        let estimated = self.queue.as_ref().map_or(self.roomy_ns, least);
        self.settled_ns().min(estimated * caution)
    }

    /// Returns the time of the best evaluated nest, ns; infinite if there is none.
    fn settled_ns(&self) -> f64 {
        self.judged.first().map_or(f64::INFINITY, |(cost, _)| cost.ns)
    }

    /// Returns how much less time than the best evaluated nest the segment may take, ns.
    fn doubt_ns(&self, caution: f64) -> f64 {
        let least_ns = self.least_ns(caution);
        if self.settled_ns() <= least_ns * (1.0 + CLOSE) { 0.0 } else { self.settled_ns() - least_ns }
    }

    /// Returns the loops to try in the whole program: fastest evaluated nests, and those with fewer bytes in little more time. `None` is no loop.
    fn loops_to_try(&self) -> Vec<Option<Loops>> {
        let is_first = |&(number, (_, nest)): &(usize, &(Cost, Nest))| !self.judged[..number].iter().any(|(_, before)| before == nest);
        let judged: Vec<&(Cost, Nest)> = self.judged.iter().enumerate().filter(is_first).map(|(_, judged)| judged).collect();
        let fastest = judged.iter().take(MOST_TRIED);
        let sparing = judged.iter().skip(MOST_TRIED).filter(|(cost, _)| self.is_worth_more_time(cost)).take(MOST_TRIED);
        fastest.chain(sparing).map(|(_, nest)| (!nest.is_empty()).then(|| Loops::new(&self.range, &self.axes, nest))).collect()
    }

    /// Returns whether `cost` moves so many bytes less than the fastest evaluated nest that its longer time is acceptable.
    fn is_worth_more_time(&self, cost: &Cost) -> bool {
        self.judged.first().is_some_and(|(fastest, _)| is_sparing(cost, fastest, fastest.ns))
    }

    /// Evaluates nests with fewer estimated bytes and little more estimated time than the fastest one. Returns the steps taken.
    fn judge_sparing(&mut self, judge: &dyn Judge, seen: &mut Seen) -> usize {
        let queue = self.queue.take().unwrap_or_default();
        let (sparing, others): (Vec<_>, Vec<_>) = queue.into_iter().partition(|waiting| self.is_worth_more_time(&waiting.estimate));
        self.queue = Some(others);
        let tried: Vec<Waiting> = sparing.into_iter().rev().take(MOST_SPARING).collect();
        let steps = tried.len() * self.steps_of_judgement();
        for waiting in tried {
            self.judge(waiting.nest, judge, seen);
        }
        steps
    }

    /// Returns the steps that the evaluation of a nest takes.
    fn steps_of_judgement(&self) -> usize {
        self.range.len() + STEPS_A_JUDGEMENT
    }

    /// Computes axes and estimates, and fills the queue of nests to evaluate. Returns the steps taken.
    fn open(&mut self, judge: &dyn Judge) -> usize {
        self.axes = axes(self.ops, self.range.clone());
        let nests = nests(self.ops, self.range.clone(), &self.axes);
        let n_estimates = nests.len() * self.range.len();
        let estimated = |nest: Nest| {
            let estimate = estimate(self.ops, self.range.clone(), &self.axes, &nest, self.keeps, judge);
            Waiting { nest, estimate, expected_ns: estimate.ns, seen_version: None }
        };
        // The cost without loops is already known.
        let mut queue: Vec<Waiting> = nests.into_iter().filter(|nest| !nest.is_empty()).map(estimated).collect();
        queue.retain(|waiting| waiting.estimate.ns.is_finite());
        // Best nest last; among equal ones the first, which has the fewest loops and tiles.
        queue.reverse();
        sort(&mut queue);
        self.queue = Some(queue);
        n_estimates.div_ceil(ESTIMATES_A_STEP)
    }

    /// Records the cost of the ops without loops; `by_op` has one entry per op of the program.
    fn note_outside(&mut self, by_op: &[Cost]) {
        self.note(by_op[self.range.clone()].iter().copied().sum(), Vec::new());
    }

    fn note(&mut self, cost: Cost, nest: Nest) {
        let place = self.judged.partition_point(|(known, _)| known.ns <= cost.ns);
        self.judged.insert(place, (cost, nest));
    }

    /// Evaluates a nest and records its cost. Returns `None` if the nest is infeasible.
    fn judge(&mut self, nest: Nest, judge: &dyn Judge, seen: &mut Seen) -> Option<Cost> {
        let kept = if self.keeps { kept_before(self.ops, &Loops::new(&self.range, &self.axes, &nest)) } else { Vec::new() };
        let known = self.judged.iter().find(|(_, known)| *known == nest).filter(|_| kept.is_empty());
        if let Some((cost, _)) = known {
            return Some(*cost);
        }
        self.n_judged += 1;
        let Some(by_op) = judge.segment(self.range.clone(), &self.axes, &nest, &kept) else {
            self.n_infeasible += 1;
            return None;
        };
        seen.note(&self.range, &self.axes, &nest, &by_op);
        let cost = by_op.into_iter().sum();
        let reads = kept.iter().filter_map(|copied| copied.reads.first());
        let makers = reads.filter_map(|read| self.ops[read.op].tiled.inputs[read.operand].maker);
        let cost = not_written(self.ops, &self.range, makers, cost, judge);
        self.note(cost, nest);
        Some(cost)
    }

    /// Returns the neighbors of the best evaluated nest: copies in which one level has the next smaller or next larger tile count.
    fn neighbours(&self) -> Vec<Nest> {
        let Some((_, best)) = self.judged.first() else { return Vec::new() };
        let mut found = Vec::new();
        for (level, cut) in best.iter().enumerate() {
            let axis = &self.axes[cut.axis];
            for near in next_to(&counts(self.ops, axis.size, &axis.dims), cut.count) {
                let mut nest = best.clone();
                nest[level].count = near;
                found.push(nest);
            }
        }
        found
    }

    /// Sorts the queue by estimates alone, without the evaluated times of ops.
    fn order_by_estimates(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.iter_mut().for_each(|waiting| (waiting.expected_ns, waiting.seen_version) = (waiting.estimate.ns, None));
            sort(queue);
        }
    }

    /// Updates the expected time of the best queued nest until it accounts for all evaluated op times. Returns the number of updated nests.
    fn look_again(&mut self, judge: &dyn Judge, seen: &Seen) -> usize {
        let Some(mut queue) = self.queue.take() else { return 0 };
        let costs = AsSeen { costs: judge, seen };
        let mut n_looked_at = 0;
        while let Some(mut first) = queue.pop_if(|first| first.seen_version != Some(seen.version)) {
            let expected_ns = estimate(self.ops, self.range.clone(), &self.axes, &first.nest, self.keeps, &costs).ns;
            (first.expected_ns, first.seen_version) = (expected_ns.max(first.expected_ns), Some(seen.version));
            // Among equal nests the order is stable.
            let place = queue.partition_point(|other| other.expected_ns > first.expected_ns);
            queue.insert(place, first);
            n_looked_at += 1;
        }
        self.queue = Some(queue);
        n_looked_at
    }

    /// Evaluates the nest with the least expected time, unless newer op times raise the bound: then other edges go first. Returns the steps.
    fn judge_next(&mut self, judge: &dyn Judge, seen: &mut Seen, caution: f64) -> usize {
        let before_ns = self.least_ns(caution);
        if caution > 1.0 {
            let n_estimates = self.look_again(judge, seen) * self.range.len();
            if self.least_ns(caution) > before_ns + CLOSE * before_ns.abs() {
                return n_estimates.div_ceil(ESTIMATES_A_STEP);
            }
        } else {
            self.order_by_estimates();
        }
        let Some(waiting) = self.queue.as_mut().and_then(Vec::pop) else { return 0 };
        self.judge(waiting.nest, judge, seen);
        if self.n_judged == MOST_JUDGED {
            self.queue = Some(Vec::new());
        }
        self.steps_of_judgement()
    }
}

/// Sorts the queue, fastest nest last.
fn sort(queue: &mut [Waiting]) {
    queue.sort_by(|one, other| other.expected_ns.total_cmp(&one.expected_ns));
}

/// Result of several rounds of a search.
struct Rounds {
    /// Least estimated time of a path, ns.
    least_ns: f64,
    /// Whether every round ended by itself, not for lack of steps.
    is_complete: bool,
    /// Cost of the best plan.
    cost: Option<Cost>,
    /// Its loops.
    loops: Vec<Loops>,
}

/// Whole-program plan that was evaluated.
struct Tried {
    loops: Vec<Loops>,
    /// Cost of each op, or `None` if the plan cannot be compiled.
    by_op: Option<Vec<Cost>>,
}

impl Tried {
    fn priced(&self) -> Option<PricedPlan> {
        let by_op = self.by_op.as_ref()?;
        Some(PricedPlan { loops: self.loops.clone(), cost: by_op.iter().copied().sum() })
    }
}

struct Search<'a> {
    ops: &'a [SearchedOp],
    judge: &'a dyn Judge,
    /// Steps taken.
    steps: usize,
    /// Steps taken for whole-program work: plans, and the neighbors of the nests on the shortest path.
    whole_steps: usize,
    /// Maximum of `whole_steps`.
    most_whole_steps: usize,
    /// Evaluated times of ops.
    seen: Seen,
    /// Known cost of each op outside of loops.
    outside: Vec<Cost>,
    /// Cost of each op outside of loops in the plan of the shortest path.
    shown: Vec<Cost>,
    /// Time of the fastest evaluated whole-program plan, ns.
    fastest_ns: f64,
    /// Indexed by the first op, then by the number of ops minus one.
    edges: Vec<Vec<Edge<'a>>>,
    /// Number of evaluated whole-program plans.
    n_plans: usize,
    /// Number of these that are infeasible.
    n_infeasible_plans: usize,
    /// The evaluated whole-program plans.
    tried: Vec<Tried>,
}

/// Key of an edge: the ops that it spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    first: usize,
    n_ops: usize,
}

impl<'a> Search<'a> {
    fn new(ops: &'a [SearchedOp], judge: &'a dyn Judge) -> Self {
        let roomy = Roomy::new(ops, judge);
        let edge = |range: Range<usize>| Edge {
            ops,
            keeps: false,
            roomy_ns: estimate(ops, range.clone(), &[], &[], false, &roomy).ns,
            range,
            axes: Vec::new(),
            queue: None,
            judged: Vec::new(),
            n_judged: 0,
            n_judged_before: 0,
            n_infeasible: 0,
        };
        let from = |first: usize| (first + 1..=ops.len().min(first + MOST_OPS)).map(|end| edge(first..end)).collect();
        Self {
            ops,
            judge,
            steps: 0,
            whole_steps: 0,
            most_whole_steps: LEAST_WHOLE_STEPS,
            seen: Seen::default(),
            outside: Vec::new(),
            shown: Vec::new(),
            fastest_ns: f64::INFINITY,
            edges: (0..ops.len()).map(from).collect(),
            n_plans: 0,
            n_infeasible_plans: 0,
            tried: Vec::new(),
        }
    }

    /// Returns whether loops could save time with every op at its best: LX lacks room without loops, or some op is faster in tiles.
    fn promises_much(&self) -> bool {
        let (untiled_ns, _) = self.path(|edge| estimate(edge.ops, edge.range.clone(), &[], &[], false, self.judge).ns);
        let (roomy_ns, _) = self.path(|edge| edge.roomy_ns);
        untiled_ns > roomy_ns * (1.0 + CLOSE)
    }

    /// Returns whether the ops together exceed their best times although estimates see no gain: core splits disagree, which loops may fix.
    fn promises_little(&self, untiled: Option<&[Cost]>) -> bool {
        let (roomy_ns, _) = self.path(|edge| edge.roomy_ns);
        untiled.is_none_or(|by_op| by_op.iter().map(|cost| cost.ns).sum::<f64>() > roomy_ns * (1.0 + WORTH_A_LOOK))
    }

    /// Initializes all edges with the cost of their ops without loops. If the program cannot be compiled without loops, each op is evaluated alone.
    fn begin(&mut self, by_op: Option<&[Cost]>) {
        self.n_plans += 1;
        self.n_infeasible_plans += usize::from(by_op.is_none());
        let by_op = by_op.map_or_else(|| self.one_by_one(), <[Cost]>::to_vec);
        for edge in self.edges.iter_mut().flatten() {
            edge.note_outside(&by_op);
        }
        self.outside = by_op;
    }

    /// Reopens all edges, assuming that untiled results of earlier ops are in LX. Whole-program evaluation then decides whether that pays.
    fn keep_values(&mut self) {
        let roomy = Roomy::new(self.ops, self.judge);
        for edge in self.edges.iter_mut().flatten() {
            edge.keeps = true;
            edge.roomy_ns = estimate(self.ops, edge.range.clone(), &[], &[], true, &roomy).ns;
            edge.queue = None;
            (edge.n_judged_before, edge.n_judged) = (edge.n_judged_before + edge.n_judged, 0);
        }
        self.steps = 0;
    }

    /// Replaces the known costs of ops outside of loops by those of the shortest path's plan; returns false if they are no higher. Without loops,
    /// values stay in LX that leave it where a loop makes or reads them.
    fn learn(&mut self) -> bool {
        let shown = std::mem::take(&mut self.shown);
        let ns = |costs: &[Cost]| costs.iter().map(|cost| cost.ns).sum::<f64>();
        if shown.is_empty() || ns(&shown) <= ns(&self.outside) * (1.0 + WORTH_LEARNING) {
            return false;
        }
        for edge in self.edges.iter_mut().flatten() {
            edge.judged.retain(|(_, nest)| !nest.is_empty());
            edge.note_outside(&shown);
        }
        self.outside = shown;
        true
    }

    /// Returns the cost of each op compiled alone without loops; the time is infinite if that is impossible.
    fn one_by_one(&mut self) -> Vec<Cost> {
        self.n_plans += self.ops.len();
        let never = Cost { ns: f64::INFINITY, hbm_bytes: 0 };
        let alone = (0..self.ops.len()).map(|op| self.judge.segment(op..op + 1, &[], &[], &[]));
        let costs: Vec<Option<Vec<Cost>>> = alone.collect();
        self.n_infeasible_plans += costs.iter().filter(|cost| cost.is_none()).count();
        costs.into_iter().map(|by_op| by_op.map_or(never, |by_op| by_op.into_iter().sum())).collect()
    }

    fn n_infeasible(&self) -> usize {
        self.n_infeasible_plans + self.edges.iter().flatten().map(|edge| edge.n_infeasible).sum::<usize>()
    }

    fn n_judged(&self) -> usize {
        self.n_plans + self.edges.iter().flatten().map(|edge| edge.n_judged_before + edge.n_judged).sum::<usize>()
    }

    fn edge(&self, place: Place) -> &Edge<'a> {
        &self.edges[place.first][place.n_ops - 1]
    }

    /// Searches for the best path and plan, in rounds, until a plan shows no new costs of ops outside of loops.
    fn look(&mut self, most_steps: usize, rounds: &mut Rounds) {
        for _ in 0..MOST_ROUNDS {
            rounds.is_complete &= self.run(most_steps);
            self.climb();
            self.look_for_fewer_bytes();
            rounds.least_ns = rounds.least_ns.min(self.path(|edge| edge.least_ns(1.0)).0);
            let (found, plan) = self.refined();
            rounds.is_complete &= self.whole_steps < self.most_whole_steps;
            let is_better = |found: &Cost| rounds.cost.is_none_or(|cost| is_preferred(found, &cost, self.fastest_ns, false));
            if found.as_ref().is_some_and(is_better) {
                (rounds.cost, rounds.loops) = (found, plan);
            }
            if !self.learn() {
                break;
            }
        }
    }

    /// Opens or evaluates edges of the shortest path until it is settled; returns false if the steps ran out first.
    fn run(&mut self, most_steps: usize) -> bool {
        for caution in CAUTION {
            while let Some(Place { first, n_ops }) = self.doubtful(caution) {
                if self.steps >= most_steps {
                    return false;
                }
                let edge = &mut self.edges[first][n_ops - 1];
                self.steps +=
                    if edge.queue.is_none() { edge.open(self.judge) } else { edge.judge_next(self.judge, &mut self.seen, caution) };
            }
        }
        true
    }

    /// Returns the edge of the shortest path with the largest gap between evaluated and least time; `None` if the evaluated path is as good.
    fn doubtful(&self, caution: f64) -> Option<Place> {
        let (least_ns, path) = self.path(|edge| edge.least_ns(caution));
        let (settled_ns, _) = self.path(Edge::settled_ns);
        if settled_ns <= least_ns * (1.0 + CLOSE) {
            return None;
        }
        let doubts = path.iter().rev().map(|&place| (self.edge(place).doubt_ns(caution), place)).filter(|(doubt, _)| *doubt > 0.0);
        doubts.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, place)| place)
    }

    /// Evaluates neighbors of the nests on the shortest path while they improve it, because estimates cannot rank nests that are nearly equal.
    fn climb(&mut self) {
        let (_, path) = self.path(Edge::settled_ns);
        for Place { first, n_ops } in path {
            let edge = &mut self.edges[first][n_ops - 1];
            let mut tried: BTreeSet<Nest> = edge.judged.iter().map(|(_, nest)| nest.clone()).collect();
            for _ in 0..MOST_CLIMBS {
                for nest in edge.neighbours() {
                    if self.whole_steps < self.most_whole_steps && tried.insert(nest.clone()) {
                        self.whole_steps += edge.steps_of_judgement();
                        edge.judge(nest, self.judge, &mut self.seen);
                    }
                }
            }
        }
    }

    /// Returns the shortest path and its length; among equal paths, the one with longer last edges.
    fn path(&self, ns_of: impl Fn(&Edge<'a>) -> f64) -> (f64, Vec<Place>) {
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
            path.push(Place { first, n_ops: end - first });
            end = first;
        }
        path.reverse();
        (best[n_ops].map_or(0.0, |(ns, _)| ns), path)
    }
}

/// Returns the predecessor and the successor of `count` in `counts`.
fn next_to(counts: &[i64], count: i64) -> impl Iterator<Item = i64> {
    let at = counts.iter().position(|other| *other == count);
    let near = at.into_iter().flat_map(|at| [at.checked_sub(1), Some(at + 1)]).flatten();
    near.filter_map(|near| counts.get(near).copied())
}
