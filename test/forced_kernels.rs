//! Tests every move that the rules allow, profitable or not: compiles the programs of `test/kernel/Inputs`, whose
//! second line states the expected number of ops per mode. Each is compiled with all moves, with the profitable ones
//! and with none; all are validated, and their results are compared with MLIR's JIT.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use rayon::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Import passes with all moves that the rules allow, without cost evaluation.
const FORCED: [&str; 6] = [
    "--spyre-select-program",
    "--spyre-make-kernels",
    "--symbol-dce",
    "--spyre-import-linalg",
    "--spyre-fuse-prologue-epilogue",
    "--spyre-inline-kernels",
];

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/kernel/Inputs");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Runs a tool. Returns its standard output, or its standard error if it fails.
fn run(command: &mut Command) -> Result<String, String> {
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
}

/// Returns the numbers of ops per mode: expected by the program, and after the pass.
fn count_modes(program: &str, forced: &str) -> (String, String) {
    let said = program.lines().nth(1).unwrap_or_default().trim_start_matches("// ").to_owned();
    let in_mode = |mode: &str| forced.matches(&format!(r"\22mode\22:\22{mode}\22")).count();
    (said, format!("INLINE {}, STAGE {}, SEPARATE {}", in_mode("inline"), in_mode("stage"), in_mode("separate")))
}

fn check(path: &Path) -> Result<(), String> {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    run(Command::new(env!("CARGO_BIN_EXE_spyre-opt")).arg(path).args(FORCED).arg("-o").arg(at("forced.mlir")))?;
    let (said, found) =
        count_modes(&fs::read_to_string(path).unwrap(), &fs::read_to_string(at("forced.mlir")).unwrap());
    if said != found {
        return Err(format!("{found}, but it says: {said}"));
    }
    for (name, input, mode) in [
        ("forced", at("forced.mlir"), "fuse"),
        ("fused", path.to_owned(), "fuse"),
        ("apart", path.to_owned(), "separate"),
    ] {
        let compile = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
            let compiled = run(command.arg(&input).arg("-o").arg(at(name)).args(["--validate", "--kernels", mode]))?;
            if !compiled.contains("validated: ") {
                return Err(format!("is not validated: {compiled}"));
            }
            let checked = run(Command::new(env!("CARGO_BIN_EXE_spyre-run")).arg(at(name)).arg("--check").arg(path))?;
            if checked.contains("correct") { Ok(()) } else { Err(checked) }
        };
        compile().map_err(|message| format!("{name}: {message}"))?;
    }
    Ok(())
}

#[test]
fn computes_same_numbers_wherever_ops_run() {
    let programs = programs();
    assert!(programs.len() >= 10);
    let wrong: Vec<String> = programs
        .par_iter()
        .filter_map(|path| check(path).err().map(|message| format!("{}: {message}", path.display())))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
