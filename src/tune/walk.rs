//! Walks through a space that is too large to look at all of it.
//!
//! A walk goes from a point to the best of its neighbours as long as that is better: first of those that differ by one or two steps in one
//! dimension, then of those that differ in one dimension at all, or by a step in two. Where no neighbour is better it begins again, in turn near the
//! best point of the walk and anywhere. A walk knows nothing of other walks, and ends with its share of the budget; so each may be on another
//! machine.

use super::{
    Point,
    random::Random,
    search::{Candidate, Search, Stop},
};
use cost::Cost;
use std::{cmp::Ordering, collections::BTreeSet};

/// Points that a walk looks at.
const WALK: usize = 250;

/// Draws until a point is found that the walk has not seen.
const DRAWS: usize = 200;

/// Of a space with no more points a walk finds the last one.
const FEW_POINTS: u128 = 1 << 12;

/// Cost of an infeasible point.
const NEVER: Cost = Cost { ns: f64::INFINITY, hbm_bytes: i64::MAX };

struct Walk {
    random: Random,
    /// The points that it has seen, those that break rules included.
    seen: BTreeSet<Point>,
    /// So many it may still look at.
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

    /// One walk; whether it has seen all points.
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

    /// Goes on to better neighbours as long as there are any.
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

    /// The best of the points that the walk has not seen.
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

    /// One or two steps in one dimension.
    fn near(&self, at: &Point) -> Vec<Point> {
        let dims = 0..at.0.len();
        dims.flat_map(|dim| [-1, 1, -2, 2].into_iter().filter_map(move |step| self.moved(at, &[(dim, step)]))).collect()
    }

    /// Any choice in one dimension, and a step in two.
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

    /// A random point that the walk has not seen; of few points the first one, if none is drawn.
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

    /// The best point of the walk with other choices in two dimensions or a few more.
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
