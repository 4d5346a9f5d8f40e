//! Results of the program: each is a buffer of its own.

use super::propagate_layouts::{assign, result_layout};
use crate::{
    dialect::{ComputeOp, Tensor, copy, home_of, plain_dims},
    mlir::{Op, OpExt, Reported, Value, ValueExt, ValueLike, error_at, insert_before, map_of},
};

/// Copies what is returned without being a buffer of its own: an argument, a value returned before, another value under other indices.
///
/// A view that only adds or drops dimensions of size 1 is no copy: the strides of a device layout count host elements, which lie in the
/// same order.
pub(super) fn give_results_buffers(function: Op<'_>) -> Result<(), Reported> {
    let Some(terminator) = function.body_ops().pop() else { return Ok(()) };
    let mut taken: Vec<Value<'_>> = Vec::new();
    for (index, result) in terminator.inputs().into_iter().enumerate() {
        let buffer = home_of(result).buffer;
        if buffer.def().is_some_and(|def| def.is("spyre.constant")) {
            return Err(error_at(terminator, format_args!("result {index} is a constant: not supported yet")).report());
        }
        let is_own = buffer.def().is_some() && !taken.contains(&buffer);
        if is_own && result == buffer {
            taken.push(buffer);
        } else if is_own && keeps_order(result) {
            taken.push(buffer);
            share_layout(result, buffer);
        } else {
            let copied = insert_before(terminator, copy(terminator.ctx(), terminator.loc(), result, result.r#type()));
            let refuse = |message: String| error_at(terminator, format_args!("result {index} needs a copy, which {message}")).report();
            let compute = ComputeOp::of(copied).ok_or_else(|| refuse("is no op of the device".to_owned()))?;
            let accesses = compute.accesses().map_err(refuse)?;
            assign(copied, copied.output(), |_| result_layout(compute, &accesses)).map_err(refuse)?;
            terminator.set_input(index, copied.output());
        }
    }
    Ok(())
}

/// Whether `view`, through all views behind it, shows the elements of its buffer in their order.
fn keeps_order(view: Value<'_>) -> bool {
    let Some(def) = view.def().filter(|def| def.is("spyre.view")) else { return true };
    let (Some(shown), Some(behind)) = (Tensor::of(view.r#type()), Tensor::of(def.inputs()[0].r#type())) else { return false };
    let Some(Ok(dims)) = def.attr("map").and_then(map_of).map(|map| plain_dims(map, &shown.host.shape)) else { return false };
    let is_ordered = dims.iter().flatten().is_sorted();
    is_ordered && without_ones(&shown.host.shape) == without_ones(&behind.host.shape) && keeps_order(def.inputs()[0])
}

fn without_ones(shape: &[i64]) -> Vec<i64> {
    shape.iter().copied().filter(|&size| size != 1).collect()
}

fn share_layout(view: Value<'_>, buffer: Value<'_>) {
    let layout = Tensor::of(buffer.r#type()).and_then(|tensor| tensor.layout);
    if let (Some(tensor), Some(layout), Some(def)) = (Tensor::of(view.r#type()), layout, view.def()) {
        view.retype(tensor.with_layout(def.ctx(), &layout, None));
    }
}
