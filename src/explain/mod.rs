//! Loops of a program and values in LX: the `explain` part of the report. Also defines how the report states the gap
//! between a plan and the lower bound.
//!
//! `scratchpad.rs` reads the values in LX from the op specs. `from_ir.rs` reads the loops after addresses are assigned.
//! [`sum_loop_bytes`] fills in bytes after those of the ops are known, so that loops and ops agree.
//! docs/reference/report.md describes every field.

mod from_ir;
mod gap;
mod scratchpad;

pub use gap::{Gap, HbmValue, LowerBound, OpGap, ValueGap};
pub use scratchpad::{LxValue, collect_lx_values, draw_scratchpad};

pub(crate) use from_ir::{OpPositions, describe_loops, describe_place};

use crate::traffic::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

/// Loops of the plan and locations of its values, with reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanExplanation {
    /// Outermost loops, in program order.
    pub loops: Vec<TileLoop>,
    /// Values in LX, in the order of their definitions.
    pub scratchpad: Vec<LxValue>,
    /// Values in HBM, in the order of their first uses.
    pub hbm: Vec<HbmValue>,
}

/// Loop over the tiles of a dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TileLoop {
    /// Name of the dimension.
    pub dim: String,
    /// Iterations per run of the loop.
    pub count: i64,
    /// Name of the symbolic number of iterations, if it is known at launch only; `count` is then its maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Location in the program, as `file:line:col`.
    pub location: String,
    /// Reason why the loop is separate from an earlier loop over the same tiles; empty without an earlier one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// All ops of the loop, including those of inner loops.
    pub ops: Vec<LoopOpReport>,
    /// Bytes that one iteration moves.
    pub bytes_per_iteration: Bytes,
    /// Bytes that all iterations move, over all iterations of the outer loops.
    pub bytes: Bytes,
    /// Tensors of which an iteration reads one tile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiles_read: Vec<LoopValue>,
    /// Tensors from outside of which every iteration reads the same elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invariant: Vec<LoopValue>,
    /// Values that are live within one iteration only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub local: Vec<LoopValue>,
    /// Partial results that are carried from iteration to iteration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accumulators: Vec<Accumulator>,
    /// Values of which an iteration writes one tile for users outside of the loop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<LoopValue>,
    /// Copies: of tiles in every iteration, of accumulators after the last one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<LoopCopyReport>,
    /// Inner loops, in program order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<TileLoop>,
}

/// Tiling of an op by a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopOpReport {
    /// Position of the op in the report's list of ops.
    pub op: usize,
    /// Device function of the op.
    pub function: String,
    /// Dimensions that the loop tiles; empty if the op does the same in every iteration.
    pub cuts: Vec<TiledDimReport>,
}

/// Dimension of an op that a loop tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TiledDimReport {
    /// Names of the iteration dimension, as in the report's list of ops.
    pub dim: String,
    /// Tile size along the dimension, in elements.
    pub tile: i64,
}

/// Value that a loop uses or defines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopValue {
    /// `arg0` for an argument of the function, `constant`, or the device function that defines the value.
    pub name: String,
    /// Position in the report's list of the op that defines the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// Bytes of the device layout, all cores together: of one tile if an iteration accesses one tile, otherwise of the
    /// complete value.
    pub bytes: i64,
    /// Location of the value.
    #[serde(flatten)]
    pub place: ValueLocation,
}

/// Location of a value: its memory, and the address or the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueLocation {
    /// `lx`, `pool` or `hbm`.
    pub memory: &'static str,
    /// Offset in LX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lx_offset_bytes: Option<i64>,
    /// Reason why the value is not in LX.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Partial result that iterations accumulate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Accumulator {
    /// The value, named by the op that combines it.
    #[serde(flatten)]
    pub value: LoopValue,
    /// Position of the op that writes the neutral element before the first iteration; absent if an outer loop carries
    /// the accumulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neutral_element: Option<usize>,
}

/// Copy of a tile or an accumulator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopCopyReport {
    /// Position of the copy in the report's list of ops.
    pub op: usize,
    /// Copied value.
    pub from: LoopValue,
    /// Location of the copy.
    pub to: ValueLocation,
    /// Size of the copy in bytes.
    pub bytes: i64,
    /// Reason for the copy.
    pub why: String,
}

/// Computes the bytes of loops from the bytes of their ops. `ops` has the bytes of every op of the report, and
/// `num_runs` is the number of runs of the loops.
pub fn sum_loop_bytes(loops: &mut [TileLoop], ops: &[Bytes], num_runs: i64) {
    for around in loops {
        let num_iterations = num_runs * around.count;
        around.bytes = Bytes::default();
        for op in around.ops.iter().filter_map(|inner| ops.get(inner.op)) {
            around.bytes.add(op);
        }
        around.bytes_per_iteration = around.bytes.divide_by(num_iterations);
        sum_loop_bytes(&mut around.loops, ops, num_iterations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op_bytes(bytes: i64) -> Bytes {
        Bytes { hbm_read: bytes, hbm_written: 2 * bytes, lx_read: 3 * bytes, lx_written: 4 * bytes }
    }

    fn tile_loop(count: i64, ops: &[usize], loops: Vec<TileLoop>) -> TileLoop {
        let ops = ops.iter().map(|&op| LoopOpReport { op, ..LoopOpReport::default() }).collect();
        TileLoop { count, ops, loops, ..TileLoop::default() }
    }

    #[test]
    fn adds_bytes_of_inner_loops_to_outer_loop() {
        // Op 0 is before the loops, op 1 in the outer one, op 2 in the inner one.
        let mut loops = [tile_loop(4, &[1, 2], vec![tile_loop(8, &[2], vec![])])];
        sum_loop_bytes(&mut loops, &[op_bytes(1), op_bytes(400), op_bytes(3200)], 1);
        let [outer] = &loops;
        assert_eq!(outer.bytes, Bytes { hbm_read: 3600, hbm_written: 7200, lx_read: 10_800, lx_written: 14_400 });
        assert_eq!(
            outer.bytes_per_iteration,
            Bytes { hbm_read: 900, hbm_written: 1800, lx_read: 2700, lx_written: 3600 }
        );
        let inner = &outer.loops[0];
        assert_eq!((inner.bytes.hbm_read, inner.bytes_per_iteration.hbm_read), (3200, 100));
    }

    #[test]
    fn leaves_loops_without_op_bytes_at_zero() {
        let mut loops = [tile_loop(4, &[7], vec![])];
        sum_loop_bytes(&mut loops, &[], 1);
        assert_eq!(loops[0].bytes, Bytes::default());
    }
}
