//! The nests of loops that could be made around some ops.

use super::{Axis, SearchedOp};

/// A level of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Which axis.
    pub axis: usize,
    /// Into how many tiles.
    pub count: i64,
}

/// Loops, outermost first; none for no loop.
pub type Nest = Vec<Cut>;

/// The most counts of one axis, and the most iterations of a nest: each costs a start.
const MOST_COUNTS: usize = 12;
const MOST_ITERATIONS: i64 = 4096;

/// No loop, and all nests of one and of two levels.
#[must_use]
pub fn nests(ops: &[SearchedOp], axes: &[Axis]) -> Vec<Nest> {
    let cuts: Vec<Vec<Cut>> = axes
        .iter()
        .enumerate()
        .map(|(number, axis)| counts(ops, axis).into_iter().map(|count| Cut { axis: number, count }).collect())
        .collect();
    let mut found: Vec<Nest> = vec![Vec::new()];
    for (number, outer) in cuts.iter().enumerate().flat_map(|(number, cuts)| cuts.iter().map(move |cut| (number, *cut))) {
        found.push(vec![outer]);
        let inner = cuts.iter().enumerate().filter(|(other, _)| *other != number).flat_map(|(_, cuts)| cuts);
        let few = inner.filter(|inner| outer.count * inner.count <= MOST_ITERATIONS);
        found.extend(few.map(|inner| vec![outer, *inner]));
    }
    found
}

/// The numbers of tiles, more than one, that all ops of an axis allow: they divide, and no tile ends inside a stick. Of many those next to
/// powers of two.
fn counts(ops: &[SearchedOp], axis: &Axis) -> Vec<i64> {
    let granule = axis.dims.iter().map(|(&op, &dim)| ops[op].granules[dim]).max().unwrap_or(1);
    let is_allowed = |count: &i64| axis.size % count == 0 && (axis.size / count) % granule == 0;
    let all: Vec<i64> = (2..=axis.size.min(MOST_ITERATIONS)).filter(is_allowed).collect();
    if all.len() <= MOST_COUNTS {
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
    use crate::search::{axes, tests::pointwise};

    fn counts_of(size: i64, granule: i64) -> Vec<i64> {
        let mut op = pointwise(&[size], None);
        op.granules = vec![granule];
        let ops = [op];
        let axes = axes(&ops, 0..1);
        counts(&ops, &axes[0])
    }

    #[test]
    fn counts_divide_and_leave_whole_sticks() {
        assert_eq!(counts_of(12, 1), [2, 3, 4, 6, 12]);
        assert_eq!(counts_of(256, 64), [2, 4]);
        assert_eq!(counts_of(100, 64), []);
        assert_eq!(counts_of(7, 1), [7]);
    }

    #[test]
    fn of_many_counts_those_next_to_powers_of_two_are_tried() {
        assert_eq!(counts_of(12800, 64), [2, 4, 8, 20, 25, 50, 100, 200], "5, 10 and 40 are left out");
        assert_eq!(counts_of(720_720, 1).len(), 12);
    }

    #[test]
    fn two_levels_are_of_two_axes() {
        let ops = [pointwise(&[4, 6], None)];
        let axes = axes(&ops, 0..1);
        let found = nests(&ops, &axes);
        assert_eq!(found.len(), 1 + 2 + 3 + 2 * 2 * 3);
        assert!(found.iter().all(|nest| nest.len() < 2 || nest[0].axis != nest[1].axis));
    }
}
