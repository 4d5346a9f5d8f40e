//! `spyre-form-bundles`: groups ops and loops into kernel launches.
//!
//! Reads `place` and the accesses of each op. Writes `spyre.bundle` on every op and loop of a function, and a pool offset for HBM values
//! whose live range is within a launch. With baked addresses a launch may have to end while a value in LX is live: the value moves to
//! HBM.

use crate::bundle::{
    Addresses,
    form::{Cuts, Step, TensorKind, cut},
};
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, IrProgram, Memory, Place, owner_of, read_program, target_of, users_behind_views},
    mlir::{Op, OpExt, Options, Pass, Reported, Value, ValueExt, ValueLike, ValueMap, error_at, i64_attribute},
    tile::ir::settle_loops::check_settled,
};
use machine::{STICK_BYTES, Target};
use scratchpad::{Buffer, Capacity, FirstFit, Planner, Use, UseKind};
use std::ops::Range;

pub(crate) const PASS: Pass = Pass { argument: "spyre-form-bundles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let segments = match options.read(module, option::ADDRESSES)? {
        Addresses::Symbolic => None,
        Addresses::Baked => Some(usize::try_from(target.segments).expect("a machine has segments")),
    };
    check_settled(module)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        Former::of(function)?.form(segments, &target)?;
    }
    Ok(())
}

/// Reason recorded for a value that moved from LX to HBM.
const CROSSES_LAUNCHES: &str = "launches share it";

/// Buffer of the program, in HBM or in LX.
struct ProgramBuffer<'c> {
    value: Value<'c>,
    kind: TensorKind,
    /// Its uses, with their times in the schedule.
    uses: Vec<Use>,
}

struct Former<'c> {
    function: Op<'c>,
    ir: IrProgram<'c>,
    /// Ops and loops of the body, each with the times of its ops.
    items: Vec<(Op<'c>, Range<usize>)>,
    buffers: Vec<ProgramBuffer<'c>>,
    /// Position in the list of the buffer of each value.
    by_value: ValueMap<usize>,
}

impl<'c> Former<'c> {
    fn of(function: Op<'c>) -> Result<Self, Reported> {
        let ir = read_program(function).map_err(|(op, message)| error_at(codes::POOL_FULL, op, message).report())?;
        let items = items_of(function);
        let mut former = Self { function, ir, items, buffers: Vec::new(), by_value: ValueMap::default() };
        for time in 0..former.ir.ops.len() {
            former.note_uses(time);
        }
        Ok(former)
    }

    fn note_uses(&mut self, time: usize) {
        let program = &self.ir.program;
        let n_inputs = program.ops[time].reads().len();
        let kind = |operand| if operand < n_inputs { UseKind::Read } else { UseKind::Write };
        for (operand, of_op) in program.ops[time].operands.iter().enumerate() {
            let kind = kind(operand);
            let buffer = self.ir.values[program.value(of_op.value).base.0];
            let around = buffer.def().map(|def| self.ir.loops_around(def)).unwrap_or_default();
            let times = program.times_of_use(&around, time);
            let position = self.by_value.get(buffer).copied().unwrap_or(self.buffers.len());
            if position == self.buffers.len() {
                self.by_value.insert(buffer, position);
                self.buffers.push(ProgramBuffer { value: buffer, kind: kind_of(buffer), uses: Vec::new() });
            }
            let uses = &mut self.buffers[position].uses;
            // A loop uses its buffers from its first op to its last, wherever in the loop the use is.
            uses.extend([Use { time: *times.start(), kind }, Use { time: *times.end(), kind }]);
        }
    }

    fn form(&mut self, segments: Option<usize>, target: &Target) -> Result<(), Reported> {
        let kinds: Vec<TensorKind> = self.buffers.iter().map(|buffer| buffer.kind).collect();
        let Cuts { launches, moved } = cut(&self.steps(), &kinds, segments)
            .map_err(|error| error_at(codes::BAKED_TENSORS, self.items[error.step].0, error).report())?;
        for buffer in moved {
            self.buffers[buffer].kind = TensorKind::Inside;
            if let Some(owner) = owner_of(self.buffers[buffer].value) {
                Place { memory: Memory::Hbm, reason: CROSSES_LAUNCHES.to_owned() }.set_on(owner);
            }
        }
        for (number, items) in launches.iter().enumerate() {
            let attribute = i64_attribute(self.function.ctx(), i64::try_from(number).expect("fewer than 2^63"));
            for (item, _) in &self.items[items.clone()] {
                item.set_attr(attr::SPYRE_BUNDLE, attribute);
            }
            self.plan_pool(items, target)?;
        }
        Ok(())
    }

    /// Returns for each item the buffers that it uses, as [`Step`]s.
    fn steps(&self) -> Vec<Step> {
        let mut steps = vec![Step::default(); self.items.len()];
        for (number, buffer) in self.buffers.iter().enumerate() {
            for one in &buffer.uses {
                let tensors = &mut steps[self.items.partition_point(|(_, times)| times.end <= one.time)].tensors;
                if tensors.last() != Some(&number) {
                    tensors.push(number);
                }
            }
        }
        steps
    }

    /// Assigns pool offsets to the buffers whose live ranges are within a launch.
    fn plan_pool(&self, items: &Range<usize>, target: &Target) -> Result<(), Reported> {
        let times = self.items[items.start].1.start..self.items[items.end - 1].1.end;
        let pooled: Vec<&ProgramBuffer<'c>> = self
            .buffers
            .iter()
            .filter(|buffer| buffer.kind == TensorKind::Inside && buffer.uses.iter().all(|one| times.contains(&one.time)))
            .collect();
        let buffers: Vec<Buffer> = pooled.iter().map(|buffer| planned(buffer)).collect();
        let capacity = Capacity { bytes: target.pool_bytes, alignment: STICK_BYTES };
        let placement = FirstFit.plan(&buffers, &capacity);
        for (buffer, address) in pooled.iter().zip(placement.addresses) {
            let Some(owner) = owner_of(buffer.value) else { continue };
            let Some(address) = address else {
                let message = codes::POOL_FULL.says(format_args!(
                    "expected the temporaries of a launch to fit in the pool of {} bytes, found no space for {} bytes; use smaller tensors",
                    target.pool_bytes,
                    planned(buffer).bytes
                ));
                return Err(error_at(codes::POOL_FULL, owner, message).report());
            };
            let reason = Place::on(owner).map_or_else(String::new, |place| place.reason);
            Place { memory: Memory::Pool(address), reason }.set_on(owner);
        }
        Ok(())
    }
}

/// Returns the ops and loops of a function's body in order, each with the times of the compute ops in it.
fn items_of(function: Op<'_>) -> Vec<(Op<'_>, Range<usize>)> {
    let mut time = 0;
    let mut items = Vec::new();
    for op in function.body_ops() {
        let n_ops = ComputeOp::all_in(op).len();
        if n_ops > 0 {
            items.push((op, time..time + n_ops));
            time += n_ops;
        }
    }
    items
}

/// Returns whether an op is in a loop.
fn is_in_loop(op: Op<'_>) -> bool {
    std::iter::successors(op.parent(), |op| op.parent()).any(|op| op.is(spyre::LOOP))
}

/// Returns the kind of a buffer. Arguments, constants and results of the function are external; all other buffers are internal. A value
/// that is defined in a loop does not leave LX, as its place depends on the iteration.
fn kind_of(buffer: Value<'_>) -> TensorKind {
    let is_given = buffer.def().is_none_or(|def| def.is(spyre::CONSTANT));
    if is_given || users_behind_views(buffer).iter().any(|user| user.is("func.return")) {
        return TensorKind::Outside;
    }
    let owner = owner_of(buffer);
    match owner.and_then(Place::on).map(|place| place.memory) {
        Some(Memory::Lx(_)) if owner.is_some_and(|owner| !is_in_loop(owner)) => TensorKind::Lx,
        Some(Memory::Lx(_)) => TensorKind::BoundToLx,
        Some(Memory::Hbm | Memory::Pool(_)) | None => TensorKind::Inside,
    }
}

fn planned(buffer: &ProgramBuffer<'_>) -> Buffer {
    let mut uses = buffer.uses.clone();
    uses.sort_unstable_by_key(|one| one.time);
    let tensor = crate::dialect::Tensor::of(buffer.value.r#type());
    let bytes = tensor.and_then(|tensor| tensor.layout).map_or(0, |layout| layout.bytes());
    Buffer::new(String::new(), bytes, uses)
}
