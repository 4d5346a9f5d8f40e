//! What our plans move through HBM beside what torch-spyre's own plans move, by the simulator's count.
//!
//! The table is in `docs/performance.md`; `cargo xtask plans` rewrites it, and with options of `spyre-compile` only shows what they give.
//! A case is a program of `benches/plans`, or else one of the shared inputs; torch-spyre's figures are in `torch_spyre.csv` beside them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

mod common;

use serde_json::Value;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const PAGE: &str = "docs/performance.md";
const BEGIN: &str = "<!-- plans: begin -->\n";
const END: &str = "<!-- plans: end -->\n";
const HEADER: &str = "| case | torch-spyre | here | compulsory | bound | torch-spyre / compulsory | here / compulsory |\n\
                      |---|--:|--:|--:|--:|--:|--:|\n";

/// The options of the table.
const OPTIONS: [&str; 3] = ["--lx-planner", "exact", "--joint"];
/// Options in place of these; the table is then printed and compared with nothing.
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
const CLOSE: f64 = 1.1;

/// Cases that are not there yet. One that gets there must leave this list.
const BEHIND: [&str; 1] = ["sdpa_causal_f16"];

/// A row of torch-spyre's table, in bytes.
struct Case {
    name: String,
    theirs: u64,
    /// Inputs and results of the graph, once.
    compulsory: u64,
}

/// What our plan moves, in bytes.
struct Moved {
    bytes: u64,
    /// What no plan can beat: the compulsory bytes, and the constants that the program reads.
    bound: u64,
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

/// The case's program; none if it is a shared input and nothing is shared.
fn program(case: &str) -> Option<PathBuf> {
    let own = root().join(format!("benches/plans/{case}.mlir"));
    if own.exists() { Some(own) } else { common::shared(&format!("inputs/torch-mlir/{case}.mlir")) }
}

fn run(tool: &str, arguments: &[&str]) {
    let output = Command::new(tool).args(arguments).output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Compiles the program and counts what its bundle moves.
fn moved(program: &Path, options: &[&str]) -> Moved {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (out, compiled, counted) = (path("out"), path("compiled.json"), path("counted.json"));
    let arguments = [&[program.to_str().unwrap(), "-o", &out, "--report", &compiled], options].concat();
    run(env!("CARGO_BIN_EXE_spyre-compile"), &arguments);
    run(env!("CARGO_BIN_EXE_spyre-run"), &[&out, "--count", "--report", &counted]);
    let total = &json(&counted)["total"];
    let bytes = total["hbm_read"].as_u64().unwrap() + total["hbm_written"].as_u64().unwrap();
    Moved { bytes, bound: json(&compiled)["lower_bound"]["hbm"].as_u64().unwrap() }
}

fn ratio(bytes: u64, compulsory: u64) -> f64 {
    bytes as f64 / compulsory as f64
}

fn line(case: &Case, moved: &Moved) -> String {
    let Case { name, theirs, compulsory } = case;
    let (their_ratio, our_ratio) = (ratio(*theirs, *compulsory), ratio(moved.bytes, *compulsory));
    format!("| {name} | {theirs} | {} | {compulsory} | {} | {their_ratio:.2} | {our_ratio:.2} |\n", moved.bytes, moved.bound)
}

/// Whether the case moves no more than torch-spyre and, if that is asked of it, little more than it must.
fn is_there(case: &Case, moved: &Moved) -> bool {
    let must_be_close = CLOSE_CASES.iter().any(|start| case.name.starts_with(start));
    moved.bytes <= case.theirs && (!must_be_close || ratio(moved.bytes, case.compulsory) <= CLOSE)
}

#[test]
fn plans_move_what_the_page_says() {
    let other = env::var(OTHER_OPTIONS).ok();
    let options: Vec<&str> = other.as_deref().map_or_else(|| OPTIONS.to_vec(), |text| text.split_whitespace().collect());
    let (mut table, mut all_there) = (HEADER.to_owned(), true);
    let mut wrongly_listed = Vec::new();
    for case in cases() {
        let Some(program) = program(&case.name) else {
            all_there = false;
            continue;
        };
        let moved = moved(&program, &options);
        if is_there(&case, &moved) == BEHIND.contains(&case.name.as_str()) {
            wrongly_listed.push(case.name.clone());
        }
        table += &line(&case, &moved);
    }
    if other.is_some() {
        println!("{}\n\n{table}", options.join(" "));
        return;
    }
    check_table(&table, all_there);
    assert!(wrongly_listed.is_empty(), "cases that the list of those behind should, or should not, name: {wrongly_listed:?}");
}

/// The page has every line of the table, and no others if every case was counted.
fn check_table(table: &str, is_complete: bool) {
    let path = root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if is_complete && env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    let missing: Vec<&str> = table.lines().filter(|line| !written.lines().any(|other| other == *line)).collect();
    assert!(missing.is_empty(), "{PAGE} is behind (cargo xtask plans): {missing:#?}");
    assert!(!is_complete || written == table, "{PAGE} has other lines: cargo xtask plans");
}
