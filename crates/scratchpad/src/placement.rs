//! The planner interface, and placements: their content, cost and legality.

use super::{Buffer, Capacity, PlacementExclusion, buffer::can_reuse_in_place, live_index::LiveIndex};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Addresses of the buffers of a list: one entry per buffer, in list order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// LX address in bytes, the same on every core; `None` for a buffer in HBM.
    pub addresses: Vec<Option<i64>>,
    /// Reason why a buffer stays in HBM; `None` for a placed buffer.
    pub reasons: Vec<Option<UnplacedReason>>,
}

/// Algorithm that assigns addresses. It is deterministic: the same list gives the same placement on every machine.
pub trait Planner {
    /// Returns the name of the planner in options and reports.
    fn name(&self) -> &'static str;

    /// Returns a legal placement of the buffers. Parents are positions in `buffers`.
    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement;

    /// Returns whether the planner chooses residency intervals and copies in addition to addresses. The caller then
    /// inserts no copies beforehand, and may choose the core split together with the plan.
    fn chooses_residency(&self) -> bool {
        false
    }
}

/// Reason why a planner left a buffer in HBM.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnplacedReason {
    /// The buffer is ineligible.
    #[error(transparent)]
    Ineligible(#[from] PlacementExclusion),
    /// The buffer is larger than LX.
    #[error("it needs {bytes} bytes and LX has {capacity}")]
    TooLarge {
        /// Bytes of the buffer on one core.
        bytes: i64,
        /// Bytes of LX.
        capacity: i64,
    },
    /// The planner found no gap over the whole live range.
    #[error("no gap of {bytes} bytes: {taken} of {capacity} are taken during operation {time}")]
    NoGap {
        /// Bytes of the buffer on one core.
        bytes: i64,
        /// Operation of the live range in which placed buffers occupy the most bytes; the first of several.
        time: usize,
        /// Bytes below the capacity that placed buffers occupy during that operation.
        taken: i64,
        /// Bytes of LX.
        capacity: i64,
    },
}

/// Rule that a placement violates. Buffers are positions in the list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// The placement does not have one entry per buffer.
    #[error("{found} addresses for {expected} buffers")]
    Length {
        /// Buffers in the list.
        expected: usize,
        /// Addresses in the placement.
        found: usize,
    },
    /// An ineligible buffer has an address.
    #[error("buffer {buffer} has an address, but may not be in LX")]
    Ineligible {
        /// The buffer.
        buffer: usize,
    },
    /// An address is not a multiple of the alignment.
    #[error("address {address} of buffer {buffer} is not aligned")]
    Misaligned {
        /// The buffer.
        buffer: usize,
        /// Its address.
        address: i64,
    },
    /// A buffer begins below address 0 or ends above the capacity.
    #[error("buffer {buffer} covers {address}..{end}, outside LX")]
    OutOfBounds {
        /// The buffer.
        buffer: usize,
        /// Its address.
        address: i64,
        /// First byte after the buffer.
        end: i64,
    },
    /// Two live buffers share bytes, and neither reuses the address of the other.
    #[error("buffers {first} and {second} overlap while both are live")]
    Overlap {
        /// Buffer that is listed first.
        first: usize,
        /// Other buffer.
        second: usize,
    },
}

impl Placement {
    /// Creates a placement with these addresses, and derives a reason for each buffer without one.
    #[must_use]
    pub fn from_addresses(buffers: &[Buffer], capacity: &Capacity, addresses: Vec<Option<i64>>) -> Self {
        let taken = compute_occupied_bytes_at_births(buffers, &addresses);
        let reason = |buffer: &Buffer| match &buffer.barred {
            Some(barred) => UnplacedReason::Ineligible(barred.clone()),
            None if buffer.bytes > capacity.bytes => {
                UnplacedReason::TooLarge { bytes: buffer.bytes, capacity: capacity.bytes }
            }
            None => explain_missing_gap(&taken, capacity, buffer),
        };
        let explain =
            |(buffer, address): (_, &Option<i64>)| if address.is_none() { Some(reason(buffer)) } else { None };
        let reasons = buffers.iter().zip(&addresses).map(explain).collect();
        Self { addresses, reasons }
    }

    /// Returns the bytes per core that still move to or from HBM: every use of a buffer in HBM, and the copies of every
    /// placed buffer that starts or ends in HBM.
    #[must_use]
    pub fn hbm_bytes_left(&self, buffers: &[Buffer]) -> i64 {
        let left = |(buffer, address): (&Buffer, &Option<i64>)| match address {
            None => buffer.uses.iter().map(|_| buffer.bytes).sum(),
            Some(_) => buffer.copied_bytes(),
        };
        buffers.iter().zip(&self.addresses).map(left).sum()
    }

    /// Returns the number of buffers that have an address.
    #[must_use]
    pub fn num_placed(&self) -> usize {
        self.addresses.iter().flatten().count()
    }
}

/// Computes the bytes that placed buffers occupy at each birth of a buffer, by ascending time. Occupancy does not grow
/// between births, so every live range has its maximum at a birth.
fn compute_occupied_bytes_at_births(buffers: &[Buffer], addresses: &[Option<i64>]) -> Vec<(usize, i64)> {
    let times: BTreeSet<usize> = buffers.iter().map(|buffer| buffer.live_range().start).collect();
    let live = LiveIndex::from_addresses(buffers, addresses);
    let cover = |index: usize| addresses[index].map(|start| (start, start + buffers[index].bytes));
    let taken = |time: usize| {
        let mut covered: Vec<(i64, i64)> = live.live_at(time).filter_map(cover).collect();
        covered.sort_unstable();
        // A buffer and its successor occupy the same bytes, which count once.
        let add =
            |(taken, top): (i64, i64), (start, end): (i64, i64)| (taken + (end - start.max(top)).max(0), end.max(top));
        covered.into_iter().fold((0, 0), add).0
    };
    times.into_iter().map(|time| (time, taken(time))).collect()
}

fn explain_missing_gap(taken: &[(usize, i64)], capacity: &Capacity, buffer: &Buffer) -> UnplacedReason {
    let before = |end: usize| taken.partition_point(|&(time, _)| time < end);
    let during = &taken[before(buffer.live_range().start)..before(buffer.live_range().end)];
    let fullest = during.iter().max_by_key(|&&(time, taken)| (taken, Reverse(time)));
    let (time, taken) = fullest.copied().unwrap_or((buffer.live_range().start, 0));
    UnplacedReason::NoGap { bytes: buffer.bytes, time, taken, capacity: capacity.bytes }
}

/// Checks a placement independently of its planner. Ineligible buffers have no address, addresses are aligned and
/// inside LX, and live buffers do not overlap. The exception is in-place reuse: a child may have the address of a
/// parent. The parent keeps all of its bytes during that operation, and only one child reuses its address.
///
/// # Errors
/// Returns the first violation in list order.
pub fn check(buffers: &[Buffer], capacity: &Capacity, placement: &Placement) -> Result<(), Violation> {
    if placement.addresses.len() != buffers.len() {
        return Err(Violation::Length { expected: buffers.len(), found: placement.addresses.len() });
    }
    for (index, buffer) in buffers.iter().enumerate() {
        let Some(address) = placement.addresses[index] else { continue };
        if buffer.barred.is_some() {
            return Err(Violation::Ineligible { buffer: index });
        }
        if address % capacity.alignment != 0 {
            return Err(Violation::Misaligned { buffer: index, address });
        }
        let end = address.saturating_add(buffer.bytes);
        if address < 0 || end > capacity.bytes {
            return Err(Violation::OutOfBounds { buffer: index, address, end });
        }
    }
    check_overlaps(buffers, &placement.addresses)
}

fn check_overlaps(buffers: &[Buffer], addresses: &[Option<i64>]) -> Result<(), Violation> {
    let predecessors = find_predecessors(buffers, addresses);
    let took_over = |first: usize, second: usize| {
        let chain = |from: usize| std::iter::successors(predecessors[from], |&buffer| predecessors[buffer]);
        chain(second).any(|buffer| buffer == first) || chain(first).any(|buffer| buffer == second)
    };
    let overlap = |first: usize, second: usize| {
        let (Some(low), Some(high)) = (addresses[first], addresses[second]) else { return false };
        let share_bytes = low < high + buffers[second].bytes && high < low + buffers[first].bytes;
        share_bytes && buffers[first].overlaps(&buffers[second]) && !took_over(first, second)
    };
    let mut births: Vec<usize> = (0..buffers.len()).filter(|&index| addresses[index].is_some()).collect();
    births.sort_by_key(|&index| buffers[index].live_range().start);
    // Two buffers overlap in time if one is live at the birth of the other.
    let (mut live, mut found): (Vec<usize>, Option<(usize, usize)>) = (Vec::new(), None);
    for newborn in births {
        let now = buffers[newborn].live_range().start;
        live.retain(|&other| buffers[other].live_range().end > now);
        let pairs = live.iter().map(|&other| (newborn.max(other), newborn.min(other)));
        found = pairs.filter(|&(second, first)| overlap(first, second)).chain(found).min();
        live.push(newborn);
    }
    found.map_or(Ok(()), |(second, first)| Err(Violation::Overlap { first, second }))
}

/// Returns, per buffer, the parent whose address it reuses. A parent has one successor, the first in the list.
fn find_predecessors(buffers: &[Buffer], addresses: &[Option<i64>]) -> Vec<Option<usize>> {
    let mut taken = vec![false; buffers.len()];
    let mut predecessors = vec![None; buffers.len()];
    for (index, buffer) in buffers.iter().enumerate() {
        let same_address = |&&parent: &&usize| addresses[parent].is_some() && addresses[parent] == addresses[index];
        let free = |&&parent: &&usize| !taken[parent] && can_reuse_in_place(buffers, index, parent);
        predecessors[index] = buffer.in_place_parents.iter().filter(same_address).find(free).copied();
        if let Some(parent) = predecessors[index] {
            taken[parent] = true;
        }
    }
    predecessors
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::{buffer, child};
    use super::super::{Use, UseKind};
    use super::*;

    const CAPACITY: Capacity = Capacity { bytes: 100, alignment: 10 };

    fn place_at(buffers: &[Buffer], addresses: &[i64]) -> Placement {
        Placement::from_addresses(buffers, &CAPACITY, addresses.iter().map(|&address| Some(address)).collect())
    }

    fn find_violation(buffers: &[Buffer], addresses: &[i64]) -> Violation {
        check(buffers, &CAPACITY, &place_at(buffers, addresses)).unwrap_err()
    }

    #[test]
    fn rejects_live_buffers_that_share_bytes() {
        let buffers = [buffer("a", 20, &[0, 2]), buffer("b", 20, &[1, 3]), buffer("c", 20, &[3, 4])];
        assert_eq!(check(&buffers, &CAPACITY, &place_at(&buffers, &[0, 20, 0])), Ok(()));
        assert_eq!(find_violation(&buffers, &[0, 10, 40]), Violation::Overlap { first: 0, second: 1 });
    }

    #[test]
    fn allows_successor_to_take_only_its_parents_address() {
        let buffers = [buffer("p", 20, &[0, 1]), child(buffer("c", 10, &[1, 2]), &[0]), buffer("other", 10, &[1, 2])];
        assert_eq!(check(&buffers, &CAPACITY, &place_at(&buffers, &[0, 0, 20])), Ok(()));
        assert_eq!(find_violation(&buffers, &[0, 10, 40]), Violation::Overlap { first: 0, second: 1 });
        assert_eq!(find_violation(&buffers, &[0, 0, 10]), Violation::Overlap { first: 0, second: 2 });
    }

    #[test]
    fn rejects_second_reuse_of_an_address() {
        let buffers =
            [buffer("p", 20, &[0, 1]), child(buffer("c", 20, &[1, 2]), &[0]), child(buffer("d", 20, &[1]), &[0])];
        assert_eq!(find_violation(&buffers, &[0, 0, 0]), Violation::Overlap { first: 0, second: 2 });
    }

    #[test]
    fn accepts_chain_at_one_address() {
        let buffers =
            [buffer("p", 20, &[0, 1]), child(buffer("c", 20, &[1, 2]), &[0]), child(buffer("d", 20, &[2, 3]), &[1])];
        assert_eq!(check(&buffers, &CAPACITY, &place_at(&buffers, &[0, 0, 0])), Ok(()));
    }

    #[test]
    fn rejects_misaligned_and_out_of_bounds_addresses() {
        let buffers = [buffer("a", 20, &[0, 2])];
        assert_eq!(find_violation(&buffers, &[5]), Violation::Misaligned { buffer: 0, address: 5 });
        assert_eq!(find_violation(&buffers, &[90]), Violation::OutOfBounds { buffer: 0, address: 90, end: 110 });
        assert_eq!(find_violation(&buffers, &[-10]), Violation::OutOfBounds { buffer: 0, address: -10, end: 10 });
        assert_eq!(find_violation(&buffers, &[]), Violation::Length { expected: 1, found: 0 });
        let barred =
            [Buffer { barred: Some(PlacementExclusion("its size is not known".to_owned())), ..buffers[0].clone() }];
        assert_eq!(find_violation(&barred, &[0]), Violation::Ineligible { buffer: 0 });
    }

    #[test]
    fn counts_hbm_bytes_of_uses_and_input_copies() {
        let read = |time| Use { time, kind: UseKind::Read };
        let input = Buffer { starts_in_hbm: true, uses: vec![read(0), read(2)], ..buffer("x", 20, &[]) };
        let buffers = [input, buffer("a", 30, &[0, 1, 2])];
        let placement = |addresses: Vec<Option<i64>>| Placement::from_addresses(&buffers, &CAPACITY, addresses);
        assert_eq!(placement(vec![Some(0), Some(20)]).hbm_bytes_left(&buffers), 20);
        assert_eq!(placement(vec![None, None]).hbm_bytes_left(&buffers), 40 + 90);
    }

    #[test]
    fn gives_reason_for_each_unplaced_buffer() {
        let barred =
            Buffer { barred: Some(PlacementExclusion("its size is not known".to_owned())), ..buffer("x", 20, &[0, 2]) };
        let buffers = [barred, buffer("big", 101, &[0, 1]), buffer("a", 80, &[0, 2]), buffer("b", 30, &[1, 3])];
        let placement = Placement::from_addresses(&buffers, &CAPACITY, vec![None, None, Some(0), None]);
        let expected = [
            Some(UnplacedReason::Ineligible(PlacementExclusion("its size is not known".to_owned()))),
            Some(UnplacedReason::TooLarge { bytes: 101, capacity: 100 }),
            None,
            Some(UnplacedReason::NoGap { bytes: 30, time: 1, taken: 80, capacity: 100 }),
        ];
        assert_eq!(placement.reasons, expected);
        assert_eq!(placement.num_placed(), 1);
    }
}
