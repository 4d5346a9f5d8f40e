//! Reconstructs one tensor of an op.

use super::ReadError;
use super::axes::inner;
use super::file::{File, is_index};
use super::form::{Form, Stick, Term, form};
use super::guess::{Guess, Owned};
use super::indices::index_name;
use crate::bundle::{Allocation, Arrangement, Coordinate, Operand, OwnedDim, Ownership};
use crate::launch::geometry::Label;

/// Returns the tensor of a file's operand.
pub(super) fn operand(file: &File<'_>, guess: &Guess, tensor: usize) -> Result<Operand, ReadError> {
    let format = file.format(tensor)?;
    let (per_stick, bytes) = (format.elements_per_stick(), format.bytes());
    let mut form = form(file, guess, tensor)?;
    let mut start = Start { file, per_stick, bytes, form: &mut form };
    let allocation = start.allocation(guess, tensor);
    push_units(&mut form, guess, is_index(&file.dsc.nodes[tensor]));
    let last = match form.stick.label() {
        Some(label) => Coordinate::modulo(guess.dim(label)?, per_stick),
        None => Coordinate::constant(0),
    };
    let class = file.dsc.classes.get(&file.dsc.tensors[tensor].class);
    let is_weight_block = class.is_some_and(|class| class.stick_sizes.len() == 2);
    Ok(Operand {
        is_input: tensor + 1 < file.dsc.nodes.len(),
        format,
        arrangement: if is_weight_block { Arrangement::Qfp8Wt } else { Arrangement::Standard },
        device_size: form.terms.iter().rev().map(|term| term.size).chain([per_stick]).collect(),
        coordinates: form.terms.into_iter().rev().map(|term| term.coordinate).chain([last]).collect(),
        allocation,
        tile_advance: advance(file, tensor)?,
        name: is_index(&file.dsc.nodes[tensor]).then(|| index_name(tensor)),
        ownership: ownership(file, guess, tensor),
    })
}

/// Adds unit dimensions to tensors of few dimensions, as in the default layouts.
fn push_units(form: &mut Form, guess: &Guess, is_index: bool) {
    let rank = match form.stick {
        Stick::None => 2,
        Stick::Blocks(_) => guess.dims.len().min(2),
        // A 0 would stand for blocks of the stick.
        Stick::Single(_) => 0,
    };
    let n_units = rank.max(form.terms.len()) - form.terms.len() + if is_index { guess.index_units } else { 0 };
    form.terms.extend(std::iter::repeat_n(Term::UNIT, n_units));
}

fn advance(file: &File<'_>, tensor: usize) -> Result<Vec<i64>, ReadError> {
    let strides = &file.places[tensor].strides;
    if strides.iter().all(|stride| *stride == 0) {
        return Ok(Vec::new());
    }
    strides.iter().map(|stride| file.elements(tensor, *stride)).collect()
}

/// Start of a tensor: its allocation, and offsets of the coordinates.
struct Start<'a> {
    file: &'a File<'a>,
    per_stick: i64,
    bytes: i64,
    form: &'a mut Form,
}

impl Start<'_> {
    fn allocation(&mut self, guess: &Guess, tensor: usize) -> Allocation {
        let place = &self.file.places[tensor];
        let first = place.positions.first().copied().unwrap_or_default();
        let has_offsets = !self.file.family(guess.is_reduction).is_convolution();
        match place.memory {
            Allocation::Lx { offset_bytes: _ } => Allocation::Lx { offset_bytes: first },
            Allocation::Pool { offset_bytes: _ } if has_offsets => Allocation::Pool { offset_bytes: self.shift_into_pool(first) },
            Allocation::Pool { offset_bytes: _ } => Allocation::Pool { offset_bytes: first },
            Allocation::Hbm { argument, offset_bytes: _ } if has_offsets && first % self.bytes == 0 => {
                Allocation::Hbm { argument, offset_bytes: self.shift(first / self.bytes) * self.bytes }
            }
            Allocation::Hbm { argument, offset_bytes: _ } => Allocation::Hbm { argument, offset_bytes: first },
        }
    }

    /// Returns the maximum shift of a coordinate; a shifted 0 would no longer represent blocks of the stick.
    fn room(&self, position: usize) -> i64 {
        let term = &self.form.terms[position];
        if term.coordinate.moving_dim().is_some() { term.size.saturating_sub(term.extent) } else { 0 }
    }

    /// Returns the element stride of a device dimension.
    fn step(&self, position: usize) -> i64 {
        let sizes: Vec<_> = self.form.terms.iter().map(|term| term.size).collect();
        inner(&sizes, self.per_stick, position)
    }

    /// Converts a byte offset of the tensor to coordinate offsets if gaps have room for all of it; otherwise leaves it unchanged.
    fn shift(&mut self, front: i64) -> i64 {
        let mut rest = front;
        let mut offsets = vec![0; self.form.terms.len()];
        for position in (0..offsets.len()).rev() {
            let step = self.step(position);
            offsets[position] = rest.checked_div(step).unwrap_or_default().clamp(0, self.room(position).max(0));
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

    /// Converts part of a pool tensor's offset to the offset of one coordinate with a gap, so that the tensor ends within the pool.
    fn shift_into_pool(&mut self, front: i64) -> i64 {
        let bytes = self.step(self.form.terms.len()).saturating_mul(self.bytes);
        let excess = bytes.saturating_add(front).saturating_sub(self.file.surroundings.pool_bytes);
        for position in (0..self.form.terms.len()).filter(|_| excess > 0) {
            let step = self.step(position).saturating_mul(self.bytes);
            let offset = excess.saturating_add(step - 1).checked_div_euclid(step).unwrap_or(i64::MAX);
            if offset <= self.room(position) && offset.saturating_mul(step) <= front {
                self.form.terms[position].coordinate.offset += offset;
                return front - offset * step;
            }
        }
        front
    }
}

/// Returns the assignment of slices to cores for a relayout's tensor.
fn ownership(file: &File<'_>, guess: &Guess, tensor: usize) -> Option<Ownership> {
    let by_core = &file.dsc.nodes[tensor].coordinates.core_to_slice;
    let is_said = match guess.owned {
        Owned::Both => true,
        Owned::First => tensor == 0,
        Owned::Last => tensor > 0,
    };
    if by_core.is_empty() || !is_said {
        return None;
    }
    let owned = |(dim, label): (usize, &Label)| {
        let slots = || by_core.iter().map(|(core, slots)| (*core, slots.get(label.name()).copied().unwrap_or_default()));
        let divisor = slots().find(|(_, slot)| *slot == 1).map(|(core, _)| core)?;
        let slices = slots().map(|(_, slot)| slot).max().unwrap_or_default().saturating_add(1);
        Some(OwnedDim { dim, slices, divisor })
    };
    Some(Ownership { dims: guess.dims.iter().enumerate().filter_map(owned).collect() })
}
