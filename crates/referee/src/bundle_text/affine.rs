//! Affine maps with one result.

/// An affine expression over dimensions and symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Affine {
    /// A number.
    Constant(i64),
    /// An operand: the dimensions, then the symbols.
    Operand(usize),
    /// A sum.
    Add(Box<Affine>, Box<Affine>),
    /// A product.
    Mul(Box<Affine>, Box<Affine>),
    /// A quotient, rounded down.
    FloorDiv(Box<Affine>, Box<Affine>),
    /// A quotient, rounded up.
    CeilDiv(Box<Affine>, Box<Affine>),
    /// The remainder of the quotient rounded down.
    Mod(Box<Affine>, Box<Affine>),
}

/// `(d0, ...)[s0, ...] -> (expression)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineMap {
    /// The number of dimensions.
    pub n_dims: usize,
    /// The number of symbols.
    pub n_symbols: usize,
    /// The result.
    pub result: Affine,
}

impl Affine {
    /// The value for the operands; nothing on overflow or division by less than 1.
    #[must_use]
    pub fn value(&self, operands: &[i64]) -> Option<i64> {
        match self {
            Self::Constant(number) => Some(*number),
            Self::Operand(index) => operands.get(*index).copied(),
            Self::Add(left, right) => left.value(operands)?.checked_add(right.value(operands)?),
            Self::Mul(left, right) => left.value(operands)?.checked_mul(right.value(operands)?),
            Self::FloorDiv(left, right) => Some(left.value(operands)?.div_euclid(positive(right, operands)?)),
            Self::Mod(left, right) => Some(left.value(operands)?.rem_euclid(positive(right, operands)?)),
            Self::CeilDiv(left, right) => {
                let divisor = positive(right, operands)?;
                Some(left.value(operands)?.checked_add(divisor - 1)?.div_euclid(divisor))
            }
        }
    }
}

fn positive(divisor: &Affine, operands: &[i64]) -> Option<i64> {
    divisor.value(operands).filter(|&divisor| divisor > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand(index: usize) -> Box<Affine> {
        Box::new(Affine::Operand(index))
    }

    #[test]
    fn division_rounds_as_in_mlir() {
        let three = || Box::new(Affine::Constant(3));
        assert_eq!(Affine::FloorDiv(operand(0), three()).value(&[-1]), Some(-1));
        assert_eq!(Affine::CeilDiv(operand(0), three()).value(&[4]), Some(2));
        assert_eq!(Affine::Mod(operand(0), three()).value(&[-1]), Some(2));
        assert_eq!(Affine::Mod(operand(0), operand(1)).value(&[1, 0]), None);
    }

    #[test]
    fn overflow_has_no_value() {
        assert_eq!(Affine::Add(operand(0), operand(0)).value(&[i64::MAX]), None);
        assert_eq!(Affine::Mul(operand(0), operand(0)).value(&[i64::MAX]), None);
    }
}
