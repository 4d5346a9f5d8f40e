//! Stage `lx`: chooses the values that are in the cores' scratchpads. The crate `scratchpad` assigns the addresses.
//!
//! Definitions:
//! * *LX* is the scratchpad of a core. A buffer in LX has the same address on every core; each core holds its own slice of the value.
//! * A value is *ineligible* if it may not be in LX, regardless of room ([`Ineligible`] has the reasons).
//!
//! | file | what |
//! |---|---|
//! | `eligible.rs` | why a value may not be in LX |
//! | `values.rs` | input of the planners: values by time, their users, their core splits |
//! | `copy_split.rs` | core split of a copy between LX and HBM |
//! | `stays.rs` | residency intervals of the exact planner that a compiler emits |
//! | `stay_plan.rs` | residency intervals of a program's values, and the copies that they need |
//! | `realize.rs` | a program with the copies and places of a plan |

pub(crate) mod copy_split;
mod eligible;
pub(crate) mod realize;
pub(crate) mod stay_plan;
mod stays;
pub(crate) mod values;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use eligible::LxIneligibility;
