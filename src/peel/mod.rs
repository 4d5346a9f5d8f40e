//! Stage `peel`: splits a dimension in two so that the first part can be tiled and divided well.
//!
//! Loops and cores divide a dimension into equal parts: 16,381 rows, a prime number, run without tiling, and on one core where
//! nothing else can be divided. Split into 16,320 and 61 rows, most of the work has several counts to choose from, and the
//! remainder is small. Ops of each part are consecutive, so that values of a part pass from op to op; ops that need both parts
//! read an assembled buffer. The program is compiled both ways to decide whether this pays.
//!
//! | file | what |
//! |---|---|
//! | `mod.rs` | candidate dimensions, and where they are split |
//! | `ir/peel_rests.rs` | reads the program, compares the variants, keeps the better one |
//! | `ir/part_ops.rs` | splits ops in two |

#[cfg(feature = "mlir")]
pub(crate) mod ir;

use crate::search::{Axis, common_divisor};
use std::collections::BTreeMap;

/// Dimension split in two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peel {
    /// Iteration dimension that is split, by the position of the op.
    pub dims: BTreeMap<usize, usize>,
    /// Size of the dimension.
    pub size: i64,
    /// Size of the first part.
    pub at: i64,
}

/// Rows of a stick: a part begins at a stick boundary, along whatever dimension the sticks are laid out later.
const STICK: i64 = 64;

/// Maximum number of dimensions that are tried in a program.
const MOST_AXES: usize = 2;

/// Returns the peels to try, those along dimensions of the largest values first. A dimension qualifies if one of its
/// ops has a result of at least `least_bytes`, and if its size is no multiple of the cores and of a stick. `bytes`
/// holds the result bytes of each op.
#[must_use]
pub fn peels(axes: &[Axis], sizes: &[Vec<i64>], bytes: &[i64], cores: i64, least_bytes: i64) -> Vec<Peel> {
    let granule = cores / common_divisor(cores, STICK) * STICK;
    let whole = |axis: &&Axis| {
        let mut found = axis.dims.iter().map(|(&op, &dim)| sizes[op][dim]);
        let size = found.next().filter(|size| found.all(|other| other == *size));
        size.filter(|size| size % granule != 0 && *size > granule)
    };
    let largest = |axis: &Axis| axis.dims.keys().map(|&op| bytes[op]).max().unwrap_or(0);
    let mut parted: Vec<(i64, &Axis, i64)> =
        axes.iter().filter_map(|axis| Some((largest(axis), axis, whole(&axis)?))).filter(|(bytes, ..)| *bytes >= least_bytes).collect();
    parted.sort_by_key(|(bytes, _, size)| std::cmp::Reverse((*bytes, *size)));
    let places = parted.into_iter().take(MOST_AXES).flat_map(|(_, axis, size)| {
        let places = places(size, granule);
        places.into_iter().map(move |at| Peel { dims: axis.dims.clone(), size, at })
    });
    places.collect()
}

/// Returns the split points of a size: before the smallest remainder, and where the first part has more counts to choose from.
fn places(size: i64, granule: i64) -> Vec<i64> {
    let count = size / granule;
    let step = 1 << (count.ilog2() / 2);
    let mut places = vec![count * granule, count / step * step * granule];
    places.dedup();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(dims: &[(usize, usize)]) -> Axis {
        Axis { dims: dims.iter().copied().collect(), ..Axis::default() }
    }

    #[test]
    fn a_prime_number_of_rows_is_parted_where_cores_and_sticks_divide() {
        let found = peels(&[axis(&[(0, 0), (1, 0)])], &[vec![16381, 2048], vec![16381, 2048]], &[1 << 26, 1 << 26], 32, 1 << 25);
        assert_eq!(found.iter().map(|peel| peel.at).collect::<Vec<_>>(), [16320, 15872]);
    }

    #[test]
    fn what_divides_is_left_alone_and_what_fits_is_not_looked_at() {
        let one = |size: i64, bytes: i64| peels(&[axis(&[(0, 0)])], &[vec![size]], &[bytes], 32, 1 << 25);
        assert!(one(16384, 1 << 26).is_empty());
        assert!(one(16381, 1 << 20).is_empty());
        assert!(one(63, 1 << 26).is_empty(), "there is no part for all cores");
    }

    #[test]
    fn ops_that_see_other_sizes_are_not_parted() {
        assert!(peels(&[axis(&[(0, 0), (1, 0)])], &[vec![4093], vec![8186]], &[1 << 26, 1 << 26], 32, 1 << 25).is_empty());
    }

    #[test]
    fn any_number_of_cores_divides_the_first_part() {
        let found = peels(&[axis(&[(0, 0)])], &[vec![4093]], &[1 << 26], 7, 1 << 25);
        assert!(found.iter().all(|peel| peel.at % 7 == 0 && peel.at % 64 == 0 && peel.at < 4093), "{found:?}");
    }
}
