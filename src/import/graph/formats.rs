//! Formats of floating-point tensors: f32 in a program that the device computes in 16 bits.

use super::{Element, Graph, Kind, Node, NodeId};
use std::collections::BTreeSet;

impl Graph {
    /// Returns whether f32 is computed in single precision.
    pub fn has_single_precision(&mut self) -> bool {
        self.asks_for_format = true;
        !self.is_narrow
    }

    /// Returns whether the built nodes are valid only for the current choice of the f32 format.
    #[must_use]
    pub const fn is_for_format(&self, is_narrow: bool) -> bool {
        !self.asks_for_format || self.is_narrow == is_narrow
    }

    /// Records that the program holds a tensor in f32.
    pub fn note_single(&mut self, number: usize) {
        self.single_tensors.insert(number);
    }

    /// Returns whether the program holds a tensor in f32.
    #[must_use]
    pub fn is_single_tensor(&self, number: usize) -> bool {
        self.single_tensors.contains(&number)
    }

    /// Returns whether the device must hold a tensor in 16 bits.
    #[must_use]
    pub fn is_kept_narrow(&self, number: usize) -> bool {
        self.narrow_tensors.contains(&number)
    }

    /// Returns the tensors that must be held in 16 bits: those known before, and those that `roots` need both in single precision and in another
    /// format.
    #[must_use]
    pub fn narrow_tensors(&self, roots: &[NodeId]) -> BTreeSet<usize> {
        let (mut single, mut narrow) = (BTreeSet::new(), self.narrow_tensors.clone());
        let is_moved = |id: NodeId| self.source_of(id).is_some() && !matches!(self.node(id).kind, Kind::Tensor(_));
        for id in self.needed_for(roots, |_| false) {
            let Node { kind, inputs, element, .. } = self.node(id);
            match (kind, element) {
                (Kind::Tensor(number), Element::Single) => _ = single.insert(*number),
                (Kind::Tensor(number), element) if element.is_float() => _ = narrow.insert(*number),
                (_, Element::Single) if self.number_of_integers(id).is_some() => single.extend(self.number_of_integers(id)),
                // Integers that are moved only are those of their readers.
                _ if is_moved(id) => {}
                _ => narrow.extend(inputs.iter().filter_map(|&input| self.source_of(input))),
            }
        }
        narrow.extend(roots.iter().filter_map(|&root| self.source_of(root)));
        narrow.retain(|number| single.contains(number) || self.narrow_tensors.contains(number));
        narrow
    }
}
