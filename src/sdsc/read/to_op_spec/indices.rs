//! Names of index tensors, and the coordinates that they replace.

use super::file::{SdscFile, is_index_tensor, is_value_tensor};
use crate::launch::geometry::DimLabel;

/// Returns the name of an index tensor.
pub(super) fn index_name(tensor: usize) -> String {
    format!("index{tensor}")
}

impl SdscFile<'_> {
    /// Returns the index tensors through which a value tensor is accessed, starting with the one that its node is
    /// linked to.
    pub(super) fn find_index_tensors(&self, tensor: usize) -> Vec<usize> {
        let node = &self.dsc.nodes[tensor];
        if !is_value_tensor(node) {
            return Vec::new();
        }
        let mut indices: Vec<_> = self.find_partner(node).into_iter().collect();
        for (index, other) in self.dsc.nodes.iter().enumerate() {
            if is_index_tensor(other) && self.find_partner(other) == Some(tensor) && !indices.contains(&index) {
                indices.push(index);
            }
        }
        indices
    }
}

/// Removes the dimensions of the index tensor from a value tensor's order, and returns the position of the indirect
/// coordinate.
///
/// A position of the tensor's stick is not indirect, so its dimension stays.
pub(super) fn take_indirect(order: &mut Vec<DimLabel>, index_dims: &[DimLabel], stick: Option<DimLabel>) -> usize {
    let is_indirect = |label: &DimLabel| index_dims.contains(label) && stick != Some(*label);
    let place = order.iter().position(is_indirect);
    order.retain(|label| !is_indirect(label));
    place.unwrap_or(order.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_index_at_its_dimensions() {
        let mut order = vec![DimLabel::Mb, DimLabel::X, DimLabel::Out];
        assert_eq!(take_indirect(&mut order, &[DimLabel::Mb, DimLabel::X], Some(DimLabel::Out)), 0);
        assert_eq!(order, [DimLabel::Out]);
        assert_eq!(take_indirect(&mut order, &[], None), 1);
    }
}
