//! `spyre-plan-lx`: chooses LX or HBM for every value, and the address in LX.
//!
//! Reads `work` and program order; writes `place`. A value that may not live in LX, or does not fit, is placed in HBM with the reason. A
//! value made in an iteration of a loop lives in it; a value from outside that the loop reads lives until the loop ends.

use super::{Barred, Buffer, Capacity, CoreUse, Planner, Use, UseKind, agreed_view, check, planner_named};
use crate::{
    dialect::{Access, ComputeOp, Memory, Place, operation_of, place_attribute, split_of, target_of},
    mlir::{Op, OpExt, Options, Pass, Reported, Value, ValueExt, ValueMap, error_at},
    target::{Family, STICK_BYTES},
    work::{Operation, WorkSplit},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-plan-lx", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    let planner = match options.text("planner") {
        "none" => None,
        name => Some(planner_named(name).map_err(|error| error_at(module, error).report())?),
    };
    let capacity = Capacity { bytes: target.lx_bytes, alignment: STICK_BYTES };
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let program = Program::of(function)?;
        match &planner {
            Some(planner) => program.plan(planner.as_ref(), &capacity)?,
            None => program.place_in_hbm("the LX planner is off"),
        }
    }
    Ok(())
}

/// One compute op with what planning needs of it.
struct Step<'c> {
    compute: ComputeOp<'c>,
    accesses: Vec<Access<'c>>,
    operation: Operation,
    split: WorkSplit,
}

/// The compute ops of a function; time is the position in the list.
struct Program<'c> {
    steps: Vec<Step<'c>>,
    /// For each value the step that makes it.
    writers: ValueMap<usize>,
}

impl<'c> Program<'c> {
    fn of(function: Op<'c>) -> Result<Self, Reported> {
        let mut program = Self { steps: Vec::new(), writers: ValueMap::default() };
        for compute in ComputeOp::all_in(function) {
            let refuse = |message: String| error_at(compute.op, message).report();
            let step = Step {
                compute,
                accesses: compute.accesses().map_err(refuse)?,
                operation: operation_of(compute).map_err(refuse)?,
                split: split_of(compute).map_err(refuse)?,
            };
            program.writers.insert(compute.op.output(), program.steps.len());
            program.steps.push(step);
        }
        Ok(program)
    }

    fn plan(&self, planner: &dyn Planner, capacity: &Capacity) -> Result<(), Reported> {
        let buffers: Vec<Buffer> = (0..self.steps.len()).map(|step| self.buffer(step)).collect();
        let placement = planner.plan(&buffers, capacity);
        if let (Err(violation), Some(first)) = (check(&buffers, capacity, &placement), self.steps.first()) {
            let message = format!("the planner '{}' has a bug: {violation}; please report this program", planner.name());
            return Err(error_at(first.compute.op, message).report());
        }
        for (step, (address, reason)) in self.steps.iter().zip(placement.addresses.iter().zip(&placement.reasons)) {
            let place = match address {
                Some(address) => Place { memory: Memory::Lx(*address), reason: String::new() },
                None => Place { memory: Memory::Hbm, reason: reason.as_ref().map_or_else(String::new, ToString::to_string) },
            };
            self.place(step, &place);
        }
        Ok(())
    }

    fn place_in_hbm(&self, reason: &str) {
        for step in &self.steps {
            self.place(step, &Place { memory: Memory::Hbm, reason: reason.to_owned() });
        }
    }

    /// Writes the place; a copy that found no room in LX would only cost a pass over HBM, so its readers get the original back.
    fn place(&self, step: &Step<'c>, place: &Place) {
        let op = step.compute.op;
        let is_read_by_ops_only = op.output().users().into_iter().all(|user| ComputeOp::of(user).is_some());
        if op.is("spyre.copy") && place.memory == Memory::Hbm && is_read_by_ops_only {
            op.output().replace_with(op.inputs()[0]);
            op.erase();
            return;
        }
        op.set_attr("place", place_attribute(op.ctx(), place));
    }

    /// The result of a step as a planner sees it.
    fn buffer(&self, time: usize) -> Buffer {
        let step = &self.steps[time];
        let readers = self.readers(step.compute.op.output());
        let (barred, bytes) = match self.view_slices(time, &readers) {
            Ok(slices) => (None, slices),
            Err(barred) => (Some(barred), 1),
        };
        let layout_bytes = step.operation.operands.last().map_or(0, |operand| operand.layout.bytes());
        let mut uses = vec![Use { time, kind: UseKind::Write }];
        let mut reads: Vec<usize> = readers.iter().map(|&(reader, _)| self.end_of_use(time, reader)).collect();
        reads.sort_unstable();
        uses.extend(reads.into_iter().map(|time| Use { time, kind: UseKind::Read }));
        let in_place_parents = if barred.is_none() { self.parents(step) } else { Vec::new() };
        Buffer { name: format!("op{time}"), bytes: layout_bytes / bytes, uses, in_place_parents, starts_in_hbm: false, barred }
    }

    /// The reads of a value: the step and which operand.
    fn readers(&self, value: Value<'c>) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (reader, step) in self.steps.iter().enumerate() {
            let inputs = &step.accesses[..step.accesses.len() - 1];
            found.extend(inputs.iter().enumerate().filter(|(_, access)| access.value == value).map(|(operand, _)| (reader, operand)));
        }
        found
    }

    /// How many slices the value is in, one a core; or why it may not be in LX, in the reference's order of reasons (F.1).
    fn view_slices(&self, time: usize, readers: &[(usize, usize)]) -> Result<i64, Barred> {
        let step = &self.steps[time];
        if !may_be_in_lx(step.compute) {
            return Err(Barred::FunctionNotAllowed { function: step.compute.function().to_owned() });
        }
        let users = step.compute.op.output().users();
        if users.iter().any(|user| user.is("spyre.yield") || user.is("spyre.loop")) {
            return Err(Barred::Tiled);
        }
        if readers.iter().any(|&(reader, _)| self.steps[reader].compute.op.is("spyre.restickify")) {
            return Err(Barred::ReadByRestickify);
        }
        if users.iter().any(|user| user.is("func.return")) {
            return Err(Barred::GraphOutput);
        }
        if readers.is_empty() {
            return Err(Barred::NoReader);
        }
        let written = CoreUse { op: &step.operation, operand: step.operation.operands.len() - 1, split: &step.split };
        let read = readers.iter().map(|&(reader, operand)| {
            let step = &self.steps[reader];
            CoreUse { op: &step.operation, operand, split: &step.split }
        });
        let uses: Vec<CoreUse<'_>> = [written].into_iter().chain(read).collect();
        agreed_view(&uses).map(|view| view.slices()).map_err(Barred::CoreMismatch)
    }

    /// When a value made by `writer` may die because of the read by `reader`: a loop that the writer is not in reads it again in every
    /// iteration, so it must live until the last op of that loop.
    fn end_of_use(&self, writer: usize, reader: usize) -> usize {
        let around_writer = self.steps[writer].compute.loops();
        let around_reader = self.steps[reader].compute.loops();
        let Some(entered) = around_reader.into_iter().find(|around| !around_writer.contains(around)) else { return reader };
        let is_inside = |step: &Step<'c>| step.compute.loops().contains(&entered);
        self.steps.iter().rposition(is_inside).unwrap_or(reader)
    }

    /// The operands whose address the result may take: same indices, same device layout, elementwise (F.3).
    fn parents(&self, step: &Step<'c>) -> Vec<usize> {
        let Some((result, inputs)) = step.accesses.split_last() else { return Vec::new() };
        if step.compute.family() != Family::Pointwise {
            return Vec::new();
        }
        let is_alike = |input: &&Access<'c>| input.dims == result.dims && input.tensor.layout == result.tensor.layout;
        let mut parents: Vec<usize> = inputs.iter().filter(is_alike).filter_map(|input| self.writers.get(input.value).copied()).collect();
        parents.dedup();
        parents
    }
}

/// Whether the back end lets the op's result live in LX (F.1: the list of functions).
fn may_be_in_lx(compute: ComputeOp<'_>) -> bool {
    match compute.family() {
        Family::Matmul => true,
        Family::Copy => compute.op.is("spyre.copy"),
        Family::Pointwise | Family::Reduce => compute.table_row().is_some_and(|row| row.lx),
    }
}
