//! Compares the HBM traffic of our plans with that of torch-spyre's own plans, as counted by the simulator.
//!
//! The table is in `docs/measurements/performance.md`, and `cargo xtask plans` rewrites it. With options of
//! `spyre-compile`, the command only prints the table for these options. A case is a program of `benches/plans`, or one
//! of the shared inputs. torch-spyre's figures are in `torch_spyre.csv` next to the programs.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

use crate::common::{self, bless};
use serde_json::Value;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const PAGE: &str = "docs/measurements/performance.md";
const BEGIN: &str = "<!-- plans: begin -->\n";
const END: &str = "<!-- plans: end -->\n";
const HEADER: &str = "| case | torch-spyre | here | compulsory | bound | torch-spyre / compulsory | here / compulsory | us | us without loops |\n\
                      |---|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// Environment variable with options for another table, which is only printed.
const OTHER_OPTIONS: &str = "SPYRE_PLANS";

/// Cases that must be within [`MAX_CLOSE_RATIO`] of the compulsory bytes ("issue 7, acceptance"), by prefixes of their
/// names.
const CLOSE_CASES: [&str; 11] = [
    "softmax_",
    "layernorm_",
    "rmsnorm_",
    "mlp_gelu_",
    "swiglu_f16",
    "swiglu_m64_",
    "swiglu_m512_",
    "swigluT_m64_",
    "swigluT_m512_",
    "sdpa_f16",
    "sdpa_causal_f16",
];
/// Maximum ratio to the compulsory bytes.
const MAX_CLOSE_RATIO: f64 = 1.1;

/// Cases that exceed the ratio. Remove a case as soon as it meets the ratio.
const UNFINISHED_CASES: [&str; 1] = ["sdpa_causal_f16"];

/// A row of torch-spyre's table, in bytes.
struct TrafficCase {
    name: String,
    theirs: u64,
    /// Bytes of the inputs and results of the graph, each counted once.
    compulsory: u64,
}

/// HBM traffic of our plan, in bytes, with modeled times in microseconds.
struct PlanTraffic {
    bytes: u64,
    /// Lower bound for all plans: the compulsory bytes, and the constants that the program reads.
    bound: u64,
    /// Modeled time of our plan.
    us: f64,
    /// Modeled time of the best plan without loops.
    untiled_us: f64,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read_cases() -> Vec<TrafficCase> {
    let text = fs::read_to_string(root().join("benches/plans/torch_spyre.csv")).unwrap();
    let case = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap();
        TrafficCase { name: fields[0].to_owned(), theirs: number(1) + number(2), compulsory: number(3) }
    };
    text.lines().skip(1).map(case).collect()
}

/// Returns the project's own program of a case; the others are outside the repository.
fn own_program(case: &str) -> Option<PathBuf> {
    Some(root().join(format!("benches/plans/{case}.mlir"))).filter(|own| own.exists())
}

fn run(tool: &str, arguments: &[&str]) {
    let output = Command::new(tool).args(arguments).output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Compiles the program and counts the HBM traffic of its bundle. Checks that compiler and simulator compute the same
/// time for the bundle of one of our programs.
fn measure_traffic(program: &Path, options: &[&str]) -> PlanTraffic {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, compiled, counted) = (path("out"), path("compiled.json"), path("counted.json"));
    let arguments =
        [&[program.to_str().unwrap(), "-o", &out, "--validate=off", "--report", &compiled], options].concat();
    run(env!("CARGO_BIN_EXE_spyre-compile"), &arguments);
    run(env!("CARGO_BIN_EXE_spyre-run"), &[&out, "--count", "--report", &counted]);
    let counted = json(&counted);
    let total = &counted["total"];
    let bytes = total["hbm_read"].as_u64().unwrap() + total["hbm_written"].as_u64().unwrap();
    let report = json(&compiled);
    let us = report["time"]["estimate_us"].as_f64().unwrap();
    // The report rounds each launch to a nanosecond. Files have less information than the compiler about tables, and
    // about tensors that end inside a stick.
    let rounded_us = 1e-3 * report["launches"].as_array().unwrap().len() as f64;
    for end in ["low", "estimate", "high"].iter().filter(|_| program.starts_with(root().join("benches"))) {
        let [compiler, simulator] =
            [(&report, "us"), (&counted, "ns")].map(|(of, unit)| of["time"][format!("{end}_{unit}")].as_f64().unwrap());
        let is_equal = (compiler - simulator / 1e3).abs() <= rounded_us;
        assert!(is_equal, "{}: the compiler says {end} {compiler} us, the simulator {simulator} ns", program.display());
    }
    // Where loops cannot save traffic, the search did not run.
    let saved_us = report["tile_search"][0]
        .as_object()
        .map_or(0.0, |found| found["untiled_us"].as_f64().unwrap() - found["us"].as_f64().unwrap());
    PlanTraffic { bytes, bound: report["lower_bound"]["hbm"].as_u64().unwrap(), us, untiled_us: us + saved_us }
}

fn compute_ratio(bytes: u64, compulsory: u64) -> f64 {
    bytes as f64 / compulsory as f64
}

fn format_line(case: &TrafficCase, moved: &PlanTraffic) -> String {
    let TrafficCase { name, theirs, compulsory } = case;
    let PlanTraffic { bytes, bound, us, untiled_us } = moved;
    let (their_ratio, our_ratio) = (compute_ratio(*theirs, *compulsory), compute_ratio(*bytes, *compulsory));
    format!(
        "| {name} | {theirs} | {bytes} | {compulsory} | {bound} | {their_ratio:.2} | {our_ratio:.2} | {us:.1} | {untiled_us:.1} |\n"
    )
}

/// Returns whether the case moves at most as much as torch-spyre and, if required, little more than the lower bound.
fn meets_target(case: &TrafficCase, moved: &PlanTraffic) -> bool {
    let must_be_close = CLOSE_CASES.iter().any(|start| case.name.starts_with(start));
    moved.bytes <= case.theirs && (!must_be_close || compute_ratio(moved.bytes, case.compulsory) <= MAX_CLOSE_RATIO)
}

/// Computes the HBM traffic of our plan for each case.
fn measure_all(cases: &[TrafficCase], program: impl Fn(&str) -> PathBuf, options: &[&str]) -> Vec<PlanTraffic> {
    cases.iter().map(|case| measure_traffic(&program(&case.name), options)).collect()
}

fn format_table(cases: &[TrafficCase], moved: &[PlanTraffic]) -> String {
    cases.iter().zip(moved).map(|(case, moved)| format_line(case, moved)).collect()
}

/// Returns the page above the table, the table, and the page below it.
fn split_page() -> [String; 3] {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    [before, written, after].map(str::to_owned)
}

/// Checks that the page has the lines of these cases, and lists those with more traffic.
fn check(cases: &[TrafficCase], program: impl Fn(&str) -> PathBuf) {
    let moved = measure_all(cases, program, &[]);
    let [_, written, _] = split_page();
    let table = format_table(cases, &moved);
    let missing: Vec<&str> = table.lines().filter(|line| !written.lines().any(|other| other == *line)).collect();
    assert!(missing.is_empty(), "{PAGE} is behind (cargo xtask plans): {missing:#?}");
    let is_wrongly_listed = |(case, moved): &(&TrafficCase, &PlanTraffic)| {
        meets_target(case, moved) == UNFINISHED_CASES.contains(&case.name.as_str())
    };
    let wrongly_listed: Vec<&str> =
        cases.iter().zip(&moved).filter(is_wrongly_listed).map(|(case, _)| case.name.as_str()).collect();
    assert!(
        wrongly_listed.is_empty(),
        "cases that the list of those behind should, or should not, name: {wrongly_listed:?}"
    );
}

#[test]
fn moves_bytes_stated_on_page() {
    let mut cases = read_cases();
    cases.retain(|case| own_program(&case.name).is_some());
    assert!(cases.len() > 10, "{} cases are the project's own", cases.len());
    check(&cases, |case| own_program(case).unwrap());
}

#[test]
fn lists_every_case_and_no_other_on_page() {
    let name = |line: &str| line.split(" | ").next().unwrap().trim_start_matches("| ").to_owned();
    let [_, written, _] = split_page();
    let rows = written.strip_prefix(HEADER).expect("the table begins with its header");
    let expected: Vec<String> = read_cases().into_iter().map(|case| case.name).collect();
    assert_eq!(rows.lines().map(name).collect::<Vec<_>>(), expected, "{PAGE}: cargo xtask plans");
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    pub(crate) fn program(case: &str) -> PathBuf {
        own_program(case).unwrap_or_else(|| common::shared(&format!("inputs/torch-mlir/{case}.mlir")))
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn moves_bytes_stated_on_page_for_exported_programs() {
        let mut cases = read_cases();
        cases.retain(|case| own_program(&case.name).is_none());
        check(&cases, program);
    }
}

/// Entry point of `cargo xtask plans`. Writes the table with `BLESS=plans`; with other options, prints the table for
/// them.
#[test]
#[ignore = "no test: `cargo xtask plans` runs this"]
fn write_the_table() {
    let (other, cases) = (env::var(OTHER_OPTIONS).ok(), read_cases());
    let options: Vec<&str> = other.as_deref().map(|text| text.split_whitespace().collect()).unwrap_or_default();
    let table = HEADER.to_owned() + &format_table(&cases, &measure_all(&cases, shared::program, &options));
    if other.is_some() {
        println!("{}\n\n{table}", options.join(" "));
        return;
    }
    assert!(bless::is_blessed("plans"), "BLESS=plans writes the table");
    let [before, _, after] = split_page();
    fs::write(root().join(PAGE), format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
}
