//! Tests random `spyre.loop`s over carried values: an iteration reads its inputs after it defines its results, values
//! are swapped, two have equal initial values, and loops are nested. Random pipelines compile them from work division
//! on, the simulated machine runs them, and the results equal those of plain Rust to the last bit.
//!
//! `SPYRE_RANDOM_LOOPS=100 cargo test --test compiler -- random_loops::` runs the first 100, `SPYRE_RANDOM_LOOP=17`
//! that one alone.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

#[path = "random_loops/generate.rs"]
mod generate;

use crate::common::{cases, listen};
use cases::{CaseOutcome, read_env_number};
use generate::{COLUMNS, LoopProgram};
use half::f16;
use listen::collect_errors;
use machine::Target;
use proptest::{collection::vec, prelude::*, strategy::ValueTree};
use referee::{ArrayElements, HostArray, RunOptions, Simulation};
use spyre_compiler::{
    compile::compile,
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

const DEFAULT_PROGRAMS: usize = 300;

/// Maximum percentage of programs whose numbers may grow too large.
const MAX_SKIPPED_PERCENT: usize = 25;

/// Maximum number of failing programs in the report.
const MAX_REPORTED: usize = 3;

/// Generates the draws for a program, and the draws for its options.
fn recipes() -> impl Strategy<Value = (Vec<u16>, [u16; 6])> {
    (vec(any::<u16>(), 20..160), any::<[u16; 6]>())
}

/// Compile configuration of a program.
#[derive(Debug)]
struct LoopCompileConfig {
    cores: &'static str,
    lx_bytes: &'static str,
    planner: &'static str,
    joint: bool,
    loops: &'static str,
    /// Whether the compilation starts at the first phase, as `spyre-compile` does.
    is_whole: bool,
}

impl LoopCompileConfig {
    fn from_draws(draws: [u16; 6]) -> Self {
        let pick = |number: usize, list: &[&'static str]| list[usize::from(draws[number]) % list.len()];
        let planner = pick(2, &["none", "exact", "greedy", "first-fit", "best-fit"]);
        Self {
            cores: pick(0, &["1", "2", "32"]),
            lx_bytes: pick(1, &["-1", "128", "512", "1024", "4096"]),
            planner,
            joint: planner == "exact" && draws[3] % 2 == 1,
            loops: pick(4, &["keep", "unroll"]),
            is_whole: draws[5] % 3 == 2,
        }
    }

    /// Returns the passes from work division on.
    fn passes(&self, output: &Path) -> String {
        let Self { cores, lx_bytes, planner, loops, .. } = self;
        let divide = if self.joint { "spyre-divide-jointly" } else { "spyre-divide-work" };
        let clone = if ["none", "exact"].contains(planner) { "" } else { "spyre-clone-inputs," };
        format!(
            "spyre-set-target{{cores={cores} lx-bytes={lx_bytes}}},{divide},{clone}spyre-allocate-scratchpad{{planner={planner}}},\
             spyre-form-bundles,spyre-lower-to-sdsc,spyre-lower-to-sdscbundle{{loops={loops}}},spyre-emit-bundle{{output={}}}",
            output.display()
        )
    }

    fn options(&self) -> CompileOptions {
        CompileOptions {
            cores: self.cores.parse().unwrap(),
            lx_bytes: self.lx_bytes.parse().unwrap(),
            lx_planner: Some(self.planner.parse().unwrap()),
            joint: Some(self.joint),
            loops: self.loops.parse().unwrap(),
            compile_to: Phase::Emit,
            ..CompileOptions::default()
        }
    }

    fn compile(&self, text: &str, output: &Path) -> Result<(), String> {
        let session = spyre_compiler::pipeline::create_session();
        let errors = collect_errors(&session);
        let done = Module::parse(&session, text).is_some_and(|mut module| {
            if self.is_whole {
                compile(&mut module, &self.options(), output.to_str().unwrap()).is_some()
            } else {
                module.run_pipeline(&self.passes(output))
            }
        });
        if done { Ok(()) } else { Err(errors.borrow().iter().map(|error| format!("{error}\n")).collect()) }
    }
}

/// Returns small integers that depend on their positions.
fn build_inputs(program: &LoopProgram) -> Vec<Vec<i32>> {
    let number = |argument: usize, at: usize| (argument * 5 + at * 7 + at / COLUMNS * 3) as i32 % 7 - 3;
    program
        .rows()
        .0
        .iter()
        .enumerate()
        .map(|(argument, rows)| (0..rows * COLUMNS).map(|at| number(argument, at)).collect())
        .collect()
}

fn to_host_array(numbers: &[i32]) -> HostArray {
    let elements = numbers.iter().map(|&number| f16::from_f32(number as f32).to_bits()).collect();
    HostArray { shape: vec![(numbers.len() / COLUMNS) as i64, COLUMNS as i64], elements: ArrayElements::F16(elements) }
}

/// Runs the compiled program.
fn execute(output: &Path, inputs: &[Vec<i32>]) -> Result<Vec<HostArray>, String> {
    let simulation = Simulation::load(output, &Target::spyre()).map_err(|error| error.to_string())?;
    let names = simulation.program().arguments.iter().map(|tensor| tensor.name.clone());
    let inputs: BTreeMap<_, _> = names.zip(inputs.iter().map(|numbers| to_host_array(numbers))).collect();
    let outcome = simulation.run(&inputs, &RunOptions::default()).map_err(|error| error.to_string())?;
    Ok(outcome.results.into_iter().map(|(_, array)| array).collect())
}

fn find_difference(found: &[HostArray], expected: &[Vec<i32>]) -> Option<String> {
    if found.len() != expected.len() {
        return Some(format!("{} results instead of {}", found.len(), expected.len()));
    }
    found.iter().zip(expected).enumerate().find_map(|(result, (found, expected))| {
        let wrong = (0..expected.len()).find(|&at| found.elements.get(at) != f64::from(expected[at]))?;
        let (found, expected) = (found.elements.get(wrong), expected[wrong]);
        Some(format!("result {result}: element {wrong} is {found}, not {expected}"))
    })
}

fn run((numbers, draws): (Vec<u16>, [u16; 6])) -> ((String, LoopCompileConfig), CaseOutcome) {
    let (program, way) = (LoopProgram::from_numbers(&numbers), LoopCompileConfig::from_draws(draws));
    let inputs = build_inputs(&program);
    let text = program.text();
    let Some(expected) = program.evaluate(&inputs) else {
        return ((text, way), CaseOutcome::Rejected("numbers grow too large".to_owned()));
    };
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let outcome = match way.compile(&text, &output).map(|()| execute(&output, &inputs)) {
        Err(message) => CaseOutcome::Fails("it is refused", message),
        Ok(Err(message)) => CaseOutcome::Fails("the simulated machine refuses the bundle", message),
        Ok(Ok(found)) => find_difference(&found, &expected)
            .map_or(CaseOutcome::Agrees, |message| CaseOutcome::Fails("the numbers differ", message)),
    };
    ((text, way), outcome)
}

/// Returns the report about a program; a failing one is first simplified.
fn report(number: usize) -> (String, CaseOutcome) {
    let ((text, way), outcome) = cases::run_simplest(&mut cases::generate_case(&recipes(), number), run);
    (
        format!(
            "\ncase {number}: {outcome:?}\n{way:?}\n{text}again: SPYRE_RANDOM_LOOP={number} cargo test --test compiler -- random_loops::\n"
        ),
        outcome,
    )
}

#[test]
fn yields_expected_values_from_loops() {
    if let Some(number) = read_env_number("SPYRE_RANDOM_LOOP") {
        let (report, outcome) = report(number);
        println!("{report}");
        assert!(!matches!(outcome, CaseOutcome::Fails(..)), "{report}");
        return;
    }
    let num_programs = read_env_number("SPYRE_RANDOM_LOOPS").unwrap_or(DEFAULT_PROGRAMS);
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
                    let (_, outcome) = run(cases::generate_case(&recipes(), number).current());
                    done.lock().unwrap().push((number, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(number, _)| *number);
    let failed: Vec<&(usize, CaseOutcome)> =
        done.iter().filter(|(_, outcome)| matches!(outcome, CaseOutcome::Fails(..))).collect();
    let list: String = failed.iter().map(|(number, outcome)| format!("case {number}: {outcome:?}\n")).collect();
    let reported: String = failed.iter().take(MAX_REPORTED).map(|(number, _)| report(*number).0).collect();
    assert!(failed.is_empty(), "{} of {num_programs} fail\n{list}{reported}", failed.len());
    let num_skipped = done.iter().filter(|(_, outcome)| matches!(outcome, CaseOutcome::Rejected(_))).count();
    println!("{num_programs} programs, {num_skipped} with numbers that grow too large");
    assert!(
        num_skipped * 100 <= num_programs * MAX_SKIPPED_PERCENT,
        "{num_skipped} of {num_programs} programs say nothing"
    );
}
