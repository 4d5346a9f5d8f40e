//! One compilation, validated before anything is written.

use super::{
    compile_watched,
    faulty_phase::{find_faulty_phase, record_phase},
    pieces::validate_pieces,
};
use crate::{
    codes::{self, Code},
    dialect::{NamedSize, SymbolicSize, phase_of},
    import::DimSize,
    mlir::{Module, error_at, record_bug, suppress_diagnostics, warning_at},
    pipeline::{CompileOptions, Phase},
    reference::{ReferenceFiles, ReferenceLimits, ReferenceOutcome},
    report::Report,
    validate::{
        ExecutionCost, ExecutionLimits, NotValidated, OriginalRunner, OriginalVerdict, PhaseRecords, ValidationBudget,
        ValidationCounts, ValidationExtent, ValidationFailure, ValidationMode, Verdict, compute_domains, format_sizes,
        run_on_own_threads,
    },
};
use referee::RunOptions;
use sdsc_format::StagedBundle;
use std::{collections::BTreeMap, fmt, path::Path};

/// URL for reports of compiler bugs.
const ISSUES_URL: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

/// Maximum number of element operations of a program that is executed completely against the program as written, for
/// requested validation.
const MAX_COMPLETE_OPERATIONS: u64 = 1 << 32;

/// Maximum number of element operations of the program as written, and of samples of its files.
const MAX_SOURCE_OPERATIONS: u64 = 1 << 36;
const MAX_SAMPLED_OPERATIONS: u64 = 1 << 30;

/// Maximum number of elements of the arguments that are drawn for the program as written, 8 bytes each in both
/// programs.
const MAX_ARGUMENT_ELEMENTS: u64 = 1 << 30;

/// Maximum number of result elements of ops in a program that default validation samples: computing the dependences of
/// samples takes time as well.
const MAX_DEPENDENCE_ELEMENTS: u64 = 1 << 26;

/// Memory limit, in bytes, of the process that runs the program as written.
const DEFAULT_MEMORY_BYTES: u64 = 6 << 30;
const REQUESTED_MEMORY_BYTES: u64 = 24 << 30;

/// Settings of the validation of a compilation.
#[derive(Clone, Copy)]
pub struct ValidationSettings<'a> {
    /// Whether the compilation is validated.
    pub mode: ValidationMode,
    /// Limits on the executed work, for explicitly requested validation.
    pub limits: ExecutionLimits,
    /// The program as written, or the reason why it cannot be run.
    pub original: Result<&'a dyn OriginalRunner, &'a str>,
}

impl ValidationSettings<'_> {
    /// Returns a validation over the finite field only: a library starts no process.
    #[must_use]
    pub fn new_field_only(mode: ValidationMode) -> Self {
        let why = "MLIR's JIT runs it in a separate process, which a library does not start; use 'spyre-compile'";
        Self { mode, limits: ExecutionLimits::default(), original: Err(why) }
    }
}

/// Compiles like [`super::compile`] and validates over the finite field: files are written only if they compute the
/// same results as the imported program. A mismatch is reported with the phase that caused it.
#[must_use]
pub fn compile_and_validate(module: &mut Module<'_>, options: &CompileOptions, output: &str) -> Option<Report> {
    compile_with_validation(
        module,
        options,
        output,
        &ValidationSettings::new_field_only(ValidationMode::On),
        &mut |_, _| {},
    )
}

/// Compiles and validates like [`compile_and_validate`], with other limits on the executed work.
#[must_use]
pub fn compile_and_validate_with_limits(
    module: &mut Module<'_>,
    options: &CompileOptions,
    output: &str,
    limits: &ExecutionLimits,
) -> Option<Report> {
    let validation = ValidationSettings { limits: *limits, ..ValidationSettings::new_field_only(ValidationMode::On) };
    compile_with_validation(module, options, output, &validation, &mut |_, _| {})
}

/// Compiles and validates as requested; `watch` is called as in [`compile_watched`].
#[must_use]
pub fn compile_with_validation<'c>(
    module: &mut Module<'c>,
    options: &CompileOptions,
    output: &str,
    validation: &ValidationSettings<'_>,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    match (validation.mode, options.compile_to) {
        (ValidationMode::Off, _) => compile_watched(module, options, output, watch),
        // Only files are guaranteed.
        (ValidationMode::Auto, phase) if phase != Phase::Emit => compile_watched(module, options, output, watch),
        (_, Phase::Emit) => compile_files(module, options, output, validation, watch),
        _ => compile_ir(module, options, output, &validation.limits, watch),
    }
}

fn report_error(code: Code, module: &Module<'_>, reason: &dyn fmt::Display) {
    let _ = error_at(code, module.op(), reason).report();
}

/// Compares the IR after the last phase with the imported program.
fn compile_ir<'c>(
    module: &mut Module<'c>,
    options: &CompileOptions,
    output: &str,
    limits: &ExecutionLimits,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let is_resumed = phase_of(module.op()).is_some();
    let mut phases = PhaseRecords::new(*limits);
    let mut report = compile_watched(module, options, output, &mut |phase, module: &Module<'c>| {
        record_phase(&mut phases, phase, module);
        watch(phase, module);
    })?;
    let verdict = phases.validate(None).map_err(|failure| report_failure(module, &failure, None, is_resumed)).ok()?;
    report.validation = Some(verdict);
    Some(report)
}

/// Compares the files with the imported program and with the program as written, before they are moved into place.
fn compile_files<'c>(
    module: &mut Module<'c>,
    options: &CompileOptions,
    output: &str,
    validation: &ValidationSettings<'_>,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let fresh = StagedBundle::create_next_to(Path::new(output))
        .map_err(|error| report_error(codes::OUTPUT_WRITE, module, &error))
        .ok()?;
    let Some(directory) = fresh.bundle().to_str().map(ToOwned::to_owned) else {
        report_error(
            codes::OUTPUT_PLACE,
            module,
            &format_args!(
                "cannot write '{output}': its directory has a name that is not UTF-8; \
         choose another directory"
            ),
        );
        return None;
    };
    let original = module.duplicate();
    let is_resumed = phase_of(module.op()).is_some();
    let mut phases = PhaseRecords::new(validation.limits);
    let mut report = compile_watched(module, options, &directory, &mut |phase, module: &Module<'c>| {
        record_phase(&mut phases, phase, module);
        watch(phase, module);
    })?;
    let mut halves = CompilationValidator {
        validation,
        phases,
        original: &original,
        options,
        directory: Path::new(&directory),
        is_resumed,
    };
    match halves.validate(&report) {
        Ok(verdict) => {
            if let Some(OriginalVerdict::Explained(why)) = &verdict.as_written {
                warning_at(
                    codes::VALIDATION_SKIPPED,
                    module.op(),
                    format_args!("not compared with the source program: {why}"),
                )
                .emit();
            }
            report.validation = Some(verdict);
        }
        Err(failure @ (ValidationFailure::TooLarge(_) | ValidationFailure::Limit(_)))
            if validation.mode == ValidationMode::Auto =>
        {
            let element_operations = halves.phases.element_operations();
            let is_too_large = matches!(failure, ValidationFailure::TooLarge(_));
            report.not_validated =
                Some(NotValidated { element_operations, is_too_large, reason: failure.message().to_owned() });
        }
        Err(failure) => {
            report_failure(module, &failure, Some(&halves), is_resumed);
            return None;
        }
    }
    fresh.commit().map_err(|error| report_error(codes::OUTPUT_WRITE, module, &error)).ok()?;
    Some(report)
}

/// Reports why a compilation is not validated.
fn report_failure(
    module: &Module<'_>,
    failure: &ValidationFailure,
    halves: Option<&CompilationValidator<'_, '_>>,
    is_resumed: bool,
) {
    // Edited IR of a later phase is the user's responsibility.
    let is_bug = !is_resumed && failure.is_bug();
    let message = match (failure, halves) {
        (ValidationFailure::Files(message), Some(halves)) => {
            format!("{message}: {}", find_faulty_phase(halves.original, halves.options, halves.phases.limits()))
        }
        _ => failure.message().to_owned(),
    };
    if is_bug {
        report_error(
            codes::MISCOMPILED,
            module,
            &format_args!("{message}; please report it with the program, at {ISSUES_URL}"),
        );
        record_bug(module.op());
    } else {
        report_error(codes::VALIDATION_IMPOSSIBLE, module, &message);
    }
}

/// Both halves of the validation of a compilation.
struct CompilationValidator<'h, 'c> {
    validation: &'h ValidationSettings<'h>,
    phases: PhaseRecords<'c>,
    original: &'h Module<'c>,
    options: &'h CompileOptions,
    directory: &'h Path,
    is_resumed: bool,
}

impl CompilationValidator<'_, '_> {
    fn validate(&mut self, report: &Report) -> Result<Verdict, ValidationFailure> {
        let counts = self.collect_counts(report);
        let budget = match self.validation.mode {
            ValidationMode::Auto => ValidationBudget::from_counts(&counts),
            _ => self.requested_budget(&counts),
        };
        self.phases.set_limits(budget.field);
        let extent = match self.choose_extent(&counts) {
            Err(ValidationFailure::TooLarge(message)) => return self.validate_in_pieces(message),
            extent => extent?,
        };
        let sizes = self.choose_smaller_sizes(&counts, &budget);
        let files = self.select_files(&counts, &budget, &sizes);
        let (phases, directory, validation) = (&self.phases, self.directory, self.validation);
        let in_field = || phases.validate_to_extent(Some(directory), extent);
        let (evaluated, as_written) =
            run_on_own_threads(|| rayon::join(in_field, || compare_with_source(files, validation)))
                .map_err(ValidationFailure::Limit)?;
        let verdict = match evaluated {
            Err(ValidationFailure::TooLarge(message)) => self.validate_in_pieces(message),
            evaluated => evaluated,
        };
        let (verdict, as_written) = match (verdict, as_written) {
            // A mismatch with the program as written counts even if validation over the field was not possible.
            (Err(ValidationFailure::TooLarge(_) | ValidationFailure::Limit(_)), Err(wrong)) => return Err(wrong),
            (verdict, as_written) => (verdict?, as_written?),
        };
        self.validate_at_sizes(&sizes)?;
        Ok(Verdict { at_sizes: sizes, as_written: Some(as_written), ..verdict })
    }

    /// Returns counts that are machine-independent.
    fn collect_counts(&self, report: &Report) -> ValidationCounts {
        let executions: i64 = report.launches.iter().map(|launch| launch.n_executions).sum();
        ValidationCounts {
            compiled_ops: report.ops.len() as u64,
            source_ops: self.validation.original.ok().map(OriginalRunner::num_ops),
            executions: executions.unsigned_abs(),
            execution: self.phases.execution_cost(),
        }
    }

    /// Returns the part of the program that is executed over the finite field.
    fn choose_extent(&self, counts: &ValidationCounts) -> Result<ValidationExtent, ValidationFailure> {
        let (operations, elements) = (counts.execution.element_operations, self.phases.computed_elements());
        if self.validation.mode == ValidationMode::Auto
            && operations > self.phases.limits().whole
            && elements > MAX_DEPENDENCE_ELEMENTS
        {
            let too_large = format!(
                "cannot be validated: it takes {operations} element operations, more than {}, and its ops compute {elements} elements, \
                 more than {MAX_DEPENDENCE_ELEMENTS}",
                self.phases.limits().whole
            );
            return Err(ValidationFailure::TooLarge(too_large));
        }
        self.phases.choose_extent()
    }

    /// Returns the work budget of explicitly requested validation.
    fn requested_budget(&self, counts: &ValidationCounts) -> ValidationBudget {
        let limits = ExecutionLimits {
            whole: MAX_COMPLETE_OPERATIONS,
            all_draws: MAX_COMPLETE_OPERATIONS,
            samples: MAX_SAMPLED_OPERATIONS,
            one_draw: MAX_SAMPLED_OPERATIONS,
            samples_in_one_draw: MAX_SAMPLED_OPERATIONS,
        };
        let is_run = counts.execution.element_operations <= MAX_SOURCE_OPERATIONS
            && counts.execution.argument_elements <= MAX_ARGUMENT_ELEMENTS;
        ValidationBudget { field: self.validation.limits, original: is_run.then_some(limits) }
    }

    /// Compiles and validates a program in pieces if it is too large for samples and validation was requested.
    fn validate_in_pieces(&self, too_large: String) -> Result<Verdict, ValidationFailure> {
        if self.validation.mode == ValidationMode::Auto || self.is_resumed {
            return Err(ValidationFailure::TooLarge(too_large));
        }
        let verdict = validate_pieces(self.original, self.options, &self.validation.limits, &too_large)?;
        Ok(Verdict { as_written: Some(OriginalVerdict::NotCompared("it is too large".to_owned())), ..verdict })
    }

    /// Returns the files to compare with the program as written, or the reason why nothing is compared.
    fn select_files(
        &self,
        counts: &ValidationCounts,
        budget: &ValidationBudget,
        sizes: &[BTreeMap<String, i64>],
    ) -> Result<ReferenceFiles, String> {
        self.validation.original.map_err(ToOwned::to_owned)?;
        if self.is_resumed {
            return Err("the input has already been compiled to a later phase".to_owned());
        }
        let Ok([function]) = self.phases.imported_functions() else {
            return Err("the module has several functions".to_owned());
        };
        let ExecutionCost { element_operations: operations, argument_elements: elements, .. } = counts.execution;
        let too_many = || match self.validation.mode {
            ValidationMode::Auto => format!(
                "{operations} operations on arguments of {elements} elements exceed the default limit; '--validate' has a higher limit"
            ),
            _ => format!("{operations} operations on arguments of {elements} elements exceed the limit"),
        };
        let limits = budget.original.ok_or_else(too_many)?;
        let extent = ValidationExtent::choose(std::slice::from_ref(function), &limits).map_err(|_| too_many())?;
        let end = |end: f64| Some(end).filter(|end| end.is_finite());
        let domains =
            compute_domains(function).into_iter().map(|domain| domain.map_or([None; 2], |domain| domain.map(end)));
        let effort = match self.validation.mode {
            ValidationMode::Auto => {
                ReferenceLimits { max_bytes: 1 << 31, max_steps: 1 << 34, ..ReferenceLimits::default() }
            }
            _ => ReferenceLimits::default(),
        };
        Ok(ReferenceFiles {
            directory: self.directory.to_owned(),
            target: self.phases.target(),
            sizes: [BTreeMap::new()].into_iter().chain(sizes.iter().cloned()).collect(),
            domains: domains.collect(),
            samples: extent.sample_positions(function),
            effort,
            max_steps: RunOptions::default().max_steps,
        })
    }

    /// Returns sizes below the maximum at which files are compared as well, for sizes that are known at launch only.
    fn choose_smaller_sizes(&self, counts: &ValidationCounts, budget: &ValidationBudget) -> Vec<BTreeMap<String, i64>> {
        // A program written with symbolic sizes cannot be imported at another size.
        let has_smaller = self.options.dim_sizes.iter().any(DimSize::is_symbolic);
        let smaller = if has_smaller { generate_smaller_sizes(self.phases.sizes()) } else { Vec::new() };
        let all = counts.execution.element_operations.saturating_mul(1 + smaller.len() as u64);
        if self.validation.mode == ValidationMode::Auto && all > budget.field.whole { Vec::new() } else { smaller }
    }

    /// Compares the files with the program at other sizes, for which the program is imported again.
    fn validate_at_sizes(&self, sizes: &[BTreeMap<String, i64>]) -> Result<(), ValidationFailure> {
        let Self { phases, original, options, .. } = self;
        for sizes in sizes {
            let fixed = |request: &DimSize| match phases.sizes().iter().find(|known| known.size.name == request.name())
            {
                Some(known) if request.is_symbolic() => request.with_fixed_size(sizes[&known.name]),
                _ => request.clone(),
            };
            let dim_sizes = options.dim_sizes.iter().map(fixed).collect();
            let options = CompileOptions { dim_sizes, compile_to: Phase::Import, ..(*options).clone() };
            let mut imported = PhaseRecords::new(*phases.limits());
            let mut module = original.duplicate();
            // Diagnostics of the import were reported earlier.
            let is_imported = suppress_diagnostics(original.op(), || {
                compile_watched(&mut module, &options, "", &mut |phase, module: &Module<'_>| {
                    imported.record(phase, module)
                })
                .is_some()
            });
            let at = format_sizes(sizes);
            if !is_imported {
                return Err(ValidationFailure::UserError(format!(
                    "cannot be compiled at {at}, which its symbolic sizes allow; compile with '--dim-size' of these sizes to see the reason"
                )));
            }
            imported.validate_at_sizes(self.directory, sizes).map_err(|failure| match failure {
                ValidationFailure::TooLarge(message) | ValidationFailure::Limit(message) => {
                    ValidationFailure::Limit(format!("at {at}: {message}"))
                }
                other => ValidationFailure::UserError(format!(
                    "gives wrong results at {at}, but correct ones at the largest sizes; a program that computes with a symbolic size \
                     needs one size, '--dim-size NAME=SIZE': {}",
                    other.message()
                )),
            })?;
        }
        Ok(())
    }
}

/// Compares files with the program as written.
fn compare_with_source(
    files: Result<ReferenceFiles, String>,
    validation: &ValidationSettings<'_>,
) -> Result<OriginalVerdict, ValidationFailure> {
    let (files, original) = match (files, validation.original) {
        (Ok(files), Ok(original)) => (files, original),
        (Err(reason), _) => return Ok(OriginalVerdict::NotCompared(reason)),
        (_, Err(reason)) => return Ok(OriginalVerdict::NotCompared(reason.to_owned())),
    };
    let memory = if validation.mode == ValidationMode::Auto { DEFAULT_MEMORY_BYTES } else { REQUESTED_MEMORY_BYTES };
    match original.compare(files, memory) {
        ReferenceOutcome::Agrees(agreement) => Ok(OriginalVerdict::Agrees(agreement)),
        ReferenceOutcome::Explained(why) => Ok(OriginalVerdict::Explained(why)),
        ReferenceOutcome::NotRun(reason) => Ok(OriginalVerdict::NotCompared(reason)),
        ReferenceOutcome::Differs(message) => Err(ValidationFailure::Import(format!(
            "gives files that compute something else than the program as written, which is a compiler bug: {message}"
        ))),
    }
}

/// Returns the sizes to try: all at their minimum, all at the second largest value, and each at its minimum with the
/// others at their maximum.
fn generate_smaller_sizes(named: &[NamedSize]) -> Vec<BTreeMap<String, i64>> {
    let sizes: BTreeMap<&str, &SymbolicSize> = named
        .iter()
        .filter(|named| named.size.name == named.name)
        .map(|named| (named.name.as_str(), &named.size))
        .collect();
    let all = |size: &dyn Fn(&str, &SymbolicSize) -> i64| {
        sizes.iter().map(|(name, known)| ((*name).to_owned(), size(name, known))).collect()
    };
    let mut found: Vec<BTreeMap<String, i64>> =
        vec![all(&|_, size| size.granularity), all(&|_, size| (size.maximum - size.granularity).max(size.granularity))];
    for alone in sizes.keys().filter(|_| sizes.len() > 1) {
        found.push(all(&|name, size| if name == *alone { size.granularity } else { size.maximum }));
    }
    let largest: BTreeMap<String, i64> = all(&|_, size| size.maximum);
    found.retain(|sizes| *sizes != largest);
    found.dedup();
    found
}
