#![doc = include_str!("../README.md")]

mod access;
pub mod affine;
mod cost_op;
pub mod dim_names;
pub mod layout;
mod operation;
mod program;
mod split;
mod tile_count;
mod work_hint;

pub use access::{AccessKind, ProgramTensor, TensorAccess};
pub use cost_op::BufferNumbering;
pub use operation::{DeviceOperand, DimKind, IterationDim, UndividedOp, UndividedOpError};
pub use program::{
    BlockId, LoopId, LoopStrides, OpOperand, OpRole, OperandRef, Program, ProgramLoop, ProgramOp, ProgramValue,
    ResultUse, ReturnKind, ValueDef, ValueId,
};
pub use split::{CoreOrder, SplitError, WorkSplit};
pub use tile_count::SymbolicCount;
pub use work_hint::{DimNameError, WorkHint, find_named_dim};
