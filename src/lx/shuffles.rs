//! Shuffles: moves of values in LX from the cores that hold their slices to the cores that need other slices.
//!
//! A value that its readers slice otherwise than its writer stays in LX if every such reader reads a copy that a
//! shuffle makes, one copy for each slicing. Each core collects its slice from a number of cores that the machine
//! limits (`lx_fan_in` of the target).

use super::{
    copy_split::{CopyUser, build_copy_operation},
    values::{DividedProgram, can_read_from_lx, find_overwriting_ops, find_writer_ineligibility, writes_partially},
};
use crate::work::{CoreUse, CoreView, compute_core_view, compute_shared_view};
use cost::ShuffleShape;
use machine::{STICK_BYTES, Target};
use program::{LoopId, OperandRef, Program, ProgramTensor, ReturnKind, TensorAccess, WorkSplit};
use std::rc::Rc;

/// Shuffles of a value.
#[derive(Clone)]
pub(crate) struct ValueShuffles {
    /// Reads of the slices that the writer leaves.
    pub(super) kept: Vec<OperandRef>,
    /// Number of slices that the writer leaves.
    pub(super) num_slices: i64,
    /// Shuffles, by their first reader.
    pub(super) moves: Vec<Rc<PlannedShuffle>>,
    /// Number of reads that need the value in HBM.
    pub(super) outside: usize,
    /// Whether the value is also needed in HBM: it is a result, or has such reads.
    pub(super) is_stored: bool,
    /// Time that each added copy takes besides its movement, in one iteration of the writer's loops, ns.
    op_ns: f64,
}

/// Shuffle of a value for the readers with one slicing.
pub(crate) struct PlannedShuffle {
    /// Reads of the result, in program order.
    pub(crate) readers: Vec<OperandRef>,
    /// Core split of the source, over the dimensions of the value.
    pub(crate) source: WorkSplit,
    /// Core split of the result, which may end with numbers of cores that have the same slice.
    pub(crate) destination: WorkSplit,
    /// Movement between the cores.
    pub(crate) shape: ShuffleShape,
    /// Number of slices of the result.
    pub(super) num_slices: i64,
    /// Op before which the shuffle runs, in the loops of the writer: the first reader, or the first op of the loop that
    /// has it.
    pub(super) before: usize,
}

/// Returns the shuffles with which the result of the op at a time can be in LX, if they take less time than HBM. Reads
/// that no shuffle can serve read a copy of the value in HBM.
///
/// # Errors
/// Returns an error if layouts are wrong.
pub(super) fn find_shuffles(
    divided: &DividedProgram,
    time: usize,
    target: &Target,
) -> Result<Option<ValueShuffles>, String> {
    let program = &divided.program;
    if find_writer_ineligibility(program, time).is_some() || !is_whole(divided, time)? {
        return Ok(None);
    }
    let value = program.result(time);
    let written = program.written_operand(time);
    let Ok(left) = compute_core_view(0, &divided.core_use(written)) else { return Ok(None) };
    let builder = ShuffleBuilder {
        divided,
        tensor: &program.value(value).tensor,
        target,
        source: build_user(divided, written).tensor_split()?,
        loops: &program.ops[time].loops,
    };
    if !builder.matches(&builder.source, &left)? {
        return Ok(None);
    }
    let readers = program.readers(value);
    let (inside, mut outside): (Vec<OperandRef>, Vec<OperandRef>) =
        readers.iter().partition(|read| is_read_whole(divided, time, **read));
    let (kept, groups) = builder.group_readers(&left, &inside, &mut outside);
    let mut moves = Vec::with_capacity(groups.len());
    for (view, readers) in groups {
        match builder.build(&view, &readers)? {
            Some(moved) => moves.push(Rc::new(moved)),
            None => outside.extend(readers),
        }
    }
    let is_stored = !outside.is_empty() || program.ops[time].result.returned != ReturnKind::No;
    let num_slices = left.num_slices();
    let op_ns = estimate_added_op_ns(program, &program.ops[time].loops, target);
    let shuffles = ValueShuffles { kept, num_slices, moves, outside: outside.len(), is_stored, op_ns };
    let saved_uses = if is_stored {
        // Without shuffles, one copy in LX could serve all readers with the same slices.
        i64::from(!shuffles.kept.is_empty()) + i64::try_from(shuffles.moves.len()).expect("fewer than 2^63")
    } else {
        1 + inside.iter().map(|read| builder.num_reads(*read)).sum::<i64>()
    };
    let has_effect = !shuffles.moves.is_empty() || (is_stored && !shuffles.kept.is_empty());
    Ok((has_effect && shuffles.saves_time(divided.device_bytes(time), saved_uses, target)).then_some(shuffles))
}

/// Returns whether an op writes a complete static value without gaps.
fn is_whole(divided: &DividedProgram, time: usize) -> Result<bool, String> {
    let program = &divided.program;
    let tensor = &program.value(program.result(time)).tensor;
    Ok(!writes_partially(&program.ops[time])
        && find_overwriting_ops(program, time).is_empty()
        && is_static(divided, program.written_operand(time), tensor)
        && tensor.to_compact()?.is_some_and(|compact| compact == *tensor))
}

/// Returns whether an op can read the complete result of the op at a time from LX.
fn is_read_whole(divided: &DividedProgram, time: usize, read: OperandRef) -> bool {
    let program = &divided.program;
    can_read_from_lx(program, read)
        && !program.ops[read.op].accesses_partially(read.operand)
        && is_read_beside_or_in_loops(program, time, read)
        && is_static(divided, read, &program.value(program.result(time)).tensor)
}

/// Returns whether an op accesses a tensor under its own dimensions, all of which may be divided.
fn is_static(divided: &DividedProgram, user: OperandRef, tensor: &ProgramTensor) -> bool {
    divided.program.operand(user).access.tensor == *tensor && divided.divisions[user.op].operation.blocked.is_empty()
}

/// Returns whether an op that reads a result is in the loops of its writer, or reads it completely in each iteration of
/// further loops.
fn is_read_beside_or_in_loops(program: &Program, writer: usize, read: OperandRef) -> bool {
    let reader = &program.ops[read.op];
    let is_fixed = reader.operands[read.operand].moves.as_ref().is_ok_and(Vec::is_empty);
    reader.loops == program.ops[writer].loops || (reader.loops.starts_with(&program.ops[writer].loops) && is_fixed)
}

impl ValueShuffles {
    /// Returns whether the shuffles take less time than `saved_uses` moves of the value between HBM and the cores.
    fn saves_time(&self, device_bytes: i64, saved_uses: i64, target: &Target) -> bool {
        self.estimate_ns() < device_bytes as f64 * saved_uses as f64 / target.time.hbm.one_way
    }

    /// Returns the time of the shuffles in one iteration of the writer's loops, without that of the HBM bytes, ns.
    pub(super) fn estimate_ns(&self) -> f64 {
        let moves = self.moves.iter().map(|moved| self.op_ns + moved.shape.estimate_ns()).sum::<f64>();
        moves + if self.is_stored { self.op_ns } else { 0.0 }
    }
}

/// Returns the time that an op takes besides its work, in one iteration of these loops, ns.
fn estimate_added_op_ns(program: &Program, loops: &[LoopId], target: &Target) -> f64 {
    let constants = &target.time.recommended;
    let trips: i64 = loops.iter().map(|around| program.loops[around.0].trips).product();
    if trips > 1 { constants.op_ns / trips as f64 + constants.iteration_ns } else { constants.op_ns }
}

/// Returns a use of a value by an op.
fn build_user(divided: &DividedProgram, user: OperandRef) -> CopyUser<'_> {
    let division = &divided.divisions[user.op];
    let dims = &divided.program.operand(user).access.dims;
    CopyUser { operand: user.operand, dims, operation: &division.operation, split: &division.split }
}

/// Builder of the shuffles of one value.
struct ShuffleBuilder<'a> {
    divided: &'a DividedProgram,
    tensor: &'a ProgramTensor,
    target: &'a Target,
    source: WorkSplit,
    /// Loops around the writer.
    loops: &'a [LoopId],
}

/// Readers that have the slices that the writer leaves, and the others by their slices.
type GroupedReaders = (Vec<OperandRef>, Vec<(CoreView, Vec<OperandRef>)>);

impl ShuffleBuilder<'_> {
    /// Groups readers by their slices. Readers that have no equal slices of the value join those `outside` of LX.
    fn group_readers(&self, left: &CoreView, readers: &[OperandRef], outside: &mut Vec<OperandRef>) -> GroupedReaders {
        let (mut kept, mut groups): GroupedReaders = (Vec::new(), Vec::new());
        for &read in readers {
            let Ok(view) = compute_shared_view(0, &self.divided.core_use(read)) else {
                outside.push(read);
                continue;
            };
            let num_cores = self.divided.divisions[read.op].split.num_cores();
            if view == *left && num_cores == self.source.num_cores() {
                kept.push(read);
            } else if let Some((_, readers)) = groups.iter_mut().find(|(of_group, _)| *of_group == view) {
                readers.push(read);
            } else {
                groups.push((view, vec![read]));
            }
        }
        (kept, groups)
    }

    /// Returns the number of times that an op reads the value in one iteration of the writer's loops.
    fn num_reads(&self, read: OperandRef) -> i64 {
        let program = &self.divided.program;
        let entered = program.ops[read.op].loops.iter().skip(self.loops.len());
        entered.map(|around| program.loops[around.0].trips).product()
    }

    /// Returns the shuffle to a view; `None` if the format or the machine has none.
    fn build(&self, view: &CoreView, readers: &[OperandRef]) -> Result<Option<PlannedShuffle>, String> {
        let mut readers = readers.to_vec();
        readers.sort_unstable();
        let cores = self.source.num_cores();
        let Some(destination) = build_user(self.divided, readers[0]).shuffle_split(cores)? else { return Ok(None) };
        let fits = fan_in(&self.source, &destination).is_some_and(|cores| cores <= self.target.lx_fan_in);
        if !fits || !self.matches(&destination, view)? {
            return Ok(None);
        }
        let Some(shape) = build_shape(self.tensor, &self.source, &destination)? else { return Ok(None) };
        let num_slices = view.num_slices();
        let before = *self.divided.program.use_interval(self.loops, readers[0].op).start();
        Ok(Some(PlannedShuffle { readers, source: self.source.clone(), destination, shape, num_slices, before }))
    }

    /// Returns whether a copy with this split has the slices of a view.
    fn matches(&self, split: &WorkSplit, view: &CoreView) -> Result<bool, String> {
        let copy = build_copy_operation(self.tensor)?;
        let found = compute_shared_view(0, &CoreUse { op: &copy, operand: 0, split });
        Ok(found.is_ok_and(|found| found == *view))
    }
}

/// Returns the number of cores from which each core collects its slice; `None` if the numbers differ.
fn fan_in(source: &WorkSplit, destination: &WorkSplit) -> Option<i64> {
    let of_dim = |(from, to): (&i64, &i64)| match (from % to, to % from) {
        (0, _) => Some(from / to),
        (_, 0) => Some(1),
        _ => None,
    };
    source.slices().iter().zip(destination.slices()).map(of_dim).product()
}

/// Returns the movement of a shuffle between two splits of a tensor; `None` for a tensor without a layout.
///
/// # Errors
/// Returns an error if the layout is wrong.
pub(crate) fn build_shape(
    tensor: &ProgramTensor,
    source: &WorkSplit,
    destination: &WorkSplit,
) -> Result<Option<ShuffleShape>, String> {
    let Some(layout) = &tensor.layout else { return Ok(None) };
    let coordinates = TensorAccess::identity(tensor.clone()).coordinates(&tensor.shape)?;
    let outer = coordinates.len().saturating_sub(1);
    let slices_of = |split: &WorkSplit| -> Vec<i64> {
        coordinates[..outer].iter().map(|at| at.term.map_or(1, |term| split.slices()[term.dim])).collect()
    };
    let sizes = &layout.device_size()[..outer];
    Ok(Some(ShuffleShape::new(sizes, STICK_BYTES, &slices_of(source), &slices_of(destination))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(slices: &[i64]) -> WorkSplit {
        WorkSplit::new(slices.to_vec()).unwrap()
    }

    #[test]
    fn counts_cores_that_send_to_one_core() {
        assert_eq!(fan_in(&split(&[32, 1]), &split(&[8, 1, 4])), Some(4));
        assert_eq!(fan_in(&split(&[8, 4]), &split(&[4, 1, 8])), Some(8));
        assert_eq!(fan_in(&split(&[8, 4]), &split(&[4, 8])), Some(2));
        assert_eq!(fan_in(&split(&[4]), &split(&[6])), None);
    }
}
