//! Constants that are evaluated only where an op reads them.

use super::{NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor};
use program::affine::AffineExpression;
use std::borrow::Cow;

impl ValueGraph {
    /// Adds a constant that is evaluated only where an op reads it: a view of `constant`. Most lookups of large tables
    /// are read by no op, because comparisons of their rows are constants.
    pub fn add_lazy_constant(&mut self, constant: NodeId, map: Vec<AffineExpression>, shape: Vec<i64>) -> NodeId {
        let element = self.node(constant).element;
        let lazy = self.add(NodeKind::View(map), &[constant], shape, element);
        self.lazy_constants.insert(lazy);
        lazy
    }

    /// Returns whether a node is a constant that is evaluated where an op reads it.
    #[must_use]
    pub fn is_lazy_constant(&self, id: NodeId) -> bool {
        self.lazy_constants.contains(&id)
    }

    /// Returns the elements of a constant, also of one that [`Self::add_lazy_constant`] built.
    #[must_use]
    pub fn evaluate_constant(&self, id: NodeId) -> Option<Cow<'_, ConstantTensor>> {
        let node = self.node(id);
        match &node.kind {
            NodeKind::Constant(known) => Some(Cow::Borrowed(known)),
            NodeKind::View(map) if self.is_lazy_constant(id) => {
                let (known, from) = (self.as_constant(node.inputs[0])?, &self.node(node.inputs[0]).shape);
                Some(Cow::Owned(known.apply_view(from, map, &node.shape)))
            }
            _ => None,
        }
    }
}
