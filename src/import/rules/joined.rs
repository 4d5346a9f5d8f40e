//! Elements of a table at indices that are computed of joined lists: each part of the lists for itself, since what is known of one part is not known
//! of another one.

use super::index::Lookup;
use crate::affine::Expr;
use crate::import::graph::{Element, Graph, Kind, NodeId};
use std::collections::BTreeSet;

/// Most parts that the elements are looked up in.
const MAX_PARTS: usize = 16;

/// Where the lists that indices are computed of are joined: the dimension of the iteration space, and where parts of it begin and end.
pub(super) struct Joints {
    dim: usize,
    bounds: Vec<i64>,
}

/// Returns where the lists are joined that an index is computed of; none where it is a list itself, or follows from other tensors alone.
pub(super) fn joints_of(graph: &Graph, index: NodeId) -> Option<Joints> {
    let (mut open, mut seen) = (vec![index], BTreeSet::new());
    let shape = &graph.node(index).shape;
    while let Some(id) = open.pop() {
        let node = graph.node(id);
        match &node.kind {
            // The last input is what computes it.
            Kind::Virtual(_) => open.extend(node.inputs.split_last()?.1.iter().filter(|&&input| seen.insert(input))),
            Kind::Insert(_) if node.element == Element::Int && node.shape == *shape => {
                if let Some(found) = joints_in(graph, id) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the parts of a joined list begin and end along the first dimension that they do not have all of.
fn joints_in(graph: &Graph, joined: NodeId) -> Option<Joints> {
    let shape = graph.node(joined).shape.clone();
    let mut parts = Vec::new();
    let mut into = joined;
    while let Kind::Insert(offsets) = &graph.node(into).kind {
        let &[part, before] = graph.node(into).inputs.as_slice() else { return None };
        parts.push((offsets, &graph.node(part).shape));
        into = before;
    }
    let bounds = |dim: usize| {
        let ends = parts.iter().flat_map(|(offsets, sizes)| [offsets[dim], offsets[dim] + sizes[dim]]);
        ends.chain([0, shape[dim]]).collect::<BTreeSet<i64>>()
    };
    let (dim, bounds) = (0..shape.len()).map(|dim| (dim, bounds(dim))).find(|(_, bounds)| bounds.len() > 2)?;
    (bounds.len() <= MAX_PARTS).then(|| Joints { dim, bounds: bounds.into_iter().collect() })
}

/// Returns the elements at `indices` of an iteration space with these sizes, part by part: `look_up` finds those of a part.
///
/// # Errors
/// If a part cannot be looked up.
pub(super) fn lookup_in_parts(
    graph: &mut Graph,
    Joints { dim, bounds }: &Joints,
    indices: &[NodeId],
    sizes: &[i64],
    mut look_up: impl FnMut(&mut Graph, &[NodeId], &[i64]) -> Result<Lookup, String>,
) -> Result<Lookup, String> {
    let mut shape = graph.broadcast_shape(indices);
    shape.resize(sizes.len(), 1);
    let (mut whole, mut chosen, mut conditions) = (None, Vec::new(), Vec::new());
    for part in bounds.windows(2) {
        let (first, size) = (part[0], part[1] - part[0]);
        let of_part: Vec<NodeId> = indices.iter().map(|&index| slice_along(graph, index, *dim, first, size)).collect();
        let mut sizes = sizes.to_vec();
        sizes[*dim] = size;
        let found = look_up(graph, &of_part, &sizes)?;
        if graph.refused_among(&[found.node]).is_some() {
            return Ok(found);
        }
        chosen.extend(found.chosen);
        conditions.extend(found.bounds);
        let element = graph.node(found.node).element;
        // What the other indices of the table move along is in the part, whatever the lists move along.
        let own = graph.node(found.node).shape.clone();
        let mut to: Vec<i64> = (0..sizes.len()).map(|dim| own.get(dim).map_or(1, |&own| own.max(shape[dim]))).collect();
        to[*dim] = size;
        let node = graph.filled_if_number(found.node, &to);
        let node = graph.broadcast(node, &to);
        to[*dim] = *bounds.last().expect("a dimension has an end");
        let memory = whole.unwrap_or_else(|| graph.undefined(to, element));
        let mut offsets = vec![0; sizes.len()];
        offsets[*dim] = first;
        whole = Some(graph.insert(node, memory, offsets));
    }
    let node = whole.ok_or("looks up no element")?;
    Ok(Lookup { node, chosen, bounds: conditions })
}

/// A part of an index along a dimension of the iteration space; all of it, if it does not move along it.
fn slice_along(graph: &mut Graph, index: NodeId, dim: usize, first: i64, size: i64) -> NodeId {
    let mut shape = graph.node(index).shape.clone();
    if shape.get(dim).is_none_or(|&size| size == 1) {
        return index;
    }
    shape[dim] = size;
    let at = |own: usize| if own == dim { Expr::Dim(own).plus(Expr::Constant(first)) } else { Expr::Dim(own) };
    let map = (0..shape.len()).map(|own| if shape[own] == 1 && own == dim { Expr::Constant(first) } else { at(own) }).collect();
    graph.view(index, map, &shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::known::Known;

    #[test]
    fn what_is_computed_of_a_joined_list_is_looked_up_in_its_parts() {
        let mut graph = Graph::default();
        let ids = graph.tensor(0, vec![5], Element::Int);
        let known = graph.known(Known::table(&[-1.0, 2.0]), vec![2], Element::Int);
        let memory = graph.undefined(vec![7], Element::Int);
        let first = graph.insert(known, memory, vec![0]);
        let joined = graph.insert(ids, first, vec![2]);
        let fallback = graph.refused(0, vec![7], Element::Int);
        let computed = graph.virtual_op("arith.addi", &[joined, joined], fallback, Element::Int);
        let joints = joints_of(&graph, computed).unwrap();
        assert_eq!((joints.dim, joints.bounds.as_slice()), (0, &[0, 2, 7][..]));
        let mut seen = Vec::new();
        let found = lookup_in_parts(&mut graph, &joints, &[computed], &[7], |graph, indices, sizes| {
            let parts = graph.node(indices[0]).inputs.clone();
            seen.push((parts[0], sizes.to_vec()));
            let node = graph.tensor(1 + seen.len(), sizes.to_vec(), Element::F16);
            Ok(Lookup { node, chosen: Vec::new(), bounds: Vec::new() })
        });
        let node = found.map(|found| found.node).unwrap();
        assert_eq!((graph.node(node).shape.as_slice(), seen), (&[7][..], vec![(known, vec![2]), (ids, vec![5])]));
        assert!(joints_of(&graph, ids).is_none());
    }
}
