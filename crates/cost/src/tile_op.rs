//! Ops with the extents of one tile, as op specs and IR have them, before loops are converted to dimensions.

use super::shape::{Dim, Loop, OpKind, OpShape, OperandShape, ShuffleShape};
use machine::STICK_BYTES;
use serde::{Deserialize, Serialize};

/// Op with the extents of one tile.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
#[serde(deny_unknown_fields)]
pub struct TileOp {
    /// Kind of the op, as far as its speed depends on it.
    pub kind: OpKind,
    /// Whether it reduces some dimensions.
    pub is_reduction: bool,
    /// Iteration dimensions.
    pub dims: Vec<Dim>,
    /// Trip counts of the loops around it, outermost first.
    pub trips: Vec<i64>,
    /// Tensors, inputs before the output.
    pub operands: Vec<TileOperand>,
    /// Whether an index tensor or a window determines where a tensor is read or written.
    pub is_irregular: bool,
    /// Movement between cores, if the op is a shuffle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<ShuffleShape>,
}

/// Tensor of a tile op.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Hash)]
#[serde(deny_unknown_fields)]
pub struct TileOperand {
    /// Number of the buffer: equal for the same tensor in all ops of a kernel.
    pub buffer: usize,
    /// Whether it is the result.
    pub is_output: bool,
    /// Whether it is an input of the kernel.
    pub is_kernel_input: bool,
    /// Whether it is in LX, not in HBM.
    pub is_in_lx: bool,
    /// Whether it is an argument of the kernel, which is live across iterations.
    pub is_argument: bool,
    /// Bytes of the sticks that one iteration accesses.
    pub tile_bytes: i64,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// Dimensions of more than one point that index it.
    pub moved_by: Vec<usize>,
    /// Dimension along its sticks; none if a stick holds a single element.
    pub stick: Option<usize>,
    /// Dimension between neighboring sticks.
    pub inner: Option<usize>,
    /// Whether the tensor advances with each loop; missing entries mean no.
    pub advances: Vec<bool>,
}

impl TileOperand {
    fn elements_per_stick(&self) -> i64 {
        STICK_BYTES / self.element_bytes.clamp(1, STICK_BYTES)
    }

    fn advances_with_loop(&self, level: usize) -> bool {
        self.advances.get(level).copied().unwrap_or(false)
    }
}

impl TileOp {
    /// Returns the op over all iterations. Every loop becomes an additional outer dimension, which indexes the operands
    /// that advance with the loop.
    ///
    /// Cores compute complete sticks, as the files specify: a dimension along sticks is padded to whole sticks. If
    /// every tensor has one element per stick, the other elements of the stick are computed too.
    #[must_use]
    pub fn to_op_shape(&self) -> OpShape {
        if self.operands.iter().all(|operand| operand.stick.is_none()) {
            return self.with_stick_element_dim().to_padded_op_shape();
        }
        self.to_padded_op_shape()
    }

    /// Adds a dimension for the elements of a stick.
    fn with_stick_element_dim(&self) -> Self {
        let mut op = self.clone();
        let elements = op.operands.iter().map(TileOperand::elements_per_stick).max().unwrap_or(1);
        op.dims.push(Dim { extent: elements, slices: 1, is_reduced: false });
        for operand in &mut op.operands {
            operand.moved_by.push(self.dims.len());
            operand.stick = Some(self.dims.len());
        }
        op
    }

    fn to_padded_op_shape(&self) -> OpShape {
        let num_loops = self.trips.len();
        let repeats =
            |level: usize| self.operands.iter().all(|operand| !operand.is_in_lx && !operand.advances_with_loop(level));
        let mut dims: Vec<Dim> = (0..num_loops).map(|level| self.loop_dim(level)).collect();
        dims.extend(
            self.dims
                .iter()
                .enumerate()
                .map(|(index, dim)| Dim { extent: self.round_up_to_sticks(index, dim.extent), ..*dim }),
        );
        // If a loop repeats the op, an additional dimension would count its points twice.
        for level in (0..num_loops).filter(|&level| repeats(level)) {
            dims[level].extent = 1;
        }
        let tiled = |level: usize| if repeats(level) { vec![] } else { vec![level] };
        let loops = self.trips.iter().enumerate().map(|(level, &trips)| Loop { trips, tiled: tiled(level) });
        OpShape {
            kind: self.kind,
            dims,
            loops: loops.collect(),
            operands: self.operands.iter().map(|operand| self.to_operand_shape(operand)).collect(),
            is_irregular: self.is_irregular,
            shuffle: self.shuffle,
        }
    }

    /// Rounds an extent up to whole sticks of the tensors that have their sticks along the dimension.
    fn round_up_to_sticks(&self, index: usize, extent: i64) -> i64 {
        let along =
            self.operands.iter().filter(|operand| operand.stick == Some(index)).map(TileOperand::elements_per_stick);
        along.fold(extent, |extent, elements| (extent + elements - 1) / elements * elements)
    }

    /// Returns the dimension that a loop tiles. A result in LX or in the pool is local to an iteration.
    fn loop_dim(&self, level: usize) -> Dim {
        let is_kept =
            |output: &TileOperand| output.is_argument && !output.is_in_lx && !output.advances_with_loop(level);
        let is_reduced = self.is_reduction && self.operands.iter().any(|operand| operand.is_output && is_kept(operand));
        Dim { extent: self.trips[level], slices: 1, is_reduced }
    }

    fn to_operand_shape(&self, operand: &TileOperand) -> OperandShape {
        let num_loops = self.trips.len();
        let moving_loops = || (0..num_loops).filter(|&level| operand.advances_with_loop(level));
        let tiles: i64 = if operand.is_in_lx { 1 } else { moving_loops().map(|level| self.trips[level]).product() };
        OperandShape {
            buffer: operand.buffer,
            is_output: operand.is_output,
            is_kernel_input: operand.is_kernel_input,
            is_in_lx: operand.is_in_lx,
            device_bytes: operand.tile_bytes * tiles,
            element_bytes: operand.element_bytes,
            moved_by: moving_loops().chain(operand.moved_by.iter().map(|dim| dim + num_loops)).collect(),
            stick: operand.stick.map(|dim| dim + num_loops),
            inner: operand.inner.map(|dim| dim + num_loops),
        }
    }
}
