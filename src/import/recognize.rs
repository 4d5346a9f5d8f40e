//! Elementwise operations as the device has them: simpler forms where an operand is known, and larger shapes by their last step.
//!
//! A shape is recognised by what it computes: products are taken apart into a number and factors, sums into `c (1 + k y)`, polynomials
//! into their coefficients, so that neither the order of operands nor where a constant stands matters.

use super::{
    functions::same,
    graph::{Element, Graph, Kind, NodeId},
};
use crate::target::{DeviceFormat, DeviceFunction};

type Built = Result<NodeId, String>;

/// How far a constant in single or half precision may be from the number that it stands for.
const RELATIVE: f64 = 2e-3;

fn is_near(number: f64, expected: f64) -> bool {
    (number - expected).abs() <= RELATIVE * expected.abs()
}

/// Whether the device has the function for elements of that type.
fn has(function: &str, element: Element) -> bool {
    let format = if element == Element::F32 { DeviceFormat::IeeeFp32 } else { DeviceFormat::Sen169Fp16 };
    DeviceFunction::pointwise(function).is_some_and(|row| row.supports(format))
}

fn check(graph: &Graph, inputs: &[NodeId]) -> Result<(), String> {
    same(&graph.elements_of(inputs)).map(|_| ())
}

pub(super) fn add(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    let &[lhs, rhs] = inputs else { return Err("does not have two operands".to_owned()) };
    match (graph.number_of(lhs), graph.number_of(rhs)) {
        (Some(0.0), _) => return Ok(rhs),
        (_, Some(0.0)) => return Ok(lhs),
        _ => {}
    }
    let sum = graph.pointwise("add", inputs, element);
    Ok(as_sigmoid_of_tanh(graph, 1.0, sum, element).unwrap_or(sum))
}

pub(super) fn sub(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    check(graph, inputs)?;
    match (graph.number_of(inputs[0]), graph.number_of(inputs[1])) {
        (Some(0.0), _) => neg(graph, &inputs[1..], element),
        (_, Some(0.0)) => Ok(inputs[0]),
        _ => Ok(graph.pointwise("sub", inputs, element)),
    }
}

pub(super) fn neg(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    match graph.as_pointwise(inputs[0], "neg") {
        Some(undone) => Ok(undone[0]),
        None => Ok(graph.pointwise("neg", inputs, element)),
    }
}

pub(super) fn mul(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
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
    let larger = match factors.as_slice() {
        &[only] => as_sigmoid_of_tanh(graph, number, only, element),
        &[first, second] => as_gelu(graph, number, first, second, element).or_else(|| as_gelu(graph, number, second, first, element)),
        _ => None,
    };
    Ok(larger.unwrap_or(product))
}

pub(super) fn div(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
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

pub(super) fn maximum(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
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

pub(super) fn minimum(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
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

/// The operand and the number of a maximum or minimum with a number.
fn bounded(graph: &Graph, id: NodeId, function: &str) -> Option<(NodeId, f64)> {
    let &[lhs, rhs] = graph.as_pointwise(id, function)? else { return None };
    graph.number_of(rhs).map(|number| (lhs, number)).or_else(|| graph.number_of(lhs).map(|number| (rhs, number)))
}

pub(super) fn clamp(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let above = maximum(graph, &inputs[..2], element)?;
    minimum(graph, &[above, inputs[2]], element)
}

pub(super) fn select(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    let &[condition, yes, no] = inputs else { return Err("does not have three operands".to_owned()) };
    if let Some(number) = graph.number_of(condition) {
        return broadcast_like(graph, if number == 0.0 { no } else { yes }, inputs);
    }
    if yes == no {
        return broadcast_like(graph, yes, inputs);
    }
    let elements = graph.elements_of(&[yes, no]);
    let element = match elements.as_slice() {
        // Both choices are numbers: the result is as precise as what was compared.
        [] => compared_element(graph, condition),
        _ => same(&elements)?,
    };
    if let Some(x) = graph.as_pointwise(condition, "greaterthan").filter(|compared| compared[0] == yes).map(<[NodeId]>::to_vec) {
        let threshold = graph.number_of(x[1]);
        if threshold == Some(0.0) && graph.number_of(no) == Some(0.0) && has("relufwd", element) {
            return Ok(graph.pointwise("relufwd", &[yes], element));
        }
        // PyTorch's softplus is linear beyond a threshold, as the device's is.
        if threshold.is_some() && graph.as_pointwise(no, "softplus") == Some(&[yes]) {
            return Ok(no);
        }
    }
    Ok(graph.pointwise("where3", inputs, element))
}

/// The element type of what a truth value was made of.
pub(super) fn compared_element(graph: &Graph, condition: NodeId) -> Element {
    let mut stack = vec![condition];
    while let Some(id) = stack.pop() {
        let node = graph.node(id);
        if node.element.is_float() && !matches!(node.kind, Kind::Known(_)) {
            return node.element;
        }
        stack.extend(&node.inputs);
    }
    Element::F16
}

/// A node with the shape of the whole operation.
fn broadcast_like(graph: &mut Graph, id: NodeId, inputs: &[NodeId]) -> Built {
    let shape = graph.broadcast_shape(inputs);
    Ok(graph.broadcast(id, &shape))
}

pub(super) fn unordered(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    nan_test(graph, inputs, "notequal", element)
}

pub(super) fn ordered(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    nan_test(graph, inputs, "equal", element)
}

fn nan_test(graph: &mut Graph, inputs: &[NodeId], function: &'static str, _element: Element) -> Built {
    let is_number = |graph: &Graph, id: NodeId| graph.number_of(id).is_some_and(|number| !number.is_nan());
    let tested: Vec<NodeId> = inputs.iter().copied().filter(|&input| !is_number(graph, input)).collect();
    match tested.as_slice() {
        &[x] => Ok(graph.pointwise(function, &[x, x], Element::Bool)),
        &[x, y] if x == y => Ok(graph.pointwise(function, &[x, x], Element::Bool)),
        _ => Err("asks whether one of two values is NaN: not supported yet".to_owned()),
    }
}

pub(super) fn and(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    truths(graph, inputs)?;
    for (x, other) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        match graph.number_of(other) {
            Some(0.0) => return Ok(other),
            Some(_) => return Ok(x),
            None => {}
        }
    }
    Ok(graph.pointwise("mul", inputs, Element::Bool))
}

pub(super) fn or(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    truths(graph, inputs)?;
    for (x, other) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        match graph.number_of(other) {
            Some(0.0) => return Ok(x),
            Some(_) => return Ok(other),
            None => {}
        }
    }
    Ok(graph.pointwise("maximum", inputs, Element::Bool))
}

pub(super) fn xor(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    truths(graph, inputs)?;
    Ok(graph.pointwise("notequal", inputs, Element::Bool))
}

fn truths(graph: &Graph, inputs: &[NodeId]) -> Result<(), String> {
    let is_truth = graph.elements_of(inputs).iter().all(|element| *element == Element::Bool);
    if is_truth { Ok(()) } else { Err("computes integers of a run-time value: not supported yet".to_owned()) }
}

pub(super) fn number_of_truth(graph: &mut Graph, inputs: &[NodeId], _element: Element) -> Built {
    let node = graph.node(inputs[0]).clone();
    if node.element != Element::Bool {
        return Err("converts integers of a run-time value to floating point: not supported yet".to_owned());
    }
    let element = compared_element(graph, inputs[0]);
    Ok(graph.add(Kind::Reshape, inputs, node.shape, element))
}

pub(super) fn negative_number_of_truth(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    // As a signed integer of one bit, true is -1.
    let number = number_of_truth(graph, inputs, element)?;
    let element = graph.node(number).element;
    neg(graph, &[number], element)
}

pub(super) fn ceil(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let negative = neg(graph, inputs, element)?;
    let floor = graph.pointwise("floor", &[negative], element);
    neg(graph, &[floor], element)
}

pub(super) fn exp2(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let factor = graph.number(std::f64::consts::LN_2);
    let scaled = mul(graph, &[inputs[0], factor], element)?;
    Ok(graph.pointwise("exp", &[scaled], element))
}

pub(super) fn expm1(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (exp, one) = (graph.pointwise("exp", inputs, element), graph.number(1.0));
    sub(graph, &[exp, one], element)
}

pub(super) fn fma(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let product = mul(graph, &inputs[..2], element)?;
    add(graph, &[product, inputs[2]], element)
}

pub(super) fn log(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    // log(1 + exp(y)); the device takes over the linear part from 20 on, as PyTorch does.
    if let Some((scale, factor, inner)) = one_plus(graph, inputs[0])
        && scale == 1.0
        && factor == 1.0
        && has("softplus", element)
        && let Some(exponent) = graph.as_pointwise(inner, "exp").map(|exponent| exponent[0])
    {
        return Ok(graph.pointwise_with("softplus", &[1.0, 20.0], &[exponent], element));
    }
    Ok(graph.pointwise("log", inputs, element))
}

pub(super) fn log1p(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let one = graph.number(1.0);
    let sum = add(graph, &[one, inputs[0]], element)?;
    log(graph, &[sum], element)
}

pub(super) fn log2(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let (log, factor) = (log(graph, inputs, element)?, graph.number(std::f64::consts::LOG2_E));
    mul(graph, &[log, factor], element)
}

/// A power with a constant exponent.
pub(super) fn power(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
    let &[x, exponent] = inputs else { return Err("does not have two operands".to_owned()) };
    let Some(exponent) = graph.number_of(exponent) else {
        return Err("has an exponent that is not a constant: not supported yet".to_owned());
    };
    if exponent == 0.5 {
        return Ok(graph.pointwise("sqrt", &[x], element));
    }
    if exponent == -0.5 {
        return Ok(graph.pointwise("rsqrt", &[x], element));
    }
    let times = exponent.abs();
    if times.fract() != 0.0 || times > 16.0 {
        return Err(format!("has the exponent {exponent}: only whole ones up to 16, 0.5 and -0.5 are supported yet"));
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

/// The error function of a number (Abramowitz and Stegun, 7.1.26; off by at most 1.5e-7).
#[must_use]
pub(super) fn erf_of(x: f64) -> f64 {
    let t = 1.0 / (1.0 + ERF_P * x.abs());
    let polynomial = ERF_A.iter().rev().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    x.signum() * (1.0 - polynomial * (-x * x).exp())
}

const ERF_P: f64 = 0.327_591_1;
const ERF_A: [f64; 5] = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];

/// The error function, for a gelu to take in; alone it is computed by the same formula as [`erf_of`].
pub(super) fn erf(graph: &mut Graph, inputs: &[NodeId], element: Element) -> Built {
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

/// A node as a number times another node.
fn scaled(graph: &Graph, id: NodeId) -> (f64, NodeId) {
    let (mut number, mut id) = (1.0, id);
    loop {
        if let Some(inner) = graph.as_pointwise(id, "neg") {
            (number, id) = (-number, inner[0]);
        } else if let Some((factor, inner)) = graph.as_pointwise(id, "mul").and_then(|inputs| number_and_rest(graph, inputs)) {
            (number, id) = (number * factor, inner);
        } else if let Some((divisor, inner)) =
            graph.as_pointwise(id, "realdiv").and_then(|inputs| Some((graph.number_of(inputs[1])?, inputs[0])))
        {
            (number, id) = (number / divisor, inner);
        } else {
            return (number, id);
        }
    }
}

fn number_and_rest(graph: &Graph, inputs: &[NodeId]) -> Option<(f64, NodeId)> {
    let &[lhs, rhs] = inputs else { return None };
    graph.number_of(lhs).map(|number| (number, rhs)).or_else(|| graph.number_of(rhs).map(|number| (number, lhs)))
}

/// A node as a number times at most two factors that are no products with numbers.
fn factors_of(graph: &Graph, id: NodeId) -> (f64, Vec<NodeId>) {
    let (number, rest) = scaled(graph, id);
    match graph.as_pointwise(rest, "mul") {
        Some(&[lhs, rhs]) => {
            let ((left, lhs), (right, rhs)) = (scaled(graph, lhs), scaled(graph, rhs));
            (number * left * right, vec![lhs, rhs])
        }
        _ => (number, vec![rest]),
    }
}

/// A sum as `scale * (1 + factor * inner)`.
fn one_plus(graph: &Graph, id: NodeId) -> Option<(f64, f64, NodeId)> {
    let (outer, id) = scaled(graph, id);
    let (one, rest) = number_and_rest(graph, graph.as_pointwise(id, "add")?)?;
    let (factor, inner) = scaled(graph, rest);
    Some((outer * one, factor / one, inner))
}

/// `1 + exp(-y)` as the divisor of a sigmoid: sigmoid(y).
fn as_logistic(graph: &mut Graph, divisor: NodeId, element: Element) -> Option<NodeId> {
    let (scale, factor, inner) = one_plus(graph, divisor)?;
    let exponent = graph.as_pointwise(inner, "exp")?[0];
    if scale != 1.0 || factor != 1.0 || !has("sigmoid", element) {
        return None;
    }
    let (sign, y) = scaled(graph, exponent);
    let y = if sign == -1.0 { y } else { neg(graph, &[exponent], element).ok()? };
    Some(graph.pointwise("sigmoid", &[y], element))
}

/// `(1 + tanh(y / 2)) / 2` is sigmoid(y).
fn as_sigmoid_of_tanh(graph: &mut Graph, number: f64, sum: NodeId, element: Element) -> Option<NodeId> {
    let (scale, factor, inner) = one_plus(graph, sum)?;
    let (half, y) = scaled(graph, graph.as_pointwise(inner, "tanh")?[0]);
    let is_sigmoid = number * scale == 0.5 && factor == 1.0 && half == 0.5 && has("sigmoid", element);
    is_sigmoid.then(|| graph.pointwise("sigmoid", &[y], element))
}

/// `number * x * (1 + erf(x / sqrt 2))`, or with tanh of a cubic polynomial, is gelu(x) where the number is 1/2.
fn as_gelu(graph: &mut Graph, number: f64, x: NodeId, sum: NodeId, element: Element) -> Option<NodeId> {
    let (scale, factor, inner) = one_plus(graph, sum)?;
    if !is_near(number * scale, 0.5) || factor != 1.0 || !has("gelufwd", element) {
        return None;
    }
    let node = graph.node(inner);
    let argument = *node.inputs.first()?;
    let is_gelu = match node.kind {
        Kind::Virtual("erf") => {
            let (half_root, y) = scaled(graph, argument);
            y == x && is_near(half_root, std::f64::consts::FRAC_1_SQRT_2)
        }
        Kind::Pointwise("tanh", _) => polynomial(graph, argument, x, 0).is_some_and(|[constant, linear, square, cube]| {
            let root = (2.0 / std::f64::consts::PI).sqrt();
            constant == 0.0 && square == 0.0 && is_near(linear, root) && is_near(cube, 0.044_715 * root)
        }),
        _ => false,
    };
    is_gelu.then(|| graph.pointwise("gelufwd", &[x], element))
}

/// The coefficients of a node as a polynomial of degree 3 in `x`.
fn polynomial(graph: &Graph, id: NodeId, x: NodeId, depth: usize) -> Option<[f64; 4]> {
    const DEEPEST: usize = 8;
    if id == x {
        return Some([0.0, 1.0, 0.0, 0.0]);
    }
    if let Some(number) = graph.number_of(id) {
        return Some([number, 0.0, 0.0, 0.0]);
    }
    let node = graph.node(id);
    let Kind::Pointwise(function, _) = node.kind else { return None };
    let operands: Vec<[f64; 4]> = if depth < DEEPEST {
        node.inputs.iter().map(|&input| polynomial(graph, input, x, depth + 1)).collect::<Option<_>>()?
    } else {
        return None;
    };
    match (function, operands.as_slice()) {
        ("add", [a, b]) => Some(std::array::from_fn(|degree| a[degree] + b[degree])),
        ("sub", [a, b]) => Some(std::array::from_fn(|degree| a[degree] - b[degree])),
        ("neg", [a]) => Some(a.map(|coefficient| -coefficient)),
        ("mul", [a, b]) => {
            let mut product = [0.0; 7];
            for (i, left) in a.iter().enumerate() {
                for (j, right) in b.iter().enumerate() {
                    product[i + j] += left * right;
                }
            }
            let [c0, c1, c2, c3, rest @ ..] = product;
            (rest == [0.0; 3]).then_some([c0, c1, c2, c3])
        }
        _ => None,
    }
}

/// A sum over dimensions times the reciprocal of their size is a mean, also behind views of the sum.
fn as_mean(graph: &mut Graph, sum: NodeId, number: f64) -> Option<NodeId> {
    let mut views = Vec::new();
    let mut id = sum;
    while matches!(graph.node(id).kind, Kind::Reshape | Kind::View(_)) {
        views.push(id);
        id = graph.node(id).inputs[0];
    }
    let Kind::Reduce("sum", dim, _) = graph.node(id).kind else { return None };
    let (mut inner, mut n_summed) = (id, 1);
    while let Kind::Reduce("sum", dim, _) = graph.node(inner).kind {
        inner = graph.node(inner).inputs[0];
        n_summed *= graph.node(inner).shape[dim];
    }
    #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer elements than 2^53")]
    let expected = 1.0 / n_summed as f64;
    if (number - expected).abs() > 1e-3 * expected {
        return None;
    }
    let node = graph.node(id).clone();
    let mut mean = graph.add(Kind::Reduce("mean", dim, vec![number.to_bits()]), &node.inputs, node.shape, node.element);
    for view in views.into_iter().rev() {
        let shape = graph.node(view).shape.clone();
        mean = match graph.node(view).kind.clone() {
            Kind::View(map) => graph.view(mean, map, &shape),
            _ => graph.reshape(mean, &shape),
        };
    }
    Some(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    const F16: Element = Element::F16;

    struct Case {
        graph: Graph,
        x: NodeId,
    }

    impl Case {
        fn new() -> Self {
            let mut graph = Graph::default();
            let x = graph.tensor(0, vec![8, 64], F16);
            Self { graph, x }
        }

        fn op(&mut self, name: &str, inputs: &[NodeId]) -> NodeId {
            self.graph.apply(name, inputs, F16).unwrap()
        }

        fn number(&mut self, number: f64) -> NodeId {
            self.graph.number(number)
        }

        /// The function that a node is, if it is one of `x`.
        fn function(&self, id: NodeId) -> &'static str {
            let node = self.graph.node(id);
            match node.kind {
                Kind::Pointwise(function, _) if node.inputs == [self.x] => function,
                _ => "something else",
            }
        }
    }

    #[test]
    fn sigmoid_and_silu_in_all_spellings() {
        let mut case = Case::new();
        let (x, one) = (case.x, case.number(1.0));
        let negative = case.op("arith.negf", &[x]);
        let exp = case.op("math.exp", &[negative]);
        for sum in [[exp, one], [one, exp]] {
            let sum = case.op("arith.addf", &sum);
            let sigmoid = case.op("arith.divf", &[one, sum]);
            assert_eq!(case.function(sigmoid), "sigmoid");
            let silu = case.op("arith.mulf", &[sigmoid, x]);
            assert_eq!(case.function(silu), "silu");
            let silu = case.op("arith.divf", &[x, sum]);
            assert_eq!(case.function(silu), "silu");
        }
        let (half, two) = (case.number(0.5), case.number(2.0));
        let halved = case.op("arith.divf", &[x, two]);
        let tanh = case.op("math.tanh", &[halved]);
        let sum = case.op("arith.addf", &[tanh, one]);
        let sigmoid = case.op("arith.mulf", &[half, sum]);
        assert_eq!(case.function(sigmoid), "sigmoid");
    }

    #[test]
    fn gelu_with_erf_wherever_the_half_stands() {
        let mut case = Case::new();
        let (x, one, half, root) = (case.x, case.number(1.0), case.number(0.5), case.number(2.0_f64.sqrt()));
        let scaled = case.op("arith.divf", &[x, root]);
        let erf = case.op("math.erf", &[scaled]);
        let sum = case.op("arith.addf", &[erf, one]);
        let gate = case.op("arith.mulf", &[sum, half]);
        let gelu = case.op("arith.mulf", &[x, gate]);
        assert_eq!(case.function(gelu), "gelufwd");
        let halved = case.op("arith.mulf", &[half, x]);
        let gelu = case.op("arith.mulf", &[halved, sum]);
        assert_eq!(case.function(gelu), "gelufwd");
        let half_erf = case.op("arith.mulf", &[erf, half]);
        let sum = case.op("arith.addf", &[half, half_erf]);
        let gelu = case.op("arith.mulf", &[sum, x]);
        assert_eq!(case.function(gelu), "gelufwd");
    }

    #[test]
    fn gelu_with_tanh_is_a_matter_of_coefficients() {
        let mut case = Case::new();
        let (x, one, half) = (case.x, case.number(1.0), case.number(0.5));
        let (cubic, root) = (case.number(0.044_715), case.number(0.797_884_56));
        let square = case.op("arith.mulf", &[x, x]);
        let cube = case.op("arith.mulf", &[square, x]);
        let scaled = case.op("arith.mulf", &[cube, cubic]);
        let sum = case.op("arith.addf", &[x, scaled]);
        let argument = case.op("arith.mulf", &[sum, root]);
        let tanh = case.op("math.tanh", &[argument]);
        let gate = case.op("arith.addf", &[one, tanh]);
        let product = case.op("arith.mulf", &[x, gate]);
        let gelu = case.op("arith.mulf", &[product, half]);
        assert_eq!(case.function(gelu), "gelufwd");
    }

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
    fn a_mean_is_found_behind_views() {
        let mut case = Case::new();
        let sum = case.graph.reduce("sum", case.x, 1);
        let flat = case.graph.reshape(sum, &[8]);
        let count = case.number(64.0);
        let mean = case.op("arith.divf", &[flat, count]);
        let reduce = case.graph.node(mean).inputs[0];
        assert!(matches!(case.graph.node(reduce).kind, Kind::Reduce("mean", 1, _)));
        let other = case.number(63.0);
        let quotient = case.op("arith.divf", &[flat, other]);
        assert!(matches!(case.graph.node(quotient).kind, Kind::Pointwise("realdiv", _)));
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
        assert!(case.graph.apply("math.powf", &[x, odd], F16).unwrap_err().contains("2.5"));
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
