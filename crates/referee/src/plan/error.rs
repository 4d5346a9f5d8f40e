//! Errors in an SDSC file.

use crate::error::SimError;

/// Error in the description of an op or of a tensor.
pub(super) enum PlanError {
    /// Members that contradict each other or the format.
    Malformed(String),
    /// A valid construct that the simulator does not support.
    NotSimulated(String),
}

impl PlanError {
    /// Converts to the error of an op; `name` is its file and function.
    pub(super) fn into_error(self, name: String) -> SimError {
        match self {
            Self::Malformed(message) => SimError::Malformed { file: name, message },
            Self::NotSimulated(what) => SimError::NotSimulated { op: name, what },
        }
    }
}
