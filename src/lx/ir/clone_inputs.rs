//! `spyre-clone-inputs`: copies inputs that are read several times, so that they can be in LX.
//!
//! Reads `work` and the uses of arguments, of constants and of tiles in loops; inserts one `spyre.copy` before the first reader and makes
//! all readers use it. `spyre-plan-lx` removes a copy that finds no room. The planner `exact` does not need this pass: it chooses copies
//! itself.

use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, Tensor, copy, operation_of, split_of, target_of, work_attribute},
    mlir::{Block, BlockExt, Context, Op, OpExt, Options, Pass, Reported, Type, Value, ValueLike, ValueMap, error_at, insert_before},
    work::{CoreOrder, CoreUse, Operation, WorkSplit, agreed_view},
};
use machine::Family;

pub(crate) const PASS: Pass = Pass { argument: "spyre-clone-inputs", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    for op in module.nested().into_iter().filter(|op| op.is("func.func") || op.is(spyre::LOOP)) {
        let Some(body) = op.body() else { continue };
        let operands = operands_of(body);
        let constants = body.ops().into_iter().filter(|op| op.is(spyre::CONSTANT)).map(OpExt::output);
        for input in body.args().into_iter().chain(constants) {
            let read_by = operands.get(input).map_or(&[][..], Vec::as_slice);
            clone_input(input, read_by, target.lx_bytes).map_err(|message| error_at(codes::MALFORMED_IR, op, message).report())?;
        }
    }
    Ok(())
}

/// User of a value: the op, the operand index, and the core split.
pub(super) struct User<'c> {
    compute: ComputeOp<'c>,
    operand: usize,
    operation: Operation,
    split: WorkSplit,
}

/// Copies `value` if several ops of the block read it with the same slices, and one core's slice fits.
fn clone_input<'c>(value: Value<'c>, read_by: &[(ComputeOp<'c>, usize)], lx_bytes: i64) -> Result<(), String> {
    if read_by.len() < 2 {
        return Ok(());
    }
    let readers: Vec<User<'_>> = read_by.iter().map(|&(compute, operand)| User::of(compute, operand)).collect::<Result<_, _>>()?;
    let uses: Vec<CoreUse<'_>> = readers.iter().map(User::core_use).collect();
    let (Ok(view), Some(output)) = (agreed_view(&uses), compact_type(readers[0].compute.op.ctx(), value)?) else { return Ok(()) };
    let bytes = Tensor::of(output).and_then(|tensor| tensor.layout).map_or(i64::MAX, |layout| layout.bytes());
    if bytes / view.slices() > lx_bytes {
        return Ok(());
    }
    let Some(clone) = copy_for(&readers[0], value, output, readers[0].compute.op)? else { return Ok(()) };
    for reader in &readers {
        reader.compute.op.set_input(reader.operand, clone.output());
    }
    Ok(())
}

/// Inserts a copy of `value` before `before`, divided like the operand of `user`. Returns `None` if no copy has on each core the slice that
/// the user reads.
///
/// # Errors
/// Returns an error if the layouts of the user are wrong.
pub(super) fn copy_for<'c>(user: &User<'c>, value: Value<'c>, output: Type<'c>, before: Op<'c>) -> Result<Option<Op<'c>>, String> {
    let split = user.split_of_dims()?;
    let op = user.compute.op;
    let made = insert_before(before, copy(op.ctx(), op.loc(), value, output));
    made.set_attr(attr::WORK, work_attribute(op.ctx(), &split));
    if let Some(names) = user.names_of_dims() {
        made.set_attr(attr::DIMS, crate::mlir::string_array(op.ctx(), &names));
    }
    if user.is_sliced_like(made)? {
        return Ok(Some(made));
    }
    made.erase();
    Ok(None)
}

/// Returns for each value the compute ops of the block that read it directly, in program order, with the operand index.
fn operands_of<'c>(body: Block<'c>) -> ValueMap<Vec<(ComputeOp<'c>, usize)>> {
    let mut operands: ValueMap<Vec<(ComputeOp<'c>, usize)>> = ValueMap::default();
    // Gathers read both rows and indices from HBM only.
    for compute in body.ops().into_iter().filter_map(ComputeOp::of).filter(|compute| compute.family() != Family::Gather) {
        for (operand, input) in compute.op.inputs().into_iter().enumerate() {
            operands.get_or_default(input).push((compute, operand));
        }
    }
    operands
}

impl<'c> User<'c> {
    /// Returns the user for one operand of an op; the result comes after the operands.
    pub(super) fn of(compute: ComputeOp<'c>, operand: usize) -> Result<Self, String> {
        Ok(Self { compute, operand, operation: operation_of(compute)?, split: split_of(compute)? })
    }

    fn core_use(&self) -> CoreUse<'_> {
        CoreUse { op: &self.operation, operand: self.operand, split: &self.split }
    }

    /// Returns the op's slices, per dimension of the tensor, on the same cores.
    fn split_of_dims(&self) -> Result<WorkSplit, String> {
        let accesses = self.compute.accesses()?;
        let dims = &accesses[self.operand].dims;
        let (slices, divisors) = (self.split.slices(), self.split.divisors(CoreOrder::of(self.operation.family)));
        let split = WorkSplit::new(dims.iter().map(|dim| dim.map_or(1, |dim| slices[dim])).collect());
        let divisors: Vec<i64> = dims.iter().map(|dim| dim.map_or(1, |dim| divisors[dim])).collect();
        split.and_then(|split| split.with_divisors(&divisors, CoreOrder::of(Family::Copy))).map_err(|error| error.to_string())
    }

    /// Returns the dimension names, per dimension of the tensor; `None` if there are none.
    fn names_of_dims(&self) -> Option<Vec<String>> {
        self.compute.op.attr(attr::DIMS)?;
        let names = self.compute.dim_names();
        let accesses = self.compute.accesses().ok()?;
        Some(accesses[self.operand].dims.iter().map(|dim| dim.map_or_else(String::new, |dim| names[dim].clone())).collect())
    }

    /// Returns whether a copy has on each core the slice that the user reads.
    fn is_sliced_like(&self, made: Op<'_>) -> Result<bool, String> {
        let Some(compute) = ComputeOp::of(made) else { return Ok(false) };
        let (operation, split) = (operation_of(compute)?, split_of(compute)?);
        let written = CoreUse { op: &operation, operand: operation.operands.len() - 1, split: &split };
        Ok(agreed_view(&[written, self.core_use()]).is_ok())
    }
}

/// Returns the type of a copy: the same shape, compact if the value is a window. `None` without a layout.
pub(super) fn compact_type<'c>(context: &'c Context, value: Value<'c>) -> Result<Option<Type<'c>>, String> {
    let Some(tensor) = Tensor::of(value.r#type()) else { return Ok(None) };
    let Some(layout) = tensor.compact_layout() else { return Ok(None) };
    let layout = layout.map_err(|error| error.to_string())?;
    Ok(Some(tensor.with_layout(context, &layout, None)))
}
