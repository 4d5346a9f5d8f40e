//! One tensor of an op: its device sizes, coordinates and start.

use super::ReadError;
use super::axes::{Axis, fit, fits, inner};
use super::file::{File, is_index, is_value};
use super::guess::{Guess, Owned};
use super::indices::{index_name, take_indirect};
use crate::bundle::geometry::Label;
use crate::bundle::{Allocation, Arrangement, Coordinate, Operand, OwnedDim, Ownership};

/// The tensor of a file's operand.
pub(super) fn operand(file: &File<'_>, guess: &Guess, tensor: usize) -> Result<Operand, ReadError> {
    let plain = Builder::new(file, guess, tensor, stick(file, guess, tensor)?)?;
    let mut forms = plain.with_units();
    if guess.has_outer_blocks && !forms.is_empty() {
        forms.rotate_right(1);
        forms.push(plain);
    } else {
        forms.insert(0, plain);
    }
    // A tensor of one element in each stick looks the same, but for the distances between its parts.
    forms.push(Builder::new(file, guess, tensor, Stick::None)?);
    if let Some(form) = forms.iter().position(|form| fits(&form.axes, form.per_stick)) {
        return forms.swap_remove(form).build();
    }
    for mut form in forms {
        if let Some(sizes) = fit(&form.axes, form.per_stick, form.is_convolution()) {
            form.axes.iter_mut().zip(sizes).for_each(|(axis, size)| axis.size = size);
            return form.build();
        }
    }
    let member = format!("scheduleTree_[{tensor}].startAddressCoreCorelet_");
    Err(ReadError::member(member, "no sizes of the tensor put its slices there"))
}

/// The dimension along a tensor's stick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stick {
    /// None: a stick holds one element.
    None,
    /// Each stick holds a block of this dimension.
    Blocks(Label),
    /// The only stick holds all of this dimension.
    Single(Label),
}

impl Stick {
    const fn label(self) -> Option<Label> {
        match self {
            Self::None => None,
            Self::Blocks(label) | Self::Single(label) => Some(label),
        }
    }
}

fn stick(file: &File<'_>, guess: &Guess, tensor: usize) -> Result<Stick, ReadError> {
    let Some(label) = file.class_stick(tensor)?.last().copied().filter(|label| guess.dims.contains(label)) else { return Ok(Stick::None) };
    if own_dims(file, guess, tensor)?.contains(&label) {
        return Ok(Stick::Blocks(label));
    }
    // A tensor without a stick of its own has -2 along that of the op.
    Ok(if file.scale(tensor, label) == Some(-1) { Stick::Single(label) } else { Stick::None })
}

/// The dimensions that a tensor has itself, innermost first.
fn own_dims(file: &File<'_>, guess: &Guess, tensor: usize) -> Result<Vec<Label>, ReadError> {
    let mut order = file.order(tensor)?;
    file.unhide(guess, tensor, &mut order);
    let is_scaled = file.function == "layernormscale" && tensor == 0;
    let is_own = |label: &Label| {
        let scale = file.scale(tensor, *label).unwrap_or(1);
        guess.dims.contains(label) && (scale == 1 || (is_scaled && scale == -2))
    };
    order.retain(is_own);
    if is_value(&file.dsc.nodes[tensor]) {
        order.truncate(order.len().saturating_sub(guess.value_tail));
    }
    Ok(order)
}

#[derive(Clone)]
struct Builder<'a> {
    file: &'a File<'a>,
    guess: &'a Guess,
    tensor: usize,
    stick: Stick,
    per_stick: i64,
    bytes: i64,
    /// Innermost first, without the elements of a stick.
    terms: Vec<Coordinate>,
    axes: Vec<Axis>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a File<'a>, guess: &'a Guess, tensor: usize, stick: Stick) -> Result<Self, ReadError> {
        let format = file.format(tensor)?;
        let (per_stick, bytes) = (format.elements_per_stick(), format.bytes());
        let mut builder = Self { file, guess, tensor, stick, per_stick, bytes, terms: Vec::new(), axes: Vec::new() };
        let mut order = own_dims(file, guess, tensor)?;
        let indices = file.indices_of(tensor);
        let index_dims = indices.first().map_or_else(|| Ok(Vec::new()), |index| own_dims(file, guess, *index))?;
        let indirect = take_indirect(&mut order, &index_dims, stick.label());
        for label in order {
            builder.push_dim(label)?;
        }
        // Nothing tells how large a table is; there are as many indices as this.
        let n_indices = index_dims.iter().fold(1_i64, |product, label| product.saturating_mul(file.range(guess, *label)));
        for index in indices.into_iter().rev() {
            builder.terms.insert(indirect, Coordinate::indirect(index_name(index)));
            builder.axes.insert(indirect, Axis { extent: n_indices, size: n_indices, is_known: true, slices: 1, steps: Vec::new() });
        }
        Ok(builder)
    }

    fn dim(&self, label: Label) -> Result<usize, ReadError> {
        let position = self.guess.dims.iter().position(|known| *known == label);
        position.ok_or_else(|| ReadError::member("numWkSlicesPerDim_", format!("'{label}' is no dimension of the op")))
    }

    fn push_dim(&mut self, label: Label) -> Result<(), ReadError> {
        let dim = self.dim(label)?;
        let is_block = self.stick == Stick::Blocks(label);
        let range = self.file.range(self.guess, label);
        let gap = if self.file.ends_short(self.guess, self.tensor, label) { 0 } else { self.file.gap(self.tensor, label) };
        let unit = if is_block { self.per_stick } else { 1 };
        if gap % unit != 0 {
            let member = format!("scheduleTree_[{}].backGapCore_.{label}", self.tensor);
            return Err(ReadError::member(member, format!("a gap along the stick is whole sticks of {unit}, found {gap}")));
        }
        let extent = (range + unit - 1).div_euclid(unit);
        let input = self.file.input_size(self.guess, self.tensor, label);
        let size = input.unwrap_or(extent + gap / unit);
        let (slices, steps) = (self.file.split(label), self.steps(label)?);
        self.terms.push(if is_block { Coordinate::floordiv(dim, self.per_stick) } else { Coordinate::dim(dim) });
        self.axes.push(Axis { extent, size, is_known: gap > 0, slices, steps });
        Ok(())
    }

    /// How far the parts of the cores that differ from the first one along one dimension only are from it.
    fn steps(&self, label: Label) -> Result<Vec<(i64, i64)>, ReadError> {
        let place = &self.file.places[self.tensor];
        let mut steps = Vec::new();
        let Some(first) = place.positions.first().filter(|_| !place.memory.is_lx()) else { return Ok(steps) };
        for ((_, slots), position) in self.file.slots().zip(&place.positions) {
            let slot = slots.get(label.name()).copied().unwrap_or_default();
            let is_alone = slots.iter().all(|(name, slot)| name == label.name() || *slot == 0);
            if slot > 0 && is_alone {
                steps.push((slot, self.elements(position - first)?));
            }
        }
        Ok(steps)
    }

    fn elements(&self, bytes: i64) -> Result<i64, ReadError> {
        if bytes % self.bytes != 0 {
            let member = format!("scheduleTree_[{}].startAddressCoreCorelet_", self.tensor);
            return Err(ReadError::member(member, format!("{bytes} bytes are no whole elements of {}", self.bytes)));
        }
        Ok(bytes / self.bytes)
    }

    fn is_convolution(&self) -> bool {
        self.file.family(self.guess.is_reduction).is_convolution()
    }

    /// The tensor with a 0 where the blocks of its stick were, which stand further outside then: what the front end makes of a unit
    /// dimension. The rules go by position, so they take the 0's size for that of the stick, and so on outwards.
    fn with_units(&self) -> Vec<Self> {
        let Stick::Blocks(label) = self.stick else { return Vec::new() };
        let is_block = |term: &Coordinate| term.moving_dim().is_some_and(|dim| self.guess.dims[dim] == label);
        let Some(at) = self.terms.iter().position(is_block) else { return Vec::new() };
        let n_blocks = self.axes[at].size;
        if n_blocks == 1 || self.axes.iter().any(|axis| axis.is_known) {
            return Vec::new();
        }
        let with_unit = |place: usize| {
            let mut form = self.clone();
            form.terms.insert(place, self.terms[at].clone());
            form.terms[at] = Coordinate::constant(0);
            let mut sizes: Vec<_> = self.axes.iter().map(|axis| axis.size).collect();
            sizes.insert(place, n_blocks);
            sizes[at] = 1;
            form.axes.push(Axis { extent: i64::MAX, size: 1, is_known: false, slices: 1, steps: Vec::new() });
            form.axes.iter_mut().zip(sizes).for_each(|(axis, size)| axis.size = size);
            form
        };
        let shows_no_gap = |form: &Self| self.is_convolution() || form.axes.iter().all(|axis| axis.size <= axis.extent);
        (at + 1..=self.terms.len()).map(with_unit).filter(shows_no_gap).collect()
    }

    fn push_unit(&mut self, position: usize) {
        self.terms.insert(position, Coordinate::constant(0));
        self.axes.insert(position, Axis { extent: 1, size: 1, is_known: true, slices: 1, steps: Vec::new() });
    }

    /// Tensors of few dimensions have units, as the default layouts do.
    fn push_units(&mut self) {
        let rank = match self.stick {
            Stick::None => {
                self.push_unit(self.terms.len());
                2
            }
            Stick::Blocks(_) => self.guess.dims.len().min(2),
            // A 0 would stand for blocks of the stick.
            Stick::Single(_) => 0,
        };
        while self.terms.len() < rank {
            self.push_unit(self.terms.len());
        }
        if is_index(&self.file.dsc.nodes[self.tensor]) {
            (0..self.guess.index_units).for_each(|_| self.push_unit(self.terms.len()));
        }
    }

    /// Moves what stands in front of the tensor into coordinates that have gaps, if they take all of it; else it is left.
    fn shift(&mut self, front: i64) -> i64 {
        let sizes: Vec<_> = self.axes.iter().map(|axis| axis.size).collect();
        let mut rest = front;
        let mut offsets = vec![0; sizes.len()];
        for position in (0..sizes.len()).rev().filter(|position| self.axes[*position].is_known) {
            let step = inner(&sizes, self.per_stick, position);
            let room = sizes[position] - self.axes[position].extent;
            offsets[position] = rest.checked_div(step).unwrap_or_default().clamp(0, room.max(0));
            rest -= offsets[position] * step;
        }
        if rest != 0 || self.is_convolution() {
            return front;
        }
        for (term, offset) in self.terms.iter_mut().zip(offsets) {
            term.offset += offset;
        }
        0
    }

    /// Moves a part of what stands in front of a pool tensor into one coordinate that has a gap, so that the tensor ends in the pool.
    fn shift_into_pool(&mut self, front: i64) -> i64 {
        let sizes: Vec<_> = self.axes.iter().map(|axis| axis.size).collect();
        let end = inner(&sizes, self.per_stick, sizes.len()).saturating_mul(self.bytes).saturating_add(front);
        let excess = end.saturating_sub(self.file.surroundings.pool_bytes);
        for (position, axis) in self.axes.iter().enumerate().filter(|(_, axis)| axis.is_known && excess > 0) {
            let step = inner(&sizes, self.per_stick, position).saturating_mul(self.bytes);
            let offset = excess.saturating_add(step - 1) / step;
            if offset <= axis.size - axis.extent && offset * step <= front {
                self.terms[position].offset += offset;
                return front - offset * step;
            }
        }
        front
    }

    fn allocation(&mut self) -> Result<Allocation, ReadError> {
        let place = &self.file.places[self.tensor];
        let first = place.positions.first().copied().unwrap_or_default();
        Ok(match place.memory {
            Allocation::Lx { offset_bytes: _ } => Allocation::Lx { offset_bytes: first },
            Allocation::Pool { offset_bytes: _ } => Allocation::Pool { offset_bytes: self.shift_into_pool(first) },
            Allocation::Hbm { argument, offset_bytes: _ } => {
                let rest = if first % self.bytes == 0 { self.shift(first / self.bytes) * self.bytes } else { first };
                Allocation::Hbm { argument, offset_bytes: rest }
            }
        })
    }

    fn advance(&self) -> Result<Vec<i64>, ReadError> {
        let strides = &self.file.places[self.tensor].strides;
        if strides.iter().all(|stride| *stride == 0) {
            return Ok(Vec::new());
        }
        strides.iter().map(|stride| self.elements(*stride)).collect()
    }

    fn build(mut self) -> Result<Operand, ReadError> {
        let (file, tensor) = (self.file, self.tensor);
        let allocation = self.allocation()?;
        let tile_advance = self.advance()?;
        self.push_units();
        let last = match self.stick.label() {
            Some(label) => Coordinate::modulo(self.dim(label)?, self.per_stick),
            None => Coordinate::constant(0),
        };
        let class = file.dsc.classes.get(&file.dsc.tensors[tensor].class);
        let is_weight_block = class.is_some_and(|class| class.stick_sizes.len() == 2);
        Ok(Operand {
            is_input: tensor + 1 < file.dsc.nodes.len(),
            format: file.format(tensor)?,
            arrangement: if is_weight_block { Arrangement::Qfp8Wt } else { Arrangement::Standard },
            device_size: self.axes.iter().rev().map(|axis| axis.size).chain([self.per_stick]).collect(),
            coordinates: self.terms.into_iter().rev().chain([last]).collect(),
            allocation,
            tile_advance,
            name: is_index(&file.dsc.nodes[tensor]).then(|| index_name(tensor)),
            ownership: ownership(file, self.guess, tensor),
        })
    }
}

/// Which core holds which slice of a relayout's tensor.
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
        let slices = slots().map(|(_, slot)| slot).max().unwrap_or_default() + 1;
        Some(OwnedDim { dim, slices, divisor })
    };
    Some(Ownership { dims: guess.dims.iter().enumerate().filter_map(owned).collect() })
}
