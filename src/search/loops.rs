//! Loop nests around ops.

use super::{Axis, Cut};
use std::{collections::BTreeMap, ops::Range};

/// Loops around ops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    /// Ops of the nest.
    pub ops: Range<usize>,
    /// The loops, outermost first.
    pub levels: Vec<Level>,
    /// Copies before the loops.
    pub copies: Vec<Copied>,
}

/// One level of a loop nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Number of tiles.
    pub count: i64,
    /// Tiled dimension, by position of the op.
    pub dims: BTreeMap<usize, usize>,
}

/// Operand of an op of the nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Position of the op.
    pub op: usize,
    /// Index of the operand.
    pub operand: usize,
}

/// Value from outside of the loops that is copied once before those loops that read all of it in every iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Operands that read the value.
    pub reads: Vec<Read>,
    /// For each level the dimension of the value that it tiles, if any.
    pub cut_dims: Vec<Option<usize>>,
}

impl Copied {
    /// Returns the copy for ops that stand `n_ops` positions later.
    #[must_use]
    pub(super) fn later_by(&self, n_ops: usize) -> Self {
        let reads = self.reads.iter().map(|read| Read { op: read.op + n_ops, ..*read }).collect();
        Self { reads, cut_dims: self.cut_dims.clone() }
    }
}

impl Loops {
    /// Returns a nest around the ops of a segment.
    #[must_use]
    pub fn new(ops: &Range<usize>, axes: &[Axis], nest: &[Cut]) -> Self {
        let level = |cut: &Cut| Level { count: cut.count, dims: axes[cut.axis].dims.clone() };
        Self { ops: ops.clone(), levels: nest.iter().map(level).collect(), copies: Vec::new() }
    }

    /// Returns the nest around ops that stand `n_ops` positions later.
    #[must_use]
    pub fn later_by(&self, n_ops: usize) -> Self {
        let later = |level: &Level| Level { count: level.count, dims: level.dims.iter().map(|(&op, &dim)| (op + n_ops, dim)).collect() };
        let copies = self.copies.iter().map(|copied| copied.later_by(n_ops)).collect();
        Self { ops: self.ops.start + n_ops..self.ops.end + n_ops, levels: self.levels.iter().map(later).collect(), copies }
    }
}
