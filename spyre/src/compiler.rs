//! Compilations: options, sources and what becomes of them.

use crate::{Compiled, CompiledFile, Diagnostic, Diagnostics, Source, Target, source::SourceContent};
pub use spyre_compiler::phase::Phase;
use spyre_compiler::{
    compile::{CompileOutcome, compile_source, parse_options},
    mlir::{Session, SourceFile},
    pipeline::create_session,
    report::Report,
    tool::{list_files, run_on_large_stack},
};
use std::{fs, io, path::Path};

/// Compiler for one machine, with its options. It has no state: each compilation is independent of earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    options: Vec<(String, String)>,
}

impl Compiler {
    /// Returns a compiler with default options.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self { options: target.options() }
    }

    /// Sets an option of `spyre-compile` by its name without dashes, such as `lx-planner`. The elements of a list
    /// option (`tiles`, `dims`) accumulate, and for other options the last value counts.
    ///
    /// A compilation reports an unknown name or an illegal value as an error.
    #[must_use]
    pub fn option(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.options.push((name.into(), value.to_string()));
        self
    }

    /// Compiles a program to files. Writes nothing but a temporary directory, which is removed.
    ///
    /// # Errors
    /// The diagnostics of the compiler, if the program or an option is invalid, and if the validation fails.
    pub fn compile(&self, source: impl Into<Source>) -> Result<Compiled, Diagnostics> {
        let folder = tempfile::tempdir().map_err(error_in_temporary_directory)?;
        let directory = folder.path().join("program");
        let (mut report, _, diagnostics) = self.run(&source.into(), Phase::Emit, &directory.to_string_lossy())?;
        report.files = list_files(&directory).map_err(error_in_temporary_directory)?;
        let read = |path: &String| Ok(CompiledFile { path: path.clone(), content: fs::read(directory.join(path))? });
        let files: io::Result<Vec<CompiledFile>> = report.files.iter().map(read).collect();
        Ok(Compiled::new(files.map_err(error_in_temporary_directory)?, report, diagnostics))
    }

    /// Compiles a program up to a phase and returns the IR after it, as MLIR text. The text can be the source of
    /// another compilation, which continues with the next phase.
    ///
    /// # Errors
    /// Those of [`Self::compile`]. [`Phase::Emit`] writes files instead of IR and is an error.
    pub fn compile_to_ir(&self, source: impl Into<Source>, phase: Phase) -> Result<String, Diagnostics> {
        let without_ir = || Diagnostic::error(format!("phase '{phase}' has no IR; use Compiler::compile"));
        if phase == Phase::Emit {
            return Err(without_ir().into());
        }
        let (_, ir, _) = self.run(&source.into(), phase, "")?;
        ir.ok_or_else(|| without_ir().into())
    }

    /// Returns the report, the IR unless files were written, and the diagnostics of a compilation up to `phase`.
    fn run(&self, source: &Source, phase: Phase, output: &str) -> Result<Outcome, Diagnostics> {
        if self.options.iter().any(|(name, _)| name == "compile-to") {
            return Err(Diagnostic::error("option 'compile-to' is not available; use Compiler::compile_to_ir").into());
        }
        let (options, validation) = parse_options(&self.options, phase).map_err(Diagnostic::error)?;
        run_on_large_stack(|| {
            let session = create_session();
            let source = open(&session, source)?;
            let CompileOutcome { report, ir, diagnostics, found_bug } =
                compile_source(&source, &options, output, validation);
            let diagnostics: Vec<Diagnostic> = diagnostics.into_iter().map(Diagnostic::from).collect();
            match report {
                Some(report) => Ok((report, ir, diagnostics)),
                None => Err(Diagnostics::new(diagnostics, found_bug)),
            }
        })
    }
}

/// Report, IR and diagnostics of a successful compilation.
type Outcome = (Report, Option<String>, Vec<Diagnostic>);

fn error_in_temporary_directory(error: io::Error) -> Diagnostic {
    Diagnostic::error(format!("temporary directory: {error}"))
}

fn open<'s>(session: &'s Session, source: &Source) -> Result<SourceFile<'s>, Diagnostics> {
    match &source.content {
        SourceContent::Text { name, text } => Ok(session.source_from_text(name, text)),
        SourceContent::File(path) => open_file(session, path),
    }
}

fn open_file<'s>(session: &'s Session, path: &Path) -> Result<SourceFile<'s>, Diagnostics> {
    let reject = |reason: String| Diagnostic::error(format!("cannot read '{}': {reason}", path.display()));
    let name = path.to_str().ok_or_else(|| reject("its name is not UTF-8; rename the file".to_owned()))?;
    session.open_source(name).map_err(|reason| reject(reason).into())
}
