//! States of a sweep with addresses, and the choice of the successors that are kept.

use super::{Berth, Fares, Problem, Tenant, Wall};

/// History entry of a state before any event.
pub(super) const NO_PAST: u32 = u32::MAX;

#[derive(Clone)]
pub(super) struct State {
    /// Resident values, by address.
    pub(super) tenants: Vec<Tenant>,
    /// Scaled HBM bytes by which every continuation exceeds the bound of the prices.
    pub(super) floor: i64,
    /// Units that are paid for in this operation.
    paid: i64,
    /// Hashes of the resident values with their addresses, and of the values alone.
    pub(super) hash: u64,
    pub(super) set: u64,
    /// Values that left in this operation.
    gone: Vec<u32>,
    pub(super) past: u32,
}

/// Successor of a state.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub(super) from: u32,
    /// Lower bound plus the estimated cost of its gaps.
    pub(super) rank: i64,
    pub(super) floor: i64,
    pub(super) hash: u64,
    pub(super) set: u64,
    pub(super) berth: Option<Berth>,
}

/// Maximum number of states with the same resident values at different addresses: a larger number would leave few different sets.
const MOST_OF_SET: usize = 3;

/// Keeps the best successors: one for each set of values with addresses, and few for each set of values.
pub(super) fn keep(moves: &mut Vec<Move>, width: usize) {
    moves.sort_unstable_by_key(|one| (one.hash, one.floor, one.from));
    moves.dedup_by_key(|one| one.hash);
    if moves.len() > width {
        moves.sort_unstable_by_key(|one| (one.set, one.rank, one.hash));
        let (mut set, mut n) = (0, 0);
        moves.retain(|one| {
            n = if one.set == set { n + 1 } else { 1 };
            set = one.set;
            n <= MOST_OF_SET
        });
    }
    moves.sort_unstable_by_key(|one| (one.rank, one.hash));
    moves.truncate(width);
}

impl Default for State {
    fn default() -> Self {
        Self { tenants: Vec::new(), floor: 0, paid: 0, hash: 0, set: 0, gone: Vec::new(), past: NO_PAST }
    }
}

impl State {
    /// Begins an operation: all values stay, and fixed intervals that begin here are added at their addresses, which are free.
    pub(super) fn begin(&mut self, problem: &Problem, fares: &[Fares], walls: &[Wall]) {
        self.paid = 0;
        self.gone.clear();
        for tenant in self.tenants.iter().filter(|tenant| !tenant.is_wall) {
            self.floor += fares[tenant.value as usize].stays[tenant.place()];
            self.paid += tenant.units;
        }
        for wall in walls {
            self.insert(Tenant::wall(wall, problem.values[wall.value].units));
        }
    }

    fn insert(&mut self, tenant: Tenant) {
        let place = self.tenants.partition_point(|other| other.address <= tenant.address);
        self.tenants.insert(place, tenant);
    }

    /// Returns whether a value was in LX when the operation began.
    pub(super) fn has_settled(&self, value: usize) -> bool {
        self.gone.contains(&(value as u32)) || self.tenants.iter().any(|tenant| tenant.value as usize == value)
    }

    /// Returns the hashes of the successor in which a value takes a candidate address.
    pub(super) fn hashes_with(&self, value: usize, berth: &Berth) -> (u64, u64) {
        let driven = self.tenants[berth.driven()].iter().filter(|tenant| berth.drives_out(tenant));
        let without = |(hash, set): (u64, u64), tenant: &Tenant| (hash.wrapping_sub(tenant.hash()), set.wrapping_sub(tenant.set_hash()));
        let (hash, set) = driven.fold((self.hash, self.set), without);
        let tenant = Tenant { address: berth.address, ..Tenant::new(value, super::At::Hbm, 0, 0) };
        (hash.wrapping_add(tenant.hash()), set.wrapping_add(tenant.set_hash()))
    }

    /// Places a value at a candidate address.
    pub(super) fn take(&mut self, tenant: &Tenant, pays: bool, berth: &Berth) {
        let new = Tenant { address: berth.address, is_new: true, ..*tenant };
        (self.hash, self.set) = self.hashes_with(new.value as usize, berth);
        if let Some(parent) = berth.parent {
            self.tenants[parent as usize].has_heir = true;
        }
        let (range, mut place) = (berth.driven(), 0);
        let Self { tenants, gone, paid, .. } = self;
        tenants.retain(|other| {
            let is_out = range.contains(&place) && berth.drives_out(other);
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

    /// Ends an operation: unpaid units cost the operation's price, and values without later uses are removed.
    pub(super) fn end(&mut self, problem: &Problem, (tick, price): (usize, i64), fares: &[Fares]) {
        self.floor += price * (problem.units - self.paid);
        let Self { tenants, hash, set, .. } = self;
        tenants.retain_mut(|tenant| {
            if tenant.is_wall {
                return tenant.until > tick + 1;
            }
            let fares = &fares[tenant.value as usize];
            if tenant.until == tick + 1 {
                *hash = hash.wrapping_sub(tenant.hash());
                *set = set.wrapping_sub(tenant.set_hash());
                return false;
            }
            if fares.is_used && !tenant.is_new {
                tenant.at = problem.values[tenant.value as usize].after_use(fares.using, tenant.at);
            }
            (tenant.is_new, tenant.has_heir) = (false, false);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_states_with_the_same_tenants_the_best_few_are_kept_where_there_are_too_many() {
        let state = |set: u64, rank: i64| Move { from: 0, rank, floor: 0, hash: set << 8 | rank.unsigned_abs(), set, berth: None };
        let moves = || (0..5).rev().map(|rank| state(1, rank)).chain([state(2, 9)]).collect::<Vec<_>>();
        let kept = |width: usize| {
            let mut moves = moves();
            keep(&mut moves, width);
            moves.iter().map(|one| one.rank).collect::<Vec<_>>()
        };
        assert_eq!(kept(6), [0, 1, 2, 3, 4, 9]);
        assert_eq!(kept(5), [0, 1, 2, 9]);
        assert_eq!(kept(2), [0, 1]);
    }
}
