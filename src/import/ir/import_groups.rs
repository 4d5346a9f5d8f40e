//! `spyre-import-linalg`, convolutions with narrow channel groups.
//!
//! The channels of such a group are a slice of a stick. The device extracts it only by moving the data twice, and a
//! matmul pads the channels to whole sticks anyway. So the groups become one matmul, with weights that are 0 between
//! different groups.

use super::{generic::GenericImporter, import_windows::PRODUCT_STICK_ELEMENTS};
use crate::{
    import::{
        ConstantTensor, Contraction, NodeElementType, NodeId, NodeKind,
        rules::contraction::{compute_group_index, compute_group_size},
    },
    mlir::{AffineExpression, ErrorReported},
};

/// Maximum number of weights, including the zeros between the groups.
const MAX_MASKED_WEIGHTS: i64 = 1 << 20;

impl GenericImporter<'_, '_> {
    /// Rewrites the matmuls of groups to one matmul over all groups. The groups, a dimension of both operands and the
    /// result, become rows and columns of the weights. Returns None for a matmul without windows, and if groups have
    /// whole sticks of channels.
    pub(super) fn merge_narrow_groups(&self, dims: &Contraction, left: usize, right: usize) -> Option<Contraction> {
        let sizes = &self.space.window.sizes;
        let of_right = self.find_linear_indices(right)?;
        let moves_right = |dim: &usize| of_right.iter().flat_map(|linear| &linear.terms).any(|(other, _)| other == dim);
        let mut shared = dims.batch.iter().flatten().copied().filter(moves_right);
        let (Some(group), None) = (shared.next(), shared.next()) else { return None };
        let is_alone = dims.batch.contains(&vec![group]);
        if !self.has_windows[left]
            || self.has_windows[right]
            || !self.is_expanded(left)
            || !is_alone
            || compute_group_size(&dims.k, sizes) >= PRODUCT_STICK_ELEMENTS
        {
            return None;
        }
        let with_group = |dims: &[usize]| [&[group], dims].concat();
        let (k, n) = (with_group(&dims.k), with_group(&dims.n));
        let is_small = compute_group_size(&k, sizes)
            .checked_mul(compute_group_size(&n, sizes))
            .is_some_and(|weights| weights <= MAX_MASKED_WEIGHTS);
        let batch = dims.batch.iter().filter(|dims| **dims != [group]).cloned().collect();
        is_small.then(|| Contraction { is_swapped: dims.is_swapped, batch, m: dims.m.clone(), n, k })
    }

    /// Returns whether an operand is stored with fewer dimensions: its groups share a dimension with their channels.
    fn is_expanded(&self, operand: usize) -> bool {
        let (value, map) = &self.space.operands[operand];
        let Ok(mut node) = self.importer.node_of(self.op, *value) else { return false };
        while let NodeKind::View(_) | NodeKind::Reshape = self.importer.graph.node(node).kind {
            node = self.importer.graph.node(node).inputs[0];
        }
        self.importer.graph.node(node).shape.len() < map.len()
    }

    /// Returns the weights of `merge_narrow_groups`, for every batch.
    pub(super) fn build_masked_weights(&mut self, operand: usize, dims: &Contraction) -> Result<NodeId, ErrorReported> {
        let (value, map) = self.space.operands[operand].clone();
        let (map, linear) = (
            self.space.window.shift_map(&map),
            self.find_linear_indices(operand).expect("the operand of a contraction"),
        );
        let sizes = self.space.window.sizes.clone();
        let node = self.importer.node_of(self.op, value)?;
        let graph = &mut self.importer.graph;
        let node = graph.pad_to_stride(node, &map, &sizes);
        let element = graph.node(node).element;
        let shape = [compute_group_size(&dims.k, &sizes), compute_group_size(&dims.n, &sizes)];
        // Among the rows, only the channel within a group indexes the weights.
        let channel = |dim: usize| {
            if dims.k[1..].contains(&dim) {
                compute_group_index(dim, std::slice::from_ref(&dims.k), &sizes)
            } else {
                compute_group_index(dim, &[Vec::new(), dims.n.clone()], &sizes)
            }
        };
        let exprs = linear.iter().map(|linear| linear.to_expr(channel)).collect();
        let weights = graph.view(node, exprs, &shape);
        let (channels, filters) =
            (compute_group_size(&dims.k[1..].to_vec(), &sizes), compute_group_size(&dims.n[1..].to_vec(), &sizes));
        let is_of_group = |row: i64, column: i64| if row / channels == column / filters { 1.0 } else { 0.0 };
        let mask: Vec<f64> =
            (0..shape[0]).flat_map(|row| (0..shape[1]).map(move |column| is_of_group(row, column))).collect();
        // A select, not a multiplication: an infinite weight affects only its own group.
        let mask = graph.add_constant(ConstantTensor::from_numbers(&mask), shape.to_vec(), NodeElementType::Bool);
        let zero = graph.add_scalar(0.0);
        let masked = graph.add_pointwise("where3", &[mask, weights, zero], element);
        let batch: Vec<i64> = dims.batch.iter().map(|group| compute_group_size(group, &sizes)).collect();
        let rank = batch.len();
        Ok(graph.view(
            masked,
            vec![AffineExpression::Dim(rank), AffineExpression::Dim(rank + 1)],
            &[batch.as_slice(), &shape].concat(),
        ))
    }
}
