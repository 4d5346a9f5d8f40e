//! `spyre-plan-lx`: input of the planners: the values of a function by time, their users, and core splits.

use crate::dialect::ods::spyre;
use crate::work::ir::operation::operation_with;
use crate::{
    codes,
    dialect::{
        Access, ComputeOp, Part, Schedule, Step, Tensor, UsedAs, home_of, is_placed, parts_of, plain_view, split_of, users_behind_views,
        written_home,
    },
    lx::Ineligible,
    mlir::{Op, OpExt, OperationLike, Reported, Value, ValueExt, ValueLike, ValueMap, error_at},
    work::{CoreUse, agreed_view},
};
use machine::{DeviceFormat, Family};
use program::layout::Coordinate;
use program::{OperandOf, Operation, WorkSplit};
use scratchpad::{Barred, Buffer, Use, UseKind};
use std::{collections::BTreeMap, rc::Rc};

/// Core split of one compute op.
pub(crate) struct Division {
    pub(crate) operation: Rc<Operation>,
    pub(crate) split: WorkSplit,
}

/// Compute ops of a function; time is the position in the lists.
pub(crate) struct LxProgram<'c> {
    pub(crate) values: Rc<Values<'c>>,
    pub(crate) divisions: Vec<Division>,
}

impl<'c> LxProgram<'c> {
    /// Reads a function whose work is divided.
    pub(crate) fn of(function: Op<'c>) -> Result<Self, Reported> {
        let values = Rc::new(Values::of(function)?);
        let mut divisions = Vec::with_capacity(values.schedule.steps.len());
        for step in &values.schedule.steps {
            let refuse = |message: String| error_at(codes::MALFORMED_IR, step.compute.op, message).report();
            let operation = operation_with(step.compute, &step.accesses).map_err(refuse)?;
            divisions.push(Division { operation: Rc::new(operation), split: split_of(step.compute).map_err(refuse)? });
        }
        Ok(Self { values, divisions })
    }

    /// Returns the buffer of a step's result for a planner.
    pub(crate) fn buffer(&self, time: usize) -> Buffer {
        let layout_bytes = self.device_bytes(time);
        let slices = self.values.ineligible(time).map_or_else(|| self.slices(time), Err);
        let (slices, ineligible) = slices.map_or_else(|ineligible| (1, Some(ineligible)), |slices| (slices, None));
        self.values.buffer(time, layout_bytes / slices, ineligible)
    }

    /// Returns the bytes of a step's result on all cores.
    pub(crate) fn device_bytes(&self, time: usize) -> i64 {
        self.divisions[time].operation.operands.last().map_or(0, |operand| operand.layout.bytes())
    }

    /// Returns the core split of an operand of a step; the result comes after the operands.
    pub(crate) fn core_use(&self, user: OperandOf) -> CoreUse<'_> {
        let Division { operation, split } = &self.divisions[user.op];
        CoreUse { op: operation, operand: user.operand, split }
    }

    /// Returns the number of slices of a value, one per core; an error if its users disagree.
    fn slices(&self, time: usize) -> Result<i64, Ineligible> {
        let users = self.values.users(time);
        let uses: Vec<CoreUse<'_>> = users.iter().map(|&user| self.core_use(user)).collect();
        agreed_view(&uses).map(|view| view.slices()).map_err(Ineligible::CoreMismatch)
    }
}

/// Results of a function's compute ops, independent of core splits; time is the position of the op.
pub(crate) struct Values<'c> {
    pub(crate) schedule: Schedule<'c>,
}

impl<'c> Values<'c> {
    pub(crate) fn of(function: Op<'c>) -> Result<Self, Reported> {
        let schedule = Schedule::of(function).map_err(|(op, message)| error_at(codes::MALFORMED_IR, op, message).report())?;
        Ok(Self { schedule })
    }

    /// Returns the buffer of a step's result for a planner.
    pub(crate) fn buffer(&self, time: usize, bytes: i64, ineligible: Option<Ineligible>) -> Buffer {
        let step = &self.schedule.steps[time];
        let readers = self.schedule.readers(step.compute.op.output());
        let needed_until = |user| *self.schedule.times_of_use(&step.loops, user).end();
        let mut uses = vec![Use { time, kind: UseKind::Write }];
        uses.extend(readers.iter().map(|read| Use { time: needed_until(read.op), kind: UseKind::Read }));
        uses.extend(self.rewriters(time).iter().map(|&writer| Use { time: needed_until(writer), kind: UseKind::Write }));
        uses[1..].sort_by_key(|one| one.time);
        let in_place_parents = if ineligible.is_none() { self.parents(step) } else { Vec::new() };
        let barred = ineligible.map(Barred::from);
        Buffer { name: format!("op{time}"), bytes, uses, in_place_parents, starts_in_hbm: false, ends_in_hbm: false, barred }
    }

    /// Returns the steps that overwrite the result of step `time`.
    pub(crate) fn rewriters(&self, time: usize) -> &[usize] {
        let writers = self.schedule.writers(self.schedule.steps[time].compute.op.output());
        writers.split_first().filter(|(first, _)| **first == time).map_or(&[], |(_, others)| others)
    }

    /// Returns whether a loop carries the result of a step to it from another step, whose buffer it overwrites.
    pub(crate) fn overwrites(&self, compute: ComputeOp<'c>) -> bool {
        let writers = self.schedule.writers(compute.op.output());
        writers.first().is_some_and(|&first| self.schedule.steps[first].compute.op != compute.op)
    }

    /// Returns the operands that must use the value with the same core split: those of its writer, of the ops that
    /// overwrite it, and of its readers.
    pub(crate) fn users(&self, time: usize) -> Vec<OperandOf> {
        let written = |op: usize| OperandOf { op, operand: self.schedule.steps[op].accesses.len() - 1 };
        let readers = self.schedule.readers(self.schedule.steps[time].compute.op.output());
        let writers = [time].into_iter().chain(self.rewriters(time).iter().copied()).map(written);
        writers.chain(readers.iter().copied()).collect()
    }

    /// Returns the values for which `is_input` holds, ordered by first reader, with the reads for which it holds,
    /// direct or through plain views. Gathers read from HBM only.
    pub(crate) fn reads_of_inputs(&self, is_input: impl Fn(OperandOf, Value<'c>) -> bool) -> Vec<(Value<'c>, Vec<OperandOf>)> {
        let mut reads: ValueMap<Vec<OperandOf>> = ValueMap::default();
        let mut inputs: Vec<Value<'c>> = Vec::new();
        for (time, step) in self.schedule.steps.iter().enumerate().filter(|(_, step)| step.compute.family() != Family::Gather) {
            for (operand, read_as) in step.compute.reads().into_iter().enumerate() {
                let (read, value) = (OperandOf { op: time, operand }, behind_plain_views(read_as));
                if is_input(read, value) {
                    let reads = reads.get_or_default(value);
                    if reads.is_empty() {
                        inputs.push(value);
                    }
                    reads.push(read);
                }
            }
        }
        inputs.into_iter().map(|input| (input, reads.get(input).cloned().unwrap_or_default())).collect()
    }

    /// Returns why the value may not be in LX under any core split: the first reason in the reference's order (F.1).
    pub(crate) fn ineligible(&self, time: usize) -> Option<Ineligible> {
        let step = &self.schedule.steps[time];
        let made = step.compute.op.output();
        let readers = self.schedule.readers(made);
        if step.compute.family() == Family::Gather {
            return Some(Ineligible::Gathered);
        }
        if self.overwrites(step.compute) {
            return Some(if self.writes_part(time) { Ineligible::WrittenInParts } else { Ineligible::Carried });
        }
        let parts = parts_of(written_home(made));
        if !self.is_whole_of(time, &parts) {
            return Some(Ineligible::WrittenInParts);
        }
        let mut writers = [time].into_iter().chain(self.rewriters(time).iter().copied()).map(|writer| self.schedule.steps[writer].compute);
        if let Some(writer) = writers.find(|writer| !may_be_in_lx(*writer)) {
            return Some(Ineligible::FunctionNotAllowed { function: writer.function().to_owned() });
        }
        // Users see the buffer with all of its parts.
        let output = parts.last().map_or(made, |part| part.insert.output());
        // A value with the size of its enclosing buffer differs from the slice that a core has of it.
        if Tensor::of(home_of(output).r#type()).is_some_and(|tensor| tensor.buffer_shape.is_some()) {
            return Some(Ineligible::Tiled);
        }
        let users = users_behind_views(output);
        if users.iter().any(|user| user.is(spyre::YIELD) || user.is(spyre::LOOP)) {
            return Some(Ineligible::Tiled);
        }
        if readers.iter().any(|read| self.schedule.steps[read.op].compute.op.is(spyre::RESTICKIFY)) {
            return Some(Ineligible::ReadByRestickify);
        }
        if readers.iter().any(|read| self.schedule.steps[read.op].accesses[read.operand].used_as != UsedAs::Data) {
            return Some(Ineligible::Indirect);
        }
        if users.iter().any(|user| user.is("func.return")) {
            let is_itself = output.find_user(|user| user.is("func.return").then_some(())).is_some();
            return Some(if is_itself { Ineligible::GraphOutput } else { Ineligible::ViewedOutput });
        }
        readers.is_empty().then_some(Ineligible::NoReader)
    }

    /// Returns whether a step writes a complete value, or whether all parts are written in the same loops, so that each core has its share
    /// of every part.
    fn is_whole_of(&self, time: usize, parts: &[Part<'c>]) -> bool {
        let step = &self.schedule.steps[time];
        let writers = self.schedule.writers(step.compute.op.output());
        let is_beside = |part: &Part<'c>| part.insert.block() == step.compute.op.block();
        let in_loops = |writer: &usize| self.schedule.steps[*writer].loops == step.loops;
        let is_made_there = parts.len() == writers.len() && parts.iter().all(is_beside) && writers.iter().all(in_loops);
        if parts.is_empty() { !self.writes_part(time) } else { is_made_there }
    }

    /// Returns whether a step writes a part of a buffer.
    pub(crate) fn writes_part(&self, time: usize) -> bool {
        let compute = self.schedule.steps[time].compute;
        compute.is_insert() || is_placed(compute.op.output())
    }

    /// Returns whether an op reads a part of a step's result; such a value may be in LX only if the planner supports parts.
    pub(crate) fn is_read_in_parts(&self, time: usize) -> bool {
        let readers = self.schedule.readers(self.schedule.steps[time].compute.op.output());
        readers.iter().any(|read| reads_part(&self.schedule.steps[read.op], read.operand))
    }

    /// Returns the operands whose address the result may reuse: elementwise operands that have the same position as the result at each
    /// point of the iteration (F.3). An operand that is also read in another order, as in `x + transpose(x)`, would be read after it is
    /// overwritten.
    pub(crate) fn parents(&self, step: &Step<'c>) -> Vec<usize> {
        let Some((result, inputs)) = step.accesses.split_last() else { return Vec::new() };
        // A part is smaller than its buffer, which stays live while other parts are written.
        if step.compute.family() != Family::Pointwise || is_placed(step.compute.op.output()) {
            return Vec::new();
        }
        let space = step.compute.iteration_space();
        let Some(written) = places(result, &space) else { return Vec::new() };
        let is_alike = |input: &Access<'c>| places(input, &space).is_some_and(|read| read == written);
        let writer = |input: &Access<'c>| self.schedule.writers(input.value).first().copied();
        let (alike, others): (Vec<&Access<'c>>, Vec<&Access<'c>>) = inputs.iter().partition(|input| is_alike(input));
        let others: Vec<usize> = others.into_iter().filter_map(writer).collect();
        let mut parents: Vec<usize> = alike.into_iter().filter_map(writer).filter(|parent| !others.contains(parent)).collect();
        parents.dedup();
        parents
    }
}

/// Returns the positions of a tensor that an op accesses: the format, and the size and coordinate of every device dimension with more than
/// one position. Views that add or drop dimensions of size 1 do not change the result. `None` without a layout.
fn places(access: &Access<'_>, space: &[i64]) -> Option<(DeviceFormat, Vec<(i64, Coordinate)>)> {
    let layout = access.tensor.layout.as_ref()?;
    let positions = layout.device_size().iter().copied().zip(access.coordinates(space).ok()?);
    Some((layout.format(), positions.filter(|(size, _)| *size > 1).collect()))
}

/// Returns the value behind plain views, which change only indices. Stops at a view that specifies a layout.
fn behind_plain_views(value: Value<'_>) -> Value<'_> {
    let view = value.def().filter(|def| def.is(spyre::VIEW) && plain_view(*def).is_some());
    view.map_or(value, |view| behind_plain_views(view.inputs()[0]))
}

/// Returns whether a step reads only a part of an operand's elements.
pub(crate) fn reads_part(step: &Step<'_>, operand: usize) -> bool {
    step.accesses[operand].is_part(&step.compute.iteration_space())
}

/// Returns whether the back end lets the op's result be in LX (F.1: the list of functions).
fn may_be_in_lx(compute: ComputeOp<'_>) -> bool {
    match compute.family() {
        Family::Matmul => true,
        Family::Copy => compute.op.is(spyre::COPY) || compute.is_insert(),
        Family::Gather => false,
        Family::Pointwise | Family::Reduce => compute.table_row().is_some_and(|row| row.lx),
    }
}

/// Numbering of the parts of buffers.
#[derive(Clone, Default)]
pub(crate) struct Numbers {
    of_buffer: ValueMap<BTreeMap<i64, usize>>,
    next: usize,
}

impl Numbers {
    pub(crate) fn of(&mut self, buffer: Value<'_>, first_element: i64) -> usize {
        let next = self.next;
        let number = *self.of_buffer.get_or_default(buffer).entry(first_element).or_insert(next);
        self.next += usize::from(number == next);
        number
    }

    /// Returns a number that no part has.
    pub(crate) const fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }
}
