//! Functions computed from exponentials and logarithms: runtime powers, roots, hyperbolic functions.

use super::{
    recognize::{add, mul, sub},
    rule_helpers::{NodeResult, common_element_type, neg},
};
use crate::{
    codes,
    import::graph::{NodeElementType, NodeId, ValueGraph},
};

/// Builds a power with a constant exponent.
pub(in crate::import) fn build_power(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
) -> NodeResult {
    let &[x, exponent] = inputs else { return Err("does not have two operands".to_owned()) };
    let Some(exponent) = graph.as_scalar(exponent) else { return build_runtime_power(graph, inputs, element) };
    if exponent == 0.5 {
        return Ok(graph.add_pointwise("sqrt", &[x], element));
    }
    if exponent == -0.5 {
        return Ok(graph.add_pointwise("rsqrt", &[x], element));
    }
    let times = exponent.abs();
    if times.fract() != 0.0 || times > 16.0 {
        return build_runtime_power(graph, inputs, element);
    }
    let mut product = graph.add_scalar(1.0);
    let (mut square, mut left) = (x, times);
    while left > 0.0 {
        if left % 2.0 == 1.0 {
            product =
                if graph.as_scalar(product).is_some() { square } else { mul(graph, &[product, square], element)? };
        }
        left = (left / 2.0).floor();
        if left > 0.0 {
            square = mul(graph, &[square, square], element)?;
        }
    }
    if exponent < 0.0 {
        return Ok(graph.add_pointwise("reciprocal", &[product], element));
    }
    Ok(product)
}

fn build_halved_sum(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType, is_sum: bool) -> NodeResult {
    let negative = neg(graph, inputs, element)?;
    let (grown, shrunk) =
        (graph.add_pointwise("exp", inputs, element), graph.add_pointwise("exp", &[negative], element));
    let both = if is_sum { add(graph, &[grown, shrunk], element)? } else { sub(graph, &[grown, shrunk], element)? };
    let half = graph.add_scalar(0.5);
    mul(graph, &[both, half], element)
}

/// Computes `(e^x - e^-x) / 2`.
pub(in crate::import) fn sinh(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    build_halved_sum(graph, inputs, element, false)
}

/// Computes `(e^x + e^-x) / 2`.
pub(in crate::import) fn cosh(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    build_halved_sum(graph, inputs, element, true)
}

/// Computes `log x / log 10`.
pub(in crate::import) fn log10(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let (log, factor) = (graph.add_pointwise("log", inputs, element), graph.add_scalar(std::f64::consts::LOG10_E));
    mul(graph, &[log, factor], element)
}

/// Computes `e^(log |x| / 3)` with the sign of `x`. The logarithm of 0 is -inf, and the root is 0.
pub(in crate::import) fn cbrt(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    let (third, zero) = (graph.add_scalar(1.0 / 3.0), graph.add_scalar(0.0));
    let magnitude = graph.add_pointwise("abs", inputs, element);
    let root = build_positive_power(graph, magnitude, third, element)?;
    let negative = neg(graph, &[root], element)?;
    let is_positive = graph.add_pointwise("greaterequal", &[inputs[0], zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_positive, root, negative], element))
}

/// Computes `e^(y log x)` for nonnegative `x`.
fn build_positive_power(graph: &mut ValueGraph, x: NodeId, y: NodeId, element: NodeElementType) -> NodeResult {
    let log = match graph.as_scalar(x) {
        Some(number) => graph.add_scalar(number.ln()),
        None => graph.add_pointwise("log", &[x], element),
    };
    let exponent = mul(graph, &[log, y], element)?;
    Ok(graph.add_pointwise("exp", &[exponent], element))
}

/// Builds a power for which no rule decomposes the exponent: `e^(y log x)`, 1 where `y` is 0. For a negative base it is
/// NaN, unless the exponent is an integer constant.
fn build_runtime_power(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    common_element_type(&graph.collect_element_types(inputs))?;
    let &[x, y] = inputs else { return Err("does not have two operands".to_owned()) };
    let (zero, one) = (graph.add_scalar(0.0), graph.add_scalar(1.0));
    if let Some(exponent) = graph.as_scalar(y).filter(|exponent| exponent.fract() == 0.0) {
        let magnitude = graph.add_pointwise("abs", &[x], element);
        let power = build_positive_power(graph, magnitude, y, element)?;
        if exponent % 2.0 == 0.0 {
            return Ok(power);
        }
        let negative = neg(graph, &[power], element)?;
        let is_positive = graph.add_pointwise("greaterequal", &[x, zero], NodeElementType::Bool);
        return Ok(graph.add_pointwise("where3", &[is_positive, power, negative], element));
    }
    if graph.as_scalar(x).is_some_and(|base| base <= 0.0) {
        return Err(codes::UNSUPPORTED
            .format("requires a positive constant base of a runtime exponent, found another; use a positive base"));
    }
    let power = build_positive_power(graph, x, y, element)?;
    if graph.as_scalar(y).is_some() {
        return Ok(power);
    }
    let is_one = graph.add_pointwise("equal", &[y, zero], NodeElementType::Bool);
    Ok(graph.add_pointwise("where3", &[is_one, one, power], element))
}
