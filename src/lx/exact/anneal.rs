//! Plans for dense problems, where selection and addresses cannot be told apart: an order of the buffers, each at the lowest address that
//! those before leave it, or not at all; and many small changes of the order (after Imanishi and Xu, ISMM 2024).

use super::{
    chains::Chain,
    problem::Problem,
    selection::{Run, Selection, Stay},
};
use crate::lx::pack::Steps;

/// Runs that are placed together or not at all.
pub(super) struct Parcel {
    pub(super) runs: Vec<Run>,
    pub(super) chain: Chain,
    /// HBM bytes saved.
    pub(super) saves: i64,
}

/// A parcel that lives together with another.
struct Neighbour {
    other: usize,
    own_units: i64,
    units: i64,
}

struct Search {
    neighbours: Vec<Vec<Neighbour>>,
    /// No address above.
    highest: Vec<i64>,
    saves: Vec<i64>,
    addresses: Vec<Option<i64>>,
    blocked: Vec<(i64, i64)>,
}

/// The same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n.max(1) as u64) as usize
    }
}

/// The address of each parcel, if any, in the best order found. Placing all parcels once takes a step for each.
/// `go_on` is told the steps left and the HBM bytes saved from time to time.
pub(super) fn anneal(parcels: &[Parcel], capacity: i64, steps: &mut Steps, go_on: &mut dyn FnMut(u64, i64) -> bool) -> Vec<Option<i64>> {
    let n = parcels.len();
    let mut search = Search::new(parcels, capacity);
    let total: i64 = search.saves.iter().sum();
    let (mut order, mut value) = search.first_order(parcels);
    let (mut best, mut best_value) = (order.clone(), value);
    let mut dice = Dice(1);
    let cost = n as u64 / 2 + 1;
    let rounds = steps.left / cost;
    let spread = (total - value).max(total / 50) / 20;
    for round in 0..rounds {
        let is_stopped = round % 256 == 255 && !go_on(steps.left, best_value);
        if best_value == total || n < 2 || is_stopped {
            break;
        }
        steps.left -= cost;
        let (from, to) = (dice.below(n), dice.below(n));
        let moved = order[from];
        // A parcel that is placed moves anywhere; one that is not moves forward.
        let (from, to) = if search.addresses[moved].is_none() && to > from { (to, from) } else { (from, to) };
        let parcel = order.remove(from);
        order.insert(to, parcel);
        let new = search.place(&order);
        let heat = spread * i64::try_from(rounds - round).unwrap_or(0) / i64::try_from(rounds).unwrap_or(1);
        if new + heat * dice.below(100) as i64 / 100 * dice.below(100) as i64 / 100 >= value {
            value = new;
            if value > best_value {
                (best, best_value) = (order.clone(), value);
            }
        } else {
            let parcel = order.remove(to);
            order.insert(from, parcel);
        }
    }
    search.place(&best);
    search.addresses
}

impl Search {
    fn new(parcels: &[Parcel], capacity: i64) -> Self {
        let neighbour = |one: usize, other: usize| {
            let meets =
                |link: &super::chains::Link| parcels[other].chain.links.iter().any(|its| link.start < its.end && its.start < link.end);
            let own_units = parcels[one].chain.links.iter().filter(|link| meets(link)).map(|link| link.units).max()?;
            let units = parcels[other].chain.links.iter().map(|link| link.units).max()?;
            Some(Neighbour { other, own_units, units })
        };
        let neighbours = |one: usize| (0..parcels.len()).filter(|&other| other != one).filter_map(|other| neighbour(one, other)).collect();
        let highest = |parcel: &Parcel| parcel.chain.links.iter().map(|link| link.limit.min(capacity) - link.units).min().unwrap_or(-1);
        Self {
            neighbours: (0..parcels.len()).map(neighbours).collect(),
            highest: parcels.iter().map(highest).collect(),
            saves: parcels.iter().map(|parcel| parcel.saves).collect(),
            addresses: vec![None; parcels.len()],
            blocked: Vec::new(),
        }
    }

    /// The best of some orders.
    fn first_order(&mut self, parcels: &[Parcel]) -> (Vec<usize>, i64) {
        let units = |index: usize| parcels[index].chain.links.iter().map(|link| link.units).max().unwrap_or(0);
        let area = |index: usize| parcels[index].chain.links.iter().map(|link| link.units * (link.end - link.start) as i64).sum::<i64>();
        let keys: [&dyn Fn(usize) -> i64; 5] = [
            &|index| -(parcels[index].saves / area(index).max(1)),
            &|index| -area(index),
            &|index| -units(index),
            &|index| -parcels[index].saves,
            &|index| (parcels[index].chain.links[0].start) as i64,
        ];
        let mut best: Option<(Vec<usize>, i64)> = None;
        for key in keys {
            let mut order: Vec<usize> = (0..parcels.len()).collect();
            order.sort_by_key(|&index| (key(index), index));
            let value = self.place(&order);
            if best.as_ref().is_none_or(|best| value > best.1) {
                best = Some((order, value));
            }
        }
        best.unwrap_or_default()
    }

    /// Places in this order; the HBM bytes saved.
    fn place(&mut self, order: &[usize]) -> i64 {
        self.addresses.fill(None);
        let mut saved = 0;
        for &index in order {
            self.blocked.clear();
            for neighbour in &self.neighbours[index] {
                if let Some(address) = self.addresses[neighbour.other] {
                    self.blocked.push((address - neighbour.own_units, address + neighbour.units));
                }
            }
            self.blocked.sort_unstable();
            let mut address = 0;
            for &(low, high) in &self.blocked {
                if low >= address {
                    break;
                }
                address = address.max(high);
            }
            if address <= self.highest[index] {
                self.addresses[index] = Some(address);
                saved += self.saves[index];
            }
        }
        saved
    }
}

/// The parcels of a selection, and of the values that it leaves in HBM.
pub(super) fn parcels(problem: &Problem, selection: &Selection) -> Vec<Parcel> {
    let mut parcels = super::settle::parcels(problem, selection);
    for (index, value) in problem.values.iter().enumerate() {
        if selection.stays[index].in_lx.iter().any(|in_lx| *in_lx) || value.units == 0 {
            continue;
        }
        let mut alone = Selection::none(problem);
        let before = alone.value_bytes(problem, index);
        let n = value.uses.len();
        alone.stays[index] = Stay { in_lx: vec![true; n], keeps: vec![true; n], parent: None };
        let saves = before - alone.value_bytes(problem, index);
        if saves > 0 {
            let run = Run { value: index, first: 0, last: n - 1 };
            parcels.push(Parcel { runs: vec![run], chain: super::settle::chain(problem, &[run]), saves });
        }
    }
    parcels
}
