//! `cargo xtask nightly`: runs the long checks that CI omits: all mutants, random programs with fresh seeds, memoized
//! results, exported models, and the Python package with PyTorch and JAX.

use crate::{book, models, python, step, test::find_missing_material};
use std::{fs, path::PathBuf, process::Command, time::SystemTime};

/// Number of random programs of each family, and of random cases of each other test.
const PROGRAMS: u64 = 5_000;
const CASES: &str = "5000";

/// Tests that sample by default, with the variable that requests more.
const SAMPLED: [(&str, &str, &str); 5] = [
    ("index_lists::", "SPYRE_INDEX_LISTS", CASES),
    ("random_integers::", "SPYRE_RANDOM_INTEGERS", "20000"),
    ("random_loops::", "SPYRE_RANDOM_LOOPS", CASES),
    ("hostile::", "SPYRE_HOSTILE_CASES", CASES),
    ("known_programs::", "SPYRE_KNOWN", "1"),
];

/// Tests that run a sample of their programs (`test/common/sample.rs`), or none, unless all are requested.
const UNSAMPLED_TESTS: [&str; 5] = ["joint::", "memory::", "refusals::", "supported_ops::", "validated::"];

/// Runs all checks, even after failures. The number selects the random programs; by default it is the date.
pub(crate) fn run(number: Option<&str>) -> Result<(), String> {
    let number = match number {
        Some(text) => text.parse().map_err(|_| format!("expected a number, found '{text}'; cargo xtask nightly 17"))?,
        None => days_since_1970()?,
    };
    println!("==> nightly {number}: `cargo xtask nightly {number}` tries the same programs again");
    let mut done = vec![
        step::run("nightly: mutants", test_command("mutants::detects_each_mutant").env("SPYRE_MUTANTS", "1")),
        step::run(
            "nightly: random programs",
            test_command("random::programs_are_right_or_refused").env("SPYRE_RANDOM", program_range(number)),
        ),
    ];
    for (tests, variable, count) in SAMPLED {
        done.push(step::run(&format!("nightly: {tests}"), test_command(tests).env(variable, count)));
    }
    let missing = find_missing_material();
    if let Some(folder) = &missing {
        println!("==> nightly: NOT RUN, for there is no {}: the tests `shared::`", folder.display());
    }
    for tests in UNSAMPLED_TESTS {
        let mut whole = test_command(tests);
        whole.args(["--include-ignored", "--skip", "programs_of_a_folder"]).env("SPYRE_ALL", "1");
        if missing.is_some() {
            whole.args(["--skip", "shared::"]);
        }
        done.push(step::run(&format!("nightly: {tests}"), &mut whole));
    }
    done.push(check_memoization());
    done.push(python::test_with_frameworks());
    done.push(book::run());
    done.push(check_exports());
    let failures: Vec<String> = done.into_iter().filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n       ")) }
}

/// Returns the range of a night's program numbers. It overlaps with no other night, nor with the first thousands, which
/// CI and developers run.
fn program_range(number: u64) -> String {
    let first = number.saturating_add(1).saturating_mul(PROGRAMS);
    format!("{first}..{}", first.saturating_add(PROGRAMS))
}

fn days_since_1970() -> Result<u64, String> {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_err(|error| format!("the clock is before 1970: {error}"))?;
    Ok(since.as_secs() / 86_400)
}

/// Returns a command that runs some tests of the compiler, with all checks.
fn test_command(name: &str) -> Command {
    let mut command = step::cargo(["test", "--profile", "checked", "--workspace", "--test", "compiler", "--"]);
    command.arg(name);
    command
}

/// Compiles the programs of the tests and of `benches/plans` with a compiler that recomputes each memoized result of a
/// search.
fn check_memoization() -> Result<(), String> {
    let target = step::target_dir()?.join("check-memo");
    let mut build = step::cargo([
        "build",
        "--profile",
        "checked",
        "--package",
        "spyre-compiler",
        "--bin",
        "spyre-compile",
        "--features",
        "check-memo",
    ]);
    step::run("nightly: memo: compiler", build.env("CARGO_TARGET_DIR", &target))?;
    let (tool, out) = (target.join("checked").join("spyre-compile"), target.join("out"));
    let (mut n_compiled, mut wrong) = (0, Vec::new());
    for program in list_programs_in(&["test/execution", "benches/plans"])? {
        let mut compile = Command::new(&tool);
        compile.arg(&program).arg("-o").arg(&out).arg("--validate=off");
        let output = compile.output().map_err(|error| format!("{}: {error}", tool.display()))?;
        match output.status.code() {
            Some(0) => n_compiled += 1,
            // A program that tests a rejection, or a file of several programs.
            Some(1) => {}
            _ => wrong.push(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr))),
        }
    }
    println!("==> nightly: memo: {n_compiled} programs compiled");
    if n_compiled < 100 {
        wrong.push(format!("only {n_compiled} programs were compiled"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("memo: {}", wrong.join("\n"))) }
}

/// Returns the `.mlir` files in folders of the project, in order.
fn list_programs_in(folders: &[&str]) -> Result<Vec<PathBuf>, String> {
    let mut programs = Vec::new();
    for folder in folders {
        let folder = step::root().join(folder);
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let files = entries.filter_map(Result::ok).map(|entry| entry.path());
        programs.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "mlir")));
    }
    programs.sort();
    Ok(programs)
}

/// Exports models from PyTorch, and compiles, runs and checks each. No table may have fewer correct programs than the
/// page in `docs`, which is not changed.
fn check_exports() -> Result<(), String> {
    let place = step::target_dir()?.join("nightly");
    let python = python::create_export_environment(&place.join("environment"))?;
    let (scripts, models) = (step::root().join("test").join("exports"), place.join("models"));
    for (script, folder) in [("export_models.py", models.clone()), ("export_functions.py", models.join("functions"))] {
        step::run("nightly: export", Command::new(&python).arg(scripts.join(script)).arg(folder))?;
    }
    let page = step::root().join("docs").join("measurements").join("models.md");
    let fault = |error: std::io::Error| format!("{}: {error}", page.display());
    let before = fs::read_to_string(&page).map_err(fault)?;
    let ran = models::run(&models.to_string_lossy());
    let after = fs::read_to_string(&page).map_err(fault)?;
    fs::write(&page, &before).map_err(fault)?;
    ran.and_then(|()| compare_tables(&before, &after))
}

/// Compares the tables that both pages have, by heading.
fn compare_tables(before: &str, after: &str) -> Result<(), String> {
    let after = count_right_programs(after);
    let is_worse = |(name, right): &(&str, u64)| after.iter().any(|(other, found)| other == name && found < right);
    let worse: Vec<&str> = count_right_programs(before).into_iter().filter(is_worse).map(|(name, _)| name).collect();
    if worse.is_empty() {
        Ok(())
    } else {
        Err(format!("fewer exported programs are right than in docs: {}", worse.join(", ")))
    }
}

/// Returns the number of correct programs per heading.
fn count_right_programs(page: &str) -> Vec<(&str, u64)> {
    let mut heading = "";
    let mut found = Vec::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            heading = name;
        } else if let Some(right) = line.split_once(" of ").filter(|(_, rest)| rest.ends_with(" are right.")) {
            found.extend(right.0.parse().ok().map(|right| (heading, right)));
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn tries_new_programs_every_night() {
        assert_eq!([program_range(0), program_range(1)], ["5000..10000", "10000..15000"].map(str::to_owned));
        assert!(days_since_1970().unwrap() > 20_000);
        let table = |right: u64| format!("## models\n\n{right} of 80 are right.\n");
        assert_eq!(count_right_programs(&table(79)), [("models", 79)]);
        assert_eq!((compare_tables(&table(79), &table(80)), compare_tables(&table(79), "")), (Ok(()), Ok(())));
        assert!(compare_tables(&table(80), &table(79)).unwrap_err().ends_with("in docs: models"));
        assert!(run(Some("soon")).unwrap_err().starts_with("expected a number, found 'soon'"));
    }
}
