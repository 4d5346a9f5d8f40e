//! Stage `search`: automatic choice of tiles.
//!
//! Values between ops that do not fit into LX go through HBM; tiles of them may fit. This stage chooses the ops that
//! share loops, their tiled dimensions and tile counts, and writes them as hints. A *plan* partitions the program into
//! *segments*, runs of ops in program order. A *nest* is one or two loops around the ops of a segment, each along an
//! *axis* ([`TilingAxis`]). [`choose_tilings`] finds the best plan as a shortest path over segments (measurements:
//! `docs/measurements/tile-search.md`).

mod axes;
mod carry;
mod choose;
mod copies;
mod estimate;
mod loops;
mod measured_times;
mod more_lx;
mod objective;
mod partitions;
mod runner_up;
mod tiling_table;
mod tilings;
mod unlimited_lx;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub(crate) use axes::common_divisor;
pub use axes::{TilingAxis, find_axes, find_axes_without_carried};
pub use choose::{TileSearchResult, TileSearchStatistics, choose_tilings};
pub use copies::find_hoistable_copies;
pub use loops::{HoistedCopy, LoopNest, OperandPosition, TiledLoop};
pub use more_lx::{ADDITIONAL_LX_BYTES, compute_cost_with_more_lx};
pub use objective::choose_fewest_bytes;
pub use partitions::partition_program;
pub use runner_up::PricedPlan;
#[cfg(feature = "mlir")]
pub(crate) use tiling_table::TilingTable;
pub use tilings::{AxisTiling, Tiling, enumerate_tilings};

use crate::tile::{AnalyzedOpKind, TiledOp};
use cost::ModeledCost;
use std::ops::Range;

/// Op of the program.
#[derive(Clone, Debug, Default)]
pub struct SearchedOp {
    /// Op for the stage `tile`.
    pub tiled: TiledOp,
    /// Rule of the op for loop-carried reductions along an axis.
    pub rule: AnalyzedOpKind,
    /// For each iteration dimension whether a loop may tile it; false for all if the user requested how the op runs.
    pub may_be_tiled: Vec<bool>,
    /// For each iteration dimension the number that tile sizes must be a multiple of, so that no tile ends inside a
    /// stick.
    pub granules: Vec<i64>,
    /// Bytes of the operands, then of the result.
    pub operand_bytes: Vec<i64>,
    /// Whether its result may reuse the buffer of an operand in place: elementwise ops.
    pub may_reuse_operand: bool,
    /// Whether its result may be in LX, for every tiling and core split of the op.
    pub may_be_in_lx: bool,
    /// For each operand, the number of its base value, through all views.
    pub values: Vec<usize>,
    /// For each operand the previous op that read the same value.
    pub read_before: Vec<Option<usize>>,
    /// The ops that read its result.
    pub readers: Vec<usize>,
    /// Whether the op assembles a value from slices that other ops computed.
    pub is_assembly: bool,
    /// Whether the program returns the result.
    pub is_result: bool,
}

impl SearchedOp {
    /// Returns whether a loop may tile a dimension.
    fn can_tile(&self, dim: usize) -> bool {
        self.may_be_tiled[dim] && (self.tiled.combines || !self.is_reduced(dim))
    }

    fn is_reduced(&self, dim: usize) -> bool {
        dim >= self.tiled.sizes.len() - self.tiled.num_reduced
    }

    /// Returns whether loops around these ops should assemble the value in each iteration. After loops, slices are
    /// written directly to their places, so only a reader in the same loops is a reason. If other ops read the value
    /// too, it would have to be copied out of each iteration. It is therefore assembled before the loops if these
    /// compute none of its slices.
    fn belongs_in(&self, segment: &Range<usize>) -> bool {
        let is_read_outside = self.is_result || !self.readers.iter().all(|reader| segment.contains(reader));
        let has_part_of =
            || self.tiled.inputs.iter().any(|part| part.producer.is_some_and(|maker| segment.contains(&maker)));
        !self.is_assembly
            || self.readers.iter().any(|reader| segment.contains(reader)) && (!is_read_outside || has_part_of())
    }

    fn result_bytes(&self) -> i64 {
        self.operand_bytes.last().copied().unwrap_or(0)
    }
}

/// Costs of single ops.
pub trait OpCosts {
    /// Returns the LX bytes of all cores.
    fn lx_bytes(&self) -> i64;
    /// Returns the least cost of an op in loops that tile these dimensions, given as dimension and tile count,
    /// outermost first. `in_lx` marks the operands, then the result, that are in LX; all others are in HBM. The time is
    /// infinite for an untiled op that needs a loop.
    fn op_cost(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> ModeledCost;
    /// Returns the cost of combining a value with the op's running result in these loops, with all operands in LX.
    fn combine_cost(&self, op: usize, cuts: &[(usize, i64)]) -> ModeledCost;
    /// Returns the least evaluated time of an op with this tiling, ns, including ops that passes add after it.
    fn measured_ns(&self, _op: usize, _cuts: &[(usize, i64)]) -> f64 {
        0.0
    }
}

/// Costs of ops that are compiled together.
pub trait CostEvaluator: OpCosts {
    /// Returns the cost of each op in the program without loops, or `None` if the program cannot be compiled that way.
    fn evaluate_untiled(&self) -> Option<Vec<ModeledCost>>;
    /// Returns the cost of each op of a segment in a nest. The values in `kept` are in LX before the segment, however
    /// they get there. Ops that passes add count for the op that they follow. Returns `None` if the segment cannot be
    /// tiled that way.
    fn evaluate_segment(
        &self,
        segment: Range<usize>,
        axes: &[TilingAxis],
        nest: &[AxisTiling],
        kept: &[HoistedCopy],
    ) -> Option<Vec<ModeledCost>>;
    /// Returns the cost of each op of the program with loops around some segments, or `None` if it cannot be compiled.
    fn evaluate_plan(&self, loops: &[LoopNest]) -> Option<Vec<ModeledCost>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::TiledOperand;

    fn make_operand(dims: &[usize], maker: Option<usize>) -> TiledOperand {
        TiledOperand {
            dims: dims.iter().copied().map(Some).collect(),
            producer: maker,
            source_dims: (0..dims.len()).map(Some).collect(),
        }
    }

    fn bytes_of_sizes(sizes: &[i64]) -> i64 {
        2 * sizes.iter().product::<i64>()
    }

    /// Returns `p[M, N] = a[M, K] w[K, N]`, sizes as M, N, K; `maker` defines `a`.
    pub(super) fn matmul([m, n, k]: [i64; 3], maker: Option<usize>) -> SearchedOp {
        let tiled = TiledOp {
            sizes: vec![m, n, k],
            num_reduced: 1,
            inputs: vec![make_operand(&[0, 2], maker), make_operand(&[2, 1], None)],
            output: vec![Some(0), Some(1)],
            combines: true,
            ..TiledOp::default()
        };
        let operand_bytes = vec![bytes_of_sizes(&[m, k]), bytes_of_sizes(&[k, n]), bytes_of_sizes(&[m, n])];
        SearchedOp {
            tiled,
            may_be_tiled: vec![true; 3],
            granules: vec![1, 64, 64],
            operand_bytes,
            may_be_in_lx: true,
            is_result: true,
            ..SearchedOp::default()
        }
    }

    /// Returns a reduction along the last dimension.
    pub(super) fn reduce(sizes: &[i64], maker: Option<usize>) -> SearchedOp {
        let mut op = pointwise(sizes, maker);
        let last = sizes.len() - 1;
        op.tiled.num_reduced = 1;
        op.tiled.output[last] = None;
        op.tiled.combines = true;
        op.operand_bytes[1] /= sizes[last];
        op.may_reuse_operand = false;
        op
    }

    /// Returns an elementwise op of one operand.
    pub(super) fn pointwise(sizes: &[i64], maker: Option<usize>) -> SearchedOp {
        let dims: Vec<usize> = (0..sizes.len()).collect();
        let tiled = TiledOp {
            sizes: sizes.to_vec(),
            inputs: vec![make_operand(&dims, maker)],
            output: dims.iter().copied().map(Some).collect(),
            ..TiledOp::default()
        };
        SearchedOp {
            tiled,
            may_be_tiled: vec![true; sizes.len()],
            granules: vec![1; sizes.len()],
            operand_bytes: vec![bytes_of_sizes(sizes); 2],
            may_reuse_operand: true,
            may_be_in_lx: true,
            is_result: true,
            ..SearchedOp::default()
        }
    }
}
