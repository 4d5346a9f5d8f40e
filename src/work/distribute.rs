//! Largest-divisor rule, for every op that no cost model prices: longest dimension first.

use machine::Target;
use program::{DimKind, Operation, WorkSplit};
use std::cmp::Reverse;

/// The split of torch-spyre's `work_distribution` (August 2026): the minima take their cores first; then every other output dimension,
/// longest first, gets the largest divisor of its units that the remaining cores allow; what remains goes to the one reduction dimension
/// that can use most of it (the longest of several), unless one is cut already. A contraction with a partly empty last stick is left whole.
///
/// # Panics
/// When the minima have another number of dimensions than the op.
#[must_use]
pub fn distribute(op: &Operation, target: &Target) -> WorkSplit {
    let units = op.units();
    let mut split = op.minima.clone();
    let mut longest: Vec<usize> = free_dims(op, DimKind::Output).collect();
    longest.sort_by_key(|&dim| Reverse(units[dim]));
    for dim in longest {
        split = split.with(dim, largest_divisor(units[dim], target.cores / split.cores()));
    }
    if op.n_split_reductions(&split) == 0 {
        let slices = |dim: usize| largest_divisor(units[dim], target.cores / split.cores());
        let reductions = free_dims(op, DimKind::Reduction).filter(|&dim| !op.is_padded_reduction(dim));
        if let Some(dim) = reductions.max_by_key(|&dim| (slices(dim), units[dim], Reverse(dim))) {
            split = split.with(dim, slices(dim));
        }
    }
    split
}

/// Dimensions of that kind that may be cut and that the minima leave whole.
fn free_dims(op: &Operation, kind: DimKind) -> impl Iterator<Item = usize> + '_ {
    (0..op.dims.len()).filter(move |&dim| op.dims[dim].kind == kind && op.may_split(dim) && op.minima.slices()[dim] == 1)
}

/// Returns the largest divisor of `units` that is at most `most`; 1 if `most` is smaller.
pub(super) fn largest_divisor(units: i64, most: i64) -> i64 {
    divisors(units).take_while(|&divisor| divisor <= most).last().unwrap_or(1)
}

/// The divisors of `units`, ascending.
pub(super) fn divisors(units: i64) -> impl Iterator<Item = i64> {
    let small: Vec<i64> = (1..).take_while(|divisor| divisor * divisor <= units).filter(|divisor| units % divisor == 0).collect();
    let large: Vec<i64> = small.iter().rev().map(|divisor| units / divisor).filter(|large| small.last() < Some(large)).collect();
    small.into_iter().chain(large)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{matmul, pointwise, reduction};
    use super::*;

    const SPYRE: Target = Target::spyre();

    fn slices(op: &Operation) -> Vec<i64> {
        distribute(op, &SPYRE).slices().to_vec()
    }

    #[test]
    fn divisors_ascend() {
        assert_eq!(divisors(36).collect::<Vec<_>>(), [1, 2, 3, 4, 6, 9, 12, 18, 36]);
        assert_eq!(divisors(7).collect::<Vec<_>>(), [1, 7]);
        assert_eq!(divisors(1).collect::<Vec<_>>(), [1]);
        assert_eq!([largest_divisor(100, 32), largest_divisor(7, 6), largest_divisor(4, 0)], [25, 1, 1]);
    }

    #[test]
    fn the_longest_output_dim_comes_first() {
        assert_eq!(slices(&pointwise(&[128, 256])), [32, 1]);
        assert_eq!(slices(&pointwise(&[2, 3, 4, 8, 64])), [1, 1, 4, 8, 1]);
        assert_eq!(slices(&pointwise(&[100, 150])), [25, 1]);
        assert_eq!(slices(&pointwise(&[3, 5])), [3, 1]);
    }

    #[test]
    fn a_reduction_gets_the_cores_that_remain() {
        assert_eq!(slices(&reduction(&[3, 4096], 1)), [3, 8]);
        assert_eq!(slices(&reduction(&[512, 1024], 0)), [16, 2]);
        assert_eq!(slices(&reduction(&[1, 200], 1)), [1, 1], "a masked one does not");
        let mut both = reduction(&[32, 64 * 64], 1);
        both.dims[0].kind = DimKind::Reduction;
        assert_eq!(slices(&both), [1, 32], "the longer one of two that could use all cores");
    }

    #[test]
    fn a_padded_contraction_stays_whole() {
        assert_eq!(slices(&matmul(&[], 70, 100, 150)), [14, 1, 1]);
    }

    #[test]
    fn blocked_dims_stay_whole() {
        assert_eq!(slices(&Operation { blocked: vec![0], ..pointwise(&[128, 256]) }), [1, 4]);
        assert_eq!(slices(&Operation { blocked: vec![0, 1], ..pointwise(&[128, 256]) }), [1, 1]);
    }

    #[test]
    fn minima_are_kept_and_not_raised() {
        let minima = WorkSplit::new(vec![1, 2]).unwrap();
        assert_eq!(slices(&Operation { minima, ..pointwise(&[128, 256]) }), [16, 2]);
    }
}
