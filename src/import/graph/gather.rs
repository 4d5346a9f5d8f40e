//! Gathers: table rows that an index selects.

use super::{Element, Graph, Kind, Node, NodeId, formats::LANES};
use program::affine::Expr;

/// Number of columns of a table whose rows are one number: a stick of the 16-bit format, so that the device can look up a row.
pub(super) const COLUMNS: i64 = LANES;

impl Graph {
    /// Gathers the rows of `table` along `dim` that `index` selects. The result has the dimensions of the index, then the other dimensions of
    /// the table. A reshaped index is read in its stored shape and the result is reshaped, since a list of indices has no sticks to split.
    pub(in crate::import) fn gather(&mut self, table: NodeId, dim: usize, index: NodeId) -> NodeId {
        let element = self.node(table).element;
        self.gather_as(table, dim, index, element)
    }

    /// Gathers rows as `gather` does, with result elements of type `element`.
    pub(super) fn gather_as(&mut self, table: NodeId, dim: usize, index: NodeId, element: Element) -> NodeId {
        let mut shape = self.node(table).shape.clone();
        let n_rows = shape.remove(dim);
        if shape.iter().all(|&size| size == 1) && n_rows > 1 {
            return self.gather_elements(table, n_rows, index, &shape, element);
        }
        if let Some(joined) = self.gather_concatenated(table, dim, index, element) {
            return joined;
        }
        if let Some((alone, mut map)) = self.without_repetitions(index) {
            let over = self.node(index).shape.clone();
            let chosen = self.gather_as(table, dim, alone, element);
            map.extend((over.len()..over.len() + shape.len()).map(Expr::Dim));
            return self.view(chosen, map, &[over, shape].concat());
        }
        let (over, lies) = (self.node(index).shape.clone(), self.as_it_lies(index));
        let (lies, rows) = match without_units(&self.node(lies).shape) {
            own if own == without_units(&over) => (index, over.clone()),
            own => (self.reshape(lies, &own), own),
        };
        let chosen = self.add(Kind::Gather(dim), &[table, lies], [rows, shape.clone()].concat(), element);
        self.reshape(chosen, &[over, shape].concat())
    }

    /// Gathers rows of one element: each is broadcast over a stick, which an index can select, and the first element of the selected stick is
    /// read.
    fn gather_elements(&mut self, table: NodeId, n_rows: i64, index: NodeId, units: &[i64], element: Element) -> NodeId {
        let over = self.node(index).shape.clone();
        let list = self.reshape(table, &[n_rows]);
        let wide = self.view(list, vec![Expr::Dim(0)], &[n_rows, COLUMNS]);
        let chosen = self.gather_as(wide, 0, index, element);
        let at = (0..over.len()).map(Expr::Dim).chain([Expr::Constant(0)]).collect();
        self.view(chosen, at, &[over.as_slice(), units].concat())
    }

    /// Returns a broadcast index without its broadcast dimensions, and the positions of its own dimensions in the broadcast shape. The
    /// gathered rows are broadcast instead, since a lookup op has only dimensions of the index or the table.
    fn without_repetitions(&self, index: NodeId) -> Option<(NodeId, Vec<Expr>)> {
        let shape = &self.node(index).shape;
        let mut map: Vec<Expr> = (0..shape.len()).map(Expr::Dim).collect();
        let mut alone = index;
        // Composes two views: the last map is applied to the result of the previous one.
        while let Some(inner) = self.plain_map(alone) {
            map = inner.iter().map(|expr| if let Expr::Dim(dim) = expr { map[*dim].clone() } else { expr.clone() }).collect();
            alone = self.node(alone).inputs[0];
        }
        let is_repeated = (0..shape.len()).any(|dim| shape[dim] > 1 && !map.contains(&Expr::Dim(dim)));
        is_repeated.then_some((alone, map))
    }

    /// Returns the map of a view that only permutes, broadcasts, adds and drops dimensions.
    fn plain_map(&self, node: NodeId) -> Option<Vec<Expr>> {
        let Node { kind, inputs, shape, .. } = self.node(node);
        match kind {
            Kind::View(map) => map.iter().all(|expr| matches!(expr, Expr::Dim(_) | Expr::Constant(0))).then(|| map.clone()),
            Kind::Reshape => unit_map(&self.node(*inputs.first()?).shape, shape),
            _ => None,
        }
    }

    /// Returns the tensor behind the reshapes and views of `index` that keep its element order.
    fn as_it_lies(&self, mut index: NodeId) -> NodeId {
        loop {
            let Node { kind, inputs, shape, .. } = self.node(index);
            let is_in_order = match kind {
                Kind::Reshape => true,
                Kind::View(map) => keeps_order(map, &self.node(inputs[0]).shape, shape),
                _ => false,
            };
            if !is_in_order {
                return index;
            }
            index = inputs[0];
        }
    }
}

/// Returns the map of a reshape that only adds and drops dimensions of size 1.
fn unit_map(from: &[i64], to: &[i64]) -> Option<Vec<Expr>> {
    let mut moving = (0..to.len()).filter(|&dim| to[dim] > 1);
    let mut read = |&size: &i64| if size > 1 { moving.next().map_or(Expr::Constant(0), Expr::Dim) } else { Expr::Constant(0) };
    (without_units(from) == without_units(to)).then(|| from.iter().map(&mut read).collect())
}

fn without_units(shape: &[i64]) -> Vec<i64> {
    shape.iter().copied().filter(|&size| size > 1).collect()
}

/// Returns whether a map only adds and drops dimensions of size 1.
fn keeps_order(map: &[Expr], from: &[i64], to: &[i64]) -> bool {
    let moving = |shape: &[i64]| (0..shape.len()).filter(|&dim| shape[dim] > 1).collect::<Vec<_>>();
    let (own, new) = (moving(from), moving(to));
    own.len() == new.len() && own.iter().zip(new).all(|(&dim, new)| map[dim] == Expr::Dim(new) && from[dim] == to[new])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_indices_is_read_as_it_lies() {
        let mut graph = Graph::default();
        let table = graph.tensor(0, vec![32, 64], Element::F16);
        let index = graph.tensor(1, vec![4, 8], Element::Int);
        let flat = graph.reshape(index, &[32]);
        let column = graph.view(flat, vec![Expr::Dim(0)], &[32, 1]);
        let list = graph.reshape(column, &[32]);
        let chosen = graph.gather(table, 0, list);
        assert_eq!(graph.node(chosen).shape, [32, 64]);
        let rows = graph.node(chosen).inputs[0];
        assert_eq!((&graph.node(rows).kind, &graph.node(rows).inputs[..]), (&Kind::Gather(0), &[table, index][..]));
    }

    #[test]
    fn what_a_repeated_index_chooses_is_repeated() {
        let mut graph = Graph::default();
        let table = graph.tensor(0, vec![32, 64], Element::F16);
        let index = graph.tensor(1, vec![5, 4], Element::Int);
        let repeated = graph.view(index, vec![Expr::Dim(0), Expr::Dim(2)], &[5, 9, 4]);
        let chosen = graph.gather(table, 0, repeated);
        let Node { kind, inputs, shape, .. } = graph.node(chosen);
        assert_eq!((kind, &shape[..]), (&Kind::View([0, 2, 3].map(Expr::Dim).to_vec()), &[5, 9, 4, 64][..]));
        assert_eq!((&graph.node(inputs[0]).kind, &graph.node(inputs[0]).inputs[..]), (&Kind::Gather(0), &[table, index][..]));
    }

    #[test]
    fn finds_broadcast_below_another_view() {
        let mut graph = Graph::default();
        let table = graph.tensor(0, vec![32, 64], Element::F16);
        let index = graph.tensor(1, vec![5, 4], Element::Int);
        let repeated = graph.view(index, vec![Expr::Dim(0), Expr::Dim(1)], &[5, 4, 9]);
        let apart = graph.reshape(repeated, &[5, 1, 4, 9]);
        let turned = graph.view(apart, vec![Expr::Dim(0), Expr::Constant(0), Expr::Dim(2), Expr::Dim(1)], &[5, 9, 4]);
        let chosen = graph.gather(table, 0, turned);
        let Node { kind, inputs, .. } = graph.node(chosen);
        assert_eq!(kind, &Kind::View([0, 2, 3].map(Expr::Dim).to_vec()));
        assert_eq!((&graph.node(inputs[0]).kind, &graph.node(inputs[0]).inputs[..]), (&Kind::Gather(0), &[table, index][..]));
    }

    #[test]
    fn keeps_transposed_index() {
        let mut graph = Graph::default();
        let table = graph.tensor(0, vec![32, 64], Element::F16);
        let index = graph.tensor(1, vec![4, 8], Element::Int);
        let turned = graph.view(index, vec![Expr::Dim(1), Expr::Dim(0)], &[8, 4]);
        let chosen = graph.gather(table, 0, turned);
        assert_eq!(graph.node(chosen).inputs, [table, turned]);
        let list = graph.reshape(turned, &[32]);
        let chosen = graph.gather(table, 0, list);
        let rows = graph.node(chosen).inputs[0];
        assert_eq!(graph.node(rows).inputs, [table, turned]);
    }
}
