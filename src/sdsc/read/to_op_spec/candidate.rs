//! Enumerates candidates for the properties of an op spec that its SDSC file does not determine.

use super::OpSpecReadError;
use super::file::{SdscFile, is_value_tensor};
use crate::{bundle::OpFamily, launch::geometry::DimLabel};

/// Candidate: a value for each property that the file does not determine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpSpecCandidate {
    /// Dimensions of the iteration space. The emitter added the other labelled dimensions of the file.
    pub(super) dims: Vec<DimLabel>,
    /// Whether the op is a reduction.
    pub(super) is_reduction: bool,
    /// Padding of each dimension of a restickify that has a gap.
    pub(super) paddings: Vec<RangePadding>,
    /// Number of additional outer device dimensions of size 1 that index tensors have.
    pub(super) num_index_unit_dims: usize,
    /// Position of the first device shape to try for an index tensor, among the shapes that match the file.
    pub(super) first_index_shape: usize,
    /// Number of trailing dimensions that the file lists in the order of a value tensor, although the tensor does not
    /// have them. A value tensor is the source of a gather or the destination of a scatter.
    pub(super) num_extra_value_dims: usize,
    /// Tensors of a relayout whose op spec states an ownership, that is, an assignment of slices to cores.
    pub(super) stated_ownership: StatedOwnership,
}

/// Padding of the iteration range of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RangePadding {
    pub(super) label: DimLabel,
    /// Number of added points.
    pub(super) points: i64,
    /// Whether the tensor ends before the padding, so that the padding is the gap of the tensor.
    pub(super) ends_short: bool,
}

/// Tensors of a relayout whose op spec states an ownership. The core split of the op determines the ownership of the
/// other tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedOwnership {
    Both,
    /// Only the input.
    First,
    /// Only the result.
    Last,
}

impl OpSpecCandidate {
    /// Returns the position of a dimension in the iteration space.
    pub(super) fn dim_position(&self, label: DimLabel) -> Result<usize, OpSpecReadError> {
        let position = self.dims.iter().position(|known| *known == label);
        position.ok_or_else(|| {
            OpSpecReadError::member("numWkSlicesPerDim_", format!("'{label}' is no dimension of the op"))
        })
    }

    /// Returns all candidates, most likely first.
    pub(super) fn enumerate(file: &SdscFile<'_>) -> Vec<Self> {
        let (index_units, index_form) = if file.is_indirect() { (0..3, 0..4) } else { (0..1, 0..1) };
        let value_tail = if file.dsc.nodes.iter().any(is_value_tensor) { 0..3 } else { 0..1 };
        let is_relayout = file.dsc.nodes.iter().any(|node| !node.coordinates.core_to_slice.is_empty());
        let owned: &[StatedOwnership] = if is_relayout {
            &[StatedOwnership::Both, StatedOwnership::First, StatedOwnership::Last]
        } else {
            &[StatedOwnership::Both]
        };
        let mut candidates = Vec::new();
        for is_reduction in enumerate_reductions(file) {
            for dims in enumerate_spaces(file, file.family(is_reduction)) {
                let plain = Self {
                    dims,
                    is_reduction,
                    paddings: vec![],
                    num_index_unit_dims: 0,
                    first_index_shape: 0,
                    num_extra_value_dims: 0,
                    stated_ownership: StatedOwnership::Both,
                };
                candidates.push(plain);
            }
        }
        let candidates = expand_candidates(&candidates, owned.iter().copied(), |candidate, choice| {
            candidate.stated_ownership = choice
        });
        let candidates =
            expand_candidates(&candidates, value_tail, |candidate, choice| candidate.num_extra_value_dims = choice);
        let candidates =
            expand_candidates(&candidates, index_form, |candidate, choice| candidate.first_index_shape = choice);
        let candidates =
            expand_candidates(&candidates, index_units, |candidate, choice| candidate.num_index_unit_dims = choice);
        let gapped = find_gapped_dims(file);
        if gapped.is_empty() {
            return candidates;
        }
        // Arbitrary padding is tried for one dimension at a time, which limits the number of candidates to hundreds.
        let enumerate_with_free_dim = |free_dim: &DimLabel| {
            gapped.iter().fold(candidates.clone(), |candidates, (label, gap)| {
                let paddings = enumerate_paddings(file, *label, *gap, label == free_dim);
                expand_candidates(&candidates, paddings.into_iter(), |candidate, choice| {
                    candidate.paddings.push(choice)
                })
            })
        };
        gapped.iter().flat_map(|(free_dim, _)| enumerate_with_free_dim(free_dim)).collect()
    }
}

/// Returns the Cartesian product of candidates and choices; candidates with the first choice come first.
fn expand_candidates<T: Copy>(
    candidates: &[OpSpecCandidate],
    choices: impl Iterator<Item = T>,
    set_choice: impl Fn(&mut OpSpecCandidate, T),
) -> Vec<OpSpecCandidate> {
    let chosen = |choice: T| {
        let mut candidates = candidates.to_vec();
        for candidate in &mut candidates {
            set_choice(candidate, choice);
        }
        candidates
    };
    choices.flat_map(chosen).collect()
}

/// Returns up to three dimensions of a restickify, each with a gap in a tensor whose stick it does not index. The
/// emitter pads the stick dimensions of both tensors to complete sticks, so the stick dimension of one tensor may end
/// earlier in the other tensor.
fn find_gapped_dims(file: &SdscFile<'_>) -> Vec<(DimLabel, i64)> {
    let mut gapped: Vec<(DimLabel, i64)> = Vec::new();
    for tensor in (0..file.dsc.nodes.len()).filter(|_| file.function == "ReStickifyOpHBM") {
        let stick = file.class_stick(tensor).unwrap_or_default();
        for label in file.labels.iter().filter(|label| !stick.contains(label)) {
            let gap = file.gap(tensor, *label);
            if gap > 0 && !gapped.iter().any(|(known, _)| known == label) {
                gapped.push((*label, gap));
            }
        }
    }
    gapped.truncate(3);
    gapped
}

/// Returns the possible paddings of a dimension of a restickify with this gap; a dimension that is split over cores has
/// no padding.
fn enumerate_paddings(file: &SdscFile<'_>, label: DimLabel, gap: i64, allows_any_padding: bool) -> Vec<RangePadding> {
    let per_stick = (0..file.dsc.nodes.len())
        .filter_map(|tensor| Some(file.format(tensor).ok()?.elements_per_stick()))
        .max()
        .unwrap_or(1);
    let new_padding = |points: i64, ends_short: bool| RangePadding { label, points, ends_short };
    let limit = if file.split(label) == 1 { per_stick.min(file.size(label)) } else { 1 };
    let mut paddings = vec![new_padding(gap, true), new_padding(0, false)];
    paddings.retain(|padded| padded.points < limit);
    paddings.extend((1..limit).filter(|_| allows_any_padding).map(|points| new_padding(points, false)));
    paddings
}

/// Returns the possible values of `is_reduction`. Most files determine it: a reduction lists its result as an input.
fn enumerate_reductions(file: &SdscFile<'_>) -> Vec<bool> {
    match file.family(true) {
        OpFamily::Matmul | OpFamily::Conv2d | OpFamily::Pool | OpFamily::TopK => vec![true, false],
        OpFamily::Depthwise | OpFamily::Reduction | OpFamily::Elementwise => vec![file.lists_result],
    }
}

/// Returns the possible iteration spaces of an op, given the labels of its file.
fn enumerate_spaces(file: &SdscFile<'_>, family: OpFamily) -> Vec<Vec<DimLabel>> {
    let labels = &file.labels;
    match family {
        OpFamily::Matmul | OpFamily::Conv2d => vec![labels.clone()],
        OpFamily::Depthwise | OpFamily::Pool => enumerate_windowed_spaces(labels),
        OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => enumerate_ordinary_spaces(file),
    }
}

/// Returns the possible iteration spaces of an op without windows. The last dimension is `out`. The emitter added the
/// dimensions after it, and may have added the single row of a conversion.
fn enumerate_ordinary_spaces(file: &SdscFile<'_>) -> Vec<Vec<DimLabel>> {
    let labels = &file.labels;
    let num_own = labels.iter().position(|label| *label == DimLabel::Out).map_or(0, |position| position + 1);
    let own = labels[..num_own].to_vec();
    if file.adds_row() && own == [DimLabel::Mb, DimLabel::Out] && file.size(DimLabel::Mb) == 1 {
        vec![vec![DimLabel::Out], own]
    } else {
        vec![own]
    }
}

/// Returns the possible iteration spaces of a windowed op. The emitter may have added the channels, as first or last
/// dimension, and trailing window dimensions of a single point.
fn enumerate_windowed_spaces(labels: &[DimLabel]) -> Vec<Vec<DimLabel>> {
    let mut spaces = Vec::new();
    for first in 0..=usize::from(labels.first() == Some(&DimLabel::Out)) {
        let mut end = labels.len();
        while end > first {
            spaces.push(labels[first..end].to_vec());
            end -= 1;
            if !matches!(labels[end], DimLabel::Ki | DimLabel::Kj | DimLabel::Out) {
                break;
            }
        }
    }
    spaces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_added_dims_of_windowed_op_at_ends() {
        use DimLabel::{I, J, Ki, Kj, Mb, Out};
        assert_eq!(enumerate_windowed_spaces(&[Mb, I, J, Ki, Kj, Out]).len(), 4);
        assert_eq!(
            enumerate_windowed_spaces(&[Out, I, J, Ki]),
            [vec![Out, I, J, Ki], vec![Out, I, J], vec![I, J, Ki], vec![I, J]]
        );
    }
}
