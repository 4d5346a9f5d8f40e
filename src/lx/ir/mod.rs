//! Passes of stage `lx`, and code that they share: the files of the stage that use IR.

pub(crate) mod allocate_scratchpad;
pub(crate) mod clone_inputs;
pub(crate) mod emit_residency;
pub(crate) mod lx_program;
