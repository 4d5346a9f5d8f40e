//! `spyre-materialize-views`: copies views that no op can read directly.
//!
//! Reads shapes and views. A diagonal becomes a sum over a new dimension, of which a mask selects one element. A
//! reduction reads a copy of an operand that only repeats elements along a reduced dimension, since the device reduces
//! dimensions that the operand has. A matmul reads a copy if its left operand lacks a dimension of the result, or if
//! its operands lack K. Rows that are read as rows of another length are flattened in between.

use super::insert_copies::insert_relayout_copy;
use super::regroup_views::{copy_strides, copy_whole_rows, copy_whole_rows_of_results, flatten_rows, merge_view_chain};
use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{
        BufferView, ComputeOp, DeviceTensor, build_constant, build_pointwise, build_reduce, build_view, format_of,
        read_buffer_view,
    },
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, ScalarType, TensorType, Value, ValueExt,
        ValueLike, dense_attribute, derived_location, error_at, insert_before, map_from_exprs,
    },
};
use machine::Family;
use program::{
    affine::AffineExpression,
    layout::{DeviceLayout, DiagonalAccess, TensorIndex, covers_dim, find_diagonal, is_index_list, is_whole_dim},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-materialize-views", run };

/// Maximum number of elements of a mask: 8 MiB of f16 for the diagonal of 2048 rows.
const MAX_MASK_ELEMENTS: i64 = 1 << 22;

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    mask_all_diagonals(module)?;
    for op in module.nested().into_iter().filter(|op| op.is(spyre::VIEW)) {
        merge_view_chain(op);
    }
    // This loop terminates, because each round leaves fewer divided sums.
    while module.nested().into_iter().filter(|op| op.is(spyre::VIEW) && flatten_rows(*op)).count() > 0 {}
    // Rows of another length may have been a diagonal.
    mask_all_diagonals(module)?;
    for compute in ComputeOp::collect_in(module) {
        complete_operands(compute).map_err(|message| error_at(codes::LAYOUT_VIEW, compute.op, message).report())?;
    }
    // These include the copies that were inserted above.
    for compute in ComputeOp::collect_in(module) {
        copy_whole_rows(compute);
    }
    module.nested().into_iter().filter(|op| op.is("func.return")).for_each(copy_whole_rows_of_results);
    let reads = |op: &Op<'_>| {
        op.is("func.return") || ComputeOp::from_op(*op).is_some_and(|compute| compute.family() != Family::Gather)
    };
    for op in module.nested().into_iter().filter(reads) {
        copy_strides(op);
    }
    Ok(())
}

fn mask_all_diagonals(module: Op<'_>) -> Result<(), ErrorReported> {
    for op in module.nested().into_iter().filter(|op| op.is(spyre::VIEW)) {
        mask_diagonals(op).map_err(|message| error_at(codes::LAYOUT_VIEW, op, message).report())?;
    }
    Ok(())
}

/// Replaces a view of a diagonal; several diagonals are replaced one after the other.
fn mask_diagonals(op: Op<'_>) -> Result<(), String> {
    let mut viewed_by = Some(op);
    while let Some(op) = viewed_by.take() {
        let Some((seen, found)) =
            read_buffer_view(op.output()).and_then(|seen| find_diagonal(&seen.indices).map(|found| (seen, found)))
        else {
            break;
        };
        let MaskedDiagonal { value, all } = make_masked_diagonal(op, &seen, found)?;
        op.output().replace_with(value);
        op.erase();
        viewed_by = all.def();
    }
    Ok(())
}

/// Diagonal as a sum.
struct MaskedDiagonal<'c> {
    value: Value<'c>,
    /// View of all elements from which the mask selects.
    all: Value<'c>,
}

/// Creates the elements of a diagonal: along the second of its dimensions, all are read and all but one are replaced by
/// 0.
fn make_masked_diagonal<'c>(
    op: Op<'c>,
    seen: &BufferView<'c>,
    found: DiagonalAccess,
) -> Result<MaskedDiagonal<'c>, String> {
    let tensor = TensorType::from_type(op.output().r#type()).ok_or("is no tensor of static shape")?;
    let (rank, size) = (tensor.shape.len(), tensor.shape[found.dim]);
    let is_free = |after: &usize| is_whole_dim(&seen.indices[*after], size);
    let free = [found.second, found.first].into_iter().find(is_free);
    let is_float = ScalarType::from_type(tensor.element).is_float();
    let Some(free) = free.filter(|_| is_float && size.saturating_mul(size) <= MAX_MASK_ELEMENTS) else {
        return Err(format!(
            "reads a diagonal: dimension {} indexes dimensions {} and {} of '{}'; diagonals are supported for complete dimensions, \
             float types and at most {} elements",
            found.dim,
            found.first,
            found.second,
            seen.value.r#type(),
            MAX_MASK_ELEMENTS.isqrt()
        ));
    };
    let (context, at) = (op.ctx(), derived_location(op, DerivationKind::Clone, PASS.argument));
    let typed = |shape: Vec<i64>| tensor.with_shape(shape).build();
    let show = |value: Value<'c>, num_dims: usize, exprs: &[AffineExpression], shape: Vec<i64>| {
        let map = map_from_exprs(context, num_dims, 0, exprs);
        insert_before(op, build_view(context, at, value, map, typed(shape))).output()
    };
    let mut exprs = seen
        .indices
        .iter()
        .map(|index| index.to_expr(&tensor.shape))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    let offset = AffineExpression::Constant(seen.indices[free].offset);
    exprs[free] = AffineExpression::Add(Box::new(AffineExpression::Dim(rank)), Box::new(offset));
    let square = [tensor.shape.clone(), vec![size]].concat();
    let all = show(seen.viewed, rank + 1, &exprs, square.clone());
    let ones: Vec<f64> = (0..size * size).map(|position| if position % (size + 1) == 0 { 1.0 } else { 0.0 }).collect();
    let mask = insert_before(
        op,
        build_constant(context, at, dense_attribute(typed(vec![size, size]), &ones), typed(vec![size, size])),
    )
    .output();
    let of_mask = (0..=rank).map(|dim| if dim == found.dim || dim == rank { size } else { 1 }).collect();
    let mask = show(mask, rank + 1, &[AffineExpression::Dim(found.dim), AffineExpression::Dim(rank)], of_mask);
    let one = typed(vec![1; rank + 1]);
    let zero = insert_before(op, build_constant(context, at, dense_attribute(one, &[0.0]), one)).output();
    let chosen =
        insert_before(op, build_pointwise(context, at, "where3", &[mask, all, zero], &[], typed(square))).output();
    let summed = [tensor.shape.clone(), vec![1]].concat();
    let last = i64::try_from(rank).map_err(|error| error.to_string())?;
    let sum = insert_before(op, build_reduce(context, at, "sum", chosen, &[last], &[], typed(summed))).output();
    let exprs: Vec<AffineExpression> =
        (0..rank).map(AffineExpression::Dim).chain([AffineExpression::Constant(0)]).collect();
    Ok(MaskedDiagonal { value: show(sum, rank, &exprs, tensor.shape.clone()), all })
}

/// Makes an op read operands that have all dimensions that it needs.
fn complete_operands(compute: ComputeOp<'_>) -> Result<(), String> {
    let ranges = compute.iteration_space();
    let num_outputs = ranges.len() - compute.num_reduced_dims();
    match compute.family() {
        Family::Reduce => copy_unless_indexed(compute, 0, &(num_outputs..ranges.len()).collect::<Vec<_>>(), &ranges),
        Family::Matmul => {
            let (n, k) = (num_outputs - 1, num_outputs);
            if ranges[n] == 1 {
                return Err(codes::LAYOUT_COLUMN.format(
                    "expected a matmul with more than one result column, found one, which does not fill a stick; multiply the transposed \
                     tensors, so that the result has one row",
                ));
            }
            if ranges[k] == 1 {
                return Err(codes::LAYOUT_COLUMN.format(
                    "expected a matmul that sums more than one element, found one; multiply the tensors elementwise, with 'spyre.pointwise \
                     mul'",
                ));
            }
            let of_left: Vec<usize> = (0..ranges.len()).filter(|&dim| dim != n).collect();
            copy_unless_indexed(compute, 0, &of_left, &ranges)?;
            copy_unless_indexed(compute, 1, &[n, k], &ranges)
        }
        Family::Gather => copy_scattered_indices(compute),
        Family::Pointwise | Family::Copy => Ok(()),
    }
}

/// Copies index tensors that a gather cannot read: it reads indices one after the other, from the beginning of a stick
/// on. Examples are a column of rows of indices, every second index, or a slice that begins inside a stick, whose
/// address would be that of the stick.
fn copy_scattered_indices(compute: ComputeOp<'_>) -> Result<(), String> {
    let views = compute.buffer_views()?;
    let seen = &views[1];
    let sizes = seen.tensor.buffer_shape.as_ref().unwrap_or(&seen.tensor.host.shape);
    let (op, input) = (compute.op, compute.op.inputs()[1]);
    let list = DeviceTensor::from_type(input.r#type()).ok_or("has indices that are no tensor of static shape")?;
    let format = format_of(list.host.element).ok_or("expected indices of a device format; convert them to i32")?;
    if is_index_list(&seen.indices, sizes, &compute.iteration_space(), format.elements_per_stick()) {
        return Ok(());
    }
    let layout = DeviceLayout::row_major(&list.host.shape, format).map_err(|error| error.to_string())?;
    let list = list.with_layout(op.ctx(), &layout, None);
    op.set_input(1, insert_relayout_copy(op, (DerivationKind::Clone, PASS.argument), input, list).output());
    Ok(())
}

fn copy_unless_indexed(compute: ComputeOp<'_>, operand: usize, dims: &[usize], ranges: &[i64]) -> Result<(), String> {
    let views = compute.buffer_views()?;
    let indices: &[TensorIndex] = &views[operand].indices;
    if dims.iter().all(|&dim| covers_dim(indices, dim, ranges[dim])) { Ok(()) } else { copy_operand(compute, operand) }
}

/// Makes the op read a copy of an operand.
fn copy_operand(compute: ComputeOp<'_>, operand: usize) -> Result<(), String> {
    let op = compute.op;
    let input = op.inputs()[operand];
    let tensor = TensorType::from_type(input.r#type()).ok_or("an operand is no tensor of static shape")?;
    let whole = tensor.with_shape(tensor.shape.clone()).build();
    op.set_input(operand, insert_relayout_copy(op, (DerivationKind::Clone, PASS.argument), input, whole).output());
    Ok(())
}
