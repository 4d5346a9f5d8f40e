//! `spyre-import-linalg`, one `linalg.generic` that contracts two inputs: a matmul.

use crate::{
    import::{
        Contraction, InputProduct, NodeId, NodeKind,
        graph::{linear_index::LinearIndex, views},
        ir::{cast::CastTypes, generic::GenericImporter},
        rules::{
            broadcast_product::build_product,
            contraction::{compute_group_index, compute_group_size, linearize_group_index},
            rule_helpers::common_element_type,
        },
    },
    mlir::{AffineExpression, ErrorReported, OpExt, ValueLike},
};

impl GenericImporter<'_, '_> {
    /// Returns the dimensions of a matmul, if the sum of products of two inputs is one.
    pub(super) fn find_contraction(&self, product: &InputProduct, result: usize) -> Option<Contraction> {
        let sizes = &self.space.window.sizes;
        let moving = |map: &[AffineExpression]| {
            let dims = views::as_plain_dims(map)?;
            Some(dims.into_iter().filter(|&dim| sizes[dim] > 1).collect::<Vec<_>>())
        };
        // An index that combines several dimensions, such as those of patches, is split into as many dimensions of the
        // operand.
        let viewed = |operand: usize| {
            let linear = self.find_linear_indices(operand)?;
            Some(linear.iter().flat_map(|linear| linear.terms.iter().rev().map(|&(dim, _)| dim)).collect::<Vec<_>>())
        };
        let ([lhs, rhs], mut written) = (product.factors, moving(self.output_map(result))?);
        let windowed: Vec<usize> = [lhs, rhs].into_iter().filter(|&operand| self.has_windows[operand]).collect();
        for &windowed in &windowed {
            // An operand that is read through windows provides the rows, for any order of the result: its positions do
            // not fill whole sticks.
            let of_windowed = viewed(windowed)?;
            written.sort_by_key(|dim| !of_windowed.contains(dim));
        }
        let found =
            Contraction::from_dims(&viewed(lhs)?, &viewed(rhs)?, &written, windowed.is_empty().then_some(sizes))?;
        // Another input may broadcast the complete matmul.
        let is_summed = |dim: usize| self.space.window.sizes[dim] > 1 && self.space.is_reduction[dim];
        let num_dims = found.batch.iter().chain([&found.m, &found.n, &found.k]).map(Vec::len).sum::<usize>();
        let is_whole = (0..self.space.window.sizes.len()).all(|dim| is_summed(dim) == found.k.contains(&dim));
        (is_whole && num_dims == self.space.window.sizes.iter().filter(|&&size| size > 1).count()).then_some(found)
    }

    /// Builds a matmul; its operands are viewed as `[batch..., M, K]` and `[batch..., K, N]`.
    pub(super) fn import_contraction(
        &mut self,
        dims: &Contraction,
        product: &InputProduct,
        result: usize,
    ) -> Result<NodeId, ErrorReported> {
        for &cast in &product.casts {
            let at = self.ops[cast];
            if let Some(Err(message)) = CastTypes::from_op(at).map(|cast| self.importer.fold_cast(cast)) {
                return Ok(self.add_unsupported(at, message));
            }
        }
        let [first, second] = product.factors;
        let (lhs, rhs) = if dims.is_swapped { (second, first) } else { (first, second) };
        let grouped = self.merge_narrow_groups(dims, lhs, rhs);
        let dims = grouped.as_ref().unwrap_or(dims);
        let left = self.view_factor(lhs, &dims.operand_dims([&dims.m, &dims.k]))?;
        let right = if grouped.is_some() {
            self.build_masked_weights(rhs, dims)?
        } else {
            self.view_factor(rhs, &dims.operand_dims([&dims.k, &dims.n]))?
        };
        if let Some(rejected) = self.importer.graph.find_unsupported(&[left, right]) {
            return Ok(rejected);
        }
        self.importer.record_op(self.op);
        let elements = self.importer.graph.collect_element_types(&[left, right]);
        let of_result = self.importer.scalar_element_type(self.op.outputs()[result].r#type());
        let element = match common_element_type(&elements) {
            Ok(element) => element,
            // Constant factors take the format of the result.
            Err(_) if elements.is_empty() && of_result.is_float() => of_result,
            Err(message) => return Ok(self.add_unsupported_result(result, message)),
        };
        let order = dims.operand_dims([&dims.m, &dims.n]);
        let shape: Vec<i64> = order.iter().map(|group| compute_group_size(group, &self.space.window.sizes)).collect();
        let splits_sums = !self.importer.is_strict();
        let graph = &mut self.importer.graph;
        let matmul = build_product(graph, [left, right], shape, element, splits_sums);
        let map = self.space.operands[self.num_inputs + result].1.clone();
        let at = |dim: usize| {
            map.iter()
                .position(|expr| *expr == AffineExpression::Dim(dim))
                .map_or(AffineExpression::Constant(0), AffineExpression::Dim)
        };
        let exprs = order.iter().map(|group| linearize_group_index(group, &self.space.window.sizes, at)).collect();
        let shape: Vec<i64> = map
            .iter()
            .map(|expr| if let AffineExpression::Dim(dim) = expr { self.space.window.sizes[*dim] } else { 1 })
            .collect();
        Ok(graph.view(matmul, exprs, &shape))
    }

    /// Returns the indices of an input in the window, if each is a sum of multiples of different dimensions.
    pub(in crate::import::ir) fn find_linear_indices(&self, operand: usize) -> Option<Vec<LinearIndex>> {
        let sizes = &self.space.window.sizes;
        let map = self.space.window.shift_map(&self.space.operands[operand].1);
        let linear = map.iter().map(|expr| LinearIndex::from_expr(expr, sizes));
        linear.map(|linear| linear.filter(|linear| linear.is_mixed_radix(sizes))).collect()
    }

    /// Returns input `index` with the dimensions `groups`.
    fn view_factor(&mut self, index: usize, groups: &[Vec<usize>]) -> Result<NodeId, ErrorReported> {
        let (value, map) = self.space.operands[index].clone();
        let (map, linear) =
            (self.space.window.shift_map(&map), self.find_linear_indices(index).expect("the operand of a contraction"));
        let node = self.importer.node_of(self.op, value)?;
        let node = self.importer.graph.pad_to_stride(node, &map, &self.space.window.sizes);
        let exprs = linear
            .iter()
            .map(|linear| linear.to_expr(|dim| compute_group_index(dim, groups, &self.space.window.sizes)));
        let exprs: Vec<AffineExpression> = exprs.collect();
        let shape: Vec<i64> = groups.iter().map(|group| compute_group_size(group, &self.space.window.sizes)).collect();
        let graph = &mut self.importer.graph;
        if graph.as_constant(node).is_some() && graph.as_scalar(node).is_some() {
            return Ok(graph.add_splat(node, shape));
        }
        // Weights that all rows share are not broadcast to the rows; this includes constants.
        let is_repeated =
            (0..groups.len()).any(|place| shape[place] > 1 && !exprs.iter().any(|expr| expr.dims().contains(&place)));
        if is_repeated && graph.as_constant(node).is_some() {
            let element = graph.node(node).element;
            return Ok(graph.add(NodeKind::View(exprs), &[node], shape, element));
        }
        Ok(graph.view(node, exprs, &shape))
    }
}
