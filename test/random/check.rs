//! Checks a case. Both ways are compiled and executed. Unrounded results are compared with the generator's own
//! computation. The two executions are compared with each other on elements of a finite field, where they must be
//! equal.

use crate::random::{
    case::{CompileInput, RandomCase, RandomOutcome},
    counted::check_counted,
    listen::collect_errors,
    number::BoundedValue,
};
use element::{FieldElement, FiniteField, OrderedElement, OrderedField, RandomArithmetic};
use referee::{BoundedNumber, HostArray, IntervalArithmetic, RunOptions, ShadowResult, SimError, Simulation};
use spyre_compiler::{
    codes::{self, Code, split_code},
    compile::{compile, compile_and_validate, compile_and_validate_with_limits},
    mlir::Module,
    report::Report,
    validate::ExecutionLimits,
};
use std::{collections::BTreeMap, fs, process::Command};
use tempfile::TempDir;

/// Codes of errors that occur only under some options or hints.
const OPTION_DEPENDENT_CODES: [Code; 24] = [
    // Release 1.0 of the file format lacks functions.
    codes::BUNDLE_FORMAT,
    codes::UNKNOWN_DIM,
    codes::COUNT_UNBOUND,
    codes::BINDING_UNUSED,
    codes::BINDING_RANGE,
    codes::TILE_COUNT,
    codes::TILE_STICK,
    codes::TILE_REDUCTION,
    codes::TILE_DIAGONAL,
    codes::TILE_INNER_NAME,
    codes::TILE_SIZE_UNKNOWN,
    codes::SPLIT_DIVISOR,
    codes::SPLIT_BLOCKED,
    codes::SPLIT_CORES,
    codes::SPLIT_NAME,
    codes::SPAN,
    // With --precision strict, integers and Booleans are also computed in f32.
    codes::CONVERSION,
    codes::NEEDS_F32,
    codes::TRUTH_FORMATS,
    codes::BAKED_TENSORS,
    // Stick dimensions that are chosen greedily, or for other hints, may have no valid continuation.
    codes::LAYOUT_CONFLICT,
    // A window adds dimensions, and a file has at most seven.
    codes::LAUNCH_LIMIT,
    codes::LAUNCH_FORM,
    codes::BUNDLE_FORM,
];

/// Returns whether an error is about device layouts.
fn is_layout_error(message: &str) -> bool {
    let of_layouts = [codes::LAYOUT_VIEW, codes::LAYOUT_STICK, codes::LAYOUT_CONFLICT];
    split_code(message).0.is_some_and(|code| of_layouts.contains(&code))
}

/// Limits that make validation sample programs that could be executed in full.
const SAMPLES: ExecutionLimits =
    ExecutionLimits { whole: 0, all_draws: 0, samples: 1 << 12, one_draw: 1 << 35, samples_in_one_draw: 1 << 35 };

/// Result of compiling one way.
enum EmittedProgram {
    /// The files exist as long as their directory.
    Bundle {
        _place: TempDir,
        simulation: Box<Simulation>,
        report: Box<Report>,
    },
    Rejected(String),
}

fn build_failure(what: &str, message: impl ToString) -> RandomOutcome {
    RandomOutcome::Fails(what.to_owned(), message.to_string())
}

pub(crate) fn run_case(case: &RandomCase) -> RandomOutcome {
    check_case(case).unwrap_or_else(|outcome| outcome)
}

fn check_case(case: &RandomCase) -> Result<RandomOutcome, RandomOutcome> {
    let [first, second] = &case.written;
    let emitted = [emit(first)?, emit(second)?];
    if case.by_tools {
        for (written, emitted) in case.written.iter().zip(&emitted) {
            check_by_tools(written, matches!(emitted, EmittedProgram::Bundle { .. }))?;
        }
    }
    for moving in &emitted {
        for bounded in &emitted {
            compare_with_bound(bounded, moving, case)?;
        }
    }
    let (simulation, other, rejected) = match &emitted {
        [EmittedProgram::Bundle { simulation, .. }, EmittedProgram::Bundle { simulation: other, .. }] => {
            (simulation, Some(other), None)
        }
        [EmittedProgram::Rejected(message), EmittedProgram::Rejected(_)]
            if case.is_at_any_offset && is_layout_error(message) =>
        {
            return Err(build_failure("it is refused for where a part begins", message));
        }
        [EmittedProgram::Rejected(message), EmittedProgram::Rejected(_)] => {
            return Ok(RandomOutcome::Rejected(message.clone()));
        }
        [EmittedProgram::Bundle { simulation, .. }, EmittedProgram::Rejected(message)]
        | [EmittedProgram::Rejected(message), EmittedProgram::Bundle { simulation, .. }] => {
            (simulation, None, Some(message.clone()))
        }
    };
    let depends_on_the_way =
        |message: &&String| split_code(message).0.is_some_and(|code| OPTION_DEPENDENT_CODES.contains(&code));
    if let Some(message) = rejected.as_ref().filter(|message| !depends_on_the_way(message)) {
        return Err(build_failure("only one way is refused", message));
    }
    compare_with_reference(simulation, case)?;
    if let Some(other) = other {
        compare_in_field(simulation, other, case).or_else(|difference| {
            agrees_with_import(case)?.then_some(()).ok_or(difference)?;
            compare_with_reference(other, case)
        })?;
    }
    Ok(RandomOutcome::Agrees(rejected))
}

/// Returns whether the compiler peels a dimension.
pub(crate) fn peels_dimension(written: &CompileInput) -> bool {
    matches!(emit(written), Ok(EmittedProgram::Bundle { report, .. }) if report.peeled.is_some())
}

fn emit(written: &CompileInput) -> Result<EmittedProgram, RandomOutcome> {
    let place = tempfile::tempdir().unwrap();
    let output = place.path().join("bundle");
    let options = written.way.options_in(place.path());
    let session = spyre_compiler::pipeline::create_session();
    let errors = collect_errors(&session);
    let Some(mut module) = Module::parse(&session, &written.text) else {
        return Err(build_failure("the test wrote a module that is not valid", errors.borrow().join("\n")));
    };
    let path = output.to_str().unwrap();
    let mut report;
    if written.way.is_validated {
        report = compile_and_validate(&mut module.duplicate(), &options, path);
        report =
            report.and_then(|_| compile_and_validate_with_limits(&mut module.duplicate(), &options, path, &SAMPLES));
        if errors.borrow().iter().any(|message| message.contains("cannot be validated")) {
            errors.borrow_mut().clear();
            report = compile(&mut module, &options, path);
        }
    } else {
        report = compile(&mut module, &options, path);
    }
    if let Some(report) = report {
        let simulation = Simulation::load(&output, &written.way.target());
        let simulation =
            simulation.map_err(|error| build_failure("the simulated machine cannot read the bundle", error))?;
        return Ok(EmittedProgram::Bundle {
            _place: place,
            simulation: Box::new(simulation),
            report: Box::new(report),
        });
    }
    let errors = errors.borrow();
    let is_bug = |message: &&String| message.contains("compiler bug") || message.contains("panicked");
    match errors.iter().find(is_bug).or_else(|| errors.first()) {
        None => Err(build_failure("it stops without a message", "")),
        Some(message) if is_bug(&message) => {
            Err(build_failure(&format!("spyre-compile has a bug: {}", message_kind(message)), message))
        }
        Some(message) => Ok(EmittedProgram::Rejected(message.clone())),
    }
}

/// Compiles the program by `spyre-compile` and runs `spyre-run --check`, which compares with MLIR's JIT on its own
/// inputs. Fails if the exit code differs from the in-process compilation, which succeeded if `is_written`.
fn check_by_tools(written: &CompileInput, is_written: bool) -> Result<(), RandomOutcome> {
    let place = tempfile::tempdir().unwrap();
    let (input, output) = (place.path().join("program.mlir"), place.path().join("bundle"));
    fs::write(&input, &written.text).unwrap();
    let words = written.way.words(&written.way.options_in(place.path()));
    let compiled = Command::new(env!("CARGO_BIN_EXE_spyre-compile"))
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .args(words)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
    if said.contains("cannot be validated") {
        return Ok(());
    }
    match compiled.status.code() {
        Some(0) if is_written => {}
        Some(1) if !is_written => return Ok(()),
        _ => {
            return Err(build_failure(
                "spyre-compile ends in another way than in process",
                format!("{}\n{said}", compiled.status),
            ));
        }
    }
    if written.way.has_machine() {
        return Ok(());
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_spyre-run")).arg(&output).arg("--check").arg(&input).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    // MLIR's JIT does not accept every program that the compiler accepts.
    let is_compared = !said.contains("the JIT refuses the module");
    // A NaN of the device agrees only with a NaN of the reference. The tool's message that rounding may explain it is
    // correct here.
    let is_lost = said.contains("rounding alone may cause this");
    // The device computes a sum of one product as a product, whose zero may be negative: docs/concepts/trust.md,
    // "Never checked".
    let is_other_zero = ["is inf without rounding, the reference -inf", "is -inf without rounding, the reference inf"];
    let is_other_zero = is_other_zero.iter().any(|other| said.contains(other));
    if ran.status.success() || is_other_zero || !is_compared || is_lost {
        Ok(())
    } else {
        Err(build_failure("spyre-run --check finds a difference", said))
    }
}

/// Returns whether two compilations that differ in the field each agree with their own imported program. Scopes limit
/// the ops that the import combines: a sum divided by 6 becomes a mean, a product with the rounded sixth, or stays a
/// quotient. In the field these are different.
fn agrees_with_import(case: &RandomCase) -> Result<bool, RandomOutcome> {
    if case.written[0].text == case.written[1].text {
        return Ok(false);
    }
    for written in &case.written {
        let mut validated = written.clone();
        validated.way.is_validated = true;
        emit(&validated)?;
    }
    Ok(true)
}

fn named_inputs(simulation: &Simulation, case: &RandomCase) -> BTreeMap<String, HostArray> {
    simulation.program().arguments.iter().map(|tensor| tensor.name.clone()).zip(case.inputs.iter().cloned()).collect()
}

fn compare_with_reference(simulation: &Simulation, case: &RandomCase) -> Result<(), RandomOutcome> {
    let ran = simulation.run_with(&IntervalArithmetic, &named_inputs(simulation, case), &RunOptions::default());
    let (outcome, exact) = ran.map_err(|error| build_failure("the simulated machine refuses the bundle", error))?;
    if case.draw.is_multiple_of(4) {
        let is_index = |name: &String| {
            simulation.program().arguments.iter().any(|tensor| tensor.name == *name && tensor.index_range.is_some())
        };
        let indices = named_inputs(simulation, case).into_iter().filter(|(name, _)| is_index(name)).collect();
        check_counted(simulation, &indices, &outcome);
    }
    if exact.len() != case.expected.len() {
        return Err(build_failure("results are missing", ""));
    }
    for (((name, array), exact), expected) in outcome.results.iter().zip(&exact).zip(&case.expected) {
        if let Some(difference) = find_difference(array, exact, expected) {
            return Err(build_failure("the numbers differ", format!("{name}: {difference}")));
        }
    }
    Ok(())
}

/// Checks that the traffic of a compilation, counted by the simulator, and its time on the same machine are at least
/// the bound of the other.
fn compare_with_bound(
    bounded: &EmittedProgram,
    moving: &EmittedProgram,
    case: &RandomCase,
) -> Result<(), RandomOutcome> {
    let (
        EmittedProgram::Bundle { report, simulation: bounding, .. },
        EmittedProgram::Bundle { simulation, report: of_moving, .. },
    ) = (bounded, moving)
    else {
        return Ok(());
    };
    // Scopes limit the ops that the import combines, and so decide which numbers are in the device's f16 format.
    let formats = |simulation: &Simulation| {
        let program = simulation.program();
        program.arguments.iter().chain(&program.results).map(|tensor| tensor.format.clone()).collect::<Vec<_>>()
    };
    if formats(bounding) != formats(simulation) {
        return Ok(());
    }
    let counted = match simulation.count(&named_inputs(simulation, case), &RunOptions::default()) {
        // Counting uses no data, so indices that an op computes have no values.
        Err(SimError::NotSimulated { .. }) => return Ok(()),
        counted => counted.map_err(|error| build_failure("the simulated machine cannot count the bundle", error))?,
    };
    let (bound, moved) = (&report.lower_bound, counted.total.hbm_read + counted.total.hbm_written);
    let us = of_moving.time.estimate_us;
    // If tensors end inside of a stick, or are smaller than one, the files lack information that the compiler has:
    // docs/reference/cost-model.md.
    let apart = us / (counted.time.estimate_ns / 1e3);
    if !(0.6..=1.7).contains(&apart) {
        return Err(build_failure(
            "compiler and simulator give a bundle different times",
            format!("{us} us, {} ns", counted.time.estimate_ns),
        ));
    }
    if bound.hbm_of_any_indices as u64 > moved || bound.hbm_of_any_indices > bound.hbm {
        return Err(build_failure("a run moves less than the bound", format!("{moved} bytes, {bound:?}")));
    }
    // Scopes also prevent the import from combining ops into one device function, and each op has a start-up time.
    let starts_as_often = bound.fixed_us.total_cmp(&of_moving.lower_bound.fixed_us).is_eq();
    if report.target == of_moving.target && starts_as_often && bound.us > us + 0.002 {
        return Err(build_failure("a plan takes less time than the bound", format!("{us} us, {bound:?}")));
    }
    Ok(())
}

fn compare_in_field(one: &Simulation, other: &Simulation, case: &RandomCase) -> Result<(), RandomOutcome> {
    let of = |simulation: &Simulation, draw: u64| -> Result<Vec<ShadowResult<FieldElement>>, RandomOutcome> {
        let elements = simulation.compute_elements(
            &FiniteField::new(draw),
            &named_inputs(simulation, case),
            &RunOptions::default(),
        );
        elements.map_err(|error| build_failure("the simulated machine refuses the bundle in the field", error))
    };
    let (of_one, of_other) = (of(one, case.draw)?, of(other, case.draw)?);
    check_sampled(one, case, &of_one)?;
    check_sampled(other, case, &of_other)?;
    if find_field_difference(&of_one, &of_other).is_none() {
        return Ok(());
    }
    // A loop that corrects exponentials preserves only their algebraic law; a loop that corrects maxima, the order of
    // real numbers.
    let lawful = case.draw | FiniteField::LAWFUL_BIT;
    if find_field_difference(&of(one, lawful)?, &of(other, lawful)?).is_none() {
        return Ok(());
    }
    let ordered = OrderedField::new(lawful | FiniteField::ORDERED_BIT);
    let of = |simulation: &Simulation| -> Result<Vec<ShadowResult<FieldElement>>, RandomOutcome> {
        let found = simulation.compute_elements(&ordered, &named_inputs(simulation, case), &RunOptions::default());
        let found =
            found.map_err(|error| build_failure("the simulated machine refuses the bundle in the field", error))?;
        let seen = |of: ShadowResult<OrderedElement>| ShadowResult {
            elements: of.elements.iter().map(|element| ordered.field_element(*element)).collect(),
            shape: of.shape,
            device: of.device,
        };
        Ok(found.into_iter().map(seen).collect())
    };
    find_field_difference(&of(one)?, &of(other)?)
        .map_or(Ok(()), |message| Err(build_failure("the two ways differ in the field", message)))
}

fn find_field_difference(one: &[ShadowResult<FieldElement>], other: &[ShadowResult<FieldElement>]) -> Option<String> {
    one.iter().zip(other).enumerate().find_map(|(result, (one, other))| {
        let wrong = one.elements.iter().zip(&other.elements).filter(|(one, other)| !one.agrees_with(**other)).count();
        let differs = wrong > 0 || one.shape != other.shape;
        differs.then(|| format!("result {result}: {wrong} of {} elements", one.elements.len()))
    })
}

/// Checks that a few elements of each result, computed from their dependences only, equal those of the full execution.
fn check_sampled(
    simulation: &Simulation,
    case: &RandomCase,
    whole: &[ShadowResult<FieldElement>],
) -> Result<(), RandomOutcome> {
    let is_float = |result: usize| {
        ["f16", "bf16", "f32", "i1"].contains(&simulation.program().results[result].element_type.as_str())
    };
    let wanted = whole.iter().enumerate().map(|(result, found)| {
        let length = if is_float(result) { found.elements.len() } else { 0 };
        let mut places: Vec<usize> = (0..length.min(1 + result + (case.draw % 4) as usize))
            .map(|at| (at * 7919 + case.draw as usize) % length)
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    });
    let wanted: Vec<Vec<usize>> = wanted.collect();
    let found = simulation.sample_elements(
        &FiniteField::new(case.draw),
        &named_inputs(simulation, case),
        &wanted,
        &RunOptions::default(),
    );
    let found = match found {
        // Samples do not compute all elements, so indices that an op computes have no values.
        Err(SimError::NotSimulated { .. }) => return Ok(()),
        found => found.map_err(|error| build_failure("the simulated machine refuses samples of the bundle", error))?,
    };
    for ((found, places), whole) in found.iter().zip(&wanted).zip(whole) {
        let expected: Vec<FieldElement> = places.iter().map(|place| whole.elements[*place]).collect();
        // Only first residues are compared: second residues after an exponential are hashes that depend on the elements
        // computed together.
        let agrees = found.len() == expected.len()
            && found.iter().zip(&expected).all(|(found, expected)| found.agrees_with(*expected));
        if !agrees {
            return Err(build_failure(
                "samples differ from the whole",
                format!("at {places:?}: {found:?}, not {expected:?}"),
            ));
        }
    }
    Ok(())
}

/// Allowed error of an element in addition to its error bound, relative to its magnitude and to that of the result.
const ALLOWED_ERROR: f64 = 1e-9;

/// Elements are not compared if the relative error of the reference itself may be larger.
const MAX_REFERENCE_ERROR: f64 = 1e-6;

/// Returns a description of a wrong result, or `None`. Compares the unrounded numbers, and the numbers of the device
/// next to them.
fn find_difference(
    array: &HostArray,
    found: &ShadowResult<BoundedNumber>,
    (shape, expected): &(Vec<usize>, Vec<BoundedValue>),
) -> Option<String> {
    if array.shape.iter().map(|size| *size as usize).collect::<Vec<_>>() != *shape {
        return Some(format!("the result is {:?}, but should be {shape:?}", array.shape));
    }
    let finite: Vec<f64> = expected.iter().map(|number| number.value).filter(|value| value.is_finite()).collect();
    let scale = (finite.iter().map(|value| value * value).sum::<f64>() / finite.len().max(1) as f64).sqrt();
    let is_off = |at: &usize| {
        let (is, BoundedValue { value, error }) = (found.elements[*at].exact, expected[*at]);
        let is_known = error == 0.0 || error < MAX_REFERENCE_ERROR * (value.abs() + scale);
        is_known && !is_near(is, value, 16.0 * error + ALLOWED_ERROR * (value.abs() + scale))
    };
    let wrong: Vec<usize> = (0..expected.len()).filter(is_off).collect();
    if let Some(&first) = wrong.first() {
        let (is, should_be) = (found.elements[first].exact, expected[first]);
        return Some(format!(
            "{} of {} elements differ; element {first} is {is}, but should be {should_be:?}",
            wrong.len(),
            expected.len()
        ));
    }
    let escaped = (0..expected.len()).find(|&at| !found.elements[at].contains(f64::from(found.device[at])))?;
    Some(format!(
        "element {escaped} of the device is {}, which is not within {:?}",
        found.device[escaped], found.elements[escaped]
    ))
}

fn is_near(is: f64, should_be: f64, allowed: f64) -> bool {
    is == should_be || is.is_nan() && should_be.is_nan() || (is - should_be).abs() <= allowed
}

/// Returns a message without its numbers, names, lists and maps, for counting.
pub(crate) fn message_kind(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.replace('"', "");
    // The op that reports the error does not matter.
    let line = line.split_once(" op ").map_or(line.as_str(), |(_, rest)| rest);
    let mut kind = String::new();
    for (position, part) in line.split('\'').enumerate() {
        let part = if position % 2 == 1 && (part.len() < 6 || part.contains('<')) { "#" } else { part };
        for character in part.chars().map(|character| if character.is_ascii_digit() { '#' } else { character }) {
            if character != '#' || !kind.ends_with('#') {
                kind.push(character);
            }
        }
    }
    while kind.contains("#, #") {
        kind = kind.replace("#, #", "#");
    }
    match (kind.find("(d#"), kind.rfind("):")) {
        (Some(start), Some(end)) if start < end => format!("{}(map{}", &kind[..start], &kind[end..]),
        _ => kind,
    }
}
