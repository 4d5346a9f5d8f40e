//! Random programs under random hints and options, compiled, run on the simulated machine, and compared with plain Rust.
//!
//! A case follows from its family and its number. `SPYRE_RANDOM=1000 cargo test --test random` runs the first thousand of each family,
//! `SPYRE_RANDOM_CASE=tiled:17` that one alone, in its simplest form if it fails. Cases run in processes of their own, a batch in each,
//! so that one that ends by a signal is found too.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "random/build.rs"]
mod build;
#[path = "random/case.rs"]
mod case;
#[path = "random/choices.rs"]
mod choices;
#[path = "random/compute.rs"]
mod compute;
#[path = "random/generate.rs"]
mod generate;
#[path = "random/number.rs"]
mod number;
#[path = "random/options.rs"]
mod options;
#[path = "random/views.rs"]
mod views;
#[path = "random/write.rs"]
mod write;

use case::{Case, Outcome, kind_of, simplified};
use generate::Family;
use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Cases of a family that run by default.
const DEFAULT_CASES: usize = 200;

/// Cases that are known to fail, defects that are open: they are left out, whoever mends one takes it off the list.
const OPEN: [(&str, usize, &str); 0] = [];

/// Cases of one process.
const BATCH: usize = 50;

/// Failing cases that are reported in their simplest form.
const MOST_REPORTED: usize = 3;

/// Tells a process which cases to run.
const WORK: &str = "SPYRE_RANDOM_WORK";

impl Family {
    const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Views => "views",
            Self::Tiled => "tiled",
        }
    }

    fn named(name: &str) -> Self {
        [Self::Any, Self::Views, Self::Tiled].into_iter().find(|family| family.name() == name).unwrap()
    }
}

/// A case that was run: its number, what became of it, in words.
#[derive(Clone, Debug)]
struct Ran {
    number: usize,
    /// `agrees`, `refused` or `fails`.
    outcome: String,
    message: String,
}

/// What a process of [`run_batch`] does: a line before each case, and one behind it.
#[test]
fn one_batch_runs_in_its_process() {
    let work = env::var(WORK).unwrap_or_else(|_| "any 0 1".to_owned());
    let words: Vec<&str> = work.split(' ').collect();
    let family = Family::named(words[0]);
    let (start, end): (usize, usize) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let mut n_failures = 0;
    for number in start..end {
        say(&format!("\nBEGIN {number}\n"));
        if OPEN.iter().any(|(name, open, _)| (*name, *open) == (family.name(), number)) {
            say(&format!("\nEND {number} refused \"an open defect\"\n"));
            continue;
        }
        let (case, _) = Case::of(family, number);
        let (word, message) = match case.run() {
            Outcome::Agrees => ("agrees", format!("{} {}", case.features.n_ops, case.features.n_scopes)),
            Outcome::Refused(message) => ("refused", message),
            Outcome::Fails(what, message) => ("fails", format!("{what}\n{message}")),
        };
        n_failures += usize::from(word == "fails");
        say(&format!("\nEND {number} {word} {message:?}\n"));
    }
    assert!(env::var(WORK).is_ok() || n_failures == 0, "{n_failures} of the cases fail");
}

fn say(text: &str) {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Runs the cases from `start` in a process; gives what it said, and where to go on if it ended before its time.
fn run_batch(family: Family, start: usize, end: usize, done: &Mutex<Vec<Ran>>) {
    let mut start = start;
    while start < end {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "one_batch_runs_in_its_process", "--nocapture", "--test-threads=1"])
            .env(WORK, format!("{} {start} {end}", family.name()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut begun = None;
        for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("BEGIN ") {
                begun = number.parse().ok();
            } else if let Some(rest) = line.strip_prefix("END ") {
                let mut words = rest.splitn(3, ' ');
                let number = words.next().unwrap().parse().unwrap();
                let (outcome, message) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
                done.lock().unwrap().push(Ran { number, outcome, message });
                (begun, start) = (None, number + 1);
            }
        }
        let status = child.wait().unwrap();
        if let Some(number) = begun {
            let message = format!("the process ends: {status}");
            done.lock().unwrap().push(Ran { number, outcome: "fails".to_owned(), message });
            start = number + 1;
        } else if start < end {
            done.lock().unwrap().push(Ran { number: start, outcome: "fails".to_owned(), message: format!("the process stops: {status}") });
            return;
        }
    }
}

fn run_cases(family: Family, n_cases: usize) -> Vec<Ran> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let start = next.fetch_add(BATCH, Ordering::Relaxed);
                    if start >= n_cases {
                        break;
                    }
                    run_batch(family, start, (start + BATCH).min(n_cases), &done);
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|ran: &Ran| ran.number);
    done
}

fn report(family: Family, number: usize) -> String {
    let (case, numbers) = Case::of(family, number);
    let (case, outcome) = match case.run() {
        Outcome::Fails(what, _) => simplified(family, numbers, &what),
        outcome => (case, outcome),
    };
    let options = options::text(&case.options);
    let again = format!("SPYRE_RANDOM_CASE={}:{number} cargo test --test random", family.name());
    format!("\ncase {}:{number}: {outcome:?}\noptions: {options}\n{}again: {again}\n", family.name(), case.text)
}

fn print_refusals(family: Family, cases: &[Ran]) -> usize {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for ran in cases.iter().filter(|ran| ran.outcome == "refused") {
        kinds.entry(kind_of(&ran.message)).or_insert((0, ran.number)).0 += 1;
    }
    let n_refused = kinds.values().map(|(count, _)| count).sum();
    println!("{}: {} programs, {n_refused} refused", family.name(), cases.len());
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for (kind, (count, number)) in kinds {
        println!("  {count} such as {number}: {kind}");
    }
    n_refused
}

fn check(family: Family, most_refused_percent: usize) {
    if let Ok(case) = env::var("SPYRE_RANDOM_CASE") {
        let (name, number) = case.split_once(':').unwrap();
        if name == family.name() {
            println!("{}", report(family, number.parse().unwrap()));
        }
        return;
    }
    let n_cases = env::var("SPYRE_RANDOM").map_or(DEFAULT_CASES, |number| number.parse().unwrap());
    let cases = run_cases(family, n_cases);
    let n_refused = print_refusals(family, &cases);
    let failed: Vec<&Ran> = cases.iter().filter(|ran| ran.outcome == "fails").collect();
    let list: String = failed.iter().map(|ran| format!("case {}:{}: {}\n", family.name(), ran.number, ran.message)).collect();
    println!("{list}");
    let is_alive = |ran: &&&Ran| !ran.message.starts_with("the process");
    let reports: String = failed.iter().filter(is_alive).take(MOST_REPORTED).map(|ran| report(family, ran.number)).collect();
    assert!(list.is_empty(), "{} of {} cases fail\n{list}{reports}", failed.len(), cases.len());
    assert_eq!(cases.len(), n_cases);
    assert!(n_refused * 100 <= n_cases * most_refused_percent, "{n_refused} of {n_cases} programs are refused");
}

#[test]
fn any_program_is_right_or_refused() {
    check(Family::Any, 60);
}

#[test]
fn views_are_right_or_refused() {
    check(Family::Views, 60);
}

#[test]
fn tiled_programs_are_right_or_refused() {
    check(Family::Tiled, 60);
}
