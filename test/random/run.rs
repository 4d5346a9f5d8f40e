//! Runs many cases, a batch per process, and prints the table of rejections with their reasons.

use crate::random::{
    OPEN,
    case::{RandomCase, RandomOutcome, simplify_case},
    check::message_kind,
    generate::ProgramFamily,
};
use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader, Write},
    ops::Range,
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Number of cases per process.
const BATCH_SIZE: usize = 25;

/// Maximum number of reasons that are printed without `SPYRE_RANDOM_TABLE`.
const MAX_PRINTED_REASONS: usize = 4;

/// Environment variable that selects the cases of a process.
pub(crate) const WORK: &str = "SPYRE_RANDOM_WORK";

/// Finished case: its number, and its outcome as text.
#[derive(Clone, Debug)]
pub(crate) struct FinishedCase {
    pub(crate) number: usize,
    /// `agrees`, `half` if one of the ways is rejected, `refused` or `fails`.
    pub(crate) outcome: String,
    pub(crate) message: String,
}

/// Runs the cases that [`WORK`] names, and prints a line before and after each case. Returns the number of failures.
pub(crate) fn run_requested_cases() -> usize {
    let work = env::var(WORK).unwrap_or_else(|_| "any 0 1".to_owned());
    let words: Vec<&str> = work.split(' ').collect();
    let family = ProgramFamily::from_name(words[0]);
    let (start, end): (usize, usize) = (words[1].parse().unwrap(), words[2].parse().unwrap());
    let mut num_failures = 0;
    for number in start..end {
        print_line(&format!("\nBEGIN {number}\n"));
        if OPEN.iter().any(|(name, open, _)| (*name, *open) == (family.name(), number)) {
            print_line(&format!("\nEND {number} refused \"an open defect\"\n"));
            continue;
        }
        let (word, message) = match RandomCase::from_number(family, number).0.run() {
            RandomOutcome::Agrees(None) => ("agrees", String::new()),
            RandomOutcome::Agrees(Some(message)) => ("half", message),
            RandomOutcome::Rejected(message) => ("refused", message),
            RandomOutcome::Fails(what, message) => ("fails", format!("{what}\n{message}")),
        };
        num_failures += usize::from(word == "fails");
        print_line(&format!("\nEND {number} {word} {message:?}\n"));
    }
    num_failures
}

/// Prints a line and flushes it, in case the process ends early.
pub(crate) fn print_line(text: &str) {
    let mut out = std::io::stdout();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Runs the cases from `start` in a process and returns its output; continues in a new process if it ends early.
fn run_batch(family: ProgramFamily, cases: Range<usize>, done: &Mutex<Vec<FinishedCase>>) {
    let mut start = cases.start;
    while start < cases.end {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "random::runs_one_batch_in_child_process", "--nocapture", "--test-threads=1"])
            .env(WORK, format!("{} {start} {}", family.name(), cases.end))
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
                done.lock().unwrap().push(FinishedCase { number, outcome, message });
                (begun, start) = (None, number + 1);
            }
        }
        let status = child.wait().unwrap();
        let fails = |number: usize, what: &str| FinishedCase {
            number,
            outcome: "fails".to_owned(),
            message: format!("the process {what}: {status}"),
        };
        if let Some(number) = begun {
            done.lock().unwrap().push(fails(number, "ends"));
            start = number + 1;
        } else if start < cases.end {
            done.lock().unwrap().push(fails(start, "stops"));
            return;
        }
    }
}

/// Runs the cases of a family in parallel, and returns their outcomes in the order of the case numbers.
pub(crate) fn run_cases(family: ProgramFamily, cases: Range<usize>) -> Vec<FinishedCase> {
    let (next, done) = (AtomicUsize::new(cases.start), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let start = next.fetch_add(BATCH_SIZE, Ordering::Relaxed);
                    if start >= cases.end {
                        break;
                    }
                    run_batch(family, start..(start + BATCH_SIZE).min(cases.end), &done);
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|ran: &FinishedCase| ran.number);
    done
}

/// Returns the case in its simplest form, and the command that runs it again.
pub(crate) fn report(family: ProgramFamily, number: usize) -> (String, RandomOutcome) {
    let (case, numbers) = RandomCase::from_number(family, number);
    let by_tools = case.by_tools;
    let (case, outcome) = match case.run() {
        RandomOutcome::Fails(what, message) => {
            // Shrinking is slow.
            print_line(&format!("case {}:{number}: {what}: {message}\n{}", family.name(), case.report()));
            simplify_case(family, numbers, by_tools, &what)
        }
        outcome => (case, outcome),
    };
    let again = format!("SPYRE_RANDOM_CASE={}:{number} cargo test --test compiler -- random::", family.name());
    (format!("\ncase {}:{number}: {outcome:?}\n{}again: {again}\n", family.name(), case.report()), outcome)
}

/// Prints the rejections by reason; returns how many programs were rejected in both ways.
pub(crate) fn print_rejections(family: ProgramFamily, cases: &[FinishedCase]) -> usize {
    let mut kinds: BTreeMap<String, ([usize; 2], usize)> = BTreeMap::new();
    for ran in cases {
        let Some(column) = ["refused", "half"].iter().position(|outcome| ran.outcome == *outcome) else { continue };
        kinds.entry(message_kind(&ran.message)).or_insert(([0, 0], ran.number)).0[column] += 1;
    }
    let counts = |column: usize| kinds.values().map(|(counts, _)| counts[column]).sum::<usize>();
    let (num_rejected, num_half) = (counts(0), counts(1));
    println!(
        "{}: {} programs, {num_rejected} refused, {num_half} refused in one of two ways",
        family.name(),
        cases.len()
    );
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (counts, _))| std::cmp::Reverse(counts[0] + counts[1]));
    let viewed = if env::var_os("SPYRE_RANDOM_TABLE").is_some() { kinds.len() } else { MAX_PRINTED_REASONS };
    for (kind, ([both, one], number)) in kinds.iter().take(viewed) {
        println!("  {both} and {one} such as {}:{number}: {kind}", family.name());
    }
    num_rejected
}
