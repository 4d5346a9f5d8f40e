//! The result of a compilation.

use crate::{Diagnostic, Diagnostics};
use sdsc_format::{OutputFile, StagedBundle};
use spyre_compiler::report::Report;
use std::{io, path::Path};

/// File of a compiled program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompiledFile {
    /// Path below the directory of the program, such as `bundle_0/sdsc_0.json`.
    pub path: String,
    /// Content of the file.
    pub content: Vec<u8>,
}

/// Compiled program: its files, with the decisions and estimates of the compiler.
#[derive(Clone, Debug)]
pub struct Compiled {
    files: Vec<CompiledFile>,
    report: Report,
    diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    pub(crate) fn new(files: Vec<CompiledFile>, report: Report, diagnostics: Vec<Diagnostic>) -> Self {
        Self { files, report, diagnostics }
    }

    /// Returns the files, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[CompiledFile] {
        &self.files
    }

    /// Writes the files to `directory`, which does not exist or holds an earlier program, and is then replaced. If
    /// this fails, nothing is left at that place, or what was there.
    ///
    /// # Errors
    /// If the directory holds other files, or the system refuses to write.
    pub fn write_to(&self, directory: impl AsRef<Path>) -> io::Result<()> {
        let copy = |file: &CompiledFile| OutputFile { path: file.path.clone(), content: file.content.clone() };
        let files: Vec<OutputFile> = self.files.iter().map(copy).collect();
        let staged = StagedBundle::write(directory.as_ref(), &files).map_err(io::Error::other)?;
        staged.commit().map_err(io::Error::other)
    }

    /// Loads the program into the simulator of the Spyre card, as `spyre-run` does.
    ///
    /// # Errors
    /// If a temporary directory cannot be written, or the simulator rejects the files.
    pub fn simulation(&self) -> Result<referee::Simulation, Diagnostics> {
        let error = |message: String| Diagnostics::from(Diagnostic::error(message));
        let folder = tempfile::tempdir().map_err(|reason| error(format!("temporary directory: {reason}")))?;
        let directory = folder.path().join("program");
        self.write_to(&directory).map_err(|reason| error(reason.to_string()))?;
        referee::Simulation::load(&directory, &machine::Target::spyre()).map_err(|reason| error(reason.to_string()))
    }

    /// Returns the bytes that the program reads from HBM and writes to it.
    #[must_use]
    pub fn hbm_bytes(&self) -> i64 {
        self.report.total.hbm()
    }

    /// Returns a lower bound on [`Self::hbm_bytes`] that holds for every plan of the program.
    #[must_use]
    pub fn hbm_bytes_lower_bound(&self) -> i64 {
        self.report.lower_bound.hbm
    }

    /// Returns the modeled time of all launches, in microseconds.
    #[must_use]
    pub fn modeled_us(&self) -> f64 {
        self.report.time.estimate_us
    }

    /// Returns the report of the compilation as JSON, the file of `spyre-compile --report`. Its schema is
    /// `docs/reference/schemas/report.json`.
    ///
    /// # Panics
    /// If the report cannot be serialized, which is a defect of the compiler.
    #[must_use]
    pub fn report_json(&self) -> String {
        serde_json::to_string(&self.report).expect("a report has text keys")
    }

    /// Returns the warnings and remarks of the compilation.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
