//! Matmuls with matrices that a one-hot matmul selects, as in a mixture of experts: `x[t] W[e[t]]` for each token `t`.
//!
//! A gather would create one matrix of the size of an expert per row of the left factor. A matmul of all rows with all
//! matrices side by side reads each matrix once, and computes no more than the one-hot matmul; each row keeps the
//! columns of its matrix. No other terms are summed, so the rounding is the same, and infinities in results of other
//! matrices have no effect.

use super::recognize::select;
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};
use program::affine::AffineExpression;

/// Matrices that a one-hot matmul selects.
#[derive(Clone, Copy)]
struct OneHotSelection {
    /// `[rows of the result, matrices]`: the matrix of each row, as truth values.
    hot: NodeId,
    /// `[matrices, elements of one]`.
    table: NodeId,
}

/// Builds the matmul of `left`, `[batch, M, K]`, and `right`, `[batch, K, N]`, if a one-hot matmul selects the matrices
/// of `right`. Returns None otherwise, or if the columns of all matrices have more elements than the selected matrices.
pub(in crate::import) fn build_selected_matmul(
    graph: &mut ValueGraph,
    left: NodeId,
    right: NodeId,
    element: NodeElementType,
) -> Option<NodeId> {
    let (&[batch, m, k], &[of_right, _, n]) = (&graph.node(left).shape[..], &graph.node(right).shape[..]) else {
        return None;
    };
    let OneHotSelection { hot, table } =
        find_one_hot_product(graph, right, 0).filter(|_| of_right == batch && batch > 1)?;
    let num_matrices = graph.node(table).shape[0];
    if num_matrices * m > k {
        return None;
    }
    let matrices = apply_views_to_table(graph, right, 0, table)?;
    let rows = graph.reshape(left, &[batch * m, k]);
    let column_of = |of| Box::new(AffineExpression::Dim(of));
    let by = Box::new(AffineExpression::Constant(n));
    let beside = vec![
        AffineExpression::FloorDiv(column_of(1), by.clone()),
        AffineExpression::Dim(0),
        AffineExpression::Mod(column_of(1), by),
    ];
    let columns = graph.view(matrices, beside, &[k, num_matrices * n]);
    let all = graph.add(NodeKind::Matmul, &[rows, columns], vec![batch * m, num_matrices * n], element);
    let all = graph.reshape(all, &[batch, m, num_matrices, n]);
    let hot = graph.reshape(hot, &[batch, 1, num_matrices, 1]);
    let zero = graph.add_scalar(0.0);
    let kept = select(graph, &[hot, all, zero], element).ok()?;
    let sum = graph.reduce("sum", kept, 2);
    Some(graph.reshape(sum, &[batch, m, n]))
}

/// Returns the one-hot matmul that `id` views, with its rows along dimension `rows`.
fn find_one_hot_product(graph: &ValueGraph, id: NodeId, rows: usize) -> Option<OneHotSelection> {
    let node = graph.node(id);
    if node.kind != NodeKind::Matmul {
        let after = find_input_dim(graph, id, rows)?;
        return find_one_hot_product(graph, node.inputs[0], after);
    }
    let &[hot, table] = &node.inputs[..] else { return None };
    (rows == 0 && node.shape.len() == 2).then_some(())?;
    Some(OneHotSelection { hot: find_truth_values(graph, hot)?, table })
}

/// Returns the truth values that a node converts to numbers, if any.
fn find_truth_values(graph: &ValueGraph, id: NodeId) -> Option<NodeId> {
    let node = graph.node(id);
    match node.kind {
        _ if node.element == NodeElementType::Bool => Some(id),
        NodeKind::Reshape => find_truth_values(graph, node.inputs[0]),
        _ => None,
    }
}

/// Returns the dimension of the input of a view or reshape that equals dimension `rows` of the result.
fn find_input_dim(graph: &ValueGraph, id: NodeId, rows: usize) -> Option<usize> {
    let node = graph.node(id);
    let of_input = &graph.node(*node.inputs.first()?).shape;
    let found = match &node.kind {
        NodeKind::View(map) => {
            let found = map.iter().position(|expr| *expr == AffineExpression::Dim(rows))?;
            let is_alone = |(other, expr): (usize, &AffineExpression)| other == found || !expr.dims().contains(&rows);
            map.iter().enumerate().all(is_alone).then_some(found)?
        }
        NodeKind::Reshape => {
            let before: i64 = node.shape[..rows].iter().product();
            (0..of_input.len())
                .find(|&dim| of_input[dim] == node.shape[rows] && of_input[..dim].iter().product::<i64>() == before)?
        }
        _ => return None,
    };
    (of_input[found] == node.shape[rows]).then_some(found)
}

/// Applies the views and reshapes between the matmul and `id` to `table`: all rows of the table replace the selected
/// ones along dimension `rows`. Returns None if there is any other op between them.
fn apply_views_to_table(graph: &mut ValueGraph, id: NodeId, rows: usize, table: NodeId) -> Option<NodeId> {
    let node = graph.node(id).clone();
    if node.kind == NodeKind::Matmul {
        return Some(table);
    }
    let after = find_input_dim(graph, id, rows)?;
    let input = apply_views_to_table(graph, node.inputs[0], after, table)?;
    let mut shape = node.shape;
    shape[rows] = graph.node(table).shape[0];
    match node.kind {
        NodeKind::View(map) => Some(graph.view(input, map, &shape)),
        NodeKind::Reshape => Some(graph.reshape(input, &shape)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds twelve rows that are one-hot matmuls with a table of `num_matrices`, of 64 x 8 elements each, transposed.
    fn build_selected_matrices(graph: &mut ValueGraph, num_matrices: i64) -> NodeId {
        let (which, number) = (
            graph.add_tensor(0, vec![12, 1], NodeElementType::F16),
            graph.add_tensor(1, vec![1, num_matrices], NodeElementType::F16),
        );
        let hot = graph.add_pointwise("equal", &[which, number], NodeElementType::Bool);
        let hot = graph.add(NodeKind::Reshape, &[hot], vec![12, num_matrices], NodeElementType::F16);
        let table = graph.add_tensor(2, vec![num_matrices, 512], NodeElementType::F16);
        let rows = graph.add(NodeKind::Matmul, &[hot, table], vec![12, 512], NodeElementType::F16);
        let rows = graph.reshape(rows, &[12, 8, 64]);
        graph.view(
            rows,
            vec![AffineExpression::Dim(0), AffineExpression::Dim(2), AffineExpression::Dim(1)],
            &[12, 64, 8],
        )
    }

    fn build_product_shape(num_matrices: i64, n_rows: i64) -> Option<Vec<i64>> {
        let mut graph = ValueGraph::default();
        let right = build_selected_matrices(&mut graph, num_matrices);
        let left = graph.add_tensor(3, vec![12, n_rows, 64], NodeElementType::F16);
        let found = build_selected_matmul(&mut graph, left, right, NodeElementType::F16)?;
        assert_eq!(graph.node(found).shape, [12, n_rows, 8]);
        let needed = graph.collect_required(&[found], |_| false);
        let mut products = needed.into_iter().filter(|&id| graph.node(id).kind == NodeKind::Matmul);
        let (only, none) = (products.next(), products.next());
        assert_eq!(none, None, "no matrices are chosen");
        only.map(|only| graph.node(only).shape.clone())
    }

    #[test]
    fn multiplies_all_rows_with_all_matrices() {
        assert_eq!(build_product_shape(4, 1), Some(vec![12, 32]));
        assert_eq!(
            build_product_shape(4, 16),
            Some(vec![192, 32]),
            "as many columns as the chosen matrices have elements"
        );
    }

    #[test]
    fn rejects_products_with_too_many_columns() {
        assert_eq!(build_product_shape(4, 17), None);
        assert_eq!(build_product_shape(65, 1), None);
    }

    #[test]
    fn keeps_factors_without_selection() {
        let mut graph = ValueGraph::default();
        let left = graph.add_tensor(3, vec![12, 1, 64], NodeElementType::F16);
        let right = build_selected_matrices(&mut graph, 4);
        let mixed = graph.view(
            right,
            vec![AffineExpression::Dim(2), AffineExpression::Dim(1), AffineExpression::Dim(0)],
            &[8, 64, 12],
        );
        let other = graph.add_tensor(4, vec![8, 1, 64], NodeElementType::F16);
        assert_eq!(build_selected_matmul(&mut graph, other, mixed, NodeElementType::F16), None, "the rows are columns");
        let weights = graph.add_tensor(5, vec![12, 4], NodeElementType::F16);
        let table = graph.add_tensor(6, vec![4, 512], NodeElementType::F16);
        let sums = graph.add(NodeKind::Matmul, &[weights, table], vec![12, 512], NodeElementType::F16);
        let sums = graph.reshape(sums, &[12, 64, 8]);
        assert_eq!(
            build_selected_matmul(&mut graph, left, sums, NodeElementType::F16),
            None,
            "a weighted sum of matrices is none of them"
        );
    }
}
