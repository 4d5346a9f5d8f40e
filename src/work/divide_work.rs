//! `spyre-divide-work`: divides the iteration space of every op over the cores.
//!
//! Reads layouts, access maps and `min_work`; writes `work`, the slices per iteration dimension.

use super::divide;
use crate::{
    dialect::{ComputeOp, operation_of, target_of, work_attribute},
    mlir::{Op, OpExt, Options, Pass, Reported, error_at},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-divide-work", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    for compute in ComputeOp::all_in(module) {
        let refuse = |message: String| error_at(compute.op, message).report();
        let operation = operation_of(compute).map_err(refuse)?;
        let split = divide(&operation, &target).map_err(|error| refuse(error.to_string()))?;
        compute.op.set_attr("work", work_attribute(compute.op.ctx(), split.slices()));
    }
    Ok(())
}
