//! Mutation testing of the file format: every field of every file of a covering set of programs is changed. Each change
//! is rejected by a rule that names the fault, detected in the results, or affects a field without a meaning.
//!
//! `cargo xtask mutants` tries all mutants and writes the tables of `docs/measurements/mutants.md`.
//! `cargo test --test compiler -- mutants::` tries one in [`SAMPLE`], always the same ones. `SPYRE_MUTANTS=1` tries
//! all, `SPYRE_MUTANTS_OF=softmax` those of one program, `SPYRE_MUTANTS_ALIKE=1000` more equivalent ones than
//! [`MAX_EQUIVALENT`].

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "mutants/fields.rs"]
mod fields;
#[path = "mutants/free.rs"]
mod free;
#[path = "mutants/free_release.rs"]
mod free_release;
#[path = "mutants/json.rs"]
mod json;
#[path = "mutants/programs.rs"]
mod programs;
#[path = "mutants/table.rs"]
mod table;
#[path = "mutants/text.rs"]
mod text;
#[path = "mutants/together.rs"]
mod together;
#[path = "mutants/verdict.rs"]
mod verdict;

use crate::common::bless;
use free_release::RELEASE_FIELDS;
use programs::{CorrectProgram, Files, all_programs};
use serde_json::Value;
use std::{
    env,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use table::{MutantOutcome, MutantStatistics};
use verdict::{MutantVerdict, evaluate_mutant};

/// One mutant in this many is tried unless all are requested.
const SAMPLE: u64 = 150;

/// Maximum number of mutants of one kind of one field of one program; more are redundant.
const MAX_EQUIVALENT: usize = 3;

/// Maximum number of survivors in the report.
const MAX_REPORTED: usize = 60;

/// A change of one field of one file.
#[derive(Clone, Debug)]
struct Mutant {
    file: String,
    /// Path in the file, for messages.
    place: String,
    /// Name of the field, without the numbers and names that differ between files.
    field: String,
    kind: &'static str,
    /// New content of the field, for messages.
    to: String,
    change: FileChange,
}

/// Change of files. Members are set when a mutant is tried, since few of all mutants are tried.
#[derive(Clone, Debug)]
enum FileChange {
    /// New contents of files.
    Files(Vec<(String, Vec<u8>)>),
    /// Replaces or removes a member of a JSON file.
    Member { path: Vec<String>, to: Option<Value> },
}

impl Mutant {
    /// Creates a mutant that changes one file.
    fn from_file_change(
        file: &str,
        (place, field): (String, String),
        kind: &'static str,
        to: String,
        content: Vec<u8>,
    ) -> Self {
        Self {
            file: file.to_owned(),
            place,
            field,
            kind,
            to,
            change: FileChange::Files(vec![(file.to_owned(), content)]),
        }
    }

    /// Returns the changed files with their new contents.
    fn files(&self, right: &Files) -> Vec<(String, Vec<u8>)> {
        match &self.change {
            FileChange::Files(files) => files.clone(),
            FileChange::Member { path, to } => {
                vec![(self.file.clone(), json::change_member(&right[&self.file], path, to.clone()))]
            }
        }
    }
}

/// Generates the mutants of a program; of equivalent ones, at most `most_alike`.
fn generate_mutants(program: &CorrectProgram, most_alike: usize) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (file, content) in &program.files {
        if file.ends_with(".json") {
            json::add_mutants(file, content, &mut all);
        } else if file.ends_with(".mlir") {
            text::add_mutants(file, content, &mut all);
        } else {
            all.extend(mutate_bytes(file, content));
        }
    }
    together::add_mutants(&program.files, &mut all);
    fields::thin_out(all, most_alike)
}

/// Changes the bytes of a constant: the first, the last, one too few, one too many.
fn mutate_bytes(file: &str, content: &[u8]) -> Vec<Mutant> {
    let mut first = content.to_vec();
    first[0] ^= 0x40;
    first[1] ^= 0x20;
    let with = |kind, content: Vec<u8>| {
        Mutant::from_file_change(file, (String::new(), "constant bytes".to_owned()), kind, String::new(), content)
    };
    let longer = content.iter().copied().chain([0]).collect();
    vec![with("other value", first), with("dropped", content[1..].to_vec()), with("added", longer)]
}

/// Returns a number that depends on the mutant alone.
fn hash_mutant(mutant: &Mutant) -> u64 {
    let words = [&*mutant.file, &*mutant.place, mutant.kind, &*mutant.to];
    words
        .iter()
        .flat_map(|word| word.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Tries mutants on all processors; the outcomes are in the order of the mutants.
fn try_all(program: &CorrectProgram, mutants: &[Mutant]) -> Vec<MutantOutcome> {
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((number, mutant)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, mutants.get(at)?)))
        {
            let verdict = evaluate_mutant(program, mutant);
            outcomes.lock().unwrap().push((number, MutantOutcome::new(program, mutant, verdict)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn detects_each_mutant() {
    let tries_all = env::var_os("SPYRE_MUTANTS").is_some();
    let only = env::var("SPYRE_MUTANTS_OF").ok();
    let most_alike = env::var("SPYRE_MUTANTS_ALIKE").map_or(MAX_EQUIVALENT, |most| most.parse().unwrap());
    let mut counts = MutantStatistics::default();
    for program in all_programs(only.as_deref()) {
        verdict::check_correct_files(&program);
        let mut mutants = generate_mutants(&program, most_alike);
        mutants.retain(|mutant| tries_all || hash_mutant(mutant).is_multiple_of(SAMPLE));
        for outcome in try_all(&program, &mutants) {
            counts.add(outcome);
        }
        println!("{}: {} mutants", program.name, mutants.len());
    }
    println!("{}", counts.table_by_kind());
    let survivors = counts.survivors();
    let viewed: Vec<&String> = survivors.iter().take(MAX_REPORTED).collect();
    assert!(survivors.is_empty(), "{} mutants survive: {viewed:#?}", survivors.len());
    if tries_all && only.is_none() && most_alike == MAX_EQUIVALENT {
        table::expect_on_page(&counts);
    }
}

#[test]
fn requires_reason_for_fields_without_meaning() {
    for free in free::UNCHECKED_FIELDS.iter().chain(RELEASE_FIELDS) {
        assert!(!free.reason.is_empty() && !free.source.is_empty(), "{}", free.field);
    }
    assert!(!MutantVerdict::Survives.is_kill());
}
