//! A file's module and the program in it: its function, its sizes, and the dialects that upstream lowers.

use super::{ErrorReported, Op, OpExt, Type, TypeLike, ValueLike, string_attribute, symbol_name};
use mlir_sys::{
    MlirOperation, mlirShapedTypeGetDimSize, mlirShapedTypeGetRank, mlirShapedTypeIsDynamicDim, mlirTypeIsARankedTensor,
};
use std::collections::BTreeMap;

unsafe extern "C" {
    fn spyreLowerTosa(module: MlirOperation) -> bool;
    fn spyreLowerStablehlo(module: MlirOperation) -> bool;
    fn spyreBoxNumbers(function: MlirOperation);
    fn spyreMergeDims(function: MlirOperation);
    fn spyreBoxEmpty(function: MlirOperation);
    fn spyreDropEmpty(module: MlirOperation);
    fn spyreSpecialize(function: MlirOperation, sizes: *const i64) -> bool;
}

const GLOBAL_OP: &str = "ml_program.global";

/// The functions of a module that have a body, in order.
#[must_use]
pub fn functions_of(module: Op<'_>) -> Vec<Op<'_>> {
    module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()).collect()
}

/// Whether a function may be called from outside of its module.
#[must_use]
pub fn is_public(function: Op<'_>) -> bool {
    !["private", "nested"].contains(&function.text_attr("sym_visibility"))
}

/// Makes a function the only public one of its module, and erases what it does not need: other functions, and numbers
/// that it does not read.
pub fn make_entry<'c>(module: Op<'c>, entry: Op<'c>) {
    let functions: BTreeMap<&str, Op<'c>> = module
        .body_ops()
        .into_iter()
        .filter(|op| op.is("func.func"))
        .map(|function| (function.text_attr("sym_name"), function))
        .collect();
    let name = entry.text_attr("sym_name");
    let (mut needed, mut found) = (BTreeMap::from([(name, entry)]), vec![entry]);
    while let Some(function) = found.pop() {
        for call in function.nested().into_iter().filter(|op| op.is("func.call")) {
            if let Some((name, callee)) = functions.get_key_value(call.required_attr("callee", symbol_name))
                && needed.insert(name, *callee).is_none()
            {
                found.push(*callee);
            }
        }
    }
    for (other, function) in functions {
        match needed.contains_key(other) {
            true if is_public(function) && other == name => {}
            true if other == name => function.remove_attr("sym_visibility"),
            true => function.set_attr("sym_visibility", string_attribute(module.ctx(), "private")),
            false => function.erase(),
        }
    }
    // torch-mlir leaves the seed of random numbers in a module, whether something draws any or not.
    if !module.nested().into_iter().any(|op| op.full_name().starts_with("ml_program.") && !op.is(GLOBAL_OP)) {
        module.body_ops().into_iter().filter(|op| op.is(GLOBAL_OP)).for_each(OpExt::erase);
    }
}

/// The size of each dimension of a ranked tensor, none where its type does not say it; none for another type.
#[must_use]
pub fn partial_shape(tensor: Type<'_>) -> Option<Vec<Option<i64>>> {
    let raw = tensor.to_raw();
    // SAFETY: the queries are only asked of the kind of type that they are for.
    unsafe {
        let size = |dim: i64| {
            (!mlirShapedTypeIsDynamicDim(raw, dim as isize)).then(|| mlirShapedTypeGetDimSize(raw, dim as isize))
        };
        mlirTypeIsARankedTensor(raw).then(|| (0..mlirShapedTypeGetRank(raw)).map(size).collect())
    }
}

/// Makes tensors without dimensions of the numbers that a function takes and returns, of an index one of 64 bits.
pub fn wrap_scalars_in_tensors(function: Op<'_>) {
    // SAFETY: the function is alive; nothing of it is freed.
    unsafe { spyreBoxNumbers(function.to_raw()) }
}

/// Makes the outermost dimensions one, of tensors of static shape that a function takes or returns and that have more
/// than a layout holds; their shapes are `spyre.shape` of arguments and results then.
pub fn merge_outer_dims(function: Op<'_>) {
    // SAFETY: the function is alive; nothing of it is freed.
    unsafe { spyreMergeDims(function.to_raw()) }
}

/// Makes a tensor of one element of each tensor without elements that a function takes or returns: one that nothing
/// reads, or zero; its shape is `spyre.shape` of the argument or the result then.
pub fn replace_empty_tensors(function: Op<'_>) {
    // SAFETY: the function is alive; nothing of it is freed.
    unsafe { spyreBoxEmpty(function.to_raw()) }
}

/// Takes tensors without elements out of what computes with others. What is replaced is freed: the caller holds no
/// handle of what is in the functions.
pub fn remove_empty_tensors(module: Op<'_>) {
    // SAFETY: the module is alive.
    unsafe { spyreDropEmpty(module.to_raw()) }
}

/// Gives sizes to the open dimensions of the arguments of a function, in their order, and makes static what follows
/// from them. What was in the function and in those that it called is freed: the caller holds no other handle.
///
/// # Errors
/// If MLIR's passes fail, which they report.
///
/// # Panics
/// If there are more or fewer sizes than open dimensions.
pub fn specialize_dims(function: Op<'_>, sizes: &[i64]) -> Result<(), ErrorReported> {
    let arguments = function.body_args();
    let num_open = arguments
        .iter()
        .flat_map(|value| partial_shape(value.r#type()).unwrap_or_default())
        .filter(Option::is_none)
        .count();
    assert_eq!(sizes.len(), num_open, "a size for each open dimension");
    // SAFETY: the function is alive; there are as many sizes as C++ reads.
    if unsafe { spyreSpecialize(function.to_raw(), sizes.as_ptr()) } { Ok(()) } else { Err(ErrorReported::from_mlir()) }
}

/// Lowers ops of the dialect `tosa` by upstream's passes, if there are any. What was in the functions is freed: the
/// caller holds no handle of it.
///
/// # Errors
/// If an op has no lowering, which has been reported.
pub fn lower_tosa(module: Op<'_>) -> Result<(), ErrorReported> {
    // SAFETY: the module is alive.
    if unsafe { spyreLowerTosa(module.to_raw()) } { Ok(()) } else { Err(ErrorReported::from_mlir()) }
}

/// Lowers ops of the dialect `stablehlo` that its own passes leave, if there are any. They are freed: the caller holds
/// no handle of what was in functions.
///
/// # Errors
/// If an op cannot be lowered, which has been reported.
pub fn lower_stablehlo(module: Op<'_>) -> Result<(), ErrorReported> {
    // SAFETY: the module is alive.
    if unsafe { spyreLowerStablehlo(module.to_raw()) } { Ok(()) } else { Err(ErrorReported::from_mlir()) }
}
