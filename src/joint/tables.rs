//! Cost of each op as a function of the locations of its operands.

use super::{
    JointProgram, Kind, Memo,
    alike::get_or_compute,
    evaluate::{copy_of, divided},
    prices::{Cost, Prices, PricesKey},
    states::{IN_HBM, States},
};
use crate::{
    assignment::{self, Factor, Problem},
    work::CoreView,
};
use cost::{AccessHistory, Objective, TileOp, describe_op, estimate_op_ns};
use machine::TimeModel;
use program::OperandOf;
use scratchpad::Capacity;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Inputs of costs other than the ops.
#[derive(Clone, Copy)]
pub(super) struct Pricing<'a> {
    pub(super) model: &'a TimeModel,
    pub(super) objective: Objective,
}

/// Cost tables of a program. The variables are its values.
pub(super) struct Tables {
    n_states: Vec<usize>,
    ops: Vec<OpTable>,
    copies: Vec<Factor<Cost>>,
}

struct OpTable {
    /// Values of the op that have several states, in ascending order.
    variables: Vec<usize>,
    prices: Rc<Prices>,
}

impl Tables {
    pub(super) fn new(program: &JointProgram, capacity: &Capacity, pricing: Pricing<'_>, memo: &mut Memo) -> Self {
        let states = States::of(program, capacity, memo);
        let n_states = (0..program.values.len()).map(|value| states.n_states(value)).collect();
        let reads = reads_before(program);
        let mut table = |(op, reads): (&super::Op, Vec<(i64, bool)>)| {
            let free: BTreeSet<usize> = op.values.iter().flatten().copied().filter(|&value| states.n_states(value) > 1).collect();
            let variables: Vec<usize> = free.into_iter().collect();
            let kind = &program.kinds[op.kind];
            let key = PricesKey {
                kind: kind.number,
                tile: numbered_by_operand(&op.tile),
                variables: op.values.iter().map(|value| variables.iter().position(|variable| Some(variable) == value.as_ref())).collect(),
                sets: variables.iter().map(|&value| states.set(value)).collect(),
                reads,
            };
            let key = (pricing.objective, key);
            let prices = get_or_compute(&mut memo.prices, key, |(_, key)| {
                let views: Vec<&[CoreView]> = variables.iter().map(|&value| states.views(value)).collect();
                Rc::new(prices_of(key, kind, &views, pricing))
            });
            OpTable { variables, prices }
        };
        let ops = program.ops.iter().zip(reads).map(&mut table).collect();
        let copies = copy_factors(program, &states, pricing, memo);
        Self { n_states, ops, copies }
    }

    /// Returns the assignment problem; values marked in `in_hbm` have HBM as their only state.
    pub(super) fn problem(&self, in_hbm: &[bool]) -> Problem<Cost> {
        let pins = in_hbm.iter().enumerate().filter(|(_, is_pinned)| **is_pinned).map(|(value, _)| {
            let cost = |states: &[usize]| if states[0] == IN_HBM { assignment::Cost::ZERO } else { assignment::Cost::IMPOSSIBLE };
            Factor::new(&self.n_states, vec![value], cost)
        });
        let of_op = |op: &OpTable| Factor { variables: op.variables.clone(), costs: Rc::clone(&op.prices.costs) };
        let factors = self.ops.iter().map(of_op).chain(self.copies.iter().cloned()).chain(pins).collect();
        Problem { n_states: self.n_states.clone(), factors }
    }

    /// Returns a feasible assignment: all values in HBM.
    pub(super) fn start(&self) -> Vec<usize> {
        vec![IN_HBM; self.n_states.len()]
    }

    /// Returns for each op the best split under these states.
    pub(super) fn splits(&self, states: &[usize]) -> Vec<usize> {
        let split = |op: &OpTable| {
            let entry = op.variables.iter().fold(0, |entry, &value| entry * self.n_states[value] + states[value]);
            *op.prices.splits.get(&entry).expect("what no split allows is not chosen: with everything in HBM all are possible")
        };
        self.ops.iter().map(split).collect()
    }
}

/// Returns the op with its buffers numbered by the first operand that uses each: the cost depends only on which
/// operands are the same buffer.
fn numbered_by_operand(tile: &TileOp) -> TileOp {
    let mut numbered = tile.clone();
    for operand in 0..tile.operands.len() {
        let is_it = |other: &usize| tile.operands[*other].buffer == tile.operands[operand].buffer;
        numbered.operands[operand].buffer = (0..operand).find(is_it).unwrap_or(operand);
    }
    numbered
}

/// Returns for each operand of each op the bytes of the largest earlier read of its buffer, with everything in HBM, and whether an op wrote
/// it.
fn reads_before(program: &JointProgram) -> Vec<Vec<(i64, bool)>> {
    let mut known: BTreeMap<usize, (i64, bool)> = BTreeMap::new();
    let mut found = Vec::with_capacity(program.ops.len());
    for op in &program.ops {
        let shape = op.tile.shape();
        found.push(shape.operands.iter().map(|operand| known.get(&operand.buffer).copied().unwrap_or_default()).collect());
        for operand in &shape.operands {
            let entry = known.entry(operand.buffer).or_default();
            let moved = operand.device_bytes * shape.loop_factor(operand);
            *entry = if operand.is_output { (entry.0, true) } else { (entry.0.max(moved), entry.1) };
        }
    }
    found
}

/// `sets` has the views of each variable.
fn prices_of(from: &PricesKey, kind: &Kind, sets: &[&[CoreView]], pricing: Pricing<'_>) -> Prices {
    let n_states: Vec<usize> = sets.iter().map(|views| views.len() + 1).collect();
    let mut costs: BTreeMap<usize, Cost> = BTreeMap::new();
    let mut splits = BTreeMap::new();
    for split in 0..kind.splits.len() {
        let possible: Vec<Option<usize>> = (0..n_states.len()).map(|variable| state_under(from, kind, split, variable, sets)).collect();
        for mask in 0..1_usize << possible.len() {
            let in_lx = |variable: usize| mask >> variable & 1 == 1;
            let Some(entry) = entry(&n_states, |variable| if in_lx(variable) { possible[variable] } else { Some(IN_HBM) }) else {
                continue;
            };
            let is_in_lx = |operand: usize| from.variables[operand].is_some_and(in_lx);
            let cost = price(&divided(&from.tile, &kind.splits[split], is_in_lx), &from.reads, pricing);
            if costs.get(&entry).is_none_or(|known| cost < *known) {
                costs.insert(entry, cost);
                splits.insert(entry, split);
            }
        }
    }
    Prices { costs: Rc::new(costs), splits }
}

/// Returns the state of a variable under a split: the common view of all operands that are this value.
fn state_under(from: &PricesKey, kind: &Kind, split: usize, variable: usize, sets: &[&[CoreView]]) -> Option<usize> {
    let mut found = None;
    for operand in (0..from.variables.len()).filter(|&operand| from.variables[operand] == Some(variable)) {
        let state = sets[variable].binary_search(kind.views(operand)[split].as_ref()?).ok()? + 1;
        if found.is_some_and(|other| other != state) {
            return None;
        }
        found = Some(state);
    }
    found
}

/// Returns the row-major index of an assignment; `None` if a state is `None`.
fn entry(n_states: &[usize], state: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    n_states.iter().enumerate().try_fold(0, |entry, (variable, count)| Some(entry * count + state(variable)?))
}

/// Returns the cost of an op whose buffers are numbered by operand, given the reads and writes before it.
fn price(tile: &TileOp, reads: &[(i64, bool)], pricing: Pricing<'_>) -> Cost {
    let shape = tile.shape();
    let bytes = AccessHistory::from_buffers(reads.iter().copied()).push(&shape);
    let ps = picoseconds(estimate_op_ns(&describe_op(&shape, bytes), pricing.model));
    let hbm_bytes = u64::try_from(bytes.hbm()).expect("a size is not negative");
    match pricing.objective {
        Objective::Time => Cost { first: ps, second: hbm_bytes },
        Objective::Bytes => Cost { first: hbm_bytes, second: ps },
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are far below 2^53 ps, and not negative")]
fn picoseconds(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}

/// Returns the cost of copying each input into LX, for each view.
fn copy_factors(program: &JointProgram, states: &States, pricing: Pricing<'_>, memo: &mut Memo) -> Vec<Factor<Cost>> {
    let mut copies = Vec::new();
    for (index, value) in program.values.iter().enumerate().filter(|(_, value)| value.copied_before.is_some()) {
        let Some(&OperandOf { op, operand }) = value.users.first() else { continue };
        let (kind, tile) = (program.kind(op), numbered_by_operand(&program.ops[op].tile));
        let key = (pricing.objective, (kind.number, tile, operand, states.set(index)));
        let costs = get_or_compute(&mut memo.copies, key, |(_, (_, tile, ..))| {
            Rc::new(costs_of_copy(kind, tile, operand, states.views(index), pricing))
        });
        copies.push(Factor { variables: vec![index], costs });
    }
    copies
}

fn costs_of_copy(kind: &Kind, tile: &TileOp, operand: usize, set: &[CoreView], pricing: Pricing<'_>) -> BTreeMap<usize, Cost> {
    let cost_of = |view: &CoreView| {
        let split = kind.views(operand).iter().position(|of_split| of_split.as_ref() == Some(view));
        let copy = |split: usize| numbered_by_operand(&copy_of(&divided(tile, &kind.splits[split], |_| false), operand));
        split.map_or(assignment::Cost::IMPOSSIBLE, |split| price(&copy(split), &[(0, false); 2], pricing))
    };
    let costs = [assignment::Cost::ZERO].into_iter().chain(set.iter().map(cost_of)).enumerate();
    costs.filter(|(_, cost)| *cost < assignment::Cost::IMPOSSIBLE).collect()
}
