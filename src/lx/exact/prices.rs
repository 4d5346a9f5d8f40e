//! Prices of LX: one per operation and unit. A value that pays for its room wants it or not, by itself; what the values then save, less the
//! price of the whole LX, bounds what any choice can save (Lagrange's relaxation of the capacity).

use super::problem::{Problem, Stays, Value};

/// Where a value is between two of its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Not in LX; HBM has it.
    Hbm = 0,
    /// In LX; HBM does not have it.
    Dirty = 1,
    /// In LX and in HBM.
    Clean = 2,
}

/// A price for each operation, and what the values cost at these prices.
#[derive(Clone, Debug)]
pub(crate) struct Prices {
    /// All costs are HBM bytes times this.
    pub(crate) scale: i64,
    /// Per operation: cost of a unit of LX.
    pub(crate) of_unit: Vec<i64>,
    /// Sums of the prices of the operations before.
    before: Vec<i64>,
    /// Per value and use: the least cost from that use on, by where the value is before.
    rest: Vec<Vec<[i64; 3]>>,
}

impl Value {
    /// HBM bytes of leaving LX between two uses.
    pub(crate) fn leaving_bytes(&self, stays: Stays, at: At) -> i64 {
        match (stays, at) {
            (Stays::Whole, At::Dirty | At::Clean) => self.hbm_bytes() - self.arrival_bytes,
            (Stays::Split, At::Dirty) => self.bytes,
            (_, At::Hbm) | (Stays::Split, At::Clean) => 0,
        }
    }

    /// HBM bytes of coming to LX for a use when it is at `at` before; none if it may not.
    pub(crate) fn coming_bytes(&self, stays: Stays, using: usize, at: At) -> Option<i64> {
        match at {
            At::Dirty | At::Clean => Some(0),
            At::Hbm if using == 0 => Some(self.arrival_bytes),
            At::Hbm if stays == Stays::Whole => None,
            At::Hbm => Some(self.bytes),
        }
    }

    /// Where it is after a use in LX.
    pub(crate) fn after_use(&self, using: usize, at: At) -> At {
        match at {
            _ if self.uses[using].writes => At::Dirty,
            At::Hbm if using == 0 && !self.arrives_clean => At::Dirty,
            At::Hbm | At::Clean => At::Clean,
            At::Dirty => At::Dirty,
        }
    }

    /// HBM bytes after the last use.
    pub(crate) fn ending_bytes(&self, at: At) -> i64 {
        if at == At::Dirty { self.departure_bytes } else { 0 }
    }
}

impl Prices {
    /// Costs at these prices.
    pub(crate) fn new(problem: &Problem, scale: i64, of_unit: Vec<i64>) -> Self {
        let mut prices = Self { scale, of_unit, before: Vec::new(), rest: Vec::new() };
        prices.update(problem);
        prices
    }

    fn update(&mut self, problem: &Problem) {
        self.before.clear();
        self.before.push(0);
        let mut sum = 0;
        for price in &self.of_unit {
            sum += price;
            self.before.push(sum);
        }
        self.rest.resize(problem.values.len(), Vec::new());
        for (value, mut rest) in problem.values.iter().zip(std::mem::take(&mut self.rest)) {
            rest.clear();
            rest.resize(value.uses.len() + 1, [0; 3]);
            rest[value.uses.len()][At::Dirty as usize] = value.departure_bytes * self.scale;
            self.rest.push(rest);
            let last = self.rest.len() - 1;
            for using in (0..value.uses.len()).rev() {
                let row = [At::Hbm, At::Dirty, At::Clean].map(|at| {
                    let hbm = self.cost_in_hbm(problem, last, using, at);
                    self.cost_in_lx(problem, last, using, at).map_or(hbm, |lx| lx.min(hbm))
                });
                self.rest[last][using] = row;
            }
        }
    }

    /// Cost from a use on that is served from LX. A child pays nothing in the operation of its birth: its parent may have paid.
    pub(crate) fn cost_in_lx(&self, problem: &Problem, index: usize, using: usize, at: At) -> Option<i64> {
        let value = &problem.values[index];
        let coming = value.coming_bytes(problem.stays, using, at)?;
        let after = self.after(problem, index, using + 1, value.after_use(using, at), value.uses[using].tick + 1);
        Some(coming * self.scale + self.room(value, using) + after)
    }

    /// Price of the room during a use.
    pub(crate) fn room(&self, value: &Value, using: usize) -> i64 {
        if using == 0 && !value.parents.is_empty() { 0 } else { value.units * self.of_unit[value.uses[using].tick] }
    }

    /// Cost from a use on that is served from HBM.
    pub(crate) fn cost_in_hbm(&self, problem: &Problem, index: usize, using: usize, at: At) -> i64 {
        let value = &problem.values[index];
        let bytes = value.uses[using].hbm_bytes + value.leaving_bytes(problem.stays, at);
        bytes * self.scale + self.rest[index][using + 1][At::Hbm as usize]
    }

    /// Cost from operation `tick` on, before use `next`, of a value that is at `at` and may leave.
    pub(crate) fn after(&self, problem: &Problem, index: usize, next: usize, at: At, tick: usize) -> i64 {
        let (value, rest) = (&problem.values[index], &self.rest[index][next]);
        let staying = |until: usize| value.units * (self.before[until] - self.before[tick]) + rest[at as usize];
        match value.uses.get(next) {
            Some(one) if at != At::Hbm => staying(one.tick).min(self.leaving(problem, index, next, at)),
            Some(_) | None => rest[at as usize],
        }
    }

    /// Cost of leaving LX before use `next`.
    pub(crate) fn leaving(&self, problem: &Problem, index: usize, next: usize, at: At) -> i64 {
        problem.values[index].leaving_bytes(problem.stays, at) * self.scale + self.rest[index][next][At::Hbm as usize]
    }

    /// The bound before the first operation.
    pub(crate) fn bound(&self, problem: &Problem) -> i64 {
        let values: i64 = self.rest.iter().map(|rest| rest[0][At::Hbm as usize]).sum();
        values - problem.units * self.before[self.before.len() - 1]
    }

    /// Units wanted in each operation at these prices.
    fn wanted(&self, problem: &Problem, wanted: &mut [i64]) {
        wanted.fill(0);
        for (index, value) in problem.values.iter().enumerate() {
            let mut at = At::Hbm;
            for (using, one) in value.uses.iter().enumerate() {
                let hbm = self.cost_in_hbm(problem, index, using, at);
                if self.cost_in_lx(problem, index, using, at).is_none_or(|lx| lx >= hbm) {
                    at = At::Hbm;
                    continue;
                }
                if using > 0 || value.parents.is_empty() {
                    wanted[one.tick] += value.units;
                }
                at = value.after_use(using, at);
                let Some(next) = value.uses.get(using + 1) else { break };
                let gap = one.tick + 1..next.tick;
                if self.leaving(problem, index, using + 1, at) <= self.after(problem, index, using + 1, at, gap.start) {
                    at = At::Hbm;
                } else {
                    wanted[gap].iter_mut().for_each(|units| *units += value.units);
                }
            }
        }
    }

    /// Prices that make the bound large: steps along the excess of what is wanted, `goal` being a cost that can be reached.
    pub(crate) fn fitted(problem: &Problem, scale: i64, goal: i64, n_steps: usize) -> Self {
        let mut prices = Self::new(problem, scale, vec![0; problem.n_ticks]);
        let mut best = (prices.bound(problem), prices.of_unit.clone());
        let mut wanted = vec![0; problem.n_ticks];
        let mut exact: Vec<f64> = vec![0.0; problem.n_ticks];
        let mut pace = 1.0_f64;
        let mut since = 0;
        for _ in 0..n_steps {
            prices.wanted(problem, &mut wanted);
            let excess = |tick: usize| {
                let over = wanted[tick] - problem.units;
                if over < 0 && prices.of_unit[tick] == 0 { 0.0 } else { over as f64 }
            };
            let length: f64 = (0..problem.n_ticks).map(|tick| excess(tick) * excess(tick)).sum();
            let missing = (goal - prices.bound(problem)) as f64;
            if length == 0.0 || missing <= 0.0 || pace < 1e-4 {
                break;
            }
            let step = pace * missing / length;
            for (tick, exact) in exact.iter_mut().enumerate() {
                *exact = (*exact + step * excess(tick)).max(0.0);
            }
            for (price, exact) in prices.of_unit.iter_mut().zip(&exact) {
                *price = exact.round() as i64;
            }
            prices.update(problem);
            let bound = prices.bound(problem);
            since += 1;
            if bound > best.0 {
                best = (bound, prices.of_unit.clone());
                since = 0;
            } else if since >= 10 {
                pace *= 0.6;
                since = 0;
                prices.of_unit.clone_from(&best.1);
                exact = best.1.iter().map(|&price| price as f64).collect();
                prices.update(problem);
            }
        }
        Self::new(problem, scale, best.1)
    }
}
