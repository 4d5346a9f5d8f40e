//! Products with matrices that a one-hot product selects, as in a mixture of experts: `x[t] W[e[t]]` for each token `t`.
//!
//! Gathering would create one matrix of the size of an expert per row of the left factor. A product of all rows with all matrices side by
//! side reads each matrix once, and computes no more than the one-hot product; each row keeps the columns of its matrix. No other terms are
//! summed, so the rounding is the same, and infinities in results of other matrices have no effect.

use super::recognize::select;
use crate::import::graph::{Element, Graph, Kind, NodeId};
use program::affine::Expr;

/// Matrices that a one-hot product selects.
#[derive(Clone, Copy)]
struct Chosen {
    /// `[rows of the result, matrices]`: the matrix of each row, as truth values.
    hot: NodeId,
    /// `[matrices, elements of one]`.
    table: NodeId,
}

/// Builds the product of `left`, `[batch, M, K]`, with `right`, `[batch, K, N]`, if a one-hot product selects the matrices of `right`.
/// Returns None otherwise, or if the columns of all matrices have more elements than the selected matrices.
pub(in crate::import) fn product_with_chosen(graph: &mut Graph, left: NodeId, right: NodeId, element: Element) -> Option<NodeId> {
    let (&[batch, m, k], &[of_right, _, n]) = (&graph.node(left).shape[..], &graph.node(right).shape[..]) else { return None };
    let Chosen { hot, table } = chosen(graph, right, 0).filter(|_| of_right == batch && batch > 1)?;
    let n_matrices = graph.node(table).shape[0];
    if n_matrices * m > k {
        return None;
    }
    let matrices = shown_like(graph, right, 0, table)?;
    let rows = graph.reshape(left, &[batch * m, k]);
    let column_of = |of| Box::new(Expr::Dim(of));
    let by = Box::new(Expr::Constant(n));
    let beside = vec![Expr::FloorDiv(column_of(1), by.clone()), Expr::Dim(0), Expr::Mod(column_of(1), by)];
    let columns = graph.view(matrices, beside, &[k, n_matrices * n]);
    let all = graph.add(Kind::Matmul, &[rows, columns], vec![batch * m, n_matrices * n], element);
    let all = graph.reshape(all, &[batch, m, n_matrices, n]);
    let hot = graph.reshape(hot, &[batch, 1, n_matrices, 1]);
    let zero = graph.number(0.0);
    let kept = select(graph, &[hot, all, zero], element).ok()?;
    let sum = graph.reduce("sum", kept, 2);
    Some(graph.reshape(sum, &[batch, m, n]))
}

/// Returns the one-hot product behind the views of `id`, with its rows along dimension `rows`.
fn chosen(graph: &Graph, id: NodeId, rows: usize) -> Option<Chosen> {
    let node = graph.node(id);
    if node.kind != Kind::Matmul {
        let behind = rows_behind(graph, id, rows)?;
        return chosen(graph, node.inputs[0], behind);
    }
    let &[hot, table] = &node.inputs[..] else { return None };
    (rows == 0 && node.shape.len() == 2).then_some(())?;
    Some(Chosen { hot: truth(graph, hot)?, table })
}

/// Returns the truth values that are converted to numbers.
fn truth(graph: &Graph, id: NodeId) -> Option<NodeId> {
    let node = graph.node(id);
    match node.kind {
        _ if node.element == Element::Bool => Some(id),
        Kind::Reshape => truth(graph, node.inputs[0]),
        _ => None,
    }
}

/// Returns the dimension of the input of a view or reshape that equals dimension `rows` of the result.
fn rows_behind(graph: &Graph, id: NodeId, rows: usize) -> Option<usize> {
    let node = graph.node(id);
    let of_input = &graph.node(*node.inputs.first()?).shape;
    let found = match &node.kind {
        Kind::View(map) => {
            let found = map.iter().position(|expr| *expr == Expr::Dim(rows))?;
            let is_alone = |(other, expr): (usize, &Expr)| other == found || !expr.dims().contains(&rows);
            map.iter().enumerate().all(is_alone).then_some(found)?
        }
        Kind::Reshape => {
            let before: i64 = node.shape[..rows].iter().product();
            (0..of_input.len()).find(|&dim| of_input[dim] == node.shape[rows] && of_input[..dim].iter().product::<i64>() == before)?
        }
        _ => return None,
    };
    (of_input[found] == node.shape[rows]).then_some(found)
}

/// Applies the views and reshapes between the product and `id` to `table`: all rows of the table replace the chosen
/// ones along dimension `rows`. Returns None if there is any other op between them.
fn shown_like(graph: &mut Graph, id: NodeId, rows: usize, table: NodeId) -> Option<NodeId> {
    let node = graph.node(id).clone();
    if node.kind == Kind::Matmul {
        return Some(table);
    }
    let behind = rows_behind(graph, id, rows)?;
    let input = shown_like(graph, node.inputs[0], behind, table)?;
    let mut shape = node.shape;
    shape[rows] = graph.node(table).shape[0];
    match node.kind {
        Kind::View(map) => Some(graph.view(input, map, &shape)),
        Kind::Reshape => Some(graph.reshape(input, &shape)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve rows that are one-hot products with a table of `n_matrices`, of 64 x 8 elements each, transposed.
    fn matrices(graph: &mut Graph, n_matrices: i64) -> NodeId {
        let (which, number) = (graph.tensor(0, vec![12, 1], Element::F16), graph.tensor(1, vec![1, n_matrices], Element::F16));
        let hot = graph.pointwise("equal", &[which, number], Element::Bool);
        let hot = graph.add(Kind::Reshape, &[hot], vec![12, n_matrices], Element::F16);
        let table = graph.tensor(2, vec![n_matrices, 512], Element::F16);
        let rows = graph.add(Kind::Matmul, &[hot, table], vec![12, 512], Element::F16);
        let rows = graph.reshape(rows, &[12, 8, 64]);
        graph.view(rows, vec![Expr::Dim(0), Expr::Dim(2), Expr::Dim(1)], &[12, 64, 8])
    }

    fn product(n_matrices: i64, n_rows: i64) -> Option<Vec<i64>> {
        let mut graph = Graph::default();
        let right = matrices(&mut graph, n_matrices);
        let left = graph.tensor(3, vec![12, n_rows, 64], Element::F16);
        let found = product_with_chosen(&mut graph, left, right, Element::F16)?;
        assert_eq!(graph.node(found).shape, [12, n_rows, 8]);
        let needed = graph.needed_for(&[found], |_| false);
        let mut products = needed.into_iter().filter(|&id| graph.node(id).kind == Kind::Matmul);
        let (only, none) = (products.next(), products.next());
        assert_eq!(none, None, "no matrices are chosen");
        only.map(|only| graph.node(only).shape.clone())
    }

    #[test]
    fn all_rows_meet_all_matrices_side_by_side() {
        assert_eq!(product(4, 1), Some(vec![12, 32]));
        assert_eq!(product(4, 16), Some(vec![192, 32]), "as many columns as the chosen matrices have elements");
    }

    #[test]
    fn more_columns_than_the_chosen_matrices_have_elements_are_not_computed() {
        assert_eq!(product(4, 17), None);
        assert_eq!(product(65, 1), None);
    }

    #[test]
    fn factors_that_nothing_chose_stay() {
        let mut graph = Graph::default();
        let left = graph.tensor(3, vec![12, 1, 64], Element::F16);
        let right = matrices(&mut graph, 4);
        let mixed = graph.view(right, vec![Expr::Dim(2), Expr::Dim(1), Expr::Dim(0)], &[8, 64, 12]);
        let other = graph.tensor(4, vec![8, 1, 64], Element::F16);
        assert_eq!(product_with_chosen(&mut graph, other, mixed, Element::F16), None, "the rows are columns");
        let weights = graph.tensor(5, vec![12, 4], Element::F16);
        let table = graph.tensor(6, vec![4, 512], Element::F16);
        let sums = graph.add(Kind::Matmul, &[weights, table], vec![12, 512], Element::F16);
        let sums = graph.reshape(sums, &[12, 64, 8]);
        assert_eq!(product_with_chosen(&mut graph, left, sums, Element::F16), None, "a weighted sum of matrices is none of them");
    }
}
