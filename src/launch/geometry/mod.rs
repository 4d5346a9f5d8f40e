//! Geometry of an op: labels, sizes, strides and core divisions.
//!
//! An op spec maps each iteration point to a position in each tensor. The file format and start addresses express the
//! mapping with labelled dimensions: [`Geometry`], from which both `bundle.mlir` and the JSON file are written. All
//! rules are in "SuperDSC schema, sections 2 to 5".
//!
//! For the sum of an fp16 matrix of 64 rows and 256 columns along its rows, by 4 cores:
//!
//! | | labels | scale | stride |
//! |---|---|---|---|
//! | space | `mb` 64 in 4 slices, `out` 256 | | |
//! | input `[4, 64, 64]` | `mb`, `out` (stick) | 1, 1 | 64 * 64, 4 * 64 * 64 |
//! | result `[1, 64, 64]` | `mb`, `out` | 1, -2 | 64 * 64, - |
//!
//! Core 1 reads its input at element `1 * 4096 / 4`, which is row 16 of the first column of sticks.

mod access;
mod check;
mod class;
mod cores;
mod label;
mod order;
mod padding;
mod space;
mod space_plan;
mod tensor;
#[cfg(test)]
mod testing;
mod windowed_label;

pub use access::AddressingMode;
pub use class::{ClassName, LayoutClass};
pub use cores::{CoreDivisions, DimDivision};
pub use padding::DimPadding;
pub use space::{LabeledSpace, SpaceDim};
pub use tensor::{LabeledTensor, Scale, TensorDim};

pub use super::label::DimLabel;

use super::LaunchError;
use crate::bundle::{OpFamily, OpSpec};
use order::OpView;
use space_plan::SpacePlan;

/// Geometry of one op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Family whose rules the op follows.
    pub family: OpFamily,
    /// Label of each iteration dimension, by position.
    pub labels: Vec<DimLabel>,
    /// Labelled dimensions, padded.
    pub space: LabeledSpace,
    /// Tensors of the operands, in order.
    pub tensors: Vec<LabeledTensor>,
    /// Layout classes, in the order of their first tensors.
    pub classes: Vec<LayoutClass>,
    /// Padding that must be masked out of the result.
    pub masked: DimPadding,
    /// Slices that each core computes.
    pub divisions: CoreDivisions,
    /// Slices that each core holds, by tensor, if the op moves data between scratchpads.
    pub owners: Option<Vec<CoreDivisions>>,
}

impl Geometry {
    /// Computes the geometry of an op.
    ///
    /// # Errors
    ///
    /// If the op has no form in the file format; the error states the value found and the rule.
    pub fn new(op: &OpSpec) -> Result<Self, LaunchError> {
        let family = OpFamily::from_op(op);
        check::check(op, family)?;
        let view =
            OpView { op, family, labels: label::assign_labels(op, family)?, accesses: access::classify_operands(op)? };
        let plan = SpacePlan::new(&view)?;
        let mut tensors = tensor::build_tensors(&view, &plan);
        let classes = class::assign_classes(family, view.is_indirect(), &mut tensors)?;
        let mut space = plan.space;
        let padding = padding::pad_space(&view, &tensors, &classes, &mut space);
        padding::adjust_restickify(&view, &mut tensors, &classes, &padding, &mut space);
        let masked = padding::compute_masked_padding(op, &padding, &tensors[tensors.len() - 1]);
        let divisions = cores::divide_space(op, &view.labels, &space, family);
        let owners = cores::assign_owners(op, &view.labels, &space, &divisions)?;
        Ok(Self { family, labels: view.labels, space, tensors, classes, masked, divisions, owners })
    }

    /// Returns the number of cores of the op.
    #[must_use]
    pub fn num_cores(&self) -> i64 {
        self.space.num_cores()
    }

    /// Returns the element offset at which a core's slice of a tensor starts.
    #[must_use]
    pub fn start_element(&self, tensor: &LabeledTensor, core: i64) -> i64 {
        // The device adds the rows that indices select to one address of their table.
        let slices = tensor.dims.iter().filter(|dim| dim.scale == Scale::Present && dim.page < 0).map(|dim| {
            let division = self.divisions.get(dim.label);
            (division.slot(core) * dim.stride).div_euclid(division.slices)
        });
        tensor.front + slices.sum::<i64>()
    }

    /// Returns the division of a tensor among the cores that hold it.
    #[must_use]
    pub fn owner(&self, tensor: usize) -> &CoreDivisions {
        self.owners.as_ref().and_then(|owners| owners.get(tensor)).unwrap_or(&self.divisions)
    }
}
