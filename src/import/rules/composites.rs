//! Recognition of larger functions by their last operation: sigmoid, silu, gelu, softplus, mean.
//!
//! Each is recognized by the value that it computes. Products are split into a number and factors, sums into
//! `c (1 + k y)`, polynomials into coefficients. Operand order and the position of constants therefore do not matter.

use super::rule_helpers::{has_device_function, neg};
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};

/// Tolerance between a constant in single or half precision and the exact number.
const RELATIVE_TOLERANCE: f64 = 2e-3;

fn is_close(number: f64, expected: f64) -> bool {
    (number - expected).abs() <= RELATIVE_TOLERANCE * expected.abs()
}

/// Splits a node into a number and another node that it is multiplied by.
fn split_scale(graph: &ValueGraph, id: NodeId) -> (f64, NodeId) {
    let (mut number, mut id) = (1.0, id);
    loop {
        if let Some(inner) = graph.as_pointwise(id, "neg") {
            (number, id) = (-number, inner[0]);
        } else if let Some((factor, inner)) =
            graph.as_pointwise(id, "mul").and_then(|inputs| split_scalar_operand(graph, inputs))
        {
            (number, id) = (number * factor, inner);
        } else if let Some((divisor, inner)) =
            graph.as_pointwise(id, "realdiv").and_then(|inputs| Some((graph.as_scalar(inputs[1])?, inputs[0])))
        {
            (number, id) = (number / divisor, inner);
        } else {
            return (number, id);
        }
    }
}

fn split_scalar_operand(graph: &ValueGraph, inputs: &[NodeId]) -> Option<(f64, NodeId)> {
    let &[lhs, rhs] = inputs else { return None };
    graph.as_scalar(lhs).map(|number| (number, rhs)).or_else(|| graph.as_scalar(rhs).map(|number| (number, lhs)))
}

/// Splits a node into a number and at most two factors that are not products with numbers.
pub(in crate::import) fn split_factors(graph: &ValueGraph, id: NodeId) -> (f64, Vec<NodeId>) {
    let (number, rest) = split_scale(graph, id);
    match graph.as_pointwise(rest, "mul") {
        Some(&[lhs, rhs]) => {
            let ((left, lhs), (right, rhs)) = (split_scale(graph, lhs), split_scale(graph, rhs));
            (number * left * right, vec![lhs, rhs])
        }
        _ => (number, vec![rest]),
    }
}

/// Splits a sum into `scale * (1 + factor * inner)`.
fn split_one_plus(graph: &ValueGraph, id: NodeId) -> Option<(f64, f64, NodeId)> {
    let (outer, id) = split_scale(graph, id);
    let (one, rest) = split_scalar_operand(graph, graph.as_pointwise(id, "add")?)?;
    let (factor, inner) = split_scale(graph, rest);
    Some((outer * one, factor / one, inner))
}

/// Recognizes `log(1 + exp(y))` as softplus, by its argument. From 20 on, the device returns the linear part, as
/// PyTorch does.
pub(in crate::import) fn as_softplus(
    graph: &mut ValueGraph,
    argument: NodeId,
    element: NodeElementType,
) -> Option<NodeId> {
    let (scale, factor, inner) = split_one_plus(graph, argument)?;
    let exponent = graph.as_pointwise(inner, "exp")?[0];
    let is_softplus = scale == 1.0 && factor == 1.0 && has_device_function("softplus", element);
    is_softplus.then(|| graph.add_pointwise_with_constants("softplus", &[1.0, 20.0], &[exponent], element))
}

/// Recognizes a division by `1 + exp(-y)` as sigmoid(y), from the divisor.
pub(in crate::import) fn as_logistic(
    graph: &mut ValueGraph,
    divisor: NodeId,
    element: NodeElementType,
) -> Option<NodeId> {
    let (scale, factor, inner) = split_one_plus(graph, divisor)?;
    let exponent = graph.as_pointwise(inner, "exp")?[0];
    if scale != 1.0 || factor != 1.0 || !has_device_function("sigmoid", element) {
        return None;
    }
    let (sign, y) = split_scale(graph, exponent);
    let y = if sign == -1.0 { y } else { neg(graph, &[exponent], element).ok()? };
    Some(graph.add_pointwise("sigmoid", &[y], element))
}

/// Recognizes `(1 + tanh(y / 2)) / 2` as sigmoid(y).
pub(in crate::import) fn as_sigmoid_of_tanh(
    graph: &mut ValueGraph,
    number: f64,
    sum: NodeId,
    element: NodeElementType,
) -> Option<NodeId> {
    let (scale, factor, inner) = split_one_plus(graph, sum)?;
    let (half, y) = split_scale(graph, graph.as_pointwise(inner, "tanh")?[0]);
    let is_sigmoid = number * scale == 0.5 && factor == 1.0 && half == 0.5 && has_device_function("sigmoid", element);
    is_sigmoid.then(|| graph.add_pointwise("sigmoid", &[y], element))
}

/// Recognizes `number * x * (1 + erf(x / sqrt 2))` as gelu(x), if the constant factor is 1/2. Also recognizes the form
/// with tanh of a cubic polynomial.
pub(in crate::import) fn as_gelu(
    graph: &mut ValueGraph,
    number: f64,
    x: NodeId,
    sum: NodeId,
    element: NodeElementType,
) -> Option<NodeId> {
    let (scale, factor, inner) = split_one_plus(graph, sum)?;
    if !is_close(number * scale, 0.5) || factor != 1.0 || !has_device_function("gelufwd", element) {
        return None;
    }
    let node = graph.node(inner);
    let argument = *node.inputs.first()?;
    let is_gelu = match node.kind {
        NodeKind::Virtual("erf") => {
            let (half_root, y) = split_scale(graph, argument);
            y == x && is_close(half_root, std::f64::consts::FRAC_1_SQRT_2)
        }
        NodeKind::Pointwise("tanh", _) => {
            compute_polynomial(graph, argument, x, 0).is_some_and(|[constant, linear, square, cube]| {
                let root = (2.0 / std::f64::consts::PI).sqrt();
                constant == 0.0 && square == 0.0 && is_close(linear, root) && is_close(cube, 0.044_715 * root)
            })
        }
        _ => false,
    };
    is_gelu.then(|| graph.add_pointwise("gelufwd", &[x], element))
}

/// Returns the coefficients of a node as a polynomial of degree 3 in `x`.
fn compute_polynomial(graph: &ValueGraph, id: NodeId, x: NodeId, depth: usize) -> Option<[f64; 4]> {
    const MAX_DEPTH: usize = 8;
    if id == x {
        return Some([0.0, 1.0, 0.0, 0.0]);
    }
    if let Some(number) = graph.as_scalar(id) {
        return Some([number, 0.0, 0.0, 0.0]);
    }
    let node = graph.node(id);
    let NodeKind::Pointwise(function, _) = node.kind else { return None };
    let operands: Vec<[f64; 4]> = if depth < MAX_DEPTH {
        node.inputs.iter().map(|&input| compute_polynomial(graph, input, x, depth + 1)).collect::<Option<_>>()?
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

/// Recognizes a sum over dimensions times the reciprocal of their size as a mean. Looks through views of the sum.
pub(in crate::import) fn as_mean(graph: &mut ValueGraph, sum: NodeId, number: f64) -> Option<NodeId> {
    let mut views = Vec::new();
    let mut id = sum;
    while matches!(graph.node(id).kind, NodeKind::Reshape | NodeKind::View(_)) {
        views.push(id);
        id = graph.node(id).inputs[0];
    }
    let NodeKind::Reduce("sum", dim, _) = graph.node(id).kind else { return None };
    let (mut inner, mut num_summed) = (id, 1);
    while let NodeKind::Reduce("sum", dim, _) = graph.node(inner).kind {
        inner = graph.node(inner).inputs[0];
        num_summed *= graph.node(inner).shape[dim];
    }
    #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer elements than 2^53")]
    let expected = 1.0 / num_summed as f64;
    if (number - expected).abs() > 1e-3 * expected {
        return None;
    }
    let node = graph.node(id).clone();
    let mut mean =
        graph.add(NodeKind::Reduce("mean", dim, vec![number.to_bits()]), &node.inputs, node.shape, node.element);
    for view in views.into_iter().rev() {
        let shape = graph.node(view).shape.clone();
        mean = match graph.node(view).kind.clone() {
            NodeKind::View(map) => graph.view(mean, map, &shape),
            _ => graph.reshape(mean, &shape),
        };
    }
    Some(mean)
}

#[cfg(test)]
pub(in crate::import) mod tests {
    use super::*;

    const F16: NodeElementType = NodeElementType::F16;

    /// Graph with one tensor, and helpers that build on it.
    pub(in crate::import) struct ElementwiseCase {
        pub(in crate::import) graph: ValueGraph,
        pub(in crate::import) x: NodeId,
    }

    impl ElementwiseCase {
        pub(in crate::import) fn new() -> Self {
            let mut graph = ValueGraph::default();
            let x = graph.add_tensor(0, vec![8, 64], F16);
            Self { graph, x }
        }

        pub(in crate::import) fn apply(&mut self, name: &str, inputs: &[NodeId]) -> NodeId {
            self.graph.apply(name, inputs, F16).unwrap()
        }

        pub(in crate::import) fn add_scalar(&mut self, number: f64) -> NodeId {
            self.graph.add_scalar(number)
        }

        /// Returns the device function that a node computes of `x`.
        pub(in crate::import) fn function_of_x(&self, id: NodeId) -> &'static str {
            let node = self.graph.node(id);
            match node.kind {
                NodeKind::Pointwise(function, _) if node.inputs == [self.x] => function,
                _ => "something else",
            }
        }
    }

    #[test]
    fn recognizes_sigmoid_and_silu_in_all_forms() {
        let mut case = ElementwiseCase::new();
        let (x, one) = (case.x, case.add_scalar(1.0));
        let negative = case.apply("arith.negf", &[x]);
        let exp = case.apply("math.exp", &[negative]);
        for sum in [[exp, one], [one, exp]] {
            let sum = case.apply("arith.addf", &sum);
            let sigmoid = case.apply("arith.divf", &[one, sum]);
            assert_eq!(case.function_of_x(sigmoid), "sigmoid");
            let silu = case.apply("arith.mulf", &[sigmoid, x]);
            assert_eq!(case.function_of_x(silu), "silu");
            let silu = case.apply("arith.divf", &[x, sum]);
            assert_eq!(case.function_of_x(silu), "silu");
        }
        let (half, two) = (case.add_scalar(0.5), case.add_scalar(2.0));
        let halved = case.apply("arith.divf", &[x, two]);
        let tanh = case.apply("math.tanh", &[halved]);
        let sum = case.apply("arith.addf", &[tanh, one]);
        let sigmoid = case.apply("arith.mulf", &[half, sum]);
        assert_eq!(case.function_of_x(sigmoid), "sigmoid");
    }

    #[test]
    fn recognizes_gelu_with_erf_for_any_position_of_the_half() {
        let mut case = ElementwiseCase::new();
        let (x, one, half, root) =
            (case.x, case.add_scalar(1.0), case.add_scalar(0.5), case.add_scalar(2.0_f64.sqrt()));
        let scaled = case.apply("arith.divf", &[x, root]);
        let erf = case.apply("math.erf", &[scaled]);
        let sum = case.apply("arith.addf", &[erf, one]);
        let gate = case.apply("arith.mulf", &[sum, half]);
        let gelu = case.apply("arith.mulf", &[x, gate]);
        assert_eq!(case.function_of_x(gelu), "gelufwd");
        let halved = case.apply("arith.mulf", &[half, x]);
        let gelu = case.apply("arith.mulf", &[halved, sum]);
        assert_eq!(case.function_of_x(gelu), "gelufwd");
        let half_erf = case.apply("arith.mulf", &[erf, half]);
        let sum = case.apply("arith.addf", &[half, half_erf]);
        let gelu = case.apply("arith.mulf", &[sum, x]);
        assert_eq!(case.function_of_x(gelu), "gelufwd");
    }

    #[test]
    fn recognizes_gelu_with_tanh_by_coefficients() {
        let mut case = ElementwiseCase::new();
        let (x, one, half) = (case.x, case.add_scalar(1.0), case.add_scalar(0.5));
        let (cubic, root) = (case.add_scalar(0.044_715), case.add_scalar(0.797_884_56));
        let square = case.apply("arith.mulf", &[x, x]);
        let cube = case.apply("arith.mulf", &[square, x]);
        let scaled = case.apply("arith.mulf", &[cube, cubic]);
        let sum = case.apply("arith.addf", &[x, scaled]);
        let argument = case.apply("arith.mulf", &[sum, root]);
        let tanh = case.apply("math.tanh", &[argument]);
        let gate = case.apply("arith.addf", &[one, tanh]);
        let product = case.apply("arith.mulf", &[x, gate]);
        let gelu = case.apply("arith.mulf", &[product, half]);
        assert_eq!(case.function_of_x(gelu), "gelufwd");
    }

    #[test]
    fn recognizes_mean_through_views() {
        let mut case = ElementwiseCase::new();
        let sum = case.graph.reduce("sum", case.x, 1);
        let flat = case.graph.reshape(sum, &[8]);
        let count = case.add_scalar(64.0);
        let mean = case.apply("arith.divf", &[flat, count]);
        let reduce = case.graph.node(mean).inputs[0];
        assert!(matches!(case.graph.node(reduce).kind, NodeKind::Reduce("mean", 1, _)));
        let other = case.add_scalar(63.0);
        let quotient = case.apply("arith.divf", &[flat, other]);
        assert!(matches!(case.graph.node(quotient).kind, NodeKind::Pointwise("realdiv", _)));
    }
}
