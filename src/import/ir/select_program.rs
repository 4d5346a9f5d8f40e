//! `spyre-select-program`: selects the function to compile and its sizes.
//!
//! Reads the functions of a module; keeps the compiled function and its callees. Scalar arguments and results become
//! tensors of one element. Records which dynamic dimensions have symbolic sizes, sets dynamic dimensions to the sizes
//! that the user specifies, and infers further static sizes. Simplifies ops on tensors without elements.

use super::{check_calls::check_calls, symbolic_size_uses::check_symbolic_size_uses};
use crate::dialect::ods::{attr, option};
use crate::{
    codes,
    import::{ArgumentShape, DimSize, OperationSupport, ResolvedSizes, resolve_sizes},
    mlir::{
        AttributeList, ErrorReported, Op, OpExt, Pass, PassOptions, Value, ValueLike, argument_attribute,
        build_dictionary, error_at, error_at_location, find_defined_functions, is_public, make_entry, merge_outer_dims,
        partial_shape, remove_empty_tensors, replace_empty_tensors, result_attribute, set_argument_attribute,
        specialize_dims, string_array, strings, warning_at, wrap_scalars_in_tensors,
    },
};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-select-program", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let given: Vec<DimSize> = options.read_list(module, option::DIM_SIZE)?;
    let Some(entry) = find_entry(module, options.get_text(option::ENTRY))? else { return check_calls(module) };
    make_entry(module, entry);
    // This must precede inlining, since setting sizes inlines, too.
    check_calls(module)?;
    check_branches(entry)?;
    wrap_scalars_in_tensors(entry);
    let arguments: Vec<ArgumentShape> = entry
        .body_args()
        .into_iter()
        .enumerate()
        .map(|(index, value)| read_argument_shape(entry, index, value))
        .collect();
    let ResolvedSizes { sizes, symbolic, granularities } = resolve_sizes(&arguments, &given)
        .map_err(|message| error_at_location(codes::DIM_SIZE, entry, message).report())?;
    if !granularities.is_empty() {
        check_symbolic_size_uses(module, entry, &symbolic)?;
        record_symbolic_sizes(entry, &symbolic, &granularities);
    }
    if !sizes.is_empty() {
        for kernel in
            find_defined_functions(module).into_iter().filter(|function| function.attr(attr::SPYRE_KERNEL).is_some())
        {
            warning_at(
                codes::KERNEL_NOT_KEPT,
                kernel,
                "is inlined, although it is a kernel, because '--dim-size' gives sizes to the program; export static shapes to keep \
                 kernels",
            )
            .emit();
        }
        specialize_dims(entry, &sizes)?;
    }
    if let Some(entry) = find_entry(module, options.get_text(option::ENTRY))? {
        replace_empty_tensors(entry);
        remove_empty_tensors(module);
        merge_outer_dims(entry);
        check_symbolic_shapes(entry)?;
    }
    Ok(())
}

/// Rejects branches between blocks before scalars become tensors: their conditions must be scalars.
fn check_branches(entry: Op<'_>) -> Result<(), ErrorReported> {
    for op in entry.nested().into_iter().filter(|op| op.full_name().starts_with("cf.")) {
        if let Some(rejection) = OperationSupport::rejection_message(op.full_name()) {
            return Err(error_at(codes::UNSUPPORTED, op, rejection).report());
        }
    }
    Ok(())
}

/// Records which sizes are symbolic: their types get the largest size.
fn record_symbolic_sizes(entry: Op<'_>, symbolic: &[Vec<String>], granularities: &BTreeMap<String, i64>) {
    let context = entry.ctx();
    for (argument, names) in symbolic.iter().enumerate().filter(|(_, names)| names.iter().any(|name| !name.is_empty()))
    {
        set_argument_attribute(entry, argument, attr::SPYRE_SYMBOLIC, string_array(context, names));
    }
    let entries = granularities
        .iter()
        .fold(AttributeList::new(context), |entries, (name, number)| entries.with_int(name, *number));
    entry.set_attr(attr::SPYRE_GRANULARITIES, build_dictionary(entries));
}

/// Rejects symbolic sizes of tensors whose shape for the caller differs from that in the program.
fn check_symbolic_shapes(entry: Op<'_>) -> Result<(), ErrorReported> {
    if entry.attr(attr::SPYRE_GRANULARITIES).is_none() {
        return Ok(());
    }
    let arguments = 0..entry.body_args().len();
    let merged = arguments.filter(|&argument| argument_attribute(entry, argument, attr::SPYRE_SHAPE).is_some());
    let results = 0..entry.yielded().len();
    let of_results = results.filter(|&result| result_attribute(entry, result, attr::SPYRE_SHAPE).is_some());
    let named = merged
        .map(|number| format!("argument {number}"))
        .chain(of_results.map(|number| format!("result {number}")))
        .next();
    let message = |what: String| {
        format!(
            "expected at most six dimensions and at least one element in a program with symbolic sizes, found another shape of {what}; \
             give every dimension one size with '--dim-size NAME=SIZE'"
        )
    };
    named.map_or(Ok(()), |what| Err(error_at(codes::SYMBOLIC_SIZE, entry, message(what)).report()))
}

/// Returns the function of that name; without a name, the only public function. A module of private functions has no
/// such function.
fn find_entry<'c>(module: Op<'c>, name: &str) -> Result<Option<Op<'c>>, ErrorReported> {
    let functions = find_defined_functions(module);
    let public: Vec<Op<'c>> = functions.iter().copied().filter(|function| is_public(*function)).collect();
    let names = |functions: &[Op<'c>]| {
        let names: Vec<String> =
            functions.iter().map(|function| format!("'{}'", function.text_attr("sym_name"))).collect();
        names.join(" and ")
    };
    match public.as_slice() {
        _ if !name.is_empty() => match functions.iter().find(|function| function.text_attr("sym_name") == name) {
            Some(function) => Ok(Some(*function)),
            None => Err(error_at_location(
                codes::NO_SUCH_FUNCTION,
                module,
                format_args!(
                    "expected the name of a function with a body, found '{name}'; choose one of {}",
                    names(&functions)
                ),
            )
            .report()),
        },
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        [first, ..] => {
            let message =
                format!("expected one public function, found {}; choose one with --entry NAME", names(&public));
            Err(error_at_location(codes::ENTRY_POINT, *first, message).report())
        }
    }
}

fn read_argument_shape(function: Op<'_>, index: usize, argument: Value<'_>) -> ArgumentShape {
    let sizes = partial_shape(argument.r#type()).unwrap_or_default();
    let names = argument_attribute(function, index, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
    let names = if names.len() == sizes.len() { names.into_iter().map(str::to_owned).collect() } else { Vec::new() };
    ArgumentShape { sizes, names }
}
