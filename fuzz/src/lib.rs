//! The simulator alone, by path: MLIR's libraries bring a `main` of their own, and the fuzzer needs neither them nor the compiler.

#[path = "../../src/files.rs"]
pub mod files;

#[path = "../../src/target/mod.rs"]
pub mod target;

pub mod sdsc;

#[path = "../../src/sim/mod.rs"]
pub mod sim;
