//! Remarks about numbers that the device does not compute with as the program does.

use crate::{
    codes,
    dialect::ods::{attr, sdsc},
    mlir::{Location, Module, Op, OpExt, ScalarType, TensorType, Value, ValueLike, integers, remark_at_location},
};

/// Emits a remark at the first f64 value of the program: the device has no f64.
pub(super) fn remark_f64(module: &Module<'_>) {
    for function in module.op().body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        if let Some(location) = find_first_f64(function) {
            let message = "f64 values are computed as f32, possibly in 16 bits; convert the program to f32 or \
                           f16 to choose the format";
            return remark_at_location(codes::F64_AS_F32, function, message).with_location(location).emit();
        }
    }
}

/// Returns the location of the first argument or result of type f64.
fn find_first_f64(function: Op<'_>) -> Option<Location<'_>> {
    let is_f64 = |value: &Value<'_>| {
        TensorType::from_type(value.r#type())
            .is_some_and(|tensor| ScalarType::from_type(tensor.element) == ScalarType::F64)
    };
    let argument = function.body_args().into_iter().find(is_f64).map(|argument| argument.location());
    argument.or_else(|| function.nested().into_iter().find(|op| op.outputs().iter().any(is_f64)).map(OpExt::loc))
}

/// Emits a remark at each integer argument whose values a launch checks.
pub(super) fn remark_integer_ranges(module: Op<'_>) {
    for buffer in module.nested().into_iter().filter(|op| op.is(sdsc::BUFFER)) {
        if let Some([first, end]) = buffer.attr(attr::INDEX_RANGE).and_then(integers).as_deref() {
            let message = format!(
                "integer argument '{}' accepts only values from {first} to {}, which a launch checks, because they select rows or because \
                 the device is exact only in this range; declare a smaller range with 'spyre.range' on the argument",
                buffer.text_attr(attr::SYM_NAME),
                end - 1
            );
            remark_at_location(codes::INTEGER_RANGE_CHECKED, buffer, message).emit();
        }
    }
}
