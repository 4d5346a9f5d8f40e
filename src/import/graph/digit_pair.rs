//! Integers that the device's number format cannot represent, as two digits.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode};

/// The virtual operation of [`Graph::add_digits`].
const DIGITS_OP: &str = "digits";

/// Integers as two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigitPair {
    /// The upper and the lower digit. The lower one is at least 0 and below the base, so integers below 0 have an upper
    /// digit below 0.
    pub parts: [NodeId; 2],
    /// Range of the integers, for any integers of the arguments: the first one, and one past the last.
    pub range: [i64; 2],
    /// The integers as numbers that the device does not compute: they show how the integers follow from those of the
    /// arguments, and which ranges they have. None if this is not known.
    pub exact: Option<NodeId>,
}

impl ValueGraph {
    /// Builds integers that the format cannot represent, as digits. Ops that compute with them otherwise read `refused`
    /// instead.
    pub fn add_digits(&mut self, digits: DigitPair, refused: NodeId) -> NodeId {
        let DigitPair { parts: [upper, lower], range, exact } = digits;
        let shape = self.compute_broadcast_shape(&[upper, lower]);
        #[allow(clippy::cast_precision_loss, reason = "two digits count far less than 2^53")]
        let [first, end] = range.map(|bound| self.add_scalar(bound as f64));
        self.add(
            NodeKind::Virtual(DIGITS_OP),
            &[upper, lower, first, end, exact.unwrap_or(refused), refused],
            shape,
            NodeElementType::Int,
        )
    }

    /// Returns the digits of integers that are known by their digits only.
    #[must_use]
    pub fn find_digits(&self, id: NodeId) -> Option<DigitPair> {
        let ValueNode { kind, inputs, .. } = self.node(id);
        let &[upper, lower, first, end, exact, refused] = inputs.as_slice() else { return None };
        #[allow(clippy::cast_possible_truncation, reason = "two digits count far less than 2^53")]
        let bound = |id: NodeId| self.as_scalar(id).map(|bound| bound as i64);
        let exact = (exact != refused).then_some(exact);
        (*kind == NodeKind::Virtual(DIGITS_OP)).then_some(DigitPair {
            parts: [upper, lower],
            range: [bound(first)?, bound(end)?],
            exact,
        })
    }
}
