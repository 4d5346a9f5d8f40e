//! The reader of [`program::Program`].

use super::{
    Access, ComputeOp, Tensor,
    home::{home_of, is_carried, is_placed, moves_of, owner_of, shown_by, users_behind_views, written_home},
    parts_of, plain_view,
};
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{BlockLike, Op, OpExt, OpMap, OperationLike, Value, ValueExt, ValueLike, ValueMap, integer};
use program::{BlockId, Loop, LoopId, Moves, OpOperand, OpRole, Program, ResultUse, Returned, ValueDef, ValueId};
use std::rc::Rc;

/// Function as a program, with the op of each position and the value of each number.
pub struct IrProgram<'c> {
    /// The program.
    pub program: Rc<Program>,
    /// The compute ops, in order.
    pub ops: Vec<ComputeOp<'c>>,
    /// The values, by [`ValueId`].
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
    let mut reader = Reader::default();
    let ops = ComputeOp::all_in(function);
    let mut plain = Vec::with_capacity(ops.len());
    for (position, compute) in ops.iter().enumerate() {
        let next = ops.get(position + 1).map(|next| next.op);
        plain.push(Rc::new(reader.op(*compute, next).map_err(|message| (compute.op, message))?));
    }
    let Reader { loops, plain_values, values, loop_ids, .. } = reader;
    let plain_values = plain_values.into_iter().map(Rc::new).collect();
    Ok(IrProgram { program: Rc::new(Program::new(plain, loops.into(), plain_values)), ops, values, loop_ids })
}

#[derive(Default)]
struct Reader<'c> {
    /// Ids of ops that have a body, as the owners of blocks.
    blocks: OpMap<BlockId>,
    n_blocks: usize,
    loop_ids: OpMap<LoopId>,
    loops: Vec<Loop>,
    /// Uses of buffers that are written in parts.
    results_in_parts: ValueMap<Rc<ResultUse>>,
    ids: ValueMap<ValueId>,
    values: Vec<Value<'c>>,
    plain_values: Vec<program::Value>,
}

impl<'c> Reader<'c> {
    fn op(&mut self, compute: ComputeOp<'c>, next: Option<Op<'c>>) -> Result<program::Op, String> {
        let accesses = compute.accesses()?;
        let loops: Vec<LoopId> = compute.loops().into_iter().map(|around| self.loop_of(around)).collect();
        let operands = accesses.into_iter().map(|access| self.operand(access)).collect::<Result<Vec<_>, _>>()?;
        let integer = |name: &str| compute.op.attr(name).and_then(integer);
        Ok(program::Op {
            family: compute.family(),
            role: role_of(compute),
            function: compute.function().to_owned(),
            space: compute.iteration_space(),
            n_reduced: compute.n_reduced(),
            operands,
            block: self.block(compute.op.parent()),
            loops,
            is_placed: is_placed(compute.op.output()),
            result: self.result(compute.op.output()),
            is_followed_at_once: next.is_some() && compute.op.next_in_block() == next,
            number: integer(attr::SPYRE_NUMBER),
            times: integer(attr::SPYRE_TIMES).map_or(1, |times| times.max(1)),
        })
    }

    fn operand(&mut self, access: Access<'c>) -> Result<OpOperand, String> {
        let (operand, value, moves) = (self.value(access.operand)?, self.value(access.value)?, self.moves(access.operand));
        let of_value = if access.value == access.operand { moves.clone() } else { self.moves(access.value) };
        self.plain_values[value.0].moves = of_value;
        Ok(OpOperand { operand, value, access: access.access, own: access.own, moves })
    }

    fn moves(&mut self, value: Value<'c>) -> Moves {
        Ok(moves_of(value)?.iter().map(|moved| (self.loop_of(moved.around), moved.elements)).collect())
    }

    /// Returns how the memory of a result is used; equal for all parts of a buffer.
    fn result(&mut self, made: Value<'c>) -> Rc<ResultUse> {
        let buffer = written_home(made);
        if let Some(known) = self.results_in_parts.get(buffer) {
            return Rc::clone(known);
        }
        let parts = parts_of(buffer);
        // Users see the buffer with all of its parts.
        let output = parts.last().map_or(made, |part| part.insert.output());
        let users = users_behind_views(output);
        let returned = match users.iter().any(|user| user.is(RETURN)) {
            false => Returned::No,
            true if is_returned(output) => Returned::Itself,
            true => Returned::AsView,
        };
        let result = Rc::new(ResultUse {
            parts: parts.iter().map(|part| self.block(part.insert.parent())).collect(),
            is_window: Tensor::of(home_of(output).r#type()).is_some_and(|tensor| tensor.buffer_shape.is_some()),
            is_used_by_loop: users.iter().any(|user| user.is(spyre::YIELD) || user.is(spyre::LOOP)),
            returned,
        });
        if !parts.is_empty() {
            self.results_in_parts.insert(buffer, Rc::clone(&result));
        }
        result
    }

    fn value(&mut self, value: Value<'c>) -> Result<ValueId, String> {
        if let Some(id) = self.ids.get(value) {
            return Ok(*id);
        }
        let tensor = Tensor::of(value.r#type()).ok_or("an operand is no tensor of static shape")?.plain();
        let def = match value.def() {
            None => ValueDef::Argument,
            Some(def) if def.is(spyre::CONSTANT) => ValueDef::Constant,
            Some(def) if def.is(spyre::LOOP) => ValueDef::Loop,
            Some(def) => match shown_by(def) {
                Some(shown) => {
                    let indices = if def.is(spyre::VIEW) { plain_view(def) } else { None };
                    ValueDef::View { of: self.value(shown)?, indices }
                }
                None => ValueDef::Op,
            },
        };
        let around = value.def().map_or_else(|| value.arg_of().and_then(|(block, _)| block.parent_operation()), OpExt::parent);
        let id = ValueId(self.values.len());
        self.ids.insert(value, id);
        self.values.push(value);
        let block = self.block(around);
        self.plain_values.push(program::Value {
            tensor,
            def,
            block,
            base: id,
            written: id,
            owner: None,
            is_returned: is_returned(value),
            moves: Ok(Vec::new()),
        });
        let (base, written) = (self.value(home_of(value))?, self.value(written_home(value))?);
        let owner = owner_of(self.values[base.0]).map(|owner| self.value(owner.output())).transpose()?;
        let added = &mut self.plain_values[id.0];
        (added.base, added.written, added.owner) = (base, written, owner);
        Ok(id)
    }

    /// Returns the block in an op; 0 for what is in no op.
    fn block(&mut self, around: Option<Op<'c>>) -> BlockId {
        let Some(around) = around else { return BlockId(0) };
        self.blocks.get(around).copied().unwrap_or_else(|| {
            self.n_blocks += 1;
            self.blocks.insert(around, BlockId(self.n_blocks));
            BlockId(self.n_blocks)
        })
    }

    fn loop_of(&mut self, around: Op<'c>) -> LoopId {
        self.loop_ids.get(around).copied().unwrap_or_else(|| {
            let id = LoopId(self.loops.len());
            self.loops.push(Loop { trips: around.required("count", integer) });
            self.loop_ids.insert(around, id);
            id
        })
    }
}

const RETURN: &str = "func.return";

fn is_returned(value: Value<'_>) -> bool {
    value.find_user(|user| user.is(RETURN).then_some(())).is_some()
}

fn role_of(compute: ComputeOp<'_>) -> OpRole {
    let op = compute.op;
    if compute.is_insert() {
        OpRole::Insert
    } else if op.is(spyre::RESTICKIFY) {
        OpRole::Restickify
    } else if op.is(spyre::COPY) {
        OpRole::Copy { is_removable: is_removable_copy(op) }
    } else {
        OpRole::Compute
    }
}

/// Returns whether the readers of a copy may read its source instead.
///
/// Copies under other indices or in another layout stay, because readers may need their sticks; so does a copy of a value that a loop may
/// have overwritten by then.
fn is_removable_copy(op: Op<'_>) -> bool {
    // A restickify needs its copy because it cannot pad a part of a larger buffer.
    let is_read_by_ops_only = op.output().users().into_iter().all(|user| ComputeOp::of(user).is_some() && !user.is(spyre::RESTICKIFY));
    is_read_by_ops_only && keeps_layout(op) && !is_carried(op.inputs()[0])
}

/// Returns whether a copy has the layout of its input, compacted if that is a window. A source under other indices is a view without a
/// layout.
fn keeps_layout(copy: Op<'_>) -> bool {
    let plain = |value: Value<'_>| Tensor::of(value.r#type()).map(Tensor::plain);
    let (Some(from), Some(to)) = (plain(copy.inputs()[0]), plain(copy.output())) else { return false };
    let compact = from.compact_layout().and_then(Result::ok);
    compact.is_some() && compact == to.layout
}
