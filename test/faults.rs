//! Fault injection: files of correct programs are broken in many ways, and the format rules or the execution detect
//! each.
//!
//! `BLESS=faults cargo test --test compiler -- faults::` rewrites the table of `docs/measurements/faults.md`.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "faults/edits.rs"]
mod edits;
#[path = "faults/list.rs"]
mod list;
#[path = "faults/programs.rs"]
mod programs;

use crate::common::bless;
use edits::Files;
use list::{FileFault, all_faults};
use machine::Target;
use programs::{ValidProgram, all_valid_programs, write_files};
use referee::{BoundedNumber, IntervalArithmetic, RunOptions, ShadowResult, Simulation};
use sdsc_check::check_files;
use spyre_compiler::reference::check_against_reference;
use std::{collections::BTreeSet, fmt::Write as _};

/// Verdict on files in which no rule and no execution finds a fault.
const NOT_CAUGHT: &str = "not caught";

/// Returns the label of the first rule that the files violate.
fn find_broken_rule(files: &Files) -> String {
    let found =
        check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    found.first().map_or_else(|| NOT_CAUGHT.to_owned(), |violation| format!("`{}`", violation.label))
}

/// Returns the verdict that `spyre-run --check` would reach.
fn execution_verdict(files: &Files, right: &ValidProgram) -> String {
    let place = tempfile::tempdir().unwrap();
    write_files(place.path(), files);
    let run = || {
        let simulation = Simulation::load(place.path(), &Target::spyre())?;
        simulation.run_with(&IntervalArithmetic, &right.inputs, &RunOptions::default())
    };
    match run() {
        Err(error) => format!("`{}`", error.rule()),
        Ok((_, results)) if agrees(&results, right) => NOT_CAUGHT.to_owned(),
        Ok(_) => "numbers differ".to_owned(),
    }
}

fn agrees(results: &[ShadowResult<BoundedNumber>], right: &ValidProgram) -> bool {
    results.len() == right.expected.len()
        && results
            .iter()
            .zip(&right.expected)
            .all(|(found, expected)| check_against_reference(found, expected, &[], 0.0).is_ok())
}

fn apply_fault(fault: &FileFault, right: &ValidProgram) -> Files {
    let mut files = right.files.clone();
    (fault.edit)(&mut files);
    assert_ne!(files, right.files, "'{}' changes nothing", fault.name);
    files
}

/// Compares with the page, or writes it if the caller blesses.
fn expect_on_page(table: &str) {
    const BEGIN: &str = "<!-- faults: begin -->\n";
    const END: &str = "<!-- faults: end -->\n";
    bless::expect_on_page("docs/measurements/faults.md", [BEGIN, END], table, "faults");
}

#[test]
fn catches_every_fault_as_documented() {
    let programs = all_valid_programs();
    for right in &programs {
        let found = (find_broken_rule(&right.files), execution_verdict(&right.files, right));
        assert_eq!(found, (NOT_CAUGHT.to_owned(), NOT_CAUGHT.to_owned()), "{}", right.name);
    }
    let faults = all_faults();
    assert_eq!(
        faults.iter().map(|fault| fault.name).collect::<BTreeSet<_>>().len(),
        faults.len(),
        "two faults have one name"
    );
    let (mut table, mut missed) =
        ("| fault | program | format rule | execution |\n|---|---|---|---|\n".to_owned(), Vec::new());
    for fault in &faults {
        let right = programs.iter().find(|right| right.name == fault.program).unwrap();
        let files = apply_fault(fault, right);
        let (rule, run) = (find_broken_rule(&files), execution_verdict(&files, right));
        if rule == NOT_CAUGHT && run == NOT_CAUGHT {
            missed.push(fault.name);
        }
        writeln!(table, "| {} | {} | {rule} | {run} |", fault.name, fault.program).unwrap();
    }
    assert!(missed.is_empty(), "nothing catches {missed:#?}\n{table}");
    expect_on_page(&table);
}
