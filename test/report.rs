//! Output of the tools about a compilation: the report and the summary, as snapshots.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::schemas;
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path, process::Command};

fn compile(program: &str, more: &[&str]) -> (Value, String) {
    let input = Path::new("test/pipeline").join(program).join("01-input.mlir");
    compile_file(Path::new(env!("CARGO_MANIFEST_DIR")), &input, more)
}

/// Returns the report and the summary of a file, with its path relative to `folder`.
fn compile_file(folder: &Path, input: &Path, more: &[&str]) -> (Value, String) {
    let place = tempfile::tempdir().unwrap();
    let (out, report) = (place.path().join("out"), place.path().join("report.json"));
    let output = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .current_dir(folder)
        .arg(input)
        .args(["-o", out.to_str().unwrap(), "--validate=off", "--report", report.to_str().unwrap()])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = String::from_utf8(output.stdout).unwrap().replace(out.to_str().unwrap(), "OUT");
    let report = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    schemas::expect_schema("report", &report);
    (report, summary)
}

#[test]
fn moves_only_input_and_result_of_softmax() {
    let (report, summary) = compile("softmax", &[]);
    assert_eq!(report["total"]["hbm_read"], 64 * 256 * 2, "the input, once");
    assert_eq!(report["total"]["hbm_written"], 64 * 256 * 2, "the result, once");
    insta::assert_snapshot!("softmax_summary", summary);
    insta::assert_json_snapshot!("softmax_report", report);
}

#[test]
fn reports_tiles_and_decisions() {
    let (report, summary) = compile("add_mul", &["--dims", "0=A:B", "--tiles", "A=2,B=4", "--lx-planner", "none"]);
    insta::assert_snapshot!("add_mul_summary", summary);
    insta::assert_json_snapshot!("add_mul_report", report);
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

#[test]
fn traces_ops_on_their_cores() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let words =
        ["examples/softmax.mlir", "-o", &path("out"), "--report", &path("report.json"), "--trace", &path("trace.json")];
    let done = Command::new(env!("CARGO_BIN_EXE_spyre-compile")).args(words).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read = |name: &str| serde_json::from_str::<Value>(&fs::read_to_string(path(name)).unwrap()).unwrap();
    let (report, trace) = (read("report.json"), read("trace.json"));
    let events = trace["traceEvents"].as_array().unwrap();
    let first = events.iter().filter(|event| event["ph"] == "X" && event["tid"] == 0);
    let us: Vec<&Value> = first.map(|event| &event["dur"]).collect();
    assert_eq!(us, report["ops"].as_array().unwrap().iter().map(|op| &op["us"]).collect::<Vec<_>>());
}

#[test]
fn writes_several_reports_and_traces() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let compile = |words: &[[&str; 2]]| {
        let given = words.iter().flat_map(|[option, name]| [(*option).to_owned(), path(name)]);
        Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
            .args(["examples/softmax.mlir", "--validate=off", "-o", &path("out")])
            .args(given)
            .output()
            .unwrap()
    };
    let done = compile(&[["--report", "a.html"], ["--report", "a.json"], ["--trace", "t.json"], ["--trace", "u.json"]]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    assert!(read("a.html").starts_with("<!doctype html>") && read("a.json").starts_with("{\n  \"version\""));
    assert!(read("t.json") == read("u.json") && read("t.json").contains("traceEvents"));
    for (words, wanted) in [
        (
            [["--report", "b.html"], ["--report", "b.txt"]],
            "--report: expected a file name that ends in '.json' or '.html', found",
        ),
        ([["--trace", "b.json"], ["--trace", "b.html"]], "--trace: expected a file name that ends in '.json', found"),
        ([["--report", "b.json"], ["--trace", "b.json"]], "--trace: expected different output files, found"),
    ] {
        let rejected = compile(&words);
        let said = String::from_utf8_lossy(&rejected.stderr);
        assert_eq!((rejected.status.code(), said.contains(wanted)), (Some(1), true), "{said}");
        assert!(!place.path().join("b.html").exists() && !place.path().join("b.json").exists(), "nothing is written");
    }
}

#[test]
fn names_module_from_location() {
    let program = "func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
      %0 = spyre.pointwise exp(%x) : tensor<64x64xf16> loc(\"layers.3.act\"(\"model.py\":7:1))
      %1 = spyre.pointwise reciprocal(%0) : tensor<64x64xf16>
      return %1 : tensor<64x64xf16>
    }";
    let (report, _) = compile_text(program, &[]);
    let modules: Vec<&Value> = report["ops"].as_array().unwrap().iter().map(|op| &op["module"]).collect();
    assert_eq!(modules, [&Value::from("layers.3.act"), &Value::Null]);
}

/// Returns layers of one matmul each, with equal or different weights.
fn layers_program(weights: [&str; 3]) -> String {
    let product = |layer: usize, weight: &str| {
        format!(
            "%w{layer} = arith.constant dense<{weight}> : tensor<64x64xf16>
      %y{layer} = spyre.matmul(%x{layer}, %w{layer}) : (tensor<512x64xf16>, tensor<64x64xf16>) -> tensor<512x64xf16>
      %x{} = spyre.pointwise exp(%y{layer}) : tensor<512x64xf16>
      ",
            layer + 1
        )
    };
    let body: String = weights.iter().enumerate().map(|(layer, weight)| product(layer, weight)).collect();
    format!(
        "func.func @main(%x0: tensor<512x64xf16>) -> tensor<512x64xf16> {{\n      {body}return %x3 : tensor<512x64xf16>\n    }}"
    )
}

#[test]
fn counts_equal_weights_per_use_next_to_bound() {
    let weight = |first: u8| format!("\"0x{}\"", format!("{first:02x}3c003c").repeat(64 * 32));
    let (one, two, three) = (weight(1), weight(2), weight(3));
    let (equal, _) = compile_text(&layers_program([&one, &one, &one]), &["--lx-bytes", "16384"]);
    let (different, _) = compile_text(&layers_program([&one, &two, &three]), &["--lx-bytes", "16384"]);
    let weight = 64 * 64 * 2;
    assert_eq!(read_bytes(&equal, "lower_bound", "hbm") + 2 * weight, read_bytes(&different, "lower_bound", "hbm"));
    assert_eq!(equal["lower_bound"]["hbm_per_use"], different["lower_bound"]["hbm"], "{}", equal["explain"]["hbm"]);
    assert_eq!(equal["lower_bound"]["us_per_use"], different["lower_bound"]["us"]);
    for name in ["hbm_per_use", "us_per_use"] {
        assert_eq!(different["lower_bound"][name], Value::Null);
    }
}

fn read_bytes(report: &Value, part: &str, name: &str) -> i64 {
    report[part][name].as_i64().unwrap()
}

#[test]
fn includes_required_reads_and_writes_of_gather_in_bound() {
    let program = |function: &str| {
        format!(
            "func.func @main(%table: tensor<512x128xf16>, %rows: tensor<64xi32>) -> tensor<64x128xf16> {{
      %chosen = spyre.gather(%table, %rows) dim 0 : (tensor<512x128xf16>, tensor<64xi32>) -> tensor<64x128xf16>
      %result = spyre.pointwise {function} : tensor<64x128xf16>
      return %result : tensor<64x128xf16>
    }}"
        )
    };
    let (report, summary) = compile_text(&program("mul(%chosen, %chosen)"), &[]);
    let rows = 64 * 128 * 2;
    assert_eq!(
        (read_bytes(&report, "lower_bound", "through_hbm"), &report["lower_bound"]["binding"]),
        (2 * rows, &Value::from("functions"))
    );
    assert_eq!(
        (read_bytes(&report, "lower_bound", "hbm"), read_bytes(&report, "gap", "hbm")),
        (256 + 4 * rows, 0),
        "{summary}"
    );
    assert_eq!(read_bytes(&report, "lower_bound", "hbm_of_any_indices"), 256 + 3 * rows + 256, "one row of the table");

    // A function of one operand is computed by the gather.
    let (report, summary) = compile_text(&program("exp(%chosen)"), &[]);
    assert_eq!(
        (&report["lower_bound"]["through_hbm"], &report["lower_bound"]["binding"]),
        (&Value::Null, &Value::from("compulsory"))
    );
    assert_eq!(
        (read_bytes(&report, "lower_bound", "hbm"), read_bytes(&report, "gap", "hbm")),
        (256 + 2 * rows, 0),
        "{summary}"
    );
}

#[test]
fn includes_tile_fetches_of_product_larger_than_lx_in_bound() {
    let program = "func.func @main(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
      %product = spyre.matmul(%a, %b) : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
      return %product : tensor<512x512xf16>
    }";
    let (report, summary) = compile_text(program, &["--cores", "1", "--lx-bytes", "8192"]);
    // 2 * 2^27 / sqrt(4096) - 2 * 4096 elements of two bytes.
    assert!(
        (8_371_000..=8_372_224).contains(&read_bytes(&report, "lower_bound", "products")),
        "{}",
        report["lower_bound"]
    );
    assert_eq!((&report["lower_bound"]["binding"], read_bytes(&report, "gap", "hbm")), (&Value::from("products"), 0));
    assert!(summary.contains("; with this LX size, the matmuls must read at least 7.98 MiB"), "{summary}");
    let (report, summary) = compile_text(program, &[]);
    assert_eq!(report["lower_bound"]["binding"], "compulsory");
    assert!(!summary.contains("matmuls must read"), "{summary}");
}

#[test]
fn bounds_program_independently_of_layouts() {
    let program = "func.func @main(%x: tensor<64x100xf16>) -> tensor<64x1xf16> {
      %sum = spyre.reduce sum(%x) dims [1] : tensor<64x100xf16> -> tensor<64x1xf16>
      return %sum : tensor<64x1xf16>
    }";
    let (report, _) = compile_text(program, &[]);
    // A result of one element per stick, and rows that end in a stick, move more bytes.
    assert_eq!(read_bytes(&report, "lower_bound", "hbm"), 64 * 100 * 2 + 128);
    assert!(read_bytes(&report, "gap", "hbm") > 0);
    let why = report["gap"]["values"].as_array().unwrap().iter().map(|value| value["why"].as_str().unwrap());
    assert!(
        why.clone().any(|why| why == "uses only a part of each stick that is moved"),
        "{:?}",
        why.collect::<Vec<_>>()
    );
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns the programs of a file of `test/tile/Inputs`, by the names of their functions.
fn read_tiled_programs(file: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(file).unwrap();
    let name =
        |text: &str| text.split_once("func.func @").and_then(|(_, rest)| rest.split_once('(')).unwrap().0.to_owned();
    text.split("// -----\n").map(|text| (name(text), text.to_owned())).collect()
}

fn compile_text(text: &str, more: &[&str]) -> (Value, String) {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("program.mlir"), text).unwrap();
    compile_file(place.path(), Path::new("program.mlir"), more)
}

fn compile_tiled(file: &str, program: &str) -> (Value, String) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/tile/Inputs").join(file);
    compile_text(&read_tiled_programs(&file)[program], &[])
}

#[test]
fn reports_product_tiled_over_rows_and_contraction() {
    let (report, summary) = compile_tiled("matmul.mlir", "contracted_then_added");
    insta::assert_snapshot!("product_summary", summary);
    insta::assert_json_snapshot!("product_loops", report["explain"]["loops"]);
}

#[test]
fn reports_softmax_by_columns_as_three_loops() {
    let (report, _) = compile_tiled("softmax.mlir", "columns");
    insta::assert_json_snapshot!("softmax_by_columns_loops", report["explain"]["loops"]);
}

#[test]
fn copies_value_used_inside_and_outside() {
    let (report, _) = compile_tiled("pointwise.mlir", "used_inside_and_outside");
    insta::assert_json_snapshot!("used_inside_and_outside_loops", report["explain"]["loops"]);
}

#[test]
fn copies_accumulator_result_after_loop() {
    let (report, _) = compile_tiled("matmul.mlir", "contracted");
    let [around] = report["explain"]["loops"].as_array().unwrap().as_slice() else { panic!("one loop") };
    let [copied] = around["copied"].as_array().unwrap().as_slice() else { panic!("one copy") };
    assert_eq!(copied["from"]["op"], around["accumulators"][0]["op"]);
    assert_eq!((&copied["from"]["memory"], &copied["to"]["memory"]), (&Value::from("lx"), &Value::from("hbm")));
    assert_eq!(
        copied["why"],
        "an accumulator that may be in LX is a program result, yielded by a loop, or read tile by tile"
    );
}

#[test]
fn gives_outer_loop_larger_tiles_of_twice_tiled_dim() {
    let (report, _) = compile_tiled("pointwise.mlir", "a_dim_cut_twice");
    let outer = &report["explain"]["loops"][0];
    let inner = &outer["loops"][0];
    let product = &inner["ops"][0]["op"];
    let tile = |around: &Value| {
        let op = around["ops"].as_array().unwrap().iter().find(|op| op["op"] == *product).unwrap();
        (op["cuts"][0]["dim"].clone(), op["cuts"][0]["tile"].as_i64())
    };
    assert_eq!([tile(outer), tile(inner)], [("A".into(), Some(32)), ("A".into(), Some(8))]);
}

#[test]
fn shows_invariant_operand_as_tile_of_outer_loops() {
    let (report, _) = compile_tiled("matmul.mlir", "all_dims");
    let by_rows = &report["explain"]["loops"][0];
    let by_columns = &by_rows["loops"][0];
    let left = by_columns["invariant"].as_array().unwrap().iter().find(|value| value["name"] == "arg0").unwrap();
    assert_eq!(left["bytes"], by_rows["tiles_read"][0]["bytes"]);
}

const BYTES: [&str; 4] = ["hbm_read", "hbm_written", "lx_read", "lx_written"];

/// Adds up the bytes of ops by their positions.
fn sum_bytes(report: &Value, ops: impl Iterator<Item = usize>) -> [i64; 4] {
    let of = |op: usize| BYTES.map(|name| report["ops"][op]["bytes"][name].as_i64().unwrap());
    ops.map(of).fold([0; 4], |sum, bytes| std::array::from_fn(|index| sum[index] + bytes[index]))
}

/// Checks the bytes of a loop that is executed `num_runs` times; `depths` counts the enclosing loops of each op.
fn check_loop(report: &Value, around: &Value, num_runs: i64, depths: &mut [usize]) {
    let ops: Vec<usize> = around["ops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|op| usize::try_from(op["op"].as_u64().unwrap()).unwrap())
        .collect();
    let num_iterations = num_runs * around["count"].as_i64().unwrap();
    let moved = sum_bytes(report, ops.iter().copied());
    assert_eq!(BYTES.map(|name| around["bytes"][name].as_i64().unwrap()), moved);
    assert_eq!(BYTES.map(|name| around["bytes_per_iteration"][name].as_i64().unwrap() * num_iterations), moved);
    for inner in around["ops"].as_array().unwrap() {
        let op = usize::try_from(inner["op"].as_u64().unwrap()).unwrap();
        assert_eq!(inner["function"], report["ops"][op]["function"]);
        assert_eq!(report["ops"][op]["loops"][depths[op]], around["count"]);
        depths[op] += 1;
        for cut in inner["cuts"].as_array().unwrap() {
            let dim = report["ops"][op]["dims"].as_array().unwrap().iter().position(|dim| *dim == cut["dim"]).unwrap();
            let tile = report["ops"][op]["iteration_space"][dim].as_i64().unwrap();
            assert_eq!(cut["tile"].as_i64().unwrap() % tile, 0, "the innermost tile is the op's own");
        }
    }
    for inner in around["loops"].as_array().into_iter().flatten() {
        check_loop(report, inner, num_iterations, depths);
    }
}

#[test]
fn accounts_for_all_bytes_of_loops() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/tile/Inputs");
    let programs = fs::read_dir(folder).unwrap().flat_map(|file| read_tiled_programs(&file.unwrap().path()));
    let mut num_loops = 0;
    for (name, text) in programs {
        let (report, _) = compile_text(&text, &[]);
        let n_ops = report["ops"].as_array().unwrap().len();
        let mut depths = vec![0; n_ops];
        for around in report["explain"]["loops"].as_array().unwrap() {
            check_loop(&report, around, 1, &mut depths);
            num_loops += 1;
        }
        for (op, &depth) in depths.iter().enumerate() {
            assert_eq!(report["ops"][op]["loops"].as_array().unwrap().len(), depth, "@{name}: op {op}");
        }
        let total = BYTES.map(|name| report["total"][name].as_i64().unwrap());
        assert_eq!(sum_bytes(&report, 0..n_ops), total, "@{name}");
    }
    assert!(num_loops > 50, "{num_loops} loops");
}

#[test]
fn omits_bytes_of_loops_before_bundles() {
    let (report, _) = compile("add_mul", &["--dims", "0=A:B", "--tiles", "A=2,B=4", "--compile-to", "lx"]);
    assert_eq!(report["ops"].as_array().unwrap().len(), 2);
    let [around] = report["explain"]["loops"].as_array().unwrap().as_slice() else { panic!("one loop") };
    assert_eq!(
        (&around["loops"][0]["local"][0]["memory"], around["bytes"]["hbm_read"].as_i64()),
        (&Value::from("lx"), Some(0))
    );
}

#[test]
fn names_iteration_count_chosen_at_launch() {
    let program = r#"func.func @f(%x: tensor<8x64xf16> {spyre.dims = ["M", "N"]}) -> tensor<8x64xf16> attributes {spyre.symbols = {T = 4}} {
      %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
      return %exp : tensor<8x64xf16>
    }"#;
    let (report, _) = compile_text(program, &["--tiles", "M=T", "--compile-to", "lx"]);
    let around = &report["explain"]["loops"][0];
    assert_eq!((&around["count"], &around["symbol"]), (&Value::from(4), &Value::from("T")));
}
