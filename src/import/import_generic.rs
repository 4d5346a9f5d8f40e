//! `spyre-import-linalg`, one `linalg.generic`: what its body computes, on whole tensors.

use super::{
    Body, Combiner, Contraction, Product, Reduction, Scalar, ScalarOp,
    import_linalg::{Imported, Importer, number_of, refuse_empty, shape_of, show},
    views,
};
use crate::{
    dialect::{matmul, pointwise, reduce},
    mlir::{
        BlockExt, Expr, Location, Op, OpExt, Reported, TensorType, Type, Value, ValueExt, ValueLike, ValueMap, elements, error_at,
        insert_before, is_unknown, map_of, map_results,
    },
};

/// Writes the `spyre` ops of a `linalg.generic`; returns what its results are.
pub(super) fn import_generic<'c>(importer: &Importer<'c>, op: Op<'c>) -> Result<Vec<(Value<'c>, Imported<'c>)>, Reported> {
    let mut generic = Generic::of(importer, op)?;
    // An argmax beside a maximum is often there and never used.
    let used = op.outputs().into_iter().enumerate().filter(|(_, value)| !value.users().is_empty());
    used.map(|(result, value)| Ok((value, generic.import_result(result)?))).collect()
}

/// A `linalg.generic`, taken apart.
struct Generic<'a, 'c> {
    importer: &'a Importer<'c>,
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
    /// What the inputs and operations are over the iteration space: each is computed once, when it is needed first.
    known_inputs: Vec<Option<Imported<'c>>>,
    known_ops: Vec<Option<Imported<'c>>>,
}

impl<'a, 'c> Generic<'a, 'c> {
    fn of(importer: &'a Importer<'c>, op: Op<'c>) -> Result<Self, Reported> {
        let maps = op.attr("indexing_maps").and_then(elements).unwrap_or_default();
        let iterators = op.attr("iterator_types").and_then(elements).unwrap_or_default();
        let maps = maps.into_iter().filter_map(map_of).map(map_results);
        let operands: Vec<(Value<'c>, Vec<Expr>)> = op.inputs().into_iter().zip(maps).collect();
        let is_reduction = iterators.iter().map(|iterator| iterator.to_string().contains("reduction")).collect();
        let n_inputs = operands.len() - op.outputs().len();
        let sizes = sizes_of(op, &operands, iterators.len())?;
        let (body, ops) = read_body(op, n_inputs, &importer.values);
        let (known_inputs, known_ops) = (vec![None; n_inputs], vec![None; ops.len()]);
        Ok(Self { importer, op, operands, n_inputs, sizes, is_reduction, body, ops, known_inputs, known_ops })
    }

    fn error(&self, message: impl std::fmt::Display) -> Reported {
        error_at(self.op, message).report()
    }

    /// An error at an operation of the body.
    fn error_in_body(&self, at: Op<'c>, message: impl std::fmt::Display) -> Reported {
        error_at(at, message).at(self.location(at)).report()
    }

    /// Where an operation of the body comes from; the whole op where a pass has made up the body.
    fn location(&self, at: Op<'c>) -> Location<'c> {
        if is_unknown(at.loc()) { self.op.loc() } else { at.loc() }
    }

    /// The number that result `result` is written over.
    fn start(&self, result: usize) -> Option<f64> {
        self.importer.values.get(self.operands[self.n_inputs + result].0).and_then(Imported::number)
    }

    fn output_map(&self, result: usize) -> &[Expr] {
        &self.operands[self.n_inputs + result].1
    }

    fn import_result(&mut self, result: usize) -> Result<Imported<'c>, Reported> {
        if self.is_reduction.contains(&true) {
            return self.import_reduction(result).map(Imported::Tensor);
        }
        match self.evaluate(self.body.yields[result])? {
            Imported::Tensor(tensor) => self.shown_as_result(result, tensor).map(Imported::Tensor),
            number @ Imported::Number(_) => Ok(number),
        }
    }

    fn import_reduction(&mut self, result: usize) -> Result<Value<'c>, Reported> {
        let Some(reduction) = self.body.reduction(result) else {
            return Err(self.error(format_args!("result {result} is no sum, product, maximum or minimum of new values: not supported yet")));
        };
        let combiner = reduction.combiner;
        let product = self.body.product(reduction.new).filter(|_| combiner == Combiner::Sum);
        let contraction = product.and_then(|product| Some((self.contraction(&product, result)?, product)));
        let tensor = match contraction {
            Some(((dims, factors), product)) => self.import_contraction(&dims, factors, &product, result)?,
            None => self.insert_reductions(&reduction, result)?,
        };
        let Some(TensorType { element, .. }) = TensorType::of(tensor.r#type()) else { return Ok(tensor) };
        if !self.start(result).is_some_and(|number| combiner.can_start_from(number, &element.to_string())) {
            let (noun, neutral) = (combiner.noun(), combiner.neutral());
            return Err(self.error(format_args!("a {noun} must start from {neutral}: another start is not supported yet")));
        }
        self.check_casts(&reduction.casts, element)?;
        Ok(tensor)
    }

    /// The device reduces along one dimension at a time.
    fn insert_reductions(&mut self, reduction: &Reduction, result: usize) -> Result<Value<'c>, Reported> {
        let Imported::Tensor(elements) = self.evaluate(reduction.new)? else {
            return Err(self.error("reduces a constant: not supported yet"));
        };
        let mut tensor = show(self.op, elements, views::repeated(&shape_of(elements), &self.sizes));
        for dim in (0..self.sizes.len()).rev().filter(|&dim| self.is_reduction[dim]) {
            let Some(mut output) = TensorType::of(tensor.r#type()) else { continue };
            output.shape[dim] = 1;
            let function = reduction.combiner.function();
            let reduced = reduce(self.op.ctx(), self.op.loc(), function, tensor, &[dim.cast_signed() as i64], output.build());
            tensor = insert_before(self.op, reduced).output();
        }
        self.shown_as_result(result, tensor)
    }

    /// The dimensions of a matmul and its operands from left to right, if the product is one.
    fn contraction(&self, product: &Product, result: usize) -> Option<(Contraction, [usize; 2])> {
        let dims = |input: usize| views::plain_dims(&self.operands[input].1);
        let output = views::plain_dims(self.output_map(result))?;
        let [first, second] = product.factors;
        // The factors of a product have no order: the left operand of a matmul is the one with the result's row.
        let (dims, factors) = [[first, second], [second, first]]
            .into_iter()
            .find_map(|[lhs, rhs]| Some((Contraction::of(&dims(lhs)?, &dims(rhs)?, &output)?, [lhs, rhs])))?;
        // Another input may repeat the whole product.
        let is_whole = self.sizes.len() == dims.n_dims() && (0..self.sizes.len()).all(|dim| self.is_reduction[dim] == (dim == dims.k));
        is_whole.then_some((dims, factors))
    }

    /// A matmul; its operands are shown as `[batch..., M, K]` and `[batch..., K, N]`.
    fn import_contraction(
        &self,
        dims: &Contraction,
        [lhs, rhs]: [usize; 2],
        product: &Product,
        result: usize,
    ) -> Result<Value<'c>, Reported> {
        let order = dims.order([dims.m, dims.n]);
        let lhs = self.factor(lhs, &dims.order([dims.m, dims.k]))?;
        let rhs = self.factor(rhs, &dims.order([dims.k, dims.n]))?;
        let output = common_type(&[lhs, rhs]).map_err(|message| self.error(message))?;
        self.check_casts(&product.casts, output.element)?;
        let shape = order.iter().map(|&dim| self.sizes[dim]).collect();
        let tensor = matmul(self.op.ctx(), self.op.loc(), lhs, rhs, output.with_shape(shape).build());
        let written = views::plain_dims(self.output_map(result)).unwrap_or_default();
        Ok(show(self.op, insert_before(self.op, tensor).output(), views::permuted(&order, &written, &self.sizes)))
    }

    /// Input `index` with its dimensions in the order of the iteration dimensions `order`.
    fn factor(&self, index: usize, order: &[usize]) -> Result<Value<'c>, Reported> {
        let (value, map) = &self.operands[index];
        let tensor = self.importer.tensor(self.op, *value)?;
        Ok(show(self.op, tensor, views::permuted(&views::plain_dims(map).unwrap_or_default(), order, &self.sizes)))
    }

    /// The tensor or number that a scalar of the body is over the whole iteration space; a dimension that it does not depend on has
    /// size 1.
    fn evaluate(&mut self, scalar: Scalar) -> Result<Imported<'c>, Reported> {
        let needed = self.body.needed_for(scalar);
        // The use of an index says more about a program, such as a gather, than what is done with it.
        if needed.iter().any(|&index| self.body.ops[index].operands.contains(&Scalar::Unknown)) {
            return self.operand(Scalar::Unknown);
        }
        for index in needed {
            let imported = self.evaluate_op(index)?;
            self.known_ops[index] = Some(imported);
        }
        self.operand(scalar)
    }

    /// An operand of an operation whose operands are evaluated.
    fn operand(&mut self, scalar: Scalar) -> Result<Imported<'c>, Reported> {
        match scalar {
            Scalar::Input(index) => self.input(index),
            Scalar::Constant(number) => Ok(Imported::Number(number)),
            Scalar::Op(index) => self.evaluate_op(index),
            Scalar::Accumulator(result) => {
                self.start(result).map(Imported::Number).ok_or_else(|| self.error("reads the tensor that it writes: not supported yet"))
            }
            Scalar::Unknown => Err(self.error("uses an index or a value of another kind in its body: not supported yet")),
        }
    }

    fn evaluate_op(&mut self, index: usize) -> Result<Imported<'c>, Reported> {
        if let Some(known) = self.known_ops[index] {
            return Ok(known);
        }
        let (scalar_op, at) = (self.body.ops[index].clone(), self.ops[index]);
        let operands: Vec<Imported<'c>> = scalar_op.operands.iter().map(|&operand| self.operand(operand)).collect::<Result<_, _>>()?;
        if scalar_op.is_cast() {
            return self.cast(index, operands[0]);
        }
        let number = |operand: usize| operands[operand].number();
        if let Some(unchanged) = scalar_op.unchanged_operand(number) {
            return Ok(operands[unchanged]);
        }
        let Some(function) = scalar_op.device_function() else { return Err(self.error_in_body(at, no_function(&scalar_op, at))) };
        let tensor = |operand: &Imported<'c>| match operand {
            Imported::Tensor(tensor) => Ok(*tensor),
            Imported::Number(number) => Err(format!("uses the constant {number}: constants are not supported yet")),
        };
        let tensors: Result<Vec<Value<'c>>, String> = operands.iter().map(tensor).collect();
        let written = tensors.and_then(|tensors| self.insert_pointwise(at, function, &tensors));
        written.map(Imported::Tensor).map_err(|message| self.error_in_body(at, message))
    }

    /// A change of number format: within an f32 island there is none.
    fn cast(&self, index: usize, operand: Imported<'c>) -> Result<Imported<'c>, Reported> {
        if let Imported::Tensor(tensor) = operand
            && let Some(TensorType { element, .. }) = TensorType::of(tensor.r#type())
        {
            self.check_casts(&[index], element)?;
        }
        Ok(operand)
    }

    /// Whether casts of values that are computed in `element` vanish.
    fn check_casts(&self, casts: &[usize], element: Type<'c>) -> Result<(), Reported> {
        for at in casts.iter().map(|&index| self.ops[index]) {
            let (from, to) = (at.inputs()[0].r#type().to_string(), at.output().r#type().to_string());
            let folded = self.importer.precision.fold_cast(&element.to_string(), &from, &to);
            folded.map_err(|message| self.error_in_body(at, message))?;
        }
        Ok(())
    }

    fn insert_pointwise(&self, at: Op<'c>, function: &str, tensors: &[Value<'c>]) -> Result<Value<'c>, String> {
        let output = common_type(tensors)?;
        let shapes: Vec<Vec<i64>> = tensors.iter().map(|tensor| shape_of(*tensor)).collect();
        let shape = (0..self.sizes.len()).map(|dim| shapes.iter().map(|shape| shape[dim]).max().unwrap_or(1)).collect();
        let written = pointwise(self.op.ctx(), self.location(at), function, tensors, output.with_shape(shape).build());
        Ok(insert_before(self.op, written).output())
    }

    /// Input `index` over the iteration space.
    fn input(&mut self, index: usize) -> Result<Imported<'c>, Reported> {
        if let Some(known) = self.known_inputs[index] {
            return Ok(known);
        }
        let (value, map) = &self.operands[index];
        let imported = match self.importer.values.get(*value) {
            Some(number @ Imported::Number(_)) => *number,
            _ => {
                let tensor = self.importer.tensor(self.op, *value)?;
                let Some(shown) = views::input(map, &self.sizes) else {
                    return Err(self.error(format_args!("reads input {index} through computed indices: not supported yet")));
                };
                Imported::Tensor(show(self.op, tensor, shown))
            }
        };
        self.known_inputs[index] = Some(imported);
        Ok(imported)
    }

    /// A tensor over the iteration space (reduced dimensions of size 1) under the indices of result `result`.
    fn shown_as_result(&self, result: usize, tensor: Value<'c>) -> Result<Value<'c>, Reported> {
        let shown = views::result(self.output_map(result), &shape_of(tensor), &self.sizes, &self.is_reduction);
        match shown.filter(|shown| shown.shape == shape_of(self.op.outputs()[result])) {
            Some(shown) => Ok(show(self.op, tensor, shown)),
            None => Err(self.error(format_args!("writes result {result} through computed indices: not supported yet"))),
        }
    }
}

/// Why an operation of a body cannot be one of the device.
fn no_function(scalar_op: &ScalarOp, at: Op<'_>) -> String {
    if scalar_op.is_conversion() {
        return format!("converts {} to {}: not supported yet", at.inputs()[0].r#type(), at.output().r#type());
    }
    "has no device function yet".to_owned()
}

/// The type of the first operand, if all have its elements.
fn common_type<'c>(tensors: &[Value<'c>]) -> Result<TensorType<'c>, String> {
    let types: Vec<TensorType<'c>> = tensors.iter().filter_map(|tensor| TensorType::of(tensor.r#type())).collect();
    let first = types[0].clone();
    match types.iter().find(|other| other.element != first.element) {
        Some(other) => Err(format!("mixes elements of {} and {}: not supported yet", first.element, other.element)),
        None => Ok(first),
    }
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
fn read_body<'c>(op: Op<'c>, n_inputs: usize, values: &ValueMap<Imported<'c>>) -> (Body, Vec<Op<'c>>) {
    let mut scalars: ValueMap<Scalar> = ValueMap::default();
    for (index, argument) in op.body().map(BlockExt::args).unwrap_or_default().into_iter().enumerate() {
        scalars.insert(argument, if index < n_inputs { Scalar::Input(index) } else { Scalar::Accumulator(index - n_inputs) });
    }
    let (mut body, mut ops) = (Body::default(), Vec::new());
    for inner in op.body_ops() {
        let outer = |value: Value<'c>| values.get(value).and_then(Imported::number).map_or(Scalar::Unknown, Scalar::Constant);
        let scalar = |value: Value<'c>| scalars.get(value).copied().unwrap_or_else(|| outer(value));
        let operands = inner.inputs().into_iter().map(scalar).collect();
        if inner.is("linalg.yield") {
            body.yields = operands;
            continue;
        }
        if let Some(number) = inner.attr("value").filter(|_| inner.is("arith.constant")).and_then(number_of) {
            scalars.insert(inner.output(), Scalar::Constant(number));
            continue;
        }
        if inner.outputs().len() == 1 {
            scalars.insert(inner.output(), Scalar::Op(ops.len()));
        }
        body.ops.push(ScalarOp { name: inner.full_name().to_owned(), operands });
        ops.push(inner);
    }
    (body, ops)
}
