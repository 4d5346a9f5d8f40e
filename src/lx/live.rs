//! Which placed buffers are live when, without looking at all of them.

use super::Buffer;
use std::collections::BTreeMap;
use std::ops::Range;

/// The placed buffers of a list by their lives. A question takes time for what it finds, and the logarithm of all times.
pub(super) struct Live {
    n_times: usize,
    /// A binary tree over the times, its root at 1 and time `t` at leaf `n_times + t`: a buffer stands at the few nodes that together
    /// cover its life.
    covering: Vec<Vec<usize>>,
    /// The buffers by the time of their birth.
    born: BTreeMap<usize, Vec<usize>>,
}

impl Live {
    /// None of `buffers` is placed yet.
    pub(super) fn new(buffers: &[Buffer]) -> Self {
        let n_times = buffers.iter().map(|buffer| buffer.life().end).max().unwrap_or(0);
        Self { n_times, covering: vec![Vec::new(); 2 * n_times], born: BTreeMap::new() }
    }

    /// All of `buffers` that have an address.
    pub(super) fn of(buffers: &[Buffer], addresses: &[Option<i64>]) -> Self {
        let mut live = Self::new(buffers);
        for (index, _) in addresses.iter().enumerate().filter(|(_, address)| address.is_some()) {
            live.insert(index, &buffers[index].life());
        }
        live
    }

    /// Notes that a buffer of the list is placed.
    pub(super) fn insert(&mut self, index: usize, life: &Range<usize>) {
        if life.is_empty() {
            return;
        }
        let (mut first, mut behind) = (self.n_times + life.start, self.n_times + life.end);
        while first < behind {
            if first % 2 == 1 {
                self.covering[first].push(index);
                first += 1;
            }
            if behind % 2 == 1 {
                behind -= 1;
                self.covering[behind].push(index);
            }
            (first, behind) = (first / 2, behind / 2);
        }
        self.born.entry(life.start).or_default().push(index);
    }

    /// The placed buffers that are live at a time of the list, in no particular order.
    pub(super) fn at(&self, time: usize) -> impl Iterator<Item = usize> {
        let leaf = Some(self.n_times + time).filter(|_| time < self.n_times);
        let nodes = std::iter::successors(leaf, |&node| Some(node / 2).filter(|&parent| parent > 0));
        nodes.flat_map(|node| self.covering[node].iter().copied())
    }

    /// The placed buffers that are live at some time of `life`, in no particular order.
    pub(super) fn during(&self, life: &Range<usize>) -> impl Iterator<Item = usize> + use<'_> {
        let before = Some(life.start).filter(|_| !life.is_empty()).into_iter().flat_map(|start| self.at(start));
        let later = life.start + 1..life.end.max(life.start + 1);
        before.chain(self.born.range(later).flat_map(|(_, born)| born.iter().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::buffer;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_buffer_is_found_when_it_is_live(lives in prop::collection::vec((0_usize..20, 0_usize..9), 1..20), asked in (0_usize..30, 0_usize..9)) {
            let mut buffers: Vec<Buffer> = lives.iter().map(|&(start, length)| buffer("any", 1, &[start, start + length])).collect();
            buffers.push(buffer("unused", 1, &[]));
            let live = Live::of(&buffers, &vec![Some(0); buffers.len()]);
            let asked = buffer("asked", 1, &[asked.0, asked.0 + asked.1]);
            let mut found: Vec<usize> = live.during(&asked.life()).collect();
            found.sort_unstable();
            let expected: Vec<usize> = (0..buffers.len()).filter(|&index| buffers[index].meets(&asked)).collect();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(live.during(&(0..0)).count(), 0);
        }
    }
}
