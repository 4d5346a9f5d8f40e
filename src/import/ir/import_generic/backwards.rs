//! `spyre-import-linalg`, tensors that are read in reverse order: `x[::-1]` as JAX writes it, reflecting borders.

use crate::{
    import::{Element, Known, NodeId, graph::linear::Linear, ir::generic::Generic, rules::index::rows_from},
    mlir::Expr,
};

impl Generic<'_, '_> {
    /// Reverses a tensor along the dimensions that are read backwards, and returns it with indices that read it forwards. Returns None if no
    /// index decreases, or if the rows cannot be gathered.
    pub(super) fn forwards(&mut self, mut node: NodeId, map: &[Expr]) -> Option<(NodeId, Vec<Expr>)> {
        // A scalar has no dimensions, and reversing a rejection has no effect.
        if self.importer.graph.number_of(node).is_some() || self.importer.graph.refused_among(&[node]).is_some() {
            return None;
        }
        let (mut map, mut is_turned) = (map.to_vec(), false);
        for (dim, index) in map.iter_mut().enumerate() {
            let Some(mut linear) = Linear::of(index, &self.space.window.sizes) else { continue };
            if linear.terms.is_empty() || linear.terms.iter().any(|&(_, factor)| factor > 0) {
                continue;
            }
            let last = self.importer.graph.node(node).shape[dim] - 1;
            node = self.reversed(node, dim)?;
            linear.terms.iter_mut().for_each(|(_, factor)| *factor = -*factor);
            linear.terms.sort_by_key(|&(dim, factor)| (factor, dim));
            linear.constant = last - linear.constant;
            *index = linear.expr(Expr::Dim);
            is_turned = true;
        }
        is_turned.then_some((node, map))
    }

    /// Reverses a tensor along a dimension.
    fn reversed(&mut self, node: NodeId, dim: usize) -> Option<NodeId> {
        let graph = &mut self.importer.graph;
        let shape = graph.node(node).shape.clone();
        let n_rows = shape[dim];
        if graph.node(node).element == Element::Int && graph.known_of(node).is_none() {
            let number = graph.numbers_of(node).ok()?;
            let turned = self.reversed(number, dim)?;
            self.importer.graph.note_integers(turned);
            self.importer.graph.note_chosen_from(turned, number);
            return Some(self.importer.graph.as_integers(turned));
        }
        if graph.known_of(node).is_some() {
            let from_last = Expr::Dim(dim).times(-1).plus(Expr::Constant(n_rows - 1));
            let map = (0..shape.len()).map(|other| if other == dim { from_last.clone() } else { Expr::Dim(other) }).collect();
            return Some(graph.view(node, map, &shape));
        }
        #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer rows than 2^53")]
        let numbers: Vec<f64> = (0..n_rows).rev().map(|row| row as f64).collect();
        if shape.iter().product::<i64>() > n_rows {
            let rows = graph.known(Known::table(&numbers), vec![n_rows], Element::Int);
            let gathered = graph.gather(node, dim, rows);
            let others = (0..shape.len()).filter(|&other| other != dim);
            return Some(graph.view(gathered, [dim].into_iter().chain(others).map(Expr::Dim).collect(), &shape));
        }
        // The device does not gather single elements.
        let mut along = vec![1; shape.len()];
        along[dim] = n_rows;
        let rows = graph.known(Known::table(&numbers), along, Element::Int);
        let exprs: Vec<Option<Expr>> = (0..shape.len()).map(|other| (other != dim).then_some(Expr::Dim(other))).collect();
        let found = rows_from(graph, (node, &shape), rows, dim, &exprs, &shape).ok()?;
        Some(graph.broadcast(found.node, &shape))
    }
}
