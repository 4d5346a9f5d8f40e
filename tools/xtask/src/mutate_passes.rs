//! `cargo xtask mutate-passes`: mutates lines of the passes one at a time and counts how many mutants the tests detect.

use crate::step::{self, cargo};

/// Runs the tool in a folder below cargo's target. It is a separate package, since it needs a Rust parser.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let work = step::target_dir()?.join("mutate-passes");
    let mut tool = cargo(["run", "--quiet", "--package", "mutate-passes", "--"]);
    step::run("mutate-passes", tool.arg(work).args(options))
}
