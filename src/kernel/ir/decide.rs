//! Decides which neighbors are fused into kernels, and which of the fused ops the loops recompute.
//!
//! The module is compiled without moves, with all moves, and with all moves where every op that may be recomputed is
//! recomputed. Then each move is tried in its other modes: undone, kept outside the loops that do not tile it, or
//! recomputed inside them. The best variant is kept. If the program cannot be compiled with all moves, they are made
//! one by one instead.

use super::{
    fusion::{Choice, EdgeId, Fusion},
    judge::{Judge, Judged},
    placed::placed,
};
use crate::mlir::{Op, Reported, Scratch};
use cost::Cost;
use machine::Target;
use std::{cmp::Ordering, collections::BTreeSet};

/// Maximum number of moves whose other modes are tried.
const MOST_TRIALS: usize = 32;
/// Maximum number of ops that tile searches evaluate over all compilations; after that, no further mode is tried.
const MAX_SEARCH_STEPS: usize = 1 << 16;
/// Relative difference below which two times count as equal.
const SAME_TIME: f64 = 1e-6;

/// Result of the fusion decision.
#[derive(Default)]
pub(super) struct Decided {
    pub(super) choice: Choice,
    /// Moves with which the program cannot be compiled.
    pub(super) impossible: BTreeSet<EdgeId>,
    /// Whether the program is best without any move. Excluding all moves is not enough, since an op that stays after
    /// one kernel might move in front of the next.
    pub(super) is_separate: bool,
    pub(super) savings: Vec<Saving>,
    pub(super) fused: Option<Judged>,
    pub(super) separate: Option<Judged>,
    pub(super) n_judged: usize,
    pub(super) n_infeasible: usize,
}

/// Benefit of a move.
pub(super) struct Saving {
    pub(super) id: EdgeId,
    /// Additional cost of the program if the move is undone.
    pub(super) cost: Cost,
    /// Time in which loops recompute the op, in ns.
    pub(super) again_ns: f64,
}

/// Compiles the module in every variant that is tried, and returns the decision.
///
/// # Errors
/// Returns the error of a failed compilation, located at the module.
pub(super) fn decide(module: Op<'_>, target: &Target, judge: &Judge) -> Result<Decided, Reported> {
    let moved = |choice: &Choice| {
        let copy = Scratch::of(module);
        let moves = Fusion { target, choice }.run(copy.op());
        (moves, copy)
    };
    let (moves, copy) = moved(&Choice::default());
    if moves.is_empty() {
        return Ok(Decided::default());
    }
    let places = placed(copy.op(), target);
    let may_be_again: BTreeSet<i64> = places.into_iter().filter(|(_, placed)| placed.may_be_again).map(|(number, _)| number).collect();
    let separate = judge.judged(module)?;
    let judged = |choice: &Choice| judge.judged(moved(choice).1.op());
    let mut best = Best { choice: Choice::default(), judged: judge.judged(copy.op())?, judge };
    if !may_be_again.is_empty() {
        let all = Choice { inlined: may_be_again.clone(), ..Choice::default() };
        best.improve(judged(&all)?, all);
    }
    let (mut savings, mut impossible): (Vec<Saving>, BTreeSet<EdgeId>) = Default::default();
    let mut ids: Vec<EdgeId> = moves.iter().rev().map(|made| made.id).collect();
    if best.judged.is_none() {
        ids.reverse();
        best.choice.excluded = ids.iter().copied().collect();
        // An op that stays outside one kernel may have moved before the next kernel.
        best.judged = judged(&best.choice)?;
    }
    for id in ids.into_iter().take(MOST_TRIALS) {
        if judge.search_steps() >= MAX_SEARCH_STEPS {
            break;
        }
        let without = best.choice.without(id);
        let was_made = without != best.choice;
        let taken_back = if was_made { judged(&without)? } else { best.judged };
        if !was_made {
            let with = best.choice.with(id);
            let made = judged(&with)?;
            impossible.extend(made.is_none().then_some(id));
            if !best.improve(made, with) {
                continue;
            }
        }
        let mut again_ns = 0.0;
        if may_be_again.contains(&id.0) {
            let turned = best.choice.turned(id.0);
            let other = judged(&turned)?;
            again_ns = best.again_apart_from(other);
            best.improve(other, turned);
        }
        if !best.improve(taken_back, without) {
            savings.extend(best.saving(id, taken_back, again_ns));
        }
    }
    let is_separate = is_better(judge, separate, best.judged);
    if is_separate {
        (best.judged, savings) = (separate, Vec::new());
    }
    let (n_judged, n_infeasible) = (judge.n_judged(), judge.n_infeasible());
    Ok(Decided { choice: best.choice, impossible, is_separate, savings, fused: best.judged, separate, n_judged, n_infeasible })
}

/// Best choice found so far.
struct Best<'a> {
    choice: Choice,
    judged: Option<Judged>,
    judge: &'a Judge,
}

impl Best<'_> {
    /// Replaces the choice if `other` is better; returns whether it did.
    fn improve(&mut self, judged: Option<Judged>, choice: Choice) -> bool {
        let is_better = is_better(self.judge, judged, self.judged);
        if is_better {
            (self.judged, self.choice) = (judged, choice);
        }
        is_better
    }

    /// Returns the difference in recomputation time between two choices, regardless of which of them recomputes an op.
    fn again_apart_from(&self, other: Option<Judged>) -> f64 {
        self.judged.zip(other).map_or(0.0, |(one, other)| (one.again_ns - other.again_ns).abs())
    }

    fn saving(&self, id: EdgeId, taken_back: Option<Judged>, again_ns: f64) -> Option<Saving> {
        let (best, other) = self.judged.zip(taken_back)?;
        let cost = Cost { ns: other.cost.ns - best.cost.ns, hbm_bytes: other.cost.hbm_bytes - best.cost.hbm_bytes };
        Some(Saving { id, cost, again_ns: if self.choice.inlined.contains(&id.0) { again_ns } else { 0.0 } })
    }
}

/// Whether the first cost is better than the second; a failed compilation is worse than any cost. Times within the tolerance
/// count as equal, since they are sums of the same numbers in another order.
fn is_better(judge: &Judge, one: Option<Judged>, other: Option<Judged>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let (one, other) = (one.cost, other.cost);
            let is_same_time = (one.ns - other.ns).abs() <= SAME_TIME * other.ns;
            let other = if is_same_time { Cost { ns: one.ns, ..other } } else { other };
            judge.objective.order(&one, &other) == Ordering::Less
        }
        (one, other) => one.is_some() && other.is_none(),
    }
}
