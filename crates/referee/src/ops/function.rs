//! Arithmetic of the device: `f32`.
//!
//! The device approximates most functions, by methods that are not public. Here they are exact to the precision of `f32`.

use super::product;
use element::{Arithmetic, Binary, Unary, erf, maximum};

/// Single precision, as the functions of the device compute in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device;

impl Arithmetic for Device {
    type Element = f32;

    fn number(&self, number: f64) -> f32 {
        number as f32
    }

    fn poison(&self) -> f32 {
        f32::NAN
    }

    fn is_poison(&self, element: f32) -> bool {
        element.is_nan()
    }

    fn is_zero(&self, element: f32) -> bool {
        element == 0.0
    }

    fn add(&self, left: f32, right: f32) -> f32 {
        left + right
    }

    fn sub(&self, left: f32, right: f32) -> f32 {
        left - right
    }

    fn mul(&self, left: f32, right: f32) -> f32 {
        left * right
    }

    fn div(&self, left: f32, right: f32) -> f32 {
        left / right
    }

    fn maximum(&self, left: f32, right: f32) -> f32 {
        maximum(left, right)
    }

    fn minimum(&self, left: f32, right: f32) -> f32 {
        -self.maximum(-left, -right)
    }

    fn compare(&self, comparison: Binary, left: f32, right: f32) -> f32 {
        comparison.holds(&left, &right).map_or(f32::NAN, f32::from)
    }

    fn apply(&self, function: Unary, constants: &[f32], element: f32) -> f32 {
        let mut elements = [element];
        self.unary(function, constants, &mut elements);
        elements[0]
    }

    fn unary(&self, function: Unary, constants: &[f32], values: &mut [f32]) {
        let constant = |index: usize| constants.get(index).copied().unwrap_or(f32::NAN);
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
                let (beta, threshold) = (constant(0), constant(1));
                each(values, |x| if beta * x > threshold { x } else { (beta * x).exp().ln_1p() / beta });
            }
            Unary::Clip => {
                let (low, high) = (constant(0), constant(1));
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

    fn multiply(&self, left: &[f32], right: &[f32], out: &mut [f32], k: usize, n: usize) {
        product::multiply(left, right, out, k, n);
    }
}

fn each(values: &mut [f32], function: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|value| *value = function(*value));
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_never_dropped() {
        for function in [Unary::Abs, Unary::Relu, Unary::Clip, Unary::Gelu, Unary::Softplus, Unary::Exp] {
            assert!(Device.apply(function, &[-1.0, 1.0], f32::NAN).is_nan(), "{function:?}");
        }
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
            assert!(Device.minimum(a, b).is_nan() && Device.maximum(a, b).is_nan());
        }
    }

    #[test]
    fn softplus_is_linear_beyond_its_threshold() {
        let mut values = [0.0, 30.0];
        Device.unary(Unary::Softplus, &[1.0, 20.0], &mut values);
        assert!((values[0] - 2f32.ln()).abs() < 1e-6);
        assert_eq!(values[1], 30.0);
    }
}
