//! Core split of a copy between LX and HBM.

use crate::work::{CoreUse, agreed_view};
use machine::Family;
use program::{Access, CoreOrder, DimKind, IterationDim, Operand, Operation, Tensor, WorkSplit};

/// User of a value: the operand index, the accessed dimensions, and the core split.
pub(crate) struct CopyUser<'a> {
    pub(crate) operand: usize,
    /// For each dimension of the value the iteration dimension that indexes it.
    pub(crate) dims: &'a [Option<usize>],
    pub(crate) operation: &'a Operation,
    pub(crate) split: &'a WorkSplit,
}

impl<'a> CopyUser<'a> {
    pub(crate) const fn core_use(&self) -> CoreUse<'a> {
        CoreUse { op: self.operation, operand: self.operand, split: self.split }
    }

    /// Returns the op's slices, per dimension of the tensor, on the same cores.
    pub(crate) fn split_of_dims(&self) -> Result<WorkSplit, String> {
        let (slices, divisors) = (self.split.slices(), self.split.divisors(CoreOrder::of(self.operation.family)));
        let split = WorkSplit::new(self.dims.iter().map(|dim| dim.map_or(1, |dim| slices[dim])).collect());
        let divisors: Vec<i64> = self.dims.iter().map(|dim| dim.map_or(1, |dim| divisors[dim])).collect();
        split.and_then(|split| split.with_divisors(&divisors, CoreOrder::of(Family::Copy))).map_err(|error| error.to_string())
    }

    /// Returns whether a copy of the value with this type has on each core the slice that the user has.
    ///
    /// # Errors
    /// Returns an error if the layouts of the user are wrong.
    pub(crate) fn has_copy(&self, copied: &Tensor) -> Result<bool, String> {
        let split = self.split_of_dims()?;
        let Some(layout) = &copied.layout else { return Ok(false) };
        let sizes = copied.shape.clone();
        let coordinates = Access::identity(Tensor { buffer_shape: None, ..copied.clone() }).coordinates(&sizes)?;
        let written = Operand { layout: layout.clone(), coordinates, part_of: None, indexed: None };
        let copy = Operation {
            family: Family::Copy,
            dims: sizes.iter().map(|&size| IterationDim { size, kind: DimKind::Output }).collect(),
            operands: vec![written],
            minima: WorkSplit::whole(sizes.len()),
            hint: None,
            blocked: Vec::new(),
        };
        Ok(agreed_view(&[CoreUse { op: &copy, operand: 0, split: &split }, self.core_use()]).is_ok())
    }
}
