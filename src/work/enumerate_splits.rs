//! Enumeration of all splits that an op allows, for callers with their own ranking.

use super::distribute::divisors;
use super::{WorkError, check_hardware_limits, check_span, validate_hint};
use machine::Target;
use program::{UndividedOp, WorkSplit};
use std::{collections::BTreeSet, iter};

/// Maximum number of splits that [`enumerate_splits`] returns. Spyre's 32 cores never reach it: an op has at most seven
/// iteration dimensions (SDSC schema, the labels of dimensions), and the numbers up to 32 have 3,060 factorizations
/// into seven factors. It bounds the list for a target with more cores. The list begins with the splits that use most
/// cores, so dropped splits leave most cores idle.
pub const MAX_ENUMERATED_SPLITS: usize = 4_096;

/// Returns all splits of an op that the constraints allow, as [`super::divide`] may choose them. The slices divide the
/// units of dimensions that may be split, with at most one split reduction dimension. They use at most the cores of
/// `target`, and no core addresses more of a tensor than the hardware permits. The minima of `op` are kept; those of
/// [`super::reduce_span`] exclude nothing, since no split with fewer slices satisfies the span limit. An op with a hint
/// has one split.
///
/// Splits on more cores come first; among equal numbers of cores, those with more slices of the first dimension, then
/// of the second, and so on. The list has 1 to [`MAX_ENUMERATED_SPLITS`] entries.
///
/// # Errors
/// If the operation is contradictory, the hint is impossible, or nothing is allowed.
///
/// ```
/// use machine::{DeviceFormat, Family, Target};
/// use program::{DimKind, IterationDim, UndividedOp};
/// use spyre_compiler::work::enumerate_splits;
/// # use program::{DeviceOperand, WorkSplit};
/// # use program::layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates};
/// # let host = HostTensor::row_major(&[4, 128])?;
/// # let layout = DeviceLayout::row_major(&[4, 128], DeviceFormat::Sen169Fp16)?;
/// # let access = [Coordinate::from_dim(0), Coordinate::from_dim(1)];
/// # let coordinates = compute_device_coordinates(&layout, &host, &access, &[4, 128])?;
/// # let both = DeviceOperand { layout, coordinates, part_of: None, indexed: None };
/// // An elementwise op on f16 [4, 128]: 4 rows, 2 sticks.
/// let output = |size| IterationDim { size, kind: DimKind::Output };
/// let op = UndividedOp {
///     family: Family::Pointwise,
///     dims: vec![output(4), output(128)],
///     operands: vec![both.clone(), both],
///     minima: WorkSplit::single_core(2),
///     hint: None,
///     blocked: vec![],
/// };
/// let splits = enumerate_splits(&op, &Target::spyre())?;
/// let slices: Vec<&[i64]> = splits.iter().map(|split| split.slices()).collect();
/// assert_eq!(slices, [[4, 2], [4, 1], [2, 2], [2, 1], [1, 2], [1, 1]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn enumerate_splits(op: &UndividedOp, target: &Target) -> Result<Vec<WorkSplit>, WorkError> {
    op.check()?;
    if let Some(hint) = &op.hint {
        let split = validate_hint(op, hint, target)?;
        check_span(op, &split, target)?;
        return Ok(vec![split]);
    }
    check_hardware_limits(op, &op.minima, target)?;
    let slices = collect_allowed_slices(op, target.cores);
    // More slices never increase a span, so if the minima are within the limit, all splits are.
    let minima_fit = check_span(op, &op.minima, target).is_ok();
    let is_allowed = |split: &WorkSplit| {
        op.num_split_reductions(split) <= 1 && (minima_fit || check_span(op, split, target).is_ok())
    };
    let counts = collect_core_counts(&slices, target.cores);
    let splits = counts.into_iter().rev().flat_map(|cores| enumerate_splits_on_cores(&slices, cores));
    let found: Vec<WorkSplit> = splits.filter(is_allowed).take(MAX_ENUMERATED_SPLITS).collect();
    if found.is_empty() {
        check_span(op, &op.minima, target)?;
        return Err(WorkError::Reductions);
    }
    Ok(found)
}

/// Returns the admissible slice counts of every dimension, ascending.
fn collect_allowed_slices(op: &UndividedOp, cores: i64) -> Vec<Vec<i64>> {
    let of_dim = |(dim, units): (usize, i64)| {
        let least = op.minima.slices()[dim];
        let most = if op.may_split(dim) { cores } else { least };
        divisors(units).filter(|slices| (least..=most).contains(slices)).collect()
    };
    op.units().into_iter().enumerate().map(of_dim).collect()
}

/// Returns the core counts that some choice of one number per dimension uses.
fn collect_core_counts(slices: &[Vec<i64>], cores: i64) -> BTreeSet<i64> {
    let mut counts = BTreeSet::from([1]);
    for of_dim in slices {
        let more = |count: i64| of_dim.iter().map(move |slices| count * slices).take_while(|&count| count <= cores);
        counts = counts.into_iter().flat_map(more).collect();
    }
    counts
}

/// Returns every choice of one number per dimension whose product is `cores`, larger numbers of earlier dimensions
/// first.
fn enumerate_splits_on_cores(slices: &[Vec<i64>], cores: i64) -> Box<dyn Iterator<Item = WorkSplit> + '_> {
    fn enumerate_slices<'a>(
        slices: &'a [Vec<i64>],
        cores: i64,
        chosen: &[i64],
    ) -> Box<dyn Iterator<Item = Vec<i64>> + 'a> {
        let Some((of_dim, rest)) = slices.split_first() else {
            return if cores == 1 { Box::new(iter::once(chosen.to_vec())) } else { Box::new(iter::empty()) };
        };
        let chosen = chosen.to_vec();
        let fitting = of_dim.iter().rev().filter(move |&&slices| cores % slices == 0);
        Box::new(
            fitting.flat_map(move |&slices| {
                enumerate_slices(rest, cores / slices, &[chosen.as_slice(), &[slices]].concat())
            }),
        )
    }
    Box::new(enumerate_slices(slices, cores, &[]).filter_map(|slices| WorkSplit::new(slices).ok()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{any_operation, matmul, pointwise, reduction};
    use super::super::{divide, reduce_span};
    use super::*;
    use program::DimKind;
    use proptest::prelude::*;

    const SPYRE: Target = Target::spyre();

    fn list_slices(op: &UndividedOp) -> Vec<Vec<i64>> {
        enumerate_splits(op, &SPYRE).unwrap().into_iter().map(|split| split.slices().to_vec()).collect()
    }

    #[test]
    fn lists_all_splits_of_small_matmul() {
        // 2 rows, 2 sticks of columns, 4 of the contraction.
        let expected = [
            [2, 2, 4],
            [2, 2, 2],
            [2, 1, 4],
            [1, 2, 4],
            [2, 2, 1],
            [2, 1, 2],
            [1, 2, 2],
            [1, 1, 4],
            [2, 1, 1],
            [1, 2, 1],
            [1, 1, 2],
            [1, 1, 1],
        ];
        assert_eq!(list_slices(&matmul(&[], 2, 256, 128)), expected);
    }

    #[test]
    fn splits_at_most_one_reduction_dim() {
        let mut op = reduction(&[2, 256], 1);
        op.dims[0].kind = DimKind::Reduction;
        assert_eq!(list_slices(&op), [[1, 4], [2, 1], [1, 2], [1, 1]]);
    }

    #[test]
    fn keeps_unsplittable_dims_unsplit() {
        assert_eq!(list_slices(&UndividedOp { blocked: vec![0], ..pointwise(&[4, 128]) }), [[1, 2], [1, 1]]);
        assert_eq!(list_slices(&reduction(&[2, 200], 1)), [[2, 1], [1, 1]], "a masked reduction");
        assert_eq!(list_slices(&UndividedOp { blocked: vec![0, 1], ..pointwise(&[4, 128]) }), [[1, 1]]);
    }

    #[test]
    fn keeps_minima() {
        let minima = WorkSplit::new(vec![2, 1]).unwrap();
        assert_eq!(list_slices(&UndividedOp { minima, ..pointwise(&[4, 128]) }), [[4, 2], [4, 1], [2, 2], [2, 1]]);
    }

    #[test]
    fn lists_only_the_hint() {
        let hint = Some(WorkSplit::new(vec![2, 1]).unwrap());
        assert_eq!(list_slices(&UndividedOp { hint, ..pointwise(&[4, 128]) }), [[2, 1]]);
        let hint = Some(WorkSplit::new(vec![3, 1]).unwrap());
        let expected = WorkError::Uneven { dim: 0, units: 4, slices: 3 };
        assert_eq!(enumerate_splits(&UndividedOp { hint, ..pointwise(&[4, 128]) }, &SPYRE), Err(expected));
        let hint = Some(WorkSplit::new(vec![4, 1]).unwrap());
        let outside = UndividedOp { hint, ..pointwise(&[16384, 16384]) };
        assert!(matches!(enumerate_splits(&outside, &SPYRE), Err(WorkError::Span { .. })));
    }

    #[test]
    fn reports_span_if_no_split_is_allowed() {
        let op = UndividedOp { blocked: vec![0, 1], ..pointwise(&[16384, 16384]) };
        assert!(matches!(enumerate_splits(&op, &SPYRE), Err(WorkError::Span { operand: 0, .. })));
    }

    #[test]
    fn intervals_below_the_maximum_on_spyre() {
        // Every dimension can be split into any number of slices up to 32.
        let free: Vec<i64> = (1..=32).collect();
        let count: usize = (1..=32).map(|cores| enumerate_splits_on_cores(&vec![free.clone(); 7], cores).count()).sum();
        assert_eq!(count, 3_060);
        assert!(count <= MAX_ENUMERATED_SPLITS);
    }

    #[test]
    fn lists_splits_of_most_cores_on_larger_machine() {
        let target = Target { cores: 1 << 20, core_span_bytes: i64::MAX, ..SPYRE };
        let op = pointwise(&[64, 64, 64, 64, 64, 64 * 64]);
        let found = enumerate_splits(&op, &target).unwrap();
        assert_eq!(found.len(), MAX_ENUMERATED_SPLITS);
        assert_eq!((found[0].num_cores(), found[0].slices()), (1 << 20, [64, 64, 64, 4, 1, 1].as_slice()));
        assert!(
            found
                .windows(2)
                .all(|pair| (pair[0].num_cores(), pair[0].slices()) > (pair[1].num_cores(), pair[1].slices()))
        );
    }

    /// Returns every choice of divisors, each tried separately.
    fn enumerate_by_brute_force(op: &UndividedOp, target: &Target) -> Vec<WorkSplit> {
        let mut all = vec![WorkSplit::single_core(op.dims.len())];
        for (dim, units) in op.units().into_iter().enumerate() {
            let more = |split: WorkSplit| divisors(units).map(move |slices| split.with_slices(dim, slices));
            all = all.into_iter().flat_map(more).filter(|split| split.num_cores() <= target.cores).collect();
        }
        let keeps_minima =
            |split: &WorkSplit| split.slices().iter().zip(op.minima.slices()).all(|(slices, least)| slices >= least);
        all.retain(|split| {
            keeps_minima(split) && validate_hint(op, split, target).is_ok() && check_span(op, split, target).is_ok()
        });
        all.sort_by(|left, right| (right.num_cores(), right.slices()).cmp(&(left.num_cores(), left.slices())));
        all
    }

    proptest! {
        #[test]
        fn lists_equal_brute_force(op in any_operation(), cores in 1_i64..=32, has_minima in any::<bool>(), small_span in any::<bool>()) {
            let core_span_bytes = if small_span { 65_536 } else { SPYRE.core_span_bytes };
            let target = Target { cores, core_span_bytes, ..SPYRE };
            let minima = reduce_span(&op, &target);
            let op = match minima {
                Ok(minima) if has_minima => UndividedOp { minima, ..op },
                _ => op,
            };
            let expected = enumerate_by_brute_force(&op, &target);
            match enumerate_splits(&op, &target) {
                Ok(found) => prop_assert_eq!(found, expected),
                Err(_) => prop_assert!(expected.is_empty()),
            }
        }

        #[test]
        fn minima_take_nothing_away(op in any_operation(), cores in 1_i64..=32) {
            let target = Target { cores, core_span_bytes: 65_536, ..SPYRE };
            let Ok(minima) = reduce_span(&op, &target) else { return Ok(()) };
            let bound = UndividedOp { minima, ..op.clone() };
            prop_assert_eq!(enumerate_splits(&bound, &target), enumerate_splits(&op, &target));
        }

        #[test]
        fn lists_contain_the_chosen_split(op in any_operation(), cores in 1_i64..=32) {
            let target = Target { cores, ..SPYRE };
            let Ok(minima) = reduce_span(&op, &target) else { return Ok(()) };
            let op = UndividedOp { minima, ..op };
            prop_assert!(enumerate_splits(&op, &target).unwrap().contains(&divide(&op, &target).unwrap()));
        }
    }
}
