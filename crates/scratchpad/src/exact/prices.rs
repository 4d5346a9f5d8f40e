//! Prices of LX per operation and unit: Lagrange multipliers of the capacity.
//!
//! With prices, the cheapest residency of each value is independent of all other values. The sum of the minimum costs,
//! minus the price of all of LX, is a lower bound on the cost of every selection.

use super::problem::{BufferValue, ResidencyMode, SelectionProblem, TickUse};

/// Location of a value between two of its uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    /// Not in LX; HBM holds the value.
    Hbm = 0,
    /// In LX; HBM holds no valid copy.
    Dirty = 1,
    /// In LX and in HBM.
    Clean = 2,
}

/// Lagrange multipliers of the LX capacity, one per operation, and the cheapest costs of every value under them.
#[derive(Clone, Debug)]
pub(crate) struct DualPrices {
    /// Scale: costs are HBM bytes times this factor.
    pub(crate) scale: i64,
    /// Per operation: price of one unit of LX.
    pub(crate) unit_prices: Vec<i64>,
    /// Prefix sums of the prices, by operation.
    before: Vec<i64>,
    /// Per value and use, and after the last use: minimum cost from that use on, by the location before it.
    rest: Vec<[i64; 3]>,
    /// Per value and use, and after the last use: cheapest decisions.
    cheapest_choices: Vec<CheapestChoice>,
    /// Per value: index of its first entry in `rest`, `cheapest_choices` and `uses`.
    begin: Vec<usize>,
    /// Lower bound on the cost of a selection, scaled, without the fixed bytes of the problem.
    bound: i64,
    value_costs: Vec<ValueCosts>,
    /// Per value and use, and after the last use: costs that do not depend on the prices.
    uses: Vec<UseCosts>,
}

/// Costs of a value that do not depend on the prices, scaled.
#[derive(Clone, Copy, Debug)]
struct ValueCosts {
    units: i64,
    arrival: i64,
    /// Cost of loading the value for a later use.
    coming: i64,
    /// Cost of leaving LX between two uses, by location.
    leaving: [i64; 3],
    departure: i64,
    /// Whether LX costs nothing in the operation of the value's birth, because the value may reuse an address.
    is_child: bool,
}

#[derive(Clone, Copy, Debug)]
struct UseCosts {
    tick: usize,
    /// Cost of the use if HBM serves it, scaled.
    hbm: i64,
    /// Location after the use if LX serves it, by the location before.
    after: [Residency; 3],
}

/// Cheapest decisions for a use, and for the gap between it and the next use.
#[derive(Clone, Copy, Debug, Default)]
struct CheapestChoice {
    /// Whether LX serves the use, by the location before it.
    in_lx: [bool; 3],
    /// Whether the value remains in LX until the next use, by the location after this use.
    intervals: [bool; 3],
}

/// Cost of an illegal decision, above any other cost.
const ILLEGAL_COST: i64 = i64::MAX / 4;
/// Maximum total price of LX, so that no sum overflows.
const MAX_TOTAL_PRICE: i64 = 1 << 60;

impl BufferValue {
    /// Returns the HBM bytes of leaving LX between two uses.
    pub(crate) fn eviction_bytes(&self, intervals: ResidencyMode, at: Residency) -> i64 {
        match (intervals, at) {
            (ResidencyMode::Whole, Residency::Dirty | Residency::Clean) => self.hbm_bytes() - self.arrival_bytes,
            (ResidencyMode::Split, Residency::Dirty) => self.bytes,
            (_, Residency::Hbm) | (ResidencyMode::Split, Residency::Clean) => 0,
        }
    }

    /// Returns the HBM bytes of making LX serve a use, from location `at`. Returns `None` if that is illegal.
    pub(crate) fn load_bytes(&self, intervals: ResidencyMode, using: usize, at: Residency) -> Option<i64> {
        match at {
            Residency::Dirty | Residency::Clean => Some(0),
            Residency::Hbm if using == 0 => Some(self.arrival_bytes),
            Residency::Hbm if intervals == ResidencyMode::Whole => None,
            Residency::Hbm => Some(self.bytes),
        }
    }

    /// Returns the location after a use that LX serves.
    pub(crate) fn residency_after_use(&self, using: usize, at: Residency) -> Residency {
        match at {
            _ if self.uses[using].writes => Residency::Dirty,
            Residency::Hbm if using == 0 && !self.arrives_clean => Residency::Dirty,
            Residency::Hbm | Residency::Clean => Residency::Clean,
            Residency::Dirty => Residency::Dirty,
        }
    }

    /// Returns the HBM bytes after the last use.
    pub(crate) fn final_store_bytes(&self, at: Residency) -> i64 {
        if at == Residency::Dirty { self.departure_bytes } else { 0 }
    }
}

impl ValueCosts {
    fn new(problem: &SelectionProblem, value: &BufferValue, scale: i64) -> Self {
        let leaving = |at: Residency| value.eviction_bytes(problem.mode, at) * scale;
        Self {
            units: value.units,
            arrival: value.arrival_bytes * scale,
            coming: value.load_bytes(problem.mode, 1, Residency::Hbm).map_or(ILLEGAL_COST, |bytes| bytes * scale),
            leaving: [Residency::Hbm, Residency::Dirty, Residency::Clean].map(leaving),
            departure: value.departure_bytes * scale,
            is_child: !value.parents.is_empty(),
        }
    }

    fn load_cost(&self, using: usize, at: Residency) -> i64 {
        match at {
            Residency::Dirty | Residency::Clean => 0,
            Residency::Hbm if using == 0 => self.arrival,
            Residency::Hbm => self.coming,
        }
    }
}

impl DualPrices {
    /// Computes the costs of all values at these prices.
    pub(crate) fn new(problem: &SelectionProblem, scale: i64, of_unit: Vec<i64>) -> Self {
        let (mut begin, mut uses) = (vec![0], Vec::new());
        for value in &problem.values {
            let priced = |(using, one): (usize, &TickUse)| {
                let after =
                    [Residency::Hbm, Residency::Dirty, Residency::Clean].map(|at| value.residency_after_use(using, at));
                UseCosts { tick: one.tick, hbm: one.hbm_bytes * scale, after }
            };
            uses.extend(value.uses.iter().enumerate().map(priced));
            uses.push(UseCosts { tick: 0, hbm: 0, after: [Residency::Hbm; 3] });
            begin.push(uses.len());
        }
        let tariffs = problem.values.iter().map(|value| ValueCosts::new(problem, value, scale)).collect();
        let (rest, requests) = (vec![[0; 3]; uses.len()], vec![CheapestChoice::default(); uses.len()]);
        let mut prices = Self {
            scale,
            unit_prices: of_unit,
            before: Vec::new(),
            rest,
            cheapest_choices: requests,
            begin,
            bound: 0,
            value_costs: tariffs,
            uses,
        };
        prices.update(problem);
        prices
    }

    /// Recomputes the costs after a change of the prices.
    pub(super) fn update(&mut self, problem: &SelectionProblem) {
        self.before.clear();
        self.before.push(0);
        let mut sum = 0;
        for price in &self.unit_prices {
            sum += price;
            self.before.push(sum);
        }
        self.bound = -problem.units * sum;
        for (index, tariff) in self.value_costs.iter().enumerate() {
            let (begin, end) = (self.begin[index], self.begin[index + 1] - 1);
            let mut next = [0, tariff.departure, 0];
            self.rest[end] = next;
            for at in (begin..end).rev() {
                let (using, one) = (at - begin, self.uses[at]);
                let mut after = next;
                let mut request = CheapestChoice::default();
                if at + 1 < end {
                    let multiplier = tariff.units * (self.before[self.uses[at + 1].tick] - self.before[one.tick + 1]);
                    for place in [Residency::Dirty as usize, Residency::Clean as usize] {
                        let (intervals, leaves) =
                            (multiplier + next[place], tariff.leaving[place] + next[Residency::Hbm as usize]);
                        after[place] = intervals.min(leaves);
                        request.intervals[place] = intervals < leaves;
                    }
                }
                let room = if using == 0 && tariff.is_child { 0 } else { tariff.units * self.unit_prices[one.tick] };
                let mut least = [0; 3];
                // Before its first use, a value has one possible location.
                let places = if using == 0 {
                    &[Residency::Hbm][..]
                } else {
                    &[Residency::Hbm, Residency::Dirty, Residency::Clean]
                };
                for &place in places {
                    let hbm = one.hbm + tariff.leaving[place as usize] + next[Residency::Hbm as usize];
                    let lx = tariff.load_cost(using, place) + room + after[one.after[place as usize] as usize];
                    least[place as usize] = lx.min(hbm);
                    request.in_lx[place as usize] = lx < hbm;
                }
                (self.rest[at], self.cheapest_choices[at], next) = (least, request, least);
            }
            self.bound += next[Residency::Hbm as usize];
        }
    }

    /// Returns the minimum costs of a value from a use on, by the location before it.
    pub(super) fn min_costs_from(&self, index: usize, using: usize) -> &[i64; 3] {
        &self.rest[self.begin[index] + using]
    }

    /// Returns the cost from a use on if LX serves that use. A child pays nothing in the operation of its birth,
    /// because its parent may have paid already.
    pub(crate) fn cost_in_lx(&self, index: usize, using: usize, at: Residency) -> Option<i64> {
        let (coming, one) = (self.value_costs[index].load_cost(using, at), &self.uses[self.begin[index] + using]);
        let cost = || {
            coming
                + self.space_price(index, using)
                + self.cost_from_step(index, using + 1, one.after[at as usize], one.tick + 1)
        };
        (coming < ILLEGAL_COST).then(cost)
    }

    /// Returns the price of the space during a use.
    pub(crate) fn space_price(&self, index: usize, using: usize) -> i64 {
        let ValueCosts { units, is_child, .. } = self.value_costs[index];
        if using == 0 && is_child { 0 } else { units * self.unit_prices[self.uses[self.begin[index] + using].tick] }
    }

    /// Returns the cost from a use on if HBM serves that use.
    pub(crate) fn cost_in_hbm(&self, index: usize, using: usize, at: Residency) -> i64 {
        let one = &self.uses[self.begin[index] + using];
        one.hbm
            + self.value_costs[index].leaving[at as usize]
            + self.min_costs_from(index, using + 1)[Residency::Hbm as usize]
    }

    /// Returns the cost from operation `tick` on, before use `next`, of a value at location `at` that may leave LX now.
    pub(crate) fn cost_from_step(&self, index: usize, next: usize, at: Residency, tick: usize) -> i64 {
        let (rest, place) = (self.min_costs_from(index, next)[at as usize], self.begin[index] + next);
        if at == Residency::Hbm || place + 1 == self.begin[index + 1] {
            return rest;
        }
        let multiplier = self.value_costs[index].units * (self.before[self.uses[place].tick] - self.before[tick]);
        (multiplier + rest).min(self.eviction_cost(index, next, at))
    }

    /// Returns the cost of leaving LX now, before use `next`, including all later costs.
    pub(crate) fn eviction_cost(&self, index: usize, next: usize, at: Residency) -> i64 {
        self.value_costs[index].leaving[at as usize] + self.min_costs_from(index, next)[Residency::Hbm as usize]
    }

    /// Returns the lower bound on the cost of a selection, scaled, without the fixed bytes of the problem.
    pub(crate) const fn bound(&self) -> i64 {
        self.bound
    }

    /// Computes the units demanded in each operation at these prices.
    pub(super) fn compute_demand(&self, wanted: &mut [i64]) {
        // First, differences to the preceding operation.
        wanted.fill(0);
        for (index, tariff) in self.value_costs.iter().enumerate() {
            let (begin, end) = (self.begin[index], self.begin[index + 1] - 1);
            let mut place = Residency::Hbm;
            for at in begin..end {
                let (one, request) = (&self.uses[at], &self.cheapest_choices[at]);
                if !request.in_lx[place as usize] {
                    place = Residency::Hbm;
                    continue;
                }
                if at > begin || !tariff.is_child {
                    wanted[one.tick] += tariff.units;
                    wanted[one.tick + 1] -= tariff.units;
                }
                place = one.after[place as usize];
                if request.intervals[place as usize] {
                    wanted[one.tick + 1] += tariff.units;
                    wanted[self.uses[at + 1].tick] -= tariff.units;
                } else {
                    place = Residency::Hbm;
                }
            }
        }
        for tick in 1..wanted.len() {
            wanted[tick] += wanted[tick - 1];
        }
    }

    /// Searches prices with a large bound by subgradient steps along the excess demand. `goal` is the cost of a known
    /// plan, scaled.
    pub(crate) fn new_optimized(problem: &SelectionProblem, scale: i64, goal: i64, num_steps: usize) -> Self {
        let mut prices = Self::new(problem, scale, vec![0; problem.num_ticks]);
        prices.optimize(problem, goal, num_steps);
        prices
    }

    /// Returns the highest uniform price of a unit at which no sum of prices overflows.
    pub(super) fn max_uniform_price(problem: &SelectionProblem) -> f64 {
        let rooms = problem.values.iter().map(|value| i128::from(value.units)).sum::<i128>()
            + i128::from(problem.units) * problem.num_ticks as i128;
        (i128::from(MAX_TOTAL_PRICE) / (rooms + 1)) as f64
    }

    /// Improves the bound by `num_steps` subgradient steps.
    pub(crate) fn optimize(&mut self, problem: &SelectionProblem, goal: i64, num_steps: usize) {
        let prices = self;
        let mut best = (prices.bound, prices.unit_prices.clone());
        let mut wanted = vec![0; problem.num_ticks + 1];
        let mut exact: Vec<f64> = prices.unit_prices.iter().map(|&price| price as f64).collect();
        let mut excess = exact.clone();
        let highest = Self::max_uniform_price(problem);
        let mut pace = 1.0_f64;
        let mut since = 0;
        for _ in 0..num_steps {
            prices.compute_demand(&mut wanted);
            for ((excess, wanted), price) in excess.iter_mut().zip(&wanted).zip(&prices.unit_prices) {
                let over = wanted - problem.units;
                *excess = if over < 0 && *price == 0 { 0.0 } else { over as f64 };
            }
            let length: f64 = excess.iter().map(|excess| excess * excess).sum();
            let missing = (goal - prices.bound) as f64;
            if length == 0.0 || missing <= 0.0 || pace < 1e-4 {
                break;
            }
            let step = pace * missing / length;
            for ((price, exact), excess) in prices.unit_prices.iter_mut().zip(&mut exact).zip(&excess) {
                *exact = (*exact + step * excess).clamp(0.0, highest);
                // Rounds to nearest, because no operand is negative.
                *price = (*exact + 0.5) as i64;
            }
            prices.update(problem);
            since += 1;
            if prices.bound > best.0 {
                best = (prices.bound, prices.unit_prices.clone());
                since = 0;
            } else if since >= 10 {
                pace *= 0.6;
                since = 0;
                prices.unit_prices.clone_from(&best.1);
                exact = best.1.iter().map(|&price| price as f64).collect();
                prices.update(problem);
            }
        }
        prices.unit_prices = best.1;
        prices.update(problem);
    }
}
