//! Shared implementation of first-fit and best-fit: the order of the buffers, and the gaps over a live range.

use super::{Buffer, Capacity, Placement, buffer::can_reuse_in_place, live_index::LiveIndex};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Range of bytes that is free over the whole live range of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FreeGap {
    /// First aligned address in the range.
    pub(super) start: i64,
    /// Bytes that would remain free after the buffer.
    pub(super) left: i64,
}

/// Places the buffers one by one, the most urgent first. A buffer gets the address of a dying parent if that is free.
/// Else it gets the gap that `choose` selects; the gaps are free over its whole live range, large enough, and sorted by
/// address.
pub(super) fn place_by_urgency(
    buffers: &[Buffer],
    capacity: &Capacity,
    choose: fn(&[FreeGap]) -> Option<FreeGap>,
) -> Placement {
    let mut addresses = vec![None; buffers.len()];
    let mut has_successor = vec![false; buffers.len()];
    let mut live = LiveIndex::new(buffers);
    for index in order_by_urgency(buffers) {
        if buffers[index].barred.is_some() {
            continue;
        }
        let free = |&&parent: &&usize| {
            !has_successor[parent] && can_take_parent_address(buffers, &live, &addresses, index, parent)
        };
        addresses[index] = match buffers[index].in_place_parents.iter().find(free) {
            Some(&parent) => {
                has_successor[parent] = true;
                addresses[parent]
            }
            None => {
                let gaps = find_gaps(
                    &collect_obstacles(buffers, &live, &addresses, index, None),
                    capacity,
                    buffers[index].bytes,
                );
                choose(&gaps).map(|gap| gap.start)
            }
        };
        if addresses[index].is_some() {
            live.insert(index, &buffers[index].live_range());
        }
    }
    Placement::from_addresses(buffers, capacity, addresses)
}

/// Urgency of a buffer: length of its live range divided by its number of uses, the smallest first (torch-spyre, August
/// 2026). The numbers are multiplied by 4 to be exact: having parents and being a parent each shorten the length by a
/// quarter, and a write as first use counts as half a use more. The shorter live range wins a tie.
#[derive(PartialEq, Eq)]
struct BufferUrgency {
    length: usize,
    uses: usize,
    span: usize,
    index: usize,
}

impl Ord for BufferUrgency {
    fn cmp(&self, other: &Self) -> Ordering {
        let ratios = (self.length * other.uses).cmp(&(other.length * self.uses));
        ratios.then(self.span.cmp(&other.span)).then(self.index.cmp(&other.index))
    }
}

impl PartialOrd for BufferUrgency {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl BufferUrgency {
    fn new(buffers: &[Buffer], is_parent: &[bool], index: usize) -> Self {
        let buffer = &buffers[index];
        let span = buffer.live_range().len();
        let quarters = usize::from(!buffer.in_place_parents.is_empty()) + usize::from(is_parent[index]);
        let length = (4 * span).saturating_sub(quarters);
        let uses = 4 * buffer.uses.len() + if buffer.is_read_first() { 0 } else { 2 };
        Self { length, uses, span, index }
    }
}

/// Orders the buffers by urgency, but each buffer after its parents. Buffers whose parents form a cycle come last, in
/// list order.
fn order_by_urgency(buffers: &[Buffer]) -> Vec<usize> {
    let mut children = vec![Vec::new(); buffers.len()];
    for (index, buffer) in buffers.iter().enumerate() {
        buffer.in_place_parents.iter().for_each(|&parent| children[parent].push(index));
    }
    let is_parent: Vec<bool> = children.iter().map(|children| !children.is_empty()).collect();
    let mut waits_for: Vec<usize> = buffers.iter().map(|buffer| buffer.in_place_parents.len()).collect();
    let ready = |index: usize| Reverse(BufferUrgency::new(buffers, &is_parent, index));
    let mut heap: BinaryHeap<_> = (0..buffers.len()).filter(|&index| waits_for[index] == 0).map(ready).collect();
    let mut order = Vec::with_capacity(buffers.len());
    while let Some(Reverse(next)) = heap.pop() {
        order.push(next.index);
        for &child in &children[next.index] {
            waits_for[child] -= 1;
            if waits_for[child] == 0 {
                heap.push(ready(child));
            }
        }
    }
    order.extend((0..buffers.len()).filter(|&index| waits_for[index] > 0));
    order
}

/// Returns whether `index` fits at the address of `parent` next to the placed buffers.
fn can_take_parent_address(
    buffers: &[Buffer],
    live: &LiveIndex,
    addresses: &[Option<i64>],
    index: usize,
    parent: usize,
) -> bool {
    let Some(start) = addresses[parent] else { return false };
    let end = start + buffers[parent].bytes;
    can_reuse_in_place(buffers, index, parent)
        && collect_obstacles(buffers, live, addresses, index, Some(parent))
            .iter()
            .all(|&(low, high)| high <= start || end <= low)
}

/// Returns the byte ranges of the placed buffers that are live together with `index`, by address. Omits the parent
/// `but`.
fn collect_obstacles(
    buffers: &[Buffer],
    live: &LiveIndex,
    addresses: &[Option<i64>],
    index: usize,
    but: Option<usize>,
) -> Vec<(i64, i64)> {
    let cover = |other: usize| addresses[other].map(|start| (start, start + buffers[other].bytes));
    let life = buffers[index].live_range();
    let others = live.live_during(&life).filter(|other| Some(*other) != but);
    let mut covered: Vec<(i64, i64)> = others.filter_map(cover).collect();
    covered.sort_unstable();
    covered
}

/// Returns the gaps between the obstacles that hold `bytes` at an aligned address, by address.
fn find_gaps(obstacles: &[(i64, i64)], capacity: &Capacity, bytes: i64) -> Vec<FreeGap> {
    let mut gaps = Vec::new();
    let mut bottom = 0;
    for &(low, high) in obstacles.iter().chain([&(capacity.bytes, capacity.bytes)]) {
        let start = capacity.align(bottom);
        if bottom < low && start + bytes <= low {
            gaps.push(FreeGap { start, left: low - start - bytes });
        }
        bottom = bottom.max(high);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::{buffer, child};
    use super::super::{Use, UseKind};
    use super::*;

    #[test]
    fn orders_short_live_ranges_with_many_uses_first() {
        let buffers = [buffer("long", 1, &[0, 8]), buffer("busy", 1, &[0, 2, 4, 6, 8]), buffer("short", 1, &[3, 4])];
        assert_eq!(order_by_urgency(&buffers), [2, 1, 0]);
    }

    #[test]
    fn orders_written_buffers_before_read_ones() {
        let read = Buffer {
            uses: vec![Use { time: 0, kind: UseKind::Read }, Use { time: 4, kind: UseKind::Read }],
            ..buffer("r", 1, &[])
        };
        assert_eq!(order_by_urgency(&[read, buffer("w", 1, &[0, 4])]), [1, 0]);
    }

    #[test]
    fn orders_parents_before_children() {
        let buffers =
            [buffer("plain", 10, &[0, 4]), buffer("parent", 10, &[0, 4]), child(buffer("child", 10, &[4, 5]), &[1])];
        assert_eq!(order_by_urgency(&buffers), [1, 2, 0]);
    }

    #[test]
    fn aligns_start_of_gaps() {
        let capacity = Capacity { bytes: 64, alignment: 8 };
        let found = find_gaps(&[(0, 10), (24, 30), (26, 40)], &capacity, 8);
        assert_eq!(found, [FreeGap { start: 16, left: 0 }, FreeGap { start: 40, left: 16 }]);
        assert_eq!(find_gaps(&[], &capacity, 65), []);
    }
}
