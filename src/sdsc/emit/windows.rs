//! Entries of windowed ops in a file, in addition to those of other ops: windows, padded inputs, hidden dimensions
//! ("SuperDSC schema, section 9").

use super::SdscError;
use crate::bundle::{OpSpec, Window, WindowAxis};
use crate::{
    bundle::OpFamily,
    launch::geometry::{ClassName, Geometry, Label},
};
use sdsc_format::model::{Entries, Presence, Text, WindowInfo};

/// Padding type of an input that is read through whole windows. Elements that no window needs are allowed.
const FULL_SPAN: &str = "padded_fullspan_wunneeded";

/// The two window axes, each with its sliding dimension and the dimension of the window's points.
const AXES: [(Label, Label); 2] = [(Label::I, Label::Ki), (Label::J, Label::Kj)];

/// Windows of an op; empty for an op without windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    kind: Kind,
    /// Windows of the complete op.
    pub(super) full: Entries<Text, WindowInfo>,
    /// Windows of one core.
    pub(super) per_core: Entries<Text, WindowInfo>,
    /// Dimensions that are omitted from tensors other than the weight.
    hidden: Vec<Label>,
    axes: Vec<Axis>,
    pad_type: Text,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    Pool,
    Conv2d,
    Depthwise,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    label: Label,
    stride: i64,
    kernel: i64,
    total: i64,
}

/// The part of a windowed input that one core reads.
pub(super) struct InputExtent {
    /// Input points of one core.
    pub(super) size: i64,
    /// Input points from one core's part to the next.
    pub(super) step: i64,
    /// How the dimension is padded.
    pub(super) padding: Text,
}

impl Windows {
    pub(super) fn of(op: &OpSpec, geometry: &Geometry) -> Result<Self, SdscError> {
        let kind = match geometry.family {
            OpFamily::Pool => Kind::Pool,
            OpFamily::Conv2d => Kind::Conv2d,
            OpFamily::Depthwise => Kind::Depthwise,
            OpFamily::Matmul | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => return Ok(Self::default()),
        };
        let window = op.window.as_ref().ok_or(SdscError::MissingWindow)?;
        match kind {
            Kind::Depthwise => Self::depthwise(window, geometry),
            Kind::None | Kind::Pool | Kind::Conv2d => Ok(Self::sliding(kind, window, geometry)),
        }
    }

    /// A pooling or a direct convolution: an axis whose window is a single point is an ordinary dimension.
    fn sliding(kind: Kind, window: &Window, geometry: &Geometry) -> Self {
        let mut windows = Self { kind, pad_type: FULL_SPAN.into(), ..Self::default() };
        for ((label, taps), axis) in AXES.into_iter().zip([window.height, window.width]) {
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
            windows.axes.push(Axis { label, stride: axis.stride, kernel: axis.kernel, total });
        }
        windows.per_core = windows.full.clone();
        windows
    }

    /// A depthwise convolution says how much of the padding no window reads, for the whole op and for one core.
    fn depthwise(window: &Window, geometry: &Geometry) -> Result<Self, SdscError> {
        let pad_type = window.pad_type.clone().unwrap_or_else(|| FULL_SPAN.to_owned());
        let mut windows = Self { kind: Kind::Depthwise, pad_type: pad_type.into(), ..Self::default() };
        for ((label, taps), axis) in AXES.into_iter().zip([window.height, window.width]) {
            let total = axis.total_size.ok_or(SdscError::MissingTotal { label })?;
            let name: Text = label.name().into();
            let full = depthwise_window(axis, taps, total, (total - axis.kernel).div_euclid(axis.stride) + 1);
            windows.full.0.push((name.clone(), full));
            if let Some(dim) = geometry.space.get(label) {
                let outputs = dim.size / dim.split;
                let part = if dim.split == 1 { total } else { outputs * axis.stride + axis.kernel - 1 };
                windows.per_core.0.push((name, depthwise_window(axis, taps, part, outputs)));
            }
            windows.axes.push(Axis { label, stride: axis.stride, kernel: axis.kernel, total });
        }
        Ok(windows)
    }

    /// Returns whether windows overlap in data, and sticks are replicated.
    pub(super) fn is_sliding(&self) -> bool {
        matches!(self.kind, Kind::Pool | Kind::Conv2d)
    }

    /// Returns whether tensors of a class include a dimension.
    pub(super) fn shows(&self, label: Label, class: ClassName) -> bool {
        class == ClassName::Kernel || !self.hidden.contains(&label)
    }

    /// The padding of an input that stands behind its start addresses.
    pub(super) fn input_padding(&self, is_input: bool, shown: &[Label]) -> Option<Entries<Text, Text>> {
        if !is_input || !self.is_sliding() {
            return None;
        }
        let padded = self.axes.iter().filter(|axis| shown.contains(&axis.label));
        let padding: Entries<_, _> = padded.map(|axis| (axis.label.name().into(), self.pad_type.clone())).collect();
        (!padding.is_empty()).then_some(padding)
    }

    /// The padding of a depthwise convolution's input, which stands before its start addresses.
    pub(super) fn early_padding(&self, tensor: usize) -> Option<Entries<Text, Text>> {
        let is_padded = self.kind == Kind::Depthwise && tensor == 0;
        is_padded.then(|| self.axes.iter().map(|axis| (axis.label.name().into(), self.pad_type.clone())).collect())
    }

    /// Returns one core's part of a windowed dimension of an input, of which the op computes `size` points in `slices` slices.
    ///
    /// Returns `None` if the dimension is not windowed in that tensor.
    pub(super) fn input_extent(&self, tensor: usize, is_input: bool, label: Label, size: i64, slices: i64) -> Option<InputExtent> {
        let axis = self.axes.iter().find(|axis| axis.label == label)?;
        let outputs = size / slices;
        let padding = self.pad_type.clone();
        match self.kind {
            Kind::None => None,
            Kind::Pool => is_input.then(|| InputExtent { size: axis.total / slices, step: axis.total / slices, padding }),
            Kind::Conv2d => {
                is_input.then(|| InputExtent { size: (outputs - 1) * axis.stride + axis.kernel, step: outputs * axis.stride, padding })
            }
            Kind::Depthwise => {
                (tensor == 0).then(|| InputExtent { size: outputs * axis.stride + axis.kernel - 1, step: outputs * axis.stride, padding })
            }
        }
    }

    /// Returns the presence of a tensor in the memory of a node with that name.
    pub(super) fn presence(&self, tensor: usize, is_input: bool, node: &str) -> Presence {
        let plain = Presence { is_present: 1, ..Presence::default() };
        match self.kind {
            Kind::None => plain,
            Kind::Depthwise if tensor != 0 => plain,
            Kind::Depthwise => Presence { is_padded: Some(1), is_zero_padded: Some(0), ..plain },
            Kind::Pool | Kind::Conv2d => Presence {
                is_padded: Some(u8::from(is_input)),
                is_zero_padded: Some(0),
                offset: Some(0),
                node: Some(node.to_owned().into()),
                ..plain
            },
        }
    }

    /// Returns the presence of a tensor that is in LX only.
    pub(super) fn lx_presence(&self, tensor: usize) -> Presence {
        let is_padded = (self.kind == Kind::Depthwise && tensor == 0).then_some(1);
        Presence { is_present: 1, is_padded, ..Presence::default() }
    }
}

/// Subtracts points that no window reads from the back padding first, then from the input, then from the front padding.
fn depthwise_window(axis: WindowAxis, taps: Label, total: i64, outputs: i64) -> WindowInfo {
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
    fn points_that_no_window_reads_come_off_the_back_padding_first() {
        let axis = WindowAxis { kernel: 3, stride: 2, padding: 1, dilation: 1, total_size: Some(10) };
        let info = depthwise_window(axis, Label::Ki, 10, 4);
        assert_eq!((info.unneeded, info.unneeded_back, info.unneeded_front), (Some(1), Some(1), Some(0)));
        assert_eq!((info.pad_front, info.pad_back), (1, 0));
        let spare = depthwise_window(axis, Label::Ki, 10, 1);
        assert_eq!((spare.unneeded, spare.unneeded_back, spare.unneeded_front), (Some(7), Some(1), Some(0)));
    }
}
