//! Largest-divisor rule for every op without a cost model: longest dimension first.

use machine::Target;
use program::{DimKind, UndividedOp, WorkSplit};
use std::cmp::Reverse;

/// Returns the split of torch-spyre's `work_distribution` (August 2026). The minima get their cores first. Every other
/// output dimension, longest first, then gets the largest divisor of its units that the remaining cores allow. The
/// cores that remain go to the reduction dimension that can use most of them (the longest of several), unless a
/// reduction dimension is split already. A contraction with an incomplete last stick stays unsplit.
///
/// # Panics
/// If the minima have another number of dimensions than the op.
#[must_use]
pub fn distribute(op: &UndividedOp, target: &Target) -> WorkSplit {
    let units = op.units();
    let mut split = op.minima.clone();
    let mut longest: Vec<usize> = find_free_dims(op, DimKind::Output).collect();
    longest.sort_by_key(|&dim| Reverse(units[dim]));
    for dim in longest {
        split = split.with_slices(dim, find_largest_divisor(units[dim], target.cores / split.num_cores()));
    }
    if op.num_split_reductions(&split) == 0 {
        let slices = |dim: usize| find_largest_divisor(units[dim], target.cores / split.num_cores());
        let reductions = find_free_dims(op, DimKind::Reduction).filter(|&dim| !op.is_padded_reduction(dim));
        if let Some(dim) = reductions.max_by_key(|&dim| (slices(dim), units[dim], Reverse(dim))) {
            split = split.with_slices(dim, slices(dim));
        }
    }
    split
}

/// Returns the dimensions of that kind that may be split and that the minima do not split.
fn find_free_dims(op: &UndividedOp, kind: DimKind) -> impl Iterator<Item = usize> + '_ {
    (0..op.dims.len())
        .filter(move |&dim| op.dims[dim].kind == kind && op.may_split(dim) && op.minima.slices()[dim] == 1)
}

/// Returns the largest divisor of `units` that is at most `most`; 1 if `most` is smaller.
pub(super) fn find_largest_divisor(units: i64, most: i64) -> i64 {
    divisors(units).take_while(|&divisor| divisor <= most).last().unwrap_or(1)
}

/// Returns the divisors of `units`, ascending.
pub(super) fn divisors(units: i64) -> impl Iterator<Item = i64> {
    let small: Vec<i64> =
        (1..).take_while(|divisor| divisor * divisor <= units).filter(|divisor| units % divisor == 0).collect();
    let large: Vec<i64> =
        small.iter().rev().map(|divisor| units / divisor).filter(|large| small.last() < Some(large)).collect();
    small.into_iter().chain(large)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{matmul, pointwise, reduction};
    use super::*;

    const SPYRE: Target = Target::spyre();

    fn distribute_slices(op: &UndividedOp) -> Vec<i64> {
        distribute(op, &SPYRE).slices().to_vec()
    }

    #[test]
    fn lists_divisors_in_ascending_order() {
        assert_eq!(divisors(36).collect::<Vec<_>>(), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
        assert_eq!(divisors(7).collect::<Vec<_>>(), [1, 7]);
        assert_eq!(divisors(1).collect::<Vec<_>>(), [1]);
        assert_eq!([find_largest_divisor(100, 32), find_largest_divisor(7, 6), find_largest_divisor(4, 0)], [25, 1, 1]);
    }

    #[test]
    fn splits_longest_output_dim_first() {
        assert_eq!(distribute_slices(&pointwise(&[128, 256])), [32, 1]);
        assert_eq!(distribute_slices(&pointwise(&[2, 3, 4, 8, 64])), [1, 1, 4, 8, 1]);
        assert_eq!(distribute_slices(&pointwise(&[100, 150])), [25, 1]);
        assert_eq!(distribute_slices(&pointwise(&[3, 5])), [3, 1]);
    }

    #[test]
    fn gives_remaining_cores_to_reduction() {
        assert_eq!(distribute_slices(&reduction(&[3, 4096], 1)), [3, 8]);
        assert_eq!(distribute_slices(&reduction(&[512, 1024], 0)), [16, 2]);
        assert_eq!(distribute_slices(&reduction(&[1, 200], 1)), [1, 1], "a masked one does not");
        let mut both = reduction(&[32, 64 * 64], 1);
        both.dims[0].kind = DimKind::Reduction;
        assert_eq!(distribute_slices(&both), [1, 32], "the longer one of two that could use all cores");
    }

    #[test]
    fn keeps_padded_contraction_unsplit() {
        assert_eq!(distribute_slices(&matmul(&[], 70, 100, 150)), [14, 1, 1]);
    }

    #[test]
    fn keeps_blocked_dims_unsplit() {
        assert_eq!(distribute_slices(&UndividedOp { blocked: vec![0], ..pointwise(&[128, 256]) }), [1, 4]);
        assert_eq!(distribute_slices(&UndividedOp { blocked: vec![0, 1], ..pointwise(&[128, 256]) }), [1, 1]);
    }

    #[test]
    fn keeps_minima_without_raising_them() {
        let minima = WorkSplit::new(vec![1, 2]).unwrap();
        assert_eq!(distribute_slices(&UndividedOp { minima, ..pointwise(&[128, 256]) }), [16, 2]);
    }
}
