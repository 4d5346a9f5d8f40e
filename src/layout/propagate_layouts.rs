//! `spyre-propagate-layouts`: gives every value a device layout.
//!
//! Reads shapes and access maps; writes encodings. An argument without a layout gets the row-major one. A result keeps the stick of the
//! op's inputs (B.4 of the torch-spyre facts): an elementwise op takes the layout of an input with the same indices if there is one, a
//! reduction over the stick leaves one element a stick, a matmul has N in the sticks, a gather what its table has in them. A result of the
//! program is a buffer of its own: what is returned otherwise is copied. A buffer that is written in parts gets the row-major layout like
//! an argument. A fill becomes a constant of one element, which elementwise ops broadcast and others read a copy of.

use super::{DeviceLayout, DimOrder, HostTensor, agreed_stick};
use crate::{
    dialect::{Access, ComputeOp, Tensor, UsedAs, constant, copy, format_of, home_of, plain_dims, view},
    mlir::{
        BlockExt, Expr, Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueExt, ValueLike, dense_splat, error_at, insert_before,
        map_from_exprs, map_of, set_function_type,
    },
    target::Family,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-propagate-layouts", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let Some(body) = function.body() else { continue };
        function.nested().into_iter().filter(|op| op.is("spyre.fill")).for_each(expand_fill);
        for argument in body.args() {
            let refuse = |message: String| error_at(function, format_args!("argument of {}: {message}", argument.r#type())).report();
            assign(function, argument, row_major).map_err(refuse)?;
        }
        for made in function.nested().into_iter().filter(|op| op.is("spyre.constant") || op.is("spyre.empty")) {
            assign(made, made.output(), row_major).map_err(|message| error_at(made, message).report())?;
        }
        for compute in ComputeOp::all_in(function) {
            let refuse = |message: String| error_at(compute.op, message).report();
            let accesses = compute.accesses().map_err(refuse)?;
            assign(compute.op, compute.op.output(), |_| result_layout(compute, &accesses)).map_err(refuse)?;
        }
        give_results_buffers(function)?;
        set_function_type(function);
    }
    Ok(())
}

/// Lets the readers of a fill have a constant of one element instead.
fn expand_fill(fill: Op<'_>) {
    let (Some(full), Some(number)) = (TensorType::of(fill.output().r#type()), fill.attr("value")) else { return };
    let (context, location, output) = (fill.ctx(), fill.loc(), fill.output());
    // A group of ops with hints reads a fill of full size from outside: the copy reads under other indices, which a tile cannot.
    let is_hinted = fill.attr("hints").is_some();
    let first = fill.parent().and_then(|around| around.body_ops().first().copied()).filter(|_| is_hinted).unwrap_or(fill);
    let one = full.with_shape(vec![1; full.shape.len()]).build();
    let one = insert_before(first, constant(context, location, dense_splat(one, number), one)).output();
    for user in output.users().into_iter().filter(|user| user.is("spyre.pointwise")) {
        for (index, _) in user.inputs().iter().enumerate().filter(|(_, input)| **input == output) {
            user.set_input(index, one);
        }
    }
    if !output.users().is_empty() {
        let everywhere = map_from_exprs(context, full.shape.len(), 0, &vec![Expr::Constant(0); full.shape.len()]);
        let shown = full.with_shape(full.shape.clone()).build();
        let shown = insert_before(first, view(context, location, one, everywhere, shown)).output();
        let copied = insert_before(first, copy(context, location, shown, output.r#type()));
        output.replace_with(copied.output());
    }
    fill.erase();
}

/// Gives a value its layout, unless it has one.
fn assign<'c>(at: Op<'c>, value: Value<'c>, layout: impl FnOnce(&Tensor<'c>) -> Result<DeviceLayout, String>) -> Result<(), String> {
    let tensor = Tensor::of(value.r#type()).ok_or("only tensors of static shape have a device layout")?;
    if tensor.layout.is_none() {
        let layout = layout(&tensor)?;
        value.retype(tensor.with_layout(at.ctx(), &layout, None));
    }
    Ok(())
}

fn no_format(tensor: &Tensor<'_>) -> String {
    format!("has elements of {}, for which the device has no format", tensor.host.element)
}

fn row_major(tensor: &Tensor<'_>) -> Result<DeviceLayout, String> {
    let format = format_of(tensor.host.element).ok_or_else(|| no_format(tensor))?;
    DeviceLayout::row_major(&tensor.host.shape, format).map_err(|error| error.to_string())
}

fn result_layout(compute: ComputeOp<'_>, accesses: &[Access<'_>]) -> Result<DeviceLayout, String> {
    let Some((result, inputs)) = accesses.split_last() else { return Err("has no result".to_owned()) };
    if compute.is_insert() {
        let layout = compute.op.inputs().last().and_then(|whole| Tensor::of(whole.r#type())?.layout);
        return layout.ok_or_else(|| "writes into a buffer without a device layout".to_owned());
    }
    let sizes = &result.tensor.host.shape;
    let space = compute.iteration_space();
    let coordinates = inputs.iter().map(|input| input.coordinates(&space)).collect::<Result<Vec<_>, _>>()?;
    let is_data = |(input, _): &(&Access<'_>, _)| input.used_as != UsedAs::Indices;
    let views: Vec<_> = inputs.iter().zip(&coordinates).filter(is_data).map(|(_, view)| view.as_slice()).collect();
    match compute.family() {
        Family::Matmul if sizes.last() == Some(&1) => {
            Err("makes one column, which leaves its sticks without a dimension: not supported yet".to_owned())
        }
        Family::Matmul => with_stick(&result.tensor, sizes.len() - 1),
        Family::Pointwise | Family::Copy | Family::Gather => {
            // The condition of a choice has elements of another type, and so another format.
            let is_alike =
                |input: &&Access<'_>| input.tensor.host.element == result.tensor.host.element && input.tensor.host.shape == *sizes;
            let same = inputs.iter().filter(is_alike).find(|input| input.dims == result.dims && input.offsets == result.offsets);
            if let Some(layout) = same.and_then(|input| input.tensor.layout.clone()) {
                return Ok(layout);
            }
            match agreed_stick(&views).ok().flatten().and_then(|dim| result.dims.iter().position(|&other| other == Some(dim))) {
                Some(dim) => with_stick(&result.tensor, dim),
                None => row_major(&result.tensor),
            }
        }
        Family::Reduce => match agreed_stick(&views).ok().flatten() {
            Some(stick) => match result.dims.iter().position(|&dim| dim == Some(stick)) {
                Some(dim) => with_stick(&result.tensor, dim),
                None => sparse(compute, &result.tensor),
            },
            None => sparse(compute, &result.tensor),
        },
    }
}

/// The row-major order of dimensions but for the stick, which comes last.
fn with_stick(tensor: &Tensor<'_>, stick: usize) -> Result<DeviceLayout, String> {
    let format = format_of(tensor.host.element).ok_or_else(|| no_format(tensor))?;
    let host = HostTensor::row_major(&tensor.host.shape).map_err(|error| error.to_string())?;
    DeviceLayout::new(&host, format, &DimOrder::with_stick(&tensor.host.shape, stick)).map_err(|error| error.to_string())
}

/// One element a stick: the result of reducing what was in the sticks.
fn sparse(compute: ComputeOp<'_>, tensor: &Tensor<'_>) -> Result<DeviceLayout, String> {
    let format = format_of(tensor.host.element).ok_or_else(|| no_format(tensor))?;
    let reduced = compute.op.attr("reduced").and_then(crate::mlir::integers).and_then(|dims| dims.last().copied());
    let reduced = reduced.and_then(|dim| usize::try_from(dim).ok()).ok_or("reduces no dimension")?;
    DeviceLayout::sparse(&tensor.host.shape, reduced, format).map_err(|error| error.to_string())
}

/// Copies what is returned without being a buffer of its own: an argument, a constant, a value returned before, another value under other
/// indices.
///
/// A view that only adds or drops dimensions of size 1 is no copy: the strides of a device layout count host elements, which lie in the
/// same order.
fn give_results_buffers(function: Op<'_>) -> Result<(), Reported> {
    let Some(terminator) = function.body_ops().pop() else { return Ok(()) };
    let mut taken: Vec<Value<'_>> = Vec::new();
    for (index, result) in terminator.inputs().into_iter().enumerate() {
        let buffer = home_of(result).buffer;
        let is_made = buffer.def().is_some_and(|def| !def.is("spyre.constant"));
        let is_own = is_made && !taken.contains(&buffer);
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
