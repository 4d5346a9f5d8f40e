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

    /// Returns the op's slices, per dimension of the tensor, then the numbers of cores that have the same slice, for
    /// the copy of the tensor on `cores` cores; `None` if these are no multiple of the op's.
    pub(crate) fn shuffle_split(&self, cores: i64) -> Result<Option<WorkSplit>, String> {
        let (slices, divisors) =
            (self.split.slices(), self.split.divisors(CoreOrder::from_family(self.operation.family)));
        let own_cores = self.split.num_cores();
        if cores % own_cores != 0 {
            return Ok(None);
        }
        let is_shared = |dim: &usize| slices[*dim] > 1 && !self.dims.contains(&Some(*dim));
        let of_tensor = self.dims.iter().map(|dim| dim.map_or((1, 1), |dim| (slices[dim], divisors[dim])));
        let shared = (0..slices.len()).filter(is_shared).map(|dim| (slices[dim], divisors[dim]));
        let unused = (cores > own_cores).then_some((cores / own_cores, own_cores));
        let (slices, divisors): (Vec<i64>, Vec<i64>) = of_tensor.chain(shared).chain(unused).unzip();
        let split = WorkSplit::new(slices)
            .and_then(|split| split.with_divisors(&divisors, CoreOrder::from_family(Family::Copy)));
        split.map(Some).map_err(|error| error.to_string())
    }

    /// Returns whether a copy of the value with this type has on each core the slice that the user has.
    ///
    /// # Errors
    /// Returns an error if the layouts of the user are wrong.
    pub(crate) fn matches_copy(&self, copied: &ProgramTensor) -> Result<bool, String> {
        let split = self.tensor_split()?;
        if copied.layout.is_none() {
            return Ok(false);
        }
        let copy = build_copy_operation(copied)?;
        Ok(find_common_view(&[CoreUse { op: &copy, operand: 0, split: &split }, self.core_use()]).is_ok())
    }
}

/// Returns the copy of a tensor, with its result as its only operand.
///
/// # Errors
/// Returns an error if the tensor has no layout, or a wrong one.
pub(super) fn build_copy_operation(copied: &ProgramTensor) -> Result<UndividedOp, String> {
    let sizes = copied.shape.clone();
    let access = TensorAccess::identity(ProgramTensor { buffer_shape: None, ..copied.clone() });
    let coordinates = access.coordinates(&sizes)?;
    let written = DeviceOperand { layout: access.layout()?.clone(), coordinates, part_of: None, indexed: None };
    Ok(UndividedOp {
        family: Family::Copy,
        dims: sizes.iter().map(|&size| IterationDim { size, kind: DimKind::Output }).collect(),
        operands: vec![written],
        minima: WorkSplit::single_core(sizes.len()),
        hint: None,
        blocked: Vec::new(),
    })
}
