//! Progress of a planner, for callbacks that report it or stop the planner.

/// Progress of a planning run. `best - bound` is the gap that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanningProgress {
    /// Steps taken.
    pub steps: u64,
    /// Value of the best plan so far, in bytes.
    pub best: i64,
    /// Lower bound of the value of every plan, in bytes.
    pub bound: i64,
}

/// Callback that receives the steps left and the best HBM bytes, and returns whether to continue.
pub(crate) type ProgressCallback<'a> = &'a mut dyn FnMut(u64, i64) -> bool;
