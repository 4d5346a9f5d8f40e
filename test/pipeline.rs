//! Compares one program after every phase, and its final files, with `test/pipeline/<program>`.
//!
//! `01-input.mlir` names its options in its first line.
//! `BLESS=pipeline/PROGRAM cargo test --test compiler -- pipeline::` rewrites the other files of a program; review the
//! diff.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common::bless;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const PHASES: [&str; 7] = ["import", "layout", "hint", "tile", "work", "lx", "bundle"];

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/pipeline");
    let mut programs: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    assert!(programs.len() >= 2, "the folder has programs");
    programs
}

fn options(input: &Path) -> Vec<String> {
    let text = fs::read_to_string(input).unwrap();
    let line = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("// OPTIONS:"))
        .expect("01-input.mlir begins with // OPTIONS:");
    line.split_whitespace().map(str::to_owned).collect()
}

/// Compiles in the folder of the input, since files name the input as it is given.
fn compile(input: &Path, more: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    command.current_dir(input.parent().unwrap()).arg(input.file_name().unwrap());
    let output = command.args(options(input)).args(more).output().unwrap();
    assert!(output.status.success(), "{}: {}", input.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns whether the files of a program are to be rewritten.
fn is_blessed(program: &Path) -> bool {
    bless::is_blessed(&program_name(program))
}

/// Returns the name by which `BLESS` selects a program, such as `pipeline/softmax`.
fn program_name(program: &Path) -> String {
    format!("pipeline/{}", program.file_name().unwrap().to_string_lossy())
}

/// Compares a file of a program with the actual output, or writes it if the program is blessed.
fn expect_file(program: &Path, file: &str, found: &str) {
    let path = &program.join(file);
    if is_blessed(program) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    assert!(
        expected == found,
        "{} is not what the compiler gives now; run with BLESS={} and look at the diff",
        path.display(),
        program_name(program)
    );
}

#[test]
fn prints_recorded_ir_after_every_phase() {
    for program in programs() {
        let input = program.join("01-input.mlir");
        for (position, phase) in PHASES.iter().enumerate() {
            let found = compile(&input, &["--compile-to", phase]);
            expect_file(&program, &format!("{:02}-{phase}.mlir", position + 2), &found);
        }
    }
}

#[test]
fn writes_recorded_files() {
    for program in programs() {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        compile(&program.join("01-input.mlir"), &["-o", out.to_str().unwrap()]);
        let recorded = program.join("09-out");
        if is_blessed(&program) && recorded.exists() {
            fs::remove_dir_all(&recorded).unwrap();
        }
        let files = files_below(&out);
        for file in &files {
            expect_file(&program, &format!("09-out/{file}"), &fs::read_to_string(out.join(file)).unwrap());
        }
        assert_eq!(files_below(&recorded), files, "{}", program.display());
    }
}

#[test]
fn writes_same_bytes_in_two_runs() {
    for program in programs() {
        let place = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| {
            let out = place.path().join(name);
            compile(&program.join("01-input.mlir"), &["-o", out.to_str().unwrap()]);
            files_below(&out)
                .into_iter()
                .map(|file| (file.clone(), fs::read(out.join(file)).unwrap()))
                .collect::<Vec<_>>()
        });
        assert!(first == second, "{}", program.display());
    }
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            files.extend(files_below(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    files
}
