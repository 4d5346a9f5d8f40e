//! Minimum height of a packing.
//!
//! List packings give an upper bound, the load a lower bound. The search then tries capacities between the two. A
//! capacity that a round cannot decide within its steps gives no bound; the next round has more steps.

use super::{
    Packer, PackingResult, PackingShape, Rectangle, StepBudget, list_packing,
    order::ItemProperties,
    portfolio::{LIST_ORDERS, is_searchable},
    problem::PackingProblem,
};
use std::collections::BTreeMap;

/// Steps per capacity and shape in the first round.
const STEPS_PER_SHAPE: u64 = 80;
/// Minimum number of capacities per broad round; the maximum is twice as many.
const MIN_CAPACITIES_PER_ROUND: i64 = 16;

/// Number of broad rounds. Later rounds try only capacities an eighth and a quarter of the gap below the best one.
const NUM_BROAD_ROUNDS: u32 = 3;

/// Smallest height found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackingPeak {
    /// Offset of every shape.
    pub offsets: Vec<i64>,
    /// Maximum top of the shapes.
    pub height: i64,
    /// Lower bound of the height of any packing.
    pub lower_bound: i64,
}

impl PackingPeak {
    /// Returns whether the height is proved to be minimal.
    #[must_use]
    pub const fn is_optimal(&self) -> bool {
        self.height <= self.lower_bound
    }
}

/// Searches the smallest height within the steps. Returns the best height with its offsets, and a lower bound: the
/// load, or a larger one that a search proved.
#[must_use]
pub fn find_smallest_peak(rectangles: &[Rectangle], steps: &mut StepBudget) -> PackingPeak {
    let shapes: Vec<PackingShape> = rectangles.iter().copied().map(PackingShape::from).collect();
    let mut search = PeakSearch::new(&shapes, &[]);
    search.run(steps);
    search.peak
}

/// Resumable search for the minimum height. Several portions of steps give the same result as one.
pub struct PeakSearch<'a> {
    shapes: &'a [PackingShape],
    base: &'a [Rectangle],
    /// Best result so far.
    pub peak: PackingPeak,
    problems: Vec<PackingProblem>,
    /// Next order of the list packings.
    next_list: usize,
    /// Best height and offsets of each problem.
    lists: Vec<Option<(i64, Vec<i64>)>>,
    unit: i64,
    round: u32,
    /// Last capacity that this round left undecided; `None` at the beginning of a round.
    undecided: Option<i64>,
    /// Unfinished packings by capacity, with the steps that each took. The next round resumes them.
    attempts: BTreeMap<i64, (Packer, u64)>,
    /// Capacity whose steps of this round are not used up.
    current: Option<i64>,
}

impl<'a> PeakSearch<'a> {
    /// Begins without a packing: the initial height is the sum of all heights.
    #[must_use]
    pub fn new(shapes: &'a [PackingShape], base: &'a [Rectangle]) -> Self {
        let problems = PackingProblem::split_into_components(shapes, base);
        let unit = problems.first().map_or(1, |problem| problem.unit);
        let tops =
            |problem: &PackingProblem| problem.items.iter().map(|item| item.base + item.height).max().unwrap_or(0);
        let bounds =
            problems.iter().map(|problem| problem.compute_loads().into_iter().max().unwrap_or(0).max(tops(problem)));
        let lower_bound = bounds.max().unwrap_or(0) * unit;
        Self {
            shapes,
            base,
            peak: PackingPeak { offsets: Vec::new(), height: i64::MAX, lower_bound },
            lists: vec![None; problems.len()],
            problems,
            next_list: 0,
            unit,
            round: 0,
            undecided: None,
            attempts: BTreeMap::new(),
            current: None,
        }
    }

    /// Continues until the height equals the bound or the steps are used up. The first list packing is always
    /// completed.
    pub fn run(&mut self, steps: &mut StepBudget) {
        while !self.peak.is_optimal() && !self.is_exhausted() && (steps.left > 0 || self.next_list == 0) {
            if self.next_list < LIST_ORDERS.len() {
                self.pack_lists(steps);
            } else {
                self.probe_capacity(steps);
            }
        }
    }

    /// Returns whether more steps cannot help: a subproblem too large for a search determines the height.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        let best = |(problem, best): (&PackingProblem, &Option<(i64, Vec<i64>)>)| {
            !is_searchable(problem) && best.as_ref().is_some_and(|best| best.0 * self.unit >= self.peak.height)
        };
        self.next_list == LIST_ORDERS.len() && self.problems.iter().zip(&self.lists).any(best)
    }

    /// Packs each problem in the next order. Skips problems that are already as low as the bound.
    fn pack_lists(&mut self, steps: &mut StepBudget) {
        steps.consume(self.shapes.len().max(1) as u64);
        let goal = self.peak.lower_bound / self.unit;
        for (problem, best) in self.problems.iter().zip(&mut self.lists) {
            let limit = best.as_ref().map_or(i64::MAX, |(height, _)| height - 1);
            if limit < goal {
                continue;
            }
            let order = ItemProperties::new(problem, |_| 0).sort_items(&LIST_ORDERS[self.next_list]);
            if let Some(offsets) = list_packing::pack_in_order(problem, &order, limit) {
                *best = Some((list_packing::compute_height(problem, &offsets), offsets));
            }
        }
        self.next_list += 1;
        let mut offsets = vec![0; self.shapes.len()];
        let mut height = 0;
        for (problem, (top, best)) in self.problems.iter().zip(self.lists.iter().flatten()) {
            height = height.max(top * self.unit);
            for (item, offset) in problem.items.iter().zip(best) {
                offsets[item.shape] = offset * self.unit;
            }
        }
        if height < self.peak.height {
            (self.peak.height, self.peak.offsets) = (height, offsets);
        }
    }

    /// Continues with the current or the next capacity.
    fn probe_capacity(&mut self, steps: &mut StepBudget) {
        let capacity = match self.current {
            Some(capacity) => capacity,
            None => self.choose_next_capacity(),
        };
        let allowance = self.step_allowance(capacity);
        let attempt =
            self.attempts.entry(capacity).or_insert_with(|| (Packer::new(self.shapes, self.base, capacity), 0));
        let (packer, taken) = attempt;
        let given = allowance.saturating_sub(*taken).min(steps.left);
        let mut portion = StepBudget { left: given };
        let answer = packer.run(&mut portion);
        steps.left -= given - portion.left;
        *taken += given - portion.left;
        if packer.is_exhausted() {
            // Only list packings are possible, and they are the same for each capacity: this check counts as one step.
            steps.consume(self.shapes.len().max(1) as u64);
        }
        let is_to_be_continued = *taken < allowance && steps.left == 0;
        self.current = None;
        match answer {
            PackingResult::Placed(offsets) => {
                self.peak.height = self.compute_height(&offsets);
                self.peak.offsets = offsets;
                self.attempts.retain(|&capacity, _| capacity < self.peak.height);
            }
            PackingResult::Infeasible => {
                self.peak.lower_bound = capacity + self.unit;
                self.attempts.retain(|&other, _| other > capacity);
            }
            PackingResult::OutOfSteps if is_to_be_continued => self.current = Some(capacity),
            PackingResult::OutOfSteps => self.undecided = Some(capacity),
        }
    }

    /// Returns the capacity that is tried next. A round begins with the bound. Round 0 bisects; later rounds descend
    /// from the best height in steps of a power of two, so that the following round finds the same capacities again.
    ///
    /// A lower capacity is not always harder, because it leaves fewer choices, and the number of steps varies.
    /// Therefore all capacities get few steps before some of them get many.
    fn choose_next_capacity(&mut self) -> i64 {
        let (bound, best) = (self.peak.lower_bound / self.unit, self.peak.height / self.unit);
        let Some(undecided) = self.undecided.map(|capacity| capacity / self.unit) else { return self.peak.lower_bound };
        let next = if self.round == 0 {
            Some(i64::midpoint(undecided, best)).filter(|next| *next > undecided)
        } else {
            let stride = 1 << (((best - bound) / MIN_CAPACITIES_PER_ROUND).max(1).ilog2());
            let above = if undecided <= bound { best } else { undecided.min(best) };
            let next = if self.round > NUM_BROAD_ROUNDS {
                above - ((best - bound) / 8).max(1)
            } else {
                (above - 1).div_euclid(stride) * stride
            };
            Some(next)
                .filter(|next| *next > bound && (self.round <= NUM_BROAD_ROUNDS || *next >= best - (best - bound) / 4))
        };
        next.map_or_else(
            || {
                self.round += 1;
                self.undecided = None;
                self.peak.lower_bound
            },
            |next| next * self.unit,
        )
    }

    /// Returns the total number of steps for a capacity. It doubles from round to round, and grows faster in the rounds
    /// that try few capacities. The bound, which every round tries, is excluded from the faster growth.
    fn step_allowance(&self, capacity: i64) -> u64 {
        let deep = self.round > NUM_BROAD_ROUNDS && capacity > self.peak.lower_bound;
        let doublings = if deep { 2 * self.round } else { self.round.min(NUM_BROAD_ROUNDS) };
        (STEPS_PER_SHAPE * (self.shapes.len() as u64).max(64)) << doublings.min(40)
    }

    fn compute_height(&self, offsets: &[i64]) -> i64 {
        let top = |(shape, offset): (&PackingShape, &i64)| {
            shape.steps.iter().map(|step| step.size).max().map(|size| offset + size)
        };
        self.shapes.iter().zip(offsets).filter_map(top).max().unwrap_or(0)
    }
}
