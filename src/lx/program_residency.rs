//! Residency intervals of the values of a program, and the copies between LX and HBM that they need.
//!
//! A value that is written to LX and also needed in HBM is stored directly after its writer, so that its address is
//! free when its residency interval ends. A later interval starts with a load from HBM before its first reader. Values
//! that are in HBM anyway and that several ops read with the same split, and function results that ops also read, are
//! planned like any other value.

use super::{
    LxIneligibility,
    copy_split::CopyUser,
    residency::{ResidencyCandidate, ResidencyPlan},
    shuffles::{PlannedShuffle, ValueShuffles, find_shuffles},
    values::{
        DividedProgram, can_read_from_lx, collect_input_reads, find_in_place_parents, find_ineligibility,
        find_overwriting_ops, is_read_partially, writes_partially,
    },
};
use crate::work::find_common_view;
use machine::{Family, Target};
use program::{OperandRef, Program, ProgramOp, ProgramTensor, ValueDef, ValueId, WorkSplit};
use scratchpad::{Buffer, Capacity, LxInterval, Use, UseKind};
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Chosen residency intervals of the values of a program.
pub(crate) struct ProgramResidencyPlan {
    planned: Vec<PlannedValue>,
    candidates: Vec<ResidencyCandidate>,
    chosen: ResidencyPlan,
}

/// Copy between LX and HBM.
pub(crate) struct PlannedCopy {
    /// Value that is copied; a copy into LX of a value that is copied out copies that copy.
    pub(crate) value: ValueId,
    /// Type of the copy.
    pub(crate) copied: ProgramTensor,
    pub(crate) direction: CopyDirection,
    /// Core split of the copy.
    pub(crate) split: WorkSplit,
    /// Operand whose core split the copy has.
    pub(crate) user: OperandRef,
}

/// Direction and position of a copy.
pub(crate) enum CopyDirection {
    /// Moves the value to the cores that need other slices, at an address in LX, directly before an op.
    Shuffle { before: usize, address: i64, shuffle: Rc<PlannedShuffle> },
    /// Loads the value into LX at an address, directly before an op, for these operands.
    Load { before: usize, address: i64, readers: Vec<OperandRef> },
    /// Stores the value to HBM after the writer, for all operands but these.
    Store { after: usize, others: Vec<OperandRef> },
}

/// Place of the result of an op.
pub(crate) enum ResultLocation {
    Lx(i64),
    /// In HBM, with the reason.
    Hbm(String),
}

/// Value to plan.
struct PlannedValue {
    value: ValueId,
    /// Op that defines the value; `None` for an input.
    writer: Option<usize>,
    /// Reads that LX may serve.
    readers: Vec<OperandRef>,
    /// Type of the value's copies.
    copied: Option<ProgramTensor>,
    /// Reason for HBM if the value has no residency interval, where it is known before planning.
    barred: Option<String>,
    candidate: ResidencyCandidate,
    /// Shuffle that makes the copy, which is planned instead of the value.
    shuffle: Option<Rc<PlannedShuffle>>,
    /// Whether some readers read copies of it that shuffles make, or the copy in HBM.
    has_shuffles: bool,
}

/// Shuffles of values, by the time of the writer.
type Shuffles = BTreeMap<usize, ValueShuffles>;

impl ProgramResidencyPlan {
    /// Plans a program. Shuffles are used where the value and all its copies are in LX for their whole live ranges,
    /// and if they take less time than the HBM bytes that they save.
    ///
    /// # Errors
    /// Returns an error if layouts are wrong.
    pub(crate) fn new(divided: &DividedProgram, target: &Target) -> Result<Self, String> {
        let capacity = Capacity::from_target(target);
        let plain = Self::with_shuffles(divided, &capacity, &Shuffles::new())?;
        let mut shuffles = Shuffles::new();
        let barred = plain.planned.iter().filter(|planned| planned.candidate.buffer.barred.is_some());
        for time in barred.filter_map(|planned| planned.writer) {
            shuffles.extend(find_shuffles(divided, time, target)?.map(|of_value| (time, of_value)));
        }
        while !shuffles.is_empty() {
            let plan = Self::with_shuffles(divided, &capacity, &shuffles)?;
            let unplaced = plan.find_unplaced_shuffles(divided, &shuffles);
            if unplaced.is_empty() {
                let added_ns: f64 = shuffles.values().map(ValueShuffles::estimate_ns).sum();
                let is_faster = plan.estimate_hbm_ns(target) + added_ns < plain.estimate_hbm_ns(target);
                return Ok(if is_faster { plan } else { plain });
            }
            shuffles.retain(|time, _| !unplaced.contains(time));
        }
        Ok(plain)
    }

    /// Returns the time of the HBM bytes, ns.
    fn estimate_hbm_ns(&self, target: &Target) -> f64 {
        self.chosen.hbm_bytes as f64 / target.time.hbm.one_way
    }

    /// Plans a program with shuffles, without requiring that they are in LX.
    fn with_shuffles(divided: &DividedProgram, capacity: &Capacity, shuffles: &Shuffles) -> Result<Self, String> {
        let mut made =
            (0..divided.divisions.len()).map(|time| plan_result(divided, time)).collect::<Result<Vec<_>, _>>()?;
        let mut moved = Vec::new();
        for (&time, of_value) in shuffles {
            plan_shuffles(divided, &mut made[time], of_value, &mut moved);
        }
        let mut planned = collect_inputs(divided, &made)?;
        add_in_place_parents(&divided.program, &planned, &mut made);
        planned.append(&mut made);
        planned.append(&mut moved);
        let mut candidates: Vec<ResidencyCandidate> = planned.iter().map(|planned| planned.candidate.clone()).collect();
        let mut chosen = ResidencyPlan::plan_unsplit(&candidates, capacity);
        if chosen.has_unplaced_candidates(&candidates, capacity) {
            for (planned, candidate) in planned.iter().zip(&mut candidates) {
                candidate.may_split = candidate.may_split || planned.may_split(divided)?;
            }
            chosen = chosen.improved_by_splitting(&candidates, capacity);
        }
        Ok(Self { planned, candidates, chosen })
    }

    /// Returns the times of the writers of values with a shuffle whose source or result is not in LX for its whole
    /// live range.
    fn find_unplaced_shuffles(&self, divided: &DividedProgram, shuffles: &Shuffles) -> BTreeSet<usize> {
        let program = &divided.program;
        let unplaced = self.planned.iter().zip(&self.chosen.intervals).filter(|(planned, intervals)| {
            let life = planned.candidate.buffer.live_range();
            !matches!(intervals.as_slice(), [one] if one.start == life.start && one.end == life.end)
        });
        let writers = unplaced.filter_map(|(planned, _)| match &planned.shuffle {
            Some(_) => program.writers(planned.value).first().copied(),
            None => planned.writer,
        });
        writers.filter(|time| shuffles.contains_key(time)).collect()
    }

    /// Returns the copies of the plan, in the order in which they are inserted.
    ///
    /// # Errors
    /// Returns an error if a copy does not have the slices of its user.
    pub(crate) fn copies(&self, divided: &DividedProgram) -> Result<Vec<PlannedCopy>, String> {
        let mut copies = Vec::new();
        for ((planned, candidate), intervals) in self.planned.iter().zip(&self.candidates).zip(&self.chosen.intervals) {
            planned.add_copies(divided, candidate, intervals, &mut copies)?;
        }
        Ok(copies)
    }

    /// Returns the places of the results of ops, by time.
    pub(crate) fn result_locations(&self) -> impl Iterator<Item = (usize, ResultLocation)> + use<'_> {
        self.planned.iter().zip(self.chosen.intervals.iter().zip(&self.chosen.reasons)).filter_map(
            |(planned, (intervals, reason))| {
                let writer = planned.writer?;
                let reason = || reason.clone();
                let place = match intervals.first() {
                    Some(interval) if interval.start == writer => ResultLocation::Lx(interval.address),
                    Some(_) => ResultLocation::Hbm(reason().unwrap_or_default()),
                    None => ResultLocation::Hbm(planned.barred.clone().or_else(reason).unwrap_or_default()),
                };
                Some((writer, place))
            },
        )
    }
}

/// Returns the planned value of an op's result.
fn plan_result(divided: &DividedProgram, time: usize) -> Result<PlannedValue, String> {
    let program = &divided.program;
    let value = program.result(time);
    let tensor = &program.value(value).tensor;
    let mut made = PlannedValue {
        value,
        writer: Some(time),
        readers: program.readers(value).to_vec(),
        copied: tensor.to_compact()?.filter(|copied| copied == tensor),
        barred: None,
        candidate: ResidencyCandidate {
            buffer: divided.buffer(time),
            device_bytes: divided.device_bytes(time),
            may_split: false,
            hbm_reads: 0,
        },
        shuffle: None,
        has_shuffles: false,
    };
    if let Some(ineligible @ (LxIneligibility::GraphOutput | LxIneligibility::ViewedOutput)) =
        find_ineligibility(program, time)
    {
        made.barred = Some(ineligible.to_string());
        enable_lx_reads(divided, &mut made)?;
    }
    Ok(made)
}

/// Plans the value that an op makes, and a copy for each of its shuffles, which runs before the first reader of the
/// copy.
fn plan_shuffles(
    divided: &DividedProgram,
    made: &mut PlannedValue,
    shuffles: &ValueShuffles,
    moved: &mut Vec<PlannedValue>,
) {
    let Some(time) = made.writer else { return };
    let program = &divided.program;
    let read = |time| Use { time, kind: UseKind::Read };
    let needed_until = |read: &OperandRef| *program.use_interval(&program.ops[time].loops, read.op).end();
    let kept = shuffles.kept.iter().map(needed_until);
    let mut times: Vec<usize> = kept.chain(shuffles.moves.iter().map(|moved| moved.before)).collect();
    times.sort_unstable();
    let buffer = &mut made.candidate.buffer;
    let write = Use { time, kind: UseKind::Write };
    *buffer = Buffer {
        bytes: made.candidate.device_bytes / shuffles.num_slices,
        uses: [write].into_iter().chain(times.into_iter().map(read)).collect(),
        in_place_parents: find_in_place_parents(program, &program.ops[time]),
        ends_in_hbm: shuffles.is_stored,
        barred: None,
        ..buffer.clone()
    };
    (made.candidate.may_split, made.candidate.hbm_reads, made.has_shuffles) = (false, shuffles.outside, true);
    made.readers.clone_from(&shuffles.kept);
    made.readers.extend(shuffles.moves.iter().flat_map(|moved| moved.readers.iter().copied()));
    for one in &shuffles.moves {
        let write = Use { time: one.before, kind: UseKind::Write };
        let mut times: Vec<usize> = one.readers.iter().map(needed_until).collect();
        times.sort_unstable();
        let buffer = Buffer {
            name: format!("shuffle of op{time}"),
            bytes: made.candidate.device_bytes / one.num_slices,
            uses: [write].into_iter().chain(times.into_iter().map(read)).collect(),
            in_place_parents: Vec::new(),
            starts_in_hbm: false,
            ends_in_hbm: false,
            barred: None,
        };
        moved.push(PlannedValue {
            value: made.value,
            writer: None,
            readers: one.readers.clone(),
            copied: made.copied.clone(),
            barred: None,
            candidate: ResidencyCandidate {
                buffer,
                device_bytes: made.candidate.device_bytes,
                may_split: false,
                hbm_reads: 0,
            },
            shuffle: Some(Rc::clone(one)),
            has_shuffles: false,
        });
    }
}

/// Renumbers the parents of results, which are listed after the inputs, and adds the inputs whose addresses results may
/// reuse.
fn add_in_place_parents(program: &Program, inputs: &[PlannedValue], made: &mut [PlannedValue]) {
    let mut read: Vec<Vec<usize>> = vec![Vec::new(); made.len()];
    for (index, input) in inputs.iter().enumerate() {
        let (alike, others): (Vec<OperandRef>, Vec<OperandRef>) =
            input.readers.iter().partition(|read| input.can_reuse_address(&program.ops[read.op], read.operand));
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
fn enable_lx_reads(divided: &DividedProgram, made: &mut PlannedValue) -> Result<(), String> {
    let program = &divided.program;
    let Some(time) = made.writer.filter(|&time| find_overwriting_ops(program, time).is_empty()) else { return Ok(()) };
    let op = &program.ops[time];
    let written = program.written_operand(time);
    let Ok(view) = find_common_view(&[divided.core_use(written)]) else { return Ok(()) };
    made.readers.retain(|&reader| {
        can_read_from_lx(program, reader)
            && !program.ops[reader.op].accesses_partially(reader.operand)
            && program.ops[reader.op].loops == op.loops
            && find_common_view(&[divided.core_use(written), divided.core_use(reader)]).is_ok()
    });
    if made.readers.is_empty() || !made.has_matching_copy(divided)? {
        return Ok(());
    }
    let uses = [Use { time, kind: UseKind::Write }].into_iter().chain(to_read_uses(&made.readers)).collect();
    let bytes = made.candidate.device_bytes / view.num_slices();
    let in_place_parents = find_in_place_parents(program, op);
    let buffer = &mut made.candidate.buffer;
    *buffer = Buffer {
        name: buffer.name.clone(),
        bytes,
        uses,
        in_place_parents,
        starts_in_hbm: false,
        ends_in_hbm: true,
        barred: None,
    };
    made.candidate.may_split = true;
    Ok(())
}

/// Returns the values that are in HBM in every plan and that several ops of their block read with the same core split,
/// ordered by first reader. These are arguments, constants, values that loops write tile by tile, and results that may
/// not be written to LX.
fn collect_inputs(divided: &DividedProgram, made: &[PlannedValue]) -> Result<Vec<PlannedValue>, String> {
    let program = &divided.program;
    let is_in_hbm = |time: usize, made: &PlannedValue| {
        made.candidate.buffer.barred.is_some()
            && !program.ops[time].is_insert()
            && program.writers(made.value) == [time]
    };
    let in_hbm: BTreeSet<ValueId> =
        made.iter().enumerate().filter(|(time, made)| is_in_hbm(*time, made)).map(|(_, made)| made.value).collect();
    let is_input = |read: OperandRef, value: ValueId| {
        let of = program.value(value);
        let is_unwritten = || program.writers(value).is_empty();
        of.block == program.ops[read.op].block
            && match of.def {
                ValueDef::Argument | ValueDef::Constant | ValueDef::Loop => is_unwritten(),
                ValueDef::Op | ValueDef::View { .. } => in_hbm.contains(&value),
            }
            && can_read_from_lx(program, read)
    };
    let mut inputs = Vec::new();
    for (value, readers) in collect_input_reads(program, is_input) {
        inputs.extend(plan_input(divided, value, readers)?);
    }
    Ok(inputs)
}

/// Returns an input, if ops read it with the split of the first one and read at least twice its size; a partial read
/// counts by its fraction.
fn plan_input(
    divided: &DividedProgram,
    value: ValueId,
    mut readers: Vec<OperandRef>,
) -> Result<Option<PlannedValue>, String> {
    let first = divided.core_use(readers[0]);
    let Ok(view) = find_common_view(&[first]) else { return Ok(None) };
    readers.retain(|&reader| find_common_view(&[first, divided.core_use(reader)]).is_ok());
    let program = &divided.program;
    let num_reads = count_complete_reads(program, value, &readers);
    let Some(copied) = program.value(value).tensor.to_compact()?.filter(|_| num_reads > 1) else { return Ok(None) };
    let device_bytes = copied.bytes()?;
    let buffer = Buffer {
        name: format!("input of op{}", readers[0].op),
        bytes: device_bytes / view.num_slices(),
        uses: to_read_uses(&readers[..num_reads - 1]).chain(to_read_uses(&readers[readers.len() - 1..])).collect(),
        in_place_parents: Vec::new(),
        starts_in_hbm: true,
        ends_in_hbm: false,
        barred: None,
    };
    // The planner must know every use between two residency intervals.
    let candidate = ResidencyCandidate { buffer, device_bytes, may_split: num_reads == readers.len(), hbm_reads: 0 };
    let input = PlannedValue {
        writer: None,
        copied: Some(copied),
        barred: None,
        shuffle: None,
        has_shuffles: false,
        value,
        readers,
        candidate,
    };
    Ok(input.has_matching_copy(divided)?.then_some(input))
}

/// Returns the bytes that these reads of a value move, in units of its size, rounded down.
fn count_complete_reads(program: &Program, value: ValueId, readers: &[OperandRef]) -> usize {
    let whole = program.value(value).tensor.shape.iter().product::<i64>().max(1);
    let elements = |read: &OperandRef| {
        let space = &program.ops[read.op].space;
        program.operand(*read).access.dims.iter().map(|dim| dim.map_or(1, |dim| space[dim])).product::<i64>().min(whole)
    };
    usize::try_from(readers.iter().map(elements).sum::<i64>() / whole).unwrap_or(0).min(readers.len())
}

fn to_read_uses(readers: &[OperandRef]) -> impl Iterator<Item = Use> {
    readers.iter().map(|read| Use { time: read.op, kind: UseKind::Read })
}

impl PlannedValue {
    /// Returns whether copies between LX and HBM can be inserted at every use of the value: all uses are in its block.
    fn may_split(&self, divided: &DividedProgram) -> Result<bool, String> {
        let is_eligible = self.candidate.buffer.barred.is_none() && !self.has_shuffles;
        let Some(writer) = self.writer.filter(|_| is_eligible) else { return Ok(false) };
        let program = &divided.program;
        let is_beside = |read: &OperandRef| program.ops[read.op].loops == program.ops[writer].loops;
        // The planner counts a partial read as a complete one, and a complete copy for partial reads may not pay.
        let is_whole = find_overwriting_ops(program, writer).is_empty()
            && !writes_partially(&program.ops[writer])
            && !is_read_partially(program, writer);
        let is_plain = self.readers.len() > 1 && self.readers.iter().all(is_beside);
        Ok(is_whole && is_plain && self.has_matching_copy(divided)?)
    }

    /// Returns whether a copy has on each core the slice that the user has.
    fn has_matching_copy(&self, divided: &DividedProgram) -> Result<bool, String> {
        self.copied.as_ref().map_or(Ok(false), |copied| self.first_copy_user(divided).matches_copy(copied))
    }

    /// Returns the operand that determines the slices of the value.
    fn first_user(&self, program: &Program) -> OperandRef {
        self.writer.map_or_else(|| self.readers[0], |op| program.written_operand(op))
    }

    fn first_copy_user<'a>(&self, divided: &'a DividedProgram) -> CopyUser<'a> {
        let first = self.first_user(&divided.program);
        let division = &divided.divisions[first.op];
        let dims = &divided.program.operand(first).access.dims;
        CopyUser { operand: first.operand, dims, operation: &division.operation, split: &division.split }
    }

    /// Returns whether an op's result may reuse the address of the copy that the op reads.
    fn can_reuse_address(&self, op: &ProgramOp, operand: usize) -> bool {
        let (read, written) = (&op.operands[operand].access, &op.output().access);
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
        candidate: &ResidencyCandidate,
        intervals: &[LxInterval],
        copies: &mut Vec<PlannedCopy>,
    ) -> Result<(), String> {
        if let (Some(shuffle), [interval]) = (&self.shuffle, intervals) {
            copies.push(self.build_shuffle(divided, interval, shuffle)?);
            return Ok(());
        }
        let mut later = intervals;
        let readers_in = |interval: &LxInterval| {
            self.readers
                .iter()
                .filter(|read| (interval.start..interval.end).contains(&read.op))
                .copied()
                .collect::<Vec<_>>()
        };
        if let Some((first, others)) = intervals.split_first().filter(|(first, _)| candidate.is_written_at_start(first))
        {
            later = others;
            if candidate.needs_store(intervals) {
                let after = self.first_user(&divided.program).op;
                // A shuffle's result is read after the live range of its source.
                let others = if self.has_shuffles { self.readers.clone() } else { readers_in(first) };
                copies.push(self.build_planned_copy(divided, CopyDirection::Store { after, others })?);
            }
        }
        for interval in later {
            let readers = readers_in(interval);
            if readers.first().is_none_or(|first| first.op != interval.start) {
                return Err("a residency interval begins without a reader".to_owned());
            }
            copies.push(self.build_planned_copy(
                divided,
                CopyDirection::Load { before: interval.start, address: interval.address, readers },
            )?);
        }
        Ok(())
    }

    fn build_shuffle(
        &self,
        divided: &DividedProgram,
        interval: &LxInterval,
        shuffle: &Rc<PlannedShuffle>,
    ) -> Result<PlannedCopy, String> {
        let op = *divided.program.writers(self.value).first().ok_or("a shuffle moves a value that no op writes")?;
        let user = divided.program.written_operand(op);
        let direction =
            CopyDirection::Shuffle { before: shuffle.before, address: interval.address, shuffle: Rc::clone(shuffle) };
        let copied = self.copied.clone().ok_or("a copy has no type")?;
        Ok(PlannedCopy { value: self.value, copied, direction, split: shuffle.source.clone(), user })
    }

    fn build_planned_copy(&self, divided: &DividedProgram, direction: CopyDirection) -> Result<PlannedCopy, String> {
        let copied = self.copied.clone().ok_or("a copy has no type")?;
        let user = self.first_copy_user(divided);
        if !user.matches_copy(&copied)? {
            return Err("a copy is divided in another way than its user".to_owned());
        }
        let first = self.first_user(&divided.program);
        Ok(PlannedCopy { value: self.value, copied, direction, split: user.tensor_split()?, user: first })
    }
}
