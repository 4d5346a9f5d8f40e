//! `spyre-propagate-dims`: propagates dimension names from arguments to every op.
//!
//! Reads `spyre.dims` of the arguments, or the option `dims`, the declared sizes in `spyre.dim_sizes` of the function, and the
//! maps of views and ops; writes `dims` on compute ops, one string per iteration dimension, and all known sizes to
//! `spyre.dim_sizes`. One traversal in program order, before loops exist. Where operands disagree, the first name wins, with a
//! warning; the first op that reads a view reports the names that the view loses.

use super::name_known::name_known;
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, declared_sizes, indices_of_view},
    hint::{
        DimNames,
        merge::{Conflict, Merged, Refusal, Written},
        sizes::{NamedArgument, Sizes, by_times},
    },
    mlir::{
        Attributes, Diagnostic, Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueExt, ValueLike, ValueMap, argument_attribute,
        dictionary, error_at, error_behind, i64_attribute, integers, set_argument_attribute, string_array, strings, warning_behind,
    },
};
use program::dim_names::{Loss, Part, Shown, Walk, Why};
use std::{collections::BTreeMap, mem, rc::Rc};

pub(crate) const PASS: Pass = Pass { argument: "spyre-propagate-dims", run };

/// Dimension names known for a value.
struct Seen<'c> {
    /// Buffer that owns the elements; diagnostics name it as the origin of the names.
    buffer: Value<'c>,
    /// Factors of the buffer with their names, in storage order.
    parts: Rc<Vec<Part>>,
    /// Elements of the buffer that the value shows.
    shown: Shown,
    /// Names along the value's dimensions; the first op that reads the value takes (and reports) the losses.
    walk: Walk,
}

/// Known names of each value visited so far.
type Names<'c> = ValueMap<Option<Seen<'c>>>;

fn run<'c>(module: Op<'c>, options: &Options) -> Result<(), Reported> {
    let given: Vec<DimNames> = options.list(module, option::DIMS)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        given.iter().try_for_each(|names| name_argument(function, names))?;
        let mut names = name_arguments(function, &given).map_err(|message| error_behind(codes::DIMS_SIZES, function, message).report())?;
        for op in function.nested() {
            if op.is(spyre::VIEW) {
                name_view(op, &mut names);
            } else if let Some(compute) = ComputeOp::of(op) {
                name_op(compute, &mut names);
            }
        }
        name_known(function);
    }
    Ok(())
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Writes the names that the option specifies to the argument.
fn name_argument(function: Op<'_>, names: &DimNames) -> Result<(), Reported> {
    let n_arguments = arguments(function).len();
    if names.argument >= n_arguments {
        let message = codes::DIMS_ARGUMENT.says(format_args!(
            "option 'dims': the function has no argument {}; its {n_arguments} arguments are numbered from 0",
            names.argument
        ));
        return Err(error_at(codes::DIMS_SIZES, function, message).report());
    }
    set_argument_attribute(function, names.argument, attr::SPYRE_DIMS, string_array(function.ctx(), &names.names));
    Ok(())
}

/// Returns the arguments with names, once all sizes are known.
fn name_arguments<'c>(function: Op<'c>, given: &[DimNames]) -> Result<Names<'c>, String> {
    let values = arguments(function);
    let mut named = Vec::new();
    for (number, value) in values.iter().enumerate() {
        let Some(names) = argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).filter(|names| !names.is_empty()) else {
            continue;
        };
        let tensor = TensorType::of(value.r#type()).filter(|tensor| tensor.shape.iter().all(|&size| size > 0));
        let shape = tensor
            .ok_or_else(|| {
                codes::DIMS_SIZES.says(format_args!("expected a tensor with elements for the names of argument {number}; remove the names"))
            })?
            .shape;
        named.push(NamedArgument { number, names: names.into_iter().map(str::to_owned).collect(), shape });
    }
    let sizes = Sizes::solve(&named, &declared(function, given)?).map_err(|error| error.to_string())?;
    set_sizes(function, &sizes);
    let mut names = Names::default();
    for argument in &named {
        let parts = sizes.of(argument).map_err(|error| error.to_string())?.into_iter().zip(&argument.names);
        let parts = parts.map(|(size, name)| Part::named(name, size)).collect();
        names.insert(values[argument.number], seen(values[argument.number], parts, &argument.shape));
    }
    Ok(names)
}

fn arguments(function: Op<'_>) -> Vec<Value<'_>> {
    function.body_args()
}

/// Returns the sizes that the function or the option declares.
fn declared(function: Op<'_>, given: &[DimNames]) -> Result<BTreeMap<String, i64>, String> {
    let mut sizes = declared_sizes(function);
    for (name, size) in given.iter().flat_map(|names| &names.sizes) {
        let known = *sizes.entry(name.clone()).or_insert(*size);
        if known != *size {
            return Err(codes::DIMS_SIZES
                .says(format_args!("option 'dims': size of '{name}' is declared as {known} and as {size}; declare it once")));
        }
    }
    Ok(sizes)
}

fn set_sizes(function: Op<'_>, sizes: &Sizes) {
    let context = function.ctx();
    let none = (Attributes::new(context), false);
    let (entries, is_any) = sizes.all().fold(none, |(entries, _), (name, size)| (entries.with(name, i64_attribute(context, size)), true));
    if is_any {
        function.set_attr(attr::SPYRE_DIM_SIZES, dictionary(entries));
    }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the names of a complete buffer; None if no factor has a name.
fn seen<'c>(buffer: Value<'c>, parts: Vec<Part>, shape: &[i64]) -> Option<Seen<'c>> {
    let shown = Shown::whole(shape).filter(|_| parts.iter().any(Part::is_named))?;
    Some(Seen { buffer, walk: shown.walk(&parts), parts: Rc::new(parts), shown })
}

/// Returns the names of a buffer that an op writes. Its losses are cleared, since that op has reported them.
fn written<'c>(buffer: Value<'c>, parts: Vec<Part>, shape: &[i64]) -> Option<Seen<'c>> {
    let mut seen = seen(buffer, parts, shape)?;
    seen.walk.losses.clear();
    Some(seen)
}

fn name_view<'c>(view: Op<'c>, names: &mut Names<'c>) {
    let Some(Some(behind)) = names.get(view.inputs()[0]) else { return };
    let Some(tensor) = TensorType::of(view.output().r#type()) else { return };
    let Some(shown) = behind.shown.through(&indices_of_view(view), &tensor.shape) else { return };
    let parts = Rc::clone(&behind.parts);
    let of_view = Seen { buffer: behind.buffer, walk: shown.walk(&parts), parts, shown };
    names.insert(view.output(), Some(of_view));
}

/// Names an op's iteration dimensions and its result.
fn name_op<'c>(compute: ComputeOp<'c>, names: &mut Names<'c>) {
    let reads = compute.reads();
    let mut merged = Merged::new(compute.iteration_space());
    let (mut buffers, mut losses, mut conflicts) = (vec![None; reads.len()], Vec::new(), Vec::new());
    for (operand, value) in reads.iter().enumerate() {
        let Some(seen) = names.get_or_default(*value) else { continue };
        buffers[operand] = Some(seen.buffer);
        let dims = compute.operand_dims(operand);
        conflicts.extend(merged.add(operand, &dims, &seen.walk).into_iter().map(|conflict| (conflict, seen.buffer)));
        losses.extend(mem::take(&mut seen.walk.losses).into_iter().map(|loss| (loss, *value, seen.buffer, dims.clone())));
    }
    let labels = merged.labels();
    for (loss, value, buffer, dims) in losses {
        // Another operand may have named the remaining factors of the dimension.
        let dim = if let Why::Beside { dim } = loss.why { dims.get(dim).copied().flatten() } else { None };
        if dim.is_none_or(|dim| labels[dim].is_empty()) {
            warn_of_loss(compute.op, &loss, value, buffer);
        }
    }
    for (conflict, buffer) in conflicts {
        warn_of_conflict(compute.op, &conflict, buffers[conflict.kept_by], buffer);
    }
    if labels.iter().any(|label| !label.is_empty()) {
        compute.op.set_attr(attr::DIMS, string_array(compute.op.ctx(), &labels));
    }
    if compute.is_insert() { name_window(compute, &merged, names) } else { name_result(compute, &merged, names) }
}

/// Names a result: it inherits the names of the dimensions that it keeps.
fn name_result<'c>(compute: ComputeOp<'c>, merged: &Merged, names: &mut Names<'c>) {
    let result = compute.op.output();
    let Some(tensor) = TensorType::of(result.r#type()) else { return };
    let dims = compute.operand_dims(compute.reads().len());
    let along = |(dim, &size): (&Option<usize>, &i64)| dim.map_or_else(|| vec![Part::unnamed(size)], |dim| merged.factors(dim));
    names.insert(result, written(result, dims.iter().zip(&tensor.shape).flat_map(along).collect(), &tensor.shape));
}

/// Names a buffer that is written slice by slice: it inherits the names of all slices; the first slice in program order wins.
fn name_window<'c>(insert: ComputeOp<'c>, merged: &Merged, names: &mut Names<'c>) {
    let (op, result) = (insert.op, insert.op.output());
    let Some(tensor) = TensorType::of(result.r#type()) else { return };
    // The buffer has no other uses before this slice is written, so its names are moved, not copied: there may be very many
    // slices.
    let earlier = op.inputs().last().and_then(|whole| names.get_or_default(*whole).take());
    let owner = earlier.as_ref().map_or(result, |earlier| earlier.buffer);
    let mut buffer = Written::new(&tensor.shape, earlier.map(|earlier| Rc::unwrap_or_clone(earlier.parts)).unwrap_or_default());
    let offsets = op.required("offsets", integers);
    for (dim, first) in offsets.into_iter().enumerate() {
        if let Some(refusal) = buffer.write(dim, first, &merged.factors(dim)) {
            warn_of_refusal(op, &refusal, owner, op.inputs()[0]);
        }
    }
    names.insert(result, written(owner, buffer.into_parts(), &tensor.shape));
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

fn warn_of_loss<'c>(op: Op<'c>, Loss { name, size, why }: &Loss, operand: Value<'c>, buffer: Value<'c>) {
    let shape = TensorType::of(operand.r#type()).map(|tensor| by_times(&tensor.shape)).unwrap_or_default();
    let message = match why {
        Why::Slice { dim, positions } => {
            format!(
                "dimension name '{name}' (size {size}) is dropped: the op reads {positions} positions of it in dimension {dim} of \
                 shape {shape}"
            )
        }
        Why::Split => {
            format!("dimension name '{name}' (size {size}) is dropped: it covers several dimensions of shape {shape}; name each dimension")
        }
        Why::Across => format!("dimension name '{name}' (size {size}) is dropped: its elements run along no dimension of shape {shape}"),
        Why::Beside { dim } => {
            format!("dimension name '{name}' (size {size}) is dropped: dimension {dim} of shape {shape} also has elements without a name")
        }
    };
    with_sources(warning_behind(codes::DIM_NOT_FOLLOWED, op, message), [(name.as_str(), Some(buffer))]).emit();
}

fn warn_of_conflict<'c>(op: Op<'c>, Conflict { dim, kept, other, .. }: &Conflict, from: Option<Value<'c>>, other_from: Value<'c>) {
    let warning = warning_behind(
        codes::DIM_NAMES_DIFFER,
        op,
        format_args!("operands name iteration dimension {dim} '{kept}' and '{other}'; '{kept}' is kept"),
    );
    with_sources(warning, [(kept.as_str(), from), (other.as_str(), Some(other_from))]).emit();
}

fn warn_of_refusal<'c>(op: Op<'c>, refusal: &Refusal, buffer: Value<'c>, part: Value<'c>) {
    match refusal {
        Refusal::Other { dim, kept, other } => {
            let message = format!("slices name dimension {dim} of the buffer '{kept}' and '{other}'; '{kept}' is kept");
            with_sources(
                warning_behind(codes::DIM_NAMES_DIFFER, op, message),
                [(kept.as_str(), Some(buffer)), (other.as_str(), Some(part))],
            )
            .emit();
        }
        Refusal::Several { dim, names, positions, size } => {
            let message = format!("dimension name '{names}' is dropped: the op writes {positions} of {size} positions of dimension {dim}");
            with_sources(warning_behind(codes::DIM_NOT_FOLLOWED, op, message), [(names.as_str(), Some(part))]).emit();
        }
    }
}

/// Attaches notes with the origin of names: the op that defines the buffer with the name, or the argument.
fn with_sources<'c, const N: usize>(warning: Diagnostic<'c>, sources: [(&str, Option<Value<'c>>); N]) -> Diagnostic<'c> {
    let located = |(name, value): (&str, Option<Value<'c>>)| {
        let value = value?;
        Some((value.def().map_or_else(|| value.location(), OpExt::loc), format!("'{name}' comes from here")))
    };
    let notes: Vec<_> = sources.into_iter().filter_map(located).collect();
    notes.into_iter().fold(warning, |warning, (location, note)| warning.note_at(location, note))
}
