//! Compact keys for the locations of a set's live values, and a hash table that finds equal sets.

use super::prices::At;

/// Location of each live value, two bits per slot, and the cuts that still apply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key<const W: usize> {
    pub(super) at: [u64; W],
    pub(super) alive: u128,
}

impl<const W: usize> Key<W> {
    pub(super) const fn get(&self, slot: usize) -> At {
        match (self.at[slot / 32] >> (slot % 32 * 2)) & 3 {
            0 => At::Hbm,
            1 => At::Dirty,
            _ => At::Clean,
        }
    }

    pub(super) const fn set(&mut self, slot: usize, at: At) {
        let shift = slot % 32 * 2;
        self.at[slot / 32] = self.at[slot / 32] & !(3 << shift) | ((at as u64) << shift);
    }

    /// Computes a hash that is the same on every machine.
    fn hash(&self) -> usize {
        let words = self.at.iter().copied().chain([self.alive as u64, (self.alive >> 64) as u64]);
        let folded = words.fold(0_u64, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (folded ^ (folded >> 29)) as usize
    }
}

/// Positions of sets in a list, found by key: open addressing with a load of at most one half.
pub(super) struct Table {
    places: Vec<u32>,
    n_filled: usize,
}

/// Marks an empty table entry.
const FREE: u32 = u32::MAX;

impl Table {
    pub(super) fn new() -> Self {
        Self { places: vec![FREE; 64], n_filled: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.places.fill(FREE);
        self.n_filled = 0;
    }

    /// Returns the table index of the key and, if the key is present, its position.
    pub(super) fn find<const W: usize>(&self, key: &Key<W>, key_at: impl Fn(u32) -> Key<W>) -> (usize, Option<u32>) {
        let place = self.place(key, &key_at);
        let found = self.places[place];
        (place, (found != FREE).then_some(found))
    }

    /// Inserts the position of a missing key at the table index of its lookup.
    pub(super) fn fill<const W: usize>(&mut self, place: usize, position: u32, key_at: impl Fn(u32) -> Key<W>) {
        self.places[place] = position;
        self.n_filled += 1;
        if 2 * self.n_filled >= self.places.len() {
            let n_places = 4 * self.places.len();
            let old = std::mem::replace(&mut self.places, vec![FREE; n_places]);
            for position in old.into_iter().filter(|position| *position != FREE) {
                let place = self.place(&key_at(position), &key_at);
                self.places[place] = position;
            }
        }
    }

    /// Returns the table index of the key, or the free one where it belongs.
    fn place<const W: usize>(&self, key: &Key<W>, key_at: &impl Fn(u32) -> Key<W>) -> usize {
        let mask = self.places.len() - 1;
        let mut place = key.hash() & mask;
        while self.places[place] != FREE && key_at(self.places[place]) != *key {
            place = (place + 1) & mask;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_found_and_others_are_not() {
        let key = |number: usize| {
            let mut key = Key { at: [0; 2], alive: 0 };
            (0..12).filter(|bit| number >> bit & 1 == 1).for_each(|bit| key.set(5 * bit, At::Clean));
            key
        };
        let mut table = Table::new();
        let key_at = |position: u32| key(position as usize);
        for number in 0..1000 {
            let (place, known) = table.find(&key(number as usize), key_at);
            assert_eq!(known, None);
            table.fill(place, number, key_at);
        }
        assert!((0..1000).all(|number| table.find(&key(number as usize), key_at).1 == Some(number)));
        table.clear();
        assert_eq!(table.find(&key(0), key_at).1, None);
        assert_eq!((key(1).get(0), key(1).get(5)), (At::Clean, At::Hbm));
    }
}
