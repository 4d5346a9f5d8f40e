//! Rejects plans before their cost is computed: plans that cannot run, and plans outside the model's range.

use super::shape::{OpKind, OpShape, OperandShape};
use machine::Target;

/// Maximum ratio of a padded copy to its source ("cost models, section 9": tiled matmuls with copies laid out over a
/// dimension that the copies do not have ran 300 times slower).
const MAX_COPY_RATIO: i64 = 2;

/// Reason for rejecting a plan. Ops are positions in the kernel, operands positions in the op.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanRejection {
    /// A core addresses more bytes of one tensor than the target permits.
    #[error("operand {operand} of op {op} is {bytes} bytes on each core, and a core addresses at most {most}")]
    Span {
        /// Position of the op.
        op: usize,
        /// Position of the operand.
        operand: usize,
        /// Bytes of a core's slice, a lower bound of its span.
        bytes: i64,
        /// Limit of the target.
        most: i64,
    },
    /// The values that are live in LX at the same time do not fit.
    #[error("at op {op}, {bytes} bytes live in the LX of each core, and it has {most}")]
    Lx {
        /// Position of the op.
        op: usize,
        /// Bytes live in LX, a lower bound of any placement.
        bytes: i64,
        /// Limit of the target.
        most: i64,
    },
    /// A copy is much larger than its source.
    #[error("op {op} copies {source_bytes} bytes into {device_bytes}: more than {} times as many", MAX_COPY_RATIO)]
    Copy {
        /// Position of the op.
        op: usize,
        /// Bytes of the copy in one iteration.
        device_bytes: i64,
        /// Bytes of its source in one iteration.
        source_bytes: i64,
    },
}

/// Checks the limits of the target and the size of copies, in the order of the ops.
///
/// The bytes of a span and of LX are lower bounds, so no plan that can run is rejected; `work` and `lx` compute the
/// exact ones.
///
/// # Errors
/// The first [`PlanRejection`] of the kernel.
pub fn check_kernel_limits(kernel: &[OpShape], target: &Target) -> Result<(), PlanRejection> {
    let lx_bytes = compute_live_lx_bytes(kernel);
    for (index, op) in kernel.iter().enumerate() {
        for (number, operand) in op.operands.iter().enumerate().filter(|(_, operand)| !operand.is_in_lx) {
            let bytes = compute_core_bytes(op, operand);
            if bytes > target.core_span_bytes {
                return Err(PlanRejection::Span { op: index, operand: number, bytes, most: target.core_span_bytes });
            }
        }
        if lx_bytes[index] > target.lx_bytes {
            return Err(PlanRejection::Lx { op: index, bytes: lx_bytes[index], most: target.lx_bytes });
        }
        check_copy_size(index, op)?;
    }
    Ok(())
}

fn check_copy_size(index: usize, op: &OpShape) -> Result<(), PlanRejection> {
    let mut inputs = op.inputs();
    let (OpKind::Pointwise, Some(output), Some(input), None) = (op.kind, op.output(), inputs.next(), inputs.next())
    else {
        return Ok(());
    };
    let (device_bytes, source_bytes) = (compute_tile_bytes(op, output), compute_tile_bytes(op, input));
    if device_bytes > MAX_COPY_RATIO * source_bytes {
        return Err(PlanRejection::Copy { op: index, device_bytes, source_bytes });
    }
    Ok(())
}

/// Returns the bytes of a tensor that one iteration accesses.
fn compute_tile_bytes(op: &OpShape, operand: &OperandShape) -> i64 {
    let tiles: i64 =
        if operand.is_in_lx { 1 } else { operand.moved_by.iter().map(|&dim| op.num_tiles_along(dim)).product() };
    operand.device_bytes / tiles.max(1)
}

/// Returns the bytes of a core's slice of a tensor.
fn compute_core_bytes(op: &OpShape, operand: &OperandShape) -> i64 {
    let slices: i64 = operand.moved_by.iter().map(|&dim| op.dims[dim].slices).product();
    operand.device_bytes / slices.max(1)
}

/// Returns the bytes of LX that are live on a core while each op runs. A buffer is live from the op that writes it to
/// its last reader, whose result may reuse its address. A buffer that no op writes is live from the start.
fn compute_live_lx_bytes(kernel: &[OpShape]) -> Vec<i64> {
    let uses = || {
        kernel.iter().enumerate().flat_map(|(index, op)| op.operands.iter().map(move |operand| (index, op, operand)))
    };
    let buffers = uses().map(|(.., operand)| operand.buffer + 1).max().unwrap_or(0);
    let mut live: Vec<Option<(usize, usize, i64)>> = vec![None; buffers];
    for (index, op, operand) in uses().filter(|(.., operand)| operand.is_in_lx) {
        let start = if operand.is_output { index } else { 0 };
        let (_, end, bytes) = live[operand.buffer].get_or_insert((start, index, compute_core_bytes(op, operand)));
        (*end, *bytes) = (index, (*bytes).min(compute_core_bytes(op, operand)));
    }
    // Live before an op: its inputs. Live after it: its result, and buffers with later reads.
    let (mut before, mut after) = (vec![0_i64; kernel.len() + 1], vec![0_i64; kernel.len() + 1]);
    for &(start, end, bytes) in live.iter().flatten() {
        let is_result_only = start == end;
        before[start + usize::from(!is_result_only && start > 0)] += bytes;
        before[end + 1] -= bytes;
        after[start] += bytes;
        after[end + usize::from(is_result_only)] -= bytes;
    }
    let mut now = (0, 0);
    let peaks = before.iter().zip(&after).map(|(before, after)| {
        now = (now.0 + before, now.1 + after);
        now.0.max(now.1)
    });
    peaks.take(kernel.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dim, Loop};

    const KIB: i64 = 1024;

    fn tensor(buffer: usize, is_output: bool, is_in_lx: bool, device_bytes: i64) -> OperandShape {
        OperandShape {
            buffer,
            is_output,
            is_in_lx,
            device_bytes,
            element_bytes: 2,
            moved_by: vec![0],
            ..OperandShape::default()
        }
    }

    fn op(operands: Vec<OperandShape>, slices: i64) -> OpShape {
        OpShape { dims: vec![Dim { extent: 4096, slices, is_reduced: false }], operands, ..OpShape::default() }
    }

    #[test]
    fn rejects_tensor_slice_larger_than_core_span() {
        let target = Target::spyre();
        let add = |bytes: i64| vec![op(vec![tensor(0, false, false, bytes), tensor(1, true, false, bytes)], 2)];
        assert_eq!(check_kernel_limits(&add(2 * target.core_span_bytes), &target), Ok(()));
        let rejection = check_kernel_limits(&add(2 * target.core_span_bytes + 256), &target).unwrap_err();
        assert_eq!(rejection, PlanRejection::Span { op: 0, operand: 0, bytes: 268_431_360 + 128, most: 268_431_360 });
        assert_eq!(
            rejection.to_string(),
            "operand 0 of op 0 is 268431488 bytes on each core, and a core addresses at most 268431360"
        );
    }

    #[test]
    fn reuses_address_of_dead_input_but_not_of_live_one() {
        let target = Target { lx_bytes: 64 * KIB, ..Target::spyre() };
        // Each buffer is 48 KiB on a core.
        let (a, b) =
            (|is_output| tensor(0, is_output, true, 96 * KIB), |is_output| tensor(1, is_output, true, 96 * KIB));
        let (x, y) = (tensor(2, false, false, 96 * KIB), tensor(3, true, false, 96 * KIB));
        let mut chain = vec![op(vec![x, a(true)], 2), op(vec![a(false), b(true)], 2), op(vec![b(false), y.clone()], 2)];
        assert_eq!(check_kernel_limits(&chain, &target), Ok(()));
        chain.push(op(vec![a(false), y], 2));
        assert_eq!(
            check_kernel_limits(&chain, &target),
            Err(PlanRejection::Lx { op: 1, bytes: 96 * KIB, most: 64 * KIB })
        );
    }

    #[test]
    fn rejects_copy_larger_than_twice_its_source() {
        let copy = |bytes: i64| vec![op(vec![tensor(0, false, false, KIB), tensor(1, true, false, bytes)], 1)];
        assert_eq!(check_kernel_limits(&copy(2 * KIB), &Target::spyre()), Ok(()));
        let rejection = check_kernel_limits(&copy(2 * KIB + 128), &Target::spyre()).unwrap_err();
        assert_eq!(rejection, PlanRejection::Copy { op: 0, device_bytes: 2176, source_bytes: 1024 });
        assert_eq!(rejection.to_string(), "op 0 copies 1024 bytes into 2176: more than 2 times as many");
    }

    #[test]
    fn compares_tile_with_its_copy() {
        let mut copy = op(vec![tensor(0, false, false, 8 * KIB), tensor(1, true, true, 2 * KIB)], 1);
        copy.loops = vec![Loop { trips: 4, tiled: vec![0] }];
        assert_eq!(check_kernel_limits(&[copy.clone()], &Target::spyre()), Ok(()));
        copy.operands[1].device_bytes = 8 * KIB;
        assert_eq!(
            check_kernel_limits(&[copy], &Target::spyre()),
            Err(PlanRejection::Copy { op: 0, device_bytes: 8 * KIB, source_bytes: 2 * KIB })
        );
    }
}
