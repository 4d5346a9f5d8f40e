//! Indices that are sums of multiples of iteration dimensions: strides, dilations, and the windows of convolutions and
//! poolings.

use crate::codes;
use program::affine::AffineExpression;

/// Maximum number of ops that an operation over windows is split into.
pub(in crate::import) const MAX_WINDOW_PARTS: i64 = 1024;

/// Index that is a sum of multiples of iteration dimensions and a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct LinearIndex {
    /// Dimensions of size greater than 1 with their factors, each dimension once, smallest factor first.
    pub(in crate::import) terms: Vec<(usize, i64)>,
    /// Constant term.
    pub(in crate::import) constant: i64,
}

impl LinearIndex {
    /// Parses an expression; returns None if it is not linear.
    pub(in crate::import) fn from_expr(expr: &AffineExpression, sizes: &[i64]) -> Option<Self> {
        let mut sum = Self { terms: Vec::new(), constant: 0 };
        if !sum.add(expr, 1) {
            return None;
        }
        sum.terms.retain(|&(dim, factor)| sizes[dim] > 1 && factor != 0);
        sum.terms.sort_by_key(|&(dim, factor)| (factor, dim));
        Some(sum)
    }

    fn add(&mut self, expr: &AffineExpression, factor: i64) -> bool {
        match expr {
            AffineExpression::Constant(number) => self.constant += number * factor,
            AffineExpression::Dim(dim) => match self.terms.iter_mut().find(|(known, _)| known == dim) {
                Some((_, known)) => *known += factor,
                None => self.terms.push((*dim, factor)),
            },
            AffineExpression::Add(lhs, rhs) => return self.add(lhs, factor) && self.add(rhs, factor),
            AffineExpression::Mul(lhs, rhs) => match (lhs.as_ref(), rhs.as_ref()) {
                (inner, AffineExpression::Constant(times)) | (AffineExpression::Constant(times), inner) => {
                    return self.add(inner, factor * times);
                }
                _ => return false,
            },
            _ => return false,
        }
        true
    }

    /// Returns whether two points of the iteration space have the same index.
    pub(in crate::import) fn overlaps(&self, sizes: &[i64]) -> bool {
        let mut reach = 0;
        self.terms.iter().any(|&(dim, factor)| {
            let overlaps = factor <= reach;
            reach += factor * (sizes[dim] - 1);
            overlaps
        })
    }

    /// Returns whether the dimensions are digits of the index. The index then increases in row-major order, no two
    /// points share an index, and no digit carries into the next one.
    pub(in crate::import) fn is_mixed_radix(&self, sizes: &[i64]) -> bool {
        let has_room = |pair: &[(usize, i64)]| {
            let ((dim, factor), (_, next)) = (pair[0], pair[1]);
            next % factor == 0 && self.constant.rem_euclid(next) / factor + sizes[dim] <= next / factor
        };
        self.terms.iter().all(|&(_, factor)| factor > 0) && self.terms.windows(2).all(has_room)
    }

    /// Returns the index as an expression, with each dimension `dim` replaced by `of(dim)`.
    pub(in crate::import) fn to_expr(&self, of: impl Fn(usize) -> AffineExpression) -> AffineExpression {
        let term = |&(dim, factor): &(usize, i64)| of(dim).times(factor);
        let constant =
            (self.constant != 0 || self.terms.is_empty()).then_some(AffineExpression::Constant(self.constant));
        let sum = self.terms.iter().rev().map(term).chain(constant);
        sum.reduce(AffineExpression::plus).unwrap_or(AffineExpression::Constant(0))
    }
}

/// Returns the reason why an index map is not a view, if any: overlapping windows, as in a convolution, or a decreasing
/// index.
pub(in crate::import) fn find_view_error(map: &[AffineExpression], sizes: &[i64]) -> Option<String> {
    for linear in map.iter().filter_map(|expr| LinearIndex::from_expr(expr, sizes)) {
        if linear.terms.iter().any(|&(_, factor)| factor < 0) {
            return Some(
                codes::INDEX_COMPUTED
                    .format("backwards, which is not supported; reverse the tensor outside of the program"),
            );
        }
        if linear.overlaps(sizes) {
            return Some(codes::TOO_MANY_PARTS.format(format_args!(
                "in overlapping windows of more than {MAX_WINDOW_PARTS} parts; use smaller windows"
            )));
        }
    }
    None
}

/// Returns the window dimensions of operands, such as those of a kernel: for each fixed point of them, the operand
/// indices are injective. Reduced dimensions come first, since summing over them costs only an addition, then the
/// shortest ones.
pub(in crate::import) fn find_window_dims(
    maps: &[&[AffineExpression]],
    sizes: &[i64],
    is_reduction: &[bool],
) -> Vec<usize> {
    let mut sizes = sizes.to_vec();
    let mut found = Vec::new();
    for expr in maps.iter().copied().flatten() {
        while let Some(linear) = LinearIndex::from_expr(expr, &sizes)
            .filter(|linear| linear.terms.len() > 1 && !linear.is_mixed_radix(&sizes))
        {
            let along =
                linear.terms.iter().map(|&(dim, _)| dim).min_by_key(|&dim| (!is_reduction[dim], sizes[dim], dim));
            let Some(dim) = along else { break };
            found.push(dim);
            sizes[dim] = 1;
        }
    }
    found.sort_unstable();
    found
}

/// Returns the points of an iteration space with these sizes, the last dimension fastest.
pub(in crate::import) fn enumerate_points(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![Vec::new()], |points, &size| {
        points.iter().flat_map(|point| (0..size).map(move |index| [point.as_slice(), &[index]].concat())).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dim(dim: usize, factor: i64) -> AffineExpression {
        AffineExpression::Mul(Box::new(AffineExpression::Dim(dim)), Box::new(AffineExpression::Constant(factor)))
    }

    fn sum(lhs: AffineExpression, rhs: AffineExpression) -> AffineExpression {
        AffineExpression::Add(Box::new(lhs), Box::new(rhs))
    }

    #[test]
    fn finds_dims_of_kernel() {
        // Rows of 7 with a kernel of 3, stride 2; columns of 7 with a kernel of 2, stride 2, which do not overlap.
        let map = [
            AffineExpression::Dim(0),
            sum(dim(1, 2), AffineExpression::Dim(3)),
            sum(dim(2, 2), AffineExpression::Dim(4)),
        ];
        let sizes = [4, 3, 3, 3, 2];
        assert_eq!(find_window_dims(&[&map], &sizes, &[false, false, false, true, true]), [3]);
        assert_eq!(find_window_dims(&[&map], &[4, 3, 3, 1, 1], &[false, false, false, true, true]), [0; 0]);
        assert_eq!(
            find_window_dims(&[&[sum(AffineExpression::Dim(0), AffineExpression::Dim(1))]], &[9, 3], &[false, false]),
            [1],
            "an unfolding"
        );
    }

    #[test]
    fn detects_overlap_of_dilated_windows() {
        let linear = |a: i64, b: i64, sizes: &[i64]| {
            LinearIndex::from_expr(&sum(dim(0, a), dim(1, b)), sizes).map(|linear| linear.overlaps(sizes))
        };
        assert_eq!(linear(1, 4, &[4, 3]), Some(false));
        assert_eq!(linear(1, 3, &[4, 3]), Some(true));
        assert_eq!(linear(2, 1, &[4, 2]), Some(false));
        assert_eq!(linear(2, 2, &[4, 2]), Some(true));
        assert_eq!(linear(1, 1, &[4, 1]), Some(false));
    }

    #[test]
    fn rejects_maps_that_are_no_views() {
        let rejected = |expr: AffineExpression, sizes: &[i64]| find_view_error(&[expr], sizes);
        let both = || sum(AffineExpression::Dim(0), AffineExpression::Dim(1));
        assert!(rejected(both(), &[8, 3]).is_some_and(|message| message.contains("1024 parts")));
        assert_eq!(rejected(both(), &[8, 1]), None);
        assert_eq!(rejected(sum(dim(0, 3), AffineExpression::Dim(1)), &[8, 3]), None);
        let backwards = sum(dim(0, -1), AffineExpression::Constant(7));
        assert!(rejected(backwards, &[8]).is_some_and(|message| message.contains("backwards")));
    }

    #[test]
    fn rejects_digits_that_carry() {
        let is_digits = |a: i64, b: i64, constant: i64| {
            let expr = sum(sum(dim(0, a), dim(1, b)), AffineExpression::Constant(constant));
            LinearIndex::from_expr(&expr, &[5, 2]).map(|linear| linear.is_mixed_radix(&[5, 2]))
        };
        assert_eq!(
            [(4, 1, 0), (4, 1, 2), (4, 1, 6)].map(|(a, b, constant)| is_digits(a, b, constant)),
            [Some(true); 3]
        );
        assert_eq!(is_digits(4, 1, 3), Some(false), "3 + 1 is the next window");
        assert_eq!(is_digits(5, 2, 0), Some(false), "windows of 5 are no multiple of 2");
        assert_eq!(is_digits(4, 2, 1), Some(true));
    }

    #[test]
    fn parses_index_as_sum_of_terms() {
        let expr = sum(sum(dim(2, 4), AffineExpression::Constant(3)), sum(AffineExpression::Dim(0), dim(1, 8)));
        let linear = LinearIndex::from_expr(&expr, &[4, 5, 1]).expect("a sum");
        assert_eq!((linear.terms.as_slice(), linear.constant), ([(0, 1), (1, 8)].as_slice(), 3));
        assert_eq!(
            linear.to_expr(AffineExpression::Dim),
            sum(sum(dim(1, 8), AffineExpression::Dim(0)), AffineExpression::Constant(3))
        );
        assert_eq!(
            LinearIndex::from_expr(
                &AffineExpression::Mod(Box::new(AffineExpression::Dim(0)), Box::new(AffineExpression::Constant(2))),
                &[4]
            ),
            None
        );
    }

    #[test]
    fn enumerates_last_dimension_fastest() {
        assert_eq!(enumerate_points(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(enumerate_points(&[]), [[0_i64; 0]]);
    }
}
