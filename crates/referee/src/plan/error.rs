//! Errors in an SDSC file.

use crate::error::SimError;

/// Error in the description of an op or of a tensor.
pub(super) enum PlanError {
    /// The members contradict each other or the format.
    Malformed(String),
    /// The format allows it, but the simulator does not support it.
    NotSimulated(String),
}

impl PlanError {
    /// Returns the error of a file and its function.
    pub(super) fn into_error(self, name: String) -> SimError {
        match self {
            Self::Malformed(message) => SimError::Malformed { file: name, message },
            Self::NotSimulated(what) => SimError::NotSimulated { op: name, what },
        }
    }
}
