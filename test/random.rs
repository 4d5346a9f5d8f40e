//! Tests random programs under random hints and options: each is compiled in two ways, run on the simulated machine,
//! and compared with plain Rust in f64; the two are compared with each other on elements of a finite field.
//!
//! `SPYRE_RANDOM=1000 cargo test --test compiler -- random::` runs the first thousand cases of each family,
//! `SPYRE_RANDOM=1000..2000` the next, `SPYRE_RANDOM_CASE=tiled:17` that one alone, shrunk if it fails;
//! `SPYRE_RANDOM_TABLE=1` prints all rejections.
//!
//! | family | programs |
//! |---|---|
//! | `any` | every operation that the compiler accepts (`docs/reference/supported-ops.md`), f16, bf16 and f32, sizes from 1 to 300, rank up to 6 |
//! | `views` | chains of permutations, slices, reshapes and broadcasts, one view in several spellings, and ops that read them |
//! | `tiled` | hints that tile, in nested scopes and by option, and none |
//! | `cascades` | reductions along one dimension that depend on each other, under hints that tile it |
//! | `rests` | values of 256 KiB and more, of sizes without useful divisors: a dimension with many runs is split in two |
//! | `offsets` | pads, slices, concatenations, strided reads and matmuls at any offset, sizes from 1 to 200: no offset is a reason to reject |
//! | `repeats` | repeated values that are sliced, transposed, reduced, normalized, concatenated and multiplied |
//!
//! Half of all second ways omit the hints. One program in forty also runs through `spyre-compile` and
//! `spyre-run --check`, one compilation in twelve is validated; with `SPYRE_RANDOM_VALIDATE=1` each is. A case is
//! determined by its family and its number. Cases run in batches in child processes, so that a signal is detected, too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "random/build.rs"]
mod build;
#[path = "random/cascades.rs"]
mod cascades;
#[path = "random/case.rs"]
pub(crate) mod case;
#[path = "random/check.rs"]
mod check;
#[path = "random/choices.rs"]
pub(crate) mod choices;
#[path = "random/compute.rs"]
mod compute;
#[path = "random/constants.rs"]
mod constants;
#[path = "random/generate.rs"]
pub(crate) mod generate;
#[path = "random/hints.rs"]
mod hints;
#[path = "random/lookup.rs"]
mod lookup;
#[path = "random/moves.rs"]
mod moves;
#[path = "random/number.rs"]
mod number;
#[path = "random/options.rs"]
mod options;
#[path = "random/places.rs"]
mod places;
#[path = "random/products.rs"]
mod products;
#[path = "random/run.rs"]
mod run;
#[path = "random/scalar.rs"]
mod scalar;
#[path = "random/steps.rs"]
mod steps;
#[path = "random/views.rs"]
mod views;
#[path = "random/write.rs"]
mod write;

use crate::common::{counted, listen};
use case::RandomCase;
use generate::{FAMILIES, ProgramFamily};
use run::{FinishedCase, WORK, print_line, print_rejections, report, run_cases, run_requested_cases};
use spyre_compiler::import::{OPERATIONS, OperationStatus, SCALAR_FUNCTIONS};
use std::{env, ops::Range};

/// Returns the number of cases of a family that run by default.
const fn default_cases(family: ProgramFamily) -> usize {
    match family {
        ProgramFamily::Any => 120,
        ProgramFamily::Views => 60,
        ProgramFamily::Tiled | ProgramFamily::Repeats | ProgramFamily::Cascades => 45,
        ProgramFamily::Rests => 10,
        ProgramFamily::Offsets => 60,
    }
}

/// Open defects: cases that are known to fail are skipped. Remove a case from the list when its defect is fixed.
pub(crate) const OPEN: [(&str, usize, &str); 0] = [];

/// Returns the maximum percentage of programs of a family that are rejected in both ways.
const fn max_rejected_percent(family: ProgramFamily) -> usize {
    match family {
        ProgramFamily::Any => 40,
        ProgramFamily::Views => 20,
        ProgramFamily::Tiled => 30,
        ProgramFamily::Repeats => 30,
        ProgramFamily::Cascades => 30,
        ProgramFamily::Rests => 30,
        ProgramFamily::Offsets => 5,
    }
}

/// Maximum number of failing cases that are reported in their simplest form.
const MAX_REPORTED: usize = 3;

/// Operations that the compiler accepts and that no program here contains, with the reason.
const NOT_GENERATED: [(&str, &str); 39] = [
    ("arith.ceildivui", "test/random_integers.rs draws it"),
    ("arith.shrui", "test/random_integers.rs draws it"),
    ("func.return", "it is written `return`"),
    ("spyre.*", "the dialect's own text, which `random_loops` has, and the tests of the passes"),
    ("tensor.dim", "sizes are static, so it is a number known at compile time, and a test of the import has it"),
    ("tensor.extract", "outside of bodies it is a constant's element; in bodies it is here"),
    ("linalg.conv_*", WINDOWS),
    ("linalg.depthwise_conv_*", WINDOWS),
    ("linalg.pooling_*", WINDOWS),
    ("tensor.generate", "it is made `linalg.generic` before anything else; `test/execution/choices.mlir` has it"),
    ("tosa.*", "upstream's passes lower it to what is here; `test/execution/tosa.mlir` has many"),
    ("tm_tensor.scan", "`test/execution/running_sums.mlir` has it"),
    ("tm_tensor.sort", "`test/execution/sort.mlir` has it, with ties and infinities"),
    ("tm_tensor.topk", "`test/execution/sort.mlir` has it, with ties and infinities"),
    ("tm_tensor.attention", "`test/execution/attention.mlir` has it, with masks and without"),
    ("stablehlo.case", LOWERED_BY_JAX),
    ("stablehlo.if", LOWERED_BY_JAX),
    ("stablehlo.scatter", LOWERED_BY_JAX),
    ("stablehlo.sort", LOWERED_BY_JAX),
    ("stablehlo.while", LOWERED_BY_JAX),
    ("scf.for", LOOPS),
    ("scf.while", LOOPS),
    ("scf.yield", LOOPS),
    ("scf.condition", LOOPS),
    ("math.tan", MEASURED),
    ("math.atan", MEASURED),
    ("math.atan2", MEASURED),
    ("math.asin", MEASURED),
    ("math.acos", MEASURED),
    ("math.asinh", MEASURED),
    ("math.acosh", MEASURED),
    ("math.atanh", MEASURED),
    ("math.erfc", MEASURED),
    ("math.copysign", MEASURED),
    ("math.sinh", MEASURED),
    ("math.cosh", MEASURED),
    ("math.log10", MEASURED),
    ("math.cbrt", MEASURED),
    ("math.absi", MEASURED),
];
const WINDOWS: &str = "windows are drawn as `linalg.generic`; `test/execution/windows*.mlir` have the named ops";
const LOWERED_BY_JAX: &str = "it becomes ops of `scf` and `tm_tensor`: `test/execution/left_by_jax.mlir` has it";
const LOOPS: &str = "nothing of a loop is left: `test/execution/loops.mlir` has some";
const MEASURED: &str = "not drawn yet: `test/functions.rs` has all numbers of the 16-bit format";

/// Runs one batch of cases, as a child process.
#[test]
fn runs_one_batch_in_child_process() {
    let num_failures = run_requested_cases();
    assert!(env::var(WORK).is_ok() || num_failures == 0, "{num_failures} of the cases fail");
}

/// Returns the range of cases to run: `1000`, or `1000..2000`.
fn case_range(family: ProgramFamily) -> Range<usize> {
    let Ok(text) = env::var("SPYRE_RANDOM") else { return 0..default_cases(family) };
    match text.split_once("..") {
        Some((start, end)) => start.parse().unwrap()..end.parse().unwrap(),
        None => 0..text.parse().unwrap(),
    }
}

/// Returns the failures of the cases of a family.
fn check_family(family: ProgramFamily) -> String {
    let cases = case_range(family);
    let num_cases = cases.len();
    let ran = run_cases(family, cases);
    let num_rejected = print_rejections(family, &ran);
    let failed: Vec<&FinishedCase> = ran.iter().filter(|ran| ran.outcome == "fails").collect();
    let list: String =
        failed.iter().map(|ran| format!("case {}:{}: {}\n", family.name(), ran.number, ran.message)).collect();
    // Shrinking a case is slow.
    print_line(&list);
    let is_alive = |ran: &&&FinishedCase| !ran.message.starts_with("the process");
    let reports: String =
        failed.iter().filter(is_alive).take(MAX_REPORTED).map(|ran| report(family, ran.number).0).collect();
    let mut complaints = format!("{list}{reports}");
    if ran.len() != num_cases {
        complaints += &format!("{} of {num_cases} cases of {} were run\n", ran.len(), family.name());
    }
    if num_rejected * 100 > num_cases * max_rejected_percent(family) && num_cases > 50 {
        complaints += &format!("{num_rejected} of {num_cases} programs of {} are refused\n", family.name());
    }
    complaints
}

#[test]
fn programs_are_right_or_rejected() {
    if let Ok(case) = env::var("SPYRE_RANDOM_CASE") {
        let (name, number) = case.split_once(':').unwrap();
        let (report, outcome) = report(ProgramFamily::from_name(name), number.parse().unwrap());
        println!("{report}");
        assert!(!matches!(outcome, case::RandomOutcome::Fails(..)), "{report}");
        return;
    }
    let complaints: String = FAMILIES.into_iter().map(check_family).collect();
    assert!(complaints.is_empty(), "{complaints}");
}

/// Checks that every entry of the import's tables occurs in some program, out of the first 1,000 programs.
#[test]
fn generates_every_operation() {
    let taken = OPERATIONS.iter().filter(|row| matches!(row.status, OperationStatus::LoweredTo(_))).map(|row| row.name);
    let is_generated = |name: &&str| NOT_GENERATED.iter().all(|(known, _)| known != name);
    let mut missing: Vec<&str> =
        taken.chain(SCALAR_FUNCTIONS.iter().map(|function| function.name)).filter(is_generated).collect();
    for number in 0..1_000 {
        let text = &RandomCase::from_number(ProgramFamily::Any, number).0.written[0].text;
        // The name of a family of operations ends in a star.
        missing.retain(|name| !text.contains(name.trim_end_matches('*')));
        if missing.is_empty() {
            return;
        }
    }
    panic!("no program has {missing:?}");
}

/// The family exists for dimensions that run in two segments.
#[test]
fn splits_programs_with_remainders() {
    let is_parted = |number: usize| {
        RandomCase::from_number(ProgramFamily::Rests, number).0.written.iter().any(check::peels_dimension)
    };
    assert!((0..default_cases(ProgramFamily::Rests)).any(is_parted), "the search leaves all of them in one piece");
}

/// Options and hints are drawn with a useful frequency.
#[test]
fn draws_every_option() {
    let mut missing: Vec<&str> = options::DRAWN_OPTIONS.to_vec();
    for number in 0..400 {
        for written in RandomCase::from_number(ProgramFamily::Tiled, number).0.written {
            let words = written.way.text();
            missing.retain(|name| !words.split(' ').any(|word| word == *name));
        }
    }
    assert!(missing.is_empty(), "never drawn: {missing:?}");
}
