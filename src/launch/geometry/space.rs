//! Iteration space of an op in the file: labelled, with the dimensions that the rules add.

use super::DimLabel;
use crate::bundle::SymbolicDim;

/// One labelled dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceDim {
    /// Label of the dimension.
    pub label: DimLabel,
    /// Number of points, padded to full sticks if the op computes on padding.
    pub size: i64,
    /// Number of slices that the cores share.
    pub split: i64,
    /// Set if the size is known at launch only; `size` is then the maximum.
    pub symbolic: Option<SymbolicDim>,
}

/// Labelled dimensions of an op, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabeledSpace {
    dims: Vec<SpaceDim>,
}

impl LabeledSpace {
    /// Returns the dimensions, in order.
    #[must_use]
    pub fn dims(&self) -> &[SpaceDim] {
        &self.dims
    }

    /// Returns the dimension with that label.
    #[must_use]
    pub fn get(&self, label: DimLabel) -> Option<&SpaceDim> {
        self.dims.iter().find(|dim| dim.label == label)
    }

    /// Returns the size of a dimension; 1 if the op does not have it.
    #[must_use]
    pub fn size(&self, label: DimLabel) -> i64 {
        self.get(label).map_or(1, |dim| dim.size)
    }

    /// Returns the number of slices of a dimension.
    #[must_use]
    pub fn split(&self, label: DimLabel) -> i64 {
        self.get(label).map_or(1, |dim| dim.split)
    }

    /// Returns the number of cores, each of which owns one slice.
    #[must_use]
    pub fn num_cores(&self) -> i64 {
        self.dims.iter().map(|dim| dim.split).product()
    }

    pub(super) fn push(&mut self, dim: SpaceDim) {
        self.dims.push(dim);
    }

    /// Sets the size of an undivided dimension; appends the dimension if it is new.
    pub(super) fn set_size(&mut self, label: DimLabel, size: i64) {
        match self.dims.iter_mut().find(|dim| dim.label == label) {
            Some(dim) => *dim = SpaceDim { label, size, split: 1, symbolic: None },
            None => self.dims.push(SpaceDim { label, size, split: 1, symbolic: None }),
        }
    }

    /// Prepends an undivided dimension.
    pub(super) fn set_first(&mut self, label: DimLabel, size: i64) {
        self.dims.retain(|dim| dim.label != label);
        self.dims.insert(0, SpaceDim { label, size, split: 1, symbolic: None });
    }

    pub(super) fn grow(&mut self, label: DimLabel, by: i64) {
        for dim in self.dims.iter_mut().filter(|dim| dim.label == label) {
            dim.size += by;
        }
    }

    pub(super) fn clear_split(&mut self, label: DimLabel) {
        for dim in self.dims.iter_mut().filter(|dim| dim.label == label) {
            dim.split = 1;
        }
    }
}

/// Returns `size` rounded up to a multiple of `unit`.
#[must_use]
pub(crate) const fn round_up(size: i64, unit: i64) -> i64 {
    (size + unit - 1).div_euclid(unit) * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appends_added_dimension_once() {
        let mut space = LabeledSpace::default();
        space.push(SpaceDim { label: DimLabel::Mb, size: 8, split: 4, symbolic: None });
        space.set_size(DimLabel::X, 1);
        space.set_size(DimLabel::X, 64);
        space.set_first(DimLabel::Out, 3);
        let dims: Vec<_> = space.dims().iter().map(|dim| (dim.label, dim.size)).collect();
        assert_eq!(dims, [(DimLabel::Out, 3), (DimLabel::Mb, 8), (DimLabel::X, 64)]);
        assert_eq!(space.num_cores(), 4);
    }

    #[test]
    fn rounds_sizes_up_to_whole_sticks() {
        assert_eq!([1, 64, 65].map(|size| round_up(size, 64)), [64, 64, 128]);
    }
}
