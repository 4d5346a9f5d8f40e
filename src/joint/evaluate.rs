//! Evaluation of a choice of core splits: the values in LX, and the modeled cost.

use super::{JointProgram, JointValue};
use crate::{
    lx::LxIneligibility,
    work::{CoreUse, find_common_view},
};
use cost::{Dim, OpKind, OpShape, TileOp, TileOperand, check_kernel_limits, estimate_op_ns, extract_features};
use machine::Target;
use program::{OperandRef, WorkSplit};
use scratchpad::{Buffer, Capacity, Planner};

pub(super) struct SplitEvaluation {
    pub(super) ns: f64,
    pub(super) hbm_bytes: i64,
    /// Whether the plan is rejected regardless of its cost.
    pub(super) is_rejected: bool,
    /// The values that could be in LX but do not fit.
    pub(super) spilled: Vec<usize>,
}

/// Places the values of the program under the splits `chosen`, one index per op, and computes the cost of the result.
pub(super) fn evaluate(
    program: &JointProgram,
    chosen: &[usize],
    planner: &dyn Planner,
    target: &Target,
) -> SplitEvaluation {
    let capacity = &Capacity::from_target(target);
    let buffers: Vec<Buffer> =
        program.values.iter().map(|value| build_buffer(program, chosen, value, capacity)).collect();
    let placement = planner.plan(&buffers, capacity);
    let is_in_lx: Vec<bool> = placement.addresses.iter().map(Option::is_some).collect();
    let spilled = (0..buffers.len()).filter(|&value| buffers[value].barred.is_none() && !is_in_lx[value]).collect();
    let mut kernel: Vec<OpShape> = Vec::with_capacity(program.ops.len());
    let mut copies: Vec<Vec<usize>> = vec![Vec::new(); program.ops.len()];
    for (index, value) in program.values.iter().enumerate().filter(|(index, _)| is_in_lx[*index]) {
        if let Some(before) = value.copied_before {
            copies[before].push(index);
        }
    }
    for (position, op) in program.ops.iter().enumerate() {
        for &value in &copies[position] {
            kernel.push(build_input_copy(program, chosen, &program.values[value]).to_op_shape());
        }
        let split = program.split(position, chosen[position]);
        kernel.push(
            apply_split(&op.tile, split, |operand| op.values[operand].is_some_and(|value| is_in_lx[value]))
                .to_op_shape(),
        );
    }
    // Values in LX are known to fit: the planner has placed them, and knows which of them share a buffer.
    let placed = Target { lx_bytes: i64::MAX, ..target.clone() };
    let mut evaluated =
        SplitEvaluation { ns: 0.0, hbm_bytes: 0, is_rejected: check_kernel_limits(&kernel, &placed).is_err(), spilled };
    for op in extract_features(&kernel) {
        evaluated.hbm_bytes += op.bytes.hbm();
        evaluated.ns += estimate_op_ns(&op, &target.time);
    }
    evaluated
}

/// Returns the buffer of the value for the planner.
fn build_buffer(program: &JointProgram, chosen: &[usize], value: &JointValue, capacity: &Capacity) -> Buffer {
    if value.buffer.barred.is_some() {
        return value.buffer.clone();
    }
    let core_use = |&OperandRef { op, operand }: &OperandRef| CoreUse {
        op: &program.op_class(op).operation,
        operand,
        split: program.split(op, chosen[op]),
    };
    let uses: Vec<CoreUse<'_>> = value.users.iter().map(core_use).collect();
    let (bytes, barred) = match find_common_view(&uses) {
        Ok(view) => (value.buffer.bytes / view.num_slices(), None),
        Err(mismatch) => (value.buffer.bytes, Some(LxIneligibility::CoreMismatch(mismatch).into())),
    };
    // A copy that does not fit is not inserted.
    let is_pointless = value.copied_before.is_some() && bytes > capacity.bytes;
    let barred = barred.or_else(|| is_pointless.then(|| LxIneligibility::GraphInput.into()));
    let in_place_parents = if barred.is_none() { value.buffer.in_place_parents.clone() } else { Vec::new() };
    Buffer { bytes, barred, in_place_parents, ..value.buffer.clone() }
}

/// Returns the op with one of its splits, and with its operands in LX or HBM.
pub(super) fn apply_split(tile: &TileOp, split: &WorkSplit, is_in_lx: impl Fn(usize) -> bool) -> TileOp {
    let mut tile = tile.clone();
    for (dim, &slices) in tile.dims.iter_mut().zip(split.slices()) {
        dim.slices = slices;
    }
    for (operand, of_tile) in tile.operands.iter_mut().enumerate() {
        of_tile.is_in_lx = is_in_lx(operand);
    }
    tile
}

/// Returns the copy that loads an input into LX, sliced like the operand of its first reader.
pub(super) fn build_input_copy(program: &JointProgram, chosen: &[usize], value: &JointValue) -> TileOp {
    let Some(&OperandRef { op, operand }) = value.users.first() else { return TileOp::default() };
    build_copy_op(&apply_split(&program.ops[op].tile, program.split(op, chosen[op]), |_| false), operand)
}

/// Returns the op that copies an operand of an op into LX.
pub(super) fn build_copy_op(tile: &TileOp, operand: usize) -> TileOp {
    let read = TileOperand { is_output: false, ..tile.operands[operand].clone() };
    let moved = |(dim, of_tile): (usize, &Dim)| {
        let (extent, slices) = if read.moved_by.contains(&dim) { (of_tile.extent, of_tile.slices) } else { (1, 1) };
        Dim { extent, slices, is_reduced: false }
    };
    let dims = tile.dims.iter().enumerate().map(moved).collect();
    let made = TileOperand {
        is_output: true,
        is_kernel_input: false,
        is_in_lx: true,
        is_argument: false,
        advances: Vec::new(),
        ..read.clone()
    };
    TileOp {
        kind: OpKind::Pointwise,
        is_reduction: false,
        dims,
        trips: tile.trips.clone(),
        operands: vec![read, made],
        is_irregular: false,
        shuffle: None,
    }
}
