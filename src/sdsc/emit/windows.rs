//! Entries of windowed ops in a file, in addition to those of other ops: windows, padded inputs, hidden dimensions
//! ("SuperDSC schema, section 9").

use super::SdscError;
use crate::bundle::{OpSpec, OpWindow, WindowAxis};
use crate::{
    bundle::OpFamily,
    launch::geometry::{ClassName, DimLabel, Geometry},
};
use sdsc_format::model::{Entries, MemoryPresence, Text, WindowInfo};

/// Padding kind of an input that is read through complete windows. Elements that no window needs are allowed.
pub(super) const FULL_SPAN_PADDING: &str = "padded_fullspan_wunneeded";

/// The two window axes, each with its sliding dimension and the dimension of the window's points.
pub(super) const WINDOW_AXES: [(DimLabel, DimLabel); 2] = [(DimLabel::I, DimLabel::Ki), (DimLabel::J, DimLabel::Kj)];

/// Windows of an op; empty for an op without windows.
#[derive(Clone, Debug, Default)]
pub(super) struct OpWindows {
    kind: WindowKind,
    /// Windows of the complete op.
    pub(super) full: Entries<Text, WindowInfo>,
    /// Windows of one core.
    pub(super) per_core: Entries<Text, WindowInfo>,
    /// Dimensions that are omitted from tensors other than the weight.
    hidden: Vec<DimLabel>,
    axes: Vec<SlidingAxis>,
    pad_type: Text,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WindowKind {
    #[default]
    None,
    Pool,
    Conv2d,
    Depthwise,
}

#[derive(Clone, Copy, Debug)]
struct SlidingAxis {
    label: DimLabel,
    stride: i64,
    kernel: i64,
    total: i64,
}

/// Region of a windowed input that one core reads.
pub(super) struct InputExtent {
    /// Number of input points of one core.
    pub(super) size: i64,
    /// Input points from one core's region to the next.
    pub(super) step: i64,
    /// Padding kind of the dimension.
    pub(super) padding: Text,
}

impl OpWindows {
    pub(super) fn from_op(op: &OpSpec, geometry: &Geometry) -> Result<Self, SdscError> {
        let kind = match geometry.family {
            OpFamily::Pool => WindowKind::Pool,
            OpFamily::Conv2d => WindowKind::Conv2d,
            OpFamily::Depthwise => WindowKind::Depthwise,
            OpFamily::Matmul | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
                return Ok(Self::default());
            }
        };
        let window = op.window.as_ref().ok_or(SdscError::MissingWindow)?;
        match kind {
            WindowKind::Depthwise => Self::new_depthwise(window, geometry),
            WindowKind::None | WindowKind::Pool | WindowKind::Conv2d => Ok(Self::new_sliding(kind, window, geometry)),
        }
    }

    /// Returns the windows of a pooling or a direct convolution. An axis whose window is a single point is an ordinary
    /// dimension.
    fn new_sliding(kind: WindowKind, window: &OpWindow, geometry: &Geometry) -> Self {
        let mut windows = Self { kind, pad_type: FULL_SPAN_PADDING.into(), ..Self::default() };
        for ((label, taps), axis) in WINDOW_AXES.into_iter().zip([window.height, window.width]) {
            if geometry.space.get(taps).is_none() {
                continue;
            }
            let total = (geometry.space.size(label) - 1) * axis.stride + axis.kernel;
            let info = WindowInfo {
                pad_front: axis.padding,
                pad_back: axis.padding,
                unneeded: None,
                unneeded_front: None,
                unneeded_back: None,
                total,
                stride: axis.stride,
                dilation: 1,
                window_dim: taps.name().into(),
            };
            windows.full.0.push((label.name().into(), info));
            windows.hidden.push(taps);
            windows.axes.push(SlidingAxis { label, stride: axis.stride, kernel: axis.kernel, total });
        }
        windows.per_core = windows.full.clone();
        windows
    }

    /// Returns the windows of a depthwise convolution. They state the padding that no window reads, for the complete op
    /// and for one core.
    fn new_depthwise(window: &OpWindow, geometry: &Geometry) -> Result<Self, SdscError> {
        let pad_type = window.pad_type.clone().unwrap_or_else(|| FULL_SPAN_PADDING.to_owned());
        let mut windows = Self { kind: WindowKind::Depthwise, pad_type: pad_type.into(), ..Self::default() };
        for ((label, taps), axis) in WINDOW_AXES.into_iter().zip([window.height, window.width]) {
            let total = axis.total_size.ok_or(SdscError::MissingTotal { label })?;
            let name: Text = label.name().into();
            let full = build_depthwise_window(axis, taps, total, (total - axis.kernel).div_euclid(axis.stride) + 1);
            windows.full.0.push((name.clone(), full));
            if let Some(dim) = geometry.space.get(label) {
                let outputs = dim.size / dim.split;
                let part = if dim.split == 1 { total } else { outputs * axis.stride + axis.kernel - 1 };
                windows.per_core.0.push((name, build_depthwise_window(axis, taps, part, outputs)));
            }
            windows.axes.push(SlidingAxis { label, stride: axis.stride, kernel: axis.kernel, total });
        }
        Ok(windows)
    }

    /// Returns whether windows overlap in data, and sticks are replicated.
    pub(super) fn is_sliding(&self) -> bool {
        matches!(self.kind, WindowKind::Pool | WindowKind::Conv2d)
    }

    /// Returns whether tensors of a class include a dimension.
    pub(super) fn includes_dim(&self, label: DimLabel, class: ClassName) -> bool {
        class == ClassName::Kernel || !self.hidden.contains(&label)
    }

    /// Returns the padding of an input of a sliding op, which the file states after the start addresses.
    pub(super) fn input_padding(&self, is_input: bool, viewed: &[DimLabel]) -> Option<Entries<Text, Text>> {
        if !is_input || !self.is_sliding() {
            return None;
        }
        let padded = self.axes.iter().filter(|axis| viewed.contains(&axis.label));
        let padding: Entries<_, _> = padded.map(|axis| (axis.label.name().into(), self.pad_type.clone())).collect();
        (!padding.is_empty()).then_some(padding)
    }

    /// Returns the padding of a depthwise convolution's input, which the file states before the start addresses.
    pub(super) fn early_padding(&self, tensor: usize) -> Option<Entries<Text, Text>> {
        let is_padded = self.kind == WindowKind::Depthwise && tensor == 0;
        is_padded.then(|| self.axes.iter().map(|axis| (axis.label.name().into(), self.pad_type.clone())).collect())
    }

    /// Returns one core's region of a windowed dimension of an input, of which the op computes `size` points in
    /// `slices` slices.
    ///
    /// Returns `None` if the dimension is not windowed in that tensor.
    pub(super) fn input_extent(
        &self,
        tensor: usize,
        is_input: bool,
        label: DimLabel,
        size: i64,
        slices: i64,
    ) -> Option<InputExtent> {
        let axis = self.axes.iter().find(|axis| axis.label == label)?;
        let outputs = size / slices;
        let padding = self.pad_type.clone();
        match self.kind {
            WindowKind::None => None,
            WindowKind::Pool => {
                is_input.then(|| InputExtent { size: axis.total / slices, step: axis.total / slices, padding })
            }
            WindowKind::Conv2d => is_input.then(|| InputExtent {
                size: (outputs - 1) * axis.stride + axis.kernel,
                step: outputs * axis.stride,
                padding,
            }),
            WindowKind::Depthwise => (tensor == 0).then(|| InputExtent {
                size: outputs * axis.stride + axis.kernel - 1,
                step: outputs * axis.stride,
                padding,
            }),
        }
    }

    /// Returns the presence of a tensor in the memory of a node with that name.
    pub(super) fn memory_presence(&self, tensor: usize, is_input: bool, node: &str) -> MemoryPresence {
        let plain = MemoryPresence { is_present: 1, ..MemoryPresence::default() };
        match self.kind {
            WindowKind::None => plain,
            WindowKind::Depthwise if tensor != 0 => plain,
            WindowKind::Depthwise => MemoryPresence { is_padded: Some(1), is_zero_padded: Some(0), ..plain },
            WindowKind::Pool | WindowKind::Conv2d => MemoryPresence {
                is_padded: Some(u8::from(is_input)),
                is_zero_padded: Some(0),
                offset: Some(0),
                node: Some(node.to_owned().into()),
                ..plain
            },
        }
    }

    /// Returns the presence of a tensor that is in LX only.
    pub(super) fn lx_presence(&self, tensor: usize) -> MemoryPresence {
        let is_padded = (self.kind == WindowKind::Depthwise && tensor == 0).then_some(1);
        MemoryPresence { is_present: 1, is_padded, ..MemoryPresence::default() }
    }
}

/// Subtracts points that no window reads from the back padding first, then from the input, then from the front padding.
fn build_depthwise_window(axis: WindowAxis, taps: DimLabel, total: i64, outputs: i64) -> WindowInfo {
    let unneeded = total - ((outputs - 1) * axis.stride + axis.kernel);
    let valid = total - 2 * axis.padding;
    let mut rest = unneeded.max(0);
    let mut take = |available: i64| {
        let taken = rest.min(available.max(0));
        rest -= taken;
        taken
    };
    let unneeded_back = take(axis.padding);
    take(valid);
    let unneeded_front = take(axis.padding);
    WindowInfo {
        pad_front: axis.padding - unneeded_front,
        pad_back: axis.padding - unneeded_back,
        unneeded: Some(unneeded),
        unneeded_front: Some(unneeded_front),
        unneeded_back: Some(unneeded_back),
        total,
        stride: axis.stride,
        dilation: axis.dilation,
        window_dim: taps.name().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtracts_unread_points_from_back_padding_first() {
        let axis = WindowAxis { kernel: 3, stride: 2, padding: 1, dilation: 1, total_size: Some(10) };
        let info = build_depthwise_window(axis, DimLabel::Ki, 10, 4);
        assert_eq!((info.unneeded, info.unneeded_back, info.unneeded_front), (Some(1), Some(1), Some(0)));
        assert_eq!((info.pad_front, info.pad_back), (1, 0));
        let spare = build_depthwise_window(axis, DimLabel::Ki, 10, 1);
        assert_eq!((spare.unneeded, spare.unneeded_back, spare.unneeded_front), (Some(7), Some(1), Some(0)));
    }
}
