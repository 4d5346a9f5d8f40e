//! Steps of an SDSC file: which op descriptions run together, and in which order.

use super::OpPlan;
use super::build::compile_plan;
use super::error::PlanError;
use crate::error::SimError;
use machine::Target;
use sdsc_format::model::{Operation, Sdsc};
use std::sync::Arc;

/// Plans that run at the same time, each on its own cores.
pub(crate) type ConcurrentPlans = Vec<Arc<OpPlan>>;

/// Compiles a file to its steps. A barrier separates each step from the next.
pub(crate) fn compile_steps(file: &str, sdsc: &Sdsc, target: &Target) -> Result<Vec<ConcurrentPlans>, SimError> {
    let numbers =
        collect_steps(&sdsc.value).map_err(|fault| fault.into_sim_error(format!("{file} ({})", sdsc.name)))?;
    let plan = |number: &usize| Ok(Arc::new(compile_plan(file, sdsc, *number, target)?));
    let step = |numbers: &Vec<usize>| numbers.iter().map(plan).collect();
    numbers.iter().map(step).collect()
}

fn reject_malformed<T>(message: impl Into<String>) -> Result<T, PlanError> {
    Err(PlanError::Malformed(message.into()))
}

/// Collects the op descriptions of each step, in order.
fn collect_steps(operation: &Operation) -> Result<Vec<Vec<usize>>, PlanError> {
    let schedules: Vec<(i64, &[[i64; 4]])> =
        operation.core_to_schedule.iter().map(|(core, steps)| (*core, steps.as_slice())).collect();
    let Some(length) = schedules.iter().map(|(_, steps)| steps.len()).max().filter(|length| *length > 0) else {
        return reject_malformed("coreIdToDscSchedule has no step");
    };
    let mut steps = Vec::with_capacity(length);
    for index in 0..length {
        let mut numbers: Vec<usize> = Vec::new();
        for (core, schedule) in &schedules {
            let Some([data, dsc, before, _]) = schedule.get(index) else {
                return reject_malformed(format!("core {core} has {} of {length} steps", schedule.len()));
            };
            if *data != -1 {
                let what = format!(
                    "a data operation in step {index} of core {core}: the format does not specify the contents of 'datadscs_'"
                );
                return Err(PlanError::NotSimulated(what));
            }
            let number = usize::try_from(*dsc).ok().filter(|number| *number < operation.dscs.len());
            let Some(number) = number else {
                return reject_malformed(format!("step {index} of core {core} names description {dsc}"));
            };
            let is_separate = index == 0 || *before == 1 || schedule[index - 1][3] == 1;
            if !is_separate {
                return Err(PlanError::NotSimulated(format!(
                    "step {index} of core {core} without a barrier before it"
                )));
            }
            if !operation.dscs[number].value.core_ids.contains(core) {
                return reject_malformed(format!("core {core} runs description {number}, whose coreIdsUsed_ lacks it"));
            }
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        let n_cores: usize = numbers.iter().map(|number| operation.dscs[*number].value.core_ids.len()).sum();
        if n_cores != schedules.len() {
            return reject_malformed(format!(
                "the descriptions of step {index} use {n_cores} cores; {} cores have a schedule",
                schedules.len()
            ));
        }
        steps.push(numbers);
    }
    Ok(steps)
}
