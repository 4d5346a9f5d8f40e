//! Golden cases: `bundle.mlir` and the SDSC files. The project's own cases are in `test/golden`, whose README lists
//! their sources; those of the reference emitter are outside the repository.
//!
//! `BLESS=golden/CASE cargo test --test compiler -- golden::` rewrites the files of a case of the project; review the
//! diff.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::{self, bless};
use spyre_compiler::{launch::Launch, sdsc};
use std::path::{Path, PathBuf};

fn check_bundle_mlir(cases: &[PathBuf]) {
    for case in cases {
        let bundle =
            sdsc::read::case_json::read_case(&std::fs::read_to_string(case.join("case.json")).unwrap()).unwrap();
        let expected = std::fs::read_to_string(case.join("bundle.mlir")).unwrap();
        let found = Launch::new(&bundle).unwrap().to_string();
        assert_eq!(found, expected, "{}", case.display());
    }
}

fn check_sdsc_files(cases: &[PathBuf]) {
    for case in cases {
        let bundle =
            sdsc::read::case_json::read_case(&std::fs::read_to_string(case.join("case.json")).unwrap()).unwrap();
        let launch = Launch::new(&bundle).unwrap();
        for (index, op) in bundle.ops().into_iter().enumerate() {
            let path = case.join(format!("sdsc_{index}.json"));
            let expected = std::fs::read_to_string(&path).unwrap();
            let found = sdsc::from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
            let found = String::from_utf8(sdsc_format::to_text(&found)).unwrap();
            compare(&expected, &found, &path);
        }
        let num_files = std::fs::read_dir(case)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("sdsc_"))
            .count();
        assert_eq!(num_files, bundle.ops().len(), "{}", case.display());
    }
}

/// Compares lines, except for constants with unknown bits and the number of a mask among several constants.
fn compare(expected: &str, found: &str, path: &Path) {
    for (number, (wanted, had)) in expected.split('\n').zip(found.split('\n')).enumerate() {
        let is_unknown = wanted.trim().starts_with("\"?DL16(") && had.trim().parse::<u32>().is_ok();
        assert!(wanted == had || is_unknown, "{}:{}: expected {wanted:?}, found {had:?}", path.display(), number + 1);
    }
    assert_eq!(expected.split('\n').count(), found.split('\n').count(), "{}", path.display());
}

fn check_read_back(cases: &[PathBuf]) {
    for case in cases {
        for entry in std::fs::read_dir(case).unwrap() {
            let path = entry.unwrap().path();
            if !path.file_name().unwrap().to_string_lossy().starts_with("sdsc_") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let sdsc: sdsc_format::Sdsc =
                serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(&text))
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(String::from_utf8(sdsc_format::to_text(&sdsc)).unwrap(), text, "{}", path.display());
        }
    }
}

fn check_files_written_through_ir(cases: &[PathBuf]) {
    for case in cases {
        let place = tempfile::tempdir().unwrap();
        let (ir, out) = (place.path().join("case.mlir"), place.path().join("out"));
        translate(&["--opspec-to-mlir", case.join("case.json").to_str().unwrap(), "-o", ir.to_str().unwrap()]);
        translate(&["--mlir-to-bundle", ir.to_str().unwrap(), "-o", out.to_str().unwrap()]);
        for entry in std::fs::read_dir(case).unwrap() {
            let expected = entry.unwrap().path();
            let name = expected.file_name().unwrap().to_str().unwrap().to_owned();
            if name != "case.json" {
                compare(
                    &std::fs::read_to_string(&expected).unwrap(),
                    &std::fs::read_to_string(out.join(&name)).unwrap(),
                    &expected,
                );
            }
        }
    }
}

fn translate(arguments: &[&str]) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_spyre-translate")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn writes_and_reads_back_every_case() {
    let cases = common::golden_cases();
    cases.iter().for_each(|case| write_if_blessed(case));
    check_bundle_mlir(&cases);
    check_sdsc_files(&cases);
    check_read_back(&cases);
}

#[test]
fn writes_same_files_through_ir() {
    check_files_written_through_ir(&common::golden_cases());
}

/// Rewrites the files of a case if the caller requests it.
fn write_if_blessed(case: &Path) {
    if !bless::is_blessed(&format!("golden/{}", case.file_name().unwrap().to_string_lossy())) {
        return;
    }
    let bundle = sdsc::read::case_json::read_case(&std::fs::read_to_string(case.join("case.json")).unwrap()).unwrap();
    let launch = Launch::new(&bundle).unwrap();
    std::fs::write(case.join("bundle.mlir"), launch.to_string()).unwrap();
    for (index, op) in bundle.ops().into_iter().enumerate() {
        let file = sdsc::from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
        std::fs::write(case.join(format!("sdsc_{index}.json")), sdsc_format::to_text(&file)).unwrap();
    }
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn writes_reference_bundle_mlir() {
        super::check_bundle_mlir(&common::shared_golden_cases());
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn writes_reference_sdsc_files() {
        super::check_sdsc_files(&common::shared_golden_cases());
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn reads_back_golden_files() {
        check_read_back(&common::shared_golden_cases());
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn writes_same_files_through_ir() {
        check_files_written_through_ir(&common::shared_golden_cases());
    }

    /// An embedding from the front end, compiled from our own program: the row-major table is copied first. The
    /// reference splits that copy over 4 cores.
    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn compiles_gather_to_reference() {
        let case = common::shared("golden/visible/gather_embedding_1d");
        let dir = tempfile::tempdir().unwrap();
        let (input, out) = (dir.path().join("gather.mlir"), dir.path().join("out"));
        std::fs::write(&input, EMBEDDING).unwrap();
        let mut compile = std::process::Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
        assert!(compile.arg(&input).arg("-o").arg(&out).args(["--cores", "4"]).output().unwrap().status.success());
        for name in ["bundle.mlir", "sdsc_0.json", "sdsc_1.json"] {
            let read = |path: &Path| std::fs::read_to_string(path).unwrap();
            let found = without_debug_handle(&read(&out.join("bundle_0").join(name)));
            compare(&read(&case.join(name)), &found, Path::new(name));
        }
    }

    /// Returns a file without the origin of its op, which the reference does not have; `bundle.mlir` is as it was.
    fn without_debug_handle(text: &str) -> String {
        let Ok(mut file) = serde_json::from_str::<sdsc_format::Sdsc>(text) else { return text.to_owned() };
        let handle = file.value.debug_handle.take();
        assert!(handle.is_some(), "a compiled op states its origin");
        String::from_utf8(sdsc_format::to_text(&file)).unwrap()
    }

    const EMBEDDING: &str = "#rows = #spyre.layout<[2, 512, 64], [64, 128, 1]>
func.func @embedding(%table: tensor<512x128xf16, #rows>, %index: tensor<16xi64>) -> tensor<16x128xf16> {
  %rows = spyre.gather(%table, %index) dim 0 : (tensor<512x128xf16, #rows>, tensor<16xi64>) -> tensor<16x128xf16>
  return %rows : tensor<16x128xf16>
}";
}
