//! `spyre-clone-inputs`: copies inputs that are read several times, so that they can be in LX.
//!
//! Reads `work` and the uses of arguments, of constants and of tiles in loops; inserts one `spyre.copy` before the
//! first reader and makes all readers use it. `spyre-allocate-scratchpad` removes a copy that finds no room. The
//! planner `exact` does not need this pass: it chooses copies itself.

use crate::dialect::ods::{attr, spyre};
use crate::work::ir::describe_op::describe_op_with_accesses;
use crate::{
    codes,
    dialect::{ComputeOp, DeviceTensor, OperandAccess, build_copy, core_split_of, target_of, work_attribute},
    lx::copy_split::CopyUser,
    mlir::{
        Block, BlockExt, Context, DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, Type, Value, ValueLike,
        ValueMap, derived_location, error_at, insert_before,
    },
    work::{CoreUse, find_common_view},
};
use machine::Family;
use program::{UndividedOp, WorkSplit};

pub(crate) const PASS: Pass = Pass { argument: "spyre-clone-inputs", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    for op in module.nested().into_iter().filter(|op| op.is("func.func") || op.is(spyre::LOOP)) {
        let Some(body) = op.body() else { continue };
        let operands = collect_direct_uses(body);
        let constants = body.ops().into_iter().filter(|op| op.is(spyre::CONSTANT)).map(OpExt::output);
        for input in body.args().into_iter().chain(constants) {
            let read_by = operands.get(input).map_or(&[][..], Vec::as_slice);
            clone_input(input, read_by, target.lx_bytes)
                .map_err(|message| error_at(codes::MALFORMED_IR, op, message).report())?;
        }
    }
    Ok(())
}

/// Op that reads an input, as the IR describes it.
struct InputReader<'c> {
    compute: ComputeOp<'c>,
    operand: usize,
    accesses: Vec<OperandAccess<'c>>,
    operation: UndividedOp,
    split: WorkSplit,
}

impl<'c> InputReader<'c> {
    fn new(compute: ComputeOp<'c>, operand: usize) -> Result<Self, String> {
        let accesses = compute.accesses()?;
        let operation = describe_op_with_accesses(compute, accesses.iter().map(|access| &access.access))?;
        Ok(Self { compute, operand, operation, split: core_split_of(compute)?, accesses })
    }

    fn copy_user(&self) -> CopyUser<'_> {
        let Self { compute: _, operand, accesses, operation, split } = self;
        CopyUser { operand: *operand, dims: &accesses[*operand].dims, operation, split }
    }
}

/// Copies `value` if several ops of the block read it with the same slices, and one core's slice fits.
fn clone_input<'c>(value: Value<'c>, read_by: &[(ComputeOp<'c>, usize)], lx_bytes: i64) -> Result<(), String> {
    if read_by.len() < 2 {
        return Ok(());
    }
    let readers: Vec<InputReader<'_>> =
        read_by.iter().map(|&(compute, operand)| InputReader::new(compute, operand)).collect::<Result<_, _>>()?;
    let uses: Vec<CoreUse<'_>> = readers.iter().map(|reader| reader.copy_user().core_use()).collect();
    let compact =
        DeviceTensor::from_type(value.r#type()).map_or(Ok(None), |tensor| tensor.into_program_tensor().to_compact())?;
    let (Ok(view), Some(compact)) = (find_common_view(&uses), compact) else { return Ok(()) };
    let first = readers[0].copy_user();
    if compact.bytes()? / view.num_slices() > lx_bytes || !first.matches_copy(&compact)? {
        return Ok(());
    }
    let origin = CopyOrigin { pass: PASS.argument, compute: readers[0].compute, dims: first.dims };
    let output = build_copy_type(readers[0].compute.op.ctx(), value, &compact)?;
    let clone = insert_copy(readers[0].compute.op, value, output, &first.tensor_split()?, &origin);
    for reader in &readers {
        reader.compute.op.set_input(reader.operand, clone.output());
    }
    Ok(())
}

/// Origin of a copy: the pass that inserts it, and the op that has its location and names its dimensions.
pub(super) struct CopyOrigin<'a, 'c> {
    pub(super) pass: &'static str,
    pub(super) compute: ComputeOp<'c>,
    /// For each dimension of the copy the iteration dimension of the op.
    pub(super) dims: &'a [Option<usize>],
}

/// Inserts a copy of `value` before `before`, with a core split.
pub(super) fn insert_copy<'c>(
    before: Op<'c>,
    value: Value<'c>,
    output: Type<'c>,
    split: &WorkSplit,
    origin: &CopyOrigin<'_, 'c>,
) -> Op<'c> {
    let op = origin.compute.op;
    let made = insert_before(
        before,
        build_copy(op.ctx(), derived_location(op, DerivationKind::Clone, origin.pass), value, output),
    );
    made.set_attr(attr::WORK, work_attribute(op.ctx(), split));
    if op.attr(attr::DIMS).is_some() {
        let of_op = origin.compute.dim_names();
        let of_dims: Vec<String> =
            origin.dims.iter().map(|dim| dim.map_or_else(String::new, |dim| of_op[dim].clone())).collect();
        made.set_attr(attr::DIMS, crate::mlir::string_array(op.ctx(), &of_dims));
    }
    made
}

/// Returns for each value the compute ops of the block that read it directly, in program order, with the operand index.
fn collect_direct_uses<'c>(body: Block<'c>) -> ValueMap<Vec<(ComputeOp<'c>, usize)>> {
    let mut operands: ValueMap<Vec<(ComputeOp<'c>, usize)>> = ValueMap::default();
    // Gathers read both rows and indices from HBM only.
    for compute in
        body.ops().into_iter().filter_map(ComputeOp::from_op).filter(|compute| compute.family() != Family::Gather)
    {
        for (operand, input) in compute.op.inputs().into_iter().enumerate() {
            operands.get_or_default(input).push((compute, operand));
        }
    }
    operands
}

/// Returns the type of a copy of a value, given its shape and layout.
pub(super) fn build_copy_type<'c>(
    context: &'c Context,
    value: Value<'c>,
    copied: &program::ProgramTensor,
) -> Result<Type<'c>, String> {
    let (Some(tensor), Some(layout)) = (DeviceTensor::from_type(value.r#type()), &copied.layout) else {
        return Err("a copy has no type".to_owned());
    };
    Ok(tensor.with_layout(context, layout, None))
}
