//! Windows of poolings and convolutions: positions of the input, and the padding around it.
//!
//! Padding is not stored. A position beyond the input is a zero (assumption: PyTorch's zero padding; the specification
//! does not name the value of `padded_nozeropad`).

use super::error::PlanError;
use super::footprint::{ByteInterval, compute_footprints};
use super::padded_window::PaddedWindow;
use super::tensor::TensorPlanBuilder;
use super::{CoreAssignment, HOLE, IterationDim, TensorPlan};
use sdsc_format::model::WindowInfo;

type WindowResult<T> = Result<T, PlanError>;

/// Name of the padding kind of an ordinary dimension.
const NO_PADDING: &str = "nopad";

impl TensorPlan {
    /// Returns the byte intervals that a core reads, relative to its start.
    pub(crate) fn read_intervals_of(&self, core: usize) -> &[ByteInterval] {
        self.core_read_intervals.get(core).unwrap_or(&self.read_intervals)
    }

    /// Computes the intervals that each core reads, if there is padding. Returns false if there are too many intervals.
    pub(super) fn compute_core_reads(&mut self, cores: &[CoreAssignment]) -> bool {
        if self.padded_windows.is_empty() {
            return true;
        }
        let reads = |core: &CoreAssignment| {
            let mut offsets = self.offsets.clone();
            for window in &self.padded_windows {
                offsets[window.points] = vec![0];
                offsets[window.dim] = window.stored_offsets(core.slice_indices[window.dim]);
                if offsets[window.dim].is_empty() {
                    // All points are padding.
                    offsets[window.dim].push(HOLE);
                }
            }
            compute_footprints(&offsets, self.format, &self.stick_lanes, self.is_sparse).map(|(read, _)| read)
        };
        match cores.iter().map(reads).collect() {
            Some(reads) => self.core_read_intervals = reads,
            None => return false,
        }
        true
    }
}

impl TensorPlanBuilder<'_> {
    /// Returns the window of a dimension, if the tensor is read through windows along it. The node names the padding
    /// kinds of its dimensions; the kinds of the coordinates count if it does not.
    pub(super) fn find_window(&self, dim: usize) -> WindowResult<Option<&WindowInfo>> {
        let label = self.dims[dim].label.as_str();
        let window = self.dsc.space.windows().find(|(known, _)| **known == *label).map(|(_, window)| window);
        let listed = self.node.padding.as_ref().and_then(|padding| padding.get(label));
        match (listed, window) {
            (Some(kind), None) if kind != NO_PADDING => {
                Err(PlanError::Malformed(format!("'{label}' is padded but has no window")))
            }
            (_, window) => Ok(window.filter(|_| self.has_padding_kind(label))),
        }
    }

    fn has_padding_kind(&self, label: &str) -> bool {
        let listed = self.node.padding.as_ref().and_then(|padding| padding.get(label));
        let kind = listed.or_else(|| self.node.coordinates.dims.get(label).map(|info| &info.padding));
        kind.is_some_and(|kind| kind != NO_PADDING)
    }

    /// Returns whether the points of a window along `dim` are positions of the tensor.
    pub(super) fn has_window_points(&self, dim: usize) -> bool {
        let is_enclosing = |label: &str, window: &WindowInfo| {
            window.taps_label() == self.dims[dim].label.as_str() && self.has_padding_kind(label)
        };
        self.dsc.space.windows().any(|(label, window)| is_enclosing(label, window))
    }

    /// Returns the number of input points along a windowed dimension that memory holds.
    pub(super) fn count_window_positions(&self, dim: usize, window: &WindowInfo, gap: i64) -> WindowResult<i64> {
        let label = &self.dims[dim].label;
        let (front, back) = find_requested_padding(window);
        if front < 0 || back < 0 {
            return Err(PlanError::Malformed(format!("the padding of '{label}' in 'N_' is {front} and {back}")));
        }
        let is_padded = front > 0 || back > 0;
        if is_padded && window.unneeded.is_none() && window.stride > 1 {
            return Err(PlanError::NotSimulated(format!(
                "windows of stride {} with padding along '{label}' without 'unneededPad_': the file does not say how \
                 many points the input has",
                window.stride
            )));
        }
        if self.node.is_per_core() && is_padded {
            return Err(PlanError::NotSimulated(format!("windows with padding along '{label}' of a tensor in LX")));
        }
        let read = self.count_read_points(dim, window, self.dims[dim].size)?;
        let valid = window.total.saturating_sub(front).saturating_sub(back);
        if valid < 1 || window.total < read {
            let total = window.total;
            return Err(PlanError::Malformed(format!("the windows along '{label}' read {read} points of {total}")));
        }
        match self.dims[dim].num_slices {
            slices if slices > 1 && self.node.is_per_core() => {
                self.count_read_points(dim, window, self.dims[dim].local_size)
            }
            _ if gap == 0 => Ok(valid),
            _ => self.count_pooled_positions(dim, window, gap),
        }
    }

    /// Returns the number of points of a pooling's input with a gap. torch-spyre counts the gap from the number of
    /// results. Windows that do not overlap may have a dimension of their own, in which case it counts windows.
    fn count_pooled_positions(&self, dim: usize, window: &WindowInfo, gap: i64) -> WindowResult<i64> {
        let IterationDim { label, size, .. } = &self.dims[dim];
        let points = self.dims[self.find_dim(window.taps_label())?].size;
        let positions = size.saturating_add(gap);
        if positions >= window.total {
            return Ok(positions);
        }
        if window.stride == points && window.dilation == 1 {
            return Ok(positions.saturating_mul(points));
        }
        Err(PlanError::Malformed(format!("the windows along '{label}' read {} points of {positions}", window.total)))
    }

    fn count_read_points(&self, dim: usize, window: &WindowInfo, outputs: i64) -> WindowResult<i64> {
        let points = self.dims[self.find_dim(window.taps_label())?].size;
        let count = |size: i64, by: i64| (size - 1).checked_mul(by).filter(|_| by > 0);
        let (windows, within) = (count(outputs, window.stride), count(points, window.dilation));
        windows.zip(within).and_then(|(windows, within)| windows.checked_add(within)?.checked_add(1)).ok_or_else(|| {
            PlanError::Malformed(format!("the window of '{}' has no valid stride and dilation", self.dims[dim].label))
        })
    }

    /// Expands a windowed dimension, and sets the strides of its window points. Returns the padding to be checked.
    pub(super) fn fill_window(
        &self,
        dim: usize,
        stick: usize,
        step: i64,
        offsets: &mut [Vec<i64>],
    ) -> WindowResult<Option<PaddedWindow>> {
        let Some(window) = self.find_window(dim)? else { return Ok(None) };
        if dim == stick {
            let label = &self.dims[dim].label;
            return Err(PlanError::Malformed(format!("windows along '{label}', along which the sticks lie")));
        }
        let points = self.find_dim(window.taps_label())?;
        let (front, back) = find_requested_padding(window);
        let positions = |dim: usize, by: i64, shift: i64| -> WindowResult<Vec<i64>> {
            let count = self.dims[dim].local_size;
            self.check_size(step, by.saturating_mul(count).max(shift))?;
            Ok((0..count).map(|at| at * by - shift).collect())
        };
        let starts = positions(dim, window.stride, front)?;
        let distances = positions(points, window.dilation, 0)?;
        let to_offsets = |positions: &[i64]| positions.iter().map(|at| at * step).collect();
        (offsets[dim], offsets[points]) = (to_offsets(&starts), to_offsets(&distances));
        if front == 0 && back == 0 {
            return Ok(None);
        }
        Ok(Some(PaddedWindow {
            dim,
            points,
            starts,
            distances,
            slice_step: self.dims[dim].local_size * window.stride,
            num_valid: window.total - front - back,
            stride: step,
        }))
    }
}

/// Returns the padding before and after the input, including points that no window reads.
fn find_requested_padding(window: &WindowInfo) -> (i64, i64) {
    let (front, back) = (window.unneeded_front.unwrap_or(0), window.unneeded_back.unwrap_or(0));
    (window.pad_front.saturating_add(front), window.pad_back.saturating_add(back))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stored_points_only() {
        // Four inputs, windows of three points, padding of one: two cores with two results each.
        let window = PaddedWindow {
            dim: 0,
            points: 1,
            starts: vec![-1, 0],
            distances: vec![0, 1, 2],
            slice_step: 2,
            num_valid: 4,
            stride: 64,
        };
        let core = |slice| CoreAssignment { id: slice, corelet: None, slice_indices: vec![slice, 0] };
        assert_eq!(window.stored_offsets(0), [0, 64, 128]);
        assert_eq!(window.stored_offsets(1), [-64, 0, 64]);
        assert!(!window.is_inside(&core(0), &[0, 0]) && window.is_inside(&core(1), &[0, 0]));
        assert!(!window.is_inside(&core(1), &[1, 2]) && window.is_inside(&core(0), &[1, 2]));
    }
}
