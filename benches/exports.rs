//! Evaluates programs that producers export (`cargo xtask models DIR`).
//!
//! Each `.mlir` file below a folder is compiled with the default options and `--validate`, and its results are compared
//! with the reference. Writes `docs/measurements/models.md`, which describes how the files are made.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a benchmark")]

use serde_json::Value;
use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

const PAGE: &str = "docs/measurements/models.md";
/// The tables of the page follow this line.
const MARK: &str = "<!-- Made by `cargo xtask models DIR` from here on. -->\n";
const MIB: f64 = 1_048_576.0;

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(at) = arguments.iter().position(|argument| argument == "--write") else { return };
    let folder = PathBuf::from(&arguments[at + 1]);
    let inside = list_sorted(&folder).into_iter().filter(|path| path.is_dir());
    let tables: String = [folder.clone()].into_iter().chain(inside).map(|folder| format_table(&folder)).collect();
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, _) = page.split_once(MARK).unwrap();
    fs::write(PAGE, format!("{before}{MARK}{tables}")).unwrap();
}

fn list_sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns the table of outcomes of the programs in a folder.
fn format_table(folder: &Path) -> String {
    let programs =
        list_sorted(folder).into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    let rows: Vec<ExportOutcome> = programs.map(|path| measure_program(&path)).collect();
    let num_right = rows.iter().filter(|row| row.is_right).count();
    let mut text =
        format!("\n## {}\n\n{num_right} of {} are right.\n\n", folder.file_name().unwrap().display(), rows.len());
    text.push_str(
        "| program | ops | validated | by default | beside the reference | rounding | HBM, MiB | of the bound | compile s | with the default s |\n\
         |---|--:|---|---|---|--:|--:|--:|--:|--:|\n",
    );
    for ExportOutcome { text: row, .. } in rows {
        print!("{row}");
        text.push_str(&row);
    }
    text
}

struct ExportOutcome {
    text: String,
    is_right: bool,
}

fn measure_program(program: &Path) -> ExportOutcome {
    let place = tempfile::tempdir().unwrap();
    let [bundle, report] = ["bundle", "report.json"].map(|name| place.path().join(name));
    let name = program.file_stem().unwrap().display();
    let compiled = |validation: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
        command.arg(program).arg("-o").arg(&bundle).arg("--report").arg(&report).arg(validation).output().unwrap()
    };
    let timed = |validation: &str| {
        let start = Instant::now();
        (compiled(validation), start.elapsed().as_secs_f64())
    };
    let (done, compile_s) = timed("--validate=off");
    if !done.status.success() {
        return ExportOutcome {
            text: format!("| {name} | refused: {} | | | | | | | | |\n", find_first_error(&done)),
            is_right: false,
        };
    }
    let validated = compiled("--validate");
    let is_valid = validated.status.success();
    let (by_default, default_s) = timed("--validate=auto");
    let checked =
        Command::new(env!("CARGO_BIN_EXE_spyre-run")).arg(&bundle).arg("--check").arg(program).output().unwrap();
    let agrees = checked.status.success();
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    let number = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap();
    let (hbm, bound) = (number("/total/hbm_read") + number("/total/hbm_written"), number("/lower_bound/hbm"));
    let n_ops = report["ops"].as_array().unwrap().len();
    let mut text = String::new();
    let valid = if is_valid { "yes".to_owned() } else { find_first_error(&validated) };
    let beside = if agrees { "agrees".to_owned() } else { find_first_error(&checked) };
    // Writing to a string does not fail.
    let by_default = format_validation(&by_default);
    let _ = writeln!(
        text,
        "| {name} | {n_ops} | {valid} | {by_default} | {beside} | {} | {:.2} | {:.2} | {compile_s:.1} | {default_s:.1} |",
        format_rounding(&checked),
        hbm / MIB,
        hbm / bound
    );
    ExportOutcome { text, is_right: is_valid && agrees }
}

/// Returns the checks that the default validation made: in the finite field (in full or by samples), and against the
/// program as written. Returns the first error if the compilation failed.
fn format_validation(compiled: &Output) -> String {
    if !compiled.status.success() {
        return find_first_error(compiled);
    }
    let said = String::from_utf8_lossy(&compiled.stdout);
    let found = [
        ("validated: the files and the imported", "field"),
        ("validated by samples", "samples"),
        ("as written agree", "JIT"),
    ];
    let found: Vec<&str> = found.into_iter().filter(|(text, _)| said.contains(text)).map(|(_, name)| name).collect();
    if found.is_empty() { "no".to_owned() } else { found.join(", ") }
}

/// Returns the maximum ratio, over all results, of the device's rounding error to the rounding error of the program in
/// its own formats. Returns an empty text if the program is exact in its own formats.
fn format_rounding(checked: &Output) -> String {
    let said = String::from_utf8_lossy(&checked.stdout);
    let times = |line: &str| {
        let (before, _) = line.split_once(" times that of the program")?;
        before.rsplit_once(' ')?.1.parse::<f64>().ok()
    };
    said.lines().filter_map(times).reduce(f64::max).map_or_else(String::new, |times| format!("{times:.1}"))
}

/// Returns the first error that a process printed, without its location.
fn find_first_error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let message = |line: &str| {
        line.split_once("error: ")
            .or_else(|| line.split_once("error[")?.1.split_once("]: "))
            .map(|(_, text)| text.to_owned())
    };
    text.lines().find_map(message).unwrap_or_else(|| "no message".to_owned()).replace('|', "\\|")
}
