//! Passes of stage `kernel`, and the IR helpers that they share.

mod argument_names;
mod consumer_kernels;
pub(crate) mod cost_evaluator;
mod decide;
mod dim_labels;
mod dim_name_groups;
mod fixed_numbers;
pub(crate) mod form_kernels;
pub(crate) mod fuse_prologue_epilogue;
mod fusion;
pub(crate) mod inline_kernels;
mod knob_values;
pub(crate) mod make_kernels;
mod moved_ops;
mod moves;
mod neighbors;
mod open_kernels;
pub(crate) mod raise_loops_to_hints;
mod split;

pub(crate) use open_kernels::{OpenKernel, collect_open_kernels};

use crate::{
    dialect::ods::spyre,
    mlir::{Op, OpExt},
};

/// Returns the kernels in an operation, in program order.
fn collect_kernels(around: Op<'_>) -> Vec<Op<'_>> {
    around.nested().into_iter().filter(|op| op.is(spyre::KERNEL)).collect()
}
