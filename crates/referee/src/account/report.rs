//! Statistics of a run.

use crate::account::rounding::OpRoundingError;
use crate::account::time::ModeledTime;
use crate::account::traffic::Traffic;
use crate::plan::OpPlan;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Report of a program's run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunReport {
    /// The program.
    pub program: String,
    /// Its launches in order.
    pub launches: Vec<LaunchReport>,
    /// Bytes moved by all of them.
    pub total: Traffic,
    /// Element operations executed.
    pub steps: u64,
    /// Modeled time of all launches.
    pub time: ModeledTime,
}

impl RunReport {
    /// Returns the maximum over the ops of the root mean square of their exact results. It is 0 if the run computed no
    /// exact numbers.
    #[must_use]
    pub fn largest_magnitude(&self) -> f64 {
        let ops = self.launches.iter().flat_map(|launch| &launch.ops);
        ops.map(|op| op.error.magnitude()).filter(|size| size.is_finite()).fold(0.0, f64::max)
    }
}

/// Report of one launch of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LaunchReport {
    /// The folder of the bundle.
    pub bundle: String,
    /// Its ops, in the order of their first execution.
    pub ops: Vec<OpReport>,
    /// Iterations of all loops.
    pub iterations: u64,
    /// Bytes moved by all executions.
    pub total: Traffic,
    /// Modeled time.
    pub time: ModeledTime,
}

/// Report of one op of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpReport {
    /// Its SDSC file.
    pub file: String,
    /// Its device function.
    pub function: String,
    /// Cores that execute it.
    pub cores: usize,
    /// Number of executions.
    pub executions: u64,
    /// Iteration points of one execution, on all cores.
    pub points: u64,
    /// Bytes moved by all executions.
    pub traffic: Traffic,
    /// Rounding errors of its results, if exact numbers were computed.
    #[serde(skip)]
    pub error: OpRoundingError,
}

impl OpReport {
    /// Returns the report of a file with these op descriptions, before its first execution.
    pub(crate) fn new<'p>(file: &str, plans: impl Iterator<Item = &'p Arc<OpPlan>>) -> Self {
        let (mut function, mut cores, mut points) = (String::new(), BTreeSet::new(), 0_u64);
        for plan in plans {
            if function.is_empty() {
                function.clone_from(&plan.function);
            }
            cores.extend(plan.cores.iter().map(|core| core.id));
            points = points.saturating_add(plan.points_per_core.saturating_mul(plan.cores.len() as u64));
        }
        Self {
            file: file.to_owned(),
            function,
            cores: cores.len(),
            executions: 0,
            points,
            traffic: Traffic::default(),
            error: OpRoundingError::default(),
        }
    }
}
