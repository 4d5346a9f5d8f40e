//! Cost tables: the cost of each op, as a function of where its operands reside (HBM, or LX under a core view).

use super::{
    JointMemo, JointProgram, OpClass,
    evaluate::{apply_split, build_copy_op},
    op_cost_table::{LexicographicCost, OpCostKey, OpCostTable},
    value_states::{HBM_STATE, ValueStates},
};
use crate::{
    assignment::{self, AssignmentProblem, CostFactor, get_or_compute},
    work::CoreView,
};
use cost::{AccessHistory, Objective, TileOp, estimate_op_ns, extract_op_features};
use machine::TimeModel;
use program::OperandRef;
use scratchpad::Capacity;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Parameters of all cost computations.
#[derive(Clone, Copy)]
pub(super) struct CostContext<'a> {
    pub(super) model: &'a TimeModel,
    pub(super) objective: Objective,
}

/// Cost tables of a program: the factors of an assignment problem. Its variables are the values of the program; the
/// state of a value is HBM, or LX under one of its core views.
pub(super) struct CostTables {
    /// Number of states of each value.
    num_states: Vec<usize>,
    ops: Vec<OpFactor>,
    /// Costs of the copies of inputs into LX.
    copies: Vec<CostFactor<LexicographicCost>>,
}

/// Cost factor of one op.
struct OpFactor {
    /// Values of the op that have several states, in ascending order.
    variables: Vec<usize>,
    table: Rc<OpCostTable>,
}

impl CostTables {
    pub(super) fn new(
        program: &JointProgram,
        capacity: &Capacity,
        context: CostContext<'_>,
        memo: &mut JointMemo,
    ) -> Self {
        let states = ValueStates::new(program, capacity, memo);
        let num_states = (0..program.values.len()).map(|value| states.num_states(value)).collect();
        let reads = collect_earlier_reads(program);
        let mut build_factor = |(op, reads): (&super::JointOp, Vec<(i64, bool)>)| {
            let free_values: BTreeSet<usize> =
                op.values.iter().flatten().copied().filter(|&value| states.num_states(value) > 1).collect();
            let variables: Vec<usize> = free_values.into_iter().collect();
            let kind = &program.kinds[op.kind];
            let key = OpCostKey {
                kind: kind.number,
                tile: renumber_buffers(&op.tile),
                variables: op
                    .values
                    .iter()
                    .map(|value| variables.iter().position(|variable| Some(variable) == value.as_ref()))
                    .collect(),
                sets: variables.iter().map(|&value| states.view_set_number(value)).collect(),
                reads,
            };
            let key = (context.objective, key);
            let cost_table = get_or_compute(&mut memo.prices, key, |(_, key)| {
                let views: Vec<&[CoreView]> = variables.iter().map(|&value| states.views(value)).collect();
                Rc::new(compute_op_cost_table(key, kind, &views, context))
            });
            OpFactor { variables, table: cost_table }
        };
        let ops = program.ops.iter().zip(reads).map(&mut build_factor).collect();
        let copies = build_copy_factors(program, &states, context, memo);
        Self { num_states, ops, copies }
    }

    /// Returns the assignment problem. Values marked in `in_hbm` are pinned to HBM.
    pub(super) fn build_problem(&self, in_hbm: &[bool]) -> AssignmentProblem<LexicographicCost> {
        let pins = in_hbm.iter().enumerate().filter(|(_, is_pinned)| **is_pinned).map(|(value, _)| {
            let cost = |states: &[usize]| {
                if states[0] == HBM_STATE {
                    assignment::AdditiveCost::ZERO
                } else {
                    assignment::AdditiveCost::IMPOSSIBLE
                }
            };
            CostFactor::new(&self.num_states, vec![value], cost)
        });
        let to_factor =
            |op: &OpFactor| CostFactor { variables: op.variables.clone(), costs: Rc::clone(&op.table.costs) };
        let factors = self.ops.iter().map(to_factor).chain(self.copies.iter().cloned()).chain(pins).collect();
        AssignmentProblem { num_states: self.num_states.clone(), factors }
    }

    /// Returns a feasible assignment: all values in HBM.
    pub(super) fn initial_states(&self) -> Vec<usize> {
        vec![HBM_STATE; self.num_states.len()]
    }

    /// Returns the cheapest core split of each op, given the state of each value.
    pub(super) fn select_splits(&self, states: &[usize]) -> Vec<usize> {
        let select_split = |op: &OpFactor| {
            let entry = op.variables.iter().fold(0, |entry, &value| entry * self.num_states[value] + states[value]);
            *op.table
                .splits
                .get(&entry)
                .expect("what no split allows is not chosen: with everything in HBM all are possible")
        };
        self.ops.iter().map(select_split).collect()
    }
}

/// Returns the op with each buffer renumbered to the first operand that uses it. Ops that differ only in buffer numbers
/// then share a cost table, because the cost depends only on which operands are the same buffer.
fn renumber_buffers(tile: &TileOp) -> TileOp {
    let mut numbered = tile.clone();
    for operand in 0..tile.operands.len() {
        let is_same_buffer = |other: &usize| tile.operands[*other].buffer == tile.operands[operand].buffer;
        numbered.operands[operand].buffer = (0..operand).find(is_same_buffer).unwrap_or(operand);
    }
    numbered
}

/// Returns the access history of each operand of each op: the bytes of the largest earlier read of its buffer if all
/// values are in HBM, and whether an earlier op wrote the buffer.
fn collect_earlier_reads(program: &JointProgram) -> Vec<Vec<(i64, bool)>> {
    let mut accesses: BTreeMap<usize, (i64, bool)> = BTreeMap::new();
    let mut reads = Vec::with_capacity(program.ops.len());
    for op in &program.ops {
        let shape = op.tile.to_op_shape();
        reads.push(
            shape.operands.iter().map(|operand| accesses.get(&operand.buffer).copied().unwrap_or_default()).collect(),
        );
        for operand in &shape.operands {
            let entry = accesses.entry(operand.buffer).or_default();
            let moved_bytes = operand.device_bytes * shape.loop_factor(operand);
            *entry = if operand.is_output { (entry.0, true) } else { (entry.0.max(moved_bytes), entry.1) };
        }
    }
    reads
}

/// Computes the cost and the cheapest core split of an op, for each assignment of states to its variables. `views` has
/// the core views of each variable.
fn compute_op_cost_table(
    key: &OpCostKey,
    kind: &OpClass,
    views: &[&[CoreView]],
    context: CostContext<'_>,
) -> OpCostTable {
    let num_states: Vec<usize> = views.iter().map(|views| views.len() + 1).collect();
    let mut costs: BTreeMap<usize, LexicographicCost> = BTreeMap::new();
    let mut splits = BTreeMap::new();
    for split in 0..kind.splits.len() {
        let lx_states: Vec<Option<usize>> =
            (0..num_states.len()).map(|variable| find_state(key, kind, split, variable, views)).collect();
        for mask in 0..1_usize << lx_states.len() {
            let in_lx = |variable: usize| mask >> variable & 1 == 1;
            let Some(entry) =
                compute_entry_index(
                    &num_states,
                    |variable| if in_lx(variable) { lx_states[variable] } else { Some(HBM_STATE) },
                )
            else {
                continue;
            };
            let is_in_lx = |operand: usize| key.variables[operand].is_some_and(in_lx);
            let cost = compute_cost(&apply_split(&key.tile, &kind.splits[split], is_in_lx), &key.reads, context);
            if costs.get(&entry).is_none_or(|known| cost < *known) {
                costs.insert(entry, cost);
                splits.insert(entry, split);
            }
        }
    }
    OpCostTable { costs: Rc::new(costs), splits }
}

/// Returns the LX state of a variable under a core split: the common core view of all operands that are this value.
/// Returns `None` if the operands have different views, or a view that is not in `views`.
fn find_state(key: &OpCostKey, kind: &OpClass, split: usize, variable: usize, views: &[&[CoreView]]) -> Option<usize> {
    let mut common_state = None;
    for operand in (0..key.variables.len()).filter(|&operand| key.variables[operand] == Some(variable)) {
        let state = views[variable].binary_search(kind.views(operand)[split].as_ref()?).ok()? + 1;
        if common_state.is_some_and(|other| other != state) {
            return None;
        }
        common_state = Some(state);
    }
    common_state
}

/// Returns the row-major index of an assignment of states in a cost table; `None` if a state is `None`.
fn compute_entry_index(num_states: &[usize], state: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    num_states.iter().enumerate().try_fold(0, |entry, (variable, count)| Some(entry * count + state(variable)?))
}

/// Returns the cost of an op whose buffers are numbered by operand, given the earlier accesses to them.
fn compute_cost(tile: &TileOp, reads: &[(i64, bool)], context: CostContext<'_>) -> LexicographicCost {
    let shape = tile.to_op_shape();
    let bytes = AccessHistory::from_buffers(reads.iter().copied()).record_op(&shape);
    let ps = to_picoseconds(estimate_op_ns(&extract_op_features(&shape, bytes), context.model));
    let hbm_bytes = u64::try_from(bytes.hbm()).expect("a size is not negative");
    match context.objective {
        Objective::Time => LexicographicCost { first: ps, second: hbm_bytes },
        Objective::Bytes => LexicographicCost { first: hbm_bytes, second: ps },
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "prices are far below 2^53 ps, and not negative"
)]
fn to_picoseconds(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}

/// Returns the costs of the copies of inputs into LX, for each state of an input.
fn build_copy_factors(
    program: &JointProgram,
    states: &ValueStates,
    context: CostContext<'_>,
    memo: &mut JointMemo,
) -> Vec<CostFactor<LexicographicCost>> {
    let mut copies = Vec::new();
    for (index, value) in program.values.iter().enumerate().filter(|(_, value)| value.copied_before.is_some()) {
        let Some(&OperandRef { op, operand }) = value.users.first() else { continue };
        let (kind, tile) = (program.op_class(op), renumber_buffers(&program.ops[op].tile));
        let key = (context.objective, (kind.number, tile, operand, states.view_set_number(index)));
        let costs = get_or_compute(&mut memo.copies, key, |(_, (_, tile, ..))| {
            Rc::new(compute_copy_costs(kind, tile, operand, states.views(index), context))
        });
        copies.push(CostFactor { variables: vec![index], costs });
    }
    copies
}

fn compute_copy_costs(
    kind: &OpClass,
    tile: &TileOp,
    operand: usize,
    views: &[CoreView],
    context: CostContext<'_>,
) -> BTreeMap<usize, LexicographicCost> {
    let cost_of = |view: &CoreView| {
        let split = kind.views(operand).iter().position(|of_split| of_split.as_ref() == Some(view));
        let copy = |split: usize| {
            renumber_buffers(&build_copy_op(&apply_split(tile, &kind.splits[split], |_| false), operand))
        };
        split
            .map_or(assignment::AdditiveCost::IMPOSSIBLE, |split| compute_cost(&copy(split), &[(0, false); 2], context))
    };
    let costs = [assignment::AdditiveCost::ZERO].into_iter().chain(views.iter().map(cost_of)).enumerate();
    costs.filter(|(_, cost)| *cost < assignment::AdditiveCost::IMPOSSIBLE).collect()
}
