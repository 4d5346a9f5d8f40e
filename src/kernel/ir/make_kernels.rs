//! `spyre-make-kernels`: turns calls of marked functions into kernels.
//!
//! Reads `func.call` and the functions with `spyre.kernel`; writes `spyre.kernel` ops with copies of their bodies, and
//! the requested knob values. `symbol-dce` removes the functions later.

use super::knob_values::set_knobs;
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{Knob, append_yield, build_kernel_before, set_input_dims},
    kernel::KnobValue,
    mlir::{
        BlockExt, DetachedClone, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Type, ValueExt, ValueLike,
        argument_attribute, elements, error_at, find_defined_functions, is_public, string, strings, symbol_name,
        warning_at,
    },
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const PASS: Pass = Pass { argument: "spyre-make-kernels", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let values: Vec<KnobValue> = options.read_list(module, option::KNOBS)?;
    let functions = find_defined_functions(module);
    let (marked, others): (Vec<Op<'_>>, Vec<Op<'_>>) = functions.into_iter().partition(|function| is_marked(*function));
    let kernels: BTreeMap<&str, Op<'_>> = marked.iter().map(|kernel| (kernel.text_attr("sym_name"), *kernel)).collect();
    if let Some(program) =
        kernels.values().find(|function| is_public(**function) && others.iter().all(|other| !is_public(*other)))
    {
        return Err(error_at(
            codes::KERNEL_ENTRY,
            *program,
            "expected 'spyre.kernel' on a function that the entry function calls, found it on the entry function; remove it",
        )
        .report());
    }
    for call in others.into_iter().flat_map(OpExt::nested).filter(|op| op.is("func.call")) {
        if let Some(kernel) = call.attr("callee").and_then(symbol_name).and_then(|name| kernels.get(name)) {
            make_kernel(call, *kernel)?;
        }
    }
    set_knobs(module, &values)
}

fn is_marked(function: Op<'_>) -> bool {
    function.attr(attr::SPYRE_KERNEL).is_some()
}

fn make_kernel<'c>(call: Op<'c>, function: Op<'c>) -> Result<(), ErrorReported> {
    let name = function.text_attr("sym_name");
    let outputs: Vec<Type<'c>> = call.outputs().iter().map(ValueLike::r#type).collect();
    if outputs.is_empty() {
        return Err(error_at(
            codes::KERNEL_TYPES,
            call,
            format_args!("expected a kernel with results, found '{name}' without; return a tensor"),
        )
        .with_note(function, "the kernel")
        .report());
    }
    let takes = call.inputs().into_iter().map(|input| input.r#type());
    if let Some(other) = takes.chain(outputs.iter().copied()).find(|of| TensorType::from_type(*of).is_none()) {
        let message = format!("expected tensors of static shape for kernel '{name}', found {other}");
        return Err(error_at(codes::KERNEL_TYPES, call, message).with_note(function, "the kernel").report());
    }
    let dims =
        (0..call.inputs().len()).map(|number| argument_dim_names(function, number)).collect::<Result<Vec<_>, _>>()?;
    let kernel = build_kernel_before(call, name, &call.inputs(), &outputs, function.attr(attr::SPYRE_KNOBS));
    if dims.iter().flatten().any(Option::is_some) {
        set_input_dims(kernel, &dims);
    }
    move_body(kernel, function);
    warn_about_unused_knobs(kernel, function);
    call.outputs().into_iter().zip(kernel.outputs()).for_each(|(old, new)| old.replace_with(new));
    call.erase();
    Ok(())
}

/// Reports knobs that no scope uses: their values do not change the program.
fn warn_about_unused_knobs(kernel: Op<'_>, function: Op<'_>) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for scope in kernel.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
        let numbers =
            [attr::TILE_COUNTS, attr::WORK_SLICES].into_iter().filter_map(|list| scope.attr(list).and_then(elements));
        used.extend(numbers.flatten().filter_map(string));
    }
    for knob in Knob::collect_from_kernel(kernel).into_iter().filter(|knob| !used.contains(knob.name.as_str())) {
        let message = codes::KNOB_UNUSED.format(format_args!(
            "knob '{}' has no effect: no hint scope uses it as a tile count or core split",
            knob.name
        ));
        warning_at(codes::KNOB_UNUSED, kernel, message).with_note(function, "the kernel").emit();
    }
}

/// Returns the dimension names of an argument.
fn argument_dim_names(function: Op<'_>, number: usize) -> Result<Vec<Option<String>>, ErrorReported> {
    let rank = TensorType::from_type(function.body_args()[number].r#type()).map_or(0, |tensor| tensor.shape.len());
    let names = argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
    if !names.is_empty() && names.len() != rank {
        let message = codes::KERNEL_NAMES.format(format_args!(
            "expected one name per dimension of argument {number}, which has rank {rank}, found {}",
            names.len()
        ));
        return Err(error_at(codes::KERNEL_NAMES, function, message).report());
    }
    let mut names: Vec<Option<String>> =
        names.into_iter().map(|name| (!name.is_empty()).then(|| name.to_owned())).collect();
    names.resize(rank, None);
    Ok(names)
}

/// Moves a copy of the function's body into the kernel.
fn move_body<'c>(kernel: Op<'c>, function: Op<'c>) {
    let copy = DetachedClone::from_op(function);
    let copied = copy.op();
    let Some(block) = kernel.body() else { return };
    copied.body_args().into_iter().zip(block.args()).for_each(|(old, new)| old.replace_with(new));
    let mut ops = copied.body_ops();
    let Some(terminator) = ops.pop() else { return };
    ops.into_iter().for_each(|op| op.move_to_end(block));
    append_yield(kernel, &terminator.inputs());
    terminator.erase();
}
