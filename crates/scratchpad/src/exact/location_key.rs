//! Compact keys of sweep states, and a hash table that finds states with equal keys.

use super::prices::Residency;

/// Location of each live value, in two bits per slot, and the cuts that still apply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct LocationKey<const W: usize> {
    pub(super) locations: [u64; W],
    pub(super) live_cuts: u128,
}

impl<const W: usize> LocationKey<W> {
    pub(super) const fn get(&self, slot: usize) -> Residency {
        match (self.locations[slot / 32] >> (slot % 32 * 2)) & 3 {
            0 => Residency::Hbm,
            1 => Residency::Dirty,
            _ => Residency::Clean,
        }
    }

    pub(super) const fn set(&mut self, slot: usize, at: Residency) {
        let shift = slot % 32 * 2;
        self.locations[slot / 32] = self.locations[slot / 32] & !(3 << shift) | ((at as u64) << shift);
    }

    /// Returns a hash that is the same on every machine.
    fn hash(&self) -> usize {
        let words = self.locations.iter().copied().chain([self.live_cuts as u64, (self.live_cuts >> 64) as u64]);
        let folded = words.fold(0_u64, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (folded ^ (folded >> 29)) as usize
    }
}

/// Positions of states in a list, by key. Hash table with open addressing and a load of at most one half.
pub(super) struct LocationKeyTable {
    slots: Vec<u32>,
    num_filled: usize,
}

/// Value of an empty table entry.
const EMPTY_SLOT: u32 = u32::MAX;

impl LocationKeyTable {
    pub(super) fn new() -> Self {
        Self { slots: vec![EMPTY_SLOT; 64], num_filled: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(EMPTY_SLOT);
        self.num_filled = 0;
    }

    /// Returns the table index of the key, and the position if the key is present.
    pub(super) fn find_position<const W: usize>(
        &self,
        key: &LocationKey<W>,
        key_at: impl Fn(u32) -> LocationKey<W>,
    ) -> (usize, Option<u32>) {
        let place = self.find_slot(key, &key_at);
        let found = self.slots[place];
        (place, (found != EMPTY_SLOT).then_some(found))
    }

    /// Inserts a position at the table index that [`Self::find_position`] returned for its key.
    pub(super) fn insert_position<const W: usize>(
        &mut self,
        place: usize,
        position: u32,
        key_at: impl Fn(u32) -> LocationKey<W>,
    ) {
        self.slots[place] = position;
        self.num_filled += 1;
        if 2 * self.num_filled >= self.slots.len() {
            let num_places = 4 * self.slots.len();
            let old = std::mem::replace(&mut self.slots, vec![EMPTY_SLOT; num_places]);
            for position in old.into_iter().filter(|position| *position != EMPTY_SLOT) {
                let place = self.find_slot(&key_at(position), &key_at);
                self.slots[place] = position;
            }
        }
    }

    /// Returns the table index of the key, or the free index where the key belongs.
    fn find_slot<const W: usize>(&self, key: &LocationKey<W>, key_at: &impl Fn(u32) -> LocationKey<W>) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = key.hash() & mask;
        while self.slots[place] != EMPTY_SLOT && key_at(self.slots[place]) != *key {
            place = (place + 1) & mask;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_equal_keys_only() {
        let key = |number: usize| {
            let mut key = LocationKey { locations: [0; 2], live_cuts: 0 };
            (0..12).filter(|bit| number >> bit & 1 == 1).for_each(|bit| key.set(5 * bit, Residency::Clean));
            key
        };
        let mut table = LocationKeyTable::new();
        let key_at = |position: u32| key(position as usize);
        for number in 0..1000 {
            let (place, known) = table.find_position(&key(number as usize), key_at);
            assert_eq!(known, None);
            table.insert_position(place, number, key_at);
        }
        assert!((0..1000).all(|number| table.find_position(&key(number as usize), key_at).1 == Some(number)));
        table.clear();
        assert_eq!(table.find_position(&key(0), key_at).1, None);
        assert_eq!((key(1).get(0), key(1).get(5)), (Residency::Clean, Residency::Hbm));
    }
}
