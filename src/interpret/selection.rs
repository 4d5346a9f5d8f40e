//! Subsets of a tensor's elements.

use super::positions::{PositionSequence, compute_strides};
use std::sync::Arc;

/// Positions along each dimension, in order; their Cartesian product is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementSelection(Vec<Arc<[usize]>>);

impl ElementSelection {
    /// Selects the elements at all combinations of positions.
    #[must_use]
    pub fn new(positions: impl IntoIterator<Item = Vec<usize>>) -> Self {
        let in_order = |mut positions: Vec<usize>| {
            positions.sort_unstable();
            positions.dedup();
            positions.into()
        };
        Self(positions.into_iter().map(in_order).collect())
    }

    /// Selects all elements.
    #[must_use]
    pub fn whole(shape: &[usize]) -> Self {
        Self(shape.iter().map(|size| (0..*size).collect()).collect())
    }

    /// Selects no element; the element of a tensor without dimensions is always selected.
    #[must_use]
    pub fn none(rank: usize) -> Self {
        Self(vec![Arc::default(); rank])
    }

    pub(super) fn from_dims(dims: impl IntoIterator<Item = Arc<[usize]>>) -> Self {
        Self(dims.into_iter().collect())
    }

    /// Returns the positions along each dimension.
    #[must_use]
    pub fn dims(&self) -> &[Arc<[usize]>] {
        &self.0
    }

    /// Returns the number of positions along each dimension.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        self.0.iter().map(|positions| positions.len()).collect()
    }

    /// Returns the number of selected elements.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.iter().map(|positions| positions.len()).product()
    }

    /// Returns the indices of the selected element number `index`, one per dimension.
    #[must_use]
    pub fn indices(&self, index: &[usize]) -> Vec<usize> {
        self.0.iter().zip(index).map(|(positions, at)| positions[*at]).collect()
    }

    /// Returns the row-major positions of the elements, in order.
    #[must_use]
    pub fn positions(&self, shape: &[usize]) -> Vec<usize> {
        let along =
            |(positions, stride): (&Arc<[usize]>, usize)| positions.iter().map(|position| position * stride).collect();
        PositionSequence::Sums(self.0.iter().zip(compute_strides(shape)).map(along).collect()).positions()
    }

    /// Adds the positions of another selection.
    pub(super) fn include(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if own != other {
                let mut all: Vec<usize> = own.iter().chain(other.iter()).copied().collect();
                all.sort_unstable();
                all.dedup();
                *own = all.into();
            }
        }
    }

    /// Returns the positions of `wanted` elements among these stored ones; `None` if one is not stored.
    pub(super) fn locate(&self, wanted: &Self) -> Option<PositionSequence> {
        let mut tables = Vec::with_capacity(self.0.len());
        for ((own, wanted), stride) in self.0.iter().zip(&wanted.0).zip(compute_strides(&self.shape())) {
            let along: Option<Vec<usize>> =
                wanted.iter().map(|position| Some(own.binary_search(position).ok()? * stride)).collect();
            tables.push(along?);
        }
        Some(PositionSequence::Sums(tables))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_all_combinations_of_positions() {
        let selection = ElementSelection::new([vec![2, 0], vec![1, 3, 1]]);
        assert_eq!((selection.shape(), selection.length()), (vec![2, 2], 4));
        assert_eq!(selection.positions(&[3, 4]), [1, 3, 9, 11]);
        assert_eq!(selection.indices(&[1, 0]), [2, 1]);
        assert_eq!((ElementSelection::none(2).length(), ElementSelection::none(0).length()), (0, 1));
    }

    #[test]
    fn merges_positions_of_selections() {
        let mut selection = ElementSelection::new([vec![0], vec![1]]);
        selection.include(&ElementSelection::new([vec![2], vec![1]]));
        assert_eq!(selection, ElementSelection::new([vec![0, 2], vec![1]]));
        let places = selection.locate(&ElementSelection::new([vec![2], vec![1]])).map(|walk| walk.positions());
        assert_eq!(places, Some(vec![1]));
        assert!(selection.locate(&ElementSelection::new([vec![1], vec![1]])).is_none());
    }
}
