//! Constants with undefined elements, such as the quotient of a division by 0.

use super::{NodeId, NodeKind, ValueGraph};

/// Name of the virtual operation of [`ValueGraph::add_partial_constant`].
pub(super) const PARTIAL_CONSTANT_OP: &str = "partly known";

impl ValueGraph {
    /// Builds constants whose elements are undefined where `is_undefined` holds, as
    /// [`ScalarFunction::fold_integers`](crate::import::ScalarFunction) finds them. Ops that read an undefined element
    /// read `refused` instead. Returns a constant if all elements are defined, and `refused` if none is.
    pub fn add_partial_constant(&mut self, known: NodeId, is_undefined: NodeId, rejected: NodeId) -> NodeId {
        match self.as_scalar(is_undefined) {
            Some(0.0) => known,
            Some(_) => rejected,
            None => {
                let element = self.node(known).element;
                self.add_virtual_op(PARTIAL_CONSTANT_OP, &[known, is_undefined], rejected, element)
            }
        }
    }

    /// Returns the constants of a node, which of them are undefined, and the rejected node that replaces these.
    #[must_use]
    pub fn as_partial_constant(&self, id: NodeId) -> Option<[NodeId; 3]> {
        let node = self.node(id);
        let &[known, is_undefined, rejected] = node.inputs.as_slice() else { return None };
        (node.kind == NodeKind::Virtual(PARTIAL_CONSTANT_OP)).then_some([known, is_undefined, rejected])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::{NodeElementType, constant_tensor::ConstantTensor};
    use program::affine::AffineExpression;

    #[test]
    fn folds_views_of_defined_elements() {
        let mut graph = ValueGraph::default();
        let known = graph.add_constant(ConstantTensor::iota(0, 3), vec![3], NodeElementType::Int);
        let is_undefined =
            graph.add_constant(ConstantTensor::from_numbers(&[1.0, 0.0, 0.0]), vec![3], NodeElementType::Bool);
        let rejected = graph.add_unsupported(0, vec![3], NodeElementType::Int);
        let partly = graph.add_partial_constant(known, is_undefined, rejected);
        assert_eq!(graph.as_constant(partly), None);
        let after = graph.view(partly, vec![AffineExpression::Dim(0).plus(AffineExpression::Constant(1))], &[2]);
        assert_eq!(graph.as_constant(after).unwrap().integers().collect::<Vec<_>>(), [1, 2]);
        let undefined = graph.view(partly, vec![AffineExpression::Constant(0)], &[1]);
        assert_eq!(graph.find_unsupported(&[undefined]), Some(undefined));
    }
}
