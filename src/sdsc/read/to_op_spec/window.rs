//! The windows of convolutions and poolings.

use super::file::File;
use super::guess::Guess;
use crate::bundle::{Window, WindowAxis};
use crate::{bundle::OpFamily, launch::geometry::Label};

/// The two window axes, each with its sliding dimension and the dimension of the window's points.
const AXES: [(Label, Label); 2] = [(Label::I, Label::Ki), (Label::J, Label::Kj)];

/// How the emitter pads unless it is told otherwise.
const FULL_SPAN: &str = "padded_fullspan_wunneeded";

impl File<'_> {
    /// The window of a windowed op.
    pub(super) fn window(&self, guess: &Guess) -> Option<Window> {
        if !self.family(guess.is_reduction).is_windowed() {
            return None;
        }
        let [height, width] = AXES.map(|(label, taps)| self.axis(label, taps));
        let is_depthwise = self.family(guess.is_reduction) == OpFamily::Depthwise;
        let node = self.dsc.nodes.first().filter(|_| is_depthwise);
        let padding = node.and_then(|node| node.padding.as_ref().or(node.early_padding.as_ref())?.0.first());
        let pad_type = padding.map(|(_, kind)| kind.to_string()).filter(|kind| kind != FULL_SPAN);
        Some(Window { height, width, pad_type })
    }

    fn axis(&self, label: Label, taps: Label) -> WindowAxis {
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

    /// `[N, C, H, W]` of a windowed op's result; dimensions of size 1 are not in the file, but for a single channel that was given a stick.
    pub(super) fn output_ranges(&self, guess: &Guess) -> Option<[i64; 4]> {
        let size = |label: Label| if guess.dims.contains(&label) || label != Label::Out { self.size(label) } else { 1 };
        self.family(guess.is_reduction).is_windowed().then(|| [Label::Mb, Label::Out, Label::I, Label::J].map(size))
    }

    /// The dimensions of a window's points where files do not show them: everywhere but in class `KERNEL` of a sliding op.
    pub(super) fn hidden(&self, guess: &Guess, tensor: usize) -> Vec<Label> {
        let is_sliding = matches!(self.family(guess.is_reduction), OpFamily::Pool | OpFamily::Conv2d);
        let is_hidden = |taps: &Label| is_sliding && self.dsc.tensors[tensor].class != "KERNEL" && guess.dims.contains(taps);
        [Label::Kj, Label::Ki].into_iter().filter(is_hidden).collect()
    }

    /// Puts the window's points of a sliding input right inside the dimensions that they slide along.
    pub(super) fn unhide(&self, guess: &Guess, tensor: usize, order: &mut Vec<Label>) {
        let hidden = if tensor == 0 { self.hidden(guess, tensor) } else { Vec::new() };
        for (label, taps) in AXES.into_iter().filter(|(_, taps)| hidden.contains(taps)) {
            if let (Some(position), false) = (order.iter().position(|other| *other == label), order.contains(&taps)) {
                order.insert(position, taps);
            }
        }
    }

    /// The device size of a dimension of a windowed input, of which files say nothing but a gap. Of a point of a window it is 1, since windows
    /// overlap; an input without a gap along what slides is laid out window by window, if that is possible.
    pub(super) fn input_size(&self, guess: &Guess, tensor: usize, label: Label) -> Option<i64> {
        let family = self.family(guess.is_reduction);
        if tensor != 0 || !family.is_windowed() {
            return None;
        }
        if let Some((sliding, taps)) = AXES.into_iter().find(|(_, taps)| *taps == label) {
            let axis = self.axis(sliding, taps);
            let is_apart = axis.stride == axis.kernel && axis.padding == 0 && self.gap(tensor, sliding) == 0;
            return Some(if is_apart && !family.is_convolution() { axis.kernel } else { 1 });
        }
        let (_, taps) = AXES.into_iter().find(|(sliding, _)| *sliding == label && self.gap(tensor, label) == 0)?;
        let info = self.dsc.space.windows.as_ref()?.get(label.name())?;
        let size = info.total.saturating_sub(self.axis(label, taps).padding.saturating_mul(2)).max(1);
        Some(if family.is_convolution() { size } else { size.min(self.size(label)) })
    }
}
