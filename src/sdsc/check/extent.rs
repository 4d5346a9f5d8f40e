//! How many bytes one core's part of a tensor spans.

use super::file_view::{FileView, TensorView};
use super::functions::Family;
use crate::target::STICK_BYTES;

/// The bytes from the first to the last that a core touches of a tensor, in the memory where it lives.
///
/// It is a lower bound: where the file does not say what the tensor's shape in memory is, as for the table behind an index or an
/// input that is read through windows, only the first stick counts.
pub(super) fn core_bytes(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    if file.is_indirect() || file.family.is_windowed() {
        return STICK_BYTES;
    }
    let sticks = if tensor.is_lx() { lx_sticks(file, tensor) } else { hbm_sticks(file, tensor) };
    sticks.saturating_mul(STICK_BYTES)
}

/// One dimension of a tensor, in rows beside the stick and in sticks along it.
struct Extent {
    /// What one core has.
    part: i64,
    /// What all cores have.
    whole: i64,
    /// What else the tensor has.
    gap: i64,
}

/// A core's part is a box within the tensor; its span ends with the last stick of its last row. The dimensions of a node go
/// from the one beside the stick outwards.
fn hbm_sticks(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    let (mut last, mut stride) = (0_i64, 1_i64);
    for extent in extents(file, tensor) {
        last = last.saturating_add((extent.part - 1).saturating_mul(stride));
        stride = stride.saturating_mul(extent.whole.saturating_add(extent.gap));
    }
    last.saturating_add(1)
}

/// In LX a core has a tensor of its own.
fn lx_sticks(file: &FileView<'_>, tensor: &TensorView<'_>) -> i64 {
    extents(file, tensor).fold(1_i64, |sticks, extent| sticks.saturating_mul(extent.part.saturating_add(extent.gap)))
}

fn extents<'a>(file: &'a FileView<'_>, tensor: &'a TensorView<'_>) -> impl Iterator<Item = Extent> + 'a {
    tensor.node.order.iter().filter(|label| tensor.has(label)).filter_map(|label| extent(file, tensor, label))
}

fn extent(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str) -> Option<Extent> {
    let size = file.size(label)?.max(1);
    let gap = gap(tensor, label);
    let part = (size / tensor.held_slices(label).unwrap_or(1).max(1)).max(1);
    let Some(per_stick) = tensor.stick_size(label).filter(|elements| *elements > 0) else {
        if file.family == Family::Restickify {
            // Both sticks of a restickify are padded, so the gap may be what the space has beyond the tensor.
            let whole = size.saturating_sub(gap).max(1);
            return Some(Extent { part: part.min(whole), whole, gap: 0 });
        }
        return Some(Extent { part, whole: size, gap });
    };
    let sticks = |elements: i64| elements.div_euclid(per_stick) + i64::from(elements.rem_euclid(per_stick) > 0);
    let whole = sticks(size);
    Some(Extent { part: sticks(part), whole, gap: sticks(size.saturating_add(gap)) - whole })
}

/// What a tensor has behind the part that all cores have, along a dimension.
pub(super) fn gap(tensor: &TensorView<'_>, label: &str) -> i64 {
    let by_core = tensor.node.gaps.as_ref().and_then(|gaps| gaps.get(label));
    by_core.and_then(|by_core| by_core.iter().map(|(_, gap)| gap.0).max()).unwrap_or(0).max(0)
}
