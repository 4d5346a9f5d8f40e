//! `spyre-import-linalg`, element types of casts.

use crate::mlir::{Op, OpExt, TensorType, Type, Value, ValueLike};

/// Source and destination element type of a cast.
#[derive(Clone, Copy)]
pub(super) struct CastTypes<'c> {
    pub(super) from: Type<'c>,
    pub(super) to: Type<'c>,
}

impl<'c> CastTypes<'c> {
    /// Returns the types of the first operand and the first result; None if there is no operand.
    pub(super) fn from_op(at: Op<'c>) -> Option<Self> {
        let element = |value: &Value<'c>| element_type(value.r#type());
        Some(Self { from: at.inputs().first().map(element)?, to: at.outputs().first().map(element)? })
    }
}

/// Returns the type of a scalar, or of the elements of a tensor.
pub(super) fn element_type(of: Type<'_>) -> Type<'_> {
    TensorType::from_type(of).map_or(of, |tensor| tensor.element)
}
