//! Rejections of `linalg` programs: no message names an op, a rule or a dimension that the program does not have.
//!
//! Messages come from the text tests that reject a `linalg` program, from random programs (`SPYRE_REFUSALS=2000` sets
//! their number), and from the programs of `test/execution` under options that reject many of them.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::{
    common::sample::sample,
    random::{case::RandomCase, generate::FAMILIES},
};
use spyre_compiler::{
    compile::{compile, parse_in_user_terms, run_in_user_terms},
    dialect::ods,
    import::Precision,
    mlir::{CollectedDiagnostic, collect_diagnostics},
    pipeline::{CompileOptions, Phase, PlannerName},
};
use std::{collections::BTreeMap, env, fs, path::PathBuf};

/// Number of random programs of each family by default.
const DEFAULT_PROGRAMS: usize = 4;

/// Internal terms that no message may contain: names from files, from rules, and from the compiler. A term that the
/// program itself contains is allowed.
const INTERNAL_TERMS: [&str; 12] = [
    "sdsc",
    "see current operation",
    "'mb'",
    "'kij'",
    "restickify",
    "spyre-import",
    "spyre-plan",
    "run the layout phase",
    "not allowed after phase",
    "Some(",
    "panicked",
    "iteration dimension d",
];

/// Returns the words of a text that name an op of the dialect.
fn find_dialect_ops(text: &str) -> Vec<&'static str> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let ends = |rest: &str| !rest.starts_with(is_letter);
    let names = |name: &str| text.match_indices(name).any(|(at, _)| ends(&text[at + name.len()..]));
    ods::spyre::EVERY_OP.iter().copied().filter(|name| names(name)).collect()
}

/// Returns the internal terms in a message about a program and in its notes, as descriptions.
fn find_internal_terms(program: &str, said: &CollectedDiagnostic) -> Vec<String> {
    let mut found = Vec::new();
    for message in std::iter::once(said).chain(&said.notes).map(|said| &said.message) {
        let internal = INTERNAL_TERMS.iter().filter(|term| message.contains(**term) && !program.contains(**term));
        let ops = find_dialect_ops(message).into_iter().filter(|name| !program.contains(name));
        found.extend(internal.copied().chain(ops).map(|term| format!("'{term}' in: {message}")));
    }
    found
}

/// Compiles a program, and returns its diagnostics, including warnings.
fn collect_messages(text: &str, options: &CompileOptions) -> Vec<CollectedDiagnostic> {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let options = &CompileOptions { compile_to: Phase::Emit, ..options.clone() };
    let session = spyre_compiler::pipeline::create_session();
    let ((), said) = collect_diagnostics(session.context(), || {
        let Some(mut module) = parse_in_user_terms(&session.source_from_text("program.mlir", text)) else { return };
        let _ = run_in_user_terms(&mut module, false, |module| compile(module, options, output.to_str().unwrap()));
    });
    said
}

/// Reads the text tests below a folder whose names end in `end`.
fn read_texts(folder: &str, end: &str) -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(end));
    paths.sort();
    let parts = |path: PathBuf| {
        let (name, text) =
            (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap());
        let parts: Vec<_> = text
            .split("// -----")
            .enumerate()
            .map(|(part, text)| (format!("{name}, {part}"), text.to_owned()))
            .collect();
        parts
    };
    paths.into_iter().flat_map(parts).collect()
}

/// Returns whether a program contains no IR of later phases, which uses the compiler's terms.
fn is_linalg_program(text: &str) -> bool {
    let others = ["spyre.phase", "spyre.layout", "#spyre", "sdsc", "//---"];
    text.contains("func.func") && !others.iter().any(|other| text.contains(other))
}

fn read_programs() -> Vec<(String, String, CompileOptions)> {
    let mut found = Vec::new();
    let rejected = ["import", "hint", "tile", "kernel", "work", "layout"]
        .map(|folder| read_texts(&format!("test/{folder}"), "-invalid.mlir"));
    for (name, text) in rejected.into_iter().flatten() {
        found.push((name, text, CompileOptions::default()));
    }
    let small = CompileOptions { cores: 3, lx_bytes: 1024, ..CompileOptions::default() };
    let strict = CompileOptions {
        precision: Precision::Strict,
        lx_planner: Some(PlannerName::none()),
        ..CompileOptions::default()
    };
    for (number, (name, text)) in sample(read_texts("test/execution", ".mlir"), 5).into_iter().enumerate() {
        let options = if number % 2 == 0 { &small } else { &strict };
        found.push((name, text, options.clone()));
    }
    found.retain(|(_, text, _)| is_linalg_program(text));
    found
}

fn random_programs() -> impl Iterator<Item = (String, String, CompileOptions)> {
    let drawn = env::var("SPYRE_REFUSALS").map_or(DEFAULT_PROGRAMS, |text| text.parse().unwrap());
    FAMILIES.into_iter().flat_map(move |family| {
        (0..drawn).map(move |number| {
            let case = RandomCase::from_number(family, number).0;
            let written = &case.written[number % 2];
            (format!("{}:{number}", family.name()), written.text.clone(), written.way.options.clone())
        })
    })
}

#[test]
fn rejects_in_terms_of_the_program() {
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    let mut num_rejected = 0;
    for (name, text, options) in read_programs().into_iter().chain(random_programs()) {
        let said = collect_messages(&text, &options);
        num_rejected += usize::from(said.iter().any(|said| said.severity == "error"));
        for fault in said.iter().flat_map(|said| find_internal_terms(&text, said)) {
            wrong.entry(fault).or_insert_with(|| name.clone());
        }
    }
    let list: Vec<String> = wrong.iter().map(|(fault, name)| format!("{name}: {fault}")).collect();
    assert!(list.is_empty(), "{} messages:\n{}", list.len(), list.join("\n"));
    assert!(num_rejected >= 100, "{num_rejected} programs are refused");
}
