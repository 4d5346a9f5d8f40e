//! `spyre-divide-jointly`: evaluates a choice of splits, on a copy of the program if the plan for LX inserts or removes copies.
//!
//! [`super::joint`] plans whole live ranges; `spyre-plan-lx` also moves values into and out of LX. Both the chosen splits and those of each
//! op in isolation are therefore planned as `spyre-plan-lx` does, and the cheaper result is used.

use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{Access, ComputeOp, Step, home_of, is_in_lx, owner_of, split_of, tile_op_of},
    joint::JointProgram,
    lx::ir::{
        emit_stays::{StayPlan, emit_stays},
        program::{Division, LxProgram, Numbers, Values},
    },
    mlir::{Op, OpExt, Reported, Scratch, ValueMap, error_at, integer},
    work::{WorkSplit, ir::divide_work::set_work},
};
use cost::{Cost, KernelOp, OpShape, describe};
use machine::Target;
use scratchpad::Capacity;
use std::rc::Rc;

/// Returns the cost of each op of a function, including added ones, if its ops, in order, have these core splits. `values` and `program`
/// describe the function.
pub(super) fn priced_with_splits<'c>(
    function: Op<'c>,
    values: &Rc<Values<'c>>,
    program: &JointProgram,
    splits: &[&WorkSplit],
    target: &Target,
) -> Result<Vec<PricedOp>, Reported> {
    let division =
        |(op, split): (usize, &&WorkSplit)| Division { operation: Rc::clone(&program.kind(op).operation), split: (*split).clone() };
    let divided = LxProgram { values: Rc::clone(values), divisions: splits.iter().enumerate().map(division).collect() };
    let refuse = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    let plan = StayPlan::of(&divided, &Capacity::of(target)).map_err(refuse)?;
    if let Some(in_lx) = plan.results_in_lx(&divided) {
        return Ok(priced_as_planned(&divided, program, &in_lx, target));
    }
    let scratch = Scratch::of(function);
    for (compute, split) in ComputeOp::all_in(scratch.op()).into_iter().zip(splits) {
        set_work(compute, split);
    }
    priced_ops(scratch.op(), target)
}

/// Prices the ops of a divided program whose results are in LX or HBM, without copies for LX.
fn priced_as_planned(divided: &LxProgram<'_>, program: &JointProgram, in_lx: &[bool], target: &Target) -> Vec<PricedOp> {
    let steps = &divided.values.schedule.steps;
    let mut places: ValueMap<()> = ValueMap::default();
    for (step, _) in steps.iter().zip(in_lx).filter(|(_, in_lx)| **in_lx) {
        places.insert(step.compute.place_owner().output(), ());
    }
    let is_in_lx = |access: &Access<'_>| owner_of(home_of(access.value)).is_some_and(|owner| places.get(owner.output()).is_some());
    let kernel: Vec<OpShape> = steps
        .iter()
        .zip(&divided.divisions)
        .zip(&program.ops)
        .map(|((step, division), op)| {
            let mut tile = op.tile.clone();
            tile.dims.iter_mut().zip(division.split.slices()).for_each(|(dim, &slices)| dim.slices = slices);
            tile.operands.iter_mut().zip(&step.accesses).for_each(|(operand, access)| operand.is_in_lx = is_in_lx(access));
            tile.shape()
        })
        .collect();
    priced_kernel(&divided.values, &kernel, target)
}

/// Cost of an op.
pub(crate) struct PricedOp {
    pub(crate) cost: Cost,
    /// Number in `spyre.number`; none for an op that a pass added.
    pub(crate) number: Option<i64>,
    /// Number of times that loops compute the same result of the op.
    times: i64,
}

impl PricedOp {
    /// Returns the time of all executions but the first, ns.
    pub(crate) fn again_ns(&self) -> f64 {
        self.cost.ns * (self.times - 1) as f64 / self.times as f64
    }
}

/// Assigns places to the values of a divided function, and returns the cost of each op with the number of times that
/// loops repeat it.
pub(crate) fn priced_ops(function: Op<'_>, target: &Target) -> Result<Vec<PricedOp>, Reported> {
    let refuse = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    emit_stays(&LxProgram::of(function)?, &Capacity::of(target)).map_err(refuse)?;
    priced(&Values::of(function)?, target).map_err(refuse)
}

/// Prices the ops of a divided and placed program, as one kernel.
fn priced(values: &Values<'_>, target: &Target) -> Result<Vec<PricedOp>, String> {
    let mut numbers = Numbers::default();
    let mut kernel = Vec::with_capacity(values.schedule.steps.len());
    for step in &values.schedule.steps {
        let mut tile = tile_op_of(step, |buffer, first_element| numbers.of(buffer, first_element))?;
        for (dim, &slices) in tile.dims.iter_mut().zip(split_of(step.compute)?.slices()) {
            dim.slices = slices;
        }
        for (operand, access) in tile.operands.iter_mut().zip(&step.accesses) {
            operand.is_in_lx = is_in_lx(access.value);
        }
        kernel.push(tile.shape());
    }
    Ok(priced_kernel(values, &kernel, target))
}

/// Prices the ops of a program, given their shapes.
fn priced_kernel(values: &Values<'_>, kernel: &[OpShape], target: &Target) -> Vec<PricedOp> {
    let priced = |(step, op): (&Step<'_>, &KernelOp)| {
        let integer = |name: &str| step.compute.op.attr(name).and_then(integer);
        let times = integer(attr::SPYRE_TIMES).map_or(1, |times| times.max(1));
        PricedOp { cost: Cost::of(op, &target.time), number: integer(attr::SPYRE_NUMBER), times }
    };
    values.schedule.steps.iter().zip(&describe(kernel)).map(priced).collect()
}
