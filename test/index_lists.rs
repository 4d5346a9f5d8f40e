//! Tests random programs that compose lists of indices and read tables with them.
//!
//! Each is compiled in process, and run on the simulated machine with inputs within the ranges of `program.json`. The
//! results equal NumPy's semantics in plain Rust to the last bit, or the program is rejected in the user's terms.
//!
//! `SPYRE_INDEX_LISTS=5000 cargo test --test compiler -- index_lists::` runs the first 5,000, `SPYRE_INDEX_LIST=17`
//! case 17 alone, shrunk if it fails; `SPYRE_INDEX_LISTS_TABLE=1` prints all reasons of rejections.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "index_lists/array.rs"]
mod array;
#[path = "index_lists/program.rs"]
mod program;
#[path = "index_lists/write.rs"]
mod write;

use crate::common::{cases, listen};
use array::{Array, IndexArray};
use cases::{CaseOutcome, read_env_number};
use half::f16;
use listen::collect_errors;
use machine::Target;
use program::{IndexInputs, IndexProgram, ListDefinition, TableRead, arg_max_numbers, where_mask};
use proptest::{collection::vec, prelude::*, strategy::ValueTree};
use referee::{ArrayElements, HostArray, RunOptions, Simulation};
use spyre_compiler::{
    compile::{compile, run_in_user_terms},
    mlir::Module,
    pipeline::{CompileOptions, Phase},
};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Open defects: cases that are known to fail are skipped. Remove a case from the list when its defect is fixed.
const OPEN: [(usize, &str); 0] = [];

const DEFAULT_PROGRAMS: usize = 100;

/// Maximum percentage of rejected programs.
const MAX_REJECTED_PERCENT: usize = 10;

/// Maximum percentage of programs with an argument whose range is narrower than necessary.
const MAX_NARROWED_PERCENT: usize = 25;

/// Maximum number of failing programs in the report.
const MAX_REPORTED: usize = 3;

/// Compiler terms that must not occur in a message to the author of a `linalg` program.
const COMPILER_TERMS: [&str; 9] = [
    "spyre.",
    "sdsc",
    "'mb'",
    "'out'",
    "op op",
    "chain of moves",
    "layout-gather-tables",
    "in its sticks",
    "iteration dimension",
];

fn recipes() -> impl Strategy<Value = (Vec<u16>, [u16; 2])> {
    (vec(any::<u16>(), 6..48), any::<[u16; 2]>())
}

fn compile_program(text: &str, draws: [u16; 2], output: &Path) -> Result<(), String> {
    let session = spyre_compiler::pipeline::create_session();
    let errors = collect_errors(&session);
    let options = CompileOptions {
        cores: [32, 1, 4][usize::from(draws[0]) % 3],
        compile_to: Phase::Emit,
        ..CompileOptions::default()
    };
    let emitted = output.to_str().unwrap();
    let done = Module::parse(&session, text).is_some_and(|mut module| {
        run_in_user_terms(&mut module, false, |module| compile(module, &options, emitted)).is_some()
    });
    if done { Ok(()) } else { Err(errors.borrow().iter().map(|error| format!("{error}\n")).collect()) }
}

/// Converts numbers to an array of a float type.
fn to_float_array(numbers: &Array<f64>, of: &str) -> HostArray {
    let elements = match of {
        "f16" => ArrayElements::F16(numbers.elements.iter().map(|&number| f16::from_f64(number).to_bits()).collect()),
        _ => ArrayElements::F32(numbers.elements.iter().map(|&number| number as f32).collect()),
    };
    HostArray { shape: to_shape(&numbers.shape), elements }
}

fn to_shape(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| size as i64).collect()
}

fn to_integer_array(list: &IndexArray, of: &str) -> HostArray {
    let elements = match of {
        "i32" => ArrayElements::I32(list.elements.iter().map(|&element| i32::try_from(element).unwrap()).collect()),
        _ => ArrayElements::I64(list.elements.clone()),
    };
    HostArray { shape: to_shape(&list.shape), elements }
}

/// Draws integers from `first` to `last`; a list of several contains both bounds.
fn draw_integers(shape: &[usize], [first, last]: [i64; 2], seed: usize) -> IndexArray {
    let mut state = seed as u64 + 1;
    let mut count = 0;
    IndexArray::build(shape, |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        count += 1;
        match count {
            1 => last,
            2 => first,
            _ => first + (state >> 33) as i64 % (last - first + 1),
        }
    })
}

/// Builds a table of small integers, which every format represents; adjacent numbers differ.
fn build_table(shape: &[usize]) -> Array<f64> {
    let mut count = 0;
    Array::build(shape, |_| {
        count += 37;
        f64::from(count % 997 - 498)
    })
}

/// Returns inputs within the ranges of `program.json`, and whether these ranges are narrower than the program requires.
fn draw_inputs(program: &IndexProgram, ranges: &[Option<[i64; 2]>]) -> Result<(IndexInputs, bool), String> {
    let mut inputs = IndexInputs { lists: vec![None; program.steps.len()], table: build_table(&program.table) };
    let (mut is_narrowed, mut next) = (false, ranges.iter());
    for (number, step) in program.steps.iter().enumerate() {
        let is_argument = matches!(step.list, ListDefinition::Argument);
        if is_argument || matches!(step.list, ListDefinition::WhereMask | ListDefinition::ArgMax) {
            let [first, end] = next.next().copied().flatten().unwrap_or([i64::MIN, i64::MAX]);
            let held = [step.bounds[0].max(first), step.bounds[1].min(end - 1)];
            if is_argument && held[0] > held[1] {
                return Err(format!(
                    "no integer of {:?} is in the range {first}..{end} of argument %l{number}",
                    step.bounds
                ));
            }
            is_narrowed |= is_argument && held != step.bounds;
            inputs.lists[number] = is_argument.then(|| draw_integers(&step.shape, held, number));
        }
    }
    Ok((inputs, is_narrowed))
}

/// Returns the arguments of the function in order.
fn list_arguments(program: &IndexProgram, inputs: &IndexInputs) -> Vec<HostArray> {
    let mut arrays = Vec::new();
    for (number, step) in program.steps.iter().enumerate() {
        match step.list {
            ListDefinition::Argument => {
                arrays.push(to_integer_array(inputs.lists[number].as_ref().unwrap(), program.integer))
            }
            ListDefinition::WhereMask => {
                let elements = where_mask(number, &step.shape).elements.iter().map(|&holds| u8::from(holds)).collect();
                arrays.push(HostArray { shape: to_shape(&step.shape), elements: ArrayElements::Bool(elements) });
            }
            ListDefinition::ArgMax => {
                arrays.push(to_float_array(&arg_max_numbers(number, step.shape[0]), program.float))
            }
            _ => {}
        }
    }
    if program.read != TableRead::List {
        arrays.push(to_float_array(&inputs.table, program.float));
    }
    arrays
}

/// Runs the compiled program; returns the difference from NumPy, and whether the range of an argument is narrower than
/// necessary.
fn execute(output: &Path, program: &IndexProgram) -> Result<(Option<String>, bool), String> {
    let simulation = Simulation::load(output, &Target::spyre()).map_err(|error| error.to_string())?;
    let tensors = &simulation.program().arguments;
    let ranges: Vec<Option<[i64; 2]>> = tensors.iter().map(|tensor| tensor.index_range).collect();
    let (inputs, is_narrowed) = draw_inputs(program, &ranges)?;
    let given: BTreeMap<_, _> =
        tensors.iter().map(|tensor| tensor.name.clone()).zip(list_arguments(program, &inputs)).collect();
    let outcome = simulation.run(&given, &RunOptions::default()).map_err(|error| error.to_string())?;
    let expected = program.evaluate(&inputs).ok_or("the ranges admit an index that is no row")?;
    let Some((_, found)) = outcome.results.first() else { return Err("no result".to_owned()) };
    let num_found = found.elements.len();
    if num_found != expected.elements.len() {
        return Ok((Some(format!("{num_found} elements instead of {}", expected.elements.len())), is_narrowed));
    }
    let wrong = (0..num_found).find(|&at| found.elements.get(at) != expected.elements[at]);
    Ok((
        wrong.map(|at| format!("element {at} is {}, not {}", found.elements.get(at), expected.elements[at])),
        is_narrowed,
    ))
}

/// Returns the program and its outcome; if it agrees, also whether the ranges of its arguments are narrowed.
fn run((numbers, draws): (Vec<u16>, [u16; 2])) -> ((String, bool), CaseOutcome) {
    let program = IndexProgram::new(&numbers);
    let text = program.text();
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let mut is_narrowed = false;
    let outcome = match compile_program(&text, draws, &output) {
        Err(message) if message.is_empty() => CaseOutcome::Fails("it is refused without a message", String::new()),
        Err(message) if COMPILER_TERMS.iter().any(|word| message.replace("'spyre.range'", "").contains(word)) => {
            CaseOutcome::Fails("it is refused in words of the compiler", message)
        }
        Err(message) => CaseOutcome::Rejected(message),
        Ok(()) => match execute(&output, &program) {
            Err(message) => CaseOutcome::Fails("the simulated machine refuses it", message),
            Ok((Some(message), _)) => CaseOutcome::Fails("the numbers differ", message),
            Ok((None, narrowed)) => {
                is_narrowed = narrowed;
                CaseOutcome::Agrees
            }
        },
    };
    ((text, is_narrowed), outcome)
}

/// Returns the report about a program; a failing one is first simplified.
fn report(number: usize) -> (String, CaseOutcome) {
    let ((text, _), outcome) = cases::run_simplest(&mut cases::generate_case(&recipes(), number), run);
    let again = format!("SPYRE_INDEX_LIST={number} cargo test --test compiler -- index_lists::");
    (format!("\ncase {number}: {outcome:?}\n{text}again: {again}\n"), outcome)
}

/// Returns a rejection message without its numbers.
fn strip_numbers(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let mut reason = String::new();
    for character in message.chars() {
        let character = if character.is_ascii_digit() { 'N' } else { character };
        if character != 'N' || !reason.ends_with('N') {
            reason.push(character);
        }
    }
    reason
}

#[test]
fn selects_same_elements_as_numpy() {
    if let Some(number) = read_env_number("SPYRE_INDEX_LIST") {
        let (report, outcome) = report(number);
        println!("{report}");
        assert!(!matches!(outcome, CaseOutcome::Fails(..)), "{report}");
        return;
    }
    let num_programs = read_env_number("SPYRE_INDEX_LISTS").unwrap_or(DEFAULT_PROGRAMS);
    let is_open = |number: &usize| OPEN.iter().any(|(open, _)| open == number);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(number) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < num_programs)
                {
                    if is_open(&number) {
                        continue;
                    }
                    let ((_, is_narrowed), outcome) = run(cases::generate_case(&recipes(), number).current());
                    done.lock().unwrap().push((number, outcome, is_narrowed));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, ..)| *number);
    let failed: Vec<_> = done.iter().filter(|(_, outcome, _)| matches!(outcome, CaseOutcome::Fails(..))).collect();
    let list: String = failed.iter().map(|(number, outcome, _)| format!("case {number}: {outcome:?}\n")).collect();
    let reported: String = failed.iter().take(MAX_REPORTED).map(|(number, ..)| report(*number).0).collect();
    let mut reasons: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, outcome, _) in &done {
        if let CaseOutcome::Rejected(message) = outcome {
            reasons.entry(strip_numbers(message)).or_default().push(*number);
        }
    }
    let num_rejected: usize = reasons.values().map(Vec::len).sum();
    let num_narrowed = done.iter().filter(|(.., is_narrowed)| *is_narrowed).count();
    println!(
        "{num_programs} programs, {num_rejected} refused, {num_narrowed} with arguments that are held to fewer integers"
    );
    if std::env::var_os("SPYRE_INDEX_LISTS_TABLE").is_some() {
        reasons.iter().for_each(|(reason, numbers)| {
            println!("{} {:?}: {reason}", numbers.len(), &numbers[..numbers.len().min(4)])
        });
    }
    assert!(failed.is_empty(), "{} of {num_programs} fail\n{list}{reported}", failed.len());
    assert!(
        num_rejected * 100 <= num_programs * MAX_REJECTED_PERCENT,
        "{num_rejected} of {num_programs} programs are refused"
    );
    assert!(
        num_narrowed * 100 <= num_programs * MAX_NARROWED_PERCENT,
        "{num_narrowed} of {num_programs} programs are narrowed"
    );
}
