//! The view of an op for the unit tests of the geometry.

use super::order::OpView;
use super::{access, label};
use crate::bundle::testing::op;
use crate::bundle::{OpFamily, Operand};

/// Calls `check` with the view of an op.
pub(super) fn view<R>(function: &str, ranges: &[i64], operands: Vec<Operand>, check: impl FnOnce(&OpView<'_>) -> R) -> R {
    let op = op(function, ranges, operands);
    let family = OpFamily::of(&op);
    let labels = label::assign(&op, family).unwrap();
    let accesses = access::classify(&op).unwrap();
    check(&OpView { op: &op, family, labels, accesses })
}
