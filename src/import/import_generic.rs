//! `spyre-import-linalg`, one `linalg.generic`: what its body computes, on whole tensors.

use super::{
    Body, Combiner, Contraction, Product, Reduction, Scalar, ScalarFunction, ScalarOp,
    contraction::{flat_index, index_of, size_of},
    graph::{Element, Kind, NodeId},
    import_linalg::{Importer, element_named, refuse_empty},
    index::{moving_dims, plain_indices, refuse_window},
    known::Known,
    views,
};
use crate::mlir::{
    BlockExt, Expr, Location, Op, OpExt, Reported, TensorType, Value, ValueLike, ValueMap, elements, error_at, integer, is_unknown, map_of,
    map_results,
};

/// Builds the nodes of a `linalg.generic`; gives one for each result.
pub(super) fn import_generic<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<Vec<NodeId>, Reported> {
    let mut generic = Generic::of(importer, op)?;
    let results = (0..op.outputs().len()).map(|result| generic.import_result(result)).collect::<Result<_, _>>()?;
    generic.check_asserts()?;
    Ok(results)
}

/// A `linalg.generic`, taken apart.
struct Generic<'a, 'c> {
    importer: &'a mut Importer<'c>,
    op: Op<'c>,
    /// The inputs, then what the results are written over, each with its index map.
    operands: Vec<(Value<'c>, Vec<Expr>)>,
    n_inputs: usize,
    /// Sizes of the iteration dimensions.
    sizes: Vec<i64>,
    is_reduction: Vec<bool>,
    body: Body,
    /// The operations of the body, in the order of `body.ops`.
    ops: Vec<Op<'c>>,
    /// What the operands and operations are over the iteration space: each is built once, when it is needed first.
    known_operands: Vec<Option<NodeId>>,
    known_ops: Vec<Option<NodeId>>,
    /// The tables that indices of the body choose rows of: the index and the number of rows.
    gathered: Vec<(NodeId, i64)>,
}

impl<'a, 'c> Generic<'a, 'c> {
    fn of(importer: &'a mut Importer<'c>, op: Op<'c>) -> Result<Self, Reported> {
        let maps = op.attr("indexing_maps").and_then(elements).unwrap_or_default();
        let iterators = op.attr("iterator_types").and_then(elements).unwrap_or_default();
        let maps = maps.into_iter().filter_map(map_of).map(map_results);
        let operands: Vec<(Value<'c>, Vec<Expr>)> = op.inputs().into_iter().zip(maps).collect();
        let is_reduction = iterators.iter().map(|iterator| iterator.to_string().contains("reduction")).collect();
        let n_inputs = operands.len() - op.outputs().len();
        let sizes = sizes_of(op, &operands, iterators.len())?;
        let (body, ops) = read_body(importer, op, n_inputs)?;
        let (known_operands, known_ops) = (vec![None; operands.len()], vec![None; ops.len()]);
        Ok(Self { importer, op, operands, n_inputs, sizes, is_reduction, body, ops, known_operands, known_ops, gathered: Vec::new() })
    }

    fn error(&self, message: impl std::fmt::Display) -> Reported {
        error_at(self.op, message).report()
    }

    /// Where an operation of the body comes from; the whole op where a pass has made up the body.
    fn location(&self, at: Op<'c>) -> Location<'c> {
        if is_unknown(at.loc()) { self.op.loc() } else { at.loc() }
    }

    /// A node that is refused, at an operation of the body, if it is needed.
    fn refused(&mut self, at: Op<'c>, message: String) -> NodeId {
        let location = self.location(at);
        let element = at.outputs().first().map_or(Element::F32, |output| self.scalar_element(output.r#type()));
        self.importer.refused(at, location, message, vec![1; self.sizes.len()], element)
    }

    /// The same for a whole result.
    fn refused_result(&mut self, result: usize, message: String) -> NodeId {
        let tensor = TensorType::of(self.op.outputs()[result].r#type());
        let element = tensor.as_ref().map_or(Element::F32, |tensor| self.scalar_element(tensor.element));
        let shape = tensor.map(|tensor| tensor.shape).unwrap_or_default();
        self.importer.refused(self.op, self.op.loc(), message, shape, element)
    }

    fn scalar_element(&self, of: crate::mlir::Type<'c>) -> Element {
        element_named(&of.to_string(), self.importer.half).unwrap_or(Element::F32)
    }

    fn output_map(&self, result: usize) -> &[Expr] {
        &self.operands[self.n_inputs + result].1
    }

    fn import_result(&mut self, result: usize) -> Result<NodeId, Reported> {
        self.importer.note_place(self.op, self.op.loc());
        if self.is_reduction.contains(&true) {
            return self.import_reduction(result);
        }
        let node = self.evaluate(self.body.yields[result])?;
        self.shown_as_result(result, node)
    }

    fn import_reduction(&mut self, result: usize) -> Result<NodeId, Reported> {
        let Some(reduction) = self.body.reduction(result) else {
            let message = format!("result {result} is no sum, product, maximum or minimum of new values: not supported yet");
            return Ok(self.refused_result(result, message));
        };
        for &cast in &reduction.casts {
            let (from, to) = cast_types(self.ops[cast]);
            if let Err(message) = self.importer.fold_cast(&from, &to) {
                return Ok(self.refused(self.ops[cast], message));
            }
        }
        let combiner = reduction.combiner;
        let product = self.body.product(reduction.new).filter(|_| combiner == Combiner::Sum);
        let contraction = product.and_then(|product| Some((self.contraction(&product, result)?, product)));
        let node = match contraction {
            Some((dims, product)) => self.import_contraction(&dims, &product, result)?,
            None => self.insert_reductions(&reduction, result)?,
        };
        self.with_start(combiner, result, node)
    }

    /// The result of a reduction combined with what it starts from, unless that changes nothing.
    fn with_start(&mut self, combiner: Combiner, result: usize, node: NodeId) -> Result<NodeId, Reported> {
        if self.importer.graph.refused_among(&[node]).is_some() {
            return Ok(node);
        }
        let (start, _) = self.operands[self.n_inputs + result];
        let start = self.importer.node_of(self.op, start)?;
        let element = TensorType::of(self.op.outputs()[result].r#type()).map_or_else(String::new, |tensor| tensor.element.to_string());
        if self.importer.graph.node(start).kind == Kind::Undefined {
            let message = "reduces onto a tensor that nothing has written".to_owned();
            return Ok(self.refused_result(result, message));
        }
        if self.importer.graph.number_of(start).is_some_and(|number| combiner.can_start_from(number, &element)) {
            return Ok(node);
        }
        let element = self.importer.graph.node(node).element;
        match self.importer.graph.apply(combiner.operation(), &[node, start], element) {
            Ok(combined) => Ok(combined),
            Err(message) => Ok(self.refused_result(result, message)),
        }
    }

    /// The device reduces along one dimension at a time.
    fn insert_reductions(&mut self, reduction: &Reduction, result: usize) -> Result<NodeId, Reported> {
        let elements = self.evaluate(reduction.new)?;
        if self.importer.graph.refused_among(&[elements]).is_some() {
            return Ok(elements);
        }
        self.importer.note_place(self.op, self.op.loc());
        let graph = &mut self.importer.graph;
        let shape: Vec<i64> =
            if graph.node(elements).shape.is_empty() { vec![1; self.sizes.len()] } else { graph.node(elements).shape.clone() };
        // What does not depend on a reduced dimension is repeated along it first.
        let mut whole = shape.clone();
        for dim in (0..self.sizes.len()).filter(|&dim| self.is_reduction[dim]) {
            whole[dim] = self.sizes[dim];
        }
        let mut node = if let Some(number) = graph.number_of(elements) {
            let element = graph.node(elements).element;
            graph.add(Kind::Known(Known::number(number)), &[], whole, element)
        } else {
            let shown = views::repeated(&shape, &whole);
            graph.view(elements, shown.exprs, &shown.shape)
        };
        if graph.node(node).element == Element::Int && graph.known_of(node).is_none() {
            return Ok(self.refused_result(result, "computes integers of a run-time value: not supported yet".to_owned()));
        }
        for dim in (0..self.sizes.len()).rev().filter(|&dim| self.is_reduction[dim]) {
            node = match graph.known_of(node).cloned() {
                Some(known) => {
                    let (mut kept, element) = (graph.node(node).shape.clone(), graph.node(node).element);
                    let reduced = known.repeated(&kept).reduced(&kept, dim, |a, b| reduction.combiner.combine(a, b));
                    kept[dim] = 1;
                    graph.add(Kind::Known(reduced), &[], kept, element)
                }
                // One element is its own sum.
                None if graph.node(node).shape[dim] == 1 => node,
                None => graph.reduce(reduction.combiner.function(), node, dim),
            };
        }
        if let Some(number) = graph.number_of(node) {
            node = graph.number(number);
        }
        self.shown_as_result(result, node)
    }

    /// The dimensions of a matmul, if the product of two inputs is one.
    fn contraction(&self, product: &Product, result: usize) -> Option<Contraction> {
        let plain = |map: &[Expr]| {
            let dims = views::plain_dims(map)?;
            Some(dims.into_iter().filter(|&dim| self.sizes[dim] > 1).collect::<Vec<_>>())
        };
        let [lhs, rhs] = product.factors;
        let found = Contraction::of(&plain(&self.operands[lhs].1)?, &plain(&self.operands[rhs].1)?, &plain(self.output_map(result))?)?;
        // Another input may repeat the whole product.
        let is_summed = |dim: usize| self.sizes[dim] > 1 && self.is_reduction[dim];
        let n_dims = found.batch.iter().chain([&found.m, &found.n, &found.k]).map(Vec::len).sum::<usize>();
        let is_whole = (0..self.sizes.len()).all(|dim| is_summed(dim) == found.k.contains(&dim));
        (is_whole && n_dims == self.sizes.iter().filter(|&&size| size > 1).count()).then_some(found)
    }

    /// A matmul; its operands are shown as `[batch..., M, K]` and `[batch..., K, N]`.
    fn import_contraction(&mut self, dims: &Contraction, product: &Product, result: usize) -> Result<NodeId, Reported> {
        for &cast in &product.casts {
            let (from, to) = cast_types(self.ops[cast]);
            if let Err(message) = self.importer.fold_cast(&from, &to) {
                return Ok(self.refused(self.ops[cast], message));
            }
        }
        let [first, second] = product.factors;
        let (lhs, rhs) = if dims.is_swapped { (second, first) } else { (first, second) };
        let (left, right) = (self.factor(lhs, &dims.dims([&dims.m, &dims.k]))?, self.factor(rhs, &dims.dims([&dims.k, &dims.n]))?);
        if let Some(refused) = self.importer.graph.refused_among(&[left, right]) {
            return Ok(refused);
        }
        self.importer.note_place(self.op, self.op.loc());
        let elements = self.importer.graph.elements_of(&[left, right]);
        let element = match super::functions::same(&elements) {
            Ok(element) => element,
            Err(message) => return Ok(self.refused_result(result, message)),
        };
        let order = dims.dims([&dims.m, &dims.n]);
        let shape = order.iter().map(|group| size_of(group, &self.sizes)).collect();
        let graph = &mut self.importer.graph;
        let matmul = graph.add(Kind::Matmul, &[left, right], shape, element);
        let map = self.operands[self.n_inputs + result].1.clone();
        let at = |dim: usize| map.iter().position(|expr| *expr == Expr::Dim(dim)).map_or(Expr::Constant(0), Expr::Dim);
        let exprs = order.iter().map(|group| flat_index(group, &self.sizes, at)).collect();
        let shape: Vec<i64> = map.iter().map(|expr| if let Expr::Dim(dim) = expr { self.sizes[*dim] } else { 1 }).collect();
        Ok(graph.view(matmul, exprs, &shape))
    }

    /// Input `index` with the dimensions `groups`.
    fn factor(&mut self, index: usize, groups: &[Vec<usize>]) -> Result<NodeId, Reported> {
        let (value, map) = self.operands[index].clone();
        let node = self.importer.node_of(self.op, value)?;
        let exprs = map.iter().map(|expr| match expr {
            Expr::Dim(dim) => index_of(*dim, groups, &self.sizes),
            _ => Expr::Constant(0),
        });
        let exprs = exprs.collect();
        let has = |group: &Vec<usize>| group.iter().any(|dim| map.contains(&Expr::Dim(*dim)));
        debug_assert!(groups.iter().all(|group| has(group) || group.iter().all(|dim| !map.contains(&Expr::Dim(*dim)))));
        let shape: Vec<i64> = groups.iter().map(|group| size_of(group, &self.sizes)).collect();
        let graph = &mut self.importer.graph;
        if graph.known_of(node).is_some() && graph.number_of(node).is_some() {
            return Ok(graph.filled(node, shape));
        }
        Ok(graph.view(node, exprs, &shape))
    }

    /// The node of a scalar of the body over the whole iteration space; a dimension that it does not depend on has size 1.
    fn evaluate(&mut self, scalar: Scalar) -> Result<NodeId, Reported> {
        for index in self.body.needed_for(scalar) {
            let node = self.evaluate_op(index)?;
            self.known_ops[index] = Some(node);
        }
        self.operand(scalar)
    }

    /// An operand of an operation whose operands are evaluated.
    fn operand(&mut self, scalar: Scalar) -> Result<NodeId, Reported> {
        match scalar {
            Scalar::Input(index) => self.input(index),
            Scalar::Accumulator(result) => self.input(self.n_inputs + result),
            Scalar::Outer(node) => Ok(node),
            Scalar::Op(index) => self.evaluate_op(index),
            Scalar::Unknown => Ok(self.refused(self.op, "uses a value of another kind in its body: not supported yet".to_owned())),
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
            _ => {}
        }
        let operands: Vec<NodeId> = scalar_op.operands.iter().map(|&operand| self.operand(operand)).collect::<Result<_, _>>()?;
        if let Some(refused) = self.importer.graph.refused_among(&operands) {
            return Ok(refused);
        }
        let location = self.location(at);
        self.importer.note_place(at, location);
        if scalar_op.is_cast() {
            return Ok(self.cast(at, operands[0]));
        }
        let Some(output) = at.outputs().first().copied() else { return Ok(self.refused(at, "has no device function".to_owned())) };
        let element = self.scalar_element(output.r#type());
        let Some(function) = ScalarFunction::named(&scalar_op.name) else {
            return Ok(self.refused(at, "has no device function yet".to_owned()));
        };
        let graph = &mut self.importer.graph;
        if function.computes_indices(graph, &operands) {
            let message = if scalar_op.is_conversion() {
                let (from, to) = cast_types(at);
                format!("converts {from} to {to} at run time: not supported yet")
            } else {
                "computes integers of a run-time value: not supported yet".to_owned()
            };
            let fallback = self.refused(at, message);
            return Ok(self.importer.graph.virtual_op(function.name, &operands, fallback, element));
        }
        match function.build(graph, &operands, element) {
            Ok(node) => {
                self.importer.note_wide(at, &operands, node);
                Ok(node)
            }
            Err(message) => Ok(self.refused(at, message)),
        }
    }

    /// `linalg.index`: the numbers from 0 along one dimension.
    fn iteration_index(&mut self, at: Op<'c>) -> NodeId {
        let dim = at.attr("dim").and_then(integer).and_then(|dim| usize::try_from(dim).ok()).unwrap_or(0);
        let mut shape = vec![1; self.sizes.len()];
        shape[dim] = self.sizes[dim];
        self.importer.graph.known(Known::counting(self.sizes[dim]), shape, Element::Int)
    }

    /// A change of number format: within an f32 island there is none.
    fn cast(&mut self, at: Op<'c>, operand: NodeId) -> NodeId {
        let (from, to) = cast_types(at);
        if self.importer.graph.known_of(operand).is_some() {
            return operand;
        }
        match self.importer.fold_cast(&from, &to) {
            Ok(()) => {
                self.importer.note_cast(at, operand);
                operand
            }
            Err(message) => self.refused(at, message),
        }
    }

    /// An element of a tensor at indices that the body computes: a view, or a gather where one of them is read from a tensor.
    fn extract(&mut self, scalar_op: &ScalarOp, at: Op<'c>) -> Result<NodeId, Reported> {
        let table = self.importer.node_of(at, at.inputs()[0])?;
        let indices: Vec<NodeId> = scalar_op.operands[1..].iter().map(|&operand| self.operand(operand)).collect::<Result<_, _>>()?;
        if let Some(refused) = self.importer.graph.refused_among(&indices).or(self.importer.graph.refused_among(&[table])) {
            return Ok(refused);
        }
        let location = self.location(at);
        self.importer.note_place(at, location);
        let graph = &mut self.importer.graph;
        let rows: Vec<i64> = graph.node(table).shape.clone();
        let exprs = plain_indices(graph, &indices);
        match exprs.iter().enumerate().filter(|(_, expr)| expr.is_none()).map(|(dim, _)| dim).collect::<Vec<_>>().as_slice() {
            [] => {
                let exprs: Vec<Expr> = exprs.into_iter().flatten().collect();
                let shape = moving_dims(&exprs, &self.sizes);
                Ok(graph.view(table, exprs, &shape))
            }
            &[dim] => match super::index::chosen_row(graph, indices[dim], rows[dim]) {
                Some(index) => {
                    self.gathered.push((index, rows[dim]));
                    Ok(super::index::gather(graph, table, dim, index, &exprs, &self.sizes))
                }
                None => Ok(self.refused(at, "takes an index that is computed from a tensor: only an element itself, wrapped or clamped to the rows of the table, is supported yet".to_owned())),
            },
            several => {
                let message = format!("takes {} indices from tensors: one is supported yet", several.len());
                Ok(self.refused(at, message))
            }
        }
    }

    /// Operand `index` over the iteration space.
    fn input(&mut self, index: usize) -> Result<NodeId, Reported> {
        if let Some(known) = self.known_operands[index] {
            return Ok(known);
        }
        let (value, map) = self.operands[index].clone();
        let node = self.importer.node_of(self.op, value)?;
        let graph = &mut self.importer.graph;
        let shown = if graph.node(node).kind == Kind::Undefined && index < self.n_inputs {
            self.refused(self.op, "reads a tensor that nothing has written".to_owned())
        } else if graph.number_of(node).is_some() || graph.node(node).shape.is_empty() && map.is_empty() && graph.known_of(node).is_some() {
            node
        } else if let Some(message) = refuse_window(&map, &self.sizes) {
            self.refused(self.op, format!("reads input {index} {message}"))
        } else {
            let shape = moving_dims(&map, &self.sizes);
            graph.view(node, map, &shape)
        };
        self.known_operands[index] = Some(shown);
        Ok(shown)
    }

    /// A node over the iteration space (reduced dimensions of size 1) under the indices of result `result`.
    fn shown_as_result(&mut self, result: usize, node: NodeId) -> Result<NodeId, Reported> {
        if self.importer.graph.refused_among(&[node]).is_some() {
            return Ok(node);
        }
        let graph = &self.importer.graph;
        let own = graph.node(node).shape.clone();
        let shape = if own.is_empty() { vec![1; self.sizes.len()] } else { own.clone() };
        let shown = views::result(self.output_map(result), &shape, &self.sizes, &self.is_reduction);
        let expected = TensorType::of(self.op.outputs()[result].r#type()).map(|tensor| tensor.shape).unwrap_or_default();
        match shown.filter(|shown| shown.shape == expected) {
            Some(_) if own.is_empty() => Ok(node),
            Some(shown) => Ok(self.importer.graph.view(node, shown.exprs, &shown.shape)),
            None => Err(self.error(format_args!("writes result {result} through computed indices: not supported yet"))),
        }
    }

    /// An assertion may only say what the range of an index says: the device checks nothing.
    fn check_asserts(&mut self) -> Result<(), Reported> {
        for index in 0..self.ops.len() {
            if !self.ops[index].is("cf.assert") {
                continue;
            }
            let condition = self.body.ops[index].operands.first().copied().unwrap_or(Scalar::Unknown);
            let condition = self.evaluate(condition)?;
            if !super::index::always_holds(&self.importer.graph, condition, &self.gathered) {
                let message = "asserts what is not known at compile time: only the bounds of an index are supported";
                return Err(error_at(self.ops[index], message).at(self.location(self.ops[index])).report());
            }
        }
        Ok(())
    }
}

/// The types that a cast goes between.
fn cast_types(at: Op<'_>) -> (String, String) {
    (at.inputs()[0].r#type().to_string(), at.outputs()[0].r#type().to_string())
}

/// Sizes of the iteration dimensions, from the shapes of the operands.
fn sizes_of<'c>(op: Op<'c>, operands: &[(Value<'c>, Vec<Expr>)], n_dims: usize) -> Result<Vec<i64>, Reported> {
    let mut sizes = vec![1; n_dims];
    for (value, map) in operands.iter().filter(|(_, map)| !map.is_empty()) {
        let Some(tensor) = TensorType::of(value.r#type()) else {
            let message = format!("has an operand of {}: only tensors of static shape are supported", value.r#type());
            return Err(error_at(op, message).report());
        };
        refuse_empty(op, &tensor)?;
        for (expr, &size) in map.iter().zip(&tensor.shape) {
            if let Expr::Dim(dim) = expr {
                sizes[*dim] = size;
            }
        }
    }
    Ok(sizes)
}

/// The body as a plain value, and its operations.
fn read_body<'c>(importer: &mut Importer<'c>, op: Op<'c>, n_inputs: usize) -> Result<(Body, Vec<Op<'c>>), Reported> {
    let mut scalars: ValueMap<Scalar> = ValueMap::default();
    for (index, argument) in op.body().map(BlockExt::args).unwrap_or_default().into_iter().enumerate() {
        scalars.insert(argument, if index < n_inputs { Scalar::Input(index) } else { Scalar::Accumulator(index - n_inputs) });
    }
    let (mut body, mut ops) = (Body::default(), Vec::new());
    for inner in op.body_ops() {
        let mut operands = Vec::with_capacity(inner.inputs().len());
        for value in inner.inputs() {
            operands.push(match scalars.get(value) {
                Some(scalar) => *scalar,
                None => importer.outer_scalar(value),
            });
        }
        if inner.is("linalg.yield") {
            body.yields = operands;
            continue;
        }
        if inner.is("arith.constant") {
            let node = importer.constant(inner)?;
            scalars.insert(inner.output(), Scalar::Outer(node));
            continue;
        }
        if inner.outputs().len() == 1 {
            scalars.insert(inner.output(), Scalar::Op(ops.len()));
        }
        body.ops.push(ScalarOp { name: scalar_name(inner), operands });
        ops.push(inner);
    }
    Ok((body, ops))
}

/// The name of an operation; of a comparison with its predicate.
fn scalar_name(op: Op<'_>) -> String {
    const OF_FLOATS: [&str; 16] =
        ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"];
    const OF_INTEGERS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    let predicates: &[&str] = match op.full_name() {
        "arith.cmpf" => &OF_FLOATS,
        "arith.cmpi" => &OF_INTEGERS,
        name => return name.to_owned(),
    };
    let number = op.attr("predicate").and_then(integer).and_then(|number| usize::try_from(number).ok());
    let predicate = number.and_then(|number| predicates.get(number)).copied().unwrap_or_default();
    format!("{} {predicate}", op.full_name())
}
