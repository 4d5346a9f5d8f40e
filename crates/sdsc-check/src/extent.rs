//! Byte extent of one core's slice of a tensor.

use super::file_view::{FileView, TensorView};
use super::functions::FunctionFamily;
use machine::STICK_BYTES;

/// Returns the number of bytes from the first to the last byte of a tensor that a core accesses, in the memory of the
/// tensor.
///
/// The number is a lower bound: if the file does not define the tensor's shape in memory, as for an indexed table or an
/// input that is read through windows, only the first stick counts.
pub(super) fn compute_core_bytes(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    if file.is_indirect() || file.family.is_windowed() {
        return STICK_BYTES;
    }
    let sticks = if tensor.is_per_core() { count_lx_sticks(file, tensor) } else { count_hbm_sticks(file, tensor) };
    sticks.saturating_mul(STICK_BYTES)
}

/// Returns the number of bytes that begin at one start address of a tensor: half of a core's, if its two corelets have
/// addresses of their own.
pub(super) fn compute_start_bytes(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    compute_core_bytes(file, tensor) / if tensor.node.start.has_corelet_values() { 2 } else { 1 }
}

/// Extent of one dimension of a tensor, in sticks along the stick dimension, in rows otherwise.
#[derive(Clone, Copy, Debug)]
pub(super) struct DimExtent<'a> {
    pub(super) label: &'a str,
    /// Size of one core's slice.
    pub(super) part: i64,
    /// Total size of the slices of all cores.
    pub(super) whole: i64,
    /// Size of the tensor beyond the slices of all cores.
    pub(super) gap: i64,
    /// Ambiguous gap of the file: it may belong to the padded iteration space and not to the tensor.
    pub(super) doubt: i64,
}

impl DimExtent<'_> {
    /// Returns the size of the tensor in memory.
    pub(super) const fn memory_size(&self) -> i64 {
        self.whole.saturating_add(self.gap)
    }

    /// Returns the possible sizes of the tensor in memory: without the ambiguous gap, with it inside the iteration
    /// space, or after the space.
    pub(super) fn possible_sizes(&self) -> impl Iterator<Item = i64> + use<> {
        let (all, doubt) = (self.memory_size(), self.doubt);
        (0..if doubt > 0 { 3 } else { 1 }).map(move |times: i64| all.saturating_add(times.saturating_mul(doubt)))
    }
}

/// Returns the product of the sizes of some dimensions.
pub(super) fn saturating_product(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |product: i64, size| product.saturating_mul(*size))
}

/// Returns the possible sizes of a tensor, the likeliest first.
pub(super) fn enumerate_tensor_sizes(extents: &[DimExtent<'_>]) -> Vec<Vec<i64>> {
    extents.iter().fold(vec![Vec::new()], |known, extent| {
        let with = |size: i64| known.iter().map(move |inner: &Vec<i64>| inner.iter().copied().chain([size]).collect());
        extent.possible_sizes().flat_map(with).collect()
    })
}

/// Returns the extent in HBM: a core's slice is a box within the tensor, so its span ends with the last stick of its
/// last row.
fn count_hbm_sticks(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    compute_span(dim_extents(file, tensor).map(|extent| (extent.part, extent.memory_size())))
}

/// Returns the extent of a core's own tensor, with the gaps between its rows.
fn count_lx_sticks(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    compute_span(dim_extents(file, tensor).map(|extent| (extent.part, lx_size(&extent))))
}

/// Returns the bytes of a core's tensor in LX, including the gap after its last row.
pub(super) fn compute_padded_lx_bytes(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    let sizes: Vec<i64> = dim_extents(file, tensor).map(|extent| lx_size(&extent)).collect();
    saturating_product(&sizes).saturating_mul(STICK_BYTES)
}

const fn lx_size(extent: &DimExtent<'_>) -> i64 {
    extent.part.saturating_add(extent.gap)
}

/// Returns the number of sticks from the first to the last one of a box, from its size and the memory size of each
/// dimension; dimensions are ordered from the one next to the stick outwards.
fn compute_span(dims: impl Iterator<Item = (i64, i64)>) -> i64 {
    let (last, _) = dims.fold((0_i64, 1_i64), |(last, stride), (part, all)| {
        (last.saturating_add((part - 1).saturating_mul(stride)), stride.saturating_mul(all))
    });
    last.saturating_add(1)
}

/// Returns the dimensions of a tensor, from the one next to the stick outwards.
pub(super) fn dim_extents<'a>(
    file: &'a FileView<'_>,
    tensor: &'a TensorView<'a>,
) -> impl Iterator<Item = DimExtent<'a>> + 'a {
    tensor
        .node
        .order
        .iter()
        .filter(|label| tensor.has_dim(label))
        .filter_map(|label| compute_dim_extent(file, tensor, label))
}

fn compute_dim_extent<'a>(file: &FileView<'_>, tensor: &TensorView<'a>, label: &'a str) -> Option<DimExtent<'a>> {
    let size = file.size(label)?.max(1);
    let gap = trailing_gap(tensor, label);
    let part = match file.core_size(label).filter(|_| file.is_uneven()) {
        Some(part) => part.max(1),
        None => (size / count_held_slices(file, tensor, label).max(1)).max(1),
    };
    let Some(per_stick) = tensor.stick_size(label).filter(|elements| *elements > 0) else {
        if may_be_padding(file, label, gap) {
            let whole = size.saturating_sub(gap).max(1);
            return Some(DimExtent { label, part: part.min(whole), whole, gap: 0, doubt: gap });
        }
        return Some(DimExtent { label, part, whole: size, gap, doubt: 0 });
    };
    let sticks = |elements: i64| elements.div_euclid(per_stick) + i64::from(elements.rem_euclid(per_stick) > 0);
    let whole = sticks(size);
    Some(DimExtent { label, part: sticks(part), whole, gap: sticks(size.saturating_add(gap)) - whole, doubt: 0 })
}

/// Returns the number of slices of a dimension that the cores hold: those of the tensor's coordinates, or those of the
/// op if the file leaves these out.
fn count_held_slices(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str) -> i64 {
    if tensor.node.coordinates.dims.is_empty() {
        file.num_slices(label).unwrap_or(1)
    } else {
        tensor.num_held_slices(label).unwrap_or(1)
    }
}

/// Returns whether a gap may be padding. A restickify pads both stick dimensions by less than a stick, so a gap next to
/// the stick may be the padding of the iteration space beyond the tensor.
fn may_be_padding(file: &FileView<'_>, label: &str, gap: i64) -> bool {
    let pads = |other: TensorView<'_>| other.stick_size(label).is_some_and(|elements| gap < elements);
    gap > 0 && file.family == FunctionFamily::Restickify && file.tensors().any(pads)
}

/// Returns the gap of a tensor along a dimension: its size after the slices of all cores. Returns the largest gap if
/// cores differ, and 0 without an entry.
pub(super) fn trailing_gap(tensor: &TensorView<'_>, label: &str) -> i64 {
    let by_core = tensor.node.gaps.as_ref().and_then(|gaps| gaps.get(label));
    by_core.and_then(|by_core| by_core.iter().map(|(_, gap)| gap.0).max()).unwrap_or(0).max(0)
}
