//! Inputs of the simulator: the files of a bundle directory, and the arrays of the caller.
//!
//! | file | what |
//! |---|---|
//! | `directory` | the files of a directory, and nothing else |
//! | [`address_program`] | `bundle.mlir` as a program over addresses |
//! | `lives` | ends of live ranges; bytes that are read later are poison |
//! | `host`, `inputs` | arrays of the caller, and arrays generated from a seed |
//! | [`layout`] | positions of their elements in device memory |

pub mod address_program;
pub(crate) mod directory;
pub(crate) mod host;
pub(crate) mod inputs;
pub mod layout;
pub(crate) mod live_ranges;
