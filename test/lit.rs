//! Runs the text tests of this folder by LLVM's `lit`, and reports them as cargo's own harness does.
//!
//! `cargo test --test lit -- layout work` runs the tests whose path contains one of the words; `BLESS=lit` with these
//! words rewrites the files that the tests compare by `diff`. `docs/reference/testing.md` explains the choice of LLVM's
//! `lit` and `FileCheck`.

#![allow(clippy::print_stdout, reason = "a test harness reports on standard output")]

#[path = "common/bless.rs"]
mod bless;

use serde::Deserialize;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

/// Report that `lit --output` writes.
#[derive(Deserialize)]
struct LitReport {
    tests: Vec<LitTest>,
}

#[derive(Deserialize)]
struct LitTest {
    /// "spyre :: layout/propagate-layouts.mlir".
    name: String,
    code: String,
    output: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LitOutcome {
    Passed,
    Failed,
    Ignored,
    Filtered,
}

impl LitTest {
    fn path(&self) -> &str {
        self.name.split_once(" :: ").map_or(self.name.as_str(), |(_, path)| path)
    }

    fn outcome(&self) -> LitOutcome {
        match self.code.as_str() {
            "PASS" | "FLAKYPASS" | "XFAIL" => LitOutcome::Passed,
            "UNSUPPORTED" => LitOutcome::Ignored,
            "EXCLUDED" | "SKIPPED" => LitOutcome::Filtered,
            _ => LitOutcome::Failed,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        // `cargo nextest` and editors request names; the lit run counts as one test.
        println!("lit: test");
        return ExitCode::SUCCESS;
    }
    let words: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|argument| !argument.starts_with('-') && *argument != "lit")
        .collect();
    let started = Instant::now();
    match run_tests(&words) {
        Ok(tests) => print_summary(&tests, started.elapsed()),
        Err(message) => {
            println!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the tests whose path contains one of `words`; all tests if `words` is empty.
fn run_tests(words: &[&str]) -> Result<Vec<LitTest>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test");
    let output = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lit");
    fs::create_dir_all(&output).map_err(|error| format!("cannot make {}: {error}", output.display()))?;
    let results = output.join("results.json");
    // Stale output of an earlier run must not be mistaken for the output of this run.
    let _ = fs::remove_file(&results);

    let lit = find_lit()?;
    let mut command = Command::new(&lit);
    command.args(["--quiet", "--allow-empty-runs", "--output"]).arg(&results).arg(&folder);
    if !words.is_empty() {
        command.arg(format!("--filter={}", words.join("|")));
    }
    if bless::is_blessed("lit") {
        if words.is_empty() {
            return Err("BLESS=lit needs words that say which tests are written again".to_owned());
        }
        command.arg("--update-tests");
    }
    let tools = Path::new(env!("CARGO_BIN_EXE_spyre-opt")).parent().unwrap_or(Path::new("."));
    let ran = command
        .env("SPYRE_TOOLS", tools)
        .env("SPYRE_LIT_OUTPUT", &output)
        .output()
        .map_err(|error| format!("cannot run {}: {error}", lit.display()))?;

    let report = fs::read(&results).ok().and_then(|text| serde_json::from_slice::<LitReport>(&text).ok());
    let Some(LitReport { mut tests }) = report else {
        return Err(format!(
            "lit gave no results:\n{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        ));
    };
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(tests)
}

/// Returns LLVM's lit: from the prefix of MLIR, else from the path.
fn find_lit() -> Result<PathBuf, String> {
    let prefix = env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = [prefix.join("bin")].into_iter().chain(env::split_paths(&path));
    folders
        .flat_map(|folder| [folder.join("lit"), folder.join("llvm-lit")])
        .find(|program| program.is_file())
        .ok_or_else(|| {
            format!("no 'lit' in {} or in PATH; `cargo xtask setup` installs it", prefix.join("bin").display())
        })
}

/// Prints one line per test, the output of failed tests, and the counts.
fn print_summary(tests: &[LitTest], elapsed: Duration) -> ExitCode {
    let with = |outcome: LitOutcome| tests.iter().filter(move |test| test.outcome() == outcome);
    let count = |outcome: LitOutcome| with(outcome).count();
    println!("\nrunning {} tests", tests.len() - count(LitOutcome::Filtered));
    for test in tests {
        match test.outcome() {
            LitOutcome::Passed => println!("test {} ... ok", test.path()),
            LitOutcome::Failed => println!("test {} ... FAILED", test.path()),
            LitOutcome::Ignored => println!("test {} ... ignored", test.path()),
            LitOutcome::Filtered => {}
        }
    }
    if count(LitOutcome::Failed) > 0 {
        println!("\nfailures:\n");
        for test in with(LitOutcome::Failed) {
            println!("---- {} ({}) ----\n{}", test.path(), test.code, test.output);
        }
    }
    let verdict = if count(LitOutcome::Failed) == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {} passed; {} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        count(LitOutcome::Passed),
        count(LitOutcome::Failed),
        count(LitOutcome::Ignored),
        count(LitOutcome::Filtered),
        elapsed.as_secs_f64(),
    );
    if count(LitOutcome::Failed) == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
