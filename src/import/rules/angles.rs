//! Inverse trigonometric and hyperbolic functions.
//!
//! An angle is computed from the two legs of a right triangle. If the tangent exceeds tan(pi/8), half a right angle is
//! subtracted first. The remaining tangent is at most tan(pi/8), and a polynomial yields its angle, off by at most
//! 8.2e-12 in exact arithmetic. `docs/reference/functions.md` lists the rounding errors on the device.

use super::rule_helpers::NodeResult;
use crate::import::graph::{NodeElementType, NodeId, ValueGraph};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

/// tan(pi/8). For larger tangents, half a right angle is subtracted.
const TAN_PI_8: f64 = std::f64::consts::SQRT_2 - 1.0;

/// Coefficients of `atan(t) / t` as a polynomial of `t^2`, fitted up to tan(pi/8), constant term first.
const ATAN_COEFFICIENTS: [f64; 7] = [
    0.999_999_999_979_702_1,
    -0.333_333_321_509_844_57,
    0.199_998_874_031_954_18,
    -0.142_816_750_204_080_72,
    0.110_414_375_784_530_31,
    -0.084_609_995_899_141_9,
    0.047_164_837_367_029_83,
];

/// Magnitude from which `sqrt(x^2 + 1)` is `x` up to a relative error of 2^-31. Squares of larger numbers overflow 16
/// bits. The device has no logarithm in f32.
const ASYMPTOTIC_LIMIT: f64 = 32768.0;

/// Builds operations by their names, so that constants are folded.
struct FormulaBuilder<'a> {
    graph: &'a mut ValueGraph,
    element: NodeElementType,
}

impl FormulaBuilder<'_> {
    fn add_scalar(&mut self, value: f64) -> NodeId {
        self.graph.add_scalar(value)
    }

    fn apply(&mut self, name: &str, inputs: &[NodeId]) -> NodeResult {
        self.graph.apply(name, inputs, self.element)
    }

    fn compare(&mut self, predicate: &str, inputs: &[NodeId]) -> NodeResult {
        self.graph.apply(&format!("arith.cmpf {predicate}"), inputs, NodeElementType::Bool)
    }

    /// Builds `whole - x` where a condition holds, `x` elsewhere.
    fn subtract_from_where(&mut self, whole: f64, holds: NodeId, x: NodeId) -> NodeResult {
        let whole = self.add_scalar(whole);
        let rest = self.apply("arith.subf", &[whole, x])?;
        self.apply("arith.select", &[holds, rest, x])
    }

    /// Computes the magnitude with the sign of `x`.
    fn copy_sign(&mut self, magnitude: NodeId, x: NodeId) -> NodeResult {
        let zero = self.add_scalar(0.0);
        let is_positive = self.compare("oge", &[x, zero])?;
        let negative = self.apply("arith.negf", &[magnitude])?;
        self.apply("arith.select", &[is_positive, magnitude, negative])
    }

    /// Builds the angle whose tangent is `opposite / adjacent`, up to a right angle. Neither is negative, and at least
    /// one is not 0.
    fn build_angle(&mut self, opposite: NodeId, adjacent: NodeId) -> NodeResult {
        let smaller = self.apply("arith.minimumf", &[opposite, adjacent])?;
        let larger = self.apply("arith.maximumf", &[opposite, adjacent])?;
        let (steep, eighth, none) = (self.add_scalar(TAN_PI_8), self.add_scalar(FRAC_PI_4), self.add_scalar(0.0));
        let limit = self.apply("arith.mulf", &[larger, steep])?;
        let is_steep = self.compare("ogt", &[smaller, limit])?;
        let (less, more) =
            (self.apply("arith.subf", &[smaller, larger])?, self.apply("arith.addf", &[smaller, larger])?);
        let opposite_of_rest = self.apply("arith.select", &[is_steep, less, smaller])?;
        let adjacent_of_rest = self.apply("arith.select", &[is_steep, more, larger])?;
        let tangent = self.apply("arith.divf", &[opposite_of_rest, adjacent_of_rest])?;
        let square = self.apply("arith.mulf", &[tangent, tangent])?;
        let (last, others) = ATAN_COEFFICIENTS.split_last().expect("a polynomial has coefficients");
        let mut sum = self.add_scalar(*last);
        for &coefficient in others.iter().rev() {
            let (product, coefficient) = (self.apply("arith.mulf", &[sum, square])?, self.add_scalar(coefficient));
            sum = self.apply("arith.addf", &[product, coefficient])?;
        }
        let rest = self.apply("arith.mulf", &[sum, tangent])?;
        let taken = self.apply("arith.select", &[is_steep, eighth, none])?;
        let angle = self.apply("arith.addf", &[rest, taken])?;
        let is_above = self.compare("ogt", &[opposite, adjacent])?;
        self.subtract_from_where(FRAC_PI_2, is_above, angle)
    }

    /// Computes `sqrt((1 - x) (1 + x))`: the other leg of a right triangle with hypotenuse 1.
    fn build_other_leg(&mut self, x: NodeId) -> NodeResult {
        let one = self.add_scalar(1.0);
        let (less, more) = (self.apply("arith.subf", &[one, x])?, self.apply("arith.addf", &[one, x])?);
        let square = self.apply("arith.mulf", &[less, more])?;
        self.apply("math.sqrt", &[square])
    }

    /// Computes `log(x + root)`, or `log(2 x)` where `x` is large.
    fn build_log_sum(&mut self, x: NodeId, root: NodeId) -> NodeResult {
        let (large, log_of_two) = (self.add_scalar(ASYMPTOTIC_LIMIT), self.add_scalar(LN_2));
        let sum = self.apply("arith.addf", &[x, root])?;
        let is_large = self.compare("ogt", &[x, large])?;
        let sum = self.apply("arith.select", &[is_large, x, sum])?;
        let log = self.apply("math.log", &[sum])?;
        let more = self.apply("arith.addf", &[log, log_of_two])?;
        self.apply("arith.select", &[is_large, more, log])
    }
}

/// Computes the angle of a tangent.
pub(in crate::import) fn atan(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let (magnitude, one) = (formula.apply("math.absf", inputs)?, formula.add_scalar(1.0));
    let angle = formula.build_angle(magnitude, one)?;
    formula.copy_sign(angle, inputs[0])
}

/// Builds the angle of a point, from -pi to pi; 0 for the origin. The sign of a zero is ignored.
pub(in crate::import) fn atan2(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    super::rule_helpers::common_element_type(&graph.collect_element_types(inputs))?;
    let &[y, x] = inputs else { return Err("does not have two operands".to_owned()) };
    let mut formula = FormulaBuilder { graph, element };
    let zero = formula.add_scalar(0.0);
    let (opposite, adjacent) = (formula.apply("math.absf", &[y])?, formula.apply("math.absf", &[x])?);
    let angle = formula.build_angle(opposite, adjacent)?;
    // Two infinities are equal, and have no quotient.
    let (is_equal, eighth) = (formula.compare("oeq", &[opposite, adjacent])?, formula.add_scalar(FRAC_PI_4));
    let angle = formula.apply("arith.select", &[is_equal, eighth, angle])?;
    let both = formula.apply("arith.addf", &[opposite, adjacent])?;
    let is_origin = formula.compare("oeq", &[both, zero])?;
    let angle = formula.apply("arith.select", &[is_origin, zero, angle])?;
    let is_left = formula.compare("olt", &[x, zero])?;
    let angle = formula.subtract_from_where(PI, is_left, angle)?;
    formula.copy_sign(angle, y)
}

/// Computes the angle of a sine; NaN beyond 1.
pub(in crate::import) fn asin(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let magnitude = formula.apply("math.absf", inputs)?;
    let adjacent = formula.build_other_leg(magnitude)?;
    let angle = formula.build_angle(magnitude, adjacent)?;
    formula.copy_sign(angle, inputs[0])
}

/// Computes the angle of a cosine, from 0 to pi; NaN beyond 1.
pub(in crate::import) fn acos(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let (magnitude, zero) = (formula.apply("math.absf", inputs)?, formula.add_scalar(0.0));
    let opposite = formula.build_other_leg(magnitude)?;
    let angle = formula.build_angle(opposite, magnitude)?;
    let is_left = formula.compare("olt", &[inputs[0], zero])?;
    formula.subtract_from_where(PI, is_left, angle)
}

/// Computes `log(|x| + sqrt(x^2 + 1))` with the sign of `x`.
pub(in crate::import) fn asinh(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let (magnitude, one) = (formula.apply("math.absf", inputs)?, formula.add_scalar(1.0));
    let square = formula.apply("arith.mulf", &[magnitude, magnitude])?;
    let square = formula.apply("arith.addf", &[square, one])?;
    let root = formula.apply("math.sqrt", &[square])?;
    let area = formula.build_log_sum(magnitude, root)?;
    formula.copy_sign(area, inputs[0])
}

/// Computes `log(x + sqrt(x - 1) sqrt(x + 1))`; NaN below 1.
pub(in crate::import) fn acosh(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let one = formula.add_scalar(1.0);
    let (less, more) =
        (formula.apply("arith.subf", &[inputs[0], one])?, formula.apply("arith.addf", &[inputs[0], one])?);
    let (less, more) = (formula.apply("math.sqrt", &[less])?, formula.apply("math.sqrt", &[more])?);
    let root = formula.apply("arith.mulf", &[less, more])?;
    formula.build_log_sum(inputs[0], root)
}

/// Computes `log((1 + x) / (1 - x)) / 2`; NaN beyond 1.
pub(in crate::import) fn atanh(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let (one, half) = (formula.add_scalar(1.0), formula.add_scalar(0.5));
    let (less, more) =
        (formula.apply("arith.subf", &[one, inputs[0]])?, formula.apply("arith.addf", &[one, inputs[0]])?);
    let quotient = formula.apply("arith.divf", &[more, less])?;
    let log = formula.apply("math.log", &[quotient])?;
    formula.apply("arith.mulf", &[log, half])
}

/// Computes the sine over the cosine.
pub(in crate::import) fn tan(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let (sine, cosine) = (formula.apply("math.sin", inputs)?, formula.apply("math.cos", inputs)?);
    formula.apply("arith.divf", &[sine, cosine])
}

/// Computes `1 + erf(-x)`.
pub(in crate::import) fn erfc(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let mut formula = FormulaBuilder { graph, element };
    let (negative, one) = (formula.apply("arith.negf", inputs)?, formula.add_scalar(1.0));
    let erf = formula.apply("math.erf", &[negative])?;
    formula.apply("arith.addf", &[one, erf])
}
