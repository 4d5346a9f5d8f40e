//! Progress reports to the observer of a planner.

/// Progress of a planning run. The gap is between `best` and `bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanningProgress {
    /// Steps taken.
    pub steps: u64,
    /// Best value so far, in bytes.
    pub best: i64,
    /// Lower bound of the value of any plan.
    pub bound: i64,
}

/// Callback that receives the steps left and the best HBM bytes, and returns whether to continue.
pub(crate) type ProgressCallback<'a> = &'a mut dyn FnMut(u64, i64) -> bool;
