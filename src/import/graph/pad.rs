//! Padding: the borders of a convolution, and padding of a dimension to a multiple of the stride with which it is read.

use super::{
    ConstantTensor, NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode,
    linear_index::{LinearIndex, MAX_WINDOW_PARTS, enumerate_points},
};
use program::affine::AffineExpression;

impl ValueGraph {
    /// Pads a tensor with `low` elements of a number at the start and `high` at the end of each dimension; negative
    /// amounts crop. Equal existing padding is widened.
    pub(in crate::import) fn pad(&mut self, input: NodeId, low: &[i64], high: &[i64], number: NodeId) -> NodeId {
        if low.iter().chain(high).any(|&size| size < 0) {
            return self.crop(input, low, high, number);
        }
        if let NodeKind::Unsupported(rejection) = self.node(input).kind {
            let ValueNode { shape, element, .. } = self.node(input).clone();
            let around = shape.iter().zip(low).zip(high).map(|((size, low), high)| low + size + high).collect();
            return self.add_unsupported(rejection, around, element);
        }
        if low.iter().chain(high).all(|&size| size == 0) || self.as_scalar(input) == self.as_scalar(number) {
            return input;
        }
        if let Some(inner) = self.find_padding(input).filter(|inner| inner.number == number) {
            let around = self.node(input).shape.clone();
            let part = self.node(inner.part).shape.clone();
            let low: Vec<i64> = inner.low.iter().zip(low).map(|(inner, outer)| inner + outer).collect();
            let after = |dim: usize| around[dim] - inner.low[dim] - part[dim] + high[dim];
            let high: Vec<i64> = (0..part.len()).map(after).collect();
            return self.insert_borders(inner.part, &low, &high, number);
        }
        self.insert_borders(input, low, high, number)
    }

    /// Crops a tensor where `low` or `high` are negative, and pads it otherwise.
    fn crop(&mut self, input: NodeId, low: &[i64], high: &[i64], number: NodeId) -> NodeId {
        let from = self.node(input).shape.clone();
        let first: Vec<i64> = low.iter().map(|&low| (-low).max(0)).collect();
        let left: Vec<i64> = (0..from.len()).map(|dim| from[dim] - first[dim] - (-high[dim]).max(0)).collect();
        if left.iter().any(|&size| size <= 0) {
            // The tensor is cropped completely.
            return self.add_splat(number, (0..from.len()).map(|dim| low[dim] + from[dim] + high[dim]).collect());
        }
        let input = self.slice(input, &first, &left);
        let added = |sizes: &[i64]| sizes.iter().map(|&size| size.max(0)).collect::<Vec<_>>();
        self.pad(input, &added(low), &added(high), number)
    }

    /// Returns a view of a tensor, whose indices may have strides.
    pub(in crate::import) fn view_strided(
        &mut self,
        input: NodeId,
        map: Vec<AffineExpression>,
        shape: &[i64],
    ) -> NodeId {
        let input = self.pad_to_stride(input, &map, shape);
        self.view(input, map, shape)
    }

    /// Returns a tensor that can be read at these indices of an iteration space. A dimension that is read with a stride
    /// must be a multiple of the stride, so that it can be split into two. Otherwise it is padded with elements that
    /// are never read.
    pub(in crate::import) fn pad_to_stride(
        &mut self,
        input: NodeId,
        map: &[AffineExpression],
        sizes: &[i64],
    ) -> NodeId {
        let node = self.node(input);
        if matches!(node.kind, NodeKind::Constant(_) | NodeKind::Undefined | NodeKind::Unsupported(_))
            || node.shape.len() != map.len()
        {
            return input;
        }
        let stride = |expr: &AffineExpression| {
            LinearIndex::from_expr(expr, sizes).and_then(|linear| linear.terms.last().map(|&(_, factor)| factor))
        };
        let missing = |(expr, &size): (&AffineExpression, &i64)| {
            stride(expr).filter(|&stride| stride > 1).map_or(0, |stride| (stride - size % stride) % stride)
        };
        let high: Vec<i64> = map.iter().zip(&node.shape).map(missing).collect();
        let element = if node.element == NodeElementType::Bool { NodeElementType::F32 } else { node.element };
        let number = self.find_padding(input).map(|known| known.number);
        let number = number.unwrap_or_else(|| {
            self.add(NodeKind::Constant(ConstantTensor::from_scalar(0.0)), &[], Vec::new(), element)
        });
        self.pad(input, &vec![0; high.len()], &high, number)
    }

    /// Inserts `part` into a tensor of shape `shape`, or into a broadcast number, at `offsets` with `strides`: slice by
    /// slice. Returns None if the insertion takes too many slices.
    pub(in crate::import) fn insert_strided(
        &mut self,
        part: NodeId,
        whole: NodeId,
        shape: &[i64],
        offsets: &[i64],
        strides: &[i64],
    ) -> Option<NodeId> {
        let sizes = self.node(part).shape.clone();
        let strided: Vec<usize> = (0..sizes.len()).filter(|&dim| strides[dim] > 1 && sizes[dim] > 1).collect();
        let counts: Vec<i64> = strided.iter().map(|&dim| sizes[dim]).collect();
        if let Some(number) = self.as_scalar(whole) {
            // One dimension after the other: the elements in between are the same number.
            if counts.iter().sum::<i64>() > MAX_WINDOW_PARTS {
                return None;
            }
            let element = self.node(part).element;
            let number = self.add(NodeKind::Constant(ConstantTensor::from_scalar(number)), &[], Vec::new(), element);
            let apart = strided.into_iter().fold(part, |part, dim| self.dilate(part, dim, strides[dim], number));
            let end = |dim: usize| offsets[dim] + self.node(apart).shape[dim];
            let high: Vec<i64> = (0..shape.len()).map(|dim| shape[dim] - end(dim)).collect();
            return Some(self.pad(apart, offsets, &high, number));
        }
        if counts.iter().fold(1, |product: i64, &count| product.saturating_mul(count)) > MAX_WINDOW_PARTS {
            return None;
        }
        Some(enumerate_points(&counts).into_iter().fold(whole, |whole, point| {
            let (mut first, mut size) = (vec![0; sizes.len()], sizes.clone());
            for (&dim, &index) in strided.iter().zip(&point) {
                (first[dim], size[dim]) = (index, 1);
            }
            let at = (0..sizes.len()).map(|dim| offsets[dim] + first[dim] * strides[dim]).collect();
            self.insert_box(part, (&first, &size), (whole, shape), at)
        }))
    }

    /// Inserts a number between the positions of a tensor along one dimension.
    fn dilate(&mut self, part: NodeId, dim: usize, stride: i64, number: NodeId) -> NodeId {
        let mut shape = self.node(part).shape.clone();
        let n_positions = shape[dim];
        shape[dim] = (n_positions - 1) * stride + 1;
        let whole = self.add_splat(number, shape.clone());
        let apart = shape.clone();
        shape[dim] = 1;
        (0..n_positions).fold(whole, |whole, position| {
            let (mut first, mut at) = (vec![0; shape.len()], vec![0; shape.len()]);
            (first[dim], at[dim]) = (position, position * stride);
            self.insert_box(part, (&first, &shape), (whole, &apart), at)
        })
    }

    /// Inserts a box of `part` into `whole`, which has the given shape. Scalars stand for tensors of equal elements,
    /// also as the result.
    fn insert_box(
        &mut self,
        part: NodeId,
        (first, sizes): (&[i64], &[i64]),
        (whole, shape): (NodeId, &[i64]),
        at: Vec<i64>,
    ) -> NodeId {
        let slice = self.slice(part, first, sizes);
        let [slice, whole] = [(slice, sizes), (whole, shape)].map(|(node, shape)| self.splat_if_scalar(node, shape));
        let inserted = self.insert(slice, whole, at);
        self.splat_if_scalar(inserted, shape)
    }

    /// Returns the box of a tensor that begins at `first`.
    pub(in crate::import) fn slice(&mut self, of: NodeId, first: &[i64], shape: &[i64]) -> NodeId {
        let index = |(dim, &first): (usize, &i64)| {
            LinearIndex { terms: vec![(dim, 1)], constant: first }.to_expr(AffineExpression::Dim)
        };
        let map = first.iter().enumerate().map(index).collect();
        self.view(of, map, shape)
    }

    fn insert_borders(&mut self, input: NodeId, low: &[i64], high: &[i64], number: NodeId) -> NodeId {
        let (from, element) = (self.node(input).shape.clone(), self.node(input).element);
        let shape: Vec<i64> = (0..from.len()).map(|dim| low[dim] + from[dim] + high[dim]).collect();
        let mut whole = self.add_undefined(shape.clone(), element);
        let (mut start, mut size) = (vec![0; shape.len()], shape);
        for dim in 0..from.len() {
            for (first, thickness) in [(0, low[dim]), (low[dim] + from[dim], high[dim])] {
                if thickness > 0 {
                    let (mut offsets, mut slab) = (start.clone(), size.clone());
                    (offsets[dim], slab[dim]) = (first, thickness);
                    let slab = self.add_splat(number, slab);
                    whole = self.insert(slab, whole, offsets);
                }
            }
            (start[dim], size[dim]) = (low[dim], from[dim]);
        }
        self.insert(input, whole, low.to_vec())
    }

    /// Returns the padded tensor, its low padding and the padding value; None if `id` is not a padded tensor.
    fn find_padding(&self, id: NodeId) -> Option<PaddedTensor> {
        let NodeKind::Insert(low) = &self.node(id).kind else { return None };
        let &[part, mut around] = self.node(id).inputs.as_slice() else { return None };
        let mut number = None;
        while let NodeKind::Insert(_) = self.node(around).kind {
            let &[slab, before] = self.node(around).inputs.as_slice() else { return None };
            let border = (self.node(slab).kind == NodeKind::Splat).then(|| self.node(slab).inputs[0])?;
            if number.is_some_and(|number| number != border) {
                return None;
            }
            (number, around) = (Some(border), before);
        }
        let is_whole = self.node(around).kind == NodeKind::Undefined && self.find_partial_slices(id).is_none();
        Some(PaddedTensor { part, low: low.clone(), number: number.filter(|_| is_whole)? })
    }
}

/// Padded tensor.
struct PaddedTensor {
    part: NodeId,
    low: Vec<i64>,
    number: NodeId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::NodeElementType;

    #[test]
    fn widens_existing_borders() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![2, 7, 7, 3], NodeElementType::F16);
        let [zero, one] = [0.0, 1.0].map(|number| graph.add_scalar(number));
        let once = graph.pad(x, &[0, 1, 1, 0], &[0, 1, 1, 0], zero);
        let twice = graph.pad(once, &[0; 4], &[0, 1, 0, 0], zero);
        assert_eq!(twice, graph.pad(x, &[0, 1, 1, 0], &[0, 2, 1, 0], zero));
        let other = graph.pad(once, &[0; 4], &[0, 1, 0, 0], one);
        assert_eq!(graph.node(graph.node(other).inputs[0]).shape, [2, 9, 9, 3], "another number around what is padded");
        assert_eq!(graph.pad(x, &[0; 4], &[0; 4], zero), x);
    }
}
