//! Sums of broadcast products, as an einsum is often decomposed: `(a[:, None, :] * b[None]).sum(-1)` is a matmul.
//!
//! The matmul reads each factor once and rounds once. The products would be written and read as a tensor that is larger
//! than both factors.

use super::{
    concatenated_factor::build_sliced_product,
    contraction::{Contraction, DimGroup, compute_group_index, compute_group_size, linearize_group_index},
    scaled_product::merge_scales,
    selected_factor::build_selected_matmul,
};
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode, table_lookup};
use program::affine::AffineExpression;

/// Builds the matmul of `[batch..., M, K]` and `[batch..., K, N]`, in a form that reads less if there is one.
/// `splits_sums` allows sums of partial sums, which round differently.
pub(in crate::import) fn build_product(
    graph: &mut ValueGraph,
    [left, right]: [NodeId; 2],
    shape: Vec<i64>,
    element: NodeElementType,
    splits_sums: bool,
) -> NodeId {
    let operands = merge_scales(graph, left, right).unwrap_or([left, right]);
    let [left, right] = operands;
    build_selected_matmul(graph, left, right, element)
        .or_else(|| build_sliced_product(graph, operands, element, splits_sums))
        .or_else(|| graph.build_matmul_with_merged_rows(operands, &shape, element))
        .unwrap_or_else(|| graph.add(NodeKind::Matmul, &operands, shape, element))
}

/// Returns the sum of `products` along the dimensions `reduced`, which remain with size 1, as a matmul. Returns None
/// unless each factor is broadcast along a dimension of the other one, and if f32 values are computed in f32, in which
/// the device has no matmul.
pub(in crate::import) fn sum_as_matmul(
    graph: &mut ValueGraph,
    products: NodeId,
    reduced: &[usize],
    splits_sums: bool,
) -> Option<NodeId> {
    let ValueNode { shape: sizes, element, .. } = graph.node(products).clone();
    let &[lhs, rhs] = graph.as_pointwise(products, "mul")? else { return None };
    let is_factor = |id: NodeId| {
        let node = graph.node(id);
        node.shape.len() == sizes.len() && node.element.is_float() && table_lookup::as_lookup(graph, id).is_none()
    };
    if ![lhs, rhs].into_iter().all(is_factor) {
        return None;
    }
    let indexed = |id: NodeId| (0..sizes.len()).filter(|&dim| graph.node(id).shape[dim] > 1).collect::<Vec<_>>();
    let written: Vec<usize> = (0..sizes.len()).filter(|dim| sizes[*dim] > 1 && !reduced.contains(dim)).collect();
    let dims = Contraction::from_dims(&indexed(lhs), &indexed(rhs), &written, None)?;
    if dims.m.is_empty() || dims.n.is_empty() {
        return None;
    }
    let is_single =
        element == NodeElementType::Single || element == NodeElementType::F32 && graph.has_single_precision();
    if is_single {
        return None;
    }
    let (left, right) = if dims.is_swapped { (rhs, lhs) } else { (lhs, rhs) };
    let left = view_factor(graph, left, &dims.operand_dims([&dims.m, &dims.k]), &sizes);
    let right = view_factor(graph, right, &dims.operand_dims([&dims.k, &dims.n]), &sizes);
    let order = dims.operand_dims([&dims.m, &dims.n]);
    let shape: Vec<i64> = order.iter().map(|group| compute_group_size(group, &sizes)).collect();
    let matmul = build_product(graph, [left, right], shape, element, splits_sums);
    let indices = order.iter().map(|group| linearize_group_index(group, &sizes, AffineExpression::Dim)).collect();
    let kept: Vec<i64> =
        sizes.iter().enumerate().map(|(dim, &size)| if reduced.contains(&dim) { 1 } else { size }).collect();
    Some(graph.view(matmul, indices, &kept))
}

/// Returns a factor with the dimensions `groups` of a matmul operand.
fn view_factor(graph: &mut ValueGraph, factor: NodeId, groups: &[DimGroup], sizes: &[i64]) -> NodeId {
    let index = |(dim, &size): (usize, &i64)| {
        if size > 1 { compute_group_index(dim, groups, sizes) } else { AffineExpression::Constant(0) }
    };
    let indices = graph.node(factor).shape.iter().enumerate().map(index).collect();
    let shape: Vec<i64> = groups.iter().map(|group| compute_group_size(group, sizes)).collect();
    graph.view(factor, indices, &shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of_product(
        shapes: [&[i64]; 2],
        element: NodeElementType,
        reduced: &[usize],
    ) -> (ValueGraph, Option<NodeId>) {
        let mut graph = ValueGraph::default();
        let factors = [0, 1].map(|number| graph.add_tensor(number, shapes[number].to_vec(), element));
        let products = graph.add_pointwise("mul", &factors, element);
        let sum = sum_as_matmul(&mut graph, products, reduced, true);
        (graph, sum)
    }

    #[test]
    fn multiplies_matrices_instead_of_broadcast_elements() {
        let (graph, sum) = sum_of_product([&[3, 5, 1, 16], &[3, 1, 7, 16]], NodeElementType::F16, &[3]);
        let sum = graph.node(sum.unwrap());
        assert_eq!(sum.shape, [3, 5, 7, 1]);
        let matmul = graph.node(sum.inputs[0]);
        assert_eq!((&matmul.kind, matmul.shape.as_slice()), (&NodeKind::Matmul, &[3, 5, 7][..]));
        assert_eq!(graph.node(matmul.inputs[0]).shape, [3, 5, 16]);
        assert_eq!(graph.node(matmul.inputs[1]).shape, [3, 16, 7]);
    }

    #[test]
    fn keeps_products_without_rows_or_columns() {
        let weighted_sum: [&[i64]; 2] = [&[3, 5, 1], &[3, 5, 7]];
        assert_eq!(sum_of_product(weighted_sum, NodeElementType::F16, &[1]).1, None);
        let inner_product: [&[i64]; 2] = [&[3, 5], &[3, 5]];
        assert_eq!(sum_of_product(inner_product, NodeElementType::F16, &[1]).1, None);
        let sum_of_one_factor: [&[i64]; 2] = [&[3, 5, 1, 4], &[3, 1, 7, 1]];
        assert_eq!(sum_of_product(sum_of_one_factor, NodeElementType::F16, &[3]).1, None);
    }

    #[test]
    fn keeps_f32_that_the_device_computes_in_f32() {
        let shapes: [&[i64]; 2] = [&[5, 1, 16], &[1, 7, 16]];
        for element in [NodeElementType::F32, NodeElementType::Single] {
            assert_eq!(sum_of_product(shapes, element, &[2]).1, None, "{element:?}");
        }
    }
}
