//! Random programs, compiled under random options and run on the simulated machine, against MLIR's JIT.
//!
//! The programs follow from their numbers. `SPYRE_RANDOM_PROGRAMS=1000 cargo test --test random_programs` runs the first thousand;
//! `SPYRE_RANDOM_CASE=17` runs that one.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "common/cases.rs"]
mod cases;
#[path = "random_programs/generate.rs"]
mod generate;

use cases::{Outcome, number_of};
use generate::{Program, recipes};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

const DEFAULT_PROGRAMS: usize = 60;

fn run(program: &Program) -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let (input, out) = (place.path().join("program.mlir"), place.path().join("out"));
    fs::write(&input, &program.text).unwrap();
    let compiled =
        Command::new(env!("CARGO_BIN_EXE_spyre-compile")).arg(&input).arg("-o").arg(&out).args(&program.options).output().unwrap();
    let message = message_of(&compiled, place.path());
    match compiled.status.code() {
        Some(0) => {}
        Some(1) if message.contains("not supported yet") => return Outcome::Refused(message),
        Some(1) => return Outcome::Fails("spyre-compile takes it for a mistake", message),
        _ => return Outcome::Fails("spyre-compile has a bug", message),
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_spyre-run")).arg(&out).arg("--check").arg(&input).output().unwrap();
    let message = message_of(&ran, place.path());
    match ran.status.code() {
        Some(0) => Outcome::Agrees,
        Some(1) if message.contains("differs from the reference") => Outcome::Fails("the numbers differ", message),
        Some(1) => Outcome::Fails("the simulated machine refuses the bundle", message),
        _ => Outcome::Fails("spyre-run has a bug", message),
    }
}

/// What a tool complains about, with the status of one that was killed.
fn message_of(output: &Output, place: &Path) -> String {
    let text = String::from_utf8_lossy(&output.stderr).replace(&format!("{}/", place.display()), "");
    if output.status.code().is_some() { text } else { format!("{}\n{text}", output.status) }
}

/// Runs a case; one that fails comes back as the simplest program that fails in the same way.
fn run_case(case: usize) -> (Program, Outcome) {
    cases::run_simplest(&mut cases::case_of(&recipes(), case), |recipe| {
        let program = recipe.program();
        let outcome = run(&program);
        (program, outcome)
    })
}

/// The outcomes of the cases, which run beside each other.
fn run_cases(cases: &[usize]) -> Vec<(usize, Program, Outcome)> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (program, outcome) = run_case(case);
                    done.lock().unwrap().push((case, program, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(case, ..)| *case);
    done
}

fn complaint(case: usize, program: &Program, what: &str, message: &str) -> String {
    let Program { text, options } = program;
    let again = format!("SPYRE_RANDOM_CASE={case} cargo test --test random_programs");
    format!("\ncase {case}: {what}\n{message}options: {}\n{text}again: {again}\n", options.join(" "))
}

#[test]
fn random_programs_agree_with_the_jit() {
    let n_programs = number_of("SPYRE_RANDOM_PROGRAMS").unwrap_or(DEFAULT_PROGRAMS);
    let cases = number_of("SPYRE_RANDOM_CASE").map_or_else(|| (0..n_programs).collect(), |case| vec![case]);
    let (mut failures, mut refused) = (String::new(), Vec::new());
    for (case, program, outcome) in run_cases(&cases) {
        match outcome {
            Outcome::Agrees => {}
            Outcome::Refused(message) => refused.push(format!("case {case}: {}", message.lines().next().unwrap_or_default())),
            Outcome::Fails(what, message) => failures += &complaint(case, &program, what, &message),
        }
    }
    println!("{} programs, {} refused:\n  {}", cases.len(), refused.len(), refused.join("\n  "));
    assert!(failures.is_empty(), "{failures}");
    assert!(cases.len() == 1 || refused.len() * 4 <= cases.len(), "{} of {} programs are not supported yet", refused.len(), cases.len());
}
