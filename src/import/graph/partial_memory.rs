//! Partially written memory. Unwritten elements are neither read nor copied. A box of partially written memory is
//! represented by the slices that lie in it, and a store of the box stores these slices.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, linear_index::LinearIndex};
use program::affine::AffineExpression;

impl ValueGraph {
    /// Returns the slices that were written into memory, in order of writing, if they leave or may leave some elements
    /// unwritten.
    #[must_use]
    pub fn find_partial_slices(&self, whole: NodeId) -> Option<Vec<(NodeId, &[i64])>> {
        let (mut parts, mut into) = (Vec::new(), whole);
        while let NodeKind::Insert(offsets) = &self.node(into).kind {
            let &[part, before] = self.node(into).inputs.as_slice() else { return None };
            parts.push((part, offsets.as_slice()));
            into = before;
        }
        parts.reverse();
        let boxes = parts.iter().map(|&(part, offsets)| (offsets, self.node(part).shape.as_slice()));
        let is_unfinished =
            self.node(into).kind == NodeKind::Undefined && !covers_shape(boxes, &self.node(whole).shape);
        is_unfinished.then_some(parts)
    }

    /// Returns the slices written inside a box of partially written memory, or of a concatenated list of indices; index
    /// map and shape specify the box. Returns None for other tensors, and if the map is not a box.
    pub(super) fn view_inserted_slices(
        &mut self,
        whole: NodeId,
        map: &[AffineExpression],
        shape: &[i64],
    ) -> Option<NodeId> {
        let (parts, below) = match self.copy_partial_slices(whole) {
            Some(parts) => (parts, None),
            None if self.node(whole).element == NodeElementType::Int => self.collect_inserted_slices(whole),
            None => return None,
        };
        let at: Vec<(Option<usize>, i64)> =
            map.iter().map(|expr| parse_box_index(expr, shape)).collect::<Option<_>>()?;
        if (0..shape.len()).any(|dim| at.iter().filter(|(of, _)| *of == Some(dim)).count() > 1) {
            return None;
        }
        let start = match below {
            Some(below) => self.view(below, map.to_vec(), shape),
            None => self.add_undefined(shape.to_vec(), self.node(whole).element),
        };
        let start = self.splat_if_scalar(start, shape);
        Some(parts.into_iter().fold(start, |found, (part, offsets)| {
            let (mut first, mut end) = (vec![0; shape.len()], shape.to_vec());
            let sizes = self.node(part).shape.clone();
            for (&(dim, from), (&offset, &size)) in at.iter().zip(offsets.iter().zip(&sizes)) {
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
            let viewed = at.iter().zip(&offsets).map(index).collect();
            let sizes: Vec<i64> = first.iter().zip(&end).map(|(first, end)| end - first).collect();
            let viewed = self.view(part, viewed, &sizes);
            let viewed = self.splat_if_scalar(viewed, &sizes);
            self.insert(viewed, found, first)
        }))
    }

    /// Writes the slices of partially written memory into a tensor from `offsets` on. Returns None for other tensors.
    pub(super) fn insert_partial_memory(&mut self, part: NodeId, whole: NodeId, offsets: &[i64]) -> Option<NodeId> {
        let parts = self.copy_partial_slices(part)?;
        Some(parts.into_iter().fold(whole, |whole, (inner, within)| {
            let offsets = offsets.iter().zip(within).map(|(outer, inner)| outer + inner).collect();
            self.insert(inner, whole, offsets)
        }))
    }

    /// Returns the slices that were written over a tensor, in order of writing, and that tensor unless it is
    /// uninitialized.
    pub(super) fn collect_inserted_slices(&self, whole: NodeId) -> (Vec<(NodeId, Vec<i64>)>, Option<NodeId>) {
        let (mut parts, mut into) = (Vec::new(), whole);
        while let NodeKind::Insert(offsets) = &self.node(into).kind {
            parts.push((self.node(into).inputs[0], offsets.clone()));
            into = self.node(into).inputs[1];
        }
        parts.reverse();
        (parts, Some(into).filter(|&into| self.node(into).kind != NodeKind::Undefined))
    }

    fn copy_partial_slices(&self, whole: NodeId) -> Option<Vec<(NodeId, Vec<i64>)>> {
        Some(self.find_partial_slices(whole)?.into_iter().map(|(part, offsets)| (part, offsets.to_vec())).collect())
    }
}

/// Parses the index of a box: returns the dimension that it varies along, if any, and its first value.
fn parse_box_index(expr: &AffineExpression, shape: &[i64]) -> Option<(Option<usize>, i64)> {
    // A dimension of size 1 has index 0.
    let LinearIndex { terms, constant } = LinearIndex::from_expr(expr, shape)?;
    match terms.as_slice() {
        [] => Some((None, constant)),
        &[(dim, 1)] => Some((Some(dim), constant)),
        _ => None,
    }
}

/// Returns whether boxes, as offsets and sizes, cover the shape. Boxes that overlap earlier ones do not count.
fn covers_shape<'a>(boxes: impl Iterator<Item = (&'a [i64], &'a [i64])>, shape: &[i64]) -> bool {
    let meet = |one: (&[i64], &[i64]), other: (&[i64], &[i64])| {
        (0..shape.len()).all(|dim| one.0[dim] < other.0[dim] + other.1[dim] && other.0[dim] < one.0[dim] + one.1[dim])
    };
    let mut missing: i64 = shape.iter().product();
    let mut apart: Vec<(&[i64], &[i64])> = Vec::new();
    for next in boxes {
        if !apart.iter().any(|known| meet(*known, next)) {
            missing -= next.1.iter().product::<i64>();
            apart.push(next);
        }
        if missing == 0 {
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
