//! Compares the HBM traffic of our plans with that of torch-spyre's own plans, by the simulator's count.
//!
//! The table is in `docs/measurements/performance.md`, and `cargo xtask plans` rewrites it. With options of
//! `spyre-compile`, the command only prints the table for these options. A case is a program of `benches/plans`, or
//! else one of the shared inputs. torch-spyre's figures are in `torch_spyre.csv` next to the programs.

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

/// Options for another table, which is printed but compared with nothing.
const OTHER_OPTIONS: &str = "SPYRE_PLANS";

/// Cases that must be within [`CLOSE`] of the compulsory bytes ("issue 7, acceptance"), by the beginnings of their names.
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
/// How many times the compulsory bytes are close to them.
const CLOSE: f64 = 1.1;

/// Cases that are not there yet. One that gets there must leave this list.
const BEHIND: [&str; 3] = ["sdpa_causal_f16", "swiglu_m512_h4096_f12800_f16", "swigluT_m512_h4096_f12800_f16"];

/// A row of torch-spyre's table, in bytes.
struct Case {
    name: String,
    theirs: u64,
    /// Inputs and results of the graph, once.
    compulsory: u64,
}

/// HBM traffic of our plan, in bytes, with modeled times in microseconds.
struct Moved {
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

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(root().join("benches/plans/torch_spyre.csv")).unwrap();
    let case = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<u64>().unwrap();
        Case { name: fields[0].to_owned(), theirs: number(1) + number(2), compulsory: number(3) }
    };
    text.lines().skip(1).map(case).collect()
}

/// The project's own program of a case; the others are outside the repository.
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

/// Compiles the program and counts the HBM traffic of its bundle. Compiler and simulator compute the same time for the bundle of one of
/// our programs.
fn moved(program: &Path, options: &[&str]) -> Moved {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, compiled, counted) = (path("out"), path("compiled.json"), path("counted.json"));
    let arguments = [&[program.to_str().unwrap(), "-o", &out, "--validate=off", "--report", &compiled], options].concat();
    run(env!("CARGO_BIN_EXE_spyre-compile"), &arguments);
    run(env!("CARGO_BIN_EXE_spyre-run"), &[&out, "--count", "--report", &counted]);
    let counted = json(&counted);
    let total = &counted["total"];
    let bytes = total["hbm_read"].as_u64().unwrap() + total["hbm_written"].as_u64().unwrap();
    let report = json(&compiled);
    let us = report["time"]["estimate_us"].as_f64().unwrap();
    // The report rounds each launch to a nanosecond. Of tables, and of tensors that end in a stick, files say less than the compiler knows.
    let rounded_us = 1e-3 * report["launches"].as_array().unwrap().len() as f64;
    for end in ["low", "estimate", "high"].iter().filter(|_| program.starts_with(root().join("benches"))) {
        let [compiler, simulator] =
            [(&report, "us"), (&counted, "ns")].map(|(of, unit)| of["time"][format!("{end}_{unit}")].as_f64().unwrap());
        let is_equal = (compiler - simulator / 1e3).abs() <= rounded_us;
        assert!(is_equal, "{}: the compiler says {end} {compiler} us, the simulator {simulator} ns", program.display());
    }
    // Where loops cannot save traffic, the search did not run.
    let saved_us =
        report["tile_search"][0].as_object().map_or(0.0, |found| found["untiled_us"].as_f64().unwrap() - found["us"].as_f64().unwrap());
    Moved { bytes, bound: report["lower_bound"]["hbm"].as_u64().unwrap(), us, untiled_us: us + saved_us }
}

fn ratio(bytes: u64, compulsory: u64) -> f64 {
    bytes as f64 / compulsory as f64
}

fn line(case: &Case, moved: &Moved) -> String {
    let Case { name, theirs, compulsory } = case;
    let Moved { bytes, bound, us, untiled_us } = moved;
    let (their_ratio, our_ratio) = (ratio(*theirs, *compulsory), ratio(*bytes, *compulsory));
    format!("| {name} | {theirs} | {bytes} | {compulsory} | {bound} | {their_ratio:.2} | {our_ratio:.2} | {us:.1} | {untiled_us:.1} |\n")
}

/// Whether the case moves at most as much as torch-spyre and, if required, little more than the lower bound.
fn is_there(case: &Case, moved: &Moved) -> bool {
    let must_be_close = CLOSE_CASES.iter().any(|start| case.name.starts_with(start));
    moved.bytes <= case.theirs && (!must_be_close || ratio(moved.bytes, case.compulsory) <= CLOSE)
}

/// Computes the HBM traffic of our plan for each case.
fn all_moved(cases: &[Case], program: impl Fn(&str) -> PathBuf, options: &[&str]) -> Vec<Moved> {
    cases.iter().map(|case| moved(&program(&case.name), options)).collect()
}

fn table(cases: &[Case], moved: &[Moved]) -> String {
    cases.iter().zip(moved).map(|(case, moved)| line(case, moved)).collect()
}

/// The page above the table, the table, and the page below it.
fn page() -> [String; 3] {
    let page = fs::read_to_string(root().join(PAGE)).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    [before, written, after].map(str::to_owned)
}

/// The page has the lines of these cases, and lists those with more traffic.
fn check(cases: &[Case], program: impl Fn(&str) -> PathBuf) {
    let moved = all_moved(cases, program, &[]);
    let [_, written, _] = page();
    let table = table(cases, &moved);
    let missing: Vec<&str> = table.lines().filter(|line| !written.lines().any(|other| other == *line)).collect();
    assert!(missing.is_empty(), "{PAGE} is behind (cargo xtask plans): {missing:#?}");
    let is_wrongly_listed = |(case, moved): &(&Case, &Moved)| is_there(case, moved) == BEHIND.contains(&case.name.as_str());
    let wrongly_listed: Vec<&str> = cases.iter().zip(&moved).filter(is_wrongly_listed).map(|(case, _)| case.name.as_str()).collect();
    assert!(wrongly_listed.is_empty(), "cases that the list of those behind should, or should not, name: {wrongly_listed:?}");
}

#[test]
fn plans_move_what_the_page_says() {
    let mut cases = cases();
    cases.retain(|case| own_program(&case.name).is_some());
    assert!(cases.len() > 10, "{} cases are the project's own", cases.len());
    check(&cases, |case| own_program(case).unwrap());
}

#[test]
fn the_page_has_a_line_of_every_case_and_no_other() {
    let name = |line: &str| line.split(" | ").next().unwrap().trim_start_matches("| ").to_owned();
    let [_, written, _] = page();
    let rows = written.strip_prefix(HEADER).expect("the table begins with its header");
    let expected: Vec<String> = cases().into_iter().map(|case| case.name).collect();
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
    fn plans_of_exported_programs_move_what_the_page_says() {
        let mut cases = cases();
        cases.retain(|case| own_program(&case.name).is_none());
        check(&cases, program);
    }
}

/// Entry point of `cargo xtask plans`. Writes the table with `BLESS=plans`; with other options, prints the table for
/// them.
#[test]
#[ignore = "no test: `cargo xtask plans` runs this"]
fn write_the_table() {
    let (other, cases) = (env::var(OTHER_OPTIONS).ok(), cases());
    let options: Vec<&str> = other.as_deref().map(|text| text.split_whitespace().collect()).unwrap_or_default();
    let table = HEADER.to_owned() + &table(&cases, &all_moved(&cases, shared::program, &options));
    if other.is_some() {
        println!("{}\n\n{table}", options.join(" "));
        return;
    }
    assert!(bless::is_blessed("plans"), "BLESS=plans writes the table");
    let [before, _, after] = page();
    fs::write(root().join(PAGE), format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
}
