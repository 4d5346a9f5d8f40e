//! Greedy planner: places each buffer at its birth, without lookahead.

use super::{Buffer, Capacity, Placement, Planner, buffer::can_reuse_in_place, live_index::LiveIndex};

/// Default planner of torch-spyre, August 2026 (`GreedyLayoutSolver`).
///
/// The planner visits buffers in program order. A newborn buffer reuses the address of a dying parent if it can.
/// Otherwise it gets address 0 if that is free, else the first aligned address above all live buffers, else the lowest
/// gap.
#[derive(Clone, Copy, Debug)]
pub struct GreedyPlanner;

impl Planner for GreedyPlanner {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        let mut births: Vec<usize> = (0..buffers.len()).filter(|&index| buffers[index].barred.is_none()).collect();
        births.sort_by_key(|&index| buffers[index].live_range().start);
        let mut addresses = vec![None; buffers.len()];
        let mut has_successor = vec![false; buffers.len()];
        let mut live = LiveIndex::new(buffers);
        for index in births {
            let buffer = &buffers[index];
            let free = |&&parent: &&usize| {
                !has_successor[parent] && addresses[parent].is_some() && can_reuse_in_place(buffers, index, parent)
            };
            addresses[index] = match buffer.in_place_parents.iter().find(free) {
                Some(&parent) => {
                    has_successor[parent] = true;
                    addresses[parent]
                }
                None => find_free_address(
                    &collect_covered_ranges(buffers, &live, &addresses, buffer.live_range().start),
                    capacity,
                    buffer.bytes,
                ),
            };
            if addresses[index].is_some() {
                live.insert(index, &buffer.live_range());
            }
        }
        Placement::from_addresses(buffers, capacity, addresses)
    }
}

/// Returns the byte ranges of the placed buffers that are live at `time`, lowest first.
fn collect_covered_ranges(
    buffers: &[Buffer],
    live: &LiveIndex,
    addresses: &[Option<i64>],
    time: usize,
) -> Vec<(i64, i64)> {
    let cover = |index: usize| addresses[index].map(|start| (start, start + buffers[index].bytes));
    let mut covered: Vec<_> = live.live_at(time).filter_map(cover).collect();
    covered.sort_unstable();
    covered
}

fn find_free_address(covered: &[(i64, i64)], capacity: &Capacity, bytes: i64) -> Option<i64> {
    let lowest = covered.first().map_or(capacity.bytes, |&(start, _)| start);
    if bytes <= lowest {
        return Some(0);
    }
    let top = capacity.align(covered.iter().map(|&(_, end)| end).max()?);
    if top + bytes <= capacity.bytes {
        return Some(top);
    }
    let gaps = covered.windows(2).map(|pair| (capacity.align(pair[0].1), pair[1].0));
    gaps.filter(|(start, end)| start + bytes <= *end).map(|(start, _)| start).next()
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::buffer;
    use super::*;

    #[test]
    fn prefers_top_to_gap() {
        let buffers =
            [buffer("a", 10, &[0, 1]), buffer("b", 10, &[0, 3]), buffer("c", 10, &[0, 1]), buffer("d", 10, &[0, 3])];
        let late = |bytes| [&buffers[..], &[buffer("e", bytes, &[2, 3])]].concat();
        let capacity = Capacity { bytes: 50, alignment: 1 };
        assert_eq!(GreedyPlanner.plan(&late(10), &capacity).addresses[4], Some(0), "address 0 is free again");
        let kept = |bytes| [&late(bytes)[..], &[buffer("f", 10, &[2, 3])]].concat();
        assert_eq!(GreedyPlanner.plan(&kept(10), &capacity).addresses[5], Some(40), "then the top");
        let tight = Capacity { bytes: 40, alignment: 1 };
        assert_eq!(GreedyPlanner.plan(&kept(10), &tight).addresses[5], Some(20), "then the gap");
    }
}
