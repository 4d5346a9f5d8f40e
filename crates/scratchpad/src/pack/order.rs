//! Static orders of items, which decide between items with equal candidate offsets.

use super::problem::Problem;
use std::cmp::Reverse;

/// Sort key, in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// Height times ticks.
    Area,
    /// Number of sections in which the item is live.
    Sections,
    /// First tick, in ascending order.
    Early,
    /// Number of items that are live together with it.
    Overlaps,
    /// Maximum load of its sections.
    Total,
    /// Last tick, in descending order.
    Late,
    /// Ticks.
    Width,
    /// Units.
    Size,
}

/// Sort keys of the orders: the properties of each item, and those of its neighbors.
pub(super) struct Properties {
    rows: Vec<[i64; 8]>,
}

impl Properties {
    /// `overlaps` is the number of neighbours of each item.
    pub(super) fn of(problem: &Problem, overlaps: impl Fn(usize) -> usize) -> Self {
        let loads = problem.loads();
        let row = |(index, item): (usize, &super::problem::Item)| {
            let total = loads[item.sections.clone()].iter().max().copied().unwrap_or(0);
            let size = item.height;
            let count = |count: usize| i64::try_from(count).expect("fewer than 2^63");
            let width = item.life.end - item.life.start;
            [item.area, count(item.sections.len()), -item.life.start, count(overlaps(index)), total, item.life.end, width, size]
        };
        Self { rows: problem.items.iter().enumerate().map(row).collect() }
    }

    /// Sorts the items by the first property and breaks ties by the next one; equal items keep list order.
    pub(super) fn order(&self, properties: &[Property]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        let key = |&index: &usize| {
            let mut key = [0; 3];
            for (value, property) in key.iter_mut().zip(properties) {
                *value = self.rows[index][*property as usize];
            }
            Reverse(key)
        };
        order.sort_by_cached_key(key);
        order
    }
}
