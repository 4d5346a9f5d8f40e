//! `spyre-import-linalg`, `spyre-expand-functions`: numbers as constants.

use crate::{
    dialect::{EXACT, constant, retyped},
    import::Known,
    mlir::{Location, Op, OpExt, ScalarType, TensorType, Type, Value, dense_attribute, has_number, insert_before, type_of_element},
};
use machine::ElementType;

/// A constant; in f32, shown as f16, where f16 could not hold its numbers: the device's format has a larger range. Finite numbers stay
/// finite.
pub(super) fn constant_before<'c>(before: Op<'c>, at: Location<'c>, known: &Known, shape: Vec<i64>, element: Type<'c>) -> Value<'c> {
    let context = before.ctx();
    let largest = largest_finite(ScalarType::of(element));
    // One number stands for all elements, however many these are.
    let asked = known.uniform().map_or_else(|| known.clone(), Known::number);
    let known = asked.within(largest);
    let is_exact = known.numbers().all(|number| has_number(element, number));
    let held = if is_exact { element } else { type_of_element(context, ElementType::F32) };
    let elements = |known: &Known| known.uniform().map_or_else(|| known.numbers().collect(), |number| vec![number]);
    let (numbers, asked): (Vec<f64>, Vec<f64>) = (elements(&known), elements(&asked));
    let output = tensor_of(shape.clone(), held);
    let made = insert_before(before, constant(context, at, dense_attribute(output, &numbers), output));
    let is_held = |&number: &f64| !number.is_finite() || (has_number(held, number) && number.abs() <= largest);
    if ScalarType::of(held).is_float() && !asked.iter().all(is_held) {
        let wide = tensor_of(shape.clone(), type_of_element(context, ElementType::F64));
        made.set_attr(EXACT, dense_attribute(wide, &asked));
    }
    retyped_before(before, at, made.output(), &shape, held, element)
}

/// A tensor under another element type of the same device format, or what will be.
pub(super) fn retyped_before<'c>(
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
    insert_before(before, retyped(before.ctx(), at, value, shape, to)).output()
}

/// The type of a tensor without a layout.
pub(super) fn tensor_of(shape: Vec<i64>, element: Type<'_>) -> Type<'_> {
    TensorType { shape, element, encoding: None }.build()
}

/// The largest number of the device's format for the element that is no infinity: in f16, the one below 2^32, which stands for +inf ("The
/// referee", numbers).
fn largest_finite(element: ScalarType) -> f64 {
    if element.is_half() { f64::from((1_u32 << 22) * 1023) } else { f64::from(f32::MAX) }
}
