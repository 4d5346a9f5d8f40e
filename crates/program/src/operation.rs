//! Ops as input of work division, with the layouts and coordinates of their operands.

use crate::{
    layout::{Coordinate, DeviceLayout, LayoutError, count_sticks, find_stick_contents},
    split::{SplitError, WorkSplit},
};
use machine::Family;

/// Contradiction in the description of an op.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndividedOpError {
    /// The slice counts do not form a split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// An operand has one coordinate per device dimension.
    #[error("operand {operand} has {found} coordinates for {expected} device dimensions")]
    Coordinates {
        /// The operand.
        operand: usize,
        /// Number of device dimensions of its layout.
        expected: usize,
        /// Number of its coordinates.
        found: usize,
    },
    /// A coordinate is invalid, or refers to no iteration dimension.
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// Kind of an iteration dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DimKind {
    /// Dimension of the result.
    Output,
    /// Dimension that the op sums up, or reduces in another way.
    Reduction,
}

/// Iteration dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IterationDim {
    /// Number of positions, at least 1.
    pub size: i64,
    /// Kind of the dimension.
    pub kind: DimKind,
}

/// Tensor that the op reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceOperand {
    /// Its device layout.
    pub layout: DeviceLayout,
    /// One coordinate per device dimension, in terms of the op's iteration dimensions.
    pub coordinates: Vec<Coordinate>,
    /// For a partial access: the number of positions of the complete tensor along each device dimension. `None` for a
    /// tile, which has the layout of a larger buffer, if the op accesses all of it.
    pub part_of: Option<Vec<i64>>,
    /// For a gather's table: the device dimension whose position an index determines.
    pub indexed: Option<usize>,
}

impl DeviceOperand {
    /// Returns the elements per stick, if the iteration dimension runs in the operand's sticks.
    fn stick_along(&self, dim: usize) -> Option<i64> {
        (find_stick_contents(&self.coordinates).dim == Some(dim)).then(|| self.layout.format().elements_per_stick())
    }

    /// Returns whether the iteration dimension, of that size, runs in its sticks and leaves the last one incomplete.
    #[must_use]
    pub fn pads_last_stick(&self, dim: usize, size: i64) -> bool {
        self.stick_along(dim).is_some_and(|stick| size % stick != 0)
    }
}

/// Op before its work is divided over cores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UndividedOp {
    /// How the device function uses the iteration space.
    pub family: Family,
    /// The iteration dimensions, output dimensions first.
    pub dims: Vec<IterationDim>,
    /// Inputs in order, then the result.
    pub operands: Vec<DeviceOperand>,
    /// Slices that the span limit requires; all 1 if none are required.
    pub minima: WorkSplit,
    /// The user's split, which overrides the rules.
    pub hint: Option<WorkSplit>,
    /// Iteration dimensions that the device function cannot divide (those of a gather's table, the reduced one of a
    /// top-k, what a restickify pads).
    pub blocked: Vec<usize>,
}

impl UndividedOp {
    /// Returns the units of every iteration dimension: sticks if it runs in the sticks of an operand (the largest
    /// sticks if formats differ), else positions (torch-spyre, stick adjustment).
    #[must_use]
    pub fn units(&self) -> Vec<i64> {
        let unit = |dim| self.stick_along(dim).unwrap_or(1);
        self.dims.iter().enumerate().map(|(index, dim)| count_sticks(dim.size, unit(index))).collect()
    }

    /// Returns the elements of the largest stick of an operand in which the dimension runs.
    fn stick_along(&self, dim: usize) -> Option<i64> {
        self.operands.iter().filter_map(|operand| operand.stick_along(dim)).max()
    }

    /// Returns whether the dimension may be split. A reduction that masks the padding of its last stick must have that
    /// stick on every core (SDSC, coordinate masking). A matmul needs no mask, because the hardware clears the lanes
    /// after K.
    #[must_use]
    pub fn may_split(&self, dim: usize) -> bool {
        !self.blocked.contains(&dim) && !self.is_masked_reduction(dim)
    }

    /// Returns whether the op reduces the dimension with a mask on its last stick.
    #[must_use]
    pub fn is_masked_reduction(&self, dim: usize) -> bool {
        match self.family {
            Family::Matmul | Family::Gather => false,
            Family::Pointwise | Family::Reduce | Family::Copy => self.is_padded_reduction(dim),
        }
    }

    /// Returns the iteration dimensions that move along an operand, in the order of its device dimensions.
    #[must_use]
    pub fn operand_dims(&self, operand: usize) -> Vec<usize> {
        let mut dims = Vec::new();
        for dim in
            self.operands[operand].coordinates.iter().filter_map(|coordinate| coordinate.term).map(|term| term.dim)
        {
            if !dims.contains(&dim) {
                dims.push(dim);
            }
        }
        dims
    }

    /// Returns whether the dimension is reduced in the sticks of an operand whose last stick is incomplete.
    #[must_use]
    pub fn is_padded_reduction(&self, dim: usize) -> bool {
        let IterationDim { size, kind } = self.dims[dim];
        kind == DimKind::Reduction && self.operands.iter().any(|operand| operand.pads_last_stick(dim, size))
    }

    /// Returns the positions of every iteration dimension on one core, rounded up. A matmul iterates over complete
    /// sticks, also for the operand that has the dimension outside its sticks.
    #[must_use]
    pub fn ranges_per_core(&self, split: &WorkSplit) -> Vec<i64> {
        let positions = self.dims.iter().zip(split.slices()).map(|(dim, &slices)| count_sticks(dim.size, slices));
        match self.family {
            Family::Matmul => {
                positions.enumerate().map(|(dim, positions)| self.round_up_to_sticks(dim, positions)).collect()
            }
            Family::Pointwise | Family::Reduce | Family::Copy | Family::Gather => positions.collect(),
        }
    }

    /// Returns the positions including those that fill the last stick, if the dimension runs in the sticks of an
    /// operand.
    fn round_up_to_sticks(&self, dim: usize, positions: i64) -> i64 {
        self.stick_along(dim).map_or(positions, |stick| count_sticks(positions, stick).saturating_mul(stick))
    }

    /// Returns the number of reduction dimensions that the split divides.
    #[must_use]
    pub fn num_split_reductions(&self, split: &WorkSplit) -> usize {
        let is_cut = |&(dim, slices): &(&IterationDim, &i64)| dim.kind == DimKind::Reduction && *slices > 1;
        self.dims.iter().zip(split.slices()).filter(is_cut).count()
    }

    /// Checks that the description is consistent.
    ///
    /// # Errors
    /// Returns the first contradiction.
    pub fn check(&self) -> Result<(), UndividedOpError> {
        let ranges: Vec<i64> = self.dims.iter().map(|dim| dim.size).collect();
        for (index, operand) in self.operands.iter().enumerate() {
            let (expected, found) = (operand.layout.rank(), operand.coordinates.len());
            if expected != found {
                return Err(UndividedOpError::Coordinates { operand: index, expected, found });
            }
            for term in operand.coordinates.iter().filter_map(|coordinate| coordinate.term) {
                term.max_value(&ranges)?;
            }
        }
        for split in [&self.minima].into_iter().chain(&self.hint) {
            if split.slices().len() != self.dims.len() {
                return Err(SplitError::Length { expected: self.dims.len(), found: split.slices().len() }.into());
            }
        }
        Ok(())
    }
}
