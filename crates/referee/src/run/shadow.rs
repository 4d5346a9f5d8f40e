//! Numbers of f64 with a first-order bound on their accumulated rounding error.
//!
//! Where numbers cancel, or a logarithm is taken next to 1, two computations in f64 are apart by what each of them has rounded before, which
//! no magnitude of the result shows. To first order that follows each operation: what its operands are off by, times how steep it is there,
//! and the rounding of its own result.

use element::{Arithmetic, Binary, Exact, Unary};

/// Unit roundoff of f64: the maximum relative rounding error.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Error of an f64 function, in unit roundoffs.
const FUNCTION_UNITS: f64 = 4.0;

/// No function here is steeper than this where it has no steepness of its own below.
const STEEPEST: f64 = 1.13;

/// A number and its error bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shadow {
    pub(super) number: f64,
    pub(super) off: f64,
}

impl Shadow {
    /// Returns an exact number.
    pub(super) const fn given(number: f64) -> Self {
        Self { number, off: 0.0 }
    }

    /// Returns a result with the error propagated from its operands, plus its own rounding.
    fn rounded(number: f64, off: f64, units: f64) -> Self {
        let off = if number.is_finite() { (units * UNIT).mul_add(number.abs(), off) } else { 0.0 };
        Self { number, off: if off.is_nan() { f64::INFINITY } else { off } }
    }

    /// A sum of `count` products that are off by `off`, and whose magnitudes add up to `size`.
    pub(super) fn summed(number: f64, off: f64, count: usize, size: f64) -> Self {
        Self::rounded(number, (count as f64 * UNIT).mul_add(size, off), 1.0)
    }
}

/// Arithmetic with error bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shadows;

impl Arithmetic for Shadows {
    type Element = Shadow;

    fn number(&self, number: f64) -> Shadow {
        Shadow::given(number)
    }

    fn poison(&self) -> Shadow {
        Shadow::given(f64::NAN)
    }

    fn is_poison(&self, element: Shadow) -> bool {
        element.number.is_nan()
    }

    fn is_zero(&self, element: Shadow) -> bool {
        element.number == 0.0
    }

    fn add(&self, left: Shadow, right: Shadow) -> Shadow {
        Shadow::rounded(left.number + right.number, left.off + right.off, 1.0)
    }

    fn sub(&self, left: Shadow, right: Shadow) -> Shadow {
        Shadow::rounded(left.number - right.number, left.off + right.off, 1.0)
    }

    fn mul(&self, left: Shadow, right: Shadow) -> Shadow {
        let off = left.off * right.number.abs() + right.off * left.number.abs();
        Shadow::rounded(left.number * right.number, off, 1.0)
    }

    fn div(&self, left: Shadow, right: Shadow) -> Shadow {
        let number = left.number / right.number;
        Shadow::rounded(number, number.abs().mul_add(right.off, left.off) / right.number.abs(), 1.0)
    }

    fn maximum(&self, left: Shadow, right: Shadow) -> Shadow {
        Shadow { number: Exact.maximum(left.number, right.number), off: left.off.max(right.off) }
    }

    fn minimum(&self, left: Shadow, right: Shadow) -> Shadow {
        Shadow { number: Exact.minimum(left.number, right.number), off: left.off.max(right.off) }
    }

    fn compare(&self, comparison: Binary, left: Shadow, right: Shadow) -> Shadow {
        let off = left.off + right.off;
        let is_open = off > 0.0 && (left.number - right.number).abs() <= off;
        Shadow { number: Exact.compare(comparison, left.number, right.number), off: f64::from(u8::from(is_open)) }
    }

    fn select(&self, condition: Shadow, yes: Shadow, no: Shadow) -> Shadow {
        let number = Exact.select(condition.number, yes.number, no.number);
        let apart = if condition.off > 0.0 { (yes.number - no.number).abs() } else { 0.0 };
        Shadow { number, off: apart + yes.off.max(no.off) }
    }

    fn apply(&self, function: Unary, constants: &[Shadow], x: Shadow) -> Shadow {
        let numbers: Vec<f64> = constants.iter().map(|constant| constant.number).collect();
        let number = Exact.apply(function, &numbers, x.number);
        let off = match function {
            Unary::Abs | Unary::Neg | Unary::Relu | Unary::Clip => return Shadow { number, off: x.off },
            Unary::Floor => f64::from(u8::from((x.number - x.off).floor() != (x.number + x.off).floor())),
            _ if x.off == 0.0 => 0.0,
            Unary::Exp => number * x.off,
            Unary::Log => x.off / x.number.abs(),
            Unary::Sqrt => (x.off / (2.0 * number)).min(x.off.sqrt()),
            Unary::Rsqrt => number * x.off / (2.0 * x.number.abs()),
            Unary::Reciprocal => number * number * x.off,
            Unary::Gelu | Unary::Sigmoid | Unary::Silu | Unary::Softplus | Unary::Tanh => STEEPEST * x.off,
        };
        Shadow::rounded(number, off, FUNCTION_UNITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third is rounded in f64; the resulting error is known.
    #[test]
    fn what_is_off_follows_each_operation() {
        let third = Shadows.div(Shadow::given(1.0), Shadow::given(3.0));
        assert_eq!(third.off, UNIT / 3.0);
        let sum = Shadows.add(Shadows.add(third, third), third);
        let left = Shadows.sub(sum, Shadow::given(1.0));
        assert!(left.number == 0.0 && left.off > 1.0 * UNIT && left.off < 4.0 * UNIT, "{left:?}");
        let log = Shadows.apply(Unary::Log, &[], sum);
        assert!(log.number.abs() <= log.off && log.off < 8.0 * UNIT, "{log:?}");
        assert!(Shadows.apply(Unary::Floor, &[], sum).off >= 1.0);
        assert_eq!(Shadows.compare(Binary::Equal, sum, Shadow::given(1.0)).off, 1.0);
        assert_eq!(Shadows.compare(Binary::Equal, sum, Shadow::given(2.0)).off, 0.0);
    }

    #[test]
    fn what_was_given_is_what_it_is() {
        let (x, y) = (Shadow::given(1.5), Shadow::given(-0.25));
        assert_eq!(Shadows.maximum(x, y), x);
        assert_eq!(Shadows.apply(Unary::Neg, &[], x), Shadow::given(-1.5));
        assert_eq!(Shadows.select(Shadow::given(1.0), x, y), x);
        assert_eq!(Shadows.mul(x, y).off, UNIT * 0.375);
    }
}
