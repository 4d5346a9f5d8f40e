//! Recognition of larger functions by their last operation: sigmoid, silu, gelu, softplus, mean.
//!
//! Each is recognized by the value that it computes: products are split into a number and factors, sums into `c (1 + k y)`, polynomials into
//! coefficients, so operand order and the position of constants do not matter.

use super::plain::{has, neg};
use crate::import::graph::{Element, Graph, Kind, NodeId};

/// Tolerance between a constant in single or half precision and the exact number.
const RELATIVE: f64 = 2e-3;

fn is_near(number: f64, expected: f64) -> bool {
    (number - expected).abs() <= RELATIVE * expected.abs()
}

/// Splits a node into a number and another node that it is multiplied by.
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

/// Splits a node into a number and at most two factors that are not products with numbers.
pub(in crate::import) fn factors_of(graph: &Graph, id: NodeId) -> (f64, Vec<NodeId>) {
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

/// `log(1 + exp(y))` by its argument; the device takes over the linear part from 20 on, as PyTorch does.
pub(in crate::import) fn as_softplus(graph: &mut Graph, argument: NodeId, element: Element) -> Option<NodeId> {
    let (scale, factor, inner) = one_plus(graph, argument)?;
    let exponent = graph.as_pointwise(inner, "exp")?[0];
    let is_softplus = scale == 1.0 && factor == 1.0 && has("softplus", element);
    is_softplus.then(|| graph.pointwise_with("softplus", &[1.0, 20.0], &[exponent], element))
}

/// `1 + exp(-y)` as the divisor of a sigmoid: sigmoid(y).
pub(in crate::import) fn as_logistic(graph: &mut Graph, divisor: NodeId, element: Element) -> Option<NodeId> {
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
pub(in crate::import) fn as_sigmoid_of_tanh(graph: &mut Graph, number: f64, sum: NodeId, element: Element) -> Option<NodeId> {
    let (scale, factor, inner) = one_plus(graph, sum)?;
    let (half, y) = scaled(graph, graph.as_pointwise(inner, "tanh")?[0]);
    let is_sigmoid = number * scale == 0.5 && factor == 1.0 && half == 0.5 && has("sigmoid", element);
    is_sigmoid.then(|| graph.pointwise("sigmoid", &[y], element))
}

/// `number * x * (1 + erf(x / sqrt 2))`, or with tanh of a cubic polynomial, is gelu(x) where the number is 1/2.
pub(in crate::import) fn as_gelu(graph: &mut Graph, number: f64, x: NodeId, sum: NodeId, element: Element) -> Option<NodeId> {
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
pub(in crate::import) fn as_mean(graph: &mut Graph, sum: NodeId, number: f64) -> Option<NodeId> {
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
pub(in crate::import) mod tests {
    use super::*;

    const F16: Element = Element::F16;

    /// A graph with one tensor, and short words for building on it.
    pub(in crate::import) struct Case {
        pub(in crate::import) graph: Graph,
        pub(in crate::import) x: NodeId,
    }

    impl Case {
        pub(in crate::import) fn new() -> Self {
            let mut graph = Graph::default();
            let x = graph.tensor(0, vec![8, 64], F16);
            Self { graph, x }
        }

        pub(in crate::import) fn op(&mut self, name: &str, inputs: &[NodeId]) -> NodeId {
            self.graph.apply(name, inputs, F16).unwrap()
        }

        pub(in crate::import) fn number(&mut self, number: f64) -> NodeId {
            self.graph.number(number)
        }

        /// The function that a node is, if it is one of `x`.
        pub(in crate::import) fn function(&self, id: NodeId) -> &'static str {
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
}
