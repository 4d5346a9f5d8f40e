//! `spyre-plan-lx`: chooses LX or HBM for every value, and the address in LX.
//!
//! Reads `work` and program order; writes `place`. A value that may not live in LX, or does not fit, is placed in HBM with the reason. A
//! value made in an iteration of a loop lives in it; a value from outside that the loop reads lives until the loop ends.

use super::{CoreUse, Ineligible, agreed_view, emit_stays::emit_stays};
use crate::{
    dialect::{
        Access, ComputeOp, Memory, Place, Schedule, Step, Tensor, UsedAs, home_of, is_carried, operation_of, split_of, target_of,
        users_behind_views,
    },
    mlir::{Op, OpExt, Options, Pass, Reported, Value, ValueExt, ValueLike, ValueMap, error_at, note_bug},
    tile::settle_loops::check_settled,
    work::{Operation, WorkSplit},
};
use machine::{Family, Target};
use scratchpad::{Barred, Buffer, Capacity, Placement, Planner, Use, UseKind, Violation, check, planner_named};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-plan-lx", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    check_settled(module)?;
    let planner = match options.text("planner") {
        "none" => None,
        name => Some(planner_named(name).map_err(|error| error_at(module, error).report())?),
    };
    let capacity = Capacity::of(&target);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let program = Program::of(function)?;
        match &planner {
            Some(planner) if planner.name() == "exact" => {
                emit_stays(&program, &capacity).map_err(|message| error_at(function, message).report())?;
                Program::of(function)?.check_places(&capacity)?;
            }
            Some(planner) => program.plan(planner.as_ref(), &capacity)?,
            None => program.place_in_hbm("the LX planner is off"),
        }
    }
    Ok(())
}

/// Checks the places that a function's ops say: that two values never share bytes of LX while both are needed, and that every user of a
/// value in LX has just the part that its writer left there.
///
/// # Errors
/// What `refused` makes of the op and of what is wrong.
pub(crate) fn check_places<'c>(function: Op<'c>, target: &Target, refused: &dyn Fn(Op<'c>, &str) -> Reported) -> Result<(), Reported> {
    let program = Program::of(function)?;
    let (buffers, placement) = program.placed();
    let Err(violation) = check(&buffers, &Capacity::of(target), &placement) else { return Ok(()) };
    let op_of = |buffer: usize| program.values.schedule.steps.get(buffer).map_or(function, |step| step.compute.op);
    let LxConflict { buffer, message } = explain(&buffers, &violation, &|buffer| op_of(buffer).loc().to_string());
    Err(refused(op_of(buffer), &message))
}

/// What is wrong with a place, and whose it is.
struct LxConflict {
    buffer: usize,
    message: String,
}

fn explain(buffers: &[Buffer], violation: &Violation, place_of: &dyn Fn(usize) -> String) -> LxConflict {
    let (buffer, message) = match *violation {
        Violation::Length { .. } => (0, violation.to_string()),
        Violation::Barred { buffer } => {
            let reason = buffers[buffer].barred.as_ref().map_or_else(String::new, |barred| format!(": {barred}"));
            (buffer, format!("its result may not be in LX{reason}"))
        }
        Violation::Misaligned { buffer, address } => (buffer, format!("its result lies at {address} in LX, where no stick begins")),
        Violation::OutOfBounds { buffer, address, end } => {
            (buffer, format!("its result has bytes {address} to {end} of LX, which ends before"))
        }
        Violation::Overlap { first, second } => {
            (second, format!("its result shares bytes of LX with that of the op at {} while both are needed", place_of(first)))
        }
    };
    LxConflict { buffer, message }
}

/// How one compute op divides its work.
pub(super) struct Division {
    pub(super) operation: Operation,
    pub(super) split: WorkSplit,
}

/// The compute ops of a function; time is the position in the lists.
pub(super) struct Program<'c> {
    pub(super) values: Values<'c>,
    pub(super) divisions: Vec<Division>,
}

impl<'c> Program<'c> {
    pub(super) fn of(function: Op<'c>) -> Result<Self, Reported> {
        let values = Values::of(function)?;
        let mut divisions = Vec::with_capacity(values.schedule.steps.len());
        for step in &values.schedule.steps {
            let refuse = |message: String| error_at(step.compute.op, message).report();
            let operation = operation_of(step.compute).map_err(refuse)?;
            divisions.push(Division { operation, split: split_of(step.compute).map_err(refuse)? });
        }
        Ok(Self { values, divisions })
    }

    fn plan(&self, planner: &dyn Planner, capacity: &Capacity) -> Result<(), Reported> {
        let buffers: Vec<Buffer> = (0..self.divisions.len()).map(|time| self.buffer(time)).collect();
        let placement = planner.plan(&buffers, capacity);
        self.check(planner.name(), &buffers, capacity, &placement)?;
        for (step, (address, reason)) in self.values.schedule.steps.iter().zip(placement.addresses.iter().zip(&placement.reasons)) {
            let place = match address {
                Some(address) => Place { memory: Memory::Lx(*address), reason: String::new() },
                None => Place { memory: Memory::Hbm, reason: reason.as_ref().map_or_else(String::new, ToString::to_string) },
            };
            self.place_result(step.compute, &place);
        }
        Ok(())
    }

    /// Checks what the planner `exact` and its copies have made of the program, from nothing but the program.
    fn check_places(&self, capacity: &Capacity) -> Result<(), Reported> {
        let (buffers, placement) = self.placed();
        self.check("exact", &buffers, capacity, &placement)
    }

    /// The buffers, and where the program says that they are.
    fn placed(&self) -> (Vec<Buffer>, Placement) {
        let buffers: Vec<Buffer> = (0..self.divisions.len()).map(|time| self.buffer(time)).collect();
        let address = |step: &Step<'c>| match Place::on(step.compute.op)?.memory {
            Memory::Lx(address) => Some(address),
            Memory::Hbm | Memory::Pool(_) => None,
        };
        let addresses: Vec<Option<i64>> = self.values.schedule.steps.iter().map(address).collect();
        (buffers, Placement { reasons: vec![None; addresses.len()], addresses })
    }

    fn check(&self, planner: &str, buffers: &[Buffer], capacity: &Capacity, placement: &Placement) -> Result<(), Reported> {
        match (check(buffers, capacity, placement), self.values.schedule.steps.first()) {
            (Err(violation), Some(first)) => {
                let message = format!("the planner '{planner}' has a bug: {violation}; please report this program");
                note_bug(first.compute.op);
                Err(error_at(first.compute.op, message).report())
            }
            (Err(_), None) | (Ok(()), _) => Ok(()),
        }
    }

    fn place_in_hbm(&self, reason: &str) {
        for step in &self.values.schedule.steps {
            self.place_result(step.compute, &Place { memory: Memory::Hbm, reason: reason.to_owned() });
        }
    }

    /// The result of a step as a planner sees it.
    pub(super) fn buffer(&self, time: usize) -> Buffer {
        let layout_bytes = self.device_bytes(time);
        let slices = self.values.ineligible(time).map_or_else(|| self.slices(time), Err);
        let (slices, ineligible) = slices.map_or_else(|ineligible| (1, Some(ineligible)), |slices| (slices, None));
        self.values.buffer(time, layout_bytes / slices, ineligible)
    }

    /// Bytes of the result of a step on all cores.
    pub(super) fn device_bytes(&self, time: usize) -> i64 {
        self.divisions[time].operation.operands.last().map_or(0, |operand| operand.layout.bytes())
    }

    /// How an operand of a step, or behind them its result, is divided.
    pub(super) fn core_use(&self, (user, operand): (usize, usize)) -> CoreUse<'_> {
        let Division { operation, split } = &self.divisions[user];
        CoreUse { op: operation, operand, split }
    }

    /// How many slices a value is in, one a core; or how its users disagree.
    fn slices(&self, time: usize) -> Result<i64, Ineligible> {
        let users = self.values.users(time);
        let uses: Vec<CoreUse<'_>> = users.iter().map(|&user| self.core_use(user)).collect();
        agreed_view(&uses).map(|view| view.slices()).map_err(Ineligible::CoreMismatch)
    }

    /// Writes the place; a copy of an HBM tensor that found no room in LX would only cost a pass over HBM, so its readers get the original
    /// back. What is copied from LX may be gone when the readers come, so such a copy stays; and so does a copy under other indices or in
    /// another layout, whose readers may need its sticks, and one of what a loop may have overwritten by then.
    pub(super) fn place_result(&self, compute: ComputeOp<'c>, place: &Place) {
        if self.values.overwrites(compute) {
            return;
        }
        let op = compute.op;
        let is_read_by_ops_only = op.output().users().into_iter().all(|user| ComputeOp::of(user).is_some());
        let is_from_hbm = op.is("spyre.copy") && home_of(op.inputs()[0]).def().and_then(ComputeOp::of).is_none_or(|from| !from.is_in_lx());
        let is_spare = is_from_hbm && is_read_by_ops_only && keeps_indices(op) && keeps_layout(op);
        if is_spare && place.memory == Memory::Hbm && !is_carried(op.inputs()[0]) {
            op.output().replace_with(op.inputs()[0]);
            op.erase();
            return;
        }
        place.set_on(compute.place_owner());
    }
}

/// Reads of a value: the step and which operand.
pub(super) type Reads = Vec<(usize, usize)>;

/// The results of a function's compute ops, however work is divided; time is the position of the op.
pub(super) struct Values<'c> {
    pub(super) schedule: Schedule<'c>,
}

impl<'c> Values<'c> {
    pub(super) fn of(function: Op<'c>) -> Result<Self, Reported> {
        let schedule = Schedule::of(function).map_err(|(op, message)| error_at(op, message).report())?;
        Ok(Self { schedule })
    }

    /// The result of a step as a planner sees it.
    pub(super) fn buffer(&self, time: usize, bytes: i64, ineligible: Option<Ineligible>) -> Buffer {
        let step = &self.schedule.steps[time];
        let readers = self.schedule.readers(step.compute.op.output());
        let needed_until = |user| *self.schedule.times_of_use(&step.loops, user).end();
        let mut uses = vec![Use { time, kind: UseKind::Write }];
        uses.extend(readers.iter().map(|&(reader, _)| Use { time: needed_until(reader), kind: UseKind::Read }));
        uses.extend(self.rewriters(time).iter().map(|&writer| Use { time: needed_until(writer), kind: UseKind::Write }));
        uses[1..].sort_by_key(|one| one.time);
        let in_place_parents = if ineligible.is_none() { self.parents(step) } else { Vec::new() };
        let barred = ineligible.map(Barred::from);
        Buffer { name: format!("op{time}"), bytes, uses, in_place_parents, starts_in_hbm: false, ends_in_hbm: false, barred }
    }

    /// The steps that overwrite what step `time` makes.
    pub(super) fn rewriters(&self, time: usize) -> &[usize] {
        let writers = self.schedule.writers(self.schedule.steps[time].compute.op.output());
        writers.split_first().filter(|(first, _)| **first == time).map_or(&[], |(_, others)| others)
    }

    /// Whether a loop carries the result of a step to it from another step, whose buffer it overwrites.
    fn overwrites(&self, compute: ComputeOp<'c>) -> bool {
        let writers = self.schedule.writers(compute.op.output());
        writers.first().is_some_and(|&first| self.schedule.steps[first].compute.op != compute.op)
    }

    /// Who must agree which core has what of the value: its writer, those that overwrite it, and its readers; the step and which operand.
    pub(super) fn users(&self, time: usize) -> Vec<(usize, usize)> {
        let written = |writer: usize| (writer, self.schedule.steps[writer].accesses.len() - 1);
        let readers = self.schedule.readers(self.schedule.steps[time].compute.op.output());
        let writers = [time].into_iter().chain(self.rewriters(time).iter().copied()).map(written);
        writers.chain(readers.iter().copied()).collect()
    }

    /// The values that `is_input` says yes to, by first reader, with the reads that it says yes to: the step and which operand. A gather
    /// reads from HBM only.
    pub(super) fn reads_of_inputs(&self, is_input: impl Fn(&Step<'c>, (usize, usize), Value<'c>) -> bool) -> Vec<(Value<'c>, Reads)> {
        let mut reads: ValueMap<Reads> = ValueMap::default();
        let mut inputs: Vec<Value<'c>> = Vec::new();
        for (time, step) in self.schedule.steps.iter().enumerate().filter(|(_, step)| step.compute.family() != Family::Gather) {
            for (operand, value) in step.compute.reads().into_iter().enumerate() {
                if is_input(step, (time, operand), value) {
                    let reads = reads.get_or_default(value);
                    if reads.is_empty() {
                        inputs.push(value);
                    }
                    reads.push((time, operand));
                }
            }
        }
        inputs.into_iter().map(|input| (input, reads.get(input).cloned().unwrap_or_default())).collect()
    }

    /// Why the value may not be in LX, however work is divided: the first in the reference's order of reasons (F.1).
    pub(super) fn ineligible(&self, time: usize) -> Option<Ineligible> {
        let step = &self.schedule.steps[time];
        let readers = self.schedule.readers(step.compute.op.output());
        if step.compute.family() == Family::Gather {
            return Some(Ineligible::Gathered);
        }
        if step.compute.is_insert() {
            return Some(Ineligible::WrittenInParts);
        }
        if self.overwrites(step.compute) {
            return Some(Ineligible::Carried);
        }
        if !may_be_in_lx(step.compute) {
            return Some(Ineligible::FunctionNotAllowed { function: step.compute.function().to_owned() });
        }
        let output = step.compute.op.output();
        // As large as what it was a window of, it is not what a core has of it.
        if Tensor::of(home_of(output).r#type()).is_some_and(|tensor| tensor.buffer_shape.is_some()) {
            return Some(Ineligible::Tiled);
        }
        let users = users_behind_views(output);
        if users.iter().any(|user| user.is("spyre.yield") || user.is("spyre.loop")) {
            return Some(Ineligible::Tiled);
        }
        if readers.iter().any(|&(reader, _)| self.schedule.steps[reader].compute.op.is("spyre.restickify")) {
            return Some(Ineligible::ReadByRestickify);
        }
        if readers.iter().any(|&(reader, operand)| self.schedule.steps[reader].accesses[operand].used_as != UsedAs::Data) {
            return Some(Ineligible::Indirect);
        }
        if users.iter().any(|user| user.is("func.return")) {
            let is_itself = output.users().iter().any(|user| user.is("func.return"));
            return Some(if is_itself { Ineligible::GraphOutput } else { Ineligible::ViewedOutput });
        }
        if readers.iter().any(|&(reader, operand)| reads_part(&self.schedule.steps[reader], operand)) {
            return Some(Ineligible::PartialRead);
        }
        readers.is_empty().then_some(Ineligible::NoReader)
    }

    /// The operands whose address the result may take: same indices, same device layout, elementwise (F.3). What is read in another way as
    /// well, as in `x + transpose(x)`, would be read where it is overwritten.
    pub(super) fn parents(&self, step: &Step<'c>) -> Vec<usize> {
        let Some((result, inputs)) = step.accesses.split_last() else { return Vec::new() };
        if step.compute.family() != Family::Pointwise {
            return Vec::new();
        }
        let is_alike = |input: &Access<'c>| {
            input.dims == result.dims && input.offsets == result.offsets && input.tensor.layout == result.tensor.layout
        };
        let writer = |input: &Access<'c>| self.schedule.writers(input.value).first().copied();
        let (alike, others): (Vec<&Access<'c>>, Vec<&Access<'c>>) = inputs.iter().partition(|input| is_alike(input));
        let others: Vec<usize> = others.into_iter().filter_map(writer).collect();
        let mut parents: Vec<usize> = alike.into_iter().filter_map(writer).filter(|parent| !others.contains(parent)).collect();
        parents.dedup();
        parents
    }
}

/// Whether a step reads fewer elements of an operand than there are.
pub(super) fn reads_part(step: &Step<'_>, operand: usize) -> bool {
    let (access, space) = (&step.accesses[operand], step.compute.iteration_space());
    let read = access.dims.iter().map(|dim| dim.map_or(1, |dim| space[dim]));
    read.zip(&access.tensor.host.shape).any(|(read, &size)| read < size)
}

/// Whether a copy has its elements where the copied tensor has them.
fn keeps_indices(copy: Op<'_>) -> bool {
    let accesses = ComputeOp::of(copy).and_then(|compute| compute.accesses().ok());
    accesses.as_deref().is_some_and(|accesses| {
        accesses.first().zip(accesses.last()).is_some_and(|(input, result)| input.dims == result.dims && input.offsets == result.offsets)
    })
}

/// Whether a copy has the layout of its input, made compact if that is a window.
fn keeps_layout(copy: Op<'_>) -> bool {
    let (Some(from), Some(to)) = (Tensor::of(copy.inputs()[0].r#type()), Tensor::of(copy.output().r#type())) else { return false };
    let compact = from.layout.as_ref().zip(from.buffer().ok()).and_then(|(layout, host)| layout.of_tile(&host, &from.host.shape).ok());
    compact.is_some() && compact == to.layout
}

/// Whether the back end lets the op's result live in LX (F.1: the list of functions).
fn may_be_in_lx(compute: ComputeOp<'_>) -> bool {
    match compute.family() {
        Family::Matmul => true,
        Family::Copy => compute.op.is("spyre.copy"),
        Family::Gather => false,
        Family::Pointwise | Family::Reduce => compute.table_row().is_some_and(|row| row.lx),
    }
}

/// Numbers for the parts of buffers.
#[derive(Default)]
pub(super) struct Numbers {
    of_buffer: ValueMap<BTreeMap<Vec<i64>, usize>>,
    next: usize,
}

impl Numbers {
    pub(super) fn of(&mut self, buffer: Value<'_>, offsets: Vec<i64>) -> usize {
        let next = self.next;
        let number = *self.of_buffer.get_or_default(buffer).entry(offsets).or_insert(next);
        self.next += usize::from(number == next);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::{Module, Session, bugs_of};

    /// The sum is still read when the exponential is written.
    const CHAIN: &str = "
      func.func @chain(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
        %sum = spyre.pointwise add(%x, %x) : tensor<64x64xf16>
        %exp = spyre.pointwise exp(%sum) : tensor<64x64xf16>
        %product = spyre.pointwise mul(%exp, %sum) : tensor<64x64xf16>
        return %product : tensor<64x64xf16>
      }";

    #[test]
    fn a_plan_that_is_wrong_is_a_bug_of_the_planner() {
        let session = Session::new();
        let module = Module::parse(&session, CHAIN).unwrap();
        assert!(module.run("spyre-propagate-layouts,spyre-divide-work"));
        let function = module.op().body_ops().into_iter().find(|op| op.is("func.func")).unwrap();
        let Ok(program) = Program::of(function) else { panic!("no program: {function}") };
        let (capacity, buffers) = (Capacity::of(&Target::spyre()), (0..3).map(|time| program.buffer(time)).collect::<Vec<_>>());
        let judge = |addresses: [Option<i64>; 3]| {
            let placement = Placement { addresses: addresses.to_vec(), reasons: vec![None; 3] };
            program.check("best", &buffers, &capacity, &placement).is_ok()
        };
        assert!(judge([Some(0), Some(8192), None]));
        assert_eq!(bugs_of(module.op()), 0);
        assert!(!judge([Some(0), Some(0), None]));
        assert_eq!(bugs_of(module.op()), 1);
    }
}
