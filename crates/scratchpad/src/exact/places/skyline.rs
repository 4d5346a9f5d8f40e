//! Estimates the cost of the gaps between the resident values of a state.
//!
//! The skyline maps each address to the operation until which the address is occupied. A valley becomes a gap when the last of
//! its values leaves LX, and remains a gap until the first of its two neighbors leaves. Some units of a gap remain unused,
//! whatever is placed into it. A skyline with few and short valleys is therefore better than one with many.

use super::{Berth, Prices, Problem, Tenant, berths::mixed};

pub(super) struct Skyline {
    /// Sums of what an empty unit may cost in the operations before.
    before: Vec<f64>,
    /// Units that remain of a gap, whatever is put into it.
    remains: i64,
    units: i64,
    /// Mean cost of a value in HBM, in scaled bytes.
    of_value: f64,
    /// Taken by one question after the other.
    open: Vec<Level>,
}

/// The part of an empty unit's price that it may cost, and of what is saved by a unit on average: LX is seldom empty everywhere.
const OF_PRICE: f64 = 0.3;
const OF_MEAN: f64 = 0.015;
/// One in so many of a value's units remains.
const PARTS: i64 = 10;
/// The part of what a value costs by which two states may be taken for one another.
const NOISE: f64 = 0.003;

/// A valley, or a plateau, while a skyline is looked at from left to right.
#[derive(Clone, Copy)]
struct Level {
    until: usize,
    units: i64,
}

/// The levels that are not closed on the right, and what those that are may cost.
struct Valleys<'s> {
    before: &'s [f64],
    remains: i64,
    open: Vec<Level>,
    cost: f64,
}

impl Skyline {
    pub(super) fn new(problem: &Problem, prices: &Prices) -> Self {
        let last = |value: &super::super::problem::Value| value.uses.last().map_or(0, |one| one.tick);
        let area: f64 = problem.values.iter().map(|value| (value.units * (last(value) + 1 - value.first()) as i64) as f64).sum();
        let saves = problem.values.iter().map(|value| value.hbm_bytes() as f64).sum::<f64>() * prices.scale as f64;
        let mean = saves / area.max(1.0);
        let mut before = vec![0.0];
        for price in &prices.of_unit {
            before.push(before[before.len() - 1] + OF_PRICE * *price as f64 + OF_MEAN * mean);
        }
        let n = problem.values.len().max(1);
        let mean_units = problem.values.iter().map(|value| value.units).sum::<i64>() / n as i64;
        Self { before, remains: (mean_units / PARTS).max(1), units: problem.units, of_value: saves / n as f64, open: Vec::new() }
    }

    /// Up to a part of what a value costs.
    pub(super) fn noise(&self, hash: u64) -> i64 {
        (self.of_value * NOISE * ((mixed(hash) >> 40) as f64 / (1_u64 << 24) as f64)) as i64
    }

    /// Scaled bytes that the valleys of a state may cost; with a new tenant at a berth, until some operation.
    pub(super) fn waste(&mut self, tenants: &[Tenant], new: Option<(&Berth, usize)>, tick: usize) -> i64 {
        let (units, mut open) = (self.units, std::mem::take(&mut self.open));
        open.clear();
        let mut valleys = Valleys { before: &self.before, remains: self.remains, open, cost: 0.0 };
        let mut low = 0;
        let mut put = |start: i64, end: i64, until: usize| {
            if start > low {
                valleys.add(Level { until: tick, units: start - low });
            }
            if end > low {
                valleys.add(Level { until, units: end - low.max(start) });
                low = end;
            }
        };
        let mut waiting = new;
        for tenant in tenants {
            if new.is_some_and(|(berth, _)| berth.drives_out(tenant)) {
                continue;
            }
            if let Some((berth, until)) = waiting.take_if(|(berth, _)| berth.address <= tenant.address) {
                put(berth.address, berth.end, until);
            }
            put(tenant.address, tenant.end(), tenant.until);
        }
        if let Some((berth, until)) = waiting {
            put(berth.address, berth.end, until);
        }
        put(units, units, tick);
        valleys.add(Level { until: usize::MAX, units: 0 });
        let cost = valleys.cost;
        self.open = valleys.open;
        cost as i64
    }
}

impl Valleys<'_> {
    /// Goes on with a level: it closes what is lower.
    fn add(&mut self, mut level: Level) {
        while let Some(valley) = self.open.pop_if(|valley| valley.until <= level.until) {
            let left = self.open.last_mut();
            let until = left.as_ref().map_or(usize::MAX, |left| left.until).min(level.until);
            if until != usize::MAX {
                let before = self.before;
                let of_unit = before[until.min(before.len() - 1)] - before[valley.until];
                self.cost += of_unit * valley.units.min(self.remains) as f64;
            }
            match left.filter(|left| left.until <= level.until) {
                Some(left) => left.units += valley.units,
                None => level.units += valley.units,
            }
        }
        self.open.push(level);
    }
}
