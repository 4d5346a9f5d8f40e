//! What ops need of the views that they read, whatever the layouts: a dimension of the device's memory has one index, and an op finds its
//! roles (what is reduced, what only one operand has) by the operands that move along a dimension.

use super::{Digit, Index, OperandView, split_iteration};

/// The most dimensions beside K that only the left operand of a product has, and that both have ("torch-spyre facts, C").
const MOST_MATMUL_DIMS: usize = 2;

/// A dimension of a view that moves two dimensions of its buffer at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagonal {
    /// The dimension of the view.
    pub dim: usize,
    /// A dimension of the buffer that moves with it.
    pub first: usize,
    /// Another one.
    pub second: usize,
}

/// The first diagonal that the indices of a buffer are.
#[must_use]
pub fn diagonal(indices: &[Index]) -> Option<Diagonal> {
    let overlap = |a: &Digit, b: &Digit| a.dim == b.dim && a.divisor.max(b.divisor) < a.end().min(b.end());
    let digits = || indices.iter().enumerate().flat_map(|(behind, index)| index.digits.iter().map(move |digit| (behind, digit)));
    digits().find_map(|(first, digit)| {
        let second = digits().find(|(second, other)| *second > first && overlap(digit, other));
        second.map(|(second, _)| Diagonal { dim: digit.dim, first, second })
    })
}

/// Whether an index is one whole dimension of size `range`, from some position on.
#[must_use]
pub fn is_whole_dim(index: &Index, range: i64) -> bool {
    matches!(index.digits.as_slice(), [digit] if digit.divisor == 1 && digit.factor == 1 && digit.size == range)
}

/// Whether the indices move along all of a dimension of size `range`: no two points of it show the same element.
#[must_use]
pub fn has_dim(indices: &[Index], dim: usize, range: i64) -> bool {
    let digits = indices.iter().flat_map(|index| &index.digits).filter(|digit| digit.dim == dim);
    digits.map(|digit| digit.size).fold(1_i64, i64::saturating_mul) >= range
}

/// Whether the device's matmul has enough dimensions for a product of these operands over an iteration space with N and K last.
///
/// Views cut dimensions into parts, each of which is a dimension for the device. What cannot be cut is another matter.
#[must_use]
pub fn fits_matmul(ranges: &[i64], left: OperandView<'_>, right: OperandView<'_>) -> bool {
    let Ok(split) = split_iteration(ranges, &[left, right]) else { return true };
    let moves = |operand: usize, part: usize| {
        let coordinates = &split.operands[operand].indices;
        coordinates.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == part))
    };
    let n_outer = split.parts[..ranges.len().saturating_sub(2)].iter().map(Vec::len).sum::<usize>();
    let flat = split.parts.concat();
    let (shared, kept): (Vec<usize>, Vec<usize>) = (0..n_outer).filter(|&part| flat[part] > 1).partition(|&part| moves(1, part));
    shared.len() <= MOST_MATMUL_DIMS && kept.len() <= MOST_MATMUL_DIMS
}

/// Whether a view cuts the dimensions of a product in front of N and K into parts.
#[must_use]
pub fn cuts_outer_dims(ranges: &[i64], view: OperandView<'_>) -> bool {
    let outer = ranges.len().saturating_sub(2);
    split_iteration(ranges, &[view]).is_ok_and(|split| split.parts[..outer].iter().any(|parts| parts.len() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::testing::{E, d, index};

    fn indices(exprs: &[E], ranges: &[i64]) -> Vec<Index> {
        exprs.iter().map(|expr| index(expr, ranges)).collect()
    }

    #[test]
    fn a_diagonal_moves_two_dimensions_by_the_same_digits() {
        let found = |exprs: &[E], ranges: &[i64]| diagonal(&indices(exprs, ranges)).map(|found| (found.dim, found.first, found.second));
        assert_eq!(found(&[d(0), d(1), d(0)], &[8, 4]), Some((0, 0, 2)));
        assert_eq!(found(&[d(0).floordiv(2), d(0) + 1], &[8]), Some((0, 0, 1)));
        assert_eq!(found(&[d(0).floordiv(4), d(0).modulo(4)], &[8]), None, "heads are no diagonal");
        assert_eq!(found(&[d(0), d(0)], &[1]), None, "one element is none");
    }

    #[test]
    fn repeated_elements_are_no_dimension() {
        let has = |exprs: &[E], ranges: &[i64], dim: usize| has_dim(&indices(exprs, ranges), dim, ranges[dim]);
        assert!(has(&[d(0).floordiv(4), d(1), d(0).modulo(4)], &[8, 3], 0));
        assert!(!has(&[d(0).floordiv(4), d(1)], &[8, 3], 0), "each one four times");
        assert!(!has(&[d(0).modulo(4), d(1)], &[8, 3], 0), "twice over");
        assert!(!has(&[d(1)], &[8, 3], 0));
        assert!(has(&[d(1)], &[1, 3], 0));
    }

    #[test]
    fn a_product_has_two_dimensions_of_each_kind() {
        let fits = |ranges: &[i64], left: (&[i64], &[E]), right: (&[i64], &[E])| {
            let (of_left, of_right) = (indices(left.1, ranges), indices(right.1, ranges));
            let view = |sizes, indices| OperandView { sizes, indices };
            fits_matmul(ranges, view(left.0, &of_left), view(right.0, &of_right))
        };
        let weight: (&[i64], &[E]) = (&[64, 128], &[d(3), d(2)]);
        let windows = [d(0).floordiv(4), d(0).modulo(4) + 1, d(1) + 2, d(3)];
        assert!(!fits(&[16, 4, 128, 64], (&[4, 5, 6, 64], &windows), weight), "three dimensions of rows");
        assert!(fits(&[16, 4, 128, 64], (&[16, 4, 64], &[d(0), d(1), d(3)]), weight));
        let shared: (&[i64], &[E]) = (&[4, 64, 128], &[d(0).floordiv(4), d(3), d(2)]);
        assert!(fits(&[16, 4, 128, 64], (&[16, 4, 64], &[d(0), d(1), d(3)]), shared), "four queries a key");
        let batches: (&[i64], &[E]) = (&[4, 2, 2, 64, 128], &[d(0).floordiv(4), d(0).floordiv(2).modulo(2), d(0).modulo(2), d(3), d(2)]);
        assert!(!fits(&[16, 4, 128, 64], (&[16, 4, 64], &[d(0), d(1), d(3)]), batches), "both are cut where one of them is");
    }
}
