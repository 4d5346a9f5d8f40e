//! Static orders of items, which decide between items with equal candidate offsets.

use super::problem::PackingProblem;
use std::cmp::Reverse;

/// Sort key, in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortProperty {
    /// Height times ticks.
    Area,
    /// Number of sections in which the item is live.
    Sections,
    /// First tick, in ascending order.
    Start,
    /// Number of items that are live together with it.
    Overlaps,
    /// Maximum load of its sections.
    Load,
    /// Last tick, in descending order.
    End,
    /// Ticks.
    Width,
    /// Units.
    Size,
}

/// Sort keys of the orders: the properties of each item, and those of its neighbors.
pub(super) struct ItemProperties {
    rows: Vec<[i64; 8]>,
}

impl ItemProperties {
    /// `overlaps` is the number of neighbours of each item.
    pub(super) fn new(problem: &PackingProblem, overlaps: impl Fn(usize) -> usize) -> Self {
        let loads = problem.compute_loads();
        let row = |(index, item): (usize, &super::problem::PackingItem)| {
            let total = loads[item.sections.clone()].iter().max().copied().unwrap_or(0);
            let size = item.height;
            let count = |count: usize| i64::try_from(count).expect("fewer than 2^63");
            let width = item.live_range.end - item.live_range.start;
            [
                item.area,
                count(item.sections.len()),
                -item.live_range.start,
                count(overlaps(index)),
                total,
                item.live_range.end,
                width,
                size,
            ]
        };
        Self { rows: problem.items.iter().enumerate().map(row).collect() }
    }

    /// Sorts the items by the first property and breaks ties by the next one; equal items keep list order.
    pub(super) fn sort_items(&self, properties: &[SortProperty]) -> Vec<usize> {
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
