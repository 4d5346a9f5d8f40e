//! Random shapes, permutations, slices and reshapes, compiled under random options and run on the simulated machine, against plain Rust.
//!
//! The cases follow from their numbers, as in `random_programs`; here a batch of them is one function, since there are many.
//! `SPYRE_RANDOM_VIEWS=500 cargo test --test random_views` runs the first 500, `SPYRE_RANDOM_VIEW=17` that one alone, and
//! `SPYRE_RANDOM_VIEW_BATCH=3` the cases of one batch.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "random_views/array.rs"]
mod array;
#[path = "common/cases.rs"]
mod cases;
#[path = "random_views/generate.rs"]
mod generate;

use array::Array;
use cases::{Outcome, number_of};
use generate::{Case, Choice, Recipe, recipes, type_of};
use half::f16;
use proptest::strategy::ValueTree;
use spyre::{
    compile::compile,
    mlir::{Module, Session},
    pipeline::{Options, Phase},
    sim::{Elements, HostArray, RunOptions, Simulation},
    target::Target,
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::Path,
    rc::Rc,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

const DEFAULT_CASES: usize = 10_000;

/// Cases of one function.
const BATCH: usize = 5;

/// Failing cases that are reported.
const MOST_REPORTED: usize = 5;

/// The lines of a module before its cases: the function's first line.
const LINES_BEFORE: usize = 1;

/// Of a hundred cases so many may be refused.
const MOST_REFUSED_PERCENT: usize = 5;

/// What became of a module.
enum Ran {
    /// An outcome for each case.
    Through(Vec<Outcome>),
    /// Messages with the positions of the cases that they are about.
    Refused(Vec<(Option<usize>, String)>),
    Fails(&'static str, String),
}

fn case_of(number: usize) -> impl ValueTree<Value = Recipe> {
    cases::case_of(&recipes(), number)
}

//===----------------------------------------------------------------------===//
// One module
//===----------------------------------------------------------------------===//

fn options_of(choice: &Choice) -> Options {
    Options {
        cores: choice.cores.to_owned(),
        sticks: choice.sticks.to_owned(),
        addresses: choice.addresses.to_owned(),
        lx_planner: choice.lx_planner.to_owned(),
        compile_to: Phase::Emit,
        ..Options::default()
    }
}

/// One function of all cases: their arguments, their lines, their results.
fn module_of(cases: &[&Case]) -> String {
    let join = |parts: Vec<String>| parts.join(", ");
    let arguments = cases.iter().flat_map(|case| &case.arguments).map(|(name, array)| format!("{name}: {}", type_of(&array.shape)));
    let types = join(cases.iter().map(|case| type_of(&case.result.1.shape)).collect());
    let names = join(cases.iter().map(|case| case.result.0.clone()).collect());
    let mut text = format!("func.func @views({}) -> ({types}) {{\n", join(arguments.collect()));
    for line in cases.iter().flat_map(|case| &case.lines) {
        text += &format!("  {line}\n");
    }
    text + &format!("  return {names} : {types}\n}}\n")
}

/// The case that a line of the module belongs to.
fn case_at(cases: &[&Case], location: &str) -> Option<usize> {
    let line: usize = location.split(':').nth(1)?.parse().ok()?;
    let mut line = line.checked_sub(LINES_BEFORE + 1)?;
    for (position, case) in cases.iter().enumerate() {
        if line < case.lines.len() {
            return Some(position);
        }
        line -= case.lines.len();
    }
    None
}

fn host(array: &Array) -> HostArray {
    let shape = array.shape.iter().map(|size| *size as i64).collect();
    HostArray { shape, elements: Elements::F16(array.values.iter().map(|value| f16::from_f32(*value).to_bits()).collect()) }
}

/// Compiles and runs the cases as one function.
fn run_module(cases: &[&Case], choice: &Choice) -> Ran {
    let session = Session::new();
    let errors = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&errors);
    session.context().attach_diagnostic_handler(move |diagnostic| {
        seen.borrow_mut().push((diagnostic.location().to_string(), diagnostic.to_string()));
        true
    });
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let text = module_of(cases);
    let module = Module::parse(&session, &text);
    if module.is_none() {
        return Ran::Fails("the test wrote a module that is not valid", format!("{:?}\n{text}", errors.borrow()));
    }
    if module.and_then(|module| compile(&module, &options_of(choice), output.to_str().unwrap())).is_none() {
        let about = |(location, message): &(String, String)| (case_at(cases, location), message.clone());
        return Ran::Refused(errors.borrow().iter().map(about).collect());
    }
    simulate(cases, &output)
}

/// Runs what was written for the cases.
fn simulate(cases: &[&Case], output: &Path) -> Ran {
    let simulation = match Simulation::load(output, &Target::spyre()) {
        Ok(simulation) => simulation,
        Err(error) => return Ran::Fails("the simulated machine cannot read the bundle", error.to_string()),
    };
    let names = simulation.program().arguments.iter().map(|tensor| tensor.name.clone());
    let arrays = cases.iter().flat_map(|case| &case.arguments).map(|(_, array)| host(array));
    let inputs: BTreeMap<_, _> = names.zip(arrays).collect();
    match simulation.run(&inputs, &RunOptions::default()) {
        Ok(outcome) => {
            let found = outcome.results.iter().map(|(_, array)| array);
            Ran::Through(cases.iter().zip(found).map(|(case, found)| compared(&case.result.1, found)).collect())
        }
        Err(error) => Ran::Fails("the simulated machine refuses the bundle", error.to_string()),
    }
}

fn compared(expected: &Array, found: &HostArray) -> Outcome {
    let fails = |message| Outcome::Fails("the numbers differ", message);
    if found.shape != host(expected).shape {
        return fails(format!("the result is {:?}, but should be {:?}", found.shape, expected.shape));
    }
    let wrong: Vec<usize> = (0..expected.values.len()).filter(|&at| found.elements.get(at) != f64::from(expected.values[at])).collect();
    let Some(&first) = wrong.first() else { return Outcome::Agrees };
    let (n_wrong, n_elements) = (wrong.len(), expected.values.len());
    let (is, should_be) = (found.elements.get(first), expected.values[first]);
    fails(format!("{n_wrong} of {n_elements} elements differ; element {first} is {is}, but should be {should_be}"))
}

//===----------------------------------------------------------------------===//
// Many cases
//===----------------------------------------------------------------------===//

/// The outcomes of cases as one function: who is refused is left out, who makes all fail is found by halves.
fn run_together(cases: &[&Case], choice: &Choice) -> Vec<Outcome> {
    if cases.is_empty() {
        return Vec::new();
    }
    match run_module(cases, choice) {
        Ran::Through(outcomes) => outcomes,
        Ran::Refused(messages) => run_without(&messages, cases, choice),
        Ran::Fails(what, message) if cases.len() == 1 => vec![Outcome::Fails(what, message)],
        Ran::Fails(..) => run_halves(cases, choice),
    }
}

fn run_halves(cases: &[&Case], choice: &Choice) -> Vec<Outcome> {
    let (one, two) = cases.split_at(cases.len() / 2);
    [run_together(one, choice), run_together(two, choice)].concat()
}

fn run_without(messages: &[(Option<usize>, String)], cases: &[&Case], choice: &Choice) -> Vec<Outcome> {
    let mut outcomes = vec![None; cases.len()];
    for (position, message) in messages {
        // A message about no line is about the only case.
        if let Some(position) = position.or_else(|| (cases.len() == 1).then_some(0)) {
            outcomes[position].get_or_insert_with(|| refusal(message));
        }
    }
    if outcomes.iter().all(Option::is_none) {
        return if cases.len() == 1 {
            vec![Outcome::Fails("it stops without a message", String::new())]
        } else {
            run_halves(cases, choice)
        };
    }
    let rest: Vec<&Case> = cases.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_none()).map(|(case, _)| *case).collect();
    let mut of_rest = run_together(&rest, choice).into_iter();
    outcomes.into_iter().map(|outcome| outcome.or_else(|| of_rest.next()).unwrap()).collect()
}

/// What a message makes of its case.
fn refusal(message: &str) -> Outcome {
    if message.contains("bug") {
        Outcome::Fails("spyre-compile has a bug", message.to_owned())
    } else {
        Outcome::Refused(message.to_owned())
    }
}

/// Runs a case alone; one that fails comes back as the simplest that fails in the same way.
fn run_alone(case: usize) -> (String, Outcome) {
    let choice = Choice::of(case / BATCH);
    let run = |recipe: Recipe| {
        let case = recipe.case(0);
        (module_of(&[&case]), run_together(&[&case], &choice).remove(0))
    };
    cases::run_simplest(&mut case_of(case), run)
}

fn complaint(case: usize, text: &str, what: &str, message: &str) -> String {
    let Choice { cores, sticks, addresses, lx_planner } = Choice::of(case / BATCH);
    let options = format!("--cores {cores} --sticks {sticks} --addresses {addresses} --lx-planner {lx_planner}");
    let again = format!("SPYRE_RANDOM_VIEW={case} cargo test --test random_views");
    format!("\ncase {case}: {what}\n{message}\noptions: {options}\n{text}again: {again}\n")
}

/// The outcomes of the cases of a batch.
fn run_batch(batch: usize, n_cases: usize) -> Vec<(usize, Outcome)> {
    let numbers: Vec<usize> = (batch * BATCH..((batch + 1) * BATCH).min(n_cases)).collect();
    let cases: Vec<Case> = numbers.iter().map(|&number| case_of(number).current().case(number % BATCH)).collect();
    let outcomes = run_together(&cases.iter().collect::<Vec<_>>(), &Choice::of(batch));
    numbers.into_iter().zip(outcomes).collect()
}

/// The complaint about a case that failed among others.
fn explain(case: usize, what: &str, message: &str) -> String {
    match run_alone(case) {
        (text, Outcome::Fails(what, message)) => complaint(case, &text, what, &message),
        _ => format!(
            "\ncase {case}: {what}, but not alone\n{message}\nagain: SPYRE_RANDOM_VIEW_BATCH={} cargo test --test random_views\n",
            case / BATCH
        ),
    }
}

/// The outcomes of batches, which run beside each other.
fn run_batches(batches: &[usize], n_cases: usize) -> Vec<(usize, Outcome)> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(&batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcomes = run_batch(batch, n_cases);
                    done.lock().unwrap().extend(outcomes);
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(case, _)| *case);
    done
}

/// A message without its numbers, for counting.
fn kind_of(message: &str) -> String {
    let mut kind = String::new();
    for character in message.lines().next().unwrap_or_default().chars() {
        let character = if character.is_ascii_digit() { '#' } else { character };
        if character != '#' || !kind.ends_with('#') {
            kind.push(character);
        }
    }
    kind
}

fn print_refusals(outcomes: &[(usize, Outcome)]) -> usize {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (case, outcome) in outcomes {
        if let Outcome::Refused(message) = outcome {
            kinds.entry(kind_of(message)).or_insert((0, *case)).0 += 1;
        }
    }
    let n_refused = kinds.values().map(|(count, _)| count).sum();
    println!("{} cases, {n_refused} refused", outcomes.len());
    for (kind, (count, case)) in kinds {
        println!("  {count} such as case {case}: {kind}");
    }
    n_refused
}

#[test]
fn views_agree_with_plain_rust() {
    if let Some(case) = number_of("SPYRE_RANDOM_VIEW") {
        let (text, outcome) = run_alone(case);
        println!("{text}{outcome:?}");
        let Outcome::Fails(what, message) = outcome else { return };
        panic!("{}", complaint(case, &text, what, &message));
    }
    let only = number_of("SPYRE_RANDOM_VIEW_BATCH");
    let n_cases = number_of("SPYRE_RANDOM_VIEWS").or(only.map(|batch| (batch + 1) * BATCH)).unwrap_or(DEFAULT_CASES);
    let batches = only.map_or_else(|| (0..n_cases.div_ceil(BATCH)).collect(), |batch| vec![batch]);
    let outcomes = run_batches(&batches, n_cases);
    let n_refused = print_refusals(&outcomes);
    let failed = outcomes.iter().filter_map(|(case, outcome)| match outcome {
        Outcome::Fails(what, message) => Some((*case, *what, message)),
        _ => None,
    });
    let list: String = failed.clone().map(|(case, what, message)| format!("case {case}: {what}: {message}\n")).collect();
    let reported: String = failed.take(MOST_REPORTED).map(|(case, what, message)| explain(case, what, message)).collect();
    assert!(list.is_empty(), "{list}{reported}");
    let most = outcomes.len() * MOST_REFUSED_PERCENT / 100;
    assert!(only.is_some() || n_refused <= most, "{n_refused} of {} cases are refused, but at most {most} should be", outcomes.len());
}
