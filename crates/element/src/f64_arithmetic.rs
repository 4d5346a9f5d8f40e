//! f64 arithmetic: evaluates a program up to the rounding of f64.

use super::{Arithmetic, BinaryFunction, UnaryFunction};

/// Arithmetic on f64 numbers. NaN is poison; the two are not distinguished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct F64Arithmetic;

/// Returns the larger of two numbers, or NaN if one is NaN. `f64::max` drops NaN and would hide NaN padding. The
/// positive zero is larger than the negative one, as in IEEE 754, because a reciprocal distinguishes them.
pub fn maximum<N: Copy + Into<f64>>(left: N, right: N) -> N {
    let (l, r): (f64, f64) = (left.into(), right.into());
    if l > r || l.is_nan() || (l == r && r.is_sign_negative()) { left } else { right }
}

impl Arithmetic for F64Arithmetic {
    type Element = f64;

    fn constant(&self, number: f64) -> f64 {
        number
    }

    fn poison(&self) -> f64 {
        f64::NAN
    }

    fn is_poison(&self, element: f64) -> bool {
        element.is_nan()
    }

    fn is_zero(&self, element: f64) -> bool {
        element == 0.0
    }

    fn add(&self, left: f64, right: f64) -> f64 {
        left + right
    }

    fn sub(&self, left: f64, right: f64) -> f64 {
        left - right
    }

    fn mul(&self, left: f64, right: f64) -> f64 {
        left * right
    }

    fn div(&self, left: f64, right: f64) -> f64 {
        left / right
    }

    fn maximum(&self, left: f64, right: f64) -> f64 {
        maximum(left, right)
    }

    fn minimum(&self, left: f64, right: f64) -> f64 {
        -self.maximum(-left, -right)
    }

    /// Compares as IEEE 754 does: NaN is unequal to everything.
    fn compare(&self, comparison: BinaryFunction, left: f64, right: f64) -> f64 {
        comparison.evaluate_comparison(&left, &right).map_or(f64::NAN, |holds| f64::from(u8::from(holds)))
    }

    fn apply(&self, function: UnaryFunction, constants: &[f64], x: f64) -> f64 {
        let constant = |index: usize| constants.get(index).copied().unwrap_or(f64::NAN);
        match function {
            UnaryFunction::Abs => x.abs(),
            UnaryFunction::Exp => x.exp(),
            UnaryFunction::Floor => x.floor(),
            UnaryFunction::Gelu => 0.5 * x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2)),
            UnaryFunction::Log => x.ln(),
            UnaryFunction::Neg => -x,
            UnaryFunction::Reciprocal => 1.0 / x,
            UnaryFunction::Relu => self.maximum(x, 0.0),
            UnaryFunction::Rsqrt => 1.0 / x.sqrt(),
            UnaryFunction::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            UnaryFunction::Silu => x / (1.0 + (-x).exp()),
            UnaryFunction::Sqrt => x.sqrt(),
            UnaryFunction::Tanh => x.tanh(),
            UnaryFunction::Softplus if constant(0) * x > constant(1) => x,
            UnaryFunction::Softplus => (constant(0) * x).exp().ln_1p() / constant(0),
            UnaryFunction::Clip => self.minimum(self.maximum(x, constant(0)), constant(1)),
        }
    }

    fn multiply(&self, left: &[f64], right: &[f64], out: &mut [f64], k: usize, n: usize) {
        let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let right_is_finite = is_finite(right);
        for (row, sums) in left.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
            let is_plain = right_is_finite && is_finite(row);
            for (factor, line) in row.iter().zip(right.chunks_exact(n)) {
                let terms = sums.iter_mut().zip(line);
                if is_plain {
                    terms.for_each(|(sum, value)| *sum += factor * value);
                } else {
                    terms.for_each(|(sum, value)| {
                        *sum += if *factor == 0.0 || *value == 0.0 { 0.0 } else { factor * value }
                    });
                }
            }
        }
    }
}

/// Computes the error function, to about 1e-15.
#[must_use]
pub fn erf(x: f64) -> f64 {
    let magnitude = x.abs();
    let value = if magnitude < 3.0 {
        compute_erf_series(magnitude)
    } else if magnitude < 6.0 {
        1.0 - compute_erfc_tail(magnitude)
    } else if magnitude.is_nan() {
        f64::NAN
    } else {
        1.0
    };
    value.copysign(x)
}

/// Sums the Taylor series with positive terms only: 2/sqrt(pi) exp(-x^2) sum 2^n x^(2n+1) / (1*3*...*(2n+1)).
fn compute_erf_series(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..100 {
        term *= 2.0 * x * x / f64::from(2 * n + 1);
        sum += term;
    }
    std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
}

/// Computes 1 - erf by its continued fraction, which converges fast above 3.
fn compute_erfc_tail(x: f64) -> f64 {
    let fraction = (1..60).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    (-x * x).exp() / fraction / std::f64::consts::PI.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_known_values_of_error_function() {
        for (x, value) in [
            (0.0, 0.0),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (3.5, 0.999_999_256_901_627_7),
        ] {
            assert!((erf(x) - value).abs() < 1e-14, "{x}: {}", erf(x));
            assert!((erf(-x) + value).abs() < 1e-14);
        }
    }

    #[test]
    fn propagates_poison() {
        let nan = f64::NAN;
        for function in [
            UnaryFunction::Abs,
            UnaryFunction::Relu,
            UnaryFunction::Clip,
            UnaryFunction::Gelu,
            UnaryFunction::Softplus,
            UnaryFunction::Exp,
        ] {
            assert!(F64Arithmetic.apply(function, &[-1.0, 1.0], nan).is_nan(), "{function:?}");
        }
        for (a, b) in [(nan, 1.0), (1.0, nan)] {
            assert!(F64Arithmetic.minimum(a, b).is_nan() && F64Arithmetic.maximum(a, b).is_nan());
        }
        assert_eq!(F64Arithmetic.select(0.0, nan, 2.0), 2.0);
    }

    #[test]
    fn treats_zero_times_padding_as_zero_in_sum_of_products() {
        let mut out = [0.0];
        F64Arithmetic.multiply(&[2.0, f64::NAN], &[3.0, 0.0], &mut out, 2, 1);
        assert_eq!(out, [6.0]);
        F64Arithmetic.multiply(&[2.0, f64::NAN], &[3.0, 1.0], &mut out, 2, 1);
        assert!(out[0].is_nan());
    }
}
