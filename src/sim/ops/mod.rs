//! What the functions of the device compute, one file a family.
//!
//! A kernel reads the parts of one core and gives the values of its part of the result; nothing is stored before every core is done,
//! so that the order of the cores and the number of threads never show.

mod contract;
mod copy;
mod function;
mod norm;
mod pointwise;
mod reduce;
mod shuffle;
mod store;

pub(crate) use reduce::combine;
pub(crate) use shuffle::shuffle;
pub(crate) use store::store;

use super::access::{Part, Parts};
use super::machine::Machine;
use super::number::{decode_run, width};
use super::plan::{Kernel, Lane, Piece, Plan};

/// One core's part of the result.
#[derive(Clone, Debug)]
pub(crate) enum Values {
    /// Encoded, in the order of [`Plan::points_walk`].
    Bits(Vec<u8>),
    /// Not rounded yet, row-major over some dimensions.
    Floats { values: Vec<f32>, order: Vec<usize> },
    /// The same with two values for each point, which stand beside each other in a stick.
    Pairs { values: Vec<[f32; 2]>, order: Vec<usize> },
}

/// What one core can see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CoreView<'m> {
    pub(crate) plan: &'m Plan,
    /// The core, as an index of the plan's list.
    pub(crate) core: usize,
    pub(crate) parts: &'m Parts,
    pub(crate) machine: &'m Machine,
}

impl<'m> CoreView<'m> {
    fn part(&self, tensor: usize) -> &'m Part {
        &self.parts.0[self.core][tensor]
    }

    fn bytes(&self, tensor: usize) -> &'m [u8] {
        self.machine.region(self.part(tensor).region).map_or(&[][..], |region| region.bytes())
    }

    /// The byte of a tensor's element.
    fn byte(&self, tensor: usize, offset: i64) -> usize {
        (self.part(tensor).byte + offset * width(self.plan.tensors[tensor].format) as i64) as usize
    }

    /// Reads the elements of a piece; those beyond the tensor's end are NaN.
    fn read(&self, tensor: usize, lane: Lane, out: &mut [f32]) {
        let (inside, beyond) = out.split_at_mut(lane.valid);
        beyond.fill(f32::NAN);
        if !inside.is_empty() {
            decode_run(self.plan.tensors[tensor].format, self.bytes(tensor), self.byte(tensor, lane.offset), lane.stride, inside);
        }
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
    fn read_masked(&self, tensor: usize, piece: &Piece<'_>, lane: Lane, out: &mut [f32]) {
        self.read(tensor, lane, out);
        if let Some(mask) = &self.plan.mask {
            out[self.unmasked(piece)..].fill(mask.value);
        }
    }
}

/// Computes one core's part of the result.
pub(crate) fn compute(view: CoreView<'_>) -> Values {
    match view.plan.kernel {
        Kernel::Unary(function) => pointwise::unary(view, function),
        Kernel::Binary(function) => pointwise::binary(view, function),
        Kernel::Where => pointwise::choose(view),
        Kernel::Reduce(reduction) => reduce::reduce(view, reduction),
        Kernel::MomentPair => norm::moments(view),
        Kernel::LayerNormScale => norm::scale(view),
        Kernel::LayerNorm => norm::normalize(view),
        Kernel::Contract => contract::contract(view),
        // A shuffle moves between cores and is done for all of them at once.
        Kernel::Copy | Kernel::Shuffle => copy::copy(view),
    }
}
