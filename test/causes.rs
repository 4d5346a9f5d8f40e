//! Tests the causes that reports give for HBM traffic above the lower bound: every reported cause holds for the
//! program.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use serde_json::Value;
use std::{collections::BTreeSet, fs, process::Command};

/// Report and `program.json` of a compiled program.
struct ReportedProgram {
    report: Value,
    program: Value,
    /// Names of the splat constants, whose elements are all equal.
    splat_constants: BTreeSet<String>,
}

fn compile(text: &str, options: &[&str]) -> ReportedProgram {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("program.mlir"), text).unwrap();
    let arguments = [&path("program.mlir"), "-o", &path("out"), "--report", &path("report.json"), "-q"];
    let output = Command::new(env!("CARGO_BIN_EXE_spyre-compile")).args(arguments).args(options).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| serde_json::from_str::<Value>(&fs::read_to_string(path(name)).unwrap()).unwrap();
    let program = read("out/program.json");
    let is_splat = |constant: &&Value| {
        let content = fs::read(path(&format!("out/{}", constant["file"].as_str().unwrap()))).unwrap();
        // Elements have 16 bits; zeros are padding.
        let numbers: BTreeSet<[u8; 2]> =
            content.chunks_exact(2).map(|bytes| [bytes[0], bytes[1]]).filter(|bits| *bits != [0; 2]).collect();
        numbers.len() <= 1
    };
    let constants = program["constants"].as_array().unwrap();
    let splat_constants =
        constants.iter().filter(is_splat).map(|constant| constant["name"].as_str().unwrap().to_owned()).collect();
    ReportedProgram { report: read("report.json"), program, splat_constants }
}

impl ReportedProgram {
    /// Checks one cause of a value against the report and `program.json`. Returns the kind of the cause.
    fn check_cause(&self, value: &Value, cause: &str) -> &'static str {
        let name = value["name"].as_str().unwrap();
        let integer_field = |field: &str| value[field].as_i64().unwrap();
        let parse_count = |text: &str| text.split_whitespace().find_map(|word| word.parse::<i64>().ok()).unwrap();
        let readers: Vec<usize> = value["readers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|op| usize::try_from(op.as_u64().unwrap()).unwrap())
            .collect();
        let op = |position: usize| &self.report["ops"][position];
        let writer = || op(usize::try_from(value["op"].as_u64().expect("an op writes it")).unwrap());
        let buffers = |list: &str| self.program[list].as_array().cloned().unwrap_or_default();
        let buffer = ["arguments", "results", "constants", "buffers"]
            .into_iter()
            .flat_map(buffers)
            .find(|buffer| buffer["name"] == name);
        let is_in = |list: &str| buffers(list).iter().any(|buffer| buffer["name"] == name);
        let (kind, holds) = match cause {
            "is a splat constant" => (
                "one number",
                is_in("constants") && self.splat_constants.contains(name) && integer_field("needed") == 0,
            ),
            "is not a program result" => ("no result", !is_in("results") && !is_in("arguments") && !is_in("constants")),
            "is a relayout copy" => ("layout", writer()["is_for_layout"] == true),
            "is a result that an op reads back" => ("read back", is_in("results") && integer_field("hbm_read") > 0),
            "uses only a part of each stick that is moved" => {
                let buffer = buffer.expect("a buffer of the program");
                let sizes = buffer["shape"].as_array().unwrap().iter().map(|size| size.as_i64().unwrap());
                let elements: i64 = sizes.product();
                let element_bytes = if buffer["element_type"] == "f32" { 4 } else { 2 };
                ("sticks", elements * element_bytes < buffer["bytes"].as_i64().unwrap())
            }
            _ if cause.starts_with("is not in LX: ") => (
                "not in LX",
                cause.strip_prefix("is not in LX: ") == writer()["reason"].as_str() && writer()["memory"] != "lx",
            ),
            _ if cause.ends_with(" operands read it") => (
                "readers",
                parse_count(cause) == i64::try_from(readers.len()).unwrap()
                    && readers.len() > 1
                    && integer_field("hbm_read") > integer_field("needed"),
            ),
            _ if cause.starts_with("a loop reads or writes the same elements ") => {
                let trips = |position: &usize| {
                    op(*position)["loops"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).product::<i64>()
                };
                ("loop", parse_count(cause) > 1 && readers.iter().any(|reader| trips(reader) % parse_count(cause) == 0))
            }
            _ => panic!("'{cause}' of '{name}' is no cause that this test knows"),
        };
        assert!(holds, "'{cause}' of '{name}' does not hold: {value:#}");
        kind
    }

    /// Checks the causes of all values. Returns the kinds of these causes.
    fn check_causes(&self) -> BTreeSet<&'static str> {
        let values = self.report["explain"]["hbm"].as_array().unwrap();
        let above_bound = values.iter().filter(|value| value["why"].is_string());
        above_bound
            .flat_map(|value| value["why"].as_str().unwrap().split("; ").map(|cause| self.check_cause(value, cause)))
            .collect()
    }
}

fn build_function(arguments: &str, results: &str, body: &str) -> String {
    format!("func.func @main({arguments}) -> {results} {{\n{body}\n}}\n")
}

#[test]
fn reads_and_writes_returned_argument_once() {
    let tensor = "tensor<64x64xf16>";
    let argument = build_function(&format!("%x: {tensor}"), tensor, &format!("return %x : {tensor}"));
    let rows = "tensor<8x64xf16>";
    let slice =
        format!("%rows = tensor.extract_slice %x[8, 0] [8, 64] [1, 1] : {tensor} to {rows}\nreturn %rows : {rows}");
    let numbers: Vec<String> = (0..64).map(|number| format!("{number}.0")).collect();
    let constant = format!(
        "%c = arith.constant dense<[[{}]]> : tensor<1x64xf16>\nreturn %c : tensor<1x64xf16>",
        numbers.join(", ")
    );
    let programs = [
        (argument, 2 * 64 * 128),
        (build_function(&format!("%x: {tensor}"), rows, &slice), 2 * 8 * 128),
        (build_function("", "tensor<1x64xf16>", &constant), 2 * 128),
    ];
    for (program, bytes) in programs {
        let compiled = compile(&program, &[]);
        assert_eq!(compiled.report["lower_bound"]["hbm"], bytes, "{program}");
        assert_eq!(compiled.report["gap"]["hbm"], 0, "{program}");
        assert!(compiled.check_causes().is_empty(), "{program}");
    }
}

#[test]
fn reports_only_true_causes() {
    let tensor = "tensor<256x256xf16>";
    let ops = |body: &str, results: &str| build_function(&format!("%x: {tensor}, %w: {tensor}"), results, body);
    let unary = |name: &str, input: &str| format!("spyre.pointwise {name}(%{input}) : {tensor}");
    let binary = |name: &str, left: &str, right: &str| format!("spyre.pointwise {name}(%{left}, %{right}) : {tensor}");
    let chain = format!("%a = {}\n%b = {}\nreturn %b : {tensor}", unary("exp", "x"), unary("tanh", "a"));
    let both = format!("%a = {}\n%b = {}\nreturn %a, %b : {tensor}, {tensor}", unary("exp", "x"), unary("tanh", "a"));
    let shared = format!(
        "%a = {}\n%b = {}\n%c = {}\nreturn %c : {tensor}",
        unary("exp", "x"),
        unary("tanh", "x"),
        binary("add", "a", "b")
    );
    let product = format!("%a = spyre.matmul(%x, %w) : ({tensor}, {tensor}) -> {tensor}\nreturn %a : {tensor}");
    let scalar_type = "tensor<1x1xf16>";
    let scaled = format!(
        "%c = spyre.constant dense<3.0> : {scalar_type}\n%s = spyre.view %c by affine_map<(d0, d1) -> (0, 0)> : {scalar_type} -> {tensor}\n%a = {}\n\
         return %a : {tensor}",
        binary("mul", "x", "s")
    );
    let column_type = "tensor<256x1xf16>";
    let sum = format!("%a = spyre.reduce sum(%x) dims [1] : {tensor} -> {column_type}\nreturn %a : {column_type}");
    let transposed = format!(
        "%t = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : {tensor} -> {tensor}\n%a = {}\nreturn %a : {tensor}",
        binary("add", "x", "t")
    );
    let without_lx_planner: &[&str] = &["--lx-planner", "none"];
    let programs = [
        (ops(&chain, tensor), without_lx_planner, &["not in LX"][..]),
        (ops(&both, &format!("({tensor}, {tensor})")), without_lx_planner, &["not in LX"]),
        (ops(&shared, tensor), without_lx_planner, &["not in LX", "readers"]),
        (ops(&product, tensor), &["--dims", "0=M:K", "--tiles", "M=4"], &["loop"]),
        (ops(&sum, column_type), &[], &["sticks"]),
        (ops(&transposed, tensor), without_lx_planner, &["layout", "readers"]),
        (ops(&scaled, tensor), &[], &["one number"]),
    ];
    for (program, options, expected) in programs {
        let found = compile(&program, options).check_causes();
        let expected: BTreeSet<&str> = expected.iter().copied().collect();
        assert!(expected.is_subset(&found), "{program}\nhas the causes {found:?}, and {expected:?} are expected");
    }
}
