//! Reconstructs the device dimensions of a tensor: their coordinates, order and sizes.

use super::ReadError;
use super::axes::{Axis, fit, fits};
use super::file::{File, is_index, is_value};
use super::guess::Guess;
use super::indices::{index_name, take_indirect};
use crate::{
    bundle::{Coordinate, Mover, OpFamily},
    launch::geometry::Label,
};

/// The dimension along a tensor's stick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stick {
    /// None: a stick holds one element.
    None,
    /// Each stick holds a block of this dimension.
    Blocks(Label),
    /// The only stick holds all of this dimension.
    Single(Label),
}

impl Stick {
    pub(super) const fn label(self) -> Option<Label> {
        match self {
            Self::None => None,
            Self::Blocks(label) | Self::Single(label) => Some(label),
        }
    }
}

/// Maximum number of slices of an op; far above the cores of any machine.
const MAX_SLICES: i64 = 1024;

/// Device dimension other than the elements of a stick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) coordinate: Coordinate,
    /// Number of accessed positions.
    pub(super) extent: i64,
    /// Number of positions.
    pub(super) size: i64,
}

impl Term {
    pub(super) const UNIT: Self = Self { coordinate: Coordinate::constant(0), extent: 1, size: 1 };
}

/// Device dimensions of a tensor, innermost first.
#[derive(Clone, Debug)]
pub(super) struct Form {
    pub(super) stick: Stick,
    pub(super) terms: Vec<Term>,
}

/// Returns the device dimensions of a tensor of a file.
pub(super) fn form(file: &File<'_>, guess: &Guess, tensor: usize) -> Result<Form, ReadError> {
    let stick = stick(file, guess, tensor)?;
    let tensor = Tensor { file, guess, index: tensor, per_stick: file.format(tensor)?.elements_per_stick() };
    let axes = tensor.axes(stick)?;
    let forms = tensor.plain(stick)?.variants();
    if let Some(form) = forms.iter().filter_map(|form| tensor.settled(form, &axes)).nth(tensor.first_form()) {
        return Ok(form);
    }
    // A tensor with one element per stick looks the same, except for the distances between its slices.
    let sparse = tensor.plain(Stick::None)?;
    let sparse_axes = tensor.axes(Stick::None)?;
    if let Some(form) = sparse.variants().iter().find_map(|form| tensor.settled(form, &sparse_axes)) {
        return Ok(form);
    }
    let member = || format!("scheduleTree_[{}].startAddressCoreCorelet_", tensor.index);
    let fitted = forms.into_iter().find_map(|form| tensor.fitted(form, &axes));
    fitted.ok_or_else(|| ReadError::member(member(), "no sizes of the tensor put its slices there"))
}

fn stick(file: &File<'_>, guess: &Guess, tensor: usize) -> Result<Stick, ReadError> {
    let class = file.class_stick(tensor)?;
    let own = own_dims(file, guess, tensor)?;
    // The two dimensions of a stick of fp8 weights are the last ones of their order; the columns run along it.
    let is_column = class.len() == 2 && own.contains(&Label::Out);
    let label = if is_column { Some(Label::Out) } else { class.last().copied() };
    let Some(label) = label.filter(|label| guess.dims.contains(label)) else { return Ok(Stick::None) };
    if own.contains(&label) {
        return Ok(Stick::Blocks(label));
    }
    // A tensor without a stick of its own has scale -2 along the stick of the op.
    Ok(if file.scale(tensor, label) == Some(-1) { Stick::Single(label) } else { Stick::None })
}

/// Returns the dimensions of the tensor itself, innermost first.
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

impl Form {
    /// This form and those with a unit dimension in other places, which the front end writes as 0. Where a 0 stands inside the blocks of
    /// a stick, the rules take it for them.
    fn variants(&self) -> Vec<Self> {
        let n = self.terms.len();
        let with_unit = |place: usize| {
            let mut form = self.clone();
            form.terms.insert(place, Term::UNIT);
            form
        };
        let is_block = |term: &Term| matches!(&term.coordinate.term, Some(Mover::Digits(digits)) if digits.floordiv.is_some());
        let block = self.terms.iter().position(is_block);
        let mut forms = Vec::new();
        match (self.stick, block) {
            (Stick::None, _) => forms.extend((0..=n).rev().map(with_unit)),
            (Stick::Blocks(_), Some(block)) => {
                let moved = |place: usize| {
                    let mut form = self.clone();
                    form.terms.insert(place, self.terms[block].clone());
                    form.terms[block] = Term::UNIT;
                    form
                };
                forms.push(self.clone());
                forms.extend((block + 1..=n).map(moved));
                forms.extend((block + 1..n).map(with_unit));
            }
            (Stick::Blocks(_) | Stick::Single(_), _) => forms.push(self.clone()),
        }
        forms
    }
}

/// Tensor of a file.
struct Tensor<'a> {
    file: &'a File<'a>,
    guess: &'a Guess,
    index: usize,
    per_stick: i64,
}

impl Tensor<'_> {
    /// Returns the first of the matching forms to try. The form of an index tensor affects other tensors, so it is part of the guess.
    fn first_form(&self) -> usize {
        if is_index(&self.file.dsc.nodes[self.index]) { self.guess.index_form } else { 0 }
    }

    fn is_convolution(&self) -> bool {
        self.file.family(self.guess.is_reduction).is_convolution()
    }

    /// Returns the tensor's own dimensions, with the sizes that the op accesses.
    fn plain(&self, stick: Stick) -> Result<Form, ReadError> {
        let (file, guess) = (self.file, self.guess);
        let mut order = own_dims(file, guess, self.index)?;
        let indices = file.indices_of(self.index);
        let index_dims = indices.first().map_or_else(|| Ok(Vec::new()), |index| own_dims(file, guess, *index))?;
        let indirect = take_indirect(&mut order, &index_dims, stick.label());
        let term = |label: Label| {
            let dim = guess.dim(label)?;
            let is_block = stick == Stick::Blocks(label);
            let range = file.range(guess, label);
            let extent = if is_block { range.saturating_add(self.per_stick - 1).div_euclid(self.per_stick) } else { range };
            let coordinate = if is_block { Coordinate::floordiv(dim, self.per_stick) } else { Coordinate::dim(dim) };
            let extent = file.input_size(guess, self.index, label).unwrap_or(extent);
            Ok(Term { coordinate, extent, size: extent })
        };
        let mut terms = order.into_iter().map(term).collect::<Result<Vec<_>, ReadError>>()?;
        // The file does not state the table size; the number of indices is assumed.
        let n_indices = index_dims.iter().fold(1_i64, |product, label| product.saturating_mul(file.range(guess, *label)));
        for index in indices.into_iter().rev() {
            terms.insert(indirect, Term { coordinate: Coordinate::indirect(index_name(index)), extent: n_indices, size: n_indices });
        }
        Ok(Form { stick, terms })
    }

    /// Returns the dimensions of the tensor's order, as the rules count device dimensions: its own, an added stick, and absent ones.
    fn axes(&self, stick: Stick) -> Result<Vec<Axis>, ReadError> {
        let mut order = self.file.order(self.index)?;
        self.file.unhide(self.guess, self.index, &mut order);
        let own = own_dims(self.file, self.guess, self.index)?;
        let is_index = is_index(&self.file.dsc.nodes[self.index]);
        let is_indirect = self.file.is_indirect();
        let is_top_k = self.file.family(self.guess.is_reduction) == OpFamily::TopK;
        let (mut sticks, mut absent) = (Vec::new(), Vec::new());
        for (position, label) in order.iter().enumerate().filter(|(_, label)| !own.contains(label)) {
            let is_added = !self.guess.dims.contains(label);
            let is_row = position == 0 && (is_indirect || self.file.makes_row());
            match (is_added, is_index) {
                (true, true) => sticks.push(*label),
                // The rules give these after gaps are known.
                (true, false) if is_top_k || is_row => {}
                (true, false) if !is_indirect => sticks.push(*label),
                (true | false, _) => absent.push(*label),
            }
        }
        let along = |label: Label| stick.label() == Some(label) || sticks.contains(&label);
        absent.extend(self.file.hidden(self.guess, self.index).into_iter().filter(|label| !order.contains(label)));
        own.iter().chain(&sticks).chain(&absent).map(|label| self.axis(*label, along(*label), own.contains(label))).collect()
    }

    fn axis(&self, label: Label, is_stick: bool, is_own: bool) -> Result<Axis, ReadError> {
        let unit = if is_stick { self.per_stick } else { 1 };
        let gap = if self.file.ends_short(self.guess, self.index, label) { 0 } else { self.file.gap(self.index, label) };
        if gap % unit != 0 {
            let member = format!("scheduleTree_[{}].backGapCore_.{label}", self.index);
            return Err(ReadError::member(member, format!("a gap along the stick is whole sticks of {unit}, found {gap}")));
        }
        let is_shown = self.file.order(self.index)?.contains(&label) && !self.is_convolution();
        Ok(Axis {
            extent: self.file.range(self.guess, label).saturating_add(unit - 1).div_euclid(unit),
            gap: is_shown.then_some(gap / unit),
            slices: self.file.split(label).clamp(1, MAX_SLICES),
            steps: if is_own { self.steps(label)? } else { Vec::new() },
        })
    }

    /// Returns the distances from the first core's slice of the slices that differ from it along this dimension only.
    fn steps(&self, label: Label) -> Result<Vec<(i64, i64)>, ReadError> {
        let place = &self.file.places[self.index];
        let mut steps = Vec::new();
        let Some(first) = place.positions.first().filter(|_| !place.memory.is_lx()) else { return Ok(steps) };
        for ((_, slots), position) in self.file.slots().zip(&place.positions) {
            let slot = slots.get(label.name()).copied().unwrap_or_default();
            let is_alone = slots.iter().all(|(name, slot)| name == label.name() || *slot == 0);
            if slot > 0 && is_alone {
                steps.push((slot, self.file.elements(self.index, position.saturating_sub(*first))?));
            }
        }
        Ok(steps)
    }

    /// Returns the form with the sizes that gaps imply, and otherwise sizes that reproduce the positions of the slices.
    fn fitted(&self, mut form: Form, axes: &[Axis]) -> Option<Form> {
        let sizes: Vec<_> = form.terms.iter().zip(axes).map(|(term, axis)| axis.known().unwrap_or(term.size)).collect();
        let sizes = fit(axes, &sizes, self.per_stick)?;
        form.terms.iter_mut().zip(sizes).for_each(|(term, size)| term.size = size);
        Some(form)
    }

    /// Returns the form with the sizes that gaps imply, if it reproduces exactly the gaps and steps of the file.
    fn settled(&self, form: &Form, axes: &[Axis]) -> Option<Form> {
        let mut form = form.clone();
        let mut has_gaps = false;
        for (at, axis) in axes.iter().enumerate() {
            let Some(term) = form.terms.get_mut(at) else {
                has_gaps |= axis.known().is_some();
                if axis.known().is_some() {
                    return None;
                }
                continue;
            };
            let is_indirect = term.coordinate.index_name().is_some();
            match (axis.gap, axis.known()) {
                (_, Some(size)) if size >= term.extent && !is_indirect => term.size = size,
                (_, Some(_)) => return None,
                (Some(_), None) if term.size > axis.extent && !is_indirect => return None,
                (Some(_), None) => {}
                (None, None) => has_gaps |= term.size > axis.extent && !self.is_convolution(),
            }
            has_gaps |= axis.known().is_some();
        }
        let sizes: Vec<_> = form.terms.iter().map(|term| term.size).collect();
        // The gap of a restickify may be padding, which the rules find after the sizes.
        let shows_gaps = self.file.dsc.nodes[self.index].gaps.is_some();
        if has_gaps != shows_gaps && self.file.function != "ReStickifyOpHBM" {
            return None;
        }
        fits(axes, &sizes, self.per_stick).then_some(form)
    }
}
