//! HBM traffic of the softmax of the seed document when more and more of its values are in LX, as counted by the
//! simulator.
//!
//! The table is in `docs/reference/simulator.md`;
//! `BLESS=softmax_traffic cargo test --test compiler -- softmax_traffic::` rewrites it.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::bless;
use std::{
    env, fs,
    io::Write,
    process::{Command, Stdio},
};

const ROWS: i64 = 512;
const COLUMNS: i64 = 1024;
const BEGIN: &str = "<!-- softmax: begin -->\n";
const END: &str = "<!-- softmax: end -->\n";

/// Set of values that are resident in LX.
#[derive(Clone, Copy)]
enum LxPlan {
    Nothing,
    Reductions,
    InPlace,
    Cloned,
}

/// Returns a softmax over `dim` of a matrix: max, sub, exp, sum, realdiv.
fn softmax_program(dim: usize) -> String {
    let (kept, size) = if dim == 0 { ("d1", COLUMNS) } else { ("d0", ROWS) };
    let kinds = if dim == 0 { r#"["reduction", "parallel"]"# } else { r#"["parallel", "reduction"]"# };
    let (matrix, vector) = (format!("tensor<{ROWS}x{COLUMNS}xf16>"), format!("tensor<{size}xf16>"));
    let reduce = |name: &str, op: &str, input: &str, start: &str| {
        format!(
            "%{name}_start = arith.constant {start} : f16\n%{name}_fill = linalg.fill ins(%{name}_start : f16) outs(%v : {vector}) -> {vector}\n\
             %{name} = linalg.generic {{indexing_maps = [#matrix, #vector], iterator_types = {kinds}}} ins({input} : {matrix})\n\
             outs(%{name}_fill : {vector}) {{\n^bb0(%a: f16, %b: f16):\n%c = {op} %a, %b : f16\nlinalg.yield %c : f16\n}} -> {vector}\n"
        )
    };
    let combine = |name: &str, op: &str, input: &str, by: &str| {
        format!(
            "%{name} = linalg.generic {{indexing_maps = [#matrix, #vector, #matrix], iterator_types = [\"parallel\", \"parallel\"]}}\n\
             ins({input}, {by} : {matrix}, {vector}) outs(%m : {matrix}) {{\n^bb0(%a: f16, %b: f16, %o: f16):\n%c = {op} %a, %b : f16\n\
             linalg.yield %c : f16\n}} -> {matrix}\n"
        )
    };
    format!(
        "#matrix = affine_map<(d0, d1) -> (d0, d1)>\n#vector = affine_map<(d0, d1) -> ({kept})>\n\
         func.func @softmax(%x: {matrix}) -> {matrix} {{\n%m = tensor.empty() : {matrix}\n%v = tensor.empty() : {vector}\n\
         {}{}%exp = linalg.exp ins(%sub : {matrix}) outs(%m : {matrix}) -> {matrix}\n{}{}return %div : {matrix}\n}}\n",
        reduce("max", "arith.maximumf", "%x", "0xFC00"),
        combine("sub", "arith.subf", "%x", "%max"),
        reduce("sum", "arith.addf", "%exp", "0.0"),
        combine("div", "arith.divf", "%exp", "%sum"),
    )
}

/// Runs a tool on a text and returns its output.
fn run_tool(tool: &str, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(tool).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{tool} {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

const COMPILE: &str = env!("CARGO_BIN_EXE_spyre-compile");
const OPT: &str = env!("CARGO_BIN_EXE_spyre-opt");

/// Returns the program with a location for every value.
fn plan_program(program: &str, cores: &str, plan: LxPlan) -> String {
    let to = |phase: &str, planner: &str| {
        run_tool(COMPILE, &["-", "--cores", cores, "--compile-to", phase, "--lx-planner", planner], program)
    };
    match plan {
        LxPlan::Nothing => to("lx", "none"),
        LxPlan::Reductions => {
            let text = to("lx", "none");
            let lines = text
                .lines()
                .map(|line| if line.contains("spyre.reduce") { place_in_lx(line) } else { line.to_owned() });
            lines.map(|line| line + "\n").collect()
        }
        LxPlan::InPlace => run_tool(OPT, &["-", "--spyre-allocate-scratchpad=planner=greedy"], &to("work", "greedy")),
        LxPlan::Cloned => to("lx", "greedy"),
    }
}

/// Returns the line of an op, with the result at the start of LX.
fn place_in_lx(line: &str) -> String {
    let (before, place) = line.split_once("#spyre.place<hbm").unwrap();
    let (_, after) = place.split_once(">, ").unwrap();
    format!("{before}#spyre.place<lx, 0>, {after}")
}

/// Counts the elements that cross HBM from the emitted files; the run agrees with MLIR's JIT.
fn count_hbm_elements(dim: usize, cores: &str, plan: LxPlan) -> i64 {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let program = softmax_program(dim);
    fs::write(path("softmax.mlir"), &program).unwrap();
    let lowered =
        run_tool(OPT, &["-", "--spyre-form-bundles", "--spyre-lower-to-sdsc"], &plan_program(&program, cores, plan));
    run_tool(env!("CARGO_BIN_EXE_spyre-translate"), &["--mlir-to-bundle", "-", "-o", &path("out")], &lowered);
    let (out, module, report) = (path("out"), path("softmax.mlir"), path("report.json"));
    run_tool(env!("CARGO_BIN_EXE_spyre-run"), &[&out, "--check", &module, "--report", &report], "");
    let report: serde_json::Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let bytes = |member: &str| report["total"][member].as_i64().unwrap();
    (bytes("hbm_read_elements") + bytes("hbm_written_elements")) / 2
}

#[test]
fn moves_elements_stated_in_seed_document() {
    let area = ROWS * COLUMNS;
    let mut table = String::from(
        "| in LX | formula | over dimension 1 (rows), 32 cores | over dimension 0 (columns), 1 core |\n|---|---|---|---|\n",
    );
    for (plan, name, formula, matrices, vectors) in [
        (LxPlan::Nothing, "nothing", "8MN + 4R", 8, 4),
        (LxPlan::Reductions, "the two reductions", "8MN", 8, 0),
        (LxPlan::InPlace, "also sub and exp, in place", "3MN", 3, 0),
        (LxPlan::Cloned, "also a copy of the input", "2MN", 2, 0),
    ] {
        let (rows, columns) = (count_hbm_elements(1, "32", plan), count_hbm_elements(0, "1", plan));
        assert_eq!(rows, matrices * area + vectors * ROWS, "{name}, over dimension 1");
        assert_eq!(columns, matrices * area + vectors * COLUMNS, "{name}, over dimension 0");
        table += &format!("| {name} | {formula} | {rows} | {columns} |\n");
    }
    check_table(&table);
}

fn check_table(table: &str) {
    bless::expect_on_page("docs/reference/simulator.md", [BEGIN, END], table, "softmax_traffic");
}
