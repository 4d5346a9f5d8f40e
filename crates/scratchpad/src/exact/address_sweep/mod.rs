//! Beam search over the operations that chooses residency and addresses together, for plans of many buffers.
//!
//! A state is the set of resident values with their addresses. At each birth and use of a value, a state has several
//! successors: HBM serves it, or it gets a [candidate address](candidate_address). States of high rank are dropped. The
//! rank is the bound of the prices, plus the price of empty units, plus the [waste](skyline) of gaps. For a fixed
//! number of states, the time is linear in the number of buffers. [`incumbent`] also sweeps *windows* of a plan.

mod candidate_address;
mod incumbent;
mod skyline;
mod state;
mod state_history;

use super::{
    prices::{DualPrices, Residency},
    problem::{ResidencyMode, SelectionProblem},
    selection::{BestPlan, ResidencyInterval, ResidencySelection, ValueResidency, remove_useless_intervals},
};
use crate::pack::StepBudget;
use candidate_address::{BlockedRanges, CandidateAddress, ResidentValue, find_candidate_addresses};
use skyline::Skyline;
use state::{AddressState, StateSuccessor, retain_best};
use state_history::StateHistory;
use std::ops::Range;

pub(super) use incumbent::improve_by_address_sweeps;

/// Residency interval that the sweep may not change.
#[derive(Clone, Copy)]
struct FixedInterval {
    value: usize,
    start: usize,
    end: usize,
    address: i64,
}

/// Input of a sweep: operations, free values, fixed intervals and limits.
struct SweepTask<'t> {
    ticks: Range<usize>,
    /// Values whose residency is chosen, by birth.
    free: &'t [usize],
    /// Intervals of other values, by start.
    fixed: &'t [FixedInterval],
    /// Maximum number of states that are kept.
    width: usize,
    /// Exclusive upper limit of the HBM bytes of the free values.
    ceiling: i64,
    /// Seed of the tie-breaking between states of nearly equal rank; 0 for none.
    seed: u64,
}

/// Residency of one value, and the address of each interval by its first use.
struct ValueDecisions {
    value: usize,
    interval: ValueResidency,
    addresses: Vec<(usize, i64)>,
}

/// Costs of a resident value in an operation, minus its minimum cost, indexed by whether HBM held a copy before.
#[derive(Clone, Copy, Default)]
struct ResidencyCosts {
    interval_costs: [i64; 2],
    eviction_costs: [i64; 2],
    /// Current use, or else the next one.
    using: usize,
    is_used: bool,
}

struct AddressSweep<'p> {
    problem: &'p SelectionProblem,
    prices: &'p DualPrices,
    skyline: Skyline,
    /// Costs of the live values.
    fares: Vec<ResidencyCosts>,
    /// Per value: the next use.
    next_use: Vec<usize>,
    /// Free values that are live.
    live: Vec<usize>,
    states: Vec<AddressState>,
    moves: Vec<StateSuccessor>,
    history: StateHistory,
}

impl<'p> AddressSweep<'p> {
    fn new(problem: &'p SelectionProblem, prices: &'p DualPrices) -> Self {
        Self {
            skyline: Skyline::new(problem, prices),
            fares: vec![ResidencyCosts::default(); problem.values.len()],
            next_use: vec![0; problem.values.len()],
            live: Vec::new(),
            states: Vec::new(),
            moves: Vec::new(),
            history: StateHistory::new(),
            problem,
            prices,
        }
    }

    /// Returns the decisions of the best plan found below the ceiling. HBM serves the free values that are not listed.
    /// Returns `None` if there is no plan below the ceiling, or if `go_on` returned false.
    fn run(
        &mut self,
        task: &SweepTask<'_>,
        steps: &mut StepBudget,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Option<Vec<ValueDecisions>> {
        self.live.clear();
        self.history = StateHistory::new();
        self.states = vec![AddressState::default()];
        let least: i64 =
            task.free.iter().map(|&value| self.prices.min_costs_from(value, 0)[Residency::Hbm as usize]).sum();
        let room = self.problem.units * task.ticks.clone().map(|tick| self.prices.unit_prices[tick]).sum::<i64>();
        let most = task.ceiling.saturating_mul(self.prices.scale) - least + room;
        let (mut free, mut walls) = (task.free, task.fixed);
        let mut since = 0;
        for tick in task.ticks.clone() {
            let (born, unborn) =
                free.split_at(free.partition_point(|&value| self.problem.values[value].first_tick() == tick));
            let (built, unbuilt) = walls.split_at(walls.partition_point(|wall| wall.start == tick));
            (free, walls) = (unborn, unbuilt);
            born.iter().for_each(|&value| self.next_use[value] = 0);
            self.live.extend(born);
            self.update_costs(tick);
            self.states.iter_mut().for_each(|state| state.begin_step(self.problem, &self.fares, built));
            for value in self.collect_newcomers(born, tick) {
                let made = self.place_value(value, (tick, most), task, walls);
                steps.left = steps.left.saturating_sub(made);
                since += made;
            }
            if self.states.is_empty() {
                return None;
            }
            if since > STEPS_BETWEEN_CALLBACKS {
                since = 0;
                if !go_on(steps.left) {
                    return None;
                }
            }
            self.end_step(tick);
        }
        let best = self.states.iter().filter(|state| state.floor < most).min_by_key(|state| state.floor)?;
        Some(self.history.build_decisions(self.problem, best.history_entry))
    }

    /// Computes the costs of remaining in LX and of leaving it in operation `tick`, for each live value.
    fn update_costs(&mut self, tick: usize) {
        let Self { problem, prices, .. } = *self;
        for &value in &self.live {
            let using = self.next_use[value];
            let is_used = problem.values[value].uses[using].tick == tick;
            let multiplier = problem.values[value].units * prices.unit_prices[tick];
            let fare = |at: Residency| {
                let before = prices.cost_from_step(value, using, at, tick);
                let (intervals, goes) = if is_used {
                    (prices.cost_in_lx(value, using, at).unwrap_or(before), prices.cost_in_hbm(value, using, at))
                } else {
                    (
                        multiplier + prices.cost_from_step(value, using, at, tick + 1),
                        prices.eviction_cost(value, using, at),
                    )
                };
                (intervals - before, goes - before)
            };
            let (only, both) = (fare(Residency::Dirty), fare(Residency::Clean));
            self.fares[value] =
                ResidencyCosts { interval_costs: [only.0, both.0], eviction_costs: [only.1, both.1], using, is_used };
        }
    }

    /// Returns the values that may enter LX in this operation. Values that may reuse an address or pass one on come
    /// first, in list order, so that an address can be passed on. The others follow by descending size.
    fn collect_newcomers(&self, born: &[usize], tick: usize) -> Vec<usize> {
        let problem = self.problem;
        let is_born = |value: usize| problem.values[value].first_tick() == tick;
        let again = self
            .live
            .iter()
            .copied()
            .filter(|&value| problem.mode == ResidencyMode::Split && !is_born(value) && self.fares[value].is_used);
        let mut all: Vec<usize> = born.iter().copied().chain(again).collect();
        let is_in_chain = |value: &super::problem::BufferValue| !value.parents.is_empty() || value.uses.len() == 1;
        all.sort_by_key(|&value| {
            let first = is_born(value) && is_in_chain(&problem.values[value]);
            if first { (0, 0, value) } else { (1, -problem.values[value].units, value) }
        });
        all
    }

    /// Generates the successors for each candidate address of a value, keeps the best states, and returns the steps
    /// taken.
    fn place_value(
        &mut self,
        value: usize,
        (tick, most): (usize, i64),
        task: &SweepTask<'_>,
        walls: &[FixedInterval],
    ) -> u64 {
        let Self { problem, prices, .. } = *self;
        let using = self.next_use[value];
        let before = prices.min_costs_from(value, using)[Residency::Hbm as usize];
        let outside = prices.cost_in_hbm(value, using, Residency::Hbm) - before;
        let inside = prices.cost_in_lx(value, using, Residency::Hbm).map(|cost| cost - before);
        let one = &problem.values[value];
        let until = one.uses.last().map_or(0, |one| one.tick) + 1;
        let blocked = BlockedRanges::new(problem, walls, until);
        let Self { skyline, moves, .. } = self;
        let noise =
            |skyline: &Skyline, hash: u64| if task.seed == 0 { 0 } else { skyline.compute_noise(hash ^ task.seed) };
        moves.clear();
        let mut found: Vec<CandidateAddress> = Vec::new();
        let mut made = 0;
        for (from, state) in (0_u32..).zip(&self.states) {
            let outlook = skyline.estimate_waste(&state.residents, None, tick);
            let is_settled = using > 0 && state.was_resident(value);
            let floor = state.floor + if is_settled { 0 } else { outside };
            let rank = floor.saturating_add(outlook + noise(skyline, state.hash));
            moves.push(StateSuccessor { from, rank, floor, hash: state.hash, set: state.set, candidate: None });
            let steps_of_move = 1 + state.residents.len() as u64 / RESIDENTS_PER_STEP;
            made += steps_of_move;
            let Some(inside) = inside.filter(|_| !is_settled) else { continue };
            found.clear();
            find_candidate_addresses(
                problem,
                &state.residents,
                (&self.fares, &blocked),
                (value, using == 0),
                &mut found,
            );
            made += steps_of_move * found.len() as u64;
            for berth in &found {
                let floor = state.floor + inside + berth.eviction_cost;
                if floor < most {
                    let (hash, set) = state.successor_hashes(value, berth);
                    let outlook = skyline.estimate_waste(&state.residents, Some((berth, until)), tick);
                    let rank = floor.saturating_add(outlook + noise(skyline, hash));
                    moves.push(StateSuccessor { from, rank, floor, hash, set, candidate: Some(*berth) });
                }
            }
        }
        self.moves.retain(|one| one.floor < most);
        retain_best(&mut self.moves, task.width);
        let pays = using > 0 || one.parents.is_empty();
        let resident = ResidentValue::new(value, one.residency_after_use(using, Residency::Hbm), one.units, until);
        let mut next = Vec::with_capacity(self.moves.len());
        for one in &self.moves {
            let mut state = self.states[one.from as usize].clone();
            state.floor = one.floor;
            if let Some(berth) = &one.candidate {
                state.history_entry = self.history.record_placement(&state, (value, using, berth), &self.fares);
                state.place_value(&resident, pays, berth);
            }
            next.push(state);
        }
        self.states = next;
        self.history.prune(&mut self.states);
        made
    }

    /// Ends the operation: charges empty units, and removes values without later uses.
    fn end_step(&mut self, tick: usize) {
        let Self { problem, prices, .. } = *self;
        for state in &mut self.states {
            state.end_step(problem, (tick, prices.unit_prices[tick]), &self.fares);
        }
        for &value in &self.live {
            self.next_use[value] += usize::from(self.fares[value].is_used);
        }
        let next_use = &self.next_use;
        self.live.retain(|&value| next_use[value] < problem.values[value].uses.len());
    }
}

/// Resident values per step: generating a successor takes one step, and one more for each full group of this size.
const RESIDENTS_PER_STEP: u64 = 64;
/// Steps between two calls of the callback.
const STEPS_BETWEEN_CALLBACKS: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capacity, buffer::tests::buffer};

    /// Builds a problem with live ranges of up to forty operations.
    fn build_problem(n: usize, intervals: ResidencyMode) -> SelectionProblem {
        let one = |index: usize| {
            let (start, length) = (index * 7919 % n, index * 31 % 40);
            buffer("any", 1 + (index * 37 % 64) as i64, &[start, start + length / 2, start + length])
        };
        let buffers: Vec<_> = (0..n).map(one).collect();
        SelectionProblem::new(&buffers, &Capacity { bytes: 300, alignment: 1 }, intervals)
    }

    fn count_sweep_steps(n: usize, intervals: ResidencyMode) -> u64 {
        let problem = build_problem(n, intervals);
        let prices = DualPrices::new_optimized(&problem, 1 << 16, 0, 0);
        let mut free: Vec<usize> = (0..problem.values.len()).collect();
        free.sort_by_key(|&value| (problem.values[value].first_tick(), value));
        let task =
            SweepTask { ticks: 0..problem.num_ticks, free: &free, fixed: &[], width: 8, ceiling: 1 << 40, seed: 0 };
        let mut steps = StepBudget { left: u64::MAX };
        let served = AddressSweep::new(&problem, &prices).run(&task, &mut steps, &mut |_| true).unwrap();
        assert!(served.len() > n / 8);
        u64::MAX - steps.left
    }

    #[test]
    fn takes_steps_linear_in_number_of_buffers() {
        for intervals in [ResidencyMode::Whole, ResidencyMode::Split] {
            let steps = [1_000, 2_000, 4_000].map(|n| count_sweep_steps(n, intervals));
            assert!(steps[1] < steps[0] * 21 / 10 && steps[2] < steps[1] * 21 / 10, "{intervals:?}: {steps:?}");
        }
    }
}
