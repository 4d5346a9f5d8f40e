//! Facts about each SDSC file for the rules on a complete bundle: addresses of the tensors, and the slice of each core.

use super::extent::{
    DimExtent, compute_core_bytes, compute_padded_lx_bytes, compute_start_bytes, dim_extents, enumerate_tensor_sizes,
    saturating_product,
};
use super::file_view::{FileView, TensorView};
use super::functions::FunctionFamily;
use super::launch::ValueBase;
use super::order_effect::ElementOrderEffect;
use super::rules::addresses::{StartAddress, collect_starts, compute_range};
use machine::STICK_BYTES;
use sdsc_format::model::{Entries, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Facts about one file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileFacts {
    pub(super) tensors: Vec<TensorFacts>,
    /// Effect of the op on the order of elements in sticks.
    pub(super) transfer: ElementOrderEffect,
    /// Names of the file's symbolic sizes.
    pub(super) sizes: BTreeSet<String>,
}

/// Facts about one tensor of a file.
#[derive(Clone, Debug)]
pub(super) struct TensorFacts {
    /// JSON pointer to the start addresses.
    pub(super) path: String,
    pub(super) is_result: bool,
    /// Whether the tensor has several elements along its sticks, so that their order matters.
    pub(super) fills_sticks: bool,
    /// Whether the op accesses every byte of the range of the tensor, in each iteration.
    pub(super) fills_range: bool,
    /// Whether the addresses depend on the iteration of a loop.
    pub(super) is_moving: bool,
    /// For an index tensor, the addresses of the tensors that its elements index.
    pub(super) tables: Option<Vec<ValueBase>>,
    pub(super) place: TensorAddress,
}

/// Address range of a tensor.
#[derive(Clone, Debug)]
pub(super) enum TensorAddress {
    /// In LX.
    Lx(LxTensor),
    /// In one buffer, from the first byte of any core to the last, in all iterations.
    Hbm {
        base: ValueBase,
        first: i64,
        end: i64,
        /// Start of each core's slice, in the first and in the last iteration, sorted.
        begins: Vec<i64>,
        /// End of the tensor with its gaps, if it begins with the first byte; otherwise it may end later.
        whole: i64,
        /// Possible numbers of sticks of the tensor with its gaps, the likeliest first, and the number of its
        /// dimensions with more than one position.
        sticks: Vec<i64>,
        num_dims: usize,
        /// End of the region that the op accesses, if the file defines it: a box may be anywhere in the tensor.
        reach: Option<i64>,
    },
    /// Unknown address.
    Unknown,
}

/// Tensor in LX: the bytes from the lowest address of any core to the highest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LxTensor {
    pub(super) start: i64,
    pub(super) end: i64,
    /// The end including the gap after the last row, if the tensor begins with `start`.
    pub(super) whole: i64,
    /// Address on each core that holds a slice, or a partial sum that it passes on.
    pub(super) bases: BTreeMap<i64, i64>,
    /// Whether all cores of the op hold a slice, at the same address.
    pub(super) is_uniform: bool,
    /// The slice of each core, if the file defines it.
    pub(super) part: Option<CoreSlices>,
    /// Order of its elements: label, size and gap of the dimensions along its sticks, then of those with more than one
    /// position, innermost first.
    pub(super) order: Vec<(String, i64, i64)>,
}

impl LxTensor {
    /// Returns the tensor on one core; `None` if the op does not access the tensor there.
    pub(super) fn restrict_to_core(&self, core: i64) -> Option<Self> {
        let base = *self.bases.get(&core)?;
        let highest = self.bases.values().copied().max().unwrap_or(base);
        // Addresses of a broken file may be anywhere.
        let below = highest.saturating_sub(base);
        let (end, whole) = (self.end.saturating_sub(below), self.whole.saturating_sub(below));
        let part = self.part.as_ref().map(|part| part.restrict_to_core(core));
        Some(Self {
            start: base,
            end,
            whole,
            bases: [(core, base)].into(),
            is_uniform: true,
            part,
            order: self.order.clone(),
        })
    }
}

/// Slices of a tensor over the cores: the dimensions in memory from the innermost on; adjacent dimensions are merged
/// where possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CoreSlices {
    pub(super) format: String,
    /// Cores that hold a slice, in order.
    pub(super) cores: Vec<i64>,
    pub(super) dims: Vec<SliceDim>,
}

/// One dimension of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SliceDim {
    /// Number of positions on one core.
    pub(super) size: i64,
    pub(super) slices: i64,
    /// Slice number of each core of [`CoreSlices::cores`].
    pub(super) slots: Vec<i64>,
}

impl CoreSlices {
    /// Returns the reason why an op with the slices `self` cannot read a tensor with the slices `written`; `None` if it
    /// can.
    pub(super) fn find_mismatch(&self, written: &Self) -> Option<String> {
        if self.format != written.format {
            return Some(format!("{}, written as {}", self.format, written.format));
        }
        let shape = |part: &Self| part.dims.iter().map(|dim| (dim.size, dim.slices)).collect::<Vec<_>>();
        if shape(self) != shape(written) {
            return Some(format!(
                "parts and slices {:?} from the innermost dimension on, written as {:?}",
                shape(self),
                shape(written)
            ));
        }
        if let Some(core) = self.cores.iter().find(|core| !written.cores.contains(*core)) {
            return Some(format!("a slice on core {core}, which wrote nothing"));
        }
        let differs = |(read, written_dim): (&SliceDim, &SliceDim)| {
            let slots = self.cores.iter().zip(&read.slots);
            let known = |core: &i64| {
                written.cores.binary_search(core).ok().and_then(|position| written_dim.slots.get(position)).copied()
            };
            slots
                .map(|(core, slot)| (*core, *slot, known(core).unwrap_or_default()))
                .find(|(_, slot, known)| slot != known)
        };
        let (core, slot, known) = self.dims.iter().zip(&written.dims).find_map(differs)?;
        Some(format!("slice {slot} on core {core}, which wrote slice {known}"))
    }

    /// Returns the slices of one core.
    fn restrict_to_core(&self, core: i64) -> Self {
        let position = self.cores.binary_search(&core).ok();
        let slots =
            |dim: &SliceDim| position.and_then(|position| dim.slots.get(position)).copied().into_iter().collect();
        let dims = self.dims.iter().map(|dim| SliceDim { slots: slots(dim), ..dim.clone() }).collect();
        Self { format: self.format.clone(), cores: position.map(|_| core).into_iter().collect(), dims }
    }
}

impl FileFacts {
    /// Adds the facts of another operation of the file. The effect of both on the order of elements is not analyzed.
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.transfer = ElementOrderEffect::Unknown;
        self.tensors.extend(other.tensors);
        self.sizes.extend(other.sizes);
        self
    }

    pub(super) fn from_file(file: &FileView<'_>) -> Self {
        let starts = collect_starts(file);
        let tensors = file.tensors().map(|tensor| collect_tensor_facts(file, &tensor, &starts)).collect();
        let sizes =
            file.operation.symbol_tags.iter().flat_map(|tags| tags.iter()).map(|(_, name)| name.to_string()).collect();
        Self { tensors, transfer: ElementOrderEffect::from_file(file), sizes }
    }
}

fn collect_tensor_facts(file: &FileView<'_>, tensor: &TensorView<'_>, starts: &[StartAddress<'_>]) -> TensorFacts {
    let name = &tensor.node.name;
    let reached = |other: &TensorView<'_>| {
        other.node.indirection == "value_tensor" && other.node.related.as_deref() == Some(&**name)
    };
    let base_of =
        |number: usize| starts.iter().find(|start| start.tensor.index == number).and_then(|start| start.form.base);
    let tables =
        tensor.is_index().then(|| file.tensors().filter(reached).filter_map(|table| base_of(table.index)).collect());
    let place = if tensor.is_lx() { locate_in_lx(file, tensor) } else { locate_in_hbm(file, tensor, starts) };
    let own_starts = starts.iter().filter(|start| start.tensor.index == tensor.index);
    let is_moving = own_starts.flat_map(|start| &start.form.terms).any(|(_, stride)| *stride != 0);
    TensorFacts {
        path: file.node_member_path(tensor.index, "startAddressCoreCorelet_"),
        is_result: Some(tensor.index) == file.result_index(),
        fills_sticks: !tensor.is_index() && tensor.stick().iter().any(|label| tensor.has_dim(label)),
        fills_range: !is_moving && has_dense_range(file, tensor, &place),
        is_moving,
        tables,
        place,
    }
}

/// Returns whether the slices of the cores make up the byte range of a tensor.
fn has_dense_range(file: &FileView<'_>, tensor: &TensorView<'_>, place: &TensorAddress) -> bool {
    let sticks = |size: fn(DimExtent<'_>) -> i64| dim_extents(file, tensor).map(size).fold(1, i64::saturating_mul);
    let (sticks, bytes) = match place {
        TensorAddress::Lx(part) => (sticks(|extent| extent.part), part.end.saturating_sub(part.start)),
        TensorAddress::Hbm { first, end, .. } => (sticks(|extent| extent.whole), end.saturating_sub(*first)),
        TensorAddress::Unknown => return false,
    };
    !file.is_indirect() && !file.family.is_windowed() && sticks.saturating_mul(STICK_BYTES) == bytes
}

fn locate_in_lx(file: &FileView<'_>, tensor: &TensorView<'_>) -> TensorAddress {
    // The halves of two corelets are one tensor if they are where the layout of the core's slice has them.
    if !has_adjacent_corelets(file, tensor) {
        return TensorAddress::Unknown;
    }
    let holds = find_holders(file, tensor);
    let start = &tensor.node.start;
    let listed = &tensor.node.coordinates.core_to_slice;
    let by_core = if listed.is_empty() { &file.operation.core_to_slice } else { listed };
    let own = start.data.iter().filter(|(key, _)| listed.is_empty() && key.corelet == 0).map(|(key, _)| key.core);
    let cores: BTreeSet<i64> = by_core.iter().map(|(core, _)| *core).chain(own).collect();
    let address = |core: i64| Some((core, start.value_on_core(core)?.0));
    let bases: BTreeMap<i64, i64> = cores.into_iter().filter_map(address).collect();
    let (Some(start), Some(highest)) = (bases.values().copied().min(), bases.values().copied().max()) else {
        return TensorAddress::Unknown;
    };
    let is_uniform = start == highest && holds.iter().copied().eq(0..file.operation.n_cores);
    let bytes = compute_core_bytes(file, tensor);
    let is_open = file.is_indirect() || file.family.is_windowed();
    let whole = if is_open { bytes } else { compute_padded_lx_bytes(file, tensor).max(bytes) };
    let after = |bytes: i64| highest.saturating_add(bytes);
    let (end, whole) = (after(bytes), after(whole));
    TensorAddress::Lx(LxTensor {
        start,
        end,
        whole,
        bases,
        is_uniform,
        part: compute_core_slices(file, tensor),
        order: compute_element_order(file, tensor),
    })
}

/// Returns whether each core has one address, or the second corelet of each core has its half directly after the first
/// one, along the outermost dimension with several positions.
fn has_adjacent_corelets(file: &FileView<'_>, tensor: &TensorView<'_>) -> bool {
    let start = &tensor.node.start;
    if !start.has_corelet_values() {
        return true;
    }
    let half = compute_start_bytes(file, tensor);
    let is_adjacent = |core: i64| {
        let starts = [0, 1].map(|corelet| start.value_on_corelet(core, corelet).map(|address| address.0));
        matches!(starts, [Some(first), Some(second)] if first.checked_add(half) == Some(second))
    };
    let mut outer = dim_extents(file, tensor)
        .filter(|extent| extent.part > 1)
        .skip_while(|extent| tensor.stick_size(extent.label).is_none());
    let is_outermost = outer.next().is_some() && outer.next().is_none();
    is_outermost && start.data.iter().all(|(key, _)| is_adjacent(key.core))
}

/// Returns the cores that hold a slice of a tensor in LX: those that a shuffle lists, or the cores of the op. Cores
/// that compute partial sums pass them on to the last of them, which holds the sum.
fn find_holders(file: &FileView<'_>, tensor: &TensorView<'_>) -> BTreeSet<i64> {
    let listed = &tensor.node.coordinates.core_to_slice;
    if !listed.is_empty() {
        return listed.iter().map(|(core, _)| *core).collect();
    }
    let by_core = &file.operation.core_to_slice;
    let sums = Some(tensor.index) == file.result_index()
        && (file.family.is_reduction() || matches!(file.family, FunctionFamily::Matmul | FunctionFamily::Convolution));
    if !sums {
        return by_core.iter().map(|(core, _)| *core).collect();
    }
    let kept = |slots: &Entries<Text, i64>| -> Vec<i64> {
        file.labels()
            .filter(|label| tensor.has_dim(label))
            .map(|label| slots.get(label).copied().unwrap_or_default())
            .collect()
    };
    let mut last: BTreeMap<Vec<i64>, i64> = BTreeMap::new();
    for (core, slots) in by_core.iter() {
        let known = last.entry(kept(slots)).or_insert(*core);
        *known = (*known).max(*core);
    }
    last.into_values().collect()
}

/// Returns the order of the elements on a core; see [`LxTensor::order`].
fn compute_element_order(file: &FileView<'_>, tensor: &TensorView<'_>) -> Vec<(String, i64, i64)> {
    let sticks = file.labels().filter_map(|label| Some((label.to_owned(), tensor.stick_size(label)?, 0)));
    let larger = dim_extents(file, tensor).filter(|extent| extent.part > 1);
    sticks.chain(larger.map(|extent| (extent.label.to_owned(), extent.part, extent.gap))).collect()
}

/// Returns the slices of the cores; `None` if sizes are symbolic or missing in the file, or the op accesses only a
/// region of the tensor.
fn compute_core_slices(file: &FileView<'_>, tensor: &TensorView<'_>) -> Option<CoreSlices> {
    if file.dsc.dim_symbols.is_some() || file.is_indirect() || file.family.is_windowed() {
        return None;
    }
    let own = &tensor.node.coordinates.core_to_slice;
    let by_core = if own.is_empty() { &file.operation.core_to_slice } else { own };
    let holds = find_holders(file, tensor);
    let cores: BTreeMap<i64, _> =
        by_core.iter().map(|(core, slots)| (*core, slots)).filter(|(core, _)| holds.contains(core)).collect();
    let mut dims: Vec<SliceDim> = Vec::new();
    for extent in dim_extents(file, tensor) {
        if extent.gap != 0 || extent.doubt != 0 {
            return None;
        }
        let slots = cores.values().map(|slots| slots.get(extent.label).copied().unwrap_or_default()).collect();
        let slices = tensor.num_held_slices(extent.label)?.max(1);
        push_merged(&mut dims, SliceDim { size: extent.part, slices, slots });
    }
    Some(CoreSlices { format: tensor.info.format.to_string(), cores: cores.into_keys().collect(), dims })
}

/// Adds an outer dimension. It is merged with the adjacent one if each core has all of that one, or one position of it.
fn push_merged(dims: &mut Vec<SliceDim>, outer: SliceDim) {
    if outer.size == 1 && outer.slices == 1 {
        return;
    }
    match dims.last_mut() {
        Some(inner) if inner.slices == 1 => *inner = SliceDim { size: inner.size.saturating_mul(outer.size), ..outer },
        Some(inner) if outer.size == 1 => {
            let slots =
                inner.slots.iter().zip(&outer.slots).map(|(inside, outside)| outside * inner.slices + inside).collect();
            *inner = SliceDim { size: inner.size, slices: inner.slices.saturating_mul(outer.slices), slots };
        }
        Some(_) | None => dims.push(outer),
    }
}

fn locate_in_hbm(file: &FileView<'_>, tensor: &TensorView<'_>, starts: &[StartAddress<'_>]) -> TensorAddress {
    let bytes = compute_core_bytes(file, tensor);
    let loops = file.context.launch.map_or(&[][..], |launch| &launch.loops);
    let mut place: Option<(ValueBase, i64, i64)> = None;
    let mut begins = Vec::new();
    for start in starts.iter().filter(|start| start.tensor.index == tensor.index) {
        let (Some(base), Some((least, largest))) = (start.form.base, compute_range(&start.form, loops)) else {
            return TensorAddress::Unknown;
        };
        let end = largest.saturating_add(bytes);
        begins.extend([least, largest]);
        place = match place {
            None => Some((base, least, end)),
            Some((known, first, last)) if known == base => Some((base, first.min(least), last.max(end))),
            Some(_) => return TensorAddress::Unknown,
        };
    }
    begins.sort_unstable();
    begins.dedup();
    let own: Vec<DimExtent<'_>> = dim_extents(file, tensor).collect();
    let sticks: Vec<i64> = enumerate_tensor_sizes(&own).iter().map(|sizes| saturating_product(sizes)).collect();
    // No file defines the extent of an access through indices or windows.
    let is_open = file.family.is_windowed() || tensor.node.indirection == "value_tensor";
    let bytes = if is_open { i64::MAX } else { sticks[0].saturating_mul(STICK_BYTES) };
    let whole = |first: i64, end: i64| first.saturating_add(bytes).max(end);
    let num_dims = own.iter().filter(|extent| extent.memory_size() > 1).count();
    let is_box = own.iter().any(|extent| extent.gap != 0);
    let reach = |first: i64, end: i64| match (is_open, is_box) {
        (false, false) => Some(whole(first, end)),
        // If a file has indices, only the first stick of each core's slice is certain.
        (false, true) if !file.is_indirect() => Some(end),
        (_, true) | (true, false) => None,
    };
    let hbm = |(base, first, end): (ValueBase, i64, i64)| TensorAddress::Hbm {
        base,
        first,
        end,
        begins,
        whole: whole(first, end),
        reach: reach(first, end),
        sticks,
        num_dims,
    };
    place.map_or(TensorAddress::Unknown, hbm)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(size: i64, slots: &[i64]) -> SliceDim {
        SliceDim { size, slices: slots.iter().max().map_or(1, |slot| slot + 1), slots: slots.to_vec() }
    }

    fn merged(dims: &[SliceDim]) -> Vec<SliceDim> {
        let mut merged = Vec::new();
        dims.iter().for_each(|dim| push_merged(&mut merged, dim.clone()));
        merged
    }

    #[test]
    fn merges_equivalent_dimensions() {
        let rows = merged(&[dim(64, &[0, 1])]);
        assert_eq!(merged(&[dim(32, &[0, 0]), dim(2, &[0, 1])]), rows);
        assert_eq!(merged(&[dim(64, &[0, 0]), dim(1, &[0, 1])]), rows);
        assert_ne!(merged(&[dim(64, &[0, 1]), dim(2, &[0, 0])]), rows);
    }

    #[test]
    fn names_core_of_mismatch() {
        let cores = |slots: &[i64]| (0..).zip(slots).map(|(core, _)| core).collect();
        let part = |slots: &[i64]| CoreSlices {
            format: "SEN169_FP16".to_owned(),
            cores: cores(slots),
            dims: vec![dim(64, slots)],
        };
        assert_eq!(part(&[0, 1]).find_mismatch(&part(&[0, 1])), None);
        assert_eq!(part(&[1, 0]).find_mismatch(&part(&[0, 1])).unwrap(), "slice 1 on core 0, which wrote slice 0");
        assert!(part(&[0, 1, 2]).find_mismatch(&part(&[0, 1])).is_some());
        let half = CoreSlices { cores: vec![1], ..part(&[1]) };
        let reads = |slots: &[i64], cores: &[i64]| CoreSlices { cores: cores.to_vec(), ..part(slots) };
        let whole = CoreSlices { dims: vec![SliceDim { slices: 2, ..dim(64, &[1]) }], ..half };
        assert_eq!(
            reads(&[0], &[0]).find_mismatch(&whole).unwrap(),
            "parts and slices [(64, 1)] from the innermost dimension on, written as [(64, 2)]"
        );
        let first = CoreSlices { dims: vec![SliceDim { slices: 2, ..dim(64, &[0]) }], ..reads(&[0], &[0]) };
        assert_eq!(first.find_mismatch(&whole).unwrap(), "a slice on core 0, which wrote nothing");
    }
}
