//! Searches a tuning space in batches of points: exhaustively if the space is small, otherwise by local searches.

use super::{Shard, TunePoint, TuneSpace};
use cost::{ModeledCost, Objective};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{cmp::Ordering, collections::BTreeMap};

/// Evaluates points of a tuning space. Methods are called from several threads and must be deterministic.
pub trait PointEvaluator: Sync {
    /// Returns the rule that a point violates, if any. Does not compile the program.
    fn find_violation(&self, point: &TunePoint) -> Option<Rejection>;

    /// Computes the cost of the program at a point that violates no rule.
    ///
    /// # Errors
    /// Returns the reason if the program cannot be compiled.
    fn compute_cost(&self, point: &TunePoint) -> Result<BoundedCost, Rejection>;
}

/// Cost of the program at a point, with a lower bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedCost {
    /// Modeled cost.
    pub cost: ModeledCost,
    /// Lower bound on the cost of all plans for this program.
    pub bound: ModeledCost,
}

/// Reason why a point is infeasible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Kind of the reason; rejections are counted per kind.
    pub reason: String,
    /// Message with the details.
    pub message: String,
}

/// Objective, limits and starting points of a search.
#[derive(Clone, Debug)]
pub struct TuneSearchRequest {
    /// Objective by which costs are compared.
    pub objective: Objective,
    /// Maximum number of points that are compiled.
    pub budget: usize,
    /// Relative tolerance: the search stops at a cost of at most `1 + relative_tolerance` times the bound.
    pub relative_tolerance: f64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Shard of the search that this process executes.
    pub shard: Shard,
    /// Start points of local searches, after the untuned point.
    pub starts: Vec<TunePoint>,
}

/// Reason why a search stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TuneStopReason {
    /// All points were visited.
    Exhausted,
    /// The cost of a point is within the requested tolerance of the lower bound.
    Bound,
    /// The maximum number of points was compiled.
    Budget,
    /// The user interrupted the search.
    Interrupted,
}

/// Point with its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneCandidate {
    /// The point.
    pub point: TunePoint,
    /// Its cost.
    pub cost: ModeledCost,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneSearchResult {
    /// Costs or rejections of all visited points, in lexicographic order of the points.
    pub visited: BTreeMap<TunePoint, Result<ModeledCost, Rejection>>,
    /// Feasible points, best first.
    pub ranked: Vec<TuneCandidate>,
    /// Lower bound on the cost of all plans; `None` if no point is feasible.
    pub bound: Option<ModeledCost>,
    /// Number of compiled points. All shards compile the untuned point, but only the first shard counts it.
    pub num_compiled: usize,
    /// Number of rejected points, and the message of the first one, per kind of reason.
    pub rejected: BTreeMap<String, (usize, String)>,
    /// Indicates that the space was small enough to visit all points.
    pub is_exhaustive: bool,
    /// Reason why the search stopped.
    pub stop: TuneStopReason,
}

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuneProgress {
    /// Number of compiled points.
    pub num_compiled: usize,
    /// Maximum number of points that will be compiled.
    pub max_compiled: usize,
    /// Lowest cost so far.
    pub best: Option<ModeledCost>,
    /// Lower bound on the cost of all plans.
    pub bound: Option<ModeledCost>,
}

/// Number of points per batch. It is a constant so that the result does not depend on the number of threads.
const BATCH_SIZE: usize = 32;

/// Maximum size of a space whose points are all checked against the rules before the search.
const MAX_CHECKED_POINTS: u128 = 1 << 17;

/// Searches for the best point, which is never worse than the untuned one.
///
/// If the number of points does not exceed the budget, all points are evaluated. Otherwise, local searches (walks)
/// start from the untuned point and from random points. Several threads evaluate the points of a batch. Decisions
/// between batches depend on the costs alone, so the result does not depend on threads or clocks.
///
/// Points are ordered by the objective, then by the other component of the cost, then by the number of choices that
/// differ from the untuned point, and finally lexicographically. This order is total, so the best point does not depend
/// on the order of evaluation.
pub fn search(
    space: &TuneSpace,
    evaluator: &dyn PointEvaluator,
    request: &TuneSearchRequest,
    is_interrupted: &(dyn Fn() -> bool + Sync),
    report_progress: &mut dyn FnMut(TuneProgress),
) -> TuneSearchResult {
    let mut search = TuneSearch {
        space,
        evaluator,
        request,
        is_interrupted,
        report_progress,
        visited: BTreeMap::new(),
        num_compiled: 0,
        best: None,
        bound: None,
        max_compiled: request.budget.div_ceil(request.shard.count()),
    };
    let feasible_points = search.collect_feasible_points();
    let is_exhaustive = feasible_points.as_ref().is_some_and(|allowed| allowed.len() <= request.budget);
    let stop = match feasible_points.filter(|_| is_exhaustive) {
        Some(feasible_points) => search.evaluate_all(&feasible_points),
        None => search.run_walks(),
    };
    search.into_result(is_exhaustive, stop)
}

/// State of a search.
pub(super) struct TuneSearch<'a> {
    pub(super) space: &'a TuneSpace,
    pub(super) evaluator: &'a dyn PointEvaluator,
    pub(super) request: &'a TuneSearchRequest,
    is_interrupted: &'a (dyn Fn() -> bool + Sync),
    report_progress: &'a mut dyn FnMut(TuneProgress),
    pub(super) visited: BTreeMap<TunePoint, Result<BoundedCost, Rejection>>,
    num_compiled: usize,
    best: Option<TuneCandidate>,
    bound: Option<ModeledCost>,
    /// Maximum number of points that will be compiled.
    max_compiled: usize,
}

impl TuneSearch<'_> {
    /// Returns the points that satisfy the rules, with their indices among all points. Returns `None` if the space has
    /// more than [`MAX_CHECKED_POINTS`] points. The untuned point comes first, even if it violates a rule.
    fn collect_feasible_points(&self) -> Option<Vec<(usize, TunePoint)>> {
        (self.space.size() <= MAX_CHECKED_POINTS).then_some(())?;
        let untuned = self.space.untuned_point();
        let others = self
            .space
            .points()
            .enumerate()
            .filter(|(_, point)| *point != untuned && self.evaluator.find_violation(point).is_none());
        Some(std::iter::once((0, untuned.clone())).chain(others).collect())
    }

    /// Evaluates the points of this shard, and the untuned point.
    fn evaluate_all(&mut self, feasible_points: &[(usize, TunePoint)]) -> TuneStopReason {
        let untuned = self.space.untuned_point();
        for (index, point) in self.space.points().enumerate().filter(|(_, point)| *point != untuned) {
            if self.request.shard.contains(index)
                && let Some(rejection) = self.evaluator.find_violation(&point)
            {
                self.visited.insert(point, Err(rejection));
            }
        }
        let is_in_shard =
            |(index, point): &&(usize, TunePoint)| *point == untuned || self.request.shard.contains(*index);
        let shard_points: Vec<TunePoint> =
            feasible_points.iter().filter(is_in_shard).map(|(_, point)| point.clone()).collect();
        self.max_compiled = shard_points.len();
        self.evaluate(&shard_points).err().unwrap_or(TuneStopReason::Exhausted)
    }

    /// Evaluates points that satisfy the rules. Reuses the results of points that were evaluated before.
    ///
    /// # Errors
    /// Returns the reason if the search must stop.
    pub(super) fn evaluate(&mut self, points: &[TunePoint]) -> Result<(), TuneStopReason> {
        for batch in points.chunks(BATCH_SIZE) {
            let (evaluator, is_interrupted, visited) = (self.evaluator, self.is_interrupted, &self.visited);
            let compute_cost = |point: &TunePoint| match visited.get(point) {
                Some(known) => Some(known.clone()),
                None if is_interrupted() => None,
                None => Some(evaluator.compute_cost(point)),
            };
            let measured: Vec<_> = batch.par_iter().map(compute_cost).collect();
            let was_interrupted = measured.iter().any(Option::is_none);
            for (point, measured) in batch.iter().zip(measured) {
                self.record(point, measured);
            }
            (self.report_progress)(TuneProgress {
                num_compiled: self.num_compiled,
                max_compiled: self.max_compiled,
                best: self.best.as_ref().map(|best| best.cost),
                bound: self.bound,
            });
            if was_interrupted {
                return Err(TuneStopReason::Interrupted);
            }
            if self.is_near_bound() {
                return Err(TuneStopReason::Bound);
            }
        }
        Ok(())
    }

    /// Records the result of a point and updates the best point and the bound. `None` means interrupted.
    fn record(&mut self, point: &TunePoint, measured: Option<Result<BoundedCost, Rejection>>) {
        if let Some(Ok(BoundedCost { cost, bound })) = &measured {
            let candidate = TuneCandidate { point: point.clone(), cost: *cost };
            if self.best.as_ref().is_none_or(|best| self.compare(&candidate, best) == Ordering::Less) {
                self.best = Some(candidate);
            }
            let min_bound = |current: ModeledCost| ModeledCost {
                ns: current.ns.min(bound.ns),
                hbm_bytes: current.hbm_bytes.min(bound.hbm_bytes),
            };
            self.bound = Some(self.bound.map_or(*bound, min_bound));
        }
        if let Some(measured) = measured
            && self.visited.insert(point.clone(), measured).is_none()
            // All shards compile the untuned point.
            && (self.request.shard.contains(0) || *point != self.space.untuned_point())
        {
            self.num_compiled += 1;
        }
    }

    /// Compares two candidates; the better one is `Less`.
    pub(super) fn compare(&self, one: &TuneCandidate, other: &TuneCandidate) -> Ordering {
        let by_cost = self.request.objective.compare(&one.cost, &other.cost);
        let num_changes = |candidate: &TuneCandidate| self.space.num_changes(&candidate.point);
        by_cost.then_with(|| num_changes(one).cmp(&num_changes(other))).then_with(|| one.point.cmp(&other.point))
    }

    /// Returns whether the best cost is within the requested tolerance of the lower bound.
    fn is_near_bound(&self) -> bool {
        let (Some(best), Some(bound)) = (&self.best, &self.bound) else { return false };
        let [cost, bound] = match self.request.objective {
            Objective::Time => [best.cost.ns, bound.ns],
            #[expect(clippy::cast_precision_loss, reason = "programs move less than 2^53 bytes")]
            Objective::Bytes => [best.cost.hbm_bytes, bound.hbm_bytes].map(|bytes| bytes as f64),
        };
        cost <= bound * (1.0 + self.request.relative_tolerance)
    }

    fn into_result(self, is_exhaustive: bool, stop: TuneStopReason) -> TuneSearchResult {
        let num_compiled = self.num_compiled;
        let mut ranked: Vec<TuneCandidate> = Vec::new();
        let mut rejected: BTreeMap<String, (usize, String)> = BTreeMap::new();
        for (point, evaluated) in &self.visited {
            match evaluated {
                Ok(measured) => ranked.push(TuneCandidate { point: point.clone(), cost: measured.cost }),
                Err(Rejection { reason, message }) => {
                    rejected.entry(reason.clone()).or_insert_with(|| (0, message.clone())).0 += 1
                }
            }
        }
        ranked.sort_by(|one, other| self.compare(one, other));
        let visited = self
            .visited
            .into_iter()
            .map(|(point, evaluated)| (point, evaluated.map(|measured| measured.cost)))
            .collect();
        TuneSearchResult { visited, ranked, bound: self.bound, num_compiled, rejected, is_exhaustive, stop }
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::tests::numbered_dimension;
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering as Memory};

    /// Synthetic evaluator with one global minimum, several local minima, points that violate a rule, and points that
    /// do not compile.
    #[derive(Default)]
    struct SyntheticCosts {
        num_measured: AtomicUsize,
        bound_ns: f64,
    }

    impl PointEvaluator for SyntheticCosts {
        fn find_violation(&self, point: &TunePoint) -> Option<Rejection> {
            let sum: usize = point.0.iter().sum();
            (sum.is_multiple_of(7) && sum > 0)
                .then(|| Rejection { reason: "sevens".to_owned(), message: format!("{sum}") })
        }

        fn compute_cost(&self, point: &TunePoint) -> Result<BoundedCost, Rejection> {
            self.num_measured.fetch_add(1, Memory::Relaxed);
            let sum: usize = point.0.iter().sum();
            if sum % 5 == 4 {
                return Err(Rejection { reason: "fives".to_owned(), message: format!("{sum}") });
            }
            let squared_offset = |(dim, choice): (usize, &usize)| choice.abs_diff(3 + dim).pow(2);
            let squared_distance: usize = point.0.iter().enumerate().map(squared_offset).sum();
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let ns = 10.0 + squared_distance as f64 + if sum.is_multiple_of(3) { 9.0 } else { 0.0 };
            let bound = ModeledCost { ns: self.bound_ns, hbm_bytes: 0 };
            Ok(BoundedCost { cost: ModeledCost { ns, hbm_bytes: i64::try_from(100 - sum).unwrap() }, bound })
        }
    }

    fn space() -> TuneSpace {
        TuneSpace::new(vec![
            numbered_dimension("a", 9, 8),
            numbered_dimension("b", 9, 8),
            numbered_dimension("c", 9, 1),
        ])
    }

    fn request(budget: usize) -> TuneSearchRequest {
        TuneSearchRequest {
            objective: Objective::Time,
            budget,
            relative_tolerance: 0.0,
            seed: 1,
            shard: Shard::WHOLE,
            starts: Vec::new(),
        }
    }

    fn run_search(
        space: &TuneSpace,
        evaluator: &SyntheticCosts,
        request: &TuneSearchRequest,
        num_threads: usize,
    ) -> TuneSearchResult {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(num_threads).build().unwrap();
        pool.install(|| search(space, evaluator, request, &|| false, &mut |_| {}))
    }

    #[test]
    fn evaluates_all_points_of_small_space() {
        let (space, evaluator) = (space(), SyntheticCosts::default());
        let found = run_search(&space, &evaluator, &request(1000), 2);
        assert_eq!((found.stop, found.is_exhaustive, found.visited.len()), (TuneStopReason::Exhausted, true, 729));
        assert_eq!(found.num_compiled + found.rejected["sevens"].0, 729);
        assert_eq!(found.num_compiled, evaluator.num_measured.into_inner());
        assert_eq!(found.ranked.len() + found.rejected["fives"].0, found.num_compiled);
        let least = found.ranked.iter().map(|candidate| candidate.cost.ns).fold(f64::INFINITY, f64::min);
        assert_eq!(found.ranked[0].cost.ns, least);
    }

    #[test]
    fn finds_optimum_of_exhaustive_search_by_walks() {
        let space = space();
        let exhaustive = run_search(&space, &SyntheticCosts::default(), &request(1000), 1);
        for seed in 0..10 {
            let found = run_search(&space, &SyntheticCosts::default(), &TuneSearchRequest { seed, ..request(500) }, 1);
            assert!(!found.is_exhaustive && found.num_compiled <= 500);
            assert_eq!(found.ranked[0], exhaustive.ranked[0], "seed {seed}");
        }
    }

    #[test]
    fn visits_all_points_if_budget_allows() {
        let space = TuneSpace::new(vec![numbered_dimension("a", 9, 8), numbered_dimension("b", 9, 8)]);
        let evaluator = SyntheticCosts::default();
        let mut search = TuneSearch {
            space: &space,
            evaluator: &evaluator,
            request: &request(250),
            is_interrupted: &|| false,
            report_progress: &mut |_| {},
            visited: BTreeMap::new(),
            num_compiled: 0,
            best: None,
            bound: None,
            max_compiled: 0,
        };
        assert_eq!(search.run_walks(), TuneStopReason::Exhausted);
        assert_eq!(
            search.into_result(false, TuneStopReason::Exhausted).visited,
            run_search(&space, &evaluator, &request(250), 1).visited
        );
    }

    #[test]
    fn finds_same_result_with_any_number_of_threads() {
        for budget in [1, 40, 300, 1000] {
            let single_threaded = run_search(&space(), &SyntheticCosts::default(), &request(budget), 1);
            assert!(single_threaded.num_compiled <= budget);
            for num_threads in [2, 8] {
                assert_eq!(
                    run_search(&space(), &SyntheticCosts::default(), &request(budget), num_threads),
                    single_threaded
                );
            }
        }
    }

    #[test]
    fn visits_other_points_with_other_seed() {
        let visited = |seed| {
            run_search(&space(), &SyntheticCosts::default(), &TuneSearchRequest { seed, ..request(300) }, 1).visited
        };
        assert_eq!(visited(1), visited(1));
        assert_ne!(visited(1), visited(2));
    }

    #[test]
    fn stops_near_the_bound() {
        let evaluator = SyntheticCosts { bound_ns: 20.0, ..SyntheticCosts::default() };
        let found =
            run_search(&space(), &evaluator, &TuneSearchRequest { relative_tolerance: 0.1, ..request(1000) }, 2);
        assert_eq!(found.stop, TuneStopReason::Bound);
        assert!(found.ranked[0].cost.ns <= 22.0 && found.num_compiled < 400, "{} points", found.num_compiled);
    }

    #[test]
    fn evaluates_untuned_point_first_despite_violations() {
        let space = TuneSpace::new(vec![numbered_dimension("a", 9, 7)]);
        let found = run_search(&space, &SyntheticCosts::default(), &request(1), 1);
        assert_eq!(found.visited.len(), 1);
        assert_eq!(found.ranked[0].point, space.untuned_point());
    }

    #[test]
    fn prefers_fewest_changes_among_equal_costs() {
        struct FlatCosts;
        impl PointEvaluator for FlatCosts {
            fn find_violation(&self, _: &TunePoint) -> Option<Rejection> {
                None
            }

            fn compute_cost(&self, _: &TunePoint) -> Result<BoundedCost, Rejection> {
                Ok(BoundedCost {
                    cost: ModeledCost { ns: 2.0, hbm_bytes: 2 },
                    bound: ModeledCost { ns: 1.0, hbm_bytes: 1 },
                })
            }
        }
        let found = search(&space(), &FlatCosts, &request(1000), &|| false, &mut |_| {});
        assert_eq!(found.ranked[0].point, space().untuned_point());
        assert_eq!(space().num_changes(&found.ranked[1].point), 1);
    }

    #[test]
    fn returns_best_point_of_interrupted_search() {
        let evaluator = SyntheticCosts::default();
        let is_interrupted = || evaluator.num_measured.load(Memory::Relaxed) >= 40;
        let found = search(&space(), &evaluator, &request(1000), &is_interrupted, &mut |_| {});
        assert_eq!(found.stop, TuneStopReason::Interrupted);
        assert!(found.num_compiled >= 40 && !found.ranked.is_empty());
    }

    #[test]
    fn covers_complete_search_by_shards() {
        for budget in [1000, 400] {
            let unsharded = run_search(&space(), &SyntheticCosts::default(), &request(budget), 1);
            let shard_results: Vec<TuneSearchResult> = (1..=3)
                .map(|number| TuneSearchRequest { shard: format!("{number}/3").parse().unwrap(), ..request(budget) })
                .map(|request| run_search(&space(), &SyntheticCosts::default(), &request, 1))
                .collect();
            let visited: BTreeMap<_, _> = shard_results.iter().flat_map(|part| part.visited.clone()).collect();
            assert_eq!(visited, unsharded.visited, "budget {budget}");
            let num_compiled: usize = shard_results.iter().map(|part| part.num_compiled).sum();
            assert!(if budget == 1000 {
                num_compiled == unsharded.num_compiled
            } else {
                num_compiled >= unsharded.num_compiled
            });
        }
    }

    #[test]
    fn starts_walk_at_requested_point() {
        let start = TunePoint(vec![3, 4, 6]);
        let request = TuneSearchRequest { starts: vec![start.clone()], ..request(251) };
        assert!(run_search(&space(), &SyntheticCosts::default(), &request, 1).visited.contains_key(&start));
    }
}
