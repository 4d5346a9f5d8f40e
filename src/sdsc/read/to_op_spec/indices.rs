//! Names of index tensors, and the coordinates that they replace.

use super::file::{File, is_index, is_value};
use crate::launch::geometry::Label;

/// Returns the name of an index tensor.
pub(super) fn index_name(tensor: usize) -> String {
    format!("index{tensor}")
}

impl File<'_> {
    /// Returns the index tensors through which a value tensor is accessed, starting with the one that its node is linked to.
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

/// Removes the dimensions of the index tensor from a value tensor's order, and returns the position of the indirect coordinate.
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
