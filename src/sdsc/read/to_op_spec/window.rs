//! The windows of convolutions and poolings.

use super::candidate::OpSpecCandidate;
use super::file::SdscFile;
use crate::bundle::{OpWindow, WindowAxis};
use crate::{bundle::OpFamily, launch::geometry::DimLabel};

/// The two window axes, each with its sliding dimension and the dimension of the window's points.
const WINDOW_AXES: [(DimLabel, DimLabel); 2] = [(DimLabel::I, DimLabel::Ki), (DimLabel::J, DimLabel::Kj)];

/// How the emitter pads unless it is told otherwise.
const FULL_SPAN_PADDING: &str = "padded_fullspan_wunneeded";

impl SdscFile<'_> {
    /// The window of a windowed op.
    pub(super) fn window(&self, guess: &OpSpecCandidate) -> Option<OpWindow> {
        if !self.family(guess.is_reduction).is_windowed() {
            return None;
        }
        let [height, width] = WINDOW_AXES.map(|(label, taps)| self.window_axis(label, taps));
        let is_depthwise = self.family(guess.is_reduction) == OpFamily::Depthwise;
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
            total_size: info.unneeded.map(|_| info.total),
        }
    }

    /// `[N, C, H, W]` of a windowed op's result; dimensions of size 1 are not in the file, but for a single channel
    /// that was given a stick.
    pub(super) fn output_ranges(&self, guess: &OpSpecCandidate) -> Option<[i64; 4]> {
        let size =
            |label: DimLabel| if guess.dims.contains(&label) || label != DimLabel::Out { self.size(label) } else { 1 };
        self.family(guess.is_reduction)
            .is_windowed()
            .then(|| [DimLabel::Mb, DimLabel::Out, DimLabel::I, DimLabel::J].map(size))
    }

    /// The dimensions of a window's points where files do not show them: everywhere but in class `KERNEL` of a sliding
    /// op.
    pub(super) fn hidden_dims(&self, guess: &OpSpecCandidate, tensor: usize) -> Vec<DimLabel> {
        let is_sliding = matches!(self.family(guess.is_reduction), OpFamily::Pool | OpFamily::Conv2d);
        let is_hidden =
            |taps: &DimLabel| is_sliding && self.dsc.tensors[tensor].class != "KERNEL" && guess.dims.contains(taps);
        [DimLabel::Kj, DimLabel::Ki].into_iter().filter(is_hidden).collect()
    }

    /// Puts the window's points of a sliding input right inside the dimensions that they slide along.
    pub(super) fn insert_hidden_dims(&self, guess: &OpSpecCandidate, tensor: usize, order: &mut Vec<DimLabel>) {
        let hidden = if tensor == 0 { self.hidden_dims(guess, tensor) } else { Vec::new() };
        for (label, taps) in WINDOW_AXES.into_iter().filter(|(_, taps)| hidden.contains(taps)) {
            if let (Some(position), false) = (order.iter().position(|other| *other == label), order.contains(&taps)) {
                order.insert(position, taps);
            }
        }
    }

    /// The device size of a dimension of a windowed input, of which files say nothing but a gap. Of a point of a window
    /// it is 1, since windows overlap; an input without a gap along what slides is laid out window by window, if that
    /// is possible.
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
