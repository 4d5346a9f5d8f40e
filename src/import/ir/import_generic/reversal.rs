//! `spyre-import-linalg`, tensors that are read in reverse order: `x[::-1]` as JAX writes it, reflecting borders.

use crate::{
    import::{
        ConstantTensor, NodeElementType, NodeId, graph::linear_index::LinearIndex, ir::generic::GenericImporter,
        rules::index::select_rows,
    },
    mlir::AffineExpression,
};

impl GenericImporter<'_, '_> {
    /// Reverses a tensor along the dimensions that are read backwards, and returns it with indices that read it
    /// forwards. Returns None if no index decreases, or if the rows cannot be gathered.
    pub(super) fn reverse_decreasing_dims(
        &mut self,
        mut node: NodeId,
        map: &[AffineExpression],
    ) -> Option<(NodeId, Vec<AffineExpression>)> {
        // A scalar has no dimensions, and reversing a rejection has no effect.
        if self.importer.graph.as_scalar(node).is_some() || self.importer.graph.find_unsupported(&[node]).is_some() {
            return None;
        }
        let (mut map, mut is_turned) = (map.to_vec(), false);
        for (dim, index) in map.iter_mut().enumerate() {
            let Some(mut linear) = LinearIndex::from_expr(index, &self.space.window.sizes) else { continue };
            if linear.terms.is_empty() || linear.terms.iter().any(|&(_, factor)| factor > 0) {
                continue;
            }
            let last = self.importer.graph.node(node).shape[dim] - 1;
            node = self.reverse_dim(node, dim)?;
            linear.terms.iter_mut().for_each(|(_, factor)| *factor = -*factor);
            linear.terms.sort_by_key(|&(dim, factor)| (factor, dim));
            linear.constant = last - linear.constant;
            *index = linear.to_expr(AffineExpression::Dim);
            is_turned = true;
        }
        is_turned.then_some((node, map))
    }

    /// Reverses a tensor along a dimension.
    fn reverse_dim(&mut self, node: NodeId, dim: usize) -> Option<NodeId> {
        let graph = &mut self.importer.graph;
        let shape = graph.node(node).shape.clone();
        let n_rows = shape[dim];
        if graph.node(node).element == NodeElementType::Int && graph.as_constant(node).is_none() {
            let number = graph.convert_to_numbers(node).ok()?;
            let turned = self.reverse_dim(number, dim)?;
            self.importer.graph.record_integers(turned);
            self.importer.graph.record_superset(turned, number);
            return Some(self.importer.graph.add_integers(turned));
        }
        if graph.as_constant(node).is_some() {
            let from_last = AffineExpression::Dim(dim).times(-1).plus(AffineExpression::Constant(n_rows - 1));
            let map = (0..shape.len())
                .map(|other| if other == dim { from_last.clone() } else { AffineExpression::Dim(other) })
                .collect();
            return Some(graph.view(node, map, &shape));
        }
        #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer rows than 2^53")]
        let numbers: Vec<f64> = (0..n_rows).rev().map(|row| row as f64).collect();
        if shape.iter().product::<i64>() > n_rows {
            let rows = graph.add_constant(ConstantTensor::from_numbers(&numbers), vec![n_rows], NodeElementType::Int);
            let gathered = graph.gather(node, dim, rows);
            let others = (0..shape.len()).filter(|&other| other != dim);
            return Some(graph.view(
                gathered,
                [dim].into_iter().chain(others).map(AffineExpression::Dim).collect(),
                &shape,
            ));
        }
        // The device does not gather single elements.
        let mut along = vec![1; shape.len()];
        along[dim] = n_rows;
        let rows = graph.add_constant(ConstantTensor::from_numbers(&numbers), along, NodeElementType::Int);
        let exprs: Vec<Option<AffineExpression>> =
            (0..shape.len()).map(|other| (other != dim).then_some(AffineExpression::Dim(other))).collect();
        let found = select_rows(graph, (node, &shape), rows, dim, &exprs, &shape).ok()?;
        Some(graph.broadcast(found.node, &shape))
    }
}
