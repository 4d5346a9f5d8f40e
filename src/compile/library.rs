//! Compilation for library callers: diagnostics and IR are returned as values.

use super::{Validation, compile_as_validated, in_user_terms, parse_in_user_terms};
use crate::{
    mlir::{Collected, Source, bugs_of, collect},
    pipeline::{Options, Phase},
    report::Report,
    validate::Mode,
};

/// Outcome of a compilation.
pub struct Compiled {
    /// Report; `None` if compilation failed.
    pub report: Option<Report>,
    /// IR; `None` if compilation failed, or if the last phase is the one that writes files.
    pub ir: Option<String>,
    /// Diagnostics of the compilation.
    pub said: Vec<Collected>,
    /// Whether a compiler bug stopped the compilation.
    pub found_bug: bool,
}

/// Compiles a source file, validates the files over the finite field if requested, and prints nothing.
#[must_use]
pub fn compile_source(source: &Source<'_>, options: &Options, output: &str, validation: Mode) -> Compiled {
    let ((report, ir, found_bug), said) = collect(source.session().context(), || {
        let Some(mut module) = parse_in_user_terms(source) else { return (None, None, false) };
        let found_before = bugs_of(module.op());
        let validation = Validation::of_library(validation);
        let report = in_user_terms(&mut module, false, |module| compile_as_validated(module, options, output, &validation, &mut |_, _| {}));
        let ir = (report.is_some() && options.compile_to != Phase::Emit).then(|| module.op().to_string());
        (report, ir, bugs_of(module.op()) > found_before)
    });
    Compiled { report, ir, said, found_bug }
}
