//! Helpers of unit tests: affine expressions that are written with operators, and points of iteration spaces.

use super::{RegroupedCopy, TensorIndex};
use crate::affine::AffineExpression;

/// Expression built with operators from `d0`, `d1` and numbers.
#[derive(Clone)]
pub(super) struct TestExpr(pub(super) AffineExpression);

impl TestExpr {
    pub(super) fn floordiv(self, divisor: i64) -> Self {
        Self(AffineExpression::FloorDiv(Box::new(self.0), Box::new(AffineExpression::Constant(divisor))))
    }

    pub(super) fn modulo(self, size: i64) -> Self {
        Self(AffineExpression::Mod(Box::new(self.0), Box::new(AffineExpression::Constant(size))))
    }
}

impl std::ops::Add for TestExpr {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(AffineExpression::Add(Box::new(self.0), Box::new(other.0)))
    }
}

impl std::ops::Add<i64> for TestExpr {
    type Output = Self;
    fn add(self, offset: i64) -> Self {
        self + Self(AffineExpression::Constant(offset))
    }
}

impl std::ops::Mul<i64> for TestExpr {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(AffineExpression::Mul(Box::new(self.0), Box::new(AffineExpression::Constant(factor))))
    }
}

/// Returns the expression `d0`, `d1`, ... of a dimension.
pub(super) const fn d(dim: usize) -> TestExpr {
    TestExpr(AffineExpression::Dim(dim))
}

/// Converts an expression to an index, and checks that both have the same value at every point, and that the conversion
/// of the index to an expression and back returns the same index.
pub(super) fn checked_index(expr: &TestExpr, sizes: &[i64]) -> TensorIndex {
    let index = TensorIndex::from_expr(&expr.0, sizes).unwrap();
    let mut largest = i64::MIN;
    for point in points(sizes) {
        assert_eq!(index.evaluate(&point), expr.0.evaluate(&point), "{:?} at {point:?}", expr.0);
        largest = largest.max(index.evaluate(&point));
    }
    assert!(largest <= index.max_value());
    assert_eq!(TensorIndex::from_expr(&index.to_expr(sizes).unwrap(), sizes).unwrap(), index, "there and back");
    index
}

/// Returns every point of a space, in row-major order.
pub(super) fn points(sizes: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    let total: i64 = sizes.iter().product();
    (0..total).map(|position| unflatten(position, sizes))
}

/// Returns the point at a row-major position.
pub(super) fn unflatten(mut position: i64, sizes: &[i64]) -> Vec<i64> {
    let mut point = vec![0; sizes.len()];
    for dim in (0..sizes.len()).rev() {
        (point[dim], position) = (position % sizes[dim], position / sizes[dim]);
    }
    point
}

/// Checks that a reader that accesses a buffer at `exprs` accesses the same elements through the copy.
pub(super) fn assert_same_elements(copy: &RegroupedCopy, exprs: &[AffineExpression], space: &[i64]) {
    for point in points(space) {
        let in_copy: Vec<i64> = copy.read.iter().map(|expr| expr.evaluate(&point)).collect();
        assert!(
            in_copy.iter().zip(&copy.shape).all(|(at, size)| (0..*size).contains(at)),
            "{in_copy:?} of {:?}",
            copy.shape
        );
        let in_buffer: Vec<i64> = copy.from.iter().map(|expr| expr.evaluate(&in_copy)).collect();
        assert_eq!(in_buffer, exprs.iter().map(|expr| expr.evaluate(&point)).collect::<Vec<_>>());
    }
}

/// Returns the wrapped expressions.
pub(super) fn to_exprs(exprs: &[TestExpr]) -> Vec<AffineExpression> {
    exprs.iter().map(|expr| expr.0.clone()).collect()
}
