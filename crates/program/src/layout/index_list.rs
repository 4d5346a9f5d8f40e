//! Index tensors in the order in which a gather reads them: contiguous, from the beginning of a stick on.

use super::TensorIndex;

/// Returns whether a gather can read an index tensor of sizes `sizes`, in row-major order, at `indices` over dimensions
/// of sizes `ranges`. Each dimension of the tensor must be moved by at most one iteration dimension. The list must
/// begin at the first of the `stick` elements of a stick, since an address cannot name a position in a stick
/// (`docs/reference/bundle-format.md`, start addresses).
#[must_use]
pub fn is_index_list(indices: &[TensorIndex], sizes: &[i64], ranges: &[i64], stick: i64) -> bool {
    let is_plain = |index: &TensorIndex| match index.digits.as_slice() {
        [] => true,
        [digit] => digit.divisor == 1 && digit.factor == 1 && ranges.get(digit.dim) == Some(&digit.size),
        _ => false,
    };
    let moves = |dim: usize| indices.iter().flat_map(|index| &index.digits).filter(|digit| digit.dim == dim).count();
    if !indices.iter().all(is_plain) || (0..ranges.len()).any(|dim| moves(dim) > 1) {
        return false;
    }
    let Some(innermost) = sizes.iter().rposition(|&size| size > 1) else { return true };
    // In a column of rows of indices, each index is in a stick of its own.
    let is_column = indices[innermost].digits.is_empty() && indices.iter().any(|index| !index.digits.is_empty());
    indices[innermost].offset % stick == 0 && !is_column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affine::AffineExpression;
    use crate::layout::testing::{TestExpr, checked_index, d};

    fn is_list(exprs: &[TestExpr], sizes: &[i64], ranges: &[i64]) -> bool {
        let indices: Vec<TensorIndex> = exprs.iter().map(|expr| checked_index(expr, ranges)).collect();
        is_index_list(&indices, sizes, ranges, 32)
    }

    #[test]
    fn requires_list_to_begin_at_a_stick() {
        assert!(is_list(&[d(0)], &[17], &[17, 64]));
        assert!(!is_list(&[d(0) + 1], &[17], &[16, 64]));
        assert!(is_list(&[d(0) + 64], &[128], &[16, 64]));
        assert!(!is_list(&[d(0) + 40], &[64], &[8, 64]));
    }

    #[test]
    fn requires_single_index_to_begin_at_a_stick() {
        let constant = |number: i64| TestExpr(AffineExpression::Constant(number));
        assert!(is_list(&[constant(0)], &[5], &[1, 64]));
        assert!(!is_list(&[constant(1)], &[5], &[1, 64]));
        assert!(is_list(&[constant(96)], &[128], &[1, 64]));
        assert!(is_list(&[constant(0)], &[1], &[1, 64]));
    }

    #[test]
    fn accepts_row_of_indices_but_no_column() {
        let constant = |number: i64| TestExpr(AffineExpression::Constant(number));
        assert!(is_list(&[constant(2), d(0)], &[5, 9], &[9, 64]));
        assert!(!is_list(&[constant(2), d(0) + 1], &[5, 9], &[8, 64]));
        assert!(!is_list(&[d(0), constant(0)], &[5, 9], &[5, 64]));
        assert!(is_list(&[d(0), constant(0)], &[5, 1], &[5, 64]));
    }

    #[test]
    fn rejects_strided_and_diagonal_indices() {
        assert!(!is_list(&[d(0) * 2], &[16], &[8, 64]));
        assert!(!is_list(&[d(0).floordiv(4), d(0).modulo(4)], &[4, 4], &[16, 64]));
        assert!(!is_list(&[d(0), d(0)], &[4, 4], &[4, 64]));
    }
}
