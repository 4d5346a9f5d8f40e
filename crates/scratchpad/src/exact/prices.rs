//! Prices of LX per operation and unit: Lagrange multipliers of the capacity. With prices, each value decides by itself whether it pays
//! for LX. The savings of the values, minus the price of all of LX, bound what any choice can save.

use super::problem::{Problem, Stays, TickUse, Value};

/// Location of a value between two of its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Not in LX; HBM has it.
    Hbm = 0,
    /// In LX; HBM does not have it.
    Dirty = 1,
    /// In LX and in HBM.
    Clean = 2,
}

/// Price of each operation, and the costs of the values at these prices.
#[derive(Clone, Debug)]
pub(crate) struct Prices {
    /// Scale: all costs are HBM bytes times this factor.
    pub(crate) scale: i64,
    /// Per operation: price of a unit of LX.
    pub(crate) of_unit: Vec<i64>,
    /// Prefix sums of the prices by operation.
    before: Vec<i64>,
    /// Per value and use, and after the last one: the least cost from that use on, by the location before it.
    rest: Vec<[i64; 3]>,
    /// Per value and use, and after the last one: the cheapest decisions.
    wishes: Vec<Wish>,
    /// Per value: index of its first entry.
    begin: Vec<usize>,
    /// Bound before the first operation.
    bound: i64,
    tariffs: Vec<Tariff>,
    /// Entry per value and use, and after the last one.
    uses: Vec<PricedUse>,
}

/// Costs of a value that do not depend on the prices, scaled.
#[derive(Clone, Copy, Debug)]
struct Tariff {
    units: i64,
    arrival: i64,
    /// Cost of coming to LX for a later use.
    coming: i64,
    /// Cost of leaving LX between two uses, by location.
    leaving: [i64; 3],
    departure: i64,
    /// Whether the operation of its birth is free of charge.
    is_child: bool,
}

#[derive(Clone, Copy, Debug)]
struct PricedUse {
    tick: usize,
    /// Cost if HBM serves the use, scaled.
    hbm: i64,
    /// Location after the use, by the location before it.
    after: [At; 3],
}

/// Cheapest decisions for a use and for the interval after it.
#[derive(Clone, Copy, Debug, Default)]
struct Wish {
    /// Whether LX serves the use, by the location before it.
    in_lx: [bool; 3],
    /// Whether the value stays until the next use, by the location after this one.
    stays: [bool; 3],
}

/// Cost of illegal decisions, above any other cost.
const NEVER: i64 = i64::MAX / 4;
/// Maximum of the total price of LX, so that no sum overflows.
const MOST_FOR_ROOMS: i64 = 1 << 60;

impl Value {
    /// Returns the HBM bytes of leaving LX between two uses.
    pub(crate) fn leaving_bytes(&self, stays: Stays, at: At) -> i64 {
        match (stays, at) {
            (Stays::Whole, At::Dirty | At::Clean) => self.hbm_bytes() - self.arrival_bytes,
            (Stays::Split, At::Dirty) => self.bytes,
            (_, At::Hbm) | (Stays::Split, At::Clean) => 0,
        }
    }

    /// Returns the HBM bytes of coming to LX for a use from location `at`; none if illegal.
    pub(crate) fn coming_bytes(&self, stays: Stays, using: usize, at: At) -> Option<i64> {
        match at {
            At::Dirty | At::Clean => Some(0),
            At::Hbm if using == 0 => Some(self.arrival_bytes),
            At::Hbm if stays == Stays::Whole => None,
            At::Hbm => Some(self.bytes),
        }
    }

    /// Returns the location after a use in LX.
    pub(crate) fn after_use(&self, using: usize, at: At) -> At {
        match at {
            _ if self.uses[using].writes => At::Dirty,
            At::Hbm if using == 0 && !self.arrives_clean => At::Dirty,
            At::Hbm | At::Clean => At::Clean,
            At::Dirty => At::Dirty,
        }
    }

    /// Returns the HBM bytes after the last use.
    pub(crate) fn ending_bytes(&self, at: At) -> i64 {
        if at == At::Dirty { self.departure_bytes } else { 0 }
    }
}

impl Tariff {
    fn of(problem: &Problem, value: &Value, scale: i64) -> Self {
        let leaving = |at: At| value.leaving_bytes(problem.stays, at) * scale;
        Self {
            units: value.units,
            arrival: value.arrival_bytes * scale,
            coming: value.coming_bytes(problem.stays, 1, At::Hbm).map_or(NEVER, |bytes| bytes * scale),
            leaving: [At::Hbm, At::Dirty, At::Clean].map(leaving),
            departure: value.departure_bytes * scale,
            is_child: !value.parents.is_empty(),
        }
    }

    fn coming(&self, using: usize, at: At) -> i64 {
        match at {
            At::Dirty | At::Clean => 0,
            At::Hbm if using == 0 => self.arrival,
            At::Hbm => self.coming,
        }
    }
}

impl Prices {
    /// Computes the costs at these prices.
    pub(crate) fn new(problem: &Problem, scale: i64, of_unit: Vec<i64>) -> Self {
        let (mut begin, mut uses) = (vec![0], Vec::new());
        for value in &problem.values {
            let priced = |(using, one): (usize, &TickUse)| {
                let after = [At::Hbm, At::Dirty, At::Clean].map(|at| value.after_use(using, at));
                PricedUse { tick: one.tick, hbm: one.hbm_bytes * scale, after }
            };
            uses.extend(value.uses.iter().enumerate().map(priced));
            uses.push(PricedUse { tick: 0, hbm: 0, after: [At::Hbm; 3] });
            begin.push(uses.len());
        }
        let tariffs = problem.values.iter().map(|value| Tariff::of(problem, value, scale)).collect();
        let (rest, wishes) = (vec![[0; 3]; uses.len()], vec![Wish::default(); uses.len()]);
        let mut prices = Self { scale, of_unit, before: Vec::new(), rest, wishes, begin, bound: 0, tariffs, uses };
        prices.update(problem);
        prices
    }

    /// Recomputes the costs for changed prices.
    pub(super) fn update(&mut self, problem: &Problem) {
        self.before.clear();
        self.before.push(0);
        let mut sum = 0;
        for price in &self.of_unit {
            sum += price;
            self.before.push(sum);
        }
        self.bound = -problem.units * sum;
        for (index, tariff) in self.tariffs.iter().enumerate() {
            let (begin, end) = (self.begin[index], self.begin[index + 1] - 1);
            let mut next = [0, tariff.departure, 0];
            self.rest[end] = next;
            for at in (begin..end).rev() {
                let (using, one) = (at - begin, self.uses[at]);
                let mut after = next;
                let mut wish = Wish::default();
                if at + 1 < end {
                    let rent = tariff.units * (self.before[self.uses[at + 1].tick] - self.before[one.tick + 1]);
                    for place in [At::Dirty as usize, At::Clean as usize] {
                        let (stays, leaves) = (rent + next[place], tariff.leaving[place] + next[At::Hbm as usize]);
                        after[place] = stays.min(leaves);
                        wish.stays[place] = stays < leaves;
                    }
                }
                let room = if using == 0 && tariff.is_child { 0 } else { tariff.units * self.of_unit[one.tick] };
                let mut least = [0; 3];
                // Before its first use, a value has only one possible location.
                let places = if using == 0 { &[At::Hbm][..] } else { &[At::Hbm, At::Dirty, At::Clean] };
                for &place in places {
                    let hbm = one.hbm + tariff.leaving[place as usize] + next[At::Hbm as usize];
                    let lx = tariff.coming(using, place) + room + after[one.after[place as usize] as usize];
                    least[place as usize] = lx.min(hbm);
                    wish.in_lx[place as usize] = lx < hbm;
                }
                (self.rest[at], self.wishes[at], next) = (least, wish, least);
            }
            self.bound += next[At::Hbm as usize];
        }
    }

    /// Computes the least costs of a value from a use on.
    pub(super) fn rest(&self, index: usize, using: usize) -> &[i64; 3] {
        &self.rest[self.begin[index] + using]
    }

    /// Returns the cost from a use on that LX serves. A child pays nothing in the operation of its birth: its parent may have paid.
    pub(crate) fn cost_in_lx(&self, index: usize, using: usize, at: At) -> Option<i64> {
        let (coming, one) = (self.tariffs[index].coming(using, at), &self.uses[self.begin[index] + using]);
        let cost = || coming + self.room(index, using) + self.after(index, using + 1, one.after[at as usize], one.tick + 1);
        (coming < NEVER).then(cost)
    }

    /// Returns the price of the space during a use.
    pub(crate) fn room(&self, index: usize, using: usize) -> i64 {
        let Tariff { units, is_child, .. } = self.tariffs[index];
        if using == 0 && is_child { 0 } else { units * self.of_unit[self.uses[self.begin[index] + using].tick] }
    }

    /// Returns the cost from a use on that HBM serves.
    pub(crate) fn cost_in_hbm(&self, index: usize, using: usize, at: At) -> i64 {
        let one = &self.uses[self.begin[index] + using];
        one.hbm + self.tariffs[index].leaving[at as usize] + self.rest(index, using + 1)[At::Hbm as usize]
    }

    /// Returns the cost from operation `tick` on, before use `next`, of a value at location `at` that may leave.
    pub(crate) fn after(&self, index: usize, next: usize, at: At, tick: usize) -> i64 {
        let (rest, place) = (self.rest(index, next)[at as usize], self.begin[index] + next);
        if at == At::Hbm || place + 1 == self.begin[index + 1] {
            return rest;
        }
        let rent = self.tariffs[index].units * (self.before[self.uses[place].tick] - self.before[tick]);
        (rent + rest).min(self.leaving(index, next, at))
    }

    /// Returns the cost of leaving LX before use `next`.
    pub(crate) fn leaving(&self, index: usize, next: usize, at: At) -> i64 {
        self.tariffs[index].leaving[at as usize] + self.rest(index, next)[At::Hbm as usize]
    }

    /// Returns the bound before the first operation.
    pub(crate) const fn bound(&self) -> i64 {
        self.bound
    }

    /// Returns the units demanded in each operation at these prices.
    pub(super) fn wanted(&self, wanted: &mut [i64]) {
        // First the difference to the preceding operation.
        wanted.fill(0);
        for (index, tariff) in self.tariffs.iter().enumerate() {
            let (begin, end) = (self.begin[index], self.begin[index + 1] - 1);
            let mut place = At::Hbm;
            for at in begin..end {
                let (one, wish) = (&self.uses[at], &self.wishes[at]);
                if !wish.in_lx[place as usize] {
                    place = At::Hbm;
                    continue;
                }
                if at > begin || !tariff.is_child {
                    wanted[one.tick] += tariff.units;
                    wanted[one.tick + 1] -= tariff.units;
                }
                place = one.after[place as usize];
                if wish.stays[place as usize] {
                    wanted[one.tick + 1] += tariff.units;
                    wanted[self.uses[at + 1].tick] -= tariff.units;
                } else {
                    place = At::Hbm;
                }
            }
        }
        for tick in 1..wanted.len() {
            wanted[tick] += wanted[tick - 1];
        }
    }

    /// Searches prices with a large bound by subgradient steps along the excess demand; `goal` is a cost that can be reached.
    pub(crate) fn fitted(problem: &Problem, scale: i64, goal: i64, n_steps: usize) -> Self {
        let mut prices = Self::new(problem, scale, vec![0; problem.n_ticks]);
        prices.fit(problem, goal, n_steps);
        prices
    }

    /// Returns the highest uniform price of a unit at which no sum of prices overflows.
    pub(super) fn highest(problem: &Problem) -> f64 {
        let rooms =
            problem.values.iter().map(|value| i128::from(value.units)).sum::<i128>() + i128::from(problem.units) * problem.n_ticks as i128;
        (i128::from(MOST_FOR_ROOMS) / (rooms + 1)) as f64
    }

    /// Increases the bound.
    pub(crate) fn fit(&mut self, problem: &Problem, goal: i64, n_steps: usize) {
        let prices = self;
        let mut best = (prices.bound, prices.of_unit.clone());
        let mut wanted = vec![0; problem.n_ticks + 1];
        let mut exact: Vec<f64> = prices.of_unit.iter().map(|&price| price as f64).collect();
        let mut excess = exact.clone();
        let highest = Self::highest(problem);
        let mut pace = 1.0_f64;
        let mut since = 0;
        for _ in 0..n_steps {
            prices.wanted(&mut wanted);
            for ((excess, wanted), price) in excess.iter_mut().zip(&wanted).zip(&prices.of_unit) {
                let over = wanted - problem.units;
                *excess = if over < 0 && *price == 0 { 0.0 } else { over as f64 };
            }
            let length: f64 = excess.iter().map(|excess| excess * excess).sum();
            let missing = (goal - prices.bound) as f64;
            if length == 0.0 || missing <= 0.0 || pace < 1e-4 {
                break;
            }
            let step = pace * missing / length;
            for ((price, exact), excess) in prices.of_unit.iter_mut().zip(&mut exact).zip(&excess) {
                *exact = (*exact + step * excess).clamp(0.0, highest);
                // Rounded to nearest; no operand is negative.
                *price = (*exact + 0.5) as i64;
            }
            prices.update(problem);
            since += 1;
            if prices.bound > best.0 {
                best = (prices.bound, prices.of_unit.clone());
                since = 0;
            } else if since >= 10 {
                pace *= 0.6;
                since = 0;
                prices.of_unit.clone_from(&best.1);
                exact = best.1.iter().map(|&price| price as f64).collect();
                prices.update(problem);
            }
        }
        prices.of_unit = best.1;
        prices.update(problem);
    }
}
