//! What is given: the files of a bundle directory, and the arrays of the caller.
//!
//! | file | what |
//! |---|---|
//! | `directory` | the files of a directory, and nothing else |
//! | [`address_program`] | `bundle.mlir` as a program over addresses |
//! | `lives` | what dies when: read later, it is poison |
//! | `host`, `inputs` | arrays of the caller, and those that are made from a seed |
//! | [`layout`] | where their elements lie on the device |

pub mod address_program;
pub(crate) mod directory;
pub(crate) mod host;
pub(crate) mod inputs;
pub mod layout;
pub(crate) mod lives;
