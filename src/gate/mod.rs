//! Checks invariants between phases, so that an error is reported in the phase that causes it.

mod check_sizes;
pub(crate) mod verify_phase;
