//! Stage `peel`: splits a dimension in two so that the first slice has useful tile and core counts.
//!
//! Loops and cores divide a dimension into equal slices, so a prime number of rows, such as 16,381, is neither tiled
//! nor divided. Split into 16,320 and 61 rows, most of the work has several counts to choose from, and the remainder is
//! small. Values pass from op to op within a slice; ops that need both slices read an assembled buffer. Compilation of
//! both variants decides whether the split saves time.

#[cfg(feature = "mlir")]
pub(crate) mod ir;

use crate::search::{TilingAxis, common_divisor};
use std::collections::BTreeMap;

/// Dimension split in two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeeledDim {
    /// Iteration dimension that is split, by the position of the op.
    pub dims: BTreeMap<usize, usize>,
    /// Size of the dimension.
    pub size: i64,
    /// Size of the first slice.
    pub first_size: i64,
}

/// Rows of a stick: a slice begins at a stick boundary, whichever dimension is in the sticks later.
const STICK_ROWS: i64 = 64;

/// Maximum number of dimensions that are tried in a program.
const MAX_PEELED_AXES: usize = 2;

/// Returns the peels to try, those along dimensions of the largest values first. A dimension qualifies if one of its
/// ops has a result of at least `least_bytes`, and if its size is no multiple of the cores and of a stick. `bytes`
/// holds the result bytes of each op.
#[must_use]
pub fn find_peel_candidates(
    axes: &[TilingAxis],
    sizes: &[Vec<i64>],
    bytes: &[i64],
    cores: i64,
    least_bytes: i64,
) -> Vec<PeeledDim> {
    let granule = cores / common_divisor(cores, STICK_ROWS) * STICK_ROWS;
    let whole = |axis: &&TilingAxis| {
        let mut found = axis.dims.iter().map(|(&op, &dim)| sizes[op][dim]);
        let size = found.next().filter(|size| found.all(|other| other == *size));
        size.filter(|size| size % granule != 0 && *size > granule)
    };
    let largest = |axis: &TilingAxis| axis.dims.keys().map(|&op| bytes[op]).max().unwrap_or(0);
    let mut uneven: Vec<(i64, &TilingAxis, i64)> = axes
        .iter()
        .filter_map(|axis| Some((largest(axis), axis, whole(&axis)?)))
        .filter(|(bytes, ..)| *bytes >= least_bytes)
        .collect();
    uneven.sort_by_key(|(bytes, _, size)| std::cmp::Reverse((*bytes, *size)));
    let places = uneven.into_iter().take(MAX_PEELED_AXES).flat_map(|(_, axis, size)| {
        let places = find_split_points(size, granule);
        places.into_iter().map(move |at| PeeledDim { dims: axis.dims.clone(), size, first_size: at })
    });
    places.collect()
}

/// Returns the split points of a size: before the smallest remainder, and where the first slice has more counts to
/// choose from.
fn find_split_points(size: i64, granule: i64) -> Vec<i64> {
    let count = size / granule;
    let step = 1 << (count.ilog2() / 2);
    let mut places = vec![count * granule, count / step * step * granule];
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_axis(dims: &[(usize, usize)]) -> TilingAxis {
        TilingAxis { dims: dims.iter().copied().collect(), ..TilingAxis::default() }
    }

    #[test]
    fn splits_prime_number_of_rows_at_cores_and_sticks() {
        let found = find_peel_candidates(
            &[make_axis(&[(0, 0), (1, 0)])],
            &[vec![16381, 2048], vec![16381, 2048]],
            &[1 << 26, 1 << 26],
            32,
            1 << 25,
        );
        assert_eq!(found.iter().map(|peel| peel.first_size).collect::<Vec<_>>(), [16320, 15872]);
    }

    #[test]
    fn skips_divisible_and_small_values() {
        let one =
            |size: i64, bytes: i64| find_peel_candidates(&[make_axis(&[(0, 0)])], &[vec![size]], &[bytes], 32, 1 << 25);
        assert!(one(16384, 1 << 26).is_empty());
        assert!(one(16381, 1 << 20).is_empty());
        assert!(one(63, 1 << 26).is_empty(), "there is no part for all cores");
    }

    #[test]
    fn skips_axes_whose_ops_see_different_sizes() {
        assert!(
            find_peel_candidates(
                &[make_axis(&[(0, 0), (1, 0)])],
                &[vec![4093], vec![8186]],
                &[1 << 26, 1 << 26],
                32,
                1 << 25
            )
            .is_empty()
        );
    }

    #[test]
    fn divides_the_first_part_by_any_number_of_cores() {
        let found = find_peel_candidates(&[make_axis(&[(0, 0)])], &[vec![4093]], &[1 << 26], 7, 1 << 25);
        assert!(
            found.iter().all(|peel| peel.first_size % 7 == 0 && peel.first_size % 64 == 0 && peel.first_size < 4093),
            "{found:?}"
        );
    }
}
