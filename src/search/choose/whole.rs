//! Evaluation of whole-program plans: nests of paths together, other loops in their places, and copies before them.

use super::{
    super::{Cost, Level, Loops, copies, nests::counts},
    Edge, MOST_CLIMBS, Place, STEPS_A_JUDGEMENT, Search, Tried, next_to,
    preference::{LITTLE_TIME, is_preferred},
};

/// Maximum number of paths whose nests are evaluated together.
const MOST_PATHS: usize = 6;
/// Maximum number of values that are copied before the loops of a segment.
const MOST_COPIES: usize = 6;

impl<'a> Search<'a> {
    /// Evaluates on the shortest path the nests that move fewer bytes than its own.
    pub(super) fn look_for_fewer_bytes(&mut self) {
        let (_, path) = self.path(Edge::settled_ns);
        for Place { first, n_ops } in path {
            if self.whole_steps < self.most_whole_steps {
                self.whole_steps += self.edges[first][n_ops - 1].judge_sparing(self.judge, &mut self.seen);
            }
        }
    }

    /// Returns the loops of the best path. Segments were evaluated in isolation; in the whole program, values stay in LX from one to the
    /// next. A runner-up may therefore be better: another path, other loops around a segment, or none.
    pub(super) fn refined(&mut self) -> (Option<Cost>, Vec<Loops>) {
        let (mut best, mut plan, mut choices) = (None, Vec::new(), Vec::new());
        for (number, path) in self.best_paths().into_iter().enumerate() {
            let tried: Vec<Vec<Option<Loops>>> = path.iter().map(|&place| self.edge(place).loops_to_try()).collect();
            let tried: Vec<Vec<Option<Loops>>> = tried.into_iter().filter(|choices| choices.first().is_some_and(Option::is_some)).collect();
            let together: Vec<Option<Loops>> = tried.iter().map(|choices| choices[0].clone()).collect();
            let by_op = self.judge_by_op(&together);
            if let Some(by_op) = by_op.as_ref().filter(|_| number == 0) {
                self.shown = self.outside_of(&together, by_op);
            }
            let cost = by_op.map(|by_op| by_op.into_iter().sum::<Cost>());
            self.fastest_ns = cost.map_or(self.fastest_ns, |cost| self.fastest_ns.min(cost.ns));
            let is_better = cost.is_some_and(|cost| best.is_none_or(|best| is_preferred(&cost, &best, self.fastest_ns, false)));
            if is_better || choices.is_empty() {
                (best, plan, choices) = (cost, together, tried);
            }
        }
        for (place, others) in choices.iter().enumerate() {
            for other in others.iter().skip(1).flatten().cloned().map(Some).chain([None]) {
                best = self.take_if_better(&mut plan, place, other, best);
            }
        }
        for place in 0..plan.len() {
            best = self.with_copies(&mut plan, place, best);
        }
        for (place, others) in choices.iter().enumerate() {
            for other in others.iter().flatten().cloned() {
                best = self.with_copies_instead(&mut plan, place, other, best);
            }
        }
        for place in 0..plan.len() {
            best = self.with_other_order(&mut plan, place, best);
            best = self.with_other_counts(&mut plan, place, best, |counts, [own, other]| next_to(counts, own).any(|next| next == other));
        }
        (best, plan.into_iter().flatten().collect())
    }

    /// Tries other loops at a place of the plan, with copies before them. They must move fewer bytes than the plan without, in about the
    /// same time.
    fn with_copies_instead(&mut self, plan: &mut Vec<Option<Loops>>, place: usize, loops: Loops, best: Option<Cost>) -> Option<Cost> {
        let Some(known) = best.filter(|_| plan[place].as_ref().is_some_and(|own| own.levels != loops.levels)) else { return best };
        let mut tried = plan.clone();
        tried[place] = Some(loops);
        let cost = self.judge_plan(&tried);
        if cost.is_none_or(|cost| cost.hbm_bytes >= known.hbm_bytes || cost.ns > known.ns * (1.0 + LITTLE_TIME)) {
            return best;
        }
        self.take_with_copies(plan, tried, place, cost, known)
    }

    /// Tries to interchange the two loops at a place of the plan, where this lets a copy before the inner loop be reused.
    fn with_other_order(&mut self, plan: &mut Vec<Option<Loops>>, place: usize, best: Option<Cost>) -> Option<Cost> {
        let (Some(known), Some(loops)) = (best, plan[place].as_ref()) else { return best };
        let levels: Vec<Level> = loops.levels.iter().rev().cloned().collect();
        let swapped = Loops { ops: loops.ops.clone(), levels, copies: Vec::new() };
        if !copies(self.ops, &swapped).iter().any(|copied| matches!(copied.cut_dims[..], [Some(_), None])) {
            return best;
        }
        let mut tried = plan.clone();
        tried[place] = Some(swapped);
        let cost = self.judge_plan(&tried);
        if cost.is_none() {
            return best;
        }
        self.take_with_copies(plan, tried, place, cost, known)
    }

    /// Replaces the plan by one that costs `cost` without copies at a place, if it is preferred once copies are added there.
    fn take_with_copies(
        &mut self,
        plan: &mut Vec<Option<Loops>>,
        mut tried: Vec<Option<Loops>>,
        place: usize,
        cost: Option<Cost>,
        known: Cost,
    ) -> Option<Cost> {
        let cost = self.with_copies(&mut tried, place, cost).filter(|cost| is_preferred(cost, &known, self.fastest_ns, false));
        if cost.is_some() {
            *plan = tried;
        }
        cost.or(Some(known))
    }

    /// Tries copies before the loops at a place of the plan, one after the other. With copies, all other tile counts are tried, because
    /// copied values may leave room only for far smaller tiles.
    fn with_copies(&mut self, plan: &mut [Option<Loops>], place: usize, mut best: Option<Cost>) -> Option<Cost> {
        let Some(loops) = plan[place].clone() else { return best };
        for copied in copies(self.ops, &loops).into_iter().take(MOST_COPIES) {
            let mut tried = plan[place].clone();
            tried.iter_mut().for_each(|loops| loops.copies.push(copied.clone()));
            best = self.take_if_better(plan, place, tried, best);
        }
        let has_copies = plan[place].as_ref().is_some_and(|loops| !loops.copies.is_empty());
        if has_copies { self.with_other_counts(plan, place, best, |_, _| true) } else { best }
    }

    /// Tries other tile counts of the loops at a place of the plan, among the admissible changes, while the plan improves.
    fn with_other_counts(
        &mut self,
        plan: &mut [Option<Loops>],
        place: usize,
        mut best: Option<Cost>,
        may_be: impl Fn(&[i64], [i64; 2]) -> bool,
    ) -> Option<Cost> {
        for _ in 0..MOST_CLIMBS {
            let before = plan[place].clone();
            for other in before.iter().flat_map(|loops| self.other_counts(loops, &may_be)).collect::<Vec<_>>() {
                best = self.take_if_better(plan, place, Some(other), best);
            }
            if plan[place] == before {
                break;
            }
        }
        best
    }

    /// Returns copies of the loops in which one level has another count. `may_be` gets all counts of the level and the
    /// pair of current and new count.
    fn other_counts(&self, loops: &Loops, may_be: &impl Fn(&[i64], [i64; 2]) -> bool) -> Vec<Loops> {
        let mut found = Vec::new();
        for (number, level) in loops.levels.iter().enumerate() {
            let sizes = level.dims.iter().map(|(&op, &dim)| self.ops[op].tiled.sizes[dim]);
            let counts = counts(self.ops, sizes.min().unwrap_or(1), &level.dims);
            for &other in counts.iter().filter(|count| **count != level.count && may_be(&counts, [level.count, **count])) {
                let mut loops = loops.clone();
                loops.levels[number].count = other;
                found.push(loops);
            }
        }
        found
    }

    fn take_if_better(&mut self, plan: &mut [Option<Loops>], place: usize, tried: Option<Loops>, best: Option<Cost>) -> Option<Cost> {
        let is_no_loop = tried.is_none();
        let before = std::mem::replace(&mut plan[place], tried);
        let cost = self.judge_plan(plan);
        self.fastest_ns = cost.map_or(self.fastest_ns, |cost| self.fastest_ns.min(cost.ns));
        if cost.is_some_and(|cost| best.is_none_or(|best| is_preferred(&cost, &best, self.fastest_ns, is_no_loop))) {
            return cost;
        }
        plan[place] = before;
        best
    }

    /// Returns updated costs of ops outside of loops: the cost in `plan` for ops outside of its loops, if it exceeds
    /// the known one.
    pub(super) fn outside_of(&self, plan: &[Option<Loops>], by_op: &[Cost]) -> Vec<Cost> {
        let is_inside = |op: usize| plan.iter().flatten().any(|loops| loops.ops.contains(&op));
        let costs = self.outside.iter().zip(by_op).enumerate();
        costs.map(|(op, (known, shown))| if !is_inside(op) && shown.ns > known.ns { *shown } else { *known }).collect()
    }

    fn judge_plan(&mut self, plan: &[Option<Loops>]) -> Option<Cost> {
        self.judge_by_op(plan).map(|by_op| by_op.into_iter().sum())
    }

    /// Returns the cost of each op in a plan, from the evaluated plans if the plan is among them. Returns `None` if the
    /// plan cannot be compiled or no steps are left.
    fn judge_by_op(&mut self, plan: &[Option<Loops>]) -> Option<Vec<Cost>> {
        let loops: Vec<Loops> = plan.iter().flatten().cloned().collect();
        if let Some(known) = self.tried.iter().find(|known| known.loops == loops) {
            return known.by_op.clone();
        }
        // The plan of the shortest path is always evaluated.
        if self.whole_steps >= self.most_whole_steps && !self.tried.is_empty() {
            return None;
        }
        self.whole_steps += self.ops.len() + STEPS_A_JUDGEMENT;
        self.n_plans += 1;
        let by_op = self.judge.plan(&loops);
        self.n_infeasible_plans += usize::from(by_op.is_none());
        self.tried.push(Tried { loops, by_op: by_op.clone() });
        by_op
    }

    /// Returns the shortest paths of evaluated nests, shortest first: for each edge in loops the shortest path over it.
    pub(super) fn best_paths(&self) -> Vec<Vec<Place>> {
        let in_loops = |edge: &&Edge<'a>| edge.judged.first().is_some_and(|(_, nest)| !nest.is_empty());
        let over = |through: &Edge<'a>| {
            let is_apart = |edge: &Edge<'a>| edge.range.end <= through.range.start || edge.range.start >= through.range.end;
            self.path(|edge| if edge.range == through.range || is_apart(edge) { edge.settled_ns() } else { f64::INFINITY })
        };
        let mut found: Vec<(f64, Vec<Place>)> = self.edges.iter().flatten().filter(in_loops).map(over).collect();
        found.push(self.path(Edge::settled_ns));
        found.sort_by(|(one, of_one), (other, of_other)| one.total_cmp(other).then_with(|| of_one.cmp(of_other)));
        found.dedup_by(|(_, one), (_, other)| one == other);
        found.into_iter().map(|(_, path)| path).take(MOST_PATHS).collect()
    }
}
