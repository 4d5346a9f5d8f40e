//! Stage `lx`: chooses the values that are in the cores' scratchpads. The crate `scratchpad` assigns the addresses.
//!
//! Definitions:
//! * *LX* is the scratchpad of a core. A buffer in LX has the same address on every core; each core holds its own slice of the value.
//! * A value is *ineligible* if it may not be in LX, regardless of room ([`Ineligible`] has the reasons).
//!
//! | file | what |
//! |---|---|
//! | `eligible.rs` | why a value may not be in LX |
//! | `stays.rs` | residency intervals of the exact planner that a compiler emits |

mod eligible;
mod stays;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use eligible::Ineligible;
