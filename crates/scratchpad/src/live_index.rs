//! Index of placed buffers by live range.

use super::Buffer;
use std::{collections::BTreeSet, ops::Range};

/// Placed buffers of a list, indexed by live range. A query takes time linear in the number of results, plus the
/// logarithm of the number of times.
pub(super) struct LiveIndex {
    /// Times at which a live range of the list begins or ends.
    times: Vec<usize>,
    /// Segment tree over the intervals between times: its root is 1, and interval `n` is leaf `times.len() + n`. A
    /// buffer is stored at the few nodes that together cover its live range. Per node: the last entry of its list.
    covering: Vec<Option<usize>>,
    /// Buffer, and the preceding entry of the same list.
    entries: Vec<(usize, Option<usize>)>,
    /// Buffers by the time of their birth.
    born: BTreeSet<(usize, usize)>,
}

impl LiveIndex {
    /// Creates the index with none of `buffers` placed.
    pub(super) fn new(buffers: &[Buffer]) -> Self {
        let live_ranges = buffers.iter().map(Buffer::live_range).filter(|life| !life.is_empty());
        let mut times: Vec<usize> = live_ranges.flat_map(|life| [life.start, life.end]).collect();
        times.sort_unstable();
        times.dedup();
        Self { covering: vec![None; 2 * times.len()], times, entries: Vec::new(), born: BTreeSet::new() }
    }

    /// Creates the index of all `buffers` that have an address.
    pub(super) fn from_addresses(buffers: &[Buffer], addresses: &[Option<i64>]) -> Self {
        let mut live = Self::new(buffers);
        for (index, _) in addresses.iter().enumerate().filter(|(_, address)| address.is_some()) {
            live.insert(index, &buffers[index].live_range());
        }
        live
    }

    /// Adds a placed buffer.
    pub(super) fn insert(&mut self, index: usize, life: &Range<usize>) {
        if life.is_empty() {
            return;
        }
        let leaf = |time: usize| self.times.len() + self.times.partition_point(|&other| other < time);
        let (mut first, mut after) = (leaf(life.start), leaf(life.end));
        while first < after {
            if first % 2 == 1 {
                self.add_to_node(first, index);
                first += 1;
            }
            if after % 2 == 1 {
                after -= 1;
                self.add_to_node(after, index);
            }
            (first, after) = (first / 2, after / 2);
        }
        self.born.insert((life.start, index));
    }

    fn add_to_node(&mut self, node: usize, index: usize) {
        self.entries.push((index, self.covering[node]));
        self.covering[node] = Some(self.entries.len() - 1);
    }

    /// Returns the placed buffers that are live at a time, in no particular order.
    pub(super) fn live_at(&self, time: usize) -> impl Iterator<Item = usize> {
        let stretch = self.times.partition_point(|&other| other <= time).checked_sub(1);
        let leaf = stretch.map(|stretch| self.times.len() + stretch);
        let nodes = std::iter::successors(leaf, |&node| Some(node / 2).filter(|&parent| parent > 0));
        let entries = |node: usize| std::iter::successors(self.covering[node], |&entry| self.entries[entry].1);
        nodes.flat_map(entries).map(|entry| self.entries[entry].0)
    }

    /// Returns the placed buffers that are live at some time of `life`, in no particular order.
    pub(super) fn live_during(&self, life: &Range<usize>) -> impl Iterator<Item = usize> + use<'_> {
        let before = Some(life.start).filter(|_| !life.is_empty()).into_iter().flat_map(|start| self.live_at(start));
        let later = (life.start + 1, 0)..(life.end.max(life.start + 1), 0);
        before.chain(self.born.range(later).map(|&(_, index)| index))
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::buffer;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_buffers_that_are_live(live_ranges in prop::collection::vec((0_usize..20, 0_usize..9), 1..20), asked in (0_usize..30, 0_usize..9)) {
            let mut buffers: Vec<Buffer> = live_ranges.iter().map(|&(start, length)| buffer("any", 1, &[start, start + length])).collect();
            buffers.push(buffer("unused", 1, &[]));
            let live = LiveIndex::from_addresses(&buffers, &vec![Some(0); buffers.len()]);
            let asked = buffer("asked", 1, &[asked.0, asked.0 + asked.1]);
            let mut found: Vec<usize> = live.live_during(&asked.live_range()).collect();
            found.sort_unstable();
            let expected: Vec<usize> = (0..buffers.len()).filter(|&index| buffers[index].overlaps(&asked)).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(live.live_during(&(0..0)).count(), 0);
        }
    }

    #[test]
    fn handles_late_times_without_extra_memory() {
        let buffers = [buffer("a", 1, &[3, usize::MAX / 2]), buffer("b", 1, &[usize::MAX / 2, usize::MAX - 1])];
        let live = LiveIndex::from_addresses(&buffers, &[Some(0), Some(1)]);
        assert_eq!(
            (live.live_at(4).count(), live.live_at(usize::MAX / 2).count(), live.live_at(usize::MAX - 1).count()),
            (1, 2, 1)
        );
    }
}
