//! Diagnostics of the compiler as values.

use spyre_compiler::mlir::{self, CollectedDiagnostic};
use std::{error::Error, fmt};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Nothing was compiled.
    Error,
    /// The program was compiled, probably otherwise than intended.
    Warning,
    /// Decision of the compiler.
    Remark,
    /// Explanation of another diagnostic.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Remark => "remark",
            Self::Note => "note",
        })
    }
}

/// Position in a source file; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourcePosition {
    /// Name of the file.
    pub file: String,
    /// Line.
    pub line: i64,
    /// Column.
    pub column: i64,
}

impl From<mlir::SourcePosition> for SourcePosition {
    fn from(mlir::SourcePosition { file, line, column }: mlir::SourcePosition) -> Self {
        Self { file, line, column }
    }
}

/// Diagnostic of the compiler. Its [`fmt::Display`] is the text that `spyre-compile` prints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Stable code, such as `SPY0501`, which `spyre-compile --explain` explains; warnings, remarks and notes may have
    /// none.
    pub code: Option<String>,
    /// Text of the message, without the code.
    pub message: String,
    /// Source positions: the location itself, then its callers, innermost first; empty if the position is unknown.
    pub positions: Vec<SourcePosition>,
    /// Path of the model's module that the location belongs to; empty if there is none.
    pub module: String,
    /// Notes of the diagnostic.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Returns an error without a position.
    pub(crate) fn error(message: impl Into<String>) -> Self {
        let (positions, notes) = (Vec::new(), Vec::new());
        Self { severity: Severity::Error, code: None, message: message.into(), positions, module: String::new(), notes }
    }
}

impl From<CollectedDiagnostic> for Diagnostic {
    fn from(collected: CollectedDiagnostic) -> Self {
        let CollectedDiagnostic { severity, code, message, places, module, notes } = collected;
        let severity = match severity {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            "remark" => Severity::Remark,
            _ => Severity::Note,
        };
        Self {
            severity,
            code: code.map(|code| code.to_string()),
            message,
            positions: places.into_iter().map(SourcePosition::from).collect(),
            module,
            notes: notes.into_iter().map(Self::from).collect(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SourcePosition { file, line, column }) = self.positions.first() {
            write!(formatter, "{file}:{line}:{column}: ")?;
        }
        write!(formatter, "{}", self.severity)?;
        self.code.iter().try_for_each(|code| write!(formatter, "[{code}]"))?;
        write!(formatter, ": {}", self.message)?;
        self.notes.iter().try_for_each(|note| write!(formatter, "\n{note}"))
    }
}

/// Diagnostics of a failed compilation, in the order in which the compiler reported them; at least one is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    diagnostics: Vec<Diagnostic>,
    is_bug: bool,
}

impl Diagnostics {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, is_bug: bool) -> Self {
        Self { diagnostics, is_bug }
    }

    /// Returns whether a defect of the compiler, not of the program, ended the compilation.
    #[must_use]
    pub fn is_bug(&self) -> bool {
        self.is_bug
    }

    /// Iterates over the diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.diagnostics.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::new(vec![diagnostic], false)
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.diagnostics.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, diagnostic) in self.diagnostics.iter().enumerate() {
            formatter.write_str(if position > 0 { "\n" } else { "" })?;
            diagnostic.fmt(formatter)?;
        }
        Ok(())
    }
}

impl Error for Diagnostics {}
