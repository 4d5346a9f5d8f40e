//! Stage `lx`: chooses the values that are in LX, the scratchpads of the cores. The crate `scratchpad` assigns
//! addresses.
//!
//! A buffer in LX has the same address on every core, and each core has its own slice of the value. A value is
//! *ineligible* if it may not be in LX, regardless of room ([`LxIneligibility`] has the reasons).

pub(crate) mod copy_split;
mod eligibility;
pub(crate) mod placed_program;
pub(crate) mod program_residency;
mod residency;
pub(crate) mod shuffles;
pub(crate) mod values;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use eligibility::LxIneligibility;
