//! Every SDSC file that the tests emit with symbolic addresses satisfies the JSON Schema of the reference emitter.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use std::{fs, path::Path, process::Command};

mod common;

/// With the material beside the project.
mod shared {
    use super::*;

    fn validator() -> jsonschema::Validator {
        let path = common::shared("reference/sdsc.schema.json");
        let schema: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    }

    /// Checks every SDSC file below a folder; gives how many there were.
    fn check(validator: &jsonschema::Validator, folder: &Path) -> usize {
        let mut n_files = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                n_files += check(validator, &path);
            } else if path.file_name().unwrap().to_str().unwrap().starts_with("sdsc_") {
                let file: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                if let Err(error) = validator.validate(&file) {
                    panic!("{}: {}: {error}", path.display(), error.instance_path());
                }
                n_files += 1;
            }
        }
        n_files
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn recorded_bundles_satisfy_the_schema() {
        let validator = validator();
        assert!(check(&validator, &Path::new(env!("CARGO_MANIFEST_DIR")).join("test/pipeline")) >= 8);
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn golden_cases_satisfy_the_schema() {
        assert!(check(&validator(), &Path::new(env!("CARGO_MANIFEST_DIR")).join("test/golden")) >= 25);
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn snapshots_satisfy_the_schema() {
        let validator = validator();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/snapshots");
        let mut n_files = 0;
        for entry in fs::read_dir(folder).unwrap() {
            let text = fs::read_to_string(entry.unwrap().path()).unwrap();
            let Some((_, content)) = text.split_once("\n---\n") else { continue };
            if !content.starts_with("{\n  \"0_") {
                continue;
            }
            let file: serde_json::Value = serde_json::from_str(content).unwrap();
            assert!(validator.validate(&file).is_ok(), "{content}");
            n_files += 1;
        }
        assert!(n_files >= 6, "{n_files} snapshots are SDSC files");
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn bundles_of_real_programs_satisfy_the_schema() {
        let (validator, inputs) = (validator(), common::shared("inputs"));
        for program in
            ["torch-mlir/add_mul_f16", "torch-mlir/softmax_f16", "jax/softmax_f16", "torch-mlir/matmul_f16", "torch-mlir/bmm_f16"]
        {
            let place = tempfile::tempdir().unwrap();
            let out = place.path().join("out");
            let input = inputs.join(format!("{program}.mlir"));
            let status = Command::new(env!("CARGO_BIN_EXE_spyre-compile")).arg(input).arg("-o").arg(&out).status().unwrap();
            assert!(status.success(), "{program}");
            assert!(check(&validator, &out) >= 1);
        }
    }
}
