//! `spyre-import-linalg`, a `linalg.generic` whose operands are read through windows: convolutions, poolings and unfoldings, one kernel point
//! at a time.
//!
//! A kernel of K points becomes K reductions over shifted slices of the operand, combined. This moves fewer bytes than one product of the
//! patches: patches are K times as large as the operand and go through memory, while partial sums stay in LX.

use super::generic::{Generic, Space};
use crate::{
    codes,
    import::{
        Combiner, Element, NodeId, Reduction, Scalar,
        graph::{
            linear::{Linear, MOST_PARTS, points, window_dims},
            views,
            window::Runs,
        },
        rules::pairwise::Pairwise,
    },
    mlir::{Expr, Reported},
};
use std::collections::BTreeSet;

/// Number of elements of a product that fill a stick: products are computed in formats of two bytes.
pub(super) const ELEMENTS_OF_A_STICK: i64 = machine::STICK_BYTES / 2;
/// Maximum number of iteration dimensions of an op, in addition to one that is added for the stick.
const MOST_MOVING: usize = 6;
/// Maximum number of window points that are combined one by one; larger windows are combined from power-of-two windows.
const MOST_IN_A_ROW: i64 = 8;

impl<'c> Generic<'_, 'c> {
    /// Returns the dimensions along which windows lie, if there are any and they have few enough points.
    pub(super) fn windows(&self) -> Vec<usize> {
        let maps: Vec<&[Expr]> = self.space.operands[..self.n_inputs].iter().map(|(_, map)| map.as_slice()).collect();
        let dims = window_dims(&maps, &self.space.window.sizes, &self.space.is_reduction);
        let n_points = dims.iter().map(|&dim| self.space.window.sizes[dim]).fold(1, i64::saturating_mul);
        // A sum of windows along several dimensions is computed one dimension at a time.
        if dims.iter().all(|&dim| self.space.window.sizes[dim] <= MOST_PARTS) && n_points <= MOST_PARTS * MOST_PARTS {
            dims
        } else {
            Vec::new()
        }
    }

    /// Removes kernels of one point from the iteration space: a layout has fewer dimensions than a convolution.
    pub(super) fn drop_single_points(&mut self) {
        let (sizes, is_reduction) = (&self.space.window.sizes, &self.space.is_reduction);
        let indices = self.space.operands[..self.n_inputs].iter().flat_map(|(_, map)| map);
        let of_windows: BTreeSet<usize> = indices.filter(|index| !matches!(index, Expr::Dim(_))).flat_map(Expr::dims).collect();
        let single: Vec<usize> = of_windows.into_iter().filter(|&dim| sizes[dim] == 1 && is_reduction[dim]).collect();
        if !single.is_empty() {
            self.stand_at(self.space.at(&single, &vec![0; single.len()]));
        }
    }

    /// Returns the dimensions of a reduction that are unrolled point by point: those of windows, of patches with whole sticks at each point,
    /// and of patches along more dimensions than an op may iterate over. Other patches with fewer elements are gathered into sticks.
    pub(super) fn windows_of(&self, reduction: &Reduction) -> Vec<usize> {
        let windows = self.windows();
        let is_product = reduction.combiner == Combiner::Sum && self.body.product(reduction.new).is_some();
        let (sizes, is_reduction) = (&self.space.window.sizes, &self.space.is_reduction);
        let is_wide = !is_product && sizes.iter().filter(|&&size| size > 1).count() > MOST_MOVING;
        if !windows.is_empty() || !(is_product || is_wide) {
            return windows;
        }
        let indices = self.space.operands[..self.n_inputs].iter().flat_map(|(_, map)| map);
        let sums = indices.filter_map(|index| Linear::of(index, sizes)).filter(|linear| linear.terms.len() > 1);
        let of_patches: BTreeSet<usize> =
            sums.flat_map(|linear| linear.terms).map(|(dim, _)| dim).filter(|&dim| is_reduction[dim]).collect();
        let others = (0..sizes.len()).filter(|dim| is_reduction[*dim] && !of_patches.contains(dim));
        let is_stick = others.map(|dim| sizes[dim]).product::<i64>() >= ELEMENTS_OF_A_STICK;
        of_patches.into_iter().filter(|_| is_stick || is_wide).collect()
    }

    /// Returns a dimension along which windows overlap that is also a dimension of the result, with a run for each index.
    pub(super) fn unfolded(&self) -> Option<Runs> {
        let dims = self.windows();
        let sizes = &self.space.window.sizes;
        let dim = *dims.first().filter(|_| dims.iter().map(|&dim| sizes[dim]).product::<i64>() <= MOST_PARTS)?;
        Some((dim, (0..sizes[dim]).map(|index| (index, index + 1)).collect()))
    }

    /// Builds a reduction over windows, which lie along `dims`, without its initial value.
    pub(super) fn reduce_windows(&mut self, dims: &[usize], reduction: &Reduction, result: usize) -> Result<NodeId, Reported> {
        let whole = self.space.clone();
        let node = match self.pooled(dims, reduction)? {
            Some((input, pooled)) => {
                self.stand_at(whole.at(dims, &vec![0; dims.len()]));
                self.known_operands[input] = Some(pooled);
                self.insert_reductions(reduction, result)
            }
            None => match self.packed_windows(dims, reduction, result)? {
                Some(packed) => Ok(packed),
                None => self.sum_of_points(&whole, dims, reduction, result),
            },
        };
        self.stand_at(whole);
        node
    }

    fn stand_at(&mut self, space: Space<'c>) {
        self.space = space;
        self.forget();
    }

    /// Builds the reduction at each point of the kernel, and combines the results.
    fn sum_of_points(&mut self, whole: &Space<'c>, dims: &[usize], reduction: &Reduction, result: usize) -> Result<NodeId, Reported> {
        let sizes: Vec<i64> = dims.iter().map(|&dim| whole.window.sizes[dim]).collect();
        if sizes.iter().product::<i64>() > MOST_PARTS {
            let message = codes::TOO_MANY_PARTS
                .says(format_args!("expected windows of at most {MOST_PARTS} points, found {sizes:?}; use smaller windows"));
            return Ok(self.refused_result(result, message));
        }
        let mut results = Pairwise::new(!matches!(reduction.combiner, Combiner::Sum | Combiner::Prod));
        for point in points(&sizes) {
            self.stand_at(whole.at(dims, &point));
            let node = self.reduce_at_point(reduction, result)?;
            if self.importer.graph.refused_among(&[node]).is_some() {
                return Ok(node);
            }
            if let Err(message) = results.push(node, |left, right| self.combined(reduction, left, right)) {
                return Ok(self.refused_result(result, message));
            }
        }
        match results.finish(|left, right| self.combined(reduction, left, right)) {
            Ok(sum) => Ok(sum.expect("a dimension has a point")),
            Err(message) => Ok(self.refused_result(result, message)),
        }
    }

    fn combined(&mut self, reduction: &Reduction, sum: NodeId, node: NodeId) -> Result<NodeId, String> {
        let graph = &mut self.importer.graph;
        let (element, operation) = (graph.node(node).element, reduction.combiner.operation());
        if element != Element::Int {
            return graph.apply(operation, &[sum, node], element);
        }
        let [sum, node] = [sum, node].map(|integers| {
            graph
                .numbers_of(integers)
                .map_err(|_| "expected windows of numbers, found integers that the device cannot compute; convert them to f32")
        });
        let of_integers = graph.integers.element();
        let combined = graph.apply(operation, &[sum?, node?], of_integers)?;
        Ok(graph.as_integers(combined))
    }

    /// Returns the operand of a pooling, reduced over its windows dimension by dimension, under the iteration space. Returns None if more
    /// than one operand has windows, or windows of another kind.
    fn pooled(&mut self, dims: &[usize], reduction: &Reduction) -> Result<Option<(usize, NodeId)>, Reported> {
        let Scalar::Input(input) = reduction.new else { return Ok(None) };
        let sizes = self.space.window.sizes.clone();
        let (value, map) = self.space.operands[input].clone();
        let mut node = self.importer.node_of(self.op, value)?;
        let graph = &self.importer.graph;
        let is_float = graph.node(node).element != Element::Int;
        let linear: Option<Vec<Linear>> = self.space.window.shifted(&map).iter().map(|expr| Linear::of(expr, &sizes)).collect();
        let Some(mut map) = linear.filter(|_| is_float && graph.known_of(node).is_none() && graph.refused_among(&[node]).is_none()) else {
            return Ok(None);
        };
        let is_of = |linear: &Linear, dim: usize| linear.terms.iter().any(|&(other, _)| other == dim);
        let is_one = |dim: usize| map.iter().filter(|linear| is_of(linear, dim)).count() == 1;
        let is_pair = |linear: &Linear| linear.terms.len() <= 2 || !dims.iter().any(|&dim| is_of(linear, dim));
        if !dims.iter().all(|&dim| is_one(dim)) || !map.iter().all(is_pair) {
            return Ok(None);
        }
        // This is done once for all strides.
        let indices: Vec<Expr> = map.iter().map(|linear| linear.expr(Expr::Dim)).collect();
        node = self.importer.graph.divisible(node, &indices, &sizes);
        for &dim in dims {
            let along = map.iter().position(|linear| is_of(linear, dim)).expect("a window is of an operand");
            match self.pooled_along(node, along, &map[along], dim, reduction) {
                Ok(reduced) => node = reduced,
                Err(_) => return Ok(None),
            }
            map[along].terms.retain(|&(other, _)| other != dim);
            // The operand has been shifted to the window already.
            map[along].constant = 0;
            map[along].terms.iter_mut().for_each(|(_, factor)| *factor = 1);
        }
        let left = self.space.at(dims, &vec![0; dims.len()]);
        let place = |dim: usize| (0..dim).filter(|other| !dims.contains(other)).count();
        let map: Vec<Expr> = map.iter().map(|linear| linear.expr(|dim| Expr::Dim(place(dim)))).collect();
        let shape = views::moving_dims(&map, &left.window.sizes);
        let node = self.importer.graph.strided(node, map, &shape);
        Ok(Some((input, node)))
    }

    /// Reduces the windows along iteration dimension `dim` in dimension `along` of a tensor, which is read at `linear`.
    fn pooled_along(&mut self, whole: NodeId, along: usize, linear: &Linear, dim: usize, reduction: &Reduction) -> Result<NodeId, String> {
        let n_points = self.space.window.sizes[dim];
        let apart = linear.terms.iter().find(|(other, _)| *other == dim).map_or(1, |&(_, factor)| factor);
        let rest = linear.terms.iter().find(|(other, _)| *other != dim).copied();
        let (n_windows, stride) = rest.map_or((1, 1), |(dim, stride)| (self.space.window.sizes[dim], stride));
        let first = linear.constant;
        let shifted = |generic: &mut Self, of: NodeId, first: i64, size: i64, stride: i64| {
            let mut shape = generic.importer.graph.node(of).shape.clone();
            shape[along] = size;
            let index = |dim: usize| Linear {
                terms: vec![(dim, if dim == along { stride } else { 1 })],
                constant: if dim == along { first } else { 0 },
            };
            let map = (0..shape.len()).map(|dim| index(dim).expr(Expr::Dim)).collect();
            generic.importer.graph.strided(of, map, &shape)
        };
        if n_points <= MOST_IN_A_ROW {
            let mut sum = shifted(self, whole, first, n_windows, stride);
            for point in 1..n_points {
                let next = shifted(self, whole, first + point * apart, n_windows, stride);
                sum = self.combined(reduction, sum, next)?;
            }
            return Ok(sum);
        }
        // Builds windows of 1, 2, 4, ... points at every position; a window is the concatenation of those in the binary representation of
        // its size.
        let (mut level, mut length, mut covered) = (whole, 1, 0);
        let mut sum: Option<NodeId> = None;
        loop {
            if n_points & length != 0 {
                let part = shifted(self, level, first + covered * apart, n_windows, stride);
                sum = Some(match sum {
                    None => part,
                    Some(sum) => self.combined(reduction, sum, part)?,
                });
                covered += length;
            }
            if 2 * length > n_points {
                return sum.ok_or_else(|| "expected windows with points, found an empty window".to_owned());
            }
            let size = self.importer.graph.node(level).shape[along] - length * apart;
            let (near, far) = (shifted(self, level, 0, size, 1), shifted(self, level, length * apart, size, 1));
            level = self.combined(reduction, near, far)?;
            length *= 2;
        }
    }
}
