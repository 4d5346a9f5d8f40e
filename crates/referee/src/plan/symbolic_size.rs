//! Ops with symbolic sizes below the maximum: element positions are unchanged, and fewer elements are accessed.

use super::footprint::compute_footprints;
use super::{OpPlan, TensorPlan};
use crate::error::SimError;
use std::collections::BTreeMap;

/// Symbolic size of an op.
#[derive(Clone, Debug)]
pub(crate) struct SymbolicSize {
    /// Symbol that has the value of the size.
    pub(crate) symbol: i64,
    /// The dimension.
    pub(crate) dim: usize,
    /// Name in the file, which may omit it.
    pub(crate) name: Option<String>,
}

impl OpPlan {
    /// Returns the op at these sizes, by name; sizes without an entry keep the maximum.
    ///
    /// Rejects a size that the simulator cannot change: a size of slices, of the elements of sticks, or of masks, and a
    /// size without a name.
    pub(crate) fn with_sizes(&self, sizes: &BTreeMap<String, i64>) -> Result<Self, SimError> {
        let mut plan = self.clone();
        if sizes.is_empty() {
            return Ok(plan);
        }
        for size in &self.symbolic_sizes {
            let Some(name) = &size.name else {
                let what = format!(
                    "another size of '{}' than its maximum: 'inputSymbolsAndTags_' has no name for symbol {}",
                    self.dims[size.dim].label, size.symbol
                );
                return Err(SimError::NotSimulated { op: self.name.clone(), what });
            };
            match sizes.get(name) {
                Some(chosen) if *chosen != self.dims[size.dim].size => plan.shrink(size.dim, *chosen)?,
                Some(_) | None => {}
            }
        }
        Ok(plan)
    }

    fn shrink(&mut self, dim: usize, size: i64) -> Result<(), SimError> {
        let largest = self.dims[dim].size;
        let reject = |what: &str| {
            let what = format!("dimension '{}' of size {size}, below its maximum, {what}", self.dims[dim].label);
            SimError::NotSimulated { op: self.name.clone(), what }
        };
        if !(1..=largest).contains(&size) {
            return Err(SimError::Malformed {
                file: self.name.clone(),
                message: format!("has at most {largest} points, not {size}"),
            });
        }
        if self.dims[dim].num_slices > 1 || self.tensors.iter().any(|tensor| tensor.ownership.is_some()) {
            return Err(reject("in slices"));
        }
        if self.tensors.iter().any(|tensor| tensor.is_along_stick(dim) && !tensor.is_sparse) {
            return Err(reject("along sticks"));
        }
        if self.mask.iter().flat_map(|mask| &mask.dims).any(|(masked, _)| *masked == dim) {
            return Err(reject("with a mask"));
        }
        if self.tensors.iter().any(|tensor| !tensor.padded_windows.is_empty()) {
            return Err(reject("with padded windows"));
        }
        for tensor in 0..self.tensors.len() {
            if !self.tensors[tensor].shrink(dim, size, largest) {
                return Err(reject("in more pieces of memory than the simulator keeps"));
            }
        }
        (self.dims[dim].size, self.dims[dim].local_size) = (size, size);
        self.points_per_core = self.dims.iter().map(|dim| dim.local_size as u64).product();
        Ok(())
    }
}

impl TensorPlan {
    /// Keeps the first `size` positions along a dimension. Returns false if the footprint has too many intervals.
    fn shrink(&mut self, dim: usize, size: i64, largest: i64) -> bool {
        self.offsets[dim].truncate(size as usize);
        if self.has_dim[dim] {
            self.num_sticks = self.num_sticks / largest * size;
        }
        let Some((read, written)) = compute_footprints(&self.offsets, self.format, &self.stick_lanes, self.is_sparse)
        else {
            return false;
        };
        (self.read_intervals, self.written_intervals) = (read, written);
        true
    }
}
