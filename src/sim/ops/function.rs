//! The elementwise functions, in `f32`.
//!
//! The device approximates most of them; how is not public. Here they are exact to the precision of `f32`.

use crate::element::{Binary, Unary, erf};

/// The constants of a function, in the order of the file.
pub(super) struct Constants {
    pub(super) first: f32,
    pub(super) second: f32,
}

/// Replaces values by a function of them.
pub(super) fn unary(function: Unary, constants: &Constants, values: &mut [f32]) {
    match function {
        Unary::Abs => each(values, f32::abs),
        Unary::Exp => each(values, f32::exp),
        Unary::Floor => each(values, f32::floor),
        // The exact form with the error function, torch's default (assumption).
        Unary::Gelu => each(values, |x| 0.5 * x * (1.0 + erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2) as f32)),
        Unary::Log => each(values, f32::ln),
        Unary::Neg => each(values, |x| -x),
        Unary::Reciprocal => each(values, |x| 1.0 / x),
        // Not `max`, which drops NaN.
        Unary::Relu => each(values, |x| if x < 0.0 { 0.0 } else { x }),
        Unary::Rsqrt => each(values, |x| 1.0 / x.sqrt()),
        Unary::Sigmoid => each(values, sigmoid),
        Unary::Silu => each(values, |x| x * sigmoid(x)),
        Unary::Sqrt => each(values, f32::sqrt),
        Unary::Tanh => each(values, f32::tanh),
        Unary::Softplus => {
            let Constants { first: beta, second: threshold } = *constants;
            each(values, |x| if beta * x > threshold { x } else { (beta * x).exp().ln_1p() / beta });
        }
        Unary::Clip => {
            let Constants { first: low, second: high } = *constants;
            each(values, |x| {
                if x < low {
                    low
                } else if x > high {
                    high
                } else {
                    x
                }
            });
        }
    }
}

fn each(values: &mut [f32], function: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|value| *value = function(*value));
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Replaces the first values by a function of both. Comparisons give 1 or 0 in the operands' format.
pub(super) fn binary(function: Binary, left: &mut [f32], right: &[f32]) {
    match function {
        Binary::Add => both(left, right, |a, b| a + b),
        Binary::Sub => both(left, right, |a, b| a - b),
        Binary::Mul => both(left, right, |a, b| a * b),
        Binary::Div => both(left, right, |a, b| a / b),
        Binary::Maximum => both(left, right, maximum),
        Binary::Minimum => both(left, right, |a, b| -maximum(-a, -b)),
        Binary::Equal => both(left, right, |a, b| f32::from(a == b)),
        Binary::NotEqual => both(left, right, |a, b| f32::from(a != b)),
        Binary::Greater => both(left, right, |a, b| f32::from(a > b)),
        Binary::GreaterEqual => both(left, right, |a, b| f32::from(a >= b)),
        Binary::Less => both(left, right, |a, b| f32::from(a < b)),
        Binary::LessEqual => both(left, right, |a, b| f32::from(a <= b)),
    }
}

fn both(left: &mut [f32], right: &[f32], function: impl Fn(f32, f32) -> f32) {
    left.iter_mut().zip(right).for_each(|(left, right)| *left = function(*left, *right));
}

/// The larger one; NaN if one is, so that hostile padding shows.
pub(super) fn maximum(a: f32, b: f32) -> f32 {
    if a > b || a.is_nan() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_never_dropped() {
        let mut values = [f32::NAN];
        for function in [Unary::Abs, Unary::Relu, Unary::Clip, Unary::Gelu, Unary::Softplus, Unary::Exp] {
            values[0] = f32::NAN;
            unary(function, &Constants { first: -1.0, second: 1.0 }, &mut values);
            assert!(values[0].is_nan(), "{function:?}");
        }
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
            values[0] = a;
            binary(Binary::Minimum, &mut values, &[b]);
            assert!(values[0].is_nan() && maximum(a, b).is_nan());
        }
    }

    #[test]
    fn softplus_is_linear_beyond_its_threshold() {
        let mut values = [0.0, 30.0];
        unary(Unary::Softplus, &Constants { first: 1.0, second: 20.0 }, &mut values);
        assert!((values[0] - 2f32.ln()).abs() < 1e-6);
        assert_eq!(values[1], 30.0);
    }
}
