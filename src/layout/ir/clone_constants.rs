//! `spyre-clone-constants`: gives each op that reads a constant its own copy, under the dimensions that the op sees.
//!
//! Reads the users of constants, through views; writes clones, and constants of another shape where a view splits or merges dimensions
//! (convolution weights read as those of a product). Constants are in device memory before a launch, so one layout per reader costs no
//! device time, while moving the sticks of a shared constant costs twice its size in each launch. An embedding table, for example, is read
//! by rows, and by columns as the weights of the last product. Clones with equal layouts are merged again later (`cse`).

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, EXACT, Tensor, cloned_constant, constant, shown_as, view},
    mlir::{
        Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueExt, ValueLike, ValueMap, insert_before, map_from_exprs, map_of,
        reshaped_elements,
    },
};
use program::{affine::Expr, layout::dims_in_order};

pub(crate) const PASS: Pass = Pass { argument: "spyre-clone-constants", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        for constant in function.nested().into_iter().filter(|op| op.is(spyre::CONSTANT)) {
            // The position of a single element does not matter.
            let is_free = |tensor: Tensor<'_>| tensor.layout.is_none() && tensor.host.shape.iter().any(|&size| size > 1);
            if Tensor::of(constant.output().r#type()).is_some_and(is_free) {
                clone_for_readers(constant);
            }
        }
        for reader in ComputeOp::all_in(function) {
            (0..reader.op.inputs().len()).for_each(|operand| reshape_constant(reader.op, operand));
        }
    }
    Ok(())
}

/// Clones a constant, with its views, for each op that reads it except the first.
fn clone_for_readers(original: Op<'_>) {
    let (mut readers, mut seen) = (Vec::new(), ValueMap::default());
    collect_readers(original.output(), &mut readers, &mut seen);
    for reader in readers.into_iter().skip(1) {
        let own = cloned_constant(original, original.output().r#type()).output();
        for (operand, value) in reader.inputs().into_iter().enumerate() {
            if let Some(shown) = shown_alike(value, original.output(), own) {
                reader.set_input(operand, shown);
            }
        }
    }
}

/// Returns the ops that read a value, directly or through views, each once.
fn collect_readers<'c>(value: Value<'c>, readers: &mut Vec<Op<'c>>, seen: &mut ValueMap<()>) {
    for user in value.users() {
        if user.is(spyre::VIEW) {
            collect_readers(user.output(), readers, seen);
        } else if ComputeOp::of(user).is_some() && seen.insert(user.output(), ()).is_none() {
            readers.push(user);
        }
    }
}

/// Replaces an operand that sees a complete constant under other dimensions by a constant with these dimensions, up to their order.
fn reshape_constant(reader: Op<'_>, operand: usize) {
    let value = reader.inputs()[operand];
    let Some((shown, to)) = shown_as(value).zip(TensorType::of(value.r#type())) else { return };
    let Some(original) = shown.value.def().filter(|def| def.is(spyre::CONSTANT) && shown.tensor.layout.is_none()) else { return };
    let Some(dims) = dims_in_order(&shown.indices, &shown.tensor.host.shape, &to.shape) else { return };
    let shape: Vec<i64> = dims.iter().map(|&dim| to.shape[dim]).collect();
    let Some(reshaped) = reshaped_constant(original, &shape) else { return };
    let exprs: Vec<Expr> = dims.into_iter().map(Expr::Dim).collect();
    let map = map_from_exprs(reader.ctx(), to.shape.len(), 0, &exprs);
    let shown = insert_before(reader, view(reader.ctx(), original.loc(), reshaped.output(), map, value.r#type()));
    reader.set_input(operand, shown.output());
}

/// Returns a constant with the elements of `original` and another shape, or `None` if these are neither `dense` nor a
/// resource.
fn reshaped_constant<'c>(original: Op<'c>, shape: &[i64]) -> Option<Op<'c>> {
    let tensor = TensorType::of(original.output().r#type())?.with_shape(shape.to_vec());
    let numbers = reshaped_elements(original.required(attr::VALUE, Some), shape)?;
    let exact = original.attr(EXACT).map(|exact| reshaped_elements(exact, shape).expect("f64 numbers of the same shape"));
    let reshaped = insert_before(original, constant(original.ctx(), original.loc(), numbers, tensor.build()));
    exact.into_iter().for_each(|exact| reshaped.set_attr(EXACT, exact));
    Some(reshaped)
}

/// Rebuilds on `own` the chain of views that leads from `original` to `value`, and returns its last view. Returns
/// `None` if `value` is not a view of `original`.
fn shown_alike<'c>(value: Value<'c>, original: Value<'c>, own: Value<'c>) -> Option<Value<'c>> {
    if value == original {
        return Some(own);
    }
    let shows = value.def().filter(|def| def.is(spyre::VIEW))?;
    let input = shown_alike(shows.inputs()[0], original, own)?;
    let map = shows.required(attr::MAP, map_of);
    Some(insert_before(shows, view(shows.ctx(), shows.loc(), input, map, value.r#type())).output())
}
