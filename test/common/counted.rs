//! Checks that counting reports the same figures as execution.

use referee::{HostArray, OpRoundingError, RunOptions, RunOutcome, RunReport, Simulation};
use std::collections::BTreeMap;

/// Compares the report of a run with the counted report; values are provided for `inputs` only.
pub(crate) fn check_counted(simulation: &Simulation, inputs: &BTreeMap<String, HostArray>, outcome: &RunOutcome) {
    let counted = simulation.count(inputs, &RunOptions::default()).unwrap_or_else(|error| panic!("counting: {error}"));
    // Only computed values have element operations and rounding.
    let mut ran = outcome.report.clone();
    ran.launches.iter_mut().flat_map(|launch| &mut launch.ops).for_each(|op| op.error = OpRoundingError::default());
    assert!(RunReport { steps: ran.steps, ..counted } == ran, "counting is not running");
}
