//! Reads of a table through windows that overlap, such as the columns of an image: the windows side by side, one window
//! point after the other.

use crate::import::graph::{
    NodeId, ValueGraph,
    linear_index::{LinearIndex, MAX_WINDOW_PARTS, enumerate_points, find_view_error, find_window_dims},
    views::compute_used_sizes,
};
use program::affine::AffineExpression;

/// Assembles the elements of `table` at `exprs` over an iteration space with these sizes from the reads at each point
/// of the windows.
///
/// # Errors
/// Returns an error if the table is read backwards, or the windows have too many points.
pub(super) fn build_unfolded_view(
    graph: &mut ValueGraph,
    table: NodeId,
    exprs: &[AffineExpression],
    sizes: &[i64],
) -> Result<NodeId, String> {
    let is_backwards = |expr: &AffineExpression| {
        LinearIndex::from_expr(expr, sizes).is_some_and(|linear| linear.terms.iter().any(|&(_, factor)| factor < 0))
    };
    let dims = if exprs.iter().any(is_backwards) {
        Vec::new()
    } else {
        find_window_dims(&[exprs], sizes, &vec![false; sizes.len()])
    };
    let num_points: Vec<i64> = dims.iter().map(|&dim| sizes[dim]).collect();
    let has_few = num_points.iter().copied().fold(1, i64::saturating_mul) <= MAX_WINDOW_PARTS;
    if let Some(message) = find_view_error(exprs, sizes).filter(|_| dims.is_empty() || !has_few) {
        return Err(format!("reads {message}"));
    }
    let element = graph.node(table).element;
    let mut whole = graph.add_undefined(compute_used_sizes(exprs, sizes), element);
    for point in enumerate_points(&num_points) {
        let (mut offsets, mut sizes) = (vec![0; sizes.len()], sizes.to_vec());
        for (&dim, &index) in dims.iter().zip(&point) {
            (offsets[dim], sizes[dim]) = (index, 1);
        }
        let at_point = |dim: usize| {
            if dims.contains(&dim) { AffineExpression::Constant(offsets[dim]) } else { AffineExpression::Dim(dim) }
        };
        let shifted = |expr: &AffineExpression| {
            let shifted = expr.with_dims(&at_point);
            LinearIndex::from_expr(&shifted, &sizes).map_or(shifted, |linear| linear.to_expr(AffineExpression::Dim))
        };
        let map: Vec<AffineExpression> = exprs.iter().map(shifted).collect();
        let shape = compute_used_sizes(&map, &sizes);
        let part = graph.view_strided(table, map, &shape);
        whole = graph.insert(part, whole, offsets);
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::{NodeElementType, NodeKind};

    fn read_windows(stride: i64, num_windows: i64, num_points: i64) -> Result<(ValueGraph, NodeId), String> {
        let mut graph = ValueGraph::default();
        let table = graph.add_tensor(0, vec![4, (num_windows - 1) * stride + num_points], NodeElementType::F16);
        let along = AffineExpression::Add(
            Box::new(AffineExpression::Mul(
                Box::new(AffineExpression::Dim(1)),
                Box::new(AffineExpression::Constant(stride)),
            )),
            Box::new(AffineExpression::Dim(2)),
        );
        let read =
            build_unfolded_view(&mut graph, table, &[AffineExpression::Dim(0), along], &[4, num_windows, num_points])?;
        Ok((graph, read))
    }

    #[test]
    fn inserts_slice_per_window_point() {
        let (graph, mut read) = read_windows(1, 6, 3).unwrap();
        assert_eq!(graph.node(read).shape, [4, 6, 3]);
        let mut offsets = Vec::new();
        while let NodeKind::Insert(at) = &graph.node(read).kind {
            offsets.push(at.clone());
            assert_eq!(graph.node(graph.node(read).inputs[0]).shape, [4, 6, 1]);
            read = graph.node(read).inputs[1];
        }
        assert_eq!(offsets, [[0, 0, 2], [0, 0, 1], [0, 0, 0]]);
    }

    #[test]
    fn rejects_many_windows_of_many_points() {
        assert!(read_windows(1, 2000, 2000).unwrap_err().contains("more than 1024 parts"));
        assert!(read_windows(1, 3, 2000).is_ok());
        assert!(read_windows(-1, 6, 3).is_err());
    }
}
