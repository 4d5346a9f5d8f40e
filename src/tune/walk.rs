//! Local search in a space that is too large for exhaustive search.
//!
//! A walk moves to the best neighbor while that is better: first among points that differ by one or two steps in one dimension,
//! then among those with any other choice in one dimension, or a step in two. At a local minimum it restarts, alternately near
//! its best point and at a random one. Walks are independent, and each ends with its share of the budget, so each may run on
//! another machine.

use super::{
    Point,
    random::Random,
    search::{Candidate, Search, Stop},
};
use cost::Cost;
use std::{cmp::Ordering, collections::BTreeSet};

/// Points that a walk evaluates.
const WALK: usize = 250;

/// Maximum number of random draws until an unseen point is found.
const DRAWS: usize = 200;

/// Maximum size of a space in which a walk is guaranteed to find the last point.
const FEW_POINTS: u128 = 1 << 12;

/// Cost of an infeasible point.
const NEVER: Cost = Cost { ns: f64::INFINITY, hbm_bytes: i64::MAX };

struct Walk {
    random: Random,
    /// Points that the walk has seen, including those that violate rules.
    seen: BTreeSet<Point>,
    /// Remaining number of points that it may evaluate.
    left: usize,
    best: Option<Candidate>,
    n_starts: usize,
}

impl Search<'_> {
    /// Walks until the budget is used up.
    pub(super) fn walk_all(&mut self) -> Stop {
        let budget = self.request.budget;
        let mut is_whole = true;
        for number in (0..budget.div_ceil(WALK)).filter(|number| self.request.shard.has(*number)) {
            match self.walk(number, WALK.min(budget - number * WALK)) {
                Ok(is_all) => is_whole &= is_all,
                Err(stop) => return stop,
            }
        }
        if is_whole { Stop::Exhausted } else { Stop::Budget }
    }

    /// Runs one walk; returns whether it has seen all points.
    fn walk(&mut self, number: usize, left: usize) -> Result<bool, Stop> {
        let random = Random::new(self.request.seed, number);
        let mut walk = Walk { random, seen: BTreeSet::new(), left, best: None, n_starts: 0 };
        let given = number.checked_sub(1).and_then(|start| self.request.starts.get(start)).cloned();
        let first = if number == 0 { Some(self.space.untuned()) } else { given };
        let mut start = first.or_else(|| self.anywhere(&mut walk));
        while let Some(at) = start {
            self.climb(&mut walk, at)?;
            if walk.left == 0 {
                return Ok(false);
            }
            walk.n_starts += 1;
            start = if walk.n_starts.is_multiple_of(2) {
                self.anywhere(&mut walk)
            } else {
                self.nearby(&mut walk).or_else(|| self.anywhere(&mut walk))
            };
        }
        Ok(walk.seen.len() as u128 == self.space.size())
    }

    /// Moves to better neighbors while there are any.
    fn climb(&mut self, walk: &mut Walk, start: Point) -> Result<(), Stop> {
        let mut at = self.best_of(walk, vec![start.clone()])?.unwrap_or(Candidate { point: start, cost: NEVER });
        while walk.left > 0 {
            let mut better = None;
            for ring in [self.near(&at.point), self.far(&at.point)] {
                let found = self.best_of(walk, ring)?;
                better = found.filter(|found| self.order(found, &at) == Ordering::Less);
                if better.is_some() {
                    break;
                }
            }
            let Some(found) = better else { break };
            at = found;
        }
        Ok(())
    }

    /// Returns the best of the points that the walk has not seen.
    fn best_of(&mut self, walk: &mut Walk, points: Vec<Point>) -> Result<Option<Candidate>, Stop> {
        let mut fresh = Vec::new();
        for point in points {
            if fresh.len() == walk.left {
                break;
            }
            if !walk.seen.insert(point.clone()) {
                continue;
            }
            match self.judge.breaks(&point).filter(|_| point != self.space.untuned()) {
                Some(rejection) => drop(self.looked_at.entry(point).or_insert(Err(rejection))),
                None => fresh.push(point),
            }
        }
        walk.left -= fresh.len();
        self.look(&fresh)?;
        let judged = |point: Point| Some(Candidate { cost: self.looked_at.get(&point)?.as_ref().ok()?.cost, point });
        let best = fresh.into_iter().filter_map(judged).min_by(|one, other| self.order(one, other));
        if let Some(best) = &best
            && walk.best.as_ref().is_none_or(|known| self.order(best, known) == Ordering::Less)
        {
            walk.best = Some(best.clone());
        }
        Ok(best)
    }

    /// Returns the points at one or two steps in one dimension.
    fn near(&self, at: &Point) -> Vec<Point> {
        let dims = 0..at.0.len();
        dims.flat_map(|dim| [-1, 1, -2, 2].into_iter().filter_map(move |step| self.moved(at, &[(dim, step)]))).collect()
    }

    /// Returns the points with any other choice in one dimension, or a step in two.
    fn far(&self, at: &Point) -> Vec<Point> {
        let n_dims = at.0.len();
        let mut points: Vec<Point> = Vec::new();
        for (dim, dimension) in self.space.dimensions().iter().enumerate() {
            points.extend((0..dimension.choices.len()).map(|choice| {
                let mut point = at.clone();
                point.0[dim] = choice;
                point
            }));
        }
        for (one, other) in (0..n_dims).flat_map(|one| (one + 1..n_dims).map(move |other| (one, other))) {
            let steps = [(-1, -1), (-1, 1), (1, -1), (1, 1)];
            points.extend(steps.into_iter().filter_map(|(left, right)| self.moved(at, &[(one, left), (other, right)])));
        }
        points
    }

    fn moved(&self, at: &Point, steps: &[(usize, isize)]) -> Option<Point> {
        let mut point = at.clone();
        for &(dim, step) in steps {
            let choice = point.0[dim].checked_add_signed(step)?;
            point.0[dim] = (choice < self.space.dimensions()[dim].choices.len()).then_some(choice)?;
        }
        Some(point)
    }

    /// Returns a random point that the walk has not seen; in a small space the first unseen one, if no draw succeeds.
    fn anywhere(&self, walk: &mut Walk) -> Option<Point> {
        let lengths: Vec<usize> = self.space.dimensions().iter().map(|dimension| dimension.choices.len()).collect();
        for _ in 0..DRAWS {
            let point = Point(lengths.iter().map(|length| walk.random.below(*length)).collect());
            if self.is_fresh(walk, &point) {
                return Some(point);
            }
        }
        let all = (self.space.size() <= FEW_POINTS).then(|| self.space.points());
        all.into_iter().flatten().find(|point| !walk.seen.contains(point))
    }

    /// Returns the best point of the walk with other choices in two dimensions or a few more.
    fn nearby(&self, walk: &mut Walk) -> Option<Point> {
        let best = walk.best.as_ref()?.point.clone();
        let n_dims = best.0.len();
        (n_dims > 0).then_some(())?;
        for _ in 0..DRAWS {
            let mut point = best.clone();
            for _ in 0..2.max(n_dims / 3) {
                let dim = walk.random.below(n_dims);
                point.0[dim] = walk.random.below(self.space.dimensions()[dim].choices.len());
            }
            if self.is_fresh(walk, &point) {
                return Some(point);
            }
        }
        None
    }

    fn is_fresh(&self, walk: &Walk, point: &Point) -> bool {
        !walk.seen.contains(point) && self.judge.breaks(point).is_none()
    }
}
