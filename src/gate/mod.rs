//! Checks between phases: what a phase promises, so that a mistake shows in the phase that made it.

mod check_sizes;
pub(crate) mod verify_phase;
