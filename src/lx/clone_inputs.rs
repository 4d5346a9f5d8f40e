//! `spyre-clone-inputs`: copies inputs that are read several times, so that they can live in LX.
//!
//! Reads `work` and the uses of arguments, of constants and of tiles in loops; writes one `spyre.copy` in front of the first reader and lets the readers
//! have the copy. `spyre-plan-lx` undoes a copy that finds no room.

use super::{CoreUse, agreed_view};
use crate::{
    dialect::{ComputeOp, Tensor, copy, operation_of, split_of, target_of, work_attribute},
    layout::HostTensor,
    mlir::{Block, BlockExt, BlockLike, Op, OpExt, Options, Pass, Reported, Type, Value, ValueLike, ValueMap, error_at, insert_before},
    target::Family,
    work::{CoreOrder, Operation, WorkSplit},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-clone-inputs", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    for op in module.nested().into_iter().filter(|op| op.is("func.func") || op.is("spyre.loop")) {
        let Some(body) = op.body() else { continue };
        let operands = operands_of(body);
        let constants = body.ops().into_iter().filter(|op| op.is("spyre.constant")).map(OpExt::output);
        for input in body.args().into_iter().chain(constants) {
            let read_by = operands.get(input).map_or(&[][..], Vec::as_slice);
            clone_input(body, input, read_by, target.lx_bytes).map_err(|message| error_at(op, message).report())?;
        }
    }
    Ok(())
}

/// A reader of the value: the op, which operand it is, and how its work is divided.
struct Reader<'c> {
    compute: ComputeOp<'c>,
    operand: usize,
    operation: Operation,
    split: WorkSplit,
}

/// Copies `value` if several ops of the block read it, all in the same slices, and one core's slice fits.
fn clone_input<'c>(body: Block<'c>, value: Value<'c>, read_by: &[(ComputeOp<'c>, usize)], lx_bytes: i64) -> Result<(), String> {
    if read_by.len() < 2 {
        return Ok(());
    }
    let readers: Vec<Reader<'_>> = read_by.iter().map(|&(compute, operand)| Reader::of(compute, operand)).collect::<Result<_, _>>()?;
    let uses: Vec<CoreUse<'_>> = readers.iter().map(Reader::core_use).collect();
    let (Ok(view), Some(output)) = (agreed_view(&uses), compact_type(body, value)?) else { return Ok(()) };
    let bytes = Tensor::of(output).and_then(|tensor| tensor.layout).map_or(i64::MAX, |layout| layout.bytes());
    if bytes / view.slices() > lx_bytes {
        return Ok(());
    }
    let first = &readers[0];
    let split = split_of_dims(first)?;
    let op = first.compute.op;
    let clone = insert_before(op, copy(op.ctx(), op.loc(), value, output));
    clone.set_attr("work", work_attribute(op.ctx(), &split));
    if let Some(names) = names_of_dims(first) {
        clone.set_attr("dims", crate::mlir::string_array(op.ctx(), &names));
    }
    if !is_sliced_like(clone, first)? {
        clone.erase();
        return Ok(());
    }
    for reader in &readers {
        reader.compute.op.set_input(reader.operand, clone.output());
    }
    Ok(())
}

/// For each value the compute ops of the block that read the value itself, in program order, and as which operand.
fn operands_of<'c>(body: Block<'c>) -> ValueMap<Vec<(ComputeOp<'c>, usize)>> {
    let mut operands: ValueMap<Vec<(ComputeOp<'c>, usize)>> = ValueMap::default();
    // A gather reads from HBM only, be it rows or indices.
    for compute in body.ops().into_iter().filter_map(ComputeOp::of).filter(|compute| compute.family() != Family::Gather) {
        for (operand, input) in compute.op.inputs().into_iter().enumerate() {
            operands.get_or_default(input).push((compute, operand));
        }
    }
    operands
}

impl<'c> Reader<'c> {
    fn of(compute: ComputeOp<'c>, operand: usize) -> Result<Self, String> {
        Ok(Self { compute, operand, operation: operation_of(compute)?, split: split_of(compute)? })
    }

    fn core_use(&self) -> CoreUse<'_> {
        CoreUse { op: &self.operation, operand: self.operand, split: &self.split }
    }
}

/// The type of a copy: the same shape, compact if the value is a window.
fn compact_type<'c>(body: Block<'c>, value: Value<'c>) -> Result<Option<Type<'c>>, String> {
    let Some(tensor) = Tensor::of(value.r#type()) else { return Ok(None) };
    let Some((layout, around)) = tensor.layout.as_ref().zip(body.parent_operation()) else {
        return Ok(None);
    };
    let host: HostTensor = tensor.buffer().map_err(|error| error.to_string())?;
    let layout = layout.of_tile(&host, &tensor.host.shape).map_err(|error| error.to_string())?;
    Ok(Some(tensor.with_layout(around.ctx(), &layout, None)))
}

/// The reader's slices, per dimension of the tensor, on the same cores.
fn split_of_dims(reader: &Reader<'_>) -> Result<WorkSplit, String> {
    let accesses = reader.compute.accesses()?;
    let dims = &accesses[reader.operand].dims;
    let (slices, divisors) = (reader.split.slices(), reader.split.divisors(CoreOrder::of(reader.operation.family)));
    let split = WorkSplit::new(dims.iter().map(|dim| dim.map_or(1, |dim| slices[dim])).collect());
    let divisors: Vec<i64> = dims.iter().map(|dim| dim.map_or(1, |dim| divisors[dim])).collect();
    split.and_then(|split| split.with_divisors(&divisors, CoreOrder::of(Family::Copy))).map_err(|error| error.to_string())
}

/// The reader's names, per dimension of the tensor; none if it has no names.
fn names_of_dims(reader: &Reader<'_>) -> Option<Vec<String>> {
    reader.compute.op.attr("dims")?;
    let names = reader.compute.dim_names();
    let accesses = reader.compute.accesses().ok()?;
    Some(accesses[reader.operand].dims.iter().map(|dim| dim.map_or_else(String::new, |dim| names[dim].clone())).collect())
}

/// Whether the copy leaves on each core what the reader wants there.
fn is_sliced_like(clone: Op<'_>, reader: &Reader<'_>) -> Result<bool, String> {
    let Some(compute) = ComputeOp::of(clone) else { return Ok(false) };
    let (operation, split) = (operation_of(compute)?, split_of(compute)?);
    let written = CoreUse { op: &operation, operand: operation.operands.len() - 1, split: &split };
    Ok(agreed_view(&[written, reader.core_use()]).is_ok())
}
