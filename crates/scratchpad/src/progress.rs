//! Progress reports to the observer of a planner.

/// How far a plan has come. The gap is between `best` and `bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps taken.
    pub steps: u64,
    /// The best value so far, in bytes.
    pub best: i64,
    /// No plan has a lower value.
    pub bound: i64,
}

/// Told the steps left and the best HBM bytes; says whether to go on.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut(u64, i64) -> bool;
