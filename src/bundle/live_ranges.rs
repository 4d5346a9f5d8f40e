//! Live ranges of the values that a plan places in LX or in the pool.
//!
//! Ops are numbered in the order of their files. A live range extends from the first op that writes the value to the
//! last op that accesses it, within the innermost loop around both: each iteration has a live range of its own. If
//! either op is in a further inner loop, the live range covers that loop completely.

use super::{Allocation, BundleItem, OpSpecOperand};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

/// Memory whose bytes are reused by several values within a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchMemory {
    /// The LX of every core.
    Lx,
    /// The HBM pool of the launch.
    Pool,
}

/// Live range of a value in LX or in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaunchLiveRange {
    /// The memory.
    pub memory: LaunchMemory,
    /// Prints `lx 512 + 128: 0 to 3`.
    pub offset_bytes: i64,
    /// Size in bytes; in LX that on one core.
    pub bytes: i64,
    /// The first op that writes it.
    pub first: usize,
    /// The last op that reads or writes it.
    pub last: usize,
}

/// `lx 512 + 128: 0 to 3`.
impl Display for LaunchLiveRange {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let memory = match self.memory {
            LaunchMemory::Lx => "lx",
            LaunchMemory::Pool => "pool",
        };
        write!(formatter, "{memory} {} + {}: {} to {}", self.offset_bytes, self.bytes, self.first, self.last)
    }
}

impl FromStr for LaunchLiveRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let words: Vec<&str> = text.split([' ', ':']).filter(|word| !word.is_empty()).collect();
            let &[memory, offset, "+", bytes, first, "to", last] = words.as_slice() else { return None };
            let memory = match memory {
                "lx" => LaunchMemory::Lx,
                "pool" => LaunchMemory::Pool,
                _ => return None,
            };
            let (offset_bytes, bytes) = (offset.parse().ok()?, bytes.parse().ok()?);
            Some(Self { memory, offset_bytes, bytes, first: first.parse().ok()?, last: last.parse().ok()? })
        };
        read().ok_or_else(|| format!("expected a live range such as 'lx 512 + 128: 0 to 3', found '{text}'"))
    }
}

/// Returns the live ranges after loop unrolling: one per iteration, except for values that the loop moves along.
#[must_use]
pub fn unroll_live_ranges(items: &[BundleItem], live_ranges: &[LaunchLiveRange]) -> Vec<LaunchLiveRange> {
    let mut by_first: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut by_last: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, live_range) in live_ranges.iter().enumerate() {
        by_first.entry(live_range.first).or_default().push(number);
        by_last.entry(live_range.last).or_default().push(number);
    }
    let most_around = LoopDepthCounter::compute_max_depths(items, live_ranges);
    let mut walk = LiveRangeUnroller {
        live_ranges,
        max_depths: most_around,
        by_first,
        by_last,
        next: 0,
        open: BTreeMap::new(),
        done: Vec::new(),
    };
    walk.unroll_items(items, 0, 0);
    walk.close_ranges(&(0..usize::MAX), 0);
    walk.done.sort_unstable_by_key(|live_range| (live_range.first, live_range.offset_bytes, *live_range));
    walk.done
}

/// Computes the maximum number of loops around each live range. If an op moves along a value with a loop, the live
/// range starts outside that loop, even if no other op uses the value.
struct LoopDepthCounter<'a> {
    live_ranges: &'a [LaunchLiveRange],
    /// Live ranges per address, by start; they overlap only if one value reuses the bytes of the other in place.
    by_place: BTreeMap<(LaunchMemory, i64), Vec<usize>>,
    max_depths: Vec<usize>,
}

impl<'a> LoopDepthCounter<'a> {
    fn compute_max_depths(items: &[BundleItem], live_ranges: &'a [LaunchLiveRange]) -> Vec<usize> {
        let mut by_place: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, live_range) in live_ranges.iter().enumerate() {
            by_place.entry((live_range.memory, live_range.offset_bytes)).or_default().push(number);
        }
        by_place.values_mut().for_each(|numbers| numbers.sort_by_key(|number| live_ranges[*number].first));
        let mut around = Self { live_ranges, by_place, max_depths: vec![usize::MAX; live_ranges.len()] };
        around.visit_items(items, 0);
        around.max_depths
    }

    /// Visits items whose first op has number `first`; returns the number after the last op.
    fn visit_items(&mut self, items: &[BundleItem], first: usize) -> usize {
        let mut op = first;
        for item in items {
            match item {
                BundleItem::Loop { body, .. } => op = self.visit_items(body, op),
                BundleItem::Op(spec) => {
                    spec.operands.iter().for_each(|operand| self.visit_operand(op, operand));
                    op += 1;
                }
            }
        }
        op
    }

    fn visit_operand(&mut self, op: usize, operand: &OpSpecOperand) {
        let Some(level) = operand.tile_advance.iter().position(|&advance| advance != 0) else { return };
        let place = match operand.allocation {
            Allocation::Lx { offset_bytes } => (LaunchMemory::Lx, offset_bytes),
            Allocation::Pool { offset_bytes } => (LaunchMemory::Pool, offset_bytes),
            Allocation::Hbm { .. } => return,
        };
        let there = self.by_place.get(&place).map_or(&[][..], Vec::as_slice);
        // Operands were written earlier; a result may begin where an operand ends.
        let num_begun =
            there.partition_point(|number| self.live_ranges[*number].first < op + usize::from(!operand.is_input));
        if let Some(&number) = there[..num_begun].last().filter(|number| self.live_ranges[**number].last >= op) {
            self.max_depths[number] = level.min(self.max_depths[number]);
        }
    }
}

struct LiveRangeUnroller<'a> {
    live_ranges: &'a [LaunchLiveRange],
    /// Maximum number of loops around each live range.
    max_depths: Vec<usize>,
    by_first: BTreeMap<usize, Vec<usize>>,
    by_last: BTreeMap<usize, Vec<usize>>,
    /// Number of the next unrolled op.
    next: usize,
    /// Live ranges that are open in the current iterations, by first op and number.
    open: BTreeMap<(usize, usize), LaunchLiveRange>,
    done: Vec<LaunchLiveRange>,
}

impl LiveRangeUnroller<'_> {
    /// Unrolls items at loop depth `depth`, whose first op in the rolled program is `first`; returns the number after
    /// the last op.
    fn unroll_items(&mut self, items: &[BundleItem], first: usize, depth: usize) -> usize {
        let mut op = first;
        for item in items {
            match item {
                BundleItem::Op(_) => {
                    self.open_ranges(op);
                    op += 1;
                }
                BundleItem::Loop { count, body, .. } => {
                    let start = op;
                    op += count_ops(body);
                    for _ in 0..*count {
                        self.unroll_items(body, start, depth + 1);
                        self.close_ranges(&(start..op), depth + 1);
                    }
                }
            }
        }
        op
    }

    fn open_ranges(&mut self, op: usize) {
        for &number in self.by_first.get(&op).into_iter().flatten() {
            self.open.entry((op, number)).or_insert(LaunchLiveRange {
                first: self.next,
                last: self.next,
                ..self.live_ranges[number]
            });
        }
        for number in self.by_last.get(&op).into_iter().flatten() {
            if let Some(live_range) = self.open.get_mut(&(self.live_ranges[*number].first, *number)) {
                live_range.last = self.next;
            }
        }
        self.next += 1;
    }

    /// Ends the live ranges of an iteration of the loop with these ops, the innermost of `depth`.
    fn close_ranges(&mut self, ops: &Range<usize>, depth: usize) {
        let begun = self.open.range((ops.start, 0)..(ops.end, 0)).map(|(key, _)| *key);
        let is_ended = |number: usize| ops.contains(&self.live_ranges[number].last) && depth <= self.max_depths[number];
        let ended: Vec<(usize, usize)> = begun.filter(|(_, number)| is_ended(*number)).collect();
        self.done.extend(ended.into_iter().filter_map(|key| self.open.remove(&key)));
    }
}

fn count_ops(items: &[BundleItem]) -> usize {
    let of = |item: &BundleItem| match item {
        BundleItem::Op(_) => 1,
        BundleItem::Loop { body, .. } => count_ops(body),
    };
    items.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::super::Coordinate;
    use super::*;
    use crate::bundle::testing::{op, operand};

    fn live_range(first: usize, last: usize) -> LaunchLiveRange {
        LaunchLiveRange { memory: LaunchMemory::Lx, offset_bytes: 128, bytes: 256, first, last }
    }

    fn ops(count: usize) -> Vec<BundleItem> {
        (0..count).map(|_| BundleItem::Op(Box::default())).collect()
    }

    #[test]
    fn parses_printed_live_range() {
        for memory in [LaunchMemory::Lx, LaunchMemory::Pool] {
            let live_range = LaunchLiveRange { memory, ..live_range(3, 14) };
            assert_eq!(live_range.to_string().parse(), Ok(live_range));
        }
        assert!(
            "lx 0 + 1: 2".parse::<LaunchLiveRange>().is_err()
                && "hbm 0 + 1: 2 to 3".parse::<LaunchLiveRange>().is_err()
        );
    }

    #[test]
    fn unrolls_ranges_per_iteration_and_extends_outer_ranges() {
        let around = BundleItem::Loop { count: 3, symbol: None, body: ops(2) };
        let items: Vec<BundleItem> = ops(1).into_iter().chain([around]).chain(ops(1)).collect();
        let times = |given: LaunchLiveRange| {
            unroll_live_ranges(&items, &[given])
                .iter()
                .map(|live_range| (live_range.first, live_range.last))
                .collect::<Vec<_>>()
        };
        assert_eq!(times(live_range(1, 2)), [(1, 2), (3, 4), (5, 6)]);
        assert_eq!(times(live_range(0, 1)), [(0, 5)]);
        assert_eq!(times(live_range(1, 3)), [(1, 7)]);
        assert_eq!(times(live_range(2, 2)), [(2, 2), (4, 4), (6, 6)]);
    }

    /// Returns an op that writes at byte 128 of LX.
    fn writer(tile_advance: &[i64]) -> BundleItem {
        let allocation = Allocation::Lx { offset_bytes: 128 };
        let written = operand(&[1, 64], vec![Coordinate::constant(0), Coordinate::dim(0)]);
        let written = OpSpecOperand { allocation, tile_advance: tile_advance.to_vec(), ..written };
        BundleItem::Op(Box::new(op("", &[64], vec![written])))
    }

    #[test]
    fn keeps_one_range_for_value_filled_by_iterations() {
        let times = |tile_advance: &[i64]| {
            let inner = BundleItem::Loop { count: 2, symbol: None, body: vec![writer(tile_advance)] };
            let outer = BundleItem::Loop { count: 2, symbol: None, body: vec![inner] };
            unroll_live_ranges(&[outer], &[live_range(0, 0)])
                .iter()
                .map(|live_range| (live_range.first, live_range.last))
                .collect::<Vec<_>>()
        };
        assert_eq!(times(&[]), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(times(&[0, 64]), [(0, 1), (2, 3)]);
        assert_eq!(times(&[64, 0]), [(0, 3)]);
        assert_eq!(times(&[64, 64]), [(0, 3)]);
    }

    #[test]
    fn selects_live_range_at_shared_address() {
        let body = vec![writer(&[]), writer(&[]), writer(&[64])];
        let around = BundleItem::Loop { count: 2, symbol: None, body };
        let times: Vec<_> = unroll_live_ranges(&[around], &[live_range(0, 1), live_range(2, 2)])
            .iter()
            .map(|live_range| (live_range.first, live_range.last))
            .collect();
        assert_eq!(times, [(0, 1), (2, 5), (3, 4)]);
    }
}
