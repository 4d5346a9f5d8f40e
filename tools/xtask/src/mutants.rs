//! `cargo xtask mutants`: changes every field of every file of a covering set of programs, and writes the table of
//! docs/measurements/mutants.md.

use crate::step::{self, cargo};

/// Runs the sampling test over all mutants, and writes the table. The build is optimized, since there are thousands of
/// mutants.
pub(crate) fn run(program: Option<&str>) -> Result<(), String> {
    let mut test =
        cargo(["test", "--release", "--test", "compiler", "--", "mutants::detects_each_mutant", "--nocapture"]);
    test.env("SPYRE_MUTANTS", "1");
    match program {
        Some(program) => test.env("SPYRE_MUTANTS_OF", program),
        None => test.env("BLESS", "mutants"),
    };
    step::run("mutants", &mut test)
}
