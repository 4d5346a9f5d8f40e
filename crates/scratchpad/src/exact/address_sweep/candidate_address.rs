//! Candidate addresses of a value, given the values that are resident in LX.

use super::{FixedInterval, Residency, ResidencyCosts, SelectionProblem};
use std::ops::Range;

/// Value that is resident in LX in a search state, with its address and the end of its residency interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResidentValue {
    pub(super) value: u32,
    /// Location of the value: whether HBM holds a valid copy too.
    pub(super) at: Residency,
    /// Whether the value entered LX in this operation.
    pub(super) is_new: bool,
    /// Whether another value reused its address in this operation.
    pub(super) has_successor: bool,
    /// Whether its interval is given to the sweep and may not change.
    pub(super) is_fixed: bool,
    pub(super) address: i64,
    pub(super) units: i64,
    /// First operation after the live range or the fixed interval.
    pub(super) until: usize,
}

impl ResidentValue {
    pub(super) const fn new(value: usize, at: Residency, units: i64, until: usize) -> Self {
        Self { value: value as u32, at, is_new: false, has_successor: false, is_fixed: false, address: 0, units, until }
    }

    pub(super) const fn from_fixed_interval(wall: &FixedInterval, units: i64) -> Self {
        Self { is_fixed: true, address: wall.address, ..Self::new(wall.value, Residency::Dirty, units, wall.end) }
    }

    /// Returns whether the value must remain in LX during this operation.
    const fn is_pinned(&self) -> bool {
        self.is_new || self.has_successor || self.is_fixed
    }

    /// Returns a hash of the value and its address. The hash omits whether HBM holds a copy, because that nearly always
    /// follows from the first use in LX.
    pub(super) fn hash(&self) -> u64 {
        mix_bits(u64::from(self.value) << 1 ^ self.address.unsigned_abs().rotate_left(33))
    }

    /// Returns a hash of the value alone.
    pub(super) fn set_hash(&self) -> u64 {
        mix_bits(u64::from(self.value) << 1 | 1)
    }

    /// Returns the index of its costs: 1 if HBM holds a copy, else 0.
    pub(super) const fn cost_index(&self) -> usize {
        matches!(self.at, Residency::Clean) as usize
    }

    pub(super) const fn end(&self) -> i64 {
        self.address + self.units
    }
}

/// Mixes the bits of a word (SplitMix64; Steele, Lea, Flood 2014).
pub(super) const fn mix_bits(word: u64) -> u64 {
    let mixed = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Address ranges, in units, that fixed intervals will occupy before the end of a value's live range. They are
/// disjoint.
pub(super) struct BlockedRanges(Vec<(i64, i64)>);

impl BlockedRanges {
    /// Collects the fixed intervals that begin before `until`. `walls` are the fixed intervals that have not begun.
    pub(super) fn new(problem: &SelectionProblem, walls: &[FixedInterval], until: usize) -> Self {
        let coming = walls.iter().take_while(|wall| wall.start < until);
        let mut stretches: Vec<(i64, i64)> =
            coming.map(|wall| (wall.address, wall.address + problem.values[wall.value].units)).collect();
        stretches.sort_unstable();
        let mut merged: Vec<(i64, i64)> = Vec::with_capacity(stretches.len());
        for (start, end) in stretches {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        Self(merged)
    }

    fn is_free(&self, start: i64, end: i64) -> bool {
        let place = self.0.partition_point(|stretch| stretch.1 <= start);
        self.0.get(place).is_none_or(|stretch| stretch.0 >= end)
    }
}

/// Candidate address of a value, with the values that leave LX for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CandidateAddress {
    pub(super) address: i64,
    /// First unit after the value at this address.
    pub(super) end: i64,
    /// Position of the resident value whose address is reused.
    pub(super) parent: Option<u32>,
    /// Range of positions that includes all evicted values.
    evicted_start: u32,
    evicted_end: u32,
    /// Cost of the evictions.
    pub(super) eviction_cost: i64,
}

impl CandidateAddress {
    const fn new(address: i64, units: i64) -> Self {
        Self { address, end: address + units, parent: None, evicted_start: 0, evicted_end: 0, eviction_cost: 0 }
    }

    pub(super) const fn evicted_range(&self) -> Range<usize> {
        self.evicted_start as usize..self.evicted_end as usize
    }

    /// Returns whether the resident value must leave LX for this candidate.
    pub(super) const fn evicts(&self, resident: &ResidentValue) -> bool {
        self.parent.is_none() && resident.address < self.end && self.address < resident.end()
    }
}

/// Maximum number of candidates with evictions. The cheapest are kept.
const MAX_EVICTING_CANDIDATES: usize = 3;

/// Returns the candidate addresses of a value that is born in this operation, or used and not in LX.
pub(super) fn find_candidate_addresses(
    problem: &SelectionProblem,
    residents: &[ResidentValue],
    (fares, blocked): (&[ResidencyCosts], &BlockedRanges),
    (value, is_born): (usize, bool),
    found: &mut Vec<CandidateAddress>,
) {
    let (units, limit) = (problem.values[value].units, problem.values[value].limit.min(problem.units));
    if units > limit {
        return;
    }
    let parents = if is_born { &problem.values[value].parents[..] } else { &[] };
    for parent in parents {
        let is_free = |resident: &ResidentValue| {
            resident.value as usize == *parent && !resident.has_successor && !resident.is_fixed
        };
        let place = residents.iter().position(is_free).filter(|&place| residents[place].address + units <= limit);
        if let Some(place) =
            place.filter(|&place| blocked.is_free(residents[place].address, residents[place].address + units))
        {
            found.push(CandidateAddress {
                parent: Some(place as u32),
                ..CandidateAddress::new(residents[place].address, units)
            });
        }
    }
    add_gap_candidates(residents, blocked, (units, limit), found);
    add_evicting_candidates(residents, (fares, blocked), (units, limit), found);
}

/// Adds the lowest and the highest address in each sufficiently large gap.
fn add_gap_candidates(
    residents: &[ResidentValue],
    blocked: &BlockedRanges,
    (units, limit): (i64, i64),
    found: &mut Vec<CandidateAddress>,
) {
    let (mut residents, mut walls) = (residents.iter().peekable(), blocked.0.iter().peekable());
    let mut low = 0;
    while low + units <= limit {
        let (resident, wall) = (residents.peek(), walls.peek());
        let (start, end) = match (resident, wall) {
            (Some(resident), Some(wall)) if resident.address <= wall.0 => (resident.address, resident.end()),
            (_, Some(wall)) => **wall,
            (Some(resident), None) => (resident.address, resident.end()),
            (None, None) => (limit, limit),
        };
        let high = start.min(limit);
        if low + units <= high {
            found.push(CandidateAddress::new(low, units));
            if low + units < high {
                found.push(CandidateAddress::new(high - units, units));
            }
        }
        low = low.max(end);
        match (resident, wall) {
            (Some(resident), Some(wall)) if resident.address <= wall.0 => drop(residents.next()),
            (_, Some(_)) => drop(walls.next()),
            (Some(_), None) => drop(residents.next()),
            (None, None) => return,
        }
    }
}

/// Adds the cheapest candidates with evictions. Each of them begins or ends at an end of a resident value.
fn add_evicting_candidates(
    residents: &[ResidentValue],
    (fares, blocked): (&[ResidencyCosts], &BlockedRanges),
    (units, limit): (i64, i64),
    found: &mut Vec<CandidateAddress>,
) {
    let from = found.len();
    let edges = residents
        .iter()
        .flat_map(|resident| [resident.address, resident.end() - units, resident.end(), resident.address - units]);
    for address in edges {
        let is_inside = address >= 0 && address + units <= limit;
        if !is_inside
            || found[from..].iter().any(|other| other.address == address)
            || !blocked.is_free(address, address + units)
        {
            continue;
        }
        let Some(candidate) = find_evictions(residents, fares, CandidateAddress::new(address, units)) else { continue };
        found.push(candidate);
        if found.len() - from > MAX_EVICTING_CANDIDATES {
            let worst = (from..found.len()).max_by_key(|&at| (found[at].eviction_cost, found[at].address));
            found.swap_remove(worst.unwrap_or(from));
        }
    }
}

/// Returns the candidate with its evicted values. Returns `None` if nothing is evicted, or if a value must remain.
fn find_evictions(
    residents: &[ResidentValue],
    fares: &[ResidencyCosts],
    mut candidate: CandidateAddress,
) -> Option<CandidateAddress> {
    // Of the values that begin below the candidate, only the last one can reach it, or a value that passes the same
    // address on.
    let below = residents[..residents.partition_point(|resident| resident.address <= candidate.address)].last();
    let first = below.map_or(0, |below| residents.partition_point(|resident| resident.address < below.address));
    for (place, resident) in
        (0_u32..).zip(residents).skip(first).take_while(|(_, resident)| resident.address < candidate.end)
    {
        if !candidate.evicts(resident) {
            continue;
        }
        if resident.is_pinned() {
            return None;
        }
        let fares = &fares[resident.value as usize];
        candidate.eviction_cost +=
            fares.eviction_costs[resident.cost_index()] - fares.interval_costs[resident.cost_index()];
        if candidate.evicted_end == 0 {
            candidate.evicted_start = place;
        }
        candidate.evicted_end = place + 1;
    }
    (candidate.evicted_end > 0).then_some(candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_one_address_in_exact_gap_and_two_in_larger_gap() {
        let resident =
            |address: i64, units: i64| ResidentValue { address, ..ResidentValue::new(0, Residency::Dirty, units, 9) };
        let gaps = |residents: &[ResidentValue], limit: i64| {
            let mut found = Vec::new();
            add_gap_candidates(residents, &BlockedRanges(Vec::new()), (2, limit), &mut found);
            found.iter().map(|candidate| candidate.address).collect::<Vec<_>>()
        };
        assert_eq!(gaps(&[resident(0, 3)], 5), [3]);
        assert_eq!(gaps(&[resident(0, 3)], 6), [3, 4]);
        assert_eq!(gaps(&[resident(2, 1), resident(5, 1)], 6), [0, 3]);
        assert!(gaps(&[resident(0, 3)], 4).is_empty());
    }
}
