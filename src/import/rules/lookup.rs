//! Elements of a table at indices. If several are read from tensors, rows are gathered by one of them first, then from these by the next.

use super::{
    index::{Found, Lookup, is_row, lookup_by_one},
    joined::{joints_of, lookup_in_parts},
};
use crate::codes;
use crate::import::graph::{
    Element, Graph, Kind, NodeId,
    known::{Known, MOST_KNOWN_ELEMENTS, too_many_known},
};
use program::affine::Expr;

/// Maximum number of elements of the rows of the first index: those that the next index does not select are moved needlessly.
const MOST_ELEMENTS: i64 = 1 << 26;

/// Returns the element of a table of `rows` at `indices` for every point of an iteration space with these sizes. The node of a table with a
/// single distinct element has no dimensions.
///
/// # Errors
/// Returns the reason why the device cannot read it.
pub(in crate::import) fn lookup(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    sizes: &[i64],
) -> Result<Lookup, String> {
    // A list of one number is that number.
    let alike = |&index: &NodeId| match graph.node(index).kind {
        Kind::Filled => graph.node(index).inputs[0],
        _ => index,
    };
    let indices: &[NodeId] = &indices.iter().map(alike).collect::<Vec<_>>();
    // Of joined lists one part may be an index where another one is computed.
    let joints = (0..indices.len()).filter(|&dim| !is_row(graph, indices[dim], rows[dim])).find_map(|dim| joints_of(graph, indices[dim]));
    if let Some(joints) = joints.filter(|_| graph.number_of(table).is_none())
        && let Ok(found) =
            lookup_in_parts(graph, &joints, indices, sizes, |graph, indices, sizes| lookup(graph, (table, rows), indices, sizes))
    {
        return Ok(found);
    }
    match lookup_by_one(graph, (table, rows), indices, sizes)? {
        Found::Elements(found) => Ok(found),
        Found::Several(table, computed) => lookup_by_several(graph, (table, rows), indices, &computed, sizes),
    }
}

/// The element of a table of `rows` at `indices`, of which those of the dimensions `computed` are no plain ones.
///
/// # Errors
/// Why the device cannot read it.
fn lookup_by_several(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    computed: &[usize],
    sizes: &[i64],
) -> Result<Lookup, String> {
    let n_elements = |graph: &Graph, dim: usize| graph.node(indices[dim]).shape.iter().product::<i64>();
    let first = computed.iter().copied().min_by_key(|&dim| n_elements(graph, dim)).expect("several of them");
    let later: Vec<usize> = computed.iter().copied().filter(|&dim| dim != first).collect();

    // The other dimensions are whole: each is a dimension of the iteration space.
    let longer = [sizes.to_vec(), later.iter().map(|&dim| rows[dim]).collect()].concat();
    if later.iter().map(|&dim| rows[dim]).fold(n_elements(graph, first), i64::saturating_mul) > MOST_ELEMENTS {
        return Err(codes::TOO_MANY_PARTS.says(format_args!(
            "takes {} runtime indices, which select from too many rows; use a smaller table or one index",
            computed.len()
        )));
    }
    if let Some(&size) = sizes.iter().find(|size| **size > MOST_KNOWN_ELEMENTS) {
        return Err(too_many_known(size));
    }
    let whole = |graph: &mut Graph, dim: usize| match later.iter().position(|&other| other == dim) {
        Some(position) => counting(graph, sizes.len() + position, &longer),
        None => lengthened(graph, indices[dim], later.len()),
    };
    let of_first: Vec<NodeId> = (0..rows.len()).map(|dim| whole(graph, dim)).collect();
    let chosen = lookup(graph, (table, rows), &of_first, &longer)?;
    if graph.number_of(chosen.node).is_some() || graph.refused_among(&[chosen.node]).is_some() {
        return Ok(chosen);
    }

    // Of what was chosen, each point of the iteration space has its own.
    let rows = graph.node(chosen.node).shape.clone();
    let own = |graph: &mut Graph, dim: usize| match dim.checked_sub(sizes.len()) {
        _ if rows[dim] == 1 => graph.number(0.0),
        None => counting(graph, dim, sizes),
        Some(position) => indices[later[position]],
    };
    let of_rest: Vec<NodeId> = (0..rows.len()).map(|dim| own(graph, dim)).collect();
    let mut found = lookup(graph, (chosen.node, &rows), &of_rest, sizes)?;
    found.chosen.extend(chosen.chosen);
    found.bounds.extend(chosen.bounds);
    Ok(found)
}

/// Returns the index along a dimension of an iteration space.
fn counting(graph: &mut Graph, dim: usize, sizes: &[i64]) -> NodeId {
    let mut shape = vec![1; sizes.len()];
    shape[dim] = sizes[dim];
    graph.known(Known::counting(0, sizes[dim]), shape, Element::Int)
}

/// Appends dimensions to the iteration space of a node.
fn lengthened(graph: &mut Graph, node: NodeId, n_more: usize) -> NodeId {
    let shape = graph.node(node).shape.clone();
    if shape.is_empty() {
        return node;
    }
    let map = (0..shape.len()).map(Expr::Dim).collect();
    graph.view(node, map, &[shape, vec![1; n_more]].concat())
}
