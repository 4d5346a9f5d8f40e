//! The models of the files.

#[path = "../../src/sdsc/model/mod.rs"]
pub mod model;
#[path = "../../src/sdsc/program.rs"]
pub mod program;
