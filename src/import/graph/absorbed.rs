//! Source operations that a rule makes part of another one.
//!
//! A rule that recognizes several operations, such as those of a GELU, builds one node on the operands of the first. The operations in between
//! are then computed by that node, and its location names all of them.

use super::{Graph, Kind, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of nodes that are searched from the operands of an operation.
const MAX_SEARCHED: usize = 64;

impl Graph {
    /// Returns the source locations of the nodes between `operands` and what `built` reads, in ascending order: their operations are part of
    /// `built`, which was built with the nodes from `first` on. Returns none if there are too many to tell.
    pub fn absorbed_places(&self, built: NodeId, first: usize, operands: &[NodeId]) -> Vec<usize> {
        let read = self.read_by(built, first);
        if operands.iter().all(|operand| read.contains(operand)) {
            return Vec::new();
        }
        let mut leads = BTreeMap::new();
        for &operand in operands {
            if self.leads_to(operand, &read, &mut leads).is_none() {
                return Vec::new();
            }
        }
        let absorbed = leads.into_iter().filter(|(id, leads)| *leads && !read.contains(id));
        absorbed.map(|(id, _)| self.place(id)).collect::<BTreeSet<usize>>().into_iter().collect()
    }

    /// Gives the nodes from `first` on that have the source location `place` another one.
    pub fn replace_place(&mut self, first: usize, place: usize, by: usize) {
        self.places[first..].iter_mut().filter(|own| **own == place).for_each(|own| *own = by);
    }

    /// Returns a node, the nodes from `first` on that it depends on, and the older nodes that these read.
    fn read_by(&self, id: NodeId, first: usize) -> BTreeSet<NodeId> {
        let (mut found, mut open) = (BTreeSet::new(), vec![id]);
        while let Some(id) = open.pop() {
            if found.insert(id) && id.0 >= first {
                open.extend(&self.node(id).inputs);
            }
        }
        found
    }

    /// Returns whether a node depends on one of `read` or is one; `None` beyond the limit. Constants lead nowhere.
    fn leads_to(&self, id: NodeId, read: &BTreeSet<NodeId>, leads: &mut BTreeMap<NodeId, bool>) -> Option<bool> {
        if let Some(&known) = leads.get(&id) {
            return Some(known);
        }
        if leads.len() >= MAX_SEARCHED {
            return None;
        }
        let mut is_lead = read.contains(&id) && !matches!(self.node(id).kind, Kind::Known(_));
        leads.insert(id, is_lead);
        if !is_lead {
            for &input in &self.node(id).inputs {
                is_lead |= self.leads_to(input, read, leads)?;
            }
            leads.insert(id, is_lead);
        }
        Some(is_lead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::Element;

    fn op(graph: &mut Graph, place: usize, inputs: &[NodeId]) -> NodeId {
        graph.set_place(place);
        graph.add(Kind::Pointwise("exp", Vec::new()), inputs, vec![4], Element::F16)
    }

    #[test]
    fn operations_between_the_operands_and_what_is_read_are_absorbed() {
        let mut graph = Graph::default();
        let x = graph.tensor(0, vec![4], Element::F16);
        let half = graph.number(0.5);
        let scaled = op(&mut graph, 1, &[x, half]);
        let other = op(&mut graph, 2, &[x]);
        let first = graph.len();
        let inner = op(&mut graph, 3, &[x, x]);
        let last = op(&mut graph, 3, &[inner]);
        assert_eq!(graph.absorbed_places(last, first, &[scaled, other]), [1, 2]);
        let first = graph.len();
        let apart = op(&mut graph, 4, &[scaled]);
        assert_eq!(graph.absorbed_places(apart, first, &[scaled]), [0_usize; 0], "an operand that is read is no part of its reader");
        let unread = graph.tensor(1, vec![4], Element::F16);
        let dead = op(&mut graph, 5, &[unread]);
        let first = graph.len();
        let last = op(&mut graph, 6, &[x, x, x]);
        assert_eq!(graph.absorbed_places(last, first, &[dead, x]), [0_usize; 0], "a branch that is not selected is not computed");
    }
}
