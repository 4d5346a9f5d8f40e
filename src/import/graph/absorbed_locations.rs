//! Source operations that a rule makes part of another one.
//!
//! A rule that recognizes several operations, such as those of a GELU, builds one node on the operands of the first.
//! The operations in between are then computed by that node, and its location names all of them.

use super::{NodeId, NodeKind, ValueGraph};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of nodes that are searched from the operands of an operation.
const MAX_SEARCHED: usize = 64;

impl ValueGraph {
    /// Returns the source locations of the nodes between `operands` and the inputs of `built`, in ascending order.
    /// Their operations are part of `built`, whose nodes were added from `first` on. Returns an empty list if the
    /// search exceeds `MAX_SEARCHED` nodes.
    pub fn find_absorbed_locations(&self, built: NodeId, first: usize, operands: &[NodeId]) -> Vec<usize> {
        let read = self.collect_inputs_since(built, first);
        if operands.iter().all(|operand| read.contains(operand)) {
            return Vec::new();
        }
        let mut leads = BTreeMap::new();
        for &operand in operands {
            if self.depends_on_any(operand, &read, &mut leads).is_none() {
                return Vec::new();
            }
        }
        let absorbed = leads.into_iter().filter(|(id, leads)| *leads && !read.contains(id));
        absorbed.map(|(id, _)| self.location(id)).collect::<BTreeSet<usize>>().into_iter().collect()
    }

    /// Replaces source location `place` by `by` in the nodes from `first` on.
    pub fn replace_location(&mut self, first: usize, place: usize, by: usize) {
        self.locations[first..].iter_mut().filter(|own| **own == place).for_each(|own| *own = by);
    }

    /// Returns `id`, the nodes from `first` on that it depends on, and the older nodes that are their inputs.
    fn collect_inputs_since(&self, id: NodeId, first: usize) -> BTreeSet<NodeId> {
        let (mut found, mut open) = (BTreeSet::new(), vec![id]);
        while let Some(id) = open.pop() {
            if found.insert(id) && id.0 >= first {
                open.extend(&self.node(id).inputs);
            }
        }
        found
    }

    /// Returns whether a node is in `read` or depends on a node in it. Returns None beyond the limit. Constants depend
    /// on nothing. `leads` caches results.
    fn depends_on_any(&self, id: NodeId, read: &BTreeSet<NodeId>, leads: &mut BTreeMap<NodeId, bool>) -> Option<bool> {
        if let Some(&known) = leads.get(&id) {
            return Some(known);
        }
        if leads.len() >= MAX_SEARCHED {
            return None;
        }
        let mut is_lead = read.contains(&id) && !matches!(self.node(id).kind, NodeKind::Constant(_));
        leads.insert(id, is_lead);
        if !is_lead {
            for &input in &self.node(id).inputs {
                is_lead |= self.depends_on_any(input, read, leads)?;
            }
            leads.insert(id, is_lead);
        }
        Some(is_lead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeElementType;

    fn op(graph: &mut ValueGraph, place: usize, inputs: &[NodeId]) -> NodeId {
        graph.set_location(place);
        graph.add(NodeKind::Pointwise("exp", Vec::new()), inputs, vec![4], NodeElementType::F16)
    }

    #[test]
    fn absorbs_operations_between_operands_and_inputs() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![4], NodeElementType::F16);
        let half = graph.add_scalar(0.5);
        let scaled = op(&mut graph, 1, &[x, half]);
        let other = op(&mut graph, 2, &[x]);
        let first = graph.len();
        let inner = op(&mut graph, 3, &[x, x]);
        let last = op(&mut graph, 3, &[inner]);
        assert_eq!(graph.find_absorbed_locations(last, first, &[scaled, other]), [1, 2]);
        let first = graph.len();
        let apart = op(&mut graph, 4, &[scaled]);
        assert_eq!(
            graph.find_absorbed_locations(apart, first, &[scaled]),
            [0_usize; 0],
            "an operand that is read is no part of its reader"
        );
        let unread = graph.add_tensor(1, vec![4], NodeElementType::F16);
        let dead = op(&mut graph, 5, &[unread]);
        let first = graph.len();
        let last = op(&mut graph, 6, &[x, x, x]);
        assert_eq!(
            graph.find_absorbed_locations(last, first, &[dead, x]),
            [0_usize; 0],
            "a branch that is not selected is not computed"
        );
    }
}
