//! Simulated annealing for dense problems, in which selection and addresses cannot be separated.
//!
//! A move places one group of intervals where the evictions cost least, and places the evicted groups where there is
//! free space. The change is kept if it saves bytes, or loses few while the temperature is high.

use super::{
    address_assignment::{self, IntervalGroup},
    chains::ChainLink,
    problem::SelectionProblem,
    selection::{ResidencyInterval, ResidencySelection, ValueResidency},
};
use crate::pack::StepBudget;

/// Group whose live range overlaps that of another group, and the units of both where they overlap.
#[derive(Clone, Copy)]
struct OverlappingGroup {
    other: usize,
    own_units: i64,
    units: i64,
}

/// Pseudorandom number generator with the same sequence on every machine.
struct SplitMixRng(u64);

impl SplitMixRng {
    fn next_u64(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn sample_below(&mut self, n: usize) -> usize {
        ((self.next_u64() >> 33) % n.max(1) as u64) as usize
    }

    /// Returns a random number that is close to an exponential distribution with this mean: often small, seldom large.
    fn sample_noise(&mut self, mean: i64) -> i64 {
        let bits = self.next_u64();
        let sixteenths = i64::from(bits.trailing_zeros().min(40)) * 16 + (bits >> 60) as i64;
        // The number of trailing zeros is 1 on average, and the sixteenths add one half on average.
        mean * sixteenths / 24
    }
}

/// Addresses of the groups, and the state of the search.
struct GroupAddresses {
    /// Overlaps of all groups in one list, and the start of each group's overlaps in it.
    neighbors: Vec<OverlappingGroup>,
    begin: Vec<usize>,
    /// Highest legal address of each group.
    highest: Vec<i64>,
    saves: Vec<i64>,
    addresses: Vec<Option<i64>>,
    saved: i64,
    /// Groups without an address, and the position of each group in this list.
    waiting: Vec<usize>,
    waiting_position: Vec<usize>,
    edges: Vec<(i64, i64)>,
    /// Number of overlaps examined, not yet converted to steps.
    work: u64,
}

/// Number of overlaps examined in one step.
const NEIGHBORS_PER_STEP: u64 = 16;

/// Returns addresses that save at least as many bytes as those of `start`. `hot` is the loss that a move may have at
/// the beginning, in hundredths of a group's mean saving; the permitted loss falls to 0. `go_on` receives the steps
/// left and the HBM bytes saved from time to time.
pub(super) fn anneal(
    parcels: &[IntervalGroup],
    start: Vec<Option<i64>>,
    (capacity, hot): (i64, i64),
    steps: &mut StepBudget,
    go_on: &mut dyn FnMut(u64, i64) -> bool,
) -> Vec<Option<i64>> {
    let mut table = GroupAddresses::new(parcels, start, capacity);
    let n = parcels.len();
    let total: i64 = table.saves.iter().sum();
    let hottest = total / i64::try_from(n.max(1)).expect("fewer than 2^63") * hot / 100;
    let (mut best, mut best_saved) = (table.addresses.clone(), table.saved);
    let (mut dice, mut driven) = (SplitMixRng(1), Vec::new());
    let given = steps.left.max(1);
    let mut num_moves = 0_u64;
    while best_saved < total && n > 1 && steps.left > 0 {
        num_moves += 1;
        if num_moves.is_multiple_of(4096) && !go_on(steps.left, best_saved) {
            break;
        }
        let left = i64::try_from(u128::from(steps.left) * 1024 / u128::from(given))
            .expect("no more steps are left than were given");
        let heat = hottest * left / 1024 * left / 1024;
        // Three of four moves choose a group without an address, the others any group: it may have a better address.
        let is_any = dice.sample_below(4) == 0 || table.waiting.is_empty();
        let parcel = if is_any { dice.sample_below(n) } else { table.waiting[dice.sample_below(table.waiting.len())] };
        table.try_move(parcel, heat, &mut dice, &mut driven);
        if table.saved > best_saved {
            best_saved = table.saved;
            best.clone_from(&table.addresses);
        }
        steps.left = steps.left.saturating_sub(1 + table.work / NEIGHBORS_PER_STEP);
        table.work %= NEIGHBORS_PER_STEP;
    }
    best
}

impl GroupAddresses {
    fn new(parcels: &[IntervalGroup], start: Vec<Option<i64>>, capacity: i64) -> Self {
        let meets = |link: &ChainLink, other: &ChainLink| link.start < other.end && other.start < link.end;
        let units = |one: &IntervalGroup, other: &IntervalGroup| {
            let met = one.chain.links.iter().filter(|link| other.chain.links.iter().any(|its| meets(link, its)));
            met.map(|link| link.units).max()
        };
        let (mut neighbours, mut begin) = (Vec::new(), vec![0]);
        for (index, one) in parcels.iter().enumerate() {
            for (other, its) in parcels.iter().enumerate().filter(|(other, _)| *other != index) {
                if let Some((own_units, units)) = units(one, its).zip(units(its, one)) {
                    neighbours.push(OverlappingGroup { other, own_units, units });
                }
            }
            begin.push(neighbours.len());
        }
        let n = parcels.len();
        let mut table = Self {
            neighbors: neighbours,
            begin,
            highest: parcels.iter().map(|parcel| parcel.chain.highest_address(capacity)).collect(),
            saves: parcels.iter().map(|parcel| parcel.saved_bytes).collect(),
            addresses: vec![None; n],
            saved: 0,
            waiting: (0..n).collect(),
            waiting_position: (0..n).collect(),
            edges: Vec::new(),
            work: 0,
        };
        for (parcel, address) in start.into_iter().enumerate() {
            if let Some(address) = address {
                table.assign_address(parcel, address);
            }
        }
        table
    }

    /// Places the group where evictions cost least, and the evicted groups where there is free space. Undoes all of
    /// this if the loss is too large.
    fn try_move(&mut self, parcel: usize, heat: i64, dice: &mut SplitMixRng, driven: &mut Vec<(usize, i64)>) {
        let (before, was) = (self.saved, self.addresses[parcel]);
        if was.is_some() {
            self.remove_address(parcel);
        }
        let Some(address) = self.find_cheapest_address(parcel, heat, dice) else { return };
        self.evict_overlapping(parcel, address, driven);
        self.assign_address(parcel, address);
        driven.sort_unstable_by_key(|&(other, _)| (-self.saves[other], other));
        for &(other, _) in &*driven {
            if let Some(free) = self.find_free_address(other) {
                self.assign_address(other, free);
            }
        }
        if self.saved + dice.sample_noise(heat) >= before {
            return;
        }
        for &(other, _) in &*driven {
            if self.addresses[other].is_some() {
                self.remove_address(other);
            }
        }
        self.remove_address(parcel);
        driven.iter().for_each(|&(other, address)| self.assign_address(other, address));
        if let Some(address) = was {
            self.assign_address(parcel, address);
        }
    }

    /// Assigns an address to a group that has none.
    fn assign_address(&mut self, parcel: usize, address: i64) {
        self.addresses[parcel] = Some(address);
        self.saved += self.saves[parcel];
        let place = self.waiting_position[parcel];
        self.waiting.swap_remove(place);
        if let Some(&moved) = self.waiting.get(place) {
            self.waiting_position[moved] = place;
        }
    }

    /// Removes the address of a group.
    fn remove_address(&mut self, parcel: usize) {
        self.addresses[parcel] = None;
        self.saved -= self.saves[parcel];
        self.waiting_position[parcel] = self.waiting.len();
        self.waiting.push(parcel);
    }

    /// Collects the addresses at which the set of evicted groups changes. An edge is twice the address, plus one if the
    /// change applies above it, with the change of the cost. Both ends of LX are included, so one of the edges is
    /// always the cheapest.
    fn collect_edges(&mut self, parcel: usize) {
        self.edges.clear();
        let range = self.begin[parcel]..self.begin[parcel + 1];
        self.work += range.len() as u64;
        for neighbour in &self.neighbors[range] {
            if let Some(address) = self.addresses[neighbour.other] {
                let saves = self.saves[neighbour.other];
                self.edges.push((2 * (address - neighbour.own_units) + 1, saves));
                self.edges.push((2 * (address + neighbour.units), -saves));
            }
        }
        self.edges.push((0, 0));
        self.edges.push((2 * self.highest[parcel], 0));
        self.edges.sort_unstable();
    }

    /// Calls `is_it` with each candidate address and the cost of its evictions, until it returns true.
    fn find_address(&mut self, parcel: usize, mut is_it: impl FnMut(i64, i64) -> bool) -> Option<i64> {
        self.collect_edges(parcel);
        let mut cost = 0;
        for &(edge, change) in &self.edges {
            let (address, is_above) = (edge >> 1, edge & 1 == 1);
            cost += if is_above { 0 } else { change };
            if (0..=self.highest[parcel]).contains(&address) && is_it(address, cost) {
                return Some(address);
            }
            cost += if is_above { change } else { 0 };
        }
        None
    }

    /// Returns the address with the lowest eviction cost, up to some noise. Returns `None` if the group has no legal
    /// address.
    fn find_cheapest_address(&mut self, parcel: usize, heat: i64, dice: &mut SplitMixRng) -> Option<i64> {
        let mut best: Option<(i64, i64)> = None;
        self.find_address(parcel, |address, cost| {
            let noisy = cost + dice.sample_noise(heat);
            if best.is_none_or(|(least, _)| noisy < least) {
                best = Some((noisy, address));
            }
            false
        });
        best.map(|(_, address)| address)
    }

    /// Returns the lowest address without evictions.
    fn find_free_address(&mut self, parcel: usize) -> Option<i64> {
        self.find_address(parcel, |_, cost| cost == 0)
    }

    /// Removes the addresses of all groups that overlap `parcel` at address `at`.
    fn evict_overlapping(&mut self, parcel: usize, at: i64, driven: &mut Vec<(usize, i64)>) {
        driven.clear();
        for place in self.begin[parcel]..self.begin[parcel + 1] {
            let OverlappingGroup { other, own_units, units } = self.neighbors[place];
            if let Some(address) =
                self.addresses[other].filter(|address| address - own_units < at && at < address + units)
            {
                driven.push((other, address));
                self.remove_address(other);
            }
        }
    }
}

/// Builds the groups of a selection, and one group for each value that the selection leaves in HBM.
pub(super) fn collect_candidate_groups(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
) -> Vec<IntervalGroup> {
    let mut parcels = address_assignment::collect_interval_groups(problem, selection);
    for (index, value) in problem.values.iter().enumerate() {
        if selection.intervals[index].in_lx.iter().any(|in_lx| *in_lx) || value.units == 0 {
            continue;
        }
        let mut alone = ResidencySelection::all_in_hbm(problem);
        let before = alone.value_bytes(problem, index);
        let n = value.uses.len();
        alone.intervals[index] = ValueResidency { in_lx: vec![true; n], keeps: vec![true; n], parent: None };
        let saves = before - alone.value_bytes(problem, index);
        if saves > 0 {
            let run = ResidencyInterval { value: index, first: 0, last: n - 1 };
            parcels.push(IntervalGroup {
                intervals: vec![run],
                chain: address_assignment::build_chain(problem, &[run]),
                saved_bytes: saves,
            });
        }
    }
    parcels
}

#[cfg(test)]
mod tests {
    use super::super::chains::AddressChain;
    use super::*;

    fn build_group(ticks: std::ops::Range<usize>, units: i64, saves: i64) -> IntervalGroup {
        let link = ChainLink { start: ticks.start, end: ticks.end, units, limit: 100 };
        IntervalGroup { intervals: Vec::new(), chain: AddressChain { links: vec![link] }, saved_bytes: saves }
    }

    fn run_anneal(parcels: &[IntervalGroup], start: Vec<Option<i64>>) -> (i64, Vec<Option<i64>>) {
        let mut steps = StepBudget { left: 20_000 };
        let addresses = anneal(parcels, start, (10, 60), &mut steps, &mut |_, _| true);
        let placed = || parcels.iter().zip(&addresses).filter_map(|(parcel, address)| Some((parcel, (*address)?)));
        for (at, (one, low)) in placed().enumerate() {
            assert!((0..=10).contains(&(low + one.chain.max_units())) && low >= 0);
            for (other, other_low) in placed().skip(at + 1) {
                let meet = one.chain.live_range().start < other.chain.live_range().end
                    && other.chain.live_range().start < one.chain.live_range().end;
                assert!(
                    !meet || low + one.chain.max_units() <= other_low || other_low + other.chain.max_units() <= low
                );
            }
        }
        (placed().map(|(parcel, _)| parcel.saved_bytes).sum(), addresses)
    }

    #[test]
    fn places_groups_that_save_most_together() {
        // Only one of the groups of 6 and 5 units fits next to the group of 4, which outlives both.
        let parcels = [
            build_group(0..2, 6, 60),
            build_group(0..2, 5, 61),
            build_group(1..4, 4, 40),
            build_group(2..4, 6, 30),
            build_group(3..5, 7, 29),
        ];
        assert_eq!(run_anneal(&parcels, vec![None; 5]).0, 61 + 40 + 30);
        // A group that is higher than LX is not placed.
        assert_eq!(
            run_anneal(&[build_group(0..2, 11, 99), build_group(0..2, 10, 1)], vec![None; 2]).1,
            [None, Some(0)]
        );
    }

    #[test]
    fn keeps_start_and_stops_when_callback_returns_false() {
        let parcels = [build_group(0..2, 6, 60), build_group(0..2, 5, 61)];
        let mut none = StepBudget { left: 0 };
        let start = vec![None, Some(3)];
        assert_eq!(anneal(&parcels, start.clone(), (10, 60), &mut none, &mut |_, _| true), start);
        assert_eq!(run_anneal(&parcels, start).0, 61);
        let mut steps = StepBudget { left: u64::MAX };
        anneal(&parcels, vec![None; 2], (10, 60), &mut steps, &mut |_, _| false);
        assert!(steps.left > u64::MAX - 1_000_000);
    }
}
