//! Integers that the device's number format cannot represent, as two digits.

use super::{Element, Graph, Kind, Node, NodeId};

/// The virtual operation of [`Graph::as_digits`].
const DIGITS: &str = "digits";

impl Graph {
    /// Integers in `0..end` that the format cannot represent, as an upper and a lower digit. Ops that compute with them read `refused`
    /// instead.
    pub fn as_digits(&mut self, [upper, lower]: [NodeId; 2], end: i64, refused: NodeId) -> NodeId {
        let shape = self.broadcast_shape(&[upper, lower]);
        #[allow(clippy::cast_precision_loss, reason = "two digits count far less than 2^53")]
        let end = self.number(end as f64);
        self.add(Kind::Virtual(DIGITS), &[upper, lower, end, refused], shape, Element::Int)
    }

    /// Returns the upper and the lower digit of integers that are known by their digits only.
    #[must_use]
    pub fn digits_of(&self, id: NodeId) -> Option<[NodeId; 2]> {
        let Node { kind, inputs, .. } = self.node(id);
        (*kind == Kind::Virtual(DIGITS)).then(|| [inputs[0], inputs[1]])
    }

    /// Returns the exclusive upper bound of integers that are known by their digits only; None for other nodes.
    #[must_use]
    pub fn end_of_digits(&self, id: NodeId) -> Option<i64> {
        self.digits_of(id)?;
        #[allow(clippy::cast_possible_truncation, reason = "two digits count far less than 2^53")]
        self.number_of(self.node(id).inputs[2]).map(|end| end as i64)
    }
}
