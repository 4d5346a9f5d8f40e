//! Residency intervals of the values of a program, and the copies between LX and HBM that they need.
//!
//! A value that is written to LX and also needed in HBM is stored directly after its writer, so that its address is free when its residency
//! interval ends. A later interval starts with a load from HBM before its first reader. Values that are in HBM anyway and that several ops
//! read with the same split, and function results that ops also read, are planned like any other value.

use super::{
    Ineligible,
    copy_split::CopyUser,
    stays::{Candidate, Chosen},
    values::{DividedProgram, ineligible, is_read_in_parts, parents, reads_of_inputs, rewriters, writes_part},
};
use crate::work::agreed_view;
use machine::Family;
use program::{Op, OpRole, OperandOf, Program, Tensor, UsedAs, ValueDef, ValueId, WorkSplit};
use scratchpad::{Buffer, Capacity, StayInLx, Use, UseKind};
use std::collections::BTreeSet;

/// Chosen residency intervals of the values of a program.
pub(crate) struct StayPlan {
    planned: Vec<Planned>,
    candidates: Vec<Candidate>,
    chosen: Chosen,
}

/// Copy between LX and HBM.
pub(crate) struct PlannedCopy {
    /// Value that is copied; a copy into LX of a value that is copied out copies that copy.
    pub(crate) value: ValueId,
    /// Type of the copy.
    pub(crate) copied: Tensor,
    pub(crate) direction: Direction,
    /// Core split of the copy.
    pub(crate) split: WorkSplit,
    /// Operand whose core split the copy has.
    pub(crate) user: OperandOf,
}

/// Direction and position of a copy.
pub(crate) enum Direction {
    /// Into LX at an address, directly before an op, for these operands.
    Load { before: usize, address: i64, readers: Vec<OperandOf> },
    /// Out of LX, behind the writer, for all operands but these.
    Store { behind: usize, others: Vec<OperandOf> },
}

/// Place of the result of an op.
pub(crate) enum ResultPlace {
    Lx(i64),
    /// In HBM, with the reason.
    Hbm(String),
}

/// Value to plan.
struct Planned {
    value: ValueId,
    /// Op that defines the value; `None` for an input.
    writer: Option<usize>,
    /// Reads that LX may serve.
    readers: Vec<OperandOf>,
    /// Type of the value's copies.
    copied: Option<Tensor>,
    /// Reason for HBM if the value has no residency interval, where it is known before planning.
    barred: Option<String>,
    candidate: Candidate,
}

impl StayPlan {
    /// Plans a program.
    ///
    /// # Errors
    /// Returns an error if layouts are wrong.
    pub(crate) fn new(divided: &DividedProgram, capacity: &Capacity) -> Result<Self, String> {
        let mut made = (0..divided.divisions.len()).map(|time| made_by(divided, time)).collect::<Result<Vec<_>, _>>()?;
        let mut planned = inputs_of(divided, &made)?;
        add_parents(&divided.program, &planned, &mut made);
        planned.append(&mut made);
        let mut candidates: Vec<Candidate> = planned.iter().map(|planned| planned.candidate.clone()).collect();
        let mut chosen = Chosen::whole(&candidates, capacity);
        if chosen.leaves_some_in_hbm(&candidates, capacity) {
            for (planned, candidate) in planned.iter().zip(&mut candidates) {
                candidate.may_split = candidate.may_split || planned.may_split(divided)?;
            }
            chosen = chosen.or_split(&candidates, capacity);
        }
        Ok(Self { planned, candidates, chosen })
    }

    /// Returns the copies of the plan, in the order in which they are inserted.
    ///
    /// # Errors
    /// Returns an error if a copy does not have the slices of its user.
    pub(crate) fn copies(&self, divided: &DividedProgram) -> Result<Vec<PlannedCopy>, String> {
        let mut copies = Vec::new();
        for ((planned, candidate), stays) in self.planned.iter().zip(&self.candidates).zip(&self.chosen.stays) {
            planned.add_copies(divided, candidate, stays, &mut copies)?;
        }
        Ok(copies)
    }

    /// Returns the places of the results of ops, by time.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, ResultPlace)> + use<'_> {
        self.planned.iter().zip(self.chosen.stays.iter().zip(&self.chosen.reasons)).filter_map(|(planned, (stays, reason))| {
            let writer = planned.writer?;
            let reason = || reason.clone();
            let place = match stays.first() {
                Some(stay) if stay.start == writer => ResultPlace::Lx(stay.address),
                Some(_) => ResultPlace::Hbm(reason().unwrap_or_default()),
                None => ResultPlace::Hbm(planned.barred.clone().or_else(reason).unwrap_or_default()),
            };
            Some((writer, place))
        })
    }
}

/// Returns the planned value of an op's result.
fn made_by(divided: &DividedProgram, time: usize) -> Result<Planned, String> {
    let program = &divided.program;
    let value = program.result(time);
    let tensor = &program.value(value).tensor;
    let mut made = Planned {
        value,
        writer: Some(time),
        readers: program.readers(value).to_vec(),
        copied: tensor.compact()?.filter(|copied| copied == tensor),
        barred: None,
        candidate: Candidate { buffer: divided.buffer(time), device_bytes: divided.device_bytes(time), may_split: false },
    };
    if let Some(ineligible @ (Ineligible::GraphOutput | Ineligible::ViewedOutput)) = ineligible(program, time) {
        made.barred = Some(ineligible.to_string());
        promote(divided, &mut made)?;
    }
    Ok(made)
}

/// Renumbers the parents of results, which are listed after the inputs, and adds the inputs whose addresses results may reuse.
fn add_parents(program: &Program, inputs: &[Planned], made: &mut [Planned]) {
    let mut read: Vec<Vec<usize>> = vec![Vec::new(); made.len()];
    for (index, input) in inputs.iter().enumerate() {
        let (alike, others): (Vec<OperandOf>, Vec<OperandOf>) =
            input.readers.iter().partition(|read| input.is_alike(&program.ops[read.op], read.operand));
        let in_other_ways: BTreeSet<usize> = others.into_iter().map(|read| read.op).collect();
        let readers: BTreeSet<usize> = alike.into_iter().map(|read| read.op).collect();
        readers.difference(&in_other_ways).for_each(|&reader| read[reader].push(index));
    }
    for (made, read) in made.iter_mut().zip(read) {
        let buffer = &mut made.candidate.buffer;
        buffer.in_place_parents.iter_mut().for_each(|parent| *parent += inputs.len());
        if buffer.barred.is_none() {
            buffer.in_place_parents.extend(read);
        }
    }
}

/// Lets ops other than the writer read a function result from LX, if any can.
fn promote(divided: &DividedProgram, made: &mut Planned) -> Result<(), String> {
    let program = &divided.program;
    let Some(time) = made.writer.filter(|&time| rewriters(program, time).is_empty()) else { return Ok(()) };
    let op = &program.ops[time];
    let written = OperandOf { op: time, operand: op.operands.len() - 1 };
    let Ok(view) = agreed_view(&[divided.core_use(written)]) else { return Ok(()) };
    made.readers.retain(|&reader| {
        is_served(program, reader)
            && !program.ops[reader.op].accesses_part(reader.operand)
            && program.ops[reader.op].loops == op.loops
            && agreed_view(&[divided.core_use(written), divided.core_use(reader)]).is_ok()
    });
    if made.readers.is_empty() || !made.is_copied_like_its_user(divided)? {
        return Ok(());
    }
    let uses = [Use { time, kind: UseKind::Write }].into_iter().chain(reads(&made.readers)).collect();
    let bytes = made.candidate.device_bytes / view.slices();
    let in_place_parents = parents(program, op);
    let buffer = &mut made.candidate.buffer;
    *buffer = Buffer { name: buffer.name.clone(), bytes, uses, in_place_parents, starts_in_hbm: false, ends_in_hbm: true, barred: None };
    made.candidate.may_split = true;
    Ok(())
}

/// Returns the values that are in HBM in every plan and that several ops of their block read with the same core split,
/// ordered by first reader. These are arguments, constants, values that loops write tile by tile, and results that may
/// not be written to LX.
fn inputs_of(divided: &DividedProgram, made: &[Planned]) -> Result<Vec<Planned>, String> {
    let program = &divided.program;
    let is_in_hbm = |time: usize, made: &Planned| {
        made.candidate.buffer.barred.is_some() && !program.ops[time].is_insert() && program.writers(made.value) == [time]
    };
    let in_hbm: BTreeSet<ValueId> =
        made.iter().enumerate().filter(|(time, made)| is_in_hbm(*time, made)).map(|(_, made)| made.value).collect();
    let is_input = |read: OperandOf, value: ValueId| {
        let of = program.value(value);
        let is_unwritten = || program.writers(value).is_empty();
        of.block == program.ops[read.op].block
            && match of.def {
                ValueDef::Argument | ValueDef::Constant | ValueDef::Loop => is_unwritten(),
                ValueDef::Op | ValueDef::View { .. } => in_hbm.contains(&value),
            }
            && is_served(program, read)
    };
    let mut inputs = Vec::new();
    for (value, readers) in reads_of_inputs(program, is_input) {
        inputs.extend(input(divided, value, readers)?);
    }
    Ok(inputs)
}

/// Returns an input, if ops read it with the split of the first one and read at least twice its size; a partial read counts as its part.
fn input(divided: &DividedProgram, value: ValueId, mut readers: Vec<OperandOf>) -> Result<Option<Planned>, String> {
    let first = divided.core_use(readers[0]);
    let Ok(view) = agreed_view(&[first]) else { return Ok(None) };
    readers.retain(|&reader| agreed_view(&[first, divided.core_use(reader)]).is_ok());
    let program = &divided.program;
    let n_reads = whole_reads(program, value, &readers);
    let Some(copied) = program.value(value).tensor.compact()?.filter(|_| n_reads > 1) else { return Ok(None) };
    let device_bytes = copied.bytes()?;
    let buffer = Buffer {
        name: format!("input of op{}", readers[0].op),
        bytes: device_bytes / view.slices(),
        uses: reads(&readers[..n_reads - 1]).chain(reads(&readers[readers.len() - 1..])).collect(),
        in_place_parents: Vec::new(),
        starts_in_hbm: true,
        ends_in_hbm: false,
        barred: None,
    };
    // The planner must know every use between two residency intervals.
    let candidate = Candidate { buffer, device_bytes, may_split: n_reads == readers.len() };
    let input = Planned { value, writer: None, readers, copied: Some(copied), barred: None, candidate };
    Ok(input.is_copied_like_its_user(divided)?.then_some(input))
}

/// Returns whether LX could serve a read: numbers, by an op that can read LX.
fn is_served(program: &Program, read: OperandOf) -> bool {
    program.ops[read.op].role != OpRole::Restickify && program.operand(read).access.used_as == UsedAs::Data
}

/// Returns the bytes that these reads of a value move, in units of its size, rounded down.
fn whole_reads(program: &Program, value: ValueId, readers: &[OperandOf]) -> usize {
    let whole = program.value(value).tensor.shape.iter().product::<i64>().max(1);
    let elements = |read: &OperandOf| {
        let space = &program.ops[read.op].space;
        program.operand(*read).access.dims.iter().map(|dim| dim.map_or(1, |dim| space[dim])).product::<i64>().min(whole)
    };
    usize::try_from(readers.iter().map(elements).sum::<i64>() / whole).unwrap_or(0).min(readers.len())
}

fn reads(readers: &[OperandOf]) -> impl Iterator<Item = Use> {
    readers.iter().map(|read| Use { time: read.op, kind: UseKind::Read })
}

impl Planned {
    /// Returns whether copies between LX and HBM can be inserted at every use of the value: all uses are in its block.
    fn may_split(&self, divided: &DividedProgram) -> Result<bool, String> {
        let Some(writer) = self.writer.filter(|_| self.candidate.buffer.barred.is_none()) else { return Ok(false) };
        let program = &divided.program;
        let is_beside = |read: &OperandOf| program.ops[read.op].loops == program.ops[writer].loops;
        // The planner counts a partial read as a complete one, and a complete copy for partial reads may not pay.
        let is_whole = rewriters(program, writer).is_empty() && !writes_part(&program.ops[writer]) && !is_read_in_parts(program, writer);
        let is_plain = self.readers.len() > 1 && self.readers.iter().all(is_beside);
        Ok(is_whole && is_plain && self.is_copied_like_its_user(divided)?)
    }

    /// Returns whether a copy has on each core the slice that the user has.
    fn is_copied_like_its_user(&self, divided: &DividedProgram) -> Result<bool, String> {
        self.copied.as_ref().map_or(Ok(false), |copied| self.user(divided).has_copy(copied))
    }

    /// Returns the operand that determines the slices of the value.
    fn first_user(&self, program: &Program) -> OperandOf {
        self.writer.map_or_else(|| self.readers[0], |op| OperandOf { op, operand: program.ops[op].operands.len() - 1 })
    }

    fn user<'a>(&self, divided: &'a DividedProgram) -> CopyUser<'a> {
        let first = self.first_user(&divided.program);
        let division = &divided.divisions[first.op];
        let dims = &divided.program.operand(first).access.dims;
        CopyUser { operand: first.operand, dims, operation: &division.operation, split: &division.split }
    }

    /// Returns whether an op's result may reuse the address of the copy that the op reads.
    fn is_alike(&self, op: &Op, operand: usize) -> bool {
        let (read, written) = (&op.operands[operand].access, &op.written().access);
        let copied = self.copied.as_ref().and_then(|copied| copied.layout.as_ref());
        op.family == Family::Pointwise
            && read.dims == written.dims
            && read.offsets == written.offsets
            && copied == written.tensor.layout.as_ref()
    }

    /// Adds the copies of the residency intervals.
    fn add_copies(
        &self,
        divided: &DividedProgram,
        candidate: &Candidate,
        stays: &[StayInLx],
        copies: &mut Vec<PlannedCopy>,
    ) -> Result<(), String> {
        let mut later = stays;
        let readers_in =
            |stay: &StayInLx| self.readers.iter().filter(|read| (stay.start..stay.end).contains(&read.op)).copied().collect::<Vec<_>>();
        if let Some((first, others)) = stays.split_first().filter(|(first, _)| candidate.begins_with_write(first)) {
            later = others;
            if candidate.leaves_lx(stays) {
                let behind = self.first_user(&divided.program).op;
                copies.push(self.copy(divided, Direction::Store { behind, others: readers_in(first) })?);
            }
        }
        for stay in later {
            let readers = readers_in(stay);
            if readers.first().is_none_or(|first| first.op != stay.start) {
                return Err("a residency interval begins without a reader".to_owned());
            }
            copies.push(self.copy(divided, Direction::Load { before: stay.start, address: stay.address, readers })?);
        }
        Ok(())
    }

    fn copy(&self, divided: &DividedProgram, direction: Direction) -> Result<PlannedCopy, String> {
        let copied = self.copied.clone().ok_or("a copy has no type")?;
        let user = self.user(divided);
        if !user.has_copy(&copied)? {
            return Err("a copy is divided in another way than its user".to_owned());
        }
        let first = self.first_user(&divided.program);
        Ok(PlannedCopy { value: self.value, copied, direction, split: user.split_of_dims()?, user: first })
    }
}
