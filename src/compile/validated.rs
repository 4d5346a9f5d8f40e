//! One compilation, validated before anything is written.

use super::{
    blame::{blame, note},
    compile_watched,
    pieces::judge_pieces,
};
use crate::{
    codes::{self, Code},
    dialect::{NamedSize, SymbolicSize, phase_of},
    import::DimSize,
    mlir::{Module, error_at, note_bug, quietly, warning_at},
    pipeline::{Options, Phase},
    reference::{Answer, Effort, Files},
    report::Report,
    validate::{
        Budget, Counts, ExecutionCost, Extent, Failure, Limits, Mode, NotValidated, Original, OriginalVerdict, Phases, Verdict, domains,
        on_own_threads, said,
    },
};
use referee::RunOptions;
use sdsc_format::Fresh;
use std::{collections::BTreeMap, fmt, path::Path};

/// URL for reports of compiler bugs.
const ISSUES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

/// Maximum number of element operations of a program that is executed completely against the program as written, for requested
/// validation.
const MAX_WHOLE: u64 = 1 << 32;

/// Maximum number of element operations of the program as written, and of samples of its files.
const MAX_ORIGINAL: u64 = 1 << 36;
const MAX_SAMPLES: u64 = 1 << 30;

/// Maximum number of elements of the arguments that are drawn for the program as written, 8 bytes each in both programs.
const MAX_ARGUMENT_ELEMENTS: u64 = 1 << 30;

/// Maximum number of result elements of ops in a program that default validation samples: computing the dependences of samples takes time
/// as well.
const MAX_LOOKED_THROUGH: u64 = 1 << 26;

/// Memory limit, in bytes, of the process that runs the program as written.
const MEMORY_BY_DEFAULT: u64 = 6 << 30;
const MEMORY_ASKED_FOR: u64 = 24 << 30;

/// Settings of the validation of a compilation.
#[derive(Clone, Copy)]
pub struct Validation<'a> {
    /// Whether the compilation is validated.
    pub mode: Mode,
    /// Limits on the executed work, for explicitly requested validation.
    pub limits: Limits,
    /// The program as written, or the reason why it cannot be run.
    pub original: Result<&'a dyn Original, &'a str>,
}

impl Validation<'_> {
    /// Returns a validation over the finite field only: a library starts no process.
    #[must_use]
    pub fn of_library(mode: Mode) -> Self {
        let why = "MLIR's JIT runs it in a separate process, which a library does not start; use 'spyre-compile'";
        Self { mode, limits: Limits::default(), original: Err(why) }
    }
}

/// Compiles like [`super::compile`] and validates over the finite field: files are written only if they compute the same results as the
/// imported program. A mismatch is reported with the phase that caused it.
#[must_use]
pub fn compile_validated(module: &mut Module<'_>, options: &Options, output: &str) -> Option<Report> {
    compile_as_validated(module, options, output, &Validation::of_library(Mode::On), &mut |_, _| {})
}

/// Compiles and validates like [`compile_validated`], with other limits on the executed work.
#[must_use]
pub fn compile_validated_within(module: &mut Module<'_>, options: &Options, output: &str, limits: &Limits) -> Option<Report> {
    let validation = Validation { limits: *limits, ..Validation::of_library(Mode::On) };
    compile_as_validated(module, options, output, &validation, &mut |_, _| {})
}

/// Compiles and validates as requested; `watch` is called as in [`compile_watched`].
#[must_use]
pub fn compile_as_validated<'c>(
    module: &mut Module<'c>,
    options: &Options,
    output: &str,
    validation: &Validation<'_>,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    match (validation.mode, options.compile_to) {
        (Mode::Off, _) => compile_watched(module, options, output, watch),
        // Only files are guaranteed.
        (Mode::Auto, phase) if phase != Phase::Emit => compile_watched(module, options, output, watch),
        (_, Phase::Emit) => compile_files(module, options, output, validation, watch),
        _ => compile_ir(module, options, output, &validation.limits, watch),
    }
}

fn refuse(code: Code, module: &Module<'_>, reason: &dyn fmt::Display) {
    let _ = error_at(code, module.op(), reason).report();
}

/// Compares the IR after the last phase with the imported program.
fn compile_ir<'c>(
    module: &mut Module<'c>,
    options: &Options,
    output: &str,
    limits: &Limits,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let is_resumed = phase_of(module.op()).is_some();
    let mut phases = Phases::new(*limits);
    let mut report = compile_watched(module, options, output, &mut |phase, module: &Module<'c>| {
        note(&mut phases, phase, module);
        watch(phase, module);
    })?;
    let verdict = phases.judge(None).map_err(|failure| tell(module, &failure, None, is_resumed)).ok()?;
    report.validation = Some(verdict);
    Some(report)
}

/// Compares the files with the imported program and with the program as written, before they are moved into place.
fn compile_files<'c>(
    module: &mut Module<'c>,
    options: &Options,
    output: &str,
    validation: &Validation<'_>,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let fresh = Fresh::beside(Path::new(output)).map_err(|error| refuse(codes::OUTPUT_WRITE, module, &error)).ok()?;
    let Some(directory) = fresh.bundle().to_str().map(ToOwned::to_owned) else {
        refuse(
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
    let mut phases = Phases::new(validation.limits);
    let mut report = compile_watched(module, options, &directory, &mut |phase, module: &Module<'c>| {
        note(&mut phases, phase, module);
        watch(phase, module);
    })?;
    let mut halves = Halves { validation, phases, original: &original, options, directory: Path::new(&directory), is_resumed };
    match halves.judge(&report) {
        Ok(verdict) => {
            if let Some(OriginalVerdict::Explained(why)) = &verdict.as_written {
                warning_at(codes::VALIDATION_SKIPPED, module.op(), format_args!("not compared with the source program: {why}")).emit();
            }
            report.validation = Some(verdict);
        }
        Err(failure @ (Failure::Size(_) | Failure::Limit(_))) if validation.mode == Mode::Auto => {
            let element_operations = halves.phases.element_operations();
            let is_too_large = matches!(failure, Failure::Size(_));
            report.not_validated = Some(NotValidated { element_operations, is_too_large, reason: failure.message().to_owned() });
        }
        Err(failure) => {
            tell(module, &failure, Some(&halves), is_resumed);
            return None;
        }
    }
    fresh.put_in_place().map_err(|error| refuse(codes::OUTPUT_WRITE, module, &error)).ok()?;
    Some(report)
}

/// Reports why a compilation is not validated.
fn tell(module: &Module<'_>, failure: &Failure, halves: Option<&Halves<'_, '_>>, is_resumed: bool) {
    // Edited IR of a later phase is the user's responsibility.
    let is_bug = !is_resumed && failure.is_bug();
    let message = match (failure, halves) {
        (Failure::Files(message), Some(halves)) => {
            format!("{message}: {}", blame(halves.original, halves.options, halves.phases.limits()))
        }
        _ => failure.message().to_owned(),
    };
    if is_bug {
        refuse(codes::MISCOMPILED, module, &format_args!("{message}; please report it with the program, at {ISSUES}"));
        note_bug(module.op());
    } else {
        refuse(codes::VALIDATION_IMPOSSIBLE, module, &message);
    }
}

/// Both halves of the validation of a compilation.
struct Halves<'h, 'c> {
    validation: &'h Validation<'h>,
    phases: Phases<'c>,
    original: &'h Module<'c>,
    options: &'h Options,
    directory: &'h Path,
    is_resumed: bool,
}

impl Halves<'_, '_> {
    fn judge(&mut self, report: &Report) -> Result<Verdict, Failure> {
        let counts = self.counts(report);
        let budget = match self.validation.mode {
            Mode::Auto => Budget::of_compilation(&counts),
            _ => self.asked_for(&counts),
        };
        self.phases.limit(budget.field);
        let extent = match self.extent(&counts) {
            Err(Failure::Size(message)) => return self.judge_pieces(message),
            extent => extent?,
        };
        let sizes = self.smaller_sizes(&counts, &budget);
        let files = self.files(&counts, &budget, &sizes);
        let (phases, directory, validation) = (&self.phases, self.directory, self.validation);
        let in_field = || phases.judge_as_far(Some(directory), extent);
        let (judged, as_written) = on_own_threads(|| rayon::join(in_field, || compare(files, validation))).map_err(Failure::Limit)?;
        let verdict = match judged {
            Err(Failure::Size(message)) => self.judge_pieces(message),
            judged => judged,
        };
        let (verdict, as_written) = match (verdict, as_written) {
            // A mismatch with the program as written counts even if validation over the field was not possible.
            (Err(Failure::Size(_) | Failure::Limit(_)), Err(wrong)) => return Err(wrong),
            (verdict, as_written) => (verdict?, as_written?),
        };
        self.judge_at(&sizes)?;
        Ok(Verdict { at_sizes: sizes, as_written: Some(as_written), ..verdict })
    }

    /// Returns counts that are machine-independent.
    fn counts(&self, report: &Report) -> Counts {
        let executions: i64 = report.launches.iter().map(|launch| launch.n_executions).sum();
        Counts {
            compiled_ops: report.ops.len() as u64,
            source_ops: self.validation.original.ok().map(Original::n_ops),
            executions: executions.unsigned_abs(),
            execution: self.phases.execution_cost(),
        }
    }

    /// Returns the part of the program that is executed over the finite field.
    fn extent(&self, counts: &Counts) -> Result<Extent, Failure> {
        let (operations, elements) = (counts.execution.element_operations, self.phases.computed_elements());
        if self.validation.mode == Mode::Auto && operations > self.phases.limits().whole && elements > MAX_LOOKED_THROUGH {
            let too_large = format!(
                "cannot be validated: it takes {operations} element operations, more than {}, and its ops compute {elements} elements, \
                 more than {MAX_LOOKED_THROUGH}",
                self.phases.limits().whole
            );
            return Err(Failure::Size(too_large));
        }
        self.phases.extent()
    }

    /// Returns the work budget of explicitly requested validation.
    fn asked_for(&self, counts: &Counts) -> Budget {
        let limits = Limits {
            whole: MAX_WHOLE,
            all_draws: MAX_WHOLE,
            samples: MAX_SAMPLES,
            one_draw: MAX_SAMPLES,
            samples_in_one_draw: MAX_SAMPLES,
        };
        let is_run = counts.execution.element_operations <= MAX_ORIGINAL && counts.execution.argument_elements <= MAX_ARGUMENT_ELEMENTS;
        Budget { field: self.validation.limits, original: is_run.then_some(limits) }
    }

    /// Compiles and validates a program in pieces if it is too large for samples and validation was requested.
    fn judge_pieces(&self, too_large: String) -> Result<Verdict, Failure> {
        if self.validation.mode == Mode::Auto || self.is_resumed {
            return Err(Failure::Size(too_large));
        }
        let verdict = judge_pieces(self.original, self.options, &self.validation.limits, &too_large)?;
        Ok(Verdict { as_written: Some(OriginalVerdict::NotCompared("it is too large".to_owned())), ..verdict })
    }

    /// Returns the files to compare with the program as written, or the reason why nothing is compared.
    fn files(&self, counts: &Counts, budget: &Budget, sizes: &[BTreeMap<String, i64>]) -> Result<Files, String> {
        self.validation.original.map_err(ToOwned::to_owned)?;
        if self.is_resumed {
            return Err("the input has already been compiled to a later phase".to_owned());
        }
        let Ok([function]) = self.phases.imported() else { return Err("the module has several functions".to_owned()) };
        let ExecutionCost { element_operations: operations, argument_elements: elements, .. } = counts.execution;
        let too_many = || match self.validation.mode {
            Mode::Auto => format!(
                "{operations} operations on arguments of {elements} elements exceed the default limit; '--validate' has a higher limit"
            ),
            _ => format!("{operations} operations on arguments of {elements} elements exceed the limit"),
        };
        let limits = budget.original.ok_or_else(too_many)?;
        let extent = Extent::of(std::slice::from_ref(function), &limits).map_err(|_| too_many())?;
        let end = |end: f64| Some(end).filter(|end| end.is_finite());
        let domains = domains(function).into_iter().map(|domain| domain.map_or([None; 2], |domain| domain.map(end)));
        let effort = match self.validation.mode {
            Mode::Auto => Effort { max_bytes: 1 << 31, max_steps: 1 << 34, ..Effort::default() },
            _ => Effort::default(),
        };
        Ok(Files {
            directory: self.directory.to_owned(),
            target: self.phases.target(),
            sizes: [BTreeMap::new()].into_iter().chain(sizes.iter().cloned()).collect(),
            domains: domains.collect(),
            samples: extent.places(function),
            effort,
            max_steps: RunOptions::default().max_steps,
        })
    }

    /// Returns sizes below the maximum at which files are compared as well, for sizes that are known at launch only.
    fn smaller_sizes(&self, counts: &Counts, budget: &Budget) -> Vec<BTreeMap<String, i64>> {
        // A program written with symbolic sizes cannot be imported at another size.
        let has_smaller = self.options.dim_sizes.iter().any(DimSize::is_symbolic);
        let smaller = if has_smaller { smaller_sizes(self.phases.sizes()) } else { Vec::new() };
        let all = counts.execution.element_operations.saturating_mul(1 + smaller.len() as u64);
        if self.validation.mode == Mode::Auto && all > budget.field.whole { Vec::new() } else { smaller }
    }

    /// Compares the files with the program at other sizes, for which the program is imported again.
    fn judge_at(&self, sizes: &[BTreeMap<String, i64>]) -> Result<(), Failure> {
        let Self { phases, original, options, .. } = self;
        for sizes in sizes {
            let fixed = |wish: &DimSize| match phases.sizes().iter().find(|known| known.size.name == wish.name()) {
                Some(known) if wish.is_symbolic() => wish.fixed(sizes[&known.name]),
                _ => wish.clone(),
            };
            let dim_sizes = options.dim_sizes.iter().map(fixed).collect();
            let options = Options { dim_sizes, compile_to: Phase::Import, ..(*options).clone() };
            let mut imported = Phases::new(*phases.limits());
            let mut module = original.duplicate();
            // Diagnostics of the import were reported earlier.
            let is_imported = quietly(original.op(), || {
                compile_watched(&mut module, &options, "", &mut |phase, module: &Module<'_>| imported.note(phase, module)).is_some()
            });
            let at = said(sizes);
            if !is_imported {
                return Err(Failure::Mistake(format!(
                    "cannot be compiled at {at}, which its symbolic sizes allow; compile with '--dim-size' of these sizes to see the reason"
                )));
            }
            imported.judge_at(self.directory, sizes).map_err(|failure| match failure {
                Failure::Size(message) | Failure::Limit(message) => Failure::Limit(format!("at {at}: {message}")),
                other => Failure::Mistake(format!(
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
fn compare(files: Result<Files, String>, validation: &Validation<'_>) -> Result<OriginalVerdict, Failure> {
    let (files, original) = match (files, validation.original) {
        (Ok(files), Ok(original)) => (files, original),
        (Err(reason), _) => return Ok(OriginalVerdict::NotCompared(reason)),
        (_, Err(reason)) => return Ok(OriginalVerdict::NotCompared(reason.to_owned())),
    };
    let memory = if validation.mode == Mode::Auto { MEMORY_BY_DEFAULT } else { MEMORY_ASKED_FOR };
    match original.compare(files, memory) {
        Answer::Agrees(agreement) => Ok(OriginalVerdict::Agrees(agreement)),
        Answer::Explained(why) => Ok(OriginalVerdict::Explained(why)),
        Answer::NotRun(reason) => Ok(OriginalVerdict::NotCompared(reason)),
        Answer::Differs(message) => Err(Failure::Import(format!(
            "gives files that compute something else than the program as written, which is a compiler bug: {message}"
        ))),
    }
}

/// Returns the sizes to try: all at their minimum, all at the second largest value, and each at its minimum with the others at their
/// maximum.
fn smaller_sizes(named: &[NamedSize]) -> Vec<BTreeMap<String, i64>> {
    let sizes: BTreeMap<&str, &SymbolicSize> =
        named.iter().filter(|named| named.size.name == named.name).map(|named| (named.name.as_str(), &named.size)).collect();
    let all =
        |size: &dyn Fn(&str, &SymbolicSize) -> i64| sizes.iter().map(|(name, known)| ((*name).to_owned(), size(name, known))).collect();
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
