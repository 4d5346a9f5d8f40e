//! `spyre-import-linalg`, `spyre-expand-functions`: emission of constants.

use crate::{
    dialect::{EXACT_ATTR, build_constant, build_retyped_view},
    import::ConstantTensor,
    mlir::{
        Location, Op, OpExt, ScalarType, TensorType, Type, Value, dense_attribute, insert_before,
        is_exactly_representable, type_of_element,
    },
};
use machine::ElementType;

/// Writes a constant; in f32, converted to f16, if f16 does not represent its numbers: the device's format has a larger
/// range. Finite numbers stay finite.
pub(super) fn emit_constant_before<'c>(
    before: Op<'c>,
    at: Location<'c>,
    known: &ConstantTensor,
    shape: Vec<i64>,
    element: Type<'c>,
) -> Value<'c> {
    let context = before.ctx();
    let largest = max_finite(ScalarType::from_type(element));
    // One number represents all elements, however many there are.
    let asked = known.to_scalar().unwrap_or_else(|| known.clone());
    let known = asked.clamp_to_magnitude(largest);
    let is_exact = known.numbers().all(|number| is_exactly_representable(element, number));
    let held = if is_exact { element } else { type_of_element(context, ElementType::F32) };
    let elements = |known: &ConstantTensor| {
        known.splat_value().map_or_else(|| known.numbers().collect::<Vec<f64>>(), |number| vec![number])
    };
    let output = build_tensor_type(shape.clone(), held);
    let made = insert_before(before, build_constant(context, at, dense_attribute(output, &elements(&known)), output));
    let is_held =
        |number: f64| !number.is_finite() || (is_exactly_representable(held, number) && number.abs() <= largest);
    if ScalarType::from_type(held).is_float() && !asked.numbers().all(is_held) {
        let wide = build_tensor_type(shape.clone(), type_of_element(context, ElementType::F64));
        made.set_attr(EXACT_ATTR, dense_attribute(wide, &elements(&asked)));
    }
    emit_retype_before(before, at, made.output(), &shape, held, element)
}

/// Converts a tensor to another element type of the same device format, or of a format that becomes the same.
pub(super) fn emit_retype_before<'c>(
    before: Op<'c>,
    at: Location<'c>,
    value: Value<'c>,
    shape: &[i64],
    from: Type<'c>,
    to: Type<'c>,
) -> Value<'c> {
    if from == to {
        return value;
    }
    insert_before(before, build_retyped_view(before.ctx(), at, value, shape, to)).output()
}

/// Returns the type of a tensor without a layout.
pub(super) fn build_tensor_type(shape: Vec<i64>, element: Type<'_>) -> Type<'_> {
    TensorType { shape, element, encoding: None }.build()
}

/// Returns the largest finite number of the device's format for the element: in f16, the number below 2^32, which
/// represents +inf ("The referee", numbers).
fn max_finite(element: ScalarType) -> f64 {
    if element.is_half() { f64::from((1_u32 << 22) * 1023) } else { f64::from(f32::MAX) }
}
