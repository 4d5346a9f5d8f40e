//! `spyre-select-program`: selects the function to compile and its sizes.
//!
//! Reads the functions of a module; keeps the compiled function and its callees. Scalar arguments and results become tensors of one element.
//! Records which dynamic dimensions have symbolic sizes, sets dynamic dimensions to the sizes that the user specifies, and infers further
//! static sizes. Simplifies ops on tensors without elements.

use super::{check_calls::check_calls, counted_sizes::check_counted};
use crate::dialect::ods::{attr, option};
use crate::{
    codes,
    import::{DimSize, OpenShape, Operation, SettledSizes, settled_sizes},
    mlir::{
        Attributes, Op, OpExt, Options, Pass, Reported, Value, ValueLike, argument_attribute, box_empty, box_numbers, dictionary,
        drop_empty, error_at, error_behind, functions_of, is_public, make_entry, merge_dims, result_attribute, set_argument_attribute,
        sizes_of, specialize, string_array, strings, warning_at,
    },
};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-select-program", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let given: Vec<DimSize> = options.list(module, option::DIM_SIZE)?;
    let Some(entry) = entry_of(module, options.text(option::ENTRY))? else { return check_calls(module) };
    make_entry(module, entry);
    // This must precede inlining, since setting sizes inlines, too.
    check_calls(module)?;
    check_branches(entry)?;
    box_numbers(entry);
    let arguments: Vec<OpenShape> =
        entry.body_args().into_iter().enumerate().map(|(index, value)| open_shape(entry, index, value)).collect();
    let SettledSizes { sizes, symbolic, granularities } =
        settled_sizes(&arguments, &given).map_err(|message| error_behind(codes::DIM_SIZE, entry, message).report())?;
    if !granularities.is_empty() {
        check_counted(module, entry, &symbolic)?;
        note_symbolic(entry, &symbolic, &granularities);
    }
    if !sizes.is_empty() {
        for kernel in functions_of(module).into_iter().filter(|function| function.attr(attr::SPYRE_KERNEL).is_some()) {
            warning_at(
                codes::KERNEL_NOT_KEPT,
                kernel,
                "is inlined, although it is a kernel, because '--dim-size' gives sizes to the program; export static shapes to keep \
                 kernels",
            )
            .emit();
        }
        specialize(entry, &sizes)?;
    }
    if let Some(entry) = entry_of(module, options.text(option::ENTRY))? {
        box_empty(entry);
        drop_empty(module);
        merge_dims(entry);
        check_shapes(entry)?;
    }
    Ok(())
}

/// Rejects branches between blocks before scalars become tensors: their conditions must be scalars.
fn check_branches(entry: Op<'_>) -> Result<(), Reported> {
    for op in entry.nested().into_iter().filter(|op| op.full_name().starts_with("cf.")) {
        if let Some(refusal) = Operation::refusal(op.full_name()) {
            return Err(error_at(codes::UNSUPPORTED, op, refusal).report());
        }
    }
    Ok(())
}

/// Records which sizes are symbolic: their types get the largest size.
fn note_symbolic(entry: Op<'_>, symbolic: &[Vec<String>], granularities: &BTreeMap<String, i64>) {
    let context = entry.ctx();
    for (argument, names) in symbolic.iter().enumerate().filter(|(_, names)| names.iter().any(|name| !name.is_empty())) {
        set_argument_attribute(entry, argument, attr::SPYRE_SYMBOLIC, string_array(context, names));
    }
    let entries = granularities.iter().fold(Attributes::new(context), |entries, (name, number)| entries.int(name, *number));
    entry.set_attr(attr::SPYRE_GRANULARITIES, dictionary(entries));
}

/// Rejects symbolic sizes of tensors whose shape for the caller differs from that in the program.
fn check_shapes(entry: Op<'_>) -> Result<(), Reported> {
    if entry.attr(attr::SPYRE_GRANULARITIES).is_none() {
        return Ok(());
    }
    let arguments = 0..entry.body_args().len();
    let merged = arguments.filter(|&argument| argument_attribute(entry, argument, attr::SPYRE_SHAPE).is_some());
    let results = 0..entry.yielded().len();
    let of_results = results.filter(|&result| result_attribute(entry, result, attr::SPYRE_SHAPE).is_some());
    let named = merged.map(|number| format!("argument {number}")).chain(of_results.map(|number| format!("result {number}"))).next();
    let message = |what: String| {
        format!(
            "expected at most six dimensions and at least one element in a program with symbolic sizes, found another shape of {what}; \
             give every dimension one size with '--dim-size NAME=SIZE'"
        )
    };
    named.map_or(Ok(()), |what| Err(error_at(codes::SYMBOLIC_SIZE, entry, message(what)).report()))
}

/// Returns the function of that name; without a name, the only public function. A module of private functions has no such function.
fn entry_of<'c>(module: Op<'c>, name: &str) -> Result<Option<Op<'c>>, Reported> {
    let functions = functions_of(module);
    let public: Vec<Op<'c>> = functions.iter().copied().filter(|function| is_public(*function)).collect();
    let names = |functions: &[Op<'c>]| {
        let names: Vec<String> = functions.iter().map(|function| format!("'{}'", function.text_attr("sym_name"))).collect();
        names.join(" and ")
    };
    match public.as_slice() {
        _ if !name.is_empty() => match functions.iter().find(|function| function.text_attr("sym_name") == name) {
            Some(function) => Ok(Some(*function)),
            None => Err(error_behind(
                codes::NO_SUCH_FUNCTION,
                module,
                format_args!("expected the name of a function with a body, found '{name}'; choose one of {}", names(&functions)),
            )
            .report()),
        },
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        [first, ..] => {
            let message = format!("expected one public function, found {}; choose one with --entry NAME", names(&public));
            Err(error_behind(codes::ENTRY_POINT, *first, message).report())
        }
    }
}

fn open_shape(function: Op<'_>, index: usize, argument: Value<'_>) -> OpenShape {
    let sizes = sizes_of(argument.r#type()).unwrap_or_default();
    let names = argument_attribute(function, index, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
    let names = if names.len() == sizes.len() { names.into_iter().map(str::to_owned).collect() } else { Vec::new() };
    OpenShape { sizes, names }
}
