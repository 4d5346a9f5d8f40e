//! The scratchpad planner.

use super::work::wait_for;
use pyo3::{exceptions::PyValueError, prelude::*};
use scratchpad::{Capacity, Instance, PlanningLimits, ReportHeader, ResidencyMode, plan_instance};
use std::{error::Error, sync::atomic::Ordering, time::Instant};

/// Plans which buffers of an instance live in LX, and where: JSON in, or MiniMalloc's CSV with a capacity, JSON out, as
/// `spyre-plan` has it.
///
/// # Errors
/// What is wrong with the instance, or with the planner's name.
#[pyfunction]
#[pyo3(signature = (instance, planner, budget, whole_lives, capacity, alignment))]
pub(crate) fn plan(
    py: Python<'_>,
    instance: String,
    planner: String,
    budget: u64,
    whole_lives: bool,
    capacity: Option<i64>,
    alignment: Option<i64>,
) -> PyResult<String> {
    let planned = wait_for(py, move |is_over| {
        let (instance, stays) = read_instance(&instance, whole_lives, capacity, alignment)?;
        let started = Instant::now();
        let mut limits = PlanningLimits { budget, go_on: &mut |_| !is_over.load(Ordering::Relaxed) };
        let plan = plan_instance(&instance, &planner, stays, &mut limits).map_err(|error| error.to_string())?;
        let heading = ReportHeader { planner: &planner, seconds: started.elapsed().as_secs_f64(), peak: None };
        plan.to_json(&instance, &heading).map_err(|error| error.to_string())
    });
    planned?.map_err(PyValueError::new_err)
}

/// The instance, and what may become of lives: those of a CSV are whole.
fn read_instance(
    text: &str,
    whole_live_ranges: bool,
    capacity: Option<i64>,
    alignment: Option<i64>,
) -> Result<(Instance, ResidencyMode), String> {
    let explained = |error: &dyn Error| {
        format!("{error}{}", error.source().map_or_else(String::new, |source| format!(": {source}")))
    };
    if text.trim_start().starts_with('{') {
        let instance = Instance::from_json(text).map_err(|error| explained(&error))?;
        let Capacity { bytes, alignment: own } = instance.capacity;
        let given = Capacity { bytes: capacity.unwrap_or(bytes), alignment: alignment.unwrap_or(own) };
        let instance = instance.with_capacity(given).map_err(|error| explained(&error))?;
        return Ok((instance, if whole_live_ranges { ResidencyMode::Whole } else { ResidencyMode::Split }));
    }
    let bytes = capacity.ok_or("expected 'capacity', the bytes of LX, in the instance, found none")?;
    let instance = Instance::from_csv(text, Capacity { bytes, alignment: alignment.unwrap_or(1) })
        .map_err(|error| explained(&error))?;
    Ok((instance, ResidencyMode::Whole))
}
