//! Functions with a step or kink: rounding to integers, signs, remainders. All are exact except the remainder.

use super::{
    recognize::{add, div, mul, select, sub},
    rule_helpers::{NodeResult, common_element_type, neg},
};
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};
use std::collections::BTreeSet;

/// Returns the floor of a number, and the difference between the number and its floor. Both are numbers of the format.
fn split_floor(graph: &mut ValueGraph, x: NodeId, element: NodeElementType) -> Result<[NodeId; 2], String> {
    let floor = graph.add_pointwise("floor", &[x], element);
    Ok([floor, sub(graph, &[x, floor], element)?])
}

/// Returns 1 where a comparison holds and 0 elsewhere, as the device stores truth values.
fn build_truth_number(
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
    let [floor, rest] = split_floor(graph, inputs[0], element)?;
    let (half, two) = (graph.add_scalar(0.5), graph.add_scalar(2.0));
    let above = build_truth_number(graph, "greaterthan", &[rest, half], element);
    let is_between = graph.add_pointwise("equal", &[rest, half], NodeElementType::Bool);
    let halved = mul(graph, &[floor, half], element)?;
    let even = graph.add_pointwise("floor", &[halved], element);
    let even = mul(graph, &[even, two], element)?;
    let odd = sub(graph, &[floor, even], element)?;
    let up = graph.add_pointwise("where3", &[is_between, odd, above], element);
    add(graph, &[floor, up], element)
}

/// Rounds to the nearest integer, ties away from 0. The difference of a magnitude and its floor is exact; that of a
/// small negative number is not.
pub(in crate::import) fn round(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let (half, zero) = (graph.add_scalar(0.5), graph.add_scalar(0.0));
    let magnitude = graph.add_pointwise("abs", inputs, element);
    let [floor, rest] = split_floor(graph, magnitude, element)?;
    let up = build_truth_number(graph, "greaterequal", &[rest, half], element);
    let rounded = add(graph, &[floor, up], element)?;
    let negative = neg(graph, &[rounded], element)?;
    let is_positive = graph.add_pointwise("greaterequal", &[inputs[0], zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_positive, rounded, negative], element))
}

/// Returns whether a node has only integer values, by its computation.
pub(in crate::import) fn is_integral(graph: &ValueGraph, id: NodeId) -> bool {
    /// Maximum number of visited nodes: a position is a few sums away from the op that makes it an integer.
    const MAX_VISITED: usize = 64;
    let (mut stack, mut seen) = (vec![id], BTreeSet::new());
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = graph.node(id);
        match &node.kind {
            _ if seen.len() > MAX_VISITED => return false,
            NodeKind::Constant(known) if known.numbers().all(|number| number.fract() == 0.0) => {}
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
        // A separate node: facts about the integer do not hold for the number.
        let shape = graph.node(inputs[0]).shape.clone();
        return Ok(graph.add(NodeKind::Reshape, inputs, shape, element));
    }
    let zero = graph.add_scalar(0.0);
    let magnitude = graph.add_pointwise("abs", inputs, element);
    let floor = graph.add_pointwise("floor", &[magnitude], element);
    let negative = neg(graph, &[floor], element)?;
    let is_positive = graph.add_pointwise("greaterequal", &[inputs[0], zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_positive, floor, negative], element))
}

/// Returns the magnitude of one number with the sign of the other, including -0: the reciprocal of a zero has its sign.
pub(in crate::import) fn copy_sign(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    common_element_type(&graph.collect_element_types(inputs))?;
    let &[x, of] = inputs else { return Err("does not have two operands".to_owned()) };
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
    if let Some(number) = graph.as_scalar(of) {
        return Ok(if number.is_sign_negative() { negative } else { magnitude });
    }
    let reciprocal = graph.add_pointwise("reciprocal", &[of], element);
    let signed = add(graph, &[of, reciprocal], element)?;
    let is_positive = graph.add_pointwise("greaterequal", &[signed, zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_positive, magnitude, negative], element))
}

/// Returns whether a divisor is finite, as far as is known.
fn is_known_finite(graph: &ValueGraph, divisor: NodeId) -> bool {
    graph.as_scalar(divisor).is_some_and(f64::is_finite) || graph.integers.contains(divisor)
}

/// Returns the dividend where the quotient is 0. For an infinite divisor, the remainder would otherwise subtract 0
/// times infinity, which is NaN.
fn fix_infinite_remainder(graph: &mut ValueGraph, [of, whole, rest]: [NodeId; 3], element: NodeElementType) -> NodeId {
    let zero = graph.add_scalar(0.0);
    let has_none = graph.add_pointwise("equal", &[whole, zero], NodeElementType::Bool);
    graph.add_pointwise("where3", &[has_none, of, rest], element)
}

/// Computes `x - trunc(x / y) y`, with the sign of `x`. The quotient is rounded, so the remainder may be off by one
/// divisor; one step corrects it.
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
    let (of, by) = (magnitude(graph, x), magnitude(graph, y));
    let quotient = div(graph, &[of, by], element)?;
    let whole = graph.add_pointwise("floor", &[quotient], element);
    let taken = mul(graph, &[whole, by], element)?;
    let rest = sub(graph, &[of, taken], element)?;
    let rest = if is_known_finite(graph, y) { rest } else { fix_infinite_remainder(graph, [of, whole, rest], element) };
    let more = add(graph, &[rest, by], element)?;
    let is_below = graph.add_pointwise("lesserthan", &[rest, zero], NodeElementType::Bool);
    let rest = graph.add_pointwise("where3", &[is_below, more, rest], element);
    let less = sub(graph, &[rest, by], element)?;
    let is_beyond = graph.add_pointwise("greaterequal", &[rest, by], NodeElementType::Bool);
    let rest = graph.add_pointwise("where3", &[is_beyond, less, rest], element);
    let negative = neg(graph, &[rest], element)?;
    // The dividend may be a number, whose sign is known.
    let is_positive = graph.apply("arith.cmpf oge", &[x, zero], NodeElementType::Bool)?;
    select(graph, &[is_positive, rest, negative], element)
}
