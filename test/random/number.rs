//! Numbers of the reference: doubles, each with a bound on its difference from another correct computation.
//!
//! Correct computations add in different orders, so they differ by roundings, and a comparison or a `floor` may amplify
//! this to a whole number. The bound of an element includes that, so all other elements are compared tightly.

/// A value and its error bound; an infinite bound means that the value is unknown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundedValue {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// Bound on a few roundings of a double, relative to its result.
const ROUNDING: f64 = 1e-15;

/// Magnitude above which an overflow may happen in one computation and not in the other.
pub(crate) const NEAR_OVERFLOW: f64 = 1e290;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnaryFunction {
    Neg,
    Abs,
    Exp,
    Log,
    Sqrt,
    Rsqrt,
    Tanh,
    Floor,
    Ceil,
    Erf,
    Exp2,
    Log1p,
    Expm1,
    Log2,
}

/// A function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryFunction {
    Add,
    Sub,
    Mul,
    Div,
    Max,
    Min,
    MaxNum,
    MinNum,
}

/// A comparison; its name states the result for NaN, and no program relies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComparisonKind {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    UnorderedOrEqual,
    OrderedAndNotEqual,
    NotGreaterEqual,
    NotGreater,
    NotLessEqual,
    NotLess,
    Unordered,
    Ordered,
}

impl BoundedValue {
    pub(crate) const fn from_exact(value: f64) -> Self {
        Self { value, error: 0.0 }
    }

    /// Adds the roundings of an op to a value; `is_of_finite` is whether its operands are finite.
    fn from_rounded(value: f64, error: f64, is_of_finite: bool) -> Self {
        if value.is_nan() || value.is_infinite() {
            // The error of an unknown number is NaN if its operand is NaN.
            let error = if error != 0.0 || is_of_finite { f64::INFINITY } else { 0.0 };
            return Self { value, error };
        }
        let error = error + ROUNDING * value.abs();
        Self { value, error: if error.is_nan() || value.abs() > NEAR_OVERFLOW { f64::INFINITY } else { error } }
    }

    pub(crate) fn apply_unary(self, function: UnaryFunction) -> Self {
        let Self { value: x, error } = self;
        let apply = |x: f64| match function {
            UnaryFunction::Neg => -x,
            UnaryFunction::Abs => x.abs(),
            UnaryFunction::Exp => x.exp(),
            UnaryFunction::Log => x.ln(),
            UnaryFunction::Sqrt => x.sqrt(),
            UnaryFunction::Rsqrt => 1.0 / x.sqrt(),
            UnaryFunction::Tanh => x.tanh(),
            UnaryFunction::Floor => x.floor(),
            UnaryFunction::Ceil => x.ceil(),
            UnaryFunction::Erf => erf(x),
            UnaryFunction::Exp2 => x.exp2(),
            UnaryFunction::Log1p => x.ln_1p(),
            UnaryFunction::Expm1 => x.exp_m1(),
            UnaryFunction::Log2 => x.log2(),
        };
        if matches!(function, UnaryFunction::Neg | UnaryFunction::Abs) {
            return Self { value: apply(x), error };
        }
        let value = apply(x);
        if function == UnaryFunction::Rsqrt && x == 0.0 {
            // For example a quotient by zero.
            return Self { value, error: f64::INFINITY };
        }
        // Smaller numbers have no logarithm and no root.
        let least = if function == UnaryFunction::Log1p { -1.0 } else { 0.0 };
        // The compiler's error function is an approximation at 0, too.
        let is_exact = x == 0.0 && function != UnaryFunction::Erf || !x.is_finite();
        if error == 0.0 && is_exact || value.is_nan() && x + error < least {
            return Self::from_exact(value);
        }
        // All of these functions are monotonic, so the ends bound the error of the result; NaN at an end makes it
        // unknown.
        let off = (apply(x + error) - value).abs().max((apply(x - error) - value).abs());
        let off = if (apply(x + error) - apply(x - error)).is_nan() { f64::INFINITY } else { off };
        match function {
            // The exponent of the result is as large as the argument, so the roundings of the argument count.
            UnaryFunction::Exp | UnaryFunction::Exp2 => {
                Self::from_rounded(value, off + ROUNDING * x.abs() * value, x.is_finite())
            }
            // The compiler's approximation is correct to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
            UnaryFunction::Erf => Self::from_rounded(value, off + 2e-7, x.is_finite()),
            // The compiler subtracts 1 from the exponential.
            UnaryFunction::Expm1 => {
                Self::from_rounded(value, off + ROUNDING * (1.0 + x.abs()) * (1.0 + value.abs()), x.is_finite())
            }
            UnaryFunction::Log | UnaryFunction::Log1p | UnaryFunction::Log2 => {
                Self::from_rounded(value, off + ROUNDING, x.is_finite())
            }
            UnaryFunction::Floor | UnaryFunction::Ceil => Self { value, error: off },
            _ => Self::from_rounded(value, off, x.is_finite()),
        }
    }

    pub(crate) fn apply_binary(self, function: BinaryFunction, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        let are_finite = a.is_finite() && b.is_finite();
        let sum = self.error + other.error;
        match function {
            BinaryFunction::Add => Self::from_rounded(a + b, sum, are_finite),
            BinaryFunction::Sub => Self::from_rounded(a - b, sum, are_finite),
            BinaryFunction::Mul => {
                let error = if sum == 0.0 {
                    0.0
                } else {
                    a.abs() * other.error + b.abs() * self.error + self.error * other.error
                };
                Self::from_rounded(a * b, error, are_finite)
            }
            BinaryFunction::Div => {
                let quotient = a / b;
                // The sign of a zero is not preserved: docs/concepts/trust.md, "Never checked".
                if b == 0.0 && quotient.is_infinite() {
                    return Self { value: quotient, error: f64::INFINITY };
                }
                if sum == 0.0 && (b == 0.0 || !are_finite) {
                    return Self::from_exact(quotient);
                }
                let room = b.abs() - other.error;
                let error = if room > 0.0 { (self.error + quotient.abs() * other.error) / room } else { f64::INFINITY };
                Self::from_rounded(quotient, error, are_finite)
            }
            // No program relies on which operand is returned if the other is NaN.
            BinaryFunction::MaxNum | BinaryFunction::MinNum if a.is_nan() || b.is_nan() => {
                Self { value: f64::NAN, error: f64::INFINITY }
            }
            BinaryFunction::Max | BinaryFunction::Min if a.is_nan() || b.is_nan() => {
                Self { value: f64::NAN, error: sum }
            }
            BinaryFunction::Max | BinaryFunction::MaxNum => {
                Self { value: a.max(b), error: self.error.max(other.error) }
            }
            BinaryFunction::Min | BinaryFunction::MinNum => {
                Self { value: a.min(b), error: self.error.max(other.error) }
            }
        }
    }

    /// Returns 1 or 0; unknown if the difference may be a rounding error.
    pub(crate) fn compare(self, comparison: ComparisonKind, other: Self) -> Self {
        let (a, b) = (self.value, other.value);
        let is = match comparison {
            ComparisonKind::Less | ComparisonKind::NotGreaterEqual => a < b,
            ComparisonKind::LessEqual | ComparisonKind::NotGreater => a <= b,
            ComparisonKind::Greater | ComparisonKind::NotLessEqual => a > b,
            ComparisonKind::GreaterEqual | ComparisonKind::NotLess => a >= b,
            ComparisonKind::Equal | ComparisonKind::UnorderedOrEqual => a == b,
            ComparisonKind::NotEqual | ComparisonKind::OrderedAndNotEqual => a != b,
            ComparisonKind::Unordered => a.is_nan() || b.is_nan(),
            ComparisonKind::Ordered => !(a.is_nan() || b.is_nan()),
        };
        let sum = self.error + other.error;
        // An unknown number may also be NaN.
        let is_unknown = match comparison {
            ComparisonKind::Unordered | ComparisonKind::Ordered => !sum.is_finite(),
            _ if a.is_nan() || b.is_nan() => true,
            _ => sum.is_infinite() || sum > 0.0 && (a - b).abs() <= 2.0 * sum,
        };
        Self { value: f64::from(is), error: f64::from(is_unknown) }
    }

    /// Selects `yes` where the condition is not 0.
    pub(crate) fn select(self, yes: Self, no: Self) -> Self {
        let chosen = if self.value == 0.0 { no } else { yes };
        if self.error == 0.0 {
            return chosen;
        }
        let apart = (yes.value - no.value).abs();
        let error = chosen.error.max(yes.error).max(no.error) + if apart.is_nan() { f64::INFINITY } else { apart };
        Self { value: chosen.value, error }
    }
}

/// Computes the error function: the Taylor series with positive terms, and 1 beyond its precision.
fn erf(x: f64) -> f64 {
    let magnitude = x.abs();
    if magnitude >= 6.0 || x.is_nan() {
        return if x.is_nan() { x } else { 1f64.copysign(x) };
    }
    let (mut term, mut sum) = (magnitude, magnitude);
    for n in 1..200 {
        term *= 2.0 * magnitude * magnitude / f64::from(2 * n + 1);
        sum += term;
    }
    (std::f64::consts::FRAC_2_SQRT_PI * (-magnitude * magnitude).exp() * sum).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_unknown_for_possibly_equal_values() {
        let near = BoundedValue { value: 1.0, error: 1e-12 };
        assert_eq!(near.compare(ComparisonKind::Less, BoundedValue::from_exact(1.0)).error, 1.0);
        assert_eq!(
            BoundedValue::from_exact(1.0).compare(ComparisonKind::Equal, BoundedValue::from_exact(1.0)),
            BoundedValue::from_exact(1.0)
        );
        assert_eq!(near.compare(ComparisonKind::Less, BoundedValue::from_exact(2.0)), BoundedValue::from_exact(1.0));
    }

    #[test]
    fn propagates_error_through_function() {
        let near = BoundedValue { value: 10.0, error: 1e-6 };
        let grown = near.apply_unary(UnaryFunction::Exp);
        assert!(grown.error > 1e-6 * 22026.0 && grown.error < 1e-6 * 22030.0);
        assert_eq!(BoundedValue { value: 0.0, error: 1e-9 }.apply_unary(UnaryFunction::Log).error, f64::INFINITY);
        assert_eq!(
            BoundedValue { value: f64::NAN, error: f64::INFINITY }.apply_unary(UnaryFunction::Exp).error,
            f64::INFINITY
        );
        let unknown = BoundedValue { value: f64::NAN, error: f64::INFINITY };
        assert_eq!(unknown.apply_binary(BinaryFunction::Mul, BoundedValue::from_exact(2.0)).error, f64::INFINITY);
        assert!(
            BoundedValue::from_exact(-1.0).apply_unary(UnaryFunction::Sqrt).value.is_nan()
                && BoundedValue::from_exact(-1.0).apply_unary(UnaryFunction::Sqrt).error == 0.0
        );
    }
}
