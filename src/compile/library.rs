//! Compilation for library callers: diagnostics and IR are returned as values.

use super::{ValidationSettings, compile_with_validation, parse_in_user_terms, run_in_user_terms};
use crate::{
    mlir::{CollectedDiagnostic, SourceFile, collect_diagnostics, num_bugs, parse_enum},
    pipeline::{CompileOptions, Phase},
    report::Report,
    validate::ValidationMode,
};

/// Outcome of a compilation.
pub struct CompileOutcome {
    /// Report; `None` if compilation failed.
    pub report: Option<Report>,
    /// IR; `None` if compilation failed, or if the last phase is the one that writes files.
    pub ir: Option<String>,
    /// Diagnostics of the compilation.
    pub diagnostics: Vec<CollectedDiagnostic>,
    /// Whether a compiler bug stopped the compilation.
    pub found_bug: bool,
}

/// Parses the options of a library caller: those of `spyre-compile`, without dashes. `validate` is `auto`, `on` or `off`.
/// The last phase is `compile_to`, unless an option chooses another one.
///
/// # Errors
/// The option, the value found and the legal values.
pub fn parse_options(
    options: &[(String, String)],
    compile_to: Phase,
) -> Result<(CompileOptions, ValidationMode), String> {
    let mut parsed = CompileOptions { compile_to, ..CompileOptions::default() };
    let mut validation = ValidationMode::default();
    for (name, value) in options {
        match name.as_str() {
            "validate" => validation = parse_enum(value).map_err(|message| format!("option 'validate': {message}"))?,
            _ => parsed.set(name, value)?,
        }
    }
    parsed.check()?;
    Ok((parsed, validation))
}

/// Compiles a source file, validates the files over the finite field if requested, and prints nothing.
#[must_use]
pub fn compile_source(
    source: &SourceFile<'_>,
    options: &CompileOptions,
    output: &str,
    validation: ValidationMode,
) -> CompileOutcome {
    let ((report, ir, found_bug), said) = collect_diagnostics(source.session().context(), || {
        let Some(mut module) = parse_in_user_terms(source) else { return (None, None, false) };
        let found_before = num_bugs(module.op());
        let validation = ValidationSettings::new_field_only(validation);
        let report = run_in_user_terms(&mut module, false, |module| {
            compile_with_validation(module, options, output, &validation, &mut |_, _| {})
        });
        let ir = (report.is_some() && options.compile_to != Phase::Emit).then(|| module.op().to_string());
        (report, ir, num_bugs(module.op()) > found_before)
    });
    CompileOutcome { report, ir, diagnostics: said, found_bug }
}
