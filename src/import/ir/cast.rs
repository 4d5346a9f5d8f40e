//! `spyre-import-linalg`, what elements become where their type changes.

use crate::mlir::{Op, OpExt, TensorType, Type, Value, ValueLike};

/// The element types that a cast goes between.
#[derive(Clone, Copy)]
pub(super) struct Cast<'c> {
    pub(super) from: Type<'c>,
    pub(super) to: Type<'c>,
}

impl<'c> Cast<'c> {
    /// Those of the first operand and the first result; none where there is no operand.
    pub(super) fn of(at: Op<'c>) -> Option<Self> {
        let element = |value: &Value<'c>| element_type(value.r#type());
        Some(Self { from: at.inputs().first().map(element)?, to: at.outputs().first().map(element)? })
    }
}

/// The type of a number, or of the elements of a tensor.
pub(super) fn element_type(of: Type<'_>) -> Type<'_> {
    TensorType::of(of).map_or(of, |tensor| tensor.element)
}
