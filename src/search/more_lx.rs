//! Cost of a program if each core had more LX.

use super::{CostEvaluator, LoopNest, TileSearchResult};
use cost::{ModeledCost, Objective};

/// Additional LX per core for which reports show the cost: 1 MiB.
pub const ADDITIONAL_LX_BYTES: i64 = 1 << 20;

/// Returns the cost of a program on a machine with a chosen plan, or with the loops of a smaller machine if these are
/// cheaper, since a larger machine can run every plan of a smaller one. Returns `None` if the program cannot be
/// compiled there.
#[must_use]
pub fn compute_cost_with_more_lx(
    evaluator: &dyn CostEvaluator,
    chosen: &TileSearchResult,
    of_smaller: &[LoopNest],
    objective: Objective,
) -> Option<ModeledCost> {
    // The search has no result where loops could save nothing.
    let whole = |by_op: Vec<ModeledCost>| by_op.into_iter().sum::<ModeledCost>();
    let own = chosen.found.as_ref().map_or_else(|| evaluator.evaluate_untiled().map(whole), |found| found.cost);
    own.into_iter()
        .chain(evaluator.evaluate_plan(of_smaller).map(whole))
        .min_by(|one, other| objective.compare(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{AxisTiling, HoistedCopy, OpCosts, TileSearchStatistics, TilingAxis};
    use std::ops::Range;

    /// Machine on which a program has these times without loops, and with some.
    struct LargerMachine {
        untiled: f64,
        with_loops: Option<f64>,
    }

    fn cost_of_time(ns: f64) -> ModeledCost {
        ModeledCost { ns, hbm_bytes: 0 }
    }

    impl OpCosts for LargerMachine {
        fn lx_bytes(&self) -> i64 {
            0
        }

        fn op_cost(&self, _op: usize, _cuts: &[(usize, i64)], _in_lx: &[bool]) -> ModeledCost {
            ModeledCost::default()
        }

        fn combine_cost(&self, _op: usize, _cuts: &[(usize, i64)]) -> ModeledCost {
            ModeledCost::default()
        }
    }

    impl CostEvaluator for LargerMachine {
        fn evaluate_untiled(&self) -> Option<Vec<ModeledCost>> {
            Some(vec![cost_of_time(self.untiled)])
        }

        fn evaluate_segment(
            &self,
            _segment: Range<usize>,
            _axes: &[TilingAxis],
            _nest: &[AxisTiling],
            _kept: &[HoistedCopy],
        ) -> Option<Vec<ModeledCost>> {
            None
        }

        fn evaluate_plan(&self, _loops: &[LoopNest]) -> Option<Vec<ModeledCost>> {
            Some(vec![cost_of_time(self.with_loops?)])
        }
    }

    #[test]
    fn costs_no_more_with_more_lx() {
        let found = TileSearchStatistics {
            cost: Some(cost_of_time(7.0)),
            untiled: None,
            runner_up: None,
            least_ns: None,
            num_evaluated: 1,
            num_infeasible: 0,
            is_complete: true,
        };
        let searched = TileSearchResult { loops: Vec::new(), found: Some(found) };
        let cost = |evaluator: &LargerMachine, chosen: &TileSearchResult| {
            compute_cost_with_more_lx(evaluator, chosen, &[], Objective::Time).map(|cost| cost.ns)
        };
        assert_eq!(cost(&LargerMachine { untiled: 9.0, with_loops: Some(8.0) }, &searched), Some(7.0));
        assert_eq!(
            cost(&LargerMachine { untiled: 9.0, with_loops: Some(6.0) }, &searched),
            Some(6.0),
            "what was chosen with less LX"
        );
        assert_eq!(
            cost(&LargerMachine { untiled: 5.0, with_loops: None }, &TileSearchResult::default()),
            Some(5.0),
            "all fits, so nothing was searched"
        );
    }
}
