//! Progress of a planner, for callbacks that report the progress or stop the planner.

/// Progress of a planning run. The optimality gap is `best - bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanningProgress {
    /// Number of steps taken so far.
    pub steps: u64,
    /// Objective value of the best plan so far, in bytes: HBM traffic or peak size.
    pub best: i64,
    /// Lower bound on the objective value of every plan, in bytes.
    pub bound: i64,
}

/// Callback that receives the number of remaining steps and the HBM bytes of the best plan, and returns whether to
/// continue.
pub(crate) type ProgressCallback<'a> = &'a mut dyn FnMut(u64, i64) -> bool;
