//! `spyre-form-bundles`: groups ops and loops into kernel launches.
//!
//! Reads `place` and the accesses of each op. Writes `spyre.bundle` on every op and loop of a function, and a pool
//! offset for HBM values whose live range is within a launch. With baked addresses a launch may have to end while a
//! value in LX is live: the value moves to HBM.

use crate::bundle::{
    AddressMode,
    partition::{LaunchPartition, ProgramStep, TensorKind, partition_launches},
};
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{
        ComputeOp, IrProgram, MemoryLocation, MemoryPlacement, collect_alias_users, placement_owner_of, read_program,
        target_of,
    },
    mlir::{
        ErrorReported, Op, OpExt, Pass, PassOptions, Value, ValueExt, ValueLike, ValueMap, error_at, i64_attribute,
    },
    tile::ir::insert_loop_copies::check_settled,
};
use machine::{STICK_BYTES, Target};
use scratchpad::{Buffer, Capacity, FirstFitPlanner, Planner, Use, UseKind};
use std::ops::Range;

pub(crate) const PASS: Pass = Pass { argument: "spyre-form-bundles", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let segments = match options.read_enum(module, option::ADDRESSES)? {
        AddressMode::Symbolic => None,
        AddressMode::Baked => Some(usize::try_from(target.segments).expect("a machine has segments")),
    };
    check_settled(module)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        BundleBuilder::new(function)?.assign_bundles(segments, &target)?;
    }
    Ok(())
}

/// Reason recorded for a value that moved from LX to HBM.
const SHARED_BY_LAUNCHES: &str = "launches share it";

/// Buffer of the program, in HBM or in LX.
struct ScheduledBuffer<'c> {
    value: Value<'c>,
    kind: TensorKind,
    /// Its uses, with their times in the schedule.
    uses: Vec<Use>,
}

struct BundleBuilder<'c> {
    function: Op<'c>,
    ir: IrProgram<'c>,
    /// Ops and loops of the body, each with the times of its ops.
    items: Vec<(Op<'c>, Range<usize>)>,
    buffers: Vec<ScheduledBuffer<'c>>,
    /// Position in the list of the buffer of each value.
    by_value: ValueMap<usize>,
}

impl<'c> BundleBuilder<'c> {
    fn new(function: Op<'c>) -> Result<Self, ErrorReported> {
        let ir = read_program(function).map_err(|(op, message)| error_at(codes::POOL_FULL, op, message).report())?;
        let items = collect_items(function);
        let mut former = Self { function, ir, items, buffers: Vec::new(), by_value: ValueMap::default() };
        for time in 0..former.ir.ops.len() {
            former.record_uses(time);
        }
        Ok(former)
    }

    fn record_uses(&mut self, time: usize) {
        let program = &self.ir.program;
        let num_inputs = program.ops[time].inputs().len();
        let kind = |operand| if operand < num_inputs { UseKind::Read } else { UseKind::Write };
        for (operand, of_op) in program.ops[time].operands.iter().enumerate() {
            let kind = kind(operand);
            let buffer = self.ir.values[program.value(of_op.value).base.0];
            let around = buffer.def().map(|def| self.ir.loops_around(def)).unwrap_or_default();
            let times = program.use_interval(&around, time);
            let position = self.by_value.get(buffer).copied().unwrap_or(self.buffers.len());
            if position == self.buffers.len() {
                self.by_value.insert(buffer, position);
                self.buffers.push(ScheduledBuffer { value: buffer, kind: classify_buffer(buffer), uses: Vec::new() });
            }
            let uses = &mut self.buffers[position].uses;
            // A loop uses its buffers from its first op to its last, wherever in the loop the use is.
            uses.extend([Use { time: *times.start(), kind }, Use { time: *times.end(), kind }]);
        }
    }

    fn assign_bundles(&mut self, segments: Option<usize>, target: &Target) -> Result<(), ErrorReported> {
        let kinds: Vec<TensorKind> = self.buffers.iter().map(|buffer| buffer.kind).collect();
        let LaunchPartition { launches, moved } = partition_launches(&self.collect_steps(), &kinds, segments)
            .map_err(|error| error_at(codes::BAKED_TENSORS, self.items[error.step].0, error).report())?;
        for buffer in moved {
            self.buffers[buffer].kind = TensorKind::Internal;
            if let Some(owner) = placement_owner_of(self.buffers[buffer].value) {
                MemoryPlacement { memory: MemoryLocation::Hbm, reason: SHARED_BY_LAUNCHES.to_owned() }.set_on(owner);
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

    /// Returns for each item the buffers that it uses, as a [`ProgramStep`].
    fn collect_steps(&self) -> Vec<ProgramStep> {
        let mut steps = vec![ProgramStep::default(); self.items.len()];
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
    fn plan_pool(&self, items: &Range<usize>, target: &Target) -> Result<(), ErrorReported> {
        let times = self.items[items.start].1.start..self.items[items.end - 1].1.end;
        let pooled: Vec<&ScheduledBuffer<'c>> = self
            .buffers
            .iter()
            .filter(|buffer| {
                buffer.kind == TensorKind::Internal && buffer.uses.iter().all(|one| times.contains(&one.time))
            })
            .collect();
        let buffers: Vec<Buffer> = pooled.iter().map(|buffer| to_planned_buffer(buffer)).collect();
        let capacity = Capacity { bytes: target.pool_bytes, alignment: STICK_BYTES };
        let placement = FirstFitPlanner.plan(&buffers, &capacity);
        for (buffer, address) in pooled.iter().zip(placement.addresses) {
            let Some(owner) = placement_owner_of(buffer.value) else { continue };
            let Some(address) = address else {
                let message = codes::POOL_FULL.format(format_args!(
                    "expected the temporaries of a launch to fit in the pool of {} bytes, found no space for {} bytes; use smaller tensors",
                    target.pool_bytes,
                    to_planned_buffer(buffer).bytes
                ));
                return Err(error_at(codes::POOL_FULL, owner, message).report());
            };
            let reason = MemoryPlacement::from_op(owner).map_or_else(String::new, |place| place.reason);
            MemoryPlacement { memory: MemoryLocation::Pool(address), reason }.set_on(owner);
        }
        Ok(())
    }
}

/// Returns the ops and loops of a function's body in order, each with the times of the compute ops in it.
fn collect_items(function: Op<'_>) -> Vec<(Op<'_>, Range<usize>)> {
    let mut time = 0;
    let mut items = Vec::new();
    for op in function.body_ops() {
        let n_ops = ComputeOp::collect_in(op).len();
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

/// Returns the kind of a buffer. Arguments, constants and results of the function are external; all other buffers are
/// internal. A value that is defined in a loop does not leave LX, as its address depends on the iteration.
fn classify_buffer(buffer: Value<'_>) -> TensorKind {
    let is_given = buffer.def().is_none_or(|def| def.is(spyre::CONSTANT));
    if is_given || collect_alias_users(buffer).iter().any(|user| user.is("func.return")) {
        return TensorKind::External;
    }
    let owner = placement_owner_of(buffer);
    match owner.and_then(MemoryPlacement::from_op).map(|place| place.memory) {
        Some(MemoryLocation::Lx(_)) if owner.is_some_and(|owner| !is_in_loop(owner)) => TensorKind::Lx,
        Some(MemoryLocation::Lx(_)) => TensorKind::BoundToLx,
        Some(MemoryLocation::Hbm | MemoryLocation::Pool(_)) | None => TensorKind::Internal,
    }
}

fn to_planned_buffer(buffer: &ScheduledBuffer<'_>) -> Buffer {
    let mut uses = buffer.uses.clone();
    uses.sort_unstable_by_key(|one| one.time);
    let tensor = crate::dialect::DeviceTensor::from_type(buffer.value.r#type());
    let bytes = tensor.and_then(|tensor| tensor.layout).map_or(0, |layout| layout.bytes());
    Buffer::new(String::new(), bytes, uses)
}
