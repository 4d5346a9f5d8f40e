//! Modeled time of a launch, by the compiler's cost model ([`cost`]), from the emitted files and the observations of
//! the run.
//!
//! The inputs of the model (extents, slices, sticks, tensors that are the same or advance with a loop) are derived from
//! SDSC files and observed addresses. So the time differs from the compiler's estimate if the bundle is not the one
//! that the compiler assumed.

use crate::machine::RegionId;
use crate::machine::access::TensorSlices;
use crate::plan::{MemorySpace, OpKernel, OpPlan, TensorPlan};
use cost::{
    CostFormula, Dim, OpKind, OpShape, ShuffleShape, TileOp, TileOperand, TimeEstimate, estimate_kernel_time,
    extract_features,
};
use machine::{STICK_BYTES, TimeModel};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::sync::Arc;

/// Modeled time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModeledTime {
    /// Lower end of the range. 19 of 20 published times of such ops lie between `low_ns` and `high_ns`.
    pub low_ns: f64,
    /// Estimate, by which plans are compared.
    pub estimate_ns: f64,
    /// Upper end of the range.
    pub high_ns: f64,
}

impl AddAssign for ModeledTime {
    fn add_assign(&mut self, other: Self) {
        self.low_ns += other.low_ns;
        self.estimate_ns += other.estimate_ns;
        self.high_ns += other.high_ns;
    }
}

/// Start of a tensor of an op: its memory, the first byte, and the end of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OperandStart {
    /// Number of the buffer in HBM; `None` in LX.
    buffer: Option<usize>,
    byte: i64,
    end: i64,
}

/// An execute statement, with the observations of its executions so far.
#[derive(Clone, Debug)]
struct ExecuteRecord {
    plan: Arc<OpPlan>,
    /// Starts of its tensors in the first execution.
    starts: Vec<OperandStart>,
    /// Trip counts of the enclosing loops, outermost first.
    trips: Vec<i64>,
    /// For each tensor and loop, whether the address of the tensor changed in the second iteration.
    advances: Vec<Vec<bool>>,
}

/// Execute statements of a launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    /// Records by position in the text and number of the op description.
    executes: BTreeMap<(usize, usize), ExecuteRecord>,
}

impl Timeline {
    /// Records one execution of op description `(position, number)`. The iterations are those of the enclosing loops,
    /// outermost first.
    pub(crate) fn record_execution(
        &mut self,
        position: (usize, usize),
        plan: &Arc<OpPlan>,
        parts: &TensorSlices,
        iterations: &[i64],
    ) {
        let starts: Vec<OperandStart> =
            (0..plan.tensors.len()).map(|tensor| find_operand_start(parts, tensor)).collect();
        let new = || ExecuteRecord {
            plan: Arc::clone(plan),
            advances: vec![vec![false; iterations.len()]; starts.len()],
            trips: vec![0; iterations.len()],
            starts: starts.clone(),
        };
        let seen = self.executes.entry(position).or_insert_with(new);
        for (trips, iteration) in seen.trips.iter_mut().zip(iterations) {
            *trips = (*trips).max(iteration + 1);
        }
        // A tensor moves with a loop if its address changes when that loop is in its second iteration and all others
        // are in their first.
        if let Some(level) = iterations.iter().position(|iteration| *iteration == 1)
            && iterations.iter().sum::<i64>() == 1
        {
            for (tensor, start) in starts.iter().enumerate() {
                seen.advances[tensor][level] |= *start != seen.starts[tensor];
            }
        }
    }

    /// Returns the modeled time. `pools` are the buffers that only this launch uses.
    pub(crate) fn model_time(&self, pools: &BTreeSet<usize>, time: &TimeModel) -> ModeledTime {
        let TimeEstimate { low_ns, estimate_ns, high_ns, .. } =
            estimate_kernel_time(&extract_features(&self.build_op_shapes(pools)), time, CostFormula::Recommended);
        ModeledTime { low_ns, estimate_ns, high_ns }
    }

    /// Returns the ops in the representation of the cost model.
    fn build_op_shapes(&self, pools: &BTreeSet<usize>) -> Vec<OpShape> {
        let written: BTreeSet<(Option<usize>, i64)> = self
            .executes
            .values()
            .map(|seen| seen.starts[seen.plan.output])
            .map(|start| (start.buffer, start.end))
            .collect();
        let mut reader = OpShapeBuilder { pools, written, numbers: BTreeMap::new() };
        self.executes.values().map(|seen| reader.build_op_shape(seen)).collect()
    }
}

fn find_operand_start(parts: &TensorSlices, tensor: usize) -> OperandStart {
    let buffer_of = |region| if let RegionId::Hbm(buffer) = region { Some(buffer) } else { None };
    let starts =
        parts.0.iter().map(|tensors| &tensors[tensor]).map(|part| (part.byte, part.end, buffer_of(part.region)));
    let (byte, end, buffer) = starts.min().unwrap_or_default();
    OperandStart { buffer, byte, end }
}

struct OpShapeBuilder<'a> {
    pools: &'a BTreeSet<usize>,
    /// Buffers that ops write.
    written: BTreeSet<(Option<usize>, i64)>,
    numbers: BTreeMap<OperandStart, usize>,
}

impl OpShapeBuilder<'_> {
    fn build_op_shape(&mut self, seen: &ExecuteRecord) -> OpShape {
        let plan = &seen.plan;
        let output = &plan.tensors[plan.output];
        let moves = |dim: usize| output.has_dim[dim] && plan.dims[dim].size > 1;
        let dims = plan.dims.iter().enumerate().map(|(index, dim)| Dim {
            extent: dim.size,
            slices: dim.num_slices,
            is_reduced: !moves(index),
        });
        // Index tensors are last: the model reads the first two inputs of a matmul.
        let tensors = plan.inputs.iter().chain([&plan.output]).chain(&plan.index_tensors);
        let kind = find_op_kind(plan);
        let op = TileOp {
            kind,
            is_reduction: kind != OpKind::Pointwise,
            dims: dims.collect(),
            trips: seen.trips.clone(),
            operands: tensors.map(|tensor| self.build_operand(seen, *tensor)).collect(),
            is_irregular: !plan.index_tensors.is_empty() || is_windowed(plan),
            shuffle: (plan.kernel == OpKernel::Shuffle).then(|| build_shuffle_shape(plan)),
        };
        op.to_op_shape()
    }

    fn build_operand(&mut self, seen: &ExecuteRecord, tensor: usize) -> TileOperand {
        let (plan, start) = (&seen.plan, seen.starts[tensor]);
        let entry = &plan.tensors[tensor];
        let varies = |dim: &usize| plan.dims[*dim].size > 1;
        let next = self.numbers.len();
        let is_argument = start.buffer.is_some_and(|buffer| !self.pools.contains(&buffer));
        TileOperand {
            buffer: *self.numbers.entry(start).or_insert(next),
            is_output: tensor == plan.output,
            is_kernel_input: is_argument && !self.written.contains(&(start.buffer, start.end)),
            is_in_lx: entry.memory == MemorySpace::Lx,
            is_argument,
            tile_bytes: entry.num_sticks * STICK_BYTES,
            element_bytes: entry.format.bytes(),
            moved_by: (0..plan.dims.len()).filter(|dim| entry.has_dim[*dim] && varies(dim)).collect(),
            stick: Some(entry.stick_dim).filter(|dim| !entry.is_sparse && varies(dim)),
            inner: entry.adjacent_stick_dim.filter(varies),
            advances: seen.advances[tensor].clone(),
        }
    }
}

fn find_op_kind(plan: &OpPlan) -> OpKind {
    match plan.kernel {
        OpKernel::Contract if plan.function == "depthwiseconv2dnative" => OpKind::Reduction,
        OpKernel::Contract => OpKind::Matmul,
        OpKernel::Reduce(_) | OpKernel::MomentPair | OpKernel::TopK(_) => OpKind::Reduction,
        OpKernel::Unary(_) | OpKernel::Binary(_) | OpKernel::Where | OpKernel::LayerNormScale => OpKind::Pointwise,
        OpKernel::LayerNorm | OpKernel::Copy | OpKernel::Shuffle => OpKind::Pointwise,
    }
}

fn is_windowed(plan: &OpPlan) -> bool {
    ["conv2d", "depthwiseconv2dnative", "avgpoolfwd"].contains(&plan.function.as_str())
}

/// Returns the movement of a shuffle between cores.
fn build_shuffle_shape(plan: &OpPlan) -> ShuffleShape {
    let (source, destination) = (&plan.tensors[plan.inputs[0]], &plan.tensors[plan.output]);
    let elements = STICK_BYTES / source.format.bytes();
    let outermost_first = || plan.source_order.iter().rev().copied();
    let sizes = outermost_first()
        .map(|dim| if dim == source.stick_dim { plan.dims[dim].size / elements } else { plan.dims[dim].size });
    let slices = |tensor: &TensorPlan| -> Vec<i64> {
        outermost_first().map(|dim| plan.dims[dim].size / (tensor.offsets[dim].len() as i64).max(1)).collect()
    };
    ShuffleShape::new(&sizes.collect::<Vec<_>>(), STICK_BYTES, &slices(source), &slices(destination))
}
