//! Passes of stage `lx`, and the IR helpers that they share.

pub(crate) mod allocate_scratchpad;
pub(crate) mod clone_inputs;
pub(crate) mod emit_residency;
pub(crate) mod lx_program;
