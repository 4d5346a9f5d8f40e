//! Inverse trigonometric and hyperbolic functions.
//!
//! An angle is computed from the two legs of a right triangle. If the tangent exceeds tan(pi/8), half a right angle is subtracted first. The
//! remaining tangent is at most tan(pi/8), and a polynomial yields its angle, off by at most 8.2e-12 in exact arithmetic.
//! `docs/reference/functions.md` lists the rounding errors on the device.

use super::plain::Built;
use crate::import::graph::{Element, Graph, NodeId};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

/// tan(pi/8): from here on half a right angle is subtracted.
const STEEP: f64 = std::f64::consts::SQRT_2 - 1.0;

/// `atan(t) / t` as a polynomial of `t^2`, closest up to tan(pi/8), from the constant on.
const ARC: [f64; 7] = [
    0.999_999_999_979_702_1,
    -0.333_333_321_509_844_57,
    0.199_998_874_031_954_18,
    -0.142_816_750_204_080_72,
    0.110_414_375_784_530_31,
    -0.084_609_995_899_141_9,
    0.047_164_837_367_029_83,
];

/// Beyond this number the root of `x^2 + 1` is `x` but for 2^-31 of it, and the squares of 16 bits end. The device has no logarithm in f32.
const LARGE: f64 = 32768.0;

/// Builds operations by their names, so that constants are folded.
struct Formula<'a> {
    graph: &'a mut Graph,
    element: Element,
}

impl Formula<'_> {
    fn number(&mut self, value: f64) -> NodeId {
        self.graph.number(value)
    }

    fn op(&mut self, name: &str, inputs: &[NodeId]) -> Built {
        self.graph.apply(name, inputs, self.element)
    }

    fn compare(&mut self, predicate: &str, inputs: &[NodeId]) -> Built {
        self.graph.apply(&format!("arith.cmpf {predicate}"), inputs, Element::Bool)
    }

    /// Builds `whole - x` where a condition holds, `x` elsewhere.
    fn taken_from(&mut self, whole: f64, holds: NodeId, x: NodeId) -> Built {
        let whole = self.number(whole);
        let rest = self.op("arith.subf", &[whole, x])?;
        self.op("arith.select", &[holds, rest, x])
    }

    /// The magnitude with the sign of `x`.
    fn signed(&mut self, magnitude: NodeId, x: NodeId) -> Built {
        let zero = self.number(0.0);
        let is_positive = self.compare("oge", &[x, zero])?;
        let negative = self.op("arith.negf", &[magnitude])?;
        self.op("arith.select", &[is_positive, magnitude, negative])
    }

    /// Builds the angle whose tangent is `opposite / adjacent`, up to a right angle; neither is negative, and one is not 0.
    fn angle(&mut self, opposite: NodeId, adjacent: NodeId) -> Built {
        let smaller = self.op("arith.minimumf", &[opposite, adjacent])?;
        let larger = self.op("arith.maximumf", &[opposite, adjacent])?;
        let (steep, eighth, none) = (self.number(STEEP), self.number(FRAC_PI_4), self.number(0.0));
        let limit = self.op("arith.mulf", &[larger, steep])?;
        let is_steep = self.compare("ogt", &[smaller, limit])?;
        let (less, more) = (self.op("arith.subf", &[smaller, larger])?, self.op("arith.addf", &[smaller, larger])?);
        let opposite_of_rest = self.op("arith.select", &[is_steep, less, smaller])?;
        let adjacent_of_rest = self.op("arith.select", &[is_steep, more, larger])?;
        let tangent = self.op("arith.divf", &[opposite_of_rest, adjacent_of_rest])?;
        let square = self.op("arith.mulf", &[tangent, tangent])?;
        let (last, others) = ARC.split_last().expect("a polynomial has coefficients");
        let mut sum = self.number(*last);
        for &coefficient in others.iter().rev() {
            let (product, coefficient) = (self.op("arith.mulf", &[sum, square])?, self.number(coefficient));
            sum = self.op("arith.addf", &[product, coefficient])?;
        }
        let rest = self.op("arith.mulf", &[sum, tangent])?;
        let taken = self.op("arith.select", &[is_steep, eighth, none])?;
        let angle = self.op("arith.addf", &[rest, taken])?;
        let is_above = self.compare("ogt", &[opposite, adjacent])?;
        self.taken_from(FRAC_PI_2, is_above, angle)
    }

    /// `sqrt((1 - x) (1 + x))`: the other side of a triangle with the longest side 1.
    fn other_side(&mut self, x: NodeId) -> Built {
        let one = self.number(1.0);
        let (less, more) = (self.op("arith.subf", &[one, x])?, self.op("arith.addf", &[one, x])?);
        let square = self.op("arith.mulf", &[less, more])?;
        self.op("math.sqrt", &[square])
    }

    /// `log(x + root)`; `log(2 x)` where `x` is large.
    fn area(&mut self, x: NodeId, root: NodeId) -> Built {
        let (large, log_of_two) = (self.number(LARGE), self.number(LN_2));
        let sum = self.op("arith.addf", &[x, root])?;
        let is_large = self.compare("ogt", &[x, large])?;
        let sum = self.op("arith.select", &[is_large, x, sum])?;
        let log = self.op("math.log", &[sum])?;
        let more = self.op("arith.addf", &[log, log_of_two])?;
        self.op("arith.select", &[is_large, more, log])
    }
}

/// The angle of a tangent.
pub(in crate::import) fn atan(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let (magnitude, one) = (formula.op("math.absf", inputs)?, formula.number(1.0));
    let angle = formula.angle(magnitude, one)?;
    formula.signed(angle, inputs[0])
}

/// Builds the angle of a point, from -pi to pi; 0 for the origin. The sign of a zero is ignored.
pub(in crate::import) fn atan2(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    super::plain::same(&graph.elements_of(inputs))?;
    let &[y, x] = inputs else { return Err("does not have two operands".to_owned()) };
    let mut formula = Formula { graph, element };
    let zero = formula.number(0.0);
    let (opposite, adjacent) = (formula.op("math.absf", &[y])?, formula.op("math.absf", &[x])?);
    let angle = formula.angle(opposite, adjacent)?;
    // Two infinities are equal, and have no quotient.
    let (is_equal, eighth) = (formula.compare("oeq", &[opposite, adjacent])?, formula.number(FRAC_PI_4));
    let angle = formula.op("arith.select", &[is_equal, eighth, angle])?;
    let both = formula.op("arith.addf", &[opposite, adjacent])?;
    let is_origin = formula.compare("oeq", &[both, zero])?;
    let angle = formula.op("arith.select", &[is_origin, zero, angle])?;
    let is_left = formula.compare("olt", &[x, zero])?;
    let angle = formula.taken_from(PI, is_left, angle)?;
    formula.signed(angle, y)
}

/// The angle of a sine; NaN beyond 1.
pub(in crate::import) fn asin(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let magnitude = formula.op("math.absf", inputs)?;
    let adjacent = formula.other_side(magnitude)?;
    let angle = formula.angle(magnitude, adjacent)?;
    formula.signed(angle, inputs[0])
}

/// The angle of a cosine, from 0 to pi; NaN beyond 1.
pub(in crate::import) fn acos(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let (magnitude, zero) = (formula.op("math.absf", inputs)?, formula.number(0.0));
    let opposite = formula.other_side(magnitude)?;
    let angle = formula.angle(opposite, magnitude)?;
    let is_left = formula.compare("olt", &[inputs[0], zero])?;
    formula.taken_from(PI, is_left, angle)
}

/// `log(|x| + sqrt(x^2 + 1))` with the sign of `x`.
pub(in crate::import) fn asinh(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let (magnitude, one) = (formula.op("math.absf", inputs)?, formula.number(1.0));
    let square = formula.op("arith.mulf", &[magnitude, magnitude])?;
    let square = formula.op("arith.addf", &[square, one])?;
    let root = formula.op("math.sqrt", &[square])?;
    let area = formula.area(magnitude, root)?;
    formula.signed(area, inputs[0])
}

/// `log(x + sqrt(x - 1) sqrt(x + 1))`; NaN below 1.
pub(in crate::import) fn acosh(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let one = formula.number(1.0);
    let (less, more) = (formula.op("arith.subf", &[inputs[0], one])?, formula.op("arith.addf", &[inputs[0], one])?);
    let (less, more) = (formula.op("math.sqrt", &[less])?, formula.op("math.sqrt", &[more])?);
    let root = formula.op("arith.mulf", &[less, more])?;
    formula.area(inputs[0], root)
}

/// `log((1 + x) / (1 - x)) / 2`; NaN beyond 1.
pub(in crate::import) fn atanh(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let (one, half) = (formula.number(1.0), formula.number(0.5));
    let (less, more) = (formula.op("arith.subf", &[one, inputs[0]])?, formula.op("arith.addf", &[one, inputs[0]])?);
    let quotient = formula.op("arith.divf", &[more, less])?;
    let log = formula.op("math.log", &[quotient])?;
    formula.op("arith.mulf", &[log, half])
}

/// The sine over the cosine.
pub(in crate::import) fn tan(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let (sine, cosine) = (formula.op("math.sin", inputs)?, formula.op("math.cos", inputs)?);
    formula.op("arith.divf", &[sine, cosine])
}

/// `1 + erf(-x)`.
pub(in crate::import) fn erfc(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let mut formula = Formula { graph, element };
    let (negative, one) = (formula.op("arith.negf", inputs)?, formula.number(1.0));
    let erf = formula.op("math.erf", &[negative])?;
    formula.op("arith.addf", &[one, erf])
}
