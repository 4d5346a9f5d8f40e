//! Passes of stage `kernel`, and the IR helpers that they share.

mod argument_names;
mod decide;
mod dim_labels;
pub(crate) mod dissolve_kernels;
mod fixed_numbers;
mod followers;
pub(crate) mod form_kernels;
pub(crate) mod fuse_prologue_epilogue;
mod fusion;
pub(crate) mod judge;
mod knob_values;
pub(crate) mod make_kernels;
pub(crate) mod make_scopes;
mod moves;
mod neighbours;
mod open_kernels;
mod placed;
mod split;
mod together;

pub(crate) use open_kernels::{OpenKernel, collect_open_kernels};

use crate::{
    dialect::ods::spyre,
    mlir::{Op, OpExt},
};

/// Returns the kernels in an operation, in program order.
fn collect_kernels(around: Op<'_>) -> Vec<Op<'_>> {
    around.nested().into_iter().filter(|op| op.is(spyre::KERNEL)).collect()
}
