//! Reshapes as index maps.

use program::affine::Expr;
use std::ops::Range;

/// Returns, for each dimension of a tensor of shape `from`, its index in terms of the dimensions of the same elements under shape `to`.
///
/// Groups of dimensions with equal numbers of elements are matched from the outside in; within a group the flat index is delinearized again.
#[must_use]
pub(in crate::import) fn reshape_map(from: &[i64], to: &[i64]) -> Vec<Expr> {
    let mut exprs = Vec::with_capacity(from.len());
    let (mut first_from, mut first_to) = (0, 0);
    while first_from < from.len() {
        let (mut end_from, mut end_to) = (first_from + 1, first_to);
        let (mut n_from, mut n_to) = (from[first_from], 1);
        while n_from != n_to && (end_to < to.len() || end_from < from.len()) {
            if n_to < n_from && end_to < to.len() {
                n_to *= to[end_to];
                end_to += 1;
            } else if end_from < from.len() {
                n_from *= from[end_from];
                end_from += 1;
            } else {
                break;
            }
        }
        let flat = flat_index(first_to..end_to, to);
        exprs.extend(indices_of(&flat, &from[first_from..end_from]));
        (first_from, first_to) = (end_from, end_to);
    }
    exprs
}

/// Returns the dimensions of a tensor of shape `from` that are merged into dimension `dim` of the same elements under shape `to`; `None` if the
/// elements of that dimension are no whole dimensions of `from`.
#[must_use]
pub(in crate::import) fn merged_dims(from: &[i64], to: &[i64], dim: usize) -> Option<Range<usize>> {
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

/// Returns the row-major position within the dimensions `dims` of a tensor of shape `shape`; dimensions of size 1 add nothing.
fn flat_index(dims: Range<usize>, shape: &[i64]) -> Expr {
    let mut stride = 1;
    let mut flat = Expr::Constant(0);
    for dim in dims.rev().filter(|&dim| shape[dim] != 1) {
        flat = Expr::Dim(dim).times(stride).plus(flat);
        stride *= shape[dim];
    }
    flat
}

/// Returns the indices of the dimensions `sizes` for a flat position.
fn indices_of(flat: &Expr, sizes: &[i64]) -> Vec<Expr> {
    let mut inner: i64 = sizes.iter().product();
    let outermost = sizes.iter().position(|&size| size != 1);
    let index = |(position, &size): (usize, &i64)| {
        if size == 1 {
            return Expr::Constant(0);
        }
        inner /= size;
        let row = if inner == 1 { flat.clone() } else { Expr::FloorDiv(Box::new(flat.clone()), Box::new(Expr::Constant(inner))) };
        // The outermost index cannot overflow its dimension, so it needs no remainder.
        if Some(position) == outermost { row } else { Expr::Mod(Box::new(row), Box::new(Expr::Constant(size))) }
    };
    sizes.iter().enumerate().map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_dims_come_and_go() {
        assert_eq!(reshape_map(&[512], &[512, 1]), [Expr::Dim(0)]);
        assert_eq!(reshape_map(&[512, 1], &[512]), [Expr::Dim(0), Expr::Constant(0)]);
        assert_eq!(reshape_map(&[1, 8], &[8]), [Expr::Constant(0), Expr::Dim(0)]);
        assert_eq!(reshape_map(&[8, 16], &[8, 1, 16]), [Expr::Dim(0), Expr::Dim(2)]);
    }

    #[test]
    fn a_collapsed_pair_is_taken_apart() {
        let flat = |divisor| Expr::FloorDiv(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(divisor)));
        assert_eq!(reshape_map(&[4, 8], &[32]), [flat(8), Expr::Mod(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(8)))]);
    }

    #[test]
    fn an_expanded_dim_is_put_together() {
        let sum = Expr::Add(Box::new(Expr::Mul(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(8)))), Box::new(Expr::Dim(1)));
        assert_eq!(reshape_map(&[32, 3], &[4, 8, 3]), [sum, Expr::Dim(2)]);
    }

    #[test]
    fn merged_dims_are_whole() {
        let from = [2, 17, 1, 5, 3];
        assert_eq!(merged_dims(&from, &[510], 0), Some(0..5));
        assert_eq!(merged_dims(&from, &[2, 17, 15], 2), Some(2..5));
        assert_eq!(merged_dims(&from, &[34, 15], 0), Some(0..2));
        assert_eq!(merged_dims(&from, &[17, 30], 1), None);
        assert_eq!(merged_dims(&from, &[2, 85, 3], 1), Some(1..4));
    }
}
