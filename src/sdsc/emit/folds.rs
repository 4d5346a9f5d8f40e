//! Coordinate folds: distribution of one dimension of the op's space over cores and over the elements of a stick
//! ("SuperDSC schema, section 6, `coordInfo`").

use crate::launch::geometry::Scale;
use machine::DeviceFormat;
use sdsc_format::model::{CoordInfo, CoordinateFolds, Fold, FoldFunction, Text};

/// One dimension of one tensor.
pub(super) struct DimExtent {
    /// Participation of the tensor in the dimension.
    pub(super) scale: Scale,
    /// Slices that the cores hold.
    pub(super) slices: i64,
    /// Points of one slice.
    pub(super) size: i64,
    /// Points from one slice to the next.
    pub(super) step: i64,
    /// Padding kind of the dimension.
    pub(super) padding: Text,
    /// Arrangement of the dimension's elements in sticks.
    pub(super) stick: StickArrangement,
}

/// Arrangement of a dimension's elements in sticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StickArrangement {
    /// Not the stick dimension: one element per stick.
    OutsideStick,
    /// Along the stick.
    AlongStick(DeviceFormat),
    /// The second dimension of a stick of fp8 weights, a block of two rows: pairs of pairs.
    WeightBlock,
    /// Stick of an fp8 activation, which the systolic array reads in groups of eight, in two halves.
    ActivationBlock,
}

/// Returns the folds of one dimension.
pub(super) fn build_coord_info(extent: &DimExtent) -> CoordInfo {
    let (step, elements) = compute_element_folds(extent);
    let num_elements = elements.len();
    let mut functions = vec![affine(step), affine(0), affine(0)];
    let mut folds = vec![fold(extent.slices, "core_fold"), fold(1, "corelet_fold"), fold(1, "row_fold")];
    for (position, (alpha, factor)) in elements.into_iter().enumerate() {
        functions.push(affine(alpha));
        folds.push(fold(factor, ELEMENT_FOLD_LABELS[num_elements - 1 - position]));
    }
    CoordInfo {
        spatial: 3,
        temporal: 0,
        element_folds: num_elements.try_into().expect("few folds"),
        padding: extent.padding.clone(),
        folds: CoordinateFolds { functions, folds },
    }
}

const ELEMENT_FOLD_LABELS: [&str; 4] = ["elem_arr_0", "elem_arr_1", "elem_arr_2", "elem_arr_3"];

/// Returns the step from core to core, and step and count of each fold of the elements, outermost first.
fn compute_element_folds(extent: &DimExtent) -> (i64, Vec<(i64, i64)>) {
    let size = extent.size;
    let elements = match (extent.stick, extent.scale) {
        (StickArrangement::OutsideStick, _) => vec![(1, size)],
        (StickArrangement::AlongStick(format), Scale::AbsentStick) => {
            // The stick holds one element, which stands for all of them.
            let per_stick = format.elements_per_stick();
            return (per_stick, vec![(per_stick, 1), (0, per_stick)]);
        }
        (StickArrangement::AlongStick(format), Scale::Present | Scale::Absent) => {
            let per_stick = format.elements_per_stick();
            vec![(per_stick, size / per_stick), (1, per_stick)]
        }
        (StickArrangement::WeightBlock, _) => vec![(size / 8, 64), (8, 2), (1, 1)],
        (StickArrangement::ActivationBlock, _) => vec![(128, size / 128), (8, 8), (64, 2), (1, 8)],
    };
    (extent.step, elements)
}

const fn affine(alpha: i64) -> FoldFunction {
    FoldFunction::Affine { alpha, beta: 0 }
}

fn fold(factor: i64, label: &'static str) -> Fold {
    Fold { factor, label: label.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FP16: DeviceFormat = DeviceFormat::Sen169Fp16;

    fn folds(stick: StickArrangement, scale: Scale, size: i64) -> (i64, Vec<(i64, i64)>) {
        compute_element_folds(&DimExtent { scale, slices: 1, size, step: size, padding: "nopad".into(), stick })
    }

    #[test]
    fn builds_one_fold_outside_stick() {
        assert_eq!(folds(StickArrangement::OutsideStick, Scale::Present, 32), (32, vec![(1, 32)]));
    }

    #[test]
    fn builds_stick_block_folds() {
        assert_eq!(folds(StickArrangement::AlongStick(FP16), Scale::Present, 256), (256, vec![(64, 4), (1, 64)]));
        assert_eq!(folds(StickArrangement::AlongStick(FP16), Scale::Absent, 1), (1, vec![(64, 0), (1, 64)]));
    }

    #[test]
    fn repeats_element_of_sparse_stick() {
        assert_eq!(folds(StickArrangement::AlongStick(FP16), Scale::AbsentStick, 1), (64, vec![(64, 1), (0, 64)]));
    }

    #[test]
    fn numbers_fold_labels_downwards() {
        let info = build_coord_info(&DimExtent {
            scale: Scale::Present,
            slices: 2,
            size: 256,
            step: 256,
            padding: "nopad".into(),
            stick: StickArrangement::ActivationBlock,
        });
        let labels: Vec<_> = info.folds.folds.iter().map(|fold| fold.label.to_string()).collect();
        assert_eq!(labels[3..], ["elem_arr_3", "elem_arr_2", "elem_arr_1", "elem_arr_0"]);
        assert_eq!(info.element_folds, 4);
    }
}
