//! From ops with all their decisions to launchable units.
//!
//! A bundle is one kernel launch: ops and counted loops that run in order, and a pool for intermediate values. This stage partitions ops
//! into launches ([`form`]), plans the memory that launches share ([`share()`]), and describes each op in the file format's terms: an
//! [`OpSpec`] whose operands have device coordinates and a place. The next stage, [`launch`](crate::launch), assigns addresses. The
//! model, [`Bundle`], does not depend on MLIR or JSON.

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
