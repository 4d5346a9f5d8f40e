//! Local search in a space that is too large for exhaustive search.
//!
//! A walk moves to the best neighbor while this improves the cost. It first tries points that differ by one or two
//! steps in one dimension. It then tries any other choice in one dimension, or one step in two. At a local minimum it
//! restarts, alternately near its best point and at a random one. Walks are independent, and each has its own budget,
//! so each may run on another machine.

use super::{
    TunePoint,
    random::SplitMix64,
    search::{TuneCandidate, TuneSearch, TuneStopReason},
};
use cost::ModeledCost;
use std::{cmp::Ordering, collections::BTreeSet};

/// Number of points that a walk evaluates.
const POINTS_PER_WALK: usize = 250;

/// Maximum number of random draws until an unseen point is found.
const MAX_DRAWS: usize = 200;

/// Maximum size of a space in which a walk is guaranteed to find the last point.
const MAX_COMPLETE_POINTS: u128 = 1 << 12;

/// Cost of an infeasible point.
const INFEASIBLE_COST: ModeledCost = ModeledCost { ns: f64::INFINITY, hbm_bytes: i64::MAX };

struct WalkState {
    random: SplitMix64,
    /// Points that the walk has visited, including those that violate rules.
    seen: BTreeSet<TunePoint>,
    /// Remaining number of points that it may evaluate.
    left: usize,
    best: Option<TuneCandidate>,
    num_starts: usize,
}

impl TuneSearch<'_> {
    /// Runs walks until the budget is used up.
    pub(super) fn run_walks(&mut self) -> TuneStopReason {
        let budget = self.request.budget;
        let mut is_whole = true;
        for number in (0..budget.div_ceil(POINTS_PER_WALK)).filter(|number| self.request.shard.contains(*number)) {
            match self.run_walk(number, POINTS_PER_WALK.min(budget - number * POINTS_PER_WALK)) {
                Ok(is_all) => is_whole &= is_all,
                Err(stop) => return stop,
            }
        }
        if is_whole { TuneStopReason::Exhausted } else { TuneStopReason::Budget }
    }

    /// Runs one walk; returns whether it has visited all points.
    fn run_walk(&mut self, number: usize, left: usize) -> Result<bool, TuneStopReason> {
        let random = SplitMix64::new(self.request.seed, number);
        let mut walk = WalkState { random, seen: BTreeSet::new(), left, best: None, num_starts: 0 };
        let given = number.checked_sub(1).and_then(|start| self.request.starts.get(start)).cloned();
        let first = if number == 0 { Some(self.space.untuned_point()) } else { given };
        let mut start = first.or_else(|| self.draw_random_point(&mut walk));
        while let Some(at) = start {
            self.hill_climb(&mut walk, at)?;
            if walk.left == 0 {
                return Ok(false);
            }
            walk.num_starts += 1;
            start = if walk.num_starts.is_multiple_of(2) {
                self.draw_random_point(&mut walk)
            } else {
                self.perturb_best_point(&mut walk).or_else(|| self.draw_random_point(&mut walk))
            };
        }
        Ok(walk.seen.len() as u128 == self.space.size())
    }

    /// Moves to better neighbors until no neighbor is better.
    fn hill_climb(&mut self, walk: &mut WalkState, start: TunePoint) -> Result<(), TuneStopReason> {
        let mut at = self
            .evaluate_best(walk, vec![start.clone()])?
            .unwrap_or(TuneCandidate { point: start, cost: INFEASIBLE_COST });
        while walk.left > 0 {
            let mut better = None;
            for ring in [self.collect_close_neighbors(&at.point), self.collect_distant_neighbors(&at.point)] {
                let found = self.evaluate_best(walk, ring)?;
                better = found.filter(|found| self.compare(found, &at) == Ordering::Less);
                if better.is_some() {
                    break;
                }
            }
            let Some(found) = better else { break };
            at = found;
        }
        Ok(())
    }

    /// Evaluates the points that the walk has not visited, and returns the best one.
    fn evaluate_best(
        &mut self,
        walk: &mut WalkState,
        points: Vec<TunePoint>,
    ) -> Result<Option<TuneCandidate>, TuneStopReason> {
        let mut fresh = Vec::new();
        for point in points {
            if fresh.len() == walk.left {
                break;
            }
            if !walk.seen.insert(point.clone()) {
                continue;
            }
            match self.evaluator.find_violation(&point).filter(|_| point != self.space.untuned_point()) {
                Some(rejection) => drop(self.visited.entry(point).or_insert(Err(rejection))),
                None => fresh.push(point),
            }
        }
        walk.left -= fresh.len();
        self.evaluate(&fresh)?;
        let evaluated =
            |point: TunePoint| Some(TuneCandidate { cost: self.visited.get(&point)?.as_ref().ok()?.cost, point });
        let best = fresh.into_iter().filter_map(evaluated).min_by(|one, other| self.compare(one, other));
        if let Some(best) = &best
            && walk.best.as_ref().is_none_or(|known| self.compare(best, known) == Ordering::Less)
        {
            walk.best = Some(best.clone());
        }
        Ok(best)
    }

    /// Returns the points at one or two steps in one dimension.
    fn collect_close_neighbors(&self, at: &TunePoint) -> Vec<TunePoint> {
        let dims = 0..at.0.len();
        dims.flat_map(|dim| [-1, 1, -2, 2].into_iter().filter_map(move |step| self.step_point(at, &[(dim, step)])))
            .collect()
    }

    /// Returns the points with any other choice in one dimension, or a step in two.
    fn collect_distant_neighbors(&self, at: &TunePoint) -> Vec<TunePoint> {
        let num_dims = at.0.len();
        let mut points: Vec<TunePoint> = Vec::new();
        for (dim, dimension) in self.space.dimensions().iter().enumerate() {
            points.extend((0..dimension.choices.len()).map(|choice| {
                let mut point = at.clone();
                point.0[dim] = choice;
                point
            }));
        }
        for (one, other) in (0..num_dims).flat_map(|one| (one + 1..num_dims).map(move |other| (one, other))) {
            let steps = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
            points.extend(
                steps.into_iter().filter_map(|(left, right)| self.step_point(at, &[(one, left), (other, right)])),
            );
        }
        points
    }

    fn step_point(&self, at: &TunePoint, steps: &[(usize, isize)]) -> Option<TunePoint> {
        let mut point = at.clone();
        for &(dim, step) in steps {
            let choice = point.0[dim].checked_add_signed(step)?;
            point.0[dim] = (choice < self.space.dimensions()[dim].choices.len()).then_some(choice)?;
        }
        Some(point)
    }

    /// Returns a random point that the walk has not visited. In a small space, it is the first unvisited point if no
    /// draw succeeds.
    fn draw_random_point(&self, walk: &mut WalkState) -> Option<TunePoint> {
        let lengths: Vec<usize> = self.space.dimensions().iter().map(|dimension| dimension.choices.len()).collect();
        for _ in 0..MAX_DRAWS {
            let point = TunePoint(lengths.iter().map(|length| walk.random.next_below(*length)).collect());
            if self.is_unseen(walk, &point) {
                return Some(point);
            }
        }
        let all = (self.space.size() <= MAX_COMPLETE_POINTS).then(|| self.space.points());
        all.into_iter().flatten().find(|point| !walk.seen.contains(point))
    }

    /// Returns the best point of the walk with other choices in two dimensions or a few more.
    fn perturb_best_point(&self, walk: &mut WalkState) -> Option<TunePoint> {
        let best = walk.best.as_ref()?.point.clone();
        let num_dims = best.0.len();
        (num_dims > 0).then_some(())?;
        for _ in 0..MAX_DRAWS {
            let mut point = best.clone();
            for _ in 0..2.max(num_dims / 3) {
                let dim = walk.random.next_below(num_dims);
                point.0[dim] = walk.random.next_below(self.space.dimensions()[dim].choices.len());
            }
            if self.is_unseen(walk, &point) {
                return Some(point);
            }
        }
        None
    }

    fn is_unseen(&self, walk: &WalkState, point: &TunePoint) -> bool {
        !walk.seen.contains(point) && self.evaluator.find_violation(point).is_none()
    }
}
