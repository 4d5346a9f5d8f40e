//! Core split of a copy between LX and HBM.

use crate::work::{CoreUse, find_common_view};
use machine::Family;
use program::{CoreOrder, DeviceOperand, DimKind, IterationDim, ProgramTensor, TensorAccess, UndividedOp, WorkSplit};

/// User of a value: the operand index, the accessed dimensions, and the core split.
pub(crate) struct CopyUser<'a> {
    pub(crate) operand: usize,
    /// For each dimension of the value the iteration dimension that indexes it.
    pub(crate) dims: &'a [Option<usize>],
    pub(crate) operation: &'a UndividedOp,
    pub(crate) split: &'a WorkSplit,
}

impl<'a> CopyUser<'a> {
    pub(crate) const fn core_use(&self) -> CoreUse<'a> {
        CoreUse { op: self.operation, operand: self.operand, split: self.split }
    }

    /// Returns the op's slices, per dimension of the tensor, on the same cores.
    pub(crate) fn tensor_split(&self) -> Result<WorkSplit, String> {
        let (slices, divisors) =
            (self.split.slices(), self.split.divisors(CoreOrder::from_family(self.operation.family)));
        let split = WorkSplit::new(self.dims.iter().map(|dim| dim.map_or(1, |dim| slices[dim])).collect());
        let divisors: Vec<i64> = self.dims.iter().map(|dim| dim.map_or(1, |dim| divisors[dim])).collect();
        split
            .and_then(|split| split.with_divisors(&divisors, CoreOrder::from_family(Family::Copy)))
            .map_err(|error| error.to_string())
    }

    /// Returns whether a copy of the value with this type has on each core the slice that the user has.
    ///
    /// # Errors
    /// Returns an error if the layouts of the user are wrong.
    pub(crate) fn matches_copy(&self, copied: &ProgramTensor) -> Result<bool, String> {
        let split = self.tensor_split()?;
        let Some(layout) = &copied.layout else { return Ok(false) };
        let sizes = copied.shape.clone();
        let coordinates =
            TensorAccess::identity(ProgramTensor { buffer_shape: None, ..copied.clone() }).coordinates(&sizes)?;
        let written = DeviceOperand { layout: layout.clone(), coordinates, part_of: None, indexed: None };
        let copy = UndividedOp {
            family: Family::Copy,
            dims: sizes.iter().map(|&size| IterationDim { size, kind: DimKind::Output }).collect(),
            operands: vec![written],
            minima: WorkSplit::single_core(sizes.len()),
            hint: None,
            blocked: Vec::new(),
        };
        Ok(find_common_view(&[CoreUse { op: &copy, operand: 0, split: &split }, self.core_use()]).is_ok())
    }
}
