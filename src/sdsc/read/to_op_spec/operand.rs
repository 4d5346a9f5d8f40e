//! Reconstructs one tensor of an op.

use super::OpSpecReadError;
use super::axes::inner_elements;
use super::candidate::{OpSpecCandidate, StatedOwnership};
use super::file::{SdscFile, is_index_tensor};
use super::indices::index_name;
use super::tensor_form::{DeviceTerm, StickDim, TensorForm, find_form};
use crate::bundle::{Allocation, Coordinate, ElementArrangement, OpSpecOperand, OwnedDim, Ownership};
use crate::launch::geometry::DimLabel;

/// Returns the tensor of a file's operand.
pub(super) fn read_operand(
    file: &SdscFile<'_>,
    guess: &OpSpecCandidate,
    tensor: usize,
) -> Result<OpSpecOperand, OpSpecReadError> {
    let format = file.format(tensor)?;
    let (per_stick, bytes) = (format.elements_per_stick(), format.bytes());
    let mut form = find_form(file, guess, tensor)?;
    let mut start = StartResolver { file, per_stick, bytes, form: &mut form };
    let allocation = start.resolve_allocation(guess, tensor);
    push_unit_dims(&mut form, guess, is_index_tensor(&file.dsc.nodes[tensor]));
    let last = match form.stick.label() {
        Some(label) => Coordinate::modulo(guess.dim_position(label)?, per_stick),
        None => Coordinate::constant(0),
    };
    let class = file.dsc.classes.get(&file.dsc.tensors[tensor].class);
    let is_weight_block = class.is_some_and(|class| class.stick_sizes.len() == 2);
    Ok(OpSpecOperand {
        is_input: tensor + 1 < file.dsc.nodes.len(),
        format,
        arrangement: if is_weight_block { ElementArrangement::Qfp8Wt } else { ElementArrangement::Standard },
        device_size: form.terms.iter().rev().map(|term| term.size).chain([per_stick]).collect(),
        coordinates: form.terms.into_iter().rev().map(|term| term.coordinate).chain([last]).collect(),
        allocation,
        tile_advance: read_advance(file, tensor)?,
        name: is_index_tensor(&file.dsc.nodes[tensor]).then(|| index_name(tensor)),
        ownership: read_ownership(file, guess, tensor),
    })
}

/// Adds unit dimensions to tensors of few dimensions, as in the default layouts.
fn push_unit_dims(form: &mut TensorForm, guess: &OpSpecCandidate, is_index: bool) {
    let rank = match form.stick {
        StickDim::None => 2,
        StickDim::Blocks(_) => guess.dims.len().min(2),
        // A unit dimension, which is written as 0, would be taken for the blocks of the stick.
        StickDim::Single(_) => 0,
    };
    let num_units =
        rank.max(form.terms.len()) - form.terms.len() + if is_index { guess.num_index_unit_dims } else { 0 };
    form.terms.extend(std::iter::repeat_n(DeviceTerm::UNIT, num_units));
}

fn read_advance(file: &SdscFile<'_>, tensor: usize) -> Result<Vec<i64>, OpSpecReadError> {
    let strides = &file.places[tensor].strides;
    if strides.iter().all(|stride| *stride == 0) {
        return Ok(Vec::new());
    }
    strides.iter().map(|stride| file.bytes_to_elements(tensor, *stride)).collect()
}

/// Start of a tensor: its allocation, and offsets of the coordinates.
struct StartResolver<'a> {
    file: &'a SdscFile<'a>,
    per_stick: i64,
    bytes: i64,
    form: &'a mut TensorForm,
}

impl StartResolver<'_> {
    fn resolve_allocation(&mut self, guess: &OpSpecCandidate, tensor: usize) -> Allocation {
        let place = &self.file.places[tensor];
        let first = place.positions.first().copied().unwrap_or_default();
        let has_offsets = !self.file.family(guess.is_reduction).is_convolution();
        match place.memory {
            Allocation::Lx { offset_bytes: _ } => Allocation::Lx { offset_bytes: first },
            Allocation::Pool { offset_bytes: _ } if has_offsets => {
                Allocation::Pool { offset_bytes: self.shift_into_pool(first) }
            }
            Allocation::Pool { offset_bytes: _ } => Allocation::Pool { offset_bytes: first },
            Allocation::Hbm { argument, offset_bytes: _ } if has_offsets && first % self.bytes == 0 => {
                Allocation::Hbm { argument, offset_bytes: self.shift(first / self.bytes) * self.bytes }
            }
            Allocation::Hbm { argument, offset_bytes: _ } => Allocation::Hbm { argument, offset_bytes: first },
        }
    }

    /// Returns the maximum shift of a coordinate; a shifted 0 would no longer represent blocks of the stick.
    fn max_shift(&self, position: usize) -> i64 {
        let term = &self.form.terms[position];
        if term.coordinate.moving_dim().is_some() { term.size.saturating_sub(term.extent) } else { 0 }
    }

    /// Returns the element stride of a device dimension.
    fn dim_stride(&self, position: usize) -> i64 {
        let sizes: Vec<_> = self.form.terms.iter().map(|term| term.size).collect();
        inner_elements(&sizes, self.per_stick, position)
    }

    /// Converts a byte offset of the tensor to coordinate offsets if gaps have room for all of it; otherwise leaves it
    /// unchanged.
    fn shift(&mut self, front: i64) -> i64 {
        let mut rest = front;
        let mut offsets = vec![0; self.form.terms.len()];
        for position in (0..offsets.len()).rev() {
            let step = self.dim_stride(position);
            offsets[position] = rest.checked_div(step).unwrap_or_default().clamp(0, self.max_shift(position).max(0));
            rest = rest.saturating_sub(offsets[position].saturating_mul(step));
        }
        if rest != 0 {
            return front;
        }
        for (term, offset) in self.form.terms.iter_mut().zip(offsets) {
            term.coordinate.offset += offset;
        }
        0
    }

    /// Converts a portion of a pool tensor's offset to the offset of one coordinate with a gap, so that the tensor ends
    /// within the pool.
    fn shift_into_pool(&mut self, front: i64) -> i64 {
        let bytes = self.dim_stride(self.form.terms.len()).saturating_mul(self.bytes);
        let excess = bytes.saturating_add(front).saturating_sub(self.file.surroundings.pool_bytes);
        for position in (0..self.form.terms.len()).filter(|_| excess > 0) {
            let step = self.dim_stride(position).saturating_mul(self.bytes);
            let offset = excess.saturating_add(step - 1).checked_div_euclid(step).unwrap_or(i64::MAX);
            if offset <= self.max_shift(position) && offset.saturating_mul(step) <= front {
                self.form.terms[position].coordinate.offset += offset;
                return front - offset * step;
            }
        }
        front
    }
}

/// Returns the assignment of slices to cores for a relayout's tensor.
fn read_ownership(file: &SdscFile<'_>, guess: &OpSpecCandidate, tensor: usize) -> Option<Ownership> {
    let by_core = &file.dsc.nodes[tensor].coordinates.core_to_slice;
    let is_said = match guess.stated_ownership {
        StatedOwnership::Both => true,
        StatedOwnership::First => tensor == 0,
        StatedOwnership::Last => tensor > 0,
    };
    if by_core.is_empty() || !is_said {
        return None;
    }
    let owned = |(dim, label): (usize, &DimLabel)| {
        let slots =
            || by_core.iter().map(|(core, slots)| (*core, slots.get(label.name()).copied().unwrap_or_default()));
        let divisor = slots().find(|(_, slot)| *slot == 1).map(|(core, _)| core)?;
        let slices = slots().map(|(_, slot)| slot).max().unwrap_or_default().saturating_add(1);
        Some(OwnedDim { dim, slices, divisor })
    };
    Some(Ownership { dims: guess.dims.iter().enumerate().filter_map(owned).collect() })
}
