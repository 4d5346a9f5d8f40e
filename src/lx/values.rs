//! Input of the planners: the values of a program by time, their users, and core splits.

use super::LxIneligibility;
use crate::work::{CoreUse, find_common_view};
use machine::{DeviceFormat, Family};
use program::{
    AccessKind, BlockId, OpOperand, OperandRef, Program, ProgramOp, ReturnKind, UndividedOp, ValueId, WorkSplit,
    layout::Coordinate,
};
use scratchpad::{Buffer, PlacementExclusion, Use, UseKind};
use std::{collections::BTreeMap, rc::Rc};

/// Core split of one op.
pub(crate) struct OpCoreSplit {
    pub(crate) operation: Rc<UndividedOp>,
    pub(crate) split: WorkSplit,
    /// Core split of the result, if the op is a shuffle: it may end with numbers of cores that have the same slice.
    pub(crate) destination: Option<WorkSplit>,
}

/// Program whose work is divided.
pub(crate) struct DividedProgram {
    pub(crate) program: Rc<Program>,
    /// For each op its core split.
    pub(crate) divisions: Vec<OpCoreSplit>,
}

impl DividedProgram {
    /// Returns the buffer of an op's result for a planner.
    pub(crate) fn buffer(&self, time: usize) -> Buffer {
        let device_bytes = self.device_bytes(time);
        let slices = find_ineligibility(&self.program, time).map_or_else(|| self.count_slices(time), Err);
        let (slices, ineligible) = slices.map_or_else(|ineligible| (1, Some(ineligible)), |slices| (slices, None));
        build_result_buffer(&self.program, time, device_bytes / slices, ineligible)
    }

    /// Returns the bytes of an op's result on all cores.
    pub(crate) fn device_bytes(&self, time: usize) -> i64 {
        self.divisions[time].operation.operands.last().map_or(0, |operand| operand.layout.bytes())
    }

    /// Returns how the cores divide an operand; the result comes after the operands.
    pub(crate) fn core_use(&self, user: OperandRef) -> CoreUse<'_> {
        let OpCoreSplit { operation, split, destination } = &self.divisions[user.op];
        let written = destination.as_ref().filter(|_| user.operand + 1 == operation.operands.len());
        CoreUse { op: operation, operand: user.operand, split: written.unwrap_or(split) }
    }

    /// Returns the number of slices of a value, one per core; an error if its users disagree.
    fn count_slices(&self, time: usize) -> Result<i64, LxIneligibility> {
        let uses: Vec<CoreUse<'_>> =
            collect_users(&self.program, time).into_iter().map(|user| self.core_use(user)).collect();
        find_common_view(&uses).map(|view| view.num_slices()).map_err(LxIneligibility::CoreMismatch)
    }
}

/// Returns the buffer of an op's result for a planner.
pub(crate) fn build_result_buffer(
    program: &Program,
    time: usize,
    bytes: i64,
    ineligible: Option<LxIneligibility>,
) -> Buffer {
    let op = &program.ops[time];
    let needed_until = |user| *program.use_interval(&op.loops, user).end();
    let mut uses = vec![Use { time, kind: UseKind::Write }];
    uses.extend(
        program
            .readers(program.result(time))
            .iter()
            .map(|read| Use { time: needed_until(read.op), kind: UseKind::Read }),
    );
    uses.extend(
        find_overwriting_ops(program, time)
            .iter()
            .map(|&writer| Use { time: needed_until(writer), kind: UseKind::Write }),
    );
    uses[1..].sort_by_key(|one| one.time);
    let in_place_parents = if ineligible.is_none() { find_in_place_parents(program, op) } else { Vec::new() };
    let barred = ineligible.map(PlacementExclusion::from);
    Buffer {
        name: format!("op{time}"),
        bytes,
        uses,
        in_place_parents,
        starts_in_hbm: false,
        ends_in_hbm: false,
        barred,
    }
}

/// Returns the ops that overwrite the result of the op at a time.
pub(crate) fn find_overwriting_ops(program: &Program, time: usize) -> &[usize] {
    let writers = program.writers(program.result(time));
    writers.split_first().filter(|(first, _)| **first == time).map_or(&[], |(_, others)| others)
}

/// Returns whether a loop carries the result of an op to it from another op, whose buffer it overwrites.
pub(crate) fn overwrites_carried_value(program: &Program, time: usize) -> bool {
    program.writers(program.result(time)).first().is_some_and(|&first| first != time)
}

/// Returns the operands that must use the value with the same core split: those of its writer, of the ops that
/// overwrite it, and of its readers.
pub(crate) fn collect_users(program: &Program, time: usize) -> Vec<OperandRef> {
    let writers = [time].into_iter().chain(find_overwriting_ops(program, time).iter().copied());
    writers.map(|op| program.written_operand(op)).chain(program.readers(program.result(time)).iter().copied()).collect()
}

/// Returns the values for which `is_input` holds, ordered by first reader, with the reads for which it holds, direct or
/// through plain views. Gathers read from HBM only.
pub(crate) fn collect_input_reads(
    program: &Program,
    is_input: impl Fn(OperandRef, ValueId) -> bool,
) -> Vec<(ValueId, Vec<OperandRef>)> {
    let mut found: Vec<(ValueId, Vec<OperandRef>)> = Vec::new();
    let mut positions: BTreeMap<ValueId, usize> = BTreeMap::new();
    for (time, op) in program.ops.iter().enumerate().filter(|(_, op)| op.family != Family::Gather) {
        for (operand, read_as) in op.inputs().iter().enumerate() {
            let (read, value) = (OperandRef { op: time, operand }, program.strip_plain_views(read_as.operand));
            if is_input(read, value) {
                let position = *positions.entry(value).or_insert(found.len());
                if position == found.len() {
                    found.push((value, Vec::new()));
                }
                found[position].1.push(read);
            }
        }
    }
    found
}

/// Returns why the value may not be in LX under any core split: the first reason in the reference's order (F.1).
pub(crate) fn find_ineligibility(program: &Program, time: usize) -> Option<LxIneligibility> {
    find_writer_ineligibility(program, time).or_else(|| find_reader_ineligibility(program, time))
}

/// Returns why the value may not be in LX for any reader.
pub(super) fn find_writer_ineligibility(program: &Program, time: usize) -> Option<LxIneligibility> {
    let op = &program.ops[time];
    if op.family == Family::Gather {
        return Some(LxIneligibility::Gathered);
    }
    if overwrites_carried_value(program, time) {
        return Some(if writes_partially(op) { LxIneligibility::WrittenInParts } else { LxIneligibility::Carried });
    }
    if !is_written_completely(program, time) {
        return Some(LxIneligibility::WrittenInParts);
    }
    let mut writers = [time]
        .into_iter()
        .chain(find_overwriting_ops(program, time).iter().copied())
        .map(|writer| &program.ops[writer]);
    if let Some(writer) = writers.find(|writer| !writer.may_be_in_lx()) {
        return Some(LxIneligibility::FunctionNotAllowed { function: writer.function.clone() });
    }
    // A value with the size of its enclosing buffer differs from the slice that a core has of it.
    (op.result.is_window || op.result.is_used_by_loop).then_some(LxIneligibility::Tiled)
}

/// Returns why a use needs the value in HBM, or that no op reads it.
fn find_reader_ineligibility(program: &Program, time: usize) -> Option<LxIneligibility> {
    let readers = program.readers(program.result(time));
    if readers.iter().any(|read| !program.ops[read.op].can_read_lx()) {
        return Some(LxIneligibility::ReadByRestickify);
    }
    if readers.iter().any(|read| program.operand(*read).access.used_as != AccessKind::Data) {
        return Some(LxIneligibility::Indirect);
    }
    match program.ops[time].result.returned {
        ReturnKind::Itself => Some(LxIneligibility::GraphOutput),
        ReturnKind::AsView => Some(LxIneligibility::ViewedOutput),
        ReturnKind::No => readers.is_empty().then_some(LxIneligibility::NoReader),
    }
}

/// Returns whether an op writes a complete value, or whether all slices are written in the same loops, so that each
/// core has its share of every slice.
fn is_written_completely(program: &Program, time: usize) -> bool {
    let op = &program.ops[time];
    let (parts, writers) = (&op.result.parts, program.writers(program.result(time)));
    let is_beside = |part: &BlockId| *part == op.block;
    let in_loops = |writer: &usize| program.ops[*writer].loops == op.loops;
    let is_made_there = parts.len() == writers.len() && parts.iter().all(is_beside) && writers.iter().all(in_loops);
    if parts.is_empty() { !writes_partially(op) } else { is_made_there }
}

/// Returns whether an op writes a slice of a buffer.
pub(crate) fn writes_partially(op: &ProgramOp) -> bool {
    op.is_insert() || op.is_placed
}

/// Returns whether LX could serve a read: numbers, by an op that can read LX.
pub(super) fn can_read_from_lx(program: &Program, read: OperandRef) -> bool {
    program.ops[read.op].can_read_lx() && program.operand(read).access.used_as == AccessKind::Data
}

/// Returns whether an op reads a slice of an op's result. The value may then be in LX only if the planner supports
/// slices.
pub(crate) fn is_read_partially(program: &Program, time: usize) -> bool {
    program.readers(program.result(time)).iter().any(|read| program.ops[read.op].accesses_partially(read.operand))
}

/// Returns the operands whose address the result may reuse: elementwise operands that have the same position as the
/// result at each point of the iteration (F.3). An operand that is also read in another order, as in
/// `x + transpose(x)`, would be read after it is overwritten.
pub(crate) fn find_in_place_parents(program: &Program, op: &ProgramOp) -> Vec<usize> {
    // A slice is smaller than its buffer, which stays live while other slices are written.
    if op.family != Family::Pointwise || op.is_placed {
        return Vec::new();
    }
    let Some(written) = collect_device_positions(op.output(), &op.space) else { return Vec::new() };
    let is_alike = |input: &&OpOperand| collect_device_positions(input, &op.space).is_some_and(|read| read == written);
    let writer = |input: &OpOperand| program.writers(input.value).first().copied();
    let (alike, others): (Vec<&OpOperand>, Vec<&OpOperand>) = op.inputs().iter().partition(is_alike);
    let others: Vec<usize> = others.into_iter().filter_map(writer).collect();
    let mut parents: Vec<usize> =
        alike.into_iter().filter_map(writer).filter(|parent| !others.contains(parent)).collect();
    parents.dedup();
    parents
}

/// Returns the positions of a tensor that an op accesses: the format, and the size and coordinate of every device
/// dimension with more than one position. Views that add or drop dimensions of size 1 do not change the result. `None`
/// without a layout.
fn collect_device_positions(operand: &OpOperand, space: &[i64]) -> Option<(DeviceFormat, Vec<(i64, Coordinate)>)> {
    let layout = operand.access.tensor.layout.as_ref()?;
    let positions = layout.device_size().iter().copied().zip(operand.access.coordinates(space).ok()?);
    Some((layout.format(), positions.filter(|(size, _)| *size > 1).collect()))
}
