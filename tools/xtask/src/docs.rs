//! `cargo xtask docs`: generates the pages of docs/reference/generated, and docs/reference/supported-ops.md.

use crate::step::{self, cargo};

/// Runs the tests that compare the generated pages, in the mode in which they write them.
pub(crate) fn run() -> Result<(), String> {
    let mut test = cargo(["test", "--quiet", "--workspace", "--test", "compiler", "--", "generated_docs"]);
    step::run("docs", test.env("BLESS", "docs"))
}
