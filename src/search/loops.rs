//! Loop nests around ops.

use super::{AxisTiling, TilingAxis};
use std::{collections::BTreeMap, ops::Range};

/// Loops around ops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopNest {
    /// Ops of the nest.
    pub ops: Range<usize>,
    /// The loops, outermost first.
    pub levels: Vec<TiledLoop>,
    /// Copies before the loops.
    pub copies: Vec<HoistedCopy>,
}

/// One level of a loop nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiledLoop {
    /// Number of tiles.
    pub count: i64,
    /// Tiled dimension, by position of the op.
    pub dims: BTreeMap<usize, usize>,
}

/// Operand of an op of the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandPosition {
    /// Position of the op.
    pub op: usize,
    /// Index of the operand.
    pub operand: usize,
}

/// Value from outside of the loops that is copied once before those loops that read all of it in every iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoistedCopy {
    /// Operands that read the value.
    pub reads: Vec<OperandPosition>,
    /// For each level the dimension of the value that it tiles, if any.
    pub tiled_dims: Vec<Option<usize>>,
}

impl HoistedCopy {
    /// Returns the copy for ops whose positions are `n_ops` larger.
    #[must_use]
    pub(super) fn shift_positions(&self, n_ops: usize) -> Self {
        let reads = self.reads.iter().map(|read| OperandPosition { op: read.op + n_ops, ..*read }).collect();
        Self { reads, tiled_dims: self.tiled_dims.clone() }
    }
}

impl LoopNest {
    /// Returns a nest around the ops of a segment.
    #[must_use]
    pub fn new(ops: &Range<usize>, axes: &[TilingAxis], nest: &[AxisTiling]) -> Self {
        let level = |cut: &AxisTiling| TiledLoop { count: cut.count, dims: axes[cut.axis].dims.clone() };
        Self { ops: ops.clone(), levels: nest.iter().map(level).collect(), copies: Vec::new() }
    }

    /// Returns the nest for ops whose positions are `n_ops` larger.
    #[must_use]
    pub fn shift_positions(&self, n_ops: usize) -> Self {
        let later = |level: &TiledLoop| TiledLoop {
            count: level.count,
            dims: level.dims.iter().map(|(&op, &dim)| (op + n_ops, dim)).collect(),
        };
        let copies = self.copies.iter().map(|copied| copied.shift_positions(n_ops)).collect();
        Self {
            ops: self.ops.start + n_ops..self.ops.end + n_ops,
            levels: self.levels.iter().map(later).collect(),
            copies,
        }
    }
}
