//! Gathers: table rows that an index selects.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode, formats::LANES};
use program::affine::AffineExpression;

/// Number of columns of a table whose rows have one number: one stick of the 16-bit format, so that the device can look
/// up a row.
pub(super) const NUM_SCALAR_COLUMNS: i64 = LANES;

impl ValueGraph {
    /// Gathers the rows of `table` along `dim` that `index` selects. The result has the dimensions of the index, then
    /// the other dimensions of the table. A reshaped index is read in its stored shape and the result is reshaped,
    /// since a list of indices has no sticks to split.
    pub(in crate::import) fn gather(&mut self, table: NodeId, dim: usize, index: NodeId) -> NodeId {
        let element = self.node(table).element;
        self.gather_as(table, dim, index, element)
    }

    /// Gathers rows as `gather` does, with result elements of type `element`.
    pub(super) fn gather_as(&mut self, table: NodeId, dim: usize, index: NodeId, element: NodeElementType) -> NodeId {
        let mut shape = self.node(table).shape.clone();
        let n_rows = shape.remove(dim);
        if shape.iter().all(|&size| size == 1) && n_rows > 1 {
            return self.gather_elements(table, n_rows, index, &shape, element);
        }
        if let Some(joined) = self.gather_concatenated(table, dim, index, element) {
            return joined;
        }
        if let Some((alone, mut map)) = self.strip_broadcast(index) {
            let over = self.node(index).shape.clone();
            let chosen = self.gather_as(table, dim, alone, element);
            map.extend((over.len()..over.len() + shape.len()).map(AffineExpression::Dim));
            return self.view(chosen, map, &[over, shape].concat());
        }
        let (over, lies) = (self.node(index).shape.clone(), self.skip_order_preserving_views(index));
        let (lies, rows) = match drop_unit_dims(&self.node(lies).shape) {
            own if own == drop_unit_dims(&over) => (index, over.clone()),
            own => (self.reshape(lies, &own), own),
        };
        let chosen = self.add(NodeKind::Gather(dim), &[table, lies], [rows, shape.clone()].concat(), element);
        self.reshape(chosen, &[over, shape].concat())
    }

    /// Gathers rows of one element: each is broadcast over a stick, which an index can select, and the first element of
    /// the selected stick is read.
    fn gather_elements(
        &mut self,
        table: NodeId,
        n_rows: i64,
        index: NodeId,
        units: &[i64],
        element: NodeElementType,
    ) -> NodeId {
        let over = self.node(index).shape.clone();
        let list = self.reshape(table, &[n_rows]);
        let wide = self.view(list, vec![AffineExpression::Dim(0)], &[n_rows, NUM_SCALAR_COLUMNS]);
        let chosen = self.gather_as(wide, 0, index, element);
        let at = (0..over.len()).map(AffineExpression::Dim).chain([AffineExpression::Constant(0)]).collect();
        self.view(chosen, at, &[over.as_slice(), units].concat())
    }

    /// Returns a broadcast index without its broadcast dimensions, and the positions of its own dimensions in the
    /// broadcast shape. The gathered rows are broadcast instead, since a lookup op has only dimensions of the index or
    /// the table.
    fn strip_broadcast(&self, index: NodeId) -> Option<(NodeId, Vec<AffineExpression>)> {
        let shape = &self.node(index).shape;
        let mut map: Vec<AffineExpression> = (0..shape.len()).map(AffineExpression::Dim).collect();
        let mut alone = index;
        // Composes two views: the last map is applied to the result of the previous one.
        while let Some(inner) = self.as_projected_permutation(alone) {
            map = inner
                .iter()
                .map(|expr| if let AffineExpression::Dim(dim) = expr { map[*dim].clone() } else { expr.clone() })
                .collect();
            alone = self.node(alone).inputs[0];
        }
        let is_repeated = (0..shape.len()).any(|dim| shape[dim] > 1 && !map.contains(&AffineExpression::Dim(dim)));
        is_repeated.then_some((alone, map))
    }

    /// Returns the map of a view that only permutes, broadcasts, adds and drops dimensions.
    fn as_projected_permutation(&self, node: NodeId) -> Option<Vec<AffineExpression>> {
        let ValueNode { kind, inputs, shape, .. } = self.node(node);
        match kind {
            NodeKind::View(map) => map
                .iter()
                .all(|expr| matches!(expr, AffineExpression::Dim(_) | AffineExpression::Constant(0)))
                .then(|| map.clone()),
            NodeKind::Reshape => compute_unit_dim_map(&self.node(*inputs.first()?).shape, shape),
            _ => None,
        }
    }

    /// Looks through reshapes and views of `index` that preserve its element order.
    fn skip_order_preserving_views(&self, mut index: NodeId) -> NodeId {
        loop {
            let ValueNode { kind, inputs, shape, .. } = self.node(index);
            let is_in_order = match kind {
                NodeKind::Reshape => true,
                NodeKind::View(map) => keeps_order(map, &self.node(inputs[0]).shape, shape),
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
fn compute_unit_dim_map(from: &[i64], to: &[i64]) -> Option<Vec<AffineExpression>> {
    let mut moving = (0..to.len()).filter(|&dim| to[dim] > 1);
    let mut read = |&size: &i64| {
        if size > 1 {
            moving.next().map_or(AffineExpression::Constant(0), AffineExpression::Dim)
        } else {
            AffineExpression::Constant(0)
        }
    };
    (drop_unit_dims(from) == drop_unit_dims(to)).then(|| from.iter().map(&mut read).collect())
}

fn drop_unit_dims(shape: &[i64]) -> Vec<i64> {
    shape.iter().copied().filter(|&size| size > 1).collect()
}

/// Returns whether a map only adds and drops dimensions of size 1.
fn keeps_order(map: &[AffineExpression], from: &[i64], to: &[i64]) -> bool {
    let moving = |shape: &[i64]| (0..shape.len()).filter(|&dim| shape[dim] > 1).collect::<Vec<_>>();
    let (own, new) = (moving(from), moving(to));
    own.len() == new.len()
        && own.iter().zip(new).all(|(&dim, new)| map[dim] == AffineExpression::Dim(new) && from[dim] == to[new])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_index_list_in_stored_order() {
        let mut graph = ValueGraph::default();
        let table = graph.add_tensor(0, vec![32, 64], NodeElementType::F16);
        let index = graph.add_tensor(1, vec![4, 8], NodeElementType::Int);
        let flat = graph.reshape(index, &[32]);
        let column = graph.view(flat, vec![AffineExpression::Dim(0)], &[32, 1]);
        let list = graph.reshape(column, &[32]);
        let chosen = graph.gather(table, 0, list);
        assert_eq!(graph.node(chosen).shape, [32, 64]);
        let rows = graph.node(chosen).inputs[0];
        assert_eq!((&graph.node(rows).kind, &graph.node(rows).inputs[..]), (&NodeKind::Gather(0), &[table, index][..]));
    }

    #[test]
    fn broadcasts_rows_of_broadcast_index() {
        let mut graph = ValueGraph::default();
        let table = graph.add_tensor(0, vec![32, 64], NodeElementType::F16);
        let index = graph.add_tensor(1, vec![5, 4], NodeElementType::Int);
        let repeated = graph.view(index, vec![AffineExpression::Dim(0), AffineExpression::Dim(2)], &[5, 9, 4]);
        let chosen = graph.gather(table, 0, repeated);
        let ValueNode { kind, inputs, shape, .. } = graph.node(chosen);
        assert_eq!(
            (kind, &shape[..]),
            (&NodeKind::View([0, 2, 3].map(AffineExpression::Dim).to_vec()), &[5, 9, 4, 64][..])
        );
        assert_eq!(
            (&graph.node(inputs[0]).kind, &graph.node(inputs[0]).inputs[..]),
            (&NodeKind::Gather(0), &[table, index][..])
        );
    }

    #[test]
    fn finds_broadcast_below_another_view() {
        let mut graph = ValueGraph::default();
        let table = graph.add_tensor(0, vec![32, 64], NodeElementType::F16);
        let index = graph.add_tensor(1, vec![5, 4], NodeElementType::Int);
        let repeated = graph.view(index, vec![AffineExpression::Dim(0), AffineExpression::Dim(1)], &[5, 4, 9]);
        let apart = graph.reshape(repeated, &[5, 1, 4, 9]);
        let turned = graph.view(
            apart,
            vec![
                AffineExpression::Dim(0),
                AffineExpression::Constant(0),
                AffineExpression::Dim(2),
                AffineExpression::Dim(1),
            ],
            &[5, 9, 4],
        );
        let chosen = graph.gather(table, 0, turned);
        let ValueNode { kind, inputs, .. } = graph.node(chosen);
        assert_eq!(kind, &NodeKind::View([0, 2, 3].map(AffineExpression::Dim).to_vec()));
        assert_eq!(
            (&graph.node(inputs[0]).kind, &graph.node(inputs[0]).inputs[..]),
            (&NodeKind::Gather(0), &[table, index][..])
        );
    }

    #[test]
    fn keeps_transposed_index() {
        let mut graph = ValueGraph::default();
        let table = graph.add_tensor(0, vec![32, 64], NodeElementType::F16);
        let index = graph.add_tensor(1, vec![4, 8], NodeElementType::Int);
        let turned = graph.view(index, vec![AffineExpression::Dim(1), AffineExpression::Dim(0)], &[8, 4]);
        let chosen = graph.gather(table, 0, turned);
        assert_eq!(graph.node(chosen).inputs, [table, turned]);
        let list = graph.reshape(turned, &[32]);
        let chosen = graph.gather(table, 0, list);
        let rows = graph.node(chosen).inputs[0];
        assert_eq!(graph.node(rows).inputs, [table, turned]);
    }
}
