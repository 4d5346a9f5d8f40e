//! Tensors with more dimensions than a device layout: adjacent dimensions that an operation iterates over together are merged.
//!
//! Each operation is rewritten to tensors of lower rank, between reshapes; inverse reshapes cancel.

use crate::import::graph::{Graph, Kind, Node, NodeId};
use program::affine::Expr;
use std::{collections::BTreeMap, ops::Range};

/// Maximum number of dimensions of a tensor in a device layout.
const MOST_DIMS: usize = 6;
/// Maximum number of dimensions of an iteration space: an op that merges and splits dimensions iterates over each of them.
const MOST_LOOPS: usize = 7;

/// Returns the replacements of lower rank for the nodes that `roots` need; nodes that stay as they are have no entry.
pub(in crate::import) fn narrowed(graph: &mut Graph, roots: &[NodeId]) -> BTreeMap<NodeId, NodeId> {
    let needed = graph.needed_for(roots, |_| false);
    let mut new = BTreeMap::new();
    if needed.iter().all(|&id| graph.node(id).shape.len() <= MOST_DIMS) {
        return new;
    }
    for id in needed {
        let (place, scope) = (graph.place(id), graph.scope(id));
        graph.set_place(place);
        let outer = graph.enter_scope(scope);
        let narrow = narrow(graph, id, &new);
        graph.enter_scope(outer);
        if narrow != id {
            if graph.integers.has(id) {
                graph.note_integers(narrow);
                if let Some(width) = graph.integers.width(id) {
                    graph.note_width(narrow, width);
                }
            }
            new.insert(id, narrow);
        }
    }
    new
}

fn narrow(graph: &mut Graph, id: NodeId, new: &BTreeMap<NodeId, NodeId>) -> NodeId {
    let Node { kind, inputs: old, shape, element } = graph.node(id).clone();
    let inputs: Vec<NodeId> = old.iter().map(|input| new.get(input).copied().unwrap_or(*input)).collect();
    let is_wide = |id: NodeId| graph.node(id).shape.len() > MOST_DIMS;
    if is_wide(id) || inputs.iter().any(|&input| is_wide(input)) {
        let narrow = match &kind {
            Kind::Filled => filled(graph, inputs[0], &shape),
            Kind::View(map) => view(graph, inputs[0], map, &shape),
            Kind::Pointwise(..) => pointwise(graph, id, &inputs),
            Kind::Reduce(_, dim, _) => reduce(graph, id, inputs[0], *dim),
            Kind::Matmul => matmul(graph, id, &inputs),
            Kind::Gather(dim) => gather(graph, id, [inputs[0], inputs[1]], *dim),
            Kind::Insert(_) => insert(graph, id, new),
            Kind::Reshape if graph.node(inputs[0]).element == element => Some(graph.reshape(inputs[0], &shape)),
            _ => None,
        };
        if let Some(narrow) = narrow {
            return graph.reshape(narrow, &shape);
        }
    }
    if inputs == old { id } else { graph.add(kind, &inputs, shape, element) }
}

/// Merges adjacent dimensions for which `is_pair` holds until few enough remain; outer ones first. Dimensions of size 1 merge with any other.
fn groups(shape: &[i64], is_pair: impl Fn(usize, usize) -> bool) -> Option<Vec<Range<usize>>> {
    groups_to(MOST_DIMS, shape, None, is_pair)
}

/// Groups neighboring dimensions as [`groups`] does, into at most `most` groups. The dimension `counts` counts whatever
/// its size. Returns None if too many groups remain.
fn groups_to(most: usize, shape: &[i64], counts: Option<usize>, is_pair: impl Fn(usize, usize) -> bool) -> Option<Vec<Range<usize>>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let solid: Vec<usize> = (0..shape.len()).filter(|&dim| shape[dim] > 1 || counts == Some(dim)).collect();
    let mut n_more = solid.len().saturating_sub(most);
    for (position, &dim) in solid.iter().enumerate() {
        match groups.last_mut().filter(|_| n_more > 0 && is_pair(solid[position - 1], dim)) {
            Some(last) => (last.end, n_more) = (dim + 1, n_more - 1),
            None => groups.push(groups.last().map_or(0, |last| last.end)..dim + 1),
        }
    }
    match groups.last_mut() {
        Some(last) => last.end = shape.len(),
        None => groups.push(0..shape.len()),
    }
    (n_more == 0).then_some(groups)
}

/// Returns the sizes of merged dimensions.
fn merged(shape: &[i64], groups: &[Range<usize>]) -> Vec<i64> {
    groups.iter().map(|group| shape[group.clone()].iter().product()).collect()
}

fn filled(graph: &mut Graph, number: NodeId, shape: &[i64]) -> Option<NodeId> {
    let groups = groups(shape, |_, _| true)?;
    Some(graph.filled(number, merged(shape, &groups)))
}

/// Lowers the rank of an elementwise operation: each operand has a dimension or is broadcast along it.
fn pointwise(graph: &mut Graph, id: NodeId, inputs: &[NodeId]) -> Option<NodeId> {
    let Node { kind, shape, element, .. } = graph.node(id).clone();
    let shapes: Vec<Vec<i64>> = inputs.iter().map(|&input| graph.node(input).shape.clone()).filter(|shape| !shape.is_empty()).collect();
    let is_alike = |one: usize, other: usize| shapes.iter().all(|own| (own[one] == shape[one]) == (own[other] == shape[other]));
    let (groups, inputs) = match groups(&shape, is_alike) {
        Some(groups) => (groups, inputs.to_vec()),
        // Too many dimensions are alternately broadcast: the broadcast operands are materialized.
        None => {
            let written_out = |&input: &NodeId| {
                let own = graph.node(input).shape.clone();
                if own.is_empty() || own == shape {
                    return Some(input);
                }
                let along = |dim: usize| if own[dim] == shape[dim] { Expr::Dim(dim) } else { Expr::Constant(0) };
                let map: Vec<Expr> = (0..own.len()).map(along).collect();
                let narrow = view(graph, input, &map, &shape)?;
                Some(graph.reshape(narrow, &shape))
            };
            let whole: Vec<NodeId> = inputs.iter().map(written_out).collect::<Option<_>>()?;
            (groups(&shape, |_, _| true)?, whole)
        }
    };
    let shown: Vec<NodeId> = inputs.iter().map(|&input| with_groups(graph, input, &groups)).collect();
    Some(graph.add(kind, &shown, merged(&shape, &groups), element))
}

fn with_groups(graph: &mut Graph, input: NodeId, groups: &[Range<usize>]) -> NodeId {
    let own = graph.node(input).shape.clone();
    if own.is_empty() { input } else { graph.reshape(input, &merged(&own, groups)) }
}

fn reduce(graph: &mut Graph, id: NodeId, input: NodeId, dim: usize) -> Option<NodeId> {
    let (Node { kind, element, .. }, whole) = (graph.node(id).clone(), graph.node(input).shape.clone());
    let groups = groups_to(MOST_DIMS, &whole, Some(dim), |one, other| one != dim && other != dim)?;
    let along = groups.iter().position(|group| group.contains(&dim))?;
    let Kind::Reduce(function, _, constants) = kind else { return None };
    // Dimensions of size 1 next to the reduced one stay with it.
    let mut shape = merged(&whole, &groups);
    let input = graph.reshape(input, &shape);
    shape[along] = 1;
    Some(graph.add(Kind::Reduce(function, along, constants), &[input], shape, element))
}

fn matmul(graph: &mut Graph, id: NodeId, inputs: &[NodeId]) -> Option<NodeId> {
    let Node { kind, shape, element, .. } = graph.node(id).clone();
    let n_batch = shape.len().checked_sub(2)?;
    let n_more = shape.len().checked_sub(MOST_DIMS)?;
    let groups: Vec<Range<usize>> = std::iter::once(0..n_more + 1).chain((n_more + 1..n_batch + 2).map(|dim| dim..dim + 1)).collect();
    let shown: Vec<NodeId> = inputs.iter().map(|&input| with_groups(graph, input, &groups)).collect();
    Some(graph.add(kind, &shown, merged(&shape, &groups), element))
}

/// Lowers the rank of a gather: the index keeps its dimensions if enough remain for the rows.
fn gather(graph: &mut Graph, id: NodeId, [table, index]: [NodeId; 2], dim: usize) -> Option<NodeId> {
    let element = graph.node(id).element;
    let (rows, mut over) = (graph.node(table).shape.clone(), graph.node(index).shape.clone());
    let mut index = index;
    if over.len() > 2 {
        over = vec![over.iter().product()];
        index = graph.reshape(index, &over);
    }
    let groups = groups_to(MOST_DIMS + 1 - over.len(), &rows, Some(dim), |one, other| one != dim && other != dim)?;
    let along = groups.iter().position(|group| group.contains(&dim))?;
    let mut shape = merged(&rows, &groups);
    let table = graph.reshape(table, &shape);
    shape.remove(along);
    Some(graph.add(Kind::Gather(along), &[table, index], [over, shape].concat(), element))
}

/// Lowers the rank of a chain of inserts: a dimension that every slice covers completely, or in which every slice has one position, merges
/// with the preceding one.
fn insert(graph: &mut Graph, id: NodeId, new: &BTreeMap<NodeId, NodeId>) -> Option<NodeId> {
    let Node { shape, element, .. } = graph.node(id).clone();
    let (mut parts, mut base) = (Vec::new(), id);
    while let Kind::Insert(offsets) = &graph.node(base).kind {
        let &[part, before] = graph.node(base).inputs.as_slice() else { return None };
        parts.push((new.get(&part).copied().unwrap_or(part), graph.node(part).shape.clone(), offsets.clone()));
        base = before;
    }
    let is_whole = |sizes: &[i64], dim: usize| sizes[dim] == shape[dim];
    let groups = groups(&shape, |one, other| {
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
    let small = merged(&shape, &groups);
    let base = new.get(&base).copied().unwrap_or(base);
    let mut whole = match graph.node(base).kind {
        Kind::Undefined => graph.undefined(small, element),
        _ => graph.reshape(base, &small),
    };
    for (part, sizes, offsets) in parts.into_iter().rev() {
        let part = graph.reshape(part, &merged(&sizes, &groups));
        let flat = |group: &Range<usize>| group.clone().fold(0, |flat, dim| flat * shape[dim] + offsets[dim]);
        let at = groups.iter().map(flat).collect();
        let shape = graph.node(whole).shape.clone();
        whole = graph.add(Kind::Insert(at), &[part, whole], shape, element);
    }
    Some(whole)
}

/// Lowers the rank of a view: result dimensions that are adjacent in the operand merge first.
fn view(graph: &mut Graph, input: NodeId, map: &[Expr], shape: &[i64]) -> Option<NodeId> {
    let (from, element) = (graph.node(input).shape.clone(), graph.node(input).element);
    let at = |dim: usize| map.iter().position(|expr| *expr == Expr::Dim(dim));
    let is_read = |dim: usize| map.iter().any(|expr| expr.dims().contains(&dim));
    let are_neighbours = |one: usize, other: usize| match (at(one), at(other)) {
        (Some(one), Some(other)) => one < other && (one + 1..other).all(|between| from[between] == 1),
        (None, None) => !is_read(one) && !is_read(other),
        _ => false,
    };
    let n_moving = shape.iter().filter(|&&size| size > 1).count();
    let any = |_, _| n_moving <= MOST_LOOPS;
    let out = groups(shape, are_neighbours).or_else(|| groups(shape, any))?;
    let dim_of = |dim: usize| {
        let position = out.iter().position(|group| group.contains(&dim)).unwrap_or_default();
        digit(Expr::Dim(position), &shape[out[position].clone()], dim - out[position].start)
    };
    // Index of a merged operand dimension: a merged result dimension, or the linearized index.
    let group_of = |expr: &Expr| if let Expr::Dim(dim) = expr { out.iter().position(|group| group.contains(dim)) } else { None };
    let own = groups(&from, |one, other| group_of(&map[one]).is_some_and(|group| group_of(&map[other]) == Some(group)))
        .or_else(|| groups(&from, |_, _| true))?;
    let index = |group: &Range<usize>| {
        let same = out.iter().position(|of| reads(&map[group.clone()], of, &from[group.clone()], shape));
        same.map_or_else(|| flat(&map[group.clone()], &from[group.clone()], &dim_of), Expr::Dim)
    };
    let map: Vec<Expr> = own.iter().map(index).collect();
    let input = graph.reshape(input, &merged(&from, &own));
    Some(graph.add(Kind::View(map), &[input], merged(shape, &out), element))
}

/// Returns whether indices, of dimensions of these sizes, are exactly the dimensions of a group.
fn reads(map: &[Expr], group: &Range<usize>, sizes: &[i64], shape: &[i64]) -> bool {
    let moving = map.iter().zip(sizes).filter(|(_, size)| **size > 1);
    let read: Vec<Option<(usize, i64)>> =
        moving.map(|(expr, &size)| if let Expr::Dim(dim) = expr { Some((*dim, size)) } else { None }).collect();
    let of_group: Vec<Option<(usize, i64)>> = group.clone().filter(|&dim| shape[dim] > 1).map(|dim| Some((dim, shape[dim]))).collect();
    read == of_group
}

/// Returns digit `position` of a number whose digits have these sizes.
fn digit(number: Expr, sizes: &[i64], position: usize) -> Expr {
    if sizes[position] == 1 {
        return Expr::Constant(0);
    }
    let inner: i64 = sizes[position + 1..].iter().product();
    let shifted = if inner == 1 { number } else { Expr::FloorDiv(Box::new(number), Box::new(Expr::Constant(inner))) };
    let is_first = sizes[..position].iter().all(|&size| size == 1);
    if is_first { shifted } else { Expr::Mod(Box::new(shifted), Box::new(Expr::Constant(sizes[position]))) }
}

/// Returns the number whose digits, of these sizes, are expressions.
fn flat(map: &[Expr], sizes: &[i64], dim_of: &impl Fn(usize) -> Expr) -> Expr {
    let (mut stride, mut sum) = (1, Expr::Constant(0));
    for (expr, &size) in map.iter().zip(sizes).rev().filter(|(_, size)| **size > 1) {
        sum = expr.with_dims(dim_of).times(stride).plus(sum);
        stride *= size;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::Element;

    fn wide(graph: &mut Graph, number: usize, shape: &[i64]) -> NodeId {
        graph.tensor(number, shape.to_vec(), Element::F16)
    }

    /// Returns the replacement of a node, reshaped to its shape.
    fn narrow_of(graph: &mut Graph, root: NodeId) -> Node {
        let new = narrowed(graph, &[root]);
        let node = graph.node(new[&root]).clone();
        if node.kind == Kind::Reshape { graph.node(node.inputs[0]).clone() } else { node }
    }

    const SHAPE: [i64; 7] = [2, 3, 2, 3, 2, 3, 70];

    #[test]
    fn neighbours_that_repeat_alike_go_together() {
        let mut graph = Graph::default();
        let (x, bias) = (wide(&mut graph, 0, &SHAPE), wide(&mut graph, 1, &[2, 1, 2, 1, 1, 3, 70]));
        let sum = graph.pointwise("add", &[x, bias], Element::F16);
        let narrow = narrow_of(&mut graph, sum);
        assert_eq!(narrow.shape, [2, 3, 2, 6, 3, 70]);
        assert_eq!(graph.node(narrow.inputs[1]).shape, [2, 1, 2, 1, 3, 70]);
    }

    #[test]
    fn a_reduced_dimension_stays_alone() {
        let mut graph = Graph::default();
        let x = wide(&mut graph, 0, &SHAPE);
        let sum = graph.reduce("sum", x, 1);
        let narrow = narrow_of(&mut graph, sum);
        assert_eq!((narrow.kind, narrow.shape), (Kind::Reduce("sum", 1, Vec::new()), vec![2, 1, 6, 2, 3, 70]));
    }

    #[test]
    fn what_stays_in_order_is_moved_together() {
        let mut graph = Graph::default();
        let x = wide(&mut graph, 0, &SHAPE);
        let order = [2, 3, 0, 1, 4, 5, 6];
        let map = (0..7).map(|dim| Expr::Dim(order.iter().position(|&from| from == dim).unwrap())).collect();
        let turned = graph.view(x, map, &order.map(|dim| SHAPE[dim]));
        let narrow = narrow_of(&mut graph, turned);
        assert_eq!(narrow.shape, [6, 2, 3, 2, 3, 70]);
        assert!(graph.node(narrow.inputs[0]).shape.len() <= 6);
    }

    #[test]
    fn parts_are_written_at_the_place_that_they_have_then() {
        let mut graph = Graph::default();
        let (x, part) = (wide(&mut graph, 0, &SHAPE), wide(&mut graph, 1, &[1, 3, 2, 3, 2, 3, 70]));
        let written = graph.insert(part, x, vec![1, 0, 0, 0, 0, 0, 0]);
        let narrow = narrow_of(&mut graph, written);
        assert_eq!((narrow.kind, narrow.shape), (Kind::Insert(vec![3, 0, 0, 0, 0, 0]), vec![6, 2, 3, 2, 3, 70]));
    }

    #[test]
    fn six_dimensions_stay_as_they_are() {
        let mut graph = Graph::default();
        let x = wide(&mut graph, 0, &[2, 3, 2, 3, 2, 70]);
        let exp = graph.pointwise("exp", &[x], Element::F16);
        assert!(narrowed(&mut graph, &[exp]).is_empty());
    }

    #[test]
    fn eight_dimensions_in_turns_are_left() {
        let mut graph = Graph::default();
        let shape = [2, 3, 2, 3, 2, 3, 2, 70];
        let x = wide(&mut graph, 0, &shape);
        let order = [0, 2, 1, 4, 3, 5, 7, 6];
        let map = (0..8).map(|dim| Expr::Dim(order.iter().position(|&from| from == dim).unwrap())).collect();
        let turned = graph.view(x, map, &order.map(|dim| shape[dim]));
        assert!(narrowed(&mut graph, &[turned]).is_empty());
    }
}
