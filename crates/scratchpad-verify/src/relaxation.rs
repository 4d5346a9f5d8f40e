//! Values, and their minimum cost at given prices.
//!
//! A value is the content of a buffer between two complete writes; no byte is carried from one value to the next. At
//! given prices of LX the values are independent, so the minimum cost of each value follows from its uses, one after
//! the other.

use super::files::{AccessKind, BufferRow, Instance};

/// Location of a value between two uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueLocation {
    /// In HBM only.
    Hbm,
    /// In LX only.
    LxOnly,
    /// In LX and in HBM.
    LxAndHbm,
}

pub(super) struct RelaxedValue {
    pub(super) row: usize,
    pub(super) units: i128,
    pub(super) uses: Vec<StepUse>,
    pub(super) parents: Vec<usize>,
    size: i128,
    arrival: i128,
    departure: i128,
    arrives_clean: bool,
}

/// Uses of a value in one operation.
pub(super) struct StepUse {
    pub(super) tick: usize,
    bytes: i128,
    writes: bool,
}

/// Problem without the capacity constraint. All costs are in scaled bytes.
pub(super) struct RelaxedProblem {
    pub(super) values: Vec<RelaxedValue>,
    /// Operations with uses; ticks number them.
    pub(super) times: Vec<usize>,
    pub(super) capacity: i128,
    /// Bytes of one unit.
    unit_bytes: i128,
    pub(super) price: Vec<i128>,
    /// Prefix sums of the prices, by operation.
    price_sums: Vec<i128>,
    pub(super) scale: i128,
    /// Unscaled bytes of the buffers that cannot be in LX.
    pub(super) fixed: i128,
    whole: bool,
    /// Per value and use: minimum cost from the use on, by the location before it.
    least: Vec<Vec<[i128; 3]>>,
}

impl RelaxedProblem {
    pub(super) fn new(instance: &Instance, whole: bool, scale: i64, prices: &[(usize, i64)]) -> Self {
        let mut times: Vec<usize> =
            instance.buffers.iter().flat_map(|row| row.uses.iter().map(|one| one.time)).collect();
        times.sort_unstable();
        times.dedup();
        let price: Vec<i128> = times
            .iter()
            .map(|time| prices.binary_search_by_key(time, |one| one.0).map_or(0, |at| i128::from(prices[at].1)))
            .collect();
        let mut before = vec![0];
        for price in &price {
            before.push(before[before.len() - 1] + price);
        }
        let mut relaxed = Self {
            values: Vec::new(),
            times,
            price_sums: before,
            capacity: count_units(instance.capacity, instance.alignment),
            unit_bytes: i128::from(instance.alignment),
            price,
            scale: i128::from(scale),
            fixed: 0,
            whole,
            least: Vec::new(),
        };
        relaxed.add_values(instance);
        let common = relaxed.values.iter().fold(0, |common, value| greatest_divisor(common, value.units)).max(1);
        relaxed.capacity /= common;
        relaxed.unit_bytes *= common;
        relaxed.values.iter_mut().for_each(|value| value.units /= common);
        for index in 0..relaxed.values.len() {
            let least = relaxed.compute_min_costs(index);
            relaxed.least.push(least);
        }
        relaxed
    }

    fn add_values(&mut self, instance: &Instance) {
        let mut first_and_last = vec![None; instance.buffers.len()];
        for (index, row) in instance.buffers.iter().enumerate() {
            if row.barred.is_some() || row.size > instance.capacity || row.uses.is_empty() {
                self.fixed += row.uses.iter().map(|_| i128::from(row.size)).sum::<i128>();
                continue;
            }
            let first = self.values.len();
            let units = count_units(row.size, instance.alignment);
            self.add_buffer_values(index, row, units);
            first_and_last[index] = Some((first, self.values.len() - 1));
        }
        for (index, row) in instance.buffers.iter().enumerate() {
            let Some((first, _)) = first_and_last[index] else { continue };
            for &parent in &row.parents {
                let Some((_, last)) = first_and_last[parent] else { continue };
                if instance.may_take_over(index, parent) && !self.values[first].parents.contains(&last) {
                    self.values[first].parents.push(last);
                }
            }
        }
    }

    fn add_buffer_values(&mut self, index: usize, row: &BufferRow, units: i128) {
        let size = i128::from(row.size);
        let arrival = if row.needs_initial_load() { size } else { 0 };
        let new = |arrival: i128| RelaxedValue {
            row: index,
            units,
            uses: vec![],
            parents: vec![],
            size,
            arrival,
            departure: 0,
            arrives_clean: false,
        };
        let mut value = new(arrival);
        let mut at = 0;
        while at < row.uses.len() {
            let group = row.uses[at..].iter().take_while(|one| one.time == row.uses[at].time).count();
            let uses = &row.uses[at..at + group];
            if at > 0 && !self.whole && uses.iter().all(|one| one.kind == AccessKind::Write) {
                self.values.push(std::mem::replace(&mut value, new(0)));
            }
            let writes = uses.iter().any(|one| one.kind == AccessKind::Write);
            let bytes = uses.iter().map(|_| size).sum();
            let tick = self.times.partition_point(|time| *time < row.uses[at].time);
            value.arrives_clean |= at == 0 && row.needs_initial_load() && !writes;
            match value.uses.as_mut_slice() {
                [first, .., last] if self.whole => {
                    first.bytes += bytes;
                    first.writes |= writes;
                    last.tick = tick;
                }
                [first] if self.whole => {
                    first.bytes += bytes;
                    first.writes |= writes;
                    value.uses.push(StepUse { tick, bytes: 0, writes: false });
                }
                _ => value.uses.push(StepUse { tick, bytes, writes }),
            }
            at += group;
        }
        value.departure = if row.graph_output { size } else { 0 };
        self.values.push(value);
    }

    /// Computes the minimum costs backwards over the uses.
    fn compute_min_costs(&self, index: usize) -> Vec<[i128; 3]> {
        let value = &self.values[index];
        let mut least = vec![[0, value.departure * self.scale, 0]];
        for using in (0..value.uses.len()).rev() {
            let next = least[least.len() - 1];
            let row = [ValueLocation::Hbm, ValueLocation::LxOnly, ValueLocation::LxAndHbm].map(|place| {
                let out = self.hbm_use_bytes(index, using, place) * self.scale + next[ValueLocation::Hbm as usize];
                match self.load_bytes(index, using, place) {
                    None => out,
                    Some(bytes) => {
                        let after = self.location_after_use(index, using, place);
                        let interval = self.min_cost_in_gap(index, using, after, value.uses[using].tick + 1, next);
                        out.min(bytes * self.scale + self.space_price(index, using) + interval)
                    }
                }
            });
            least.push(row);
        }
        least.reverse();
        least
    }

    /// Returns the minimum cost from operation `tick` on of a value that is at `place` after use `using`.
    pub(super) fn min_cost_from(&self, index: usize, using: usize, place: ValueLocation, tick: usize) -> i128 {
        self.min_cost_in_gap(index, using, place, tick, self.least[index][using + 1])
    }

    fn min_cost_in_gap(&self, index: usize, using: usize, place: ValueLocation, tick: usize, next: [i128; 3]) -> i128 {
        let value = &self.values[index];
        match value.uses.get(using + 1) {
            Some(one) if place != ValueLocation::Hbm => {
                let multiplier = self.price_between(tick, one.tick) * value.units;
                let leave = self.eviction_bytes(index, place) * self.scale + next[ValueLocation::Hbm as usize];
                leave.min(multiplier + next[place as usize])
            }
            _ => next[place as usize],
        }
    }

    /// Returns the highest address of a value, in units. The last units of LX and of the value may be partial.
    pub(super) fn highest_address(&self, instance: &Instance, value: usize) -> i128 {
        i128::from(instance.capacity - instance.buffers[self.values[value].row].size).div_euclid(self.unit_bytes)
    }

    /// Returns the units of the next smaller LX.
    pub(super) fn units_below(&self, bytes: i64) -> i128 {
        (i128::from(bytes) - 1).div_euclid(self.unit_bytes)
    }

    /// Returns the price of a unit over a range of operations.
    pub(super) fn price_between(&self, from: usize, to: usize) -> i128 {
        self.price_sums[to] - self.price_sums[from]
    }

    /// Returns the minimum cost, from a use on, of a value that is not in LX before it.
    pub(super) fn min_cost_outside_lx(&self, index: usize, using: usize) -> i128 {
        self.least[index][using][ValueLocation::Hbm as usize]
    }

    /// Returns the price of the space during a use. At the birth of a child it is 0, because the parent may have paid
    /// it.
    pub(super) fn space_price(&self, index: usize, using: usize) -> i128 {
        let value = &self.values[index];
        if using == 0 && !value.parents.is_empty() { 0 } else { value.units * self.price[value.uses[using].tick] }
    }

    /// Returns the bytes that are copied so that LX can serve a use; `None` if a plan may not split the live range.
    pub(super) fn load_bytes(&self, index: usize, using: usize, place: ValueLocation) -> Option<i128> {
        let value = &self.values[index];
        match place {
            ValueLocation::LxOnly | ValueLocation::LxAndHbm => Some(0),
            ValueLocation::Hbm if using == 0 => Some(value.arrival),
            ValueLocation::Hbm => Some(value.size).filter(|_| !self.whole),
        }
    }

    /// Returns the bytes of a use that HBM serves, and of leaving LX before it.
    pub(super) fn hbm_use_bytes(&self, index: usize, using: usize, place: ValueLocation) -> i128 {
        self.values[index].uses[using].bytes + self.eviction_bytes(index, place)
    }

    /// Returns the bytes of leaving LX. With unsplit live ranges, a value that leaves early counts as never resident.
    pub(super) fn eviction_bytes(&self, index: usize, place: ValueLocation) -> i128 {
        let value = &self.values[index];
        match place {
            ValueLocation::Hbm => 0,
            ValueLocation::LxOnly | ValueLocation::LxAndHbm if self.whole => value.uses[0].bytes - value.arrival,
            ValueLocation::LxOnly => value.size,
            ValueLocation::LxAndHbm => 0,
        }
    }

    pub(super) fn location_after_use(&self, index: usize, using: usize, place: ValueLocation) -> ValueLocation {
        let value = &self.values[index];
        let has_copy = match place {
            ValueLocation::Hbm => using > 0 || value.arrives_clean,
            ValueLocation::LxOnly => false,
            ValueLocation::LxAndHbm => true,
        };
        if has_copy && !value.uses[using].writes { ValueLocation::LxAndHbm } else { ValueLocation::LxOnly }
    }

    /// Returns the bytes that are copied after the last use.
    pub(super) fn final_store_bytes(&self, index: usize, place: ValueLocation) -> i128 {
        if place == ValueLocation::LxOnly { self.values[index].departure } else { 0 }
    }
}

fn count_units(bytes: i64, alignment: i64) -> i128 {
    i128::from(bytes / alignment + i64::from(bytes % alignment != 0))
}

fn greatest_divisor(one: i128, other: i128) -> i128 {
    if other == 0 { one } else { greatest_divisor(other, one % other) }
}
