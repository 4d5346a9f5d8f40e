//! Option values: paths and names may contain the special characters of textual pipelines, and MLIR parses printed
//! pipelines. A failing trial compilation is an error.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

use serde_json::Value;
use spyre_compiler::{
    compile::compile_source,
    mlir::Module,
    pipeline::{CompileOptions, Phase, create_session},
    validate::ValidationMode,
};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
};

/// Names with every character that separates, quotes or escapes in some syntax.
const NAMES: [&str; 16] = [
    "a b",
    " a ",
    "a{b",
    "a}b",
    "{a b}",
    "a,b",
    "a=b",
    "a'b",
    "a\"b",
    "'a b'",
    "a\\b",
    "a\\20b",
    "a(b)",
    "a;b\u{a0}c",
    "gr\u{fc}n",
    "a%b$c&d|e",
];

/// Row count without useful divisors: trial compilations decide whether splitting pays off.
const INDIVISIBLE_ROWS: &str = "func.func @rows(%x: tensor<2045x1024xf16>) -> tensor<2045x1024xf16> {
  %e = tensor.empty() : tensor<2045x1024xf16>
  %y = linalg.exp ins(%x : tensor<2045x1024xf16>) outs(%e : tensor<2045x1024xf16>) -> tensor<2045x1024xf16>
  return %y : tensor<2045x1024xf16>
}
";

const SMALL: &str = "func.func @main(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  %e = tensor.empty() : tensor<8x64xf16>
  %y = linalg.exp ins(%x : tensor<8x64xf16>) outs(%e : tensor<8x64xf16>) -> tensor<8x64xf16>
  return %y : tensor<8x64xf16>
}
func.func @other(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}
";

/// Compiles a text in process, and returns the report in JSON and the files.
fn compile_text(text: &str, options: &CompileOptions, output: &Path) -> (String, BTreeMap<String, Vec<u8>>) {
    let session = create_session();
    let source = session.source_from_text("program.mlir", text);
    let compiled = compile_source(&source, options, output.to_str().unwrap(), ValidationMode::Off);
    let report = compiled.report.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    (serde_json::to_string(&report).unwrap(), files_below(output, ""))
}

fn files_below(folder: &Path, prefix: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        match entry.path().is_dir() {
            true => files.extend(files_below(&entry.path(), &name)),
            false => drop(files.insert(name, fs::read(entry.path()).unwrap())),
        }
    }
    files
}

#[test]
fn changes_nothing_when_files_are_renamed() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("m.json"), r#"{"cores": 4}"#).unwrap();
    let emit = || CompileOptions { compile_to: Phase::Emit, ..CompileOptions::default() };
    let plain = CompileOptions { entry: "main".to_owned(), target: path("m.json"), ..emit() };
    let expected = compile_text(SMALL, &plain, &place.path().join("out"));
    assert!(expected.1.len() >= 3, "{:?}", expected.1.keys());
    for name in NAMES {
        fs::write(path(&format!("{name}.json")), r#"{"cores": 4}"#).unwrap();
        let options = CompileOptions { target: path(&format!("{name}.json")), ..plain.clone() };
        assert_eq!(compile_text(SMALL, &options, &place.path().join(name)), expected, "{name}");
        // The tool writes a missing plan, and applies an existing one.
        let planned = CompileOptions { plan: path(&format!("{name}.plan")), ..plain.clone() };
        assert_eq!(
            compile_text(SMALL, &planned, &place.path().join(format!("{name} planned"))).1,
            expected.1,
            "{name}"
        );
    }
}

#[test]
fn accepts_any_entry_name() {
    for name in NAMES {
        let quoted = format!("\"{}\"", name.replace('\\', "\\5C").replace('"', "\\22"));
        let text = SMALL.replace("@main", &format!("@{quoted}"));
        let options = CompileOptions { entry: name.to_owned(), compile_to: Phase::Import, ..CompileOptions::default() };
        let session = create_session();
        let compiled =
            compile_source(&session.source_from_text("program.mlir", &text), &options, "", ValidationMode::Off);
        let ir = compiled.ir.unwrap_or_else(|| panic!("{name}: {:?}", compiled.diagnostics));
        assert!(ir.contains("spyre.pointwise exp") && !ir.contains("@other"), "{name}: {ir}");
        // The textual pipeline yields the same IR.
        let mut module = Module::parse(&session, &text).unwrap();
        assert!(module.run_pipeline(&options.pipeline([Phase::Import], "")), "{name}");
        assert_eq!(module.op().to_string(), ir, "{name}");
    }
}

/// The plan of a program that is compiled several times does not depend on the names of its files.
#[test]
fn makes_same_plan_for_machine_with_blanks() {
    let place = tempfile::tempdir().unwrap();
    let emit = |name: &str| {
        let target = place.path().join(name);
        fs::write(&target, r#"{"cores": 32}"#).unwrap();
        let options = CompileOptions {
            target: target.to_str().unwrap().to_owned(),
            compile_to: Phase::Emit,
            ..CompileOptions::default()
        };
        compile_text(INDIVISIBLE_ROWS, &options, &place.path().join(format!("{name}.out")))
    };
    let plain = emit("my.json");
    assert!(plain.0.contains("\"peel_trials\":{"), "no candidate was compiled: {}", plain.0);
    assert_eq!(emit("m y.json"), plain);
}

/// Checks that `spyre-opt` runs the pipeline that `-v` prints, with the same result as the compilation.
#[test]
fn reparses_printed_pipeline() {
    for name in ["m y", "m{y}", "m,'y\"=\\"] {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("program.mlir"), SMALL).unwrap();
        let machine = path(&format!("{name}.json"));
        fs::write(&machine, r#"{"cores": 4}"#).unwrap();
        let mut tool = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
        let words = ["-v", "--entry", "main", "--target", &machine, "--kernels", "form", "-o", &path(name)];
        let done = tool.arg(path("program.mlir")).args(words).output().unwrap();
        let said = output_text(&done);
        assert_eq!(done.status.code(), Some(0), "{said}");
        let passes: Vec<&str> = said
            .lines()
            .filter_map(|line| line.split_once("phase '")?.1.split_once(" s: "))
            .map(|(_, passes)| passes)
            .collect();
        assert_eq!(passes.len(), Phase::ALL.len(), "{said}");
        let files = files_below(Path::new(&path(name)), "");
        fs::remove_dir_all(path(name)).unwrap();
        let pipeline = format!("builtin.module({})", passes.join(", "));
        let mut opt = Command::new(env!("CARGO_BIN_EXE_spyre-opt"));
        let done = opt.arg(path("program.mlir")).arg(format!("--pass-pipeline={pipeline}")).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{pipeline}: {}", self::output_text(&done));
        assert_eq!(files_below(Path::new(&path(name)), ""), files, "{pipeline}");
    }
}

fn output_text(done: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
}

/// Compiles a file with a pass that fails on every candidate, and returns the exit code, the messages, and the report.
fn compile_with_fault(text: &str, fault: &str) -> (Option<i32>, String, Option<Value>) {
    let place = tempfile::tempdir().unwrap();
    let (input, out, report) =
        (place.path().join("program.mlir"), place.path().join("out"), place.path().join("report.json"));
    fs::write(&input, text).unwrap();
    let mut tool = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    let tool = tool.arg(&input).arg("-o").arg(&out).arg("--report").arg(&report).env("SPYRE_BROKEN_CANDIDATE", fault);
    let done = tool.output().unwrap();
    assert_eq!(out.exists(), done.status.success(), "{}", output_text(&done));
    let report = fs::read_to_string(&report).ok().map(|text| serde_json::from_str(&text).unwrap());
    (done.status.code(), output_text(&done), report)
}

const KERNEL: &str = include_str!("kernel/Inputs/bias_in_front.mlir");

#[test]
#[cfg_attr(not(debug_assertions), ignore = "a program built without debug assertions breaks nothing")]
fn reports_failing_candidate_as_error() {
    for text in [INDIVISIBLE_ROWS, KERNEL] {
        // A panic, and an error that only the program itself can cause, reported for each candidate.
        for (fault, why) in
            [("panics:spyre-divide-jointly", "panicked"), ("refuses:spyre-set-target", "is refused on purpose")]
        {
            let (code, said, _) = compile_with_fault(text, fault);
            assert_eq!(code, Some(2), "{fault}: {said}");
            assert!(said.contains("a candidate kernel cannot be compiled") && said.contains(why), "{fault}: {said}");
        }
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "a program built without debug assertions breaks nothing")]
fn counts_rejected_candidates() {
    let (code, said, report) = compile_with_fault(INDIVISIBLE_ROWS, "refuses:spyre-divide-jointly");
    assert_eq!(code, Some(0), "{said}");
    let trials = &report.unwrap()["peel_trials"];
    assert!(trials["n_judged"].as_i64() > Some(0) && trials["n_judged"] == trials["n_infeasible"], "{trials}");
    let (code, said, report) = compile_with_fault(KERNEL, "refuses:spyre-divide-jointly");
    assert_eq!(code, Some(0), "{said}");
    let outcome = &report.unwrap()["kernels"][0];
    assert!(outcome["n_judged"].as_i64() > Some(0) && outcome["n_judged"] == outcome["n_infeasible"], "{outcome}");
    // Without an injected fault no candidate is rejected.
    let (code, said, report) = compile_with_fault(INDIVISIBLE_ROWS, "");
    assert_eq!((code, report.unwrap()["peel_trials"]["n_infeasible"].as_i64()), (Some(0), Some(0)), "{said}");
}
