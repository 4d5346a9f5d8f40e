//! Objective by which plans are compared. A search for the fewest bytes is a search for the least time in which the
//! evaluator returns bytes as times.

use super::{
    AxisTiling, CostEvaluator, HoistedCopy, LoopNest, OpCosts, PricedPlan, SearchedOp, TileSearchResult, TilingAxis,
    choose_tilings, runner_up::find_next_best,
};
use cost::{ModeledCost, Objective};
use std::ops::Range;

/// Weight of a ns relative to a byte, so small that the time of any program counts less than one byte.
const BYTES_PER_NS: f64 = 1e-9;

/// Chooses the loops that move the fewest bytes: the better plan of two searches, one for bytes and one for time. Loops
/// that save time save bytes too, and the two searches evaluate different plans. `of_time` splits work and assigns
/// addresses for time, `judge` for bytes.
#[must_use]
pub fn choose_fewest_bytes(
    ops: &[SearchedOp],
    of_time: &dyn CostEvaluator,
    evaluator: &dyn CostEvaluator,
    most_steps: usize,
) -> TileSearchResult {
    let searches: [&dyn CostEvaluator; 2] = [&TrafficCostEvaluator(evaluator), of_time];
    let of_search = |search: &dyn CostEvaluator| {
        let chosen = choose_tilings(ops, search, most_steps);
        (evaluate_plan_cost(evaluator, &chosen.loops), chosen)
    };
    let cost_of = |cost: &Option<ModeledCost>| cost.unwrap_or(ModeledCost { ns: f64::INFINITY, hbm_bytes: i64::MAX });
    let mut found = searches.map(of_search);
    found.sort_by(|(one, _), (other, _)| Objective::Bytes.compare(&cost_of(one), &cost_of(other)));
    let [(cost, mut chosen), (_, other)] = found;
    if let Some(found) = &mut chosen.found {
        found.cost = cost;
        found.untiled = evaluator.evaluate_untiled().map(|by_op| by_op.into_iter().sum());
        found.least_ns = None;
        let of_searches = found.runner_up.take().map(|plan| plan.loops).into_iter().chain([other.loops, Vec::new()]);
        let others: Vec<PricedPlan> = of_searches
            .filter_map(|loops| Some(PricedPlan { cost: evaluate_plan_cost(evaluator, &loops)?, loops }))
            .collect();
        let own = cost.map(|cost| PricedPlan { loops: chosen.loops.clone(), cost });
        found.runner_up = own.and_then(|own| find_next_best(&others, &own, Objective::Bytes));
    }
    chosen
}

fn evaluate_plan_cost(evaluator: &dyn CostEvaluator, loops: &[LoopNest]) -> Option<ModeledCost> {
    evaluator.evaluate_plan(loops).map(|by_op| by_op.into_iter().sum())
}

/// Evaluator that returns bytes as times.
struct TrafficCostEvaluator<'a>(&'a dyn CostEvaluator);

#[allow(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
fn bytes_as_time(cost: ModeledCost) -> ModeledCost {
    ModeledCost { ns: cost.hbm_bytes as f64 + cost.ns * BYTES_PER_NS, hbm_bytes: cost.hbm_bytes }
}

impl OpCosts for TrafficCostEvaluator<'_> {
    fn lx_bytes(&self) -> i64 {
        self.0.lx_bytes()
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> ModeledCost {
        bytes_as_time(self.0.op_cost(op, cuts, in_lx))
    }

    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> ModeledCost {
        bytes_as_time(self.0.combine_cost(op, cuts))
    }
}

impl CostEvaluator for TrafficCostEvaluator<'_> {
    fn evaluate_untiled(&self) -> Option<Vec<ModeledCost>> {
        Some(self.0.evaluate_untiled()?.into_iter().map(bytes_as_time).collect())
    }

    fn evaluate_segment(
        &self,
        segment: Range<usize>,
        axes: &[TilingAxis],
        nest: &[AxisTiling],
        kept: &[HoistedCopy],
    ) -> Option<Vec<ModeledCost>> {
        Some(self.0.evaluate_segment(segment, axes, nest, kept)?.into_iter().map(bytes_as_time).collect())
    }

    fn evaluate_plan(&self, loops: &[LoopNest]) -> Option<Vec<ModeledCost>> {
        Some(self.0.evaluate_plan(loops)?.into_iter().map(bytes_as_time).collect())
    }
}
