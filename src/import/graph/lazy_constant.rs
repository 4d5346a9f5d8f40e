//! Constants that are evaluated only where an op reads them.

use super::{NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor};
use program::affine::AffineExpression;
use std::borrow::Cow;

impl ValueGraph {
    /// Adds a constant with `num_columns` columns that all equal a list, which is evaluated only where an op reads it.
    /// Most lookups of large tables are read by no op, because comparisons of their rows are constants.
    pub fn add_repeated_list(&mut self, list: NodeId, num_columns: i64) -> NodeId {
        let node = self.node(list);
        let (shape, element) = (vec![node.shape[0], num_columns], node.element);
        let repeated = self.add(NodeKind::View(vec![AffineExpression::Dim(0)]), &[list], shape, element);
        self.lazy_constants.insert(repeated);
        repeated
    }

    /// Returns whether a node is a constant that is evaluated where an op reads it.
    #[must_use]
    pub fn is_lazy_constant(&self, id: NodeId) -> bool {
        self.lazy_constants.contains(&id)
    }

    /// Returns the elements of a constant, also of one that [`Self::add_repeated_list`] built.
    #[must_use]
    pub fn evaluate_constant(&self, id: NodeId) -> Option<Cow<'_, ConstantTensor>> {
        let node = self.node(id);
        match &node.kind {
            NodeKind::Constant(known) => Some(Cow::Borrowed(known)),
            NodeKind::View(_) if self.is_lazy_constant(id) => {
                let list = self.as_constant(node.inputs[0])?;
                Some(Cow::Owned(list.broadcast(&[node.shape[0], 1], &node.shape)))
            }
            _ => None,
        }
    }
}
