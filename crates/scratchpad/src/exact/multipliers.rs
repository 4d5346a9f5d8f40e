//! Lower bound from Lagrange multipliers per value and operation, instead of one price per operation (Lagrangian
//! decomposition, Guignard and Kim 1987). In each operation, a knapsack bounds the payments of the values that fit
//! together. The bound is tighter than that of prices if few large values compete. It applies to unsplit live ranges
//! only.

use super::{
    prices::{DualPrices, Residency},
    problem::{ResidencyMode, SelectionProblem},
};

/// Maximum units of LX for which the knapsacks are affordable.
const MAX_KNAPSACK_UNITS: i64 = 4096;
/// Maximum of values times operations for which computing the live sets is affordable.
const MAX_VALUES_TIMES_TICKS: usize = 1 << 24;
/// Cells of a knapsack table that count as one step.
const CELLS_PER_STEP: u64 = 1024;

/// Operation, with the live values that pay for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepMultipliers {
    pub(crate) tick: usize,
    /// Value, and its payment in HBM bytes.
    pub(crate) multipliers: Vec<(usize, i64)>,
}

/// Multipliers per value and operation, and the lower bound on HBM bytes that they prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MultiplierBound {
    pub(crate) operations: Vec<StepMultipliers>,
    pub(crate) bound: i64,
}

struct LiveSet {
    tick: usize,
    values: Vec<usize>,
}

struct MultiplierSearch<'p> {
    problem: &'p SelectionProblem,
    live_sets: Vec<LiveSet>,
    /// Per live set and value in it: the multiplier, in HBM bytes.
    multipliers: Vec<Vec<f64>>,
    directions: Vec<Vec<f64>>,
    /// Per value: HBM bytes that residency saves.
    saves: Vec<f64>,
    /// Per value: HBM bytes that residency saves, minus the sum of the value's multipliers.
    rest: Vec<f64>,
    taken: Vec<Vec<bool>>,
    rows: Vec<f32>,
    work: u64,
}

/// Searches multipliers with a large bound, starting from `prices`. `goal` is the cost of a known plan. Stops after
/// `most` steps. Returns the bound, if the problem is small enough, and the steps taken.
pub(super) fn search_multipliers(
    problem: &SelectionProblem,
    prices: &DualPrices,
    goal: i64,
    most: u64,
) -> (Option<MultiplierBound>, u64) {
    let is_wide = problem.values.len().saturating_mul(problem.num_ticks) > MAX_VALUES_TIMES_TICKS;
    if problem.mode != ResidencyMode::Whole || problem.units > MAX_KNAPSACK_UNITS || problem.units < 1 || is_wide {
        return (None, 0);
    }
    let mut search = MultiplierSearch::new(problem, prices);
    let hbm: f64 =
        problem.fixed_bytes as f64 + problem.values.iter().map(|value| value.hbm_bytes() as f64).sum::<f64>();
    let goal = hbm - goal as f64;
    let mut best = search.multipliers.clone();
    let mut best_saved = search.evaluate();
    let (mut pace, mut since) = (0.5, 0);
    while search.work / CELLS_PER_STEP < most && best_saved > goal && pace > 0.01 {
        let saved = search.evaluate();
        since += 1;
        if saved < best_saved {
            best_saved = saved;
            best.clone_from(&search.multipliers);
            since = 0;
        } else if since >= 5 {
            pace *= 0.7;
            since = 0;
        }
        if !search.update_multipliers(pace * (saved - goal)) {
            break;
        }
    }
    search.multipliers = best;
    let work = search.work / CELLS_PER_STEP;
    (Some(search.round_to_bound()), work)
}

impl<'p> MultiplierSearch<'p> {
    fn new(problem: &'p SelectionProblem, prices: &DualPrices) -> Self {
        let (sections, price) = find_live_sets(problem, prices);
        let rents = |(section, price): (&LiveSet, &f64)| {
            section.values.iter().map(|&value| price * problem.values[value].units as f64).collect()
        };
        let rents: Vec<Vec<f64>> = sections.iter().zip(&price).map(rents).collect();
        let saves = problem.values.iter().map(|value| (value.hbm_bytes() - resident_hbm_bytes(value)) as f64).collect();
        Self {
            problem,
            directions: rents.iter().map(|rents| vec![0.0; rents.len()]).collect(),
            taken: rents.iter().map(|rents| vec![false; rents.len()]).collect(),
            multipliers: rents,
            live_sets: sections,
            saves,
            rest: Vec::new(),
            rows: Vec::new(),
            work: 0,
        }
    }

    /// Returns an upper bound on the bytes that a plan saves.
    fn evaluate(&mut self) -> f64 {
        self.rest.clone_from(&self.saves);
        for (section, rents) in self.live_sets.iter().zip(&self.multipliers) {
            for (&value, multiplier) in section.values.iter().zip(rents) {
                self.rest[value] -= multiplier;
            }
        }
        let mut saved: f64 = self.rest.iter().map(|rest| rest.max(0.0)).sum();
        for section in 0..self.live_sets.len() {
            saved += self.solve_knapsack(section);
        }
        saved
    }

    /// Solves the knapsack of a live set: marks the values that fit and pay most, and returns their payment.
    fn solve_knapsack(&mut self, section: usize) -> f64 {
        let (values, rents, taken) =
            (&self.live_sets[section].values, &self.multipliers[section], &mut self.taken[section]);
        let capacity = self.problem.units as usize;
        let units = |at: usize| self.problem.values[values[at]].units as usize;
        let paying: Vec<usize> = (0..values.len()).filter(|&at| rents[at] > 0.0).collect();
        self.work += paying.len() as u64;
        taken.fill(false);
        if paying.iter().map(|&at| units(at)).sum::<usize>() <= capacity {
            paying.iter().for_each(|&at| taken[at] = true);
            return paying.iter().map(|&at| rents[at]).sum();
        }
        let width = capacity + 1;
        self.work += (width * paying.len()) as u64;
        self.rows.clear();
        self.rows.resize(width * (paying.len() + 1), 0.0);
        for (row, &at) in paying.iter().enumerate() {
            let (before, after) = self.rows.split_at_mut((row + 1) * width);
            let (before, after, units, multiplier) =
                (&before[row * width..], &mut after[..width], units(at).min(width), rents[at] as f32);
            after[..units].copy_from_slice(&before[..units]);
            for ((after, without), with) in after[units..].iter_mut().zip(&before[units..]).zip(before) {
                *after = without.max(with + multiplier);
            }
        }
        let (mut left, mut sum) = (capacity, 0.0);
        for (row, &at) in paying.iter().enumerate().rev() {
            if self.rows[(row + 1) * width + left] > self.rows[row * width + left] {
                taken[at] = true;
                left -= units(at);
                sum += rents[at];
            }
        }
        sum
    }

    /// Raises the multipliers of values that gain from LX and are not in the knapsack. Lowers those of values in the
    /// knapsack that do not gain. Returns false if nothing changes.
    fn update_multipliers(&mut self, missing: f64) -> bool {
        let (mut along, mut length) = (0.0, 0.0);
        let wants = |value: usize, rest: &[f64]| f64::from(u8::from(rest[value] > 0.0));
        let change = |value: usize, taken: bool, multiplier: f64, rest: &[f64]| {
            let change = wants(value, rest) - f64::from(u8::from(taken));
            if change < 0.0 && multiplier <= 0.0 { 0.0 } else { change }
        };
        for (at, section) in self.live_sets.iter().enumerate() {
            for (item, &value) in section.values.iter().enumerate() {
                let way = self.directions[at][item];
                along += change(value, self.taken[at][item], self.multipliers[at][item], &self.rest) * way;
                length += way * way;
            }
        }
        let bend = if along < 0.0 && length > 0.0 { -1.5 * along / length } else { 0.0 };
        let mut length = 0.0;
        for (at, section) in self.live_sets.iter().enumerate() {
            for (item, &value) in section.values.iter().enumerate() {
                let way = &mut self.directions[at][item];
                *way = change(value, self.taken[at][item], self.multipliers[at][item], &self.rest) + bend * *way;
                length += *way * *way;
            }
        }
        if length <= 0.0 || missing <= 0.0 {
            return false;
        }
        let step = missing / length;
        for (rents, ways) in self.multipliers.iter_mut().zip(&self.directions) {
            for (multiplier, way) in rents.iter_mut().zip(ways) {
                *multiplier = (*multiplier + step * way).max(0.0);
            }
        }
        true
    }

    /// Rounds the multipliers to whole bytes and computes their exact bound.
    fn round_to_bound(&self) -> MultiplierBound {
        let rented = |(section, rents): (&LiveSet, &Vec<f64>)| StepMultipliers {
            tick: section.tick,
            multipliers: section
                .values
                .iter()
                .zip(rents)
                .map(|(&value, multiplier)| (value, multiplier.round() as i64))
                .filter(|one| one.1 > 0)
                .collect(),
        };
        let mut operations: Vec<StepMultipliers> = self.live_sets.iter().zip(&self.multipliers).map(rented).collect();
        operations.retain(|one| !one.multipliers.is_empty());
        let bound = compute_bound(self.problem, &operations);
        MultiplierBound { operations, bound }
    }
}

/// Returns the lower bound on HBM bytes that these multipliers prove.
fn compute_bound(problem: &SelectionProblem, operations: &[StepMultipliers]) -> i64 {
    let mut paid: Vec<i64> = problem.values.iter().map(resident_hbm_bytes).collect();
    let mut bound = problem.fixed_bytes;
    for one in operations {
        let capacity = usize::try_from(problem.units).expect("a capacity is not negative");
        let mut most = vec![0; capacity + 1];
        for &(value, multiplier) in &one.multipliers {
            paid[value] += multiplier;
            for left in (problem.values[value].units as usize..=capacity).rev() {
                most[left] = most[left].max(most[left - problem.values[value].units as usize] + multiplier);
            }
        }
        bound -= most[capacity];
    }
    bound + problem.values.iter().zip(paid).map(|(value, paid)| paid.min(value.hbm_bytes())).sum::<i64>()
}

/// Returns the HBM bytes of a value that is in LX for its whole live range.
fn resident_hbm_bytes(value: &super::problem::BufferValue) -> i64 {
    value.arrival_bytes + value.final_store_bytes(value.residency_after_use(0, Residency::Hbm))
}

/// Returns the maximal sets of values that are live together, and per set the price of a unit. That price is the sum
/// over the operations whose live values the set contains.
fn find_live_sets(problem: &SelectionProblem, prices: &DualPrices) -> (Vec<LiveSet>, Vec<f64>) {
    let (mut sections, mut price): (Vec<LiveSet>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut has_begun, mut waiting) = (false, 0.0);
    for tick in 0..problem.num_ticks {
        // A child may need no space of its own in the operation of its birth.
        let pays_from =
            |value: &super::problem::BufferValue| value.first_tick() + usize::from(!value.parents.is_empty());
        let last = |value: &super::problem::BufferValue| value.uses.last().map_or(0, |one| one.tick);
        has_begun |= problem.values.iter().any(|value| pays_from(value) == tick);
        let own = prices.unit_prices[tick] as f64 / prices.scale as f64;
        if !has_begun {
            match price.last_mut() {
                Some(price) => *price += own,
                None => waiting += own,
            }
            continue;
        }
        waiting += own;
        if problem.values.iter().any(|value| last(value) == tick) {
            let is_live =
                |value: &usize| (pays_from(&problem.values[*value])..=last(&problem.values[*value])).contains(&tick);
            sections.push(LiveSet { tick, values: (0..problem.values.len()).filter(is_live).collect() });
            price.push(std::mem::take(&mut waiting));
            has_begun = false;
        }
    }
    (sections, price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Capacity,
        buffer::tests::{buffer, child},
    };

    fn search_bound(buffers: &[crate::Buffer], bytes: i64, goal: i64) -> Option<MultiplierBound> {
        let problem = SelectionProblem::new(buffers, &Capacity { bytes, alignment: 1 }, ResidencyMode::Whole);
        let prices = DualPrices::new(&problem, 1, vec![1; problem.num_ticks]);
        search_multipliers(&problem, &prices, goal, 10_000).0
    }

    #[test]
    fn accounts_for_values_that_do_not_fit_together() {
        // One of three values fits. With one price per unit, the relaxation admits a fraction of the second.
        let buffers: Vec<_> = ["a", "b", "c"].iter().map(|name| buffer(name, 60, &[0, 1, 2])).collect();
        let rents = search_bound(&buffers, 100, 360).unwrap();
        assert!((359..=360).contains(&rents.bound), "{rents:?}");
        // If everything fits, all multipliers are 0.
        assert_eq!(search_bound(&buffers, 180, 0).unwrap().bound, 0);
    }

    #[test]
    fn charges_nothing_at_birth_of_child() {
        let buffers = [buffer("parent", 60, &[0, 1]), child(buffer("child", 60, &[1, 2]), &[0])];
        let rents = search_bound(&buffers, 60, 0).unwrap();
        assert_eq!(rents.bound, 0, "both fit one after the other");
        assert!(
            rents
                .operations
                .iter()
                .all(|one| one.tick != 1 || one.multipliers.iter().all(|multiplier| multiplier.0 != 1)),
            "{rents:?}"
        );
    }

    #[test]
    fn computes_bound_from_multipliers() {
        let buffers = [buffer("a", 60, &[0, 1]), buffer("b", 50, &[0, 1]), buffer("c", 40, &[0, 1])];
        let problem = SelectionProblem::new(&buffers, &Capacity { bytes: 100, alignment: 1 }, ResidencyMode::Whole);
        let rents = vec![(0, 24), (1, 20), (2, 16)];
        // In units of 10: 12 + 10 + 8 from HBM. Of the multipliers 24 + 20 + 16, those for 60 and 40 bytes together pay
        // 40.
        assert_eq!(compute_bound(&problem, &[StepMultipliers { tick: 0, multipliers: rents }]), 24 + 20 + 16 - 40);
    }
}
