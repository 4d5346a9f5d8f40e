//! `spyre-divide-jointly`: evaluates a choice of splits on a copy of the program.
//!
//! [`super::joint`] plans whole live ranges; `spyre-plan-lx` also moves values into and out of LX. Both the chosen splits and those of each
//! op in isolation are therefore planned as `spyre-plan-lx` does, and the cheaper result is used.

use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{ComputeOp, Step, is_in_lx, split_of, tile_op_of},
    lx::ir::{
        emit_stays::emit_stays,
        program::{LxProgram, Numbers, Values},
    },
    mlir::{Op, OpExt, Reported, Scratch, error_at, integer},
    work::{WorkSplit, ir::divide_work::set_work},
};
use cost::{Cost, KernelOp, describe};
use machine::Target;
use scratchpad::Capacity;

/// Returns the cost of each op of a function, including added ones, if its ops, in order, have these core splits.
pub(super) fn priced_with_splits<'a>(
    function: Op<'_>,
    splits: impl Iterator<Item = &'a WorkSplit>,
    target: &Target,
) -> Result<Vec<PricedOp>, Reported> {
    let scratch = Scratch::of(function);
    for (compute, split) in ComputeOp::all_in(scratch.op()).into_iter().zip(splits) {
        set_work(compute, split);
    }
    priced_ops(scratch.op(), target)
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
    let priced = |(step, op): (&Step<'_>, &KernelOp)| {
        let integer = |name: &str| step.compute.op.attr(name).and_then(integer);
        let times = integer(attr::SPYRE_TIMES).map_or(1, |times| times.max(1));
        PricedOp { cost: Cost::of(op, &target.time), number: integer(attr::SPYRE_NUMBER), times }
    };
    Ok(values.schedule.steps.iter().zip(&describe(&kernel)).map(priced).collect())
}
