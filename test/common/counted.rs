//! Counting gives what running reports.

use spyre::sim::{HostArray, Outcome, Report, RunOptions, Simulation};
use std::collections::BTreeMap;

/// Compares the report of a run with what counting says; values are given for `inputs` only.
pub(crate) fn check_counted(simulation: &Simulation, inputs: &BTreeMap<String, HostArray>, outcome: &Outcome) {
    let counted = simulation.count(inputs, &RunOptions::default()).unwrap_or_else(|error| panic!("counting: {error}"));
    // Only what is computed has element operations.
    assert_eq!(Report { steps: outcome.report.steps, ..counted }, outcome.report, "counting is not running");
}
