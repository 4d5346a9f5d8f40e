//! `spyre-import-linalg`: turns `linalg` on tensors into `spyre` ops.
//!
//! Reads one function of `linalg.generic`, reshapes and constants; writes `spyre` ops in its place. Every value of the old program is
//! either a tensor of the new one or a known number; f32 values between f16 values are f16 tensors (`precision=device`).

use super::{Body, Combiner, Contraction, Precision, Scalar, ScalarOp};
use crate::{
    dialect::{matmul, pointwise, reduce, view},
    mlir::{
        AffineMap, Attribute, BlockExt, Context, Diagnostic, Expr, Location, Op, OpExt, Options, Pass, Reported, TensorType, Type, Value,
        ValueExt, ValueLike, ValueMap, elements, error_at, float_value, insert_before, integer, is_unknown, map_from_exprs, map_of,
        map_results, splat_value,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-import-linalg", run };

fn run<'c>(module: Op<'c>, options: &Options) -> Result<(), Reported> {
    let precision: Precision = options.text("precision").parse().map_err(|message: String| error_at(module, message).report())?;
    let mut functions = module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some());
    let Some(function) = functions.next() else { return Ok(()) };
    if let Some(second) = functions.next() {
        return Err(error_at(second, "is a second function with a body: only one is supported yet").note(function, "the first").report());
    }
    import_function(function, precision)
}

fn import_function(function: Op<'_>, precision: Precision) -> Result<(), Reported> {
    let Some(body) = function.body() else { return Ok(()) };
    if body.ops().iter().all(|op| op.full_name().starts_with("spyre.") || op.is("func.return")) {
        return Ok(());
    }
    let mut importer = Importer { context: function.ctx(), values: ValueMap::default(), precision };
    for argument in body.args() {
        if TensorType::of(argument.r#type()).is_none() {
            return Err(error_at(
                function,
                format_args!("has an argument of {}: only tensors of static shape are supported", argument.r#type()),
            )
            .report());
        }
        importer.values.insert(argument, Imported::Tensor(argument));
    }
    let old: Vec<Op<'_>> = body.ops().into_iter().filter(|op| !op.full_name().starts_with("spyre.")).collect();
    for &op in &old {
        importer.import(op)?;
    }
    for op in old.into_iter().rev().filter(|op| !op.is("func.return")) {
        op.erase();
    }
    Ok(())
}

/// What a value of the old program is in the new one.
#[derive(Clone, Copy)]
enum Imported<'c> {
    /// A tensor; f16 where the old value was an f32 island.
    Tensor(Value<'c>),
    /// The same number everywhere.
    Number(f64),
    /// Contents that nobody may read.
    Undefined,
}

struct Importer<'c> {
    context: &'c Context,
    values: ValueMap<Imported<'c>>,
    precision: Precision,
}

impl<'c> Importer<'c> {
    fn import(&mut self, op: Op<'c>) -> Result<(), Reported> {
        match op.full_name() {
            "arith.constant" => {
                self.import_constant(op);
                Ok(())
            }
            "tensor.empty" => {
                self.values.insert(op.output(), Imported::Undefined);
                Ok(())
            }
            "linalg.generic" => self.import_generic(op),
            "tensor.expand_shape" | "tensor.collapse_shape" => self.import_reshape(op),
            "func.return" => self.import_return(op),
            _ if op.outputs().iter().all(|result| result.users().is_empty()) && op.outputs().len() == 1 => Ok(()),
            _ => Err(error_at(op, "has no device function yet").report()),
        }
    }

    /// Numbers are noted; any other constant is an error where it is used.
    fn import_constant(&mut self, op: Op<'c>) {
        let Some(value) = op.attr("value") else { return };
        if let Some(number) = number_of(value).or_else(|| splat_value(value).and_then(number_of)) {
            self.values.insert(op.output(), Imported::Number(number));
        }
    }

    fn import_return(&self, op: Op<'c>) -> Result<(), Reported> {
        for (index, value) in op.inputs().into_iter().enumerate() {
            let tensor = self.tensor(op, value)?;
            if tensor.r#type() != value.r#type() {
                let message = format!(
                    "returns {}, which was computed as {}: converting results is not supported yet",
                    value.r#type(),
                    tensor.r#type()
                );
                return Err(error_at(op, message).report());
            }
            op.set_input(index, tensor);
        }
        Ok(())
    }

    /// The tensor that a value has become.
    fn tensor(&self, user: Op<'c>, value: Value<'c>) -> Result<Value<'c>, Reported> {
        match self.values.get(value) {
            Some(Imported::Tensor(tensor)) => Ok(*tensor),
            Some(Imported::Number(number)) => {
                Err(error_at(user, format_args!("uses the constant {number}: constant tensors are not supported yet")).report())
            }
            Some(Imported::Undefined) => Err(error_at(user, "reads a tensor that nothing has written").report()),
            None => Err(error_at(user, "uses a value that has no counterpart on the device yet").report()),
        }
    }

    /// A reshape shows the same elements under other indices.
    fn import_reshape(&mut self, op: Op<'c>) -> Result<(), Reported> {
        let (input, output) = (op.inputs()[0], op.output());
        if let Some(Imported::Number(number)) = self.values.get(input).copied() {
            self.values.insert(output, Imported::Number(number));
            return Ok(());
        }
        let source = self.tensor(op, input)?;
        let (Some(from), Some(to)) = (TensorType::of(source.r#type()), TensorType::of(output.r#type())) else {
            return Err(error_at(op, format_args!("reshapes {}: only static shapes are supported", input.r#type())).report());
        };
        let (from_shape, to_shape) = (from.shape.clone(), to.shape);
        let map = map_from_exprs(self.context, to_shape.len(), 0, &super::reshape::reshape_map(&from_shape, &to_shape));
        let shown = self.insert_view(op, source, map, &from.with_shape(to_shape));
        self.values.insert(output, Imported::Tensor(shown));
        Ok(())
    }

    fn insert_view(&self, before: Op<'c>, input: Value<'c>, map: AffineMap<'c>, output: &TensorType<'c>) -> Value<'c> {
        if map.is_identity() && input.r#type() == output.build() {
            return input;
        }
        insert_before(before, view(self.context, before.loc(), input, map, output.build())).output()
    }

    fn import_generic(&mut self, op: Op<'c>) -> Result<(), Reported> {
        let generic = Generic::of(op, self)?;
        for (result, value) in op.outputs().into_iter().enumerate() {
            // An argmax beside a maximum is often there and never used.
            if value.users().is_empty() {
                continue;
            }
            let imported = if generic.is_reduction.iter().any(|&reduced| reduced) {
                self.import_reduction(&generic, result)?
            } else {
                self.import_elementwise(&generic, result)?
            };
            self.values.insert(value, imported);
        }
        Ok(())
    }

    fn import_elementwise(&self, generic: &Generic<'c>, result: usize) -> Result<Imported<'c>, Reported> {
        match self.evaluate(generic, generic.body.yields[result])? {
            Imported::Tensor(tensor) => Ok(Imported::Tensor(self.shown_as_result(generic, result, tensor)?)),
            known => Ok(known),
        }
    }

    fn import_reduction(&self, generic: &Generic<'c>, result: usize) -> Result<Imported<'c>, Reported> {
        let op = generic.op;
        let Some((combiner, new)) = generic.body.reduction(result) else {
            return Err(error_at(
                op,
                format_args!("result {result} is no sum, product, maximum or minimum of new values: not supported yet"),
            )
            .report());
        };
        let start = self.values.get(generic.inits[result]).copied();
        if !matches!(start, Some(Imported::Number(number)) if is_neutral(combiner, number)) {
            let message = format!("a {} must start from {}: another start is not supported yet", combiner.function(), combiner.neutral());
            return Err(error_at(op, message).report());
        }
        if let (Combiner::Sum, Some(product)) = (combiner, generic.body.product(new))
            && let Some(tensor) = self.import_contraction(generic, product, result)?
        {
            return Ok(Imported::Tensor(tensor));
        }
        let Imported::Tensor(elements) = self.evaluate(generic, new)? else {
            return Err(error_at(op, "reduces a constant: not supported yet").report());
        };
        let mut tensor = self.broadcast(generic, elements);
        for dim in (0..generic.sizes.len()).rev().filter(|&dim| generic.is_reduction[dim]) {
            tensor = self.insert_reduce(op, combiner, tensor, dim)?;
        }
        Ok(Imported::Tensor(self.shown_as_result(generic, result, tensor)?))
    }

    fn insert_reduce(&self, before: Op<'c>, combiner: Combiner, tensor: Value<'c>, dim: usize) -> Result<Value<'c>, Reported> {
        let Some(mut output) = TensorType::of(tensor.r#type()) else { return Err(error_at(before, "reduces no tensor").report()) };
        output.shape[dim] = 1;
        let position = i64::try_from(dim).unwrap_or(i64::MAX);
        let reduced = reduce(self.context, before.loc(), combiner.function(), tensor, &[position], output.build());
        Ok(insert_before(before, reduced).output())
    }

    /// A matmul, if the product is one; operands are shown as `[batch..., M, K]` and `[batch..., K, N]`.
    fn import_contraction(&self, generic: &Generic<'c>, product: (usize, usize), result: usize) -> Result<Option<Value<'c>>, Reported> {
        let plain = |map: &[Expr]| -> Option<Vec<usize>> {
            map.iter().map(|expr| if let Expr::Dim(dim) = expr { Some(*dim) } else { None }).collect()
        };
        let (first, second) = (plain(&generic.input_maps[product.0]), plain(&generic.input_maps[product.1]));
        let (Some(first), Some(second), Some(output)) = (first, second, plain(&generic.output_maps[result])) else { return Ok(None) };
        // The factors of a product have no order: the left operand of a matmul is the one with the result's row.
        let candidates = [(product.0, product.1, &first, &second), (product.1, product.0, &second, &first)];
        let found = candidates.into_iter().find_map(|(lhs, rhs, lhs_dims, rhs_dims)| {
            let dims = Contraction::of(lhs_dims, rhs_dims, &output)?;
            let rows_first = output.iter().position(|&dim| dim == dims.m) < output.iter().position(|&dim| dim == dims.n);
            rows_first.then_some((lhs, rhs, dims))
        });
        let Some((lhs, rhs, dims)) = found else { return Ok(None) };
        let order = |last: [usize; 2]| -> Vec<usize> { dims.batch.iter().copied().chain(last).collect() };
        let lhs = self.transposed(generic, lhs, &order([dims.m, dims.k]))?;
        let rhs = self.transposed(generic, rhs, &order([dims.k, dims.n]))?;
        let result_order = order([dims.m, dims.n]);
        let Some(element) = TensorType::of(lhs.r#type()) else { return Ok(None) };
        let shape = result_order.iter().map(|&dim| generic.sizes[dim]).collect();
        let tensor = matmul(self.context, generic.op.loc(), lhs, rhs, element.with_shape(shape).build());
        let tensor = insert_before(generic.op, tensor).output();
        let map: Vec<Expr> = result_order.iter().map(|dim| Expr::Dim(output.iter().position(|other| other == dim).unwrap_or(0))).collect();
        let shape = output.iter().map(|&dim| generic.sizes[dim]).collect();
        let map = map_from_exprs(self.context, output.len(), 0, &map);
        Ok(Some(self.insert_view(generic.op, tensor, map, &element.with_shape(shape))))
    }

    /// Input `index` with its dimensions in the order of the iteration dimensions `order`.
    fn transposed(&self, generic: &Generic<'c>, index: usize, order: &[usize]) -> Result<Value<'c>, Reported> {
        let tensor = self.tensor(generic.op, generic.inputs[index])?;
        let map: Vec<Expr> = generic.input_maps[index]
            .iter()
            .map(|expr| match expr {
                Expr::Dim(dim) => Expr::Dim(order.iter().position(|other| other == dim).unwrap_or(0)),
                other => other.clone(),
            })
            .collect();
        let Some(from) = TensorType::of(tensor.r#type()) else { return Ok(tensor) };
        let shape = order.iter().map(|&dim| generic.sizes[dim]).collect();
        Ok(self.insert_view(generic.op, tensor, map_from_exprs(self.context, order.len(), 0, &map), &from.with_shape(shape)))
    }

    /// The tensor or number that a scalar of the body is over the whole iteration space; a dimension that it does not depend on has
    /// size 1.
    fn evaluate(&self, generic: &Generic<'c>, scalar: Scalar) -> Result<Imported<'c>, Reported> {
        match scalar {
            Scalar::Input(index) => self.input(generic, index),
            Scalar::Constant(number) => Ok(Imported::Number(number)),
            Scalar::Op(index) => self.evaluate_op(generic, index),
            Scalar::Accumulator(result) => match self.values.get(generic.inits[result]) {
                Some(Imported::Number(number)) => Ok(Imported::Number(*number)),
                _ => Err(error_at(generic.op, "reads the tensor that it writes: not supported yet").report()),
            },
            Scalar::Unknown => {
                Err(error_at(generic.op, "uses an index or a value of another kind in its body: not supported yet").report())
            }
        }
    }

    fn evaluate_op(&self, generic: &Generic<'c>, index: usize) -> Result<Imported<'c>, Reported> {
        let scalar_op = &generic.body.ops[index];
        let at = generic.ops[index];
        let operands: Vec<Imported<'c>> =
            scalar_op.operands.iter().map(|&operand| self.evaluate(generic, operand)).collect::<Result<_, _>>()?;
        if scalar_op.is_cast() {
            return self.cast(generic, at, operands[0]);
        }
        let number = |scalar| {
            let position = scalar_op.operands.iter().position(|&operand| operand == scalar)?;
            if let Imported::Number(number) = operands[position] { Some(number) } else { None }
        };
        if let Some(unchanged) = scalar_op.unchanged_operand(number) {
            return Ok(operands[unchanged]);
        }
        let Some(function) = scalar_op.device_function() else {
            return Err(generic.error(at, "has no device function yet").report());
        };
        let tensor = |operand: &Imported<'c>| operand_tensor(scalar_op, *operand).map_err(|message| generic.error(at, message).report());
        let tensors: Vec<Value<'c>> = operands.iter().map(tensor).collect::<Result<_, _>>()?;
        self.insert_pointwise(generic, at, function, &tensors).map(Imported::Tensor)
    }

    /// A change of number format: within an f32 island there is none.
    fn cast(&self, generic: &Generic<'c>, at: Op<'c>, operand: Imported<'c>) -> Result<Imported<'c>, Reported> {
        let Imported::Tensor(tensor) = operand else { return Ok(operand) };
        let Some(found) = TensorType::of(tensor.r#type()) else { return Ok(operand) };
        let (from, to) = (at.inputs()[0].r#type(), at.output().r#type());
        if found.element == to {
            return Ok(operand);
        }
        let is_island = is_half(found.element) && (to.to_string() == "f32" || is_half(from));
        if is_island && self.precision == Precision::Device {
            return Ok(operand);
        }
        let why =
            if is_island { "precision=strict keeps it, and the device's conversion is not supported yet" } else { "not supported yet" };
        Err(generic.error(at, format_args!("converts {} to {to}: {why}", found.element)).report())
    }

    fn insert_pointwise(&self, generic: &Generic<'c>, at: Op<'c>, function: &str, tensors: &[Value<'c>]) -> Result<Value<'c>, Reported> {
        let types: Vec<TensorType<'c>> = tensors.iter().filter_map(|tensor| TensorType::of(tensor.r#type())).collect();
        let element = types[0].element;
        if let Some(other) = types.iter().find(|other| other.element != element) {
            return Err(generic.error(at, format_args!("mixes elements of {element} and {}: not supported yet", other.element)).report());
        }
        let shape = (0..generic.sizes.len()).map(|dim| types.iter().map(|operand| operand.shape[dim]).max().unwrap_or(1)).collect();
        let output = types[0].with_shape(shape).build();
        Ok(insert_before(generic.op, pointwise(self.context, generic.location(at), function, tensors, output)).output())
    }

    /// Input `index` over the iteration space: its dimensions in the order of the iterators, size 1 where it does not move.
    fn input(&self, generic: &Generic<'c>, index: usize) -> Result<Imported<'c>, Reported> {
        let value = generic.inputs[index];
        if let Some(Imported::Number(number)) = self.values.get(value).copied() {
            return Ok(Imported::Number(number));
        }
        let tensor = self.tensor(generic.op, value)?;
        let map = &generic.input_maps[index];
        if !map.iter().all(|expr| matches!(expr, Expr::Dim(_) | Expr::Constant(0))) {
            return Err(error_at(generic.op, format_args!("reads input {index} through computed indices: not supported yet")).report());
        }
        let moves = |dim: usize| map.contains(&Expr::Dim(dim));
        let shape = generic.sizes.iter().enumerate().map(|(dim, &size)| if moves(dim) { size } else { 1 }).collect();
        let Some(from) = TensorType::of(tensor.r#type()) else { return Ok(Imported::Tensor(tensor)) };
        let map = map_from_exprs(self.context, generic.sizes.len(), 0, map);
        Ok(Imported::Tensor(self.insert_view(generic.op, tensor, map, &from.with_shape(shape))))
    }

    /// The tensor with every dimension of size 1 repeated to the iteration space.
    fn broadcast(&self, generic: &Generic<'c>, tensor: Value<'c>) -> Value<'c> {
        let Some(from) = TensorType::of(tensor.r#type()) else { return tensor };
        let exprs: Vec<Expr> = (0..from.shape.len())
            .map(|dim| if from.shape[dim] == generic.sizes[dim] { Expr::Dim(dim) } else { Expr::Constant(0) })
            .collect();
        let map = map_from_exprs(self.context, exprs.len(), 0, &exprs);
        self.insert_view(generic.op, tensor, map, &from.with_shape(generic.sizes.clone()))
    }

    /// A tensor over the iteration space (reduced dimensions of size 1) under the indices of result `result`.
    fn shown_as_result(&self, generic: &Generic<'c>, result: usize, tensor: Value<'c>) -> Result<Value<'c>, Reported> {
        let output = &generic.output_maps[result];
        let at = |dim: usize| output.iter().position(|expr| *expr == Expr::Dim(dim));
        let Some(from) = TensorType::of(tensor.r#type()) else { return Ok(tensor) };
        let is_plain = output.iter().all(|expr| matches!(expr, Expr::Dim(_) | Expr::Constant(0)));
        let is_written_once = (0..generic.sizes.len()).all(|dim| at(dim).is_some() || generic.is_reduction[dim] || generic.sizes[dim] == 1);
        if !is_plain || !is_written_once {
            return Err(error_at(generic.op, format_args!("writes result {result} through computed indices: not supported yet")).report());
        }
        let exprs: Vec<Expr> = (0..generic.sizes.len())
            .map(|dim| at(dim).filter(|_| from.shape[dim] == generic.sizes[dim]).map_or(Expr::Constant(0), Expr::Dim))
            .collect();
        let shape = output.iter().map(|expr| if let Expr::Dim(dim) = expr { generic.sizes[*dim] } else { 1 }).collect();
        let map = map_from_exprs(self.context, output.len(), 0, &exprs);
        Ok(self.insert_view(generic.op, tensor, map, &from.with_shape(shape)))
    }
}

/// The tensor that an operand of a scalar operation is.
fn operand_tensor<'c>(scalar_op: &ScalarOp, operand: Imported<'c>) -> Result<Value<'c>, String> {
    match operand {
        Imported::Tensor(tensor) => Ok(tensor),
        Imported::Number(number) => Err(format!("applies {} to the constant {number}: constants are not supported yet", scalar_op.name)),
        Imported::Undefined => Err("reads a tensor that nothing has written".to_owned()),
    }
}

/// The number in an attribute; integers only occur in computations that nobody uses, such as an argmax.
fn number_of(attribute: Attribute<'_>) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "an index that large is no constant of a program")]
    float_value(attribute).or_else(|| integer(attribute).map(|number| number as f64))
}

fn is_half(element: Type<'_>) -> bool {
    matches!(element.to_string().as_str(), "f16" | "bf16")
}

/// Whether an accumulator may start from `number`: the neutral element, or the lowest finite number for a maximum, as some producers
/// write it.
fn is_neutral(combiner: Combiner, number: f64) -> bool {
    const LARGEST_HALF: f64 = 65504.0;
    match combiner {
        Combiner::Sum | Combiner::Prod => (number - combiner.neutral()).abs() < f64::EPSILON,
        Combiner::Max => number <= -LARGEST_HALF,
        Combiner::Min => number >= LARGEST_HALF,
    }
}

/// A `linalg.generic`, taken apart.
struct Generic<'c> {
    op: Op<'c>,
    inputs: Vec<Value<'c>>,
    inits: Vec<Value<'c>>,
    input_maps: Vec<Vec<Expr>>,
    output_maps: Vec<Vec<Expr>>,
    /// Sizes of the iteration dimensions.
    sizes: Vec<i64>,
    is_reduction: Vec<bool>,
    body: Body,
    /// The operations of the body, in the order of `body.ops`.
    ops: Vec<Op<'c>>,
}

impl<'c> Generic<'c> {
    /// Where an operation of the body comes from; the whole op where a pass has made up the body.
    fn location(&self, at: Op<'c>) -> Location<'c> {
        if is_unknown(at.loc()) { self.op.loc() } else { at.loc() }
    }

    /// An error at an operation of the body.
    fn error(&self, at: Op<'c>, message: impl std::fmt::Display) -> Diagnostic<'c> {
        error_at(at, message).at(self.location(at))
    }

    fn of(op: Op<'c>, importer: &Importer<'c>) -> Result<Self, Reported> {
        let refuse = |message: &str| error_at(op, message).report();
        let maps = op.attr("indexing_maps").and_then(elements).ok_or_else(|| refuse("has no indexing maps"))?;
        let maps: Vec<AffineMap<'c>> = maps.into_iter().filter_map(map_of).collect();
        let iterators = op.attr("iterator_types").and_then(elements).ok_or_else(|| refuse("has no iterator types"))?;
        let is_reduction = iterators.iter().map(|iterator| iterator.to_string().contains("reduction")).collect();
        let n_inputs = op.inputs().len() - op.outputs().len();
        let (inputs, inits) = op.inputs().split_at(n_inputs).map_both();
        let maps: Vec<Vec<Expr>> = maps.into_iter().map(map_results).collect();
        let sizes = sizes_of(op, &maps, iterators.len())?;
        let (body, ops) = read_body(op, n_inputs, importer)?;
        let (input_maps, output_maps) = (maps[..n_inputs].to_vec(), maps[n_inputs..].to_vec());
        Ok(Self { op, inputs, inits, input_maps, output_maps, sizes, is_reduction, body, ops })
    }
}

/// `split_at` with owned halves.
trait SplitBoth<'c> {
    fn map_both(self) -> (Vec<Value<'c>>, Vec<Value<'c>>);
}

impl<'c> SplitBoth<'c> for (&[Value<'c>], &[Value<'c>]) {
    fn map_both(self) -> (Vec<Value<'c>>, Vec<Value<'c>>) {
        (self.0.to_vec(), self.1.to_vec())
    }
}

/// Sizes of the iteration dimensions, from the shapes of the operands.
fn sizes_of(op: Op<'_>, maps: &[Vec<Expr>], n_dims: usize) -> Result<Vec<i64>, Reported> {
    let mut sizes = vec![0; n_dims];
    for (value, map) in op.inputs().into_iter().zip(maps) {
        let Some(tensor) = TensorType::of(value.r#type()) else {
            if map.is_empty() {
                continue;
            }
            return Err(
                error_at(op, format_args!("has an operand of {}: only tensors of static shape are supported", value.r#type())).report()
            );
        };
        for (expr, &size) in map.iter().zip(&tensor.shape) {
            if let Expr::Dim(dim) = expr {
                sizes[*dim] = size;
            }
        }
    }
    match sizes.iter().position(|&size| size == 0) {
        Some(dim) => {
            Err(error_at(op, format_args!("iteration dimension {dim} is no dimension of any operand: not supported yet")).report())
        }
        None => Ok(sizes),
    }
}

fn read_body<'c>(op: Op<'c>, n_inputs: usize, importer: &Importer<'c>) -> Result<(Body, Vec<Op<'c>>), Reported> {
    let Some(block) = op.body() else { return Err(error_at(op, "has no body").report()) };
    let mut scalars: ValueMap<Scalar> = ValueMap::default();
    for (index, argument) in block.args().into_iter().enumerate() {
        scalars.insert(argument, if index < n_inputs { Scalar::Input(index) } else { Scalar::Accumulator(index - n_inputs) });
    }
    let scalar_of = |scalars: &ValueMap<Scalar>, value: Value<'c>| match (scalars.get(value), importer.values.get(value)) {
        (Some(scalar), _) => *scalar,
        (None, Some(Imported::Number(number))) => Scalar::Constant(*number),
        (None, _) => Scalar::Unknown,
    };
    let (mut body, mut ops) = (Body::default(), Vec::new());
    for inner in block.ops() {
        let operands = inner.inputs().into_iter().map(|value| scalar_of(&scalars, value)).collect();
        if inner.is("linalg.yield") {
            body.yields = operands;
            continue;
        }
        if let Some(number) = inner.attr("value").filter(|_| inner.is("arith.constant")).and_then(number_of) {
            scalars.insert(inner.output(), Scalar::Constant(number));
            continue;
        }
        let index = ops.len();
        body.ops.push(ScalarOp { name: inner.full_name().to_owned(), operands });
        ops.push(inner);
        if inner.outputs().len() == 1 {
            scalars.insert(inner.output(), Scalar::Op(index));
        }
    }
    Ok((body, ops))
}
