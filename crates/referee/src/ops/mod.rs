//! Implementations of the device functions, one file per family.
//!
//! A kernel reads the slices of one core and returns the values of its slice of the result. Nothing is stored before
//! all cores are done, so results do not depend on the order of the cores or the number of threads. The kind of element
//! is a parameter ([`ElementMemory`]).

mod contract;
mod copy;
mod function;
mod matmul;
mod memory;
mod norm;
mod pointwise;
mod reduce;
mod shuffle;
mod store;
mod top_k;

#[cfg(test)]
pub(crate) use function::DeviceArithmetic;
pub(crate) use memory::{ElementMemory, ElementStore, MemoryElement, StridedElements};
pub(crate) use reduce::combine_partial_results;
pub(crate) use shuffle::{count_moved_bytes, for_each_needed_source, shuffle};
pub(crate) use store::{EncodedSlice, encode_slice, store_slice};

use crate::machine::access::{TensorSlice, TensorSlices};
use crate::plan::{OpKernel, OpPlan, PointChunk, StridedRun};
use element::Arithmetic;

/// Values of one core's slice of the result.
pub(crate) enum SliceValues<M: ElementMemory> {
    /// Stored cells, in the order of [`OpPlan::point_loop_nest`].
    Cells(Vec<M::Cell>),
    /// Unrounded values, row-major over the dimensions `order`.
    Elements { values: Vec<MemoryElement<M>>, order: Vec<usize> },
    /// Unrounded values, row-major over the dimensions `order`, with two values per point that are adjacent in a stick.
    Pairs { values: Vec<[MemoryElement<M>; 2]>, order: Vec<usize> },
}

/// One core's view of an execution: the plan, its slices of the tensors, the memory and the constants.
pub(crate) struct CoreView<'m, M: ElementMemory> {
    pub(crate) plan: &'m OpPlan,
    /// Position of the core in the plan's list.
    pub(crate) core: usize,
    pub(crate) parts: &'m TensorSlices,
    pub(crate) memory: &'m M,
    /// The constants of the op, in the order of the file.
    pub(crate) constants: &'m [MemoryElement<M>],
}

impl<M: ElementMemory> Clone for CoreView<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ElementMemory> Copy for CoreView<'_, M> {}

impl<'m, M: ElementMemory> CoreView<'m, M> {
    fn tensor_slice(&self, tensor: usize) -> &'m TensorSlice {
        &self.parts.0[self.core][tensor]
    }

    fn arithmetic(&self) -> &'m M::Arithmetic {
        self.memory.arithmetic()
    }

    /// Returns a required constant by name.
    fn constant(&self, name: &str) -> MemoryElement<M> {
        self.plan.find_constant(name).map_or(self.arithmetic().poison(), |index| self.constants[index])
    }

    /// Returns the elements of a strided run of a tensor.
    fn strided_elements(&self, tensor: usize, lane: StridedRun) -> StridedElements<'m> {
        let format = self.plan.tensors[tensor].format;
        StridedElements { format, part: self.tensor_slice(tensor), offset: lane.offset, stride: lane.stride }
    }

    /// Reads the elements of a run. Elements beyond the end of the tensor are poison.
    fn read(&self, tensor: usize, lane: StridedRun, out: &mut [MemoryElement<M>]) {
        let (inside, beyond) = out.split_at_mut(lane.valid);
        beyond.fill(self.arithmetic().poison());
        self.memory.read(self.strided_elements(tensor, lane), inside);
    }

    /// Returns the number of points of a chunk before the first masked one.
    fn num_unmasked_points(&self, piece: &PointChunk<'_>) -> usize {
        let Some(mask) = &self.plan.mask else { return piece.length };
        let mut unmasked = piece.length;
        for (dim, valid) in &mask.dims {
            let local = self.plan.dims[*dim].local_size;
            let left = valid - self.plan.cores[self.core].slice_indices[*dim] * local - piece.position[*dim] as i64;
            let count = if piece.inner == Some(*dim) {
                left.clamp(0, piece.length as i64) as usize
            } else {
                piece.length * usize::from(left > 0)
            };
            unmasked = unmasked.min(count);
        }
        unmasked
    }

    /// Returns whether a chunk is in the padding around a windowed tensor.
    fn is_padding(&self, tensor: usize, piece: &PointChunk<'_>) -> bool {
        let core = &self.plan.cores[self.core];
        self.plan.tensors[tensor].padded_windows.iter().any(|window| !window.is_inside(core, piece.position))
    }

    /// Reads the elements of a chunk: zeros in the padding around a windowed tensor, and the mask's value at masked
    /// points.
    fn read_masked(&self, tensor: usize, piece: &PointChunk<'_>, lane: StridedRun, out: &mut Vec<MemoryElement<M>>) {
        out.resize(piece.length, self.arithmetic().poison());
        if self.is_padding(tensor, piece) {
            out.fill(self.arithmetic().constant(0.0));
        } else {
            self.read(tensor, lane, out);
        }
        if let Some(mask) = &self.plan.mask {
            out[self.num_unmasked_points(piece)..].fill(self.constants[mask.constant]);
        }
    }
}

/// Computes one core's slice of the result.
pub(crate) fn compute_slice<M: ElementMemory>(view: CoreView<'_, M>) -> SliceValues<M> {
    match view.plan.kernel {
        OpKernel::Unary(function) => pointwise::compute_unary(view, function),
        OpKernel::Binary(function) => pointwise::compute_binary(view, function),
        OpKernel::Where => pointwise::compute_select(view),
        OpKernel::Reduce(reduction) => reduce::reduce(view, reduction),
        OpKernel::MomentPair => norm::compute_moments(view),
        OpKernel::LayerNormScale => norm::compute_scale(view),
        OpKernel::LayerNorm => norm::normalize(view),
        OpKernel::Contract => contract::contract(view),
        OpKernel::TopK(selected) => top_k::compute_top_k(view, selected),
        // A shuffle moves slices between cores, so it is computed for all cores together.
        OpKernel::Copy | OpKernel::Shuffle => copy::copy(view),
    }
}
