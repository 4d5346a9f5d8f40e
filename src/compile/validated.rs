//! One compilation, validated before anything is written.

use super::compile_watched;
use crate::{
    dialect::phase_of,
    mlir::{Module, error_at, note_bug, quietly},
    pipeline::{Options, Phase, PlannerName},
    report::Report,
    validate::{Failure, Limits, Phases},
};
use sdsc_format::{File, Fresh};
use std::{fmt, fs, io, path::Path};

/// Compiles as [`super::compile`] does, and validates: nothing is written unless the files compute what the imported program says. On
/// a difference the phase that made it is reported.
#[must_use]
pub fn compile_validated(module: &mut Module<'_>, options: &Options, output: &str) -> Option<Report> {
    compile_validated_within(module, options, output, &Limits::default())
}

/// The same, where `watch` is told of phases as by [`compile_watched`].
#[must_use]
pub fn compile_validated_watched<'c>(
    module: &mut Module<'c>,
    options: &Options,
    output: &str,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    validated(module, options, output, &Limits::default(), watch)
}

/// The same with other limits of what is executed.
#[must_use]
pub fn compile_validated_within(module: &mut Module<'_>, options: &Options, output: &str, limits: &Limits) -> Option<Report> {
    validated(module, options, output, limits, &mut |_, _| {})
}

fn validated<'c>(
    module: &mut Module<'c>,
    options: &Options,
    output: &str,
    limits: &Limits,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let refuse = |module: &Module<'_>, reason: &dyn fmt::Display| {
        let _ = error_at(module.op(), reason).report();
    };
    let place =
        tempfile::tempdir().map_err(|error| refuse(module, &format_args!("cannot be validated: no temporary folder: {error}"))).ok()?;
    let directory = place.path().join("bundle");
    let emits = options.compile_to == Phase::Emit;
    let original = emits.then(|| module.duplicate());
    let destination = if emits { directory.to_str()? } else { output };
    let is_resumed = phase_of(module.op()).is_some();
    let mut phases = Phases::new(*limits);
    let mut report = compile_watched(module, options, destination, &mut |phase, module: &Module<'c>| {
        note(&mut phases, phase, module);
        watch(phase, module);
    })?;
    let verdict = match phases.judge(emits.then_some(directory.as_path())) {
        Ok(verdict) => verdict,
        Err(failure) => {
            let message = match (&failure, &original) {
                (Failure::Limit(message) | Failure::Phase(message), _) => message.clone(),
                (Failure::Files(message), Some(original)) => format!("{message}: {}", blame(original, options, limits)),
                (Failure::Files(message), None) => message.clone(),
            };
            refuse(module, &message);
            // Whoever edits IR that was printed behind a phase answers for it.
            if !is_resumed && !matches!(failure, Failure::Limit(_)) {
                note_bug(module.op());
            }
            return None;
        }
    };
    if emits {
        let files =
            files_below(&directory, "").map_err(|error| refuse(module, &format_args!("cannot read its files again: {error}"))).ok()?;
        Fresh::write(Path::new(output), &files).and_then(Fresh::put_in_place).map_err(|error| refuse(module, &error)).ok()?;
    }
    report.validation = Some(verdict);
    Some(report)
}

/// Which phase makes wrong files of IR that is right after every phase: the one without whose decisions they are right.
fn blame(original: &Module<'_>, options: &Options, limits: &Limits) -> String {
    let in_hbm = Options { lx_planner: Some(PlannerName::none()), joint: None, ..options.clone() };
    let undivided = Options { cores: 1, ..in_hbm.clone() };
    for (phase, without, options) in [(Phase::Lx, "a place in LX", in_hbm), (Phase::Work, "a division of work", undivided)] {
        // What these compilations have to say was said before.
        if quietly(original.op(), || is_right(&mut original.duplicate(), &options, limits)) {
            return format!("phase '{phase}' is at fault, or what becomes of it: without {without} they are right");
        }
    }
    format!("phase '{}' is at fault, or the layouts: without a place in LX and a division of work they are wrong, too", Phase::Bundle)
}

/// Whether the files that a compilation writes agree with what it has imported.
fn is_right<'c>(module: &mut Module<'c>, options: &Options, limits: &Limits) -> bool {
    let Ok(place) = tempfile::tempdir() else { return false };
    let (directory, mut phases) = (place.path().join("bundle"), Phases::new(*limits));
    let Some(output) = directory.to_str() else { return false };
    compile_watched(module, options, output, &mut |phase, module: &Module<'c>| note(&mut phases, phase, module)).is_some()
        && phases.judge(Some(&directory)).is_ok()
}

/// The files below a folder, in order.
fn files_below(folder: &Path, prefix: &str) -> io::Result<Vec<File>> {
    let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path(), &format!("{path}/"))?);
        } else {
            files.push(File { path, content: fs::read(entry.path())? });
        }
    }
    Ok(files)
}

fn note<'c>(phases: &mut Phases<'c>, phase: Phase, module: &Module<'c>) {
    #[cfg(debug_assertions)]
    fault::make(phase, module.op());
    phases.note(phase, module);
    #[cfg(debug_assertions)]
    if phase == Phase::Lx {
        fault::make(Phase::Bundle, module.op());
    }
}

/// What a phase would do that is wrong, for the test of what is said of it.
#[cfg(debug_assertions)]
mod fault {
    use crate::{
        dialect::ods::{attr, spyre},
        mlir::{Op, OpExt},
        pipeline::Phase,
    };
    use std::env;

    /// Names the phase.
    const BROKEN_PHASE: &str = "SPYRE_BROKEN_PHASE";

    /// Behind the broken phase every subtraction is the other way round.
    pub(super) fn make(phase: Phase, module: Op<'_>) {
        if env::var(BROKEN_PHASE).is_ok_and(|broken| broken == phase.to_string()) {
            for op in module.nested().into_iter().filter(|op| op.is(spyre::POINTWISE) && op.text_attr(attr::FUNCTION) == "sub") {
                let inputs = op.inputs();
                op.set_input(0, inputs[1]);
                op.set_input(1, inputs[0]);
            }
        }
    }
}
