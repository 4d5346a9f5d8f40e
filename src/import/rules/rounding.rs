//! Lowers rounding to integers, sign transfer and remainders to device functions. All results are exact, except those
//! of the remainder.

use super::{
    recognize::{add, div, mul, select, sub},
    rule_helpers::{NodeResult, common_element_type, neg},
};
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};
use std::collections::BTreeSet;

/// Builds `floor(x)` and `x - floor(x)`. Both are representable in the format of `x` if `x` is not negative.
fn build_floor_and_fraction(
    graph: &mut ValueGraph,
    x: NodeId,
    element: NodeElementType,
) -> Result<[NodeId; 2], String> {
    let floor = graph.add_pointwise("floor", &[x], element);
    Ok([floor, sub(graph, &[x, floor], element)?])
}

/// Builds a number that is 1 where a comparison holds and 0 elsewhere. The device stores booleans as these numbers, so
/// no conversion is needed.
fn build_indicator(
    graph: &mut ValueGraph,
    function: &'static str,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeId {
    let truth = graph.add_pointwise(function, inputs, NodeElementType::Bool);
    let shape = graph.node(truth).shape.clone();
    graph.add(NodeKind::Reshape, &[truth], shape, element)
}

/// Rounds to the nearest integer, ties to even.
pub(in crate::import) fn round_even(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let [floor, fraction] = build_floor_and_fraction(graph, inputs[0], element)?;
    let (half, two) = (graph.add_scalar(0.5), graph.add_scalar(2.0));
    let exceeds_half = build_indicator(graph, "greaterthan", &[fraction, half], element);
    let is_tie = graph.add_pointwise("equal", &[fraction, half], NodeElementType::Bool);
    let halved = mul(graph, &[floor, half], element)?;
    let half_floor = graph.add_pointwise("floor", &[halved], element);
    let even_floor = mul(graph, &[half_floor, two], element)?;
    let parity = sub(graph, &[floor, even_floor], element)?;
    let increment = graph.add_pointwise("where3", &[is_tie, parity, exceeds_half], element);
    add(graph, &[floor, increment], element)
}

/// Rounds to the nearest integer, ties away from 0. Rounds the magnitude, because its difference from its floor is
/// exact; for a small negative number the difference would not be exact.
pub(in crate::import) fn round(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let (half, zero) = (graph.add_scalar(0.5), graph.add_scalar(0.0));
    let magnitude = graph.add_pointwise("abs", inputs, element);
    let [floor, fraction] = build_floor_and_fraction(graph, magnitude, element)?;
    let increment = build_indicator(graph, "greaterequal", &[fraction, half], element);
    let rounded = add(graph, &[floor, increment], element)?;
    let negative = neg(graph, &[rounded], element)?;
    let is_nonnegative = graph.add_pointwise("greaterequal", &[inputs[0], zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_nonnegative, rounded, negative], element))
}

/// Returns whether the expression of a node proves that all its values are integers.
pub(in crate::import) fn is_integral(graph: &ValueGraph, id: NodeId) -> bool {
    /// Maximum number of visited nodes. Index expressions reach a `floor` or a constant after a few additions.
    const MAX_VISITED: usize = 64;
    let (mut stack, mut seen) = (vec![id], BTreeSet::new());
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = graph.node(id);
        match &node.kind {
            _ if seen.len() > MAX_VISITED => return false,
            NodeKind::Constant(constant) if constant.numbers().all(|number| number.fract() == 0.0) => {}
            NodeKind::Pointwise("floor", _) => {}
            NodeKind::Pointwise("add" | "sub" | "neg", _) | NodeKind::View(_) | NodeKind::Reshape => {
                stack.extend(&node.inputs)
            }
            _ => return false,
        }
    }
    true
}

/// Rounds toward 0.
pub(in crate::import) fn trunc(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    if is_integral(graph, inputs[0]) && graph.as_constant(inputs[0]).is_none() {
        // Adds a separate node, because facts about the integer node do not hold for the float.
        let shape = graph.node(inputs[0]).shape.clone();
        return Ok(graph.add(NodeKind::Reshape, inputs, shape, element));
    }
    let zero = graph.add_scalar(0.0);
    let magnitude = graph.add_pointwise("abs", inputs, element);
    let floor = graph.add_pointwise("floor", &[magnitude], element);
    let negative = neg(graph, &[floor], element)?;
    let is_nonnegative = graph.add_pointwise("greaterequal", &[inputs[0], zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_nonnegative, floor, negative], element))
}

/// Builds a number with the magnitude of the first input and the sign of the second (`copysign`). The sign of a zero is
/// that of its reciprocal, so -0 counts as negative.
pub(in crate::import) fn copy_sign(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    common_element_type(&graph.collect_element_types(inputs))?;
    let &[x, sign] = inputs else { return Err("does not have two operands".to_owned()) };
    let zero = graph.add_scalar(0.0);
    let magnitude = if let Some(number) = graph.as_scalar(x) {
        graph.add_scalar(number.abs())
    } else {
        graph.add_pointwise("abs", &[x], element)
    };
    let negative = if let Some(number) = graph.as_scalar(magnitude) {
        graph.add_scalar(-number)
    } else {
        neg(graph, &[magnitude], element)?
    };
    if let Some(number) = graph.as_scalar(sign) {
        return Ok(if number.is_sign_negative() { negative } else { magnitude });
    }
    let reciprocal = graph.add_pointwise("reciprocal", &[sign], element);
    let signed = add(graph, &[sign, reciprocal], element)?;
    let is_nonnegative = graph.add_pointwise("greaterequal", &[signed, zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_nonnegative, magnitude, negative], element))
}

/// Returns whether a divisor is provably finite: a finite constant, or an integer.
fn is_known_finite(graph: &ValueGraph, divisor: NodeId) -> bool {
    graph.as_scalar(divisor).is_some_and(f64::is_finite) || graph.integers.contains(divisor)
}

/// Replaces the remainder by the dividend where the integer quotient is 0. For an infinite divisor, the remainder would
/// otherwise subtract 0 times infinity, which is NaN.
fn fix_infinite_remainder(
    graph: &mut ValueGraph,
    [dividend, quotient, remainder]: [NodeId; 3],
    element: NodeElementType,
) -> NodeId {
    let zero = graph.add_scalar(0.0);
    let is_zero_quotient = graph.add_pointwise("equal", &[quotient, zero], NodeElementType::Bool);
    graph.add_pointwise("where3", &[is_zero_quotient, dividend, remainder], element)
}

/// Computes `x - trunc(x / y) y`, with the sign of `x`. The division rounds, so the quotient may be off by one; one
/// addition or subtraction of the divisor corrects the remainder.
pub(in crate::import) fn build_remainder(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeResult {
    common_element_type(&graph.collect_element_types(inputs))?;
    let &[x, y] = inputs else { return Err("does not have two operands".to_owned()) };
    let zero = graph.add_scalar(0.0);
    let magnitude = |graph: &mut ValueGraph, id: NodeId| match graph.as_scalar(id) {
        Some(number) => graph.add_scalar(number.abs()),
        None => graph.add_pointwise("abs", &[id], element),
    };
    let (dividend, divisor) = (magnitude(graph, x), magnitude(graph, y));
    let quotient = div(graph, &[dividend, divisor], element)?;
    let integer_quotient = graph.add_pointwise("floor", &[quotient], element);
    let product = mul(graph, &[integer_quotient, divisor], element)?;
    let remainder = sub(graph, &[dividend, product], element)?;
    let remainder = if is_known_finite(graph, y) {
        remainder
    } else {
        fix_infinite_remainder(graph, [dividend, integer_quotient, remainder], element)
    };
    let increased = add(graph, &[remainder, divisor], element)?;
    let is_negative = graph.add_pointwise("lesserthan", &[remainder, zero], NodeElementType::Bool);
    let remainder = graph.add_pointwise("where3", &[is_negative, increased, remainder], element);
    let decreased = sub(graph, &[remainder, divisor], element)?;
    let is_too_large = graph.add_pointwise("greaterequal", &[remainder, divisor], NodeElementType::Bool);
    let remainder = graph.add_pointwise("where3", &[is_too_large, decreased, remainder], element);
    let negative = neg(graph, &[remainder], element)?;
    // `apply` folds the comparison if the dividend is a constant.
    let is_nonnegative = graph.apply("arith.cmpf oge", &[x, zero], NodeElementType::Bool)?;
    select(graph, &[is_nonnegative, remainder, negative], element)
}
