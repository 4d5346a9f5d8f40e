//! Index maps between the tensors of a `linalg.generic` and its iteration space.

use program::affine::AffineExpression;

/// Tensor under other indices.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::import) struct IndexView {
    /// For each dimension of the tensor, its index in terms of the new dimensions.
    pub(in crate::import) exprs: Vec<AffineExpression>,
    /// Sizes of the new dimensions.
    pub(in crate::import) shape: Vec<i64>,
}

/// Returns the iteration dimensions that index a tensor; None if an index is not a plain dimension.
pub(in crate::import) fn as_plain_dims(map: &[AffineExpression]) -> Option<Vec<usize>> {
    map.iter().map(|expr| if let AffineExpression::Dim(dim) = expr { Some(*dim) } else { None }).collect()
}

/// Broadcasts each dimension of size 1 of a tensor of shape `shape` to the iteration space.
pub(in crate::import) fn broadcast_view(shape: &[i64], sizes: &[i64]) -> IndexView {
    let index = |(dim, size): (usize, &i64)| {
        if *size == sizes[dim] { AffineExpression::Dim(dim) } else { AffineExpression::Constant(0) }
    };
    IndexView { exprs: shape.iter().enumerate().map(index).collect(), shape: sizes.to_vec() }
}

/// Returns the iteration space with size 1 along the dimensions that occur in none of the expressions.
pub(in crate::import) fn compute_used_sizes(exprs: &[AffineExpression], sizes: &[i64]) -> Vec<i64> {
    let moves = |dim: usize| exprs.iter().any(|expr| expr.dims().contains(&dim));
    sizes.iter().enumerate().map(|(dim, &size)| if moves(dim) { size } else { 1 }).collect()
}

/// Returns a tensor over the iteration space, of shape `shape` with reduced dimensions of size 1, under the indices of
/// a result. Returns None if these are computed, or if more than one iteration writes an element.
pub(in crate::import) fn build_result_view(
    map: &[AffineExpression],
    shape: &[i64],
    sizes: &[i64],
    is_reduction: &[bool],
) -> Option<IndexView> {
    let at = |dim: usize| map.iter().position(|expr| *expr == AffineExpression::Dim(dim));
    let is_plain = map.iter().all(|expr| matches!(expr, AffineExpression::Dim(_) | AffineExpression::Constant(0)));
    let is_written_once = (0..sizes.len()).all(|dim| sizes[dim] == 1 || at(dim).is_some() != is_reduction[dim]);
    let index = |dim: usize| {
        at(dim).filter(|_| shape[dim] == sizes[dim]).map_or(AffineExpression::Constant(0), AffineExpression::Dim)
    };
    let written = map.iter().map(|expr| if let AffineExpression::Dim(dim) = expr { sizes[*dim] } else { 1 }).collect();
    (is_plain && is_written_once).then(|| IndexView { exprs: (0..sizes.len()).map(index).collect(), shape: written })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_broadcast_result_at_zero() {
        let viewed = build_result_view(
            &[AffineExpression::Dim(1), AffineExpression::Dim(0)],
            &[1, 64],
            &[8, 64],
            &[false, false],
        );
        assert_eq!(
            viewed,
            Some(IndexView {
                exprs: vec![AffineExpression::Constant(0), AffineExpression::Dim(0)],
                shape: vec![64, 8]
            })
        );
    }

    #[test]
    fn rejects_results_not_written_once() {
        assert_eq!(build_result_view(&[AffineExpression::Dim(0)], &[8, 64], &[8, 64], &[false, false]), None);
        assert_eq!(
            build_result_view(&[AffineExpression::Dim(0), AffineExpression::Dim(1)], &[8, 1], &[8, 64], &[false, true]),
            None
        );
        assert_eq!(
            build_result_view(&[AffineExpression::Dim(0), AffineExpression::Dim(0)], &[8], &[8], &[false])
                .map(|viewed| viewed.shape),
            Some(vec![8, 8])
        );
    }
}
