//! Values by op, tiling and places of operands: memoized costs, and evaluated times.

use crate::joint::check_hit;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{collections::hash_map::Entry, fmt};

/// Values of ops in loops. Lookups allocate nothing: a search makes millions of them.
pub(crate) struct ByTiling<T> {
    values: FxHashMap<Key, T>,
}

/// Number of the op, number of places, places as bits, and dimension and count of each tiled dimension.
type Key = SmallVec<[i64; 12]>;

impl<T> Default for ByTiling<T> {
    fn default() -> Self {
        Self { values: FxHashMap::default() }
    }
}

impl<T> ByTiling<T> {
    /// Returns the value of an op in loops that tile these dimensions, given as dimension and tile count. `in_lx` marks the operands that
    /// are in LX.
    pub(crate) fn get(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Option<&T> {
        self.values.get(key(op, cuts, in_lx).as_slice())
    }

    /// Returns the memoized value; `make` computes it on the first lookup.
    pub(crate) fn get_or_compute(&mut self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool], make: impl FnOnce() -> T) -> T
    where
        T: Copy + PartialEq + fmt::Debug,
    {
        match self.values.entry(key(op, cuts, in_lx)) {
            Entry::Occupied(known) => {
                check_hit(known.get(), make);
                *known.get()
            }
            Entry::Vacant(new) => *new.insert(make()),
        }
    }

    /// Returns the value for changes, after inserting `first` if there was none.
    pub(crate) fn entry(&mut self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool], first: impl FnOnce() -> T) -> &mut T {
        self.values.entry(key(op, cuts, in_lx)).or_insert_with(first)
    }
}

fn key(op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Key {
    let mut key = Key::new();
    key.extend([op.cast_signed() as i64, in_lx.len().cast_signed() as i64]);
    for places in in_lx.chunks(63) {
        key.push(places.iter().fold(0, |bits, &is_in_lx| bits << 1 | i64::from(is_in_lx)));
    }
    key.extend(cuts.iter().flat_map(|&(dim, count)| [dim.cast_signed() as i64, count]));
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Op, tiled dimensions with their counts, and places of operands.
    type Question<'a> = (usize, &'a [(usize, i64)], &'a [bool]);

    #[test]
    fn values_differ_by_op_tiling_and_places() {
        let keys: [Question<'_>; 7] = [
            (0, &[], &[]),
            (1, &[], &[]),
            (0, &[], &[false]),
            (0, &[], &[false, false]),
            (0, &[], &[false, true]),
            (0, &[(0, 2)], &[false]),
            (0, &[(2, 0)], &[false]),
        ];
        let mut values = ByTiling::default();
        for (number, (op, cuts, in_lx)) in keys.into_iter().enumerate() {
            assert_eq!(values.get(op, cuts, in_lx), None);
            assert_eq!(*values.entry(op, cuts, in_lx, || number), number);
        }
        for (number, (op, cuts, in_lx)) in keys.into_iter().enumerate() {
            assert_eq!(*values.entry(op, cuts, in_lx, || 100), number);
        }
    }

    #[test]
    fn places_of_many_operands_differ() {
        let mut values = ByTiling::default();
        for operand in 0..200 {
            let in_lx: Vec<bool> = (0..200).map(|other| other == operand).collect();
            assert_eq!(*values.entry(0, &[], &in_lx, || operand), operand);
        }
    }
}
