//! Stage `search`: automatic choice of tiles.
//!
//! Where the values between ops do not fit into LX, they go through HBM. Run tile by tile, they fit. This stage chooses
//! which ops run in loops together, along which of their dimensions, in how many tiles, and writes what it chooses as
//! the hints that a user would write.
//!
//! Definitions:
//! * An *axis* is a dimension that several ops iterate over together ([`Axis`]).
//! * A *segment* is a run of ops in program order; a *nest* is one or two loops around all ops of a segment that have
//!   the nest's axes.
//! * A *plan* partitions the program into segments, each with a nest or without one.
//! * Values that cross from one segment to another go through HBM in this search; later passes keep them in LX where
//!   they can.
//!
//! Method: the best plan is a shortest path from the first op to the last, whose edges are segments ([`choose`]). A
//! segment costs as much as its best nest, or as its ops in the program without loops. Nests are first *estimated*
//! (`estimate.rs`), with the best split for every op and every value in LX that has room; estimates are seldom too
//! high. Segments on the shortest path are then *evaluated*: later passes divide, place and price the segment in
//! isolation ([`CostEvaluator`]). Evaluation raises the cost of an edge and of edges that tile the same ops alike, so
//! another path may become the shortest. Once all nests of the shortest path are evaluated, it is the best plan,
//! provided that no estimate is too high. Finally the loops are evaluated together in the whole program and kept only
//! if it gets no slower. Steps, not seconds, bound the work (figures: `docs/measurements/tile-search.md`).
//!
//! | file | what |
//! |---|---|
//! | `axes.rs` | dimensions that can be tiled together |
//! | `tilings.rs` | candidate loop nests |
//! | `loops.rs` | a nest around ops, as written to the program |
//! | `estimate.rs` | estimated costs of nests |
//! | `measured_times.rs` | evaluated times of ops, used as lower bounds in other segments |
//! | `carry.rs` | reductions that a loop can carry |
//! | `copies.rs` | values that copies before loops could keep in LX |
//! | `unlimited_lx.rs` | lower bound with unlimited LX |
//! | `choose.rs` | the shortest path; `choose/whole.rs`: whole-program plans; `choose/preference.rs`: comparison of two plans |
//! | `more_lx.rs` | cost of the program on a machine with more LX |
//! | `objective.rs` | least time, or fewest bytes |
//! | `runner_up.rs` | the next best plan |
//! | `partitions.rs` | partitions of a long program, which are searched separately |
//! | `ir/search_tiling.rs` | reads the program, writes hints |
//! | `ir/read.rs` | the ops as plain values |
//! | `ir/hints.rs` | a nest as hints on ops |
//! | `ir/segment.rs` | extraction of ops into a function of their own |
//! | `ir/certify.rs` | ops for a certificate, which the crate `tile-verify` computes and checks |
//! | `ir/judge.rs` | divides, places and prices such a function |

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

/// An op of the program.
#[derive(Clone, Debug, Default)]
pub struct SearchedOp {
    /// Op as tiling sees it.
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
    /// For each operand the number of its base value, behind all views.
    pub values: Vec<usize>,
    /// For each operand the previous op that read the same value.
    pub read_before: Vec<Option<usize>>,
    /// The ops that read its result.
    pub readers: Vec<usize>,
    /// Whether the op assembles a value from parts that other ops made.
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

    /// Returns whether loops around these ops should assemble the value in each iteration. After loops, parts are
    /// written directly to their places, so only a reader in the same loops is a reason. If other ops read the value
    /// too, it would have to be copied out of each iteration, so it is assembled before the loops if these make none of
    /// its parts.
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

/// Costs of ops compiled together.
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

    /// `p[M, N] = a[M, K] w[K, N]`, sizes as M, N, K; `maker` makes `a`.
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
