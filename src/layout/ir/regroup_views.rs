//! `spyre-materialize-views`, `spyre-propagate-layouts`: copies for views that split dimensions inside a stick.

use super::insert_copies::{LAYOUT_PASS, insert_relayout_copy};
use crate::{
    dialect::{
        ComputeOp, build_view,
        ods::{attr, spyre},
        read_buffer_view,
    },
    mlir::{
        DerivationKind, Op, OpExt, ScalarType, TensorType, Value, ValueExt, ValueLike, insert_before, map_from_exprs,
        map_of, map_results,
    },
};
use machine::Family;
use program::{
    affine::AffineExpression,
    layout::{
        IndexError, OperandView, RegroupedCopy, TensorIndex, build_flattened_copy, choose_unsplit_dim,
        drop_largest_stride, merge_dims, merge_first_two_dims, merge_neighboring_digits, pad_to_complete_rows,
        split_into_digits, split_iteration,
    },
};

/// Maximum number of dimensions of a copy; with one more for the stick, an op can iterate over no more.
const MAX_COPY_DIMS: usize = 6;

/// Makes a view of a view read the operand of the inner view, if no op can read it through both: in the composition,
/// the index of a row list is one number.
pub(super) fn merge_view_chain(op: Op<'_>) {
    let Some((source, through, to)) = compose_with_inner_view(op) else { return };
    if through.iter().any(|expr| TensorIndex::from_expr(expr, &to.shape).is_err()) {
        replace_view(op, insert_view(op, source, &through, &to));
    }
}

/// Composes a view with the view that it reads. Returns the operand of the inner view, the composed indices, and the
/// result type. Returns `None` if the operand is not a view.
fn compose_with_inner_view(op: Op<'_>) -> Option<(Value<'_>, Vec<AffineExpression>, TensorType<'_>)> {
    let inner = op.inputs()[0].def().filter(|def| def.is(spyre::VIEW))?;
    let ((to, _, outer), (_, _, exprs)) = (parse_view(op)?, parse_view(inner)?);
    let through = exprs.iter().map(|expr| expr.with_dims(&|dim| outer[dim].clone())).collect();
    Some((inner.inputs()[0], through, to))
}

/// Replaces a view that reads rows as rows of another length; returns whether it did. The new view reads a copy in
/// which the rows are flat, and its result is copied too, so that all ops can read it. Both copies may in turn read
/// rows of another length, but of fewer numbers.
pub(super) fn flatten_rows(op: Op<'_>) -> bool {
    let Some((to, from, exprs)) = parse_view(op) else { return false };
    // Dimensions of size 1 count only if the op has few dimensions left.
    let (read_dims, dims) = (select_copy_dims(&from.shape), select_copy_dims(&to.shape));
    let sizes: Vec<i64> = read_dims.iter().map(|&dim| from.shape[dim]).collect();
    let exprs: Vec<AffineExpression> = read_dims.iter().map(|&dim| exprs[dim].clone()).collect();
    let Some(found) = build_flattened_copy(&exprs, &sizes, &to.shape) else { return false };
    let is_alone = found.copy.shape.iter().rev().skip(1).product::<i64>() == 1;
    if found.copy.shape.len().max(dims.len()) + usize::from(is_alone) > MAX_COPY_DIMS {
        return false;
    }
    let (source, from) = drop_unit_dims(op, op.inputs()[0], from, &read_dims);
    if is_alone && read_dims.len() == MAX_COPY_DIMS {
        // Merging the first two dimensions leaves a dimension for the sticks.
        let merged = merge_first_two_dims(&exprs, &sizes);
        let copy = insert_regrouped_copy(op, source, &merged, &from);
        replace_view(op, insert_view(op, copy, &merged.read, &to));
        return true;
    }
    let copies: Vec<RegroupedCopy> = [found.copy].into_iter().chain(found.part).collect();
    let place = |dim: usize| index_among(&dims, dim);
    let read =
        copies.last().map(|copy| copy.read.iter().map(|expr| expr.with_dims(&place)).collect()).unwrap_or_default();
    let shape = dims.iter().map(|&dim| to.shape[dim]).collect();
    let whole = RegroupedCopy { from: read, shape, read: dims.iter().copied().map(AffineExpression::Dim).collect() };
    if !is_alone {
        let flat = copies.iter().fold(source, |source, copy| insert_regrouped_copy(op, source, copy, &from));
        let copy = insert_regrouped_copy(op, flat, &whole, &to);
        replace_view(op, if whole.shape == to.shape { copy } else { insert_view(op, copy, &whole.read, &to) });
        return true;
    }
    // The sticks run along an existing dimension, up to the last element that is read.
    let source = insert_double_copy(op, source, &from);
    let flat = copies
        .into_iter()
        .map(shift_for_double_copy)
        .fold(source, |source, copy| insert_regrouped_copy(op, source, &copy, &from));
    let whole = shift_for_double_copy(whole);
    let copy = insert_regrouped_copy(op, flat, &whole, &to);
    replace_view(op, insert_view(op, copy, &whole.read, &to));
    true
}

/// Returns the dimensions of a copy of a tensor of these sizes: all if an op can iterate over them, otherwise those
/// larger than 1.
fn select_copy_dims(sizes: &[i64]) -> Vec<usize> {
    (0..sizes.len()).filter(|&dim| sizes.len() < MAX_COPY_DIMS || sizes[dim] > 1).collect()
}

/// Replaces the views of an op that split one of its dimensions without dividing it: complete rows are copied, and the
/// view reads some of them.
pub(super) fn copy_whole_rows(compute: ComputeOp<'_>) {
    // Views that cannot be read at all are rejected by a later pass.
    let (Ok(views), ranges) = (compute.buffer_views(), compute.iteration_space()) else { return };
    let seen = views.iter().map(|view| OperandView { sizes: &view.tensor.host.shape, indices: &view.indices });
    if compute.family() == Family::Gather || !splits_dim_unevenly(&ranges, &seen.collect::<Vec<_>>()) {
        return;
    }
    // One view may be several operands.
    let mut ops: Vec<Op<'_>> = Vec::new();
    for op in compute.op.inputs().into_iter().filter_map(ValueExt::def).filter(|def| def.is(spyre::VIEW)) {
        if !ops.contains(&op) {
            ops.push(op);
        }
    }
    ops.into_iter().for_each(copy_rows_of_view);
}

/// Replaces returned views that split a dimension without dividing it, as [`copy_whole_rows`] does: a returned view is
/// copied.
pub(super) fn copy_whole_rows_of_results(terminator: Op<'_>) {
    for position in 0..terminator.inputs().len() {
        let value = terminator.inputs()[position];
        let Some((to, seen)) = numeric_tensor(value).zip(read_buffer_view(value)) else { continue };
        let Some((from, op)) = numeric_tensor(seen.value).zip(value.def()) else { continue };
        if splits_dim_unevenly(&to.shape, &[OperandView { sizes: &from.shape, indices: &seen.indices }]) {
            copy_rows_of_view(op);
        }
    }
}

/// Returns whether views split a dimension of the iteration, of sizes `ranges`, at a number that does not divide it.
fn splits_dim_unevenly(ranges: &[i64], views: &[OperandView<'_>]) -> bool {
    matches!(split_iteration(ranges, views), Err(IndexError::CutRange { .. }))
}

/// Replaces a view by one of a copy of complete rows, if there are such rows.
fn copy_rows_of_view(op: Op<'_>) {
    let mut op = op;
    while let Some((source, through, to)) = compose_with_inner_view(op) {
        let viewed = insert_view(op, source, &through, &to);
        replace_view(op, viewed);
        let Some(def) = viewed.def() else { return };
        op = def;
    }
    let Some((to, from, exprs)) = parse_view(op) else { return };
    let Some(found) = pad_to_complete_rows(&exprs, &from.shape, &to.shape) else { return };
    let whole = insert_regrouped_copy(op, op.inputs()[0], &found, &from);
    replace_view(op, insert_view(op, whole, &found.read, &to));
}

/// Replaces the views of an op that read more strided dimensions than an op can iterate over, by one copy per
/// dimension.
pub(super) fn copy_strides(op: Op<'_>) {
    for value in op.inputs() {
        let Some((to, mut seen)) = numeric_tensor(value).zip(read_buffer_view(value)) else { continue };
        let mut read = None;
        while let Some(from) = numeric_tensor(seen.value)
            && let Some(copy) = drop_largest_stride(&seen.indices, &from.shape, &to.shape, MAX_COPY_DIMS)
        {
            seen.value = insert_regrouped_copy(op, seen.value, &copy, &from);
            seen.indices = copy
                .read
                .iter()
                .map(|expr| TensorIndex::from_expr(expr, &to.shape))
                .collect::<Result<_, _>>()
                .expect("expressions of indices are indices");
            read = Some(copy.read);
        }
        if let Some(read) = read {
            replace_operand(op, value, insert_view(op, seen.value, &read, &to));
        }
    }
}

/// Returns the result type, the operand type and the index expressions of a view.
fn parse_view(op: Op<'_>) -> Option<(TensorType<'_>, TensorType<'_>, Vec<AffineExpression>)> {
    let exprs = map_results(op.attr("map").and_then(map_of)?);
    Some((numeric_tensor(op.output())?, numeric_tensor(op.inputs()[0])?, exprs))
}

fn replace_view<'c>(op: Op<'c>, by: Value<'c>) {
    op.output().replace_with(by);
    op.erase();
}

/// Makes an op read operand `operand` through a copy that splits dimensions, or that has one more dimension for the
/// sticks; returns false if neither copy is new.
pub(super) fn split_operand_dims(compute: ComputeOp<'_>, operand: usize) -> bool {
    let Some(value) = compute.read_operands().into_iter().nth(operand) else { return false };
    let Some(to) = numeric_tensor(value) else { return false };
    let own = || (0..to.shape.len()).map(|dim| TensorIndex::from_dim(dim, &to.shape).ok()).collect::<Option<Vec<_>>>();
    let seen = read_buffer_view(value)
        .map(|seen| (seen.value, seen.indices))
        .or_else(|| own().map(|indices| (value, indices)));
    let Some((source, indices)) = seen else { return false };
    let Some(from) = numeric_tensor(source) else { return false };
    let op = compute.op;
    let dims = select_copy_dims(&from.shape);
    let indices: Vec<TensorIndex> = dims.iter().map(|&dim| indices[dim].clone()).collect();
    let (mut source, from) = drop_unit_dims(op, source, from, &dims);
    let apart = choose_unsplit_dim(&indices, &from.shape, &to.shape)
        .map(|kept| split_into_digits(&indices, &from.shape, kept, &to.shape));
    // A copy with equal dimensions makes no progress, nor does the op, if it is a copy itself.
    let is_itself = |apart: &RegroupedCopy| apart.shape == to.shape && is_for_layout(op);
    let is_short = |copy: &RegroupedCopy| copy.shape.len() <= MAX_COPY_DIMS;
    let copy = match apart.filter(|apart| apart.shape != from.shape && !is_itself(apart)) {
        Some(apart) if is_short(&apart) => Some(apart),
        Some(_) => merge_neighboring_digits(&indices, &from.shape, &to.shape, MAX_COPY_DIMS),
        None if is_double_copy(source, &indices, &from.shape) || from.shape.len() >= MAX_COPY_DIMS => None,
        // Everything is read from two copies, of which the second only fills the sticks: one element per stick becomes
        // two, and lanes become sticks.
        None => Some(shift_for_double_copy(split_into_digits(&indices, &from.shape, from.shape.len(), &to.shape)))
            .filter(is_short)
            .inspect(|_| {
                source = insert_double_copy(op, source, &from);
            }),
    };
    let Some(copy) = copy.or_else(|| merge_dims(&indices, &from.shape, &to.shape)) else { return false };
    let apart = insert_regrouped_copy(op, source, &copy, &from);
    replace_operand(op, value, insert_view(op, apart, &copy.read, &to));
    true
}

/// Returns the view of a tensor that has only the dimensions `kept`, and its type. The other dimensions have size 1.
/// The result is the tensor itself if all are kept.
fn drop_unit_dims<'c>(
    op: Op<'c>,
    value: Value<'c>,
    tensor: TensorType<'c>,
    kept: &[usize],
) -> (Value<'c>, TensorType<'c>) {
    if kept.len() == tensor.shape.len() {
        return (value, tensor);
    }
    let exprs: Vec<AffineExpression> = (0..tensor.shape.len()).map(|dim| index_among(kept, dim)).collect();
    let viewed = tensor.with_shape(kept.iter().map(|&dim| tensor.shape[dim]).collect());
    (insert_view(op, value, &exprs, &viewed), viewed)
}

/// Returns the index of dimension `dim` among the dimensions `kept`: 0 for any other dimension, which has size 1.
fn index_among(kept: &[usize], dim: usize) -> AffineExpression {
    kept.iter().position(|&own| own == dim).map_or(AffineExpression::Constant(0), AffineExpression::Dim)
}

/// Replaces the operands of an op that are `value` by `by`.
pub(super) fn replace_operand<'c>(op: Op<'c>, value: Value<'c>, by: Value<'c>) {
    for (position, input) in op.inputs().into_iter().enumerate() {
        if input == value {
            op.set_input(position, by);
        }
    }
}

/// Returns whether an op is a copy that a pass inserted for its layout.
fn is_for_layout(op: Op<'_>) -> bool {
    op.is(spyre::COPY) && op.attr(attr::SPYRE_FOR_LAYOUT).is_some()
}

/// Returns whether a value is already a copy with a dimension for the sticks.
fn is_double_copy(value: Value<'_>, indices: &[TensorIndex], shape: &[i64]) -> bool {
    value.def().is_some_and(is_for_layout) && shape[0] == 2 && indices[0] == TensorIndex::constant(0)
}

pub(super) fn numeric_tensor(value: Value<'_>) -> Option<TensorType<'_>> {
    TensorType::from_type(value.r#type()).filter(|tensor| {
        let element = ScalarType::from_type(tensor.element);
        element.is_float() || matches!(element, ScalarType::Integer(_))
    })
}

/// Inserts the copy of a tensor before an op.
pub(super) fn insert_regrouped_copy<'c>(
    op: Op<'c>,
    source: Value<'c>,
    copy: &RegroupedCopy,
    from: &TensorType<'c>,
) -> Value<'c> {
    let typed = from.with_shape(copy.shape.clone()).build();
    let map = map_from_exprs(op.ctx(), copy.shape.len(), 0, &copy.from);
    let viewed = insert_before(op, build_view(op.ctx(), op.loc(), source, map, typed)).output();
    insert_relayout_copy(op, (DerivationKind::Rewrite, LAYOUT_PASS), viewed, typed).output()
}

pub(super) fn insert_view<'c>(
    op: Op<'c>,
    value: Value<'c>,
    exprs: &[AffineExpression],
    to: &TensorType<'c>,
) -> Value<'c> {
    let map = map_from_exprs(op.ctx(), to.shape.len(), 0, exprs);
    insert_before(op, build_view(op.ctx(), op.loc(), value, map, to.with_shape(to.shape.clone()).build())).output()
}

/// Inserts two consecutive copies of a tensor.
fn insert_double_copy<'c>(op: Op<'c>, value: Value<'c>, tensor: &TensorType<'c>) -> Value<'c> {
    let shape = [vec![2], tensor.shape.clone()].concat();
    let from = (1..shape.len()).map(AffineExpression::Dim).collect();
    insert_regrouped_copy(op, value, &RegroupedCopy { from, shape, read: Vec::new() }, tensor)
}

/// Returns the regrouping `copy` for a tensor that was doubled, which has one more leading dimension of size 2.
fn shift_for_double_copy(copy: RegroupedCopy) -> RegroupedCopy {
    let moved = |expr: &AffineExpression| expr.with_dims(&|dim| AffineExpression::Dim(dim + 1));
    RegroupedCopy {
        from: [AffineExpression::Dim(0)].into_iter().chain(copy.from.iter().map(moved)).collect(),
        shape: [vec![2], copy.shape].concat(),
        read: [AffineExpression::Constant(0)].into_iter().chain(copy.read).collect(),
    }
}
