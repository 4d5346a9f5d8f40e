//! Affine expressions as plain values, for algorithms that know no MLIR.

/// An affine expression as a plain value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// A number.
    Constant(i64),
    /// Dimension `n` of the map.
    Dim(usize),
    /// Symbol `n` of the map.
    Symbol(usize),
    /// A sum.
    Add(Box<Expr>, Box<Expr>),
    /// A product.
    Mul(Box<Expr>, Box<Expr>),
    /// Division that rounds down.
    FloorDiv(Box<Expr>, Box<Expr>),
    /// Division that rounds up.
    CeilDiv(Box<Expr>, Box<Expr>),
    /// Remainder.
    Mod(Box<Expr>, Box<Expr>),
}

impl Expr {
    /// The value at a point; division rounds as in MLIR. Symbols are zero.
    ///
    /// # Panics
    /// If the point has fewer dimensions than the expression, or on a division by zero.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        let both = |lhs: &Self, rhs: &Self| (lhs.evaluate(point), rhs.evaluate(point));
        match self {
            Self::Constant(number) => *number,
            Self::Dim(dim) => point[*dim],
            Self::Symbol(_) => 0,
            Self::Add(lhs, rhs) => lhs.evaluate(point) + rhs.evaluate(point),
            Self::Mul(lhs, rhs) => lhs.evaluate(point) * rhs.evaluate(point),
            Self::FloorDiv(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs);
                lhs.div_euclid(rhs)
            }
            Self::CeilDiv(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs);
                -(-lhs).div_euclid(rhs)
            }
            Self::Mod(lhs, rhs) => {
                let (lhs, rhs) = both(lhs, rhs);
                lhs.rem_euclid(rhs)
            }
        }
    }

    /// The dimensions that it depends on, each once.
    #[must_use]
    pub fn dims(&self) -> Vec<usize> {
        let mut dims = Vec::new();
        self.note_dims(&mut dims);
        dims
    }

    fn note_dims(&self, dims: &mut Vec<usize>) {
        match self {
            Self::Dim(dim) if !dims.contains(dim) => dims.push(*dim),
            Self::Dim(_) | Self::Constant(_) | Self::Symbol(_) => {}
            Self::Add(lhs, rhs) | Self::Mul(lhs, rhs) | Self::FloorDiv(lhs, rhs) | Self::CeilDiv(lhs, rhs) | Self::Mod(lhs, rhs) => {
                lhs.note_dims(dims);
                rhs.note_dims(dims);
            }
        }
    }

    /// The expression with something else in the place of each dimension.
    #[must_use]
    pub fn with_dims(&self, dims: &impl Fn(usize) -> Self) -> Self {
        let of = |expr: &Self| Box::new(expr.with_dims(dims));
        match self {
            Self::Dim(dim) => dims(*dim),
            Self::Constant(_) | Self::Symbol(_) => self.clone(),
            Self::Add(lhs, rhs) => Self::Add(of(lhs), of(rhs)),
            Self::Mul(lhs, rhs) => Self::Mul(of(lhs), of(rhs)),
            Self::FloorDiv(lhs, rhs) => Self::FloorDiv(of(lhs), of(rhs)),
            Self::CeilDiv(lhs, rhs) => Self::CeilDiv(of(lhs), of(rhs)),
            Self::Mod(lhs, rhs) => Self::Mod(of(lhs), of(rhs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(build: impl Fn(Box<Expr>, Box<Expr>) -> Expr, lhs: i64, rhs: i64) -> i64 {
        build(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(rhs))).evaluate(&[lhs])
    }

    #[test]
    fn division_rounds_down_or_up_and_the_remainder_is_not_negative() {
        assert_eq!([7, -7].map(|lhs| of(Expr::FloorDiv, lhs, 2)), [3, -4]);
        assert_eq!([7, -7].map(|lhs| of(Expr::CeilDiv, lhs, 2)), [4, -3]);
        assert_eq!([7, -7].map(|lhs| of(Expr::Mod, lhs, 4)), [3, 1]);
    }

    #[test]
    fn dimensions_are_replaced_everywhere() {
        let sum = Expr::Add(Box::new(Expr::Mod(Box::new(Expr::Dim(0)), Box::new(Expr::Constant(4)))), Box::new(Expr::Dim(1)));
        assert_eq!(sum.with_dims(&|dim| Expr::Constant([7, 10][dim])).evaluate(&[]), 13);
    }
}
