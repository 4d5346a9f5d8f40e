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
    /// Per value and use, and behind the last one: the least cost from that use on, by where the value is before.
    rest: Vec<[i64; 3]>,
    /// Per value: where its entries begin.
    begin: Vec<usize>,
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
        let mut begin = vec![0];
        for value in &problem.values {
            begin.push(begin[begin.len() - 1] + value.uses.len() + 1);
        }
        let rest = vec![[0; 3]; begin[problem.values.len()]];
        let mut prices = Self { scale, of_unit, before: Vec::new(), rest, begin };
        prices.update(problem);
        prices
    }

    pub(super) fn update(&mut self, problem: &Problem) {
        self.before.clear();
        self.before.push(0);
        let mut sum = 0;
        for price in &self.of_unit {
            sum += price;
            self.before.push(sum);
        }
        for (index, value) in problem.values.iter().enumerate() {
            let (begin, n) = (self.begin[index], value.uses.len());
            self.rest[begin + n] = [0, value.departure_bytes * self.scale, 0];
            for using in (0..n).rev() {
                // Before its first use it is nowhere else.
                let places = if using == 0 { &[At::Hbm][..] } else { &[At::Hbm, At::Dirty, At::Clean] };
                for &at in places {
                    let hbm = self.cost_in_hbm(problem, index, using, at);
                    let least = self.cost_in_lx(problem, index, using, at).map_or(hbm, |lx| lx.min(hbm));
                    self.rest[begin + using][at as usize] = least;
                }
            }
        }
    }

    /// The least costs of a value from a use on.
    fn rest(&self, index: usize, using: usize) -> &[i64; 3] {
        &self.rest[self.begin[index] + using]
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
        bytes * self.scale + self.rest(index, using + 1)[At::Hbm as usize]
    }

    /// Cost from operation `tick` on, before use `next`, of a value that is at `at` and may leave.
    pub(crate) fn after(&self, problem: &Problem, index: usize, next: usize, at: At, tick: usize) -> i64 {
        let (value, rest) = (&problem.values[index], self.rest(index, next));
        let staying = |until: usize| value.units * (self.before[until] - self.before[tick]) + rest[at as usize];
        match value.uses.get(next) {
            Some(one) if at != At::Hbm => staying(one.tick).min(self.leaving(problem, index, next, at)),
            Some(_) | None => rest[at as usize],
        }
    }

    /// Cost of leaving LX before use `next`.
    pub(crate) fn leaving(&self, problem: &Problem, index: usize, next: usize, at: At) -> i64 {
        problem.values[index].leaving_bytes(problem.stays, at) * self.scale + self.rest(index, next)[At::Hbm as usize]
    }

    /// The bound before the first operation.
    pub(crate) fn bound(&self, problem: &Problem) -> i64 {
        let values: i64 = (0..problem.values.len()).map(|index| self.rest(index, 0)[At::Hbm as usize]).sum();
        values - problem.units * self.before[self.before.len() - 1]
    }

    /// Units wanted in each operation at these prices.
    pub(super) fn wanted(&self, problem: &Problem, wanted: &mut [i64]) {
        // First what is more or less than in the operation before.
        wanted.fill(0);
        let mut want = |ticks: std::ops::Range<usize>, units: i64| {
            wanted[ticks.start] += units;
            wanted[ticks.end] -= units;
        };
        for (index, value) in problem.values.iter().enumerate() {
            let mut at = At::Hbm;
            for (using, one) in value.uses.iter().enumerate() {
                let hbm = self.cost_in_hbm(problem, index, using, at);
                if self.cost_in_lx(problem, index, using, at).is_none_or(|lx| lx >= hbm) {
                    at = At::Hbm;
                    continue;
                }
                if using > 0 || value.parents.is_empty() {
                    want(one.tick..one.tick + 1, value.units);
                }
                at = value.after_use(using, at);
                let Some(next) = value.uses.get(using + 1) else { break };
                let gap = one.tick + 1..next.tick;
                if self.leaving(problem, index, using + 1, at) <= self.after(problem, index, using + 1, at, gap.start) {
                    at = At::Hbm;
                } else {
                    want(gap, value.units);
                }
            }
        }
        for tick in 1..wanted.len() {
            wanted[tick] += wanted[tick - 1];
        }
    }

    /// Prices that make the bound large: steps along the excess of what is wanted, `goal` being a cost that can be reached.
    pub(crate) fn fitted(problem: &Problem, scale: i64, goal: i64, n_steps: usize) -> Self {
        let mut prices = Self::new(problem, scale, vec![0; problem.n_ticks]);
        let mut best = (prices.bound(problem), prices.of_unit.clone());
        let mut wanted = vec![0; problem.n_ticks + 1];
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
