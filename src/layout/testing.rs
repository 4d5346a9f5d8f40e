//! Elements of a layout flow, for unit tests.

use super::{BufferRole, LayoutBuffer, LayoutOp, StickRule};
use machine::DeviceFormat::Sen169Fp16;
use program::layout::TensorIndex;

/// Creates a buffer between two ops.
pub(super) fn buffer(sizes: &[i64]) -> LayoutBuffer {
    LayoutBuffer {
        sizes: sizes.to_vec(),
        format: Sen169Fp16,
        given: None,
        regrouped: Vec::new(),
        symbolic: Vec::new(),
        batch: Vec::new(),
        role: BufferRole::Inner,
    }
}

/// Returns plain indices: these dimensions of an iteration space.
pub(super) fn dims(ranges: &[i64], dims: &[usize]) -> Vec<TensorIndex> {
    dims.iter().map(|&dim| TensorIndex::from_dim(dim, ranges).unwrap()).collect()
}

/// Creates an op that reads nothing yet, and writes buffer 0 by its first dimensions except the reduced ones.
pub(super) fn op(kind: StickRule, ranges: &[i64], num_reduced: usize) -> LayoutOp {
    let outputs: Vec<usize> = (0..ranges.len() - num_reduced).collect();
    LayoutOp {
        kind,
        ranges: ranges.to_vec(),
        num_reduced,
        reads: vec![],
        result: 0,
        written: dims(ranges, &outputs),
        table_stick: None,
        symbolic: vec![],
    }
}
