//! Lowering of elementwise operations to device functions: several functions if there is no single one, simpler forms
//! for constant operands.

use super::{
    composites::{as_gelu, as_logistic, as_mean, as_sigmoid_of_tanh, as_softplus, split_factors},
    nan_comparison::{self, NanAwareComparison},
    rule_helpers::{NodeResult, common_element_type, has_device_function, neg},
    safe_softmax::as_safe_softmax,
};
use crate::{
    codes,
    import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph, constant_comparison},
};
use std::collections::BTreeSet;

fn check_element_types(graph: &ValueGraph, inputs: &[NodeId]) -> Result<(), String> {
    common_element_type(&graph.collect_element_types(inputs)).map(|_| ())
}

pub(in crate::import) fn add(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    check_element_types(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    match (graph.as_scalar(lhs), graph.as_scalar(rhs)) {
        (Some(0.0), _) => return Ok(rhs),
        (_, Some(0.0)) => return Ok(lhs),
        _ => {}
    }
    for (x, added) in [(lhs, rhs), (rhs, lhs)] {
        if let Some(subtracted) = constant_comparison::find_subtrahend(graph, added) {
            return Ok(graph.add_pointwise("sub", &[x, subtracted], element));
        }
    }
    let sum = graph.add_pointwise("add", inputs, element);
    Ok(as_sigmoid_of_tanh(graph, 1.0, sum, element).unwrap_or(sum))
}

pub(in crate::import) fn sub(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    check_element_types(graph, inputs)?;
    match (graph.as_scalar(inputs[0]), graph.as_scalar(inputs[1])) {
        (Some(0.0), _) => neg(graph, &inputs[1..], element),
        (_, Some(0.0)) => Ok(inputs[0]),
        _ => Ok(graph.add_pointwise("sub", inputs, element)),
    }
}

pub(in crate::import) fn mul(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    check_element_types(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    for (factor, other) in [(lhs, rhs), (rhs, lhs)] {
        match graph.as_scalar(factor) {
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
        if graph.as_pointwise(gate, "sigmoid") == Some(&[x]) && has_device_function("silu", element) {
            return Ok(graph.add_pointwise("silu", &[x], element));
        }
    }
    let product = graph.add_pointwise("mul", inputs, element);
    let (number, factors) = split_factors(graph, product);
    let larger = match *factors.as_slice() {
        [only] => as_sigmoid_of_tanh(graph, number, only, element),
        [first, second] => {
            as_gelu(graph, number, first, second, element).or_else(|| as_gelu(graph, number, second, first, element))
        }
        _ => None,
    };
    Ok(larger.unwrap_or(product))
}

pub(in crate::import) fn div(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    check_element_types(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    if let Some(divisor) = graph.as_scalar(rhs) {
        let factor = 1.0 / divisor;
        if let Some(mean) = as_mean(graph, lhs, factor) {
            return Ok(mean);
        }
        // The reciprocal of a power of two is exact.
        if divisor.abs().log2().fract() == 0.0 {
            let factor = graph.add_scalar(factor);
            return mul(graph, &[lhs, factor], element);
        }
        return Ok(graph.add_pointwise("realdiv", inputs, element));
    }
    if let Some(gate) = as_logistic(graph, rhs, element) {
        return if graph.as_scalar(lhs) == Some(1.0) { Ok(gate) } else { mul(graph, &[lhs, gate], element) };
    }
    if graph.as_scalar(lhs) == Some(1.0) {
        return Ok(graph.add_pointwise("reciprocal", &[rhs], element));
    }
    Ok(graph.add_pointwise("realdiv", inputs, element))
}

pub(in crate::import) fn maximum(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    check_element_types(graph, inputs)?;
    for (x, bound) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        match graph.as_scalar(bound) {
            Some(f64::NEG_INFINITY) => return Ok(x),
            Some(0.0) if has_device_function("relufwd", element) && graph.as_pointwise(x, "minimum").is_none() => {
                return Ok(graph.add_pointwise("relufwd", &[x], element));
            }
            Some(low) => {
                if let Some((inner, high)) = split_bound(graph, x, "minimum")
                    .filter(|&(_, high)| low <= high && has_device_function("clip", element))
                {
                    return Ok(graph.add_pointwise_with_constants("clip", &[low, high], &[inner], element));
                }
            }
            None => {}
        }
    }
    Ok(graph.add_pointwise("maximum", inputs, element))
}

pub(in crate::import) fn minimum(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    check_element_types(graph, inputs)?;
    for (x, bound) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        match graph.as_scalar(bound) {
            Some(f64::INFINITY) => return Ok(x),
            Some(high) => {
                let relu = graph.as_pointwise(x, "relufwd").map(|inner| (inner[0], 0.0));
                let below = relu
                    .or_else(|| split_bound(graph, x, "maximum"))
                    .filter(|&(_, low)| low <= high && has_device_function("clip", element));
                if let Some((inner, low)) = below {
                    return Ok(graph.add_pointwise_with_constants("clip", &[low, high], &[inner], element));
                }
            }
            None => {}
        }
    }
    Ok(graph.add_pointwise("minimum", inputs, element))
}

/// Returns the operand and the number of a maximum or minimum with a number.
fn split_bound(graph: &ValueGraph, id: NodeId, function: &str) -> Option<(NodeId, f64)> {
    let &[lhs, rhs] = graph.as_pointwise(id, function)? else { return None };
    graph.as_scalar(rhs).map(|number| (lhs, number)).or_else(|| graph.as_scalar(lhs).map(|number| (rhs, number)))
}

pub(in crate::import) fn clamp(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    // An operation on two constants is folded immediately.
    let above = graph.apply("arith.maximumf", &inputs[..2], element)?;
    graph.apply("arith.minimumf", &[above, inputs[2]], element)
}

pub(in crate::import) fn select(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let &[condition, yes, no] = inputs else { return Err("does not have three operands".to_owned()) };
    if let Some(number) = graph.as_scalar(condition) {
        return broadcast_like(graph, if number == 0.0 { no } else { yes }, inputs);
    }
    if yes == no {
        return broadcast_like(graph, yes, inputs);
    }
    let elements = graph.collect_element_types(&[yes, no]);
    let element = match elements.as_slice() {
        // Both alternatives are scalars: the result has the precision of the compared operands.
        [] => find_compared_element(graph, condition, element),
        _ => common_element_type(&elements)?,
    };
    if let Some(chosen) = constant_comparison::select_with_mask(graph, condition, yes, no, element) {
        return Ok(chosen);
    }
    if let Some(simpler) =
        simplify_select(graph, condition, yes, no, element)?.or_else(|| as_safe_softmax(graph, condition, yes, no))
    {
        return Ok(simpler);
    }
    Ok(graph.add_pointwise("where3", inputs, element))
}

/// Returns another function that computes a select by a comparison equally well, if there is one.
///
/// The device's maximum and minimum are NaN if an operand is NaN. A select is NaN only if it selects a NaN operand, so
/// the other operand must be a number. If the other operand may be NaN, the select keeps a number that the device's
/// function loses, which `ValueGraph::keeps_nan` forbids.
fn simplify_select(
    graph: &mut ValueGraph,
    condition: NodeId,
    yes: NodeId,
    no: NodeId,
    element: NodeElementType,
) -> Result<Option<NodeId>, String> {
    let Some(NanAwareComparison { function, operands: [a, b], holds_for_nan }) =
        nan_comparison::find_comparison(graph, condition)
    else {
        return Ok(None);
    };
    let (larger, smaller) = match function {
        "greaterthan" | "greaterequal" => (a, b),
        "lesserthan" | "lesserequal" => (b, a),
        _ => return Ok(None),
    };
    let not_for_nan = if holds_for_nan { no } else { yes };
    let may_be_limit = !graph.keeps_nan || nan_comparison::are_numbers(graph, &[not_for_nan]);
    if (yes, no) == (larger, smaller) && may_be_limit {
        return maximum(graph, &[yes, no], element).map(Some);
    }
    if (yes, no) == (smaller, larger) && may_be_limit {
        return minimum(graph, &[yes, no], element).map(Some);
    }
    // PyTorch's softplus is linear beyond a threshold, as the device's is.
    let is_beyond = larger == yes && graph.as_scalar(smaller).is_some();
    Ok((is_beyond && graph.as_pointwise(no, "softplus") == Some(&[yes])).then_some(no))
}

/// Builds the larger of two operands; for a NaN and a number, the number.
pub(in crate::import) fn build_maxnum(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeResult {
    select_number(graph, inputs, element, "greaterequal", maximum)
}

/// Builds the smaller of two operands; for a NaN and a number, the number.
pub(in crate::import) fn build_minnum(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeResult {
    select_number(graph, inputs, element, "lesserequal", minimum)
}

/// Returns the operand for which `comparison` holds; for a NaN and a number, the number. `limit` is the device's
/// function, which keeps NaN.
fn select_number(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
    comparison: &'static str,
    limit: fn(&mut ValueGraph, &[NodeId], NodeElementType) -> NodeResult,
) -> NodeResult {
    check_element_types(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    let is_nan = |graph: &ValueGraph, id: NodeId| graph.as_scalar(id).is_some_and(f64::is_nan);
    if is_nan(graph, lhs) || is_nan(graph, rhs) {
        return broadcast_like(graph, if is_nan(graph, lhs) { rhs } else { lhs }, inputs);
    }
    let (x, y) = match [lhs, rhs].map(|id| nan_comparison::are_numbers(graph, &[id])) {
        [true, true] => return limit(graph, inputs, element),
        [true, false] => (rhs, lhs),
        _ => (lhs, rhs),
    };
    // No comparison holds for a NaN: the select returns y where x or y is NaN.
    let is_chosen = graph.add_pointwise(comparison, &[x, y], NodeElementType::Bool);
    let chosen = graph.add_pointwise("where3", &[is_chosen, x, y], element);
    if nan_comparison::are_numbers(graph, &[y]) {
        return Ok(chosen);
    }
    let is_number = graph.add_pointwise("equal", &[y, y], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_number, chosen, x], element))
}

/// Returns the element type of the operands of a truth value; for an argument, that of the numbers that it is converted
/// to.
pub(in crate::import) fn find_compared_element(
    graph: &ValueGraph,
    condition: NodeId,
    becomes: NodeElementType,
) -> NodeElementType {
    let (mut stack, mut seen) = (vec![condition], BTreeSet::new());
    while let Some(id) = stack.pop() {
        let node = graph.node(id);
        if node.element.is_float() && !matches!(node.kind, NodeKind::Constant(_)) {
            return node.element;
        }
        stack.extend(node.inputs.iter().filter(|&&input| seen.insert(input)));
    }
    becomes
}

/// Broadcasts a node to the shape of the operation.
fn broadcast_like(graph: &mut ValueGraph, id: NodeId, inputs: &[NodeId]) -> NodeResult {
    let shape = graph.compute_broadcast_shape(inputs);
    Ok(graph.broadcast(id, &shape))
}

pub(in crate::import) fn build_unordered(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    _element: NodeElementType,
) -> NodeResult {
    build_nan_test(graph, inputs, "notequal")
}

pub(in crate::import) fn build_ordered(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    _element: NodeElementType,
) -> NodeResult {
    build_nan_test(graph, inputs, "equal")
}

fn build_nan_test(graph: &mut ValueGraph, inputs: &[NodeId], function: &'static str) -> NodeResult {
    let is_number = |graph: &ValueGraph, id: NodeId| graph.as_scalar(id).is_some_and(|number| !number.is_nan());
    let tested: Vec<NodeId> = inputs.iter().copied().filter(|&input| !is_number(graph, input)).collect();
    match *tested.as_slice() {
        [x] => Ok(graph.add_pointwise(function, &[x, x], NodeElementType::Bool)),
        [x, y] if x == y => Ok(graph.add_pointwise(function, &[x, x], NodeElementType::Bool)),
        _ => Err(codes::UNSUPPORTED.format("tests two values for NaN, which is not supported; test each value")),
    }
}

pub(in crate::import) fn and(graph: &mut ValueGraph, inputs: &[NodeId], _element: NodeElementType) -> NodeResult {
    Ok(fold_logical(graph, inputs, false).unwrap_or_else(|| {
        let both = graph.add_pointwise("mul", inputs, NodeElementType::Bool);
        constant_comparison::combine_truth_values(graph, "arith.andi", inputs, both)
    }))
}

pub(in crate::import) fn or(graph: &mut ValueGraph, inputs: &[NodeId], _element: NodeElementType) -> NodeResult {
    Ok(fold_logical(graph, inputs, true).unwrap_or_else(|| {
        let either = graph.add_pointwise("maximum", inputs, NodeElementType::Bool);
        constant_comparison::combine_truth_values(graph, "arith.ori", inputs, either)
    }))
}

/// Folds a logical operation on two truth values if one is constant: returns the constant if it equals `decisive`, else
/// the other operand. Returns None if neither is constant.
fn fold_logical(graph: &ValueGraph, inputs: &[NodeId], decisive: bool) -> Option<NodeId> {
    let pairs = [(inputs[0], inputs[1]), (inputs[1], inputs[0])];
    pairs.into_iter().find_map(|(other, known)| {
        let truth = graph.as_scalar(known)? != 0.0;
        Some(if truth == decisive { known } else { other })
    })
}

pub(in crate::import) fn xor(graph: &mut ValueGraph, inputs: &[NodeId], _element: NodeElementType) -> NodeResult {
    Ok(graph.add_pointwise("notequal", inputs, NodeElementType::Bool))
}

pub(in crate::import) fn convert_truth(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeResult {
    let node = graph.node(inputs[0]).clone();
    let element = find_compared_element(graph, inputs[0], element);
    Ok(graph.add(NodeKind::Reshape, inputs, node.shape, element))
}

pub(in crate::import) fn convert_signed_truth(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeResult {
    // As a signed integer of one bit, true is -1.
    let number = convert_truth(graph, inputs, element)?;
    let element = graph.node(number).element;
    neg(graph, &[number], element)
}

pub(in crate::import) fn ceil(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let negative = neg(graph, inputs, element)?;
    let floor = graph.add_pointwise("floor", &[negative], element);
    neg(graph, &[floor], element)
}

pub(in crate::import) fn exp2(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let factor = graph.add_scalar(std::f64::consts::LN_2);
    let scaled = mul(graph, &[inputs[0], factor], element)?;
    Ok(graph.add_pointwise("exp", &[scaled], element))
}

pub(in crate::import) fn expm1(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let (exp, one) = (graph.add_pointwise("exp", inputs, element), graph.add_scalar(1.0));
    sub(graph, &[exp, one], element)
}

pub(in crate::import) fn fma(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    // An operation on two constants is folded immediately.
    let product = graph.apply("arith.mulf", &inputs[..2], element)?;
    graph.apply("arith.addf", &[product, inputs[2]], element)
}

pub(in crate::import) fn log(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    Ok(as_softplus(graph, inputs[0], element).unwrap_or_else(|| graph.add_pointwise("log", inputs, element)))
}

pub(in crate::import) fn log1p(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let one = graph.add_scalar(1.0);
    let sum = add(graph, &[one, inputs[0]], element)?;
    log(graph, &[sum], element)
}

pub(in crate::import) fn log2(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let (log, factor) = (log(graph, inputs, element)?, graph.add_scalar(std::f64::consts::LOG2_E));
    mul(graph, &[log, factor], element)
}

/// Evaluates the error function of a number (Abramowitz and Stegun, 7.1.26; off by at most 1.5e-7).
#[must_use]
pub(in crate::import) fn evaluate_erf(x: f64) -> f64 {
    let t = 1.0 / (1.0 + ERF_P * x.abs());
    let polynomial = ERF_A.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    x.signum() * (1.0 - polynomial * (-x * x).exp())
}

const ERF_P: f64 = 0.327_591_1;
const ERF_A: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];

/// Builds the error function as a virtual op, as a component of a gelu. Outside of a gelu, it is computed by the same
/// formula as [`evaluate_erf`].
pub(in crate::import) fn erf(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let x = inputs[0];
    let (one, zero, p) = (graph.add_scalar(1.0), graph.add_scalar(0.0), graph.add_scalar(ERF_P));
    let magnitude = graph.add_pointwise("abs", &[x], element);
    let scaled = mul(graph, &[magnitude, p], element)?;
    let denominator = graph.add_pointwise("add", &[scaled, one], element);
    let t = graph.add_pointwise("reciprocal", &[denominator], element);
    let last = graph.add_scalar(ERF_A[4]);
    let mut polynomial = mul(graph, &[t, last], element)?;
    for coefficient in ERF_A[..4].iter().rev() {
        let coefficient = graph.add_scalar(*coefficient);
        let sum = add(graph, &[polynomial, coefficient], element)?;
        polynomial = graph.add_pointwise("mul", &[sum, t], element);
    }
    let square = graph.add_pointwise("mul", &[x, x], element);
    let exponent = neg(graph, &[square], element)?;
    let decay = graph.add_pointwise("exp", &[exponent], element);
    let tail = graph.add_pointwise("mul", &[polynomial, decay], element);
    let positive = graph.add_pointwise("sub", &[one, tail], element);
    let negative = neg(graph, &[positive], element)?;
    let is_positive = graph.add_pointwise("greaterequal", &[x, zero], NodeElementType::Bool);
    let fallback = graph.add_pointwise("where3", &[is_positive, positive, negative], element);
    Ok(graph.add_virtual_op("erf", &[x], fallback, element))
}

#[cfg(test)]
mod tests {
    use super::{super::composites::tests::ElementwiseCase, *};

    #[test]
    fn recognizes_relu_clip_and_softplus() {
        let mut case = ElementwiseCase::new();
        let (x, zero, six, one) = (case.x, case.add_scalar(0.0), case.add_scalar(6.0), case.add_scalar(1.0));
        let relu = case.apply("arith.maximumf", &[zero, x]);
        assert_eq!(case.function_of_x(relu), "relufwd");
        let relu6 = case.apply("arith.minimumf", &[relu, six]);
        assert_eq!(case.function_of_x(relu6), "clip");
        let is_positive = case.apply("arith.cmpf ogt", &[x, zero]);
        let chosen = case.apply("arith.select", &[is_positive, x, zero]);
        assert_eq!(case.function_of_x(chosen), "relufwd");
        let exp = case.apply("math.exp", &[x]);
        let softplus = case.apply("math.log1p", &[exp]);
        assert_eq!(case.function_of_x(softplus), "softplus");
        let sum = case.apply("arith.addf", &[exp, one]);
        let softplus = case.apply("math.log", &[sum]);
        assert_eq!(case.function_of_x(softplus), "softplus");
    }

    #[test]
    fn expands_constant_powers_to_products() {
        let mut case = ElementwiseCase::new();
        let (x, two, half) = (case.x, case.add_scalar(2.0), case.add_scalar(-0.5));
        let square = case.apply("math.fpowi", &[x, two]);
        assert_eq!(case.graph.as_pointwise(square, "mul"), Some(&[x, x][..]));
        let rsqrt = case.apply("math.powf", &[x, half]);
        assert_eq!(case.function_of_x(rsqrt), "rsqrt");
        let odd = case.add_scalar(2.5);
        let power = case.graph.apply("math.powf", &[x, odd], NodeElementType::F16).unwrap();
        assert!(case.graph.as_pointwise(power, "exp").is_some());
    }

    #[test]
    fn folds_operations_decided_by_one_operand() {
        let mut case = ElementwiseCase::new();
        let (x, zero, truth) = (case.x, case.add_scalar(0.0), case.add_scalar(1.0));
        let chosen = case.apply("arith.select", &[truth, x, zero]);
        assert_eq!(chosen, x);
        let compared = case.apply("arith.cmpf oge", &[x, zero]);
        assert_eq!(case.apply("arith.andi", &[compared, truth]), compared);
        assert_eq!(case.apply("arith.ori", &[compared, zero]), compared);
    }

    #[test]
    fn approximates_error_function() {
        for (x, expected) in [(0.5, 0.520_499_877_8), (-1.0, -0.842_700_792_9), (2.0, 0.995_322_265_0)] {
            assert!((evaluate_erf(x) - expected).abs() < 2e-7, "{x}");
        }
    }
}
