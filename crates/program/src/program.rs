//! The compute ops of a function in program order, with the values that they access and the loops around them.

use crate::access::{ProgramTensor, TensorAccess};
use machine::{DeviceFunction, Family};
use std::{cell::OnceCell, ops::RangeInclusive, rc::Rc};

/// Defines index types, so that positions in different lists cannot be confused.
macro_rules! index_types {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $($(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);)+
    };
}

index_types! {
    /// Index into [`Program::values`].
    ValueId,
    /// Index into [`Program::loops`].
    LoopId,
    /// Number of a block; 0 if no op encloses it.
    BlockId,
}

/// Operand of an op in a sequence of ops: a pair of op position and operand index, which have no meaning alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperandRef {
    /// Position of the op.
    pub op: usize,
    /// Index of the operand; the result comes after the inputs.
    pub operand: usize,
}

/// The compute ops of a function in program order; time is the position of an op.
#[derive(Clone, Debug)]
pub struct Program {
    /// The ops.
    pub ops: Vec<Rc<ProgramOp>>,
    /// The loops around ops.
    pub loops: Rc<[ProgramLoop]>,
    /// The values that ops access, and the values that they view.
    pub values: Vec<Rc<ProgramValue>>,
    /// Derived tables, computed at first use.
    tables: OnceCell<UseDefTables>,
}

/// Tables that follow from the ops of a program.
#[derive(Clone, Debug)]
struct UseDefTables {
    /// For each loop the times of its body.
    loop_times: Vec<Option<RangeInclusive<usize>>>,
    /// For each value that represents all writes to its memory ([`ProgramValue::written`]) the ops that write it.
    writers: Vec<Vec<usize>>,
    /// For each such value the operands that read it.
    readers: Vec<Vec<OperandRef>>,
}

/// Loop around ops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramLoop {
    /// Trip count; the maximum if the count is known only at launch.
    pub trips: i64,
}

/// Compute op.
#[derive(Clone, Debug)]
pub struct ProgramOp {
    /// How the device function uses the iteration space.
    pub family: Family,
    /// Role of the op, as far as passes handle it differently from other ops of its family.
    pub role: OpRole,
    /// Name of the device function in the files.
    pub function: String,
    /// Sizes of the iteration dimensions: output dimensions, then reduced ones.
    pub space: Vec<i64>,
    /// Number of reduced dimensions.
    pub num_reduced: usize,
    /// The operands that the op reads, then its result.
    pub operands: Vec<OpOperand>,
    /// The block of the op.
    pub block: BlockId,
    /// The loops around the op, outermost first.
    pub loops: Vec<LoopId>,
    /// Whether the op writes its result into a larger buffer.
    pub is_placed: bool,
    /// How the memory of the result is used.
    pub result: Rc<ResultUse>,
    /// Whether the next op of the block is the next compute op.
    pub is_followed_at_once: bool,
    /// Number of the op in a candidate of a search.
    pub number: Option<i64>,
    /// Number of times that loops compute the same result.
    pub times: i64,
}

/// Role of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpRole {
    /// Computes its device function.
    Compute,
    /// Copies a value to a separate buffer.
    Copy {
        /// Whether readers may read the source instead: the copy has its layout, no loop overwrites the source, and
        /// only ops that can read the source read the copy.
        is_removable: bool,
    },
    /// Changes the layout of a value.
    Restickify {
        /// Whether it can read a value in LX.
        reads_lx: bool,
        /// Whether it can write its result to LX.
        writes_lx: bool,
    },
    /// Writes a slice of a buffer.
    Insert,
}

/// Elements of device memory by which loops move a window in each iteration; an error if a loop tiles a buffer where
/// its layout cannot be tiled.
pub type LoopStrides = Result<Vec<(LoopId, i64)>, String>;

/// Operand of an op.
#[derive(Clone, Debug)]
pub struct OpOperand {
    /// The operand itself, which may be a view.
    pub operand: ValueId,
    /// The accessed value, at the root of all views.
    pub value: ValueId,
    /// Elements that the op accesses.
    pub access: TensorAccess,
    /// The iteration dimension, and the first index, of each dimension of `operand`.
    pub own: Vec<(Option<usize>, i64)>,
    /// Elements of device memory by which loops move the operand.
    pub moves: LoopStrides,
}

/// How the memory of an op's result is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultUse {
    /// The blocks of the inserts that write the slices of the buffer.
    pub parts: Vec<BlockId>,
    /// Whether the complete value is a window of a larger buffer.
    pub is_window: bool,
    /// Whether a loop yields, reads or carries it.
    pub is_used_by_loop: bool,
    /// Whether the function returns it or a view of it.
    pub returned: ReturnKind,
}

/// Whether a function returns a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnKind {
    /// Neither the value nor a view of it.
    #[default]
    No,
    /// A view of it only.
    AsView,
    /// The value itself.
    Itself,
}

/// Value that ops access.
#[derive(Clone, Debug)]
pub struct ProgramValue {
    /// Its type.
    pub tensor: ProgramTensor,
    /// Its definition.
    pub def: ValueDef,
    /// The block of its definition, or whose argument it is.
    pub block: BlockId,
    /// The value that names its buffer.
    pub base: ValueId,
    /// The value that represents all writes to its memory.
    pub written: ValueId,
    /// The result of the op that owns the buffer: its first writer, or the definition of a buffer that is written in
    /// slices; `None` for an argument.
    pub owner: Option<ValueId>,
    /// Whether the function returns it.
    pub is_returned: bool,
    /// Elements of device memory by which loops move it; empty for a value that is not the [`OpOperand::value`] of an
    /// operand.
    pub moves: LoopStrides,
}

/// Definition of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Argument of the function or of a loop.
    Argument,
    /// Constant.
    Constant,
    /// Result of a loop.
    Loop,
    /// Result of another op.
    Op,
    /// View of another value.
    View {
        /// The viewed value.
        of: ValueId,
        /// For each dimension of the viewed value the dimension of the view that indexes it, and the first index;
        /// `None` for other indices.
        indices: Option<Vec<(Option<usize>, i64)>>,
    },
}

impl UseDefTables {
    fn new(program: &Program) -> Self {
        let num_values = program.values.len();
        let mut tables = Self {
            loop_times: vec![None; program.loops.len()],
            writers: vec![Vec::new(); num_values],
            readers: vec![Vec::new(); num_values],
        };
        for (time, op) in program.ops.iter().enumerate() {
            for (operand, of_op) in op.operands.iter().enumerate() {
                let written = program.value(of_op.value).written;
                if operand + 1 == op.operands.len() {
                    tables.writers[written.0].push(time);
                } else {
                    tables.readers[written.0].push(OperandRef { op: time, operand });
                }
            }
            for around in &op.loops {
                let times = &mut tables.loop_times[around.0];
                *times = Some(times.as_ref().map_or(time, |times| *times.start())..=time);
            }
        }
        tables
    }
}

impl ProgramOp {
    /// Returns the operands that the op reads.
    #[must_use]
    pub fn inputs(&self) -> &[OpOperand] {
        self.operands.split_last().map_or(&[], |(_, reads)| reads)
    }

    /// Returns the written operand.
    ///
    /// # Panics
    /// Never: an op has a result.
    #[must_use]
    pub fn output(&self) -> &OpOperand {
        self.operands.last().expect("an op has a result")
    }

    /// Returns whether the op writes a slice of a buffer.
    #[must_use]
    pub fn is_insert(&self) -> bool {
        self.role == OpRole::Insert
    }

    /// Returns whether the op accesses only a part of an operand's elements.
    #[must_use]
    pub fn accesses_partially(&self, operand: usize) -> bool {
        self.operands[operand].access.is_partial(&self.space)
    }

    /// Returns whether the op can read values from LX: any op but some restickifies.
    #[must_use]
    pub const fn can_read_lx(&self) -> bool {
        !matches!(self.role, OpRole::Restickify { reads_lx: false, .. })
    }

    /// Returns whether the back end lets the op's result be in LX (torch-spyre facts, F.1: the list of functions).
    #[must_use]
    pub fn may_be_in_lx(&self) -> bool {
        let row = match self.family {
            Family::Matmul => return true,
            Family::Copy => {
                return matches!(
                    self.role,
                    OpRole::Copy { .. } | OpRole::Insert | OpRole::Restickify { writes_lx: true, .. }
                );
            }
            Family::Gather => return false,
            Family::Pointwise => DeviceFunction::find_pointwise(&self.function),
            Family::Reduce => DeviceFunction::find_reduce(&self.function),
        };
        row.is_some_and(|row| row.lx)
    }
}

impl Program {
    /// Returns a program of these ops.
    #[must_use]
    pub const fn new(ops: Vec<Rc<ProgramOp>>, loops: Rc<[ProgramLoop]>, values: Vec<Rc<ProgramValue>>) -> Self {
        Self { ops, loops, values, tables: OnceCell::new() }
    }

    fn tables(&self) -> &UseDefTables {
        self.tables.get_or_init(|| UseDefTables::new(self))
    }

    /// Returns a value.
    #[must_use]
    pub fn value(&self, id: ValueId) -> &ProgramValue {
        &self.values[id.0]
    }

    /// Returns an operand of an op; the result comes after those that it reads.
    #[must_use]
    pub fn operand(&self, of: OperandRef) -> &OpOperand {
        &self.ops[of.op].operands[of.operand]
    }

    /// Returns the result of the op at a time.
    #[must_use]
    pub fn result(&self, time: usize) -> ValueId {
        self.ops[time].output().operand
    }

    /// Returns the operand of the op at a time that is its result.
    #[must_use]
    pub fn written_operand(&self, time: usize) -> OperandRef {
        OperandRef { op: time, operand: self.ops[time].operands.len() - 1 }
    }

    /// Returns the ops that write a value, in order: one; for a value that a loop carries, the one that defines it and
    /// those that overwrite it; for a buffer that is written in slices, those that write the slices.
    #[must_use]
    pub fn writers(&self, value: ValueId) -> &[usize] {
        &self.tables().writers[self.value(value).written.0]
    }

    /// Returns the operands that read a value.
    #[must_use]
    pub fn readers(&self, value: ValueId) -> &[OperandRef] {
        &self.tables().readers[self.value(value).written.0]
    }

    /// Returns the interval in which `user` needs a value whose definition is inside the loops `around_value`. If
    /// `user` is in another loop, it needs the value in every iteration of that loop: from its first op to its last.
    #[must_use]
    pub fn use_interval(&self, around_value: &[LoopId], user: usize) -> RangeInclusive<usize> {
        let entered = self.ops[user].loops.iter().find(|around| !around_value.contains(around));
        entered.and_then(|entered| self.tables().loop_times[entered.0].clone()).unwrap_or(user..=user)
    }

    /// Returns the value at the root of the views of `value` that only permute, shift, add or drop dimensions; a view
    /// with a layout is a root.
    #[must_use]
    pub fn strip_plain_views(&self, value: ValueId) -> ValueId {
        match &self.value(value).def {
            ValueDef::View { of, indices: Some(_) } => self.strip_plain_views(*of),
            _ => value,
        }
    }
}
