//! Fault injection: files of right programs are broken in many ways, and the format rules or the execution catch each.
//!
//! `BLESS=faults cargo test --test compiler -- faults::` writes the table of `docs/measurements/faults.md` again.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "faults/edits.rs"]
mod edits;
#[path = "faults/list.rs"]
mod list;
#[path = "faults/programs.rs"]
mod programs;

use crate::common::bless;
use edits::Files;
use list::{Fault, all_faults};
use machine::Target;
use programs::{Right, all_right, write};
use referee::{BoundedNumber, Companions, IntervalArithmetic, RunOptions, Simulation};
use sdsc_check::check_files;
use spyre::reference::check_against_reference;
use std::{collections::BTreeSet, fmt::Write as _};

/// Verdict on files in which no rule and no execution finds a fault.
const NOTHING: &str = "not caught";

/// The label of the first rule that the files break.
fn broken_rule(files: &Files) -> String {
    let found = check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    found.first().map_or_else(|| NOTHING.to_owned(), |violation| format!("`{}`", violation.label))
}

/// Returns the verdict that `spyre-run --check` would reach.
fn execution(files: &Files, right: &Right) -> String {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), files);
    let run = || {
        let simulation = Simulation::load(place.path(), &Target::spyre())?;
        simulation.run_with(&IntervalArithmetic, &right.inputs, &RunOptions::default())
    };
    match run() {
        Err(error) => format!("`{}`", error.rule()),
        Ok((_, results)) if agrees(&results, right) => NOTHING.to_owned(),
        Ok(_) => "numbers differ".to_owned(),
    }
}

fn agrees(results: &[Companions<BoundedNumber>], right: &Right) -> bool {
    results.len() == right.expected.len()
        && results.iter().zip(&right.expected).all(|(found, expected)| check_against_reference(found, expected, &[], 0.0).is_ok())
}

fn broken(fault: &Fault, right: &Right) -> Files {
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
fn every_fault_is_caught_and_the_page_says_by_what() {
    let programs = all_right();
    for right in &programs {
        let found = (broken_rule(&right.files), execution(&right.files, right));
        assert_eq!(found, (NOTHING.to_owned(), NOTHING.to_owned()), "{}", right.name);
    }
    let faults = all_faults();
    assert_eq!(faults.iter().map(|fault| fault.name).collect::<BTreeSet<_>>().len(), faults.len(), "two faults have one name");
    let (mut table, mut missed) = ("| fault | program | format rule | execution |\n|---|---|---|---|\n".to_owned(), Vec::new());
    for fault in &faults {
        let right = programs.iter().find(|right| right.name == fault.program).unwrap();
        let files = broken(fault, right);
        let (rule, run) = (broken_rule(&files), execution(&files, right));
        if rule == NOTHING && run == NOTHING {
            missed.push(fault.name);
        }
        writeln!(table, "| {} | {} | {rule} | {run} |", fault.name, fault.program).unwrap();
    }
    assert!(missed.is_empty(), "nothing catches {missed:#?}\n{table}");
    expect_on_page(&table);
}
