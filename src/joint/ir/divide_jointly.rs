//! `spyre-divide-jointly`: divides the work of all ops together, by what the splits and the placement in LX cost.
//!
//! Reads layouts, access maps, `min_work`, `work_div`, `dims` and program order; writes `work` and removes `work_div`. Replaces
//! `spyre-divide-work`, whose splits are the starting point.

use super::try_splits::{Described, PricedOp};
use crate::dialect::ods::{option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, Step, plan_of, set_plan, split_of, target_of, tile_op_of},
    joint::{self, Memo},
    lx::{
        Ineligible,
        ir::program::{Numbers, Values, reads_part},
    },
    mlir::{BlockExt, Op, OpExt, Options, Pass, Reported, Value, ValueExt, error_at},
    plan_file::{Chosen, Split},
    tile::ir::settle_loops::settle_loops,
    work::ir::divide_work::{check_hints, operation_to_divide, set_work, undivided},
};
use cost::{Cost, Objective};
use machine::Target;
use program::{OperandOf, Operation, WorkSplit};
use scratchpad::{Buffer, Exact, Use, UseKind};
use std::{collections::BTreeMap, rc::Rc};

pub(crate) const PASS: Pass = Pass { argument: "spyre-divide-jointly", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let objective = options.read(module, option::OBJECTIVE)?;
    settle_loops(module);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let plan = plan_of(function);
        match plan.as_ref().and_then(|chosen| chosen.work.as_deref()) {
            Some(work) => follow(function, work, &target)?,
            None => divide_function(function, &target, objective)?,
        }
        if let Some(chosen) = plan {
            set_plan(
                function,
                &Chosen {
                    work: Some(work_of(function).map_err(|message| error_at(codes::SPLIT_PLAN, function, message).report())?),
                    ..chosen
                },
            );
        }
    }
    Ok(())
}

/// Applies the core splits of a plan file to the ops of a function.
fn follow(function: Op<'_>, work: &[Split], target: &Target) -> Result<(), Reported> {
    let again = "remove 'work' from the plan to choose splits again";
    let program = program_of(&Values::of(function)?, target, &mut Memo::default(), &mut Numbers::default())?;
    let ops = ComputeOp::all_in(function);
    if ops.len() != work.len() {
        let message = format!("expected one core split per op in the plan, found {} for {} ops; {again}", work.len(), ops.len());
        return Err(error_at(codes::SPLIT_PLAN, function, message).report());
    }
    for (number, (compute, planned)) in ops.into_iter().zip(work).enumerate() {
        let split = WorkSplit::new(planned.slices.clone()).and_then(|split| split.in_order(planned.order.clone()));
        let split = split.ok().filter(|split| program.kind(number).splits.contains(split));
        let split = split.ok_or_else(|| {
            let n_splits = program.kind(number).splits.len();
            let message = format!("expected one of the {n_splits} core splits of the op, found {:?} in the plan; {again}", planned.slices);
            error_at(codes::SPLIT_PLAN, compute.op, message).report()
        })?;
        set_work(compute, &split);
    }
    Ok(())
}

/// Returns the core splits of the ops of a function, for a plan file.
fn work_of(function: Op<'_>) -> Result<Vec<Split>, String> {
    let planned = |compute: ComputeOp<'_>| {
        let split = split_of(compute)?;
        Ok(Split { function: compute.function().to_owned(), slices: split.slices().to_vec(), order: split.order().to_vec() })
    };
    ComputeOp::all_in(function).into_iter().map(planned).collect()
}

/// Divides the work of the ops of a function whose loops are final.
fn divide_function(function: Op<'_>, target: &Target, objective: Objective) -> Result<(), Reported> {
    let mut memo = Memo::default();
    let described = described(function, target, &mut memo)?;
    let (splits, _) = choose_splits(&described, target, objective, &mut memo)?;
    described.values.schedule.steps.iter().zip(splits).for_each(|(step, split)| set_work(step.compute, split));
    Ok(())
}

/// Returns the cost of each op of a function whose loops are final, including ops that placement adds, once its work is divided.
pub(crate) fn priced_when_divided(
    function: Op<'_>,
    target: &Target,
    objective: Objective,
    memo: &mut Memo,
) -> Result<Vec<PricedOp>, Reported> {
    let described = described(function, target, memo)?;
    let (splits, priced) = choose_splits(&described, target, objective, memo)?;
    priced.map_or_else(|| described.priced_with_splits(&splits, target), Ok)
}

pub(super) fn described<'c>(function: Op<'c>, target: &Target, memo: &mut Memo) -> Result<Described<'c>, Reported> {
    check_hints(&ComputeOp::all_in(function))?;
    let values = Rc::new(Values::of(function)?);
    let mut numbers = Numbers::default();
    let program = program_of(&values, target, memo, &mut numbers)?;
    Ok(Described { function, values, program, numbers })
}

/// Chooses the core splits of the ops. Returns them with the cost of each op, including added ones; no costs if no other splits were
/// considered.
fn choose_splits<'p>(
    described: &'p Described<'_>,
    target: &Target,
    objective: Objective,
    memo: &mut Memo,
) -> Result<(Vec<&'p WorkSplit>, Option<Vec<PricedOp>>), Reported> {
    let program = &described.program;
    let planner = Exact::to_compare(program.values.len());
    let splits_of = |choice: &[usize]| choice.iter().enumerate().map(|(op, &split)| program.split(op, split)).collect::<Vec<_>>();
    let evaluate = |splits: &[&WorkSplit]| described.priced_with_splits(splits, target);
    let cost_of = |priced: &[PricedOp]| priced.iter().map(|op| op.cost).sum::<Cost>();
    let mut splits = splits_of(&vec![0; program.ops.len()]);
    let mut priced: Option<Vec<PricedOp>> = None;
    // The chosen splits are placed by the planner, whose plan is not always better for a choice of fewest bytes; so both objectives are
    // tried.
    let objectives = if objective == Objective::Time { vec![Objective::Time] } else { vec![Objective::Time, objective] };
    for tried in objectives {
        let choice = joint::choose(program, &planner, target, tried, memo);
        for chosen in [Some(choice.splits), choice.if_all_fits].into_iter().flatten().map(|choice| splits_of(&choice)) {
            if chosen != splits {
                let known = priced.map_or_else(|| evaluate(&splits), Ok)?;
                let found = evaluate(&chosen)?;
                let is_cheaper = objective.order(&cost_of(&found), &cost_of(&known)).is_le();
                priced = Some(if is_cheaper { found } else { known });
                splits = if is_cheaper { chosen } else { splits };
            }
        }
    }
    Ok((splits, priced))
}

/// Converts the program into plain values without IR handles.
fn program_of<'c>(values: &Values<'c>, target: &Target, memo: &mut Memo, numbers: &mut Numbers) -> Result<joint::JointProgram, Reported> {
    let mut ops = Vec::with_capacity(values.schedule.steps.len());
    for step in &values.schedule.steps {
        let refuse = |message: String| error_at(codes::SPLIT_PLAN, step.compute.op, message).report();
        let operation = Rc::new(operation_to_divide(step.compute, &step.accesses)?);
        memo.own_split(&operation, target).map_err(|error| undivided(step.compute, &operation, &error))?;
        let tile = tile_op_of(step, |buffer, first_element| numbers.of(buffer, first_element)).map_err(refuse)?;
        ops.push((operation, tile));
    }
    let mut found = Found { values: Vec::new(), of_ops: ops.iter().map(|(operation, _)| vec![None; operation.operands.len()]).collect() };
    let mut copies = copies_of(values);
    let mut positions = vec![0; ops.len()];
    for (time, (operation, _)) in ops.iter().enumerate() {
        for copy in copies.remove(&time).unwrap_or_default() {
            found.push(copied_input(values, &copy, time));
        }
        positions[time] = found.values.len();
        found.push(result(values, operation, time, &positions));
    }
    let mut program = joint::JointProgram { values: found.values, ..joint::JointProgram::default() };
    for (step, ((operation, tile), values)) in values.schedule.steps.iter().zip(ops.into_iter().zip(found.of_ops)) {
        let has_values = values.iter().any(Option::is_some);
        let kind = memo.kind(&operation, has_values, target).map_err(|error| undivided(step.compute, &operation, &error))?;
        program.add_op(&kind, tile, values);
    }
    Ok(program)
}

/// Values of a program, and for each operand of each op its value, if that could be in LX.
struct Found {
    values: Vec<joint::Value>,
    of_ops: Vec<Vec<Option<usize>>>,
}

impl Found {
    /// Adds a value. An ineligible one is listed because others may name it as a parent, but no op refers to it.
    fn push(&mut self, value: joint::Value) {
        if value.buffer.barred.is_none() {
            for &OperandOf { op, operand } in &value.users {
                self.of_ops[op][operand] = Some(self.values.len());
            }
        }
        self.values.push(value);
    }
}

/// The result of a step. `positions` says for each earlier step which value its result is.
fn result(values: &Values<'_>, operation: &Operation, time: usize, positions: &[usize]) -> joint::Value {
    let bytes = operation.operands.last().map_or(0, |operand| operand.layout.bytes());
    let mut buffer = values.buffer(time, bytes, values.ineligible(time));
    for one in &mut buffer.uses {
        one.time = joint::Op::time(one.time);
    }
    for parent in &mut buffer.in_place_parents {
        *parent = positions[*parent];
    }
    joint::Value { buffer, users: values.users(time), copied_before: None }
}

/// Returns the inputs that several ops of one block read unchanged, so that one copy in LX could serve them, by first reader.
fn copies_of(values: &Values<'_>) -> BTreeMap<usize, Vec<Vec<OperandOf>>> {
    let mut found: BTreeMap<usize, Vec<Vec<OperandOf>>> = BTreeMap::new();
    let is_read = |read: OperandOf, input: Value<'_>| {
        let step = &values.schedule.steps[read.op];
        is_input_of_block(step, input) && !reads_part(step, read.operand)
    };
    for (_, reads) in values.reads_of_inputs(is_read) {
        if reads.len() > 1 {
            found.entry(reads[0].op).or_default().push(reads);
        }
    }
    found
}

/// Returns whether the value is an argument of the step's block, or a constant in it.
fn is_input_of_block(step: &Step<'_>, input: Value<'_>) -> bool {
    let Some(body) = step.compute.op.parent().and_then(Op::body) else { return false };
    match input.def() {
        Some(op) => op.is(spyre::CONSTANT) && body.ops().contains(&op),
        None => body.args().into_iter().any(|argument| argument == input),
    }
}

/// Returns the value of an input's copy in LX.
fn copied_input(values: &Values<'_>, reads: &[OperandOf], first: usize) -> joint::Value {
    let access = &values.schedule.steps[reads[0].op].accesses[reads[0].operand];
    let bytes = access.tensor.layout.as_ref().map_or(0, program::layout::DeviceLayout::bytes);
    let is_window = access.tensor.buffer_shape.as_ref().is_some_and(|shape| *shape != access.tensor.host.shape);
    let mut uses = vec![Use { time: joint::Op::time(first) - 1, kind: UseKind::Write }];
    uses.extend(reads.iter().map(|read| Use { time: joint::Op::time(read.op), kind: UseKind::Read }));
    let buffer = Buffer {
        name: format!("input of op{first}"),
        bytes,
        uses,
        in_place_parents: Vec::new(),
        starts_in_hbm: false,
        ends_in_hbm: false,
        barred: is_window.then(|| Ineligible::GraphInput.into()),
    };
    joint::Value { buffer, users: reads.to_vec(), copied_before: Some(first) }
}
