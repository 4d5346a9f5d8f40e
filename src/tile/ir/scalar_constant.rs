//! Numbers as tensors.

use crate::{
    codes,
    dialect::{DeviceTensor, EXACT_ATTR, build_constant, build_retyped_view},
    mlir::{
        ErrorReported, Op, OpExt, TensorType, Type, Value, dense_attribute, error_at, insert_before,
        is_exactly_representable, type_of_element,
    },
};
use machine::ElementType;
use program::layout::DeviceLayout;

/// Largest finite number of the device's f16 format ("The referee", numbers).
const MAX_FINITE: f64 = 1023.0 * (1_u32 << 22) as f64;

/// Creates a one-element tensor with a number before `at`, with the rank and the format of `like`, and with the f64
/// value if the format rounds it. A finite number beyond the range of the format becomes its last finite one. Errors
/// are reported at `of`.
pub(super) fn insert_scalar_before<'c>(
    at: Op<'c>,
    of: Op<'c>,
    number: f64,
    like: Type<'c>,
) -> Result<Value<'c>, ErrorReported> {
    let tensor = DeviceTensor::from_type(like)
        .ok_or_else(|| error_at(codes::MALFORMED_IR, of, "has no tensor result").report())?;
    let shape = vec![1; tensor.host.shape.len()];
    let context = of.ctx();
    let of_element = |element: Type<'c>| TensorType { shape: shape.clone(), encoding: None, element };
    let element = tensor.host.element;
    let is_exact = is_exactly_representable(element, number);
    // The device's format has more digits than f16.
    let held = if is_exact { element } else { type_of_element(context, ElementType::F32) };
    let within = if is_exact || number.is_infinite() { number } else { number.clamp(-MAX_FINITE, MAX_FINITE) };
    let bare = of_element(held).build();
    let mut full = bare;
    if let Some(layout) = &tensor.layout {
        let layout = DeviceLayout::sparse(&shape, 0, layout.format())
            .map_err(|error| error_at(codes::MALFORMED_IR, of, error).report())?;
        full = DeviceTensor { host: of_element(held), layout: None, buffer_shape: None }
            .with_layout(context, &layout, None);
    }
    let made = insert_before(at, build_constant(context, of.loc(), dense_attribute(bare, &[within]), full));
    if is_exact {
        return Ok(made.output());
    }
    made.set_attr(
        EXACT_ATTR,
        dense_attribute(of_element(type_of_element(context, ElementType::F64)).build(), &[number]),
    );
    if held == element {
        return Ok(made.output());
    }
    Ok(insert_before(at, build_retyped_view(context, of.loc(), made.output(), &shape, element)).output())
}
