//! `cargo xtask mutants`: every field of every file of a covering set of programs is changed, and the table of docs/measurements/mutants.md is written.

use crate::step::{self, cargo};

/// The test that tries a sample tries all when it is told to, and writes the table. It is built with optimisation, since there are thousands.
pub(crate) fn run(program: Option<&str>) -> Result<(), String> {
    let mut test = cargo(["test", "--release", "--test", "compiler", "--", "mutants::no_mutant_survives", "--nocapture"]);
    test.env("SPYRE_MUTANTS", "1");
    match program {
        Some(program) => test.env("SPYRE_MUTANTS_OF", program),
        None => test.env("BLESS", "mutants"),
    };
    step::run("mutants", &mut test)
}
