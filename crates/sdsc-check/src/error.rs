//! Why files cannot be checked.

use sdsc_format::BUNDLE_FILE;
use std::{io, path::PathBuf};

/// Files that cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// They have neither of the files that make a bundle or a program.
    #[error("{}: neither '{BUNDLE_FILE}' nor 'program.json'; a bundle has the one and a program the other", .0.display())]
    NoBundle(PathBuf),
    /// A file or a folder cannot be read.
    #[error("{}: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}
