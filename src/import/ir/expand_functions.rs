//! `spyre-expand-functions`: expands functions whose results cannot be in LX into other functions.
//!
//! Reads the users of results, hints and the machine; replaces one pointwise op by several (`Expansion`). It expands an
//! op only if compute ops read the result and a core's slice fits: the result of the original function is always in
//! HBM.

use super::emit_constant::emit_constant_before;
use crate::dialect::ods::{option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, base_buffer_of, build_copy, build_pointwise, format_of, target_of},
    import::{ConstantTensor, Expansion, ExpansionOperand},
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueExt, ValueLike,
        derived_location, error_at, insert_before,
    },
};
use machine::{Family, Target};
use melior::ir::operation::Operation;
use sdsc_check::Profile;

pub(crate) const PASS: Pass = Pass { argument: "spyre-expand-functions", run };

/// Comparisons that release 1.0.0 of the file format lacks, each as the product of two that it has. All results are 0
/// where an operand is NaN, except those of `notequal`.
const COMPARISONS: [(&str, [&str; 2]); 2] =
    [("greaterthan", ["greaterequal", "notequal"]), ("lesserthan", ["lesserequal", "notequal"])];

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    if options.read_enum::<Profile>(module, option::BUNDLE_FORMAT)?.is_release() {
        ComputeOp::collect_in(module).into_iter().for_each(expand_comparison);
    }
    if !options.is_enabled(option::INTO_LX) {
        return Ok(());
    }
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    for compute in ComputeOp::collect_in(module).into_iter().filter(|compute| compute.family() == Family::Pointwise) {
        let Some(expansion) = Expansion::find(compute.function()) else { continue };
        let result = compute.op.output();
        if has_only_lx_users(result)
            && compute_slice_bytes(compute, &target).is_some_and(|bytes| expansion.fits_in_lx(bytes, target.lx_bytes))
        {
            expand_function(compute, expansion);
        }
    }
    Ok(())
}

/// Replaces a comparison that the release lacks.
fn expand_comparison(compute: ComputeOp<'_>) {
    if compute.family() != Family::Pointwise {
        return;
    }
    let Some((_, parts)) = COMPARISONS.iter().find(|(function, _)| *function == compute.function()) else { return };
    let (op, output) = (compute.op, compute.op.output().r#type());
    let factors = parts.map(|function| {
        insert_with_hints(
            op,
            build_pointwise(
                op.ctx(),
                derived_location(op, DerivationKind::Decomposition, PASS.argument),
                function,
                &op.inputs(),
                &[],
                output,
            ),
        )
    });
    let product = insert_with_hints(
        op,
        build_pointwise(
            op.ctx(),
            derived_location(op, DerivationKind::Decomposition, PASS.argument),
            "mul",
            &factors,
            &[],
            output,
        ),
    );
    op.output().replace_with(product);
    op.erase();
}

/// Inserts an op before another one, with its hints; returns its result.
fn insert_with_hints<'c>(op: Op<'c>, operation: Operation<'c>) -> Value<'c> {
    let written = insert_before(op, operation);
    for name in ["hints", "work_div"] {
        if let Some(attribute) = op.attr(name) {
            written.set_attr(name, attribute);
        }
    }
    written.output()
}

/// Returns whether all users of a value may read from LX, looking through views.
fn has_only_lx_users(value: Value<'_>) -> bool {
    let users = value.users();
    let is_reader = |user: Op<'_>| match ComputeOp::from_op(user) {
        Some(compute) => matches!(compute.family(), Family::Pointwise | Family::Reduce | Family::Matmul),
        None => user.is(spyre::VIEW) && has_only_lx_users(user.output()),
    };
    !users.is_empty() && users.into_iter().all(is_reader)
}

/// Returns the bytes of the result on one core, if all cores have a slice and each hint splits it.
fn compute_slice_bytes(compute: ComputeOp<'_>, target: &Target) -> Option<i64> {
    let tensor = TensorType::from_type(compute.op.output().r#type())?;
    let elements = tensor.shape.iter().try_fold(1_i64, |product, size| product.checked_mul(*size))?;
    let parts = compute.num_hinted_tiles().checked_mul(target.cores)?;
    elements.checked_mul(format_of(tensor.element)?.bytes()).map(|bytes| bytes / parts + i64::from(bytes % parts > 0))
}

/// Returns whether the argument may be in LX without a relayout. If a matmul produces it, matmul and function usually
/// have different core splits.
fn may_be_in_lx(argument: Value<'_>) -> bool {
    let writer = base_buffer_of(argument).def().and_then(ComputeOp::from_op);
    writer.and_then(ComputeOp::table_row).is_some_and(|row| row.lx)
}

/// Replaces the op by the steps. An argument that several steps read is copied first, so it is read from HBM once, as
/// by the original function. `spyre-allocate-scratchpad` removes the copy if it does not fit.
fn expand_function(compute: ComputeOp<'_>, expansion: &Expansion) {
    let op = compute.op;
    let (context, at, output) =
        (op.ctx(), derived_location(op, DerivationKind::Decomposition, PASS.argument), op.output().r#type());
    let Some(tensor) = TensorType::from_type(output) else { return };
    let number = |number: f64| {
        emit_constant_before(op, at, &ConstantTensor::from_scalar(number), vec![1; tensor.shape.len()], tensor.element)
    };
    let write = |operation| insert_with_hints(op, operation);
    let mut argument = op.inputs()[0];
    if expansion.num_argument_reads() > 1 && !may_be_in_lx(argument) {
        argument = write(build_copy(context, at, argument, output));
    }
    let mut results: Vec<Value<'_>> = Vec::new();
    for step in expansion.steps {
        let sources = step.sources.iter().map(|source| match *source {
            ExpansionOperand::Argument => argument,
            ExpansionOperand::Number(value) => number(value),
            ExpansionOperand::Step(step) => results[step],
        });
        let sources: Vec<Value<'_>> = sources.collect();
        results.push(write(build_pointwise(context, at, step.function, &sources, &[], output)));
    }
    if let Some(&result) = results.last() {
        op.output().replace_with(result);
        op.erase();
    }
}
