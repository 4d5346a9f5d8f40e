//! An op as the model of time sees it: extents, slices, loops, and what moves each tensor. Neither IR nor a layout is needed to say it.

use serde::{Deserialize, Serialize};

/// An op of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpShape {
    /// Kind of the op, as far as its speed depends on it.
    pub kind: OpKind,
    /// Its iteration dimensions. Those of a batched product are in any order.
    pub dims: Vec<Dim>,
    /// The loops around it, outermost first.
    pub loops: Vec<Loop>,
    /// Its tensors, inputs before the output.
    pub operands: Vec<OperandShape>,
    /// An index tensor or a window says where a tensor is read or written.
    pub is_irregular: bool,
}

/// Kind of an op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Elementwise functions and copies.
    #[default]
    Pointwise,
    /// Sums, maxima and the like over some dimensions.
    Reduction,
    /// Sums of products of two tensors.
    Matmul,
}

/// A dimension of an iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dim {
    /// Points, of all tiles together.
    pub extent: i64,
    /// Slices that cores share it in.
    pub slices: i64,
    /// Whether results are summed along it.
    pub is_reduced: bool,
}

/// A loop around an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loop {
    /// How often its body runs.
    pub trips: i64,
    /// The dimensions of the op that it walks over in tiles; none if it only repeats the op.
    pub tiled: Vec<usize>,
}

/// A tensor of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperandShape {
    /// Number of the buffer: the same for the same tensor in all ops of a kernel.
    pub buffer: usize,
    /// The result.
    pub is_output: bool,
    /// It comes into the kernel from outside.
    pub is_kernel_input: bool,
    /// It lives in LX and not in HBM.
    pub is_in_lx: bool,
    /// Bytes of its sticks, padding included: of all tiles in HBM, of one tile in LX.
    pub device_bytes: i64,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// The dimensions of the op that move it.
    pub moved_by: Vec<usize>,
    /// The dimension along its sticks; none if a stick holds a single element.
    pub stick: Option<usize>,
    /// The dimension of neighbouring sticks: the innermost one of the device layout but the sticks' own elements.
    pub inner: Option<usize>,
}

impl OperandShape {
    /// Whether `dim` moves the tensor.
    #[must_use]
    pub fn moves(&self, dim: usize) -> bool {
        self.moved_by.contains(&dim)
    }
}

impl OpShape {
    /// Executions: the product of the loops' counts.
    #[must_use]
    pub fn trips(&self) -> i64 {
        self.loops.iter().map(|around| around.trips).product()
    }

    /// How often an operand is moved as a whole: a loop repeats it if none of the dimensions that the loop tiles moves it ("cost models,
    /// 2.2, rule 5").
    #[must_use]
    pub fn loop_factor(&self, operand: &OperandShape) -> i64 {
        let repeats = |around: &&Loop| !around.tiled.iter().any(|&dim| operand.moves(dim));
        self.loops.iter().filter(repeats).map(|around| around.trips).product()
    }

    /// Whether a loop walks over a dimension of the result.
    #[must_use]
    pub fn tiles_output(&self) -> bool {
        self.tiled_dims().any(|dim| !self.dims[dim].is_reduced)
    }

    /// The number of tiles along a dimension.
    #[must_use]
    pub fn tiles_along(&self, dim: usize) -> i64 {
        self.loops.iter().filter(|around| around.tiled.contains(&dim)).map(|around| around.trips).product()
    }

    /// Whether a tile has more than one point along a dimension.
    #[must_use]
    pub fn varies_in_tile(&self, dim: usize) -> bool {
        self.dims[dim].extent > self.tiles_along(dim)
    }

    /// The result.
    #[must_use]
    pub fn output(&self) -> Option<&OperandShape> {
        self.operands.iter().find(|operand| operand.is_output)
    }

    /// All tensors but the result.
    pub fn inputs(&self) -> impl Iterator<Item = &OperandShape> {
        self.operands.iter().filter(|operand| !operand.is_output)
    }

    /// Cores that work on it: the product of the slices.
    #[must_use]
    pub fn cores(&self) -> i64 {
        self.dims.iter().map(|dim| dim.slices).product()
    }

    fn tiled_dims(&self) -> impl Iterator<Item = usize> {
        self.loops.iter().flat_map(|around| around.tiled.iter().copied())
    }
}
