//! Static orders of items: which of two that could be placed at the same offset comes first.

use super::problem::Problem;
use std::cmp::Reverse;

/// A property to sort by, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// Height times ticks.
    Area,
    /// Sections it is live in.
    Sections,
    /// The first tick, the earliest first.
    Early,
    /// Others it is live with.
    Overlaps,
    /// The largest load of its sections.
    Total,
    /// The last tick, the latest first.
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

    /// The items by the first property, ties by the next; at the end as listed.
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
