//! `spyre-propagate-layouts`: copies of windows that an op reads with steps that do not divide the buffer.

use super::insert_copies::{LAYOUT_PASS, insert_copy};
use super::regroup_views::{insert_regrouped_copy, insert_view, numeric_tensor, replace_operand};
use crate::dialect::ods::spyre;
use crate::{
    dialect::{ComputeOp, build_empty, build_insert, build_view, erase_unused, read_buffer_view},
    mlir::{DerivationKind, Op, OpExt, TensorType, Value, derived_location, insert_before, map_from_exprs},
};
use program::{
    affine::AffineExpression,
    layout::{ReadWindow, RegroupedCopy, split_uneven_runs},
};

/// Makes an op read operand `operand` from a copy of its window, or of the runs of elements that it reads; returns
/// false if the window is the complete buffer and the runs are its rows.
pub(super) fn copy_window(compute: ComputeOp<'_>, operand: usize) -> bool {
    let Some(value) = compute.read_operands().into_iter().nth(operand) else { return false };
    let Some((to, seen)) = numeric_tensor(value).zip(read_buffer_view(value)) else { return false };
    let Some(from) = numeric_tensor(seen.value) else { return false };
    let Some(window) = ReadWindow::from_indices(&seen.indices, &from.shape) else {
        let Some(runs) = split_uneven_runs(&seen.indices, &from.shape, &to.shape) else { return false };
        let copy = insert_regrouped_copy(compute.op, seen.value, &runs, &from);
        replace_operand(compute.op, value, insert_view(compute.op, copy, &runs.read, &to));
        return true;
    };
    let Ok(read) = window.read.iter().map(|index| index.to_expr(&to.shape)).collect::<Result<Vec<_>, _>>() else {
        return false;
    };
    let op = compute.op;
    let positions = window.first.iter().enumerate().map(|(dim, &first)| window_index(dim, first)).collect();
    let part = insert_regrouped_copy(
        op,
        seen.value,
        &RegroupedCopy { from: positions, shape: window.sizes.clone(), read: Vec::new() },
        &from,
    );
    let whole = copy_padded(op, part, &window, &from);
    replace_operand(op, value, insert_view(op, whole, &read, &to));
    true
}

/// Slices that inserts read through views, before other copies made them readable. If no other copy does, the slice is
/// copied as viewed: an op that computes a repeated vector can write it where an insert of the vector cannot.
#[derive(Default)]
pub(super) struct InsertedSlices<'c> {
    /// Inserts with their slices, until these are copied.
    parts: Vec<(Op<'c>, Option<Value<'c>>)>,
}

impl<'c> InsertedSlices<'c> {
    /// Records the slice of an insert that cannot be read. Other ops are not recorded.
    pub(super) fn record(&mut self, op: Op<'c>, operand: usize) {
        if operand == 0 && op.is(spyre::INSERT) && self.parts.iter().all(|(known, _)| *known != op) {
            self.parts.push((op, Some(op.inputs()[0])));
        }
    }

    /// Makes the last recorded insert read a copy of its slice; returns false if all of them do already. Erases the
    /// copies that were tried.
    pub(super) fn copy_last(&mut self) -> bool {
        let last = self.parts.iter_mut().rev().find_map(|(insert, part)| Some((*insert, part.take()?)));
        let Some((insert, part)) = last else { return false };
        let Some(tensor) = numeric_tensor(part) else { return false };
        let typed = tensor.with_shape(tensor.shape.clone()).build();
        let tried = insert.inputs()[0];
        insert.set_input(0, insert_copy(insert, (DerivationKind::Clone, LAYOUT_PASS), part, typed).output());
        erase_unused(vec![tried]);
        true
    }
}

/// Returns the index of a dimension in a window that begins at `first`.
pub(super) fn window_index(dim: usize, first: i64) -> AffineExpression {
    if first == 0 {
        AffineExpression::Dim(dim)
    } else {
        AffineExpression::Add(Box::new(AffineExpression::Dim(dim)), Box::new(AffineExpression::Constant(first)))
    }
}

/// Returns the copy of a window in a buffer of its padded sizes. The padding repeats the last elements, and no op reads
/// it.
fn copy_padded<'c>(op: Op<'c>, part: Value<'c>, window: &ReadWindow, from: &TensorType<'c>) -> Value<'c> {
    let (context, at) = (op.ctx(), derived_location(op, DerivationKind::Clone, LAYOUT_PASS));
    let typed = |sizes: &[i64]| from.with_shape(sizes.to_vec()).build();
    let (mut value, mut sizes) = (part, window.sizes.clone());
    for (dim, &padded) in window.padded.iter().enumerate().filter(|(dim, padded)| window.sizes[*dim] != **padded) {
        let (size, missing) = (sizes[dim], padded - sizes[dim]);
        let positions: Vec<AffineExpression> =
            (0..sizes.len()).map(|other| window_index(other, if other == dim { size - missing } else { 0 })).collect();
        let (mut last, mut start) = (sizes.clone(), vec![0; sizes.len()]);
        last[dim] = missing;
        let map = map_from_exprs(context, sizes.len(), 0, &positions);
        let last = insert_before(op, build_view(context, at, value, map, typed(&last))).output();
        sizes[dim] = padded;
        let buffer = insert_before(op, build_empty(context, at, typed(&sizes))).output();
        let written = insert_before(op, build_insert(context, at, value, buffer, &start)).output();
        start[dim] = size;
        value = insert_before(op, build_insert(context, at, last, written, &start)).output();
    }
    value
}
