//! `spyre-layout-gather-tables`: gathers from a table that is larger than a core can address.
//!
//! The columns of the table are read in windows of one stick. In a layout whose sticks are counted outside of the rows,
//! the rows of a window follow each other, so an index can address them, and a core addresses the window only.

use super::copy_windows::window_index;
use crate::dialect::ods::spyre;
use crate::{
    dialect::{
        ComputeOp, DeviceTensor, build_empty, build_gather, build_insert, build_view, format_of, strip_retyping_views,
    },
    mlir::{
        BlockLike, DerivationKind, Op, OpExt, TensorType, Value, ValueExt, ValueLike, derived_location, insert_before,
        map_from_exprs, shape_of,
    },
};
use program::AccessKind;
use program::{
    affine::AffineExpression,
    layout::{DeviceLayout, DimOrder, HostTensor},
};

/// Maximum number of windows; a gather that needs more is left as it is, and the span check rejects it.
const MAX_WINDOWS: i64 = 1_024;

/// Replaces a gather from an argument or constant of more than `limit` bytes by gathers from windows of its columns.
/// Leaves gathers with hints, and tables that another op gave a layout.
pub(super) fn split_table(compute: ComputeOp<'_>, limit: i64) {
    let AccessKind::Table(dim) = compute.operand_use(0) else { return };
    let Some(windows) = TableWindows::find(compute, dim, limit) else { return };
    let (op, context) = (compute.op, compute.op.ctx());
    let home = strip_retyping_views(op.inputs()[0]);
    let Some(tensor) = DeviceTensor::from_type(home.r#type()) else { return };
    home.retype(tensor.with_layout(context, &windows.layout, None));
    let Some(written) = windows.gather_windows(op, dim) else { return };
    op.output().replace_with(written);
    op.erase();
}

/// Windows of a table, each one stick of one of its rows of sticks.
struct TableWindows {
    /// Sizes of the table.
    shape: Vec<i64>,
    /// Dimension in the sticks.
    stick_dim: usize,
    /// Elements per stick.
    stick: i64,
    /// Layout of the table: the indexed dimension is next to the stick.
    layout: DeviceLayout,
}

impl TableWindows {
    /// Returns the windows of a table that is too large; `None` if it is not, or if windows do not help.
    fn find(compute: ComputeOp<'_>, dim: usize, limit: i64) -> Option<Self> {
        let has_hints = !compute.hints().is_empty() || !compute.work_div().is_empty();
        let table = compute.op.inputs()[0];
        let home = strip_retyping_views(table);
        let tensor = DeviceTensor::from_type(home.r#type()).filter(|tensor| tensor.layout.is_none())?;
        let shape = tensor.host.shape.clone();
        let format = format_of(DeviceTensor::from_type(table.r#type())?.host.element)?;
        let stick_dim = (0..shape.len()).rev().find(|&other| other != dim && shape[other] > 1)?;
        let whole = DeviceLayout::new_table(&shape, dim, Some(stick_dim), format).ok()?;
        let others = (0..shape.len()).filter(|&other| other != dim && other != stick_dim);
        let order: Vec<usize> = [dim].into_iter().chain(others).chain([stick_dim]).collect();
        let layout = DeviceLayout::new(&HostTensor::row_major(&shape).ok()?, format, &DimOrder::dense(&order)).ok()?;
        // The indexed dimension is outermost, and the last one is a stick.
        let num_windows = whole.device_size()[1..whole.rank() - 1].iter().product::<i64>();
        let is_split = !has_hints
            && is_argument_or_constant(home)
            && whole.bytes() > limit
            && num_windows <= MAX_WINDOWS
            && whole.bytes() / num_windows <= limit;
        is_split.then(|| Self { shape, stick_dim, stick: format.elements_per_stick(), layout })
    }

    /// Returns first positions and sizes of the windows, in row-major order of their positions.
    fn list_windows(&self, dim: usize) -> Vec<(Vec<i64>, Vec<i64>)> {
        let mut windows = vec![(Vec::new(), Vec::new())];
        for (other, &size) in self.shape.iter().enumerate() {
            let step = if other == dim {
                size
            } else if other == self.stick_dim {
                self.stick
            } else {
                1
            };
            let starts = || (0..size).step_by(usize::try_from(step).expect("a window has elements"));
            let longer = |(first, sizes): (Vec<i64>, Vec<i64>)| {
                starts().map(move |start| {
                    ([first.clone(), vec![start]].concat(), [sizes.clone(), vec![step.min(size - start)]].concat())
                })
            };
            windows = windows.into_iter().flat_map(longer).collect();
        }
        windows
    }

    /// Gathers from each window, and writes the result into its slice of a buffer, which is returned.
    fn gather_windows<'c>(&self, op: Op<'c>, dim: usize) -> Option<Value<'c>> {
        let (context, at) =
            (op.ctx(), derived_location(op, DerivationKind::Decomposition, "spyre-layout-gather-tables"));
        let [table, index] = op.inputs()[..] else { return None };
        let from = TensorType::from_type(table.r#type())?;
        let to = TensorType::from_type(op.output().r#type())?;
        let over = shape_of(index);
        let mut buffer = insert_before(op, build_empty(context, at, to.with_shape(to.shape.clone()).build())).output();
        for (first, sizes) in self.list_windows(dim) {
            let positions: Vec<AffineExpression> =
                first.iter().enumerate().map(|(dim, &start)| window_index(dim, start)).collect();
            let map = map_from_exprs(context, sizes.len(), 0, &positions);
            let window =
                insert_before(op, build_view(context, at, table, map, from.with_shape(sizes.clone()).build())).output();
            let row = |whole: &[i64]| {
                whole.iter().enumerate().filter(|(other, _)| *other != dim).map(|(_, &size)| size).collect::<Vec<_>>()
            };
            let shape = [over.clone(), row(&sizes)].concat();
            let index_dim = i64::try_from(dim).ok()?;
            let part =
                insert_before(op, build_gather(context, at, window, index, index_dim, to.with_shape(shape).build()))
                    .output();
            let start = [vec![0; over.len()], row(&first)].concat();
            buffer = insert_before(op, build_insert(context, at, part, buffer, &start)).output();
        }
        Some(buffer)
    }
}

/// Returns whether a value is an argument of the function or a constant, whose layout is free.
pub(super) fn is_argument_or_constant(value: Value<'_>) -> bool {
    let is_argument =
        || value.as_block_arg().and_then(|(block, _)| block.parent_operation()).is_some_and(|op| op.is("func.func"));
    value.def().map_or_else(is_argument, |def| def.is(spyre::CONSTANT))
}
