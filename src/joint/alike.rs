//! Memoized results for equivalent keys, such as the repeated layers of a model.

use super::memo::check_hit;
use std::{collections::BTreeMap, fmt};

/// Memoized results, one per distinct key, numbered in the order of the first lookup.
#[derive(Clone, Debug)]
pub(super) struct Alike<K, T> {
    numbers: BTreeMap<K, usize>,
    made: Vec<T>,
}

impl<K, T> Default for Alike<K, T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), made: Vec::new() }
    }
}

impl<K: Ord, T: PartialEq + fmt::Debug> Alike<K, T> {
    /// Returns the number of the result for `key`, which `make` computes on first use.
    pub(super) fn number(&mut self, key: K, make: impl FnOnce(&K) -> T) -> usize {
        if let Some(&number) = self.numbers.get(&key) {
            check_hit(&self.made[number], || make(&key));
            return number;
        }
        let number = self.made.len();
        self.made.push(make(&key));
        self.numbers.insert(key, number);
        number
    }

    /// Returns the result of a number.
    pub(super) fn made(&self, number: usize) -> &T {
        &self.made[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_equal_keys_is_made_once() {
        let (mut alike, mut n_made) = (Alike::default(), 0);
        let numbers = ["b", "a", "b", "a"].map(|key| {
            alike.number(key, |key| {
                n_made += 1;
                key.to_uppercase()
            })
        });
        assert_eq!((numbers, n_made), ([0, 1, 0, 1], 2));
        assert_eq!([0, 1].map(|number| alike.made(number).as_str()), ["B", "A"]);
    }
}
