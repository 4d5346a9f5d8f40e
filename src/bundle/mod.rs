//! Stage `bundle`: partitions ops with all their decisions into kernel launches, as op specs.
//!
//! A bundle is one kernel launch: ops and counted loops that run in order, and a pool for intermediate values. The
//! stage partitions ops into launches ([`partition`]) and plans the memory that launches share
//! ([`place_shared_buffers()`]). It describes each op as an [`OpSpec`], whose operands have device coordinates and a
//! location. The next stage, [`launch`](crate::launch), assigns addresses. The model, [`Bundle`], does not depend
//! on MLIR or JSON.

mod family;
mod live_ranges;
mod mode;
mod op_spec;
pub mod partition;
mod shared_buffers;
#[cfg(test)]
pub(crate) mod testing;
mod unit_dims;
mod unroll;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use family::OpFamily;
pub(crate) use family::{is_conversion, is_identity, is_restickify, needs_outer_dim};
pub use live_ranges::{LaunchLiveRange, LaunchMemory, unroll_live_ranges};
pub use mode::{AddressMode, LoopMode};
pub use op_spec::{
    Allocation, Bundle, BundleItem, Coordinate, CoordinateSource, ElementArrangement, IterationDim, LoopSymbol,
    NamedConstant, OpSpec, OpSpecOperand, OpWindow, OwnedDim, Ownership, SymbolicDim, WindowAxis,
};
pub use shared_buffers::{SharedBuffer, place_shared_buffers};
pub use unroll::{MAX_UNROLLED_OPS, UnrollError, unroll, unrolled_order};
