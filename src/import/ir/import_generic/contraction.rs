//! `spyre-import-linalg`, one `linalg.generic` that contracts two inputs: a matmul.

use crate::{
    import::{
        Contraction, Kind, NodeId, Product,
        graph::{linear::Linear, views},
        ir::{cast::Cast, generic::Generic},
        rules::{
            chosen_factor::product_with_chosen,
            contraction::{flat_index, index_of, size_of},
            parted_factor::product_of_parts,
            plain::same,
            scaled_product::with_one_scale,
        },
    },
    mlir::{Expr, OpExt, Reported, ValueLike},
};

impl Generic<'_, '_> {
    /// Returns the dimensions of a matmul, if the product of two inputs is one.
    pub(super) fn contraction(&self, product: &Product, result: usize) -> Option<Contraction> {
        let sizes = &self.space.window.sizes;
        let moving = |map: &[Expr]| {
            let dims = views::plain_dims(map)?;
            Some(dims.into_iter().filter(|&dim| sizes[dim] > 1).collect::<Vec<_>>())
        };
        // An index that combines several dimensions, such as those of patches, is split into as many dimensions of the operand.
        let shown = |operand: usize| {
            let linear = self.linear(operand)?;
            Some(linear.iter().flat_map(|linear| linear.terms.iter().rev().map(|&(dim, _)| dim)).collect::<Vec<_>>())
        };
        let ([lhs, rhs], mut written) = (product.factors, moving(self.output_map(result))?);
        let windowed: Vec<usize> = [lhs, rhs].into_iter().filter(|&operand| self.has_windows[operand]).collect();
        for &windowed in &windowed {
            // An operand that is read through windows provides the rows, for any order of the result: its positions do not fill whole
            // sticks.
            let of_windowed = shown(windowed)?;
            written.sort_by_key(|dim| !of_windowed.contains(dim));
        }
        let found = Contraction::of(&shown(lhs)?, &shown(rhs)?, &written, windowed.is_empty().then_some(sizes))?;
        // Another input may broadcast the complete product.
        let is_summed = |dim: usize| self.space.window.sizes[dim] > 1 && self.space.is_reduction[dim];
        let n_dims = found.batch.iter().chain([&found.m, &found.n, &found.k]).map(Vec::len).sum::<usize>();
        let is_whole = (0..self.space.window.sizes.len()).all(|dim| is_summed(dim) == found.k.contains(&dim));
        (is_whole && n_dims == self.space.window.sizes.iter().filter(|&&size| size > 1).count()).then_some(found)
    }

    /// Builds a matmul; its operands are viewed as `[batch..., M, K]` and `[batch..., K, N]`.
    pub(super) fn import_contraction(&mut self, dims: &Contraction, product: &Product, result: usize) -> Result<NodeId, Reported> {
        for &cast in &product.casts {
            let at = self.ops[cast];
            if let Some(Err(message)) = Cast::of(at).map(|cast| self.importer.fold_cast(cast)) {
                return Ok(self.refused(at, message));
            }
        }
        let [first, second] = product.factors;
        let (lhs, rhs) = if dims.is_swapped { (second, first) } else { (first, second) };
        let grouped = self.narrow_groups(dims, lhs, rhs);
        let dims = grouped.as_ref().unwrap_or(dims);
        let left = self.factor(lhs, &dims.dims([&dims.m, &dims.k]))?;
        let right = if grouped.is_some() { self.masked_factor(rhs, dims)? } else { self.factor(rhs, &dims.dims([&dims.k, &dims.n]))? };
        if let Some(refused) = self.importer.graph.refused_among(&[left, right]) {
            return Ok(refused);
        }
        self.importer.note_place(self.op.loc());
        let elements = self.importer.graph.elements_of(&[left, right]);
        let of_result = self.importer.scalar_element(self.op.outputs()[result].r#type());
        let element = match same(&elements) {
            Ok(element) => element,
            // Constant factors take the format of the result.
            Err(_) if elements.is_empty() && of_result.is_float() => of_result,
            Err(message) => return Ok(self.refused_result(result, message)),
        };
        let order = dims.dims([&dims.m, &dims.n]);
        let shape: Vec<i64> = order.iter().map(|group| size_of(group, &self.space.window.sizes)).collect();
        let may_part_sums = !self.importer.is_strict();
        let graph = &mut self.importer.graph;
        let operands = with_one_scale(graph, left, right).unwrap_or([left, right]);
        let [left, right] = operands;
        let other = product_with_chosen(graph, left, right, element).or_else(|| product_of_parts(graph, operands, element, may_part_sums));
        let other = other.or_else(|| graph.product_of_merged_rows(operands, &shape, element));
        let matmul = other.unwrap_or_else(|| graph.add(Kind::Matmul, &operands, shape, element));
        let map = self.space.operands[self.n_inputs + result].1.clone();
        let at = |dim: usize| map.iter().position(|expr| *expr == Expr::Dim(dim)).map_or(Expr::Constant(0), Expr::Dim);
        let exprs = order.iter().map(|group| flat_index(group, &self.space.window.sizes, at)).collect();
        let shape: Vec<i64> = map.iter().map(|expr| if let Expr::Dim(dim) = expr { self.space.window.sizes[*dim] } else { 1 }).collect();
        Ok(graph.view(matmul, exprs, &shape))
    }

    /// Returns the indices of an input in the window, if each is a sum of multiples of different dimensions.
    pub(in crate::import::ir) fn linear(&self, operand: usize) -> Option<Vec<Linear>> {
        let sizes = &self.space.window.sizes;
        let map = self.space.window.shifted(&self.space.operands[operand].1);
        let linear = map.iter().map(|expr| Linear::of(expr, sizes));
        linear.map(|linear| linear.filter(|linear| linear.is_digits(sizes))).collect()
    }

    /// Returns input `index` with the dimensions `groups`.
    fn factor(&mut self, index: usize, groups: &[Vec<usize>]) -> Result<NodeId, Reported> {
        let (value, map) = self.space.operands[index].clone();
        let (map, linear) = (self.space.window.shifted(&map), self.linear(index).expect("the operand of a contraction"));
        let node = self.importer.node_of(self.op, value)?;
        let node = self.importer.graph.divisible(node, &map, &self.space.window.sizes);
        let exprs = linear.iter().map(|linear| linear.expr(|dim| index_of(dim, groups, &self.space.window.sizes)));
        let exprs: Vec<Expr> = exprs.collect();
        let shape: Vec<i64> = groups.iter().map(|group| size_of(group, &self.space.window.sizes)).collect();
        let graph = &mut self.importer.graph;
        if graph.known_of(node).is_some() && graph.number_of(node).is_some() {
            return Ok(graph.filled(node, shape));
        }
        // Weights that all rows share are not broadcast to the rows; this includes constants.
        let is_repeated = (0..groups.len()).any(|place| shape[place] > 1 && !exprs.iter().any(|expr| expr.dims().contains(&place)));
        if is_repeated && graph.known_of(node).is_some() {
            let element = graph.node(node).element;
            return Ok(graph.add(Kind::View(exprs), &[node], shape, element));
        }
        Ok(graph.view(node, exprs, &shape))
    }
}
