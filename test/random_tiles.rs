//! Random programs in random hint scopes, compiled in two of eight ways and run on the simulated machine.
//!
//! The programs follow from their numbers, as in `random_programs`. Their inputs are such that nothing is rounded, so results must be
//! those of plain Rust to the last bit, and for one program in some those of MLIR's JIT are looked at too.
//! `SPYRE_RANDOM_TILES=500 cargo test --test random_tiles` runs the first 500, `SPYRE_RANDOM_TILE=17` that one alone.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "random_tiles/array.rs"]
mod array;
#[path = "random_tiles/build.rs"]
mod build;
#[path = "common/cases.rs"]
mod cases;
#[path = "random_tiles/generate.rs"]
mod generate;
#[path = "common/tiled.rs"]
mod tiled;
#[path = "random_tiles/views.rs"]
mod views;
#[path = "random_tiles/write.rs"]
mod write;

use array::{Array, mixed};
use cases::{Outcome, number_of};
use generate::{Features, Program, Recipe, recipes};
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
use tiled::{BUILDS, Build, Stop, by_jit, execute};

const DEFAULT_PROGRAMS: usize = 2000;

/// One in so many programs is compared with the JIT.
const JIT_EVERY: usize = 4;

/// What the compiler may say to a program of this test. Everything else is a mistake of one of both.
const REFUSALS: [&str; 3] = ["elements end inside a stick of", "to be cut into", "is an inner name of"];

/// Begins the message of what is refused without scopes too.
const UNTILED: &str = "untiled too: ";

/// Of a hundred programs so many may be refused.
const MOST_REFUSED_PERCENT: usize = 95;

/// Of a hundred programs so many must run and have loops, split reductions, split matrix products.
const LEAST_PERCENT: [usize; 3] = [3, 0, 0];

/// Failing programs that are reported.
const MOST_REPORTED: usize = 5;

/// A program that was run, for the statistics.
struct Run {
    number: usize,
    outcome: Outcome,
    features: Features,
}

/// Two different ways to compile a program.
fn builds_of(number: usize) -> [Build; 2] {
    let drawn = mixed(number as u64) as usize;
    let first = drawn % BUILDS.len();
    let second = (first + 1 + (drawn / BUILDS.len()) % (BUILDS.len() - 1)) % BUILDS.len();
    [BUILDS[first], BUILDS[second]]
}

fn host(array: &Array) -> HostArray {
    let shape = array.shape.iter().map(|size| *size as i64).collect();
    HostArray { shape, elements: Elements::F16(array.values.iter().map(|value| f16::from_f32(*value).to_bits()).collect()) }
}

/// What is wrong with a result, if anything.
fn difference(expected: &Array, found: &HostArray) -> Option<String> {
    if found.shape != host(expected).shape {
        return Some(format!("the result is {:?}, but should be {:?}", found.shape, expected.shape));
    }
    let wrong: Vec<usize> = (0..expected.values.len()).filter(|&at| found.elements.get(at) != f64::from(expected.values[at])).collect();
    let first = *wrong.first()?;
    let (n_wrong, n_elements) = (wrong.len(), expected.values.len());
    let (is, should_be) = (found.elements.get(first), expected.values[first]);
    Some(format!("{n_wrong} of {n_elements} elements differ; element {first} is {is}, but should be {should_be}"))
}

fn compared(what: &'static str, expected: &[Array], found: &[HostArray]) -> Outcome {
    if expected.len() != found.len() {
        return Outcome::Fails(what, format!("{} results instead of {}", found.len(), expected.len()));
    }
    let complaint = |(number, (expected, found))| Some(format!("result {number}: {}", difference(expected, found)?));
    expected.iter().zip(found).enumerate().find_map(complaint).map_or(Outcome::Agrees, |message| Outcome::Fails(what, message))
}

/// Whether the JIT gives what the test expects.
fn check_reference(program: &Program, inputs: &[HostArray]) -> Outcome {
    match by_jit(&program.reference, inputs) {
        Ok(found) => compared("the test expects other numbers than the JIT gives", &program.results, &found),
        Err(message) => Outcome::Fails("the JIT does not run the program", message),
    }
}

/// Compiles and runs a program in one way. It may be refused for its loops with a message that is known; what is refused without any scope
/// too is no matter of this test.
fn run_build(program: &Program, build: Build, inputs: &[HostArray]) -> Outcome {
    match execute(&program.text, build, inputs) {
        Ok(executed) => compared("the numbers differ", &program.results, &executed.results),
        Err(Stop::Refused(message)) if REFUSALS.iter().any(|known| message.contains(known)) => Outcome::Refused(message),
        Err(Stop::Refused(message)) => match execute(&program.reference, build, inputs) {
            Err(Stop::Refused(untiled)) => Outcome::Refused(format!("{UNTILED}{untiled}")),
            _ => Outcome::Fails("only tiled, spyre-compile takes it for a mistake", message),
        },
        Err(Stop::Broken(what, message)) => Outcome::Fails(what, message),
    }
}

/// Compiles and runs a program in both ways; the first that fails, or is refused, counts.
fn run(program: &Program, number: usize) -> (Option<Build>, Outcome) {
    let inputs: Vec<HostArray> = program.inputs.iter().map(host).collect();
    for build in builds_of(number) {
        let outcome = run_build(program, build, &inputs);
        if outcome != Outcome::Agrees {
            return (Some(build), outcome);
        }
    }
    let is_checked = number.is_multiple_of(JIT_EVERY);
    (None, if is_checked { check_reference(program, &inputs) } else { Outcome::Agrees })
}

/// The report about a program; of one that fails, the simplest that fails in the same way.
fn run_alone(number: usize) -> (String, Outcome) {
    let run = |recipe: Recipe| {
        let program = recipe.program();
        let (build, outcome) = run(&program, number);
        ((program, build), outcome)
    };
    let ((program, build), outcome) = cases::run_simplest(&mut cases::case_of(&recipes(), number), run);
    (report(number, &program, build, &outcome), outcome)
}

fn report(number: usize, program: &Program, build: Option<Build>, outcome: &Outcome) -> String {
    let said = match outcome {
        Outcome::Agrees => "agrees".to_owned(),
        Outcome::Refused(message) => format!("refused: {message}"),
        Outcome::Fails(what, message) => format!("{what}\n{message}"),
    };
    let options = build.map_or_else(String::new, Build::text);
    let again = format!("SPYRE_RANDOM_TILE={number} cargo test --test random_tiles");
    format!("\ncase {number}: {said}\noptions: {options}\n{}again: {again}\n", program.text)
}

/// The outcomes of the programs, which run beside each other.
fn run_cases(numbers: &[usize]) -> Vec<Run> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let program = cases::case_of(&recipes(), number).current().program();
                    let (_, outcome) = run(&program, number);
                    done.lock().unwrap().push(Run { number, outcome, features: program.features });
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|run| run.number);
    done
}

/// A message without its numbers and names, for counting.
fn kind_of(message: &str) -> String {
    let mut kind = String::new();
    for (position, part) in message.lines().next().unwrap_or_default().split('\'').enumerate() {
        let part = if position % 2 == 1 && part.len() < 3 { "#" } else { part };
        for character in part.chars().map(|character| if character.is_ascii_digit() { '#' } else { character }) {
            if character != '#' || !kind.ends_with('#') {
                kind.push(character);
            }
        }
    }
    kind
}

fn print_refusals(runs: &[Run]) -> usize {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for run in runs {
        if let Outcome::Refused(message) = &run.outcome {
            kinds.entry(kind_of(message)).or_insert((0, run.number)).0 += 1;
        }
    }
    let n_refused = kinds.values().map(|(count, _)| count).sum();
    println!("{} programs, {n_refused} refused", runs.len());
    for (kind, (count, number)) in kinds {
        println!("  {count} such as case {number}: {kind}");
    }
    n_refused
}

/// Whether a program has something.
type Has = fn(&Features) -> bool;

/// Programs that run and have loops, split reductions, split matrix products.
fn print_features(runs: &[Run]) -> [usize; 3] {
    let count = |has: Has| runs.iter().filter(|run| run.outcome == Outcome::Agrees && has(&run.features)).count();
    let all = |has: Has| runs.iter().filter(|run| has(&run.features)).count();
    let features: [(&str, Has); 5] = [
        ("loops", |of| of.loops),
        ("split reductions", |of| of.split_reductions),
        ("split matrix products", |of| of.split_matmuls),
        ("nested loops", |of| of.nests),
        ("views in scopes", |of| of.views),
    ];
    for (name, has) in features {
        println!("  {name}: {} of {} run", count(has), all(has));
    }
    [0, 1, 2].map(|feature| count(features[feature].1))
}

#[test]
fn tiled_programs_give_what_they_give_untiled() {
    if let Some(number) = number_of("SPYRE_RANDOM_TILE") {
        let (report, outcome) = run_alone(number);
        println!("{report}");
        assert!(!matches!(outcome, Outcome::Fails(..)), "{report}");
        return;
    }
    let n_programs = number_of("SPYRE_RANDOM_TILES").unwrap_or(DEFAULT_PROGRAMS);
    let runs = run_cases(&(0..n_programs).collect::<Vec<_>>());
    let n_refused = print_refusals(&runs);
    let found = print_features(&runs);
    let failed: Vec<&Run> = runs.iter().filter(|run| matches!(run.outcome, Outcome::Fails(..))).collect();
    let list: String = failed.iter().map(|run| format!("case {}: {:?}\n", run.number, run.outcome)).collect();
    let reported: String = failed.iter().take(MOST_REPORTED).map(|run| run_alone(run.number).0).collect();
    assert!(list.is_empty(), "{list}{reported}");
    let part = |percent: usize| n_programs * percent / 100;
    assert!(n_refused <= part(MOST_REFUSED_PERCENT), "{n_refused} of {n_programs} programs are refused");
    for (name, (found, least)) in ["loops", "split reductions", "split matrix products"].iter().zip(found.iter().zip(LEAST_PERCENT)) {
        assert!(*found >= part(least), "{found} of {n_programs} programs run and have {name}");
    }
}
