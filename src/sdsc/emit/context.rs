//! Op and its derived facts, from which the sections of its file are built.

use super::windows::OpWindows;
use crate::bundle::{OpFamily, OpSpec};
use crate::launch::geometry::{DimLabel, Geometry};
use crate::launch::symbols::OpAddresses;
use sdsc_format::model::Text;

/// Op and its derived facts.
pub(super) struct EmitContext<'a> {
    pub(super) op: &'a OpSpec,
    pub(super) geometry: &'a Geometry,
    pub(super) addresses: &'a OpAddresses,
    pub(super) windows: OpWindows,
}

impl EmitContext<'_> {
    /// Returns the number of tensors that the file lists as inputs; a reduction also lists its result.
    pub(super) fn num_inputs(&self) -> usize {
        let num_tensors = self.geometry.tensors.len();
        match self.geometry.family {
            OpFamily::Pool | OpFamily::TopK => 1,
            OpFamily::Depthwise | OpFamily::Reduction if self.op.is_reduction => num_tensors,
            OpFamily::Matmul | OpFamily::Conv2d | OpFamily::Depthwise | OpFamily::Reduction | OpFamily::Elementwise => {
                num_tensors - 1
            }
        }
    }

    /// Returns whether the file lists a tensor as an input.
    pub(super) fn is_input(&self, tensor: usize) -> bool {
        tensor < self.num_inputs()
    }
}

/// Returns the labels as files write them.
pub(super) fn label_texts(labels: &[DimLabel]) -> Vec<Text> {
    labels.iter().map(|label| label.name().into()).collect()
}
