//! Ops as the cost model represents them: extents, slices, loops, and the dimensions that index each tensor. Needs
//! neither IR nor layouts.

use serde::{Deserialize, Serialize};

/// Op of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpShape {
    /// Kind of the op, as far as its speed depends on it.
    pub kind: OpKind,
    /// Its iteration dimensions. Those of a batched matmul are in any order.
    pub dims: Vec<Dim>,
    /// Loops around it, outermost first.
    pub loops: Vec<Loop>,
    /// Tensors, inputs before the output.
    pub operands: Vec<OperandShape>,
    /// Whether an index tensor or a window determines where a tensor is read or written.
    pub is_irregular: bool,
    /// Movement between cores, if the op is a shuffle.
    pub shuffle: Option<ShuffleShape>,
}

/// Kind of an op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Elementwise functions and copies.
    #[default]
    Pointwise,
    /// Reductions (sum, maximum and others) over some dimensions.
    Reduction,
    /// Matmuls.
    Matmul,
}

/// Dimension of an iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
#[serde(deny_unknown_fields)]
pub struct Dim {
    /// Points, summed over all tiles.
    pub extent: i64,
    /// Number of slices for the core split.
    pub slices: i64,
    /// Whether the dimension is reduced.
    pub is_reduced: bool,
}

/// Loop around an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loop {
    /// Trip count.
    pub trips: i64,
    /// Dimensions of the op that the loop tiles; none if it only repeats the op.
    pub tiled: Vec<usize>,
}

/// Copy between the LX of cores, as far as its time depends on it (torch-spyre's law of September 2026,
/// `reference/cost-model.md`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
#[serde(deny_unknown_fields)]
pub struct ShuffleShape {
    /// Bytes that each core of the source holds.
    pub bytes_per_core: i64,
    /// Bytes that one core holds without a gap, in the view with the shorter ones.
    pub run_bytes: i64,
    /// Slices of the innermost split dimension in that view.
    pub slices: i64,
}

/// Tensor of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperandShape {
    /// Number of the buffer: equal for the same tensor in all ops of a kernel.
    pub buffer: usize,
    /// Whether it is the result.
    pub is_output: bool,
    /// Whether it is an input of the kernel.
    pub is_kernel_input: bool,
    /// Whether it is in LX, not in HBM.
    pub is_in_lx: bool,
    /// Bytes of its sticks, padding included: of all tiles in HBM, of one tile in LX.
    pub device_bytes: i64,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// Dimensions of the op that index it.
    pub moved_by: Vec<usize>,
    /// Dimension along its sticks; none if a stick holds a single element.
    pub stick: Option<usize>,
    /// Dimension between neighboring sticks: the innermost one of the device layout, except the elements of a stick.
    pub inner: Option<usize>,
}

impl OperandShape {
    /// Returns whether `dim` indexes the tensor.
    #[must_use]
    pub fn is_indexed_by(&self, dim: usize) -> bool {
        self.moved_by.contains(&dim)
    }
}

impl OpShape {
    /// Returns the number of executions: the product of the loops' trip counts.
    #[must_use]
    pub fn trips(&self) -> i64 {
        self.loops.iter().map(|around| around.trips).product()
    }

    /// Returns how often an operand is moved completely: a loop repeats it if it tiles no dimension that indexes the
    /// operand ("cost models, 2.2, rule 5").
    #[must_use]
    pub fn loop_factor(&self, operand: &OperandShape) -> i64 {
        let repeats = |around: &&Loop| !around.tiled.iter().any(|&dim| operand.is_indexed_by(dim));
        self.loops.iter().filter(repeats).map(|around| around.trips).product()
    }

    /// Returns whether a loop tiles a dimension of the result.
    #[must_use]
    pub fn tiles_output(&self) -> bool {
        self.tiled_dims().any(|dim| !self.dims[dim].is_reduced)
    }

    /// Returns the number of tiles along a dimension.
    #[must_use]
    pub fn num_tiles_along(&self, dim: usize) -> i64 {
        self.loops.iter().filter(|around| around.tiled.contains(&dim)).map(|around| around.trips).product()
    }

    /// Returns whether a tile has more than one point along a dimension.
    #[must_use]
    pub fn varies_in_tile(&self, dim: usize) -> bool {
        self.dims[dim].extent > self.num_tiles_along(dim)
    }

    /// Returns the result.
    #[must_use]
    pub fn output(&self) -> Option<&OperandShape> {
        self.operands.iter().find(|operand| operand.is_output)
    }

    /// Returns all tensors except the result.
    pub fn inputs(&self) -> impl Iterator<Item = &OperandShape> {
        self.operands.iter().filter(|operand| !operand.is_output)
    }

    /// Returns the number of cores that execute it: the product of the slices.
    #[must_use]
    pub fn num_cores(&self) -> i64 {
        self.dims.iter().map(|dim| dim.slices).product()
    }

    fn tiled_dims(&self) -> impl Iterator<Item = usize> {
        self.loops.iter().flat_map(|around| around.tiled.iter().copied())
    }
}
