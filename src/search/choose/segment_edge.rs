//! Edge of the search graph: a segment of ops, with its evaluated nests and the queue of candidates.

use super::{
    super::{
        CostEvaluator, LoopNest, ModeledCost, SearchedOp, Tiling, TilingAxis,
        copies::resident_live_ins,
        enumerate_tilings,
        estimate::{estimate_cost, subtract_avoided_stores},
        find_axes,
        measured_times::{CalibratedCosts, MeasuredTimes},
        tilings::find_tile_counts,
    },
    CONVERGENCE_TOLERANCE, STEPS_PER_EVALUATION, find_adjacent_counts,
    preference::trades_time_for_bytes,
};
use std::{collections::BTreeMap, ops::Range};

/// Maximum number of nests of a segment that are evaluated because they move fewer bytes.
pub(super) const MAX_TRAFFIC_SAVING_NESTS: usize = 8;
/// Maximum number of evaluated nests of a segment.
const MAX_EVALUATED_NESTS: usize = 40;
/// Maximum number of nests of a segment that are tried in the whole program.
const MAX_NESTS_IN_PROGRAM: usize = 3;
/// Number of estimates of an op that take as long as one evaluation of the op.
const ESTIMATES_PER_STEP: usize = 2000;

/// Segment in the search.
pub(super) struct SegmentEdge<'a> {
    pub(super) ops: &'a [SearchedOp],
    pub(super) range: Range<usize>,
    /// Whether results of ops before the segment are in LX for it, if its loops do not tile them.
    pub(super) has_resident_live_ins: bool,
    /// Estimated time for an LX that has room for every value, ns.
    pub(super) unlimited_lx_ns: f64,
    /// Empty until the path uses the edge.
    pub(super) axes: Vec<TilingAxis>,
    /// Nests to evaluate, the fastest expected one last. `None` until the path uses the edge.
    pub(super) queue: Option<Vec<TileCandidate>>,
    /// Evaluated nests, fastest first. The initial one has no loop.
    pub(super) evaluated: Vec<(ModeledCost, Tiling)>,
    /// Number of evaluated nests in the current search of the segment, including infeasible ones, and in earlier
    /// searches.
    pub(super) num_evaluated: usize,
    pub(super) num_evaluated_before: usize,
    /// Number of infeasible nests among these.
    pub(super) num_infeasible: usize,
}

/// Nest that may be evaluated.
pub(super) struct TileCandidate {
    pub(super) nest: Tiling,
    estimate: ModeledCost,
    /// Expected time, ns: the estimate, raised to the evaluated times of its ops.
    pub(super) expected_ns: f64,
    /// Version of the evaluated times for which `expected_ns` was computed.
    measured_version: Option<usize>,
}

impl SegmentEdge<'_> {
    /// Returns the least time that the segment may take, ns. Nests that were not evaluated count with `caution` times
    /// their estimate.
    pub(super) fn lower_bound_ns(&self, caution: f64) -> f64 {
        let least = |queue: &Vec<TileCandidate>| {
            if caution > 1.0 {
                return queue.last().map_or(f64::INFINITY, |waiting| waiting.expected_ns);
            }
            queue.iter().map(|waiting| waiting.estimate.ns).fold(f64::INFINITY, f64::min)
        };
        let estimated = self.queue.as_ref().map_or(self.unlimited_lx_ns, least);
        self.best_evaluated_ns().min(estimated * caution)
    }

    /// Returns the time of the best evaluated nest, ns; infinite if there is none.
    pub(super) fn best_evaluated_ns(&self) -> f64 {
        self.evaluated.first().map_or(f64::INFINITY, |(cost, _)| cost.ns)
    }

    /// Returns how much less time than the best evaluated nest the segment may take, ns.
    pub(super) fn potential_saving_ns(&self, caution: f64) -> f64 {
        let least_ns = self.lower_bound_ns(caution);
        if self.best_evaluated_ns() <= least_ns * (1.0 + CONVERGENCE_TOLERANCE) {
            0.0
        } else {
            self.best_evaluated_ns() - least_ns
        }
    }

    /// Returns the loops to try in the program: the fastest evaluated nests, and those with fewer bytes in little more
    /// time. `None` is no loop.
    pub(super) fn loops_to_try(&self) -> Vec<Option<LoopNest>> {
        let is_first = |&(number, (_, nest)): &(usize, &(ModeledCost, Tiling))| {
            !self.evaluated[..number].iter().any(|(_, before)| before == nest)
        };
        let judged: Vec<&(ModeledCost, Tiling)> =
            self.evaluated.iter().enumerate().filter(is_first).map(|(_, judged)| judged).collect();
        let fastest = judged.iter().take(MAX_NESTS_IN_PROGRAM);
        let sparing = judged
            .iter()
            .skip(MAX_NESTS_IN_PROGRAM)
            .filter(|(cost, _)| self.is_worth_longer_time(cost))
            .take(MAX_NESTS_IN_PROGRAM);
        fastest
            .chain(sparing)
            .map(|(_, nest)| (!nest.is_empty()).then(|| LoopNest::new(&self.range, &self.axes, nest)))
            .collect()
    }

    /// Returns loops over other axes than those of `known`: for each sequence of axes the nest of the least evaluated
    /// or estimated time, the fastest first. Neither time includes copies before the loops.
    pub(super) fn find_loops_over_other_axes(&self, known: &LoopNest) -> Vec<LoopNest> {
        let evaluated = self.evaluated.iter().map(|(cost, nest)| (cost.ns, nest));
        let estimated = self.queue.iter().flatten().map(|waiting| (waiting.estimate.ns, &waiting.nest));
        let mut least: BTreeMap<Vec<usize>, (f64, &Tiling)> = BTreeMap::new();
        for (ns, nest) in evaluated.chain(estimated).filter(|(_, nest)| nest.len() > 1) {
            let axes = nest.iter().map(|level| level.axis).collect();
            let best = least.entry(axes).or_insert((ns, nest));
            if ns < best.0 {
                *best = (ns, nest);
            }
        }
        let mut found: Vec<(f64, &Tiling)> = least.into_values().collect();
        found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let loops = found.into_iter().map(|(_, nest)| LoopNest::new(&self.range, &self.axes, nest));
        let has_other_axes = |loops: &LoopNest| {
            let dims = |nest: &LoopNest| nest.levels.iter().map(|level| level.dims.clone()).collect::<Vec<_>>();
            dims(loops) != dims(known)
        };
        loops.filter(has_other_axes).collect()
    }

    /// Returns whether `cost` moves so many fewer bytes than the fastest evaluated nest that its longer time is
    /// acceptable.
    fn is_worth_longer_time(&self, cost: &ModeledCost) -> bool {
        self.evaluated.first().is_some_and(|(fastest, _)| trades_time_for_bytes(cost, fastest, fastest.ns))
    }

    /// Evaluates nests with fewer estimated bytes and little more estimated time than the fastest one. Returns the
    /// steps taken.
    pub(super) fn evaluate_traffic_saving(&mut self, evaluator: &dyn CostEvaluator, seen: &mut MeasuredTimes) -> usize {
        let queue = self.queue.take().unwrap_or_default();
        let (sparing, others): (Vec<_>, Vec<_>) =
            queue.into_iter().partition(|waiting| self.is_worth_longer_time(&waiting.estimate));
        self.queue = Some(others);
        let tried: Vec<TileCandidate> = sparing.into_iter().rev().take(MAX_TRAFFIC_SAVING_NESTS).collect();
        let steps = tried.len() * self.evaluation_steps();
        for waiting in tried {
            self.evaluate(waiting.nest, evaluator, seen);
        }
        steps
    }

    /// Returns the steps that the evaluation of a nest takes.
    pub(super) fn evaluation_steps(&self) -> usize {
        self.range.len() + STEPS_PER_EVALUATION
    }

    /// Computes axes and estimates, and fills the queue of nests to evaluate. Returns the steps taken.
    pub(super) fn enumerate_candidates(&mut self, evaluator: &dyn CostEvaluator) -> usize {
        self.axes = find_axes(self.ops, self.range.clone());
        let nests = enumerate_tilings(self.ops, self.range.clone(), &self.axes);
        let num_estimates = nests.len() * self.range.len();
        let estimated = |nest: Tiling| {
            let estimate =
                estimate_cost(self.ops, self.range.clone(), &self.axes, &nest, self.has_resident_live_ins, evaluator);
            TileCandidate { nest, estimate, expected_ns: estimate.ns, measured_version: None }
        };
        // The cost without loops is already known.
        let mut queue: Vec<TileCandidate> = nests.into_iter().filter(|nest| !nest.is_empty()).map(estimated).collect();
        queue.retain(|waiting| waiting.estimate.ns.is_finite());
        // Best nest last; among equal ones the first, which has the fewest loops and tiles.
        queue.reverse();
        sort_candidates(&mut queue);
        self.queue = Some(queue);
        num_estimates.div_ceil(ESTIMATES_PER_STEP)
    }

    /// Records the cost of the ops without loops; `by_op` has one entry per op of the program.
    pub(super) fn record_untiled_cost(&mut self, by_op: &[ModeledCost]) {
        self.record_cost(by_op[self.range.clone()].iter().copied().sum(), Vec::new());
    }

    fn record_cost(&mut self, cost: ModeledCost, nest: Tiling) {
        let place = self.evaluated.partition_point(|(known, _)| known.ns <= cost.ns);
        self.evaluated.insert(place, (cost, nest));
    }

    /// Evaluates a nest and records its cost. Returns `None` if the nest is infeasible.
    pub(super) fn evaluate(
        &mut self,
        nest: Tiling,
        evaluator: &dyn CostEvaluator,
        seen: &mut MeasuredTimes,
    ) -> Option<ModeledCost> {
        let kept = if self.has_resident_live_ins {
            resident_live_ins(self.ops, &LoopNest::new(&self.range, &self.axes, &nest))
        } else {
            Vec::new()
        };
        let known = self.evaluated.iter().find(|(_, known)| *known == nest).filter(|_| kept.is_empty());
        if let Some((cost, _)) = known {
            return Some(*cost);
        }
        self.num_evaluated += 1;
        let Some(by_op) = evaluator.evaluate_segment(self.range.clone(), &self.axes, &nest, &kept) else {
            self.num_infeasible += 1;
            return None;
        };
        seen.record(&self.range, &self.axes, &nest, &by_op);
        let cost = by_op.into_iter().sum();
        let reads = kept.iter().filter_map(|copied| copied.reads.first());
        let producers = reads.filter_map(|read| self.ops[read.op].tiled.inputs[read.operand].producer);
        let cost = subtract_avoided_stores(self.ops, &self.range, producers, cost, evaluator);
        self.record_cost(cost, nest);
        Some(cost)
    }

    /// Returns the neighbors of the best evaluated nest: copies in which one level has the next smaller or next larger
    /// tile count.
    pub(super) fn find_neighbors(&self) -> Vec<Tiling> {
        let Some((_, best)) = self.evaluated.first() else { return Vec::new() };
        let mut found = Vec::new();
        for (level, cut) in best.iter().enumerate() {
            let axis = &self.axes[cut.axis];
            for near in find_adjacent_counts(&find_tile_counts(self.ops, axis.size, &axis.dims), cut.count) {
                let mut nest = best.clone();
                nest[level].count = near;
                found.push(nest);
            }
        }
        found
    }

    /// Sorts the queue by estimates alone, without the evaluated times of ops.
    pub(super) fn order_by_estimates(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue
                .iter_mut()
                .for_each(|waiting| (waiting.expected_ns, waiting.measured_version) = (waiting.estimate.ns, None));
            sort_candidates(queue);
        }
    }

    /// Updates the expected time of the best queued nest until it accounts for all evaluated op times. Returns the
    /// number of updated nests.
    pub(super) fn update_expected_times(&mut self, evaluator: &dyn CostEvaluator, seen: &MeasuredTimes) -> usize {
        let Some(mut queue) = self.queue.take() else { return 0 };
        let costs = CalibratedCosts { costs: evaluator, measured: seen };
        let mut num_looked_at = 0;
        while let Some(mut first) = queue.pop_if(|first| first.measured_version != Some(seen.version)) {
            let expected_ns = estimate_cost(
                self.ops,
                self.range.clone(),
                &self.axes,
                &first.nest,
                self.has_resident_live_ins,
                &costs,
            )
            .ns;
            (first.expected_ns, first.measured_version) = (expected_ns.max(first.expected_ns), Some(seen.version));
            // Among equal nests the order is stable.
            let place = queue.partition_point(|other| other.expected_ns > first.expected_ns);
            queue.insert(place, first);
            num_looked_at += 1;
        }
        self.queue = Some(queue);
        num_looked_at
    }

    /// Evaluates the nest with the least expected time, unless newer op times raise the bound: then other edges go
    /// first. Returns the steps.
    pub(super) fn evaluate_next(
        &mut self,
        evaluator: &dyn CostEvaluator,
        seen: &mut MeasuredTimes,
        caution: f64,
    ) -> usize {
        let before_ns = self.lower_bound_ns(caution);
        if caution > 1.0 {
            let num_estimates = self.update_expected_times(evaluator, seen) * self.range.len();
            if self.lower_bound_ns(caution) > before_ns + CONVERGENCE_TOLERANCE * before_ns.abs() {
                return num_estimates.div_ceil(ESTIMATES_PER_STEP);
            }
        } else {
            self.order_by_estimates();
        }
        let Some(waiting) = self.queue.as_mut().and_then(Vec::pop) else { return 0 };
        self.evaluate(waiting.nest, evaluator, seen);
        if self.num_evaluated == MAX_EVALUATED_NESTS {
            self.queue = Some(Vec::new());
        }
        self.evaluation_steps()
    }
}

/// Sorts the queue, fastest nest last.
fn sort_candidates(queue: &mut [TileCandidate]) {
    queue.sort_by(|one, other| other.expected_ns.total_cmp(&one.expected_ns));
}
