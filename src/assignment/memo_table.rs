//! Memoized results for equivalent keys, such as the repeated layers of a model.

use rustc_hash::FxHashMap;
use std::{collections::BTreeMap, fmt, hash::Hash};

/// Computes a memoized result again and compares both, in a build with the feature `check-memo`.
///
/// # Panics
/// In such a build, if the results differ: the key lacks something that the result depends on.
pub(crate) fn check_memo_hit<T: PartialEq + fmt::Debug>(hit: &T, again: impl FnOnce() -> T) {
    if cfg!(feature = "check-memo") {
        assert_eq!(*hit, again(), "a memoized result does not follow from its key");
    }
}

/// Returns the memoized result of a key; `make` computes it on the first lookup.
pub(crate) fn get_or_compute<K: Eq + Hash, T: Clone + PartialEq + fmt::Debug>(
    results: &mut FxHashMap<K, T>,
    key: K,
    make: impl FnOnce(&K) -> T,
) -> T {
    if let Some(hit) = results.get(&key) {
        check_memo_hit(hit, || make(&key));
        return hit.clone();
    }
    let made = make(&key);
    results.insert(key, made.clone());
    made
}

/// Memoized results, one per distinct key, numbered in the order of the first lookup.
#[derive(Clone, Debug)]
pub(crate) struct MemoTable<K, T> {
    numbers: BTreeMap<K, usize>,
    made: Vec<T>,
}

impl<K, T> Default for MemoTable<K, T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), made: Vec::new() }
    }
}

impl<K: Ord, T: PartialEq + fmt::Debug> MemoTable<K, T> {
    /// Returns the number of the result for `key`, which `make` computes on first use.
    pub(crate) fn intern(&mut self, key: K, make: impl FnOnce(&K) -> T) -> usize {
        if let Some(&number) = self.numbers.get(&key) {
            check_memo_hit(&self.made[number], || make(&key));
            return number;
        }
        let number = self.made.len();
        self.made.push(make(&key));
        self.numbers.insert(key, number);
        number
    }

    /// Returns the result of a number.
    pub(crate) fn get(&self, number: usize) -> &T {
        &self.made[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_results_of_equal_keys_once() {
        let (mut alike, mut num_made) = (MemoTable::default(), 0);
        let numbers = ["b", "a", "b", "a"].map(|key| {
            alike.intern(key, |key| {
                num_made += 1;
                key.to_uppercase()
            })
        });
        assert_eq!((numbers, num_made), ([0, 1, 0, 1], 2));
        assert_eq!([0, 1].map(|number| alike.get(number).as_str()), ["B", "A"]);
    }
}
