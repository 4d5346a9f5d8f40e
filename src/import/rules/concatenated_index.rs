//! Elements of a table at indices that are computed from concatenated lists. Each slice of the lists is looked up
//! separately, since facts about one slice do not hold for another one.

use super::{
    fold::{IntegerWidths, MAX_WIDTH},
    functions::ScalarFunction,
    index::TableLookup,
    integers::build_integer_op,
};
use crate::import::graph::{
    NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode, constant_tensor::ConstantTensor, table_lookup,
};
use program::affine::AffineExpression;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of slices in which the elements are looked up.
const MAX_SLICES: usize = 16;

/// Concatenation of the lists that indices are computed from: the dimension of the iteration space, and the bounds of
/// the slices.
pub(super) struct ConcatenationBounds {
    dim: usize,
    bounds: Vec<i64>,
}

/// Returns the concatenation of the lists that an index is computed from; None if it is a list itself, or depends on
/// other tensors only.
pub(super) fn find_concatenation(graph: &ValueGraph, index: NodeId) -> Option<ConcatenationBounds> {
    let (mut open, mut seen) = (vec![index], BTreeSet::new());
    let shape = &graph.node(index).shape;
    while let Some(id) = open.pop() {
        let node = graph.node(id);
        match &node.kind {
            // The last input of a virtual op computes it; the others are its operands.
            NodeKind::Virtual(_) => {
                open.extend(node.inputs.split_last()?.1.iter().filter(|&&input| seen.insert(input)))
            }
            NodeKind::Insert(_) if node.element == NodeElementType::Int && node.shape == *shape => {
                if let Some(found) = find_slice_bounds(graph, id) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the bounds of the slices of a concatenated list along the first dimension that they do not cover completely.
fn find_slice_bounds(graph: &ValueGraph, joined: NodeId) -> Option<ConcatenationBounds> {
    let shape = graph.node(joined).shape.clone();
    let mut parts = Vec::new();
    let mut into = joined;
    while let NodeKind::Insert(offsets) = &graph.node(into).kind {
        let &[part, before] = graph.node(into).inputs.as_slice() else { return None };
        parts.push((offsets, &graph.node(part).shape));
        into = before;
    }
    let bounds = |dim: usize| {
        let ends = parts.iter().flat_map(|(offsets, sizes)| [offsets[dim], offsets[dim] + sizes[dim]]);
        ends.chain([0, shape[dim]]).collect::<BTreeSet<i64>>()
    };
    let (dim, bounds) = (0..shape.len()).map(|dim| (dim, bounds(dim))).find(|(_, bounds)| bounds.len() > 2)?;
    (bounds.len() <= MAX_SLICES).then(|| ConcatenationBounds { dim, bounds: bounds.into_iter().collect() })
}

/// Returns the elements at `indices` of an iteration space with these sizes, slice by slice: `look_up` returns those of
/// a slice.
///
/// # Errors
/// Returns an error if a slice cannot be looked up.
pub(super) fn lookup_slices(
    graph: &mut ValueGraph,
    ConcatenationBounds { dim, bounds }: &ConcatenationBounds,
    indices: &[NodeId],
    sizes: &[i64],
    mut look_up: impl FnMut(&mut ValueGraph, &[NodeId], &[i64]) -> Result<TableLookup, String>,
) -> Result<TableLookup, String> {
    let mut shape = graph.compute_broadcast_shape(indices);
    shape.resize(sizes.len(), 1);
    let (mut whole, mut chosen, mut conditions) = (None, Vec::new(), Vec::new());
    for part in bounds.windows(2) {
        let (first, size) = (part[0], part[1] - part[0]);
        let mut slices = SliceRewriter { dim: *dim, first, size, known: BTreeMap::new() };
        let of_part: Vec<NodeId> = indices.iter().map(|&index| slices.slice(graph, index)).collect();
        let mut sizes = sizes.to_vec();
        sizes[*dim] = size;
        let found = look_up(graph, &of_part, &sizes)?;
        if graph.find_unsupported(&[found.node]).is_some() {
            return Ok(found);
        }
        chosen.extend(found.selections);
        conditions.extend(found.bounds);
        let element = graph.node(found.node).element;
        // The slice may have dimensions of the table's other indices, which the concatenated lists lack.
        let own = graph.node(found.node).shape.clone();
        let mut to: Vec<i64> = (0..sizes.len()).map(|dim| own.get(dim).map_or(1, |&own| own.max(shape[dim]))).collect();
        to[*dim] = size;
        let node = graph.splat_if_scalar(found.node, &to);
        let node = graph.broadcast(node, &to);
        to[*dim] = *bounds.last().expect("a dimension has an end");
        let memory = whole.unwrap_or_else(|| graph.add_undefined(to, element));
        let mut offsets = vec![0; sizes.len()];
        offsets[*dim] = first;
        whole = Some(graph.insert(node, memory, offsets));
    }
    let node = whole.ok_or("looks up no element")?;
    Ok(TableLookup { node, selections: chosen, bounds: conditions })
}

/// Width for folding constant integers: the operation may have a narrower type, which `rebuild_slice` checks.
const FOLDING_WIDTHS: IntegerWidths = IntegerWidths::uniform(MAX_WIDTH);

/// Slices of nodes along a dimension of the iteration space.
struct SliceRewriter {
    dim: usize,
    first: i64,
    size: i64,
    known: BTreeMap<NodeId, NodeId>,
}

impl SliceRewriter {
    /// Recomputes an integer or a truth value on slices of its operands: fewer facts may be known about the complete
    /// list.
    fn slice(&mut self, graph: &mut ValueGraph, id: NodeId) -> NodeId {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let slice = self.rebuild_slice(graph, id).unwrap_or_else(|| self.view_slice(graph, id));
        self.known.insert(id, slice);
        slice
    }

    /// Returns a virtual op of the program, recomputed on slices of its operands. Returns None for other nodes, and for
    /// ops that interpret the bits of their operands as unsigned or truncate them.
    fn rebuild_slice(&mut self, graph: &mut ValueGraph, id: NodeId) -> Option<NodeId> {
        const BIT_OPS: [&str; 8] = [
            "arith.uitofp",
            "arith.extui",
            "arith.index_castui",
            "arith.trunci",
            "arith.ceildivui",
            "arith.divui",
            "arith.remui",
            "arith.shrui",
        ];
        let ValueNode { kind: NodeKind::Virtual(operation), inputs, element, .. } = graph.node(id).clone() else {
            return None;
        };
        let function = ScalarFunction::from_name(operation).filter(|function| !BIT_OPS.contains(&function.name))?;
        let (_, operands) = inputs.split_last()?;
        let operands: Vec<NodeId> = operands.iter().map(|&operand| self.slice(graph, operand)).collect();
        let built = if function.computes_indices(graph, &operands) {
            build_integer_op(graph, function, &operands, element, FOLDING_WIDTHS).ok()?
        } else {
            function.build(graph, &operands, element, FOLDING_WIDTHS).ok()?
        };
        // The operation has at least 32 bits. Integers that need more bits would have wrapped in a narrower type, so
        // they are not folded.
        let leaves_width = |known: &ConstantTensor| known.integers().any(|integer| i32::try_from(integer).is_err());
        if graph.node(built).element == NodeElementType::Int && graph.as_constant(built).is_some_and(leaves_width) {
            return None;
        }
        let has_name =
            matches!(graph.node(built).kind, NodeKind::Virtual(_)) && table_lookup::as_lookup(graph, built).is_none();
        let is_decided =
            has_name || graph.as_constant(built).is_some() || graph.node(built).element == NodeElementType::Int;
        Some(if is_decided { built } else { graph.add_virtual_op(function.name, &operands, built, element) })
    }

    /// Returns the slice of a node as a view; the complete node if it does not vary along the dimension.
    fn view_slice(&self, graph: &mut ValueGraph, id: NodeId) -> NodeId {
        let mut shape = graph.node(id).shape.clone();
        if shape.get(self.dim).is_none_or(|&size| size == 1) {
            return id;
        }
        shape[self.dim] = self.size;
        let index = |own: usize| match own == self.dim {
            true if self.size == 1 => AffineExpression::Constant(self.first),
            true => AffineExpression::Dim(own).plus(AffineExpression::Constant(self.first)),
            false => AffineExpression::Dim(own),
        };
        let map = (0..shape.len()).map(index).collect();
        graph.view(id, map, &shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_up_each_slice_of_concatenated_list() {
        let mut graph = ValueGraph::default();
        let ids = graph.add_tensor(0, vec![5], NodeElementType::Int);
        let known = graph.add_constant(ConstantTensor::from_numbers(&[-1.0, 2.0]), vec![2], NodeElementType::Int);
        let memory = graph.add_undefined(vec![7], NodeElementType::Int);
        let first = graph.insert(known, memory, vec![0]);
        let joined = graph.insert(ids, first, vec![2]);
        let (fallback, three) = (graph.add_unsupported(0, vec![7], NodeElementType::Int), graph.add_scalar(3.0));
        let computed = graph.add_virtual_op("arith.addi", &[joined, three], fallback, NodeElementType::Int);
        let joints = find_concatenation(&graph, computed).unwrap();
        assert_eq!((joints.dim, joints.bounds.as_slice()), (0, &[0, 2, 7][..]));
        let mut seen = Vec::new();
        let found = lookup_slices(&mut graph, &joints, &[computed], &[7], |graph, indices, sizes| {
            let numbers = graph.as_constant(indices[0]).map(|known| known.numbers().collect::<Vec<_>>());
            seen.push((numbers, graph.node(indices[0]).inputs.first().copied(), sizes.to_vec()));
            let node = graph.add_tensor(1 + seen.len(), sizes.to_vec(), NodeElementType::F16);
            Ok(TableLookup { node, selections: Vec::new(), bounds: Vec::new() })
        });
        let node = found.map(|found| found.node).unwrap();
        assert_eq!(graph.node(node).shape, [7]);
        assert_eq!(seen, [(Some(vec![2.0, 5.0]), None, vec![2]), (None, Some(ids), vec![5])]);
        assert!(find_concatenation(&graph, ids).is_none());
    }
}
