//! Bytes that the ops of a kernel move, by the rules of torch-spyre's cost model ("cost models, 2.2").

use super::shape::{OpKind, OpShape, OperandShape};

/// Bytes of one op over all iterations of its loops, except the LX bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpBytes {
    /// Bytes read from HBM, including reads that loops repeat.
    pub hbm_read: i64,
    /// Bytes written to HBM.
    pub hbm_written: i64,
    /// Part of `hbm_read` that reads a matmul operand again because a loop tiles the result (rule 6).
    pub reread: i64,
    /// Part of `hbm_read` that an earlier read of the same kernel input already loaded (rule 3).
    pub shared: i64,
    /// Part of `hbm_read` that an earlier op of the kernel wrote.
    pub read_back: i64,
    /// Bytes moved between LX and the cores in one iteration, summed over all cores.
    pub lx_per_iteration: i64,
}

impl OpBytes {
    /// Returns the bytes read from and written to HBM.
    #[must_use]
    pub const fn hbm(&self) -> i64 {
        self.hbm_read + self.hbm_written
    }
}

/// Computes the bytes of each op of a kernel.
///
/// A tensor in HBM counts its device bytes, padding included, once for all cores, times the iterations of the loops
/// that repeat it. A kernel input that several operands read counts as its largest read. Tensors in LX move no HBM
/// bytes.
#[must_use]
pub fn compute_kernel_bytes(kernel: &[OpShape]) -> Vec<OpBytes> {
    let mut history = AccessHistory::default();
    kernel.iter().map(|op| history.record_op(op)).collect()
}

/// Accesses of the preceding ops of a kernel to its buffers.
#[derive(Clone, Debug, Default)]
pub struct AccessHistory {
    /// Largest read of each buffer.
    read: Vec<i64>,
    /// Whether each buffer was written to HBM.
    is_written: Vec<bool>,
}

impl AccessHistory {
    /// Creates a history from the bytes of each buffer's largest read, and whether the buffer was written to HBM.
    pub fn from_buffers(buffers: impl IntoIterator<Item = (i64, bool)>) -> Self {
        let (read, is_written) = buffers.into_iter().unzip();
        Self { read, is_written }
    }

    /// Computes the bytes of the next op of the kernel.
    pub fn record_op(&mut self, op: &OpShape) -> OpBytes {
        let num_buffers = op.operands.iter().map(|operand| operand.buffer + 1).max().unwrap_or(0).max(self.read.len());
        self.read.resize(num_buffers, 0);
        self.is_written.resize(num_buffers, false);
        let mut bytes = OpBytes::default();
        for operand in op.inputs() {
            let moved = operand.device_bytes * op.loop_factor(operand);
            if operand.is_in_lx {
                bytes.lx_per_iteration += operand.device_bytes;
                continue;
            }
            bytes.hbm_read += moved;
            bytes.reread += compute_reread_bytes(op, operand);
            if operand.is_kernel_input {
                let known = &mut self.read[operand.buffer];
                bytes.shared += moved.min(*known);
                *known = moved.max(*known);
            } else if self.is_written[operand.buffer] {
                bytes.read_back += moved;
            }
        }
        for operand in op.operands.iter().filter(|operand| operand.is_output) {
            if operand.is_in_lx {
                bytes.lx_per_iteration += operand.device_bytes;
            } else {
                bytes.hbm_written += operand.device_bytes * op.loop_factor(operand);
                self.is_written[operand.buffer] = true;
            }
        }
        bytes
    }
}

fn compute_reread_bytes(op: &OpShape, operand: &OperandShape) -> i64 {
    let repeats = op.kind == OpKind::Matmul && op.tiles_output();
    if repeats { operand.device_bytes * (op.loop_factor(operand) - 1) } else { 0 }
}
