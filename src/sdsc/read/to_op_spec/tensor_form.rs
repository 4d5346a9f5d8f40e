//! Reconstructs the device dimensions of a tensor: their coordinates, order and sizes.

use super::OpSpecReadError;
use super::axes::{OrderAxis, are_consistent, fit_sizes};
use super::candidate::OpSpecCandidate;
use super::file::{SdscFile, is_index_tensor, is_value_tensor};
use super::indices::{index_name, take_indirect};
use crate::{
    bundle::{Coordinate, CoordinateSource, OpFamily},
    launch::geometry::DimLabel,
};

/// The dimension along a tensor's stick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StickDim {
    /// None: a stick holds one element.
    None,
    /// Each stick holds a block of this dimension.
    Blocks(DimLabel),
    /// The only stick holds all of this dimension.
    Single(DimLabel),
}

impl StickDim {
    pub(super) const fn label(self) -> Option<DimLabel> {
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
pub(super) struct DeviceTerm {
    pub(super) coordinate: Coordinate,
    /// Number of accessed positions.
    pub(super) extent: i64,
    /// Number of positions.
    pub(super) size: i64,
}

impl DeviceTerm {
    pub(super) const UNIT: Self = Self { coordinate: Coordinate::constant(0), extent: 1, size: 1 };
}

/// Device dimensions of a tensor, innermost first.
#[derive(Clone, Debug)]
pub(super) struct TensorForm {
    pub(super) stick: StickDim,
    pub(super) terms: Vec<DeviceTerm>,
}

/// Returns the device dimensions of a tensor of a file.
pub(super) fn find_form(
    file: &SdscFile<'_>,
    guess: &OpSpecCandidate,
    tensor: usize,
) -> Result<TensorForm, OpSpecReadError> {
    let stick = find_stick(file, guess, tensor)?;
    let tensor = FileTensor { file, guess, index: tensor, per_stick: file.format(tensor)?.elements_per_stick() };
    let axes = tensor.build_axes(stick)?;
    let forms = tensor.build_plain_form(stick)?.variants();
    if let Some(form) = forms.iter().filter_map(|form| tensor.match_form(form, &axes)).nth(tensor.first_form_index()) {
        return Ok(form);
    }
    // A tensor with one element per stick looks the same, except for the distances between its slices.
    let sparse = tensor.build_plain_form(StickDim::None)?;
    let sparse_axes = tensor.build_axes(StickDim::None)?;
    if let Some(form) = sparse.variants().iter().find_map(|form| tensor.match_form(form, &sparse_axes)) {
        return Ok(form);
    }
    let member = || format!("scheduleTree_[{}].startAddressCoreCorelet_", tensor.index);
    let fitted = forms.into_iter().find_map(|form| tensor.fit_form(form, &axes));
    fitted.ok_or_else(|| OpSpecReadError::member(member(), "no sizes of the tensor put its slices there"))
}

fn find_stick(file: &SdscFile<'_>, guess: &OpSpecCandidate, tensor: usize) -> Result<StickDim, OpSpecReadError> {
    let class = file.class_stick(tensor)?;
    let own = find_own_dims(file, guess, tensor)?;
    // The two dimensions of a stick of fp8 weights are the last ones of their order; the columns run along it.
    let is_column = class.len() == 2 && own.contains(&DimLabel::Out);
    let label = if is_column { Some(DimLabel::Out) } else { class.last().copied() };
    let Some(label) = label.filter(|label| guess.dims.contains(label)) else { return Ok(StickDim::None) };
    if own.contains(&label) {
        return Ok(StickDim::Blocks(label));
    }
    // A tensor that uses the stick of the op has scale -2 along it.
    Ok(if file.scale(tensor, label) == Some(-1) { StickDim::Single(label) } else { StickDim::None })
}

/// Returns the dimensions of the tensor itself, innermost first.
fn find_own_dims(
    file: &SdscFile<'_>,
    guess: &OpSpecCandidate,
    tensor: usize,
) -> Result<Vec<DimLabel>, OpSpecReadError> {
    let mut order = file.order(tensor)?;
    file.insert_hidden_dims(guess, tensor, &mut order);
    let is_scaled = file.function == "layernormscale" && tensor == 0;
    let is_own = |label: &DimLabel| {
        let scale = file.scale(tensor, *label).unwrap_or(1);
        guess.dims.contains(label) && (scale == 1 || (is_scaled && scale == -2))
    };
    order.retain(is_own);
    if is_value_tensor(&file.dsc.nodes[tensor]) {
        order.truncate(order.len().saturating_sub(guess.num_extra_value_dims));
    }
    Ok(order)
}

impl TensorForm {
    /// Returns this form and those with a unit dimension at another position, which the front end writes as 0. The
    /// rules take a 0 inside the blocks of a stick for the blocks.
    fn variants(&self) -> Vec<Self> {
        let n = self.terms.len();
        let with_unit = |place: usize| {
            let mut form = self.clone();
            form.terms.insert(place, DeviceTerm::UNIT);
            form
        };
        let is_block = |term: &DeviceTerm| matches!(&term.coordinate.term, Some(CoordinateSource::Digits(digits)) if digits.floordiv.is_some());
        let block = self.terms.iter().position(is_block);
        let mut forms = Vec::new();
        match (self.stick, block) {
            (StickDim::None, _) => forms.extend((0..=n).rev().map(with_unit)),
            (StickDim::Blocks(_), Some(block)) => {
                let moved = |place: usize| {
                    let mut form = self.clone();
                    form.terms.insert(place, self.terms[block].clone());
                    form.terms[block] = DeviceTerm::UNIT;
                    form
                };
                forms.push(self.clone());
                forms.extend((block + 1..=n).map(moved));
                forms.extend((block + 1..n).map(with_unit));
            }
            (StickDim::Blocks(_) | StickDim::Single(_), _) => forms.push(self.clone()),
        }
        forms
    }
}

/// Tensor of a file.
struct FileTensor<'a> {
    file: &'a SdscFile<'a>,
    guess: &'a OpSpecCandidate,
    index: usize,
    per_stick: i64,
}

impl FileTensor<'_> {
    /// Returns the index of the first matching form to try. The form of an index tensor affects other tensors, so it is
    /// part of the candidate.
    fn first_form_index(&self) -> usize {
        if is_index_tensor(&self.file.dsc.nodes[self.index]) { self.guess.first_index_shape } else { 0 }
    }

    fn is_convolution(&self) -> bool {
        self.file.family(self.guess.is_reduction).is_convolution()
    }

    /// Returns the tensor's own dimensions, with the sizes that the op accesses.
    fn build_plain_form(&self, stick: StickDim) -> Result<TensorForm, OpSpecReadError> {
        let (file, guess) = (self.file, self.guess);
        let mut order = find_own_dims(file, guess, self.index)?;
        let indices = file.find_index_tensors(self.index);
        let index_dims = indices.first().map_or_else(|| Ok(Vec::new()), |index| find_own_dims(file, guess, *index))?;
        let indirect = take_indirect(&mut order, &index_dims, stick.label());
        let term = |label: DimLabel| {
            let dim = guess.dim_position(label)?;
            let is_block = stick == StickDim::Blocks(label);
            let range = file.range(guess, label);
            let extent =
                if is_block { range.saturating_add(self.per_stick - 1).div_euclid(self.per_stick) } else { range };
            let coordinate = if is_block { Coordinate::floordiv(dim, self.per_stick) } else { Coordinate::dim(dim) };
            let extent = file.input_device_size(guess, self.index, label).unwrap_or(extent);
            Ok(DeviceTerm { coordinate, extent, size: extent })
        };
        let mut terms = order.into_iter().map(term).collect::<Result<Vec<_>, OpSpecReadError>>()?;
        // The file does not state the table size; the number of indices is assumed.
        let num_indices =
            index_dims.iter().fold(1_i64, |product, label| product.saturating_mul(file.range(guess, *label)));
        for index in indices.into_iter().rev() {
            terms.insert(
                indirect,
                DeviceTerm {
                    coordinate: Coordinate::indirect(index_name(index)),
                    extent: num_indices,
                    size: num_indices,
                },
            );
        }
        Ok(TensorForm { stick, terms })
    }

    /// Returns the dimensions of the tensor's order, as the rules count device dimensions: its own, an added stick, and
    /// absent ones.
    fn build_axes(&self, stick: StickDim) -> Result<Vec<OrderAxis>, OpSpecReadError> {
        let mut order = self.file.order(self.index)?;
        self.file.insert_hidden_dims(self.guess, self.index, &mut order);
        let own = find_own_dims(self.file, self.guess, self.index)?;
        let is_index = is_index_tensor(&self.file.dsc.nodes[self.index]);
        let is_indirect = self.file.is_indirect();
        let is_top_k = self.file.family(self.guess.is_reduction) == OpFamily::TopK;
        let (mut sticks, mut absent) = (Vec::new(), Vec::new());
        for (position, label) in order.iter().enumerate().filter(|(_, label)| !own.contains(label)) {
            let is_added = !self.guess.dims.contains(label);
            let is_row = position == 0 && (is_indirect || self.file.adds_row());
            match (is_added, is_index) {
                (true, true) => sticks.push(*label),
                // The rules add these after the gaps are known.
                (true, false) if is_top_k || is_row => {}
                (true, false) if !is_indirect => sticks.push(*label),
                (true | false, _) => absent.push(*label),
            }
        }
        let along = |label: DimLabel| stick.label() == Some(label) || sticks.contains(&label);
        absent.extend(self.file.hidden_dims(self.guess, self.index).into_iter().filter(|label| !order.contains(label)));
        own.iter()
            .chain(&sticks)
            .chain(&absent)
            .map(|label| self.build_axis(*label, along(*label), own.contains(label)))
            .collect()
    }

    fn build_axis(&self, label: DimLabel, is_stick: bool, is_own: bool) -> Result<OrderAxis, OpSpecReadError> {
        let unit = if is_stick { self.per_stick } else { 1 };
        let gap =
            if self.file.ends_short(self.guess, self.index, label) { 0 } else { self.file.gap(self.index, label) };
        if gap % unit != 0 {
            let member = format!("scheduleTree_[{}].backGapCore_.{label}", self.index);
            return Err(OpSpecReadError::member(
                member,
                format!("a gap along the stick is whole sticks of {unit}, found {gap}"),
            ));
        }
        let is_viewed = self.file.order(self.index)?.contains(&label) && !self.is_convolution();
        Ok(OrderAxis {
            extent: self.file.range(self.guess, label).saturating_add(unit - 1).div_euclid(unit),
            gap: is_viewed.then_some(gap / unit),
            slices: self.file.split(label).clamp(1, MAX_SLICES),
            steps: if is_own { self.slice_steps(label)? } else { Vec::new() },
        })
    }

    /// Returns the distances from the first core's slice of the slices that differ from it along this dimension only.
    fn slice_steps(&self, label: DimLabel) -> Result<Vec<(i64, i64)>, OpSpecReadError> {
        let place = &self.file.places[self.index];
        let mut steps = Vec::new();
        // In blocks of two rows, a row takes half of a stick. The device size counts sticks.
        let stick = self.file.class_stick(self.index)?;
        let rows_per_stick = if stick.len() == 2 && stick.first() == Some(&label) { 2 } else { 1 };
        let Some(first) = place.positions.first().filter(|_| !place.memory.is_lx()) else { return Ok(steps) };
        for ((_, slots), position) in self.file.core_slots().zip(&place.positions) {
            let slot = slots.get(label.name()).copied().unwrap_or_default();
            let is_alone = slots.iter().all(|(name, slot)| name == label.name() || *slot == 0);
            if slot > 0 && is_alone {
                let elements = self.file.bytes_to_elements(self.index, position.saturating_sub(*first))?;
                steps.push((slot, elements.saturating_mul(rows_per_stick)));
            }
        }
        Ok(steps)
    }

    /// Returns the form with the sizes that gaps imply, and otherwise sizes that reproduce the positions of the slices.
    fn fit_form(&self, mut form: TensorForm, axes: &[OrderAxis]) -> Option<TensorForm> {
        let sizes: Vec<_> =
            form.terms.iter().zip(axes).map(|(term, axis)| axis.known_size().unwrap_or(term.size)).collect();
        let sizes = fit_sizes(axes, &sizes, self.per_stick)?;
        form.terms.iter_mut().zip(sizes).for_each(|(term, size)| term.size = size);
        Some(form)
    }

    /// Returns the form with the sizes that gaps imply, if it reproduces exactly the gaps and steps of the file.
    fn match_form(&self, form: &TensorForm, axes: &[OrderAxis]) -> Option<TensorForm> {
        let mut form = form.clone();
        let mut has_gaps = false;
        for (at, axis) in axes.iter().enumerate() {
            let Some(term) = form.terms.get_mut(at) else {
                has_gaps |= axis.known_size().is_some();
                if axis.known_size().is_some() {
                    return None;
                }
                continue;
            };
            let is_indirect = term.coordinate.index_name().is_some();
            match (axis.gap, axis.known_size()) {
                (_, Some(size)) if size >= term.extent && !is_indirect => term.size = size,
                (_, Some(_)) => return None,
                (Some(_), None) if term.size > axis.extent && !is_indirect => return None,
                (Some(_), None) => {}
                (None, None) => has_gaps |= term.size > axis.extent && !self.is_convolution(),
            }
            has_gaps |= axis.known_size().is_some();
        }
        let sizes: Vec<_> = form.terms.iter().map(|term| term.size).collect();
        // The gap of a restickify may be padding, which the rules determine after the sizes.
        let shows_gaps = self.file.dsc.nodes[self.index].gaps.is_some();
        if has_gaps != shows_gaps && self.file.function != "ReStickifyOpHBM" {
            return None;
        }
        are_consistent(axes, &sizes, self.per_stick).then_some(form)
    }
}
