//! Constants of which some elements have no value in MLIR, such as the quotient of a division by 0.

use super::{Graph, Kind, NodeId};

/// The virtual operation of [`Graph::partly_known`].
pub(super) const PARTLY_KNOWN: &str = "partly known";

impl Graph {
    /// Builds constants of which some elements have no value, as [`ScalarFunction::fold`](crate::import::ScalarFunction) finds them. Ops that
    /// read one of these elements read `refused` instead. If all elements have a value, the result is a constant; if none has one, it is
    /// `refused`.
    pub fn partly_known(&mut self, known: NodeId, is_undefined: NodeId, refused: NodeId) -> NodeId {
        match self.number_of(is_undefined) {
            Some(0.0) => known,
            Some(_) => refused,
            None => {
                let element = self.node(known).element;
                self.virtual_op(PARTLY_KNOWN, &[known, is_undefined], refused, element)
            }
        }
    }

    /// Returns the constants of a node, which of them have no value, and the rejection of these.
    #[must_use]
    pub fn parts_of_partly_known(&self, id: NodeId) -> Option<[NodeId; 3]> {
        let node = self.node(id);
        let &[known, is_undefined, refused] = node.inputs.as_slice() else { return None };
        (node.kind == Kind::Virtual(PARTLY_KNOWN)).then_some([known, is_undefined, refused])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::{Element, known::Known};
    use program::affine::Expr;

    #[test]
    fn what_reads_no_place_without_a_value_is_known() {
        let mut graph = Graph::default();
        let known = graph.known(Known::counting(0, 3), vec![3], Element::Int);
        let is_undefined = graph.known(Known::table(&[1.0, 0.0, 0.0]), vec![3], Element::Bool);
        let refused = graph.refused(0, vec![3], Element::Int);
        let partly = graph.partly_known(known, is_undefined, refused);
        assert_eq!(graph.known_of(partly), None);
        let behind = graph.view(partly, vec![Expr::Dim(0).plus(Expr::Constant(1))], &[2]);
        assert_eq!(graph.known_of(behind).unwrap().integers().collect::<Vec<_>>(), [1, 2]);
        let undefined = graph.view(partly, vec![Expr::Constant(0)], &[1]);
        assert_eq!(graph.refused_among(&[undefined]), Some(undefined));
    }
}
