//! Coordinate folds (`coordInfo`): a nest of affine functions that maps one dimension of an iteration space to cores,
//! sticks and elements of a stick ("SuperDSC schema, section 6").

use crate::launch::geometry::Scale;
use machine::DeviceFormat;
use sdsc_format::model::{CoordInfo, CoordinateFolds, Fold, FoldFunction, Text};

/// Extent, core slices and stick arrangement of one tensor dimension.
pub(super) struct DimExtent {
    /// Indicates whether the tensor has the dimension or is reduced or broadcast along it.
    pub(super) scale: Scale,
    /// Number of slices over all cores.
    pub(super) slices: i64,
    /// Number of points in one slice.
    pub(super) size: i64,
    /// Number of points from the start of one slice to the start of the next.
    pub(super) step: i64,
    /// Padding kind of the dimension, as spelled in SDSC files.
    pub(super) padding: Text,
    /// Arrangement of the dimension's elements in sticks.
    pub(super) stick: StickArrangement,
}

/// Arrangement of a dimension's elements in sticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StickArrangement {
    /// Not a stick dimension: consecutive elements are in different sticks.
    OutsideStick,
    /// Stick dimension of a tensor with this element format.
    AlongStick(DeviceFormat),
    /// Second stick dimension of fp8 weights, whose sticks are two-dimensional: blocks of two rows.
    WeightBlock,
    /// Stick dimension of an fp8 activation. The systolic array reads a stick as two halves, in groups of eight.
    ActivationBlock,
}

/// Builds the folds of one dimension: three spatial folds (core, corelet, row), then the element folds.
pub(super) fn build_coord_info(extent: &DimExtent) -> CoordInfo {
    let (step, element_folds) = compute_element_folds(extent);
    let num_element_folds = element_folds.len();
    let mut functions = vec![build_affine_function(step), build_affine_function(0), build_affine_function(0)];
    let mut folds =
        vec![build_fold(extent.slices, "core_fold"), build_fold(1, "corelet_fold"), build_fold(1, "row_fold")];
    for (position, (alpha, factor)) in element_folds.into_iter().enumerate() {
        functions.push(build_affine_function(alpha));
        folds.push(build_fold(factor, ELEMENT_FOLD_LABELS[num_element_folds - 1 - position]));
    }
    CoordInfo {
        spatial: 3,
        temporal: 0,
        element_folds: num_element_folds.try_into().expect("few folds"),
        padding: extent.padding.clone(),
        folds: CoordinateFolds { functions, folds },
    }
}

const ELEMENT_FOLD_LABELS: [&str; 4] = ["elem_arr_0", "elem_arr_1", "elem_arr_2", "elem_arr_3"];

/// Returns the step from one core's slice to the next, and a (step, count) pair per element fold, outermost first.
fn compute_element_folds(extent: &DimExtent) -> (i64, Vec<(i64, i64)>) {
    let size = extent.size;
    let element_folds = match (extent.stick, extent.scale) {
        (StickArrangement::OutsideStick, _) => vec![(1, size)],
        (StickArrangement::AlongStick(format), Scale::AbsentStick) => {
            // Each stick holds one element; a fold with step 0 broadcasts it along the stick.
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
    (extent.step, element_folds)
}

const fn build_affine_function(alpha: i64) -> FoldFunction {
    FoldFunction::Affine { alpha, beta: 0 }
}

fn build_fold(factor: i64, label: &'static str) -> Fold {
    Fold { factor, label: label.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FP16: DeviceFormat = DeviceFormat::Sen169Fp16;

    fn compute_folds(stick: StickArrangement, scale: Scale, size: i64) -> (i64, Vec<(i64, i64)>) {
        compute_element_folds(&DimExtent { scale, slices: 1, size, step: size, padding: "nopad".into(), stick })
    }

    #[test]
    fn builds_one_fold_outside_stick() {
        assert_eq!(compute_folds(StickArrangement::OutsideStick, Scale::Present, 32), (32, vec![(1, 32)]));
    }

    #[test]
    fn builds_stick_block_folds() {
        assert_eq!(
            compute_folds(StickArrangement::AlongStick(FP16), Scale::Present, 256),
            (256, vec![(64, 4), (1, 64)])
        );
        assert_eq!(compute_folds(StickArrangement::AlongStick(FP16), Scale::Absent, 1), (1, vec![(64, 0), (1, 64)]));
    }

    #[test]
    fn repeats_element_of_sparse_stick() {
        assert_eq!(
            compute_folds(StickArrangement::AlongStick(FP16), Scale::AbsentStick, 1),
            (64, vec![(64, 1), (0, 64)])
        );
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
