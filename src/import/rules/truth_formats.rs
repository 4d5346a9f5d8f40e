//! Number formats of truth values: the format of the compared numbers, else the format of the numbers that they select.
//!
//! The device has no separate format for truth values. All operands of an op have one format, so truth values that are
//! operands of one op, or views of each other, share a format. An argument of `i1` is stored in the format that its
//! users need.

use crate::import::graph::{NodeElementType, NodeId, NodeKind, ValueGraph};
use std::collections::BTreeMap;

/// Conflict: truth values that are needed in two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TruthFormatConflict {
    /// Node that needs another format than its first user.
    pub user: NodeId,
    /// Element type that the node needs.
    pub needed: NodeElementType,
    /// Element type that was found first.
    pub found: NodeElementType,
}

/// Returns the storage format of each node with truth values among `needed`; others are stored in the 16-bit format.
///
/// # Errors
/// Returns an error if the same values are compared in one format and select among numbers of another.
pub fn infer_truth_formats(
    graph: &ValueGraph,
    needed: &[NodeId],
) -> Result<BTreeMap<NodeId, NodeElementType>, TruthFormatConflict> {
    let mut groups = FormatGroups::default();
    for &id in needed {
        let node = graph.node(id);
        if let (NodeElementType::Bool, NodeKind::Tensor(number)) = (node.element, &node.kind) {
            groups.join_source(*number, id);
        }
        for &input in node.inputs.iter().filter(|&&input| is_runtime_truth(graph, input)) {
            if node.element == NodeElementType::Bool {
                groups.join(id, input);
            }
        }
    }
    let mut elements: BTreeMap<NodeId, NodeElementType> = BTreeMap::new();
    for &user in needed {
        let node = graph.node(user);
        let is_compared = |input: &&NodeId| graph.node(**input).element.is_float() && !is_constant(graph, **input);
        let met = match node.element {
            // A comparison.
            NodeElementType::Bool => {
                node.inputs.iter().find(is_compared).map(|&input| (user, graph.node(input).element))
            }
            // A select, or a conversion of the truth value to a number.
            NodeElementType::F16 | NodeElementType::Bf16 | NodeElementType::F32 | NodeElementType::Single => {
                node.inputs.iter().find(|&&input| is_runtime_truth(graph, input)).map(|&input| (input, node.element))
            }
            NodeElementType::Int => None,
        };
        let Some((truth, element)) = met else { continue };
        let found = *elements.entry(groups.find_root(truth)).or_insert(element);
        if found.is_single() != element.is_single() {
            return Err(TruthFormatConflict { user, needed: element, found });
        }
    }
    let truths = needed.iter().copied().filter(|&id| is_runtime_truth(graph, id));
    Ok(truths.filter_map(|id| Some((id, *elements.get(&groups.find_root(id))?))).collect())
}

/// Returns whether a node is a runtime truth value: constants are written in the format of their users.
fn is_runtime_truth(graph: &ValueGraph, id: NodeId) -> bool {
    graph.node(id).element == NodeElementType::Bool && !is_constant(graph, id)
}

fn is_constant(graph: &ValueGraph, id: NodeId) -> bool {
    matches!(graph.node(id).kind, NodeKind::Constant(_))
}

/// Union-find of nodes that share a format.
#[derive(Default)]
struct FormatGroups {
    parents: BTreeMap<NodeId, NodeId>,
    sources: BTreeMap<usize, NodeId>,
}

impl FormatGroups {
    fn find_root(&mut self, mut id: NodeId) -> NodeId {
        while let Some(&parent) = self.parents.get(&id) {
            // Path halving keeps paths short.
            if let Some(&above) = self.parents.get(&parent) {
                self.parents.insert(id, above);
            }
            id = parent;
        }
        id
    }

    fn join(&mut self, one: NodeId, other: NodeId) {
        let (one, other) = (self.find_root(one), self.find_root(other));
        if one != other {
            self.parents.insert(one.max(other), one.min(other));
        }
    }

    /// Joins the nodes of one tensor: each scope has its own node for it.
    fn join_source(&mut self, number: usize, id: NodeId) {
        let first = *self.sources.entry(number).or_insert(id);
        self.join(first, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer_formats(
        graph: &ValueGraph,
        root: NodeId,
    ) -> Result<BTreeMap<NodeId, NodeElementType>, TruthFormatConflict> {
        infer_truth_formats(graph, &graph.collect_required(&[root], |_| false))
    }

    #[test]
    fn stores_argument_in_format_of_selected_values() {
        let mut graph = ValueGraph::default();
        let mask = graph.add_tensor(0, vec![8, 16], NodeElementType::Bool);
        let x = graph.add_tensor(1, vec![8, 16], NodeElementType::F32);
        let zero = graph.add_scalar(0.0);
        let chosen = graph.add_pointwise("where3", &[mask, x, zero], NodeElementType::F32);
        assert_eq!(infer_formats(&graph, chosen).unwrap(), BTreeMap::from([(mask, NodeElementType::F32)]));
    }

    #[test]
    fn shares_format_among_combined_truth_values() {
        let mut graph = ValueGraph::default();
        let mask = graph.add_tensor(0, vec![8, 16], NodeElementType::Bool);
        let x = graph.add_tensor(1, vec![8, 16], NodeElementType::F32);
        let zero = graph.add_scalar(0.0);
        let positive = graph.add_pointwise("greaterthan", &[x, zero], NodeElementType::Bool);
        let both = graph.add_pointwise("mul", &[mask, positive], NodeElementType::Bool);
        let found = infer_formats(&graph, both).unwrap();
        assert_eq!(
            found,
            BTreeMap::from([
                (mask, NodeElementType::F32),
                (positive, NodeElementType::F32),
                (both, NodeElementType::F32)
            ])
        );
    }

    #[test]
    fn rejects_truth_value_in_two_formats() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![8, 16], NodeElementType::F16);
        let y = graph.add_tensor(1, vec![8, 16], NodeElementType::F32);
        let zero = graph.add_scalar(0.0);
        let positive = graph.add_pointwise("greaterthan", &[x, zero], NodeElementType::Bool);
        let chosen = graph.add_pointwise("where3", &[positive, y, zero], NodeElementType::F32);
        let expected = TruthFormatConflict { user: chosen, needed: NodeElementType::F32, found: NodeElementType::F16 };
        assert_eq!(infer_formats(&graph, chosen), Err(expected));
    }
}
