//! Decides which neighbors are fused into kernels, and which of the fused ops the loops recompute.
//!
//! The module is compiled without moves, with all moves, and with all moves where every op that may be recomputed is
//! recomputed. Then each move is tried in its other modes: undone, kept outside the loops that do not tile it, or
//! recomputed inside them. The best variant is kept. If the program cannot be compiled with all moves, they are made
//! one by one instead.

use super::{
    cost_evaluator::{ModuleCost, ModuleCostEvaluator},
    fusion::{EdgeId, FusionChoice, NeighborFusion},
    moved_ops::collect_moved_op_loops,
};
use crate::mlir::{DetachedClone, ErrorReported, Op};
use cost::ModeledCost;
use machine::Target;
use std::{cmp::Ordering, collections::BTreeSet};

/// Maximum number of moves whose other modes are tried.
const MAX_TRIALS: usize = 32;
/// Maximum number of ops that tile searches evaluate over all compilations; after that, no further mode is tried.
const MAX_SEARCH_STEPS: usize = 1 << 16;
/// Relative difference below which two times count as equal.
const TIME_TOLERANCE: f64 = 1e-6;

/// Result of the fusion decision.
#[derive(Default)]
pub(super) struct FusionDecision {
    pub(super) choice: FusionChoice,
    /// Moves that make the program impossible to compile.
    pub(super) impossible: BTreeSet<EdgeId>,
    /// Whether the program is best without any move. Excluding all moves is not enough, since an op that stays after
    /// one kernel might move before the next.
    pub(super) is_separate: bool,
    pub(super) savings: Vec<MoveSaving>,
    pub(super) fused: Option<ModuleCost>,
    pub(super) separate: Option<ModuleCost>,
    pub(super) n_evaluated: usize,
    pub(super) n_infeasible: usize,
}

/// Benefit of a move.
pub(super) struct MoveSaving {
    pub(super) id: EdgeId,
    /// Additional cost of the program if the move is undone.
    pub(super) cost: ModeledCost,
    /// Time in which loops recompute the op, in ns.
    pub(super) again_ns: f64,
}

/// Compiles the module in every variant that is tried, and returns the decision.
///
/// # Errors
/// Returns the error of a failed compilation, located at the module.
pub(super) fn decide_fusion(
    module: Op<'_>,
    target: &Target,
    evaluator: &ModuleCostEvaluator,
) -> Result<FusionDecision, ErrorReported> {
    let moved = |choice: &FusionChoice| {
        let copy = DetachedClone::from_op(module);
        let moves = NeighborFusion { target, choice }.fuse_neighbors(copy.op());
        (moves, copy)
    };
    let (moves, copy) = moved(&FusionChoice::default());
    if moves.is_empty() {
        return Ok(FusionDecision::default());
    }
    let places = collect_moved_op_loops(copy.op(), target);
    let may_be_again: BTreeSet<i64> =
        places.into_iter().filter(|(_, placed)| placed.may_recompute).map(|(number, _)| number).collect();
    let separate = evaluator.evaluate(module)?;
    let evaluated = |choice: &FusionChoice| evaluator.evaluate(moved(choice).1.op());
    let mut best = BestChoice { choice: FusionChoice::default(), evaluated: evaluator.evaluate(copy.op())?, evaluator };
    if !may_be_again.is_empty() {
        let all = FusionChoice { inlined: may_be_again.clone(), ..FusionChoice::default() };
        best.improve(evaluated(&all)?, all);
    }
    let (mut savings, mut impossible): (Vec<MoveSaving>, BTreeSet<EdgeId>) = Default::default();
    let mut ids: Vec<EdgeId> = moves.iter().rev().map(|made| made.id).collect();
    if best.evaluated.is_none() {
        ids.reverse();
        best.choice.excluded = ids.iter().copied().collect();
        // An op that stays outside one kernel may have moved before the next kernel.
        best.evaluated = evaluated(&best.choice)?;
    }
    for id in ids.into_iter().take(MAX_TRIALS) {
        if evaluator.search_steps() >= MAX_SEARCH_STEPS {
            break;
        }
        let without = best.choice.with_excluded(id);
        let was_made = without != best.choice;
        let taken_back = if was_made { evaluated(&without)? } else { best.evaluated };
        if !was_made {
            let with = best.choice.with_allowed(id);
            let made = evaluated(&with)?;
            impossible.extend(made.is_none().then_some(id));
            if !best.improve(made, with) {
                continue;
            }
        }
        let mut again_ns = 0.0;
        if may_be_again.contains(&id.0) {
            let turned = best.choice.with_toggled_mode(id.0);
            let other = evaluated(&turned)?;
            again_ns = best.recomputation_difference_ns(other);
            best.improve(other, turned);
        }
        if !best.improve(taken_back, without) {
            savings.extend(best.compute_saving(id, taken_back, again_ns));
        }
    }
    let is_separate = is_better(evaluator, separate, best.evaluated);
    if is_separate {
        (best.evaluated, savings) = (separate, Vec::new());
    }
    let (n_evaluated, n_infeasible) = (evaluator.num_evaluated(), evaluator.num_infeasible());
    Ok(FusionDecision {
        choice: best.choice,
        impossible,
        is_separate,
        savings,
        fused: best.evaluated,
        separate,
        n_evaluated,
        n_infeasible,
    })
}

/// Best choice found so far.
struct BestChoice<'a> {
    choice: FusionChoice,
    evaluated: Option<ModuleCost>,
    evaluator: &'a ModuleCostEvaluator,
}

impl BestChoice<'_> {
    /// Replaces the choice if `other` is better; returns whether it did.
    fn improve(&mut self, evaluated: Option<ModuleCost>, choice: FusionChoice) -> bool {
        let is_better = is_better(self.evaluator, evaluated, self.evaluated);
        if is_better {
            (self.evaluated, self.choice) = (evaluated, choice);
        }
        is_better
    }

    /// Returns the difference in recomputation time between two choices, regardless of which of them recomputes an op.
    fn recomputation_difference_ns(&self, other: Option<ModuleCost>) -> f64 {
        self.evaluated.zip(other).map_or(0.0, |(one, other)| (one.recomputation_ns - other.recomputation_ns).abs())
    }

    fn compute_saving(&self, id: EdgeId, taken_back: Option<ModuleCost>, again_ns: f64) -> Option<MoveSaving> {
        let (best, other) = self.evaluated.zip(taken_back)?;
        let cost =
            ModeledCost { ns: other.cost.ns - best.cost.ns, hbm_bytes: other.cost.hbm_bytes - best.cost.hbm_bytes };
        Some(MoveSaving { id, cost, again_ns: if self.choice.inlined.contains(&id.0) { again_ns } else { 0.0 } })
    }
}

/// Returns whether the first cost is better than the second; a failed compilation is worse than any cost. Times within
/// the tolerance count as equal, since they are sums of the same numbers in another order.
fn is_better(evaluator: &ModuleCostEvaluator, one: Option<ModuleCost>, other: Option<ModuleCost>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let (one, other) = (one.cost, other.cost);
            let is_same_time = (one.ns - other.ns).abs() <= TIME_TOLERANCE * other.ns;
            let other = if is_same_time { ModeledCost { ns: one.ns, ..other } } else { other };
            evaluator.objective.compare(&one, &other) == Ordering::Less
        }
        (one, other) => one.is_some() && other.is_none(),
    }
}
