//! From ops with all their decisions to launchable units.
//!
//! A bundle is one kernel launch: ops and counted loops that run in order, and a pool for what they leave each other. This stage decides
//! which ops are one launch ([`form`]), what memory launches share ([`share()`]), and what each op is in the terms of the file format: an
//! [`OpSpec`], whose operands have coordinates on the device and a place. Which addresses follow from it is the next stage's question
//! ([`launch`](crate::launch)). The model, [`Bundle`], knows nothing of MLIR or of JSON.

mod family;
pub mod form;
mod lives;
mod mode;
mod op_spec;
mod share;
#[cfg(test)]
pub(crate) mod testing;
mod unit_dims;
mod unroll;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use family::OpFamily;
pub(crate) use family::{is_conversion, is_identity, is_restickify, needs_outer_dim};
pub use lives::{Life, Scratch, unrolled_lives};
pub use mode::{Addresses, Loops};
pub use op_spec::{
    Allocation, Arrangement, Bundle, Constant, Coordinate, Item, IterationDim, LoopSymbol, Mover, OpSpec, Operand, OwnedDim, Ownership,
    SymbolicDim, Window, WindowAxis,
};
pub use share::{SharedBuffer, share};
pub use unroll::{MAX_UNROLLED_OPS, UnrollError, unroll};
