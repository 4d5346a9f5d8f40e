//! `spyre-split-views`: makes every op read its buffers by plain indices.
//!
//! Reads layouts and views. If a view splits or merges dimensions (heads and columns), a `spyre.view` with the device
//! layout of the same bytes splits the buffer's dimensions. The op then iterates over the parts of its dimensions, and
//! its result is viewed under its former dimensions. The remaining views permute, shift, add and drop dimensions. No
//! data moves, except that a slice of a buffer is copied first if the buffer's dimensions cannot be split as required.

use super::insert_copies::insert_relayout_copy;
use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{
        BufferView, ComputeOp, DeviceTensor, build_view, collect_users_through_views, plain_view_indices, rebuild_op,
    },
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, Value, ValueExt, ValueLike, error_at,
        insert_after, insert_before, map_from_exprs,
    },
};
use machine::Family;
use machine::MAX_MATMUL_DIMS_PER_ROLE;
use program::{
    affine::AffineExpression,
    layout::{
        DeviceLayout, DimOrder, HostDimMapping, HostTensor, IterationSplit, OperandView, SplitOperand, TensorIndex,
        split_iteration,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-split-views", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for compute in ComputeOp::collect_in(module) {
        split_op(compute).map_err(|message| error_at(codes::LAYOUT_VIEW, compute.op, message).report())?;
    }
    module.nested().into_iter().filter(|op| op.is(spyre::VIEW)).for_each(mark_window);
    Ok(())
}

/// Marks a view of the beginning of an argument as a window of it: a loop that reads tiles of the view then has their
/// layout, and can keep them in LX.
fn mark_window(shows: Op<'_>) {
    let (input, output) = (shows.inputs()[0], shows.output());
    let (Some(whole), Some(part)) = (DeviceTensor::from_type(input.r#type()), DeviceTensor::from_type(output.r#type()))
    else {
        return;
    };
    let (Some(layout), Ok(host)) = (&whole.layout, whole.buffer_tensor()) else { return };
    let is_argument = input.def().is_none() && shows.parent().is_some_and(|around| around.is("func.func"));
    let is_beginning = plain_view_indices(shows).is_some_and(|indices| {
        // A view may repeat an element along a dimension of size 1.
        let intervals = |(dim, &index): (usize, &(Option<usize>, i64))| {
            index == (Some(dim), 0) || index == (None, 0) && part.host.shape[dim] == 1
        };
        indices.len() == part.host.shape.len() && indices.iter().enumerate().all(intervals)
    });
    let is_part = part.layout.is_none() && whole.buffer_shape.is_none() && part.host.shape != whole.host.shape;
    let is_read_as_numbers = collect_users_through_views(output).iter().all(|reader| !reader.is(spyre::GATHER));
    if is_argument
        && is_beginning
        && is_part
        && is_read_as_numbers
        && layout.to_tile_layout(&host, &part.host.shape).is_ok()
    {
        output.retype(part.with_layout(shows.ctx(), layout, Some(&whole.host.shape)));
    }
}

fn split_op(compute: ComputeOp<'_>) -> Result<(), String> {
    let views = compute.buffer_views()?;
    let ranges = compute.iteration_space();
    // Views that cancel each other are plain in combination, but later passes read them one by one.
    let is_read = || views.iter().all(|view| is_plainly_indexed(view, &ranges)) && compute.accesses().is_ok();
    if compute.family() == Family::Gather || is_read() {
        return Ok(());
    }
    let hosts = views
        .iter()
        .map(|view| view.tensor.buffer_tensor().map_err(|error| error.to_string()))
        .collect::<Result<Vec<_>, _>>()?;
    let seen: Vec<OperandView<'_>> = views
        .iter()
        .zip(&hosts)
        .map(|(view, host)| OperandView { sizes: host.sizes(), indices: &view.indices })
        .collect();
    let split = match split_iteration(&ranges, &seen) {
        Ok(split) => split,
        Err(error) => {
            if let Some(operand) = error.partially_read_operand()
                && let Some(copied) = copy_slice(compute, operand, &views, &ranges)
            {
                split_op(copied)?;
                return split_op(compute);
            }
            return Err(codes::LAYOUT_VIEW
                .format(format_args!("reads views that cannot be split together: {error}; copy one of them")));
        }
    };
    check_rows(compute, &split)?;
    let splitter = ViewSplitter { compute, parts: split.parts };
    let is_cut = splitter.parts.iter().any(|parts| parts.len() > 1);
    let num_inputs = views.len() - 1;
    let mut inputs = Vec::with_capacity(num_inputs);
    for (operand, ((view, host), split)) in views.iter().zip(&hosts).zip(&split.operands).take(num_inputs).enumerate() {
        inputs.push(splitter.split_input(operand, view, host, split)?);
    }
    if !is_cut {
        inputs.into_iter().enumerate().for_each(|(operand, value)| compute.op.set_input(operand, value));
        return Ok(());
    }
    splitter.rebuild_op(&inputs, &views[num_inputs], &hosts[num_inputs], &split.operands[num_inputs])
}

/// Copies the slice of a larger buffer that an op reads into a separate buffer with the same sticks. `None` if the op
/// reads the complete buffer, or in other steps than its own dimensions.
fn copy_slice<'c>(
    compute: ComputeOp<'c>,
    operand: usize,
    views: &[BufferView<'c>],
    ranges: &[i64],
) -> Option<ComputeOp<'c>> {
    let (op, seen) = (compute.op, &views[operand]);
    let is_part = operand + 1 < views.len() && seen.tensor.buffer_shape.is_none() && is_plainly_indexed(seen, ranges);
    let (value, layout) = (*op.inputs().get(operand).filter(|_| is_part)?, seen.tensor.layout.as_ref()?);
    let places = layout.host_dims(&seen.tensor.buffer_tensor().ok()?).ok()?;
    let in_sticks = places.iter().position(|place| matches!(place, HostDimMapping::Stick { .. }))?;
    let [digit] = seen.indices[in_sticks].digits.as_slice() else { return None };
    let stick = compute.operand_dims(operand).iter().position(|dim| *dim == Some(digit.dim))?;
    let part = DeviceTensor::from_type(value.r#type())?;
    if part.host.shape.iter().product::<i64>() == seen.tensor.host.shape.iter().product::<i64>() {
        return None;
    }
    let host = HostTensor::row_major(&part.host.shape).ok()?;
    let layout = DeviceLayout::new(&host, layout.format(), &DimOrder::with_stick(host.sizes(), stick)).ok()?;
    let copied = insert_relayout_copy(
        op,
        (DerivationKind::Rewrite, PASS.argument),
        value,
        part.with_layout(op.ctx(), &layout, None),
    );
    op.set_input(operand, copied.output());
    ComputeOp::from_op(copied)
}

/// Checks the rows of a matmul. The device has dimensions for the rows of each operand alone, but the operands together
/// may split them into more.
fn check_rows(compute: ComputeOp<'_>, split: &IterationSplit) -> Result<(), String> {
    if compute.family() != Family::Matmul {
        return Ok(());
    }
    let sizes = split.parts.concat();
    let moves = |operand: usize, part: usize| {
        split.operands[operand].indices.iter().any(|index| index.term.is_some_and(|term| term.dim == part))
    };
    let rows = 0..sizes.len().saturating_sub(2);
    let (shared, own): (Vec<usize>, Vec<usize>) =
        rows.filter(|&part| sizes[part] > 1).partition(|&part| moves(1, part));
    let most = shared.len().max(own.len());
    if most > MAX_MATMUL_DIMS_PER_ROLE {
        return Err(format!(
            "needs {most} row or batch dimensions, but a device matmul has at most {MAX_MATMUL_DIMS_PER_ROLE}: reshapes of its operands \
             split the rows \
             differently; remove a reshape"
        ));
    }
    Ok(())
}

/// Returns whether an operand is read by complete iteration dimensions and constants.
fn is_plainly_indexed(view: &BufferView<'_>, ranges: &[i64]) -> bool {
    let is_whole = |index: &TensorIndex| match index.digits.as_slice() {
        [] => true,
        [digit] => digit.divisor == 1 && digit.factor == 1 && digit.size == ranges[digit.dim],
        _ => false,
    };
    view.indices.iter().all(is_whole)
}

struct ViewSplitter<'c> {
    compute: ComputeOp<'c>,
    /// Sizes of the parts of each iteration dimension.
    parts: Vec<Vec<i64>>,
}

impl<'c> ViewSplitter<'c> {
    /// Returns the parts of an iteration dimension, by number.
    fn parts_of(&self, dim: usize) -> std::ops::Range<usize> {
        let first = self.parts[..dim].iter().map(Vec::len).sum::<usize>();
        first..first + self.parts[dim].len()
    }

    /// Returns an operand of the split op: the buffer with its dimensions split, in the op's own order of dimensions.
    fn split_input(
        &self,
        operand: usize,
        seen: &BufferView<'c>,
        host: &HostTensor,
        split: &SplitOperand,
    ) -> Result<Value<'c>, String> {
        let op = self.compute.op;
        let viewed = split_buffer(op, seen, host, split)?;
        let (dims, flat) = (self.operand_parts(operand), self.parts.concat());
        let position = |part: usize| dims.iter().position(|&other| other == Some(part));
        let mut exprs = Vec::with_capacity(split.indices.len());
        for coordinate in &split.indices {
            let moved = match coordinate.term {
                None => AffineExpression::Constant(coordinate.offset),
                Some(term) => {
                    let dim = position(term.dim).ok_or_else(|| {
                        format!("operand {operand} has an index along a part of a dimension that it does not have")
                    })?;
                    if coordinate.offset == 0 {
                        AffineExpression::Dim(dim)
                    } else {
                        AffineExpression::Add(
                            Box::new(AffineExpression::Dim(dim)),
                            Box::new(AffineExpression::Constant(coordinate.offset)),
                        )
                    }
                }
            };
            exprs.push(moved);
        }
        let moves =
            |part: usize| split.indices.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == part));
        let is_broadcast = matches!(self.compute.family(), Family::Pointwise);
        let size =
            |part: &Option<usize>| part.map_or(1, |part| if moves(part) || !is_broadcast { flat[part] } else { 1 });
        let shape: Vec<i64> = dims.iter().map(size).collect();
        let map = map_from_exprs(op.ctx(), shape.len(), 0, &exprs);
        let element = DeviceTensor::from_type(op.inputs()[operand].r#type()).ok_or("an operand is no tensor")?.host;
        Ok(insert_before(op, build_view(op.ctx(), op.loc(), viewed, map, element.with_shape(shape).build())).output())
    }

    /// Returns, for each dimension of an operand of the split op, the part that moves it; `None` for size 1.
    fn operand_parts(&self, operand: usize) -> Vec<Option<usize>> {
        let space = self.parts.len();
        let all = |dims: &[usize]| dims.iter().flat_map(|&dim| self.parts_of(dim)).map(Some).collect::<Vec<_>>();
        match self.compute.family() {
            Family::Matmul => {
                let (m, n, k) = (space - 3, space - 2, space - 1);
                let rows: Vec<usize> = (0..=m).collect();
                let mut dims = all(&rows);
                let row = dims.pop().flatten();
                // The outer parts of M come first, like batch dimensions along which the right operand is repeated.
                let last = if operand == 0 { vec![row, all(&[k])[0]] } else { vec![all(&[k])[0], all(&[n])[0]] };
                dims.extend(last);
                dims
            }
            Family::Reduce => {
                let dims = self.compute.operand_dims(operand);
                dims.into_iter().flat_map(|dim| dim.map_or_else(|| vec![None], |dim| all(&[dim]))).collect()
            }
            Family::Pointwise | Family::Copy | Family::Gather => all(&(0..space).collect::<Vec<_>>()),
        }
    }

    /// Creates the split op, and a view of its result under its former dimensions.
    fn rebuild_op(
        &self,
        inputs: &[Value<'c>],
        written: &BufferView<'c>,
        host: &HostTensor,
        split: &SplitOperand,
    ) -> Result<(), String> {
        let op = self.compute.op;
        let layout = written.tensor.layout.as_ref().ok_or_else(|| {
            codes::LAYOUT_MISSING.format(
                "has a result without a device \
         layout; run spyre-propagate-layouts first",
            )
        })?;
        let (layout, host_split) = layout.split(host, &split.factors).map_err(|error| error.to_string())?;
        let tensor = DeviceTensor {
            host: written.tensor.host.with_shape(host_split.sizes().to_vec()),
            layout: None,
            buffer_shape: None,
        };
        let output = tensor.with_layout(op.ctx(), &layout, None);
        let mut new = rebuild_op(op, inputs, output);
        if self.compute.family() == Family::Reduce {
            let reduced = self.reduced_dims();
            new = new.with_reduced(&reduced);
        }
        let new = insert_before(op, new.build());
        let exprs = join_exprs(&split.factors, true);
        let map = map_from_exprs(op.ctx(), host.rank(), 0, &exprs);
        let old = op.output();
        let viewed = insert_after(new, build_view(op.ctx(), op.loc(), new.output(), map, old.r#type())).output();
        old.replace_with(viewed);
        op.erase();
        Ok(())
    }

    /// Returns the reduced dimensions of the operand of the split op.
    fn reduced_dims(&self) -> Vec<i64> {
        let num_outputs = self.parts.len() - self.compute.num_reduced_dims();
        let reduced: Vec<usize> = (num_outputs..self.parts.len()).flat_map(|dim| self.parts_of(dim)).collect();
        let dims = self.operand_parts(0);
        (0_i64..)
            .zip(&dims)
            .filter(|(_, part)| part.is_some_and(|part| reduced.contains(&part)))
            .map(|(dim, _)| dim)
            .collect()
    }
}

/// Returns a view of a buffer with split dimensions over the same bytes.
fn split_buffer<'c>(
    op: Op<'c>,
    seen: &BufferView<'c>,
    host: &HostTensor,
    split: &SplitOperand,
) -> Result<Value<'c>, String> {
    let layout: &DeviceLayout = seen.tensor.layout.as_ref().ok_or_else(|| {
        codes::LAYOUT_MISSING.format(
            "has an operand without a device layout; run \
         spyre-propagate-layouts first",
        )
    })?;
    let buffer = seen.viewed;
    if split.factors.iter().all(|factors| factors.len() == 1) {
        return Ok(buffer);
    }
    if seen.tensor.buffer_shape.is_some() {
        return Err(codes::LAYOUT_VIEW
            .format("reads a tile through a reshape, which is not supported; reshape outside of the loop"));
    }
    let (layout, split_host) = layout.split(host, &split.factors).map_err(|error| {
        codes::LAYOUT_MISSING.format(format_args!(
            "cannot view a buffer with split dimensions: {error}; run spyre-insert-restickify first"
        ))
    })?;
    let tensor = DeviceTensor {
        host: seen.tensor.host.with_shape(split_host.sizes().to_vec()),
        layout: None,
        buffer_shape: None,
    };
    let map = map_from_exprs(op.ctx(), split_host.rank(), 0, &join_exprs(&split.factors, false));
    Ok(insert_before(op, build_view(op.ctx(), op.loc(), buffer, map, tensor.with_layout(op.ctx(), &layout, None)))
        .output())
}

/// Returns the index along each dimension in terms of its factors; if `apart`, the index along each factor in terms of
/// the dimensions.
fn join_exprs(factors: &[Vec<i64>], apart: bool) -> Vec<AffineExpression> {
    let mut exprs = Vec::new();
    let mut number = 0;
    for (dim, factors) in factors.iter().enumerate() {
        let mut sum: Option<AffineExpression> = None;
        for (position, &factor) in factors.iter().enumerate() {
            let stride: i64 = factors[position + 1..].iter().product();
            if apart {
                let mut index = AffineExpression::Dim(dim);
                if stride > 1 {
                    index = AffineExpression::FloorDiv(Box::new(index), Box::new(AffineExpression::Constant(stride)));
                }
                if position > 0 {
                    index = AffineExpression::Mod(Box::new(index), Box::new(AffineExpression::Constant(factor)));
                }
                exprs.push(index);
            } else {
                let own = AffineExpression::Dim(number);
                let term = if stride == 1 {
                    own
                } else {
                    AffineExpression::Mul(Box::new(own), Box::new(AffineExpression::Constant(stride)))
                };
                sum = Some(sum.map_or(term.clone(), |sum| AffineExpression::Add(Box::new(sum), Box::new(term))));
            }
            number += 1;
        }
        exprs.extend(sum);
    }
    exprs
}
