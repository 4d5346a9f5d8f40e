//! Stage `lx`: which values live in the cores' scratchpads. The crate `scratchpad` finds the addresses.
//!
//! Definitions:
//! * *LX* is the scratchpad of a core. A buffer in LX has the same address on every core; each core holds its own slice of the value.
//! * A value is *ineligible* when it may not be in LX, whatever room there is ([`Ineligible`] says why).
//!
//! | file | what |
//! |---|---|
//! | `eligible.rs` | why a value may not be in LX |
//! | `core_view.rs` | whether all users of a buffer give each core the same part of it |
//! | `stays.rs` | the stays of the exact planner that a compiler emits |
//! | `joint/` | splits and placement together |

mod core_view;
mod eligible;
mod emit_stays;
mod stays;
mod try_splits;

pub mod joint;

pub(crate) mod clone_inputs;
pub(crate) mod divide_jointly;
pub(crate) mod plan_lx;

pub use core_view::{CoreUse, CoreView, agreed_view};
pub use eligible::{Ineligible, Mismatch};
