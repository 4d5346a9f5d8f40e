//! Integers that the device's number format cannot represent, as two digits.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode};

/// Name of the virtual operation of [`ValueGraph::add_digits`].
const DIGITS_OP: &str = "digits";

/// Integer tensor, represented by two tensors of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigitPair {
    /// Upper and lower digit. The lower digit is at least 0 and below the base, so negative integers have a negative
    /// upper digit.
    pub parts: [NodeId; 2],
    /// Range of the integers for all arguments: the first integer, and one past the last.
    pub range: [i64; 2],
    /// Node with the integers themselves, which the device does not compute. It shows how they follow from the integers
    /// of the arguments, and which ranges they have. None if unknown.
    pub exact: Option<NodeId>,
}

impl ValueGraph {
    /// Builds integers that the format cannot represent, as digits. Ops that do not support digits read `refused`
    /// instead.
    pub fn add_digits(&mut self, digits: DigitPair, rejected: NodeId) -> NodeId {
        let DigitPair { parts: [upper, lower], range, exact } = digits;
        let shape = self.compute_broadcast_shape(&[upper, lower]);
        #[allow(clippy::cast_precision_loss, reason = "two digits count far less than 2^53")]
        let [first, end] = range.map(|bound| self.add_scalar(bound as f64));
        self.add(
            NodeKind::Virtual(DIGITS_OP),
            &[upper, lower, first, end, exact.unwrap_or(rejected), rejected],
            shape,
            NodeElementType::Int,
        )
    }

    /// Returns the digits of integers that are represented by digits only.
    #[must_use]
    pub fn find_digits(&self, id: NodeId) -> Option<DigitPair> {
        let ValueNode { kind, inputs, .. } = self.node(id);
        let &[upper, lower, first, end, exact, rejected] = inputs.as_slice() else { return None };
        #[allow(clippy::cast_possible_truncation, reason = "two digits count far less than 2^53")]
        let bound = |id: NodeId| self.as_scalar(id).map(|bound| bound as i64);
        let exact = (exact != rejected).then_some(exact);
        (*kind == NodeKind::Virtual(DIGITS_OP)).then_some(DigitPair {
            parts: [upper, lower],
            range: [bound(first)?, bound(end)?],
            exact,
        })
    }
}
