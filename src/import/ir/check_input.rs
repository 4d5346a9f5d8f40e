//! `spyre-check-input`: rejects unsupported ops while they still have their original names.
//!
//! Reads every function; changes nothing. Checks the uses of buffers that are written in slices, here and after every
//! phase. Later passes inline calls and turn named ops into `linalg.generic`, so an unsupported operation is named
//! here. Bodies of `linalg` ops are left to `spyre-import-linalg`, which rejects only ops that a result needs.

use super::importer::{check_tensor_size, is_omitted_op};
use crate::{
    codes,
    dialect::ods::{attr, spyre},
    dialect::{PartialBufferViolation, find_partial_buffer_violations},
    import::{OperationSupport, graph::formats::LANES},
    mlir::{
        AffineExpression, BlockExt, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Type, Value, ValueExt,
        ValueLike, ValueMap, error_at, is_tensor, map_of, map_results, shape_of, symbol_name,
    },
};
use machine::is_conversion;
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-check-input", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    check_buffers(module)?;
    let functions: BTreeMap<&str, Op<'_>> = module
        .body_ops()
        .into_iter()
        .filter(|op| op.is("func.func"))
        .map(|function| (function.text_attr("sym_name"), function))
        .collect();
    for op in module.body_ops() {
        // Other ops next to the functions were not written by a front end.
        if op.is("func.func") && op.body().is_some() {
            check_arguments(op)?;
            check_block(op, &functions)?;
        }
    }
    Ok(())
}

/// Rejects every use of a buffer that would read it partially written.
pub(crate) fn check_buffers(module: Op<'_>) -> Result<(), ErrorReported> {
    let reject = |PartialBufferViolation { op, message, users }: PartialBufferViolation<'_>| {
        users
            .into_iter()
            .fold(error_at(codes::UNSUPPORTED, op, message), |error, user| error.with_note(user, "used here"))
            .report()
    };
    find_partial_buffer_violations(module).into_iter().map(reject).last().map_or(Ok(()), Err)
}

/// A function with callers is not the program, so it may have other arguments.
fn check_arguments(function: Op<'_>) -> Result<(), ErrorReported> {
    if function.text_attr("sym_visibility") == "private" {
        return Ok(());
    }
    for argument in function.body_args() {
        let Some(tensor) = TensorType::from_type(argument.r#type()) else {
            let message = codes::STATIC_TENSOR.format(format_args!(
                "expected tensor arguments of static shape, found {}; export the program before bufferization",
                argument.r#type()
            ));
            return Err(error_at(codes::STATIC_TENSOR, function, message).report());
        };
        check_tensor_size(function, &tensor)?;
    }
    Ok(())
}

const CONTROL_FLOW: [&str; 3] = ["scf.for", "scf.while", "scf.if"];

fn check_block(around: Op<'_>, functions: &BTreeMap<&str, Op<'_>>) -> Result<(), ErrorReported> {
    let is_branch = |op: Op<'_>| op.is("scf.if");
    for op in
        around.bodies().into_iter().flat_map(BlockExt::ops).filter(|op| !(op.is("scf.yield") && is_branch(around)))
    {
        check_op(op, functions)?;
        // Hint scopes, loops and branches contain operations, too.
        if op.full_name().starts_with("spyre.") || CONTROL_FLOW.contains(&op.full_name()) {
            check_block(op, functions)?;
        }
    }
    Ok(())
}

fn check_op(op: Op<'_>, functions: &BTreeMap<&str, Op<'_>>) -> Result<(), ErrorReported> {
    if let Some(rejection) = OperationSupport::rejection_message(op.full_name()) {
        return Err(error_at(codes::UNSUPPORTED, op, rejection).report());
    }
    if op.is(spyre::POINTWISE) && is_conversion(op.text_attr(attr::FUNCTION)) && !is_uniform_in_sticks(op.inputs()[0]) {
        let message = format!(
            "'{}' moves elements inside their sticks: expected an operand whose elements are equal along the last dimension, a multiple of {LANES}, \
             found another; compute it by an op whose operands have size 1 in that dimension",
            op.text_attr(attr::FUNCTION)
        );
        return Err(error_at(codes::UNSUPPORTED, op, message).report());
    }
    if op.is("func.call") {
        let name = op.required_attr("callee", symbol_name);
        if functions.get(name).is_none_or(|function| function.body().is_none()) {
            return Err(error_at(
                codes::EXTERNAL_CALL,
                op,
                format_args!("calls '{name}', which has no body; define the function"),
            )
            .report());
        }
    }
    // A cast to a type that hides the sizes of a tensor is no obstacle to the import.
    let hides_sizes =
        op.is("tensor.cast") && op.inputs().iter().all(|input| TensorType::from_type(input.r#type()).is_some());
    for output in op.outputs().into_iter().filter(|_| !hides_sizes && !is_omitted_op(op)) {
        check_shape(op, output.r#type())?;
    }
    Ok(())
}

/// Returns whether a tensor fills its sticks, and elements along its last dimension are equal, because they are
/// computed from the same operands.
fn is_uniform_in_sticks(tensor: Value<'_>) -> bool {
    let mut seen = ValueMap::default();
    let mut open = vec![tensor];
    while let Some(value) = open.pop() {
        if shape_of(value).last() == Some(&1) || seen.insert(value, ()).is_some() {
            continue;
        }
        let Some(sources) = find_uniform_sources(value) else { return false };
        open.extend(sources);
    }
    shape_of(tensor).last().is_some_and(|size| size % LANES == 0)
}

/// Returns the tensors that must be equal along their last dimension for `tensor` to be so. Returns None if it is not.
fn find_uniform_sources(tensor: Value<'_>) -> Option<Vec<Value<'_>>> {
    let (last, def) = (shape_of(tensor).len().checked_sub(1)?, tensor.def()?);
    match def.full_name() {
        spyre::POINTWISE | spyre::INSERT => Some(def.inputs()),
        spyre::EMPTY => Some(Vec::new()),
        spyre::VIEW => {
            let exprs = map_results(def.attr(attr::MAP).and_then(map_of)?);
            let reads_last = exprs.iter().filter(|expr| expr.dims().contains(&last)).count();
            // A view along the last dimension has the elements of the input.
            let is_along_last =
                reads_last == 1 && exprs.last().is_some_and(|expr| *expr == AffineExpression::Dim(last));
            match reads_last {
                0 => Some(Vec::new()),
                _ => is_along_last.then(|| def.inputs()),
            }
        }
        _ => None,
    }
}

fn check_shape<'c>(op: Op<'c>, of: Type<'c>) -> Result<(), ErrorReported> {
    match TensorType::from_type(of) {
        Some(tensor) => check_tensor_size(op, &tensor),
        None if is_tensor(of) => Err(error_at(
            codes::STATIC_TENSOR,
            op,
            format_args!("expected results of static shape, found {of}; give every dimension a size"),
        )
        .report()),
        None => Ok(()),
    }
}
