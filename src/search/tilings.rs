//! Candidate loop nests around some ops.

use super::{SearchedOp, TilingAxis};
use std::{collections::BTreeMap, ops::Range};

/// One level of a candidate nest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AxisTiling {
    /// Index of the axis.
    pub axis: usize,
    /// Number of tiles.
    pub count: i64,
}

/// Loops, outermost first; empty for no loop.
pub type Tiling = Vec<AxisTiling>;

/// Maximum number of tile counts of an axis, and of iterations of a nest: every iteration has a start cost.
const MAX_TILE_COUNTS: usize = 12;
const MAX_ITERATIONS: i64 = 4096;

/// Returns the empty nest, and all nests of one and two levels that no smaller segment has: some level tiles the first
/// op, some level the last one, and each tiles several ops if there are several. For two axes of the same ops one order
/// is tried; otherwise the axis with more ops is outside.
#[must_use]
pub fn enumerate_tilings(ops: &[SearchedOp], segment: Range<usize>, axes: &[TilingAxis]) -> Vec<Tiling> {
    let useful: Vec<usize> = (0..axes.len()).filter(|&axis| axes[axis].dims.len() > 1 || segment.len() == 1).collect();
    let counts: BTreeMap<usize, Vec<i64>> =
        useful.iter().map(|&axis| (axis, find_tile_counts(ops, axes[axis].size, &axes[axis].dims))).collect();
    let reach_both_ends = |levels: &[usize]| {
        [segment.start, segment.end - 1].iter().all(|end| levels.iter().any(|&axis| axes[axis].dims.contains_key(end)))
    };
    let mut found: Vec<Tiling> = vec![Vec::new()];
    for &outer in &useful {
        if reach_both_ends(&[outer]) {
            found.extend(counts[&outer].iter().map(|&count| vec![AxisTiling { axis: outer, count }]));
        }
        for &inner in
            useful.iter().filter(|&&inner| can_nest_inside(axes, outer, inner) && reach_both_ends(&[outer, inner]))
        {
            let pairs = counts[&outer].iter().flat_map(|&one| counts[&inner].iter().map(move |&other| (one, other)));
            let few = pairs.filter(|(one, other)| one * other <= MAX_ITERATIONS);
            found.extend(few.map(|(one, other)| {
                vec![AxisTiling { axis: outer, count: one }, AxisTiling { axis: inner, count: other }]
            }));
        }
    }
    found
}

fn can_nest_inside(axes: &[TilingAxis], outer: usize, inner: usize) -> bool {
    let has_all_of = |one: usize, other: usize| axes[other].dims.keys().all(|op| axes[one].dims.contains_key(op));
    match (has_all_of(outer, inner), has_all_of(inner, outer)) {
        (true, true) => outer < inner,
        (has_all, is_all) => has_all || !is_all,
    }
}

/// Returns the tile counts above one that all ops of an axis allow: they divide the size, and no tile ends inside a
/// stick. If there are too many, those next to powers of two are kept.
pub(super) fn find_tile_counts(ops: &[SearchedOp], size: i64, dims: &BTreeMap<usize, usize>) -> Vec<i64> {
    let allows = |op: &SearchedOp, dim: usize, count: i64| op.tiled.sizes[dim] % (count * op.granules[dim]) == 0;
    let is_allowed = |count: &i64| size % count == 0 && dims.iter().all(|(&op, &dim)| allows(&ops[op], dim, *count));
    let all: Vec<i64> = (2..=size.min(MAX_ITERATIONS)).filter(is_allowed).collect();
    if all.len() <= MAX_TILE_COUNTS {
        return all;
    }
    let nearest = |power: u32| all.iter().copied().min_by_key(|count| (count - (1 << power)).abs());
    let mut few: Vec<i64> = (1..=12).filter_map(nearest).collect();
    few.dedup();
    few
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{find_axes, tests::pointwise};

    fn tile_counts_of(size: i64, granule: i64) -> Vec<i64> {
        let mut op = pointwise(&[size], None);
        op.granules = vec![granule];
        let ops = [op];
        let axes = find_axes(&ops, 0..1);
        find_tile_counts(&ops, axes[0].size, &axes[0].dims)
    }

    #[test]
    fn puts_axis_with_more_ops_outside() {
        let axis =
            |ops: &[usize]| TilingAxis { dims: ops.iter().map(|&op| (op, 0)).collect(), ..TilingAxis::default() };
        let axes = [axis(&[0, 1]), axis(&[0]), axis(&[2]), axis(&[0, 1])];
        let allowed = |outer: usize| (0..4).filter(|&inner| can_nest_inside(&axes, outer, inner)).collect::<Vec<_>>();
        assert_eq!(
            [0, 1, 2, 3].map(allowed),
            [vec![1, 2, 3], vec![2], vec![0, 1, 3], vec![1, 2]],
            "of equal ones the first is outside"
        );
    }

    #[test]
    fn finds_counts_that_divide_and_keep_sticks() {
        assert_eq!(tile_counts_of(12, 1), [2, 3, 4, 6, 12]);
        assert_eq!(tile_counts_of(256, 64), [2, 4]);
        assert!(tile_counts_of(100, 64).is_empty());
        assert_eq!(tile_counts_of(7, 1), [7]);
    }

    #[test]
    fn tries_counts_nearest_to_powers_of_two() {
        assert_eq!(tile_counts_of(12800, 64), [2, 4, 5, 8, 10, 20, 25, 40, 50, 100, 200], "few enough");
        let few = tile_counts_of(720_720, 1);
        assert!(
            few.iter()
                .zip(1..)
                .all(|(&count, power)| 720_720 % count == 0 && (count - (1 << power)).abs() * 8 <= 1 << power),
            "{few:?}"
        );
        assert_eq!(few.len(), MAX_TILE_COUNTS);
    }

    #[test]
    fn tiles_two_axes_by_two_loops() {
        let ops = [pointwise(&[4, 6], None)];
        // One order of the two is enough.
        let axes = find_axes(&ops, 0..1);
        let found = enumerate_tilings(&ops, 0..1, &axes);
        assert_eq!(found.len(), 1 + 2 + 3 + 2 * 3);
        assert!(found.iter().all(|nest| nest.len() < 2 || nest[0].axis != nest[1].axis));
    }
}
