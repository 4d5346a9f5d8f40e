//! Validates every program of the tests: those of the text tests, with their options, tiled programs, models, and
//! exported programs outside of the repository.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test over files")]

use crate::common::{self, granite::Granite, sample::sample};
use crate::models::attention::AttentionShape;

use rayon::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Program and its compile options.
struct ValidationRun {
    input: PathBuf,
    options: Vec<String>,
}

fn compile(run: &ValidationRun, further: &[&str]) -> Output {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-compile"));
    command.arg(&run.input).arg("-o").arg(place.path().join("out")).args(&run.options).args(further).output().unwrap()
}

/// Returns the reason why a program is not validated with `--validate`, if any. Only a program that is rejected without
/// the option may be rejected.
fn find_complaint(run: &ValidationRun, may_be_rejected: bool) -> Option<String> {
    let done = compile(run, &["--validate"]);
    if done.status.success() && String::from_utf8_lossy(&done.stdout).contains("validated: ") {
        return None;
    }
    if may_be_rejected && done.status.code() == Some(1) && compile(run, &["--validate=off"]).status.code() == Some(1) {
        return None;
    }
    Some(format!("{} {:?}: {}", run.input.display(), run.options, String::from_utf8_lossy(&done.stderr)))
}

fn check(runs: &[ValidationRun], may_be_rejected: bool) {
    let complaints: Vec<String> = runs.par_iter().filter_map(|run| find_complaint(run, may_be_rejected)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Expects that all programs compile by default, and that nine of ten are validated in the finite field, in full or by
/// samples.
fn check_by_default(runs: &[ValidationRun]) {
    let said: Vec<Result<bool, String>> = runs
        .par_iter()
        .map(|run| {
            let done = compile(run, &[]);
            let is_validated = String::from_utf8_lossy(&done.stdout).contains("files and the imported program agree");
            let message =
                || format!("{} {:?}: {}", run.input.display(), run.options, String::from_utf8_lossy(&done.stderr));
            if done.status.success() { Ok(is_validated) } else { Err(message()) }
        })
        .collect();
    let complaints: Vec<&str> = said.iter().filter_map(|said| said.as_ref().err()).map(String::as_str).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    let num_validated = said.iter().filter(|said| **said == Ok(true)).count();
    assert!(10 * num_validated >= 9 * runs.len(), "{num_validated} of {} are validated", runs.len());
}

fn test_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test")
}

/// Returns the MLIR files below a folder, in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.into_iter().flat_map(below).filter(|path| path.extension().is_some_and(|kind| kind == "mlir")).collect()
}

/// Returns the compilations of a text test that write files. Writes the sections of a split test file to `place`.
fn parse_runs(path: &Path, place: &Path) -> Vec<ValidationRun> {
    let text = fs::read_to_string(path).unwrap();
    for part in text.split("//--- ").skip(1) {
        let (name, content) = part.split_once('\n').unwrap();
        let part = place.join(name.trim());
        fs::create_dir_all(part.parent().unwrap()).unwrap();
        fs::write(part, content).unwrap();
    }
    let lines: String =
        text.lines().filter_map(|line| line.strip_prefix("// RUN: ")).map(|line| format!("{line}\n")).collect();
    let lines = lines.replace("\\\n", " ");
    lines
        .lines()
        .flat_map(|line| line.split(['|', ';']))
        .flat_map(|line| line.split("&&"))
        .filter_map(|line| parse_run(line, path, place))
        .collect()
}

/// Returns the compilation of a command, if the command writes files.
fn parse_run(command: &str, path: &Path, place: &Path) -> Option<ValidationRun> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let (&"spyre-compile", arguments) = words.split_first()? else { return None };
    if !arguments.contains(&"-o") || arguments.iter().any(|word| ["--compile-to", "--validate", "-"].contains(word)) {
        return None;
    }
    let mut run = ValidationRun { input: PathBuf::new(), options: Vec::new() };
    let mut arguments = arguments.iter();
    while let Some(&word) = arguments.next() {
        match word {
            "-o" | ">" | "2>" | "--report" => _ = arguments.next(),
            "%s" => run.input = path.to_owned(),
            _ if word.starts_with("%t/") => run.input = place.join(word.strip_prefix("%t/")?),
            _ if word.starts_with("2>") => {}
            // The line with "validated" must be printed.
            "-q" | "--quiet" => {}
            _ => run.options.push(word.replace("%s", path.to_str()?).replace("%t", place.join("written").to_str()?)),
        }
    }
    run.input.exists().then_some(run)
}

#[test]
fn validates_compilations_of_text_tests() {
    let place = tempfile::tempdir().unwrap();
    // Tests of `validate` are compiled without changes, by default, too.
    let others =
        files_below(&test_folder()).into_iter().filter(|path| !path.starts_with(test_folder().join("validate")));
    let mut runs: Vec<ValidationRun> = (others.enumerate())
        .flat_map(|(number, path)| {
            let place = place.path().join(number.to_string());
            fs::create_dir(&place).unwrap();
            parse_runs(&path, &place)
        })
        .collect();
    assert!(runs.len() > 140, "{} compilations were found", runs.len());
    // A program with other options takes as long, and lit tests the output.
    runs.dedup_by(|one, other| one.input == other.input);
    check_by_default(&sample(runs, 3));
}

#[test]
fn validates_tiled_programs() {
    let place = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for path in files_below(&test_folder().join("tile/Inputs")) {
        for (number, program) in fs::read_to_string(&path).unwrap().split("// -----\n").enumerate() {
            let input = place.path().join(format!("{}_{number}.mlir", path.file_stem().unwrap().to_str().unwrap()));
            fs::write(&input, program).unwrap();
            runs.push(ValidationRun { input, options: Vec::new() });
        }
    }
    assert!(runs.len() > 100, "{} programs were found", runs.len());
    check(&runs, true);
}

#[test]
fn validates_models() {
    let square = AttentionShape { batches: 1, positions: 64, heads: 4, head_size: 64, is_packed: false };
    let small =
        Granite { layers: 1, sequence: 32, cached: 0, hidden: 128, heads: 4, kv_heads: 2, head_size: 32, mlp: 192 };
    let models: [(String, &[&str]); 5] = [
        (square.module(), &[]),
        (AttentionShape { head_size: 80, ..square }.module(), &["--cores", "5"]),
        (AttentionShape { is_packed: true, head_size: 32, ..square }.module(), &["--sticks", "greedy"]),
        (small.module(), &[]),
        (Granite { layers: 2, sequence: 8, ..small }.module(), &["--cores", "2", "--lx-planner", "first-fit"]),
    ];
    let place = tempfile::tempdir().unwrap();
    let run = |(number, (text, options)): (usize, &(String, &[&str]))| {
        let input = place.path().join(format!("model_{number}.mlir"));
        fs::write(&input, text).unwrap();
        ValidationRun { input, options: options.iter().map(|option| (*option).to_owned()).collect() }
    };
    check(&models.iter().enumerate().map(run).collect::<Vec<_>>(), false);
}

/// Returns how many programs are validated by default in the field, in full or by samples, and how many of them also
/// against the program as written.
fn count_by_default(programs: &[PathBuf]) -> [usize; 3] {
    let run = |input: &PathBuf| ValidationRun { input: input.clone(), options: Vec::new() };
    let said: Vec<(Option<i32>, String)> = programs
        .par_iter()
        .map(|input| {
            let done = compile(&run(input), &[]);
            assert_ne!(done.status.code(), Some(2), "{}: {}", input.display(), String::from_utf8_lossy(&done.stderr));
            (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
        })
        .collect();
    let compiled: Vec<&String> = said.iter().filter(|(code, _)| *code == Some(0)).map(|(_, said)| said).collect();
    let count = |texts: &[&str]| compiled.iter().filter(|said| texts.iter().any(|text| said.contains(text))).count();
    [
        compiled.len(),
        count(&["files and the imported program agree"]),
        count(&["files and the program as written (MLIR's JIT) agree"]),
    ]
}

/// Checks the default validation of the stored PyTorch exports, which are made as in `test/exports`.
#[test]
fn validates_nine_of_ten_exports_by_default() {
    let stored = files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("python/tests/pytorch/cases"));
    let [compiled, field, as_written] = count_by_default(&stored);
    assert!(compiled >= 25, "{compiled} of {} are compiled", stored.len());
    assert!(10 * field >= 9 * compiled && 10 * as_written >= 8 * compiled, "{field} and {as_written} of {compiled}");
}

/// Validates all programs of the scripts of `test/exports`, in the folder that `SPYRE_EXPORTS` names.
#[test]
#[ignore = "needs SPYRE_EXPORTS, a folder of what the scripts of test/exports make"]
fn validates_nine_of_ten_programs_of_folder_by_default() {
    let folder = PathBuf::from(std::env::var("SPYRE_EXPORTS").unwrap());
    let [compiled, field, as_written] = count_by_default(&files_below(&folder));
    assert!(
        compiled > 0 && 10 * field >= 9 * compiled,
        "{field} of {compiled}, {as_written} beside the program as written"
    );
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    /// A model of 40 layers, which takes a minute to compile and is too large for validation.
    const SLOW: &str = "hf_granite2b_40layer_f16";

    /// Programs outside of the repository that are rejected.
    const REJECTED: [&str; 4] = [
        // A dynamic size.
        "softmax_dyn_f16",
        // Runtime index lists that are no rows of a table, or too many.
        "shl",
        // Too many calls to be inlined, and two public functions.
        "calls-of-calls",
        "two",
    ];

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn validates_external_programs() {
        let inputs = common::shared("inputs");
        let is_broken = |path: &PathBuf| {
            path.components().any(|part| part.as_os_str().to_str().is_some_and(|part| part.starts_with("format-")))
        };
        let is_rejected = |path: &PathBuf| REJECTED.contains(&path.file_stem().unwrap().to_str().unwrap());
        let is_slow = |path: &PathBuf| path.file_stem().unwrap() == SLOW;
        let programs = files_below(&inputs).into_iter().filter(|path| !is_broken(path) && !is_slow(path));
        let (rejected, accepted): (Vec<PathBuf>, Vec<PathBuf>) = programs.partition(is_rejected);
        let run = |input| ValidationRun { input, options: Vec::new() };
        check_by_default(&sample(accepted.into_iter().map(run), 4));
        assert_eq!(rejected.len(), REJECTED.len(), "{rejected:?}");
        let is_taken = |run: &ValidationRun| compile(run, &[]).status.code() != Some(1);
        let taken: Vec<PathBuf> = rejected.into_iter().map(run).filter(is_taken).map(|run| run.input).collect();
        assert!(taken.is_empty(), "refused no more, or in another way: {taken:?}");
    }
}
