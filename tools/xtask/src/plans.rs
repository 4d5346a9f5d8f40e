//! `cargo xtask plans`: the table of plans in docs/performance.md.

use crate::step::{self, cargo};

/// The test that compares the table writes it when it is told to; with other options it only prints what they give.
pub(crate) fn run(options: &[&str]) -> Result<(), String> {
    let mut test = cargo(["test", "--quiet", "--test", "plans", "--", "plans_move_what_the_page_says", "--nocapture"]);
    if options.is_empty() {
        test.env("BLESS", "1")
    } else {
        test.env("SPYRE_PLANS", options.join(" "))
    };
    step::run("plans", &mut test)
}
