//! Properties of an op spec that its file leaves open, as a list of possible values.

use super::OpSpecReadError;
use super::file::{SdscFile, is_value_tensor};
use crate::{bundle::OpFamily, launch::geometry::DimLabel};

/// Candidate for the open properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpSpecCandidate {
    /// Dimensions of the iteration space; the rules added the others.
    pub(super) dims: Vec<DimLabel>,
    /// Whether the op reduces.
    pub(super) is_reduction: bool,
    /// Padding of a restickify's ranges, if gaps leave it open.
    pub(super) padded: Vec<RangePadding>,
    /// Outer device dimensions of size 1 that index tensors have.
    pub(super) index_units: usize,
    /// Index of the index tensor's device shape among the shapes that fit.
    pub(super) index_form: usize,
    /// Number of trailing dimensions in a value tensor's order that it does not have, although files list them.
    pub(super) value_tail: usize,
    /// Tensors of a relayout that state an ownership.
    pub(super) owned: StatedOwnership,
}

/// Padding of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RangePadding {
    pub(super) label: DimLabel,
    /// Number of points of padding.
    pub(super) points: i64,
    /// Whether the tensor ends before the padding, so that its gap is the padding.
    pub(super) ends_short: bool,
}

/// Tensors of a relayout that state an ownership. The others are owned according to the op's division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedOwnership {
    Both,
    First,
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
        let mut guesses = Vec::new();
        for is_reduction in enumerate_reductions(file) {
            for dims in enumerate_spaces(file, file.family(is_reduction)) {
                let plain = Self {
                    dims,
                    is_reduction,
                    padded: vec![],
                    index_units: 0,
                    index_form: 0,
                    value_tail: 0,
                    owned: StatedOwnership::Both,
                };
                guesses.push(plain);
            }
        }
        let guesses = expand_candidates(&guesses, owned.iter().copied(), |guess, choice| guess.owned = choice);
        let guesses = expand_candidates(&guesses, value_tail, |guess, choice| guess.value_tail = choice);
        let guesses = expand_candidates(&guesses, index_form, |guess, choice| guess.index_form = choice);
        let guesses = expand_candidates(&guesses, index_units, |guess, choice| guess.index_units = choice);
        let gapped = find_gapped_dims(file);
        if gapped.is_empty() {
            return guesses;
        }
        // Arbitrary padding is tried for one dimension at a time, which limits the number of candidates to hundreds.
        let with_any = |any: &DimLabel| {
            gapped.iter().fold(guesses.clone(), |guesses, (label, gap)| {
                let paddings = enumerate_paddings(file, *label, *gap, label == any);
                expand_candidates(&guesses, paddings.into_iter(), |guess, choice| guess.padded.push(choice))
            })
        };
        gapped.iter().flat_map(|(any, _)| with_any(any)).collect()
    }
}

/// Returns the Cartesian product of candidates and choices; candidates with the first choice come first.
fn expand_candidates<T: Copy>(
    guesses: &[OpSpecCandidate],
    choices: impl Iterator<Item = T>,
    choose: impl Fn(&mut OpSpecCandidate, T),
) -> Vec<OpSpecCandidate> {
    let chosen = |choice: T| {
        let mut guesses = guesses.to_vec();
        for guess in &mut guesses {
            choose(guess, choice);
        }
        guesses
    };
    choices.flat_map(chosen).collect()
}

/// Returns the dimensions of a restickify that have a gap next to the stick, and the gap. The rules pad the sticks of
/// both tensors, so a stick dimension of one may end earlier in the other.
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

/// Returns the possible paddings of a range of a restickify with that gap; a dimension divided among cores has none.
fn enumerate_paddings(file: &SdscFile<'_>, label: DimLabel, gap: i64, is_any: bool) -> Vec<RangePadding> {
    let per_stick = (0..file.dsc.nodes.len())
        .filter_map(|tensor| Some(file.format(tensor).ok()?.elements_per_stick()))
        .max()
        .unwrap_or(1);
    let padded = |points: i64, ends_short: bool| RangePadding { label, points, ends_short };
    let most = if file.split(label) == 1 { per_stick.min(file.size(label)) } else { 1 };
    let mut paddings = vec![padded(gap, true), padded(0, false)];
    paddings.retain(|padded| padded.points < most);
    paddings.extend((1..most).filter(|_| is_any).map(|points| padded(points, false)));
    paddings
}

/// Returns the possible values of `is_reduction`. Most files determine it: a reduction lists its result as an input.
fn enumerate_reductions(file: &SdscFile<'_>) -> Vec<bool> {
    match file.family(true) {
        OpFamily::Matmul | OpFamily::Conv2d | OpFamily::Pool | OpFamily::TopK => vec![true, false],
        OpFamily::Depthwise | OpFamily::Reduction | OpFamily::Elementwise => vec![file.lists_result],
    }
}

/// Returns the iteration spaces that may have these labels.
fn enumerate_spaces(file: &SdscFile<'_>, family: OpFamily) -> Vec<Vec<DimLabel>> {
    let labels = &file.labels;
    match family {
        OpFamily::Matmul | OpFamily::Conv2d => vec![labels.clone()],
        OpFamily::Depthwise | OpFamily::Pool => windowed_spaces(labels),
        OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => ordinary_spaces(file),
    }
}

/// Returns the possible spaces of an op without windows. The last dimension is `out`; dimensions after it, and the
/// single row of a conversion, were added.
fn ordinary_spaces(file: &SdscFile<'_>) -> Vec<Vec<DimLabel>> {
    let labels = &file.labels;
    let num_own = labels.iter().position(|label| *label == DimLabel::Out).map_or(0, |position| position + 1);
    let own = labels[..num_own].to_vec();
    if file.adds_row() && own == [DimLabel::Mb, DimLabel::Out] && file.size(DimLabel::Mb) == 1 {
        vec![vec![DimLabel::Out], own]
    } else {
        vec![own]
    }
}

/// Returns the possible spaces of a windowed op. The rules may have added the channels, first or last, and the
/// dimensions of windows of a single point, last.
fn windowed_spaces(labels: &[DimLabel]) -> Vec<Vec<DimLabel>> {
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
        assert_eq!(windowed_spaces(&[Mb, I, J, Ki, Kj, Out]).len(), 4);
        assert_eq!(
            windowed_spaces(&[Out, I, J, Ki]),
            [vec![Out, I, J, Ki], vec![Out, I, J], vec![I, J, Ki], vec![I, J]]
        );
    }
}
