//! `spyre-import-linalg`, a `linalg.generic` whose operands are read through windows: convolutions, poolings and
//! unfoldings, one kernel point at a time.
//!
//! A kernel of K points becomes K reductions over shifted slices of the operand, combined. This moves fewer bytes than
//! one matmul of the patches. Patches are K times as large as the operand and go through memory, while partial sums
//! remain in LX.

use super::generic::{GenericImporter, GenericIterationSpace};
use crate::{
    codes,
    import::{
        BodyReduction, BodyScalar, Combiner, NodeElementType, NodeId,
        graph::{
            iteration_box::DimRuns,
            linear_index::{LinearIndex, MAX_WINDOW_PARTS, enumerate_points, find_window_dims},
            views,
        },
        rules::pairwise::PairwiseReducer,
    },
    mlir::{AffineExpression, ErrorReported},
};
use std::collections::BTreeSet;

/// Number of elements in a stick of a matmul operand: matmuls use formats of two bytes.
pub(super) const PRODUCT_STICK_ELEMENTS: i64 = machine::STICK_BYTES / 2;
/// Maximum number of iteration dimensions of an op, in addition to one that is added for the stick.
const MAX_ITERATION_DIMS: usize = 6;
/// Maximum number of window points that are combined one by one; larger windows are combined from power-of-two windows.
const MAX_SEQUENTIAL_POINTS: i64 = 8;

impl<'c> GenericImporter<'_, 'c> {
    /// Returns the dimensions along which windows lie, if there are any and they have few enough points.
    pub(super) fn find_window_dims(&self) -> Vec<usize> {
        let maps: Vec<&[AffineExpression]> =
            self.space.operands[..self.num_inputs].iter().map(|(_, map)| map.as_slice()).collect();
        let dims = find_window_dims(&maps, &self.space.window.sizes, &self.space.is_reduction);
        let num_points = dims.iter().map(|&dim| self.space.window.sizes[dim]).fold(1, i64::saturating_mul);
        // A sum of windows along several dimensions is computed one dimension at a time.
        if dims.iter().all(|&dim| self.space.window.sizes[dim] <= MAX_WINDOW_PARTS)
            && num_points <= MAX_WINDOW_PARTS * MAX_WINDOW_PARTS
        {
            dims
        } else {
            Vec::new()
        }
    }

    /// Removes kernels of one point from the iteration space: a layout has fewer dimensions than a convolution.
    pub(super) fn drop_single_points(&mut self) {
        let (sizes, is_reduction) = (&self.space.window.sizes, &self.space.is_reduction);
        let indices = self.space.operands[..self.num_inputs].iter().flat_map(|(_, map)| map);
        let of_windows: BTreeSet<usize> = indices
            .filter(|index| !matches!(index, AffineExpression::Dim(_)))
            .flat_map(AffineExpression::dims)
            .collect();
        let single: Vec<usize> = of_windows.into_iter().filter(|&dim| sizes[dim] == 1 && is_reduction[dim]).collect();
        if !single.is_empty() {
            self.set_space(self.space.fix_dims(&single, &vec![0; single.len()]));
        }
    }

    /// Returns the dimensions of a reduction that are unrolled point by point: window dimensions, and some dimensions
    /// of patches. These are patches with whole sticks at each point, and patches along more dimensions than an op may
    /// iterate over. Other patches, with fewer elements, are gathered into sticks.
    pub(super) fn find_unrolled_dims(&self, reduction: &BodyReduction) -> Vec<usize> {
        let windows = self.find_window_dims();
        let is_product = reduction.combiner == Combiner::Sum && self.body.find_product(reduction.new).is_some();
        let (sizes, is_reduction) = (&self.space.window.sizes, &self.space.is_reduction);
        let is_wide = !is_product && sizes.iter().filter(|&&size| size > 1).count() > MAX_ITERATION_DIMS;
        if !windows.is_empty() || !(is_product || is_wide) {
            return windows;
        }
        let indices = self.space.operands[..self.num_inputs].iter().flat_map(|(_, map)| map);
        let sums =
            indices.filter_map(|index| LinearIndex::from_expr(index, sizes)).filter(|linear| linear.terms.len() > 1);
        let of_patches: BTreeSet<usize> =
            sums.flat_map(|linear| linear.terms).map(|(dim, _)| dim).filter(|&dim| is_reduction[dim]).collect();
        let others = (0..sizes.len()).filter(|dim| is_reduction[*dim] && !of_patches.contains(dim));
        let is_stick = others.map(|dim| sizes[dim]).product::<i64>() >= PRODUCT_STICK_ELEMENTS;
        of_patches.into_iter().filter(|_| is_stick || is_wide).collect()
    }

    /// Returns a dimension along which windows overlap that is also a dimension of the result, with a run for each
    /// index.
    pub(super) fn find_unfolded_dim(&self) -> Option<DimRuns> {
        let dims = self.find_window_dims();
        let sizes = &self.space.window.sizes;
        let dim = *dims.first().filter(|_| dims.iter().map(|&dim| sizes[dim]).product::<i64>() <= MAX_WINDOW_PARTS)?;
        Some((dim, (0..sizes[dim]).map(|index| (index, index + 1)).collect()))
    }

    /// Builds a reduction over windows, which lie along `dims`, without its initial value.
    pub(super) fn reduce_windows(
        &mut self,
        dims: &[usize],
        reduction: &BodyReduction,
        result: usize,
    ) -> Result<NodeId, ErrorReported> {
        let whole = self.space.clone();
        let node = match self.pool_operand(dims, reduction)? {
            Some((input, pooled)) => {
                self.set_space(whole.fix_dims(dims, &vec![0; dims.len()]));
                self.operand_nodes[input] = Some(pooled);
                self.build_reductions(reduction, result)
            }
            None => match self.build_packed_windows(dims, reduction, result)? {
                Some(packed) => Ok(packed),
                None => self.reduce_points(&whole, dims, reduction, result),
            },
        };
        self.set_space(whole);
        node
    }

    fn set_space(&mut self, space: GenericIterationSpace<'c>) {
        self.space = space;
        self.clear_cache();
    }

    /// Builds the reduction at each point of the kernel, and combines the results.
    fn reduce_points(
        &mut self,
        whole: &GenericIterationSpace<'c>,
        dims: &[usize],
        reduction: &BodyReduction,
        result: usize,
    ) -> Result<NodeId, ErrorReported> {
        let sizes: Vec<i64> = dims.iter().map(|&dim| whole.window.sizes[dim]).collect();
        if sizes.iter().product::<i64>() > MAX_WINDOW_PARTS {
            let message = codes::TOO_MANY_PARTS.format(format_args!(
                "expected windows of at most {MAX_WINDOW_PARTS} points, found {sizes:?}; use smaller windows"
            ));
            return Ok(self.add_unsupported_result(result, message));
        }
        let mut results = PairwiseReducer::new(!matches!(reduction.combiner, Combiner::Sum | Combiner::Prod));
        for point in enumerate_points(&sizes) {
            self.set_space(whole.fix_dims(dims, &point));
            let node = self.reduce_at_point(reduction, result)?;
            if self.importer.graph.find_unsupported(&[node]).is_some() {
                return Ok(node);
            }
            if let Err(message) = results.push(node, |left, right| self.combine(reduction, left, right)) {
                return Ok(self.add_unsupported_result(result, message));
            }
        }
        match results.finish(|left, right| self.combine(reduction, left, right)) {
            Ok(sum) => Ok(sum.expect("a dimension has a point")),
            Err(message) => Ok(self.add_unsupported_result(result, message)),
        }
    }

    fn combine(&mut self, reduction: &BodyReduction, sum: NodeId, node: NodeId) -> Result<NodeId, String> {
        let graph = &mut self.importer.graph;
        let (element, operation) = (graph.node(node).element, reduction.combiner.operation());
        if element != NodeElementType::Int {
            return graph.apply(operation, &[sum, node], element);
        }
        let [sum, node] = [sum, node].map(|integers| {
            graph.convert_to_numbers(integers).map_err(
                |_| "expected windows of numbers, found integers that the device cannot compute; convert them to f32",
            )
        });
        let of_integers = graph.integers.element();
        let combined = graph.apply(operation, &[sum?, node?], of_integers)?;
        Ok(graph.add_integers(combined))
    }

    /// Returns the operand of a pooling, reduced over its windows dimension by dimension, under the iteration space.
    /// Returns None if more than one operand has windows, or windows of another kind.
    fn pool_operand(
        &mut self,
        dims: &[usize],
        reduction: &BodyReduction,
    ) -> Result<Option<(usize, NodeId)>, ErrorReported> {
        let BodyScalar::Input(input) = reduction.new else { return Ok(None) };
        let sizes = self.space.window.sizes.clone();
        let (value, map) = self.space.operands[input].clone();
        let mut node = self.importer.node_of(self.op, value)?;
        let graph = &self.importer.graph;
        let is_float = graph.node(node).element != NodeElementType::Int;
        let linear: Option<Vec<LinearIndex>> =
            self.space.window.shift_map(&map).iter().map(|expr| LinearIndex::from_expr(expr, &sizes)).collect();
        let Some(mut map) = linear
            .filter(|_| is_float && graph.as_constant(node).is_none() && graph.find_unsupported(&[node]).is_none())
        else {
            return Ok(None);
        };
        let is_of = |linear: &LinearIndex, dim: usize| linear.terms.iter().any(|&(other, _)| other == dim);
        let is_one = |dim: usize| map.iter().filter(|linear| is_of(linear, dim)).count() == 1;
        let is_pair = |linear: &LinearIndex| linear.terms.len() <= 2 || !dims.iter().any(|&dim| is_of(linear, dim));
        if !dims.iter().all(|&dim| is_one(dim)) || !map.iter().all(is_pair) {
            return Ok(None);
        }
        // This is done once for all strides.
        let indices: Vec<AffineExpression> = map.iter().map(|linear| linear.to_expr(AffineExpression::Dim)).collect();
        node = self.importer.graph.pad_to_stride(node, &indices, &sizes);
        for &dim in dims {
            let along = map.iter().position(|linear| is_of(linear, dim)).expect("a window is of an operand");
            match self.pool_along(node, along, &map[along], dim, reduction) {
                Ok(reduced) => node = reduced,
                Err(_) => return Ok(None),
            }
            map[along].terms.retain(|&(other, _)| other != dim);
            // The operand has been shifted to the window already.
            map[along].constant = 0;
            map[along].terms.iter_mut().for_each(|(_, factor)| *factor = 1);
        }
        let left = self.space.fix_dims(dims, &vec![0; dims.len()]);
        let place = |dim: usize| (0..dim).filter(|other| !dims.contains(other)).count();
        let map: Vec<AffineExpression> =
            map.iter().map(|linear| linear.to_expr(|dim| AffineExpression::Dim(place(dim)))).collect();
        let shape = views::compute_used_sizes(&map, &left.window.sizes);
        let node = self.importer.graph.view_strided(node, map, &shape);
        Ok(Some((input, node)))
    }

    /// Reduces the windows along iteration dimension `dim` in dimension `along` of a tensor, which is read at `linear`.
    fn pool_along(
        &mut self,
        whole: NodeId,
        along: usize,
        linear: &LinearIndex,
        dim: usize,
        reduction: &BodyReduction,
    ) -> Result<NodeId, String> {
        let num_points = self.space.window.sizes[dim];
        let apart = linear.terms.iter().find(|(other, _)| *other == dim).map_or(1, |&(_, factor)| factor);
        let rest = linear.terms.iter().find(|(other, _)| *other != dim).copied();
        let (num_windows, stride) = rest.map_or((1, 1), |(dim, stride)| (self.space.window.sizes[dim], stride));
        let first = linear.constant;
        let shifted = |generic: &mut Self, of: NodeId, first: i64, size: i64, stride: i64| {
            let mut shape = generic.importer.graph.node(of).shape.clone();
            shape[along] = size;
            let index = |dim: usize| LinearIndex {
                terms: vec![(dim, if dim == along { stride } else { 1 })],
                constant: if dim == along { first } else { 0 },
            };
            let map = (0..shape.len()).map(|dim| index(dim).to_expr(AffineExpression::Dim)).collect();
            generic.importer.graph.view_strided(of, map, &shape)
        };
        if num_points <= MAX_SEQUENTIAL_POINTS {
            let mut sum = shifted(self, whole, first, num_windows, stride);
            for point in 1..num_points {
                let next = shifted(self, whole, first + point * apart, num_windows, stride);
                sum = self.combine(reduction, sum, next)?;
            }
            return Ok(sum);
        }
        // Builds windows of 1, 2, 4, ... points at every position; a window is the concatenation of those in the binary
        // representation of its size.
        let (mut level, mut length, mut covered) = (whole, 1, 0);
        let mut sum: Option<NodeId> = None;
        loop {
            if num_points & length != 0 {
                let part = shifted(self, level, first + covered * apart, num_windows, stride);
                sum = Some(match sum {
                    None => part,
                    Some(sum) => self.combine(reduction, sum, part)?,
                });
                covered += length;
            }
            if 2 * length > num_points {
                return sum.ok_or_else(|| "expected windows with points, found an empty window".to_owned());
            }
            let size = self.importer.graph.node(level).shape[along] - length * apart;
            let (near, far) = (shifted(self, level, 0, size, 1), shifted(self, level, length * apart, size, 1));
            level = self.combine(reduction, near, far)?;
            length *= 2;
        }
    }
}
