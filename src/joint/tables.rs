//! What each op costs, given where its operands are.

use super::{
    MOST_ENTRIES, Op, Program,
    evaluate::{copy_of, divided},
};
use crate::{
    assignment::{self, Factor, Problem},
    cost::{History, TileOp, describe_op, estimate_op_ns},
    work::{CoreUse, CoreView, view_of},
};
use machine::TimeModel;
use scratchpad::Capacity;
use std::collections::{BTreeMap, BTreeSet};

/// Time first, then bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    /// Modelled time, ps.
    ps: u64,
    /// Bytes to and from HBM.
    hbm_bytes: u64,
}

impl assignment::Cost for Cost {
    const ZERO: Self = Self { ps: 0, hbm_bytes: 0 };
    const IMPOSSIBLE: Self = Self { ps: u64::MAX, hbm_bytes: u64::MAX };

    fn saturating_add(self, other: Self) -> Self {
        let ps = self.ps.checked_add(other.ps);
        ps.map_or(Self::IMPOSSIBLE, |ps| Self { ps, hbm_bytes: self.hbm_bytes.saturating_add(other.hbm_bytes) })
    }
}

/// The state of a value that is in HBM; the others are views.
const IN_HBM: usize = 0;

/// The tables of a program. The variables are its values.
pub(super) struct Tables {
    n_states: Vec<usize>,
    ops: Vec<OpTable>,
    copies: Vec<Factor<Cost>>,
}

/// The price of an op for each assignment of the states of its values, and the split that has it.
struct OpTable {
    factor: Factor<Cost>,
    /// By the entries of `factor`.
    splits: BTreeMap<usize, usize>,
}

impl Tables {
    pub(super) fn new(program: &Program, capacity: &Capacity, model: &TimeModel) -> Self {
        let views: Vec<Vec<Views>> = program.ops.iter().map(views_of_splits).collect();
        let mut states: Vec<Vec<CoreView>> = (0..program.values.len()).map(|value| states_of(program, &views, value, capacity)).collect();
        program.ops.iter().for_each(|op| limit_table(op, &mut states));
        let n_states: Vec<usize> = states.iter().map(|views| views.len() + 1).collect();
        let reads = reads_before(program);
        let table = |(position, op): (usize, &Op)| op_table(op, &views[position], &states, &n_states, &reads[position], model);
        let ops = program.ops.iter().enumerate().map(table).collect();
        let copies = (0..program.values.len()).filter_map(|value| copy_factor(program, &views, value, &states, model)).collect();
        Self { n_states, ops, copies }
    }

    /// The choice of states; what `in_hbm` names has no other.
    pub(super) fn problem(&self, in_hbm: &[bool]) -> Problem<Cost> {
        let pins = in_hbm.iter().enumerate().filter(|(_, is_pinned)| **is_pinned).map(|(value, _)| {
            let cost = |states: &[usize]| if states[0] == IN_HBM { assignment::Cost::ZERO } else { assignment::Cost::IMPOSSIBLE };
            Factor::new(&self.n_states, vec![value], cost)
        });
        let factors = self.ops.iter().map(|op| op.factor.clone()).chain(self.copies.iter().cloned()).chain(pins).collect();
        Problem { n_states: self.n_states.clone(), factors }
    }

    /// States that are possible: everything in HBM.
    pub(super) fn start(&self) -> Vec<usize> {
        vec![IN_HBM; self.n_states.len()]
    }

    /// For each op the best split under these states.
    pub(super) fn splits(&self, states: &[usize]) -> Vec<usize> {
        let split = |op: &OpTable| {
            let entry = op.factor.variables.iter().fold(0, |entry, &value| entry * self.n_states[value] + states[value]);
            // What no split allows is not chosen: with everything in HBM all are possible.
            op.splits.get(&entry).copied().unwrap_or(0)
        };
        self.ops.iter().map(split).collect()
    }
}

/// For one split of an op the view of each operand that could be in LX; none where the split has no view of it.
type Views = Vec<Option<CoreView>>;

fn views_of_splits(op: &Op) -> Vec<Views> {
    let view = |split, (operand, value): (usize, &Option<usize>)| {
        value.and_then(|_| view_of(0, &CoreUse { op: &op.operation, operand, split }).ok())
    };
    op.splits.iter().map(|split| op.values.iter().enumerate().map(|operand| view(split, operand)).collect()).collect()
}

/// The views that all users of a value can have and under which a slice fits LX.
fn states_of(program: &Program, views: &[Vec<Views>], value: usize, capacity: &Capacity) -> Vec<CoreView> {
    let value = &program.values[value];
    if value.buffer.barred.is_some() {
        return Vec::new();
    }
    let of_user = |&(op, operand): &(usize, usize)| views[op].iter().filter_map(|views| views[operand].clone()).collect::<BTreeSet<_>>();
    let common = value.users.iter().map(of_user).reduce(|common, of_user| common.intersection(&of_user).cloned().collect());
    let fits = |view: &CoreView| value.buffer.bytes / view.slices() <= capacity.bytes;
    common.unwrap_or_default().into_iter().filter(fits).collect()
}

/// Before each op, for each of its operands the bytes of the largest read so far, if everything is in HBM, and whether an op wrote it.
fn reads_before(program: &Program) -> Vec<Vec<(i64, bool)>> {
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

/// Leaves values of an op in HBM until its table is not too large, those with most views first.
fn limit_table(op: &Op, states: &mut [Vec<CoreView>]) {
    let values: BTreeSet<usize> = op.values.iter().flatten().copied().collect();
    while values.iter().map(|&value| states[value].len() + 1).product::<usize>() > MOST_ENTRIES {
        let Some(&largest) = values.iter().max_by_key(|&&value| states[value].len()) else { return };
        states[largest].clear();
    }
}

fn op_table(op: &Op, views: &[Views], states: &[Vec<CoreView>], n_states: &[usize], reads: &[(i64, bool)], model: &TimeModel) -> OpTable {
    let free: BTreeSet<usize> = op.values.iter().flatten().copied().filter(|&value| n_states[value] > 1).collect();
    let mut factor = Factor { variables: free.into_iter().collect(), costs: BTreeMap::new() };
    let mut splits = BTreeMap::new();
    for (split, of_split) in views.iter().enumerate() {
        let state = |value: usize| state_under(op, of_split, value, &states[value]);
        let possible: Vec<Option<usize>> = factor.variables.iter().map(|&value| state(value)).collect();
        for mask in 0..1_usize << possible.len() {
            let in_lx = |position: usize| mask >> position & 1 == 1;
            let Some(entry) =
                entry(&factor.variables, n_states, |position| if in_lx(position) { possible[position] } else { Some(IN_HBM) })
            else {
                continue;
            };
            let is_in_lx = |value: usize| factor.variables.iter().position(|&other| other == value).is_some_and(in_lx);
            let cost = price(&divided(op, split, is_in_lx), reads, model);
            if factor.costs.get(&entry).is_none_or(|known| cost < *known) {
                factor.costs.insert(entry, cost);
                splits.insert(entry, split);
            }
        }
    }
    OpTable { factor, splits }
}

/// The state of a value under a split: the view that all operands that are this value have.
fn state_under(op: &Op, views: &Views, value: usize, states: &[CoreView]) -> Option<usize> {
    let mut found = None;
    for (view, _) in views.iter().zip(&op.values).filter(|(_, other)| **other == Some(value)) {
        let state = states.binary_search(view.as_ref()?).ok()? + 1;
        if found.is_some_and(|other| other != state) {
            return None;
        }
        found = Some(state);
    }
    found
}

/// The row-major entry of an assignment; none where a state is none.
fn entry(variables: &[usize], n_states: &[usize], state: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    variables.iter().enumerate().try_fold(0, |entry, (position, &value)| Some(entry * n_states[value] + state(position)?))
}

/// What an op costs, given what was read and written before it.
fn price(tile: &TileOp, reads: &[(i64, bool)], model: &TimeModel) -> Cost {
    let mut shape = tile.shape();
    // Buffers are numbered anew: by the first operand that is one.
    let buffers: Vec<usize> = shape.operands.iter().map(|operand| operand.buffer).collect();
    for operand in &mut shape.operands {
        operand.buffer = buffers.iter().position(|&buffer| buffer == operand.buffer).unwrap_or(0);
    }
    let bytes = History::of(reads.iter().copied()).push(&shape);
    let ns = estimate_op_ns(&describe_op(&shape, bytes), model);
    Cost { ps: picoseconds(ns), hbm_bytes: u64::try_from(bytes.hbm_read + bytes.hbm_written).unwrap_or(0) }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are far below 2^53 ps, and not negative")]
fn picoseconds(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}

/// What it costs to bring an input into LX under each view.
fn copy_factor(program: &Program, views: &[Vec<Views>], value: usize, states: &[Vec<CoreView>], model: &TimeModel) -> Option<Factor<Cost>> {
    program.values[value].copied_before?;
    let &(reader, operand) = program.values[value].users.first()?;
    let cost_of = |view: &CoreView| {
        let split = views[reader].iter().position(|views| views[operand].as_ref() == Some(view));
        let tile = |split| copy_of(&divided(&program.ops[reader], split, |_| false), operand);
        split.map_or(assignment::Cost::IMPOSSIBLE, |split| price(&tile(split), &[(0, false); 2], model))
    };
    let costs = [assignment::Cost::ZERO].into_iter().chain(states[value].iter().map(cost_of)).enumerate();
    Some(Factor { variables: vec![value], costs: costs.filter(|(_, cost)| *cost < assignment::Cost::IMPOSSIBLE).collect() })
}
