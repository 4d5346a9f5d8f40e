//! `cargo xtask models`: writes the tables of docs/measurements/models.md.

use crate::step::{self, cargo};

/// Runs the benchmark that compiles, validates, executes and checks every program of the folder, and writes the tables.
pub(crate) fn run(folder: &str) -> Result<(), String> {
    step::run("models", &mut cargo(["bench", "--bench", "exports", "--", "--write", folder]))
}
