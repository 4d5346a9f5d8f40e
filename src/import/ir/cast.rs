//! Element types of casts, for pass `spyre-import-linalg`.

use crate::mlir::{Op, OpExt, TensorType, Type, Value, ValueLike};

/// Source and destination element type of a cast.
#[derive(Clone, Copy)]
pub(super) struct CastTypes<'c> {
    pub(super) from: Type<'c>,
    pub(super) to: Type<'c>,
}

impl<'c> CastTypes<'c> {
    /// Returns the element types of the first operand and the first result; `None` if `op` lacks either.
    pub(super) fn from_op(op: Op<'c>) -> Option<Self> {
        let element = |value: &Value<'c>| element_type(value.r#type());
        Some(Self { from: op.inputs().first().map(element)?, to: op.outputs().first().map(element)? })
    }
}

/// Returns the element type of a tensor type, and any other type unchanged.
pub(super) fn element_type(ty: Type<'_>) -> Type<'_> {
    TensorType::from_type(ty).map_or(ty, |tensor| tensor.element)
}
