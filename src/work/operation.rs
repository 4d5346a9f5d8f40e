//! Ops as input of work division.

use super::{SplitError, WorkError, WorkSplit};
use machine::Family;
use program::layout::{Coordinate, DeviceLayout, stick_of, sticks_needed};

/// Kind of an iteration dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DimKind {
    /// The result has it.
    Output,
    /// It is summed up, or reduced in another way.
    Reduction,
}

/// One iteration dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IterationDim {
    /// Positions, at least 1.
    pub size: i64,
    /// Whether the result has it.
    pub kind: DimKind,
}

/// A tensor that the op reads or writes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operand {
    /// Its device layout.
    pub layout: DeviceLayout,
    /// One coordinate per device dimension, in terms of the op's iteration dimensions.
    pub coordinates: Vec<Coordinate>,
    /// For a partial access: the number of positions of the complete tensor along each device dimension. `None` for a tile, which has the
    /// layout of a larger buffer, if the op accesses all of it.
    pub part_of: Option<Vec<i64>>,
    /// For a gather's table: the device dimension whose position an index determines.
    pub indexed: Option<usize>,
}

impl Operand {
    /// Elements of its stick, if the iteration dimension runs in its sticks.
    fn stick_along(&self, dim: usize) -> Option<i64> {
        (stick_of(&self.coordinates).dim == Some(dim)).then(|| self.layout.format().elements_per_stick())
    }

    /// Whether the iteration dimension, of that size, runs in its sticks and leaves the last one partly empty.
    #[must_use]
    pub fn pads(&self, dim: usize, size: i64) -> bool {
        self.stick_along(dim).is_some_and(|stick| size % stick != 0)
    }
}

/// Op before its work is divided over cores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operation {
    /// How the device function uses its iteration space.
    pub family: Family,
    /// The iteration dimensions, output dimensions first.
    pub dims: Vec<IterationDim>,
    /// Inputs in order, then the result.
    pub operands: Vec<Operand>,
    /// Slices that [`super::reduce_span`] found necessary; all 1 when nothing is.
    pub minima: WorkSplit,
    /// The user's split, which overrides the rules.
    pub hint: Option<WorkSplit>,
    /// Iteration dimensions that the device function cannot divide (all of a gather's, the reduced one of a top-k, what a restickify pads).
    pub blocked: Vec<usize>,
}

impl Operation {
    /// Units of every iteration dimension: sticks where it runs in the sticks of an operand (the largest sticks if formats differ), else
    /// positions (torch-spyre, stick adjustment).
    #[must_use]
    pub fn units(&self) -> Vec<i64> {
        let unit = |dim| self.stick_along(dim).unwrap_or(1);
        self.dims.iter().enumerate().map(|(index, dim)| sticks_needed(dim.size, unit(index))).collect()
    }

    /// Elements of the largest stick of an operand in which the dimension runs.
    fn stick_along(&self, dim: usize) -> Option<i64> {
        self.operands.iter().filter_map(|operand| operand.stick_along(dim)).max()
    }

    /// Returns whether the dimension may be cut. A reduction that masks the padding of its last stick must see that stick on every core
    /// (SDSC, coordinate masking). A matmul needs no mask, because the hardware clears the lanes after K.
    #[must_use]
    pub fn may_split(&self, dim: usize) -> bool {
        !self.blocked.contains(&dim) && !self.is_masked_reduction(dim)
    }

    /// Whether the op reduces the dimension with a mask on its last stick.
    pub(super) fn is_masked_reduction(&self, dim: usize) -> bool {
        match self.family {
            Family::Matmul | Family::Gather => false,
            Family::Pointwise | Family::Reduce | Family::Copy => self.is_padded_reduction(dim),
        }
    }

    /// The iteration dimensions that move along an operand, in the order of its device dimensions.
    pub(super) fn dims_of_operand(&self, operand: usize) -> Vec<usize> {
        let mut dims = Vec::new();
        for dim in self.operands[operand].coordinates.iter().filter_map(|coordinate| coordinate.term).map(|term| term.dim) {
            if !dims.contains(&dim) {
                dims.push(dim);
            }
        }
        dims
    }

    /// Whether the dimension is reduced in the sticks of an operand whose last stick is partly empty.
    pub(super) fn is_padded_reduction(&self, dim: usize) -> bool {
        let IterationDim { size, kind } = self.dims[dim];
        kind == DimKind::Reduction && self.operands.iter().any(|operand| operand.pads(dim, size))
    }

    /// Returns the positions of every iteration dimension on one core, rounded up. A product iterates over whole sticks, also for the
    /// operand that has the dimension outside its sticks.
    pub(super) fn ranges_per_core(&self, split: &WorkSplit) -> Vec<i64> {
        let positions = self.dims.iter().zip(split.slices()).map(|(dim, &slices)| sticks_needed(dim.size, slices));
        match self.family {
            Family::Matmul => positions.enumerate().map(|(dim, positions)| self.padded(dim, positions)).collect(),
            Family::Pointwise | Family::Reduce | Family::Copy | Family::Gather => positions.collect(),
        }
    }

    /// Positions with those that fill the last stick, if the dimension runs in the sticks of an operand.
    fn padded(&self, dim: usize, positions: i64) -> i64 {
        self.stick_along(dim).map_or(positions, |stick| sticks_needed(positions, stick).saturating_mul(stick))
    }

    /// Reduction dimensions that the split cuts.
    pub(super) fn n_split_reductions(&self, split: &WorkSplit) -> usize {
        let is_cut = |&(dim, slices): &(&IterationDim, &i64)| dim.kind == DimKind::Reduction && *slices > 1;
        self.dims.iter().zip(split.slices()).filter(is_cut).count()
    }

    /// Checks that the parts of the description fit together.
    pub(super) fn check(&self) -> Result<(), WorkError> {
        let ranges: Vec<i64> = self.dims.iter().map(|dim| dim.size).collect();
        for (index, operand) in self.operands.iter().enumerate() {
            let (expected, found) = (operand.layout.rank(), operand.coordinates.len());
            if expected != found {
                return Err(WorkError::Coordinates { operand: index, expected, found });
            }
            for term in operand.coordinates.iter().filter_map(|coordinate| coordinate.term) {
                term.last(&ranges)?;
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use machine::DeviceFormat;
    use machine::DeviceFormat::{IeeeFp32, Sen169Fp16};
    use program::layout::{HostTensor, device_coordinates};
    use proptest::prelude::*;

    fn operand(sizes: &[i64], access: &[Coordinate], ranges: &[i64], format: DeviceFormat) -> Operand {
        let host = HostTensor::row_major(sizes).unwrap();
        let layout = DeviceLayout::row_major(sizes, format).unwrap();
        let coordinates = device_coordinates(&layout, &host, access, ranges).unwrap();
        Operand { layout, coordinates, part_of: None, indexed: None }
    }

    fn operation(family: Family, dims: Vec<IterationDim>, operands: Vec<Operand>) -> Operation {
        let minima = WorkSplit::whole(dims.len());
        Operation { family, dims, operands, minima, hint: None, blocked: Vec::new() }
    }

    fn output(size: i64) -> IterationDim {
        IterationDim { size, kind: DimKind::Output }
    }

    fn reduced(size: i64) -> IterationDim {
        IterationDim { size, kind: DimKind::Reduction }
    }

    /// One f16 input and a result of the same shape.
    pub(in crate::work) fn pointwise(sizes: &[i64]) -> Operation {
        let access: Vec<Coordinate> = (0..sizes.len()).map(Coordinate::dim).collect();
        let both = operand(sizes, &access, sizes, Sen169Fp16);
        operation(Family::Pointwise, sizes.iter().map(|&size| output(size)).collect(), vec![both.clone(), both])
    }

    /// An f16 reduction over one dimension, which stays in the result with size 1.
    pub(in crate::work) fn reduction(sizes: &[i64], dim: usize) -> Operation {
        let kept: Vec<usize> = (0..sizes.len()).filter(|&other| other != dim).collect();
        let ranges: Vec<i64> = kept.iter().map(|&other| sizes[other]).chain([sizes[dim]]).collect();
        let place = |host: usize| kept.iter().position(|&other| other == host);
        let read: Vec<Coordinate> = (0..sizes.len()).map(|host| Coordinate::dim(place(host).unwrap_or(kept.len()))).collect();
        let write: Vec<Coordinate> = (0..sizes.len()).map(|host| place(host).map_or(Coordinate::constant(0), Coordinate::dim)).collect();
        let result: Vec<i64> = (0..sizes.len()).map(|host| if host == dim { 1 } else { sizes[host] }).collect();
        let dims = ranges[..kept.len()].iter().map(|&size| output(size)).chain([reduced(sizes[dim])]).collect();
        let operands = vec![operand(sizes, &read, &ranges, Sen169Fp16), operand(&result, &write, &ranges, Sen169Fp16)];
        operation(Family::Reduce, dims, operands)
    }

    /// An f16 matmul of [batch.., m, k] and [batch.., k, n].
    pub(in crate::work) fn matmul(batch: &[i64], m: i64, k: i64, n: i64) -> Operation {
        let rank = batch.len();
        let ranges = [batch, &[m, n, k]].concat();
        let access = |rows: usize, columns: usize| {
            let batch = (0..rank).map(Coordinate::dim);
            batch.chain([Coordinate::dim(rank + rows), Coordinate::dim(rank + columns)]).collect::<Vec<_>>()
        };
        let tensor = |rows: usize, columns: usize| {
            let sizes = [batch, &[ranges[rank + rows], ranges[rank + columns]]].concat();
            operand(&sizes, &access(rows, columns), &ranges, Sen169Fp16)
        };
        let dims = ranges[..rank + 2].iter().map(|&size| output(size)).chain([reduced(k)]).collect();
        operation(Family::Matmul, dims, vec![tensor(0, 2), tensor(2, 1), tensor(0, 1)])
    }

    /// A small or a large op of any family.
    pub(in crate::work) fn any_operation() -> impl Strategy<Value = Operation> {
        let size = || prop_oneof![1_i64..300, (1_i64..300).prop_map(|size| size * 64)];
        prop_oneof![
            prop::collection::vec(size(), 1..4).prop_map(|sizes| pointwise(&sizes)),
            (size(), size(), 0_usize..2).prop_map(|(rows, columns, dim)| reduction(&[rows, columns], dim)),
            (prop::collection::vec(1_i64..9, 0..2), size(), size(), size()).prop_map(|(batch, m, k, n)| matmul(&batch, m, k, n)),
        ]
    }

    #[test]
    fn stick_dims_are_counted_in_sticks() {
        assert_eq!(pointwise(&[128, 250]).units(), [128, 4]);
        assert_eq!(matmul(&[], 70, 100, 150).units(), [70, 3, 2]);
        let mut mixed = pointwise(&[128, 256]);
        mixed.operands[1] = operand(&[128, 256], &[Coordinate::dim(0), Coordinate::dim(1)], &[128, 256], IeeeFp32);
        assert_eq!(mixed.units(), [128, 4], "the f16 stick is the larger unit");
    }

    #[test]
    fn a_masked_reduction_is_not_split() {
        assert!(reduction(&[64, 256], 1).may_split(1));
        assert!(!reduction(&[64, 200], 1).may_split(1));
        assert!(reduction(&[50, 256], 0).may_split(1), "rows need no mask");
        assert!(matmul(&[], 70, 100, 150).may_split(2), "nor does a contraction");
    }

    #[test]
    fn a_contradictory_operation_is_refused() {
        let mut short = pointwise(&[128, 256]);
        short.operands[1].coordinates.pop();
        assert_eq!(short.check(), Err(WorkError::Coordinates { operand: 1, expected: 3, found: 2 }));
        let mut foreign = pointwise(&[128, 256]);
        foreign.operands[0].coordinates[1] = Coordinate::dim(7);
        assert!(matches!(foreign.check(), Err(WorkError::Layout(_))));
    }
}
