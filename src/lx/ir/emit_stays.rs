//! `spyre-plan-lx`: writes the plan of the planner `exact` into the program, with the copies between LX and HBM that it needs.
//!
//! A value that is written to LX and also needed in HBM is stored directly after its writer, so that its address is free when its residency
//! interval ends. A later interval starts with a load from HBM before its first reader. Values that are in HBM anyway and that several ops
//! read with the same split, and function results that ops also read, are planned like any other value.

use super::{
    clone_inputs::{User, compact_type, copy_for},
    program::{LxProgram, reads_part},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{Access, Memory, Place, Step, Tensor, UsedAs, behind_views, view},
    lx::{
        Ineligible,
        stays::{Candidate, Chosen},
    },
    mlir::{Op, OpExt, OperationLike, TensorType, Type, Value, ValueExt, ValueLike, ValueMap, insert_before, map_of, shape_of},
    work::agreed_view,
};
use machine::Family;
use program::{OperandOf, WorkSplit};
use scratchpad::{Buffer, Capacity, StayInLx, Use, UseKind};
use std::collections::BTreeSet;

/// Reason in `place` of a value's copy in HBM.
const COPIED_OUT: &str = "it is the copy in HBM of a value in LX";

/// Plans the program, and writes places and copies.
///
/// # Errors
/// Returns an error if layouts are wrong, or if a copy does not have the predicted slices.
pub(crate) fn emit_stays(program: &LxProgram<'_>, capacity: &Capacity) -> Result<(), String> {
    StayPlan::new(program, capacity)?.emit(program)
}

/// Chosen residency intervals of the values of a program.
pub(crate) struct StayPlan<'c> {
    planned: Vec<Planned<'c>>,
    candidates: Vec<Candidate>,
    chosen: Chosen,
}

impl<'c> StayPlan<'c> {
    /// Plans the program without changing it.
    ///
    /// # Errors
    /// Returns an error if layouts are wrong.
    pub(crate) fn new(program: &LxProgram<'c>, capacity: &Capacity) -> Result<Self, String> {
        let mut made = (0..program.divisions.len()).map(|time| made_by(program, time)).collect::<Result<Vec<_>, _>>()?;
        let mut planned = inputs_of(program, &made)?;
        add_parents(program, &planned, &mut made);
        planned.append(&mut made);
        let mut candidates: Vec<Candidate> = planned.iter().map(|planned| planned.candidate.clone()).collect();
        let mut chosen = Chosen::whole(&candidates, capacity);
        if chosen.leaves_some_in_hbm(&candidates, capacity) {
            for (planned, candidate) in planned.iter().zip(&mut candidates) {
                candidate.may_split = candidate.may_split || planned.may_split(program)?;
            }
            chosen = chosen.or_split(&candidates, capacity);
        }
        Ok(Self { planned, candidates, chosen })
    }

    /// Returns the places and copies that the plan emits; `None` if it removes copies, or inserts copies with another layout or between loops.
    pub(crate) fn emitted(&self, program: &LxProgram<'c>) -> Option<Emitted<'c>> {
        let mut emitted = Emitted { in_lx: vec![false; program.divisions.len()], copies: Vec::new() };
        for ((planned, candidate), stays) in self.planned.iter().zip(&self.candidates).zip(&self.chosen.stays) {
            planned.note_emitted(program, candidate, stays, &mut emitted)?;
            if planned.writer.is_some_and(|writer| !emitted.in_lx[writer] && program.is_removed_in_hbm(writer)) {
                return None;
            }
        }
        Some(emitted)
    }

    fn emit(&self, program: &LxProgram<'c>) -> Result<(), String> {
        let Self { planned, candidates, chosen } = self;
        for ((planned, candidate), stays) in planned.iter().zip(candidates).zip(&chosen.stays) {
            planned.emit(program, candidate, stays)?;
        }
        for (planned, (stays, reason)) in planned.iter().zip(chosen.stays.iter().zip(&chosen.reasons)) {
            let Some(writer) = planned.writer else { continue };
            let place = match stays.first() {
                Some(stay) if stay.start == writer => Place { memory: Memory::Lx(stay.address), reason: String::new() },
                Some(_) => Place { memory: Memory::Hbm, reason: reason.clone().unwrap_or_default() },
                None => Place { memory: Memory::Hbm, reason: planned.barred.clone().or(reason.clone()).unwrap_or_default() },
            };
            program.place_result(program.values.schedule.steps[writer].compute, &place);
        }
        Ok(())
    }
}

/// Places of results and copies that a plan emits.
pub(crate) struct Emitted<'c> {
    /// For each step whether its result is in LX.
    pub(crate) in_lx: Vec<bool>,
    /// The copies, in the order of their insertion.
    pub(crate) copies: Vec<PlannedCopy<'c>>,
}

/// Copy between LX and HBM.
pub(crate) struct PlannedCopy<'c> {
    /// Value that is copied, or of which another copy is copied.
    pub(crate) value: Value<'c>,
    /// Index of the copy that is copied, if it is not the value itself.
    pub(crate) from: Option<usize>,
    pub(crate) position: CopyPosition,
    /// Core split of the copy.
    pub(crate) split: WorkSplit,
    /// Operands that read the copy.
    pub(crate) reads: Vec<OperandOf>,
}

/// Position of a copy between LX and HBM.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyPosition {
    /// A copy into LX directly before a step.
    Before(usize),
    /// A copy out of LX behind a step, at the next op of any kind.
    Behind(usize),
}

/// Value to plan.
struct Planned<'c> {
    value: Value<'c>,
    /// Step that defines the value; `None` for an input.
    writer: Option<usize>,
    /// Reads that LX may serve.
    readers: Vec<OperandOf>,
    /// Type of the value's copies.
    copied: Option<Type<'c>>,
    /// Reason for HBM if the value has no residency interval, where it is known before planning.
    barred: Option<String>,
    candidate: Candidate,
}

/// Returns the planned value of a step's result.
fn made_by<'c>(program: &LxProgram<'c>, time: usize) -> Result<Planned<'c>, String> {
    let step = &program.values.schedule.steps[time];
    let value = step.compute.op.output();
    let mut made = Planned {
        value,
        writer: Some(time),
        readers: program.values.schedule.readers(value).to_vec(),
        copied: compact_type(step.compute.op.ctx(), value)?.filter(|copied| *copied == value.r#type()),
        barred: None,
        candidate: Candidate { buffer: program.buffer(time), device_bytes: program.device_bytes(time), may_split: false },
    };
    if let Some(ineligible @ (Ineligible::GraphOutput | Ineligible::ViewedOutput)) = program.values.ineligible(time) {
        made.barred = Some(ineligible.to_string());
        promote(program, &mut made)?;
    }
    Ok(made)
}

/// Renumbers the parents of results, which are listed after the inputs, and adds the inputs whose addresses results may reuse.
fn add_parents<'c>(program: &LxProgram<'c>, inputs: &[Planned<'c>], made: &mut [Planned<'c>]) {
    let mut read: Vec<Vec<usize>> = vec![Vec::new(); made.len()];
    for (index, input) in inputs.iter().enumerate() {
        let steps = &program.values.schedule.steps;
        let (alike, others): (Vec<OperandOf>, Vec<OperandOf>) =
            input.readers.iter().partition(|read| input.is_alike(&steps[read.op], read.operand));
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
fn promote<'c>(program: &LxProgram<'c>, made: &mut Planned<'c>) -> Result<(), String> {
    let Some(time) = made.writer.filter(|&time| program.values.rewriters(time).is_empty()) else { return Ok(()) };
    let step = &program.values.schedule.steps[time];
    let written = OperandOf { op: time, operand: step.accesses.len() - 1 };
    let Ok(view) = agreed_view(&[program.core_use(written)]) else { return Ok(()) };
    made.readers.retain(|&reader| {
        is_served(program, reader)
            && !reads_part(&program.values.schedule.steps[reader.op], reader.operand)
            && program.values.schedule.steps[reader.op].loops == step.loops
            && agreed_view(&[program.core_use(written), program.core_use(reader)]).is_ok()
    });
    if made.readers.is_empty() || !made.is_copied_like_its_user(program)? {
        return Ok(());
    }
    let uses = [Use { time, kind: UseKind::Write }].into_iter().chain(reads(&made.readers)).collect();
    let bytes = made.candidate.device_bytes / view.slices();
    let in_place_parents = program.values.parents(step);
    let buffer = &mut made.candidate.buffer;
    *buffer = Buffer { name: buffer.name.clone(), bytes, uses, in_place_parents, starts_in_hbm: false, ends_in_hbm: true, barred: None };
    made.candidate.may_split = true;
    Ok(())
}

/// Returns the values that are in HBM in every plan and that several ops of their block read with the same core split,
/// ordered by first reader. These are arguments, constants, values that loops write tile by tile, and results that may
/// not be written to LX.
fn inputs_of<'c>(program: &LxProgram<'c>, made: &[Planned<'c>]) -> Result<Vec<Planned<'c>>, String> {
    let mut in_hbm: ValueMap<()> = ValueMap::default();
    for (time, made) in made.iter().enumerate() {
        let is_insert = program.values.schedule.steps[time].compute.is_insert();
        if made.candidate.buffer.barred.is_some() && !is_insert && program.values.schedule.writers(made.value) == [time] {
            in_hbm.insert(made.value, ());
        }
    }
    let is_input = |op: Op<'c>, value: Value<'c>| {
        let is_written = !program.values.schedule.writers(value).is_empty();
        match value.def() {
            Some(def) if def.block() != op.block() => false,
            Some(def) if def.is(spyre::CONSTANT) || def.is(spyre::LOOP) => !is_written,
            Some(_) => in_hbm.get(value).is_some(),
            None => !is_written && value.arg_of().is_some_and(|(block, _)| Some(block) == op.block()),
        }
    };
    let mut inputs = Vec::new();
    let is_read = |read: OperandOf, value| is_input(program.values.schedule.steps[read.op].compute.op, value) && is_served(program, read);
    for (value, readers) in program.values.reads_of_inputs(is_read) {
        inputs.extend(input(program, value, readers)?);
    }
    Ok(inputs)
}

/// Returns an input, if ops read it with the split of the first one and read at least twice its size; a partial read counts as its part.
fn input<'c>(program: &LxProgram<'c>, value: Value<'c>, mut readers: Vec<OperandOf>) -> Result<Option<Planned<'c>>, String> {
    let first = program.core_use(readers[0]);
    let Ok(view) = agreed_view(&[first]) else { return Ok(None) };
    readers.retain(|&reader| agreed_view(&[first, program.core_use(reader)]).is_ok());
    let op = program.values.schedule.steps[readers[0].op].compute.op;
    let n_reads = whole_reads(program, value, &readers);
    let Some(copied) = compact_type(op.ctx(), value)?.filter(|_| n_reads > 1) else { return Ok(None) };
    let device_bytes = Tensor::of(copied).and_then(|tensor| tensor.layout).map_or(0, |layout| layout.bytes());
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
    Ok(input.is_copied_like_its_user(program)?.then_some(input))
}

/// Returns whether LX could serve a read: numbers, by an op that can read LX.
fn is_served(program: &LxProgram<'_>, OperandOf { op, operand }: OperandOf) -> bool {
    let step = &program.values.schedule.steps[op];
    !step.compute.op.is(spyre::RESTICKIFY) && step.accesses[operand].used_as == UsedAs::Data
}

/// Returns the bytes that these reads of a value move, in units of its size, rounded down.
fn whole_reads(program: &LxProgram<'_>, value: Value<'_>, readers: &[OperandOf]) -> usize {
    let whole = shape_of(value).iter().product::<i64>().max(1);
    let elements = |&OperandOf { op, operand }: &OperandOf| {
        let step = &program.values.schedule.steps[op];
        let space = step.compute.iteration_space();
        step.accesses[operand].dims.iter().map(|dim| dim.map_or(1, |dim| space[dim])).product::<i64>().min(whole)
    };
    usize::try_from(readers.iter().map(elements).sum::<i64>() / whole).unwrap_or(0).min(readers.len())
}

fn reads(readers: &[OperandOf]) -> impl Iterator<Item = Use> {
    readers.iter().map(|read| Use { time: read.op, kind: UseKind::Read })
}

impl<'c> Planned<'c> {
    /// Returns whether copies between LX and HBM can be inserted at every use of the value: all uses are in its block.
    fn may_split(&self, program: &LxProgram<'c>) -> Result<bool, String> {
        let Some(writer) = self.writer.filter(|_| self.candidate.buffer.barred.is_none()) else { return Ok(false) };
        let steps = &program.values.schedule.steps;
        let is_beside = |read: &OperandOf| steps[read.op].loops == steps[writer].loops;
        // The planner counts a partial read as a complete one, and a complete copy for partial reads may not pay.
        let is_whole =
            program.values.rewriters(writer).is_empty() && !program.values.writes_part(writer) && !program.values.is_read_in_parts(writer);
        let is_plain = self.readers.len() > 1 && self.readers.iter().all(is_beside);
        Ok(is_whole && is_plain && self.is_copied_like_its_user(program)?)
    }

    /// Returns whether a copy has on each core the slice that the user has.
    fn is_copied_like_its_user(&self, program: &LxProgram<'c>) -> Result<bool, String> {
        self.copied.map_or(Ok(false), |copied| self.user(program).has_copy(copied))
    }

    /// Returns the step that determines the slices of the value.
    fn first_user(&self) -> usize {
        self.writer.unwrap_or(self.readers[0].op)
    }

    fn user<'a>(&self, program: &'a LxProgram<'c>) -> User<'a, 'c> {
        let time = self.first_user();
        let (step, division) = (&program.values.schedule.steps[time], &program.divisions[time]);
        let operand = if self.writer.is_some() { step.accesses.len() - 1 } else { self.readers[0].operand };
        User { compute: step.compute, operand, dims: &step.accesses[operand].dims, operation: &division.operation, split: &division.split }
    }

    /// Returns whether a step's result may reuse the address of the copy that the step reads.
    fn is_alike(&self, step: &Step<'c>, operand: usize) -> bool {
        let copied = self.copied.and_then(Tensor::of).and_then(|tensor| tensor.layout);
        let (read, written): (&Access<'c>, Option<&Access<'c>>) = (&step.accesses[operand], step.accesses.last());
        let is_elementwise = step.compute.family() == Family::Pointwise;
        written.is_some_and(|written| {
            is_elementwise && read.dims == written.dims && read.offsets == written.offsets && copied == written.tensor.layout
        })
    }

    /// Inserts the copies of the residency intervals, and makes the readers use them.
    fn emit(&self, program: &LxProgram<'c>, candidate: &Candidate, stays: &[StayInLx]) -> Result<(), String> {
        let mut later = stays;
        if let Some((first, others)) = stays.split_first().filter(|(first, _)| candidate.begins_with_write(first)) {
            later = others;
            if candidate.leaves_lx(stays) {
                self.copy_out(program)?;
                self.let_read(program, first, self.value)?;
            }
        }
        for stay in later {
            let copy = self.copy(program, self.found_by(program, stay)?, program.values.schedule.steps[stay.start].compute.op)?;
            Place { memory: Memory::Lx(stay.address), reason: String::new() }.set_on(copy);
            self.let_read(program, stay, copy.output())?;
        }
        Ok(())
    }

    /// Adds what [`Self::emit`] emits. Returns `None` if that cannot be described.
    fn note_emitted(&self, program: &LxProgram<'c>, candidate: &Candidate, stays: &[StayInLx], emitted: &mut Emitted<'c>) -> Option<()> {
        let mut later = stays;
        let mut from = None;
        let steps = &program.values.schedule.steps;
        let is_in = |stay: &StayInLx, read: &&OperandOf| (stay.start..stay.end).contains(&read.op);
        if let Some((first, others)) = stays.split_first().filter(|(first, _)| candidate.begins_with_write(first)) {
            let writer = self.writer?;
            emitted.in_lx[writer] = true;
            later = others;
            if candidate.leaves_lx(stays) {
                self.copied?;
                let stays_in_lx = |read: &&OperandOf| is_in(first, read) && self.readers.contains(read);
                let readers = program.values.schedule.readers(self.value);
                if readers.iter().any(|read| steps[read.op].loops != steps[writer].loops) {
                    return None;
                }
                let reads = readers.iter().filter(|read| !stays_in_lx(read)).copied().collect();
                let split = self.user(program).split_of_dims().ok()?;
                from = Some(emitted.copies.len());
                emitted.copies.push(PlannedCopy { value: self.value, from: None, position: CopyPosition::Behind(writer), split, reads });
            }
        }
        for stay in later {
            let has_its_layout = self.copied == Some(self.value.r#type());
            if !has_its_layout || self.found_by(program, stay).ok()? != self.value {
                return None;
            }
            let reads: Vec<OperandOf> = self.readers.iter().filter(|read| is_in(stay, read)).copied().collect();
            if reads.iter().any(|read| steps[read.op].loops != steps[stay.start].loops) {
                return None;
            }
            let split = self.user(program).split_of_dims().ok()?;
            emitted.copies.push(PlannedCopy { value: self.value, from, position: CopyPosition::Before(stay.start), split, reads });
        }
        Some(())
    }

    /// Returns the value in HBM that the first reader of a later residency interval reads. After a loop that carries
    /// the value unchanged, this is the result of the loop.
    fn found_by(&self, program: &LxProgram<'c>, stay: &StayInLx) -> Result<Value<'c>, String> {
        let read = self.readers.iter().find(|read| read.op == stay.start).ok_or("a stay begins without a reader")?;
        Ok(behind_views(program.values.schedule.steps[read.op].compute.op.inputs()[read.operand]))
    }

    /// Copies the value from LX directly after its writer; all former users use the copy.
    fn copy_out(&self, program: &LxProgram<'c>) -> Result<(), String> {
        let behind = program.values.schedule.steps[self.first_user()].compute.op.next_in_block();
        let copy = self.copy(program, self.value, behind.ok_or("a block ends with a compute op")?)?;
        Place { memory: Memory::Hbm, reason: COPIED_OUT.to_owned() }.set_on(copy);
        self.value.replace_with(copy.output());
        copy.set_input(0, self.value);
        Ok(())
    }

    fn copy(&self, program: &LxProgram<'c>, from: Value<'c>, before: Op<'c>) -> Result<Op<'c>, String> {
        let copied = self.copied.ok_or("a copy has no type")?;
        copy_for(&self.user(program), from, copied, before)?.ok_or_else(|| "a copy is divided in another way than its user".to_owned())
    }

    /// Makes the readers in a residency interval read `value`.
    fn let_read(&self, program: &LxProgram<'c>, stay: &StayInLx, value: Value<'c>) -> Result<(), String> {
        for read in self.readers.iter().filter(|read| (stay.start..stay.end).contains(&read.op)) {
            let op = program.values.schedule.steps[read.op].compute.op;
            op.set_input(read.operand, shown_anew(op, op.inputs()[read.operand], value)?);
        }
        Ok(())
    }
}

/// Rebuilds on `value`, before an op, the chain of views of `shown`. If `value` has another layout, the views keep only their indices.
fn shown_anew<'c>(before: Op<'c>, shown: Value<'c>, value: Value<'c>) -> Result<Value<'c>, String> {
    let lies_alike = behind_views(shown).r#type() == value.r#type();
    let type_of = |old: Op<'c>| {
        let own = old.output().r#type();
        if lies_alike { Some(own) } else { TensorType::of(own).map(|own| TensorType { encoding: None, ..own }.build()) }
    };
    let is_view = |value: &Value<'c>| value.def().filter(|def| def.is(spyre::VIEW));
    let views: Vec<Op<'c>> = std::iter::successors(is_view(&shown), |view| is_view(&view.inputs()[0])).collect();
    views.into_iter().rev().try_fold(value, |behind, old| {
        let map = old.attr(attr::MAP).and_then(map_of).ok_or("a view without a map")?;
        let shown_as = type_of(old).ok_or("a view of what is no tensor")?;
        Ok(insert_before(before, view(old.ctx(), old.loc(), behind, map, shown_as)).output())
    })
}
