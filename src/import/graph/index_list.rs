//! Lists of indices that a program concatenates, shifts, stacks, slices or transposes.
//!
//! The device reads a list of indices in its stored order. A gather with a concatenated list is therefore the
//! concatenation of one gather per list. A gather with a transposed list is the transposed gather: table rows fill
//! whole sticks, indices do not.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode};
use program::affine::AffineExpression;

impl ValueGraph {
    /// Returns whether integers are elements of external tensors, in any order, or gathered from such tensors: a list
    /// that a gather may read. Computed integers do not qualify.
    #[must_use]
    pub fn is_index_list(&self, id: NodeId) -> bool {
        let ValueNode { kind, inputs, element, .. } = self.node(id);
        if *element != NodeElementType::Int {
            return false;
        }
        match kind {
            NodeKind::Tensor(_) | NodeKind::Constant(_) | NodeKind::Splat | NodeKind::Undefined => true,
            NodeKind::View(_) | NodeKind::Reshape | NodeKind::Gather(_) => self.is_index_list(inputs[0]),
            NodeKind::Insert(_) => inputs.iter().all(|&input| self.is_index_list(input)),
            _ => false,
        }
    }

    /// Gathers the rows of `table` along `dim` with a concatenated list or a view of one, as the concatenation of one
    /// gather per list. Returns None for a list that is a tensor.
    pub(super) fn gather_concatenated(
        &mut self,
        table: NodeId,
        dim: usize,
        index: NodeId,
        element: NodeElementType,
    ) -> Option<NodeId> {
        let ValueNode { kind, inputs, shape: over, .. } = self.node(index).clone();
        let mut of_row = self.node(table).shape.clone();
        of_row.remove(dim);
        let shape = [over.as_slice(), &of_row].concat();
        match kind {
            NodeKind::Undefined => Some(self.add_undefined(shape, element)),
            NodeKind::Splat => {
                let row = self.view_row(table, dim, inputs[0])?;
                let map = (over.len()..shape.len()).map(AffineExpression::Dim).collect();
                Some(self.view(row, map, &shape))
            }
            NodeKind::Insert(mut offsets) => {
                let [part, whole] = [0, 1].map(|input| self.gather_as(table, dim, inputs[input], element));
                offsets.extend(of_row.iter().map(|_| 0));
                Some(self.insert(part, whole, offsets))
            }
            NodeKind::View(mut map) if self.is_concatenated(inputs[0]) => {
                map.extend((over.len()..shape.len()).map(AffineExpression::Dim));
                let chosen = self.gather_as(table, dim, inputs[0], element);
                Some(self.view_strided(chosen, map, &shape))
            }
            NodeKind::Reshape if self.is_concatenated(inputs[0]) => {
                let chosen = self.gather_as(table, dim, inputs[0], element);
                Some(self.reshape(chosen, &shape))
            }
            _ => None,
        }
    }

    /// Returns whether a list is concatenated, looking through views.
    fn is_concatenated(&self, index: NodeId) -> bool {
        match self.node(index).kind {
            NodeKind::View(_) | NodeKind::Reshape => self.is_concatenated(self.node(index).inputs[0]),
            NodeKind::Insert(_) => true,
            _ => false,
        }
    }

    /// Returns one row of a table, at a constant index.
    fn view_row(&mut self, table: NodeId, dim: usize, number: NodeId) -> Option<NodeId> {
        let mut shape = self.node(table).shape.clone();
        #[allow(clippy::cast_possible_truncation, reason = "an index is a small whole number")]
        let row = self.as_scalar(number)? as i64;
        if !(0..shape[dim]).contains(&row) {
            return None;
        }
        let index = |own: usize| match own.cmp(&dim) {
            std::cmp::Ordering::Less => AffineExpression::Dim(own),
            std::cmp::Ordering::Equal => AffineExpression::Constant(row),
            std::cmp::Ordering::Greater => AffineExpression::Dim(own - 1),
        };
        let map = (0..shape.len()).map(index).collect();
        shape.remove(dim);
        Some(self.view(table, map, &shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_table(graph: &mut ValueGraph) -> NodeId {
        graph.add_tensor(0, vec![32, 64], NodeElementType::F16)
    }

    /// Builds the concatenation of a list of 5 and a list of 3 indices.
    fn build_concatenation(graph: &mut ValueGraph) -> [NodeId; 3] {
        let (first, second) =
            (graph.add_tensor(1, vec![5], NodeElementType::Int), graph.add_tensor(2, vec![3], NodeElementType::Int));
        let memory = graph.add_undefined(vec![8], NodeElementType::Int);
        let one = graph.insert(first, memory, vec![0]);
        [first, second, graph.insert(second, one, vec![5])]
    }

    #[test]
    fn gathers_with_each_part_of_concatenated_list() {
        let mut graph = ValueGraph::default();
        let (table, [first, second, list]) = (build_table(&mut graph), build_concatenation(&mut graph));
        let chosen = graph.gather(table, 0, list);
        let ValueNode { kind, inputs, shape, .. } = graph.node(chosen).clone();
        assert_eq!((kind, shape), (NodeKind::Insert(vec![5, 0]), vec![8, 64]));
        assert_eq!(graph.node(inputs[0]).inputs, [table, second]);
        let before = graph.node(inputs[1]).inputs[0];
        assert_eq!(graph.node(before).inputs, [table, first]);
    }

    #[test]
    fn resolves_slice_of_concatenated_list() {
        let mut graph = ValueGraph::default();
        let [first, second, list] = build_concatenation(&mut graph);
        let shifted = |by: i64| vec![AffineExpression::Dim(0).plus(AffineExpression::Constant(by))];
        assert_eq!(graph.view(list, shifted(0), &[5]), first);
        assert_eq!(graph.view(list, shifted(5), &[3]), second);
        let across = graph.view(list, shifted(4), &[2]);
        assert_eq!(graph.node(across).kind, NodeKind::Insert(vec![1]));
    }

    #[test]
    fn gathers_strided_rows_of_concatenated_list() {
        let mut graph = ValueGraph::default();
        let (table, [.., list]) = (build_table(&mut graph), build_concatenation(&mut graph));
        let strided = graph.view(list, vec![AffineExpression::Dim(0).times(2)], &[4]);
        let chosen = graph.gather(table, 0, strided);
        let ValueNode { kind, inputs, .. } = graph.node(chosen).clone();
        assert_eq!(kind, NodeKind::View(vec![AffineExpression::Dim(0).times(2), AffineExpression::Dim(1)]));
        assert_eq!(graph.node(inputs[0]).kind, NodeKind::Insert(vec![5, 0]));
    }

    #[test]
    fn views_row_at_constant_index() {
        let mut graph = ValueGraph::default();
        let table = build_table(&mut graph);
        let number = graph.add_constant(
            crate::import::graph::constant_tensor::ConstantTensor::from_scalar(3.0),
            Vec::new(),
            NodeElementType::Int,
        );
        let list = graph.add_splat(number, vec![4]);
        let chosen = graph.gather(table, 0, list);
        let ValueNode { kind, shape, .. } = graph.node(chosen).clone();
        assert_eq!((kind, shape), (NodeKind::View(vec![AffineExpression::Dim(1)]), vec![4, 64]));
    }

    #[test]
    fn rejects_computed_integers_as_index_list() {
        let mut graph = ValueGraph::default();
        let [first, _, list] = build_concatenation(&mut graph);
        assert!(graph.is_index_list(list));
        let number = graph.convert_to_numbers(first).unwrap();
        let computed = graph.add_integers(number);
        let memory = graph.add_undefined(vec![8], NodeElementType::Int);
        let mixed = graph.insert(computed, memory, vec![0]);
        assert!(!graph.is_index_list(mixed));
    }
}
