//! Validation of a compilation: compares the program after each phase, and the files, with the imported program.

use super::{
    ElementDifference, ExecutionCost, ExecutionLimits, OriginalVerdict, Samples, count_undefined, degree,
    extent::{self, ValidationExtent},
    files::{self, FileExecutionError},
    run_on_own_threads,
};
use crate::{
    dialect::{NamedSize, SymbolicSizes, has_corrections, target_of},
    interpret::{
        ElementSelection, EvalArray, EvalFunction, find_clobbered_value, may_read_nonzero_padding, read_functions,
    },
    mlir::{Module, find_defined_functions},
    phase::Phase,
};
use element::{FieldElement, FiniteField};
use machine::Target;
use rayon::prelude::*;
use referee::Simulation;
use schemars::JsonSchema;
use serde::Serialize;
use std::{collections::BTreeMap, fmt, path::Path};

/// Result of a successful validation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Subject of the comparison with the imported program: `files`, or the IR after a phase.
    pub compared: String,
    /// Smaller sizes at which the files were compared as well, if some are symbolic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_sizes: Vec<BTreeMap<String, i64>>,
    /// Pieces that were compiled and compared separately, if the program is too large for samples as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<Pieces>,
    /// Draws of random elements.
    pub draws: u64,
    /// Element operations of one execution of the imported program.
    pub element_operations: u64,
    /// Compared result elements, if the program is too large to be executed completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Samples>,
    /// Number of result elements without a value, such as a quotient of zeros, in the draw with the fewest.
    pub undefined: u64,
    /// Base-2 logarithm of a bound on the degree of a difference.
    pub log2_degree: f64,
    /// Whether nested exponentials were compared under the law of exponentials only, because a loop corrects some.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lawful: bool,
    /// Whether maxima and minima were compared in the order of real numbers only, because a loop corrects some.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// Base-2 logarithm of the maximum probability that all draws miss a difference; `None` if the degree yields no
    /// bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log2_chance: Option<f64>,
    /// Result of comparing the files with the program as written; `None` if there are no files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_written: Option<OriginalVerdict>,
}

/// Pieces of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pieces {
    /// Number of pieces.
    pub number: u64,
    /// Number of distinct pieces, which were compiled and compared.
    pub different: u64,
}

impl Verdict {
    /// Formats the results of both halves, one line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        [self.to_string()].into_iter().chain(self.as_written.as_ref().map(ToString::to_string)).collect()
    }

    /// Adds the verdict of another piece of the program.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.draws = self.draws.min(other.draws);
        self.undefined += other.undefined;
        self.log2_degree = self.log2_degree.max(other.log2_degree);
        self.lawful |= other.lawful;
        self.ordered |= other.ordered;
        // Union bound: the probability that a piece hides a difference is at most the sum of the probabilities.
        self.log2_chance =
            self.log2_chance.zip(other.log2_chance).map(|(one, other)| (one.exp2() + other.exp2()).log2());
        self.sampled = match (self.sampled, other.sampled) {
            (Some(one), Some(other)) => Some(Samples {
                elements: one.elements + other.elements,
                of: one.of + other.of,
                element_operations: one.element_operations + other.element_operations,
            }),
            (one, other) => one.or(other),
        };
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { compared, at_sizes, pieces, draws, element_operations, sampled, undefined, .. } = self;
        let Self { log2_degree, lawful, ordered, log2_chance, .. } = self;
        if let Some(Pieces { number, different }) = pieces {
            write!(
                formatter,
                "validated in {number} pieces, because the program is too large for samples: {different} different pieces were compiled \
                 separately; decisions that concern several pieces are not checked; "
            )?;
        }
        let draws = if *draws == 1 { "1 draw, as the program is large,".to_owned() } else { format!("{draws} draws") };
        match sampled {
            None => write!(
                formatter,
                "validated: {compared} and the imported program agree in {draws} of random elements of a finite field \
                 ({element_operations} element operations each)"
            )?,
            Some(Samples { elements, of, element_operations: needed }) => write!(
                formatter,
                "validated by samples: {compared} and the imported program agree on {elements} of {of} result elements and everything \
                 that they depend on ({needed} of {element_operations} element operations), in {draws} of random elements of a finite \
                 field; faults that do not affect a sampled element are not found"
            )?,
        }
        if !at_sizes.is_empty() {
            write!(
                formatter,
                "; at the largest sizes, and at {}",
                at_sizes.iter().map(format_sizes).collect::<Vec<_>>().join(", at ")
            )?;
        }
        if *undefined > 0 {
            write!(formatter, "; at least {undefined} result elements have no value in a draw, such as 0 / 0")?;
        }
        if *lawful {
            write!(
                formatter,
                "; nested exponentials were compared only by exp(a + b) = exp(a) exp(b), because a loop corrects them"
            )?;
        }
        if *ordered {
            write!(
                formatter,
                "; maxima and minima were compared in the order of real numbers alone, as a loop corrects them"
            )?;
        }
        let where_it_is = if sampled.is_some() { " in them" } else { "" };
        match log2_chance {
            Some(chance) => {
                write!(formatter, "; a difference{where_it_is} is hidden with probability 2^{chance:.0} at most")
            }
            None => write!(
                formatter,
                "; the degree of the program, 2^{log2_degree:.0}, is too high to bound the probability of a hidden difference{where_it_is}"
            ),
        }
    }
}

/// Formats sizes for a message.
pub(crate) fn format_sizes(sizes: &BTreeMap<String, i64>) -> String {
    sizes.iter().map(|(name, size)| format!("{name}={size}")).collect::<Vec<_>>().join(" ")
}

/// Reason why a compilation is not validated, with its message.
pub(crate) enum ValidationFailure {
    /// The program is too large.
    TooLarge(String),
    /// A limit makes validation impossible.
    Limit(String),
    /// A phase changed the results of the imported program.
    Phase(String),
    /// The files differ from the imported program, although the IR after every phase agrees with it.
    Files(String),
    /// The files agree with the imported program, but not with the program as written.
    Import(String),
    /// The program does not permit the requested options.
    UserError(String),
}

impl ValidationFailure {
    /// Returns whether the failure is a compiler bug.
    pub(crate) const fn is_bug(&self) -> bool {
        matches!(self, Self::Phase(_) | Self::Files(_) | Self::Import(_))
    }

    /// Returns the message of the failure.
    pub(crate) fn message(&self) -> &str {
        let (Self::TooLarge(message)
        | Self::Limit(message)
        | Self::Phase(message)
        | Self::Files(message)
        | Self::Import(message)
        | Self::UserError(message)) = self;
        message
    }
}

/// The program after each phase whose result is in `spyre` ops.
pub(crate) struct PhaseRecords<'c> {
    phases: Vec<(Phase, Result<Vec<EvalFunction<'c>>, String>)>,
    target: Option<Target>,
    limits: ExecutionLimits,
    /// Whether a loop corrects its carried values.
    corrects: bool,
    sizes: Vec<NamedSize>,
}

impl<'c> PhaseRecords<'c> {
    pub(crate) const fn new(limits: ExecutionLimits) -> Self {
        Self { phases: Vec::new(), target: None, limits, corrects: false, sizes: Vec::new() }
    }

    /// Records the program after a phase.
    pub(crate) fn record(&mut self, phase: Phase, module: &Module<'c>) {
        if phase <= Phase::Lx {
            let functions = read_functions(module).map_err(|(_, message)| message);
            // The import is recorded twice. Ops that are folded later may make the first version unreadable; then the
            // second one is the reference.
            if phase == Phase::Import && self.phases.first().is_some_and(|(_, before)| before.is_err()) {
                self.phases.clear();
            }
            self.phases.push((phase, functions));
            if phase == Phase::Import {
                // Errors about symbolic sizes were reported before.
                let found = find_defined_functions(module.op())
                    .into_iter()
                    .filter_map(|function| SymbolicSizes::from_function(function).ok().flatten());
                self.sizes = found.flat_map(|sizes| sizes.named_sizes()).collect();
            }
            self.target = target_of(module.op()).ok();
            self.corrects |= has_corrections(module.op());
        }
    }

    /// Compares the files, or without files the last program, with the imported program.
    pub(crate) fn validate(&self, directory: Option<&Path>) -> Result<Verdict, ValidationFailure> {
        self.validate_to_extent(directory, self.choose_extent()?)
    }

    /// Compares as [`Self::validate`] does, to the given extent.
    pub(crate) fn validate_to_extent(
        &self,
        directory: Option<&Path>,
        extent: ValidationExtent,
    ) -> Result<Verdict, ValidationFailure> {
        let simulation = directory.map(|directory| self.load(directory)).transpose()?;
        self.validate_files(simulation.as_ref(), extent)
    }

    /// Returns the limits of execution.
    pub(crate) const fn limits(&self) -> &ExecutionLimits {
        &self.limits
    }

    /// Sets the limits of execution.
    pub(crate) const fn set_limits(&mut self, limits: ExecutionLimits) {
        self.limits = limits;
    }

    /// Returns the extent of execution under the limits: draws, and samples of results if the program is too large.
    pub(crate) fn choose_extent(&self) -> Result<ValidationExtent, ValidationFailure> {
        ValidationExtent::choose(self.imported_functions()?, &self.limits).map_err(ValidationFailure::TooLarge)
    }

    /// Returns the functions of the imported program.
    pub(crate) fn imported_functions(&self) -> Result<&[EvalFunction<'c>], ValidationFailure> {
        match self.phases.first() {
            Some((_, Ok(functions))) => Ok(functions),
            Some((phase, Err(reason))) => Err(unreadable_failure(*phase, reason)),
            None => Err(ValidationFailure::Limit("cannot be validated before it is imported".to_owned())),
        }
    }

    /// Returns the cost of executing the imported program once.
    pub(crate) fn execution_cost(&self) -> ExecutionCost {
        self.imported_functions().map_or_else(|_| ExecutionCost::default(), ExecutionCost::estimate)
    }

    /// Returns the number of element operations of the imported program.
    pub(crate) fn element_operations(&self) -> u64 {
        self.execution_cost().element_operations
    }

    /// Returns the number of elements of all op results of the imported program.
    pub(crate) fn computed_elements(&self) -> u64 {
        let of_values = |function: &EvalFunction<'_>| {
            function.values.iter().map(|value| value.length() as u64).fold(0, u64::saturating_add)
        };
        let all = self
            .imported_functions()
            .map_or(0, |functions| functions.iter().map(of_values).fold(0, u64::saturating_add));
        all.saturating_sub(self.execution_cost().argument_elements)
    }

    /// Returns the target machine.
    pub(crate) fn target(&self) -> Target {
        self.target.clone().unwrap_or_else(Target::spyre)
    }

    /// Compares the files with the imported program at smaller symbolic sizes: `self` is the program with these sizes
    /// fixed.
    pub(crate) fn validate_at_sizes(
        &self,
        directory: &Path,
        sizes: &BTreeMap<String, i64>,
    ) -> Result<(), ValidationFailure> {
        let simulation =
            self.load(directory)?.with_sizes(sizes).map_err(|error| ValidationFailure::Files(error.to_string()))?;
        self.validate_files(Some(&simulation), self.choose_extent()?).map(|_| ())
    }

    fn load(&self, directory: &Path) -> Result<Simulation, ValidationFailure> {
        Simulation::load(directory, &self.target())
            .map_err(|error| ValidationFailure::Files(format!("gives files that cannot be executed: {error}")))
    }

    /// Returns the symbolic sizes of the imported program, with their names in the files.
    pub(crate) fn sizes(&self) -> &[NamedSize] {
        &self.sizes
    }

    fn validate_files(
        &self,
        simulation: Option<&Simulation>,
        extent: ValidationExtent,
    ) -> Result<Verdict, ValidationFailure> {
        let mut programs = Vec::with_capacity(self.phases.len());
        for (phase, functions) in &self.phases {
            programs.push((*phase, functions.as_ref().map_err(|reason| unreadable_failure(*phase, reason))?));
        }
        let (imported, element_operations) = (self.imported_functions()?, self.element_operations());
        let ValidationExtent { draws, samples } = extent;
        let num_draws = draws.end - draws.start;
        let (selections, sampled) = samples.unzip();
        let mut verdict = Verdict {
            compared: simulation
                .map_or_else(|| format!("the IR after phase '{}'", self.last_phase()), |_| "the files".to_owned()),
            at_sizes: Vec::new(),
            pieces: None,
            draws: num_draws,
            element_operations,
            sampled,
            undefined: 0,
            log2_degree: imported.iter().map(degree::log2_degree).fold(0.0, f64::max),
            lawful: false,
            ordered: false,
            log2_chance: None,
            as_written: None,
        };
        verdict.log2_chance = degree::log2_chance(verdict.log2_degree, num_draws);
        for position in 0..imported.len() {
            let versions: Vec<(Phase, &EvalFunction<'_>)> =
                programs.iter().filter_map(|(phase, functions)| Some((*phase, functions.get(position)?))).collect();
            let samples =
                selections.as_ref().map(|selections: &Vec<Vec<ElementSelection>>| selections[position].as_slice());
            let evaluator = |draw| FunctionVersions { versions: &versions, samples, draw }.validate_draw(simulation);
            let are_draws_sequential = extent::num_held_elements(&imported[position]) > extent::MAX_CONCURRENT_ELEMENTS;
            // The first failing draw is reported, in the order of draws and not of completion.
            let evaluated = |bits: u64| {
                let evaluate = |draw| evaluator(draw | bits);
                let evaluate_all = || -> Vec<Result<u64, ValidationFailure>> {
                    match are_draws_sequential {
                        true => draws.clone().map(evaluate).collect(),
                        false => draws.clone().into_par_iter().map(evaluate).collect(),
                    }
                };
                let evaluated = run_on_own_threads(evaluate_all).map_err(ValidationFailure::Limit)?;
                evaluated.into_iter().collect::<Result<Vec<u64>, ValidationFailure>>()
            };
            let mut found = evaluated(0);
            // Corrections in loops are exact only under the law of exponentials, some also only under the law of
            // maxima, so these draws are tried next.
            for laws in [FiniteField::LAWFUL_BIT, FiniteField::LAWFUL_BIT | FiniteField::ORDERED_BIT] {
                if !self.corrects || !matches!(found, Err(ValidationFailure::Phase(_) | ValidationFailure::Files(_))) {
                    break;
                }
                verdict.lawful = true;
                verdict.ordered |= laws & FiniteField::ORDERED_BIT != 0;
                found = evaluated(laws);
            }
            let undefined = found?;
            verdict.undefined += undefined.into_iter().min().unwrap_or(0);
        }
        if verdict.undefined > 0 && verdict.undefined == num_compared_elements(imported, verdict.sampled.as_ref()) {
            return Err(ValidationFailure::Limit(
                "cannot be validated: no result element has a value in any draw; all are quotients such as 0 / 0"
                    .to_owned(),
            ));
        }
        Ok(verdict)
    }

    fn last_phase(&self) -> Phase {
        self.phases.last().map_or(Phase::Import, |(phase, _)| *phase)
    }
}

/// Returns the number of result elements that are compared: all of them, or the samples.
fn num_compared_elements(imported: &[EvalFunction<'_>], samples: Option<&Samples>) -> u64 {
    let in_results = |function: &EvalFunction<'_>| {
        function.body.yields.iter().map(|id| function.values[*id].length() as u64).sum::<u64>()
    };
    samples.map_or_else(|| imported.iter().map(in_results).sum(), |samples| samples.elements)
}

fn unreadable_failure(phase: Phase, reason: &str) -> ValidationFailure {
    ValidationFailure::Limit(format!("cannot be validated after phase '{phase}': {reason}"))
}

/// Describes an error after a phase that changes results on the device, but not results over complete tensors. Returns
/// `None` if there is no such error.
fn find_hidden_error(phase: Phase, version: &EvalFunction<'_>) -> Option<&'static str> {
    if phase >= Phase::Layout && may_read_nonzero_padding(version) {
        return Some("a matmul reads nonzero padding");
    }
    find_clobbered_value(version).filter(|_| phase >= Phase::Tile)
}

/// Versions of a function after each phase, compared in one draw.
struct FunctionVersions<'a, 'c> {
    versions: &'a [(Phase, &'a EvalFunction<'c>)],
    /// Compared elements of each result; `None` to compare all elements.
    samples: Option<&'a [ElementSelection]>,
    draw: u64,
}

impl FunctionVersions<'_, '_> {
    /// Compares the last version, or the files, with the imported function. Returns the number of undefined elements of
    /// the results.
    fn validate_draw(&self, simulation: Option<&Simulation>) -> Result<u64, ValidationFailure> {
        let [(_, imported), ..] = self.versions else { return Ok(0) };
        let last = self.versions.last().map_or(*imported, |(_, last)| *last);
        let expected =
            self.run(imported).map_err(|fault| ValidationFailure::Limit(format!("cannot be validated: {fault}")))?;
        if let Some(found) = self.compare(imported, &expected, &expected) {
            return Err(ValidationFailure::Limit(format!("cannot be validated: even the imported program: {found}")));
        }
        let (found, how) = match (simulation, self.samples) {
            (Some(simulation), None) => (files::run_files(simulation, imported, self.draw), ""),
            (Some(simulation), Some(samples)) => {
                (files::run_samples(simulation, imported, samples, self.draw), " by samples")
            }
            (None, _) => (self.run(last).map_err(FileExecutionError::NotExecutable), ""),
        };
        let found = match found {
            Err(FileExecutionError::Limit(reason)) => {
                return Err(ValidationFailure::TooLarge(format!("cannot be validated{how}: {reason}")));
            }
            Err(FileExecutionError::NotExecutable(reason)) => Err(reason),
            Ok(found) => Ok(found),
        };
        let symptom = self.describe_mismatch(&expected, found);
        symptom
            .map_or_else(|| Ok(count_undefined(&expected)), |symptom| Err(self.find_faulty_phase(&expected, &symptom)))
    }

    /// Returns the failure of the first phase after which the results differ; of the files if no phase changes the
    /// results.
    fn find_faulty_phase(&self, expected: &[EvalArray<FieldElement>], symptom: &str) -> ValidationFailure {
        let imported = self.versions[0].1;
        for (phase, version) in self.versions {
            if let Some(symptom) = self.describe_mismatch(expected, self.run(version)) {
                let name = &imported.name;
                return ValidationFailure::Phase(format!(
                    "computes something else after phase '{phase}', which is a compiler bug: '{name}': {symptom}"
                ));
            }
        }
        let name = &imported.name;
        if let Some((phase, unseen)) =
            self.versions.iter().find_map(|(phase, version)| Some((phase, find_hidden_error(*phase, version)?)))
        {
            return ValidationFailure::Phase(format!(
                "computes something else on the device after phase '{phase}', which is a compiler bug: '{name}': {unseen}: {symptom}"
            ));
        }
        ValidationFailure::Files(format!(
            "gives files that compute something else, which is a compiler bug: '{name}': {symptom}"
        ))
    }

    fn run(&self, function: &EvalFunction<'_>) -> Result<Vec<EvalArray<FieldElement>>, String> {
        extent::run_draw(function, self.samples, self.draw)
    }

    /// Describes how results differ from the expected ones; returns `None` if they are equal.
    fn describe_mismatch(
        &self,
        expected: &[EvalArray<FieldElement>],
        found: Result<Vec<EvalArray<FieldElement>>, String>,
    ) -> Option<String> {
        match found {
            Ok(found) => self.compare(self.versions[0].1, expected, &found).map(|found| found.to_string()),
            Err(reason) => Some(reason),
        }
    }

    fn compare(
        &self,
        imported: &EvalFunction<'_>,
        expected: &[EvalArray<FieldElement>],
        found: &[EvalArray<FieldElement>],
    ) -> Option<ElementDifference> {
        let shapes: Vec<&[usize]> =
            imported.body.yields.iter().map(|id| imported.values[*id].shape.as_slice()).collect();
        extent::compare_results(&shapes, self.samples, expected, found, self.draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum in a loop whose initial value has a use after the loop: after phase `tile`, the loop has overwritten that
    /// value.
    const OVERWRITTEN: &str = "
      func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> {
        %zero = spyre.fill 0.0 : f16 -> tensor<4xf16>
        %sum = spyre.loop 2 \"A\" carried(%before = %zero : tensor<4xf16>) {
          %after = spyre.pointwise add(%before, %x) : tensor<4xf16>
          spyre.yield %after : tensor<4xf16>
        } : tensor<4xf16>
        %y = spyre.pointwise add(%sum, %zero) : tensor<4xf16>
        return %y : tensor<4xf16>
      }";

    #[test]
    fn attributes_hidden_errors_to_the_phase_that_causes_them() {
        let session = crate::pipeline::create_session();
        let module = Module::parse(&session, OVERWRITTEN).unwrap();
        let functions = read_functions(&module).map_err(|(_, message)| message).unwrap();
        let blamed = |phases: [Phase; 2]| {
            let versions = phases.map(|phase| (phase, &functions[0]));
            let versions = FunctionVersions { versions: &versions, samples: None, draw: 0 };
            versions.find_faulty_phase(&versions.run(&functions[0]).unwrap(), "wrong")
        };
        let expected = "computes something else on the device after phase 'tile', which is a compiler bug: 'f': the initial value of a \
                        loop is read after the loop overwrote it: wrong";
        assert!(
            matches!(blamed([Phase::Import, Phase::Tile]), ValidationFailure::Phase(message) if message == expected)
        );
        assert!(
            matches!(blamed([Phase::Import, Phase::Hint]), ValidationFailure::Files(_)),
            "loops come to lie in one buffer in phase 'tile'"
        );
    }
}
