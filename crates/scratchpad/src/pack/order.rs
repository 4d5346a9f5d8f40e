//! Static orders of items, which decide between items of equal bounds.

use super::problem::PackingProblem;
use std::cmp::Reverse;

/// Sort key. Orders are descending unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortProperty {
    /// Height times ticks.
    Area,
    /// Number of sections in which the item is live.
    Sections,
    /// First tick, ascending.
    Start,
    /// Number of items that are live together with the item.
    Overlaps,
    /// Maximum load of the item's sections.
    Load,
    /// Last tick.
    End,
    /// Length of the live range, in ticks.
    Width,
    /// Height in units.
    Size,
}

/// Sort keys of all items.
pub(super) struct ItemProperties {
    rows: Vec<[i64; 8]>,
}

impl ItemProperties {
    /// Computes the keys. `overlaps` returns the number of items that are live together with an item.
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

    /// Sorts the items by the first property and breaks ties by the following ones. Equal items keep list order.
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
