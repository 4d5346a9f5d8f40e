//! `spyre-import-linalg`, `spyre-expand-functions`: numbers as constants.

use super::known::Known;
use crate::{
    dialect::{EXACT, constant, view},
    mlir::{Expr, Location, Op, OpExt, TensorType, Type, Value, dense_attribute, insert_before, map_from_exprs, parse_type},
};

/// A constant; in f32, shown as f16, where f16 could not hold its numbers: the device's format has a larger range. Finite numbers stay
/// finite.
pub(super) fn constant_before<'c>(before: Op<'c>, at: Location<'c>, known: &Known, shape: Vec<i64>, element: Type<'c>) -> Value<'c> {
    let context = before.ctx();
    let element_name = element.to_string();
    let known = known.repeated(&shape);
    let known = known.within(largest_finite(&element_name));
    let is_exact = match element_name.as_str() {
        "f16" => known.numbers().all(|number| half::f16::from_f64(number).to_f64() == number),
        "bf16" => known.numbers().all(|number| half::bf16::from_f64(number).to_f64() == number),
        _ => true,
    };
    let held = if is_exact { element } else { parse_type(context, "f32") };
    let numbers: Vec<f64> = known.uniform().map_or_else(|| known.numbers().collect(), |number| vec![number]);
    let output = tensor_of(shape.clone(), held);
    let made = insert_before(before, constant(context, at, dense_attribute(output, &numbers), output));
    if numbers.iter().any(|&number| !is_single(number)) && held.to_string().starts_with('f') {
        let wide = tensor_of(shape.clone(), parse_type(context, "f64"));
        made.set_attr(EXACT, dense_attribute(wide, &numbers));
    }
    retyped_before(before, at, made.output(), &shape, held, element)
}

/// Whether single precision has the number. The device computes in no more, but a referee asks what the program means.
fn is_single(number: f64) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "whether that changes the number is the question")]
    let single = number as f32;
    f64::from(single) == number || number.is_nan()
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
    let same: Vec<Expr> = (0..shape.len()).map(Expr::Dim).collect();
    let map = map_from_exprs(before.ctx(), shape.len(), 0, &same);
    insert_before(before, view(before.ctx(), at, value, map, tensor_of(shape.to_vec(), to))).output()
}

/// The type of a tensor without a layout.
pub(super) fn tensor_of(shape: Vec<i64>, element: Type<'_>) -> Type<'_> {
    TensorType { shape, element, encoding: None }.build()
}

/// The largest number of the device's format for the element that is no infinity: in f16, the one below 2^32, which stands for +inf ("The
/// referee", numbers).
fn largest_finite(element: &str) -> f64 {
    match element {
        "f16" | "bf16" => f64::from((1_u32 << 22) * 1023),
        _ => f64::from(f32::MAX),
    }
}
