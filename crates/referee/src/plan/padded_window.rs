//! Windows of an input with padding, which is not stored.

use super::CoreAssignment;

/// Window of a dimension with padding, which is not stored.
#[derive(Clone, Debug)]
pub(crate) struct PaddedWindow {
    /// Dimension along which the window slides.
    pub(crate) dim: usize,
    /// Dimension of the window's points.
    pub(crate) points: usize,
    /// Input position of each point of `dim` on the first core, for the first point of the window.
    pub(crate) starts: Vec<i64>,
    /// Distance of each point of the window from the first one.
    pub(crate) distances: Vec<i64>,
    /// Input points from the windows of one slice to those of the next.
    pub(crate) slice_step: i64,
    /// Number of input points.
    pub(crate) num_valid: i64,
    /// Elements from one input point to the next.
    pub(crate) stride: i64,
}

impl PaddedWindow {
    /// Returns whether a core's point of the iteration space is inside of the input.
    pub(crate) fn is_inside(&self, core: &CoreAssignment, position: &[usize]) -> bool {
        let start = core.slice_indices[self.dim] * self.slice_step + self.starts[position[self.dim]];
        (0..self.num_valid).contains(&(start + self.distances[position[self.points]]))
    }

    /// Returns the offsets from the start of a slice to the stored input points of its windows, in elements.
    pub(super) fn stored_offsets(&self, slice: i64) -> Vec<i64> {
        let first = slice * self.slice_step;
        let positions = self.starts.iter().flat_map(|start| self.distances.iter().map(move |by| start + by));
        let mut stored: Vec<i64> = positions.filter(|at| (0..self.num_valid).contains(&(first + at))).collect();
        stored.sort_unstable();
        stored.dedup();
        stored.into_iter().map(|at| at * self.stride).collect()
    }
}
