//! Files of release 1.0.0: the members of windows, which torch-spyre writes in another form.
//!
//! The release counts all points of the padded input (`totalSize_`), those of them that no window reads
//! (`unneededPad_`), and the padding that remains. A core whose dimension is split has a padding of -1 and the total of
//! its own windows ("Bundle format 1.0.0, section 7").

use super::SdscError;
use super::windows::{FULL_SPAN_PADDING, WINDOW_AXES};
use crate::bundle::{Coordinate, OpFamily, OpSpec, OpSpecOperand, OpWindow, WindowAxis};
use crate::launch::geometry::{DimLabel, Geometry};
use sdsc_format::model::{AllocateNode, Dsc, Entries, FoldFunction, Sdsc, Text, WindowInfo};

/// Padding kind of a convolution that pads its input.
const PADDED_CONVOLUTION: &str = "padded_nozeropad";

/// Padding of a dimension that is split over cores.
const SPLIT_PADDING: i64 = -1;

/// Rewrites the file of an op as a file of release 1.0.0.
///
/// # Errors
///
/// If the windows of the op have no form in the release.
pub fn convert_to_release(sdsc: &mut Sdsc, op: &OpSpec) -> Result<(), SdscError> {
    sdsc.value.convert_to_release();
    let Some(window) = &op.window else { return Ok(()) };
    let geometry = Geometry::new(op)?;
    for dsc in &mut sdsc.value.dscs {
        convert_windows(&mut dsc.value, op, window, &geometry)?;
    }
    Ok(())
}

fn convert_windows(dsc: &mut Dsc, op: &OpSpec, window: &OpWindow, geometry: &Geometry) -> Result<(), SdscError> {
    let is_padded = |node: &AllocateNode| node.padding.is_some() || node.early_padding.is_some();
    let Some(input) = dsc.nodes.iter().position(is_padded) else { return Ok(()) };
    let kind = choose_padding_kind(window, geometry.family);
    for ((label, taps), axis) in WINDOW_AXES.into_iter().zip([window.height, window.width]) {
        let is_windowed = dsc.space.windows().any(|(known, _)| **known == *label.name());
        if !is_windowed {
            continue;
        }
        let windows = ReleaseWindows::new(&op.operands[input], input, geometry, label, taps, axis)?;
        set_window(&mut dsc.space.windows, label, &windows.full);
        set_window(&mut dsc.stages.core.steady.windows, label, &windows.per_core);
        set_window(&mut dsc.stages.core.end.windows, label, &windows.per_core);
        windows.set_padding(&mut dsc.nodes[input], label, &kind);
    }
    Ok(())
}

/// Returns the padding kind of an input. Specification: `padded_nozeropad` for a convolution with padding.
fn choose_padding_kind(window: &OpWindow, family: OpFamily) -> Text {
    let has_padding = [window.height, window.width].iter().any(|axis| axis.padding > 0);
    match (&window.pad_type, family) {
        (Some(kind), OpFamily::Depthwise) => kind.clone().into(),
        _ if has_padding && family.is_convolution() => PADDED_CONVOLUTION.into(),
        _ => FULL_SPAN_PADDING.into(),
    }
}

fn set_window(windows: &mut Option<Entries<Text, WindowInfo>>, label: DimLabel, window: &WindowInfo) {
    let entry = windows.iter_mut().flat_map(|windows| &mut windows.0).find(|(known, _)| **known == *label.name());
    if let Some((_, found)) = entry {
        found.clone_from(window);
    }
}

/// Windows along one dimension.
struct ReleaseWindows {
    full: WindowInfo,
    /// Windows of one core.
    per_core: WindowInfo,
    /// Input points from the windows of one core to those of the next.
    step: i64,
}

impl ReleaseWindows {
    fn new(
        operand: &OpSpecOperand,
        tensor: usize,
        geometry: &Geometry,
        label: DimLabel,
        taps: DimLabel,
        axis: WindowAxis,
    ) -> Result<Self, SdscError> {
        let input = InputAxis::new(operand, geometry, label, taps);
        let allocated = match geometry.family {
            OpFamily::Depthwise => axis.total_size.ok_or(SdscError::MissingTotal { label })?,
            _ => input.points + 2 * axis.padding,
        };
        let (size, split) = (geometry.space.size(label), geometry.space.split(label));
        let full = build_full_window(axis, taps, allocated, size).ok_or(SdscError::WindowBeyondInput {
            label,
            needed: count_read_points(axis, size),
            found: allocated,
        })?;
        let step = size / split * axis.stride;
        let per_core =
            if split == 1 { full.clone() } else { build_core_window(axis, &full, size / split, geometry.family) };
        let placed = geometry.tensors[tensor].dim(label).filter(|_| split > 1).map(|dim| dim.stride / split);
        match placed {
            Some(found) if found != step * input.row_elements => {
                Err(SdscError::WindowStart { label, found, expected: step * input.row_elements })
            }
            Some(_) | None => Ok(Self { full, per_core, step }),
        }
    }

    /// Sets the padding kind and the folds of the dimension. A tensor without a gap holds all input points.
    fn set_padding(&self, node: &mut AllocateNode, label: DimLabel, kind: &Text) {
        let is_label = |known: &Text| **known == *label.name();
        let kinds = node.padding.iter_mut().chain(&mut node.early_padding).flat_map(|padding| &mut padding.0);
        kinds.filter(|(known, _)| is_label(known)).for_each(|(_, found)| found.clone_from(kind));
        if let Some((_, info)) = node.coordinates.dims.0.iter_mut().find(|(known, _)| is_label(known)) {
            info.padding.clone_from(kind);
            for (function, fold) in info.folds.functions.iter_mut().zip(&mut info.folds.folds) {
                match &*fold.label {
                    "core_fold" => *function = FoldFunction::Affine { alpha: self.step, beta: 0 },
                    "elem_arr_0" => fold.factor = self.per_core.total,
                    _ => {}
                }
            }
        }
        if let Some(gaps) = &mut node.gaps {
            gaps.0.retain(|(known, _)| !is_label(known));
        }
        node.gaps = node.gaps.take().filter(|gaps| !gaps.is_empty());
    }
}

/// Layout of an input along one window axis.
struct InputAxis {
    /// Number of points.
    points: i64,
    /// Number of elements from one point to the next.
    row_elements: i64,
}

impl InputAxis {
    /// The points of windows that do not overlap may have a device dimension of their own.
    fn new(operand: &OpSpecOperand, geometry: &Geometry, label: DimLabel, taps: DimLabel) -> Self {
        let is_along = |coordinate: &Coordinate| {
            let moving = coordinate.moving_dim().and_then(|dim| geometry.labels.get(dim));
            moving.is_some_and(|found| *found == label || *found == taps)
        };
        let along: Vec<usize> = (0..operand.coordinates.len()).filter(|k| is_along(&operand.coordinates[*k])).collect();
        let points = along.iter().map(|k| operand.device_size[*k]).product();
        let inside = along.last().map_or(&[][..], |k| &operand.device_size[k + 1..]);
        Self { points, row_elements: inside.iter().product() }
    }
}

/// Returns the number of input points that `outputs` windows read.
fn count_read_points(axis: WindowAxis, outputs: i64) -> i64 {
    (outputs - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1
}

/// Subtracts points that no window reads from the back padding first, then from the input, then from the front padding.
/// Returns `None` if the windows read more than the padded input.
fn build_full_window(axis: WindowAxis, taps: DimLabel, allocated: i64, outputs: i64) -> Option<WindowInfo> {
    let unneeded = allocated - count_read_points(axis, outputs);
    let valid = allocated - 2 * axis.padding;
    let back = unneeded.min(axis.padding);
    let front = (unneeded - back - valid).clamp(0, axis.padding);
    (unneeded >= 0 && valid >= 0).then(|| WindowInfo {
        pad_front: axis.padding - front,
        pad_back: axis.padding - back,
        unneeded: Some(unneeded),
        unneeded_front: Some(front),
        unneeded_back: Some(back),
        total: allocated,
        stride: axis.stride,
        dilation: axis.dilation,
        window_dim: taps.name().into(),
    })
}

/// Returns the windows of one of several cores. torch-spyre gives each core of a depthwise convolution the points up to
/// the windows of the next core.
fn build_core_window(axis: WindowAxis, full: &WindowInfo, outputs: i64, family: OpFamily) -> WindowInfo {
    let unneeded = if family == OpFamily::Depthwise { axis.stride - 1 } else { 0 };
    WindowInfo {
        pad_front: SPLIT_PADDING,
        pad_back: SPLIT_PADDING,
        unneeded: Some(unneeded),
        unneeded_front: Some(0),
        unneeded_back: Some(0),
        total: count_read_points(axis, outputs) + unneeded,
        ..full.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the table of the specification: input points, padding, window, stride, results; unneeded points, those
    /// of front and back, remaining padding.
    #[test]
    fn follows_table_of_specification() {
        for (valid, padding, kernel, stride, outputs, expected) in [
            (128, 1, 3, 1, 128, (0, 0, 0, 1, 1)),
            (128, 1, 3, 2, 64, (1, 0, 1, 1, 0)),
            (8, 1, 3, 3, 3, (1, 0, 1, 1, 0)),
            (7, 0, 2, 2, 3, (1, 0, 0, 0, 0)),
            (8, 0, 4, 6, 1, (4, 0, 0, 0, 0)),
        ] {
            let axis = WindowAxis { kernel, stride, padding, ..WindowAxis::default() };
            let info = build_full_window(axis, DimLabel::Ki, valid + 2 * padding, outputs).unwrap();
            let found = (info.unneeded, info.unneeded_front, info.unneeded_back, info.pad_front, info.pad_back);
            let (unneeded, front, back, pad_front, pad_back) = expected;
            assert_eq!(found, (Some(unneeded), Some(front), Some(back), pad_front, pad_back), "{axis:?}");
            assert_eq!(info.total, (outputs - 1) * stride + kernel + unneeded);
        }
    }

    #[test]
    fn counts_dilated_window() {
        let axis = WindowAxis { kernel: 3, dilation: 2, ..WindowAxis::default() };
        let info = build_full_window(axis, DimLabel::Ki, 8, 4).unwrap();
        assert_eq!((info.unneeded, info.dilation), (Some(0), 2));
        assert_eq!(build_full_window(axis, DimLabel::Ki, 7, 4), None);
    }
}
