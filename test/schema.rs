//! Checks that the strict types of `sdsc-format` parse every SDSC file that the tests emit with symbolic addresses. In
//! `shared`, the files also conform to the JSON Schema of the reference emitter.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common;
use sdsc_format::Sdsc;
use std::{fs, path::Path, process::Command};

/// Check of the text of an SDSC file, whose error lists the schema violations.
type FileCheck<'c> = &'c dyn Fn(&str) -> Result<(), String>;

/// Checks that no field is unknown or missing, and that parsing and printing lose nothing.
fn check_types(text: &str) -> Result<(), String> {
    let file: Sdsc = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(text))
        .map_err(|error| error.to_string())?;
    let again = String::from_utf8(sdsc_format::to_text(&file)).unwrap();
    if again.trim_end() == text.trim_end() { Ok(()) } else { Err("the types write another file".to_owned()) }
}

/// Checks every SDSC file below a folder; returns the number of files.
fn check_below(folder: &Path, check: FileCheck<'_>) -> usize {
    let mut num_files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            num_files += check_below(&path, check);
        } else if path.file_name().unwrap().to_str().unwrap().starts_with("sdsc_") {
            check(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            num_files += 1;
        }
    }
    num_files
}

/// Checks the recorded bundles, the golden ones of the project, and the snapshots that are SDSC files.
fn check_recorded(check: FileCheck<'_>) {
    let folder = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("test").join(name);
    assert!(check_below(&folder("pipeline"), check) >= 8);
    assert!(check_below(&folder("golden"), check) >= 25);
    let mut num_files = 0;
    for entry in fs::read_dir(folder("snapshots")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        if let Some((_, content)) = text.split_once("\n---\n").filter(|(_, content)| content.starts_with("{\n  \"0_")) {
            check(content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            num_files += 1;
        }
    }
    assert!(num_files >= 6, "{num_files} snapshots are SDSC files");
}

#[test]
fn parses_recorded_files() {
    check_recorded(&check_types);
}

#[test]
fn finds_unknown_mistyped_and_missing_fields() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/golden/add/sdsc_0.json");
    let text = fs::read_to_string(path).unwrap();
    let complaint = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        check_types(&text.replacen(from, to, 1)).unwrap_err()
    };
    assert!(complaint("\"dataFormat_\"", "\"dataFormats_\"").contains("dataFormats_"));
    assert!(complaint("\"numCoresUsed_\": 2", "\"numCoresUsed_\": \"2\"").contains("invalid type"));
    assert!(complaint("\"numCoresUsed_\": 2,", "").contains("missing field"));
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    fn schema_check() -> impl Fn(&str) -> Result<(), String> {
        let schema: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(common::shared("reference/sdsc.schema.json")).unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        move |text| {
            let file: serde_json::Value = serde_json::from_str(text).unwrap();
            validator.validate(&file).map_err(|error| format!("{}: {error}", error.instance_path()))
        }
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn accepts_recorded_files() {
        check_recorded(&schema_check());
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn accepts_bundles_of_real_programs() {
        let (check, inputs) = (schema_check(), common::shared("inputs"));
        for program in [
            "torch-mlir/add_mul_f16",
            "torch-mlir/softmax_f16",
            "jax/softmax_f16",
            "torch-mlir/matmul_f16",
            "torch-mlir/bmm_f16",
        ] {
            let place = tempfile::tempdir().unwrap();
            let out = place.path().join("out");
            let input = inputs.join(format!("{program}.mlir"));
            let compiled =
                Command::new(env!("CARGO_BIN_EXE_spyre-compile")).arg(input).arg("-o").arg(&out).output().unwrap();
            assert!(compiled.status.success(), "{program}: {}", String::from_utf8_lossy(&compiled.stderr));
            assert!(check_below(&out, &check) >= 1);
        }
    }
}
