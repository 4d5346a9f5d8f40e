//! Partially written memory. Unwritten elements are neither read nor copied: a box of such memory is represented by the slices that lie in
//! it, and storing the box elsewhere stores these slices.

use super::{Element, Graph, Kind, NodeId, linear::Linear};
use program::affine::Expr;

impl Graph {
    /// Returns the slices that were written into memory, in order of writing, if they leave or may leave some elements unwritten.
    #[must_use]
    pub fn parts_of_unfinished(&self, whole: NodeId) -> Option<Vec<(NodeId, &[i64])>> {
        let (mut parts, mut into) = (Vec::new(), whole);
        while let Kind::Insert(offsets) = &self.node(into).kind {
            let &[part, before] = self.node(into).inputs.as_slice() else { return None };
            parts.push((part, offsets.as_slice()));
            into = before;
        }
        parts.reverse();
        let boxes = parts.iter().map(|&(part, offsets)| (offsets, self.node(part).shape.as_slice()));
        let is_unfinished = self.node(into).kind == Kind::Undefined && !fill(boxes, &self.node(whole).shape);
        is_unfinished.then_some(parts)
    }

    /// Returns the slices written inside a box of partially written memory, or of a concatenated list of indices; index map and shape specify
    /// the box. Returns None for other tensors, and if the map is not a box.
    pub(super) fn box_of_parts(&mut self, whole: NodeId, map: &[Expr], shape: &[i64]) -> Option<NodeId> {
        let (parts, below) = match self.copied_parts(whole) {
            Some(parts) => (parts, None),
            None if self.node(whole).element == Element::Int => self.joined_parts(whole),
            None => return None,
        };
        let at: Vec<(Option<usize>, i64)> = map.iter().map(|expr| place(expr, shape)).collect::<Option<_>>()?;
        if (0..shape.len()).any(|dim| at.iter().filter(|(of, _)| *of == Some(dim)).count() > 1) {
            return None;
        }
        let start = match below {
            Some(below) => self.view(below, map.to_vec(), shape),
            None => self.undefined(shape.to_vec(), self.node(whole).element),
        };
        let start = self.filled_if_number(start, shape);
        Some(parts.into_iter().fold(start, |found, (part, offsets)| {
            let (mut first, mut end) = (vec![0; shape.len()], shape.to_vec());
            let sizes = self.node(part).shape.clone();
            for (&(dim, from), (&offset, &size)) in at.iter().zip(offsets.iter().zip(&sizes)) {
                match dim {
                    Some(dim) => (first[dim], end[dim]) = ((offset - from).max(0), (offset + size - from).min(shape[dim])),
                    None if (offset..offset + size).contains(&from) => {}
                    None => return found,
                }
            }
            if first.iter().zip(&end).any(|(first, end)| first >= end) {
                return found;
            }
            let index = |(&(dim, from), &offset): (&(Option<usize>, i64), &i64)| {
                let constant = from - offset + dim.map_or(0, |dim| first[dim]);
                Linear { terms: dim.map(|dim| (dim, 1)).into_iter().collect(), constant }.expr(Expr::Dim)
            };
            let shown = at.iter().zip(&offsets).map(index).collect();
            let sizes: Vec<i64> = first.iter().zip(&end).map(|(first, end)| end - first).collect();
            let shown = self.view(part, shown, &sizes);
            let shown = self.filled_if_number(shown, &sizes);
            self.insert(shown, found, first)
        }))
    }

    /// Writes the slices of partially written memory into a tensor from `offsets` on. Returns None for other tensors.
    pub(super) fn insert_unfinished(&mut self, part: NodeId, whole: NodeId, offsets: &[i64]) -> Option<NodeId> {
        let parts = self.copied_parts(part)?;
        Some(parts.into_iter().fold(whole, |whole, (inner, within)| {
            let offsets = offsets.iter().zip(within).map(|(outer, inner)| outer + inner).collect();
            self.insert(inner, whole, offsets)
        }))
    }

    /// Returns the slices that were written over a tensor, in order of writing, and that tensor unless it is uninitialized.
    pub(super) fn joined_parts(&self, whole: NodeId) -> (Vec<(NodeId, Vec<i64>)>, Option<NodeId>) {
        let (mut parts, mut into) = (Vec::new(), whole);
        while let Kind::Insert(offsets) = &self.node(into).kind {
            parts.push((self.node(into).inputs[0], offsets.clone()));
            into = self.node(into).inputs[1];
        }
        parts.reverse();
        (parts, Some(into).filter(|&into| self.node(into).kind != Kind::Undefined))
    }

    fn copied_parts(&self, whole: NodeId) -> Option<Vec<(NodeId, Vec<i64>)>> {
        Some(self.parts_of_unfinished(whole)?.into_iter().map(|(part, offsets)| (part, offsets.to_vec())).collect())
    }
}

/// Index of a box: the dimension that it varies along, if any, and its first value.
fn place(expr: &Expr, shape: &[i64]) -> Option<(Option<usize>, i64)> {
    // A dimension of size 1 has index 0.
    let Linear { terms, constant } = Linear::of(expr, shape)?;
    match terms.as_slice() {
        [] => Some((None, constant)),
        &[(dim, 1)] => Some((Some(dim), constant)),
        _ => None,
    }
}

/// Whether boxes, as offsets and sizes, are all of a tensor; what lies across others before it does not count.
fn fill<'a>(boxes: impl Iterator<Item = (&'a [i64], &'a [i64])>, shape: &[i64]) -> bool {
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
    fn what_has_all_its_parts_is_finished_whatever_is_written_later() {
        let mut graph = Graph::default();
        let [half, all] = [vec![4, 64], vec![8, 64]];
        let part = graph.tensor(0, half, Element::F16);
        let memory = graph.undefined(all, Element::F16);
        let first = graph.insert(part, memory, vec![0, 0]);
        let across = graph.insert(part, first, vec![2, 0]);
        let second = graph.insert(part, first, vec![4, 0]);
        let later = graph.insert(part, second, vec![2, 0]);
        let n_parts = |whole: NodeId| graph.parts_of_unfinished(whole).map(|parts| parts.len());
        assert_eq!([first, across, second, later].map(n_parts), [Some(1), Some(2), None, None]);
    }

    #[test]
    fn of_unfinished_memory_only_what_was_written_is_read() {
        let mut graph = Graph::default();
        let part = graph.tensor(0, vec![4, 64], Element::F16);
        let memory = graph.undefined(vec![16, 64], Element::F16);
        let unfinished = graph.insert(part, memory, vec![2, 0]);
        let rows = |graph: &mut Graph, first: i64, size: i64| {
            let row = Linear { terms: vec![(0, 1)], constant: first }.expr(Expr::Dim);
            graph.view(unfinished, vec![row, Expr::Dim(1)], &[size, 64])
        };
        let inside = rows(&mut graph, 3, 2);
        assert_eq!(inside, slice(&mut graph, part, 1, 2));
        let across = rows(&mut graph, 4, 8);
        assert_eq!(graph.node(across).kind, Kind::Insert(vec![0, 0]));
        assert_eq!(graph.node(graph.node(across).inputs[0]).shape, [2, 64]);
        let outside = rows(&mut graph, 8, 8);
        assert_eq!(graph.node(outside).kind, Kind::Undefined);
    }

    #[test]
    fn unfinished_memory_is_written_by_its_parts() {
        let mut graph = Graph::default();
        let part = graph.tensor(0, vec![4, 64], Element::F16);
        let memory = graph.undefined(vec![8, 64], Element::F16);
        let unfinished = graph.insert(part, memory, vec![2, 0]);
        let whole = graph.tensor(1, vec![16, 64], Element::F16);
        let written = graph.insert(unfinished, whole, vec![5, 0]);
        assert_eq!(graph.node(written).kind, Kind::Insert(vec![7, 0]));
        assert_eq!(graph.node(written).inputs, [part, whole]);
    }

    fn slice(graph: &mut Graph, of: NodeId, first: i64, size: i64) -> NodeId {
        let row = Linear { terms: vec![(0, 1)], constant: first }.expr(Expr::Dim);
        graph.view(of, vec![row, Expr::Dim(1)], &[size, 64])
    }
}
