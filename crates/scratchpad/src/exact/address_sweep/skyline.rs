//! Estimates the cost of the gaps between the resident values of a state.
//!
//! The skyline maps each address to the operation until which it is occupied. A valley becomes a gap when the last of
//! its values leaves LX, and remains one until the first of its two neighbors leaves. Some units of a gap remain
//! unused, whatever is placed into it. A skyline with few and short valleys is therefore better.

use super::{CandidateAddress, DualPrices, ResidentValue, SelectionProblem, candidate_address::mix_bits};

pub(super) struct Skyline {
    /// Prefix sums, by operation, of the estimated cost of an empty unit.
    before: Vec<f64>,
    /// Units of a gap that are expected to remain unused.
    unusable_units: i64,
    units: i64,
    /// Mean HBM cost of a value, in scaled bytes.
    mean_value_cost: f64,
    /// Allocation that all queries reuse.
    open: Vec<SkylineSegment>,
}

/// Fractions of an empty unit's price, and of the mean saving per unit, that the estimate charges. They are small
/// because LX is seldom empty everywhere.
const PRICE_FRACTION: f64 = 0.3;
const MEAN_SAVING_FRACTION: f64 = 0.015;
/// Divisor of the mean value size that gives the unused units of a gap.
const UNUSABLE_UNITS_DIVISOR: i64 = 10;
/// Fraction of the mean value cost below which two states count as equal.
const NOISE_FRACTION: f64 = 0.003;

/// Segment of the skyline, during a scan by ascending address: adjacent units that are occupied until the same
/// operation.
#[derive(Clone, Copy)]
struct SkylineSegment {
    until: usize,
    units: i64,
}

/// Segments that have no higher neighbor above them yet, and the estimated cost of the closed ones.
struct OpenSegments<'s> {
    before: &'s [f64],
    unusable_units: i64,
    open: Vec<SkylineSegment>,
    cost: f64,
}

impl Skyline {
    pub(super) fn new(problem: &SelectionProblem, prices: &DualPrices) -> Self {
        let last = |value: &super::super::problem::BufferValue| value.uses.last().map_or(0, |one| one.tick);
        let area: f64 = problem
            .values
            .iter()
            .map(|value| (value.units * (last(value) + 1 - value.first_tick()) as i64) as f64)
            .sum();
        let saves = problem.values.iter().map(|value| value.hbm_bytes() as f64).sum::<f64>() * prices.scale as f64;
        let mean = saves / area.max(1.0);
        let mut before = vec![0.0];
        for price in &prices.unit_prices {
            before.push(before[before.len() - 1] + PRICE_FRACTION * *price as f64 + MEAN_SAVING_FRACTION * mean);
        }
        let n = problem.values.len().max(1);
        let mean_units = problem.values.iter().map(|value| value.units).sum::<i64>() / n as i64;
        Self {
            before,
            unusable_units: (mean_units / UNUSABLE_UNITS_DIVISOR).max(1),
            units: problem.units,
            mean_value_cost: saves / n as f64,
            open: Vec::new(),
        }
    }

    /// Returns a pseudorandom cost of up to [`NOISE_FRACTION`] of the mean value cost.
    pub(super) fn compute_noise(&self, hash: u64) -> i64 {
        (self.mean_value_cost * NOISE_FRACTION * ((mix_bits(hash) >> 40) as f64 / (1_u64 << 24) as f64)) as i64
    }

    /// Estimates the cost of a state's valleys, in scaled bytes. `new` adds a value at a candidate address until some
    /// operation.
    pub(super) fn estimate_waste(
        &mut self,
        residents: &[ResidentValue],
        new: Option<(&CandidateAddress, usize)>,
        tick: usize,
    ) -> i64 {
        let (units, mut open) = (self.units, std::mem::take(&mut self.open));
        open.clear();
        let mut valleys = OpenSegments { before: &self.before, unusable_units: self.unusable_units, open, cost: 0.0 };
        let mut low = 0;
        let mut put = |start: i64, end: i64, until: usize| {
            if start > low {
                valleys.add_segment(SkylineSegment { until: tick, units: start - low });
            }
            if end > low {
                valleys.add_segment(SkylineSegment { until, units: end - low.max(start) });
                low = end;
            }
        };
        let mut waiting = new;
        for resident in residents {
            if new.is_some_and(|(candidate, _)| candidate.evicts(resident)) {
                continue;
            }
            if let Some((candidate, until)) = waiting.take_if(|(candidate, _)| candidate.address <= resident.address) {
                put(candidate.address, candidate.end, until);
            }
            put(resident.address, resident.end(), resident.until);
        }
        if let Some((candidate, until)) = waiting {
            put(candidate.address, candidate.end, until);
        }
        put(units, units, tick);
        valleys.add_segment(SkylineSegment { until: usize::MAX, units: 0 });
        let cost = valleys.cost;
        self.open = valleys.open;
        cost as i64
    }
}

impl OpenSegments<'_> {
    /// Adds a segment, and closes the lower ones below it.
    fn add_segment(&mut self, mut level: SkylineSegment) {
        while let Some(valley) = self.open.pop_if(|valley| valley.until <= level.until) {
            let left = self.open.last_mut();
            let until = left.as_ref().map_or(usize::MAX, |left| left.until).min(level.until);
            if until != usize::MAX {
                let before = self.before;
                let of_unit = before[until.min(before.len() - 1)] - before[valley.until];
                self.cost += of_unit * valley.units.min(self.unusable_units) as f64;
            }
            match left.filter(|left| left.until <= level.until) {
                Some(left) => left.units += valley.units,
                None => level.units += valley.units,
            }
        }
        self.open.push(level);
    }
}
