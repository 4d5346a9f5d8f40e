//! Combines integer results that the device represents as two digits into the caller's integers.

use crate::load::host::{ArrayElements, HostArray};
use element::Arithmetic;
use sdsc_format::program::Tensor;

/// A result as companion elements, next to the device's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ShadowResult<E> {
    /// The sizes, outermost first.
    pub shape: Vec<i64>,
    /// The elements, row-major.
    pub elements: Vec<E>,
    /// Device's numbers, before the conversion to the host's.
    pub device: Vec<f32>,
}

/// Returns the caller's array: combines the digits, if the tensor has any.
pub(super) fn combine_digits(tensor: &Tensor, array: HostArray) -> HostArray {
    let Some(base) = tensor.digit_base else { return array };
    let length = array.elements.len() / 2;
    let mut elements = ArrayElements::zeros(array.elements.element_type(), length);
    let digit = |at: usize| array.elements.get(at);
    (0..length).for_each(|at| elements.set(at, digit(at) * base as f64 + digit(length + at)));
    HostArray { shape: array.shape[1..].to_vec(), elements }
}

/// Combines the two digits of a result, in companion elements and in device's numbers. Returns other results unchanged.
pub(super) fn combine_shadow_digits<A: Arithmetic>(
    arithmetic: &A,
    tensor: &Tensor,
    found: ShadowResult<A::Element>,
) -> ShadowResult<A::Element> {
    let Some(base) = tensor.digit_base else { return found };
    let (upper, lower) = found.elements.split_at(found.elements.len() / 2);
    let factor = arithmetic.constant(base as f64);
    let elements =
        upper.iter().zip(lower).map(|(upper, lower)| arithmetic.add(arithmetic.mul(*upper, factor), *lower)).collect();
    let (upper, lower) = found.device.split_at(found.device.len() / 2);
    let device = upper.iter().zip(lower).map(|(upper, lower)| upper * base as f32 + lower).collect();
    ShadowResult { shape: found.shape[1..].to_vec(), elements, device }
}
