//! Splits and placement chosen jointly: in the cost model they never cost more than the sequential choice, and the
//! files are deterministic.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test over files")]

use crate::common::{
    self,
    sample::{is_all, sample},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Lists the MLIR files in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    found.sort();
    found
}

/// Returns the report of a compilation; `None` if the program is rejected.
fn compile(program: &Path, out: &Path, options: &[&str]) -> Option<Value> {
    let report = out.with_extension("json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    let output = command
        .arg(program)
        .arg("-o")
        .arg(out)
        .args(["--validate=off", "--report"])
        .arg(&report)
        .args(options)
        .output()
        .unwrap();
    output.status.success().then(|| serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap())
}

const SEQUENTIAL_OPTIONS: [&str; 2] = ["--lx-planner", "exact"];
const JOINT_OPTIONS: [&str; 3] = ["--lx-planner", "exact", "--joint"];

/// Returns the modeled time in us, and the number of launches.
fn modeled_time(report: &Value) -> (f64, usize) {
    (report["time"]["estimate_us"].as_f64().unwrap(), report["launches"].as_array().unwrap().len())
}

/// Checks that no program costs more when planned jointly, and that at least `least_cheaper` cost less.
fn compare(programs: impl Iterator<Item = (PathBuf, &'static str)>, least_cheaper: usize) {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let (mut num_compared, mut num_cheaper, mut dearer) = (0, 0, Vec::new());
    for (program, lx_bytes) in programs {
        let compile = |options: &[&str]| compile(&program, &out, &[options, &["--lx-bytes", lx_bytes]].concat());
        let (Some(alone), Some(together)) = (compile(&SEQUENTIAL_OPTIONS), compile(&JOINT_OPTIONS)) else {
            continue;
        };
        let ((alone, _), (together, num_launches)) = (modeled_time(&alone), modeled_time(&together));
        num_compared += 1;
        num_cheaper += usize::from(together < alone);
        // Times are rounded to a nanosecond per launch.
        if together > alone + 0.001 * num_launches as f64 {
            dearer.push(format!("{}: {together} us together, {alone} us one after the other", program.display()));
        }
    }
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
    eprintln!("{num_compared} programs compared, {num_cheaper} cheaper");
    assert!(num_cheaper >= least_cheaper, "{num_cheaper} of {num_compared} programs are cheaper");
}

/// Pairs each program with the LX size of the machine, and with a small one, in which few values are resident at a
/// time.
fn pair_with_lx_sizes(programs: Vec<PathBuf>) -> impl Iterator<Item = (PathBuf, &'static str)> {
    programs.into_iter().flat_map(|program| ["1625344", "65536"].map(|lx_bytes| (program.clone(), lx_bytes)))
}

#[test]
fn costs_no_more_than_sequential_planning() {
    let tight = (root().join("test/execution/stays.mlir"), "65536");
    compare(
        pair_with_lx_sizes(sample(files(&root().join("benches/plans")), 2)).chain([tight]),
        if is_all() { 5 } else { 3 },
    );
}

#[test]
fn writes_same_files_every_time() {
    let program = root().join("benches/plans/swiglu_m64_h4096_f12800_f16.mlir");
    let place = tempfile::tempdir().unwrap();
    let files = |number: usize| {
        let out = place.path().join(number.to_string());
        compile(&program, &out, &JOINT_OPTIONS).unwrap();
        let mut names: Vec<PathBuf> =
            fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
        names.sort();
        names.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    let first = files(0);
    assert!((1..5).all(|number| files(number) == first));
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn costs_no_more_than_sequential_planning() {
        let programs = ["inputs/torch-mlir", "inputs/jax"].map(|folder| files(&common::shared(folder)));
        compare(pair_with_lx_sizes(sample(programs.concat(), 6)), if is_all() { 5 } else { 1 });
    }
}
