//! Sticks: 128 bytes along one dimension, or blocks of several dimensions.
//!
//! `stickDimOrder_` lists the dimensions of a stick from the outside: in a stick [in 16, mb 2, in 8], 8 columns of one
//! row are next to 8 columns of the other row.

/// Arrangement of the elements in the sticks of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StickShape {
    axes: Vec<StickAxis>,
    /// Dimension of adjacent elements.
    pub(super) inner: usize,
}

/// One dimension of a stick.
#[derive(Clone, Debug, PartialEq)]
struct StickAxis {
    dim: usize,
    /// Offset of each position, in elements.
    offsets: Vec<i64>,
    /// Number of consecutive positions that are evenly spaced.
    run: usize,
}

/// Elements of a stick along one dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StickLanes {
    pub(crate) dim: usize,
    pub(crate) elements: usize,
    /// Offset of the last element.
    pub(crate) last: i64,
}

impl StickShape {
    /// Builds the shape from the dimensions with their sizes, outermost first; `None` without dimensions. Products of
    /// the sizes must fit in the elements of a stick.
    pub(super) fn new(entries: &[(usize, i64)]) -> Option<Self> {
        let mut axes: Vec<StickAxis> = Vec::new();
        let mut stride = 1;
        for (dim, size) in entries.iter().rev() {
            let steps = (0..*size).map(|step| step * stride);
            match axes.iter_mut().find(|axis| axis.dim == *dim) {
                Some(axis) => {
                    axis.offsets = steps.flat_map(|step| axis.offsets.iter().map(move |lane| step + lane)).collect();
                }
                None => axes.push(StickAxis { dim: *dim, offsets: steps.collect(), run: *size as usize }),
            }
            stride *= size;
        }
        Some(Self { inner: axes.first()?.dim, axes })
    }

    /// Returns whether a stick has elements of several dimensions.
    pub(super) const fn is_block(&self) -> bool {
        self.axes.len() > 1
    }

    /// Returns the dimensions of a stick.
    pub(super) fn dims(&self) -> impl Iterator<Item = usize> {
        self.axes.iter().map(|axis| axis.dim)
    }

    /// Returns the number of elements of a stick along a dimension; 1 for a dimension outside of the stick.
    pub(super) fn elements_along(&self, dim: usize) -> i64 {
        self.find_axis(dim).map_or(1, |axis| axis.offsets.len() as i64)
    }

    /// Returns the number of sticks that hold `positions` positions along a dimension.
    pub(super) fn count_sticks(&self, dim: usize, positions: i64) -> i64 {
        let elements = self.elements_along(dim);
        positions.div_euclid(elements) + i64::from(positions % elements != 0)
    }

    /// Returns the offset of a position along a dimension, if sticks are `step` elements apart.
    pub(super) fn offset(&self, dim: usize, position: i64, step: i64) -> i64 {
        let Some(axis) = self.find_axis(dim) else { return position * step };
        let elements = axis.offsets.len() as i64;
        position / elements * step + axis.offsets[(position % elements) as usize]
    }

    /// Returns the number of consecutive positions along a dimension that are evenly spaced; 0 means all.
    pub(super) fn run_length(&self, dim: usize) -> usize {
        self.find_axis(dim).map_or(0, |axis| axis.run)
    }

    /// Returns the elements of a stick by dimension, innermost first.
    pub(super) fn lanes(&self) -> Vec<StickLanes> {
        let lanes = |axis: &StickAxis| {
            let last = axis.offsets.last().copied().unwrap_or_default();
            StickLanes { dim: axis.dim, elements: axis.offsets.len(), last }
        };
        self.axes.iter().map(lanes).collect()
    }

    fn find_axis(&self, dim: usize) -> Option<&StickAxis> {
        self.axes.iter().find(|axis| axis.dim == dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets of all positions of one stick must be a permutation of its elements.
    #[test]
    fn places_each_element_once() {
        for (entries, rows, columns) in [
            (&[(0, 16), (1, 2), (0, 8)][..], 2, 128),
            (&[(1, 4), (0, 64)], 4, 64),
            (&[(1, 2), (0, 64)], 2, 64),
            (&[(0, 8), (1, 2), (0, 8)], 2, 64),
        ] {
            let shape = StickShape::new(entries).unwrap();
            let offset = |row: i64, column: i64| shape.offset(1, row, 1000) + shape.offset(0, column, 1000);
            let mut offsets: Vec<i64> = (0..rows)
                .flat_map(|row| (0..columns).map(move |column| (row, column)))
                .map(|(r, c)| offset(r, c))
                .collect();
            offsets.sort_unstable();
            assert!(offsets.iter().copied().eq(0..rows * columns), "{entries:?}");
            assert_eq!((shape.elements_along(0), shape.elements_along(1)), (columns, rows));
        }
    }

    #[test]
    fn alternates_groups_of_two_rows() {
        let shape = StickShape::new(&[(0, 16), (1, 2), (0, 8)]).unwrap();
        assert_eq!([7, 8, 9, 128].map(|column| shape.offset(0, column, 512)), [7, 16, 17, 512]);
        assert_eq!([0, 1, 2].map(|row| shape.offset(1, row, 256)), [0, 8, 256]);
        assert_eq!((shape.inner, shape.run_length(0), shape.run_length(2), shape.offset(2, 3, 10)), (0, 8, 0, 30));
        assert_eq!((shape.count_sticks(1, 3), shape.count_sticks(2, 3)), (2, 3));
    }
}
