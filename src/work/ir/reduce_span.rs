//! `spyre-reduce-span`: splits ops whose tensors are too large for one core to address.
//!
//! Reads layouts, access maps and `work_div`; writes `min_work` where it is more than one: the fewest slices that keep
//! every tensor within the span limit. Rejects an op that no split brings within it.

use crate::dialect::ods::attr;
use crate::work::ir::describe_op::describe_op;
use crate::{
    codes,
    dialect::{ComputeOp, mark_symbolic, target_of, work_attribute},
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, error_at},
    tile::ir::insert_loop_copies::insert_loop_copies,
    work::reduce_span,
};
use machine::Target;

pub(crate) const PASS: Pass = Pass { argument: "spyre-reduce-span", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    insert_loop_copies(module);
    reduce_spans(module, &target)
}

/// Writes `min_work` on the ops in a module or a function.
pub(crate) fn reduce_spans(around: Op<'_>, target: &Target) -> Result<(), ErrorReported> {
    mark_symbolic(around)?;
    for compute in ComputeOp::collect_in(around) {
        let reject = |message: String| error_at(codes::SPAN, compute.op, message).report();
        let operation = describe_op(compute).map_err(reject)?;
        let minima =
            reduce_span(&operation, target).map_err(|error| reject(error.explain(&operation, &compute.dim_names())))?;
        if minima.num_cores() > 1 {
            compute.op.set_attr(attr::MIN_WORK, work_attribute(compute.op.ctx(), &minima));
        } else {
            compute.op.remove_attr(attr::MIN_WORK);
        }
    }
    Ok(())
}
