//! Tensors with more dimensions than a device layout: adjacent dimensions that an operation iterates over together are
//! merged.
//!
//! Each operation is rewritten to tensors of lower rank, between reshapes; inverse reshapes cancel.

use super::transpose_steps::{
    MAX_ITERATION_DIMS, MAX_LAYOUT_DIMS, collect_inner_sizes, copy_flat, extract_digit, limit_separate_dims,
    linearize_index, lower_long_transpose, moves_too_many_dims, transpose_in_steps,
};
use crate::import::graph::{NodeId, NodeKind, ValueGraph, ValueNode};
use program::affine::AffineExpression;
use std::{collections::BTreeMap, ops::Range};

/// Returns the replacements of lower rank for the nodes that `roots` need; nodes that stay as they are have no entry.
pub(in crate::import) fn lower_ranks(graph: &mut ValueGraph, roots: &[NodeId]) -> BTreeMap<NodeId, NodeId> {
    let needed = graph.collect_required(roots, |_| false);
    let mut new = BTreeMap::new();
    let is_narrow = |id: NodeId| graph.node(id).shape.len() <= MAX_LAYOUT_DIMS && !moves_too_many_dims(graph, id);
    if needed.iter().all(|&id| is_narrow(id)) {
        return new;
    }
    for id in needed {
        let (place, scope) = (graph.location(id), graph.scope(id));
        graph.set_location(place);
        let outer = graph.enter_scope(scope);
        let narrow = lower_rank(graph, id, &new);
        graph.enter_scope(outer);
        if narrow != id {
            if graph.integers.contains(id) {
                graph.record_integers(narrow);
                if let Some(width) = graph.integers.width(id) {
                    graph.record_width(narrow, width);
                }
            }
            new.insert(id, narrow);
        }
    }
    for root in roots {
        if let Some(narrow) = new.get(root).copied().filter(|&narrow| graph.node(narrow).element.is_float()) {
            new.insert(*root, limit_own_dims(graph, narrow));
        }
    }
    new
}

fn lower_rank(graph: &mut ValueGraph, id: NodeId, new: &BTreeMap<NodeId, NodeId>) -> NodeId {
    let ValueNode { kind, inputs: old, shape, element } = graph.node(id).clone();
    let inputs: Vec<NodeId> = old.iter().map(|input| new.get(input).copied().unwrap_or(*input)).collect();
    if let NodeKind::View(map) = &kind
        && let Some(moved) = lower_long_transpose(graph, inputs[0], map, &shape)
    {
        return moved;
    }
    let is_wide = |id: NodeId| graph.node(id).shape.len() > MAX_LAYOUT_DIMS;
    if is_wide(id) || inputs.iter().any(|&input| is_wide(input)) {
        let narrow = match &kind {
            NodeKind::Splat => lower_splat(graph, inputs[0], &shape),
            NodeKind::View(map) => lower_view(graph, inputs[0], map, &shape),
            NodeKind::Pointwise(..) => lower_pointwise(graph, id, &inputs),
            NodeKind::Reduce(_, dim, _) => lower_reduce(graph, id, inputs[0], *dim),
            NodeKind::Matmul => lower_matmul(graph, id, &inputs),
            NodeKind::Gather(dim) => lower_gather(graph, id, [inputs[0], inputs[1]], *dim),
            NodeKind::Insert(_) => lower_insert(graph, id, new),
            NodeKind::Reshape if graph.node(inputs[0]).element == element => Some(graph.reshape(inputs[0], &shape)),
            _ => None,
        };
        if let Some(narrow) = narrow {
            return graph.reshape(narrow, &shape);
        }
    }
    if inputs == old { id } else { graph.add(kind, &inputs, shape, element) }
}

/// Merges adjacent dimensions for which `is_pair` holds until few enough remain; outer ones first. Dimensions of size 1
/// merge with any other.
fn group_dims(shape: &[i64], is_pair: impl Fn(usize, usize) -> bool) -> Option<Vec<Range<usize>>> {
    group_dims_to(MAX_LAYOUT_DIMS, shape, None, is_pair)
}

/// Groups neighboring dimensions as [`group_dims`] does, into at most `most` groups. Dimension `counts` counts as a
/// group even if its size is 1. Returns None if too many groups remain.
fn group_dims_to(
    most: usize,
    shape: &[i64],
    counts: Option<usize>,
    is_pair: impl Fn(usize, usize) -> bool,
) -> Option<Vec<Range<usize>>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let solid: Vec<usize> = (0..shape.len()).filter(|&dim| shape[dim] > 1 || counts == Some(dim)).collect();
    let mut num_more = solid.len().saturating_sub(most);
    for (position, &dim) in solid.iter().enumerate() {
        match groups.last_mut().filter(|_| num_more > 0 && is_pair(solid[position - 1], dim)) {
            Some(last) => (last.end, num_more) = (dim + 1, num_more - 1),
            None => groups.push(groups.last().map_or(0, |last| last.end)..dim + 1),
        }
    }
    match groups.last_mut() {
        Some(last) => last.end = shape.len(),
        None => groups.push(0..shape.len()),
    }
    (num_more == 0).then_some(groups)
}

/// Returns the sizes of merged dimensions.
fn merge_sizes(shape: &[i64], groups: &[Range<usize>]) -> Vec<i64> {
    groups.iter().map(|group| shape[group.clone()].iter().product()).collect()
}

fn lower_splat(graph: &mut ValueGraph, number: NodeId, shape: &[i64]) -> Option<NodeId> {
    let groups = group_dims(shape, |_, _| true)?;
    Some(graph.add_splat(number, merge_sizes(shape, &groups)))
}

/// Lowers the rank of an elementwise operation: each operand has a dimension or is broadcast along it.
fn lower_pointwise(graph: &mut ValueGraph, id: NodeId, inputs: &[NodeId]) -> Option<NodeId> {
    let ValueNode { kind, shape, element, .. } = graph.node(id).clone();
    let shapes: Vec<Vec<i64>> =
        inputs.iter().map(|&input| graph.node(input).shape.clone()).filter(|shape| !shape.is_empty()).collect();
    let is_alike =
        |one: usize, other: usize| shapes.iter().all(|own| (own[one] == shape[one]) == (own[other] == shape[other]));
    let (groups, inputs) = match group_dims(&shape, is_alike) {
        Some(groups) => (groups, inputs.to_vec()),
        // Too many dimensions are alternately broadcast: the broadcast operands are materialized.
        None => {
            let whole: Vec<NodeId> =
                inputs.iter().map(|&input| repeat_whole(graph, input, &shape)).collect::<Option<_>>()?;
            (group_dims(&shape, |_, _| true)?, whole)
        }
    };
    let viewed: Vec<NodeId> = inputs.iter().map(|&input| reshape_to_groups(graph, input, &groups)).collect();
    let merged = merge_sizes(&shape, &groups);
    let mut separate = collect_inner_sizes(&merged);
    let limit = |input: NodeId| match graph.node(input).shape == merged {
        true => limit_separate_dims(graph, input, &mut separate),
        // A repeated operand.
        false => limit_own_dims(graph, input),
    };
    let viewed: Vec<NodeId> = viewed.into_iter().map(limit).collect();
    Some(graph.add(kind, &viewed, merged, element))
}

/// Returns an operand that is repeated to the shape of the result, through a view if an op can read it.
fn repeat_whole(graph: &mut ValueGraph, input: NodeId, shape: &[i64]) -> Option<NodeId> {
    let own = graph.node(input).shape.clone();
    if own.is_empty() || own == shape {
        return Some(input);
    }
    if shape.iter().filter(|&&size| size > 1).count() > MAX_ITERATION_DIMS {
        return repeat_in_steps(graph, input, shape);
    }
    let along = |dim: usize| {
        if own[dim] == shape[dim] { AffineExpression::Dim(dim) } else { AffineExpression::Constant(0) }
    };
    let map: Vec<AffineExpression> = (0..own.len()).map(along).collect();
    let narrow = lower_view(graph, input, &map, shape)?;
    Some(graph.reshape(narrow, shape))
}

/// Repeats a tensor along its dimensions of size 1, up to `shape`. Each step repeats it along as many of them as an op
/// has dimensions for, outermost first, and copies it.
fn repeat_in_steps(graph: &mut ValueGraph, input: NodeId, shape: &[i64]) -> Option<NodeId> {
    let (mut node, mut own) = (input, graph.node(input).shape.clone());
    let element = graph.node(input).element;
    while own != shape {
        let missing: Vec<usize> = (0..own.len()).filter(|&dim| own[dim] != shape[dim]).collect();
        let with = |num_repeated: usize| {
            let next =
                (0..own.len()).map(|dim| if missing[..num_repeated].contains(&dim) { shape[dim] } else { own[dim] });
            next.collect::<Vec<i64>>()
        };
        // A step along one dimension has at most three groups.
        let (next, groups) = (1..=missing.len()).rev().find_map(|num_repeated| {
            let next = with(num_repeated);
            let is_kept = |dim: usize| own[dim] == next[dim];
            let groups = group_dims(&next, |one, other| is_kept(one) == is_kept(other))?;
            Some((next, groups))
        })?;
        let (from, to) = (merge_sizes(&own, &groups), merge_sizes(&next, &groups));
        let index = |group: usize| {
            if from[group] == to[group] { AffineExpression::Dim(group) } else { AffineExpression::Constant(0) }
        };
        let source = graph.reshape(node, &from);
        let source = limit_own_dims(graph, source);
        let repeated = graph.add(NodeKind::View((0..to.len()).map(index).collect()), &[source], to, element);
        let copy = copy_flat(graph, repeated);
        node = graph.reshape(copy, &next);
        own = next;
    }
    Some(node)
}

/// Returns an operand that an op reads with the dimensions of its own shape, or a copy ([`limit_separate_dims`]).
fn limit_own_dims(graph: &mut ValueGraph, input: NodeId) -> NodeId {
    let mut separate = collect_inner_sizes(&graph.node(input).shape);
    limit_separate_dims(graph, input, &mut separate)
}

fn reshape_to_groups(graph: &mut ValueGraph, input: NodeId, groups: &[Range<usize>]) -> NodeId {
    let own = graph.node(input).shape.clone();
    if own.is_empty() { input } else { graph.reshape(input, &merge_sizes(&own, groups)) }
}

fn lower_reduce(graph: &mut ValueGraph, id: NodeId, input: NodeId, dim: usize) -> Option<NodeId> {
    let (ValueNode { kind, element, .. }, whole) = (graph.node(id).clone(), graph.node(input).shape.clone());
    let groups = group_dims_to(MAX_LAYOUT_DIMS, &whole, Some(dim), |one, other| one != dim && other != dim)?;
    let along = groups.iter().position(|group| group.contains(&dim))?;
    let NodeKind::Reduce(function, _, constants) = kind else { return None };
    // Dimensions of size 1 next to the reduced one stay with it.
    let mut shape = merge_sizes(&whole, &groups);
    let input = graph.reshape(input, &shape);
    let input = limit_own_dims(graph, input);
    shape[along] = 1;
    Some(graph.add(NodeKind::Reduce(function, along, constants), &[input], shape, element))
}

fn lower_matmul(graph: &mut ValueGraph, id: NodeId, inputs: &[NodeId]) -> Option<NodeId> {
    let ValueNode { kind, shape, element, .. } = graph.node(id).clone();
    let num_batch = shape.len().checked_sub(2)?;
    let num_more = shape.len().checked_sub(MAX_LAYOUT_DIMS)?;
    let groups: Vec<Range<usize>> =
        std::iter::once(0..num_more + 1).chain((num_more + 1..num_batch + 2).map(|dim| dim..dim + 1)).collect();
    let viewed: Vec<NodeId> = inputs.iter().map(|&input| reshape_to_groups(graph, input, &groups)).collect();
    Some(graph.add(kind, &viewed, merge_sizes(&shape, &groups), element))
}

/// Lowers the rank of a gather: the index keeps its dimensions if enough remain for the rows.
fn lower_gather(graph: &mut ValueGraph, id: NodeId, [table, index]: [NodeId; 2], dim: usize) -> Option<NodeId> {
    let element = graph.node(id).element;
    let (rows, mut over) = (graph.node(table).shape.clone(), graph.node(index).shape.clone());
    let mut index = index;
    if over.len() > 2 {
        over = vec![over.iter().product()];
        index = graph.reshape(index, &over);
    }
    let groups =
        group_dims_to(MAX_LAYOUT_DIMS + 1 - over.len(), &rows, Some(dim), |one, other| one != dim && other != dim)?;
    let along = groups.iter().position(|group| group.contains(&dim))?;
    let mut shape = merge_sizes(&rows, &groups);
    let table = graph.reshape(table, &shape);
    shape.remove(along);
    Some(graph.add(NodeKind::Gather(along), &[table, index], [over, shape].concat(), element))
}

/// Lowers the rank of a chain of inserts. A dimension merges with the preceding one if every slice covers it
/// completely, or if every slice has one position in it.
fn lower_insert(graph: &mut ValueGraph, id: NodeId, new: &BTreeMap<NodeId, NodeId>) -> Option<NodeId> {
    let ValueNode { shape, element, .. } = graph.node(id).clone();
    let (mut parts, mut base) = (Vec::new(), id);
    while let NodeKind::Insert(offsets) = &graph.node(base).kind {
        let &[part, before] = graph.node(base).inputs.as_slice() else { return None };
        parts.push((new.get(&part).copied().unwrap_or(part), graph.node(part).shape.clone(), offsets.clone()));
        base = before;
    }
    let is_whole = |sizes: &[i64], dim: usize| sizes[dim] == shape[dim];
    let groups = group_dims(&shape, |one, other| {
        parts.iter().all(|(_, sizes, _)| is_whole(sizes, other) || sizes[one..other].iter().all(|&size| size == 1))
    })?;
    // The rule covers only pairs of dimensions; for larger groups, each slice must be a box in the merged dimension.
    let is_box = |sizes: &[i64], group: &Range<usize>| {
        let first = group.clone().find(|&dim| sizes[dim] > 1).unwrap_or(group.end);
        group.clone().skip_while(|&dim| dim <= first).all(|dim| is_whole(sizes, dim))
    };
    if !parts.iter().all(|(_, sizes, _)| groups.iter().all(|group| is_box(sizes, group))) {
        return None;
    }
    let small = merge_sizes(&shape, &groups);
    let base = new.get(&base).copied().unwrap_or(base);
    let mut whole = match graph.node(base).kind {
        NodeKind::Undefined => graph.add_undefined(small, element),
        _ => graph.reshape(base, &small),
    };
    for (part, sizes, offsets) in parts.into_iter().rev() {
        let part = graph.reshape(part, &merge_sizes(&sizes, &groups));
        let flat = |group: &Range<usize>| group.clone().fold(0, |flat, dim| flat * shape[dim] + offsets[dim]);
        let at = groups.iter().map(flat).collect();
        let shape = graph.node(whole).shape.clone();
        whole = graph.add(NodeKind::Insert(at), &[part, whole], shape, element);
    }
    Some(whole)
}

/// Lowers the rank of a view: result dimensions that are adjacent in the operand merge first.
fn lower_view(graph: &mut ValueGraph, input: NodeId, map: &[AffineExpression], shape: &[i64]) -> Option<NodeId> {
    let (from, element) = (graph.node(input).shape.clone(), graph.node(input).element);
    let at = |dim: usize| map.iter().position(|expr| *expr == AffineExpression::Dim(dim));
    let is_read = |dim: usize| map.iter().any(|expr| expr.dims().contains(&dim));
    let are_neighbours = |one: usize, other: usize| match (at(one), at(other)) {
        (Some(one), Some(other)) => one < other && (one + 1..other).all(|between| from[between] == 1),
        (None, None) => !is_read(one) && !is_read(other),
        _ => false,
    };
    let num_moving = shape.iter().filter(|&&size| size > 1).count();
    let any = |_, _| num_moving <= MAX_ITERATION_DIMS;
    let Some(out) = group_dims(shape, are_neighbours).or_else(|| group_dims(shape, any)) else {
        return transpose_in_steps(graph, input, map, shape);
    };
    let dim_of = |dim: usize| {
        let position = out.iter().position(|group| group.contains(&dim)).unwrap_or_default();
        extract_digit(AffineExpression::Dim(position), &shape[out[position].clone()], dim - out[position].start)
    };
    // Index of a merged operand dimension: a merged result dimension, or the linearized index.
    let group_of = |expr: &AffineExpression| {
        if let AffineExpression::Dim(dim) = expr { out.iter().position(|group| group.contains(dim)) } else { None }
    };
    let own =
        group_dims(&from, |one, other| group_of(&map[one]).is_some_and(|group| group_of(&map[other]) == Some(group)))
            .or_else(|| group_dims(&from, |_, _| true))?;
    let index = |group: &Range<usize>| {
        let same = out.iter().position(|of| reads_group(&map[group.clone()], of, &from[group.clone()], shape));
        same.map_or_else(|| linearize_index(&map[group.clone()], &from[group.clone()], &dim_of), AffineExpression::Dim)
    };
    let map: Vec<AffineExpression> = own.iter().map(index).collect();
    let input = graph.reshape(input, &merge_sizes(&from, &own));
    let input = limit_own_dims(graph, input);
    Some(graph.add(NodeKind::View(map), &[input], merge_sizes(shape, &out), element))
}

/// Returns whether indices, of dimensions of these sizes, are exactly the dimensions of a group.
fn reads_group(map: &[AffineExpression], group: &Range<usize>, sizes: &[i64], shape: &[i64]) -> bool {
    let moving = map.iter().zip(sizes).filter(|(_, size)| **size > 1);
    let read: Vec<Option<(usize, i64)>> = moving
        .map(|(expr, &size)| if let AffineExpression::Dim(dim) = expr { Some((*dim, size)) } else { None })
        .collect();
    let of_group: Vec<Option<(usize, i64)>> =
        group.clone().filter(|&dim| shape[dim] > 1).map(|dim| Some((dim, shape[dim]))).collect();
    read == of_group
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeElementType;

    fn add_wide_tensor(graph: &mut ValueGraph, number: usize, shape: &[i64]) -> NodeId {
        graph.add_tensor(number, shape.to_vec(), NodeElementType::F16)
    }

    /// Returns the replacement of a node, reshaped to its shape.
    fn lower_root(graph: &mut ValueGraph, root: NodeId) -> ValueNode {
        let new = lower_ranks(graph, &[root]);
        let node = graph.node(new[&root]).clone();
        if node.kind == NodeKind::Reshape { graph.node(node.inputs[0]).clone() } else { node }
    }

    const SHAPE: [i64; 7] = [2, 3, 2, 3, 2, 3, 70];

    #[test]
    fn merges_dims_with_equal_broadcast() {
        let mut graph = ValueGraph::default();
        let (x, bias) =
            (add_wide_tensor(&mut graph, 0, &SHAPE), add_wide_tensor(&mut graph, 1, &[2, 1, 2, 1, 1, 3, 70]));
        let sum = graph.add_pointwise("add", &[x, bias], NodeElementType::F16);
        let narrow = lower_root(&mut graph, sum);
        assert_eq!(narrow.shape, [2, 3, 2, 6, 3, 70]);
        assert_eq!(graph.node(narrow.inputs[1]).shape, [2, 1, 2, 1, 3, 70]);
    }

    #[test]
    fn keeps_reduced_dim_separate() {
        let mut graph = ValueGraph::default();
        let x = add_wide_tensor(&mut graph, 0, &SHAPE);
        let sum = graph.reduce("sum", x, 1);
        let narrow = lower_root(&mut graph, sum);
        assert_eq!((narrow.kind, narrow.shape), (NodeKind::Reduce("sum", 1, Vec::new()), vec![2, 1, 6, 2, 3, 70]));
    }

    #[test]
    fn merges_dims_that_interval_adjacent() {
        let mut graph = ValueGraph::default();
        let x = add_wide_tensor(&mut graph, 0, &SHAPE);
        let order = [2, 3, 0, 1, 4, 5, 6];
        let map =
            (0..7).map(|dim| AffineExpression::Dim(order.iter().position(|&from| from == dim).unwrap())).collect();
        let turned = graph.view(x, map, &order.map(|dim| SHAPE[dim]));
        let narrow = lower_root(&mut graph, turned);
        assert_eq!(narrow.shape, [6, 2, 3, 2, 3, 70]);
        assert!(graph.node(narrow.inputs[0]).shape.len() <= 6);
    }

    #[test]
    fn linearizes_insert_offsets() {
        let mut graph = ValueGraph::default();
        let (x, part) =
            (add_wide_tensor(&mut graph, 0, &SHAPE), add_wide_tensor(&mut graph, 1, &[1, 3, 2, 3, 2, 3, 70]));
        let written = graph.insert(part, x, vec![1, 0, 0, 0, 0, 0, 0]);
        let narrow = lower_root(&mut graph, written);
        assert_eq!((narrow.kind, narrow.shape), (NodeKind::Insert(vec![3, 0, 0, 0, 0, 0]), vec![6, 2, 3, 2, 3, 70]));
    }

    #[test]
    fn keeps_tensors_of_six_dims() {
        let mut graph = ValueGraph::default();
        let x = add_wide_tensor(&mut graph, 0, &[2, 3, 2, 3, 2, 70]);
        let exp = graph.add_pointwise("exp", &[x], NodeElementType::F16);
        assert!(lower_ranks(&mut graph, &[exp]).is_empty());
    }

    #[test]
    fn transposes_eight_interleaved_dims_in_steps() {
        let mut graph = ValueGraph::default();
        let shape = [2, 3, 2, 3, 2, 3, 2, 70];
        let x = add_wide_tensor(&mut graph, 0, &shape);
        let order = [0, 2, 1, 4, 3, 5, 7, 6];
        let map =
            (0..8).map(|dim| AffineExpression::Dim(order.iter().position(|&from| from == dim).unwrap())).collect();
        let turned = graph.view(x, map, &order.map(|dim| shape[dim]));
        let last = lower_root(&mut graph, turned);
        assert_eq!((&last.kind, last.shape.as_slice()), (&NodeKind::Copy, &[15120, 2][..]));
        let needed = graph.collect_required(&[turned], |_| false);
        assert_eq!(needed.len(), 2, "the root itself stays");
    }
}
