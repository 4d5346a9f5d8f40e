//! Functions with a step or kink: rounding to integers, signs, remainders. All are exact except the remainder.

use super::{
    plain::{Built, neg, same},
    recognize::{add, div, mul, select, sub},
};
use crate::import::graph::{Element, Graph, Kind, NodeId};
use std::collections::BTreeSet;

/// Returns the floor of a number, and the difference between the number and its floor. Both are numbers of the format.
fn split(graph: &mut Graph, x: NodeId, element: Element) -> Result<[NodeId; 2], String> {
    let floor = graph.pointwise("floor", &[x], element);
    Ok([floor, sub(graph, &[x, floor], element)?])
}

/// Returns 1 where a comparison holds and 0 elsewhere, as the device stores truth values.
fn as_number(graph: &mut Graph, function: &'static str, inputs: &[NodeId], element: Element) -> NodeId {
    let truth = graph.pointwise(function, inputs, Element::Bool);
    let shape = graph.node(truth).shape.clone();
    graph.add(Kind::Reshape, &[truth], shape, element)
}

/// Rounds to the nearest integer, ties to even.
pub(in crate::import) fn round_even(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let [floor, rest] = split(graph, inputs[0], element)?;
    let (half, two) = (graph.number(0.5), graph.number(2.0));
    let above = as_number(graph, "greaterthan", &[rest, half], element);
    let is_between = graph.pointwise("equal", &[rest, half], Element::Bool);
    let halved = mul(graph, &[floor, half], element)?;
    let even = graph.pointwise("floor", &[halved], element);
    let even = mul(graph, &[even, two], element)?;
    let odd = sub(graph, &[floor, even], element)?;
    let up = graph.pointwise("where3", &[is_between, odd, above], element);
    add(graph, &[floor, up], element)
}

/// Rounds to the nearest integer, ties away from 0. The difference of a magnitude and its floor is exact; that of a small negative number is
/// not.
pub(in crate::import) fn round(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (half, zero) = (graph.number(0.5), graph.number(0.0));
    let magnitude = graph.pointwise("abs", inputs, element);
    let [floor, rest] = split(graph, magnitude, element)?;
    let up = as_number(graph, "greaterequal", &[rest, half], element);
    let rounded = add(graph, &[floor, up], element)?;
    let negative = neg(graph, &[rounded], element)?;
    let is_positive = graph.pointwise("greaterequal", &[inputs[0], zero], Element::Bool);
    Ok(graph.pointwise("where3", &[is_positive, rounded, negative], element))
}

/// Returns whether a node has only integer values, by its computation.
pub(in crate::import) fn is_whole(graph: &Graph, id: NodeId) -> bool {
    /// A position is a few sums away from where it was made whole.
    const MOST_STEPS: usize = 64;
    let (mut stack, mut seen) = (vec![id], BTreeSet::new());
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = graph.node(id);
        match &node.kind {
            _ if seen.len() > MOST_STEPS => return false,
            Kind::Known(known) if known.numbers().all(|number| number.fract() == 0.0) => {}
            Kind::Pointwise("floor", _) => {}
            Kind::Pointwise("add" | "sub" | "neg", _) | Kind::View(_) | Kind::Reshape => stack.extend(&node.inputs),
            _ => return false,
        }
    }
    true
}

/// Rounds toward 0.
pub(in crate::import) fn trunc(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    if is_whole(graph, inputs[0]) && graph.known_of(inputs[0]).is_none() {
        // A node of its own: what is said of the integer is not said of the number.
        let shape = graph.node(inputs[0]).shape.clone();
        return Ok(graph.add(Kind::Reshape, inputs, shape, element));
    }
    let zero = graph.number(0.0);
    let magnitude = graph.pointwise("abs", inputs, element);
    let floor = graph.pointwise("floor", &[magnitude], element);
    let negative = neg(graph, &[floor], element)?;
    let is_positive = graph.pointwise("greaterequal", &[inputs[0], zero], Element::Bool);
    Ok(graph.pointwise("where3", &[is_positive, floor, negative], element))
}

/// Returns the magnitude of one number with the sign of the other, including -0: the reciprocal of a zero has its sign.
pub(in crate::import) fn copy_sign(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    same(&graph.elements_of(inputs))?;
    let &[x, of] = inputs else { return Err("does not have two operands".to_owned()) };
    let zero = graph.number(0.0);
    let magnitude = if let Some(number) = graph.number_of(x) { graph.number(number.abs()) } else { graph.pointwise("abs", &[x], element) };
    let negative = if let Some(number) = graph.number_of(magnitude) { graph.number(-number) } else { neg(graph, &[magnitude], element)? };
    if let Some(number) = graph.number_of(of) {
        return Ok(if number.is_sign_negative() { negative } else { magnitude });
    }
    let reciprocal = graph.pointwise("reciprocal", &[of], element);
    let signed = add(graph, &[of, reciprocal], element)?;
    let is_positive = graph.pointwise("greaterequal", &[signed, zero], Element::Bool);
    Ok(graph.pointwise("where3", &[is_positive, magnitude, negative], element))
}

/// Whether a divisor is no infinity, as far as is known.
fn is_finite(graph: &Graph, divisor: NodeId) -> bool {
    graph.number_of(divisor).is_some_and(f64::is_finite) || graph.integers.has(divisor)
}

/// All of the dividend where it has no whole divisor: of an infinite one, 0 times infinity would be taken away, which
/// is NaN.
fn rest_of_infinite(graph: &mut Graph, [of, whole, rest]: [NodeId; 3], element: Element) -> NodeId {
    let zero = graph.number(0.0);
    let has_none = graph.pointwise("equal", &[whole, zero], Element::Bool);
    graph.pointwise("where3", &[has_none, of, rest], element)
}

/// Computes `x - trunc(x / y) y`, with the sign of `x`. The quotient is rounded, so the remainder may be off by one divisor; one step
/// corrects it.
pub(in crate::import) fn remainder(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    same(&graph.elements_of(inputs))?;
    let &[x, y] = inputs else { return Err("does not have two operands".to_owned()) };
    let zero = graph.number(0.0);
    let magnitude = |graph: &mut Graph, id: NodeId| match graph.number_of(id) {
        Some(number) => graph.number(number.abs()),
        None => graph.pointwise("abs", &[id], element),
    };
    let (of, by) = (magnitude(graph, x), magnitude(graph, y));
    let quotient = div(graph, &[of, by], element)?;
    let whole = graph.pointwise("floor", &[quotient], element);
    let taken = mul(graph, &[whole, by], element)?;
    let rest = sub(graph, &[of, taken], element)?;
    let rest = if is_finite(graph, y) { rest } else { rest_of_infinite(graph, [of, whole, rest], element) };
    let more = add(graph, &[rest, by], element)?;
    let is_below = graph.pointwise("lesserthan", &[rest, zero], Element::Bool);
    let rest = graph.pointwise("where3", &[is_below, more, rest], element);
    let less = sub(graph, &[rest, by], element)?;
    let is_beyond = graph.pointwise("greaterequal", &[rest, by], Element::Bool);
    let rest = graph.pointwise("where3", &[is_beyond, less, rest], element);
    let negative = neg(graph, &[rest], element)?;
    // The dividend may be a number, whose sign is known.
    let is_positive = graph.apply("arith.cmpf oge", &[x, zero], Element::Bool)?;
    select(graph, &[is_positive, rest, negative], element)
}
