//! Errors of the checker, other than violations.

use sdsc_format::BUNDLE_FILE;
use std::{io, path::PathBuf};

/// Reason why files cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The directory has neither a bundle nor a program.
    #[error("{}: neither '{BUNDLE_FILE}' nor 'program.json'; a bundle has the one and a program the other", .0.display())]
    NoBundle(PathBuf),
    /// A file or a folder cannot be read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}
