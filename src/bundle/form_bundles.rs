//! `spyre-form-bundles`: groups ops and loops into kernel launches.
//!
//! Reads `place` and what each op touches in HBM; writes `spyre.bundle` on every op and loop of a function, and an offset in the pool of
//! the launch for HBM values that live within it.

use super::Addresses;
use super::form::{Step, TensorKind, launches};
use crate::{
    dialect::{ComputeOp, Home, Memory, Place, Schedule, home_of, owner_of, target_of, users_behind_views},
    lx::{Buffer, Capacity, FirstFit, Planner, Use, UseKind},
    mlir::{Op, OpExt, Options, Pass, Reported, Value, ValueExt, ValueLike, error_at, i64_attribute},
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
}

impl<'c> Former<'c> {
    fn of(function: Op<'c>) -> Result<Self, Reported> {
        let schedule = Schedule::of(function).map_err(|(op, message)| error_at(op, message).report())?;
        let items = items_of(function);
        let mut former = Self { function, schedule, items, buffers: Vec::new() };
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
            let position = self.buffers.iter().position(|known| known.value == buffer).unwrap_or_else(|| {
                self.buffers.push(HbmBuffer { value: buffer, kind: kind_of(buffer), uses: Vec::new() });
                self.buffers.len() - 1
            });
            let uses = &mut self.buffers[position].uses;
            // A loop uses its buffers from its first op to its last, whichever op of it the use is in.
            uses.extend([Use { time: *times.start(), kind }, Use { time: *times.end(), kind }]);
        }
    }

    fn form(&self, segments: Option<usize>, target: &Target) -> Result<(), Reported> {
        let steps: Vec<Step> = self.items.iter().map(|(_, times)| self.step(times)).collect();
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

    fn step(&self, times: &Range<usize>) -> Step {
        let uses_in = |buffer: &HbmBuffer<'c>| buffer.uses.iter().any(|one| times.contains(&one.time));
        let tensors = self.buffers.iter().enumerate().filter(|(_, buffer)| uses_in(buffer)).map(|(number, _)| number).collect();
        let is_live_behind = |time: usize| {
            let output = self.schedule.steps[time].compute.op.output();
            is_in_lx(output) && self.schedule.readers(output).iter().any(|&(reader, _)| reader >= times.end)
        };
        Step { tensors, leaves_lx_live: (0..times.end).any(is_live_behind) }
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
