//! `spyre-clone-inputs`: copies inputs that are read several times, so that they can be in LX.
//!
//! Reads `work` and the uses of arguments, of constants and of tiles in loops; inserts one `spyre.copy` before the first reader and makes
//! all readers use it. `spyre-plan-lx` removes a copy that finds no room. The planner `exact` does not need this pass: it chooses copies
//! itself.

use crate::dialect::ods::{attr, spyre};
use crate::work::ir::operation::operation_with;
use crate::{
    codes,
    dialect::{Access, ComputeOp, Tensor, copy, split_of, target_of, work_attribute},
    mlir::{Block, BlockExt, Context, Op, OpExt, Options, Pass, Reported, Type, Value, ValueLike, ValueMap, error_at, insert_before},
    work::{CoreUse, agreed_view},
};
use machine::Family;
use program::layout::{Coordinate, HostTensor, device_coordinates};
use program::{CoreOrder, DimKind, IterationDim, Operand, Operation, WorkSplit};

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
pub(super) struct User<'a, 'c> {
    pub(super) compute: ComputeOp<'c>,
    pub(super) operand: usize,
    /// For each dimension of the value the iteration dimension that indexes it.
    pub(super) dims: &'a [Option<usize>],
    pub(super) operation: &'a Operation,
    pub(super) split: &'a WorkSplit,
}

/// Op that reads an input, as the IR describes it.
struct Reader<'c> {
    compute: ComputeOp<'c>,
    operand: usize,
    accesses: Vec<Access<'c>>,
    operation: Operation,
    split: WorkSplit,
}

impl<'c> Reader<'c> {
    fn new(compute: ComputeOp<'c>, operand: usize) -> Result<Self, String> {
        let accesses = compute.accesses()?;
        Ok(Self { compute, operand, operation: operation_with(compute, &accesses)?, split: split_of(compute)?, accesses })
    }

    fn user(&self) -> User<'_, 'c> {
        let Self { compute, operand, accesses, operation, split } = self;
        User { compute: *compute, operand: *operand, dims: &accesses[*operand].dims, operation, split }
    }
}

/// Copies `value` if several ops of the block read it with the same slices, and one core's slice fits.
fn clone_input<'c>(value: Value<'c>, read_by: &[(ComputeOp<'c>, usize)], lx_bytes: i64) -> Result<(), String> {
    if read_by.len() < 2 {
        return Ok(());
    }
    let readers: Vec<Reader<'_>> = read_by.iter().map(|&(compute, operand)| Reader::new(compute, operand)).collect::<Result<_, _>>()?;
    let uses: Vec<CoreUse<'_>> = readers.iter().map(|reader| reader.user().core_use()).collect();
    let (Ok(view), Some(output)) = (agreed_view(&uses), compact_type(readers[0].compute.op.ctx(), value)?) else { return Ok(()) };
    let bytes = Tensor::of(output).and_then(|tensor| tensor.layout).map_or(i64::MAX, |layout| layout.bytes());
    if bytes / view.slices() > lx_bytes {
        return Ok(());
    }
    let Some(clone) = copy_for(&readers[0].user(), value, output, readers[0].compute.op)? else { return Ok(()) };
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
pub(super) fn copy_for<'c>(user: &User<'_, 'c>, value: Value<'c>, output: Type<'c>, before: Op<'c>) -> Result<Option<Op<'c>>, String> {
    if !user.has_copy(output)? {
        return Ok(None);
    }
    let op = user.compute.op;
    let made = insert_before(before, copy(op.ctx(), op.loc(), value, output));
    made.set_attr(attr::WORK, work_attribute(op.ctx(), &user.split_of_dims()?));
    if let Some(names) = user.names_of_dims() {
        made.set_attr(attr::DIMS, crate::mlir::string_array(op.ctx(), &names));
    }
    Ok(Some(made))
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

impl<'a> User<'a, '_> {
    fn core_use(&self) -> CoreUse<'a> {
        CoreUse { op: self.operation, operand: self.operand, split: self.split }
    }

    /// Returns the op's slices, per dimension of the tensor, on the same cores.
    pub(super) fn split_of_dims(&self) -> Result<WorkSplit, String> {
        let (slices, divisors) = (self.split.slices(), self.split.divisors(CoreOrder::of(self.operation.family)));
        let split = WorkSplit::new(self.dims.iter().map(|dim| dim.map_or(1, |dim| slices[dim])).collect());
        let divisors: Vec<i64> = self.dims.iter().map(|dim| dim.map_or(1, |dim| divisors[dim])).collect();
        split.and_then(|split| split.with_divisors(&divisors, CoreOrder::of(Family::Copy))).map_err(|error| error.to_string())
    }

    /// Returns the dimension names, per dimension of the tensor; `None` if there are none.
    fn names_of_dims(&self) -> Option<Vec<String>> {
        self.compute.op.attr(attr::DIMS)?;
        let names = self.compute.dim_names();
        Some(self.dims.iter().map(|dim| dim.map_or_else(String::new, |dim| names[dim].clone())).collect())
    }

    /// Returns whether a copy of the value with this type has on each core the slice that the user has.
    ///
    /// # Errors
    /// Returns an error if the layouts of the user are wrong.
    pub(super) fn has_copy(&self, output: Type<'_>) -> Result<bool, String> {
        let split = self.split_of_dims()?;
        let Some(Tensor { host, layout: Some(layout), .. }) = Tensor::of(output) else { return Ok(false) };
        let sizes = &host.shape;
        let identity: Vec<Coordinate> =
            sizes.iter().enumerate().map(|(dim, &size)| if size > 1 { Coordinate::dim(dim) } else { Coordinate::constant(0) }).collect();
        let row_major = HostTensor::row_major(sizes).map_err(|error| error.to_string())?;
        let coordinates = device_coordinates(&layout, &row_major, &identity, sizes).map_err(|error| error.to_string())?;
        let written = Operand { layout, coordinates, part_of: None, indexed: None };
        let copy = Operation {
            family: Family::Copy,
            dims: sizes.iter().map(|&size| IterationDim { size, kind: DimKind::Output }).collect(),
            operands: vec![written],
            minima: WorkSplit::whole(sizes.len()),
            hint: None,
            blocked: Vec::new(),
        };
        Ok(agreed_view(&[CoreUse { op: &copy, operand: 0, split: &split }, self.core_use()]).is_ok())
    }
}

/// Returns the type of a copy: the same shape, compact if the value is a window. `None` without a layout.
pub(super) fn compact_type<'c>(context: &'c Context, value: Value<'c>) -> Result<Option<Type<'c>>, String> {
    let Some(tensor) = Tensor::of(value.r#type()) else { return Ok(None) };
    let Some(layout) = tensor.compact_layout() else { return Ok(None) };
    let layout = layout.map_err(|error| error.to_string())?;
    Ok(Some(tensor.with_layout(context, &layout, None)))
}
