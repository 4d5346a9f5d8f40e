//! Compares written files with their source program: both run in f64 on the same random inputs. Request and outcome are
//! plain values, so that a separate process can compare them: the compiled code of a program may do anything.

use super::{
    OriginalModule, ReferenceExecution, ReferenceLimits, approximation_patterns, compare,
    verdict::{NumberMismatch, ReferenceNumbers, compare_exact},
};
use crate::mlir::{WidenMode, intercept_diagnostics};
use machine::{ElementType, Target};
use referee::{
    ArrayElements, HostArray, InputDistribution, IntervalArithmetic, RunOptions, SimError, Simulation, draw_argument,
};
use schemars::JsonSchema;
use sdsc_format::program::Tensor;
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, collections::BTreeMap, path::PathBuf, rc::Rc};

/// Seed of the inputs.
const SEED: u64 = 0;

/// Factor for smaller inputs, which show whether a difference comes from the limited range of a function.
const SMALL_SCALE: f64 = 1.0 / 16.0;

/// Relative change of the inputs that shows whether the program is discontinuous there.
const PERTURBATION: f64 = 1e-12;

/// Number of integers, from 0 on, to draw if larger ones cause a difference: positions in a short text.
const NUM_SMALL_INTEGERS: i64 = 1024;
/// Number of integers to draw if small ones cause a difference too: truth values.
const NUM_TRUTH_INTEGERS: i64 = 2;

/// Request for a comparison in a separate process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceRequest {
    /// Version of the requesting tool.
    pub version: String,
    /// File of the program as written.
    pub module: PathBuf,
    /// Memory limit, in bytes.
    pub max_bytes: u64,
    /// Files to compare.
    pub files: ReferenceFiles,
}

/// Files to compare with the program as written, and the parameters of the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceFiles {
    /// Bundle directory.
    pub directory: PathBuf,
    /// Target machine of the files.
    pub target: Target,
    /// Sizes of each run, by name; omitted sizes are at their maximum.
    pub sizes: Vec<BTreeMap<String, i64>>,
    /// Minimum and maximum of each argument; `None` if unrestricted.
    pub domains: Vec<[Option<f64>; 2]>,
    /// Row-major positions of the compared elements of each result; `None` to compare all elements.
    pub samples: Option<Vec<Vec<usize>>>,
    /// Limits on the run of the program as written.
    pub effort: ReferenceLimits,
    /// Maximum number of element operations of the files.
    pub max_steps: u64,
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceOutcome {
    /// Both compute equal numbers.
    Agrees(Agreement),
    /// They differ, and the random inputs explain it; the text says how.
    Explained(String),
    /// They differ, as the text describes.
    Differs(String),
    /// Nothing was compared, for the reason in the text.
    NotRun(String),
}

/// Difference between two computations that agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// Number of compared result elements.
    pub elements: u64,
    /// Number of all result elements.
    pub of: u64,
    /// Largest difference, relative to the element's magnitude plus the root mean square of the result.
    pub difference: f64,
    /// Largest permitted difference, in the same units.
    pub allowed: f64,
}

/// Compares files with their source program.
#[must_use]
pub fn answer_comparison(request: &ReferenceRequest) -> ReferenceOutcome {
    let mut all = Agreement::default();
    let largest = [BTreeMap::new()];
    for sizes in if request.files.sizes.is_empty() { &largest } else { request.files.sizes.as_slice() } {
        let answer = ReferenceRun::load(request, sizes).map(|run| run.compute_outcome());
        match answer {
            Ok(ReferenceOutcome::Agrees(found)) => {
                all.elements += found.elements;
                all.of += found.of;
                all.difference = all.difference.max(found.difference);
                all.allowed = all.allowed.max(found.allowed);
            }
            Ok(ReferenceOutcome::Differs(message)) if !sizes.is_empty() => {
                let at: Vec<String> = sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
                return ReferenceOutcome::Differs(format!("at {}: {message}", at.join(" ")));
            }
            Ok(other) => return other,
            Err(reason) => return ReferenceOutcome::NotRun(reason),
        }
    }
    ReferenceOutcome::Agrees(all)
}

/// One run of the files and of the program.
struct ReferenceRun<'r> {
    request: &'r ReferenceRequest,
    simulation: Simulation,
}

/// Result that differs.
struct MismatchedResult {
    result: usize,
    shape: Vec<i64>,
    /// Compared positions; `None` if all elements were compared.
    places: Option<Vec<usize>>,
    mismatch: NumberMismatch,
}

/// Outcome of a run of both on some inputs.
enum RunComparison {
    Agrees(Agreement),
    Differs(MismatchedResult),
    Other(ReferenceOutcome),
}

impl<'r> ReferenceRun<'r> {
    fn load(request: &'r ReferenceRequest, sizes: &BTreeMap<String, i64>) -> Result<Self, String> {
        let simulation = Simulation::load(&request.files.directory, &request.files.target)
            .and_then(|simulation| simulation.with_sizes(sizes));
        Ok(Self { request, simulation: simulation.map_err(|error| error.to_string())? })
    }

    fn compute_outcome(&self) -> ReferenceOutcome {
        let inputs = match self.draw_inputs(&|array, _| array) {
            Ok(inputs) => inputs,
            Err(reason) => return ReferenceOutcome::NotRun(reason),
        };
        match self.run_and_compare(&inputs) {
            RunComparison::Agrees(agreement) => ReferenceOutcome::Agrees(agreement),
            RunComparison::Differs(difference) => self.explain(&inputs, &difference),
            RunComparison::Other(answer) => answer,
        }
    }

    /// Draws the inputs: integers in the ranges of the files, numbers in the domains of the request.
    fn draw_inputs(&self, change: &dyn Fn(HostArray, usize) -> HostArray) -> Result<Vec<HostArray>, String> {
        let program = self.simulation.program();
        let array = |position: usize| {
            let mut array =
                draw_argument(program, position, SEED, InputDistribution::Random).map_err(|error| error.to_string())?;
            array = change(array, position);
            if let Some([low, high]) = self.request.files.domains.get(position)
                && array.elements.element_type().is_float()
            {
                let domain = [low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)];
                map_elements(&mut array, |number| move_into_domain(number, domain));
            }
            Ok(array)
        };
        (0..program.arguments.len()).map(array).collect()
    }

    /// Runs the files and the program on inputs, and compares their results.
    fn run_and_compare(&self, inputs: &[HostArray]) -> RunComparison {
        let not_run = |reason| RunComparison::Other(ReferenceOutcome::NotRun(reason));
        let ReferenceExecution { results: expected, num_approximated, .. } =
            match self.run_original(inputs, WidenMode::Exact) {
                Ok(found) => found,
                Err(reason) => return not_run(reason),
            };
        let results = &self.simulation.program().results;
        if expected.len() != results.len() {
            let message = format!("the program has {} results, the files {}", expected.len(), results.len());
            return RunComparison::Other(ReferenceOutcome::Differs(message));
        }
        if self.request.files.samples.is_some() && results.iter().any(|result| result.digit_base.is_some()) {
            return not_run("a result has integers of two digits, which cannot be compared by samples".to_owned());
        }
        if let Some((result, expected)) =
            expected.iter().enumerate().find(|(number, array)| array.shape != caller_shape(&results[*number]))
        {
            let message = format!(
                "result {result} has shape {:?}, the files {:?}",
                expected.shape,
                caller_shape(&results[result])
            );
            return RunComparison::Other(ReferenceOutcome::Differs(message));
        }
        let (found, on_the_way) = match self.run_files(inputs) {
            Ok(found) => found,
            Err(limit @ SimError::NotSimulated { .. }) => return not_run(limit.to_string()),
            Err(reason) => {
                return RunComparison::Other(ReferenceOutcome::Differs(format!(
                    "the files cannot be executed: {reason}"
                )));
            }
        };
        let mut approximated: Vec<Vec<HostArray>> = Vec::new();
        let mut open = approximation_patterns(num_approximated);
        loop {
            match self.compare_results(&found, &expected, &approximated, on_the_way) {
                Ok(agreement) => return RunComparison::Agrees(agreement),
                Err(difference) => {
                    // The compiler states the errors of its approximations; most programs contain none.
                    let Some(pattern) = open.next() else { return RunComparison::Differs(difference) };
                    match self.run_original(inputs, WidenMode::Approximated(pattern)) {
                        Ok(execution) => approximated.push(execution.results),
                        Err(reason) => return not_run(reason),
                    }
                }
            }
        }
    }

    /// Runs the program as written.
    fn run_original(&self, inputs: &[HostArray], how: WidenMode) -> Result<ReferenceExecution, String> {
        let said: Rc<RefCell<Option<String>>> = Rc::default();
        let listen = |session: &crate::mlir::Session| {
            let said = Rc::clone(&said);
            intercept_diagnostics(session.context(), move |found| {
                if found.severity == "error" {
                    said.borrow_mut().get_or_insert_with(|| found.message.clone());
                }
                true
            });
        };
        let path = self.request.module.to_str().ok_or("the name of its file is not UTF-8")?;
        let name = &self.simulation.program().name;
        let original = OriginalModule { path, name, effort: self.request.files.effort, listen: &listen };
        original.run(inputs, how).map_err(|reason| {
            if reason.is_empty() {
                said.borrow_mut().take().unwrap_or_else(|| "MLIR rejects it".to_owned())
            } else {
                reason.strip_prefix(&format!("'{path}' ")).map_or(reason.clone(), |what| format!("it {what}"))
            }
        })
    }

    /// Runs the files; returns their result elements, and the largest magnitude of an intermediate number.
    fn run_files(&self, inputs: &[HostArray]) -> Result<(Vec<Vec<referee::BoundedNumber>>, f64), SimError> {
        let names = self.simulation.program().arguments.iter().map(|tensor| tensor.name.clone());
        let inputs: BTreeMap<String, HostArray> = names.zip(inputs.iter().cloned()).collect();
        let options = RunOptions { max_steps: self.request.files.max_steps, ..RunOptions::default() };
        match &self.request.files.samples {
            None => {
                let (outcome, found) = self.simulation.run_with(&IntervalArithmetic, &inputs, &options)?;
                Ok((found.into_iter().map(|found| found.elements).collect(), outcome.report.largest_magnitude()))
            }
            Some(samples) => {
                let found = self.simulation.sample_elements(&IntervalArithmetic, &inputs, samples, &options)?;
                // Samples do not measure intermediate numbers: each element is checked against its own bounds only.
                Ok((found, f64::INFINITY))
            }
        }
    }

    fn compare_results(
        &self,
        found: &[Vec<referee::BoundedNumber>],
        expected: &[HostArray],
        approximated: &[Vec<HostArray>],
        on_the_way: f64,
    ) -> Result<Agreement, MismatchedResult> {
        let mut all = Agreement::default();
        for (result, (found, expected)) in found.iter().zip(expected).enumerate() {
            let others: Vec<&HostArray> = approximated.iter().map(|results| &results[result]).collect();
            let whole = ReferenceNumbers::from_results(expected, &others);
            let places = self.request.files.samples.as_ref().map(|samples| samples[result].clone());
            let compared = places.as_ref().map(|places| whole.select(places));
            let verdict = compare_exact(found, compared.as_ref().unwrap_or(&whole), on_the_way)
                .map_err(|mismatch| MismatchedResult { result, shape: expected.shape.clone(), places, mismatch })?;
            all.elements += found.len() as u64;
            all.of += whole.numbers.len() as u64;
            all.difference = all.difference.max(verdict.difference);
            all.allowed = all.allowed.max(verdict.allowed);
        }
        Ok(all)
    }

    /// Checks whether changed inputs explain why results differ.
    fn explain(&self, inputs: &[HostArray], difference: &MismatchedResult) -> ReferenceOutcome {
        let message = self.describe(difference);
        if let Some(which) = self.find_wide_arguments()
            && let Some(end) = [NUM_SMALL_INTEGERS, NUM_TRUTH_INTEGERS].into_iter().find(|&end| {
                self.agrees_with_changed_inputs(&|array, position| {
                    if self.has_wide_integers(position) { reduce_integers(array, end) } else { array }
                })
            })
        {
            return ReferenceOutcome::Explained(format!(
                "{message}; they agree if the integers of {which} are from 0 to {}, so the program may not allow the larger random integers; \
                 compare with your own integers: 'spyre-run --check'",
                end - 1
            ));
        }
        if difference.mismatch.is_nan {
            let smaller = if self.agrees_with_changed_inputs(&|array, _| scale_floats(array, SMALL_SCALE)) {
                "; they agree for smaller numbers"
            } else {
                ""
            };
            return ReferenceOutcome::Explained(format!(
                "{message}{smaller}; a function beyond its range, or zero times an infinity, has no value (docs/concepts/trust.md)"
            ));
        }
        if self.is_discontinuous(inputs, difference) {
            return ReferenceOutcome::Explained(format!(
                "{message}; the program is discontinuous there: a relative change of the inputs by {PERTURBATION:e} changes its results as \
                 much"
            ));
        }
        ReferenceOutcome::Differs(message)
    }

    fn describe(&self, difference: &MismatchedResult) -> String {
        let MismatchedResult { result, shape, places, mismatch } = difference;
        let place = |at: usize| places.as_ref().map_or(at, |places| places[at]);
        let of = mismatch.places.len();
        let name = &self.simulation.program().results[*result].name;
        let index = compare::unflatten_index(place(mismatch.at), shape);
        format!("{of} elements of '{name}' differ: {}", mismatch.describe(&index))
    }

    fn has_wide_integers(&self, position: usize) -> bool {
        let tensor = &self.simulation.program().arguments[position];
        let is_integer = tensor.element_type.parse().is_ok_and(ElementType::is_integer);
        is_integer && tensor.index_range.is_none_or(|[first, end]| first < 0 || end > NUM_TRUTH_INTEGERS)
    }

    /// Returns the names of the integer arguments that may have values other than 0 and 1.
    fn find_wide_arguments(&self) -> Option<String> {
        let program = self.simulation.program();
        let wide = (0..program.arguments.len()).filter(|position| self.has_wide_integers(*position));
        let names: Vec<String> = wide.map(|position| format!("'{}'", program.arguments[position].name)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn agrees_with_changed_inputs(&self, change: &dyn Fn(HostArray, usize) -> HostArray) -> bool {
        self.draw_inputs(change).is_ok_and(|inputs| matches!(self.run_and_compare(&inputs), RunComparison::Agrees(_)))
    }

    /// Returns whether tiny changes of the inputs change the program's own results by as much as the results differ, at
    /// all positions that differ.
    fn is_discontinuous(&self, inputs: &[HostArray], difference: &MismatchedResult) -> bool {
        let nudged: Vec<HostArray> = inputs.iter().cloned().map(perturb).collect();
        let both = self
            .run_original(inputs, WidenMode::Exact)
            .and_then(|before| Ok((before.results, self.run_original(&nudged, WidenMode::Exact)?.results)));
        let Ok((before, after)) = both else { return false };
        let MismatchedResult { result, places, mismatch, .. } = difference;
        let off = mismatch.absolute_error();
        mismatch.places.iter().all(|at| {
            let place = places.as_ref().map_or(*at, |places| places[*at]);
            let change = (before[*result].elements.get(place) - after[*result].elements.get(place)).abs();
            change > off / 16.0 || change.is_nan()
        })
    }
}

/// Returns the shape of the caller's array. A dimension of digits, which is the first one, exists in the files only.
fn caller_shape(tensor: &Tensor) -> &[i64] {
    if tensor.digit_base.is_some() { &tensor.shape[1..] } else { &tensor.shape }
}

fn map_elements(array: &mut HostArray, function: impl Fn(f64) -> f64) {
    for index in 0..array.elements.len() {
        array.elements.set(index, function(array.elements.get(index)));
    }
}

/// Moves a number into a range, to about the distance from the bound that it had from zero.
fn move_into_domain(number: f64, [low, high]: [f64; 2]) -> f64 {
    let size = number.abs();
    match (low.is_finite(), high.is_finite()) {
        _ if low <= number && number <= high => number,
        (true, true) => low + size % (high - low),
        (true, false) => low + size,
        (false, true) => high - size,
        (false, false) => number,
    }
}

fn scale_floats(mut array: HostArray, factor: f64) -> HostArray {
    if array.elements.element_type().is_float() {
        map_elements(&mut array, |number| number * factor);
    }
    array
}

fn reduce_integers(mut array: HostArray, end: i64) -> HostArray {
    map_elements(&mut array, |number| number.rem_euclid(end as f64));
    array
}

/// Returns floats in f64, each with a tiny relative change of alternating sign.
fn perturb(array: HostArray) -> HostArray {
    if !array.elements.element_type().is_float() {
        return array;
    }
    let number = |index: usize| {
        array.elements.get(index) * (1.0 + if index.is_multiple_of(2) { PERTURBATION } else { -PERTURBATION })
    };
    HostArray { elements: ArrayElements::F64((0..array.elements.len()).map(number).collect()), shape: array.shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_numbers_into_their_domain() {
        for number in [-3.5, -0.25, 0.0, 0.5, 2.0] {
            let infinity = f64::INFINITY;
            for domain in [[0.0, infinity], [1.0 / 64.0, infinity], [-infinity, -2.0], [-0.5, 0.5], [3.0, 4.0]] {
                let found = move_into_domain(number, domain);
                assert!(domain[0] <= found && found <= domain[1], "{number} in {domain:?} is {found}");
            }
            assert_eq!(move_into_domain(number, [-infinity, infinity]), number);
        }
    }

    #[test]
    fn deserializes_serialized_request() {
        let request = ReferenceRequest {
            version: "1".to_owned(),
            module: "a.mlir".into(),
            max_bytes: 1 << 32,
            files: ReferenceFiles {
                directory: "out".into(),
                target: Target::spyre(),
                sizes: vec![BTreeMap::from([("S".to_owned(), 7)])],
                domains: vec![[None, None], [Some(0.0), None]],
                samples: Some(vec![vec![0, 3]]),
                effort: ReferenceLimits::default(),
                max_steps: 7,
            },
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<ReferenceRequest>(&text).unwrap(), request);
    }
}
