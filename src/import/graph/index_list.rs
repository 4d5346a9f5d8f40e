//! Lists of indices that a program concatenates, shifts, stacks, slices or transposes.
//!
//! The device reads a list of indices in its stored order. A gather with a concatenated list is therefore the concatenation of the gathers
//! with its parts, and a gather with a transposed list is the transposed gather: table rows fill whole sticks, indices do not.

use super::{Element, Graph, Kind, Node, NodeId};
use program::affine::Expr;

impl Graph {
    /// Returns whether integers are elements of external tensors, in any order, or gathered from such tensors: a list that a gather may read.
    /// Computed integers do not qualify.
    #[must_use]
    pub fn is_index_list(&self, id: NodeId) -> bool {
        let Node { kind, inputs, element, .. } = self.node(id);
        if *element != Element::Int {
            return false;
        }
        match kind {
            Kind::Tensor(_) | Kind::Known(_) | Kind::Filled | Kind::Undefined => true,
            Kind::View(_) | Kind::Reshape | Kind::Gather(_) => self.is_index_list(inputs[0]),
            Kind::Insert(_) => inputs.iter().all(|&input| self.is_index_list(input)),
            _ => false,
        }
    }

    /// Gathers the rows of `table` along `dim` with a concatenated list or a view of one, as the concatenation of the gathers with its parts.
    /// Returns None for a list that is a tensor.
    pub(super) fn gather_concatenated(&mut self, table: NodeId, dim: usize, index: NodeId, element: Element) -> Option<NodeId> {
        let Node { kind, inputs, shape: over, .. } = self.node(index).clone();
        let mut of_row = self.node(table).shape.clone();
        of_row.remove(dim);
        let shape = [over.as_slice(), &of_row].concat();
        match kind {
            Kind::Undefined => Some(self.undefined(shape, element)),
            Kind::Filled => {
                let row = self.row_of(table, dim, inputs[0])?;
                let map = (over.len()..shape.len()).map(Expr::Dim).collect();
                Some(self.view(row, map, &shape))
            }
            Kind::Insert(mut offsets) => {
                let [part, whole] = [0, 1].map(|input| self.gather_as(table, dim, inputs[input], element));
                offsets.extend(of_row.iter().map(|_| 0));
                Some(self.insert(part, whole, offsets))
            }
            Kind::View(mut map) if self.is_joined(inputs[0]) => {
                map.extend((over.len()..shape.len()).map(Expr::Dim));
                let chosen = self.gather_as(table, dim, inputs[0], element);
                Some(self.strided(chosen, map, &shape))
            }
            Kind::Reshape if self.is_joined(inputs[0]) => {
                let chosen = self.gather_as(table, dim, inputs[0], element);
                Some(self.reshape(chosen, &shape))
            }
            _ => None,
        }
    }

    /// Returns whether a list is concatenated, looking through views.
    fn is_joined(&self, index: NodeId) -> bool {
        match self.node(index).kind {
            Kind::View(_) | Kind::Reshape => self.is_joined(self.node(index).inputs[0]),
            Kind::Insert(_) => true,
            _ => false,
        }
    }

    /// Returns one row of a table, at a constant index.
    fn row_of(&mut self, table: NodeId, dim: usize, number: NodeId) -> Option<NodeId> {
        let mut shape = self.node(table).shape.clone();
        #[allow(clippy::cast_possible_truncation, reason = "an index is a small whole number")]
        let row = self.number_of(number)? as i64;
        if !(0..shape[dim]).contains(&row) {
            return None;
        }
        let index = |own: usize| match own.cmp(&dim) {
            std::cmp::Ordering::Less => Expr::Dim(own),
            std::cmp::Ordering::Equal => Expr::Constant(row),
            std::cmp::Ordering::Greater => Expr::Dim(own - 1),
        };
        let map = (0..shape.len()).map(index).collect();
        shape.remove(dim);
        Some(self.view(table, map, &shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(graph: &mut Graph) -> NodeId {
        graph.tensor(0, vec![32, 64], Element::F16)
    }

    /// Builds the concatenation of a list of 5 and a list of 3 indices.
    fn joined(graph: &mut Graph) -> [NodeId; 3] {
        let (first, second) = (graph.tensor(1, vec![5], Element::Int), graph.tensor(2, vec![3], Element::Int));
        let memory = graph.undefined(vec![8], Element::Int);
        let one = graph.insert(first, memory, vec![0]);
        [first, second, graph.insert(second, one, vec![5])]
    }

    #[test]
    fn a_joined_list_chooses_what_its_parts_choose() {
        let mut graph = Graph::default();
        let (table, [first, second, list]) = (table(&mut graph), joined(&mut graph));
        let chosen = graph.gather(table, 0, list);
        let Node { kind, inputs, shape, .. } = graph.node(chosen).clone();
        assert_eq!((kind, shape), (Kind::Insert(vec![5, 0]), vec![8, 64]));
        assert_eq!(graph.node(inputs[0]).inputs, [table, second]);
        let before = graph.node(inputs[1]).inputs[0];
        assert_eq!(graph.node(before).inputs, [table, first]);
    }

    #[test]
    fn a_part_of_a_joined_list_is_one_of_its_parts() {
        let mut graph = Graph::default();
        let [first, second, list] = joined(&mut graph);
        let shifted = |by: i64| vec![Expr::Dim(0).plus(Expr::Constant(by))];
        assert_eq!(graph.view(list, shifted(0), &[5]), first);
        assert_eq!(graph.view(list, shifted(5), &[3]), second);
        let across = graph.view(list, shifted(4), &[2]);
        assert_eq!(graph.node(across).kind, Kind::Insert(vec![1]));
    }

    #[test]
    fn every_second_index_of_a_joined_list_chooses_every_second_row() {
        let mut graph = Graph::default();
        let (table, [.., list]) = (table(&mut graph), joined(&mut graph));
        let strided = graph.view(list, vec![Expr::Dim(0).times(2)], &[4]);
        let chosen = graph.gather(table, 0, strided);
        let Node { kind, inputs, .. } = graph.node(chosen).clone();
        assert_eq!(kind, Kind::View(vec![Expr::Dim(0).times(2), Expr::Dim(1)]));
        assert_eq!(graph.node(inputs[0]).kind, Kind::Insert(vec![5, 0]));
    }

    #[test]
    fn a_number_chooses_a_row() {
        let mut graph = Graph::default();
        let table = table(&mut graph);
        let number = graph.known(crate::import::graph::known::Known::number(3.0), Vec::new(), Element::Int);
        let list = graph.filled(number, vec![4]);
        let chosen = graph.gather(table, 0, list);
        let Node { kind, shape, .. } = graph.node(chosen).clone();
        assert_eq!((kind, shape), (Kind::View(vec![Expr::Dim(1)]), vec![4, 64]));
    }

    #[test]
    fn computed_integers_are_no_list() {
        let mut graph = Graph::default();
        let [first, _, list] = joined(&mut graph);
        assert!(graph.is_index_list(list));
        let number = graph.numbers_of(first).unwrap();
        let computed = graph.as_integers(number);
        let memory = graph.undefined(vec![8], Element::Int);
        let mixed = graph.insert(computed, memory, vec![0]);
        assert!(!graph.is_index_list(mixed));
    }
}
