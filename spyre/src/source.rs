//! The program to compile.

use std::path::{Path, PathBuf};

/// MLIR module to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub(crate) content: SourceContent,
}

/// Where the module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceContent {
    /// Text, and the name that diagnostics call it by.
    Text { name: String, text: String },
    /// File of MLIR text or bytecode.
    File(PathBuf),
}

impl Source {
    /// Returns a module as MLIR text; `name` stands for the file in diagnostics.
    #[must_use]
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { content: SourceContent::Text { name: name.into(), text: text.into() } }
    }

    /// Returns a file of MLIR text or bytecode. Each compilation reads the file.
    #[must_use]
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self { content: SourceContent::File(path.into()) }
    }
}

impl From<&str> for Source {
    /// Returns a module as MLIR text, which diagnostics call `input.mlir`.
    fn from(text: &str) -> Self {
        Self::from_text("input.mlir", text)
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Self::from_file(path)
    }
}

impl From<&Self> for Source {
    fn from(source: &Self) -> Self {
        source.clone()
    }
}
