//! Reconstructs the windows of convolutions and poolings.

use super::candidate::OpSpecCandidate;
use super::file::SdscFile;
use crate::bundle::{OpWindow, WindowAxis};
use crate::{bundle::OpFamily, launch::geometry::DimLabel};

/// Sliding dimension of each window axis, and the dimension of the window's points.
const WINDOW_AXES: [(DimLabel, DimLabel); 2] = [(DimLabel::I, DimLabel::Ki), (DimLabel::J, DimLabel::Kj)];

/// Default padding kind of the emitter.
const FULL_SPAN_PADDING: &str = "padded_fullspan_wunneeded";

impl SdscFile<'_> {
    /// Returns the window of a windowed op.
    pub(super) fn window(&self, guess: &OpSpecCandidate) -> Option<OpWindow> {
        if !self.family(guess.is_reduction).is_windowed() {
            return None;
        }
        let is_depthwise = self.family(guess.is_reduction) == OpFamily::Depthwise;
        let [height, width] = WINDOW_AXES.map(|(label, taps)| {
            let axis = self.window_axis(label, taps);
            WindowAxis { total_size: axis.total_size.filter(|_| is_depthwise), ..axis }
        });
        let node = self.dsc.nodes.first().filter(|_| is_depthwise);
        let padding = node.and_then(|node| node.padding.as_ref().or(node.early_padding.as_ref())?.0.first());
        let pad_type = padding.map(|(_, kind)| kind.to_string()).filter(|kind| kind != FULL_SPAN_PADDING);
        Some(OpWindow { height, width, pad_type })
    }

    fn window_axis(&self, label: DimLabel, taps: DimLabel) -> WindowAxis {
        let kernel = self.size(taps);
        let Some(info) = self.dsc.space.windows.as_ref().and_then(|windows| windows.get(label.name())) else {
            return WindowAxis { kernel, ..WindowAxis::default() };
        };
        WindowAxis {
            kernel,
            stride: info.stride,
            padding: info.pad_front.saturating_add(info.unneeded_front.unwrap_or_default()),
            dilation: info.dilation,
            total_size: Some(info.total),
        }
    }

    /// Returns `[N, C, H, W]` of a windowed op's result. Dimensions of size 1 are not in the file, except for a single
    /// channel to which the rules added a stick.
    pub(super) fn output_ranges(&self, guess: &OpSpecCandidate) -> Option<[i64; 4]> {
        let size =
            |label: DimLabel| if guess.dims.contains(&label) || label != DimLabel::Out { self.size(label) } else { 1 };
        self.family(guess.is_reduction)
            .is_windowed()
            .then(|| [DimLabel::Mb, DimLabel::Out, DimLabel::I, DimLabel::J].map(size))
    }

    /// Returns the dimensions of a window's points that a tensor has but its file entry omits: those of all classes
    /// except `KERNEL`, in a sliding op.
    pub(super) fn hidden_dims(&self, guess: &OpSpecCandidate, tensor: usize) -> Vec<DimLabel> {
        let is_sliding = matches!(self.family(guess.is_reduction), OpFamily::Pool | OpFamily::Conv2d);
        let is_hidden =
            |taps: &DimLabel| is_sliding && self.dsc.tensors[tensor].class != "KERNEL" && guess.dims.contains(taps);
        [DimLabel::Kj, DimLabel::Ki].into_iter().filter(is_hidden).collect()
    }

    /// Inserts the window's points of a sliding input directly inside the dimensions along which they slide.
    pub(super) fn insert_hidden_dims(&self, guess: &OpSpecCandidate, tensor: usize, order: &mut Vec<DimLabel>) {
        let hidden = if tensor == 0 { self.hidden_dims(guess, tensor) } else { Vec::new() };
        for (label, taps) in WINDOW_AXES.into_iter().filter(|(_, taps)| hidden.contains(taps)) {
            if let (Some(position), false) = (order.iter().position(|other| *other == label), order.contains(&taps)) {
                order.insert(position, taps);
            }
        }
    }

    /// Returns the device size of a dimension of a windowed input, of which files state the gap only. A window point
    /// has size 1, since windows overlap. An input without a gap along the sliding dimension is laid out window by
    /// window, if that is possible.
    pub(super) fn input_device_size(&self, guess: &OpSpecCandidate, tensor: usize, label: DimLabel) -> Option<i64> {
        let family = self.family(guess.is_reduction);
        if tensor != 0 || !family.is_windowed() {
            return None;
        }
        if let Some((sliding, taps)) = WINDOW_AXES.into_iter().find(|(_, taps)| *taps == label) {
            let axis = self.window_axis(sliding, taps);
            let is_apart = axis.stride == axis.kernel && axis.padding == 0 && self.gap(tensor, sliding) == 0;
            return Some(if is_apart && !family.is_convolution() { axis.kernel } else { 1 });
        }
        let (_, taps) =
            WINDOW_AXES.into_iter().find(|(sliding, _)| *sliding == label && self.gap(tensor, label) == 0)?;
        let info = self.dsc.space.windows.as_ref()?.get(label.name())?;
        let size = info.total.saturating_sub(self.window_axis(label, taps).padding.saturating_mul(2)).max(1);
        Some(if family.is_convolution() { size } else { size.min(self.size(label)) })
    }
}
