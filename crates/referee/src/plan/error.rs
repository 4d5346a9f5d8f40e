//! Errors that the simulator finds in an SDSC file.

use crate::error::SimError;

/// Error in the description of an op or of a tensor.
pub(super) enum PlanError {
    /// Members that contradict each other or the format.
    Malformed(String),
    /// Valid construct that the simulator does not support.
    NotSimulated(String),
}

impl PlanError {
    /// Converts to an error of the simulator; `name` is the file and the function of the op.
    pub(super) fn into_sim_error(self, name: String) -> SimError {
        match self {
            Self::Malformed(message) => SimError::Malformed { file: name, message },
            Self::NotSimulated(what) => SimError::NotSimulated { op: name, what },
        }
    }
}
