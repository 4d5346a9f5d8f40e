//! Tests random integer expressions of every width, on constants or on runtime values, against MLIR's JIT.
//!
//! `SPYRE_RANDOM_INTEGERS=100000 cargo test --test compiler -- random_integers::` runs that many expressions,
//! `SPYRE_RANDOM_INTEGER=known:17` the seventeenth program of a family alone, and prints its text.
//!
//! | family | expressions |
//! |---|---|
//! | `known` | of constants of i1 to i64 and `index`, and of positions: none is rejected, and each equals the result of the JIT, to the last bit |
//! | `runtime` | of arguments of i1, i8, i32 and i64, drawn from the range that the import determines: accepted ones equal the result of the JIT |
//!
//! Divisors, shift amounts and conversions are guarded, so that MLIR defines the value of each expression. Expressions
//! are results of one program: a program of `known` has [`KNOWN_PER_PROGRAM`] of them, a program of `runtime` the
//! accepted ones of [`RUNTIME_PER_PROGRAM`]. The imported program is interpreted in f64. A program is determined by its
//! family and its number.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over generated programs")]

#[path = "random_integers/expressions.rs"]
mod expressions;

use crate::{
    common::listen::collect_errors,
    import_exact::{to_host_array, to_numbers},
    random::choices::Choices,
};
use element::F64Arithmetic;
use expressions::{ExpressionWriter, program};
use referee::HostArray;
use spyre_compiler::{
    interpret::{EvalArray, EvalFunction, evaluate_function, read_functions},
    mlir::Module,
    pipeline::{CompileOptions, Phase, PlannerName},
    reference::ReferenceResults,
    validate::draw_arguments,
};
use std::{
    collections::BTreeMap,
    env, fs,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Number of expressions that are tried by default, of both families together.
const DEFAULT_EXPRESSIONS: usize = 2_000;
/// Number of expressions per program of `known`.
const KNOWN_PER_PROGRAM: usize = 20;
/// Number of expressions of runtime integers that are tried per program.
const RUNTIME_PER_PROGRAM: usize = 10;
/// One expression in this many is computed on runtime values.
const RUNTIME_INTERVAL: usize = 16;
/// Minimum percentage of accepted expressions of runtime integers.
const MIN_ACCEPTED_PERCENT: usize = 35;
/// Maximum number of failing programs in the report.
const MAX_REPORTED: usize = 5;
/// The prefix of codes of compiler bugs.
const BUG_CODE_PREFIX: &str = "SPY9";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpressionFamily {
    Known,
    Runtime,
}

/// Numbers of expressions of a program and of accepted ones, and the failures.
#[derive(Debug, Default)]
struct ExpressionTally {
    num_expressions: usize,
    num_accepted: usize,
    rejections: Vec<String>,
    wrong: Option<String>,
}

/// Imports a program and calls `read`; returns the messages if the program is rejected.
fn import<T>(text: &str, read: impl FnOnce(&Module<'_>) -> T) -> Result<T, String> {
    let session = spyre_compiler::pipeline::create_session();
    // A source prints diagnostics, and a handler replaces previous handlers.
    let source = session.source_from_text("random", text);
    let errors = collect_errors(&session);
    let options = CompileOptions { lx_planner: Some(PlannerName::none()), ..CompileOptions::default() };
    let imported = source.parse().and_then(|mut module| {
        let is_imported = module.run_pipeline(&options.pipeline([Phase::Import], ""));
        is_imported.then_some(module)
    });
    imported.map(|module| read(&module)).ok_or_else(|| errors.borrow().join("\n"))
}

/// Returns numbers around 0 for floating-point arguments, and drawn elements for integers.
fn inputs(function: &EvalFunction<'_>, draw: u64) -> Vec<EvalArray<f64>> {
    let number = |index: usize, is_truth: bool| if is_truth { (index * 7 % 5 % 2) as f64 } else { (index % 5) as f64 };
    let of = |(position, array): (usize, EvalArray<_>)| match array {
        EvalArray::Positions(positions) => EvalArray::Positions(positions),
        EvalArray::Numbers(elements) => {
            let is_truth = function.values[function.body.arguments[position]].element == machine::ElementType::Bool;
            EvalArray::numbers((0..elements.len()).map(|index| number(index + position, is_truth)).collect())
        }
    };
    draw_arguments(function, draw).into_iter().enumerate().map(of).collect()
}

/// Result of the imported program, and of the JIT.
type ResultPair = (Vec<f64>, Vec<f64>);

/// Returns each result of a program as the import and as the JIT compute it.
fn compute_both(text: &str, place: &str, draw: u64) -> Result<Vec<ResultPair>, String> {
    fs::write(place, text).unwrap();
    let (found, hosts) = import(text, |module| {
        let functions = read_functions(module).map_err(|(_, message)| message)?;
        let [function] = functions.as_slice() else { return Err("has not one function".to_owned()) };
        let given = inputs(function, draw);
        let hosts: Vec<HostArray> =
            given.iter().enumerate().map(|(position, array)| to_host_array(function, position, array)).collect();
        let found = evaluate_function(function, given, &F64Arithmetic).map_err(|fault| fault.to_string())?;
        Ok((found, hosts))
    })
    .flatten()?;
    let reference =
        ReferenceResults::compute(place, "", &hosts, &|_| {}).map_err(|message| format!("the JIT: {message}"))?;
    let plain = |array: &EvalArray<f64>| match array {
        EvalArray::Numbers(found) => found.to_vec(),
        EvalArray::Positions(found) => found.iter().map(|position| position.unwrap() as f64).collect(),
    };
    Ok(found.iter().zip(&reference.results).map(|(found, expected)| (plain(found), to_numbers(expected))).collect())
}

/// Compares all results of a program. Returns the message of the first difference, with a program of that expression
/// alone.
fn check(writers: &[ExpressionWriter], element: &str, place: &str, draw: u64) -> Result<(), String> {
    let results = compute_both(&program(writers, element), place, draw)?;
    for (writer, (found, expected)) in writers.iter().zip(results) {
        let off = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        if found.len() != expected.len() || off.is_some() {
            let at = off.unwrap_or(0);
            let alone = program(std::slice::from_ref(writer), element);
            return Err(format!("element {at} is {:?}, the JIT's {:?}, of\n{alone}", found.get(at), expected.get(at)));
        }
    }
    Ok(())
}

fn run(family: ExpressionFamily, number: usize, place: &str) -> ExpressionTally {
    let mut choices = Choices::from_case(number * 2 + usize::from(family == ExpressionFamily::Runtime));
    let num_expressions = if family == ExpressionFamily::Known { KNOWN_PER_PROGRAM } else { RUNTIME_PER_PROGRAM };
    let element = if family == ExpressionFamily::Runtime && choices.one_in(4) { "f16" } else { "f32" };
    let mut writers: Vec<ExpressionWriter> = (0..num_expressions)
        .map(|_| ExpressionWriter::write(&mut choices, family == ExpressionFamily::Runtime))
        .collect();
    let mut ran = ExpressionTally { num_expressions, ..ExpressionTally::default() };
    if family == ExpressionFamily::Runtime {
        writers.retain(|writer| match import(&program(std::slice::from_ref(writer), element), |_| ()) {
            Ok(()) => true,
            Err(message) => {
                if message.contains(BUG_CODE_PREFIX) {
                    ran.wrong.get_or_insert_with(|| {
                        format!("{message} in\n{}", program(std::slice::from_ref(writer), element))
                    });
                }
                ran.rejections.push(message);
                false
            }
        });
    }
    ran.num_accepted = writers.len();
    if !writers.is_empty() && ran.wrong.is_none() {
        ran.wrong = check(&writers, element, place, number as u64).err();
    }
    ran
}

/// Returns the message of a rejection without its location, and with `#` for each digit.
fn message_kind(message: &str) -> String {
    let said = message.split("error: ").last().unwrap_or(message);
    said.lines()
        .next()
        .unwrap_or_default()
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '#' } else { letter })
        .collect()
}

#[test]
fn matches_mlir_semantics_of_integer_expressions() {
    let place = tempfile::tempdir().unwrap();
    let path = |number: usize| place.path().join(format!("{number}.mlir")).to_str().unwrap().to_owned();
    if let Ok(case) = env::var("SPYRE_RANDOM_INTEGER") {
        let (family, number) = case.split_once(':').unwrap();
        let family = if family == "known" { ExpressionFamily::Known } else { ExpressionFamily::Runtime };
        let ran = run(family, number.parse().unwrap(), &path(0));
        println!("{}\n{ran:#?}", fs::read_to_string(path(0)).unwrap_or_default());
        assert_eq!(ran.wrong, None);
        return;
    }
    let num_expressions =
        env::var("SPYRE_RANDOM_INTEGERS").map_or(DEFAULT_EXPRESSIONS, |number| number.parse().unwrap());
    let of_known = num_expressions * (RUNTIME_INTERVAL - 1) / RUNTIME_INTERVAL / KNOWN_PER_PROGRAM;
    let of_runtime = num_expressions / RUNTIME_INTERVAL / RUNTIME_PER_PROGRAM;
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= of_known + of_runtime {
                        break;
                    }
                    let case = if number < of_known {
                        (ExpressionFamily::Known, number)
                    } else {
                        (ExpressionFamily::Runtime, number - of_known)
                    };
                    let ran = run(case.0, case.1, &path(number));
                    done.lock().unwrap().push((case, ran));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|((family, number), _)| (*family == ExpressionFamily::Runtime, *number));
    let wrong: Vec<String> = done
        .iter()
        .filter_map(|((family, number), ran)| Some(format!("{family:?}:{number}: {}", ran.wrong.as_ref()?)))
        .collect();
    let runtime = || done.iter().filter(|((family, _), _)| *family == ExpressionFamily::Runtime).map(|(_, ran)| ran);
    let (num_accepted, num_tried) =
        (runtime().map(|ran| ran.num_accepted).sum::<usize>(), runtime().map(|ran| ran.num_expressions).sum::<usize>());
    let mut rejections: BTreeMap<String, usize> = BTreeMap::new();
    runtime()
        .flat_map(|ran| &ran.rejections)
        .for_each(|message| *rejections.entry(message_kind(message)).or_default() += 1);
    println!(
        "{} of known integers; {num_accepted} of {num_tried} of integers of run time are accepted",
        of_known * KNOWN_PER_PROGRAM
    );
    rejections.iter().for_each(|(kind, count)| println!("{count:6} {kind}"));
    let reported = wrong.iter().take(MAX_REPORTED).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} programs are wrong:\n{reported}", wrong.len());
    assert!(num_accepted * 100 >= num_tried * MIN_ACCEPTED_PERCENT, "{num_accepted} of {num_tried} are accepted");
}
