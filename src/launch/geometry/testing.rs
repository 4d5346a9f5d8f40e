//! Helpers of the unit tests in this directory: ops with labels and addressing modes.

use super::order::OpView;
use super::{access, label};
use crate::bundle::testing::op;
use crate::bundle::{OpFamily, OpSpec, OpSpecOperand};

/// Calls `check` with the view of an op on these operands. The last operand is the only result.
pub(super) fn with_view<R>(
    function: &str,
    ranges: &[i64],
    operands: Vec<OpSpecOperand>,
    check: impl FnOnce(&OpView<'_>) -> R,
) -> R {
    with_op_view(&op(function, ranges, operands), check)
}

/// Calls `check` with the view of an op.
pub(super) fn with_op_view<R>(op: &OpSpec, check: impl FnOnce(&OpView<'_>) -> R) -> R {
    let family = OpFamily::from_op(op);
    let labels = label::assign_labels(op, family).unwrap();
    let accesses = access::classify_operands(op).unwrap();
    check(&OpView { op, family, labels, accesses })
}
