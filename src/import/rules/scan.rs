//! Running combinations: each element along a dimension is combined with all before it.

use super::body::Combiner;
use crate::{
    codes,
    import::graph::{
        NodeElementType, NodeId, ValueGraph,
        constant_tensor::{ConstantTensor, MAX_CONSTANT_ELEMENTS, constant_limit_error},
    },
};
use program::affine::AffineExpression;

/// Combines each element of `input`, of shape `shape`, with all before it along `dim`. Constants are folded, integers
/// in `width` bits. The device has no function for scans: a sum is a matmul with a triangle of ones, and other
/// combinations and long sums are computed in steps.
///
/// # Errors
/// Returns the reason why the device cannot compute it.
pub(in crate::import) fn build_scan(
    graph: &mut ValueGraph,
    combiner: Combiner,
    input: NodeId,
    (shape, dim): (&[i64], usize),
    width: Option<u32>,
) -> Result<NodeId, String> {
    let element = graph.node(input).element;
    if let Some(known) = graph.as_constant(input) {
        let num_elements = shape.iter().product();
        if num_elements > MAX_CONSTANT_ELEMENTS {
            return Err(constant_limit_error(num_elements));
        }
        let known = known.broadcast_scalar(shape);
        let scanned = match width {
            Some(width) if element == NodeElementType::Int => {
                known.scan_integers(shape, dim, |sum, next| combiner.combine_integers(sum, next, width))
            }
            _ => known.scan(shape, dim, |sum, next| combiner.combine(sum, next)),
        };
        return Ok(graph.add_constant(scanned, shape.to_vec(), element));
    }
    let size = shape[dim];
    if !element.is_float() {
        return Err(codes::INTEGER_RUNTIME.format("of runtime integers is not supported; convert them to f32"));
    }
    // One element is its own sum.
    if size == 1 {
        return Ok(input);
    }
    if combiner != Combiner::Sum
        || size.checked_mul(size).is_none_or(|num_elements| num_elements > MAX_CONSTANT_ELEMENTS)
    {
        return build_prefix_scan(graph, combiner, input, shape, dim);
    }
    let triangle = graph.add_constant(build_triangle(size), vec![size, size], element);
    let triangle =
        if graph.as_scalar(triangle).is_some() { graph.add_splat(triangle, vec![size, size]) } else { triangle };
    // The dimension is the last one of the left operand.
    let order: Vec<usize> = (0..shape.len()).filter(|&other| other != dim).chain([dim]).collect();
    let turned: Vec<i64> = order.iter().map(|&dim| shape[dim]).collect();
    let rows = graph.view(input, invert_permutation(&order), &turned);
    let flat = vec![shape.iter().product::<i64>() / size, size];
    let rows = graph.reshape(rows, &flat);
    let sums = graph.build_matmul(rows, triangle, flat, element);
    let sums = graph.reshape(sums, &turned);
    Ok(graph.view(sums, order.iter().map(|&dim| AffineExpression::Dim(dim)).collect(), shape))
}

/// Returns numbers that the device does not compute, with the ranges of the running sums of `input`, of shape `shape`.
/// Each sum is its element plus a sum of at most all others.
pub(in crate::import) fn build_sum_bounds(graph: &mut ValueGraph, input: NodeId, shape: &[i64], dim: usize) -> NodeId {
    let (first, mut sizes) = (vec![0; shape.len()], shape.to_vec());
    let element = graph.node(input).element;
    sizes[dim] -= 1;
    let others = graph.slice(input, &first, &sizes);
    let others = graph.reduce("sum", others, dim);
    let others = graph.broadcast(others, shape);
    sizes[dim] = 1;
    let zero = graph.add_scalar(0.0);
    let none = graph.add_splat(zero, sizes);
    let others = graph.insert(none, others, first);
    graph.add_pointwise("add", &[input, others], element)
}

/// Combines each element with the one before it, then with the one two before it, four, and so on: each step doubles
/// the number of combined elements.
fn build_prefix_scan(
    graph: &mut ValueGraph,
    combiner: Combiner,
    input: NodeId,
    shape: &[i64],
    dim: usize,
) -> Result<NodeId, String> {
    let element = graph.node(input).element;
    // Along the outermost dimension, no stick is split.
    let order: Vec<usize> = [dim].into_iter().chain((0..shape.len()).filter(|&other| other != dim)).collect();
    let turned: Vec<i64> = order.iter().map(|&dim| shape[dim]).collect();
    let mut sums = graph.view(input, invert_permutation(&order), &turned);
    let rows = |graph: &mut ValueGraph, of: NodeId, first: i64, size: i64| {
        let (mut start, mut sizes) = (vec![0; turned.len()], turned.clone());
        (start[0], sizes[0]) = (first, size);
        graph.slice(of, &start, &sizes)
    };
    let mut covered = 1;
    while covered < shape[dim] {
        let left = shape[dim] - covered;
        let (before, own) = (rows(graph, sums, 0, left), rows(graph, sums, covered, left));
        let combined = graph.apply(combiner.operation(), &[before, own], element)?;
        let first = rows(graph, sums, 0, covered);
        let mut at = vec![0; turned.len()];
        let memory = graph.add_undefined(turned.clone(), element);
        let begun = graph.insert(first, memory, at.clone());
        at[0] = covered;
        sums = graph.insert(combined, begun, at);
        covered *= 2;
    }
    Ok(graph.view(sums, order.iter().map(|&dim| AffineExpression::Dim(dim)).collect(), shape))
}

/// Returns the inverse of a permutation.
fn invert_permutation(order: &[usize]) -> Vec<AffineExpression> {
    let place = |dim| order.iter().position(|&other| other == dim).expect("an order has all dimensions");
    (0..order.len()).map(|dim| AffineExpression::Dim(place(dim))).collect()
}

/// Returns a matrix whose element `[row, column]` is 1 where the row is at most the column, else 0.
fn build_triangle(size: i64) -> ConstantTensor {
    let count = ConstantTensor::iota(0, size);
    ConstantTensor::map_elementwise(&[(&count, &[size, 1]), (&count, &[1, size])], &[size, size], |at| {
        f64::from(u8::from(at[0] <= at[1]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeKind;

    #[test]
    fn folds_constant_scan() {
        let mut graph = ValueGraph::default();
        let ones = graph.add_scalar(1.0);
        let sums = build_scan(&mut graph, Combiner::Sum, ones, (&[2, 3], 1), None).unwrap();
        let numbers: Vec<f64> = graph.as_constant(sums).unwrap().numbers().collect();
        assert_eq!(numbers, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
        let bytes = graph.add_constant(ConstantTensor::from_integer(100), Vec::new(), NodeElementType::Int);
        let sums = build_scan(&mut graph, Combiner::Sum, bytes, (&[3], 0), Some(8)).unwrap();
        assert_eq!(
            graph.as_constant(sums).unwrap().integers().collect::<Vec<_>>(),
            [100, -56, 44],
            "a byte begins again at the other end"
        );
    }

    #[test]
    fn returns_input_for_one_element() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![1, 6], NodeElementType::F16);
        assert_eq!(build_scan(&mut graph, Combiner::Sum, x, (&[1, 6], 0), None), Ok(x));
    }

    #[test]
    fn lowers_sum_along_any_dim_to_matmul() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![4, 5, 6], NodeElementType::F16);
        for (dim, product) in [(0, [30, 4]), (1, [24, 5]), (2, [20, 6])] {
            let sums = build_scan(&mut graph, Combiner::Sum, x, (&[4, 5, 6], dim), None).unwrap();
            assert_eq!(graph.node(sums).shape, [4, 5, 6]);
            let needed = graph.collect_required(&[sums], |_| false);
            let matmul = needed.iter().find(|&&id| graph.node(id).kind == NodeKind::Matmul).unwrap();
            assert_eq!(graph.node(*matmul).shape, product);
        }
    }

    #[test]
    fn lowers_other_and_long_scans_to_steps() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![9, 5000], NodeElementType::F16);
        for (combiner, dim, num_steps) in [(Combiner::Max, 0, 4), (Combiner::Prod, 1, 13), (Combiner::Sum, 1, 13)] {
            let combined = build_scan(&mut graph, combiner, x, (&[9, 5000], dim), None).unwrap();
            assert_eq!(graph.node(combined).shape, [9, 5000]);
            let needed = graph.collect_required(&[combined], |_| false);
            let is_step = |id: &&NodeId| matches!(graph.node(**id).kind, NodeKind::Pointwise(..));
            assert_eq!(needed.iter().filter(is_step).count(), num_steps);
        }
    }

    #[test]
    fn rejects_runtime_integers() {
        let mut graph = ValueGraph::default();
        let places = graph.add_tensor(1, vec![4, 5], NodeElementType::Int);
        assert!(build_scan(&mut graph, Combiner::Sum, places, (&[4, 5], 1), None).is_err());
    }
}
