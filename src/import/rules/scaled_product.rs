//! A product of two scaled tensors scales one of them.
//!
//! Scaled dot product attention multiplies queries and keys by the root of the factor each, so that no score overflows. Every core needs
//! whole keys, but its LX holds only its own slice of what it computes: scaled keys would go through HBM. `(a L) (b R)` is `(a b L) R`,
//! which also rounds once less.

use super::recognize::mul;
use crate::import::graph::{Graph, Kind, NodeId};

/// The smallest factor that a tensor is scaled by instead of two: what is far from the smallest numbers of a format stays so.
const LEAST_FACTOR: f64 = 1.0 / 256.0;

/// Returns the operands of a product with both scales merged on the left one, if both are scaled. A factor above 1 is not moved: on the left,
/// it could cause an overflow.
pub(in crate::import) fn with_one_scale(graph: &mut Graph, left: NodeId, right: NodeId) -> Option<[NodeId; 2]> {
    let (a, b) = (factor_of(graph, left)?, factor_of(graph, right)?);
    if b.abs() > 1.0 || (a * b).abs() < LEAST_FACTOR {
        return None;
    }
    Some([rescaled(graph, left, a * b)?, rescaled(graph, right, 1.0)?])
}

/// Returns the number that a tensor is multiplied by, looking through views.
fn factor_of(graph: &Graph, id: NodeId) -> Option<f64> {
    match graph.node(id).kind {
        Kind::Reshape | Kind::View(_) => factor_of(graph, graph.node(id).inputs[0]),
        _ => scaled(graph, id).map(|(factor, _)| factor),
    }
}

/// A factor and the tensor that it scales.
fn scaled(graph: &Graph, id: NodeId) -> Option<(f64, NodeId)> {
    let &[lhs, rhs] = graph.as_pointwise(id, "mul")? else { return None };
    let of = |number: NodeId, tensor: NodeId| Some((graph.number_of(number)?, tensor));
    of(lhs, rhs).or_else(|| of(rhs, lhs))
}

/// Returns the scaled tensor behind `id` times `factor` in place of its old factor, under the views of `id`.
fn rescaled(graph: &mut Graph, id: NodeId, factor: f64) -> Option<NodeId> {
    let node = graph.node(id).clone();
    match node.kind {
        Kind::Reshape => {
            let input = rescaled(graph, node.inputs[0], factor)?;
            Some(graph.reshape(input, &node.shape))
        }
        Kind::View(map) => {
            let input = rescaled(graph, node.inputs[0], factor)?;
            Some(graph.view(input, map, &node.shape))
        }
        _ => {
            let (_, tensor) = scaled(graph, id)?;
            let factor = graph.number(factor);
            mul(graph, &[tensor, factor], node.element).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::Element;
    use program::affine::Expr;

    fn tensor(graph: &mut Graph, number: usize) -> NodeId {
        graph.tensor(number, vec![2, 4, 4], Element::F16)
    }

    fn times(graph: &mut Graph, id: NodeId, factor: f64) -> NodeId {
        let factor = graph.number(factor);
        mul(graph, &[id, factor], Element::F16).unwrap()
    }

    #[test]
    fn the_left_operand_has_both_factors() {
        let mut graph = Graph::default();
        let (q, k) = (tensor(&mut graph, 0), tensor(&mut graph, 1));
        let (left, right) = (times(&mut graph, q, 0.5), times(&mut graph, k, 0.25));
        let left = graph.reshape(left, &[8, 4]);
        let turned = vec![Expr::Dim(0), Expr::Dim(2), Expr::Dim(1)];
        let right = graph.view(right, turned.clone(), &[2, 4, 4]);

        let [new_left, new_right] = with_one_scale(&mut graph, left, right).unwrap();
        let expected = times(&mut graph, q, 0.125);
        assert_eq!(new_left, graph.reshape(expected, &[8, 4]));
        assert_eq!(new_right, graph.view(k, turned, &[2, 4, 4]));
    }

    #[test]
    fn what_is_not_scaled_twice_or_might_leave_its_range_stays() {
        let mut graph = Graph::default();
        let (q, k) = (tensor(&mut graph, 0), tensor(&mut graph, 1));
        for (a, b) in [(1.0, 0.5), (0.5, 1.0), (0.5, 2.0), (0.01, 0.01)] {
            let (left, right) = (times(&mut graph, q, a), times(&mut graph, k, b));
            assert_eq!(with_one_scale(&mut graph, left, right), None, "{a} and {b}");
        }
    }
}
