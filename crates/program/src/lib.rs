//! Programs as plain values, between MLIR and the algorithms of the stages.
//!
//! [`affine`] has affine expressions, [`layout`] device layouts and the indices at which ops read them. Nothing here depends on MLIR or on a
//! stage of the compiler.

pub mod affine;
pub mod dim_names;
pub mod layout;
mod operation;
mod split;
mod tile_count;
mod work_hint;

pub use operation::{DimKind, IterationDim, Operand, OperandOf, Operation, OperationError};
pub use split::{CoreOrder, SplitError, WorkSplit};
pub use tile_count::Count;
pub use work_hint::{NameError, WorkHint, dim_named};
