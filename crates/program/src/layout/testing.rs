//! Expressions of unit tests, written as they print, and points.

use super::{Index, Regrouped};
use crate::affine::Expr;

/// `d0`, `d1`, numbers and the four operations, to write expressions as they print.
#[derive(Clone)]
pub(super) struct E(pub(super) Expr);

impl E {
    pub(super) fn floordiv(self, divisor: i64) -> Self {
        Self(Expr::FloorDiv(Box::new(self.0), Box::new(Expr::Constant(divisor))))
    }

    pub(super) fn modulo(self, size: i64) -> Self {
        Self(Expr::Mod(Box::new(self.0), Box::new(Expr::Constant(size))))
    }
}

impl std::ops::Add for E {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(Expr::Add(Box::new(self.0), Box::new(other.0)))
    }
}

impl std::ops::Add<i64> for E {
    type Output = Self;
    fn add(self, offset: i64) -> Self {
        self + Self(Expr::Constant(offset))
    }
}

impl std::ops::Mul<i64> for E {
    type Output = Self;
    fn mul(self, factor: i64) -> Self {
        Self(Expr::Mul(Box::new(self.0), Box::new(Expr::Constant(factor))))
    }
}

pub(super) const fn d(dim: usize) -> E {
    E(Expr::Dim(dim))
}

/// The index of an expression, which must come to the same at every point.
pub(super) fn index(expr: &E, sizes: &[i64]) -> Index {
    let index = Index::of(&expr.0, sizes).unwrap();
    let mut last = i64::MIN;
    for point in points(sizes) {
        assert_eq!(index.evaluate(&point), expr.0.evaluate(&point), "{:?} at {point:?}", expr.0);
        last = last.max(index.evaluate(&point));
    }
    assert!(last <= index.last());
    assert_eq!(Index::of(&index.to_expr(sizes).unwrap(), sizes).unwrap(), index, "there and back");
    index
}

/// Every point of a space, in row-major order.
pub(super) fn points(sizes: &[i64]) -> impl Iterator<Item = Vec<i64>> {
    let total: i64 = sizes.iter().product();
    (0..total).map(|position| unflatten(position, sizes))
}

/// The point at a row-major position.
pub(super) fn unflatten(mut position: i64, sizes: &[i64]) -> Vec<i64> {
    let mut point = vec![0; sizes.len()];
    for dim in (0..sizes.len()).rev() {
        (point[dim], position) = (position % sizes[dim], position / sizes[dim]);
    }
    point
}

/// The copy, read by the reader, is the buffer, read by the reader.
pub(super) fn shows_the_same(found: &Regrouped, exprs: &[Expr], space: &[i64]) {
    for point in points(space) {
        let in_copy: Vec<i64> = found.read.iter().map(|expr| expr.evaluate(&point)).collect();
        assert!(in_copy.iter().zip(&found.shape).all(|(at, size)| (0..*size).contains(at)), "{in_copy:?} of {:?}", found.shape);
        let through: Vec<i64> = found.from.iter().map(|expr| expr.evaluate(&in_copy)).collect();
        assert_eq!(through, exprs.iter().map(|expr| expr.evaluate(&point)).collect::<Vec<_>>());
    }
}

/// Returns the expressions.
pub(super) fn exprs(of: &[E]) -> Vec<Expr> {
    of.iter().map(|expr| expr.0.clone()).collect()
}
