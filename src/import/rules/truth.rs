//! The number format of truth values: that of the numbers that were compared, and else that of the numbers which they choose.
//!
//! The device has no format of its own for them. An op has all its operands in one format, so truth values that meet in one op, or are
//! views of each other, share theirs; an argument of `i1` is stored in the format that its readers need.

use crate::import::graph::{Element, Graph, Kind, NodeId};
use std::collections::BTreeMap;

/// Truth values that would be needed in two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoFormats {
    /// Node that needs another format than the one found before.
    pub user: NodeId,
    /// The element that it needs.
    pub needed: Element,
    /// The element that was found before.
    pub found: Element,
}

/// For each node with truth values among `needed`, as what they are stored; the others are stored in the 16-bit format.
///
/// # Errors
/// If the same values are compared in one format and choose among numbers of another.
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
            // A choice, or the truth as a number.
            Element::F16 | Element::Bf16 | Element::F32 => {
                node.inputs.iter().find(|&&input| is_truth(graph, input)).map(|&input| (input, node.element))
            }
            Element::Int => None,
        };
        let Some((truth, element)) = met else { continue };
        let found = *elements.entry(groups.root(truth)).or_insert(element);
        if (found == Element::F32) != (element == Element::F32) {
            return Err(TwoFormats { user, needed: element, found });
        }
    }
    let truths = needed.iter().copied().filter(|&id| is_truth(graph, id));
    Ok(truths.filter_map(|id| Some((id, *elements.get(&groups.root(id))?))).collect())
}

/// Truth values of run time: those known at compile time are written as whatever they meet.
fn is_truth(graph: &Graph, id: NodeId) -> bool {
    graph.node(id).element == Element::Bool && !is_known(graph, id)
}

fn is_known(graph: &Graph, id: NodeId) -> bool {
    matches!(graph.node(id).kind, Kind::Known(_))
}

/// Nodes that share a format.
#[derive(Default)]
struct Groups {
    parents: BTreeMap<NodeId, NodeId>,
    sources: BTreeMap<usize, NodeId>,
}

impl Groups {
    fn root(&mut self, mut id: NodeId) -> NodeId {
        while let Some(&parent) = self.parents.get(&id) {
            // Every second step of the way is left out the next time, so ways stay short.
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

    /// A tensor has a node in each scope that reads it.
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
