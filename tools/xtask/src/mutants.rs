//! `cargo xtask mutants`: mutation testing of the file format. Changes every field of every file of a set of programs
//! that covers the format, and writes the tables of docs/measurements/mutants.md.

use crate::step::{self, cargo};

/// Runs the mutation test on all mutants instead of a sample: on those of one program, or on those of all programs,
/// after which it writes the tables. The build is optimized, since there are thousands of mutants.
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
