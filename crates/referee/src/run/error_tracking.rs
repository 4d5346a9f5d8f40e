//! Numbers of f64 with a first-order bound on their accumulated rounding error.
//!
//! After a cancellation, or for a logarithm near 1, the error of earlier roundings dominates, and the magnitude of the
//! result does not show it. To first order, the error of a result is the error of each operand times the slope there,
//! plus the rounding of the result itself.

use element::{Arithmetic, BinaryFunction, F64Arithmetic, UnaryFunction};

/// Unit roundoff of f64: the maximum relative rounding error.
const UNIT_ROUNDOFF: f64 = f64::EPSILON / 2.0;

/// Error of an f64 function, in unit roundoffs.
const FUNCTION_ROUNDOFFS: f64 = 4.0;

/// Upper bound on the slope of all functions without a slope of their own below.
const MAX_SLOPE: f64 = 1.13;

/// A number and its error bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorTrackedNumber {
    pub(super) number: f64,
    pub(super) off: f64,
}

impl ErrorTrackedNumber {
    /// Returns an exact number.
    pub(super) const fn from_exact(number: f64) -> Self {
        Self { number, off: 0.0 }
    }

    /// Returns a result with the error propagated from its operands, plus its own rounding.
    fn with_rounding(number: f64, off: f64, units: f64) -> Self {
        let off = if number.is_finite() { (units * UNIT_ROUNDOFF).mul_add(number.abs(), off) } else { 0.0 };
        Self { number, off: if off.is_nan() { f64::INFINITY } else { off } }
    }

    /// Returns a sum of `count` products. `off` is the error of the products, and `size` the sum of their magnitudes.
    pub(super) fn from_sum(number: f64, off: f64, count: usize, size: f64) -> Self {
        Self::with_rounding(number, (count as f64 * UNIT_ROUNDOFF).mul_add(size, off), 1.0)
    }
}

/// Arithmetic with error bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorTrackingArithmetic;

impl Arithmetic for ErrorTrackingArithmetic {
    type Element = ErrorTrackedNumber;

    fn constant(&self, number: f64) -> ErrorTrackedNumber {
        ErrorTrackedNumber::from_exact(number)
    }

    fn poison(&self) -> ErrorTrackedNumber {
        ErrorTrackedNumber::from_exact(f64::NAN)
    }

    fn is_poison(&self, element: ErrorTrackedNumber) -> bool {
        element.number.is_nan()
    }

    fn is_zero(&self, element: ErrorTrackedNumber) -> bool {
        element.number == 0.0
    }

    fn add(&self, left: ErrorTrackedNumber, right: ErrorTrackedNumber) -> ErrorTrackedNumber {
        ErrorTrackedNumber::with_rounding(left.number + right.number, left.off + right.off, 1.0)
    }

    fn sub(&self, left: ErrorTrackedNumber, right: ErrorTrackedNumber) -> ErrorTrackedNumber {
        ErrorTrackedNumber::with_rounding(left.number - right.number, left.off + right.off, 1.0)
    }

    fn mul(&self, left: ErrorTrackedNumber, right: ErrorTrackedNumber) -> ErrorTrackedNumber {
        let off = left.off * right.number.abs() + right.off * left.number.abs();
        ErrorTrackedNumber::with_rounding(left.number * right.number, off, 1.0)
    }

    fn div(&self, left: ErrorTrackedNumber, right: ErrorTrackedNumber) -> ErrorTrackedNumber {
        let number = left.number / right.number;
        ErrorTrackedNumber::with_rounding(number, number.abs().mul_add(right.off, left.off) / right.number.abs(), 1.0)
    }

    fn maximum(&self, left: ErrorTrackedNumber, right: ErrorTrackedNumber) -> ErrorTrackedNumber {
        ErrorTrackedNumber { number: F64Arithmetic.maximum(left.number, right.number), off: left.off.max(right.off) }
    }

    fn minimum(&self, left: ErrorTrackedNumber, right: ErrorTrackedNumber) -> ErrorTrackedNumber {
        ErrorTrackedNumber { number: F64Arithmetic.minimum(left.number, right.number), off: left.off.max(right.off) }
    }

    fn compare(
        &self,
        comparison: BinaryFunction,
        left: ErrorTrackedNumber,
        right: ErrorTrackedNumber,
    ) -> ErrorTrackedNumber {
        let off = left.off + right.off;
        let is_open = off > 0.0 && (left.number - right.number).abs() <= off;
        ErrorTrackedNumber {
            number: F64Arithmetic.compare(comparison, left.number, right.number),
            off: f64::from(u8::from(is_open)),
        }
    }

    fn select(
        &self,
        condition: ErrorTrackedNumber,
        yes: ErrorTrackedNumber,
        no: ErrorTrackedNumber,
    ) -> ErrorTrackedNumber {
        let number = F64Arithmetic.select(condition.number, yes.number, no.number);
        let apart = if condition.off > 0.0 { (yes.number - no.number).abs() } else { 0.0 };
        ErrorTrackedNumber { number, off: apart + yes.off.max(no.off) }
    }

    fn apply(
        &self,
        function: UnaryFunction,
        constants: &[ErrorTrackedNumber],
        x: ErrorTrackedNumber,
    ) -> ErrorTrackedNumber {
        let numbers: Vec<f64> = constants.iter().map(|constant| constant.number).collect();
        let number = F64Arithmetic.apply(function, &numbers, x.number);
        let off = match function {
            UnaryFunction::Abs | UnaryFunction::Neg | UnaryFunction::Relu | UnaryFunction::Clip => {
                return ErrorTrackedNumber { number, off: x.off };
            }
            UnaryFunction::Floor => f64::from(u8::from((x.number - x.off).floor() != (x.number + x.off).floor())),
            _ if x.off == 0.0 => 0.0,
            UnaryFunction::Exp => number * x.off,
            UnaryFunction::Log => x.off / x.number.abs(),
            UnaryFunction::Sqrt => (x.off / (2.0 * number)).min(x.off.sqrt()),
            UnaryFunction::Rsqrt => number * x.off / (2.0 * x.number.abs()),
            UnaryFunction::Reciprocal => number * number * x.off,
            UnaryFunction::Gelu
            | UnaryFunction::Sigmoid
            | UnaryFunction::Silu
            | UnaryFunction::Softplus
            | UnaryFunction::Tanh => MAX_SLOPE * x.off,
        };
        ErrorTrackedNumber::with_rounding(number, off, FUNCTION_ROUNDOFFS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third is rounded in f64, with a known error.
    #[test]
    fn propagates_error_through_operations() {
        let third =
            ErrorTrackingArithmetic.div(ErrorTrackedNumber::from_exact(1.0), ErrorTrackedNumber::from_exact(3.0));
        assert_eq!(third.off, UNIT_ROUNDOFF / 3.0);
        let sum = ErrorTrackingArithmetic.add(ErrorTrackingArithmetic.add(third, third), third);
        let left = ErrorTrackingArithmetic.sub(sum, ErrorTrackedNumber::from_exact(1.0));
        assert!(left.number == 0.0 && left.off > 1.0 * UNIT_ROUNDOFF && left.off < 4.0 * UNIT_ROUNDOFF, "{left:?}");
        let log = ErrorTrackingArithmetic.apply(UnaryFunction::Log, &[], sum);
        assert!(log.number.abs() <= log.off && log.off < 8.0 * UNIT_ROUNDOFF, "{log:?}");
        assert!(ErrorTrackingArithmetic.apply(UnaryFunction::Floor, &[], sum).off >= 1.0);
        assert_eq!(
            ErrorTrackingArithmetic.compare(BinaryFunction::Equal, sum, ErrorTrackedNumber::from_exact(1.0)).off,
            1.0
        );
        assert_eq!(
            ErrorTrackingArithmetic.compare(BinaryFunction::Equal, sum, ErrorTrackedNumber::from_exact(2.0)).off,
            0.0
        );
    }

    #[test]
    fn keeps_exact_numbers_exact() {
        let (x, y) = (ErrorTrackedNumber::from_exact(1.5), ErrorTrackedNumber::from_exact(-0.25));
        assert_eq!(ErrorTrackingArithmetic.maximum(x, y), x);
        assert_eq!(ErrorTrackingArithmetic.apply(UnaryFunction::Neg, &[], x), ErrorTrackedNumber::from_exact(-1.5));
        assert_eq!(ErrorTrackingArithmetic.select(ErrorTrackedNumber::from_exact(1.0), x, y), x);
        assert_eq!(ErrorTrackingArithmetic.mul(x, y).off, UNIT_ROUNDOFF * 0.375);
    }
}
