//! Evaluates points in batches: all of them in a small space, otherwise those of the walks.

use super::{Point, Shard, Space};
use cost::{Cost, Objective};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, collections::BTreeMap};

/// Evaluates points. Called from many threads; results are deterministic.
pub trait Judge: Sync {
    /// Returns the rule that a point violates, without compiling.
    fn breaks(&self, point: &Point) -> Option<Rejection>;

    /// Computes the cost of the program at a point that breaks no rule.
    ///
    /// # Errors
    /// The reason, if the program cannot be compiled.
    fn measure(&self, point: &Point) -> Result<Measured, Rejection>;
}

/// Cost of the program at a point, with a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Modeled cost.
    pub cost: Cost,
    /// Lower bound on the cost of all plans for this program.
    pub bound: Cost,
}

/// Reason why a point is infeasible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The kind of reason, by which rejections are counted.
    pub reason: String,
    /// Message that describes the reason.
    pub message: String,
}

/// Objective, limits and starting points of a search.
#[derive(Clone, Debug)]
pub struct Request {
    /// Objective by which costs are compared.
    pub objective: Objective,
    /// Maximum number of points that are compiled.
    pub budget: usize,
    /// Relative distance to the lower bound: the search stops at a cost of at most `(1 + within)` times the bound.
    pub within: f64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Shard of the work that is done.
    pub shard: Shard,
    /// Points from which walks start, after the untuned one.
    pub starts: Vec<Point>,
}

/// Reason why a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// All points were visited.
    Exhausted,
    /// The cost of a point is as near to the lower bound as requested.
    Bound,
    /// The maximum number of points was compiled.
    Budget,
    /// The user interrupted it.
    Interrupted,
}

/// A point with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The point.
    pub point: Point,
    /// Its cost.
    pub cost: Cost,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// All visited points with their results, in the order of the choices.
    pub looked_at: BTreeMap<Point, Result<Cost, Rejection>>,
    /// Feasible points, the best first.
    pub ranked: Vec<Candidate>,
    /// Lower bound on the cost of all plans; none if no point is feasible.
    pub bound: Option<Cost>,
    /// Number of compiled points; a point that all shards visit is counted by the first shard.
    pub n_compiled: usize,
    /// Number of rejected points by the kind of reason, with the message of the first one.
    pub rejected: BTreeMap<String, (usize, String)>,
    /// Whether the space is small enough to visit all points.
    pub is_exhaustive: bool,
    /// Reason why it stopped.
    pub stop: Stop,
}

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Points compiled.
    pub n_compiled: usize,
    /// Maximum number of points that will be compiled.
    pub most: usize,
    /// Least cost so far.
    pub best: Option<Cost>,
    /// Lower bound on the cost of all plans.
    pub bound: Option<Cost>,
}

/// Number of points that are evaluated before any decision. It does not depend on the machine.
const BATCH: usize = 32;

/// Maximum size of a space in which the rules are checked at all points.
const MOST_POINTS: u128 = 1 << 17;

/// Searches for the best point.
pub fn search(
    space: &Space,
    judge: &dyn Judge,
    request: &Request,
    is_interrupted: &(dyn Fn() -> bool + Sync),
    watch: &mut dyn FnMut(Progress),
) -> Found {
    let mut search = Search {
        space,
        judge,
        request,
        is_interrupted,
        watch,
        looked_at: BTreeMap::new(),
        n_compiled: 0,
        best: None,
        bound: None,
        most: request.budget.div_ceil(request.shard.count()),
    };
    let allowed = search.allowed();
    let is_exhaustive = allowed.as_ref().is_some_and(|allowed| allowed.len() <= request.budget);
    let stop = match allowed.filter(|_| is_exhaustive) {
        Some(allowed) => search.look_at_all(&allowed),
        None => search.walk_all(),
    };
    search.found(is_exhaustive, stop)
}

/// State of a search.
pub(super) struct Search<'a> {
    pub(super) space: &'a Space,
    pub(super) judge: &'a dyn Judge,
    pub(super) request: &'a Request,
    is_interrupted: &'a (dyn Fn() -> bool + Sync),
    watch: &'a mut dyn FnMut(Progress),
    pub(super) looked_at: BTreeMap<Point, Result<Measured, Rejection>>,
    n_compiled: usize,
    best: Option<Candidate>,
    bound: Option<Cost>,
    /// Maximum number of points that will be compiled.
    most: usize,
}

impl Search<'_> {
    /// Points that satisfy the rules, with their index among all points. The untuned one comes first, even if it violates a rule.
    /// None if there are too many points.
    fn allowed(&self) -> Option<Vec<(usize, Point)>> {
        (self.space.size() <= MOST_POINTS).then_some(())?;
        let untuned = self.space.untuned();
        let others = self.space.points().enumerate().filter(|(_, point)| *point != untuned && self.judge.breaks(point).is_none());
        Some(std::iter::once((0, untuned.clone())).chain(others).collect())
    }

    /// Evaluates this shard's share of all points, and the untuned one.
    fn look_at_all(&mut self, allowed: &[(usize, Point)]) -> Stop {
        let untuned = self.space.untuned();
        for (number, point) in self.space.points().enumerate().filter(|(_, point)| *point != untuned) {
            if self.request.shard.has(number)
                && let Some(rejection) = self.judge.breaks(&point)
            {
                self.looked_at.insert(point, Err(rejection));
            }
        }
        let shared = |(number, point): &&(usize, Point)| *point == untuned || self.request.shard.has(*number);
        let share: Vec<Point> = allowed.iter().filter(shared).map(|(_, point)| point.clone()).collect();
        self.most = share.len();
        self.look(&share).err().unwrap_or(Stop::Exhausted)
    }

    /// Evaluates points that satisfy the rules. Points with a known result are not evaluated again.
    ///
    /// # Errors
    /// Returns the reason why the search is over.
    pub(super) fn look(&mut self, points: &[Point]) -> Result<(), Stop> {
        for batch in points.chunks(BATCH) {
            let (judge, is_interrupted, looked_at) = (self.judge, self.is_interrupted, &self.looked_at);
            let measure = |point: &Point| match looked_at.get(point) {
                Some(known) => Some(known.clone()),
                None if is_interrupted() => None,
                None => Some(judge.measure(point)),
            };
            let measured: Vec<_> = batch.par_iter().map(measure).collect();
            let is_over = measured.iter().any(Option::is_none);
            for (point, measured) in batch.iter().zip(measured) {
                self.note(point, measured);
            }
            (self.watch)(Progress {
                n_compiled: self.n_compiled,
                most: self.most,
                best: self.best.as_ref().map(|best| best.cost),
                bound: self.bound,
            });
            if is_over {
                return Err(Stop::Interrupted);
            }
            if self.is_near_bound() {
                return Err(Stop::Bound);
            }
        }
        Ok(())
    }

    fn note(&mut self, point: &Point, measured: Option<Result<Measured, Rejection>>) {
        if let Some(Ok(Measured { cost, bound })) = &measured {
            let candidate = Candidate { point: point.clone(), cost: *cost };
            if self.best.as_ref().is_none_or(|best| self.order(&candidate, best) == Ordering::Less) {
                self.best = Some(candidate);
            }
            let least = |one: Cost| Cost { ns: one.ns.min(bound.ns), hbm_bytes: one.hbm_bytes.min(bound.hbm_bytes) };
            self.bound = Some(self.bound.map_or(*bound, least));
        }
        if let Some(measured) = measured
            && self.looked_at.insert(point.clone(), measured).is_none()
            // All shards compile the untuned point.
            && (self.request.shard.has(0) || *point != self.space.untuned())
        {
            self.n_compiled += 1;
        }
    }

    /// Compares two candidates: the lesser one is better.
    pub(super) fn order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        let by_cost = self.request.objective.order(&one.cost, &other.cost);
        let changes = |candidate: &Candidate| self.space.n_changes(&candidate.point);
        by_cost.then_with(|| changes(one).cmp(&changes(other))).then_with(|| one.point.cmp(&other.point))
    }

    /// Whether the best point is as near to the bound as requested.
    fn is_near_bound(&self) -> bool {
        let (Some(best), Some(bound)) = (&self.best, &self.bound) else { return false };
        let [cost, bound] = match self.request.objective {
            Objective::Time => [best.cost.ns, bound.ns],
            #[expect(clippy::cast_precision_loss, reason = "programs move less than 2^53 bytes")]
            Objective::Bytes => [best.cost.hbm_bytes, bound.hbm_bytes].map(|bytes| bytes as f64),
        };
        cost <= bound * (1.0 + self.request.within)
    }

    fn found(self, is_exhaustive: bool, stop: Stop) -> Found {
        let n_compiled = self.n_compiled;
        let mut ranked: Vec<Candidate> = Vec::new();
        let mut rejected: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for (point, judged) in &self.looked_at {
            match judged {
                Ok(measured) => ranked.push(Candidate { point: point.clone(), cost: measured.cost }),
                Err(Rejection { reason, message }) => rejected.entry(reason.clone()).or_insert_with(|| (0, message.clone())).0 += 1,
            }
        }
        ranked.sort_by(|one, other| self.order(one, other));
        let looked_at = self.looked_at.into_iter().map(|(point, judged)| (point, judged.map(|measured| measured.cost))).collect();
        Found { looked_at, ranked, bound: self.bound, n_compiled, rejected, is_exhaustive, stop }
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::tests::numbers;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering as Memory};

    /// Test costs with one global minimum, other local minima, points that a rule rejects, and points that do not compile.
    #[derive(Default)]
    struct Hills {
        n_measured: AtomicUsize,
        bound_ns: f64,
    }

    impl Judge for Hills {
        fn breaks(&self, point: &Point) -> Option<Rejection> {
            let sum: usize = point.0.iter().sum();
            (sum.is_multiple_of(7) && sum > 0).then(|| Rejection { reason: "sevens".to_owned(), message: format!("{sum}") })
        }

        fn measure(&self, point: &Point) -> Result<Measured, Rejection> {
            self.n_measured.fetch_add(1, Memory::Relaxed);
            let sum: usize = point.0.iter().sum();
            if sum % 5 == 4 {
                return Err(Rejection { reason: "fives".to_owned(), message: format!("{sum}") });
            }
            let away = |(dim, choice): (usize, &usize)| choice.abs_diff(3 + dim).pow(2);
            let far: usize = point.0.iter().enumerate().map(away).sum();
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let ns = 10.0 + far as f64 + if sum.is_multiple_of(3) { 9.0 } else { 0.0 };
            let bound = Cost { ns: self.bound_ns, hbm_bytes: 0 };
            Ok(Measured { cost: Cost { ns, hbm_bytes: i64::try_from(100 - sum).unwrap() }, bound })
        }
    }

    fn space() -> Space {
        Space::new(vec![numbers("a", 9, 8), numbers("b", 9, 8), numbers("c", 9, 1)])
    }

    fn request(budget: usize) -> Request {
        Request { objective: Objective::Time, budget, within: 0.0, seed: 1, shard: Shard::WHOLE, starts: Vec::new() }
    }

    fn run(space: &Space, judge: &Hills, request: &Request, n_threads: usize) -> Found {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| search(space, judge, request, &|| false, &mut |_| {}))
    }

    #[test]
    fn all_points_are_looked_at_where_they_are_few() {
        let (space, judge) = (space(), Hills::default());
        let found = run(&space, &judge, &request(1000), 2);
        assert_eq!((found.stop, found.is_exhaustive, found.looked_at.len()), (Stop::Exhausted, true, 729));
        assert_eq!(found.n_compiled + found.rejected["sevens"].0, 729);
        assert_eq!(found.n_compiled, judge.n_measured.into_inner());
        assert_eq!(found.ranked.len() + found.rejected["fives"].0, found.n_compiled);
        let least = found.ranked.iter().map(|candidate| candidate.cost.ns).fold(f64::INFINITY, f64::min);
        assert_eq!(found.ranked[0].cost.ns, least);
    }

    #[test]
    fn walks_find_what_is_found_by_looking_at_all() {
        let space = space();
        let all = run(&space, &Hills::default(), &request(1000), 1);
        for seed in 0..10 {
            let found = run(&space, &Hills::default(), &Request { seed, ..request(500) }, 1);
            assert!(!found.is_exhaustive && found.n_compiled <= 500);
            assert_eq!(found.ranked[0], all.ranked[0], "seed {seed}");
        }
    }

    #[test]
    fn a_walk_that_may_look_at_all_points_does() {
        let space = Space::new(vec![numbers("a", 9, 8), numbers("b", 9, 8)]);
        let judge = Hills::default();
        let mut search = Search {
            space: &space,
            judge: &judge,
            request: &request(250),
            is_interrupted: &|| false,
            watch: &mut |_| {},
            looked_at: BTreeMap::new(),
            n_compiled: 0,
            best: None,
            bound: None,
            most: 0,
        };
        assert_eq!(search.walk_all(), Stop::Exhausted);
        assert_eq!(search.found(false, Stop::Exhausted).looked_at, run(&space, &judge, &request(250), 1).looked_at);
    }

    #[test]
    fn any_number_of_threads_finds_the_same() {
        for budget in [1, 40, 300, 1000] {
            let one = run(&space(), &Hills::default(), &request(budget), 1);
            assert!(one.n_compiled <= budget);
            for n_threads in [2, 8] {
                assert_eq!(run(&space(), &Hills::default(), &request(budget), n_threads), one);
            }
        }
    }

    #[test]
    fn a_seed_is_another_walk() {
        let looked_at = |seed| run(&space(), &Hills::default(), &Request { seed, ..request(300) }, 1).looked_at;
        assert_eq!(looked_at(1), looked_at(1));
        assert_ne!(looked_at(1), looked_at(2));
    }

    #[test]
    fn the_search_ends_near_the_bound_and_knows_it() {
        let judge = Hills { bound_ns: 20.0, ..Hills::default() };
        let found = run(&space(), &judge, &Request { within: 0.1, ..request(1000) }, 2);
        assert_eq!(found.stop, Stop::Bound);
        assert!(found.ranked[0].cost.ns <= 22.0 && found.n_compiled < 400, "{} points", found.n_compiled);
    }

    #[test]
    fn the_untuned_point_is_judged_first_whatever_rule_it_breaks() {
        let space = Space::new(vec![numbers("a", 9, 7)]);
        let found = run(&space, &Hills::default(), &request(1), 1);
        assert_eq!(found.looked_at.len(), 1);
        assert_eq!(found.ranked[0].point, space.untuned());
    }

    #[test]
    fn of_equal_costs_the_one_with_the_fewest_changes_is_best() {
        struct Flat;
        impl Judge for Flat {
            fn breaks(&self, _: &Point) -> Option<Rejection> {
                None
            }

            fn measure(&self, _: &Point) -> Result<Measured, Rejection> {
                Ok(Measured { cost: Cost { ns: 2.0, hbm_bytes: 2 }, bound: Cost { ns: 1.0, hbm_bytes: 1 } })
            }
        }
        let found = search(&space(), &Flat, &request(1000), &|| false, &mut |_| {});
        assert_eq!(found.ranked[0].point, space().untuned());
        assert_eq!(space().n_changes(&found.ranked[1].point), 1);
    }

    #[test]
    fn an_interrupted_search_has_the_best_so_far() {
        let judge = Hills::default();
        let is_interrupted = || judge.n_measured.load(Memory::Relaxed) >= 40;
        let found = search(&space(), &judge, &request(1000), &is_interrupted, &mut |_| {});
        assert_eq!(found.stop, Stop::Interrupted);
        assert!(found.n_compiled >= 40 && !found.ranked.is_empty());
    }

    #[test]
    fn the_parts_of_a_search_come_to_the_whole() {
        for budget in [1000, 400] {
            let whole = run(&space(), &Hills::default(), &request(budget), 1);
            let parts: Vec<Found> = (1..=3)
                .map(|number| Request { shard: format!("{number}/3").parse().unwrap(), ..request(budget) })
                .map(|request| run(&space(), &Hills::default(), &request, 1))
                .collect();
            let looked_at: BTreeMap<_, _> = parts.iter().flat_map(|part| part.looked_at.clone()).collect();
            assert_eq!(looked_at, whole.looked_at, "budget {budget}");
            let n_compiled: usize = parts.iter().map(|part| part.n_compiled).sum();
            assert!(if budget == 1000 { n_compiled == whole.n_compiled } else { n_compiled >= whole.n_compiled });
        }
    }

    #[test]
    fn a_walk_begins_where_it_is_told() {
        let start = Point(vec![3, 4, 6]);
        let request = Request { starts: vec![start.clone()], ..request(251) };
        assert!(run(&space(), &Hills::default(), &request, 1).looked_at.contains_key(&start));
    }
}
