//! Errors in an SDSC file.

/// Error in the description of an op or of a tensor.
pub(super) enum Fault {
    /// The members contradict each other or the format.
    Malformed(String),
    /// The format allows it, but the simulator does not support it.
    NotSimulated(String),
}
