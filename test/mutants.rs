//! Mutation testing of the file format: every field of every file of a covering set of programs is changed. Each change is refused by a
//! rule that names the fault, detected in the results, or affects a field without a meaning.
//!
//! `cargo xtask mutants` tries all mutants and writes the tables of `docs/measurements/mutants.md`;
//! `cargo test --test compiler -- mutants::` tries one in [`SAMPLE`], always the same ones. `SPYRE_MUTANTS=1` tries all,
//! `SPYRE_MUTANTS_OF=softmax` those of one program only, `SPYRE_MUTANTS_ALIKE=1000` more similar ones than [`MOST_ALIKE`].

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "mutants/fields.rs"]
mod fields;
#[path = "mutants/free.rs"]
mod free;
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
use programs::{Files, Program, all_programs};
use serde_json::Value;
use std::{
    env,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use table::{Counts, Outcome};
use verdict::{Verdict, judge};

/// One mutant in this many is tried unless all are requested.
const SAMPLE: u64 = 150;

/// Maximum number of mutants of one kind of one field of one program; more are redundant.
const MOST_ALIKE: usize = 3;

/// Survivors that are reported.
const MOST_REPORTED: usize = 60;

/// A change of one field of one file.
#[derive(Clone, Debug)]
struct Mutant {
    file: String,
    /// The place in the file, for messages.
    place: String,
    /// The field, without the numbers and names that differ from file to file.
    field: String,
    kind: &'static str,
    /// New content of the field, for messages.
    to: String,
    change: Change,
}

/// How files change. Members are set when a mutant is tried, since few of all that there are will be.
#[derive(Clone, Debug)]
enum Change {
    /// The contents of files.
    Files(Vec<(String, Vec<u8>)>),
    /// Replaces or removes a member of a JSON file.
    Member { path: Vec<String>, to: Option<Value> },
}

impl Mutant {
    /// A change of one file.
    fn of_file(file: &str, (place, field): (String, String), kind: &'static str, to: String, content: Vec<u8>) -> Self {
        Self { file: file.to_owned(), place, field, kind, to, change: Change::Files(vec![(file.to_owned(), content)]) }
    }

    /// The files that it changes, as they are then.
    fn files(&self, right: &Files) -> Vec<(String, Vec<u8>)> {
        match &self.change {
            Change::Files(files) => files.clone(),
            Change::Member { path, to } => vec![(self.file.clone(), json::changed(&right[&self.file], path, to.clone()))],
        }
    }
}

/// Every mutant of a program; of those alike, a few.
fn mutants(program: &Program, most_alike: usize) -> Vec<Mutant> {
    let mut all = Vec::new();
    for (file, content) in &program.files {
        if file.ends_with(".json") {
            json::mutants(file, content, &mut all);
        } else if file.ends_with(".mlir") {
            text::mutants(file, content, &mut all);
        } else {
            all.extend(bytes(file, content));
        }
    }
    together::mutants(&program.files, &mut all);
    fields::thinned(all, most_alike)
}

/// Changes of the bytes of a constant: the first, the last, one too few, one too many.
fn bytes(file: &str, content: &[u8]) -> Vec<Mutant> {
    let mut first = content.to_vec();
    first[0] ^= 0x40;
    first[1] ^= 0x20;
    let with = |kind, content: Vec<u8>| Mutant::of_file(file, (String::new(), "constant bytes".to_owned()), kind, String::new(), content);
    let longer = content.iter().copied().chain([0]).collect();
    vec![with("other value", first), with("dropped", content[1..].to_vec()), with("added", longer)]
}

/// A number that follows from a mutant alone.
fn hash(mutant: &Mutant) -> u64 {
    let words = [&*mutant.file, &*mutant.place, mutant.kind, &*mutant.to];
    words
        .iter()
        .flat_map(|word| word.bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// Tries mutants on all processors; the outcomes are in the order of the mutants.
fn try_all(program: &Program, mutants: &[Mutant]) -> Vec<Outcome> {
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((number, mutant)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, mutants.get(at)?))) {
            let verdict = judge(program, mutant);
            outcomes.lock().unwrap().push((number, Outcome::of(program, mutant, verdict)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut outcomes = outcomes.into_inner().unwrap();
    outcomes.sort_by_key(|(number, _)| *number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[test]
fn no_mutant_survives() {
    let tries_all = env::var_os("SPYRE_MUTANTS").is_some();
    let only = env::var("SPYRE_MUTANTS_OF").ok();
    let most_alike = env::var("SPYRE_MUTANTS_ALIKE").map_or(MOST_ALIKE, |most| most.parse().unwrap());
    let mut counts = Counts::default();
    for program in all_programs(only.as_deref()) {
        verdict::expect_right(&program);
        let mut mutants = mutants(&program, most_alike);
        mutants.retain(|mutant| tries_all || hash(mutant).is_multiple_of(SAMPLE));
        for outcome in try_all(&program, &mutants) {
            counts.add(outcome);
        }
        println!("{}: {} mutants", program.name, mutants.len());
    }
    println!("{}", counts.by_kind());
    let survivors = counts.survivors();
    let shown: Vec<&String> = survivors.iter().take(MOST_REPORTED).collect();
    assert!(survivors.is_empty(), "{} mutants survive: {shown:#?}", survivors.len());
    if tries_all && only.is_none() && most_alike == MOST_ALIKE {
        table::expect_on_page(&counts);
    }
}

#[test]
fn fields_without_meaning_have_a_reason() {
    for free in free::FREE {
        assert!(!free.reason.is_empty() && !free.source.is_empty(), "{}", free.field);
    }
    assert!(!Verdict::Survives.is_kill());
}
