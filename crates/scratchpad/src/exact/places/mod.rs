//! The sweep with addresses: it decides, operation by operation, which values are in LX and where. A state is the set of resident values
//! with their addresses. A value that is born or used leads to new states: HBM serves it, or it takes an end of a gap, the address of a
//! dying parent, or one with evictions. The sweep keeps the states with the lowest bounds, and prefers gaps of later use (`skyline.rs`).
//! The bound is that of the prices, raised by each expensive unit left empty. `board.rs` also sweeps *windows*: some operations, the free
//! values in them, and *walls*, which are fixed intervals of the others. For a fixed number of kept states, the time is linear in the
//! number of buffers.

mod berths;
mod board;
mod past;
mod skyline;
mod state;

use super::{
    prices::{At, Prices},
    problem::{Problem, Stays},
    selection::{Best, Run, Selection, Stay, trim},
};
use crate::pack::Steps;
use berths::{Berth, Blocked, Tenant, berths};
use past::Past;
use skyline::Skyline;
use state::{Move, State, keep};
use std::ops::Range;

pub(super) use board::place;

/// Residency interval that is fixed.
#[derive(Clone, Copy)]
struct Wall {
    value: usize,
    start: usize,
    end: usize,
    address: i64,
}

/// Input of a sweep: its operations, free values, fixed intervals and limits.
struct Task<'t> {
    ticks: Range<usize>,
    /// Free values, by birth.
    free: &'t [usize],
    /// Fixed intervals, by start.
    walls: &'t [Wall],
    /// Maximum number of states that are kept.
    width: usize,
    /// Exclusive upper limit of the free values' HBM bytes.
    ceiling: i64,
    /// Seed of the tie-breaking between states of nearly equal bounds.
    seed: u64,
}

/// Decisions for one value: its residency, and the address of each run by its first use.
struct Served {
    value: usize,
    stay: Stay,
    addresses: Vec<(usize, i64)>,
}

/// Costs of a resident value in an operation, minus its least cost, indexed by whether HBM also held the value before.
#[derive(Clone, Copy, Default)]
struct Fares {
    stays: [i64; 2],
    goes: [i64; 2],
    /// The current use, or else the next one.
    using: usize,
    is_used: bool,
}

struct Sweep<'p> {
    problem: &'p Problem,
    prices: &'p Prices,
    skyline: Skyline,
    /// Costs of the live values.
    fares: Vec<Fares>,
    /// Next use of each value.
    next_use: Vec<usize>,
    /// Free values that are live.
    live: Vec<usize>,
    states: Vec<State>,
    moves: Vec<Move>,
    past: Past,
}

impl<'p> Sweep<'p> {
    fn new(problem: &'p Problem, prices: &'p Prices) -> Self {
        Self {
            skyline: Skyline::new(problem, prices),
            fares: vec![Fares::default(); problem.values.len()],
            next_use: vec![0; problem.values.len()],
            live: Vec::new(),
            states: Vec::new(),
            moves: Vec::new(),
            past: Past::new(),
            problem,
            prices,
        }
    }

    /// Returns the decisions for the free values in the best plan found below the ceiling; HBM serves the values that are not listed.
    /// None if there is no such plan, or if `go_on` returned false.
    fn run(&mut self, task: &Task<'_>, steps: &mut Steps, go_on: &mut dyn FnMut(u64) -> bool) -> Option<Vec<Served>> {
        self.live.clear();
        self.past = Past::new();
        self.states = vec![State::default()];
        let least: i64 = task.free.iter().map(|&value| self.prices.rest(value, 0)[At::Hbm as usize]).sum();
        let room = self.problem.units * task.ticks.clone().map(|tick| self.prices.of_unit[tick]).sum::<i64>();
        let most = task.ceiling.saturating_mul(self.prices.scale) - least + room;
        let (mut free, mut walls) = (task.free, task.walls);
        let mut since = 0;
        for tick in task.ticks.clone() {
            let (born, unborn) = free.split_at(free.partition_point(|&value| self.problem.values[value].first() == tick));
            let (built, unbuilt) = walls.split_at(walls.partition_point(|wall| wall.start == tick));
            (free, walls) = (unborn, unbuilt);
            born.iter().for_each(|&value| self.next_use[value] = 0);
            self.live.extend(born);
            self.set_fares(tick);
            self.states.iter_mut().for_each(|state| state.begin(self.problem, &self.fares, built));
            for value in self.newcomers(born, tick) {
                let made = self.moor(value, (tick, most), task, walls);
                steps.left = steps.left.saturating_sub(made);
                since += made;
            }
            if self.states.is_empty() {
                return None;
            }
            if since > STEPS_UNWATCHED {
                since = 0;
                if !go_on(steps.left) {
                    return None;
                }
            }
            self.end(tick);
        }
        let best = self.states.iter().filter(|state| state.floor < most).min_by_key(|state| state.floor)?;
        Some(self.past.served(self.problem, best.past))
    }

    /// Computes the costs of staying in LX and of leaving it in operation `tick`, for each live value.
    fn set_fares(&mut self, tick: usize) {
        let Self { problem, prices, .. } = *self;
        for &value in &self.live {
            let using = self.next_use[value];
            let is_used = problem.values[value].uses[using].tick == tick;
            let rent = problem.values[value].units * prices.of_unit[tick];
            let fare = |at: At| {
                let before = prices.after(value, using, at, tick);
                let (stays, goes) = if is_used {
                    (prices.cost_in_lx(value, using, at).unwrap_or(before), prices.cost_in_hbm(value, using, at))
                } else {
                    (rent + prices.after(value, using, at, tick + 1), prices.leaving(value, using, at))
                };
                (stays - before, goes - before)
            };
            let (only, both) = (fare(At::Dirty), fare(At::Clean));
            self.fares[value] = Fares { stays: [only.0, both.0], goes: [only.1, both.1], using, is_used };
        }
    }

    /// Returns the values that may come to LX in this operation. Values that may hand over or take over an address come first, in list
    /// order, so that an address can be passed on; then values by descending size.
    fn newcomers(&self, born: &[usize], tick: usize) -> Vec<usize> {
        let problem = self.problem;
        let is_born = |value: usize| problem.values[value].first() == tick;
        let again =
            self.live.iter().copied().filter(|&value| problem.stays == Stays::Split && !is_born(value) && self.fares[value].is_used);
        let mut all: Vec<usize> = born.iter().copied().chain(again).collect();
        let is_in_chain = |value: &super::problem::Value| !value.parents.is_empty() || value.uses.len() == 1;
        all.sort_by_key(|&value| {
            let first = is_born(value) && is_in_chain(&problem.values[value]);
            if first { (0, 0, value) } else { (1, -problem.values[value].units, value) }
        });
        all
    }

    /// Tries each candidate address of a value, keeps the best states, and returns the steps taken.
    fn moor(&mut self, value: usize, (tick, most): (usize, i64), task: &Task<'_>, walls: &[Wall]) -> u64 {
        let Self { problem, prices, .. } = *self;
        let using = self.next_use[value];
        let before = prices.rest(value, using)[At::Hbm as usize];
        let outside = prices.cost_in_hbm(value, using, At::Hbm) - before;
        let inside = prices.cost_in_lx(value, using, At::Hbm).map(|cost| cost - before);
        let one = &problem.values[value];
        let until = one.uses.last().map_or(0, |one| one.tick) + 1;
        let blocked = Blocked::of(problem, walls, until);
        let Self { skyline, moves, .. } = self;
        let noise = |skyline: &Skyline, hash: u64| if task.seed == 0 { 0 } else { skyline.noise(hash ^ task.seed) };
        moves.clear();
        let mut found: Vec<Berth> = Vec::new();
        let mut made = 0;
        for (from, state) in (0_u32..).zip(&self.states) {
            let outlook = skyline.waste(&state.tenants, None, tick);
            let is_settled = using > 0 && state.has_settled(value);
            let floor = state.floor + if is_settled { 0 } else { outside };
            let rank = floor.saturating_add(outlook + noise(skyline, state.hash));
            moves.push(Move { from, rank, floor, hash: state.hash, set: state.set, berth: None });
            let steps_of_move = 1 + state.tenants.len() as u64 / TENANTS_OF_STEP;
            made += steps_of_move;
            let Some(inside) = inside.filter(|_| !is_settled) else { continue };
            found.clear();
            berths(problem, &state.tenants, (&self.fares, &blocked), (value, using == 0), &mut found);
            made += steps_of_move * found.len() as u64;
            for berth in &found {
                let floor = state.floor + inside + berth.driven_cost;
                if floor < most {
                    let (hash, set) = state.hashes_with(value, berth);
                    let outlook = skyline.waste(&state.tenants, Some((berth, until)), tick);
                    let rank = floor.saturating_add(outlook + noise(skyline, hash));
                    moves.push(Move { from, rank, floor, hash, set, berth: Some(*berth) });
                }
            }
        }
        self.moves.retain(|one| one.floor < most);
        keep(&mut self.moves, task.width);
        let pays = using > 0 || one.parents.is_empty();
        let tenant = Tenant::new(value, one.after_use(using, At::Hbm), one.units, until);
        let mut next = Vec::with_capacity(self.moves.len());
        for one in &self.moves {
            let mut state = self.states[one.from as usize].clone();
            state.floor = one.floor;
            if let Some(berth) = &one.berth {
                state.past = self.past.add(&state, (value, using, berth), &self.fares);
                state.take(&tenant, pays, berth);
            }
            next.push(state);
        }
        self.states = next;
        self.past.forget(&mut self.states);
        made
    }

    /// Ends the operation: charges empty units, and removes values without later uses.
    fn end(&mut self, tick: usize) {
        let Self { problem, prices, .. } = *self;
        for state in &mut self.states {
            state.end(problem, (tick, prices.of_unit[tick]), &self.fares);
        }
        for &value in &self.live {
            self.next_use[value] += usize::from(self.fares[value].is_used);
        }
        let next_use = &self.next_use;
        self.live.retain(|&value| next_use[value] < problem.values[value].uses.len());
    }
}

/// Evictions per step: a move of this many resident values counts as one step, of twice as many as two.
const TENANTS_OF_STEP: u64 = 64;
/// Steps between two calls of the watcher.
const STEPS_UNWATCHED: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capacity, buffer::tests::buffer};

    /// Live ranges of up to forty operations.
    fn problem(n: usize, stays: Stays) -> Problem {
        let one = |index: usize| {
            let (start, length) = (index * 7919 % n, index * 31 % 40);
            buffer("any", 1 + (index * 37 % 64) as i64, &[start, start + length / 2, start + length])
        };
        let buffers: Vec<_> = (0..n).map(one).collect();
        Problem::new(&buffers, &Capacity { bytes: 300, alignment: 1 }, stays)
    }

    fn steps_of_sweep(n: usize, stays: Stays) -> u64 {
        let problem = problem(n, stays);
        let prices = Prices::fitted(&problem, 1 << 16, 0, 0);
        let mut free: Vec<usize> = (0..problem.values.len()).collect();
        free.sort_by_key(|&value| (problem.values[value].first(), value));
        let task = Task { ticks: 0..problem.n_ticks, free: &free, walls: &[], width: 8, ceiling: 1 << 40, seed: 0 };
        let mut steps = Steps { left: u64::MAX };
        let served = Sweep::new(&problem, &prices).run(&task, &mut steps, &mut |_| true).unwrap();
        assert!(served.len() > n / 8);
        u64::MAX - steps.left
    }

    #[test]
    fn steps_grow_with_the_number_of_buffers() {
        for stays in [Stays::Whole, Stays::Split] {
            let steps = [1_000, 2_000, 4_000].map(|n| steps_of_sweep(n, stays));
            assert!(steps[1] < steps[0] * 21 / 10 && steps[2] < steps[1] * 21 / 10, "{stays:?}: {steps:?}");
        }
    }
}
