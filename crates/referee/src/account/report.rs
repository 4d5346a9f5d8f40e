//! What a run did, in numbers.

use crate::account::rounding::OpError;
use crate::account::time::ModelledTime;
use crate::account::traffic::Traffic;
use crate::plan::{Kernel, Plan};
use serde::Serialize;

/// A run of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The program.
    pub program: String,
    /// Its launches in order.
    pub launches: Vec<LaunchReport>,
    /// Bytes moved by all of them.
    pub total: Traffic,
    /// Element operations executed.
    pub steps: u64,
    /// Modelled time of all launches.
    pub time: ModelledTime,
}

impl Report {
    /// The largest root mean square of the exact numbers that an operation gave, if such numbers went beside the device's.
    #[must_use]
    pub fn largest_magnitude(&self) -> f64 {
        let ops = self.launches.iter().flat_map(|launch| &launch.ops);
        ops.map(|op| op.error.magnitude()).filter(|size| size.is_finite()).fold(0.0, f64::max)
    }
}

/// A launch of a bundle.
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
    /// Modelled time.
    pub time: ModelledTime,
}

/// An op of a bundle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpReport {
    /// Its file.
    pub file: String,
    /// Its function.
    pub function: String,
    /// Cores that execute it.
    pub cores: usize,
    /// How often it was executed.
    pub executions: u64,
    /// Points of the iteration space of one execution, on all cores.
    pub points: u64,
    /// Bytes moved by all executions.
    pub traffic: Traffic,
    /// How far its numbers are from exact ones, if those were computed.
    #[serde(skip)]
    pub error: OpError,
    /// What the time model needs to know of the op.
    #[serde(skip)]
    pub shape: OpShape,
}

/// An op as the time model sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpShape {
    /// What is computed.
    pub kind: OpKind,
    /// Points of one core along the rows: all dimensions of the result but the one along its sticks.
    pub rows_per_core: u64,
    /// Slices of the rows.
    pub row_slices: u64,
    /// Points along the sticks of the result.
    pub columns: u64,
    /// Slices of the columns.
    pub column_slices: u64,
    /// Slices of the contracted dimensions.
    pub contracted_slices: u64,
    /// Points of the dimensions that all three tensors of a product have.
    pub batch: u64,
    /// Slices of those.
    pub batch_slices: u64,
    /// Whether an input is smaller than the result and in HBM.
    pub broadcasts: bool,
}

/// What an op computes, as far as its speed goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpKind {
    /// Products.
    Contract,
    /// Elementwise functions and copies.
    #[default]
    Pointwise,
    /// A reduction along the sticks.
    RowReduction,
    /// A reduction that keeps the sticks.
    ColumnReduction,
    /// A change of the stick dimension.
    Restickify,
}

impl OpReport {
    pub(crate) fn new(file: &str, plan: &Plan) -> Self {
        Self {
            file: file.to_owned(),
            function: plan.function.clone(),
            cores: plan.cores.len(),
            executions: 0,
            points: plan.points.saturating_mul(plan.cores.len() as u64),
            traffic: Traffic::default(),
            error: OpError::default(),
            shape: shape(plan),
        }
    }
}

fn shape(plan: &Plan) -> OpShape {
    let output = &plan.tensors[plan.output];
    let everywhere = |dim: usize| plan.kernel == Kernel::Contract && plan.tensors.iter().all(|tensor| tensor.present[dim]);
    let mut shape = OpShape { kind: kind(plan), rows_per_core: 1, row_slices: 1, columns: 1, ..OpShape::default() };
    (shape.column_slices, shape.contracted_slices, shape.batch, shape.batch_slices) = (1, 1, 1, 1);
    for (index, dim) in plan.dims.iter().enumerate() {
        let (size, slices, local) = (dim.size as u64, dim.slices as u64, dim.local as u64);
        if !output.present[index] {
            shape.contracted_slices *= slices;
        } else if index == output.stick {
            (shape.columns, shape.column_slices) = (size, slices);
        } else if everywhere(index) {
            shape.batch *= size;
            shape.batch_slices *= slices;
        } else {
            shape.rows_per_core = shape.rows_per_core.saturating_mul(local);
            shape.row_slices *= slices;
        }
    }
    let smaller = |input: &usize| output.present.iter().zip(&plan.tensors[*input].present).any(|(result, input)| *result && !*input);
    shape.broadcasts = shape.kind == OpKind::Pointwise && plan.inputs.iter().any(smaller) && plan.inputs.len() > 1;
    shape
}

fn kind(plan: &Plan) -> OpKind {
    match plan.kernel {
        Kernel::Contract => OpKind::Contract,
        Kernel::Reduce(_) | Kernel::MomentPair if plan.tensors[plan.output].is_sparse => OpKind::RowReduction,
        Kernel::Reduce(_) | Kernel::MomentPair => OpKind::ColumnReduction,
        Kernel::Copy if plan.function == "ReStickifyOpHBM" => OpKind::Restickify,
        Kernel::Unary(_) | Kernel::Binary(_) | Kernel::Where | Kernel::LayerNormScale => OpKind::Pointwise,
        Kernel::LayerNorm | Kernel::Copy | Kernel::Shuffle => OpKind::Pointwise,
    }
}
