//! Inputs of the simulator: the files of a bundle directory, and the arrays of the caller.

pub mod address_program;
pub(crate) mod directory;
pub(crate) mod host;
pub(crate) mod inputs;
pub mod layout;
pub(crate) mod live_ranges;
pub(crate) mod weight_blocks;
