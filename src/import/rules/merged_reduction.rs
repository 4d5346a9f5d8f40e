//! Reductions over a dimension that a reshape merged: the device reduces one dimension at a time, so the merged tensor
//! needs no copy.

use crate::import::{
    NodeElementType, NodeId, NodeKind,
    graph::{ValueGraph, reshape::find_merged_dims},
};

/// Largest number of elements per stick, that of the 16-bit formats.
const MAX_STICK_ELEMENTS: i64 = 64;

/// Reduces a node along dimension `dim`, which remains with size 1.
///
/// If a reshape merged several dimensions into `dim`, each of them is reduced. Tensors whose innermost dimension fills
/// whole sticks are read as merged without a copy, so they are reduced as they are.
pub(in crate::import) fn reduce_along(
    graph: &mut ValueGraph,
    function: &'static str,
    node: NodeId,
    dim: usize,
) -> NodeId {
    reduce_merged_dims(graph, function, node, dim).unwrap_or_else(|| graph.reduce(function, node, dim))
}

fn reduce_merged_dims(graph: &mut ValueGraph, function: &'static str, node: NodeId, dim: usize) -> Option<NodeId> {
    let merged = graph.node(node).clone();
    if merged.kind != NodeKind::Reshape
        || merged.element == NodeElementType::Int
        || merged.element != graph.node(merged.inputs[0]).element
    {
        return None;
    }
    let sizes = graph.node(merged.inputs[0]).shape.clone();
    let dims = find_merged_dims(&sizes, &merged.shape, dim)?;
    let num_merged = sizes[dims.clone()].iter().filter(|&&size| size > 1).count();
    if num_merged < 2 || sizes.last()? % MAX_STICK_ELEMENTS == 0 {
        return None;
    }
    let reduced =
        dims.rev().filter(|&dim| sizes[dim] > 1).fold(merged.inputs[0], |node, dim| graph.reduce(function, node, dim));
    let mut shape = merged.shape;
    shape[dim] = 1;
    Some(graph.reshape(reduced, &shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_reduction(sizes: &[i64], merged: &[i64], dim: usize) -> (ValueGraph, NodeId) {
        let mut graph = ValueGraph::default();
        let tensor = graph.add(NodeKind::Tensor(0), &[], sizes.to_vec(), NodeElementType::F16);
        let node = graph.reshape(tensor, merged);
        let reduced = reduce_along(&mut graph, "sum", node, dim);
        (graph, reduced)
    }

    #[test]
    fn reduces_each_merged_dimension() {
        let (graph, node) = build_reduction(&[2, 17, 1, 5, 3], &[34, 15], 1);
        let viewed = graph.node(node);
        assert_eq!((&viewed.kind, viewed.shape.as_slice()), (&NodeKind::Reshape, &[34, 1][..]));
        let outer = graph.node(viewed.inputs[0]);
        assert_eq!(
            (&outer.kind, outer.shape.as_slice()),
            (&NodeKind::Reduce("sum", 3, Vec::new()), &[2, 17, 1, 1, 1][..])
        );
        assert_eq!(graph.node(outer.inputs[0]).kind, NodeKind::Reduce("sum", 4, Vec::new()));
    }

    #[test]
    fn reduces_whole_sticks_and_parts_of_dimensions_as_merged() {
        for (sizes, merged, dim) in
            [(&[2, 17, 64][..], &[34, 64][..], 1), (&[6, 5, 128], &[3840], 0), (&[4, 5, 3], &[2, 30], 1)]
        {
            let (graph, node) = build_reduction(sizes, merged, dim);
            assert_eq!(graph.node(node).kind, NodeKind::Reduce("sum", dim, Vec::new()), "{sizes:?} as {merged:?}");
        }
    }
}
