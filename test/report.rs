//! What the tools say about a compilation: the report and the summary, as snapshots.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use std::{fs, path::Path, process::Command};

fn compile(program: &str, more: &[&str]) -> (serde_json::Value, String) {
    let place = tempfile::tempdir().unwrap();
    let (out, report) = (place.path().join("out"), place.path().join("report.json"));
    let input = Path::new("test/pipeline").join(program).join("01-input.mlir");
    let output = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .arg(input)
        .args(["-o", out.to_str().unwrap(), "--report", report.to_str().unwrap()])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = String::from_utf8(output.stdout).unwrap().replace(out.to_str().unwrap(), "OUT");
    (serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap(), summary)
}

#[test]
fn softmax_moves_its_input_and_its_result() {
    let (report, summary) = compile("softmax", &[]);
    assert_eq!(report["total"]["hbm_read"], 64 * 256 * 2, "the input, once");
    assert_eq!(report["total"]["hbm_written"], 64 * 256 * 2, "the result, once");
    insta::assert_snapshot!("softmax_summary", summary);
    insta::assert_json_snapshot!("softmax_report", report);
}

#[test]
fn tiles_and_their_decisions_are_in_the_report() {
    let (report, summary) = compile("add_mul", &["--dims", "0=A:B", "--tiles", "A=2,B=4", "--lx-planner", "none"]);
    insta::assert_snapshot!("add_mul_summary", summary);
    insta::assert_json_snapshot!("add_mul_report", report);
}
