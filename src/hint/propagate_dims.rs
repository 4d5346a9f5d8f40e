//! `spyre-propagate-dims`: carries the names of dimensions from arguments to every op.
//!
//! Reads `spyre.dims` of the arguments, or the option `dims`, and access maps; writes `dims` on compute ops, one name per iteration
//! dimension. An iteration dimension has the name of the tensor dimensions that it indexes; where operands disagree the first name wins,
//! with a warning.

use super::DimNames;
use crate::{
    dialect::{Access, ComputeOp, home_of},
    mlir::{
        Block, BlockExt, Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueExt, ValueLike, ValueMap, argument_attribute,
        error_at, set_argument_attribute, string_array, strings, warning_at,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-propagate-dims", run };

const DIMS: &str = "spyre.dims";

fn run<'c>(module: Op<'c>, options: &Options) -> Result<(), Reported> {
    let refuse = |message: String| error_at(module, format_args!("option 'dims': {message}")).report();
    let given: Vec<DimNames> = options.list("dims").into_iter().map(str::parse).collect::<Result<_, String>>().map_err(refuse)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let Some(body) = function.body() else { continue };
        for names in &given {
            name_argument(function, body, names)?;
        }
        let mut names: ValueMap<Vec<String>> = ValueMap::default();
        for (index, argument) in body.args().into_iter().enumerate() {
            let known = argument_attribute(function, index, DIMS).and_then(strings).unwrap_or_default();
            names.insert(argument, known.into_iter().map(str::to_owned).collect());
        }
        for compute in ComputeOp::all_in(function) {
            name_op(compute, &mut names)?;
        }
    }
    Ok(())
}

fn name_argument<'c>(function: Op<'c>, body: Block<'c>, names: &DimNames) -> Result<(), Reported> {
    let arguments = body.args();
    let Some(argument) = arguments.get(names.argument) else {
        let message = format!("option 'dims' names argument {}, but the function has {}", names.argument, arguments.len());
        return Err(error_at(function, message).report());
    };
    let rank = TensorType::of(argument.r#type()).map_or(0, |tensor| tensor.shape.len());
    if rank != names.names.len() {
        let message = format!("option 'dims' gives argument {} {} names, but it has {rank} dimensions", names.argument, names.names.len());
        return Err(error_at(function, message).report());
    }
    set_argument_attribute(function, names.argument, DIMS, string_array(function.ctx(), &names.names));
    Ok(())
}

/// Names an op's iteration dimensions and its result.
fn name_op<'c>(compute: ComputeOp<'c>, names: &mut ValueMap<Vec<String>>) -> Result<(), Reported> {
    let accesses = compute.accesses().map_err(|message| error_at(compute.op, message).report())?;
    let Some((result, inputs)) = accesses.split_last() else { return Ok(()) };
    let mut found: Vec<Option<(String, Value<'c>)>> = vec![None; compute.iteration_space().len()];
    for input in inputs {
        for (dim, name) in named_dims(input, names) {
            match &found[dim] {
                Some((known, from)) if *known != name => warn(compute.op, dim, (known, *from), (&name, input.value)),
                Some(_) => {}
                None => found[dim] = Some((name, input.value)),
            }
        }
    }
    let found: Vec<String> = found.into_iter().map(|name| name.map_or_else(String::new, |(name, _)| name)).collect();
    let mut of_result: Vec<String> = result.dims.iter().map(|dim| dim.map_or_else(String::new, |dim| found[dim].clone())).collect();
    if compute.is_insert() {
        keep_names_of_earlier_parts(compute, &mut of_result, names);
    }
    names.insert(result.value, of_result);
    if found.iter().any(|name| !name.is_empty()) {
        compute.op.set_attr("dims", string_array(compute.op.ctx(), &found));
    }
    Ok(())
}

/// A buffer that is written in parts has the names of all of them, the first in program order first.
fn keep_names_of_earlier_parts<'c>(insert: ComputeOp<'c>, of_result: &mut [String], names: &ValueMap<Vec<String>>) {
    let earlier = insert.op.inputs().last().and_then(|whole| names.get(*whole));
    for (name, known) in of_result.iter_mut().zip(earlier.into_iter().flatten()).filter(|(_, known)| !known.is_empty()) {
        known.clone_into(name);
    }
}

/// The iteration dimensions of an access that have a name.
fn named_dims(access: &Access<'_>, names: &ValueMap<Vec<String>>) -> Vec<(usize, String)> {
    let Some(known) = names.get(access.value).or_else(|| names.get(home_of(access.value))) else { return Vec::new() };
    let named = access.dims.iter().zip(known).filter(|(_, name)| !name.is_empty());
    named.filter_map(|(dim, name)| dim.map(|dim| (dim, name.clone()))).collect()
}

fn warn<'c>(op: Op<'c>, dim: usize, (kept, from): (&str, Value<'c>), (other, other_from): (&str, Value<'c>)) {
    let mut warning =
        warning_at(op, format_args!("iteration dimension {dim} is '{kept}' by one operand and '{other}' by another; keeping '{kept}'"));
    for (value, name) in [(from, kept), (other_from, other)] {
        if let Some(def) = value.def() {
            warning = warning.note(def, format_args!("'{name}' comes from here"));
        }
    }
    warning.emit();
}
