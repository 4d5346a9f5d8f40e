//! `cargo xtask docs`: the pages of docs/reference/generated, and docs/reference/supported-ops.md.

use crate::step::{self, cargo};

/// The test that compares the pages writes them when it is told to.
pub(crate) fn run() -> Result<(), String> {
    let mut test = cargo(["test", "--quiet", "--test", "compiler", "--", "tidy::generated_docs_are_up_to_date"]);
    step::run("docs", test.env("BLESS", "docs"))
}
