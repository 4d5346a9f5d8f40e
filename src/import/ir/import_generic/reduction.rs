//! `spyre-import-linalg`, one `linalg.generic` that reduces: along one dimension at a time, or as a matmul.

use crate::{
    codes,
    import::{
        BodyReduction, BodyScalar, Combiner, ConstantTensor, InputProduct, NodeElementType, NodeId, NodeKind, ScalarOp,
        graph::{table_lookup, views},
        ir::{
            cast::{CastTypes, element_type},
            generic::GenericImporter,
        },
        rules::{
            broadcast_product::sum_as_matmul,
            digit_arithmetic::{build_total, is_representable},
            fold::{MAX_WIDTH, wrap_to_width},
            merged_reduction::reduce_along,
        },
    },
    mlir::{ErrorReported, Op, OpExt, ScalarType, TensorType, ValueLike},
};

/// Maximum number of multiplications of constants at compile time: beyond it, folding takes longer than it saves.
const MAX_CONSTANT_PRODUCTS: i64 = 1 << 20;

/// Returns the element type of a result.
fn result_scalar_type(op: Op<'_>, result: usize) -> ScalarType {
    ScalarType::from_type(element_type(op.outputs()[result].r#type()))
}

impl GenericImporter<'_, '_> {
    pub(super) fn import_reduction(&mut self, result: usize) -> Result<NodeId, ErrorReported> {
        if let Some((position, found)) = self.body.find_position(result) {
            return self.import_position(position, found, result);
        }
        let Some(mut reduction) = self.body.find_reduction(result).or_else(|| self.build_guarded_reduction(result))
        else {
            let message = codes::REDUCTION_FORM.format(format_args!(
                "expected a sum, product, maximum or minimum in the body, found \
             another reduction in result {result}; write the reduction as one of them"
            ));
            return Ok(self.add_unsupported_result(result, message));
        };
        if result_scalar_type(self.op, result) == ScalarType::Integer(1) {
            let Some(of_truths) = reduction.combiner.to_truth_combiner() else {
                return Ok(self.add_unsupported_result(
                    result,
                    codes::INTEGER_WIDTH
                        .format("expected a sum of truth values in a type of more than one bit, found i1; extend them to i32 first"),
                ));
            };
            reduction.combiner = of_truths;
        }
        let reduction = self.mask_nan(reduction, result);
        for &cast in &reduction.casts {
            let at = self.ops[cast];
            if let Some(Err(message)) = CastTypes::from_op(at).map(|cast| self.importer.fold_cast(cast)) {
                return Ok(self.add_unsupported(at, message));
            }
        }
        self.drop_single_points();
        let windows = self.find_unrolled_dims(&reduction);
        let node = match windows.as_slice() {
            [] => self.reduce_at_point(&reduction, result)?,
            dims => self.reduce_windows(dims, &reduction, result)?,
        };
        let node = self.combine_with_initial(&reduction, result, node)?;
        if let ScalarType::Integer(width) = result_scalar_type(self.op, result)
            && matches!(reduction.combiner, Combiner::Sum | Combiner::Prod)
        {
            self.importer.graph.record_width(node, width);
        }
        Ok(node)
    }

    /// Builds a reduction of only those new values for which a condition holds: other values are replaced by the
    /// neutral element.
    fn build_guarded_reduction(&mut self, result: usize) -> Option<BodyReduction> {
        let (choice, condition, is_then, mut reduction) = self.body.find_guarded_reduction(result)?;
        if self.ops[choice].outputs().len() != 1 {
            return None;
        }
        let neutral = reduction.combiner.neutral_element();
        let of = TensorType::from_type(self.op.outputs()[result].r#type())?.element;
        if neutral.is_infinite() && !self.importer.scalar_element_type(of).is_float() {
            return None;
        }
        let neutral = BodyScalar::Outer(self.importer.graph.add_scalar(neutral));
        let [chosen, other] = if is_then { [reduction.new, neutral] } else { [neutral, reduction.new] };
        reduction.new = BodyScalar::Op(self.body.ops.len());
        self.body.ops.push(ScalarOp { name: "arith.select".to_owned(), operands: vec![condition, chosen, other] });
        self.ops.push(self.ops[choice]);
        self.op_nodes.push(None);
        Some(reduction)
    }

    /// Builds a maximum or minimum that ignores NaN. With `keeps_nan`, NaN among the new values is replaced first,
    /// since the device's function propagates NaN. A softmax, as MLIR decomposes it, has such a maximum, and yields NaN
    /// in the whole row either way.
    fn mask_nan(&mut self, mut reduction: BodyReduction, result: usize) -> BodyReduction {
        let BodyScalar::Op(last) = self.body.yields[result] else { return reduction };
        let is_float = self.importer.scalar_element_type(element_type(self.op.outputs()[result].r#type())).is_float();
        if !(reduction.ignores_nan && is_float && self.importer.graph.keeps_nan) {
            return reduction;
        }
        let neutral = BodyScalar::Outer(self.importer.graph.add_scalar(reduction.combiner.neutral_element()));
        let is_number = BodyScalar::Op(self.body.ops.len());
        let chosen = BodyScalar::Op(self.body.ops.len() + 1);
        let ops =
            [("arith.cmpf ord", vec![reduction.new; 2]), ("arith.select", vec![is_number, reduction.new, neutral])];
        for (name, operands) in ops {
            self.body.ops.push(ScalarOp { name: name.to_owned(), operands });
            self.ops.push(self.ops[last]);
            self.op_nodes.push(None);
        }
        reduction.new = chosen;
        reduction
    }

    /// Returns whether a factor of a product is a lookup by an index.
    fn has_lookup_factor(&self, product: &InputProduct) -> Result<bool, ErrorReported> {
        let factors =
            product.factors.iter().map(|&factor| self.importer.node_of(self.op, self.space.operands[factor].0));
        let factors = factors.collect::<Result<Vec<_>, _>>()?;
        Ok(factors.into_iter().any(|factor| table_lookup::as_lookup(&self.importer.graph, factor).is_some()))
    }

    /// Returns whether both factors of a product are constant, with few enough multiplications to fold.
    fn has_constant_factors(&self, product: &InputProduct) -> Result<bool, ErrorReported> {
        let num_products = self.space.window.sizes.iter().fold(1_i64, |product, &size| product.saturating_mul(size));
        let factors =
            product.factors.iter().map(|&factor| self.importer.node_of(self.op, self.space.operands[factor].0));
        let factors = factors.collect::<Result<Vec<_>, _>>()?;
        let graph = &self.importer.graph;
        Ok(num_products <= MAX_CONSTANT_PRODUCTS
            && factors.into_iter().all(|factor| graph.as_constant(factor).is_some()))
    }

    /// Builds a reduction whose operands have no windows.
    pub(in crate::import::ir) fn reduce_at_point(
        &mut self,
        reduction: &BodyReduction,
        result: usize,
    ) -> Result<NodeId, ErrorReported> {
        let product = self.body.find_product(reduction.new).filter(|_| reduction.combiner == Combiner::Sum);
        let contraction = product.and_then(|product| Some((self.find_contraction(&product, result)?, product)));
        // A matmul of one column and one row with a lookup is a lookup, too.
        let contraction = match contraction {
            Some((dims, product)) if dims.k.is_empty() && self.has_lookup_factor(&product)? => None,
            // A matmul of two constants is folded immediately.
            Some((_, product)) if self.has_constant_factors(&product)? => None,
            other => other,
        };
        match contraction {
            Some((dims, product)) => self.import_contraction(&dims, &product, result),
            None => self.build_reductions(reduction, result),
        }
    }

    /// Combines the result of a reduction with its initial value, unless that is the neutral element.
    fn combine_with_initial(
        &mut self,
        reduction: &BodyReduction,
        result: usize,
        node: NodeId,
    ) -> Result<NodeId, ErrorReported> {
        if self.importer.graph.find_unsupported(&[node]).is_some() {
            return Ok(node);
        }
        let (start, _) = self.space.operands[self.num_inputs + result];
        let start = self.importer.node_of(self.op, start)?;
        let element = ScalarType::from_type(element_type(self.op.outputs()[result].r#type())).element_type();
        if self.importer.graph.node(start).kind == NodeKind::Undefined {
            let message = codes::UNWRITTEN.format("reduces onto a tensor that no op has written; fill it first");
            return Ok(self.add_unsupported_result(result, message));
        }
        let combiner = reduction.combiner;
        let width = result_scalar_type(self.op, result).width();
        let changes_nothing = |number: f64| {
            let is_all = width.is_some_and(|width| width > 1) && combiner == Combiner::All;
            if is_all {
                number == -1.0
            } else {
                number.is_nan() && reduction.ignores_nan || combiner.can_start_from(number, element)
            }
        };
        if self.importer.graph.as_scalar(start).is_some_and(changes_nothing) {
            return Ok(node);
        }
        let graph = &mut self.importer.graph;
        if let (Some(width), Some(known), Some(begun)) = (width, graph.as_constant(node), graph.as_constant(start)) {
            let (shape, of_node, of_start) =
                (graph.compute_broadcast_shape(&[node, start]), &graph.node(node).shape, &graph.node(start).shape);
            let combine =
                |of: &[i64]| combiner.combine_integers(wrap_to_width(of[0], width), wrap_to_width(of[1], width), width);
            let combined = ConstantTensor::map_integers(&[(known, of_node), (begun, of_start)], &shape, combine);
            let element = self.importer.scalar_element_type(self.op.outputs()[result].r#type());
            return Ok(self.importer.graph.add_constant(
                combined.to_elements(element == NodeElementType::Bool),
                shape,
                element,
            ));
        }
        let is_integer = graph.node(node).element == NodeElementType::Int && graph.as_constant(node).is_none();
        let (node, start) = match (graph.convert_to_numbers(node), graph.convert_to_numbers(start)) {
            (Ok(node), Ok(start)) => (node, start),
            (Err(rejected), _) | (_, Err(rejected)) => return Ok(rejected),
        };
        let element = graph.node(node).element;
        match graph.apply(combiner.operation(), &[node, start], element) {
            Ok(combined) => Ok(if is_integer { graph.add_integers(combined) } else { combined }),
            Err(message) => Ok(self.add_unsupported_result(result, message)),
        }
    }

    /// Builds a reduction along several dimensions, one at a time, as the device requires.
    pub(in crate::import::ir) fn build_reductions(
        &mut self,
        reduction: &BodyReduction,
        result: usize,
    ) -> Result<NodeId, ErrorReported> {
        let elements = self.evaluate(reduction.new)?;
        if self.importer.graph.find_unsupported(&[elements]).is_some() {
            return Ok(elements);
        }
        self.importer.record_op(self.op);
        let mut node = self.broadcast_to_reduced(elements);
        let graph = &mut self.importer.graph;
        let is_integer = graph.node(node).element == NodeElementType::Int && graph.as_constant(node).is_none();
        if is_integer && matches!(reduction.combiner, Combiner::All | Combiner::Any) {
            return Ok(self.add_unsupported_result(
                result,
                codes::INTEGER_RUNTIME
                    .format("of the bits of runtime integers is not supported; use arithmetic on integers"),
            ));
        }
        if is_integer {
            match graph.convert_to_numbers(node) {
                Ok(number) => node = number,
                Err(rejected) => return Ok(rejected),
            }
        }
        let width = result_scalar_type(self.op, result).width();
        if is_integer
            && reduction.combiner == Combiner::Sum
            && let Some(digits) = self.sum_by_digits(node, width)
        {
            return self.view_as_result(result, digits);
        }
        let product = if reduction.combiner == Combiner::Sum { self.sum_as_matmul(node) } else { None };
        node = product.unwrap_or_else(|| self.reduce_dims(node, reduction.combiner, width));
        let graph = &mut self.importer.graph;
        if is_integer && graph.as_constant(node).is_none() {
            node = graph.add_integers(node);
        }
        self.view_as_result(result, node)
    }

    /// Returns the sum of integers along the only reduced dimension, from its digits. Returns None if the format is
    /// exact for the sum.
    fn sum_by_digits(&mut self, numbers: NodeId, width: Option<u32>) -> Option<NodeId> {
        let sizes = &self.space.window.sizes;
        let mut reduced = (0..sizes.len()).filter(|&dim| self.space.is_reduction[dim] && sizes[dim] > 1);
        let (dim, None) = (reduced.next()?, reduced.next()) else { return None };
        let digits = build_total(&mut self.importer.graph, numbers, dim)
            .filter(|digits| is_representable(digits.range, width.unwrap_or(MAX_WIDTH)))?;
        Some(self.importer.add_digits(self.op, digits))
    }

    /// Returns the sum of `elements` along the reduced dimensions as a matmul, if they are products of two tensors.
    fn sum_as_matmul(&mut self, elements: NodeId) -> Option<NodeId> {
        let sizes = &self.space.window.sizes;
        let reduced: Vec<usize> =
            (0..sizes.len()).filter(|&dim| self.space.is_reduction[dim] && sizes[dim] > 1).collect();
        let splits_sums = !self.importer.is_strict();
        sum_as_matmul(&mut self.importer.graph, elements, &reduced, splits_sums)
    }

    /// Broadcasts a node along the reduced dimensions that it does not depend on.
    pub(super) fn broadcast_to_reduced(&mut self, elements: NodeId) -> NodeId {
        let graph = &mut self.importer.graph;
        let shape: Vec<i64> = if graph.node(elements).shape.is_empty() {
            vec![1; self.space.window.sizes.len()]
        } else {
            graph.node(elements).shape.clone()
        };
        let mut whole = shape.clone();
        for dim in (0..self.space.window.sizes.len()).filter(|&dim| self.space.is_reduction[dim]) {
            whole[dim] = self.space.window.sizes[dim];
        }
        if let Some(one) = graph.as_constant(elements).and_then(ConstantTensor::to_scalar) {
            let element = graph.node(elements).element;
            return graph.add(NodeKind::Constant(one), &[], whole, element);
        }
        let viewed = views::broadcast_view(&shape, &whole);
        graph.view(elements, viewed.exprs, &viewed.shape)
    }

    /// Combines the elements along all reduced dimensions, which remain with size 1; constant integers in `width` bits.
    pub(super) fn reduce_dims(&mut self, mut node: NodeId, combiner: Combiner, width: Option<u32>) -> NodeId {
        let graph = &mut self.importer.graph;
        for dim in (0..self.space.window.sizes.len()).rev().filter(|&dim| self.space.is_reduction[dim]) {
            node = match graph.as_constant(node).cloned() {
                Some(known) => {
                    let (mut kept, element) = (graph.node(node).shape.clone(), graph.node(node).element);
                    let reduced = match width {
                        Some(width) if element == NodeElementType::Int => {
                            known.reduce_integers(&kept, dim, |a, b| combiner.combine_integers(a, b, width))
                        }
                        _ => known.reduce(&kept, dim, |a, b| combiner.combine(a, b)),
                    };
                    kept[dim] = 1;
                    graph.add(NodeKind::Constant(reduced), &[], kept, element)
                }
                // The sum of one element is that element.
                None if graph.node(node).shape[dim] == 1 => node,
                None => reduce_along(graph, combiner.function(), node, dim),
            };
        }
        match (graph.as_constant(node).and_then(ConstantTensor::to_scalar), graph.node(node).element) {
            (Some(one), element) => graph.add_constant(one, Vec::new(), element),
            (None, _) => node,
        }
    }
}
