//! Reads of a table through windows that overlap, such as the columns of an image: the windows side by side, one point of them after the other.

use crate::import::graph::{
    Graph, NodeId,
    linear::{Linear, MOST_PARTS, points, refuse_window, window_dims},
    views::moving_dims,
};
use program::affine::Expr;

/// The elements of `table` at `exprs` over an iteration space with these sizes, put together from what is read at each point of the windows.
///
/// # Errors
/// If the table is read backwards, or the windows have too many points.
pub(super) fn unfolded(graph: &mut Graph, table: NodeId, exprs: &[Expr], sizes: &[i64]) -> Result<NodeId, String> {
    let is_backwards = |expr: &Expr| Linear::of(expr, sizes).is_some_and(|linear| linear.terms.iter().any(|&(_, factor)| factor < 0));
    let dims = if exprs.iter().any(is_backwards) { Vec::new() } else { window_dims(&[exprs], sizes, &vec![false; sizes.len()]) };
    let n_points: Vec<i64> = dims.iter().map(|&dim| sizes[dim]).collect();
    let has_few = n_points.iter().copied().fold(1, i64::saturating_mul) <= MOST_PARTS;
    if let Some(message) = refuse_window(exprs, sizes).filter(|_| dims.is_empty() || !has_few) {
        return Err(format!("reads {message}"));
    }
    let element = graph.node(table).element;
    let mut whole = graph.undefined(moving_dims(exprs, sizes), element);
    for point in points(&n_points) {
        let (mut offsets, mut sizes) = (vec![0; sizes.len()], sizes.to_vec());
        for (&dim, &index) in dims.iter().zip(&point) {
            (offsets[dim], sizes[dim]) = (index, 1);
        }
        let at_point = |dim: usize| if dims.contains(&dim) { Expr::Constant(offsets[dim]) } else { Expr::Dim(dim) };
        let shifted = |expr: &Expr| {
            let shifted = expr.with_dims(&at_point);
            Linear::of(&shifted, &sizes).map_or(shifted, |linear| linear.expr(Expr::Dim))
        };
        let map: Vec<Expr> = exprs.iter().map(shifted).collect();
        let shape = moving_dims(&map, &sizes);
        let part = graph.strided(table, map, &shape);
        whole = graph.insert(part, whole, offsets);
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::{Element, Kind};

    fn windows(stride: i64, n_windows: i64, n_points: i64) -> Result<(Graph, NodeId), String> {
        let mut graph = Graph::default();
        let table = graph.tensor(0, vec![4, (n_windows - 1) * stride + n_points], Element::F16);
        let along = Expr::Add(Box::new(Expr::Mul(Box::new(Expr::Dim(1)), Box::new(Expr::Constant(stride)))), Box::new(Expr::Dim(2)));
        let read = unfolded(&mut graph, table, &[Expr::Dim(0), along], &[4, n_windows, n_points])?;
        Ok((graph, read))
    }

    #[test]
    fn each_point_of_the_windows_is_a_part() {
        let (graph, mut read) = windows(1, 6, 3).unwrap();
        assert_eq!(graph.node(read).shape, [4, 6, 3]);
        let mut offsets = Vec::new();
        while let Kind::Insert(at) = &graph.node(read).kind {
            offsets.push(at.clone());
            assert_eq!(graph.node(graph.node(read).inputs[0]).shape, [4, 6, 1]);
            read = graph.node(read).inputs[1];
        }
        assert_eq!(offsets, [[0, 0, 2], [0, 0, 1], [0, 0, 0]]);
    }

    #[test]
    fn windows_of_many_points_are_refused_unless_there_are_few_of_them() {
        assert!(windows(1, 2000, 2000).unwrap_err().contains("more than 1024 parts"));
        assert!(windows(1, 3, 2000).is_ok());
        assert!(windows(-1, 6, 3).is_err());
    }
}
