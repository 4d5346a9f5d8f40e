//! Index tensors: what they are called and which coordinates they stand for.

use super::file::{File, is_index, is_value};
use crate::launch::geometry::Label;

/// The name that an index tensor is given.
pub(super) fn index_name(tensor: usize) -> String {
    format!("index{tensor}")
}

impl File<'_> {
    /// The index tensors that a value tensor is read through, the one that its node is linked to first.
    pub(super) fn indices_of(&self, tensor: usize) -> Vec<usize> {
        let node = &self.dsc.nodes[tensor];
        if !is_value(node) {
            return Vec::new();
        }
        let mut indices: Vec<_> = self.partner(node).into_iter().collect();
        for (index, other) in self.dsc.nodes.iter().enumerate() {
            if is_index(other) && self.partner(other) == Some(tensor) && !indices.contains(&index) {
                indices.push(index);
            }
        }
        indices
    }
}

/// Takes out of a value tensor's order what its index tensor stands for, and gives the place of the indirect coordinate.
///
/// A position of the tensor's stick is not indirect, so its dimension stays.
pub(super) fn take_indirect(order: &mut Vec<Label>, index_dims: &[Label], stick: Option<Label>) -> usize {
    let is_indirect = |label: &Label| index_dims.contains(label) && stick != Some(*label);
    let place = order.iter().position(is_indirect);
    order.retain(|label| !is_indirect(label));
    place.unwrap_or(order.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_stands_where_its_dimensions_do() {
        let mut order = vec![Label::Mb, Label::X, Label::Out];
        assert_eq!(take_indirect(&mut order, &[Label::Mb, Label::X], Some(Label::Out)), 0);
        assert_eq!(order, [Label::Out]);
        assert_eq!(take_indirect(&mut order, &[], None), 1);
    }
}
