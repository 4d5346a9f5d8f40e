//! Bound from Lagrange multipliers per value and operation, instead of one price per operation (Lagrangian decomposition, Guignard and
//! Kim 1987). In each operation, a knapsack bounds the payments of the values that fit together. The bound is tighter than that of prices
//! where few large values compete. It applies to unsplit live ranges only.

use super::{
    prices::{At, Prices},
    problem::{Problem, Stays},
};

/// Maximum units of LX for which the knapsacks are affordable.
const MOST_UNITS: i64 = 4096;
/// Maximum of values times operations for which the computation of the values live together is affordable.
const MOST_LOOKS: usize = 1 << 24;
/// Knapsack table cells that count as one step.
const CELLS_OF_STEP: u64 = 1024;

/// Operation with its live values and the payment of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rented {
    pub(crate) tick: usize,
    /// Value and its payment in HBM bytes.
    pub(crate) rents: Vec<(usize, i64)>,
}

/// Multipliers per value and operation, and the lower bound of the HBM bytes that they prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rents {
    pub(crate) operations: Vec<Rented>,
    pub(crate) bound: i64,
}

struct Section {
    tick: usize,
    values: Vec<usize>,
}

struct Search<'p> {
    problem: &'p Problem,
    sections: Vec<Section>,
    /// Multipliers by section and by value in it.
    rents: Vec<Vec<f64>>,
    ways: Vec<Vec<f64>>,
    /// Bytes saved in LX.
    saves: Vec<f64>,
    /// Bytes saved in LX, minus the sum of the value's multipliers.
    rest: Vec<f64>,
    taken: Vec<Vec<bool>>,
    rows: Vec<f32>,
    work: u64,
}

/// Searches multipliers with a large bound, starting from `prices`; `goal` is a cost that can be reached. Stops after `most` steps.
pub(super) fn rents(problem: &Problem, prices: &Prices, goal: i64, most: u64) -> (Option<Rents>, u64) {
    let is_wide = problem.values.len().saturating_mul(problem.n_ticks) > MOST_LOOKS;
    if problem.stays != Stays::Whole || problem.units > MOST_UNITS || problem.units < 1 || is_wide {
        return (None, 0);
    }
    let mut search = Search::new(problem, prices);
    let hbm: f64 = problem.fixed_bytes as f64 + problem.values.iter().map(|value| value.hbm_bytes() as f64).sum::<f64>();
    let goal = hbm - goal as f64;
    let mut best = search.rents.clone();
    let mut best_saved = search.evaluate();
    let (mut pace, mut since) = (0.5, 0);
    while search.work / CELLS_OF_STEP < most && best_saved > goal && pace > 0.01 {
        let saved = search.evaluate();
        since += 1;
        if saved < best_saved {
            best_saved = saved;
            best.clone_from(&search.rents);
            since = 0;
        } else if since >= 5 {
            pace *= 0.7;
            since = 0;
        }
        if !search.step(pace * (saved - goal)) {
            break;
        }
    }
    search.rents = best;
    let work = search.work / CELLS_OF_STEP;
    (Some(search.finish()), work)
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, prices: &Prices) -> Self {
        let (sections, price) = sections(problem, prices);
        let rents =
            |(section, price): (&Section, &f64)| section.values.iter().map(|&value| price * problem.values[value].units as f64).collect();
        let rents: Vec<Vec<f64>> = sections.iter().zip(&price).map(rents).collect();
        let saves = problem.values.iter().map(|value| (value.hbm_bytes() - in_lx(value)) as f64).collect();
        Self {
            problem,
            ways: rents.iter().map(|rents| vec![0.0; rents.len()]).collect(),
            taken: rents.iter().map(|rents| vec![false; rents.len()]).collect(),
            rents,
            sections,
            saves,
            rest: Vec::new(),
            rows: Vec::new(),
            work: 0,
        }
    }

    /// Returns an upper bound of the bytes that a plan saves.
    fn evaluate(&mut self) -> f64 {
        self.rest.clone_from(&self.saves);
        for (section, rents) in self.sections.iter().zip(&self.rents) {
            for (&value, rent) in section.values.iter().zip(rents) {
                self.rest[value] -= rent;
            }
        }
        let mut saved: f64 = self.rest.iter().map(|rest| rest.max(0.0)).sum();
        for section in 0..self.sections.len() {
            saved += self.fill(section);
        }
        saved
    }

    /// Solves the knapsack: the set of values that fits and pays most.
    fn fill(&mut self, section: usize) -> f64 {
        let (values, rents, taken) = (&self.sections[section].values, &self.rents[section], &mut self.taken[section]);
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
            let (before, after, units, rent) = (&before[row * width..], &mut after[..width], units(at).min(width), rents[at] as f32);
            after[..units].copy_from_slice(&before[..units]);
            for ((after, without), with) in after[units..].iter_mut().zip(&before[units..]).zip(before) {
                *after = without.max(with + rent);
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

    /// Raises the multipliers of values that demand LX and are not in the knapsack, and lowers those of values in the knapsack without
    /// demand.
    fn step(&mut self, missing: f64) -> bool {
        let (mut along, mut length) = (0.0, 0.0);
        let wants = |value: usize, rest: &[f64]| f64::from(u8::from(rest[value] > 0.0));
        let change = |value: usize, taken: bool, rent: f64, rest: &[f64]| {
            let change = wants(value, rest) - f64::from(u8::from(taken));
            if change < 0.0 && rent <= 0.0 { 0.0 } else { change }
        };
        for (at, section) in self.sections.iter().enumerate() {
            for (item, &value) in section.values.iter().enumerate() {
                let way = self.ways[at][item];
                along += change(value, self.taken[at][item], self.rents[at][item], &self.rest) * way;
                length += way * way;
            }
        }
        let bend = if along < 0.0 && length > 0.0 { -1.5 * along / length } else { 0.0 };
        let mut length = 0.0;
        for (at, section) in self.sections.iter().enumerate() {
            for (item, &value) in section.values.iter().enumerate() {
                let way = &mut self.ways[at][item];
                *way = change(value, self.taken[at][item], self.rents[at][item], &self.rest) + bend * *way;
                length += *way * *way;
            }
        }
        if length <= 0.0 || missing <= 0.0 {
            return false;
        }
        let step = missing / length;
        for (rents, ways) in self.rents.iter_mut().zip(&self.ways) {
            for (rent, way) in rents.iter_mut().zip(ways) {
                *rent = (*rent + step * way).max(0.0);
            }
        }
        true
    }

    /// Rounds the multipliers to whole bytes and computes their exact bound.
    fn finish(&self) -> Rents {
        let rented = |(section, rents): (&Section, &Vec<f64>)| Rented {
            tick: section.tick,
            rents: section.values.iter().zip(rents).map(|(&value, rent)| (value, rent.round() as i64)).filter(|one| one.1 > 0).collect(),
        };
        let mut operations: Vec<Rented> = self.sections.iter().zip(&self.rents).map(rented).collect();
        operations.retain(|one| !one.rents.is_empty());
        let bound = bound(self.problem, &operations);
        Rents { operations, bound }
    }
}

/// Returns the lower bound of the HBM bytes at these multipliers.
fn bound(problem: &Problem, operations: &[Rented]) -> i64 {
    let mut paid: Vec<i64> = problem.values.iter().map(in_lx).collect();
    let mut bound = problem.fixed_bytes;
    for one in operations {
        let capacity = usize::try_from(problem.units).expect("a capacity is not negative");
        let mut most = vec![0; capacity + 1];
        for &(value, rent) in &one.rents {
            paid[value] += rent;
            for left in (problem.values[value].units as usize..=capacity).rev() {
                most[left] = most[left].max(most[left - problem.values[value].units as usize] + rent);
            }
        }
        bound -= most[capacity];
    }
    bound + problem.values.iter().zip(paid).map(|(value, paid)| paid.min(value.hbm_bytes())).sum::<i64>()
}

/// Returns the HBM bytes of a value that is in LX for its whole live range.
fn in_lx(value: &super::problem::Value) -> i64 {
    value.arrival_bytes + value.ending_bytes(value.after_use(0, At::Hbm))
}

/// Returns the maximal sets of values that are live together, with the price of a unit in each: the sum over the operations whose values
/// it contains.
fn sections(problem: &Problem, prices: &Prices) -> (Vec<Section>, Vec<f64>) {
    let (mut sections, mut price): (Vec<Section>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut has_begun, mut waiting) = (false, 0.0);
    for tick in 0..problem.n_ticks {
        // A child may occupy no space in the operation of its birth.
        let pays_from = |value: &super::problem::Value| value.first() + usize::from(!value.parents.is_empty());
        let last = |value: &super::problem::Value| value.uses.last().map_or(0, |one| one.tick);
        has_begun |= problem.values.iter().any(|value| pays_from(value) == tick);
        let own = prices.of_unit[tick] as f64 / prices.scale as f64;
        if !has_begun {
            match price.last_mut() {
                Some(price) => *price += own,
                None => waiting += own,
            }
            continue;
        }
        waiting += own;
        if problem.values.iter().any(|value| last(value) == tick) {
            let is_live = |value: &usize| (pays_from(&problem.values[*value])..=last(&problem.values[*value])).contains(&tick);
            sections.push(Section { tick, values: (0..problem.values.len()).filter(is_live).collect() });
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

    fn rented(buffers: &[crate::Buffer], bytes: i64, goal: i64) -> Option<Rents> {
        let problem = Problem::new(buffers, &Capacity { bytes, alignment: 1 }, Stays::Whole);
        let prices = Prices::new(&problem, 1, vec![1; problem.n_ticks]);
        rents(&problem, &prices, goal, 10_000).0
    }

    #[test]
    fn they_know_what_fits_together() {
        // One of three values fits; with one price per unit, the relaxation would admit a part of the second.
        let buffers: Vec<_> = ["a", "b", "c"].iter().map(|name| buffer(name, 60, &[0, 1, 2])).collect();
        let rents = rented(&buffers, 100, 360).unwrap();
        assert!((359..=360).contains(&rents.bound), "{rents:?}");
        // If everything fits, all multipliers are 0.
        assert_eq!(rented(&buffers, 180, 0).unwrap().bound, 0);
    }

    #[test]
    fn a_child_pays_nothing_where_it_is_born() {
        let buffers = [buffer("parent", 60, &[0, 1]), child(buffer("child", 60, &[1, 2]), &[0])];
        let rents = rented(&buffers, 60, 0).unwrap();
        assert_eq!(rents.bound, 0, "both fit one after the other");
        assert!(rents.operations.iter().all(|one| one.tick != 1 || one.rents.iter().all(|rent| rent.0 != 1)), "{rents:?}");
    }

    #[test]
    fn the_bound_is_that_of_its_rents() {
        let buffers = [buffer("a", 60, &[0, 1]), buffer("b", 50, &[0, 1]), buffer("c", 40, &[0, 1])];
        let problem = Problem::new(&buffers, &Capacity { bytes: 100, alignment: 1 }, Stays::Whole);
        let rents = vec![(0, 24), (1, 20), (2, 16)];
        // In units of 10: 12 + 10 + 8 from HBM; multipliers 24 + 20 + 16, of which 60 and 40 together pay 40.
        assert_eq!(bound(&problem, &[Rented { tick: 0, rents }]), 24 + 20 + 16 - 40);
    }
}
