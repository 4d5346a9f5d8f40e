//! The passes of stage `lx`, and what they share: the files of the stage that know IR.

pub(crate) mod clone_inputs;
pub(crate) mod emit_stays;
pub(crate) mod plan_lx;
pub(crate) mod program;
