//! Written files beside the program that they were made of: both in f64 on the same drawn inputs. The request and its
//! answer are values, so that a process of its own can do it: compiled code of somebody's program may do anything.

use super::{
    Effort, Execution, Original, compare, patterns,
    verdict::{Mismatch, Numbers, judge_exact},
};
use crate::mlir::{Widened, intercept};
use machine::{ElementType, Target};
use referee::{Bounded, Draw, Elements, HostArray, RunOptions, SimError, Simulation, drawn};
use schemars::JsonSchema;
use sdsc_format::program::Tensor;
use serde::{Deserialize, Serialize};
use std::{cell::RefCell, collections::BTreeMap, path::PathBuf, rc::Rc};

/// The seed of the inputs.
const SEED: u64 = 0;

/// How much smaller numbers are drawn, to see whether a difference is one of functions that end.
const SMALLER: f64 = 1.0 / 16.0;

/// Inputs are changed by so much of themselves, to see whether the program jumps there.
const NUDGE: f64 = 1e-12;

/// Number of integers, from 0 on, that are drawn where larger ones differ: positions of a short text.
const MODEST_INTEGERS: i64 = 1024;
/// Number of integers that are drawn where these differ too: truth values.
const FEW_INTEGERS: i64 = 2;

/// A comparison that a process of its own makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The version of the tool that asks.
    pub version: String,
    /// The file of the program as written.
    pub module: PathBuf,
    /// The most bytes of memory.
    pub max_bytes: u64,
    /// The files.
    pub files: Files,
}

/// Files to be compared with the program as written, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Files {
    /// The bundle directory.
    pub directory: PathBuf,
    /// The machine that it is for.
    pub target: Target,
    /// The sizes of each run, by name; those that are left out are the largest.
    pub sizes: Vec<BTreeMap<String, i64>>,
    /// The least and the largest number that each argument may have, where there is one.
    pub domains: Vec<[Option<f64>; 2]>,
    /// The places of the elements of each result that are compared, row-major; all, if there are none.
    pub samples: Option<Vec<Vec<usize>>>,
    /// Limits of the program as written.
    pub effort: Effort,
    /// The most element operations of the files.
    pub max_steps: u64,
}

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Both compute the same.
    Agrees(Agreement),
    /// They differ, and the drawn inputs explain it.
    Explained(String),
    /// They differ.
    Differs(String),
    /// There is nothing to compare, and why.
    NotRun(String),
}

/// How far two computations that agree are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Agreement {
    /// Elements of results that were compared.
    pub elements: u64,
    /// Elements of results that there are.
    pub of: u64,
    /// The largest difference, relative to magnitude and root mean square.
    pub difference: f64,
    /// Largest permitted difference, in the same units.
    pub allowed: f64,
}

/// Compares files with their program.
#[must_use]
pub fn answer(request: &Request) -> Answer {
    let mut all = Agreement::default();
    let largest = [BTreeMap::new()];
    for sizes in if request.files.sizes.is_empty() { &largest } else { request.files.sizes.as_slice() } {
        let answer = Run::of(request, sizes).map(|run| run.answer());
        match answer {
            Ok(Answer::Agrees(found)) => {
                all.elements += found.elements;
                all.of += found.of;
                all.difference = all.difference.max(found.difference);
                all.allowed = all.allowed.max(found.allowed);
            }
            Ok(Answer::Differs(message)) if !sizes.is_empty() => {
                let at: Vec<String> = sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
                return Answer::Differs(format!("at {}: {message}", at.join(" ")));
            }
            Ok(other) => return other,
            Err(reason) => return Answer::NotRun(reason),
        }
    }
    Answer::Agrees(all)
}

/// One run of the files and the program.
struct Run<'r> {
    request: &'r Request,
    simulation: Simulation,
}

/// A result that differs.
struct Difference {
    result: usize,
    shape: Vec<i64>,
    /// The places that were compared, where these are not all.
    places: Option<Vec<usize>>,
    mismatch: Mismatch,
}

/// Why two results cannot be compared, or how they differ.
enum Outcome {
    Agrees(Agreement),
    Differs(Difference),
    Other(Answer),
}

impl<'r> Run<'r> {
    fn of(request: &'r Request, sizes: &BTreeMap<String, i64>) -> Result<Self, String> {
        let simulation = Simulation::load(&request.files.directory, &request.files.target).and_then(|simulation| simulation.at(sizes));
        Ok(Self { request, simulation: simulation.map_err(|error| error.to_string())? })
    }

    fn answer(&self) -> Answer {
        let inputs = match self.inputs(&|array, _| array) {
            Ok(inputs) => inputs,
            Err(reason) => return Answer::NotRun(reason),
        };
        match self.compare(&inputs) {
            Outcome::Agrees(agreement) => Answer::Agrees(agreement),
            Outcome::Differs(difference) => self.explain(&inputs, &difference),
            Outcome::Other(answer) => answer,
        }
    }

    /// Draws the inputs: integers in the ranges of the files, numbers in the domains of the request.
    fn inputs(&self, change: &dyn Fn(HostArray, usize) -> HostArray) -> Result<Vec<HostArray>, String> {
        let program = self.simulation.program();
        let array = |position: usize| {
            let mut array = drawn(program, position, SEED, Draw::Random).map_err(|error| error.to_string())?;
            array = change(array, position);
            if let Some([low, high]) = self.request.files.domains.get(position)
                && array.elements.element_type().is_float()
            {
                let domain = [low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)];
                map(&mut array, |number| inside(number, domain));
            }
            Ok(array)
        };
        (0..program.arguments.len()).map(array).collect()
    }

    /// Runs both on inputs.
    fn compare(&self, inputs: &[HostArray]) -> Outcome {
        let not_run = |reason| Outcome::Other(Answer::NotRun(reason));
        let Execution { results: expected, n_approximated, .. } = match self.original(inputs, Widened::Exact) {
            Ok(found) => found,
            Err(reason) => return not_run(reason),
        };
        let results = &self.simulation.program().results;
        if expected.len() != results.len() {
            let message = format!("the program has {} results, the files {}", expected.len(), results.len());
            return Outcome::Other(Answer::Differs(message));
        }
        if self.request.files.samples.is_some() && results.iter().any(|result| result.digit_base.is_some()) {
            return not_run("a result has integers of two digits, which cannot be compared by samples".to_owned());
        }
        if let Some((result, expected)) = expected.iter().enumerate().find(|(number, array)| array.shape != shape_of(&results[*number])) {
            let message = format!("result {result} has shape {:?}, the files {:?}", expected.shape, shape_of(&results[result]));
            return Outcome::Other(Answer::Differs(message));
        }
        let (found, on_the_way) = match self.files(inputs) {
            Ok(found) => found,
            Err(limit @ SimError::NotSimulated { .. }) => return not_run(limit.to_string()),
            Err(reason) => return Outcome::Other(Answer::Differs(format!("the files cannot be executed: {reason}"))),
        };
        let mut approximated: Vec<Vec<HostArray>> = Vec::new();
        let mut open = patterns(n_approximated);
        loop {
            match self.judge(&found, &expected, &approximated, on_the_way) {
                Ok(agreement) => return Outcome::Agrees(agreement),
                Err(difference) => {
                    // The compiler states how far off its own formulas are; most programs have none.
                    let Some(pattern) = open.next() else { return Outcome::Differs(difference) };
                    match self.original(inputs, Widened::Approximated(pattern)) {
                        Ok(execution) => approximated.push(execution.results),
                        Err(reason) => return not_run(reason),
                    }
                }
            }
        }
    }

    /// The results of the program as written.
    fn original(&self, inputs: &[HostArray], how: Widened) -> Result<Execution, String> {
        let said: Rc<RefCell<Option<String>>> = Rc::default();
        let listen = |session: &crate::mlir::Session| {
            let said = Rc::clone(&said);
            intercept(session.context(), move |found| {
                if found.severity == "error" {
                    said.borrow_mut().get_or_insert_with(|| found.message.clone());
                }
                true
            });
        };
        let path = self.request.module.to_str().ok_or("the name of its file is not UTF-8")?;
        let name = &self.simulation.program().name;
        let original = Original { path, name, effort: self.request.files.effort, listen: &listen };
        original.run(inputs, how).map_err(|reason| {
            if reason.is_empty() {
                said.borrow_mut().take().unwrap_or_else(|| "MLIR rejects it".to_owned())
            } else {
                reason.strip_prefix(&format!("'{path}' ")).map_or(reason.clone(), |what| format!("it {what}"))
            }
        })
    }

    /// The elements of the results that the files give, and the largest number on the way to them.
    fn files(&self, inputs: &[HostArray]) -> Result<(Vec<Vec<referee::Bound>>, f64), SimError> {
        let names = self.simulation.program().arguments.iter().map(|tensor| tensor.name.clone());
        let inputs: BTreeMap<String, HostArray> = names.zip(inputs.iter().cloned()).collect();
        let options = RunOptions { max_steps: self.request.files.max_steps, ..RunOptions::default() };
        match &self.request.files.samples {
            None => {
                let (outcome, found) = self.simulation.run_with(&Bounded, &inputs, &options)?;
                Ok((found.into_iter().map(|found| found.elements).collect(), outcome.report.largest_magnitude()))
            }
            Some(samples) => {
                let found = self.simulation.sampled(&Bounded, &inputs, samples, &options)?;
                // Nobody has looked at all numbers on the way: an element is held to its own bounds alone.
                Ok((found, f64::INFINITY))
            }
        }
    }

    fn judge(
        &self,
        found: &[Vec<referee::Bound>],
        expected: &[HostArray],
        approximated: &[Vec<HostArray>],
        on_the_way: f64,
    ) -> Result<Agreement, Difference> {
        let mut all = Agreement::default();
        for (result, (found, expected)) in found.iter().zip(expected).enumerate() {
            let others: Vec<&HostArray> = approximated.iter().map(|results| &results[result]).collect();
            let whole = Numbers::of(expected, &others);
            let places = self.request.files.samples.as_ref().map(|samples| samples[result].clone());
            let compared = places.as_ref().map(|places| whole.at(places));
            let verdict = judge_exact(found, compared.as_ref().unwrap_or(&whole), on_the_way).map_err(|mismatch| Difference {
                result,
                shape: expected.shape.clone(),
                places,
                mismatch,
            })?;
            all.elements += found.len() as u64;
            all.of += whole.numbers.len() as u64;
            all.difference = all.difference.max(verdict.difference);
            all.allowed = all.allowed.max(verdict.allowed);
        }
        Ok(all)
    }

    /// Says whether other inputs show why results differ.
    fn explain(&self, inputs: &[HostArray], difference: &Difference) -> Answer {
        let message = self.describe(difference);
        if let Some(which) = self.wide_integers()
            && let Some(end) = [MODEST_INTEGERS, FEW_INTEGERS]
                .into_iter()
                .find(|&end| self.agrees_with(&|array, position| if self.is_wide(position) { integers_below(array, end) } else { array }))
        {
            return Answer::Explained(format!(
                "{message}; they agree if the integers of {which} are from 0 to {}, so the program may not allow the larger random integers; \
                 compare with your own integers: 'spyre-run --check'",
                end - 1
            ));
        }
        if difference.mismatch.is_nan {
            let smaller = if self.agrees_with(&|array, _| scaled(array, SMALLER)) { "; they agree for smaller numbers" } else { "" };
            return Answer::Explained(format!(
                "{message}{smaller}; a function beyond its range, or zero times an infinity, has no value (docs/concepts/trust.md)"
            ));
        }
        if self.jumps(inputs, difference) {
            return Answer::Explained(format!(
                "{message}; the program is discontinuous there: a relative change of the inputs by {NUDGE:e} changes its results as \
                 much"
            ));
        }
        Answer::Differs(message)
    }

    fn describe(&self, difference: &Difference) -> String {
        let Difference { result, shape, places, mismatch } = difference;
        let place = |at: usize| places.as_ref().map_or(at, |places| places[at]);
        let of = mismatch.places.len();
        let name = &self.simulation.program().results[*result].name;
        let index = compare::indices(place(mismatch.at), shape);
        format!("{of} elements of '{name}' differ: {}", mismatch.describe(&index))
    }

    fn is_wide(&self, position: usize) -> bool {
        let tensor = &self.simulation.program().arguments[position];
        let is_integer = tensor.element_type.parse().is_ok_and(ElementType::is_integer);
        is_integer && tensor.index_range.is_none_or(|[first, end]| first < 0 || end > FEW_INTEGERS)
    }

    /// The arguments of integers that may be others than 0 and 1.
    fn wide_integers(&self) -> Option<String> {
        let program = self.simulation.program();
        let wide = (0..program.arguments.len()).filter(|position| self.is_wide(*position));
        let names: Vec<String> = wide.map(|position| format!("'{}'", program.arguments[position].name)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn agrees_with(&self, change: &dyn Fn(HostArray, usize) -> HostArray) -> bool {
        self.inputs(change).is_ok_and(|inputs| matches!(self.compare(&inputs), Outcome::Agrees(_)))
    }

    /// Whether the program's own results change at all places that differ as much as they differ, where its inputs
    /// hardly change.
    fn jumps(&self, inputs: &[HostArray], difference: &Difference) -> bool {
        let nudged: Vec<HostArray> = inputs.iter().cloned().map(nudged).collect();
        let both =
            self.original(inputs, Widened::Exact).and_then(|before| Ok((before.results, self.original(&nudged, Widened::Exact)?.results)));
        let Ok((before, after)) = both else { return false };
        let Difference { result, places, mismatch, .. } = difference;
        let off = mismatch.size();
        mismatch.places.iter().all(|at| {
            let place = places.as_ref().map_or(*at, |places| places[*at]);
            let change = (before[*result].elements.get(place) - after[*result].elements.get(place)).abs();
            change > off / 16.0 || change.is_nan()
        })
    }
}

/// Returns the sizes of the caller's array: digits are the first dimension of the files alone.
fn shape_of(tensor: &Tensor) -> &[i64] {
    if tensor.digit_base.is_some() { &tensor.shape[1..] } else { &tensor.shape }
}

fn map(array: &mut HostArray, function: impl Fn(f64) -> f64) {
    for index in 0..array.elements.len() {
        array.elements.set(index, function(array.elements.get(index)));
    }
}

/// A number in a range, at about the same distance from its end as from zero before.
fn inside(number: f64, [low, high]: [f64; 2]) -> f64 {
    let size = number.abs();
    match (low.is_finite(), high.is_finite()) {
        _ if low <= number && number <= high => number,
        (true, true) => low + size % (high - low),
        (true, false) => low + size,
        (false, true) => high - size,
        (false, false) => number,
    }
}

fn scaled(mut array: HostArray, factor: f64) -> HostArray {
    if array.elements.element_type().is_float() {
        map(&mut array, |number| number * factor);
    }
    array
}

fn integers_below(mut array: HostArray, end: i64) -> HostArray {
    map(&mut array, |number| number.rem_euclid(end as f64));
    array
}

/// The numbers in f64, each changed a little, one up and the next one down.
fn nudged(array: HostArray) -> HostArray {
    if !array.elements.element_type().is_float() {
        return array;
    }
    let number = |index: usize| array.elements.get(index) * (1.0 + if index.is_multiple_of(2) { NUDGE } else { -NUDGE });
    HostArray { elements: Elements::F64((0..array.elements.len()).map(number).collect()), shape: array.shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_to_lie_in_their_domain() {
        for number in [-3.5, -0.25, 0.0, 0.5, 2.0] {
            let infinity = f64::INFINITY;
            for domain in [[0.0, infinity], [1.0 / 64.0, infinity], [-infinity, -2.0], [-0.5, 0.5], [3.0, 4.0]] {
                let found = inside(number, domain);
                assert!(domain[0] <= found && found <= domain[1], "{number} in {domain:?} is {found}");
            }
            assert_eq!(inside(number, [-infinity, infinity]), number);
        }
    }

    #[test]
    fn a_request_is_the_same_when_it_is_read_again() {
        let request = Request {
            version: "1".to_owned(),
            module: "a.mlir".into(),
            max_bytes: 1 << 32,
            files: Files {
                directory: "out".into(),
                target: Target::spyre(),
                sizes: vec![BTreeMap::from([("S".to_owned(), 7)])],
                domains: vec![[None, None], [Some(0.0), None]],
                samples: Some(vec![vec![0, 3]]),
                effort: Effort::default(),
                max_steps: 7,
            },
        };
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    }
}
