//! `cargo xtask mutate-passes`: mutates the passes one line at a time and counts how many mutants the tests detect.
//!
//! All mutants are compiled in one build. In a copy of the tree each sampled expression becomes a choice between the
//! original and the mutant, and an environment variable selects the mutant of a process. Each test runs once without a
//! mutant, to record which of these expressions it evaluates. So a mutant runs only the tests that can detect it.

mod run;
mod sites;
mod suite;
mod table;
mod tree;

use sites::MutationSite;
use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use suite::{MutantOutcome, TestSuite};

/// Environment variable that selects the mutant of a process.
pub(crate) const MUTANT: &str = "SPYRE_MUTANT";

/// Environment variable with a folder, in which a process creates a file for each mutant whose expression it evaluates.
pub(crate) const REACHED: &str = "SPYRE_REACHED";

/// Default number of mutants.
const DEFAULT_SAMPLE: usize = 200;

/// Maximum number of builds: each drops mutants that do not type-check.
const MAX_BUILDS: usize = 12;

fn main() -> ExitCode {
    match run_command_line() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs `mutate-passes WORK [SAMPLE [FIRST [END]]]`: the folder of the copy, the number of sampled mutants, and the
/// range of these that is tried.
fn run_command_line() -> Result<(), String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |position: usize, default: usize| match arguments.get(position) {
        Some(text) => text.parse().map_err(|_| format!("expected a number, found '{text}'")),
        None => Ok(default),
    };
    let work = arguments.first().map(PathBuf::from).ok_or("usage: mutate-passes WORK [SAMPLE [FIRST [END]]]")?;
    let sample = number(1, DEFAULT_SAMPLE)?;
    let (first, end) = (number(2, 0)?, number(3, sample)?);
    let root = env::current_dir().map_err(|error| error.to_string())?;
    let copy = work.join("tree");
    let (sampled, mut suite) = build(&root, &copy, &work.join("target"), sample)?;
    suite.load_measurements(&work)?;
    let tried: Vec<&MutationSite> = sampled.iter().filter(|site| (first..end).contains(&site.number)).collect();
    let mut verdicts = Vec::new();
    for site in tried {
        let outcome = suite.run(site);
        println!("{site}: {outcome}");
        verdicts.push(MutantVerdict { site, outcome });
    }
    println!("\n{}", table::format_markdown(&verdicts));
    Ok(())
}

/// A mutant and its outcome.
pub(crate) struct MutantVerdict<'a> {
    site: &'a MutationSite,
    outcome: MutantOutcome,
}

/// Builds the mutated tree. Replaces mutants that do not compile until all compile.
fn build(root: &Path, copy: &Path, target: &Path, sample: usize) -> Result<(Vec<MutationSite>, TestSuite), String> {
    let places = tree::find_sites_by_stage(root)?;
    tree::copy_tree(root, copy, &places)?;
    let mut broken = BTreeSet::new();
    for _ in 0..MAX_BUILDS {
        let num_places: Vec<usize> = places.iter().map(Vec::len).collect();
        let chosen = tree::sample_sites(&num_places, sample, &broken);
        let sampled = tree::write_mutants(root, copy, &places, &chosen)?;
        let numbers = suite::find_uncompilable(copy, target)?;
        if numbers.is_empty() {
            let num_places: usize = num_places.iter().sum();
            println!("{} mutants of {num_places} places; {} do not compile and gave way", sampled.len(), broken.len());
            return Ok((sampled, suite::build(copy, target)?));
        }
        broken.extend(numbers.into_iter().filter_map(|number| chosen.get(number)));
    }
    Err(format!("the mutated tree does not compile after {MAX_BUILDS} replacements of mutants"))
}

/// Reads a file; an error names it.
pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
