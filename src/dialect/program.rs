//! Reads a function as a [`program::Program`].

use super::{
    ComputeOp, DeviceTensor, OperandAccess,
    base_buffer::{
        base_buffer_of, collect_alias_users, is_computed_in_place, is_loop_carried, placement_owner_of,
        storage_root_of, view_source, window_strides,
    },
    buffer_slices, plain_view_indices,
    target::may_restickify_in_lx,
};
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{BlockLike, Op, OpExt, OpMap, OperationLike, Value, ValueExt, ValueLike, ValueMap, integer};
use program::{
    BlockId, LoopId, LoopStrides, OpOperand, OpRole, Program, ProgramLoop, ResultUse, ReturnKind, ValueDef, ValueId,
};
use std::rc::Rc;

/// Function as a program, with the op of each position and the value of each number.
pub struct IrProgram<'c> {
    /// Program of the function.
    pub program: Rc<Program>,
    /// Compute ops, in order.
    pub ops: Vec<ComputeOp<'c>>,
    /// Values, by [`ValueId`].
    pub values: Vec<Value<'c>>,
    loop_ids: OpMap<LoopId>,
}

impl<'c> IrProgram<'c> {
    /// Returns the loops with compute ops around an op, innermost first.
    #[must_use]
    pub fn loops_around(&self, op: Op<'c>) -> Vec<LoopId> {
        let around = std::iter::successors(op.parent(), |op| op.parent());
        around.filter_map(|around| self.loop_ids.get(around).copied()).collect()
    }
}

/// Reads the compute ops of a function, after the layout phase.
///
/// # Errors
/// The op whose access is not supported, and why.
pub fn read_program(function: Op<'_>) -> Result<IrProgram<'_>, (Op<'_>, String)> {
    let mut reader = ProgramReader::default();
    let ops = ComputeOp::collect_in(function);
    let mut plain = Vec::with_capacity(ops.len());
    reader.may_restickify_in_lx = may_restickify_in_lx(function);
    for (position, compute) in ops.iter().enumerate() {
        let next = ops.get(position + 1).map(|next| next.op);
        plain.push(Rc::new(reader.read_op(*compute, next).map_err(|message| (compute.op, message))?));
    }
    let ProgramReader { loops, plain_values, values, loop_ids, .. } = reader;
    let plain_values = plain_values.into_iter().map(Rc::new).collect();
    Ok(IrProgram { program: Rc::new(Program::new(plain, loops.into(), plain_values)), ops, values, loop_ids })
}

#[derive(Default)]
struct ProgramReader<'c> {
    /// Ids of ops that have a body, as the owners of blocks.
    blocks: OpMap<BlockId>,
    num_blocks: usize,
    loop_ids: OpMap<LoopId>,
    loops: Vec<ProgramLoop>,
    /// Uses of buffers that are written slice by slice.
    results_in_parts: ValueMap<Rc<ResultUse>>,
    ids: ValueMap<ValueId>,
    values: Vec<Value<'c>>,
    plain_values: Vec<program::ProgramValue>,
    may_restickify_in_lx: bool,
}

impl<'c> ProgramReader<'c> {
    fn read_op(&mut self, compute: ComputeOp<'c>, next: Option<Op<'c>>) -> Result<program::ProgramOp, String> {
        let accesses = compute.accesses()?;
        let role = self.find_role(compute, &accesses)?;
        let loops: Vec<LoopId> = compute.enclosing_loops().into_iter().map(|around| self.intern_loop(around)).collect();
        let operands = accesses.into_iter().map(|access| self.read_operand(access)).collect::<Result<Vec<_>, _>>()?;
        let integer = |name: &str| compute.op.attr(name).and_then(integer);
        Ok(program::ProgramOp {
            family: compute.family(),
            role,
            function: compute.function().to_owned(),
            space: compute.iteration_space(),
            num_reduced: compute.num_reduced_dims(),
            operands,
            block: self.intern_block(compute.op.parent()),
            loops,
            is_placed: is_computed_in_place(compute.op.output()),
            result: self.read_result_use(compute.op.output()),
            is_followed_at_once: next.is_some() && compute.op.next_in_block() == next,
            number: integer(attr::SPYRE_NUMBER),
            times: integer(attr::SPYRE_TIMES).map_or(1, |times| times.max(1)),
        })
    }

    fn find_role(&self, compute: ComputeOp<'_>, accesses: &[OperandAccess<'_>]) -> Result<OpRole, String> {
        let op = compute.op;
        Ok(if compute.is_insert() {
            OpRole::Insert
        } else if op.is(spyre::RESTICKIFY) {
            let [read, written] = accesses else { return Err("a restickify has one input".to_owned()) };
            let space = compute.iteration_space();
            // A tensor ends in a gap where the other one has padding in its sticks; LX has no gaps.
            OpRole::Restickify {
                reads_lx: self.may_restickify_in_lx && !written.access.pads_last_stick(&space)?,
                writes_lx: self.may_restickify_in_lx && !read.access.pads_last_stick(&space)?,
            }
        } else if op.is(spyre::COPY) {
            OpRole::Copy { is_removable: is_removable_copy(op) }
        } else {
            OpRole::Compute
        })
    }

    fn read_operand(&mut self, access: OperandAccess<'c>) -> Result<OpOperand, String> {
        let (operand, value, moves) = (
            self.intern_value(access.operand)?,
            self.intern_value(access.value)?,
            self.read_window_strides(access.operand),
        );
        let of_value =
            if access.value == access.operand { moves.clone() } else { self.read_window_strides(access.value) };
        self.plain_values[value.0].moves = of_value;
        Ok(OpOperand { operand, value, access: access.access, own: access.own, moves })
    }

    fn read_window_strides(&mut self, value: Value<'c>) -> LoopStrides {
        Ok(window_strides(value)?.iter().map(|moved| (self.intern_loop(moved.around), moved.elements)).collect())
    }

    /// Returns how the memory of a result is used; equal for all slices of a buffer.
    fn read_result_use(&mut self, made: Value<'c>) -> Rc<ResultUse> {
        let buffer = storage_root_of(made);
        if let Some(known) = self.results_in_parts.get(buffer) {
            return Rc::clone(known);
        }
        let parts = buffer_slices(buffer);
        // Users see the buffer with all of its slices.
        let output = parts.last().map_or(made, |part| part.insert.output());
        let users = collect_alias_users(output);
        let returned = match users.iter().any(|user| user.is(RETURN_OP)) {
            false => ReturnKind::No,
            true if is_returned(output) => ReturnKind::Itself,
            true => ReturnKind::AsView,
        };
        let result = Rc::new(ResultUse {
            parts: parts.iter().map(|part| self.intern_block(part.insert.parent())).collect(),
            is_window: DeviceTensor::from_type(base_buffer_of(output).r#type())
                .is_some_and(|tensor| tensor.buffer_shape.is_some()),
            is_used_by_loop: users.iter().any(|user| user.is(spyre::YIELD) || user.is(spyre::LOOP)),
            returned,
        });
        if !parts.is_empty() {
            self.results_in_parts.insert(buffer, Rc::clone(&result));
        }
        result
    }

    fn intern_value(&mut self, value: Value<'c>) -> Result<ValueId, String> {
        if let Some(id) = self.ids.get(value) {
            return Ok(*id);
        }
        let tensor = DeviceTensor::from_type(value.r#type())
            .ok_or("an operand is no tensor of static shape")?
            .into_program_tensor();
        let def = match value.def() {
            None => ValueDef::Argument,
            Some(def) if def.is(spyre::CONSTANT) => ValueDef::Constant,
            Some(def) if def.is(spyre::LOOP) => ValueDef::Loop,
            Some(def) => match view_source(def) {
                Some(viewed) => {
                    let indices = if def.is(spyre::VIEW) { plain_view_indices(def) } else { None };
                    ValueDef::View { of: self.intern_value(viewed)?, indices }
                }
                None => ValueDef::Op,
            },
        };
        let around = value
            .def()
            .map_or_else(|| value.as_block_arg().and_then(|(block, _)| block.parent_operation()), OpExt::parent);
        let id = ValueId(self.values.len());
        self.ids.insert(value, id);
        self.values.push(value);
        let block = self.intern_block(around);
        self.plain_values.push(program::ProgramValue {
            tensor,
            def,
            block,
            base: id,
            written: id,
            owner: None,
            is_returned: is_returned(value),
            moves: Ok(Vec::new()),
        });
        let (base, written) = (self.intern_value(base_buffer_of(value))?, self.intern_value(storage_root_of(value))?);
        let owner =
            placement_owner_of(self.values[base.0]).map(|owner| self.intern_value(owner.output())).transpose()?;
        let added = &mut self.plain_values[id.0];
        (added.base, added.written, added.owner) = (base, written, owner);
        Ok(id)
    }

    /// Returns the block in an op; 0 for ops that are in no op.
    fn intern_block(&mut self, around: Option<Op<'c>>) -> BlockId {
        let Some(around) = around else { return BlockId(0) };
        self.blocks.get(around).copied().unwrap_or_else(|| {
            self.num_blocks += 1;
            self.blocks.insert(around, BlockId(self.num_blocks));
            BlockId(self.num_blocks)
        })
    }

    fn intern_loop(&mut self, around: Op<'c>) -> LoopId {
        self.loop_ids.get(around).copied().unwrap_or_else(|| {
            let id = LoopId(self.loops.len());
            self.loops.push(ProgramLoop { trips: around.required_attr("count", integer) });
            self.loop_ids.insert(around, id);
            id
        })
    }
}

const RETURN_OP: &str = "func.return";

fn is_returned(value: Value<'_>) -> bool {
    value.find_user(|user| user.is(RETURN_OP).then_some(())).is_some()
}

/// Returns whether the users of a copy may read its source instead.
///
/// Copies under other indices or in another layout remain, because users may need their sticks. A copy of a value that
/// a loop may overwrite before a use remains as well.
fn is_removable_copy(op: Op<'_>) -> bool {
    // A restickify needs its copy because it cannot pad a slice of a larger buffer.
    let is_read_by_ops_only =
        op.output().users().into_iter().all(|user| ComputeOp::from_op(user).is_some() && !user.is(spyre::RESTICKIFY));
    is_read_by_ops_only && keeps_layout(op) && !is_loop_carried(op.inputs()[0])
}

/// Returns whether a copy has the layout of its input, compacted if that is a window. A source under other indices is a
/// view without a layout.
fn keeps_layout(copy: Op<'_>) -> bool {
    let plain = |value: Value<'_>| DeviceTensor::from_type(value.r#type()).map(DeviceTensor::into_program_tensor);
    let (Some(from), Some(to)) = (plain(copy.inputs()[0]), plain(copy.output())) else { return false };
    let compact = from.compact_layout().and_then(Result::ok);
    compact.is_some() && compact == to.layout
}
