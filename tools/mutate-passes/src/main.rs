//! `cargo xtask mutate-passes`: breaks the passes one line at a time and counts what the tests notice.
//!
//! All mutants are compiled at once: in a copy of the tree each sampled expression becomes a choice between what it was and what the
//! mutant makes of it, and an environment variable says which mutant a process is. So there is one build, and a mutant costs no more
//! than the tests that it takes to notice it.

mod sites;
mod suite;
mod tree;

use sites::Site;
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The variable that names the mutant of a process.
pub(crate) const MUTANT: &str = "SPYRE_MUTANT";

/// Mutants that are tried where nobody says how many.
const DEFAULT_SAMPLE: usize = 200;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// `mutate-passes WORK [SAMPLE [FIRST [END]]]`: the folder for the copy, how many mutants are sampled, and which of these are tried.
fn run() -> Result<(), String> {
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
    tree::copy(&root, &copy)?;
    let sampled = tree::mutate(&copy, sample)?;
    println!("{} mutants sampled", sampled.len());
    let suite = suite::build(&copy, &work.join("target"))?;
    suite.run(None).map_or(Ok(()), |test| Err(format!("{test} fails without a mutant")))?;
    let mut survivors = Vec::new();
    let tried: Vec<&Site> = sampled.iter().filter(|site| (first..end).contains(&site.number)).collect();
    for site in &tried {
        match suite.run(Some(site.number)) {
            Some(test) => println!("{site}: {test}"),
            None => {
                println!("{site}: SURVIVES");
                survivors.push(*site);
            }
        }
    }
    println!("{} of {} mutants are noticed", tried.len() - survivors.len(), tried.len());
    survivors.iter().for_each(|site| println!("  survives: {site}"));
    Ok(())
}

/// Reads a file; an error names it.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
