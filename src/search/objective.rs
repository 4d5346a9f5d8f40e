//! Objective by which plans are compared. A search for the fewest bytes is a search for the least time in which the evaluator returns bytes
//! as times.

use super::{Axis, Chosen, Copied, Cut, Judge, Loops, OpCosts, PricedPlan, SearchedOp, choose, runner_up::next_best};
use cost::{Cost, Objective};
use std::ops::Range;

/// Weight of a ns relative to a byte, so small that the time of any program counts less than one byte.
const BYTES_A_NS: f64 = 1e-9;

/// Chooses the loops that move the fewest bytes: the better plan of two searches, one for bytes and one for time. Loops
/// that save time save bytes too, and the two searches evaluate different plans. `of_time` splits work and assigns
/// addresses for time, `judge` for bytes.
#[must_use]
pub fn choose_fewest_bytes(ops: &[SearchedOp], of_time: &dyn Judge, judge: &dyn Judge, most_steps: usize) -> Chosen {
    let searches: [&dyn Judge; 2] = [&ByBytes(judge), of_time];
    let of_search = |search: &dyn Judge| {
        let chosen = choose(ops, search, most_steps);
        (cost_of_plan(judge, &chosen.loops), chosen)
    };
    let cost_of = |cost: &Option<Cost>| cost.unwrap_or(Cost { ns: f64::INFINITY, hbm_bytes: i64::MAX });
    let mut found = searches.map(of_search);
    found.sort_by(|(one, _), (other, _)| Objective::Bytes.order(&cost_of(one), &cost_of(other)));
    let [(cost, mut chosen), (_, other)] = found;
    if let Some(found) = &mut chosen.found {
        found.cost = cost;
        found.untiled = judge.untiled().map(|by_op| by_op.into_iter().sum());
        found.least_ns = None;
        let of_searches = found.runner_up.take().map(|plan| plan.loops).into_iter().chain([other.loops, Vec::new()]);
        let others: Vec<PricedPlan> =
            of_searches.filter_map(|loops| Some(PricedPlan { cost: cost_of_plan(judge, &loops)?, loops })).collect();
        let own = cost.map(|cost| PricedPlan { loops: chosen.loops.clone(), cost });
        found.runner_up = own.and_then(|own| next_best(&others, &own, Objective::Bytes));
    }
    chosen
}

fn cost_of_plan(judge: &dyn Judge, loops: &[Loops]) -> Option<Cost> {
    judge.plan(loops).map(|by_op| by_op.into_iter().sum())
}

/// Evaluator that returns bytes as times.
struct ByBytes<'a>(&'a dyn Judge);

#[allow(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
fn by_bytes(cost: Cost) -> Cost {
    Cost { ns: cost.hbm_bytes as f64 + cost.ns * BYTES_A_NS, hbm_bytes: cost.hbm_bytes }
}

impl OpCosts for ByBytes<'_> {
    fn lx_bytes(&self) -> i64 {
        self.0.lx_bytes()
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Cost {
        by_bytes(self.0.op_cost(op, cuts, in_lx))
    }

    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> Cost {
        by_bytes(self.0.combine_cost(op, cuts))
    }
}

impl Judge for ByBytes<'_> {
    fn untiled(&self) -> Option<Vec<Cost>> {
        Some(self.0.untiled()?.into_iter().map(by_bytes).collect())
    }

    fn segment(&self, segment: Range<usize>, axes: &[Axis], nest: &[Cut], kept: &[Copied]) -> Option<Vec<Cost>> {
        Some(self.0.segment(segment, axes, nest, kept)?.into_iter().map(by_bytes).collect())
    }

    fn plan(&self, loops: &[Loops]) -> Option<Vec<Cost>> {
        Some(self.0.plan(loops)?.into_iter().map(by_bytes).collect())
    }
}
