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
