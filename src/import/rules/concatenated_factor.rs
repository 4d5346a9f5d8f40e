//! Matmuls with a concatenated factor, such as new keys and values appended to cached ones: one matmul per slice.
//!
//! A concatenation would write and read the slices before they are used. Slices along the rows or columns of the result
//! yield concatenated matmuls instead. Slices along the reduction dimension yield a sum of matmuls, which rounds once
//! per matmul, like a reduction that is split over cores.

use super::{
    contraction::STICK_ELEMENTS,
    recognize::{add, mul},
};
use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};
use program::affine::AffineExpression;
use std::ops::Range;

/// Minimum ratio of the elements of the factor to those of the result. The result is concatenated instead, which also
/// writes and reads it.
const MIN_ELEMENT_RATIO: i64 = 2;

/// Minimum number of elements of a factor with slices that begin inside a stick. Bounds are rounded down to sticks, and
/// the slice with elements of two inputs is concatenated. These ops take as long as moving 2^18 elements.
const MIN_UNALIGNED_ELEMENTS: i64 = 1 << 18;

/// Concatenation of slices along a dimension of a tensor.
#[derive(Debug, PartialEq)]
struct ConcatenatedFactor {
    dim: usize,
    /// Starts of the slices, followed by the size of the dimension.
    bounds: Vec<i64>,
    /// Number of elements of the concatenated tensor, however often a view repeats them.
    elements: i64,
}

/// Returns the matmul of `[batch..., M, K]` and `[batch..., K, N]`, one of which is concatenated along M, K or N.
/// Returns None if neither is concatenated, or if the result has nearly as many elements as the factor. Splits the
/// reduction dimension K only if `may_part_sums`.
pub(in crate::import) fn build_sliced_product(
    graph: &mut ValueGraph,
    factors: [NodeId; 2],
    element: NodeElementType,
    may_part_sums: bool,
) -> Option<NodeId> {
    let [left, right] = factors.map(|factor| graph.node(factor).shape.clone());
    let columns = right.len() - 1;
    let (rows, mut shape) = (columns - 1, right);
    shape[rows] = left[rows];
    let most = shape.iter().product::<i64>().saturating_mul(MIN_ELEMENT_RATIO);
    // The concatenation of a factor, and whether it is along the reduction dimension.
    let of = |side: usize| {
        let concatenated = find_concatenation(graph, factors[side])
            .filter(|concatenated| concatenated.dim >= rows && concatenated.elements >= most)?;
        let is_summed = (concatenated.dim == rows) == (side == 1);
        (may_part_sums || !is_summed).then_some((side, concatenated, is_summed))
    };
    let (side, ConcatenatedFactor { dim, bounds, .. }, is_summed) = of(1).or_else(|| of(0))?;
    let mut products = Vec::with_capacity(bounds.len());
    for part in bounds.windows(2).map(|bounds| bounds[0]..bounds[1]) {
        let (mut factors, mut shape) = (factors, shape.clone());
        factors[side] = view_slice(graph, factors[side], dim, &part)?;
        if is_summed {
            factors[1 - side] = slice_dim(graph, factors[1 - side], if side == 1 { columns } else { rows }, &part);
        } else {
            shape[dim] = part.end - part.start;
        }
        products.push((part.start, build_product(graph, factors, shape, element)?));
    }
    if is_summed {
        let (&(_, first), others) = products.split_first()?;
        return others.iter().try_fold(first, |sum, &(_, product)| add(graph, &[sum, product], element).ok());
    }
    let nothing = graph.add_undefined(shape.clone(), element);
    let rank = shape.len();
    Some(
        products
            .into_iter()
            .fold(nothing, |whole, (first, product)| graph.insert(product, whole, compute_offsets(rank, dim, first))),
    )
}

/// Returns the matmul of `[batch..., M, K]` and `[batch..., K, N]`. The device's matmul requires more than one column,
/// and more than one term to sum.
fn build_product(
    graph: &mut ValueGraph,
    [left, right]: [NodeId; 2],
    mut shape: Vec<i64>,
    element: NodeElementType,
) -> Option<NodeId> {
    let (rows, columns) = (shape.len() - 2, shape.len() - 1);
    if graph.node(left).shape[columns] == 1 {
        return mul(graph, &[left, right], element).ok();
    }
    if shape[columns] > 1 {
        return Some(graph.add(NodeKind::Matmul, &[left, right], shape, element));
    }
    let right = transpose(graph, right);
    if shape[rows] == 1 {
        let products = mul(graph, &[left, right], element).ok()?;
        return Some(graph.reduce("sum", products, columns));
    }
    let left = transpose(graph, left);
    shape.swap(rows, columns);
    let product = graph.add(NodeKind::Matmul, &[right, left], shape, element);
    Some(transpose(graph, product))
}

/// Returns a view with the last two dimensions swapped.
fn transpose(graph: &mut ValueGraph, id: NodeId) -> NodeId {
    let mut shape = graph.node(id).shape.clone();
    let rank = shape.len();
    let mut map: Vec<AffineExpression> = (0..rank).map(AffineExpression::Dim).collect();
    shape.swap(rank - 2, rank - 1);
    map.swap(rank - 2, rank - 1);
    graph.view(id, map, &shape)
}

/// Returns the concatenation that `id` computes, if any. Looks through views that keep the concatenated dimension.
fn find_concatenation(graph: &ValueGraph, id: NodeId) -> Option<ConcatenatedFactor> {
    let node = graph.node(id);
    if !matches!(node.kind, NodeKind::Insert(_)) {
        let after = find_concatenation(graph, *node.inputs.first()?)?;
        let dim = find_output_dim(graph, id, after.dim)?;
        return Some(ConcatenatedFactor { dim, ..after });
    }
    let (dim, parts) = find_slices(graph, id)?;
    let elements = node.shape.iter().product();
    // Slices along a stick dimension must consist of complete sticks.
    let is_mixed = parts.iter().any(|(start, _)| start % STICK_ELEMENTS > 0);
    let starts = parts.iter().map(|(start, _)| start / STICK_ELEMENTS * STICK_ELEMENTS);
    let mut bounds: Vec<i64> = starts.chain([node.shape[dim]]).collect();
    bounds.dedup();
    (bounds.len() > 2 && (!is_mixed || elements >= MIN_UNALIGNED_ELEMENTS)).then_some(ConcatenatedFactor {
        dim,
        bounds,
        elements,
    })
}

/// Returns the dimension and the parts of an insert that is covered by adjacent parts along one dimension, each part
/// with its start.
fn find_slices(graph: &ValueGraph, id: NodeId) -> Option<(usize, Vec<(i64, NodeId)>)> {
    let (mut parts, mut whole) = (Vec::new(), id);
    while let NodeKind::Insert(offsets) = &graph.node(whole).kind {
        let &[part, before] = &graph.node(whole).inputs[..] else { return None };
        parts.push((offsets, part));
        whole = before;
    }
    let (shape, own) = (&graph.node(id).shape, |part: NodeId| &graph.node(part).shape);
    let dim = (0..shape.len()).find(|&dim| own(parts[0].1)[dim] != shape[dim])?;
    parts.sort_by_key(|(offsets, _)| offsets[dim]);
    let mut end = 0;
    for &(offsets, part) in &parts {
        let follows = |other: usize| if other == dim { offsets[dim] == end } else { own(part)[other] == shape[other] };
        end = (0..shape.len()).all(follows).then_some(end + own(part)[dim])?;
    }
    // Padding does not count as a concatenation: it costs nothing if the tensor is padded in memory.
    let is_padded =
        parts.iter().any(|&(_, part)| graph.node(part).kind == NodeKind::Splat || graph.as_constant(part).is_some());
    let is_all = graph.node(whole).kind == NodeKind::Undefined && end == shape[dim] && !is_padded;
    is_all.then(|| (dim, parts.into_iter().map(|(offsets, part)| (offsets[dim], part)).collect()))
}

/// Returns the dimension of a view or reshape that is dimension `behind` of its input, complete and not merged with
/// others.
fn find_output_dim(graph: &ValueGraph, id: NodeId, after: usize) -> Option<usize> {
    let node = graph.node(id);
    let of_input = &graph.node(*node.inputs.first()?).shape;
    let found = match &node.kind {
        NodeKind::View(map) => {
            let AffineExpression::Dim(found) = map[after] else { return None };
            let is_alone = |(other, expr): (usize, &AffineExpression)| other == after || !expr.dims().contains(&found);
            map.iter().enumerate().all(is_alone).then_some(found)?
        }
        NodeKind::Reshape => {
            let before: i64 = of_input[..after].iter().product();
            (0..node.shape.len()).find(|&dim| {
                node.shape[dim] == of_input[after] && node.shape[..dim].iter().product::<i64>() == before
            })?
        }
        _ => return None,
    };
    (node.shape[found] == of_input[after]).then_some(found)
}

/// Returns the slice `part` of `id`, a concatenated tensor under views and reshapes, along its dimension `dim`. Returns
/// None for other nodes.
fn view_slice(graph: &mut ValueGraph, id: NodeId, dim: usize, part: &Range<i64>) -> Option<NodeId> {
    let node = graph.node(id).clone();
    let mut shape = node.shape;
    shape[dim] = part.end - part.start;
    if matches!(node.kind, NodeKind::Insert(_)) {
        return assemble_slice(graph, id, &shape, part);
    }
    let after = find_concatenation(graph, node.inputs[0])?.dim;
    let input = view_slice(graph, node.inputs[0], after, part)?;
    match node.kind {
        NodeKind::View(map) => Some(graph.view(input, map, &shape)),
        NodeKind::Reshape => Some(graph.reshape(input, &shape)),
        _ => None,
    }
}

/// Returns the slice `part`, of shape `shape`, of a tensor that is concatenated by inserts. Returns None for other
/// nodes.
fn assemble_slice(graph: &mut ValueGraph, id: NodeId, shape: &[i64], part: &Range<i64>) -> Option<NodeId> {
    let (dim, parts) = find_slices(graph, id)?;
    let mut whole = graph.add_undefined(shape.to_vec(), graph.node(id).element);
    for (start, own) in parts {
        let end = start + graph.node(own).shape[dim];
        let common = start.max(part.start)..end.min(part.end);
        if !common.is_empty() {
            let viewed = slice_dim(graph, own, dim, &(common.start - start..common.end - start));
            whole = graph.insert(viewed, whole, compute_offsets(shape.len(), dim, common.start - part.start));
        }
    }
    Some(whole)
}

/// Returns a slice of a tensor along one dimension.
fn slice_dim(graph: &mut ValueGraph, id: NodeId, dim: usize, of: &Range<i64>) -> NodeId {
    let mut shape = graph.node(id).shape.clone();
    shape[dim] = of.end - of.start;
    graph.slice(id, &compute_offsets(shape.len(), dim, of.start), &shape)
}

/// Returns the offsets of a slice that begins at `first` along one dimension.
fn compute_offsets(rank: usize, dim: usize, first: i64) -> Vec<i64> {
    let mut at = vec![0; rank];
    at[dim] = first;
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the keys of two heads, `[2, T, 64]`, concatenated from slices of these sizes.
    fn build_keys(graph: &mut ValueGraph, sizes: &[i64]) -> NodeId {
        let mut whole = graph.add_undefined(vec![2, sizes.iter().sum(), 64], NodeElementType::F16);
        let mut first = 0;
        for (number, &size) in sizes.iter().enumerate() {
            let part = graph.add_tensor(number, vec![2, size, 64], NodeElementType::F16);
            whole = graph.insert(part, whole, vec![0, first, 0]);
            first += size;
        }
        whole
    }

    /// Shapes of matmuls and reductions, and shapes of inserts.
    type ProductAndInsertShapes = (Vec<Vec<i64>>, Vec<Vec<i64>>);

    /// Returns the shapes of the matmuls and the inserts that the result depends on.
    fn collect_shapes(graph: &ValueGraph, id: NodeId) -> ProductAndInsertShapes {
        let (mut products, mut inserts) = (Vec::new(), Vec::new());
        for id in graph.collect_required(&[id], |_| false) {
            let node = graph.node(id);
            match node.kind {
                NodeKind::Matmul | NodeKind::Reduce(..) => products.push(node.shape.clone()),
                NodeKind::Insert(_) => inserts.push(node.shape.clone()),
                _ => {}
            }
        }
        (products, inserts)
    }

    fn build_scores(sizes: &[i64], num_queries: i64) -> Option<ProductAndInsertShapes> {
        let mut graph = ValueGraph::default();
        let keys = build_keys(&mut graph, sizes);
        let columns = transpose(&mut graph, keys);
        let queries = graph.add_tensor(9, vec![2, num_queries, 64], NodeElementType::F16);
        let found = build_sliced_product(&mut graph, [queries, columns], NodeElementType::F16, false)?;
        assert_eq!(graph.node(found).shape, [2, num_queries, sizes.iter().sum()]);
        Some(collect_shapes(&graph, found))
    }

    fn build_values(sizes: &[i64], may_part_sums: bool) -> Option<ProductAndInsertShapes> {
        let mut graph = ValueGraph::default();
        let values = build_keys(&mut graph, sizes);
        let weights = graph.add_tensor(9, vec![2, 4, sizes.iter().sum()], NodeElementType::F16);
        let found = build_sliced_product(&mut graph, [weights, values], NodeElementType::F16, may_part_sums)?;
        assert_eq!(graph.node(found).shape, [2, 4, 64]);
        Some(collect_shapes(&graph, found))
    }

    #[test]
    fn concatenates_products_along_columns() {
        let whole = vec![2, 4, 192];
        let products = vec![vec![2, 4, 128], vec![2, 4, 64]];
        assert_eq!(build_scores(&[128, 64], 4), Some((products, vec![whole.clone(), whole])));
    }

    #[test]
    fn transposes_or_sums_product_of_one_column() {
        assert_eq!(build_scores(&[128, 1], 4).unwrap().0, [vec![2, 4, 128], vec![2, 1, 4]]);
        assert_eq!(build_scores(&[128, 1], 1).unwrap().0, [vec![2, 1, 128], vec![2, 1, 1]]);
    }

    #[test]
    fn sums_products_if_allowed() {
        assert_eq!(build_values(&[128, 64], true), Some((vec![vec![2, 4, 64]; 2], Vec::new())));
        assert_eq!(
            build_values(&[128, 1], true),
            Some((vec![vec![2, 4, 64]], Vec::new())),
            "one row is multiplied elementwise"
        );
        assert_eq!(build_values(&[128, 64], false), None);
    }

    #[test]
    fn keeps_small_factors_and_large_products() {
        assert_eq!(build_scores(&[128, 64], 33), None);
        assert_eq!(
            build_scores(&[100, 1], 1),
            None,
            "the first stick that is not whole is no reason to move 36 keys twice"
        );
        assert_eq!(build_scores(&[63, 1], 1), None, "there is one stick");
    }

    #[test]
    fn rounds_unaligned_slice_down_to_stick() {
        let (products, inserts) = build_scores(&[4000, 1], 1).unwrap();
        assert_eq!(products, [vec![2, 1, 3968], vec![2, 1, 33]]);
        assert_eq!(inserts[..2], [vec![2, 33, 64], vec![2, 33, 64]]);
    }

    #[test]
    fn ignores_padding() {
        let mut graph = ValueGraph::default();
        let (part, zero) = (graph.add_tensor(0, vec![2, 128, 64], NodeElementType::F16), graph.add_scalar(0.0));
        let padding = graph.add_splat(zero, vec![2, 64, 64]);
        let whole = graph.add_undefined(vec![2, 192, 64], NodeElementType::F16);
        let whole = graph.insert(part, whole, vec![0, 0, 0]);
        let whole = graph.insert(padding, whole, vec![0, 128, 0]);
        let weights = graph.add_tensor(9, vec![2, 1, 192], NodeElementType::F16);
        assert_eq!(build_sliced_product(&mut graph, [weights, whole], NodeElementType::F16, true), None);
    }

    #[test]
    fn concatenates_products_along_rows() {
        let mut graph = ValueGraph::default();
        let rows = build_keys(&mut graph, &[128, 64]);
        let weights = graph.add_tensor(9, vec![2, 64, 8], NodeElementType::F16);
        let found = build_sliced_product(&mut graph, [rows, weights], NodeElementType::F16, false).unwrap();
        assert_eq!(collect_shapes(&graph, found).0, [vec![2, 128, 8], vec![2, 64, 8]]);
    }
}
