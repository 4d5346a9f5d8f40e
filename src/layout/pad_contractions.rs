//! `spyre-pad-contractions`: pads what a contraction reads past.
//!
//! Reads layouts. A matmul reads K in whole sticks: the hardware clears the lanes behind K in the left operand, but the right operand's
//! rows behind K must exist and be zero (torch-spyre, padding of batch matmuls). A K that is no multiple of the stick is refused: the
//! padding is not supported yet.

use crate::{
    dialect::ComputeOp,
    mlir::{Op, Options, Pass, Reported, error_at},
    target::Family,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-pad-contractions", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for compute in ComputeOp::all_in(module).into_iter().filter(|compute| compute.family() == Family::Matmul) {
        check(compute).map_err(|message| error_at(compute.op, message).report())?;
    }
    Ok(())
}

fn check(compute: ComputeOp<'_>) -> Result<(), String> {
    let k = compute.iteration_space().last().copied().unwrap_or(1);
    let accesses = compute.accesses()?;
    let stick = accesses[1].layout()?.format().elements_per_stick();
    if k % stick == 0 {
        return Ok(());
    }
    Err(format!("contracts {k} elements, which is no multiple of a stick of {stick}: padding is not supported yet"))
}
