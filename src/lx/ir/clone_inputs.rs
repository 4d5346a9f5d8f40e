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
    lx::copy_split::CopyUser,
    mlir::{Block, BlockExt, Context, Op, OpExt, Options, Pass, Reported, Type, Value, ValueLike, ValueMap, error_at, insert_before},
    work::{CoreUse, agreed_view},
};
use machine::Family;
use program::{Operation, WorkSplit};

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
        let operation = operation_with(compute, accesses.iter().map(|access| &access.access))?;
        Ok(Self { compute, operand, operation, split: split_of(compute)?, accesses })
    }

    fn user(&self) -> CopyUser<'_> {
        let Self { compute: _, operand, accesses, operation, split } = self;
        CopyUser { operand: *operand, dims: &accesses[*operand].dims, operation, split }
    }
}

/// Copies `value` if several ops of the block read it with the same slices, and one core's slice fits.
fn clone_input<'c>(value: Value<'c>, read_by: &[(ComputeOp<'c>, usize)], lx_bytes: i64) -> Result<(), String> {
    if read_by.len() < 2 {
        return Ok(());
    }
    let readers: Vec<Reader<'_>> = read_by.iter().map(|&(compute, operand)| Reader::new(compute, operand)).collect::<Result<_, _>>()?;
    let uses: Vec<CoreUse<'_>> = readers.iter().map(|reader| reader.user().core_use()).collect();
    let compact = Tensor::of(value.r#type()).map_or(Ok(None), |tensor| tensor.plain().compact())?;
    let (Ok(view), Some(compact)) = (agreed_view(&uses), compact) else { return Ok(()) };
    let first = readers[0].user();
    if compact.bytes()? / view.slices() > lx_bytes || !first.has_copy(&compact)? {
        return Ok(());
    }
    let names = CopyNames { compute: readers[0].compute, dims: first.dims };
    let output = type_of_copy(readers[0].compute.op.ctx(), value, &compact)?;
    let clone = insert_copy(readers[0].compute.op, value, output, &first.split_of_dims()?, &names);
    for reader in &readers {
        reader.compute.op.set_input(reader.operand, clone.output());
    }
    Ok(())
}

/// Op that names the dimensions of a copy.
pub(super) struct CopyNames<'a, 'c> {
    pub(super) compute: ComputeOp<'c>,
    /// For each dimension of the copy the iteration dimension of the op.
    pub(super) dims: &'a [Option<usize>],
}

/// Inserts a copy of `value` before `before`, with a core split, and with the location of the op that names its dimensions.
pub(super) fn insert_copy<'c>(before: Op<'c>, value: Value<'c>, output: Type<'c>, split: &WorkSplit, names: &CopyNames<'_, 'c>) -> Op<'c> {
    let op = names.compute.op;
    let made = insert_before(before, copy(op.ctx(), op.loc(), value, output));
    made.set_attr(attr::WORK, work_attribute(op.ctx(), split));
    if op.attr(attr::DIMS).is_some() {
        let of_op = names.compute.dim_names();
        let of_dims: Vec<String> = names.dims.iter().map(|dim| dim.map_or_else(String::new, |dim| of_op[dim].clone())).collect();
        made.set_attr(attr::DIMS, crate::mlir::string_array(op.ctx(), &of_dims));
    }
    made
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

/// Returns the type of a copy of a value, given its shape and layout.
pub(super) fn type_of_copy<'c>(context: &'c Context, value: Value<'c>, copied: &program::Tensor) -> Result<Type<'c>, String> {
    let (Some(tensor), Some(layout)) = (Tensor::of(value.r#type()), &copied.layout) else { return Err("a copy has no type".to_owned()) };
    Ok(tensor.with_layout(context, layout, None))
}
