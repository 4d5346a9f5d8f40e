//! Elements of a table at indices. If several indices are read from tensors, rows are gathered by one of them first,
//! then from these by the next.

use super::{
    concatenated_index::{find_concatenation, lookup_slices},
    index::{LookupResult, TableLookup, is_row_index, lookup_by_one_index},
};
use crate::codes;
use crate::import::graph::{
    NodeElementType, NodeId, NodeKind, ValueGraph,
    constant_tensor::{ConstantTensor, MAX_CONSTANT_ELEMENTS, constant_limit_error},
};
use program::affine::AffineExpression;

/// Maximum number of elements of the rows that the first index selects: rows that the next index does not select are
/// moved needlessly.
const MAX_SELECTED_ELEMENTS: i64 = 1 << 26;

/// Returns the element of a table of `rows` at `indices` for every point of an iteration space with these sizes. The
/// node of a table with a single distinct element has no dimensions.
///
/// # Errors
/// Returns the reason why the device cannot read it.
pub(in crate::import) fn lookup_elements(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    sizes: &[i64],
) -> Result<TableLookup, String> {
    // A list of one number is that number.
    let alike = |&index: &NodeId| match graph.node(index).kind {
        NodeKind::Splat => graph.node(index).inputs[0],
        _ => index,
    };
    let indices: &[NodeId] = &indices.iter().map(alike).collect::<Vec<_>>();
    // One part of a concatenated list may be an index while another part is computed.
    let joints = (0..indices.len())
        .filter(|&dim| !is_row_index(graph, indices[dim], rows[dim]))
        .find_map(|dim| find_concatenation(graph, indices[dim]));
    if let Some(joints) = joints.filter(|_| graph.as_scalar(table).is_none())
        && let Ok(found) = lookup_slices(graph, &joints, indices, sizes, |graph, indices, sizes| {
            lookup_elements(graph, (table, rows), indices, sizes)
        })
    {
        return Ok(found);
    }
    match lookup_by_one_index(graph, (table, rows), indices, sizes)? {
        LookupResult::Elements(found) => Ok(found),
        LookupResult::MultipleIndices(table, computed) => {
            lookup_by_several_indices(graph, (table, rows), indices, &computed, sizes)
        }
    }
}

/// Returns the elements of a table of `rows` at `indices`, where the indices of the dimensions `computed` are read from
/// tensors.
///
/// # Errors
/// Returns the reason why the device cannot read them.
fn lookup_by_several_indices(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    computed: &[usize],
    sizes: &[i64],
) -> Result<TableLookup, String> {
    let num_elements = |graph: &ValueGraph, dim: usize| graph.node(indices[dim]).shape.iter().product::<i64>();
    let first = computed.iter().copied().min_by_key(|&dim| num_elements(graph, dim)).expect("several of them");
    let later: Vec<usize> = computed.iter().copied().filter(|&dim| dim != first).collect();

    // The other dimensions are complete: each is a dimension of the iteration space.
    let longer = [sizes.to_vec(), later.iter().map(|&dim| rows[dim]).collect()].concat();
    if later.iter().map(|&dim| rows[dim]).fold(num_elements(graph, first), i64::saturating_mul) > MAX_SELECTED_ELEMENTS
    {
        return Err(codes::TOO_MANY_PARTS.format(format_args!(
            "takes {} runtime indices, which select from too many rows; use a smaller table or one index",
            computed.len()
        )));
    }
    if let Some(&size) = sizes.iter().find(|size| **size > MAX_CONSTANT_ELEMENTS) {
        return Err(constant_limit_error(size));
    }
    let whole = |graph: &mut ValueGraph, dim: usize| match later.iter().position(|&other| other == dim) {
        Some(position) => add_iota(graph, sizes.len() + position, &longer),
        None => append_unit_dims(graph, indices[dim], later.len()),
    };
    let of_first: Vec<NodeId> = (0..rows.len()).map(|dim| whole(graph, dim)).collect();
    let chosen = lookup_elements(graph, (table, rows), &of_first, &longer)?;
    if graph.as_scalar(chosen.node).is_some() || graph.find_unsupported(&[chosen.node]).is_some() {
        return Ok(chosen);
    }

    // Each point of the iteration space reads its own selected rows.
    let rows = graph.node(chosen.node).shape.clone();
    let own = |graph: &mut ValueGraph, dim: usize| match dim.checked_sub(sizes.len()) {
        _ if rows[dim] == 1 => graph.add_scalar(0.0),
        None => add_iota(graph, dim, sizes),
        Some(position) => indices[later[position]],
    };
    let of_rest: Vec<NodeId> = (0..rows.len()).map(|dim| own(graph, dim)).collect();
    let mut found = lookup_elements(graph, (chosen.node, &rows), &of_rest, sizes)?;
    found.selections.extend(chosen.selections);
    found.bounds.extend(chosen.bounds);
    Ok(found)
}

/// Returns the index along a dimension of an iteration space.
fn add_iota(graph: &mut ValueGraph, dim: usize, sizes: &[i64]) -> NodeId {
    let mut shape = vec![1; sizes.len()];
    shape[dim] = sizes[dim];
    graph.add_constant(ConstantTensor::iota(0, sizes[dim]), shape, NodeElementType::Int)
}

/// Appends dimensions to the iteration space of a node.
fn append_unit_dims(graph: &mut ValueGraph, node: NodeId, num_more: usize) -> NodeId {
    let shape = graph.node(node).shape.clone();
    if shape.is_empty() {
        return node;
    }
    let map = (0..shape.len()).map(AffineExpression::Dim).collect();
    graph.view(node, map, &[shape, vec![1; num_more]].concat())
}
