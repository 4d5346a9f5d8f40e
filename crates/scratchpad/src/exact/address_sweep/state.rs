//! States of a sweep with addresses, and the selection of the states that are kept.

use super::{CandidateAddress, FixedInterval, ResidencyCosts, ResidentValue, SelectionProblem};

/// History entry of a state before any event.
pub(super) const NO_HISTORY: u32 = u32::MAX;

#[derive(Clone)]
pub(super) struct AddressState {
    /// Resident values, by address.
    pub(super) residents: Vec<ResidentValue>,
    /// Lower bound: scaled HBM bytes by which every continuation exceeds the bound of the prices.
    pub(super) floor: i64,
    /// Units whose price is paid in this operation.
    paid: i64,
    /// Hashes of the resident values with their addresses, and of the values alone.
    pub(super) hash: u64,
    pub(super) set: u64,
    /// Values that left LX in this operation.
    evicted: Vec<u32>,
    pub(super) history_entry: u32,
}

/// Successor of a state, before it is built.
#[derive(Clone, Copy)]
pub(super) struct StateSuccessor {
    pub(super) from: u32,
    /// Lower bound plus the estimated cost of the gaps.
    pub(super) rank: i64,
    pub(super) floor: i64,
    pub(super) hash: u64,
    pub(super) set: u64,
    pub(super) candidate: Option<CandidateAddress>,
}

/// Maximum number of states with the same resident values at different addresses. A larger limit leaves fewer different
/// sets of values.
const MAX_STATES_PER_SET: usize = 3;

/// Keeps the best successors: one per set of values with addresses, and few per set of values.
pub(super) fn retain_best(moves: &mut Vec<StateSuccessor>, width: usize) {
    moves.sort_unstable_by_key(|one| (one.hash, one.floor, one.from));
    moves.dedup_by_key(|one| one.hash);
    if moves.len() > width {
        moves.sort_unstable_by_key(|one| (one.set, one.rank, one.hash));
        let (mut set, mut n) = (0, 0);
        moves.retain(|one| {
            n = if one.set == set { n + 1 } else { 1 };
            set = one.set;
            n <= MAX_STATES_PER_SET
        });
    }
    moves.sort_unstable_by_key(|one| (one.rank, one.hash));
    moves.truncate(width);
}

impl Default for AddressState {
    fn default() -> Self {
        Self {
            residents: Vec::new(),
            floor: 0,
            paid: 0,
            hash: 0,
            set: 0,
            evicted: Vec::new(),
            history_entry: NO_HISTORY,
        }
    }
}

impl AddressState {
    /// Begins an operation: all values remain, and the fixed intervals that begin here are added. Their addresses are
    /// free.
    pub(super) fn begin_step(&mut self, problem: &SelectionProblem, fares: &[ResidencyCosts], walls: &[FixedInterval]) {
        self.paid = 0;
        self.evicted.clear();
        for resident in self.residents.iter().filter(|resident| !resident.is_fixed) {
            self.floor += fares[resident.value as usize].interval_costs[resident.cost_index()];
            self.paid += resident.units;
        }
        for wall in walls {
            self.insert(ResidentValue::from_fixed_interval(wall, problem.values[wall.value].units));
        }
    }

    fn insert(&mut self, resident: ResidentValue) {
        let place = self.residents.partition_point(|other| other.address <= resident.address);
        self.residents.insert(place, resident);
    }

    /// Returns whether a value was in LX when the operation began.
    pub(super) fn was_resident(&self, value: usize) -> bool {
        self.evicted.contains(&(value as u32)) || self.residents.iter().any(|resident| resident.value as usize == value)
    }

    /// Returns both hashes of the successor in which `value` gets a candidate address.
    pub(super) fn successor_hashes(&self, value: usize, berth: &CandidateAddress) -> (u64, u64) {
        let driven = self.residents[berth.evicted_range()].iter().filter(|resident| berth.evicts(resident));
        let without = |(hash, set): (u64, u64), resident: &ResidentValue| {
            (hash.wrapping_sub(resident.hash()), set.wrapping_sub(resident.set_hash()))
        };
        let (hash, set) = driven.fold((self.hash, self.set), without);
        let resident =
            ResidentValue { address: berth.address, ..ResidentValue::new(value, super::Residency::Hbm, 0, 0) };
        (hash.wrapping_add(resident.hash()), set.wrapping_add(resident.set_hash()))
    }

    /// Places a value at a candidate address.
    pub(super) fn place_value(&mut self, resident: &ResidentValue, pays: bool, berth: &CandidateAddress) {
        let new = ResidentValue { address: berth.address, is_new: true, ..*resident };
        (self.hash, self.set) = self.successor_hashes(new.value as usize, berth);
        if let Some(parent) = berth.parent {
            self.residents[parent as usize].has_successor = true;
        }
        let (range, mut place) = (berth.evicted_range(), 0);
        let Self { residents: tenants, evicted: gone, paid, .. } = self;
        tenants.retain(|other| {
            let is_out = range.contains(&place) && berth.evicts(other);
            place += 1;
            if is_out {
                *paid -= other.units;
                gone.push(other.value);
            }
            !is_out
        });
        self.paid += if pays { new.units } else { 0 };
        self.insert(new);
    }

    /// Ends an operation: charges the price of unpaid units, and removes values without later uses.
    pub(super) fn end_step(
        &mut self,
        problem: &SelectionProblem,
        (tick, price): (usize, i64),
        fares: &[ResidencyCosts],
    ) {
        self.floor += price * (problem.units - self.paid);
        let Self { residents: tenants, hash, set, .. } = self;
        tenants.retain_mut(|resident| {
            if resident.is_fixed {
                return resident.until > tick + 1;
            }
            let fares = &fares[resident.value as usize];
            if resident.until == tick + 1 {
                *hash = hash.wrapping_sub(resident.hash());
                *set = set.wrapping_sub(resident.set_hash());
                return false;
            }
            if fares.is_used && !resident.is_new {
                resident.at = problem.values[resident.value as usize].residency_after_use(fares.using, resident.at);
            }
            (resident.is_new, resident.has_successor) = (false, false);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_best_few_states_per_set_of_residents() {
        let state = |set: u64, rank: i64| StateSuccessor {
            from: 0,
            rank,
            floor: 0,
            hash: set << 8 | rank.unsigned_abs(),
            set,
            candidate: None,
        };
        let moves = || (0..5).rev().map(|rank| state(1, rank)).chain([state(2, 9)]).collect::<Vec<_>>();
        let kept = |width: usize| {
            let mut moves = moves();
            retain_best(&mut moves, width);
            moves.iter().map(|one| one.rank).collect::<Vec<_>>()
        };
        assert_eq!(kept(6), [0, 1, 2, 3, 4, 9]);
        assert_eq!(kept(5), [0, 1, 2, 9]);
        assert_eq!(kept(2), [0, 1]);
    }
}
