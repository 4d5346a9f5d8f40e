//! Evaluation of whole-program plans: the nests of a path together, other loops in their places, and copies before
//! them.

use super::{
    super::{LoopNest, ModeledCost, TiledLoop, find_hoistable_copies, tilings::find_tile_counts},
    EvaluatedPlan, MAX_HILL_CLIMBING_ITERATIONS, STEPS_PER_EVALUATION, SegmentEdge, SegmentKey, ShortestPathSearch,
    find_adjacent_counts,
    preference::{MAX_SLOWDOWN, is_preferred},
};

/// Maximum number of paths whose nests are evaluated together.
const MAX_PATHS: usize = 6;
/// Maximum number of loops over other axes that are tried at a place of the plan, in either order.
const MAX_OTHER_AXES: usize = 4;
/// Other tile counts of loops over other axes are tried if the loops with copies take at most this much longer than the
/// ops at their place.
const MAX_SLOWDOWN_BEFORE_COUNTS: f64 = 0.25;
/// Number of larger tile counts of one loop that are tried with the next smaller one of the other loop.
const MAX_TRADED_COUNTS: usize = 2;
/// Maximum number of values that are copied before the loops of a segment.
const MAX_COPIES: usize = 6;

impl<'a> ShortestPathSearch<'a> {
    /// Evaluates on the shortest path the nests that move fewer bytes than its own.
    pub(super) fn evaluate_traffic_saving_nests(&mut self) {
        let (_, path) = self.find_shortest_path(SegmentEdge::best_evaluated_ns);
        for SegmentKey { first, n_ops } in path {
            if self.program_steps < self.max_program_steps {
                self.program_steps +=
                    self.edges[first][n_ops - 1].evaluate_traffic_saving(self.evaluator, &mut self.measured);
            }
        }
    }

    /// Returns the loops of the best path. Segments were evaluated in isolation; in the whole program, values stay in
    /// LX from one to the next. A runner-up may therefore be better: another path, other loops around a segment, or
    /// none.
    pub(super) fn find_best_plan(&mut self) -> (Option<ModeledCost>, Vec<LoopNest>) {
        let (mut best, mut plan, mut choices) = (None, Vec::new(), Vec::new());
        let mut places: Vec<SegmentKey> = Vec::new();
        for (number, path) in self.find_best_paths().into_iter().enumerate() {
            let tried = path.into_iter().map(|place| (place, self.edge(place).loops_to_try()));
            let (of_path, tried): (Vec<SegmentKey>, Vec<Vec<Option<LoopNest>>>) =
                tried.filter(|(_, choices)| choices.first().is_some_and(Option::is_some)).unzip();
            let together: Vec<Option<LoopNest>> = tried.iter().map(|choices| choices[0].clone()).collect();
            let by_op = self.evaluate_plan_by_op(&together);
            if let Some(by_op) = by_op.as_ref().filter(|_| number == 0) {
                self.path_costs = self.compute_outside_costs(&together, by_op);
            }
            let cost = by_op.map(|by_op| by_op.into_iter().sum::<ModeledCost>());
            self.fastest_ns = cost.map_or(self.fastest_ns, |cost| self.fastest_ns.min(cost.ns));
            let is_better =
                cost.is_some_and(|cost| best.is_none_or(|best| is_preferred(&cost, &best, self.fastest_ns, false)));
            if is_better || choices.is_empty() {
                (best, plan, choices, places) = (cost, together, tried, of_path);
            }
        }
        for (place, others) in choices.iter().enumerate() {
            for other in others.iter().skip(1).flatten().cloned().map(Some).chain([None]) {
                best = self.accept_if_better(&mut plan, place, other, best);
            }
        }
        for place in 0..plan.len() {
            best = self.try_copies(&mut plan, place, best, f64::INFINITY);
        }
        for (place, others) in choices.iter().enumerate() {
            for other in others.iter().flatten().cloned() {
                best = self.try_loops_with_copies(&mut plan, place, other, best);
            }
        }
        for (place, &segment) in places.iter().enumerate() {
            best = self.try_other_axes(&mut plan, place, segment, best);
        }
        for place in 0..plan.len() {
            best = self.try_interchange(&mut plan, place, best);
            best = self.try_other_counts(&mut plan, place, best, |counts, [own, other]| {
                find_adjacent_counts(counts, own).any(|next| next == other)
            });
        }
        (best, plan.into_iter().flatten().collect())
    }

    /// Tries other loops at a place of the plan, with copies before them. They must move fewer bytes than the plan
    /// without, in about the same time.
    fn try_loops_with_copies(
        &mut self,
        plan: &mut Vec<Option<LoopNest>>,
        place: usize,
        loops: LoopNest,
        best: Option<ModeledCost>,
    ) -> Option<ModeledCost> {
        let Some(known) = best.filter(|_| plan[place].as_ref().is_some_and(|own| own.levels != loops.levels)) else {
            return best;
        };
        let mut tried = plan.clone();
        tried[place] = Some(loops.clone());
        let cost = self.evaluate_plan(&tried);
        if cost.is_none_or(|cost| cost.hbm_bytes >= known.hbm_bytes || cost.ns > known.ns * (1.0 + MAX_SLOWDOWN)) {
            return best;
        }
        self.accept_with_copies(plan, place, loops, known, f64::INFINITY)
    }

    /// Tries loops over other axes at a place of the plan, with copies before them: what such loops read in every
    /// iteration counts fully in their estimates, but once with a copy.
    fn try_other_axes(
        &mut self,
        plan: &mut Vec<Option<LoopNest>>,
        place: usize,
        segment: SegmentKey,
        mut best: Option<ModeledCost>,
    ) -> Option<ModeledCost> {
        let Some(own) = plan[place].clone() else { return best };
        let others = self.edge(segment).find_loops_over_other_axes(&own).into_iter();
        let both_orders = others.flat_map(|loops| {
            let swapped = self.interchange_for_copies(&loops);
            [(!find_hoistable_copies(self.ops, &loops).is_empty()).then_some(loops), swapped].into_iter().flatten()
        });
        for loops in both_orders.take(MAX_OTHER_AXES).collect::<Vec<_>>() {
            let Some(known) = best else { return best };
            let Some(by_op) = self.evaluate_plan_by_op(plan) else { return best };
            let at_place: f64 = by_op.get(own.ops.clone()).into_iter().flatten().map(|cost| cost.ns).sum();
            let most_ns = known.ns + MAX_SLOWDOWN_BEFORE_COUNTS * at_place;
            best = self.accept_with_copies(plan, place, loops, known, most_ns);
        }
        best
    }

    /// Tries to interchange the two loops at a place of the plan, where this lets a copy before the inner loop be
    /// reused.
    fn try_interchange(
        &mut self,
        plan: &mut Vec<Option<LoopNest>>,
        place: usize,
        best: Option<ModeledCost>,
    ) -> Option<ModeledCost> {
        let (Some(known), Some(loops)) = (best, plan[place].as_ref()) else { return best };
        let Some(swapped) = self.interchange_for_copies(loops) else { return best };
        self.accept_with_copies(plan, place, swapped, known, f64::INFINITY)
    }

    /// Returns the two loops interchanged, if this lets a copy before the inner loop be reused.
    fn interchange_for_copies(&self, loops: &LoopNest) -> Option<LoopNest> {
        let levels: Vec<TiledLoop> = loops.levels.iter().rev().cloned().collect();
        let swapped = LoopNest { ops: loops.ops.clone(), levels, copies: Vec::new() };
        let copies = find_hoistable_copies(self.ops, &swapped);
        copies.iter().any(|copied| matches!(copied.tiled_dims[..], [Some(_), None])).then_some(swapped)
    }

    /// Replaces the loops at a place of the plan, which costs `known`, if the plan is preferred once copies are added
    /// there. Returns the cost of the plan.
    fn accept_with_copies(
        &mut self,
        plan: &mut Vec<Option<LoopNest>>,
        place: usize,
        loops: LoopNest,
        known: ModeledCost,
        most_ns: f64,
    ) -> Option<ModeledCost> {
        let mut tried = plan.clone();
        tried[place] = Some(loops);
        let Some(cost) = self.evaluate_plan(&tried) else { return Some(known) };
        let cost = self
            .try_copies(&mut tried, place, Some(cost), most_ns)
            .filter(|cost| is_preferred(cost, &known, self.fastest_ns, false));
        if cost.is_some() {
            *plan = tried;
        }
        cost.or(Some(known))
    }

    /// Tries copies before the loops at a place of the plan, one after the other. With copies, all other tile counts
    /// are tried, because copied values may leave room only for far smaller tiles, unless the program with the copies
    /// takes more than `most_ns`.
    fn try_copies(
        &mut self,
        plan: &mut [Option<LoopNest>],
        place: usize,
        mut best: Option<ModeledCost>,
        most_ns: f64,
    ) -> Option<ModeledCost> {
        let Some(loops) = plan[place].clone() else { return best };
        for copied in find_hoistable_copies(self.ops, &loops).into_iter().take(MAX_COPIES) {
            let mut tried = plan[place].clone();
            tried.iter_mut().for_each(|loops| loops.copies.push(copied.clone()));
            best = self.accept_if_better(plan, place, tried, best);
        }
        let has_copies = plan[place].as_ref().is_some_and(|loops| !loops.copies.is_empty());
        let is_close = best.is_none_or(|best| best.ns <= most_ns);
        if !has_copies || !is_close {
            return best;
        }
        best = self.try_other_counts(plan, place, best, |_, _| true);
        for traded in plan[place].iter().flat_map(|loops| self.enumerate_traded_counts(loops)).collect::<Vec<_>>() {
            best = self.accept_if_better(plan, place, Some(traded), best);
        }
        best
    }

    /// Tries other tile counts of the loops at a place of the plan, among the admissible changes, while the plan
    /// improves.
    fn try_other_counts(
        &mut self,
        plan: &mut [Option<LoopNest>],
        place: usize,
        mut best: Option<ModeledCost>,
        may_be: impl Fn(&[i64], [i64; 2]) -> bool,
    ) -> Option<ModeledCost> {
        for _ in 0..MAX_HILL_CLIMBING_ITERATIONS {
            let before = plan[place].clone();
            for other in before.iter().flat_map(|loops| self.enumerate_other_counts(loops, &may_be)).collect::<Vec<_>>()
            {
                best = self.accept_if_better(plan, place, Some(other), best);
            }
            if plan[place] == before {
                break;
            }
        }
        best
    }

    /// Returns copies of the loops in which one level has another count. `may_be` gets all counts of the level and the
    /// pair of current and new count.
    fn enumerate_other_counts(&self, loops: &LoopNest, may_be: &impl Fn(&[i64], [i64; 2]) -> bool) -> Vec<LoopNest> {
        let mut found = Vec::new();
        for (number, level) in loops.levels.iter().enumerate() {
            let counts = self.find_level_counts(level);
            for &other in
                counts.iter().filter(|count| **count != level.count && may_be(&counts, [level.count, **count]))
            {
                let mut loops = loops.clone();
                loops.levels[number].count = other;
                found.push(loops);
            }
        }
        found
    }

    /// Returns copies of the two loops in which one level has the next smaller count and the other level one of
    /// the next larger ones. With copies, the first change alone may exceed LX, and the second alone only adds
    /// iterations.
    fn enumerate_traded_counts(&self, loops: &LoopNest) -> Vec<LoopNest> {
        let [outer, inner] = &loops.levels[..] else { return Vec::new() };
        let mut found = Vec::new();
        for (level, other) in [(0, 1), (1, 0)] {
            let counts = [outer, inner].map(|level| self.find_level_counts(level));
            let own = [level, other].map(|level| loops.levels[level].count);
            let Some(&smaller) = counts[level].iter().rfind(|count| **count < own[0]) else { continue };
            for &larger in counts[other].iter().filter(|count| **count > own[1]).take(MAX_TRADED_COUNTS) {
                let mut traded = loops.clone();
                (traded.levels[level].count, traded.levels[other].count) = (smaller, larger);
                found.push(traded);
            }
        }
        found
    }

    /// Returns the possible tile counts of a level.
    fn find_level_counts(&self, level: &TiledLoop) -> Vec<i64> {
        let sizes = level.dims.iter().map(|(&op, &dim)| self.ops[op].tiled.sizes[dim]);
        find_tile_counts(self.ops, sizes.min().unwrap_or(1), &level.dims)
    }

    fn accept_if_better(
        &mut self,
        plan: &mut [Option<LoopNest>],
        place: usize,
        tried: Option<LoopNest>,
        best: Option<ModeledCost>,
    ) -> Option<ModeledCost> {
        let is_no_loop = tried.is_none();
        let before = std::mem::replace(&mut plan[place], tried);
        let cost = self.evaluate_plan(plan);
        self.fastest_ns = cost.map_or(self.fastest_ns, |cost| self.fastest_ns.min(cost.ns));
        if cost.is_some_and(|cost| best.is_none_or(|best| is_preferred(&cost, &best, self.fastest_ns, is_no_loop))) {
            return cost;
        }
        plan[place] = before;
        best
    }

    /// Returns updated costs of ops outside of loops: the cost in `plan` for ops outside of its loops, if it exceeds
    /// the known one.
    pub(super) fn compute_outside_costs(&self, plan: &[Option<LoopNest>], by_op: &[ModeledCost]) -> Vec<ModeledCost> {
        let is_inside = |op: usize| plan.iter().flatten().any(|loops| loops.ops.contains(&op));
        let costs = self.outside.iter().zip(by_op).enumerate();
        costs
            .map(|(op, (known, viewed))| if !is_inside(op) && viewed.ns > known.ns { *viewed } else { *known })
            .collect()
    }

    fn evaluate_plan(&mut self, plan: &[Option<LoopNest>]) -> Option<ModeledCost> {
        self.evaluate_plan_by_op(plan).map(|by_op| by_op.into_iter().sum())
    }

    /// Returns the cost of each op in a plan, from the evaluated plans if the plan is among them. Returns `None` if the
    /// plan cannot be compiled or no steps are left.
    fn evaluate_plan_by_op(&mut self, plan: &[Option<LoopNest>]) -> Option<Vec<ModeledCost>> {
        let loops: Vec<LoopNest> = plan.iter().flatten().cloned().collect();
        if let Some(known) = self.evaluated_plans.iter().find(|known| known.loops == loops) {
            return known.by_op.clone();
        }
        // The plan of the shortest path is always evaluated.
        if self.program_steps >= self.max_program_steps && !self.evaluated_plans.is_empty() {
            return None;
        }
        self.program_steps += self.ops.len() + STEPS_PER_EVALUATION;
        self.num_plans += 1;
        let by_op = self.evaluator.evaluate_plan(&loops);
        self.num_infeasible_plans += usize::from(by_op.is_none());
        self.evaluated_plans.push(EvaluatedPlan { loops, by_op: by_op.clone() });
        by_op
    }

    /// Returns the shortest paths of evaluated nests, shortest first: for each edge in loops the shortest path over it.
    pub(super) fn find_best_paths(&self) -> Vec<Vec<SegmentKey>> {
        let in_loops = |edge: &&SegmentEdge<'a>| edge.evaluated.first().is_some_and(|(_, nest)| !nest.is_empty());
        let over = |through: &SegmentEdge<'a>| {
            let is_apart =
                |edge: &SegmentEdge<'a>| edge.range.end <= through.range.start || edge.range.start >= through.range.end;
            self.find_shortest_path(|edge| {
                if edge.range == through.range || is_apart(edge) { edge.best_evaluated_ns() } else { f64::INFINITY }
            })
        };
        let mut found: Vec<(f64, Vec<SegmentKey>)> = self.edges.iter().flatten().filter(in_loops).map(over).collect();
        found.push(self.find_shortest_path(SegmentEdge::best_evaluated_ns));
        found.sort_by(|(one, of_one), (other, of_other)| one.total_cmp(other).then_with(|| of_one.cmp(of_other)));
        found.dedup_by(|(_, one), (_, other)| one == other);
        found.into_iter().map(|(_, path)| path).take(MAX_PATHS).collect()
    }
}
