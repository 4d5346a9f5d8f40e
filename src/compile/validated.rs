//! One compilation, validated before anything is written.

use super::{
    blame::{blame, note},
    compile_watched,
    pieces::judge_pieces,
};
use crate::{
    dialect::{NamedSize, SymbolicSize, phase_of},
    import::DimSize,
    mlir::{Module, error_at, note_bug, quietly},
    pipeline::{Options, Phase},
    report::Report,
    validate::{Failure, Limits, Phases, said},
};
use sdsc_format::{File, Fresh};
use std::{collections::BTreeMap, fmt, fs, io, path::Path};

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
    let judged = match (phases.judge(emits.then_some(directory.as_path())), &original) {
        (Err(Failure::Size(message)), Some(original)) if !is_resumed => judge_pieces(original, options, limits, &message),
        (judged, _) => judged,
    };
    let mut verdict = match judged {
        Ok(verdict) => verdict,
        Err(failure) => {
            let message = match (&failure, &original) {
                (Failure::Size(message) | Failure::Limit(message) | Failure::Phase(message), _) => message.clone(),
                (Failure::Files(message), Some(original)) => format!("{message}: {}", blame(original, options, limits)),
                (Failure::Files(message), None) => message.clone(),
            };
            refuse(module, &message);
            // Whoever edits IR that was printed behind a phase answers for it.
            if !is_resumed && matches!(failure, Failure::Phase(_) | Failure::Files(_)) {
                note_bug(module.op());
            }
            return None;
        }
    };
    // What was written with symbolic sizes has no other size to be imported at.
    let has_smaller = options.dim_sizes.iter().any(DimSize::is_symbolic) && !phases.sizes().is_empty();
    if let (Some(original), true) = (&original, has_smaller) {
        match judge_smaller(original, options, limits, &phases, &directory) {
            Ok(sizes) => verdict.at_sizes = sizes,
            Err(message) => {
                refuse(module, &message);
                return None;
            }
        }
    }
    if emits {
        let files =
            files_below(&directory, "").map_err(|error| refuse(module, &format_args!("cannot read its files again: {error}"))).ok()?;
        Fresh::write(Path::new(output), &files).and_then(Fresh::put_in_place).map_err(|error| refuse(module, &error)).ok()?;
    }
    report.validation = Some(verdict);
    Some(report)
}

/// Compares the files with the program at sizes below the largest, which it is imported at once more; gives these sizes.
fn judge_smaller(
    original: &Module<'_>,
    options: &Options,
    limits: &Limits,
    phases: &Phases<'_>,
    directory: &Path,
) -> Result<Vec<BTreeMap<String, i64>>, String> {
    let smaller = smaller_sizes(phases.sizes());
    for sizes in &smaller {
        let fixed = |wish: &DimSize| match phases.sizes().iter().find(|known| known.size.name == wish.name()) {
            Some(known) if wish.is_symbolic() => wish.fixed(sizes[&known.name]),
            _ => wish.clone(),
        };
        let dim_sizes = options.dim_sizes.iter().map(fixed).collect();
        let options = Options { dim_sizes, compile_to: Phase::Import, ..options.clone() };
        let mut imported = Phases::new(*limits);
        let mut module = original.duplicate();
        // What the import has to say was said before.
        let is_imported = quietly(original.op(), || {
            compile_watched(&mut module, &options, "", &mut |phase, module: &Module<'_>| imported.note(phase, module)).is_some()
        });
        let at = said(sizes);
        if !is_imported {
            return Err(format!("cannot be compiled at {at}, which its symbolic sizes allow: '--dim-size' of these sizes says why"));
        }
        imported.judge_at(directory, sizes).map_err(|failure| match failure {
            Failure::Size(message) | Failure::Limit(message) => format!("at {at}: {message}"),
            Failure::Phase(message) | Failure::Files(message) => format!(
                "is wrong at {at}, and right at the largest sizes; a program that computes with its size has to be given one size: {message}"
            ),
        })?;
    }
    Ok(smaller)
}

/// Sizes to try: all at their smallest, all at the largest but one, and each at its smallest where the others are the largest.
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
