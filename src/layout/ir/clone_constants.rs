//! `spyre-clone-constants`: gives each op that reads a constant its own copy, with the dimensions of the op.
//!
//! Reads the uses of constants, through views. Writes clones, and constants of another shape where a view splits or
//! merges dimensions, such as convolution weights that a matmul reads. Constants are in device memory before a launch,
//! so one layout per user costs no device time, while a restickify of a shared constant costs twice its size in each
//! launch. An embedding table, for example, is read by rows, and by columns in the last matmul. `cse` merges clones
//! with equal layouts later.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, DeviceTensor, EXACT_ATTR, build_constant, build_view, clone_constant, read_buffer_view},
    mlir::{
        ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueExt, ValueLike, ValueMap, insert_before,
        map_from_exprs, map_of, reshaped_elements,
    },
};
use program::{affine::AffineExpression, layout::find_row_major_dims};

pub(crate) const PASS: Pass = Pass { argument: "spyre-clone-constants", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        for constant in function.nested().into_iter().filter(|op| op.is(spyre::CONSTANT)) {
            // The position of a single element does not matter.
            let is_free =
                |tensor: DeviceTensor<'_>| tensor.layout.is_none() && tensor.host.shape.iter().any(|&size| size > 1);
            if DeviceTensor::from_type(constant.output().r#type()).is_some_and(is_free) {
                clone_for_readers(constant);
            }
        }
        for reader in ComputeOp::collect_in(function) {
            (0..reader.op.inputs().len()).for_each(|operand| reshape_constant(reader.op, operand));
        }
    }
    Ok(())
}

/// Clones a constant, with its views, for each op that reads it except the first.
fn clone_for_readers(original: Op<'_>) {
    let (mut readers, mut seen) = (Vec::new(), ValueMap::default());
    collect_users(original.output(), &mut readers, &mut seen);
    for reader in readers.into_iter().skip(1) {
        let own = clone_constant(original, original.output().r#type()).output();
        for (operand, value) in reader.inputs().into_iter().enumerate() {
            if let Some(viewed) = rebuild_views(value, original.output(), own) {
                reader.set_input(operand, viewed);
            }
        }
    }
}

/// Returns the ops that read a value, directly or through views, each once.
fn collect_users<'c>(value: Value<'c>, readers: &mut Vec<Op<'c>>, seen: &mut ValueMap<()>) {
    for user in value.users() {
        if user.is(spyre::VIEW) {
            collect_users(user.output(), readers, seen);
        } else if ComputeOp::from_op(user).is_some() && seen.insert(user.output(), ()).is_none() {
            readers.push(user);
        }
    }
}

/// Replaces an operand that views a complete constant under other dimensions by a constant with these dimensions, up to
/// their order.
fn reshape_constant(reader: Op<'_>, operand: usize) {
    let value = reader.inputs()[operand];
    let Some((viewed, to)) = read_buffer_view(value).zip(TensorType::from_type(value.r#type())) else { return };
    let Some(original) = viewed.value.def().filter(|def| def.is(spyre::CONSTANT) && viewed.tensor.layout.is_none())
    else {
        return;
    };
    let Some(dims) = find_row_major_dims(&viewed.indices, &viewed.tensor.host.shape, &to.shape) else { return };
    let shape: Vec<i64> = dims.iter().map(|&dim| to.shape[dim]).collect();
    let Some(reshaped) = make_reshaped_constant(original, &shape) else { return };
    let exprs: Vec<AffineExpression> = dims.into_iter().map(AffineExpression::Dim).collect();
    let map = map_from_exprs(reader.ctx(), to.shape.len(), 0, &exprs);
    let viewed =
        insert_before(reader, build_view(reader.ctx(), original.loc(), reshaped.output(), map, value.r#type()));
    reader.set_input(operand, viewed.output());
}

/// Returns a constant with the elements of `original` and another shape, or `None` if these are neither `dense` nor a
/// resource.
fn make_reshaped_constant<'c>(original: Op<'c>, shape: &[i64]) -> Option<Op<'c>> {
    let tensor = TensorType::from_type(original.output().r#type())?.with_shape(shape.to_vec());
    let numbers = reshaped_elements(original.required_attr(attr::VALUE, Some), shape)?;
    let exact =
        original.attr(EXACT_ATTR).map(|exact| reshaped_elements(exact, shape).expect("f64 numbers of the same shape"));
    let reshaped = insert_before(original, build_constant(original.ctx(), original.loc(), numbers, tensor.build()));
    exact.into_iter().for_each(|exact| reshaped.set_attr(EXACT_ATTR, exact));
    Some(reshaped)
}

/// Rebuilds on `own` the chain of views from `original` to `value`, and returns its last view. Returns `None` if
/// `value` is not a view of `original`.
fn rebuild_views<'c>(value: Value<'c>, original: Value<'c>, own: Value<'c>) -> Option<Value<'c>> {
    if value == original {
        return Some(own);
    }
    let shows = value.def().filter(|def| def.is(spyre::VIEW))?;
    let input = rebuild_views(shows.inputs()[0], original, own)?;
    let map = shows.required_attr(attr::MAP, map_of);
    Some(insert_before(shows, build_view(shows.ctx(), shows.loc(), input, map, value.r#type())).output())
}
