//! Evaluated times of ops, collected from evaluated segments.

use super::{AxisTiling, ModeledCost, OpCosts, TilingAxis, tiling_table::TilingTable};
use std::ops::Range;

/// Lowest evaluated time of each op, ns, by op and tiling (outermost loop first).
#[derive(Default)]
pub(super) struct MeasuredTimes {
    least_ns: TilingTable<f64>,
    /// Number of times that an entry was improved or added.
    pub(super) version: usize,
}

impl MeasuredTimes {
    /// Records the time of each op of a segment in a nest.
    pub(super) fn record(
        &mut self,
        segment: &Range<usize>,
        axes: &[TilingAxis],
        nest: &[AxisTiling],
        by_op: &[ModeledCost],
    ) {
        for (op, cost) in segment.clone().zip(by_op) {
            let cuts: Vec<(usize, i64)> =
                nest.iter().filter_map(|cut| Some((*axes[cut.axis].dims.get(&op)?, cut.count))).collect();
            let known = self.least_ns.get_mut_or_insert_with(op, &cuts, &[], || f64::INFINITY);
            if cost.ns < *known {
                *known = cost.ns;
                self.version += 1;
            }
        }
    }
}

/// Op costs whose times are at least the evaluated ones.
pub(super) struct CalibratedCosts<'a> {
    /// Estimated costs.
    pub(super) costs: &'a dyn OpCosts,
    /// Evaluated times.
    pub(super) measured: &'a MeasuredTimes,
}

impl OpCosts for CalibratedCosts<'_> {
    fn lx_bytes(&self) -> i64 {
        self.costs.lx_bytes()
    }

    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> ModeledCost {
        self.costs.op_cost(op, cuts, in_lx)
    }

    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> ModeledCost {
        self.costs.combine_cost(op, cuts)
    }

    fn measured_ns(&self, op: usize, cuts: &[(usize, i64)]) -> f64 {
        self.measured.least_ns.get(op, cuts, &[]).copied().unwrap_or(0.0)
    }
}
