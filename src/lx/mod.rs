//! Stage `lx`: which values live in the cores' scratchpads. The crate `scratchpad` finds the addresses.
//!
//! Definitions:
//! * *LX* is the scratchpad of a core. A buffer in LX has the same address on every core; each core holds its own slice of the value.
//! * A value is *ineligible* when it may not be in LX, whatever room there is ([`Ineligible`] says why).
//!
//! | file | what |
//! |---|---|
//! | `eligible.rs` | why a value may not be in LX |
//! | `stays.rs` | the stays of the exact planner that a compiler emits |

mod eligible;
mod stays;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use eligible::Ineligible;
