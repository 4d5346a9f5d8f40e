//! Arithmetic of the device in `f32`.
//!
//! The device approximates most functions by methods that are not public. Here they are exact to the precision of
//! `f32`.

use super::matmul;
use element::{Arithmetic, BinaryFunction, UnaryFunction, erf, maximum};

/// Single-precision arithmetic, in which the functions of the device compute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceArithmetic;

impl Arithmetic for DeviceArithmetic {
    type Element = f32;

    fn constant(&self, number: f64) -> f32 {
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

    fn compare(&self, comparison: BinaryFunction, left: f32, right: f32) -> f32 {
        comparison.evaluate_comparison(&left, &right).map_or(f32::NAN, f32::from)
    }

    fn apply(&self, function: UnaryFunction, constants: &[f32], element: f32) -> f32 {
        let mut elements = [element];
        self.apply_unary(function, constants, &mut elements);
        elements[0]
    }

    fn apply_unary(&self, function: UnaryFunction, constants: &[f32], values: &mut [f32]) {
        let constant = |index: usize| constants.get(index).copied().unwrap_or(f32::NAN);
        match function {
            UnaryFunction::Abs => map_in_place(values, f32::abs),
            UnaryFunction::Exp => map_in_place(values, f32::exp),
            UnaryFunction::Floor => map_in_place(values, f32::floor),
            // Exact form with the error function, the default of PyTorch (assumption).
            UnaryFunction::Gelu => {
                map_in_place(values, |x| 0.5 * x * (1.0 + erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2) as f32))
            }
            UnaryFunction::Log => map_in_place(values, f32::ln),
            UnaryFunction::Neg => map_in_place(values, |x| -x),
            UnaryFunction::Reciprocal => map_in_place(values, |x| 1.0 / x),
            // `max` would drop NaN.
            UnaryFunction::Relu => map_in_place(values, |x| if x < 0.0 { 0.0 } else { x }),
            UnaryFunction::Rsqrt => map_in_place(values, |x| 1.0 / x.sqrt()),
            UnaryFunction::Sigmoid => map_in_place(values, sigmoid),
            UnaryFunction::Silu => map_in_place(values, |x| x * sigmoid(x)),
            UnaryFunction::Sqrt => map_in_place(values, f32::sqrt),
            UnaryFunction::Tanh => map_in_place(values, f32::tanh),
            UnaryFunction::Softplus => {
                let (beta, threshold) = (constant(0), constant(1));
                map_in_place(values, |x| if beta * x > threshold { x } else { (beta * x).exp().ln_1p() / beta });
            }
            UnaryFunction::Clip => {
                let (low, high) = (constant(0), constant(1));
                map_in_place(values, |x| {
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
        matmul::multiply(left, right, out, k, n);
    }
}

fn map_in_place(values: &mut [f32], function: impl Fn(f32) -> f32) {
    values.iter_mut().for_each(|value| *value = function(*value));
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn propagates_nan() {
        for function in [
            UnaryFunction::Abs,
            UnaryFunction::Relu,
            UnaryFunction::Clip,
            UnaryFunction::Gelu,
            UnaryFunction::Softplus,
            UnaryFunction::Exp,
        ] {
            assert!(DeviceArithmetic.apply(function, &[-1.0, 1.0], f32::NAN).is_nan(), "{function:?}");
        }
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
            assert!(DeviceArithmetic.minimum(a, b).is_nan() && DeviceArithmetic.maximum(a, b).is_nan());
        }
    }

    #[test]
    fn computes_linear_softplus_beyond_its_threshold() {
        let mut values = [0.0, 30.0];
        DeviceArithmetic.apply_unary(UnaryFunction::Softplus, &[1.0, 20.0], &mut values);
        assert!((values[0] - 2f32.ln()).abs() < 1e-6);
        assert_eq!(values[1], 30.0);
    }
}
