//! Compilations: options, sources and what becomes of them.

use crate::{Compiled, CompiledFile, Diagnostic, Diagnostics, Source, Target, source::SourceContent};
pub use spyre_compiler::phase::Phase;
use spyre_compiler::{
    compile::{CompileOutcome, compile_source},
    mlir::{Session, SourceFile, parse_enum},
    pipeline::{CompileOptions, create_session},
    tool::run_on_large_stack,
    validate::ValidationMode,
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
        let folder = tempfile::tempdir().map_err(|error| Diagnostic::error(format!("temporary directory: {error}")))?;
        let directory = folder.path().join("program");
        let outcome = self.run(&source.into(), Phase::Emit, &directory.to_string_lossy())?;
        let Outcome { mut report, diagnostics, .. } = outcome;
        let mut files = Vec::new();
        read_files(&directory, "", &mut files)
            .map_err(|error| Diagnostic::error(format!("temporary directory: {error}")))?;
        report.files = files.iter().map(|file| file.path.clone()).collect();
        Ok(Compiled::new(files, report, diagnostics))
    }

    /// Compiles a program up to a phase and returns the IR after it, as MLIR text. The text can be the source of
    /// another compilation, which continues with the next phase.
    ///
    /// # Errors
    /// Those of [`Self::compile`]. [`Phase::Emit`] writes files instead of IR and is an error.
    pub fn compile_to_ir(&self, source: impl Into<Source>, phase: Phase) -> Result<String, Diagnostics> {
        let outcome = self.run(&source.into(), phase, "")?;
        outcome.ir.ok_or_else(|| Diagnostic::error(format!("phase '{phase}' has no IR; use Compiler::compile")).into())
    }

    fn run(&self, source: &Source, phase: Phase, output: &str) -> Result<Outcome, Diagnostics> {
        let (options, validation) = self.parse_options(phase).map_err(Diagnostic::error)?;
        if phase == Phase::Emit && output.is_empty() {
            return Ok(Outcome::default());
        }
        run_on_large_stack(|| {
            let session = create_session();
            let source = open(&session, source)?;
            Outcome::from_compilation(compile_source(&source, &options, output, validation))
        })
    }

    /// Returns the options in their final types.
    fn parse_options(&self, phase: Phase) -> Result<(CompileOptions, ValidationMode), String> {
        let mut options = CompileOptions { compile_to: phase, ..CompileOptions::default() };
        let mut validation = ValidationMode::default();
        for (name, value) in &self.options {
            match name.as_str() {
                "validate" => {
                    validation = parse_enum(value).map_err(|message| format!("option 'validate': {message}"))?;
                }
                "compile-to" => {
                    return Err("option 'compile-to' is not available; use Compiler::compile_to_ir".to_owned());
                }
                _ => options.set(name, value)?,
            }
        }
        options.check()?;
        Ok((options, validation))
    }
}

/// Appends the files below a directory, sorted by path. `prefix` is the path of the directory in the program.
fn read_files(directory: &Path, prefix: &str, files: &mut Vec<CompiledFile>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            read_files(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.push(CompiledFile { content: fs::read(entry.path())?, path });
        }
    }
    Ok(())
}

/// Successful compilation.
#[derive(Default)]
struct Outcome {
    report: spyre_compiler::report::Report,
    ir: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    fn from_compilation(outcome: CompileOutcome) -> Result<Self, Diagnostics> {
        let diagnostics: Vec<Diagnostic> = outcome.diagnostics.into_iter().map(Diagnostic::from).collect();
        match outcome.report {
            Some(report) => Ok(Self { report, ir: outcome.ir, diagnostics }),
            None => Err(Diagnostics::new(diagnostics, outcome.found_bug)),
        }
    }
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
