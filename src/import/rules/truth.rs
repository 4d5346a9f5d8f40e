//! Number formats of truth values: the format of the compared numbers, else the format of the numbers that they select.
//!
//! The device has no separate format for truth values. All operands of an op have one format, so truth values that are operands of one op, or
//! views of each other, share a format. An argument of `i1` is stored in the format that its users need.

use crate::import::graph::{Element, Graph, Kind, NodeId};
use std::collections::BTreeMap;

/// Conflict: truth values that are needed in two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoFormats {
    /// Node that needs another format than the first user.
    pub user: NodeId,
    /// Element type that the node needs.
    pub needed: Element,
    /// Element type that was found first.
    pub found: Element,
}

/// Returns the storage format of each node with truth values among `needed`; others are stored in the 16-bit format.
///
/// # Errors
/// Returns an error if the same values are compared in one format and select among numbers of another.
pub fn elements_of_truth(graph: &Graph, needed: &[NodeId]) -> Result<BTreeMap<NodeId, Element>, TwoFormats> {
    let mut groups = Groups::default();
    for &id in needed {
        let node = graph.node(id);
        if let (Element::Bool, Kind::Tensor(number)) = (node.element, &node.kind) {
            groups.join_source(*number, id);
        }
        for &input in node.inputs.iter().filter(|&&input| is_truth(graph, input)) {
            if node.element == Element::Bool {
                groups.join(id, input);
            }
        }
    }
    let mut elements: BTreeMap<NodeId, Element> = BTreeMap::new();
    for &user in needed {
        let node = graph.node(user);
        let is_compared = |input: &&NodeId| graph.node(**input).element.is_float() && !is_known(graph, **input);
        let met = match node.element {
            // A comparison.
            Element::Bool => node.inputs.iter().find(is_compared).map(|&input| (user, graph.node(input).element)),
            // A select, or a conversion of the truth value to a number.
            Element::F16 | Element::Bf16 | Element::F32 | Element::Single => {
                node.inputs.iter().find(|&&input| is_truth(graph, input)).map(|&input| (input, node.element))
            }
            Element::Int => None,
        };
        let Some((truth, element)) = met else { continue };
        let found = *elements.entry(groups.root(truth)).or_insert(element);
        if found.is_single() != element.is_single() {
            return Err(TwoFormats { user, needed: element, found });
        }
    }
    let truths = needed.iter().copied().filter(|&id| is_truth(graph, id));
    Ok(truths.filter_map(|id| Some((id, *elements.get(&groups.root(id))?))).collect())
}

/// Returns the runtime truth values: constants are written in the format of their users.
fn is_truth(graph: &Graph, id: NodeId) -> bool {
    graph.node(id).element == Element::Bool && !is_known(graph, id)
}

fn is_known(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.node(id).kind, Kind::Known(_))
}

/// Union-find of nodes that share a format.
#[derive(Default)]
struct Groups {
    parents: BTreeMap<NodeId, NodeId>,
    sources: BTreeMap<usize, NodeId>,
}

impl Groups {
    fn root(&mut self, mut id: NodeId) -> NodeId {
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
        let (one, other) = (self.root(one), self.root(other));
        if one != other {
            self.parents.insert(one.max(other), one.min(other));
        }
    }

    /// Scopes have nodes of their own for the same tensor.
    fn join_source(&mut self, number: usize, id: NodeId) {
        let first = *self.sources.entry(number).or_insert(id);
        self.join(first, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(graph: &Graph, root: NodeId) -> Result<BTreeMap<NodeId, Element>, TwoFormats> {
        elements_of_truth(graph, &graph.needed_for(&[root], |_| false))
    }

    #[test]
    fn an_argument_is_stored_as_what_it_chooses() {
        let mut graph = Graph::default();
        let mask = graph.tensor(0, vec![8, 16], Element::Bool);
        let x = graph.tensor(1, vec![8, 16], Element::F32);
        let zero = graph.number(0.0);
        let chosen = graph.pointwise("where3", &[mask, x, zero], Element::F32);
        assert_eq!(elements(&graph, chosen).unwrap(), BTreeMap::from([(mask, Element::F32)]));
    }

    #[test]
    fn truths_that_meet_share_a_format() {
        let mut graph = Graph::default();
        let mask = graph.tensor(0, vec![8, 16], Element::Bool);
        let x = graph.tensor(1, vec![8, 16], Element::F32);
        let zero = graph.number(0.0);
        let positive = graph.pointwise("greaterthan", &[x, zero], Element::Bool);
        let both = graph.pointwise("mul", &[mask, positive], Element::Bool);
        let found = elements(&graph, both).unwrap();
        assert_eq!(found, BTreeMap::from([(mask, Element::F32), (positive, Element::F32), (both, Element::F32)]));
    }

    #[test]
    fn one_truth_has_one_format() {
        let mut graph = Graph::default();
        let x = graph.tensor(0, vec![8, 16], Element::F16);
        let y = graph.tensor(1, vec![8, 16], Element::F32);
        let zero = graph.number(0.0);
        let positive = graph.pointwise("greaterthan", &[x, zero], Element::Bool);
        let chosen = graph.pointwise("where3", &[positive, y, zero], Element::F32);
        let expected = TwoFormats { user: chosen, needed: Element::F32, found: Element::F16 };
        assert_eq!(elements(&graph, chosen), Err(expected));
    }
}
