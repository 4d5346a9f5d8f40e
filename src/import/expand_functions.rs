//! `spyre-expand-functions`: writes functions whose results cannot live in LX in terms of others.
//!
//! Reads the readers of results, hints and the machine; writes several pointwise ops for one (`Expansion`). Only where compute ops read the
//! result and a core's part fits: a result of the function is in HBM anyway.

use super::{
    emit_constant::constant_before,
    expansion::{Expansion, Source},
    known::Known,
};
use crate::{
    dialect::{ComputeOp, format_of, pointwise, target_of},
    mlir::{Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueExt, ValueLike, error_at, insert_before},
    target::{Family, Target},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-expand-functions", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    for compute in ComputeOp::all_in(module).into_iter().filter(|compute| compute.family() == Family::Pointwise) {
        let Some(expansion) = Expansion::of(compute.function()) else { continue };
        let result = compute.op.output();
        if is_read_on_device(result) && part_bytes(compute, &target).is_some_and(|bytes| expansion.fits(bytes, target.lx_bytes)) {
            expand(compute, expansion);
        }
    }
    Ok(())
}

/// Whether ops that may read from LX, and only such, read a value, be it through views.
fn is_read_on_device(value: Value<'_>) -> bool {
    let users = value.users();
    let is_reader = |user: Op<'_>| match ComputeOp::of(user) {
        Some(compute) => matches!(compute.family(), Family::Pointwise | Family::Reduce | Family::Matmul),
        None => user.is("spyre.view") && is_read_on_device(user.output()),
    };
    !users.is_empty() && users.into_iter().all(is_reader)
}

/// The bytes of the result on one core, if all cores have a part and each hint cuts it.
fn part_bytes(compute: ComputeOp<'_>, target: &Target) -> Option<i64> {
    let tensor = TensorType::of(compute.op.output().r#type())?;
    let elements = tensor.shape.iter().try_fold(1_i64, |product, size| product.checked_mul(*size))?;
    let parts = compute.hinted_tiles().checked_mul(target.cores)?;
    elements.checked_mul(format_of(tensor.element)?.bytes()).map(|bytes| bytes / parts + i64::from(bytes % parts > 0))
}

/// Writes the steps in the place of the op.
fn expand(compute: ComputeOp<'_>, expansion: &Expansion) {
    let op = compute.op;
    let (context, at, output) = (op.ctx(), op.loc(), op.output().r#type());
    let Some(tensor) = TensorType::of(output) else { return };
    let number = |number: f64| constant_before(op, at, &Known::number(number), vec![1; tensor.shape.len()], tensor.element);
    let mut results: Vec<Value<'_>> = Vec::new();
    for step in expansion.steps {
        let sources = step.sources.iter().map(|source| match *source {
            Source::Argument => op.inputs()[0],
            Source::Number(value) => number(value),
            Source::Step(step) => results[step],
        });
        let sources: Vec<Value<'_>> = sources.collect();
        let written = insert_before(op, pointwise(context, at, step.function, &sources, &[], output));
        for name in ["hints", "work_div"] {
            if let Some(attribute) = op.attr(name) {
                written.set_attr(name, attribute);
            }
        }
        results.push(written.output());
    }
    if let Some(&result) = results.last() {
        op.output().replace_with(result);
        op.erase();
    }
}
