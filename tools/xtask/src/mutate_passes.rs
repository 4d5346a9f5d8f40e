//! `cargo xtask mutate-passes`: breaks lines of the passes one at a time and counts what the tests notice.

use crate::step::{self, cargo};

/// The tool is a package of its own, since it needs to read Rust; it works in a folder below cargo's target.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let work = step::target_dir()?.join("mutate-passes");
    let mut tool = cargo(["run", "--quiet", "--package", "mutate-passes", "--"]);
    step::run("mutate-passes", tool.arg(work).args(options))
}
