//! `spyre-divide-work`: divides the iteration space of every op over the cores.
//!
//! Reads layouts, access maps, `min_work`, `work_div` and `dims`; writes `work`, the slices per iteration dimension,
//! and removes `work_div`.

use crate::dialect::ods::attr;
use crate::work::ir::describe_op::describe_op_with_accesses;
use crate::{
    codes,
    dialect::{ComputeOp, target_of, work_attribute},
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, error_at_location},
    tile::ir::insert_loop_copies::insert_loop_copies,
    work::{WorkError, divide, find_unmatched_hint},
};
use machine::Target;
use program::{TensorAccess, UndividedOp, WorkSplit};

pub(crate) const PASS: Pass = Pass { argument: "spyre-divide-work", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target =
        target_of(module).map_err(|message| error_at_location(codes::MALFORMED_IR, module, message).report())?;
    insert_loop_copies(module);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        check_hints(&ComputeOp::collect_in(function))?;
    }
    for compute in ComputeOp::collect_in(module) {
        let accesses = compute
            .accesses()
            .map_err(|message| error_at_location(codes::SPLIT_DIVISOR, compute.op, message).report())?;
        let (_, split) = divide_op(compute, accesses.iter().map(|access| &access.access), &target)?;
        set_work(compute, &split);
    }
    Ok(())
}

/// Divides an op by the rules of [`divide`], given its accesses.
pub(crate) fn divide_op<'a>(
    compute: ComputeOp<'_>,
    accesses: impl ExactSizeIterator<Item = &'a TensorAccess>,
    target: &Target,
) -> Result<(UndividedOp, WorkSplit), ErrorReported> {
    let operation = describe_op_to_divide(compute, accesses)?;
    let split = divide(&operation, target).map_err(|error| report_undividable(compute, &operation, &error))?;
    Ok((operation, split))
}

/// Describes an op for work division, given its accesses.
pub(crate) fn describe_op_to_divide<'a>(
    compute: ComputeOp<'_>,
    accesses: impl ExactSizeIterator<Item = &'a TensorAccess>,
) -> Result<UndividedOp, ErrorReported> {
    describe_op_with_accesses(compute, accesses)
        .map_err(|message| error_at_location(codes::SPLIT_DIVISOR, compute.op, message).report())
}

/// Reports why an op cannot be divided.
pub(crate) fn report_undividable(compute: ComputeOp<'_>, operation: &UndividedOp, error: &WorkError) -> ErrorReported {
    let because = if operation.hint.is_some() { "cannot honor 'work_div': " } else { "" };
    let message = format!("{because}{}", error.explain(operation, &compute.dim_names()));
    error_at_location(codes::SPLIT_DIVISOR, compute.op, message).report()
}

/// Writes the split, and removes the hint.
pub(crate) fn set_work(compute: ComputeOp<'_>, split: &WorkSplit) {
    compute.op.set_attr(attr::WORK, work_attribute(compute.op.ctx(), split));
    compute.op.remove_attr(attr::WORK_DIV);
}

/// Returns an error for a hint that no op can follow, since it would otherwise be ignored.
pub(crate) fn check_hints(ops: &[ComputeOp<'_>]) -> Result<(), ErrorReported> {
    let hints: Vec<_> = ops.iter().map(|op| (op.work_div(), op.dim_names())).collect();
    let Some((position, hint)) = find_unmatched_hint(&hints) else { return Ok(()) };
    let message = codes::SPLIT_NAME.format(format_args!(
        "no op in the hint scope has the dimension '{}' that 'work_div' names; use a name of a dimension of the ops",
        hint.dim
    ));
    Err(error_at_location(codes::SPLIT_NAME, ops[position].op, message).report())
}
