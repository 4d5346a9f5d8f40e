//! `spyre-propagate-layouts`: gives every value a device layout.
//!
//! Reads shapes and access maps; writes encodings. An argument without a layout gets the row-major one. A result keeps the stick of the
//! op's inputs (B.4 of the torch-spyre facts): an elementwise op takes the layout of an input with the same indices if there is one, a
//! reduction over the stick leaves one element a stick, a matmul has N in the sticks.

use super::{DeviceLayout, DimOrder, HostTensor, agreed_stick, results::give_results_buffers};
use crate::{
    dialect::{Access, ComputeOp, Tensor, format_of},
    mlir::{BlockExt, Op, OpExt, Options, Pass, Reported, Value, ValueExt, ValueLike, error_at, set_function_type},
    target::Family,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-propagate-layouts", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let Some(body) = function.body() else { continue };
        for argument in body.args() {
            let refuse = |message: String| error_at(function, format_args!("argument of {}: {message}", argument.r#type())).report();
            assign(function, argument, row_major).map_err(refuse)?;
        }
        for constant in function.nested().into_iter().filter(|op| op.is("spyre.constant")) {
            assign(constant, constant.output(), row_major).map_err(|message| error_at(constant, message).report())?;
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

/// Gives a value its layout, unless it has one.
pub(super) fn assign<'c>(at: Op<'c>, value: Value<'c>, layout: impl FnOnce(&Tensor<'c>) -> Result<DeviceLayout, String>) -> Result<(), String> {
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

pub(super) fn result_layout(compute: ComputeOp<'_>, accesses: &[Access<'_>]) -> Result<DeviceLayout, String> {
    let Some((result, inputs)) = accesses.split_last() else { return Err("has no result".to_owned()) };
    let sizes = &result.tensor.host.shape;
    let space = compute.iteration_space();
    let coordinates = inputs.iter().map(|input| input.coordinates(&space)).collect::<Result<Vec<_>, _>>()?;
    let views: Vec<_> = coordinates.iter().map(Vec::as_slice).collect();
    match compute.family() {
        Family::Matmul => with_stick(&result.tensor, sizes.len() - 1),
        Family::Pointwise | Family::Copy => {
            // The condition of a choice has elements of another type, and so another format.
            let is_alike =
                |input: &&Access<'_>| input.tensor.host.element == result.tensor.host.element && input.tensor.host.shape == *sizes;
            let same = inputs.iter().filter(is_alike).find(|input| input.dims == result.dims);
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
