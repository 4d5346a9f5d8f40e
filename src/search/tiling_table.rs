//! Values by op, tiling and operand locations: memoized costs, and evaluated times.

use crate::assignment::check_memo_hit;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::{collections::hash_map::Entry, fmt};

/// Values of ops in loops. Lookups allocate nothing: a search makes millions of them.
pub(crate) struct TilingTable<T> {
    values: FxHashMap<TilingKey, T>,
}

/// Number of the op, number of operands, their locations as bits, and dimension and count of each tiled dimension.
type TilingKey = SmallVec<[i64; 12]>;

impl<T> Default for TilingTable<T> {
    fn default() -> Self {
        Self { values: FxHashMap::default() }
    }
}

impl<T> TilingTable<T> {
    /// Returns the value of an op in loops that tile these dimensions, given as dimension and tile count. `in_lx` marks
    /// the operands that are in LX.
    pub(crate) fn get(&self, op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> Option<&T> {
        self.values.get(make_tiling_key(op, cuts, in_lx).as_slice())
    }

    /// Returns the memoized value; `make` computes it on the first lookup.
    pub(crate) fn get_or_compute(
        &mut self,
        op: usize,
        cuts: &[(usize, i64)],
        in_lx: &[bool],
        make: impl FnOnce() -> T,
    ) -> T
    where
        T: Copy + PartialEq + fmt::Debug,
    {
        match self.values.entry(make_tiling_key(op, cuts, in_lx)) {
            Entry::Occupied(known) => {
                check_memo_hit(known.get(), make);
                *known.get()
            }
            Entry::Vacant(new) => *new.insert(make()),
        }
    }

    /// Returns a mutable reference to the value, after inserting `first` if there was none.
    pub(crate) fn get_mut_or_insert_with(
        &mut self,
        op: usize,
        cuts: &[(usize, i64)],
        in_lx: &[bool],
        first: impl FnOnce() -> T,
    ) -> &mut T {
        self.values.entry(make_tiling_key(op, cuts, in_lx)).or_insert_with(first)
    }
}

fn make_tiling_key(op: usize, cuts: &[(usize, i64)], in_lx: &[bool]) -> TilingKey {
    let mut key = TilingKey::new();
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

    /// Op, tiled dimensions with their counts, and operand locations.
    type TilingQuery<'a> = (usize, &'a [(usize, i64)], &'a [bool]);

    #[test]
    fn distinguishes_ops_tilings_and_residency() {
        let keys: [TilingQuery<'_>; 7] = [
            (0, &[], &[]),
            (1, &[], &[]),
            (0, &[], &[false]),
            (0, &[], &[false, false]),
            (0, &[], &[false, true]),
            (0, &[(0, 2)], &[false]),
            (0, &[(2, 0)], &[false]),
        ];
        let mut values = TilingTable::default();
        for (number, (op, cuts, in_lx)) in keys.into_iter().enumerate() {
            assert_eq!(values.get(op, cuts, in_lx), None);
            assert_eq!(*values.get_mut_or_insert_with(op, cuts, in_lx, || number), number);
        }
        for (number, (op, cuts, in_lx)) in keys.into_iter().enumerate() {
            assert_eq!(*values.get_mut_or_insert_with(op, cuts, in_lx, || 100), number);
        }
    }

    #[test]
    fn distinguishes_residency_of_many_operands() {
        let mut values = TilingTable::default();
        for operand in 0..200 {
            let in_lx: Vec<bool> = (0..200).map(|other| other == operand).collect();
            assert_eq!(*values.get_mut_or_insert_with(0, &[], &in_lx, || operand), operand);
        }
    }
}
