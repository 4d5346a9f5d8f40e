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

/// Why the plan is as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlanExplanation {
    /// The loops that stand in no other, in program order.
    pub loops: Vec<TileLoop>,
    /// The values that live in LX, in the order in which they are written.
    pub scratchpad: Vec<LxValue>,
    /// The values that live in HBM, in the order in which ops first use them.
    pub hbm: Vec<HbmValue>,
}

/// A loop over the tiles of a dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TileLoop {
    /// The name of the dimension.
    pub dim: String,
    /// Iterations each time the loop runs.
    pub count: i64,
    /// The name of the number of iterations, if that is known at launch only; `count` is then the most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Where the program says so, as `file:line:col`.
    pub location: String,
    /// Why it is a loop of its own, where one before it goes over the same tiles.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Every op in it, those of inner loops too.
    pub ops: Vec<LoopOpReport>,
    /// Bytes that one iteration moves.
    pub bytes_per_iteration: Bytes,
    /// Bytes that all iterations move, those of the loops around it too.
    pub bytes: Bytes,
    /// Tensors of which an iteration reads one tile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiles_read: Vec<LoopValue>,
    /// Tensors from outside that are the same in every iteration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub invariant: Vec<LoopValue>,
    /// Values that live within one iteration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub local: Vec<LoopValue>,
    /// Partial results that go from iteration to iteration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accumulators: Vec<Accumulator>,
    /// Values of which an iteration writes one tile where readers outside of the loop find it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<LoopValue>,
    /// Copies: of tiles in every iteration, of accumulators after the last one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<LoopCopyReport>,
    /// The loops in its body, in program order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<TileLoop>,
}

/// Tiling of an op by a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopOpReport {
    /// The position of the op in the report's list of ops.
    pub op: usize,
    /// Its device function.
    pub function: String,
    /// The dimensions that the loop cuts; none if an op does the same in every iteration.
    pub cuts: Vec<TiledDimReport>,
}

/// A dimension that a loop cuts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TiledDimReport {
    /// Names of the iteration dimension, as in the report's list of ops.
    pub dim: String,
    /// Elements of a tile along it.
    pub tile: i64,
}

/// A value in a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopValue {
    /// `arg0` for an argument of the function, `constant`, or the device function that makes the value.
    pub name: String,
    /// The position in the report's list of the op that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// Bytes of its device layout, all cores together: of a tile where an iteration has one tile, else of the whole.
    pub bytes: i64,
    /// Where it lives.
    #[serde(flatten)]
    pub place: ValueLocation,
}

/// Where a value lives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ValueLocation {
    /// `lx`, `pool` or `hbm`.
    pub memory: &'static str,
    /// The offset in LX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lx_offset_bytes: Option<i64>,
    /// Why it is not in LX.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A partial result that iterations add to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Accumulator {
    /// The value, named by the op that combines.
    #[serde(flatten)]
    pub value: LoopValue,
    /// The op that writes the neutral element before the first iteration; none where a loop around this one began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neutral_element: Option<usize>,
}

/// Copy of a tile or an accumulator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoopCopyReport {
    /// The position of the copy in the report's list of ops.
    pub op: usize,
    /// The copied value.
    pub from: LoopValue,
    /// Where it goes to.
    pub to: ValueLocation,
    /// Bytes of the copy.
    pub bytes: i64,
    /// Why there are two.
    pub why: String,
}

/// Fills in the bytes of loops from those of the ops in them; `ops` has those of every op of the report. `num_runs` is
/// how often the loops run.
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
        // Op 0 stands before the loops, op 1 in the outer one, op 2 in the inner one.
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
