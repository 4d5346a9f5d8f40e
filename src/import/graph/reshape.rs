//! Reshapes as index maps.

use program::affine::AffineExpression;
use std::ops::Range;

/// Returns, for each dimension of a tensor of shape `from`, its index in terms of the dimensions of the same elements
/// under shape `to`.
///
/// Groups of dimensions with equal numbers of elements are matched from the outside in; within a group the flat index
/// is delinearized.
#[must_use]
pub(in crate::import) fn compute_reshape_map(from: &[i64], to: &[i64]) -> Vec<AffineExpression> {
    let mut exprs = Vec::with_capacity(from.len());
    let (mut first_from, mut first_to) = (0, 0);
    while first_from < from.len() {
        let (mut end_from, mut end_to) = (first_from + 1, first_to);
        let (mut num_from, mut num_to) = (from[first_from], 1);
        while num_from != num_to && (end_to < to.len() || end_from < from.len()) {
            if num_to < num_from && end_to < to.len() {
                num_to *= to[end_to];
                end_to += 1;
            } else if end_from < from.len() {
                num_from *= from[end_from];
                end_from += 1;
            } else {
                break;
            }
        }
        let flat = linearize_index(first_to..end_to, to);
        exprs.extend(delinearize_index(&flat, &from[first_from..end_from]));
        (first_from, first_to) = (end_from, end_to);
    }
    exprs
}

/// Returns the dimensions of a tensor of shape `from` that are merged into dimension `dim` of the same elements under
/// shape `to`. Returns None if that dimension does not consist of complete dimensions of `from`.
#[must_use]
pub(in crate::import) fn find_merged_dims(from: &[i64], to: &[i64], dim: usize) -> Option<Range<usize>> {
    let position_of = |outer: i64| {
        let products = std::iter::once(1).chain(from.iter().scan(1, |product, size| {
            *product *= size;
            Some(*product)
        }));
        products.zip(0..).find_map(|(product, position)| (product == outer).then_some(position))
    };
    let outer: i64 = to[..dim].iter().product();
    Some(position_of(outer)?..position_of(outer * to[dim])?)
}

/// Returns the row-major position within the dimensions `dims` of a tensor of shape `shape`; dimensions of size 1 add
/// nothing.
fn linearize_index(dims: Range<usize>, shape: &[i64]) -> AffineExpression {
    let mut stride = 1;
    let mut flat = AffineExpression::Constant(0);
    for dim in dims.rev().filter(|&dim| shape[dim] != 1) {
        flat = AffineExpression::Dim(dim).times(stride).plus(flat);
        stride *= shape[dim];
    }
    flat
}

/// Returns the indices of the dimensions `sizes` for a flat position.
fn delinearize_index(flat: &AffineExpression, sizes: &[i64]) -> Vec<AffineExpression> {
    let mut inner: i64 = sizes.iter().product();
    let outermost = sizes.iter().position(|&size| size != 1);
    let index = |(position, &size): (usize, &i64)| {
        if size == 1 {
            return AffineExpression::Constant(0);
        }
        inner /= size;
        let row = if inner == 1 {
            flat.clone()
        } else {
            AffineExpression::FloorDiv(Box::new(flat.clone()), Box::new(AffineExpression::Constant(inner)))
        };
        // The outermost index cannot overflow its dimension, so it needs no remainder.
        if Some(position) == outermost {
            row
        } else {
            AffineExpression::Mod(Box::new(row), Box::new(AffineExpression::Constant(size)))
        }
    };
    sizes.iter().enumerate().map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_unit_dims() {
        assert_eq!(compute_reshape_map(&[512], &[512, 1]), [AffineExpression::Dim(0)]);
        assert_eq!(compute_reshape_map(&[512, 1], &[512]), [AffineExpression::Dim(0), AffineExpression::Constant(0)]);
        assert_eq!(compute_reshape_map(&[1, 8], &[8]), [AffineExpression::Constant(0), AffineExpression::Dim(0)]);
        assert_eq!(compute_reshape_map(&[8, 16], &[8, 1, 16]), [AffineExpression::Dim(0), AffineExpression::Dim(2)]);
    }

    #[test]
    fn splits_collapsed_pair() {
        let flat = |divisor| {
            AffineExpression::FloorDiv(
                Box::new(AffineExpression::Dim(0)),
                Box::new(AffineExpression::Constant(divisor)),
            )
        };
        assert_eq!(
            compute_reshape_map(&[4, 8], &[32]),
            [
                flat(8),
                AffineExpression::Mod(Box::new(AffineExpression::Dim(0)), Box::new(AffineExpression::Constant(8)))
            ]
        );
    }

    #[test]
    fn merges_expanded_dim() {
        let sum = AffineExpression::Add(
            Box::new(AffineExpression::Mul(
                Box::new(AffineExpression::Dim(0)),
                Box::new(AffineExpression::Constant(8)),
            )),
            Box::new(AffineExpression::Dim(1)),
        );
        assert_eq!(compute_reshape_map(&[32, 3], &[4, 8, 3]), [sum, AffineExpression::Dim(2)]);
    }

    #[test]
    fn finds_only_complete_merged_dims() {
        let from = [2, 17, 1, 5, 3];
        assert_eq!(find_merged_dims(&from, &[510], 0), Some(0..5));
        assert_eq!(find_merged_dims(&from, &[2, 17, 15], 2), Some(2..5));
        assert_eq!(find_merged_dims(&from, &[34, 15], 0), Some(0..2));
        assert_eq!(find_merged_dims(&from, &[17, 30], 1), None);
        assert_eq!(find_merged_dims(&from, &[2, 85, 3], 1), Some(1..4));
    }
}
