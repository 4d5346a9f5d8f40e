//! Lowering of elementwise operations to device functions: several functions if there is no single one, simpler forms for constant operands.

use super::{
    composites::{as_gelu, as_logistic, as_mean, as_sigmoid_of_tanh, as_softplus, factors_of},
    plain::{Built, has, neg, same},
    safe_softmax::as_safe_softmax,
    unordered::{self, Comparison},
};
use crate::{
    codes,
    import::graph::{Element, Graph, Kind, NodeId, order},
};
use std::collections::BTreeSet;

fn check(graph: &Graph, inputs: &[NodeId]) -> Result<(), String> {
    same(&graph.elements_of(inputs)).map(|_| ())
}

pub(in crate::import) fn add(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    match (graph.number_of(lhs), graph.number_of(rhs)) {
        (Some(0.0), _) => return Ok(rhs),
        (_, Some(0.0)) => return Ok(lhs),
        _ => {}
    }
    for (x, added) in [(lhs, rhs), (rhs, lhs)] {
        if let Some(subtracted) = order::subtracted(graph, added) {
            return Ok(graph.pointwise("sub", &[x, subtracted], element));
        }
    }
    let sum = graph.pointwise("add", inputs, element);
    Ok(as_sigmoid_of_tanh(graph, 1.0, sum, element).unwrap_or(sum))
}

pub(in crate::import) fn sub(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    match (graph.number_of(inputs[0]), graph.number_of(inputs[1])) {
        (Some(0.0), _) => neg(graph, &inputs[1..], element),
        (_, Some(0.0)) => Ok(inputs[0]),
        _ => Ok(graph.pointwise("sub", inputs, element)),
    }
}

pub(in crate::import) fn mul(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    for (factor, other) in [(lhs, rhs), (rhs, lhs)] {
        match graph.number_of(factor) {
            Some(1.0) => return Ok(other),
            Some(-1.0) => return neg(graph, &[other], element),
            Some(number) => {
                if let Some(mean) = as_mean(graph, other, number) {
                    return Ok(mean);
                }
            }
            None => {}
        }
    }
    for (gate, x) in [(lhs, rhs), (rhs, lhs)] {
        if graph.as_pointwise(gate, "sigmoid") == Some(&[x]) && has("silu", element) {
            return Ok(graph.pointwise("silu", &[x], element));
        }
    }
    let product = graph.pointwise("mul", inputs, element);
    let (number, factors) = factors_of(graph, product);
    let larger = match *factors.as_slice() {
        [only] => as_sigmoid_of_tanh(graph, number, only, element),
        [first, second] => as_gelu(graph, number, first, second, element).or_else(|| as_gelu(graph, number, second, first, element)),
        _ => None,
    };
    Ok(larger.unwrap_or(product))
}

pub(in crate::import) fn div(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    if let Some(divisor) = graph.number_of(rhs) {
        let factor = 1.0 / divisor;
        if let Some(mean) = as_mean(graph, lhs, factor) {
            return Ok(mean);
        }
        // The reciprocal of a power of two is exact.
        if divisor.abs().log2().fract() == 0.0 {
            let factor = graph.number(factor);
            return mul(graph, &[lhs, factor], element);
        }
        return Ok(graph.pointwise("realdiv", inputs, element));
    }
    if let Some(gate) = as_logistic(graph, rhs, element) {
        return if graph.number_of(lhs) == Some(1.0) { Ok(gate) } else { mul(graph, &[lhs, gate], element) };
    }
    if graph.number_of(lhs) == Some(1.0) {
        return Ok(graph.pointwise("reciprocal", &[rhs], element));
    }
    Ok(graph.pointwise("realdiv", inputs, element))
}

pub(in crate::import) fn maximum(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    for (x, bound) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        match graph.number_of(bound) {
            Some(f64::NEG_INFINITY) => return Ok(x),
            Some(0.0) if has("relufwd", element) && graph.as_pointwise(x, "minimum").is_none() => {
                return Ok(graph.pointwise("relufwd", &[x], element));
            }
            Some(low) => {
                if let Some((inner, high)) = bounded(graph, x, "minimum").filter(|&(_, high)| low <= high && has("clip", element)) {
                    return Ok(graph.pointwise_with("clip", &[low, high], &[inner], element));
                }
            }
            None => {}
        }
    }
    Ok(graph.pointwise("maximum", inputs, element))
}

pub(in crate::import) fn minimum(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    for (x, bound) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        match graph.number_of(bound) {
            Some(f64::INFINITY) => return Ok(x),
            Some(high) => {
                let relu = graph.as_pointwise(x, "relufwd").map(|inner| (inner[0], 0.0));
                let below = relu.or_else(|| bounded(graph, x, "maximum")).filter(|&(_, low)| low <= high && has("clip", element));
                if let Some((inner, low)) = below {
                    return Ok(graph.pointwise_with("clip", &[low, high], &[inner], element));
                }
            }
            None => {}
        }
    }
    Ok(graph.pointwise("minimum", inputs, element))
}

/// Returns the operand and the number of a maximum or minimum with a number.
fn bounded(graph: &Graph, id: NodeId, function: &str) -> Option<(NodeId, f64)> {
    let &[lhs, rhs] = graph.as_pointwise(id, function)? else { return None };
    graph.number_of(rhs).map(|number| (lhs, number)).or_else(|| graph.number_of(lhs).map(|number| (rhs, number)))
}

pub(in crate::import) fn clamp(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    // An operation on two constants is folded immediately.
    let above = graph.apply("arith.maximumf", &inputs[..2], element)?;
    graph.apply("arith.minimumf", &[above, inputs[2]], element)
}

pub(in crate::import) fn select(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let &[condition, yes, no] = inputs else { return Err("does not have three operands".to_owned()) };
    if let Some(number) = graph.number_of(condition) {
        return broadcast_like(graph, if number == 0.0 { no } else { yes }, inputs);
    }
    if yes == no {
        return broadcast_like(graph, yes, inputs);
    }
    let elements = graph.elements_of(&[yes, no]);
    let element = match elements.as_slice() {
        // Both alternatives are scalars: the result has the precision of the compared operands.
        [] => compared_element(graph, condition, element),
        _ => same(&elements)?,
    };
    if let Some(chosen) = order::chosen(graph, condition, yes, no, element) {
        return Ok(chosen);
    }
    if let Some(simpler) = choice(graph, condition, yes, no, element)?.or_else(|| as_safe_softmax(graph, condition, yes, no)) {
        return Ok(simpler);
    }
    Ok(graph.pointwise("where3", inputs, element))
}

/// Returns what another function computes as well as a choice by a comparison, if one does.
///
/// The device's maximum and minimum are NaN where an operand is. A choice is, only if it takes the operand that is NaN:
/// the other one must be a number then. Where it may be NaN, too, the choice keeps a number that the device's function
/// loses, which `Graph::keeps_nan` forbids.
fn choice(graph: &mut Graph, condition: NodeId, yes: NodeId, no: NodeId, element: Element) -> Result<Option<NodeId>, String> {
    let Some(Comparison { function, operands: [a, b], holds_for_nan }) = unordered::compared(graph, condition) else { return Ok(None) };
    let (larger, smaller) = match function {
        "greaterthan" | "greaterequal" => (a, b),
        "lesserthan" | "lesserequal" => (b, a),
        _ => return Ok(None),
    };
    let not_for_nan = if holds_for_nan { no } else { yes };
    let may_be_limit = !graph.keeps_nan || unordered::are_numbers(graph, &[not_for_nan]);
    if (yes, no) == (larger, smaller) && may_be_limit {
        return maximum(graph, &[yes, no], element).map(Some);
    }
    if (yes, no) == (smaller, larger) && may_be_limit {
        return minimum(graph, &[yes, no], element).map(Some);
    }
    // PyTorch's softplus is linear beyond a threshold, as the device's is.
    let is_beyond = larger == yes && graph.number_of(smaller).is_some();
    Ok((is_beyond && graph.as_pointwise(no, "softplus") == Some(&[yes])).then_some(no))
}

/// Builds the larger of two operands; of a NaN and a number, the number.
pub(in crate::import) fn larger_number(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    number_of_two(graph, inputs, element, "greaterequal", maximum)
}

/// Builds the smaller of two operands; of a NaN and a number, the number.
pub(in crate::import) fn smaller_number(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    number_of_two(graph, inputs, element, "lesserequal", minimum)
}

/// Returns the operand for which `comparison` holds, and the number of a NaN and a number. `limit` is the device's
/// function, which keeps NaN.
fn number_of_two(
    graph: &mut Graph,
    inputs: &[NodeId],
    element: Element,
    comparison: &'static str,
    limit: fn(&mut Graph, &[NodeId], Element) -> Built,
) -> Built {
    check(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    let is_nan = |graph: &Graph, id: NodeId| graph.number_of(id).is_some_and(f64::is_nan);
    if is_nan(graph, lhs) || is_nan(graph, rhs) {
        return broadcast_like(graph, if is_nan(graph, lhs) { rhs } else { lhs }, inputs);
    }
    let (x, y) = match [lhs, rhs].map(|id| unordered::are_numbers(graph, &[id])) {
        [true, true] => return limit(graph, inputs, element),
        [true, false] => (rhs, lhs),
        _ => (lhs, rhs),
    };
    // No comparison holds for a NaN: the select returns y where x or y is NaN.
    let is_chosen = graph.pointwise(comparison, &[x, y], Element::Bool);
    let chosen = graph.pointwise("where3", &[is_chosen, x, y], element);
    if unordered::are_numbers(graph, &[y]) {
        return Ok(chosen);
    }
    let is_number = graph.pointwise("equal", &[y, y], Element::Bool);
    Ok(graph.pointwise("where3", &[is_number, chosen, x], element))
}

/// Returns the element type of the operands of a truth value; for an argument, that of the numbers that it is converted to.
pub(in crate::import) fn compared_element(graph: &Graph, condition: NodeId, becomes: Element) -> Element {
    let (mut stack, mut seen) = (vec![condition], BTreeSet::new());
    while let Some(id) = stack.pop() {
        let node = graph.node(id);
        if node.element.is_float() && !matches!(node.kind, Kind::Known(_)) {
            return node.element;
        }
        stack.extend(node.inputs.iter().filter(|&&input| seen.insert(input)));
    }
    becomes
}

/// Broadcasts a node to the shape of the operation.
fn broadcast_like(graph: &mut Graph, id: NodeId, inputs: &[NodeId]) -> Built {
    let shape = graph.broadcast_shape(inputs);
    Ok(graph.broadcast(id, &shape))
}

pub(in crate::import) fn unordered(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    nan_test(graph, inputs, "notequal")
}

pub(in crate::import) fn ordered(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    nan_test(graph, inputs, "equal")
}

fn nan_test(graph: &mut Graph, inputs: &[NodeId], function: &'static str) -> Built {
    let is_number = |graph: &Graph, id: NodeId| graph.number_of(id).is_some_and(|number| !number.is_nan());
    let tested: Vec<NodeId> = inputs.iter().copied().filter(|&input| !is_number(graph, input)).collect();
    match *tested.as_slice() {
        [x] => Ok(graph.pointwise(function, &[x, x], Element::Bool)),
        [x, y] if x == y => Ok(graph.pointwise(function, &[x, x], Element::Bool)),
        _ => Err(codes::UNSUPPORTED.says("tests two values for NaN, which is not supported; test each value")),
    }
}

pub(in crate::import) fn and(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    Ok(decided(graph, inputs, false).unwrap_or_else(|| {
        let both = graph.pointwise("mul", inputs, Element::Bool);
        order::joined(graph, "arith.andi", inputs, both)
    }))
}

pub(in crate::import) fn or(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    Ok(decided(graph, inputs, true).unwrap_or_else(|| {
        let either = graph.pointwise("maximum", inputs, Element::Bool);
        order::joined(graph, "arith.ori", inputs, either)
    }))
}

/// Folds a logical operation on two truth values if one is constant: returns the constant if it equals `decisive`, else
/// the other operand. Returns None if neither is constant.
fn decided(graph: &Graph, inputs: &[NodeId], decisive: bool) -> Option<NodeId> {
    let pairs = [(inputs[0], inputs[1]), (inputs[1], inputs[0])];
    pairs.into_iter().find_map(|(other, known)| {
        let truth = graph.number_of(known)? != 0.0;
        Some(if truth == decisive { known } else { other })
    })
}

pub(in crate::import) fn xor(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    Ok(graph.pointwise("notequal", inputs, Element::Bool))
}

pub(in crate::import) fn number_of_truth(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let node = graph.node(inputs[0]).clone();
    let element = compared_element(graph, inputs[0], element);
    Ok(graph.add(Kind::Reshape, inputs, node.shape, element))
}

pub(in crate::import) fn negative_number_of_truth(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    // As a signed integer of one bit, true is -1.
    let number = number_of_truth(graph, inputs, element)?;
    let element = graph.node(number).element;
    neg(graph, &[number], element)
}

pub(in crate::import) fn ceil(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let negative = neg(graph, inputs, element)?;
    let floor = graph.pointwise("floor", &[negative], element);
    neg(graph, &[floor], element)
}

pub(in crate::import) fn exp2(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let factor = graph.number(std::f64::consts::LN_2);
    let scaled = mul(graph, &[inputs[0], factor], element)?;
    Ok(graph.pointwise("exp", &[scaled], element))
}

pub(in crate::import) fn expm1(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (exp, one) = (graph.pointwise("exp", inputs, element), graph.number(1.0));
    sub(graph, &[exp, one], element)
}

pub(in crate::import) fn fma(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    // An operation on two constants is folded immediately.
    let product = graph.apply("arith.mulf", &inputs[..2], element)?;
    graph.apply("arith.addf", &[product, inputs[2]], element)
}

pub(in crate::import) fn log(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    Ok(as_softplus(graph, inputs[0], element).unwrap_or_else(|| graph.pointwise("log", inputs, element)))
}

pub(in crate::import) fn log1p(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let one = graph.number(1.0);
    let sum = add(graph, &[one, inputs[0]], element)?;
    log(graph, &[sum], element)
}

pub(in crate::import) fn log2(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (log, factor) = (log(graph, inputs, element)?, graph.number(std::f64::consts::LOG2_E));
    mul(graph, &[log, factor], element)
}

/// Builds the error function of a number (Abramowitz and Stegun, 7.1.26; off by at most 1.5e-7).
#[must_use]
pub(in crate::import) fn erf_of(x: f64) -> f64 {
    let t = 1.0 / (1.0 + ERF_P * x.abs());
    let polynomial = ERF_A.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    x.signum() * (1.0 - polynomial * (-x * x).exp())
}

const ERF_P: f64 = 0.327_591_1;
const ERF_A: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];

/// Builds the error function as a virtual op, as a component of a gelu; outside of one it is computed by the same formula as [`erf_of`].
pub(in crate::import) fn erf(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let x = inputs[0];
    let (one, zero, p) = (graph.number(1.0), graph.number(0.0), graph.number(ERF_P));
    let magnitude = graph.pointwise("abs", &[x], element);
    let scaled = mul(graph, &[magnitude, p], element)?;
    let denominator = graph.pointwise("add", &[scaled, one], element);
    let t = graph.pointwise("reciprocal", &[denominator], element);
    let last = graph.number(ERF_A[4]);
    let mut polynomial = mul(graph, &[t, last], element)?;
    for coefficient in ERF_A[..4].iter().rev() {
        let coefficient = graph.number(*coefficient);
        let sum = add(graph, &[polynomial, coefficient], element)?;
        polynomial = graph.pointwise("mul", &[sum, t], element);
    }
    let square = graph.pointwise("mul", &[x, x], element);
    let exponent = neg(graph, &[square], element)?;
    let decay = graph.pointwise("exp", &[exponent], element);
    let tail = graph.pointwise("mul", &[polynomial, decay], element);
    let positive = graph.pointwise("sub", &[one, tail], element);
    let negative = neg(graph, &[positive], element)?;
    let is_positive = graph.pointwise("greaterequal", &[x, zero], Element::Bool);
    let fallback = graph.pointwise("where3", &[is_positive, positive, negative], element);
    Ok(graph.virtual_op("erf", &[x], fallback, element))
}

#[cfg(test)]
mod tests {
    use super::{super::composites::tests::Case, *};

    #[test]
    fn relu_clip_and_softplus() {
        let mut case = Case::new();
        let (x, zero, six, one) = (case.x, case.number(0.0), case.number(6.0), case.number(1.0));
        let relu = case.op("arith.maximumf", &[zero, x]);
        assert_eq!(case.function(relu), "relufwd");
        let relu6 = case.op("arith.minimumf", &[relu, six]);
        assert_eq!(case.function(relu6), "clip");
        let is_positive = case.op("arith.cmpf ogt", &[x, zero]);
        let chosen = case.op("arith.select", &[is_positive, x, zero]);
        assert_eq!(case.function(chosen), "relufwd");
        let exp = case.op("math.exp", &[x]);
        let softplus = case.op("math.log1p", &[exp]);
        assert_eq!(case.function(softplus), "softplus");
        let sum = case.op("arith.addf", &[exp, one]);
        let softplus = case.op("math.log", &[sum]);
        assert_eq!(case.function(softplus), "softplus");
    }

    #[test]
    fn powers_are_products() {
        let mut case = Case::new();
        let (x, two, half) = (case.x, case.number(2.0), case.number(-0.5));
        let square = case.op("math.fpowi", &[x, two]);
        assert_eq!(case.graph.as_pointwise(square, "mul"), Some(&[x, x][..]));
        let rsqrt = case.op("math.powf", &[x, half]);
        assert_eq!(case.function(rsqrt), "rsqrt");
        let odd = case.number(2.5);
        let power = case.graph.apply("math.powf", &[x, odd], Element::F16).unwrap();
        assert!(case.graph.as_pointwise(power, "exp").is_some());
    }

    #[test]
    fn what_one_operand_decides() {
        let mut case = Case::new();
        let (x, zero, truth) = (case.x, case.number(0.0), case.number(1.0));
        let chosen = case.op("arith.select", &[truth, x, zero]);
        assert_eq!(chosen, x);
        let compared = case.op("arith.cmpf oge", &[x, zero]);
        assert_eq!(case.op("arith.andi", &[compared, truth]), compared);
        assert_eq!(case.op("arith.ori", &[compared, zero]), compared);
    }

    #[test]
    fn the_error_function_is_close() {
        for (x, expected) in [(0.5, 0.520_499_877_8), (-1.0, -0.842_700_792_9), (2.0, 0.995_322_265_0)] {
            assert!((erf_of(x) - expected).abs() < 2e-7, "{x}");
        }
    }
}
