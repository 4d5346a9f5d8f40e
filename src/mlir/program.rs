//! Rewrites of a source module before the import: the entry function, the shapes of arguments and results, and foreign
//! dialects.

use super::{ErrorReported, Op, OpExt, Type, TypeLike, ValueLike, string_attribute, symbol_name};
use mlir_sys::{
    MlirOperation, mlirShapedTypeGetDimSize, mlirShapedTypeGetRank, mlirShapedTypeIsDynamicDim, mlirTypeIsARankedTensor,
};
use std::collections::BTreeMap;

unsafe extern "C" {
    fn spyreLowerTosa(module: MlirOperation) -> bool;
    fn spyreLowerStablehlo(module: MlirOperation) -> bool;
    fn spyreWrapScalarsInTensors(function: MlirOperation);
    fn spyreMergeOuterDims(function: MlirOperation);
    fn spyreReplaceEmptyTensors(function: MlirOperation);
    fn spyreRemoveEmptyTensors(module: MlirOperation);
    fn spyreSpecializeDims(function: MlirOperation, sizes: *const i64) -> bool;
}

const GLOBAL_OP: &str = "ml_program.global";

/// Returns the functions of a module that have a body, in order.
#[must_use]
pub fn find_defined_functions(module: Op<'_>) -> Vec<Op<'_>> {
    module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()).collect()
}

/// Returns whether a function may be called from outside of its module.
#[must_use]
pub fn is_public(function: Op<'_>) -> bool {
    !["private", "nested"].contains(&function.text_attr("sym_visibility"))
}

/// Makes a function the only public one of its module, and erases unused functions and unused random seeds.
pub fn make_entry<'c>(module: Op<'c>, entry: Op<'c>) {
    let functions: BTreeMap<&str, Op<'c>> = module
        .body_ops()
        .into_iter()
        .filter(|op| op.is("func.func"))
        .map(|function| (function.text_attr("sym_name"), function))
        .collect();
    let name = entry.text_attr("sym_name");
    let (mut reachable, mut worklist) = (BTreeMap::from([(name, entry)]), vec![entry]);
    while let Some(function) = worklist.pop() {
        for call in function.nested().into_iter().filter(|op| op.is("func.call")) {
            if let Some((name, callee)) = functions.get_key_value(call.required_attr("callee", symbol_name))
                && reachable.insert(name, *callee).is_none()
            {
                worklist.push(*callee);
            }
        }
    }
    for (other, function) in functions {
        match reachable.contains_key(other) {
            true if is_public(function) && other == name => {}
            true if other == name => function.remove_attr("sym_visibility"),
            true => function.set_attr("sym_visibility", string_attribute(module.ctx(), "private")),
            false => function.erase(),
        }
    }
    // torch-mlir leaves the global seed of random numbers in a module even if no op draws any.
    if !module.nested().into_iter().any(|op| op.full_name().starts_with("ml_program.") && !op.is(GLOBAL_OP)) {
        module.body_ops().into_iter().filter(|op| op.is(GLOBAL_OP)).for_each(OpExt::erase);
    }
}

/// Returns the size of each dimension of a ranked tensor, `None` for a dynamic size. Returns `None` for another type.
#[must_use]
pub fn partial_shape(tensor: Type<'_>) -> Option<Vec<Option<i64>>> {
    let raw = tensor.to_raw();
    // SAFETY: the shape queries are called for ranked tensor types only.
    unsafe {
        let size = |dim: i64| {
            (!mlirShapedTypeIsDynamicDim(raw, dim as isize)).then(|| mlirShapedTypeGetDimSize(raw, dim as isize))
        };
        mlirTypeIsARankedTensor(raw).then(|| (0..mlirShapedTypeGetRank(raw)).map(size).collect())
    }
}

/// Replaces scalar arguments and results of a function by tensors of rank 0; an index becomes a 64-bit integer.
pub fn wrap_scalars_in_tensors(function: Op<'_>) {
    // SAFETY: the function is alive; nothing of it is freed.
    unsafe { spyreWrapScalarsInTensors(function.to_raw()) }
}

/// Collapses the outermost dimensions of arguments and results of static shape that have more dimensions than a layout
/// supports. Their original shape is stored as `spyre.shape` of the argument or result.
pub fn merge_outer_dims(function: Op<'_>) {
    // SAFETY: the function is alive; nothing of it is freed.
    unsafe { spyreMergeOuterDims(function.to_raw()) }
}

/// Replaces arguments and results without elements by tensors of one element. A new argument is unused, and a new
/// result is 0. The original shape is stored as `spyre.shape` of the argument or result.
pub fn replace_empty_tensors(function: Op<'_>) {
    // SAFETY: the function is alive; nothing of it is freed.
    unsafe { spyreReplaceEmptyTensors(function.to_raw()) }
}

/// Removes operands without elements from ops that combine them with other tensors, such as concatenations. Replaced
/// ops are freed: the caller must hold no handle to an op in the functions.
pub fn remove_empty_tensors(module: Op<'_>) {
    // SAFETY: the module is alive.
    unsafe { spyreRemoveEmptyTensors(module.to_raw()) }
}

/// Sets the dynamic dimensions of a function's arguments to these sizes, in order, and makes the shapes that depend on
/// them static. Ops in the function and in its callees are freed: the caller must hold no other handle.
///
/// # Errors
/// If MLIR's passes fail, which they report.
///
/// # Panics
/// If there are more or fewer sizes than dynamic dimensions.
pub fn specialize_dims(function: Op<'_>, sizes: &[i64]) -> Result<(), ErrorReported> {
    let arguments = function.body_args();
    let num_dynamic = arguments
        .iter()
        .flat_map(|value| partial_shape(value.r#type()).unwrap_or_default())
        .filter(Option::is_none)
        .count();
    assert_eq!(sizes.len(), num_dynamic, "a size for each open dimension");
    // SAFETY: the function is alive; there are as many sizes as C++ reads.
    if unsafe { spyreSpecializeDims(function.to_raw(), sizes.as_ptr()) } {
        Ok(())
    } else {
        Err(ErrorReported::from_mlir())
    }
}

/// Lowers `tosa` ops with upstream's passes, if there are any. Ops in functions are freed: the caller must hold no
/// handle to them.
///
/// # Errors
/// If an op has no lowering, which has been reported.
pub fn lower_tosa(module: Op<'_>) -> Result<(), ErrorReported> {
    // SAFETY: the module is alive.
    if unsafe { spyreLowerTosa(module.to_raw()) } { Ok(()) } else { Err(ErrorReported::from_mlir()) }
}

/// Lowers the `stablehlo` ops that StableHLO's own passes leave, if there are any. Ops in functions are freed: the
/// caller must hold no handle to them.
///
/// # Errors
/// If an op cannot be lowered, which has been reported.
pub fn lower_stablehlo(module: Op<'_>) -> Result<(), ErrorReported> {
    // SAFETY: the module is alive.
    if unsafe { spyreLowerStablehlo(module.to_raw()) } { Ok(()) } else { Err(ErrorReported::from_mlir()) }
}
