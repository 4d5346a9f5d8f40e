//! Plan improvement by sweeps with addresses: first over all values, then over random windows.

use super::{
    AddressSweep, BestPlan, DualPrices, FixedInterval, Range, ResidencyInterval, ResidencySelection, SelectionProblem,
    StepBudget, SweepTask, ValueDecisions, ValueResidency, candidate_address::mix_bits, remove_useless_intervals,
};
use crate::progress::ProgressCallback;

/// Plan under improvement: the residency of each value, and the addresses of its intervals by their first use.
struct IncumbentPlan<'p> {
    problem: &'p SelectionProblem,
    intervals: Vec<ValueResidency>,
    addresses: Vec<Vec<(usize, i64)>>,
    /// Values of nonzero size, by birth.
    order: Vec<usize>,
    /// Per value: values that may reuse its address.
    children: Vec<Vec<usize>>,
}

/// Divisor of the step budget for sweeps over all values.
const FULL_SWEEP_BUDGET_DIVISOR: u64 = 3;
/// States that the first sweep keeps, and the maximum growth factor per sweep.
const INITIAL_WIDTH: usize = 4;
const WIDTH_GROWTH: usize = 4;
/// Births in the smallest window, and the number of window sizes. Each size is twice the previous one.
const MIN_WINDOW_SIZE: u64 = 8;
const NUM_WINDOW_SIZES: u64 = 4;
/// States kept in a window.
const WINDOW_WIDTH: usize = 32;
/// Number of windows per value without an improvement after which the search ends.
const MAX_IDLE_WINDOWS_PER_VALUE: u64 = 4;

/// Improves the plan by sweeps over all values, then over windows until the steps are used. Returns false if the
/// callback stopped the search.
pub(in crate::exact) fn improve_by_address_sweeps(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> bool {
    let kept_back = steps.left - steps.left / FULL_SWEEP_BUDGET_DIVISOR;
    steps.left -= kept_back;
    let goes_on = sweep_all_values(problem, prices, best, steps, &mut |left, bytes| go_on(kept_back + left, bytes));
    steps.left += kept_back;
    goes_on && sweep_windows(problem, prices, best, steps, go_on)
}

/// Sweeps over all values with increasing width, while steps are left. The first sweep is always completed.
fn sweep_all_values(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> bool {
    let nothing = ResidencySelection::all_in_hbm(problem);
    let mut sweep = AddressSweep::new(problem, prices);
    let mut width = INITIAL_WIDTH;
    while width >= INITIAL_WIDTH {
        let (known, before, mut is_stopped) = (best.bytes, steps.left, false);
        let mut board = IncumbentPlan::new(problem, &nothing, &[]);
        let free = board.order.clone();
        let other_bytes = nothing.hbm_bytes(problem) - free.iter().map(|&value| board.hbm_bytes(value)).sum::<i64>();
        let task = SweepTask {
            ticks: 0..problem.num_ticks,
            free: &free,
            fixed: &[],
            width,
            ceiling: best.bytes - other_bytes,
            seed: 0,
        };
        let served = sweep.run(&task, steps, &mut |left| {
            is_stopped = !go_on(left, known);
            !is_stopped
        });
        if is_stopped {
            return false;
        }
        if let Some(served) = served {
            board.apply_decisions(served);
            board.update_best(best);
        }
        let taken = (before - steps.left).max(1);
        let affordable = u128::from(steps.left) * width as u128 / u128::from(taken);
        width = usize::try_from(affordable).unwrap_or(usize::MAX).min(WIDTH_GROWTH * width);
    }
    true
}

/// Sweeps over random windows. Accepts plans of equal cost too, so that other windows can improve them.
fn sweep_windows(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> bool {
    let mut board = IncumbentPlan::new(problem, &best.selection, &best.placed);
    let mut sweep = AddressSweep::new(problem, prices);
    let (mut bytes, mut is_stopped) = (best.bytes, false);
    let n = board.order.len() as u64;
    let (mut seed, mut idle) = (0_u64, 0_u64);
    while steps.left > 0 && !is_stopped && n > 1 && idle < MAX_IDLE_WINDOWS_PER_VALUE * n {
        (seed, idle) = (seed + 1, idle + 1);
        let size = MIN_WINDOW_SIZE << (mix_bits(seed) % NUM_WINDOW_SIZES);
        let (ticks, free) = board.build_window((mix_bits(!seed) % n) as usize, size as usize);
        let now: i64 = free.iter().map(|&value| board.hbm_bytes(value)).sum();
        steps.left = steps.left.saturating_sub(1);
        if now == free.iter().map(|&value| board.min_hbm_bytes(value)).sum::<i64>() {
            continue;
        }
        let walls = board.collect_fixed_intervals(&ticks, &free);
        let task = SweepTask { ticks, free: &free, fixed: &walls, width: WINDOW_WIDTH, ceiling: now + 1, seed };
        let served = sweep.run(&task, steps, &mut |_| true);
        if let Some(served) = served {
            free.iter().for_each(|&value| board.clear(value));
            board.apply_decisions(served);
            let saved = now - free.iter().map(|&value| board.hbm_bytes(value)).sum::<i64>();
            bytes -= saved;
            idle = if saved > 0 { 0 } else { idle };
        }
        is_stopped = !go_on(steps.left, bytes);
    }
    board.update_best(best);
    !is_stopped
}

impl<'p> IncumbentPlan<'p> {
    fn new(problem: &'p SelectionProblem, selection: &ResidencySelection, placed: &[(ResidencyInterval, i64)]) -> Self {
        let mut addresses = vec![Vec::new(); problem.values.len()];
        for (run, address) in placed {
            addresses[run.value].push((run.first, address / problem.unit_bytes));
        }
        let mut order: Vec<usize> =
            (0..problem.values.len()).filter(|&value| problem.values[value].units > 0).collect();
        order.sort_by_key(|&value| (problem.values[value].first_tick(), value));
        let mut children = vec![Vec::new(); problem.values.len()];
        for (child, value) in problem.values.iter().enumerate() {
            value.parents.iter().for_each(|&parent| children[parent].push(child));
        }
        Self { problem, intervals: selection.intervals.clone(), addresses, order, children }
    }

    fn hbm_bytes(&self, value: usize) -> i64 {
        self.intervals[value].hbm_bytes(self.problem, value)
    }

    /// Returns the HBM bytes of a value if LX serves all of its uses.
    fn min_hbm_bytes(&self, value: usize) -> i64 {
        ValueResidency::all_in_lx(self.problem.values[value].uses.len()).hbm_bytes(self.problem, value)
    }

    fn clear(&mut self, value: usize) {
        self.intervals[value] = ValueResidency::all_in_hbm(self.problem.values[value].uses.len());
        self.addresses[value].clear();
    }

    fn apply_decisions(&mut self, served: Vec<ValueDecisions>) {
        for one in served {
            self.intervals[one.value] = one.interval;
            self.addresses[one.value] = one.addresses;
        }
    }

    /// Returns the address of a value during a use, in units; `None` if HBM serves the use.
    fn address(&self, value: usize, using: usize) -> Option<i64> {
        let known = self.addresses[value].iter().rev().find(|one| one.0 <= using).map(|one| one.1);
        known.filter(|_| self.intervals[value].in_lx[using])
    }

    /// Returns whether the child has the address of the parent in the operation in which the child is born.
    fn reuses_address(&self, child: usize, parent: usize) -> bool {
        let last = self.problem.values[parent].uses.len() - 1;
        self.address(child, 0).is_some_and(|address| self.address(parent, last) == Some(address))
    }

    /// Builds a window: consecutive operations, and the free values. A value is free if it is live only in these
    /// operations and shares no address with a value that is not free.
    fn build_window(&self, from: usize, size: usize) -> (Range<usize>, Vec<usize>) {
        let problem = self.problem;
        let after = (from + size).min(self.order.len());
        let start = problem.values[self.order[from]].first_tick();
        let end = self.order.get(after).map_or(problem.num_ticks, |&value| problem.values[value].first_tick());
        let first = self.order.partition_point(|&value| problem.values[value].first_tick() < start);
        let ends = |value: usize| problem.values[value].uses.last().map_or(0, |one| one.tick) + 1;
        let mut free: Vec<usize> =
            self.order[first..after].iter().copied().filter(|&value| ends(value) <= end).collect();
        loop {
            let is_free = |value: &usize| {
                free.binary_search_by_key(&(problem.values[*value].first_tick(), *value), |&one| {
                    (problem.values[one].first_tick(), one)
                })
                .is_ok()
            };
            let is_tied = |value: usize| {
                let parents =
                    problem.values[value].parents.iter().filter(|&&parent| self.reuses_address(value, parent));
                let children = self.children[value].iter().filter(|&&child| self.reuses_address(child, value));
                parents.chain(children).any(|other| !is_free(other))
            };
            let kept: Vec<usize> = free.iter().copied().filter(|&value| !is_tied(value)).collect();
            let is_same = kept.len() == free.len();
            free = kept;
            if is_same {
                return (start..end, free);
            }
        }
    }

    /// Returns the residency intervals of all values that are not free, as far as they overlap the operations, by
    /// start.
    fn collect_fixed_intervals(&self, ticks: &Range<usize>, free: &[usize]) -> Vec<FixedInterval> {
        let problem = self.problem;
        let mut walls = Vec::new();
        let mut free = free.iter().peekable();
        for &value in &self.order {
            if problem.values[value].first_tick() >= ticks.end {
                break;
            }
            if free.next_if_eq(&&value).is_some()
                || problem.values[value].uses.last().is_none_or(|one| one.tick < ticks.start)
            {
                continue;
            }
            for run in self.intervals[value].collect_intervals(value) {
                let interval = run.ticks(problem);
                if let Some(address) =
                    self.address(value, run.first).filter(|_| interval.start < ticks.end && ticks.start < interval.end)
                {
                    walls.push(FixedInterval {
                        value,
                        start: interval.start.max(ticks.start),
                        end: interval.end,
                        address,
                    });
                }
            }
        }
        walls.sort_by_key(|wall| (wall.start, wall.value));
        walls
    }

    /// Replaces the best plan if this one leaves fewer HBM bytes.
    fn update_best(&self, best: &mut BestPlan) {
        let problem = self.problem;
        let mut selection = ResidencySelection { intervals: self.intervals.clone() };
        remove_useless_intervals(problem, &mut selection);
        let bytes = selection.hbm_bytes(problem);
        if bytes < best.bytes {
            let address = |run: &ResidencyInterval| {
                self.address(run.value, run.first).map_or(0, |address| address * problem.unit_bytes)
            };
            let placed = selection.collect_intervals().into_iter().map(|run| (run, address(&run))).collect();
            *best = BestPlan { bytes, selection, placed };
        }
    }
}
