//! Tensors with borders: the padding of a convolution, and what makes a dimension a multiple of the stride it is read with.

use super::{Element, Graph, Kind, Known, NodeId, linear::Linear};
use crate::affine::Expr;

impl Graph {
    /// A tensor with `low` elements of a number in front of each dimension and `high` behind it. Of what has such borders already there
    /// are wider ones.
    pub(in crate::import) fn padded(&mut self, input: NodeId, low: &[i64], high: &[i64], number: NodeId) -> NodeId {
        if low.iter().chain(high).all(|&size| size == 0) || self.number_of(input) == self.number_of(number) {
            return input;
        }
        if let Some(inner) = self.padding_of(input).filter(|inner| inner.number == number) {
            let around = self.node(input).shape.clone();
            let part = self.node(inner.part).shape.clone();
            let low: Vec<i64> = inner.low.iter().zip(low).map(|(inner, outer)| inner + outer).collect();
            let behind = |dim: usize| around[dim] - inner.low[dim] - part[dim] + high[dim];
            let high: Vec<i64> = (0..part.len()).map(behind).collect();
            return self.bordered(inner.part, &low, &high, number);
        }
        self.bordered(input, low, high, number)
    }

    /// A tensor under other indices, which may have strides.
    pub(in crate::import) fn strided(&mut self, input: NodeId, map: Vec<Expr>, shape: &[i64]) -> NodeId {
        let input = self.divisible(input, &map, shape);
        self.view(input, map, shape)
    }

    /// A tensor that can be read at these indices of an iteration space: a dimension that is read with a stride is a multiple of it, so
    /// that it can be shown as two. Where it is none, borders are added, which nobody reads.
    pub(in crate::import) fn divisible(&mut self, input: NodeId, map: &[Expr], sizes: &[i64]) -> NodeId {
        let node = self.node(input);
        if matches!(node.kind, Kind::Known(_) | Kind::Undefined | Kind::Refused(_)) || node.shape.len() != map.len() {
            return input;
        }
        let stride = |expr: &Expr| Linear::of(expr, sizes).and_then(|linear| linear.terms.last().map(|&(_, factor)| factor));
        let missing =
            |(expr, &size): (&Expr, &i64)| stride(expr).filter(|&stride| stride > 1).map_or(0, |stride| (stride - size % stride) % stride);
        let high: Vec<i64> = map.iter().zip(&node.shape).map(missing).collect();
        let element = if node.element == Element::Bool { Element::F32 } else { node.element };
        let number = self.padding_of(input).map(|known| known.number);
        let number = number.unwrap_or_else(|| self.add(Kind::Known(Known::number(0.0)), &[], Vec::new(), element));
        self.padded(input, &vec![0; high.len()], &high, number)
    }

    fn bordered(&mut self, input: NodeId, low: &[i64], high: &[i64], number: NodeId) -> NodeId {
        let (from, element) = (self.node(input).shape.clone(), self.node(input).element);
        let shape: Vec<i64> = (0..from.len()).map(|dim| low[dim] + from[dim] + high[dim]).collect();
        let mut whole = self.undefined(shape.clone(), element);
        let (mut start, mut size) = (vec![0; shape.len()], shape);
        for dim in 0..from.len() {
            for (first, thickness) in [(0, low[dim]), (low[dim] + from[dim], high[dim])] {
                if thickness > 0 {
                    let (mut offsets, mut slab) = (start.clone(), size.clone());
                    (offsets[dim], slab[dim]) = (first, thickness);
                    let slab = self.filled(number, slab);
                    whole = self.insert(slab, whole, offsets);
                }
            }
            (start[dim], size[dim]) = (low[dim], from[dim]);
        }
        self.insert(input, whole, low.to_vec())
    }

    /// What a tensor with borders is made of; none if it has none.
    fn padding_of(&self, id: NodeId) -> Option<Padding> {
        let Kind::Insert(low) = &self.node(id).kind else { return None };
        let &[part, mut around] = self.node(id).inputs.as_slice() else { return None };
        let mut number = None;
        while let Kind::Insert(_) = self.node(around).kind {
            let &[slab, before] = self.node(around).inputs.as_slice() else { return None };
            let border = (self.node(slab).kind == Kind::Filled).then(|| self.node(slab).inputs[0])?;
            if number.is_some_and(|number| number != border) {
                return None;
            }
            (number, around) = (Some(border), before);
        }
        let is_whole = self.node(around).kind == Kind::Undefined && self.parts_of_unfinished(id).is_none();
        Some(Padding { part, low: low.clone(), number: number.filter(|_| is_whole)? })
    }
}

/// A tensor within borders.
struct Padding {
    part: NodeId,
    low: Vec<i64>,
    number: NodeId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Element;

    #[test]
    fn borders_around_borders_are_wider_ones() {
        let mut graph = Graph::default();
        let x = graph.tensor(0, vec![2, 7, 7, 3], Element::F16);
        let [zero, one] = [0.0, 1.0].map(|number| graph.number(number));
        let once = graph.padded(x, &[0, 1, 1, 0], &[0, 1, 1, 0], zero);
        let twice = graph.padded(once, &[0; 4], &[0, 1, 0, 0], zero);
        assert_eq!(twice, graph.padded(x, &[0, 1, 1, 0], &[0, 2, 1, 0], zero));
        let other = graph.padded(once, &[0; 4], &[0, 1, 0, 0], one);
        assert_eq!(graph.node(graph.node(other).inputs[0]).shape, [2, 9, 9, 3], "another number around what is padded");
        assert_eq!(graph.padded(x, &[0; 4], &[0; 4], zero), x);
    }
}
