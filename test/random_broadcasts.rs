//! Random programs that broadcast, repeat, cut and turn values and then reduce, normalise, join and multiply them, compiled in process and
//! run on the simulated machine, against plain Rust: whole numbers that nothing rounds, compared to the last bit.
//!
//! `SPYRE_RANDOM_BROADCASTS=500 cargo test --test random_broadcasts` runs the first 500, `SPYRE_RANDOM_BROADCAST=17` that one alone.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "random_broadcasts/array.rs"]
mod array;
#[path = "common/cases.rs"]
mod cases;
#[path = "random_broadcasts/generate.rs"]
mod generate;
#[path = "common/tiled.rs"]
#[allow(dead_code, reason = "there are no tiles here, and no JIT")]
mod tiled;

use array::Array;
use cases::{Outcome, number_of};
use generate::{Program, Recipe, recipes};
use half::f16;
use proptest::strategy::ValueTree;
use spyre::sim::{Elements, HostArray};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use tiled::{BUILDS, Build, Stop, execute};

/// Cases that are known to fail, defects that are open: they count as refused, whoever mends one takes it off the list.
const OPEN: [(usize, &str); 0] = [];

const DEFAULT_PROGRAMS: usize = 600;

/// Of a hundred programs so many may be refused.
const MOST_REFUSED_PERCENT: usize = 20;

/// Failing programs that are reported.
const MOST_REPORTED: usize = 5;

/// Half of the programs are compiled as by default, the others in all ways in turn.
fn build_of(number: usize) -> Build {
    if number.is_multiple_of(2) { BUILDS[3] } else { BUILDS[number / 2 % BUILDS.len()] }
}

fn host(array: &Array) -> HostArray {
    let shape = array.shape.iter().map(|size| *size as i64).collect();
    HostArray { shape, elements: Elements::F16(array.values.iter().map(|value| f16::from_f32(*value).to_bits()).collect()) }
}

/// What is wrong with a result, if anything.
fn difference(expected: &Array, found: &[HostArray]) -> Option<String> {
    let [found] = found else { return Some(format!("{} results", found.len())) };
    let wrong: Vec<usize> = (0..expected.values.len()).filter(|&at| found.elements.get(at) != f64::from(expected.values[at])).collect();
    let first = *wrong.first()?;
    let (is, should_be) = (found.elements.get(first), expected.values[first]);
    Some(format!("{} of {} elements differ; element {first} is {is}, but should be {should_be}", wrong.len(), expected.values.len()))
}

fn run(program: &Program, number: usize) -> Outcome {
    let inputs: Vec<HostArray> = program.arguments.iter().map(|(_, array)| host(array)).collect();
    match execute(&program.text(), build_of(number), &inputs) {
        Ok(executed) => difference(&program.result.1, &executed.results)
            .map_or(Outcome::Agrees, |message| Outcome::Fails("the numbers differ", message)),
        Err(Stop::Refused(message)) => Outcome::Refused(message),
        Err(Stop::Broken(what, message)) => Outcome::Fails(what, message),
    }
}

/// The report about a program; of one that fails, the simplest that fails in the same way.
fn run_alone(number: usize) -> (String, Outcome) {
    let simplest = |recipe: Recipe| {
        let program = recipe.program();
        let outcome = run(&program, number);
        (program.text(), outcome)
    };
    let (text, outcome) = cases::run_simplest(&mut cases::case_of(&recipes(), number), simplest);
    let again = format!("SPYRE_RANDOM_BROADCAST={number} cargo test --test random_broadcasts");
    (format!("\ncase {number}: {outcome:?}\noptions: {}\n{text}again: {again}\n", build_of(number).text()), outcome)
}

/// The outcomes of the programs, which run beside each other.
fn run_cases(n_cases: usize) -> BTreeMap<usize, Outcome> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= n_cases {
                        break;
                    }
                    let outcome = match OPEN.iter().find(|(open, _)| *open == number) {
                        Some((_, why)) => Outcome::Refused(format!("an open defect: {why}")),
                        None => run(&cases::case_of(&recipes(), number).current().program(), number),
                    };
                    done.lock().unwrap().insert(number, outcome);
                }
            });
        }
    });
    done.into_inner().unwrap()
}

fn print_refusals(outcomes: &BTreeMap<usize, Outcome>) -> usize {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (case, outcome) in outcomes {
        if let Outcome::Refused(message) = outcome {
            let kind = message.lines().next().unwrap_or_default().replace(|character: char| character.is_ascii_digit(), "#");
            kinds.entry(kind.replace("##", "#").replace("##", "#")).or_insert((0, *case)).0 += 1;
        }
    }
    let n_refused = kinds.values().map(|(count, _)| count).sum();
    println!("{} programs, {n_refused} refused", outcomes.len());
    kinds.iter().for_each(|(kind, (count, case))| println!("  {count} such as case {case}: {kind}"));
    n_refused
}

#[test]
fn repeated_values_agree_with_plain_rust() {
    if let Some(number) = number_of("SPYRE_RANDOM_BROADCAST") {
        let (text, outcome) = run_alone(number);
        println!("{text}");
        assert!(!matches!(outcome, Outcome::Fails(..)), "{text}");
        return;
    }
    let outcomes = run_cases(number_of("SPYRE_RANDOM_BROADCASTS").unwrap_or(DEFAULT_PROGRAMS));
    let n_refused = print_refusals(&outcomes);
    let failed: Vec<usize> = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Fails(..))).map(|(case, _)| *case).collect();
    let list: String = failed.iter().map(|case| format!("case {case}: {:?}\n", outcomes[case])).collect();
    let reported: String = failed.iter().take(MOST_REPORTED).map(|&case| run_alone(case).0).collect();
    assert!(failed.is_empty(), "{list}{reported}");
    let most = outcomes.len() * MOST_REFUSED_PERCENT / 100;
    assert!(n_refused <= most, "{n_refused} of {} programs are refused, but at most {most} should be", outcomes.len());
}
