//! Stage `layout`: assigns each tensor element a position in device memory.
//!
//! The stage models a function as a [`LayoutFlow`], chooses stick dimensions ([`LayoutChoice`]), and inserts relayouts
//! where an op cannot read a buffer directly. Layouts, coordinates and indices are in [`program::layout`].

mod choose;
mod conflict;
mod cost;
mod flow;
mod relayout;
#[cfg(test)]
mod testing;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use choose::{LayoutChoice, StickStrategy};
pub use conflict::{LayoutConflict, LayoutConflictKind};
pub use cost::StickCost;
pub use flow::{BufferRead, BufferRole, LayoutBuffer, LayoutFlow, LayoutOp, StickRule};
pub use relayout::{RelayoutBuffer, RelayoutOption, StorageDims};
