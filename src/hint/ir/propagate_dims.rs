//! `spyre-propagate-dims`: propagates dimension names from arguments to every op.
//!
//! Reads `spyre.dims` of the arguments, or the option `dims`; the sizes in `spyre.dim_sizes` of the function; and the
//! maps of views and ops. Writes `dims` on compute ops, one string per iteration dimension, and all known sizes to
//! `spyre.dim_sizes`. One traversal in program order, before loops exist. Where operands disagree, the first name wins,
//! with a warning; the first op that reads a view reports the names that the view loses.

use super::name_constants::name_constant_ops;
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, declared_sizes, view_indices},
    hint::{
        DimNames,
        merge::{DimNameConflict, DimNameRejection, MergedDimNames, WrittenDimNames},
        sizes::{NamedArgument, NamedDimSizes, format_shape},
    },
    mlir::{
        AttributeList, Diagnostic, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueExt, ValueLike,
        ValueMap, argument_attribute, build_dictionary, error_at, error_at_location, i64_attribute, integers,
        set_argument_attribute, string_array, strings, warning_at_location,
    },
};
use program::dim_names::{BufferFactor, BufferIndexMap, DimNameMap, LostName, NameLossReason};
use std::{collections::BTreeMap, mem, rc::Rc};

pub(crate) const PASS: Pass = Pass { argument: "spyre-propagate-dims", run };

/// Dimension names known for a value.
struct NamedValue<'c> {
    /// Buffer that owns the elements; diagnostics name it as the origin of the names.
    buffer: Value<'c>,
    /// Factors of the buffer with their names, in storage order.
    parts: Rc<Vec<BufferFactor>>,
    /// Elements of the buffer that the value shows.
    viewed: BufferIndexMap,
    /// Names along the value's dimensions; the first op that reads the value reports the losses.
    walk: DimNameMap,
}

/// Known names of each value visited so far.
type NamedValues<'c> = ValueMap<Option<NamedValue<'c>>>;

fn run<'c>(module: Op<'c>, options: &PassOptions) -> Result<(), ErrorReported> {
    let given: Vec<DimNames> = options.read_list(module, option::DIMS)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        given.iter().try_for_each(|names| name_argument(function, names))?;
        let mut names = name_arguments(function, &given)
            .map_err(|message| error_at_location(codes::DIMS_SIZES, function, message).report())?;
        for op in function.nested() {
            if op.is(spyre::VIEW) {
                name_view(op, &mut names);
            } else if let Some(compute) = ComputeOp::from_op(op) {
                name_op(compute, &mut names);
            }
        }
        name_constant_ops(function);
    }
    Ok(())
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Writes the names that the option specifies to the argument.
fn name_argument(function: Op<'_>, names: &DimNames) -> Result<(), ErrorReported> {
    let num_arguments = function_arguments(function).len();
    if names.argument >= num_arguments {
        let message = codes::DIMS_ARGUMENT.format(format_args!(
            "option 'dims': the function has no argument {}; its {num_arguments} arguments are numbered from 0",
            names.argument
        ));
        return Err(error_at(codes::DIMS_SIZES, function, message).report());
    }
    set_argument_attribute(function, names.argument, attr::SPYRE_DIMS, string_array(function.ctx(), &names.names));
    Ok(())
}

/// Returns the arguments with names, once all sizes are known.
fn name_arguments<'c>(function: Op<'c>, given: &[DimNames]) -> Result<NamedValues<'c>, String> {
    let values = function_arguments(function);
    let mut named = Vec::new();
    for (number, value) in values.iter().enumerate() {
        let Some(names) =
            argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).filter(|names| !names.is_empty())
        else {
            continue;
        };
        let tensor = TensorType::from_type(value.r#type()).filter(|tensor| tensor.shape.iter().all(|&size| size > 0));
        let shape = tensor
            .ok_or_else(|| {
                codes::DIMS_SIZES.format(format_args!(
                    "expected a tensor with elements for the names of argument {number}; remove the names"
                ))
            })?
            .shape;
        named.push(NamedArgument { number, names: names.into_iter().map(str::to_owned).collect(), shape });
    }
    let sizes =
        NamedDimSizes::solve(&named, &collect_declared_sizes(function, given)?).map_err(|error| error.to_string())?;
    set_sizes(function, &sizes);
    let mut names = NamedValues::default();
    for argument in &named {
        let parts = sizes.sizes_of(argument).map_err(|error| error.to_string())?.into_iter().zip(&argument.names);
        let parts = parts.map(|(size, name)| BufferFactor::with_name(name, size)).collect();
        names.insert(values[argument.number], name_buffer(values[argument.number], parts, &argument.shape));
    }
    Ok(names)
}

fn function_arguments(function: Op<'_>) -> Vec<Value<'_>> {
    function.body_args()
}

/// Returns the sizes that the function or the option declares.
fn collect_declared_sizes(function: Op<'_>, given: &[DimNames]) -> Result<BTreeMap<String, i64>, String> {
    let mut sizes = declared_sizes(function);
    for (name, size) in given.iter().flat_map(|names| &names.sizes) {
        let known = *sizes.entry(name.clone()).or_insert(*size);
        if known != *size {
            return Err(codes::DIMS_SIZES.format(format_args!(
                "option 'dims': size of '{name}' is declared as {known} and as {size}; declare it once"
            )));
        }
    }
    Ok(sizes)
}

fn set_sizes(function: Op<'_>, sizes: &NamedDimSizes) {
    let context = function.ctx();
    let none = (AttributeList::new(context), false);
    let (entries, is_any) = sizes
        .iter_sizes()
        .fold(none, |(entries, _), (name, size)| (entries.with_attribute(name, i64_attribute(context, size)), true));
    if is_any {
        function.set_attr(attr::SPYRE_DIM_SIZES, build_dictionary(entries));
    }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the names of a complete buffer; `None` if no factor has a name.
fn name_buffer<'c>(buffer: Value<'c>, parts: Vec<BufferFactor>, shape: &[i64]) -> Option<NamedValue<'c>> {
    let viewed = BufferIndexMap::from_buffer_shape(shape).filter(|_| parts.iter().any(BufferFactor::is_named))?;
    Some(NamedValue { buffer, walk: viewed.map_names(&parts), parts: Rc::new(parts), viewed })
}

/// Returns the names of a buffer that an op writes. Its losses are cleared, since that op has reported them.
fn name_written_buffer<'c>(buffer: Value<'c>, parts: Vec<BufferFactor>, shape: &[i64]) -> Option<NamedValue<'c>> {
    let mut seen = name_buffer(buffer, parts, shape)?;
    seen.walk.losses.clear();
    Some(seen)
}

fn name_view<'c>(view: Op<'c>, names: &mut NamedValues<'c>) {
    let Some(Some(after)) = names.get(view.inputs()[0]) else { return };
    let Some(tensor) = TensorType::from_type(view.output().r#type()) else { return };
    let Some(viewed) = after.viewed.compose(&view_indices(view), &tensor.shape) else { return };
    let parts = Rc::clone(&after.parts);
    let of_view = NamedValue { buffer: after.buffer, walk: viewed.map_names(&parts), parts, viewed };
    names.insert(view.output(), Some(of_view));
}

/// Names an op's iteration dimensions and its result.
fn name_op<'c>(compute: ComputeOp<'c>, names: &mut NamedValues<'c>) {
    let reads = compute.read_operands();
    let mut merged = MergedDimNames::new(compute.iteration_space());
    let (mut buffers, mut losses, mut conflicts) = (vec![None; reads.len()], Vec::new(), Vec::new());
    for (operand, value) in reads.iter().enumerate() {
        let Some(seen) = names.get_or_default(*value) else { continue };
        buffers[operand] = Some(seen.buffer);
        let dims = compute.operand_dims(operand);
        conflicts.extend(merged.add(operand, &dims, &seen.walk).into_iter().map(|conflict| (conflict, seen.buffer)));
        losses
            .extend(mem::take(&mut seen.walk.losses).into_iter().map(|loss| (loss, *value, seen.buffer, dims.clone())));
    }
    let labels = merged.labels();
    for (loss, value, buffer, dims) in losses {
        // Another operand may have named the remaining factors of the dimension.
        let dim = if let NameLossReason::MixedWithUnnamed { dim } = loss.reason {
            dims.get(dim).copied().flatten()
        } else {
            None
        };
        if dim.is_none_or(|dim| labels[dim].is_empty()) {
            warn_about_loss(compute.op, &loss, value, buffer);
        }
    }
    for (conflict, buffer) in conflicts {
        warn_about_conflict(compute.op, &conflict, buffers[conflict.kept_by], buffer);
    }
    if labels.iter().any(|label| !label.is_empty()) {
        compute.op.set_attr(attr::DIMS, string_array(compute.op.ctx(), &labels));
    }
    if compute.is_insert() { name_insert(compute, &merged, names) } else { name_result(compute, &merged, names) }
}

/// Names a result: it inherits the names of the dimensions that it keeps.
fn name_result<'c>(compute: ComputeOp<'c>, merged: &MergedDimNames, names: &mut NamedValues<'c>) {
    let result = compute.op.output();
    let Some(tensor) = TensorType::from_type(result.r#type()) else { return };
    let dims = compute.operand_dims(compute.read_operands().len());
    let along = |(dim, &size): (&Option<usize>, &i64)| {
        dim.map_or_else(|| vec![BufferFactor::from_size(size)], |dim| merged.factors(dim))
    };
    names.insert(
        result,
        name_written_buffer(result, dims.iter().zip(&tensor.shape).flat_map(along).collect(), &tensor.shape),
    );
}

/// Names a buffer that is written slice by slice: it inherits the names of all slices; the first slice in program order
/// wins.
fn name_insert<'c>(insert: ComputeOp<'c>, merged: &MergedDimNames, names: &mut NamedValues<'c>) {
    let (op, result) = (insert.op, insert.op.output());
    let Some(tensor) = TensorType::from_type(result.r#type()) else { return };
    // The buffer has no other uses before this slice is written, so its names are moved, not copied: there may be very
    // many slices.
    let earlier = op.inputs().last().and_then(|whole| names.get_or_default(*whole).take());
    let owner = earlier.as_ref().map_or(result, |earlier| earlier.buffer);
    let mut buffer = WrittenDimNames::new(
        &tensor.shape,
        earlier.map(|earlier| Rc::unwrap_or_clone(earlier.parts)).unwrap_or_default(),
    );
    let offsets = op.required_attr("offsets", integers);
    for (dim, first) in offsets.into_iter().enumerate() {
        if let Some(rejection) = buffer.record_window(dim, first, &merged.factors(dim)) {
            warn_about_rejection(op, &rejection, owner, op.inputs()[0]);
        }
    }
    names.insert(result, name_written_buffer(owner, buffer.into_parts(), &tensor.shape));
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

fn warn_about_loss<'c>(
    op: Op<'c>,
    LostName { name, size, reason: why }: &LostName,
    operand: Value<'c>,
    buffer: Value<'c>,
) {
    let shape = TensorType::from_type(operand.r#type()).map(|tensor| format_shape(&tensor.shape)).unwrap_or_default();
    let message = match why {
        NameLossReason::Slice { dim, positions } => {
            format!(
                "dimension name '{name}' (size {size}) is dropped: the op reads {positions} positions of it in dimension {dim} of \
                 shape {shape}"
            )
        }
        NameLossReason::Split => {
            format!(
                "dimension name '{name}' (size {size}) is dropped: it covers several dimensions of shape {shape}; name each dimension"
            )
        }
        NameLossReason::Misaligned => {
            format!(
                "dimension name '{name}' (size {size}) is dropped: its elements run along no dimension of shape {shape}"
            )
        }
        NameLossReason::MixedWithUnnamed { dim } => {
            format!(
                "dimension name '{name}' (size {size}) is dropped: dimension {dim} of shape {shape} also has elements without a name"
            )
        }
    };
    add_source_notes(warning_at_location(codes::DIM_NOT_FOLLOWED, op, message), [(name.as_str(), Some(buffer))]).emit();
}

fn warn_about_conflict<'c>(
    op: Op<'c>,
    DimNameConflict { dim, kept, other, .. }: &DimNameConflict,
    from: Option<Value<'c>>,
    other_from: Value<'c>,
) {
    let warning = warning_at_location(
        codes::DIM_NAMES_DIFFER,
        op,
        format_args!("operands name iteration dimension {dim} '{kept}' and '{other}'; '{kept}' is kept"),
    );
    add_source_notes(warning, [(kept.as_str(), from), (other.as_str(), Some(other_from))]).emit();
}

fn warn_about_rejection<'c>(op: Op<'c>, rejection: &DimNameRejection, buffer: Value<'c>, part: Value<'c>) {
    match rejection {
        DimNameRejection::Other { dim, kept, other } => {
            let message = format!("slices name dimension {dim} of the buffer '{kept}' and '{other}'; '{kept}' is kept");
            add_source_notes(
                warning_at_location(codes::DIM_NAMES_DIFFER, op, message),
                [(kept.as_str(), Some(buffer)), (other.as_str(), Some(part))],
            )
            .emit();
        }
        DimNameRejection::Several { dim, names, positions, size } => {
            let message = format!(
                "dimension name '{names}' is dropped: the op writes {positions} of {size} positions of dimension {dim}"
            );
            add_source_notes(warning_at_location(codes::DIM_NOT_FOLLOWED, op, message), [(names.as_str(), Some(part))])
                .emit();
        }
    }
}

/// Attaches notes with the origin of names: the op that defines the buffer with the name, or the argument.
fn add_source_notes<'c, const N: usize>(
    warning: Diagnostic<'c>,
    sources: [(&str, Option<Value<'c>>); N],
) -> Diagnostic<'c> {
    let located = |(name, value): (&str, Option<Value<'c>>)| {
        let value = value?;
        Some((value.def().map_or_else(|| value.location(), OpExt::loc), format!("'{name}' comes from here")))
    };
    let notes: Vec<_> = sources.into_iter().filter_map(located).collect();
    notes.into_iter().fold(warning, |warning, (location, note)| warning.with_note_at(location, note))
}
