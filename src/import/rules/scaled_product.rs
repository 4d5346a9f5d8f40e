//! A matmul of two scaled tensors scales one of them.
//!
//! Scaled dot product attention multiplies queries and keys by the root of the factor each, so that no score overflows.
//! Every core needs all keys, but its LX holds only its own slice of a computed tensor: scaled keys would go through
//! HBM. `(a L) (b R)` is `(a b L) R`, which also saves one rounding.

use super::recognize::mul;
use crate::import::graph::{NodeId, NodeKind, ValueGraph};

/// Minimum factor that scales one tensor instead of two. With it, numbers far from the smallest numbers of a format
/// remain so.
const MIN_FACTOR: f64 = 1.0 / 256.0;

/// Returns the operands of a matmul with both scales merged on the left one, if both are scaled. A factor above 1 is
/// not moved: on the left, it could cause an overflow.
pub(in crate::import) fn merge_scales(graph: &mut ValueGraph, left: NodeId, right: NodeId) -> Option<[NodeId; 2]> {
    let (a, b) = (find_factor(graph, left)?, find_factor(graph, right)?);
    if b.abs() > 1.0 || (a * b).abs() < MIN_FACTOR {
        return None;
    }
    Some([rescale(graph, left, a * b)?, rescale(graph, right, 1.0)?])
}

/// Returns the number that a tensor is multiplied by, looking through views.
fn find_factor(graph: &ValueGraph, id: NodeId) -> Option<f64> {
    match graph.node(id).kind {
        NodeKind::Reshape | NodeKind::View(_) => find_factor(graph, graph.node(id).inputs[0]),
        _ => split_scaled(graph, id).map(|(factor, _)| factor),
    }
}

/// Splits a node into a factor and the tensor that it scales.
fn split_scaled(graph: &ValueGraph, id: NodeId) -> Option<(f64, NodeId)> {
    let &[lhs, rhs] = graph.as_pointwise(id, "mul")? else { return None };
    let of = |number: NodeId, tensor: NodeId| Some((graph.as_scalar(number)?, tensor));
    of(lhs, rhs).or_else(|| of(rhs, lhs))
}

/// Returns the scaled tensor that `id` views, multiplied by `factor` instead of its old factor, under the views of
/// `id`.
fn rescale(graph: &mut ValueGraph, id: NodeId, factor: f64) -> Option<NodeId> {
    let node = graph.node(id).clone();
    match node.kind {
        NodeKind::Reshape => {
            let input = rescale(graph, node.inputs[0], factor)?;
            Some(graph.reshape(input, &node.shape))
        }
        NodeKind::View(map) => {
            let input = rescale(graph, node.inputs[0], factor)?;
            Some(graph.view(input, map, &node.shape))
        }
        _ => {
            let (_, tensor) = split_scaled(graph, id)?;
            let factor = graph.add_scalar(factor);
            mul(graph, &[tensor, factor], node.element).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeElementType;
    use program::affine::AffineExpression;

    fn add_tensor(graph: &mut ValueGraph, number: usize) -> NodeId {
        graph.add_tensor(number, vec![2, 4, 4], NodeElementType::F16)
    }

    fn scale(graph: &mut ValueGraph, id: NodeId, factor: f64) -> NodeId {
        let factor = graph.add_scalar(factor);
        mul(graph, &[id, factor], NodeElementType::F16).unwrap()
    }

    #[test]
    fn moves_both_factors_to_left_operand() {
        let mut graph = ValueGraph::default();
        let (q, k) = (add_tensor(&mut graph, 0), add_tensor(&mut graph, 1));
        let (left, right) = (scale(&mut graph, q, 0.5), scale(&mut graph, k, 0.25));
        let left = graph.reshape(left, &[8, 4]);
        let turned = vec![AffineExpression::Dim(0), AffineExpression::Dim(2), AffineExpression::Dim(1)];
        let right = graph.view(right, turned.clone(), &[2, 4, 4]);

        let [new_left, new_right] = merge_scales(&mut graph, left, right).unwrap();
        let expected = scale(&mut graph, q, 0.125);
        assert_eq!(new_left, graph.reshape(expected, &[8, 4]));
        assert_eq!(new_right, graph.view(k, turned, &[2, 4, 4]));
    }

    #[test]
    fn keeps_single_and_out_of_range_scales() {
        let mut graph = ValueGraph::default();
        let (q, k) = (add_tensor(&mut graph, 0), add_tensor(&mut graph, 1));
        for (a, b) in [(1.0, 0.5), (0.5, 1.0), (0.5, 2.0), (0.01, 0.01)] {
            let (left, right) = (scale(&mut graph, q, a), scale(&mut graph, k, b));
            assert_eq!(merge_scales(&mut graph, left, right), None, "{a} and {b}");
        }
    }
}
