//! The view of an op for the unit tests of the geometry.

use super::order::OpView;
use super::{access, label};
use crate::bundle::testing::op;
use crate::bundle::{OpFamily, OpSpec, Operand};

/// Calls `check` with the view of an op on operands, of which only the last is a result.
pub(super) fn view<R>(function: &str, ranges: &[i64], operands: Vec<Operand>, check: impl FnOnce(&OpView<'_>) -> R) -> R {
    view_of(&op(function, ranges, operands), check)
}

/// Calls `check` with the view of an op.
pub(super) fn view_of<R>(op: &OpSpec, check: impl FnOnce(&OpView<'_>) -> R) -> R {
    let family = OpFamily::of(op);
    let labels = label::assign(op, family).unwrap();
    let accesses = access::classify(op).unwrap();
    check(&OpView { op, family, labels, accesses })
}
