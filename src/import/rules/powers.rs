//! Functions that are computed by exponentials and logarithms: runtime powers, roots, hyperbolic functions.

use super::{
    plain::{Built, neg, same},
    recognize::{add, mul, sub},
};
use crate::{
    codes,
    import::graph::{Element, Graph, NodeId},
};

/// Builds a power with a constant exponent.
pub(in crate::import) fn power(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let &[x, exponent] = inputs else { return Err("does not have two operands".to_owned()) };
    let Some(exponent) = graph.number_of(exponent) else { return power_of_run_time(graph, inputs, element) };
    if exponent == 0.5 {
        return Ok(graph.pointwise("sqrt", &[x], element));
    }
    if exponent == -0.5 {
        return Ok(graph.pointwise("rsqrt", &[x], element));
    }
    let times = exponent.abs();
    if times.fract() != 0.0 || times > 16.0 {
        return power_of_run_time(graph, inputs, element);
    }
    let mut product = graph.number(1.0);
    let (mut square, mut left) = (x, times);
    while left > 0.0 {
        if left % 2.0 == 1.0 {
            product = if graph.number_of(product).is_some() { square } else { mul(graph, &[product, square], element)? };
        }
        left = (left / 2.0).floor();
        if left > 0.0 {
            square = mul(graph, &[square, square], element)?;
        }
    }
    if exponent < 0.0 {
        return Ok(graph.pointwise("reciprocal", &[product], element));
    }
    Ok(product)
}

fn halved_sum(graph: &mut Graph, inputs: &[NodeId], element: Element, is_sum: bool) -> Built {
    let negative = neg(graph, inputs, element)?;
    let (grown, shrunk) = (graph.pointwise("exp", inputs, element), graph.pointwise("exp", &[negative], element));
    let both = if is_sum { add(graph, &[grown, shrunk], element)? } else { sub(graph, &[grown, shrunk], element)? };
    let half = graph.number(0.5);
    mul(graph, &[both, half], element)
}

/// `(e^x - e^-x) / 2`.
pub(in crate::import) fn sinh(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    halved_sum(graph, inputs, element, false)
}

/// `(e^x + e^-x) / 2`.
pub(in crate::import) fn cosh(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    halved_sum(graph, inputs, element, true)
}

/// `log x / log 10`.
pub(in crate::import) fn log10(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (log, factor) = (graph.pointwise("log", inputs, element), graph.number(std::f64::consts::LOG10_E));
    mul(graph, &[log, factor], element)
}

/// `e^(log |x| / 3)` with the sign of `x`; the logarithm of 0 is -inf, and the root 0.
pub(in crate::import) fn cbrt(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (third, zero) = (graph.number(1.0 / 3.0), graph.number(0.0));
    let magnitude = graph.pointwise("abs", inputs, element);
    let root = power_of_positive(graph, magnitude, third, element)?;
    let negative = neg(graph, &[root], element)?;
    let is_positive = graph.pointwise("greaterequal", &[inputs[0], zero], Element::Bool);
    Ok(graph.pointwise("where3", &[is_positive, root, negative], element))
}

/// `e^(y log x)`, for `x` from 0 on.
fn power_of_positive(graph: &mut Graph, x: NodeId, y: NodeId, element: Element) -> Built {
    let log = match graph.number_of(x) {
        Some(number) => graph.number(number.ln()),
        None => graph.pointwise("log", &[x], element),
    };
    let exponent = mul(graph, &[log, y], element)?;
    Ok(graph.pointwise("exp", &[exponent], element))
}

/// Builds a power for which no rule decomposes the exponent: `e^(y log x)`, 1 where `y` is 0. For a negative base it is NaN, unless the
/// exponent is an integer constant.
fn power_of_run_time(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    same(&graph.elements_of(inputs))?;
    let &[x, y] = inputs else { return Err("does not have two operands".to_owned()) };
    let (zero, one) = (graph.number(0.0), graph.number(1.0));
    if let Some(exponent) = graph.number_of(y).filter(|exponent| exponent.fract() == 0.0) {
        let magnitude = graph.pointwise("abs", &[x], element);
        let power = power_of_positive(graph, magnitude, y, element)?;
        if exponent % 2.0 == 0.0 {
            return Ok(power);
        }
        let negative = neg(graph, &[power], element)?;
        let is_positive = graph.pointwise("greaterequal", &[x, zero], Element::Bool);
        return Ok(graph.pointwise("where3", &[is_positive, power, negative], element));
    }
    if graph.number_of(x).is_some_and(|base| base <= 0.0) {
        return Err(codes::UNSUPPORTED.says("requires a positive constant base of a runtime exponent, found another; use a positive base"));
    }
    let power = power_of_positive(graph, x, y, element)?;
    if graph.number_of(y).is_some() {
        return Ok(power);
    }
    let is_one = graph.pointwise("equal", &[y, zero], Element::Bool);
    Ok(graph.pointwise("where3", &[is_one, one, power], element))
}
