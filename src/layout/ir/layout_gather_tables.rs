//! `spyre-layout-gather-tables`: assigns gather tables a layout in which an index can address rows.
//!
//! Reads the tables of `spyre.gather` ops; writes encodings: the indexed dimension outermost (torch-spyre's
//! `enforce_indirect_access_layout`). The layout is assigned to arguments and constants without a layout, and to
//! results that only gathers read. A table with another layout, under other indices, or with other readers is copied
//! first. A table that is larger than a core can address is read in windows of one stick of its columns.

use super::insert_copies::insert_relayout_copy;
use super::split_tables::{is_argument_or_constant, split_table};
use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{ComputeOp, DeviceTensor, format_of, strip_retyping_views, target_of},
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, Value, ValueExt, ValueLike, error_at,
        set_function_type, shape_of,
    },
};
use machine::Family;
use program::AccessKind;
use program::layout::DeviceLayout;

pub(crate) const PASS: Pass = Pass { argument: "spyre-layout-gather-tables", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        for compute in ComputeOp::collect_in(function) {
            split_table(compute, target.core_span_bytes);
        }
        for compute in ComputeOp::collect_in(function) {
            if let AccessKind::Table(dim) = compute.operand_use(0) {
                lay_out_table(compute.op, dim)
                    .map_err(|message| error_at(codes::LAYOUT_GATHER, compute.op, message).report())?;
            }
        }
        set_function_type(function);
    }
    Ok(())
}

/// Assigns the table of a gather along `dim` its layout, or inserts a copy that has it.
fn lay_out_table(gather: Op<'_>, dim: usize) -> Result<(), String> {
    let table = gather.inputs()[0];
    if table.def().is_some_and(|def| def.is(spyre::VIEW)) && can_gather_in_place(gather) {
        return Ok(());
    }
    let read = DeviceTensor::from_type(table.r#type()).ok_or("gathers from no tensor of static shape")?;
    let home = strip_retyping_views(table);
    let tensor = DeviceTensor::from_type(home.r#type()).ok_or("gathers from no tensor of static shape")?;
    let host = tensor.buffer_tensor().map_err(|error| error.to_string())?;
    if tensor.layout.as_ref().is_some_and(|layout| layout.find_indexed_dim(&host, dim, |_| false).is_ok()) {
        return Ok(());
    }
    let given = tensor.layout.as_ref();
    let format = given.map(DeviceLayout::format).or_else(|| format_of(read.host.element));
    let format = format.ok_or_else(|| {
        codes::ELEMENT_TYPE.format(format_args!(
            "expected elements of a device format, found {}; convert them before the export",
            read.host.element
        ))
    })?;
    let stick = given.and_then(|layout| layout.stick_dim(&host));
    let layout = DeviceLayout::new_table(&tensor.host.shape, dim, stick, format).map_err(|error| {
        codes::LAYOUT_GATHER
            .format(format_args!("cannot lay out its table: {error}; index another dimension, or reshape the table"))
    })?;
    if given.is_none() && may_get_table_layout(home, dim, layout.stick_dim(&host)) {
        home.retype(tensor.with_layout(gather.ctx(), &layout, None));
    } else {
        let output = read.with_layout(gather.ctx(), &layout, None);
        let copied = insert_relayout_copy(gather, (DerivationKind::Rewrite, PASS.argument), table, output);
        gather.set_input(0, copied.output());
    }
    Ok(())
}

/// Returns whether an index can address the rows of the view of an input that a gather reads, in the layout of the
/// input.
fn can_gather_in_place(gather: Op<'_>) -> bool {
    let indexed = |compute: ComputeOp<'_>| {
        let accesses = compute.accesses().ok()?;
        let table = accesses.first().filter(|table| is_argument_or_constant(strip_retyping_views(table.value)))?;
        table.find_indexed_dim(&compute.iteration_space()).ok()?
    };
    ComputeOp::from_op(gather).and_then(indexed).is_some()
}

/// Returns whether a value without a layout may get that of a table that is indexed along `dim` and has `stick` in its
/// sticks.
fn may_get_table_layout(value: Value<'_>, dim: usize, stick: Option<usize>) -> bool {
    let readers: Vec<Option<ComputeOp<'_>>> = value.users().into_iter().map(ComputeOp::from_op).collect();
    let reads_indices =
        |reader: &ComputeOp<'_>| reader.operand_use(1) == AccessKind::Indices && reader.op.inputs()[1] == value;
    if readers.iter().flatten().any(reads_indices) {
        return false;
    }
    if is_argument_or_constant(value) {
        return true;
    }
    let Some(def) = value.def() else { return false };
    let is_gathered =
        |reader: &Option<ComputeOp<'_>>| reader.is_some_and(|reader| reader.operand_use(0) == AccessKind::Table(dim));
    let is_free = ComputeOp::from_op(def).is_some_and(|writer| match writer.family() {
        // A buffer that is written in slices has one layout for all slices.
        _ if writer.is_insert() => false,
        // The columns of a matmul stay in its sticks.
        Family::Matmul => {
            DeviceTensor::from_type(value.r#type()).is_some_and(|tensor| dim + 1 < tensor.host.shape.len())
        }
        // The gathered dimension stays in the sticks of its table, too.
        Family::Gather => gathered_stick(writer) == stick,
        Family::Pointwise | Family::Reduce | Family::Copy => true,
    });
    is_free && readers.iter().all(is_gathered)
}

/// Returns the dimension in the sticks of a gather's result: that of its table, after the dimensions of the index.
fn gathered_stick(gather: ComputeOp<'_>) -> Option<usize> {
    let AccessKind::Table(indexed) = gather.operand_use(0) else { return None };
    let [table, index] = gather.op.inputs()[..] else { return None };
    let tensor = DeviceTensor::from_type(table.r#type())?;
    let host = tensor.buffer_tensor().ok()?;
    let stick = tensor.layout.as_ref()?.stick_dim(&host)?;
    let own = shape_of(index).len();
    (stick != indexed).then_some(own + stick - usize::from(stick > indexed))
}
