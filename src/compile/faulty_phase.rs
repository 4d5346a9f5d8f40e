//! Records the program after each phase for validation, and finds the phase that causes wrong files.

use super::compile_watched;
use crate::{
    mlir::{Module, collect_diagnostics},
    pipeline::{CompileOptions, Phase, PlannerName},
    validate::{ExecutionLimits, PhaseRecords, ValidationFailure, Verdict},
};

/// Names the phase that makes wrong files of IR that is correct after every phase: the phase without whose decisions
/// the files are correct.
pub(super) fn find_faulty_phase(original: &Module<'_>, options: &CompileOptions, limits: &ExecutionLimits) -> String {
    let in_hbm = CompileOptions { lx_planner: Some(PlannerName::none()), joint: None, ..options.clone() };
    let undivided = CompileOptions { cores: 1, ..in_hbm.clone() };
    for (phase, without, options) in [(Phase::Lx, "values in LX", in_hbm), (Phase::Work, "core splits", undivided)] {
        let (evaluated, said) = collect_diagnostics(original.session().context(), || {
            validate_files(&mut original.duplicate(), &options, limits)
        });
        match evaluated {
            Some(Ok(_)) => {
                return format!(
                    "phase '{phase}', or a later phase that uses its result, is at fault: the files are correct without {without}"
                );
            }
            Some(Err(_)) => {}
            None => {
                let error =
                    said.into_iter().find(|said| said.severity == "error").map(|said| said.message).unwrap_or_default();
                return format!(
                    "the phase at fault is unknown: without {without}, the program cannot be compiled: {error}"
                );
            }
        }
    }
    format!(
        "phase '{}' is at fault, or the layouts: the files are wrong even without values in LX and without core splits",
        Phase::Bundle
    )
}

/// Compares the files of a compilation, written to a temporary folder, with its imported program. Returns `None` if it
/// fails, which has been reported.
pub(super) fn validate_files<'c>(
    module: &mut Module<'c>,
    options: &CompileOptions,
    limits: &ExecutionLimits,
) -> Option<Result<Verdict, ValidationFailure>> {
    let reject = |why: &str| Some(Err(ValidationFailure::Limit(format!("cannot be validated: {why}"))));
    let Ok(place) = tempfile::tempdir() else { return reject("no temporary directory can be created") };
    let (directory, mut phases) = (place.path().join("bundle"), PhaseRecords::new(*limits));
    let Some(output) = directory.to_str() else { return reject("the name of the temporary directory is not UTF-8") };
    compile_watched(module, options, output, &mut |phase, module: &Module<'c>| {
        record_phase(&mut phases, phase, module)
    })?;
    Some(phases.validate(Some(&directory)))
}

/// Records the program after a phase.
pub(super) fn record_phase<'c>(phases: &mut PhaseRecords<'c>, phase: Phase, module: &Module<'c>) {
    #[cfg(debug_assertions)]
    fault::inject(phase, module.op());
    phases.record(phase, module);
    #[cfg(debug_assertions)]
    if phase == Phase::Lx {
        fault::inject(Phase::Bundle, module.op());
    }
}

/// Fault injection into a phase, for the test of its diagnosis.
#[cfg(debug_assertions)]
mod fault {
    use crate::{
        dialect::ods::{attr, spyre},
        mlir::{Op, OpExt},
        pipeline::Phase,
    };
    use std::env;

    /// Environment variable that names the phase.
    const BROKEN_PHASE: &str = "SPYRE_BROKEN_PHASE";

    /// After the broken phase every subtraction has its operands swapped.
    pub(super) fn inject(phase: Phase, module: Op<'_>) {
        if env::var(BROKEN_PHASE).is_ok_and(|broken| broken == phase.to_string()) {
            for op in module
                .nested()
                .into_iter()
                .filter(|op| op.is(spyre::POINTWISE) && op.text_attr(attr::FUNCTION) == "sub")
            {
                let inputs = op.inputs();
                op.set_input(0, inputs[1]);
                op.set_input(1, inputs[0]);
            }
        }
    }
}
