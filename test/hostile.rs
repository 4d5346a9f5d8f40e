//! Checks that mutants of every kind of input file end in a result or a message: never in a panic, a signal, a file
//! outside of the output directory, or a hang.
//!
//! The mutants run in separate processes with limited memory, so that a signal is detected and the mutant is
//! identified. `SPYRE_HOSTILE_CASES=100000` runs more of each target, `SPYRE_HOSTILE_CASE=7` one, whose file is kept.

#![allow(clippy::unwrap_used, reason = "a test over files")]
#![allow(clippy::print_stdout, reason = "what the processes say to each other")]

#[path = "hostile/corpus.rs"]
mod corpus;
#[path = "hostile/memory.rs"]
mod memory;
#[path = "hostile/targets.rs"]
mod targets;
#[cfg(unix)]
#[path = "hostile/tools.rs"]
mod tools;

use crate::common::{self, mutation};
use corpus::CorpusFolder;
use mutation::{below, mutant};
use spyre_compiler::tool::spyre_run::npy;
use std::{
    collections::BTreeMap,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use targets::{Case, TARGETS, Target};

/// Root folder of the project.
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Number of mutants of each target in `cargo test`.
const CASES: usize = 300;

/// Number of mutants per process.
const BATCH_SIZE: usize = 150;

/// Number of consecutive mutants of the files of one group.
const GROUP_SIZE: usize = 25;

/// Memory limit of one process in KiB, most of it for the library's own address space.
const MEMORY_KIB: usize = 8 << 20;

/// Time without output after which a process counts as hung. The limit is generous, since a machine may be busy.
const MAX_SILENT_TIME: Duration = Duration::from_secs(300);

const WORK: &str = "SPYRE_HOSTILE_WORK";

fn read_env_number(variable: &str) -> Option<usize> {
    env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found '{text}'")))
}

/// Runs the batch of mutants that the environment requests, as the child process of other tests. It is a test only
/// because a test binary has no other entry point.
#[test]
#[ignore = "no test: what the processes of the others do"]
fn worker() {
    let work = env::var(WORK).expect("another test says what is to be done");
    let parts: Vec<&str> = work.split(':').collect();
    let (target, from, to): (&Target, usize, usize) = (
        TARGETS.iter().find(|target| target.name == parts[0]).unwrap(),
        parts[1].parse().unwrap(),
        parts[2].parse().unwrap(),
    );
    spyre_compiler::tool::run_on_large_stack(|| {
        let place = CorpusFolder::new();
        let mut corpus = Corpus::new(target);
        for number in from..to {
            let case = corpus.case(&place, number);
            println!("case {number}");
            std::io::stdout().flush().unwrap();
            memory::check(&case, || (target.run)(&place, &case));
            assert!(!spyre_compiler::mlir::tool_found_bug(), "a compiler bug was reported");
            place.check_untouched();
        }
    });
    println!("done");
}

/// Correct files of a target, prepared on demand.
struct Corpus<'t> {
    target: &'t Target,
    groups: BTreeMap<usize, Vec<Vec<u8>>>,
}

impl<'t> Corpus<'t> {
    const fn new(target: &'t Target) -> Self {
        Self { target, groups: BTreeMap::new() }
    }

    /// Returns one mutated file. A process runs consecutive numbers of one group, because preparing a group is slow.
    fn case(&mut self, place: &CorpusFolder, number: usize) -> Case {
        let mut state =
            self.target.name.bytes().fold(number as u64 * 77, |state, byte| state.wrapping_mul(31) + u64::from(byte));
        let group = number / GROUP_SIZE % (self.target.n_groups)();
        let files = self.groups.entry(group).or_insert_with(|| (self.target.corpus)(place, group));
        let (of, other) = (below(files.len(), &mut state), below(files.len(), &mut state));
        Case { group, of, mutant: mutant(&files[of], &files[other], &mut state) }
    }
}

fn try_target(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let (first, end) = match read_env_number("SPYRE_HOSTILE_CASE") {
        Some(case) => (case, case + 1),
        None => (0, read_env_number("SPYRE_HOSTILE_CASES").unwrap_or(CASES)),
    };
    for from in (first..end).step_by(BATCH_SIZE) {
        let to = (from + BATCH_SIZE).min(end);
        let mut next = from;
        while let Err((case, what)) = run_batch(target, next, to) {
            // The tool would have reported the error and exited; this process continues after it.
            let is_rejected = what.contains("MLIR's parser crashed on this file");
            assert!(
                is_rejected,
                "target '{name}', case {case}, which is in {}: {what}",
                write_case_file(target, case).display()
            );
            next = case + 1;
        }
    }
}

/// Runs cases in a process; returns the last case and its outcome.
fn run_batch(target: &Target, from: usize, to: usize) -> Result<(), (usize, String)> {
    let scratch = tempfile::tempdir().unwrap();
    let (out, err) = (scratch.path().join("out"), scratch.path().join("err"));
    let limited = format!("ulimit -v {MEMORY_KIB}; ulimit -c 0; exec \"$0\" \"$@\"");
    let mut process = Command::new("sh")
        .args(["-c", &limited])
        .arg(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "hostile::worker", "--nocapture", "--test-threads", "1"])
        .env(WORK, format!("{}:{from}:{to}", target.name))
        .env("TMPDIR", scratch.path())
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let (mut last_news, mut num_bytes) = (Instant::now(), 0);
    let status = loop {
        let now = fs::metadata(&out).unwrap().len();
        if now > num_bytes {
            (last_news, num_bytes) = (Instant::now(), now);
        }
        match process.try_wait().unwrap() {
            Some(status) => break status.to_string(),
            None if last_news.elapsed() > MAX_SILENT_TIME => {
                process.kill().unwrap();
                process.wait().unwrap();
                break format!("no end after {} s", MAX_SILENT_TIME.as_secs());
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let said = fs::read_to_string(&out).unwrap();
    if said.contains("\ndone") {
        return Ok(());
    }
    let last = said.lines().filter_map(|line| line.split_once("case ")?.1.parse().ok()).next_back().unwrap_or(from);
    let complaints = String::from_utf8_lossy(&fs::read(&err).unwrap()).into_owned();
    let end: Vec<&str> = complaints.lines().rev().take(8).collect();
    Err((last, format!("{status}\n{}", end.into_iter().rev().collect::<Vec<_>>().join("\n"))))
}

/// Writes the file of a case, for inspection.
fn write_case_file(target: &Target, number: usize) -> PathBuf {
    let place = CorpusFolder::new();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("hostile-{}-{number}", target.name));
    fs::write(&path, Corpus::new(target).case(&place, number).mutant).unwrap();
    path
}

macro_rules! targets {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            try_target(stringify!($name));
        })*

        #[test]
        fn tries_each_target() {
            assert_eq!(TARGETS.map(|target| target.name), [$(stringify!($name),)* "reference"]);
        }
    };
}

targets!(directory, golden, ir, resumed, program_text, validated, instance, result, array, op_specs, machine);

/// Tests that need the reference material outside the repository.
mod shared {
    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn reference() {
        super::try_target("reference");
    }
}
