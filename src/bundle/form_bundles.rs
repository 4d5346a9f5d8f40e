//! `spyre-form-bundles`: groups ops and loops into kernel launches.
//!
//! Reads `place` and what each op touches in HBM; writes `spyre.bundle` on every op and loop of a function, and an offset in the pool of
//! the launch for HBM values that live within it.

use super::Addresses;
use super::form::{Step, TensorKind, launches};
use crate::{
    dialect::{ComputeOp, Home, Memory, Place, Schedule, home_of, owner_of, target_of, users_behind_views},
    lx::{Buffer, Capacity, FirstFit, Planner, Use, UseKind},
    mlir::{Op, OpExt, Options, Pass, Reported, Value, ValueExt, ValueLike, ValueMap, error_at, i64_attribute},
    target::{STICK_BYTES, Target},
};
use std::ops::Range;

pub(crate) const PASS: Pass = Pass { argument: "spyre-form-bundles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    let segments = match options.text("addresses").parse().map_err(|message: String| error_at(module, message).report())? {
        Addresses::Symbolic => None,
        Addresses::Baked => Some(usize::try_from(target.segments).unwrap_or(0)),
    };
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        Former::of(function)?.form(segments, &target)?;
    }
    Ok(())
}

/// An HBM buffer of the program.
struct HbmBuffer<'c> {
    value: Value<'c>,
    kind: TensorKind,
    /// The times of its uses in the schedule.
    uses: Vec<Use>,
}

struct Former<'c> {
    function: Op<'c>,
    schedule: Schedule<'c>,
    /// The ops and loops of the body, each with the times of its ops.
    items: Vec<(Op<'c>, Range<usize>)>,
    buffers: Vec<HbmBuffer<'c>>,
    /// The position of each buffer in the list.
    numbers: ValueMap<usize>,
}

impl<'c> Former<'c> {
    fn of(function: Op<'c>) -> Result<Self, Reported> {
        let schedule = Schedule::of(function).map_err(|(op, message)| error_at(op, message).report())?;
        let items = items_of(function);
        let mut former = Self { function, schedule, items, buffers: Vec::new(), numbers: ValueMap::default() };
        for time in 0..former.schedule.steps.len() {
            former.note_uses(time);
        }
        Ok(former)
    }

    fn note_uses(&mut self, time: usize) {
        let step = &self.schedule.steps[time];
        let n_inputs = step.accesses.len() - 1;
        let touched: Vec<(Value<'c>, UseKind)> = step
            .accesses
            .iter()
            .enumerate()
            .filter(|(_, access)| !is_in_lx(access.value))
            .map(|(operand, access)| (access.value, if operand < n_inputs { UseKind::Read } else { UseKind::Write }))
            .collect();
        for (value, kind) in touched {
            let Home { buffer, moves: _ } = home_of(value);
            let around: Vec<Op<'c>> = buffer.def().map(loops_around).unwrap_or_default();
            let times = self.schedule.times_of_use(&around, time);
            let position = self.number_of(buffer);
            let uses = &mut self.buffers[position].uses;
            // A loop uses its buffers from its first op to its last, whichever op of it the use is in.
            uses.extend([Use { time: *times.start(), kind }, Use { time: *times.end(), kind }]);
        }
    }

    fn number_of(&mut self, buffer: Value<'c>) -> usize {
        if let Some(&known) = self.numbers.get(buffer) {
            return known;
        }
        self.numbers.insert(buffer, self.buffers.len());
        self.buffers.push(HbmBuffer { value: buffer, kind: kind_of(buffer), uses: Vec::new() });
        self.buffers.len() - 1
    }

    fn form(&self, segments: Option<usize>, target: &Target) -> Result<(), Reported> {
        let steps = self.steps();
        let kinds: Vec<TensorKind> = self.buffers.iter().map(|buffer| buffer.kind).collect();
        let launches = launches(&steps, &kinds, segments).map_err(|error| error_at(self.items[error.step].0, error).report())?;
        for (number, items) in launches.iter().enumerate() {
            let attribute = i64_attribute(self.function.ctx(), i64::try_from(number).unwrap_or(i64::MAX));
            for (item, _) in &self.items[items.clone()] {
                item.set_attr("spyre.bundle", attribute);
            }
            self.plan_pool(items, target)?;
        }
        Ok(())
    }

    /// The items as steps, each with the numbers of its buffers in ascending order.
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
        let mut last_read = 0;
        for (step, (_, times)) in steps.iter_mut().zip(&self.items) {
            last_read = times.clone().filter_map(|time| self.last_read_in_lx(time)).fold(last_read, usize::max);
            step.leaves_lx_live = last_read >= times.end;
        }
        steps
    }

    /// When the result of an op is last read, if it is in LX.
    fn last_read_in_lx(&self, time: usize) -> Option<usize> {
        let output = self.schedule.steps[time].compute.op.output();
        let readers = self.schedule.readers(output).iter().map(|&(reader, _)| reader);
        if is_in_lx(output) { readers.max() } else { None }
    }

    /// Gives the buffers that live within a launch an offset in its pool.
    fn plan_pool(&self, items: &Range<usize>, target: &Target) -> Result<(), Reported> {
        let times = self.items[items.start].1.start..self.items[items.end - 1].1.end;
        let pooled: Vec<&HbmBuffer<'c>> = self
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
                let message = format!("needs {} bytes of the pool, which has {} in all", planned(buffer).bytes, target.pool_bytes);
                return Err(error_at(owner, message).report());
            };
            let reason = Place::on(owner).map_or_else(String::new, |place| place.reason);
            Place { memory: Memory::Pool(address), reason }.set_on(owner);
        }
        Ok(())
    }
}

/// The ops and loops of a function's body in order, each with the times of the compute ops in it.
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

fn loops_around(op: Op<'_>) -> Vec<Op<'_>> {
    std::iter::successors(op.parent(), |op| op.parent()).filter(|op| op.is("spyre.loop")).collect()
}

fn is_in_lx(value: Value<'_>) -> bool {
    value.def().and_then(ComputeOp::of).is_some_and(ComputeOp::is_in_lx)
}

/// Arguments, constants and results of the function are given from outside; everything else the program makes for itself.
fn kind_of(buffer: Value<'_>) -> TensorKind {
    let is_given = buffer.def().is_none_or(|def| def.is("spyre.constant"));
    let is_outside = is_given || users_behind_views(buffer).iter().any(|user| user.is("func.return"));
    if is_outside { TensorKind::Outside } else { TensorKind::Inside }
}

fn planned(buffer: &HbmBuffer<'_>) -> Buffer {
    let mut uses = buffer.uses.clone();
    uses.sort_unstable_by_key(|one| one.time);
    let tensor = crate::dialect::Tensor::of(buffer.value.r#type());
    let bytes = tensor.and_then(|tensor| tensor.layout).map_or(0, |layout| layout.bytes());
    Buffer { name: String::new(), bytes, uses, in_place_parents: Vec::new(), starts_in_hbm: false, barred: None }
}
