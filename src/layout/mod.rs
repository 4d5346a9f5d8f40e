//! Stage `layout`: assigns each tensor element a position in device memory.
//!
//! Layouts, coordinates and indices are in [`program::layout`].
//!
//! | file | what |
//! |---|---|
//! | `flow.rs` | a program as buffers and ops that read them, and whether an op can read a buffer as it lies |
//! | `relayout.rs` | the relayouts of a buffer for a reader |
//! | `choose.rs` | the choice of sticks for the whole program |
//! | `conflict.rs` | layout conflicts that no choice resolves |
//! | `cost.rs` | cost of a choice of sticks |

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
