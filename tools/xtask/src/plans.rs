//! `cargo xtask plans`: writes the table of plans in docs/measurements/performance.md.

use crate::step::{self, cargo};

/// Runs the test that writes the table; with other options it only prints their results. It also needs the programs
/// outside the repository.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let mut test = cargo([
        "test",
        "--quiet",
        "--test",
        "compiler",
        "--",
        "--ignored",
        "--exact",
        "plans::write_the_table",
        "--nocapture",
    ]);
    if options.is_empty() {
        test.env("BLESS", "plans")
    } else {
        test.env("SPYRE_PLANS", options.join(" "))
    };
    step::run("plans", &mut test)
}
