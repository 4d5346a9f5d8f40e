//! Errors of the reconstruction.

use crate::{launch::LaunchError, sdsc::emit::SdscError};

/// Reason why a file or a bundle cannot be reconstructed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpSpecReadError {
    /// Error in a file of a bundle.
    #[error("sdsc_{index}.json: {source}")]
    InFile {
        /// Number of the file.
        index: usize,
        /// Error in the file.
        source: Box<OpSpecReadError>,
    },
    /// Error in a file of a bundle of another emitter.
    #[error("{file}: {source}")]
    InNamedFile {
        /// Path of the file.
        file: String,
        /// Error in the file.
        source: Box<OpSpecReadError>,
    },
    /// A member has a value that matches no op spec.
    #[error("{member}: {reason}")]
    Member {
        /// Path of the member, from the operation on.
        member: String,
        /// Description of the error.
        reason: String,
    },
    /// No known op spec has this file.
    #[error("{member}: no op spec gives this file: the closest one gives {emitted}, found {found}")]
    NoOpSpec {
        /// First member that differs.
        member: String,
        /// Value in the file.
        found: String,
        /// Value in the file of the closest op spec.
        emitted: String,
    },
    /// The reconstructed op spec has no file.
    #[error(transparent)]
    NotEmitted(#[from] SdscError),
    /// The emitter does not write this launch.
    #[error("bundle.mlir: {reason}")]
    Launch {
        /// Description of the error.
        reason: String,
    },
    /// The reconstructed bundle has no launch.
    #[error(transparent)]
    NotLaunched(#[from] LaunchError),
}

impl OpSpecReadError {
    pub(super) fn member(member: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Member { member: member.into(), reason: reason.into() }
    }

    pub(super) fn launch(reason: impl Into<String>) -> Self {
        Self::Launch { reason: reason.into() }
    }
}
