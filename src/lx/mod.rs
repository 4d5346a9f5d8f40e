//! Stage `lx`: chooses the values that are in the cores' scratchpads. The crate `scratchpad` assigns the addresses.
//!
//! Definitions:
//! * *LX* is the scratchpad of a core. A buffer in LX has the same address on every core; each core holds its own slice
//!   of the value.
//! * A value is *ineligible* if it may not be in LX, regardless of room ([`Ineligible`] has the reasons).
//!
//! | file | what |
//! |---|---|
//! | `eligibility.rs` | why a value may not be in LX |
//! | `values.rs` | input of the planners: values by time, their users, their core splits |
//! | `copy_split.rs` | core split of a copy between LX and HBM |
//! | `residency.rs` | residency intervals of the exact planner that a compiler emits |
//! | `program_residency.rs` | residency intervals of a program's values, and the copies that they need |
//! | `placed_program.rs` | a program with the copies and places of a plan |

pub(crate) mod copy_split;
mod eligibility;
pub(crate) mod placed_program;
pub(crate) mod program_residency;
mod residency;
pub(crate) mod values;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use eligibility::LxIneligibility;
