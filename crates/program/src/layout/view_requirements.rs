//! Requirements of ops on the views that they read, independent of layouts. Each dimension of device memory has one
//! index. The operands that move along a dimension determine its role in the op (reduced, or in one operand only).

use super::{IndexDigit, TensorIndex};

/// Dimension of a view that moves two dimensions of its buffer at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagonalAccess {
    /// The dimension of the view.
    pub dim: usize,
    /// A dimension of the buffer that moves with it.
    pub first: usize,
    /// Another dimension that moves with it.
    pub second: usize,
}

/// Returns the first diagonal among the indices of a buffer.
#[must_use]
pub fn find_diagonal(indices: &[TensorIndex]) -> Option<DiagonalAccess> {
    let overlap =
        |a: &IndexDigit, b: &IndexDigit| a.dim == b.dim && a.divisor.max(b.divisor) < a.period().min(b.period());
    let digits =
        || indices.iter().enumerate().flat_map(|(after, index)| index.digits.iter().map(move |digit| (after, digit)));
    digits().find_map(|(first, digit)| {
        let second = digits().find(|(second, other)| *second > first && overlap(digit, other));
        second.map(|(second, _)| DiagonalAccess { dim: digit.dim, first, second })
    })
}

/// Returns whether an index is one complete dimension of size `range`, from some position on.
#[must_use]
pub fn is_whole_dim(index: &TensorIndex, range: i64) -> bool {
    matches!(index.digits.as_slice(), [digit] if digit.divisor == 1 && digit.factor == 1 && digit.size == range)
}

/// Returns whether the indices move along all of a dimension of size `range`: no two of its points access the same
/// element.
#[must_use]
pub fn covers_dim(indices: &[TensorIndex], dim: usize, range: i64) -> bool {
    let digits = indices.iter().flat_map(|index| &index.digits).filter(|digit| digit.dim == dim);
    digits.map(|digit| digit.size).fold(1_i64, i64::saturating_mul) >= range
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{TestExpr, checked_index, d};

    fn build_indices(exprs: &[TestExpr], ranges: &[i64]) -> Vec<TensorIndex> {
        exprs.iter().map(|expr| checked_index(expr, ranges)).collect()
    }

    #[test]
    fn finds_diagonal_of_two_dimensions_with_equal_digits() {
        let found = |exprs: &[TestExpr], ranges: &[i64]| {
            find_diagonal(&build_indices(exprs, ranges)).map(|found| (found.dim, found.first, found.second))
        };
        assert_eq!(found(&[d(0), d(1), d(0)], &[8, 4]), Some((0, 0, 2)));
        assert_eq!(found(&[d(0).floordiv(2), d(0) + 1], &[8]), Some((0, 0, 1)));
        assert_eq!(found(&[d(0).floordiv(4), d(0).modulo(4)], &[8]), None, "heads are no diagonal");
        assert_eq!(found(&[d(0), d(0)], &[1]), None, "one element is none");
    }

    #[test]
    fn rejects_dimension_with_repeated_elements() {
        let has = |exprs: &[TestExpr], ranges: &[i64], dim: usize| {
            covers_dim(&build_indices(exprs, ranges), dim, ranges[dim])
        };
        assert!(has(&[d(0).floordiv(4), d(1), d(0).modulo(4)], &[8, 3], 0));
        assert!(!has(&[d(0).floordiv(4), d(1)], &[8, 3], 0), "each one four times");
        assert!(!has(&[d(0).modulo(4), d(1)], &[8, 3], 0), "twice over");
        assert!(!has(&[d(1)], &[8, 3], 0));
        assert!(has(&[d(1)], &[1, 3], 0));
    }
}
