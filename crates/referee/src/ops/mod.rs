//! Implementations of the device functions, one file per family.
//!
//! A kernel reads the slices of one core and returns the values of its slice of the result. Nothing is stored before all cores are done, so
//! results do not depend on the order of the cores or the number of threads. The kind of element is a parameter ([`Memory`]).

mod contract;
mod copy;
mod function;
mod memory;
mod norm;
mod pointwise;
mod product;
mod reduce;
mod shuffle;
mod store;
mod top;

#[cfg(test)]
pub(crate) use function::Device;
pub(crate) use memory::{ElementOf, Elements, Memory, Written};
pub(crate) use reduce::combine;
pub(crate) use shuffle::{moved_bytes, shuffle};
pub(crate) use store::{Stored, arranged, write};

use crate::machine::access::{Part, Parts};
use crate::plan::{Kernel, Lane, Piece, Plan};
use element::Arithmetic;

/// One core's part of the result.
pub(crate) enum Values<M: Memory> {
    /// As they are stored, in the order of [`Plan::points_walk`].
    Cells(Vec<M::Cell>),
    /// Not rounded yet, row-major over some dimensions.
    Elements { values: Vec<ElementOf<M>>, order: Vec<usize> },
    /// Not rounded yet, row-major over some dimensions, with two values per point that are adjacent in a stick.
    Pairs { values: Vec<[ElementOf<M>; 2]>, order: Vec<usize> },
}

/// View of one core on an execution: the plan, its slices of the tensors, the memory and the constants.
pub(crate) struct CoreView<'m, M: Memory> {
    pub(crate) plan: &'m Plan,
    /// The core, as an index of the plan's list.
    pub(crate) core: usize,
    pub(crate) parts: &'m Parts,
    pub(crate) memory: &'m M,
    /// The constants of the op, in the order of the file.
    pub(crate) constants: &'m [ElementOf<M>],
}

impl<M: Memory> Clone for CoreView<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Memory> Copy for CoreView<'_, M> {}

impl<'m, M: Memory> CoreView<'m, M> {
    fn part(&self, tensor: usize) -> &'m Part {
        &self.parts.0[self.core][tensor]
    }

    fn arithmetic(&self) -> &'m M::Arithmetic {
        self.memory.arithmetic()
    }

    /// Returns a required constant by name.
    fn constant(&self, name: &str) -> ElementOf<M> {
        self.plan.constant(name).map_or(self.arithmetic().poison(), |index| self.constants[index])
    }

    /// The elements of a lane of a tensor.
    fn elements(&self, tensor: usize, lane: Lane) -> Elements<'m> {
        let format = self.plan.tensors[tensor].format;
        Elements { format, part: self.part(tensor), offset: lane.offset, stride: lane.stride }
    }

    /// Reads the elements of a piece; those beyond the tensor's end are poison.
    fn read(&self, tensor: usize, lane: Lane, out: &mut [ElementOf<M>]) {
        let (inside, beyond) = out.split_at_mut(lane.valid);
        beyond.fill(self.arithmetic().poison());
        self.memory.read(self.elements(tensor, lane), inside);
    }

    /// How many points of a piece, from its first, are not masked.
    fn unmasked(&self, piece: &Piece<'_>) -> usize {
        let Some(mask) = &self.plan.mask else { return piece.length };
        let mut unmasked = piece.length;
        for (dim, valid) in &mask.dims {
            let local = self.plan.dims[*dim].local;
            let left = valid - self.plan.cores[self.core].slots[*dim] * local - piece.position[*dim] as i64;
            let count =
                if piece.inner == Some(*dim) { left.clamp(0, piece.length as i64) as usize } else { piece.length * usize::from(left > 0) };
            unmasked = unmasked.min(count);
        }
        unmasked
    }

    /// Reads the elements of a piece, with the mask's value at masked points.
    fn read_masked(&self, tensor: usize, piece: &Piece<'_>, lane: Lane, out: &mut Vec<ElementOf<M>>) {
        out.resize(piece.length, self.arithmetic().poison());
        self.read(tensor, lane, out);
        if let Some(mask) = &self.plan.mask {
            out[self.unmasked(piece)..].fill(self.constants[mask.constant]);
        }
    }
}

/// Computes one core's part of the result.
pub(crate) fn compute<M: Memory>(view: CoreView<'_, M>) -> Values<M> {
    match view.plan.kernel {
        Kernel::Unary(function) => pointwise::unary(view, function),
        Kernel::Binary(function) => pointwise::binary(view, function),
        Kernel::Where => pointwise::choose(view),
        Kernel::Reduce(reduction) => reduce::reduce(view, reduction),
        Kernel::MomentPair => norm::moments(view),
        Kernel::LayerNormScale => norm::scale(view),
        Kernel::LayerNorm => norm::normalize(view),
        Kernel::Contract => contract::contract(view),
        Kernel::TopK(selected) => top::select(view, selected),
        // A shuffle moves between cores and is done for all of them at once.
        Kernel::Copy | Kernel::Shuffle => copy::copy(view),
    }
}
