//! `spyre-defer-divisions`: divides the result of a matmul instead of its operand.
//!
//! Reads the ops of softmax weights. Replaces a division before a `spyre.matmul` by a `spyre.pointwise realdiv` after
//! it: `(e / l) v = (e v) / l` if `l` does not move along the contracted dimension. This saves a pass over the larger
//! tensor, and a loop along that dimension can carry the matmul before `l` is known. Rounding differs, so
//! `precision=strict` disables the pass. [`is_at_most_one`] excludes overflow.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, build_broadcast_view, build_pointwise},
    mlir::{
        AffineExpression, DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueExt,
        ValueLike, derived_location, insert_after, insert_before, map_of, map_results, shape_of,
    },
};
use machine::Family;

pub(crate) const PASS: Pass = Pass { argument: "spyre-defer-divisions", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for product in ComputeOp::collect_in(module).into_iter().filter(|compute| compute.family() == Family::Matmul) {
        if let Some(division) = (0..2).find_map(|operand| OperandDivision::find(product, operand)) {
            division.defer();
        }
    }
    Ok(())
}

/// Division of a matmul operand.
struct OperandDivision<'c> {
    product: ComputeOp<'c>,
    operand: usize,
    /// View between the division and the matmul.
    view: Option<Op<'c>>,
    division: Op<'c>,
    divisor: Value<'c>,
    /// Index along each dimension of the divisor, in terms of the dimensions of the matmul.
    indices: Vec<AffineExpression>,
}

impl<'c> OperandDivision<'c> {
    /// Returns the division of an operand, if it can be moved after the matmul and is smaller there.
    fn find(product: ComputeOp<'c>, operand: usize) -> Option<Self> {
        let read = product.op.inputs()[operand];
        let view = read.def().filter(|def| def.is(spyre::VIEW));
        let divided = view.map_or(read, |view| view.inputs()[0]);
        let division =
            divided.def().filter(|def| is_pointwise_function(*def, "realdiv") && def.attr(attr::WORK_DIV).is_none())?;
        let is_read_once = |value: Value<'c>| value.users().len() == 1;
        let &[weights, divisor] = division.inputs().as_slice() else { return None };
        let is_larger = num_elements(divided) >= num_elements(product.op.output());
        if !is_larger || !is_read_once(divided) || !is_read_once(read) {
            return None;
        }
        let (divisor, indices) = trace_to_base(divisor, dims_to_indices(ComputeOp::from_op(division)?.operand_dims(1)));
        let indices = match view {
            None => indices,
            Some(view) => substitute_dims(&map_results(view.attr(attr::MAP).and_then(map_of)?), &indices),
        };
        let (of_product, written) = (product.operand_dims(operand), product.operand_dims(2));
        let position = |dim: usize| written.iter().position(|other| other.is_some() && *other == of_product[dim]);
        let is_summed = |dim: &usize| of_product[*dim].is_some() && position(*dim).is_none();
        let summed = (0..of_product.len()).find(is_summed)?;
        if indices.iter().any(|index| index.dims().iter().any(is_summed)) {
            return None;
        }
        let indices = substitute_dims(&dims_to_indices((0..of_product.len()).map(position).collect()), &indices);
        is_at_most_one(weights, view, summed).then_some(Self { product, operand, view, division, divisor, indices })
    }

    fn defer(&self) {
        let weights = self.division.inputs()[0];
        match self.view {
            Some(view) => view.set_input(0, weights),
            None => self.product.op.set_input(self.operand, weights),
        }
        let product = self.product.op.output();
        let (Some(whole), Some(divisor)) =
            (TensorType::from_type(product.r#type()), TensorType::from_type(self.divisor.r#type()))
        else {
            return;
        };
        let (context, at) =
            (self.division.ctx(), derived_location(self.division, DerivationKind::Rewrite, PASS.argument));
        let deferred = insert_after(
            self.product.op,
            build_pointwise(context, at, "realdiv", &[product, product], &[], product.r#type()),
        );
        if let Some(hints) = self.division.attr(attr::HINTS) {
            deferred.set_attr(attr::HINTS, hints);
        }
        product.replace_with(deferred.output());
        let viewed = insert_before(
            deferred,
            build_broadcast_view(context, at, (self.divisor, divisor.element), &self.indices, &whole.shape),
        );
        deferred.set_input(0, product);
        deferred.set_input(1, viewed.output());
        self.division.erase();
    }
}

fn is_pointwise_function(op: Op<'_>, function: &str) -> bool {
    op.is(spyre::POINTWISE) && op.text_attr(attr::FUNCTION) == function
}

fn num_elements(value: Value<'_>) -> i64 {
    shape_of(value).iter().product()
}

/// Converts dimensions to indices; an operand dimension that does not move has index 0.
fn dims_to_indices(dims: Vec<Option<usize>>) -> Vec<AffineExpression> {
    dims.into_iter().map(|dim| dim.map_or(AffineExpression::Constant(0), AffineExpression::Dim)).collect()
}

/// Returns the base value of a view chain, and the indices along its dimensions.
fn trace_to_base<'c>(value: Value<'c>, indices: Vec<AffineExpression>) -> (Value<'c>, Vec<AffineExpression>) {
    let seen = value
        .def()
        .filter(|def| def.is(spyre::VIEW))
        .and_then(|view| Some((view, view.attr(attr::MAP).and_then(map_of)?)));
    let Some((view, map)) = seen else { return (value, indices) };
    trace_to_base(view.inputs()[0], substitute_dims(&indices, &map_results(map)))
}

/// Substitutes `dims` for the dimensions of `exprs`.
fn substitute_dims(dims: &[AffineExpression], exprs: &[AffineExpression]) -> Vec<AffineExpression> {
    exprs.iter().map(|expr| expr.with_dims(&|dim| dims[dim].clone())).collect()
}

/// Returns whether a value is `exp(x - m)` with `m` at least the maximum of `x` along the contracted dimension. It is
/// then at most 1, so no sum of products overflows: it is at most the sum of the factors `v`.
fn is_at_most_one<'c>(weights: Value<'c>, view: Option<Op<'c>>, summed: usize) -> bool {
    let operand = |value: Value<'c>, function: &str| value.def().filter(|def| is_pointwise_function(*def, function));
    let exponent = operand(weights, "exp").map(|exp| exp.inputs()[0]);
    let Some(difference) = exponent.and_then(|exponent| operand(exponent, "sub")).and_then(ComputeOp::from_op) else {
        return false;
    };
    let (x, bound) = (difference.op.inputs()[0], difference.op.inputs()[1]);
    let viewed = view.and_then(|view| view.attr(attr::MAP).and_then(map_of)).map(map_results);
    let along = match (view, viewed) {
        (None, _) => Some(summed),
        (Some(_), viewed) => {
            viewed.and_then(|viewed| viewed.iter().position(|index| *index == AffineExpression::Dim(summed)))
        }
    };
    let is_whole = shape_of(x) == shape_of(difference.op.output());
    along.is_some_and(|along| is_whole && is_upper_bound(bound, dims_to_indices(difference.operand_dims(1)), x, along))
}

/// Returns whether a value that is read at these indices of `x` is at least the maximum of `x` along a dimension,
/// within the same row.
fn is_upper_bound<'c>(value: Value<'c>, indices: Vec<AffineExpression>, x: Value<'c>, along: usize) -> bool {
    let (value, indices) = trace_to_base(value, indices);
    let Some(compute) = value.def().and_then(ComputeOp::from_op) else { return false };
    if is_pointwise_function(compute.op, "maximum") {
        let operand = |(operand, input)| {
            is_upper_bound(input, substitute_dims(&indices, &dims_to_indices(compute.operand_dims(operand))), x, along)
        };
        return compute.op.inputs().into_iter().enumerate().any(operand);
    }
    let is_maximum = compute.op.is(spyre::REDUCE) && compute.function() == "max" && compute.op.inputs()[0] == x;
    let is_reduced = is_maximum && compute.operand_dims(1).get(along).copied().flatten().is_none();
    is_reduced
        && indices
            .iter()
            .zip(shape_of(value))
            .enumerate()
            .all(|(dim, (index, size))| size == 1 || *index == AffineExpression::Dim(dim))
}
