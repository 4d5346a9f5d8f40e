//! `spyre-import-linalg`, one `linalg.generic`: its body as operations on whole tensors.

mod backwards;
mod contraction;
mod position;

use super::{
    cast::{Cast, element_type},
    generic::Generic,
    importer::Importer,
};
use crate::{
    codes,
    import::{
        Combiner, Element, Kind, Known, NodeId, Product, Reduction, Scalar, ScalarOp,
        graph::{
            known::{MOST_KNOWN_ELEMENTS, too_many_known},
            linear::refuse_window,
            rows, views,
            window::{Runs, runs_of},
        },
        rules::{
            digit_arithmetic::{fits, total},
            fold::{MAX_WIDTH, in_width},
            lookup::lookup,
            merged_reduction::reduce_along,
        },
    },
    mlir::{Expr, Op, OpExt, Reported, ScalarType, TensorType, ValueLike, natural, shape_of},
};

/// Builds the nodes of a `linalg.generic`; returns one for each result.
pub(super) fn import_generic<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<Vec<NodeId>, Reported> {
    let mut generic = Generic::of(importer, op)?;
    let results = (0..op.outputs().len()).map(|result| generic.import_result(result)).collect::<Result<_, _>>()?;
    generic.note_asserts()?;
    Ok(results)
}

/// Maximum number of products of constants that are computed at compile time: more take longer than folding the sum saves.
const MAX_KNOWN_PRODUCTS: i64 = 1 << 20;

/// Slice of a result, and its window.
struct Part {
    node: NodeId,
    offsets: Vec<i64>,
    shape: Vec<i64>,
}

/// Returns the element type of a result.
fn element_of_result(op: Op<'_>, result: usize) -> ScalarType {
    ScalarType::of(element_type(op.outputs()[result].r#type()))
}

impl<'c> Generic<'_, 'c> {
    fn import_result(&mut self, result: usize) -> Result<NodeId, Reported> {
        self.importer.note_place(self.op.loc());
        if self.space.is_reduction.contains(&true) {
            return self.import_reduction(result);
        }
        let mut parts = Vec::new();
        self.import_parts(result, &mut parts)?;
        match parts.as_slice() {
            [part] => Ok(part.node),
            _ => self.together(result, &parts),
        }
    }

    /// Builds the slices of a result, each with its window: one slice, unless a branch depends on an index alone.
    fn import_parts(&mut self, result: usize, parts: &mut Vec<Part>) -> Result<(), Reported> {
        let unfolded = self.unfolded();
        let runs = if unfolded.is_some() { unfolded } else { self.decide_branches(self.body.yields[result])? };
        let Some((dim, runs)) = runs else {
            let node = self.evaluate(self.body.yields[result])?;
            let node = self.shown_as_result(result, node)?;
            let at = |expr: &Expr| if let Expr::Dim(dim) = expr { self.space.window.origin[*dim] } else { 0 };
            let offsets = self.output_map(result).iter().map(at).collect();
            parts.push(Part { node, offsets, shape: self.expected_shape(result) });
            return Ok(());
        };
        let (window, body) = (self.space.window.clone(), self.body.clone());
        for (first, end) in runs {
            self.space.window = window.part(dim, first, end);
            self.forget();
            self.import_parts(result, parts)?;
            self.body = body.clone();
        }
        self.space.window = window;
        self.forget();
        Ok(())
    }

    /// Resolves the branches that `scalar` depends on, outer ones first, so that only one side of each is computed. Returns a branch whose
    /// condition changes along one dimension, with the runs in which it is constant.
    fn decide_branches(&mut self, scalar: Scalar) -> Result<Option<Runs>, Reported> {
        let is_open = |op: &ScalarOp| op.name == ScalarOp::BRANCH && op.operands.len() == 3;
        while let Some(index) = self.body.needed_for(scalar).into_iter().rev().find(|&index| is_open(&self.body.ops[index])) {
            let condition = self.evaluate(self.body.ops[index].operands[0])?;
            let graph = &self.importer.graph;
            let branch = &mut self.body.ops[index];
            if let Some(number) = graph.number_of(condition) {
                branch.operands = vec![branch.operands[if number == 0.0 { 2 } else { 1 }]];
                continue;
            }
            if let Some(runs) = graph.known_of(condition).and_then(|known| runs_of(known, &graph.node(condition).shape)) {
                return Ok(Some(runs));
            }
            // The condition is a runtime value: both sides are computed.
            "arith.select".clone_into(&mut branch.name);
        }
        Ok(None)
    }

    /// Assembles a result from its slices.
    fn together(&mut self, result: usize, parts: &[Part]) -> Result<NodeId, Reported> {
        let nodes: Vec<NodeId> = parts.iter().map(|part| part.node).collect();
        if let Some(refused) = self.importer.graph.refused_among(&nodes) {
            return Ok(refused);
        }
        let Some(tensor) = TensorType::of(self.op.outputs()[result].r#type()) else { return Ok(nodes[0]) };
        let element = self.importer.scalar_element(tensor.element);
        let graph = &mut self.importer.graph;
        let mut whole = graph.undefined(tensor.shape.clone(), element);
        for Part { node, offsets, shape } in parts {
            let part = if graph.number_of(*node).is_some() { graph.filled(*node, shape.clone()) } else { *node };
            whole = graph.insert(part, whole, offsets.clone());
        }
        Ok(whole)
    }

    fn import_reduction(&mut self, result: usize) -> Result<NodeId, Reported> {
        if let Some((position, found)) = self.body.position(result) {
            return self.import_position(position, found, result);
        }
        let Some(mut reduction) = self.body.reduction(result).or_else(|| self.guarded_reduction(result)) else {
            let message = codes::REDUCTION_FORM.says(format_args!(
                "expected a sum, product, maximum or minimum in the body, found \
             another reduction in result {result}; write the reduction as one of them"
            ));
            return Ok(self.refused_result(result, message));
        };
        if element_of_result(self.op, result) == ScalarType::Integer(1) {
            let Some(of_truths) = reduction.combiner.of_truths() else {
                return Ok(self.refused_result(
                    result,
                    codes::INTEGER_WIDTH
                        .says("expected a sum of truth values in a type of more than one bit, found i1; extend them to i32 first"),
                ));
            };
            reduction.combiner = of_truths;
        }
        let reduction = self.without_nan(reduction, result);
        for &cast in &reduction.casts {
            let at = self.ops[cast];
            if let Some(Err(message)) = Cast::of(at).map(|cast| self.importer.fold_cast(cast)) {
                return Ok(self.refused(at, message));
            }
        }
        self.drop_single_points();
        let windows = self.windows_of(&reduction);
        let node = match windows.as_slice() {
            [] => self.reduce_at_point(&reduction, result)?,
            dims => self.reduce_windows(dims, &reduction, result)?,
        };
        let node = self.with_start(&reduction, result, node)?;
        if let ScalarType::Integer(width) = element_of_result(self.op, result)
            && matches!(reduction.combiner, Combiner::Sum | Combiner::Prod)
        {
            self.importer.graph.note_width(node, width);
        }
        Ok(node)
    }

    /// Builds a reduction of only those new values for which a condition holds: other values are replaced by the neutral element.
    fn guarded_reduction(&mut self, result: usize) -> Option<Reduction> {
        let (choice, condition, is_then, mut reduction) = self.body.guarded_reduction(result)?;
        if self.ops[choice].outputs().len() != 1 {
            return None;
        }
        let neutral = reduction.combiner.neutral();
        let of = TensorType::of(self.op.outputs()[result].r#type())?.element;
        if neutral.is_infinite() && !self.importer.scalar_element(of).is_float() {
            return None;
        }
        let neutral = Scalar::Outer(self.importer.graph.number(neutral));
        let [chosen, other] = if is_then { [reduction.new, neutral] } else { [neutral, reduction.new] };
        reduction.new = Scalar::Op(self.body.ops.len());
        self.body.ops.push(ScalarOp { name: "arith.select".to_owned(), operands: vec![condition, chosen, other] });
        self.ops.push(self.ops[choice]);
        self.known_ops.push(None);
        Some(reduction)
    }

    /// Builds a maximum or minimum that ignores NaN. With `keeps_nan`, NaN among the new values is replaced first, since the device's
    /// function propagates NaN. A softmax, as MLIR decomposes it, has such a maximum, and yields NaN in the whole row either way.
    fn without_nan(&mut self, mut reduction: Reduction, result: usize) -> Reduction {
        let Scalar::Op(last) = self.body.yields[result] else { return reduction };
        let is_float = self.importer.scalar_element(element_type(self.op.outputs()[result].r#type())).is_float();
        if !(reduction.ignores_nan && is_float && self.importer.graph.keeps_nan) {
            return reduction;
        }
        let neutral = Scalar::Outer(self.importer.graph.number(reduction.combiner.neutral()));
        let is_number = Scalar::Op(self.body.ops.len());
        let chosen = Scalar::Op(self.body.ops.len() + 1);
        let ops = [("arith.cmpf ord", vec![reduction.new; 2]), ("arith.select", vec![is_number, reduction.new, neutral])];
        for (name, operands) in ops {
            self.body.ops.push(ScalarOp { name: name.to_owned(), operands });
            self.ops.push(self.ops[last]);
            self.known_ops.push(None);
        }
        reduction.new = chosen;
        reduction
    }

    /// Returns whether a factor of a product is a lookup by an index.
    fn is_looked_up(&self, product: &Product) -> Result<bool, Reported> {
        let factors = product.factors.iter().map(|&factor| self.importer.node_of(self.op, self.space.operands[factor].0));
        let factors = factors.collect::<Result<Vec<_>, _>>()?;
        Ok(factors.into_iter().any(|factor| rows::parts(&self.importer.graph, factor).is_some()))
    }

    /// Returns whether both factors of a product are constant, with few enough multiplications to fold.
    fn is_known(&self, product: &Product) -> Result<bool, Reported> {
        let n_products = self.space.window.sizes.iter().fold(1_i64, |product, &size| product.saturating_mul(size));
        let factors = product.factors.iter().map(|&factor| self.importer.node_of(self.op, self.space.operands[factor].0));
        let factors = factors.collect::<Result<Vec<_>, _>>()?;
        let graph = &self.importer.graph;
        Ok(n_products <= MAX_KNOWN_PRODUCTS && factors.into_iter().all(|factor| graph.known_of(factor).is_some()))
    }

    /// Builds a reduction whose operands have no windows.
    pub(super) fn reduce_at_point(&mut self, reduction: &Reduction, result: usize) -> Result<NodeId, Reported> {
        let product = self.body.product(reduction.new).filter(|_| reduction.combiner == Combiner::Sum);
        let contraction = product.and_then(|product| Some((self.contraction(&product, result)?, product)));
        // A product of one column and one row with a lookup is a lookup, too.
        let contraction = match contraction {
            Some((dims, product)) if dims.k.is_empty() && self.is_looked_up(&product)? => None,
            // A product of two constants is folded immediately.
            Some((_, product)) if self.is_known(&product)? => None,
            other => other,
        };
        match contraction {
            Some((dims, product)) => self.import_contraction(&dims, &product, result),
            None => self.insert_reductions(reduction, result),
        }
    }

    /// Combines the result of a reduction with its initial value, unless that is the neutral element.
    fn with_start(&mut self, reduction: &Reduction, result: usize, node: NodeId) -> Result<NodeId, Reported> {
        if self.importer.graph.refused_among(&[node]).is_some() {
            return Ok(node);
        }
        let (start, _) = self.space.operands[self.n_inputs + result];
        let start = self.importer.node_of(self.op, start)?;
        let element = ScalarType::of(element_type(self.op.outputs()[result].r#type())).element();
        if self.importer.graph.node(start).kind == Kind::Undefined {
            let message = codes::UNWRITTEN.says("reduces onto a tensor that no op has written; fill it first");
            return Ok(self.refused_result(result, message));
        }
        let combiner = reduction.combiner;
        let width = element_of_result(self.op, result).width();
        let changes_nothing = |number: f64| {
            let is_all = width.is_some_and(|width| width > 1) && combiner == Combiner::All;
            if is_all { number == -1.0 } else { number.is_nan() && reduction.ignores_nan || combiner.can_start_from(number, element) }
        };
        if self.importer.graph.number_of(start).is_some_and(changes_nothing) {
            return Ok(node);
        }
        let graph = &mut self.importer.graph;
        if let (Some(width), Some(known), Some(begun)) = (width, graph.known_of(node), graph.known_of(start)) {
            let (shape, of_node, of_start) = (graph.broadcast_shape(&[node, start]), &graph.node(node).shape, &graph.node(start).shape);
            let combine = |of: &[i64]| combiner.combine_integers(in_width(of[0], width), in_width(of[1], width), width);
            let combined = Known::combined_integers(&[(known, of_node), (begun, of_start)], &shape, combine);
            let element = self.importer.scalar_element(self.op.outputs()[result].r#type());
            return Ok(self.importer.graph.known(combined.as_elements(element == Element::Bool), shape, element));
        }
        let is_integer = graph.node(node).element == Element::Int && graph.known_of(node).is_none();
        let (node, start) = match (graph.numbers_of(node), graph.numbers_of(start)) {
            (Ok(node), Ok(start)) => (node, start),
            (Err(refused), _) | (_, Err(refused)) => return Ok(refused),
        };
        let element = graph.node(node).element;
        match graph.apply(combiner.operation(), &[node, start], element) {
            Ok(combined) => Ok(if is_integer { graph.as_integers(combined) } else { combined }),
            Err(message) => Ok(self.refused_result(result, message)),
        }
    }

    /// The device reduces along one dimension at a time.
    pub(super) fn insert_reductions(&mut self, reduction: &Reduction, result: usize) -> Result<NodeId, Reported> {
        let elements = self.evaluate(reduction.new)?;
        if self.importer.graph.refused_among(&[elements]).is_some() {
            return Ok(elements);
        }
        self.importer.note_place(self.op.loc());
        let mut node = self.over_reduced(elements);
        let graph = &mut self.importer.graph;
        let is_integer = graph.node(node).element == Element::Int && graph.known_of(node).is_none();
        if is_integer && matches!(reduction.combiner, Combiner::All | Combiner::Any) {
            return Ok(self.refused_result(
                result,
                codes::INTEGER_RUNTIME.says("of the bits of runtime integers is not supported; use arithmetic on integers"),
            ));
        }
        if is_integer {
            match graph.numbers_of(node) {
                Ok(number) => node = number,
                Err(refused) => return Ok(refused),
            }
        }
        let width = element_of_result(self.op, result).width();
        if is_integer
            && reduction.combiner == Combiner::Sum
            && let Some(digits) = self.total_by_digits(node, width)
        {
            return self.shown_as_result(result, digits);
        }
        node = self.reduced(node, reduction.combiner, width);
        let graph = &mut self.importer.graph;
        if is_integer && graph.known_of(node).is_none() {
            node = graph.as_integers(node);
        }
        self.shown_as_result(result, node)
    }

    /// Returns the sum of integers along the only reduced dimension, by its digits; None if the format is exact for it.
    fn total_by_digits(&mut self, numbers: NodeId, width: Option<u32>) -> Option<NodeId> {
        let sizes = &self.space.window.sizes;
        let mut reduced = (0..sizes.len()).filter(|&dim| self.space.is_reduction[dim] && sizes[dim] > 1);
        let (dim, None) = (reduced.next()?, reduced.next()) else { return None };
        let digits = total(&mut self.importer.graph, numbers, dim).filter(|digits| fits(digits.range, width.unwrap_or(MAX_WIDTH)))?;
        Some(self.importer.as_digits(self.op, digits))
    }

    /// Broadcasts a node along the reduced dimensions that it does not depend on.
    fn over_reduced(&mut self, elements: NodeId) -> NodeId {
        let graph = &mut self.importer.graph;
        let shape: Vec<i64> =
            if graph.node(elements).shape.is_empty() { vec![1; self.space.window.sizes.len()] } else { graph.node(elements).shape.clone() };
        let mut whole = shape.clone();
        for dim in (0..self.space.window.sizes.len()).filter(|&dim| self.space.is_reduction[dim]) {
            whole[dim] = self.space.window.sizes[dim];
        }
        if let Some(one) = graph.known_of(elements).and_then(Known::as_one) {
            let element = graph.node(elements).element;
            return graph.add(Kind::Known(one), &[], whole, element);
        }
        let shown = views::repeated(&shape, &whole);
        graph.view(elements, shown.exprs, &shown.shape)
    }

    /// Combines the elements along all reduced dimensions, which remain with size 1; constant integers in `width` bits.
    pub(super) fn reduced(&mut self, mut node: NodeId, combiner: Combiner, width: Option<u32>) -> NodeId {
        let graph = &mut self.importer.graph;
        for dim in (0..self.space.window.sizes.len()).rev().filter(|&dim| self.space.is_reduction[dim]) {
            node = match graph.known_of(node).cloned() {
                Some(known) => {
                    let (mut kept, element) = (graph.node(node).shape.clone(), graph.node(node).element);
                    let reduced = match width {
                        Some(width) if element == Element::Int => {
                            known.reduced_integers(&kept, dim, |a, b| combiner.combine_integers(a, b, width))
                        }
                        _ => known.reduced(&kept, dim, |a, b| combiner.combine(a, b)),
                    };
                    kept[dim] = 1;
                    graph.add(Kind::Known(reduced), &[], kept, element)
                }
                // The sum of one element is that element.
                None if graph.node(node).shape[dim] == 1 => node,
                None => reduce_along(graph, combiner.function(), node, dim),
            };
        }
        match (graph.known_of(node).and_then(Known::as_one), graph.node(node).element) {
            (Some(one), element) => graph.known(one, Vec::new(), element),
            (None, _) => node,
        }
    }

    /// Returns the node of a body scalar over the whole iteration space; a dimension that it does not depend on has size 1.
    fn evaluate(&mut self, scalar: Scalar) -> Result<NodeId, Reported> {
        for index in self.body.needed_for(scalar) {
            let node = self.evaluate_op(index)?;
            self.known_ops[index] = Some(node);
        }
        self.operand(scalar)
    }

    /// Returns an operand of an operation whose operands are evaluated.
    fn operand(&mut self, scalar: Scalar) -> Result<NodeId, Reported> {
        match scalar {
            Scalar::Input(index) => self.input(index),
            Scalar::Accumulator(result) => self.input(self.n_inputs + result),
            Scalar::Outer(node) => Ok(self.importer.graph.repeated(node, &vec![1; self.space.window.sizes.len()])),
            Scalar::Op(index) => self.evaluate_op(index),
            Scalar::Unknown => {
                Ok(self.refused(self.op, "expected numbers, integers and indices in the body, found a value of another type".to_owned()))
            }
        }
    }

    fn evaluate_op(&mut self, index: usize) -> Result<NodeId, Reported> {
        if let Some(known) = self.known_ops[index] {
            return Ok(known);
        }
        let (scalar_op, at) = (self.body.ops[index].clone(), self.ops[index]);
        match scalar_op.name.as_str() {
            "linalg.index" => return Ok(self.iteration_index(at)),
            "tensor.extract" => return self.extract(&scalar_op, at),
            ScalarOp::BRANCH if scalar_op.operands.len() == 1 => return self.operand(scalar_op.operands[0]),
            _ => {}
        }
        let operands: Vec<NodeId> = scalar_op.operands.iter().map(|&operand| self.operand(operand)).collect::<Result<_, _>>()?;
        let (location, shape) = (self.location(at), vec![1; self.space.window.sizes.len()]);
        Ok(self.importer.scalar_op(at, location, &scalar_op, &operands, &shape))
    }

    /// Builds `linalg.index`: the numbers from 0 along one dimension.
    fn iteration_index(&mut self, at: Op<'c>) -> NodeId {
        let dim = match self.space.dims[at.required("dim", natural)] {
            Expr::Dim(dim) => dim,
            Expr::Constant(index) => return self.importer.graph.known(Known::integer(index), Vec::new(), Element::Int),
            _ => unreachable!("a dimension of the space, or an index in it"),
        };
        let mut shape = vec![1; self.space.window.sizes.len()];
        shape[dim] = self.space.window.sizes[dim];
        if shape[dim] > MOST_KNOWN_ELEMENTS {
            let message = too_many_known(shape[dim]);
            return self.importer.refused(at, at.loc(), message, shape, Element::Int);
        }
        self.importer.graph.known(Known::counting(self.space.window.origin[dim], self.space.window.sizes[dim]), shape, Element::Int)
    }

    /// Extracts an element of a tensor at indices that the body computes: a view, or a gather if one index is read from a tensor.
    fn extract(&mut self, scalar_op: &ScalarOp, at: Op<'c>) -> Result<NodeId, Reported> {
        let table = self.importer.node_of(at, at.inputs()[0])?;
        let indices: Vec<NodeId> = scalar_op.operands[1..].iter().map(|&operand| self.operand(operand)).collect::<Result<_, _>>()?;
        if let Some(refused) = self.importer.graph.refused_among(&indices) {
            return Ok(refused);
        }
        let location = self.location(at);
        self.importer.note_place(location);
        let rows = shape_of(at.inputs()[0]);
        if let Some(refused) = self.importer.graph.refused_among(&[table]) {
            // Another table of the same size bounds the indices as well.
            let element = self.importer.graph.node(refused).element;
            let table = self.importer.graph.undefined(rows.clone(), element);
            let found = lookup(&mut self.importer.graph, (table, &rows), &indices, &self.space.window.sizes);
            self.importer.gathered.extend(found.into_iter().flat_map(|found| found.chosen));
            return Ok(refused);
        }
        match lookup(&mut self.importer.graph, (table, &rows), &indices, &self.space.window.sizes) {
            Ok(found) => {
                self.importer.gathered.extend(found.chosen);
                self.importer.asserted.extend(found.bounds.into_iter().map(|bound| (bound, at, location)));
                Ok(found.node)
            }
            Err(message) => Ok(self.refused(at, message)),
        }
    }

    /// Returns operand `index` over the iteration space.
    fn input(&mut self, index: usize) -> Result<NodeId, Reported> {
        if let Some(known) = self.known_operands[index] {
            return Ok(known);
        }
        let (value, map) = self.space.operands[index].clone();
        let map = self.space.window.shifted(&map);
        let node = self.importer.node_of(self.op, value)?;
        let (node, map) = self.forwards(node, &map).unwrap_or((node, map));
        let graph = &mut self.importer.graph;
        let shown = if graph.node(node).kind == Kind::Undefined && index < self.n_inputs {
            self.refused(self.op, codes::UNWRITTEN.says("reads a tensor that no op has written; fill it first"))
        } else if graph.number_of(node).is_some() || graph.node(node).shape.is_empty() && map.is_empty() && graph.known_of(node).is_some() {
            node
        } else if let Some(message) = refuse_window(&map, &self.space.window.sizes) {
            self.refused(self.op, format!("reads input {index} {message}"))
        } else {
            let shape = views::moving_dims(&map, &self.space.window.sizes);
            graph.strided(node, map, &shape)
        };
        self.known_operands[index] = Some(shown);
        Ok(shown)
    }

    /// Returns a node over the iteration space (reduced dimensions of size 1) under the indices of result `result`.
    fn shown_as_result(&mut self, result: usize, node: NodeId) -> Result<NodeId, Reported> {
        if self.importer.graph.refused_among(&[node]).is_some() {
            return Ok(node);
        }
        let graph = &self.importer.graph;
        let own = graph.node(node).shape.clone();
        let shape = if own.is_empty() { vec![1; self.space.window.sizes.len()] } else { own.clone() };
        let shown = views::result(self.output_map(result), &shape, &self.space.window.sizes, &self.space.is_reduction);
        match shown.filter(|shown| shown.shape == self.expected_shape(result)) {
            Some(_) if own.is_empty() => Ok(node),
            Some(shown) => Ok(self.importer.graph.view(node, shown.exprs, &shown.shape)),
            None => Err(self.error(format_args!(
                "expected plain dimensions in the map of result {result}, found computed indices; write the result in order"
            ))),
        }
    }

    /// Returns the shape of a result, or of its slice in the window.
    fn expected_shape(&self, result: usize) -> Vec<i64> {
        let whole = TensorType::of(self.op.outputs()[result].r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        let size = |(expr, whole): (&Expr, i64)| match expr {
            Expr::Dim(dim) if self.space.window.origin[*dim] > 0 || self.space.window.sizes[*dim] < whole => self.space.window.sizes[*dim],
            _ => whole,
        };
        self.output_map(result).iter().zip(whole).map(size).collect()
    }

    /// Assertions are checked once all tables that an index selects from are known.
    fn note_asserts(&mut self) -> Result<(), Reported> {
        for index in 0..self.ops.len() {
            if self.ops[index].is("cf.assert") {
                let condition = self.body.ops[index].operands.first().copied().unwrap_or(Scalar::Unknown);
                let condition = self.evaluate(condition)?;
                self.importer.asserted.push((condition, self.ops[index], self.location(self.ops[index])));
            }
        }
        Ok(())
    }
}
