//! `spyre-propagate-layouts`: assigns every value a device layout.
//!
//! Reads shapes and access maps; writes encodings. Sticks are chosen for the program at once so that relayouts move few
//! bytes (`sticks=greedy`: op by op). Arguments and constants without a layout get the layout that suits their users. A
//! result keeps the program's order of its other dimensions, but the batch of a matmul that reads it is not next to the
//! sticks; an elementwise op gets the layout of an input with the same indices, so that it can reuse its LX address
//! (torch-spyre facts, B.4). Every function result gets its own buffer.

use super::insert_copies::{LAYOUT_PASS, insert_copy};
use super::{
    copy_windows::{InsertedSlices, copy_window},
    program::LayoutProgram,
    regroup_views::split_operand_dims,
};
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{
        ComputeOp, DeviceTensor, SymbolicSizes, base_buffer_of, build_constant, build_copy, build_view,
        read_buffer_view,
    },
    layout::{LayoutChoice, LayoutConflict, LayoutConflictKind, StickRule, StickStrategy},
    mlir::{
        AffineExpression, BlockExt, BlockLike, DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType,
        Value, ValueExt, ValueLike, ValueMap, build_dense_splat, derived_location, error_at, insert_before,
        map_from_exprs, set_function_type,
    },
};
use program::layout::{DeviceLayout, TensorIndex, compute_row_major_position, is_whole_dim};

pub(crate) const PASS: Pass = Pass { argument: LAYOUT_PASS, run };

/// Maximum number of copies per op through which its operands are read, on average.
const MAX_COPIES_PER_OP: usize = 8;

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let strategy: StickStrategy = options.read_enum(module, option::STICKS)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let Some(body) = function.body() else { continue };
        function.nested().into_iter().filter(|op| op.is(spyre::FILL)).for_each(expand_fill);
        copy_results(function);
        let (program, choice) = choose_layouts(function, &body.args(), strategy)?;
        assign_layouts(function, &program, &choice)?;
        share_layouts(function);
        set_function_type(function);
    }
    Ok(())
}

/// Builds the program model and chooses its sticks. An operand that no chain of moves makes readable is read through a
/// copy that splits its dimensions, if that copy is new.
fn choose_layouts<'c>(
    function: Op<'c>,
    arguments: &[Value<'c>],
    strategy: StickStrategy,
) -> Result<(LayoutProgram<'c>, LayoutChoice), ErrorReported> {
    // The loop terminates: in each iteration, an operand has fewer dimensions to split.
    let most_copies = MAX_COPIES_PER_OP * (1 + ComputeOp::collect_in(function).len());
    let (mut left, mut parts) = (most_copies, InsertedSlices::default());
    loop {
        left = left.saturating_sub(1);
        // Inserted copies may have symbolic sizes, too.
        let sizes = SymbolicSizes::derive_and_mark(function)?;
        let mut program = LayoutProgram::from_function(function)?;
        for &argument in arguments {
            let reject = |message: String| {
                error_at(codes::LAYOUT_ARGUMENT, function, format_args!("argument of {}: {message}", argument.r#type()))
                    .report()
            };
            program.add_argument(argument).map_err(reject)?;
        }
        for value in function_results(function) {
            program.record_result(base_buffer_of(value), find_regrouped_dims(value));
        }
        if let Some(sizes) = &sizes {
            program.record_symbolic_dims(sizes);
        }
        let choice = program.flow.choose_sticks(strategy);
        if let Err(LayoutConflict { op, kind: LayoutConflictKind::Read { operand, .. } }) = choice {
            parts.record(program.ops[op].op, operand);
        }
        match choice {
            Ok(choice) => return Ok((program, choice)),
            // A window of a buffer of six dimensions may have fewer.
            Err(LayoutConflict { op, kind: LayoutConflictKind::Read { operand, .. } })
                if left > 0
                    && (split_operand_dims(program.ops[op], operand) || copy_window(program.ops[op], operand)) => {}
            Err(LayoutConflict { op, kind: LayoutConflictKind::View(error) })
                if left > 0
                    && error.partially_read_operand().is_some_and(|operand| copy_window(program.ops[op], operand)) => {}
            Err(LayoutConflict { op, kind: LayoutConflictKind::Regrouped { .. } })
                if left > 0 && copy_returned_views(function, program.ops[op].op.output()) => {}
            // Each slice is copied at most once.
            Err(_) if parts.copy_last() => left = most_copies,
            Err(error) => return Err(report_conflict(program.ops[error.op], &error)),
        }
    }
}

/// Reports a layout conflict that no choice of layouts resolves. The message names a symbolic size of the op, if there
/// is one, since a static size would allow more choices.
fn report_conflict(compute: ComputeOp<'_>, misfit: &LayoutConflict) -> ErrorReported {
    match compute.symbolic_dims().into_iter().find(|name| !name.is_empty()) {
        None => error_at(misfit.kind.code(), compute.op, misfit).report(),
        Some(name) => {
            let hint = format!("'{name}' is symbolic; give one size with '--dim-size NAME=SIZE'");
            error_at(misfit.kind.code(), compute.op, format_args!("{misfit}; {hint}")).report()
        }
    }
}

/// Replaces a fill by a constant of one element, which elementwise ops broadcast and other ops read through a copy.
fn expand_fill(fill: Op<'_>) {
    let (Some(full), Some(number)) = (TensorType::from_type(fill.output().r#type()), fill.attr(attr::VALUE)) else {
        return;
    };
    let (context, location, output) = (fill.ctx(), fill.loc(), fill.output());
    // A group of ops with hints reads a fill of full size from outside: the copy is read under other indices, which a
    // tile cannot.
    let is_hinted = fill.attr(attr::HINTS).is_some();
    let first =
        fill.parent().and_then(|around| around.body_ops().first().copied()).filter(|_| is_hinted).unwrap_or(fill);
    let one = full.with_shape(vec![1; full.shape.len()]).build();
    let one = insert_before(first, build_constant(context, location, build_dense_splat(one, number), one)).output();
    for user in output.users().into_iter().filter(|user| user.is(spyre::POINTWISE)) {
        for (index, _) in user.inputs().iter().enumerate().filter(|(_, input)| **input == output) {
            user.set_input(index, one);
        }
    }
    if !output.users().is_empty() {
        let everywhere =
            map_from_exprs(context, full.shape.len(), 0, &vec![AffineExpression::Constant(0); full.shape.len()]);
        let viewed = full.with_shape(full.shape.clone()).build();
        let viewed = insert_before(first, build_view(context, location, one, everywhere, viewed)).output();
        let copied = insert_before(first, build_copy(context, location, viewed, output.r#type()));
        output.replace_with(copied.output());
    }
    fill.erase();
}

/// Writes the layouts of all buffers.
fn assign_layouts(function: Op<'_>, program: &LayoutProgram<'_>, choice: &LayoutChoice) -> Result<(), ErrorReported> {
    let flow = &program.flow;
    let reject = |op: Op<'_>, message: String| error_at(codes::LAYOUT_CONFLICT, op, message).report();
    let mut layouts: Vec<Option<DeviceLayout>> = flow.buffers.iter().map(|buffer| buffer.given.clone()).collect();
    for (number, buffer) in flow.buffers.iter().enumerate().filter(|(number, _)| !program.is_written_whole(*number)) {
        if layouts[number].is_none() {
            let layout = buffer
                .layout(choice.buffer_sticks[number])
                .map_err(|error| reject(function, format!("buffer of {}: {error}", program.values[number].r#type())))?;
            layouts[number] = Some(layout);
        }
    }
    for (number, op) in flow.ops.iter().enumerate().filter(|(_, op)| op.kind != StickRule::Insert) {
        if layouts[op.result].is_some() {
            continue;
        }
        let stick = choice.buffer_sticks[op.result];
        let buffer = &flow.buffers[op.result];
        let reads = op.reads.iter().zip(&choice.relayouts[number]);
        let alike = reads.filter(|(read, way)| {
            let from = &flow.buffers[read.buffer];
            let is_same = way.buffer.is_none()
                && read.indices == op.written
                && from.sizes == buffer.sizes
                && from.format == buffer.format;
            op.kind == StickRule::Elementwise && is_same && choice.buffer_sticks[read.buffer] == stick
        });
        let of_alike = alike.filter_map(|(read, _)| layouts[read.buffer].clone()).next();
        let taken = of_alike.filter(|_| buffer.batch.is_empty());
        let layout = taken.map_or_else(|| buffer.layout(stick), Ok);
        layouts[op.result] = Some(layout.map_err(|error| reject(program.ops[number].op, error.to_string()))?);
    }
    for (value, layout) in program.values.iter().zip(&layouts) {
        if let Some(layout) = layout {
            set_layout(*value, layout);
        }
    }
    Ok(())
}

/// Writes the layout of a buffer, unless it has one. For a buffer that is written in slices, writes it to the value
/// after every slice.
fn set_layout(value: Value<'_>, layout: &DeviceLayout) {
    let Some(tensor) = DeviceTensor::from_type(value.r#type()) else { return };
    let Some(at) = value.def().or_else(|| value.as_block_arg().and_then(|(block, _)| block.parent_operation())) else {
        return;
    };
    if tensor.layout.is_none() {
        value.retype(tensor.with_layout(at.ctx(), layout, None));
    }
    for insert in value.users().into_iter().filter(|user| user.is(spyre::INSERT) && user.inputs()[1] == value) {
        set_layout(insert.output(), layout);
    }
}

fn function_results(function: Op<'_>) -> Vec<Value<'_>> {
    function.yielded()
}

/// Copies returned values that are not buffers of their own: arguments, constants, values returned before, and other
/// values under other indices.
///
/// A view that keeps the order of elements needs no copy: the strides of a device layout count host elements. Equal
/// copies that later passes merge are left to `spyre-copy-aliased-results`.
fn copy_results(function: Op<'_>) {
    let Some(terminator) = function.body_ops().pop() else { return };
    let mut taken = ValueMap::default();
    for (index, result) in terminator.inputs().into_iter().enumerate() {
        let buffer = base_buffer_of(result);
        let is_made = buffer.def().is_some_and(|def| !def.is(spyre::CONSTANT));
        if is_made && taken.get(buffer).is_none() && keeps_order(result) {
            taken.insert(buffer, ());
        } else {
            let Some(tensor) = TensorType::from_type(result.r#type()) else { continue };
            let whole = tensor.with_shape(tensor.shape.clone()).build();
            let step = (DerivationKind::Rewrite, PASS.argument);
            let copied = insert_copy(terminator, step, result, whole).output();
            terminator.set_input(index, copied);
        }
    }
}

/// Inserts copies of views that need one; returns false if there are none.
fn copy_returned_views(function: Op<'_>, buffer: Value<'_>) -> bool {
    let Some(terminator) = function.body_ops().pop() else { return false };
    let is_viewed =
        |result: &Value<'_>| *result != base_buffer_of(*result) && base_buffer_of(*result) == base_buffer_of(buffer);
    let results = terminator.inputs().into_iter().enumerate().filter(|(_, result)| is_viewed(result));
    let viewed: Vec<_> =
        results.filter_map(|(index, result)| Some((index, result, TensorType::from_type(result.r#type())?))).collect();
    for (index, result, tensor) in &viewed {
        let whole = tensor.with_shape(tensor.shape.clone()).build();
        let copied = insert_copy(terminator, (DerivationKind::Clone, PASS.argument), *result, whole).output();
        terminator.set_input(*index, copied);
    }
    !viewed.is_empty()
}

/// Returns whether a value, through its chain of views, has all elements of its buffer in their order.
fn keeps_order(value: Value<'_>) -> bool {
    let Some(viewed) = read_buffer_view(value) else {
        // A view that cannot be read as indices is copied; the error is reported for the copy.
        let has_layout = DeviceTensor::from_type(value.r#type()).is_some_and(|tensor| tensor.layout.is_some());
        return has_layout || value.def().is_none_or(|def| !def.is(spyre::VIEW));
    };
    let (Some(to), Some(from)) = (TensorType::from_type(value.r#type()), TensorType::from_type(viewed.value.r#type()))
    else {
        return false;
    };
    let num_elements = |shape: &[i64]| shape.iter().product::<i64>();
    let place = |indices: &[TensorIndex], shape: &[i64]| compute_row_major_position(indices, shape, &to.shape);
    let own = (0..to.shape.len()).map(|dim| TensorIndex::from_dim(dim, &to.shape).ok()).collect::<Option<Vec<_>>>();
    num_elements(&to.shape) == num_elements(&from.shape)
        && place(&viewed.indices, &from.shape) == own.and_then(|own| place(&own, &to.shape))
}

/// Returns the dimensions of the base buffer of a value that are split or merged in the value.
fn find_regrouped_dims(value: Value<'_>) -> Vec<usize> {
    let Some((viewed, to)) = read_buffer_view(value).zip(TensorType::from_type(value.r#type())) else {
        return Vec::new();
    };
    let Some(from) = TensorType::from_type(viewed.value.r#type()) else { return Vec::new() };
    // A dimension of the value that moves one dimension of the buffer and no other moves all of it.
    let is_kept = |dim: usize| match viewed.indices[dim].digits.as_slice() {
        [digit] => is_whole_dim(&viewed.indices[dim], from.shape[dim]) && to.shape[digit.dim] == from.shape[dim],
        _ => false,
    };
    (0..from.shape.len()).filter(|&dim| from.shape[dim] > 1 && !is_kept(dim)).collect()
}

/// Assigns a returned view the layout of its buffer. Other users read the base buffer, so the returned view is a
/// separate one.
fn share_layouts(function: Op<'_>) {
    let Some(terminator) = function.body_ops().pop() else { return };
    for (index, result) in terminator.inputs().into_iter().enumerate() {
        let Some(viewed) = read_buffer_view(result) else { continue };
        let (Some(tensor), Some(to)) =
            (DeviceTensor::from_type(viewed.value.r#type()), DeviceTensor::from_type(result.r#type()))
        else {
            continue;
        };
        let Some(layout) = tensor.layout else { continue };
        let exprs: Option<Vec<AffineExpression>> =
            viewed.indices.iter().map(|index| index.to_expr(&to.host.shape).ok()).collect();
        let Some(exprs) = exprs else { continue };
        let (context, at) = (terminator.ctx(), derived_location(terminator, DerivationKind::Rewrite, PASS.argument));
        let map = map_from_exprs(context, to.host.shape.len(), 0, &exprs);
        let own = insert_before(
            terminator,
            build_view(context, at, viewed.value, map, to.with_layout(context, &layout, None)),
        );
        terminator.set_input(index, own.output());
        if let Some(view) = result.def().filter(|_| result.users().is_empty()) {
            view.erase();
        }
    }
}
