//! Partially initialized tensors: chains of `Insert` nodes that begin with an `Undefined` node.
//!
//! Uninitialized elements are neither read nor copied. A read of a box, that is, of a rectangular region, becomes
//! inserts of the parts of the written slices that lie in the box. A store of a partially initialized tensor stores its
//! written slices only.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, linear_index::LinearIndex};
use program::affine::AffineExpression;

impl ValueGraph {
    /// Returns the slices that were written into an uninitialized tensor, with their offsets and in order of writing,
    /// if they leave or may leave some elements uninitialized. Returns `None` for other tensors.
    #[must_use]
    pub fn find_partial_slices(&self, tensor: NodeId) -> Option<Vec<(NodeId, &[i64])>> {
        let (mut slices, mut destination) = (Vec::new(), tensor);
        while let NodeKind::Insert(offsets) = &self.node(destination).kind {
            let &[slice, previous] = self.node(destination).inputs.as_slice() else { return None };
            slices.push((slice, offsets.as_slice()));
            destination = previous;
        }
        slices.reverse();
        let boxes = slices.iter().map(|&(part, offsets)| (offsets, self.node(part).shape.as_slice()));
        let is_partial =
            self.node(destination).kind == NodeKind::Undefined && !covers_shape(boxes, &self.node(tensor).shape);
        is_partial.then_some(slices)
    }

    /// Builds a view of a box of a tensor from the slices that were written inside the box; `map` and `shape` specify
    /// the box. The tensor is partially initialized, or it has indices as elements and consists of inserted slices.
    /// Returns `None` for other tensors, and if `map` does not describe a box.
    pub(super) fn view_inserted_slices(
        &mut self,
        tensor: NodeId,
        map: &[AffineExpression],
        shape: &[i64],
    ) -> Option<NodeId> {
        let (slices, base) = match self.copy_partial_slices(tensor) {
            Some(parts) => (parts, None),
            None if self.node(tensor).element == NodeElementType::Int => self.collect_inserted_slices(tensor),
            None => return None,
        };
        let box_indices: Vec<(Option<usize>, i64)> =
            map.iter().map(|expr| parse_box_index(expr, shape)).collect::<Option<_>>()?;
        if (0..shape.len())
            .any(|dim| box_indices.iter().filter(|(varying_dim, _)| *varying_dim == Some(dim)).count() > 1)
        {
            return None;
        }
        let start = match base {
            Some(below) => self.view(below, map.to_vec(), shape),
            None => self.add_undefined(shape.to_vec(), self.node(tensor).element),
        };
        let start = self.splat_if_scalar(start, shape);
        Some(slices.into_iter().fold(start, |found, (part, offsets)| {
            let (mut first, mut end) = (vec![0; shape.len()], shape.to_vec());
            let sizes = self.node(part).shape.clone();
            for (&(dim, from), (&offset, &size)) in box_indices.iter().zip(offsets.iter().zip(&sizes)) {
                match dim {
                    Some(dim) => {
                        (first[dim], end[dim]) = ((offset - from).max(0), (offset + size - from).min(shape[dim]))
                    }
                    None if (offset..offset + size).contains(&from) => {}
                    None => return found,
                }
            }
            if first.iter().zip(&end).any(|(first, end)| first >= end) {
                return found;
            }
            let index = |(&(dim, from), &offset): (&(Option<usize>, i64), &i64)| {
                let constant = from - offset + dim.map_or(0, |dim| first[dim]);
                LinearIndex { terms: dim.map(|dim| (dim, 1)).into_iter().collect(), constant }
                    .to_expr(AffineExpression::Dim)
            };
            let viewed = box_indices.iter().zip(&offsets).map(index).collect();
            let sizes: Vec<i64> = first.iter().zip(&end).map(|(first, end)| end - first).collect();
            let viewed = self.view(part, viewed, &sizes);
            let viewed = self.splat_if_scalar(viewed, &sizes);
            self.insert(viewed, found, first)
        }))
    }

    /// Inserts the written slices of a partially initialized tensor into another tensor at `offsets`. Returns `None` if
    /// the first tensor is not partially initialized.
    pub(super) fn insert_partial_memory(
        &mut self,
        source: NodeId,
        destination: NodeId,
        offsets: &[i64],
    ) -> Option<NodeId> {
        let parts = self.copy_partial_slices(source)?;
        Some(parts.into_iter().fold(destination, |destination, (inner, within)| {
            let offsets = offsets.iter().zip(within).map(|(outer, inner)| outer + inner).collect();
            self.insert(inner, destination, offsets)
        }))
    }

    /// Returns the slices that were inserted into a tensor, with their offsets and in order of writing, and the tensor
    /// before the first insertion unless it is uninitialized.
    pub(super) fn collect_inserted_slices(&self, tensor: NodeId) -> (Vec<(NodeId, Vec<i64>)>, Option<NodeId>) {
        let (mut slices, mut destination) = (Vec::new(), tensor);
        while let NodeKind::Insert(offsets) = &self.node(destination).kind {
            slices.push((self.node(destination).inputs[0], offsets.clone()));
            destination = self.node(destination).inputs[1];
        }
        slices.reverse();
        (slices, Some(destination).filter(|&into| self.node(into).kind != NodeKind::Undefined))
    }

    /// Returns the slices of [`Self::find_partial_slices`] with owned offsets.
    fn copy_partial_slices(&self, tensor: NodeId) -> Option<Vec<(NodeId, Vec<i64>)>> {
        Some(self.find_partial_slices(tensor)?.into_iter().map(|(part, offsets)| (part, offsets.to_vec())).collect())
    }
}

/// Parses the index of one tensor dimension in a box: returns the dimension of the box along which it varies, if any,
/// and its first value.
fn parse_box_index(expr: &AffineExpression, shape: &[i64]) -> Option<(Option<usize>, i64)> {
    // The conversion omits dimensions of size 1, whose only index is 0.
    let LinearIndex { terms, constant } = LinearIndex::from_expr(expr, shape)?;
    match terms.as_slice() {
        [] => Some((None, constant)),
        &[(dim, 1)] => Some((Some(dim), constant)),
        _ => None,
    }
}

/// Returns whether boxes, given as offsets and sizes, cover a tensor of this shape. A box that overlaps an earlier box
/// is ignored, so the result may be false although the boxes cover the tensor.
fn covers_shape<'a>(boxes: impl Iterator<Item = (&'a [i64], &'a [i64])>, shape: &[i64]) -> bool {
    let overlap = |one: (&[i64], &[i64]), other: (&[i64], &[i64])| {
        (0..shape.len()).all(|dim| one.0[dim] < other.0[dim] + other.1[dim] && other.0[dim] < one.0[dim] + one.1[dim])
    };
    let mut num_uncovered: i64 = shape.iter().product();
    let mut disjoint_boxes: Vec<(&[i64], &[i64])> = Vec::new();
    for next in boxes {
        if !disjoint_boxes.iter().any(|known| overlap(*known, next)) {
            num_uncovered -= next.1.iter().product::<i64>();
            disjoint_boxes.push(next);
        }
        if num_uncovered == 0 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treats_covered_memory_as_complete() {
        let mut graph = ValueGraph::default();
        let [half, all] = [vec![4, 64], vec![8, 64]];
        let part = graph.add_tensor(0, half, NodeElementType::F16);
        let memory = graph.add_undefined(all, NodeElementType::F16);
        let first = graph.insert(part, memory, vec![0, 0]);
        let across = graph.insert(part, first, vec![2, 0]);
        let second = graph.insert(part, first, vec![4, 0]);
        let later = graph.insert(part, second, vec![2, 0]);
        let num_parts = |whole: NodeId| graph.find_partial_slices(whole).map(|parts| parts.len());
        assert_eq!([first, across, second, later].map(num_parts), [Some(1), Some(2), None, None]);
    }

    #[test]
    fn reads_only_written_elements() {
        let mut graph = ValueGraph::default();
        let part = graph.add_tensor(0, vec![4, 64], NodeElementType::F16);
        let memory = graph.add_undefined(vec![16, 64], NodeElementType::F16);
        let unfinished = graph.insert(part, memory, vec![2, 0]);
        let rows = |graph: &mut ValueGraph, first: i64, size: i64| {
            let row = LinearIndex { terms: vec![(0, 1)], constant: first }.to_expr(AffineExpression::Dim);
            graph.view(unfinished, vec![row, AffineExpression::Dim(1)], &[size, 64])
        };
        let inside = rows(&mut graph, 3, 2);
        assert_eq!(inside, slice(&mut graph, part, 1, 2));
        let across = rows(&mut graph, 4, 8);
        assert_eq!(graph.node(across).kind, NodeKind::Insert(vec![0, 0]));
        assert_eq!(graph.node(graph.node(across).inputs[0]).shape, [2, 64]);
        let outside = rows(&mut graph, 8, 8);
        assert_eq!(graph.node(outside).kind, NodeKind::Undefined);
    }

    #[test]
    fn inserts_slices_of_partial_memory() {
        let mut graph = ValueGraph::default();
        let part = graph.add_tensor(0, vec![4, 64], NodeElementType::F16);
        let memory = graph.add_undefined(vec![8, 64], NodeElementType::F16);
        let unfinished = graph.insert(part, memory, vec![2, 0]);
        let whole = graph.add_tensor(1, vec![16, 64], NodeElementType::F16);
        let written = graph.insert(unfinished, whole, vec![5, 0]);
        assert_eq!(graph.node(written).kind, NodeKind::Insert(vec![7, 0]));
        assert_eq!(graph.node(written).inputs, [part, whole]);
    }

    fn slice(graph: &mut ValueGraph, of: NodeId, first: i64, size: i64) -> NodeId {
        let row = LinearIndex { terms: vec![(0, 1)], constant: first }.to_expr(AffineExpression::Dim);
        graph.view(of, vec![row, AffineExpression::Dim(1)], &[size, 64])
    }
}
