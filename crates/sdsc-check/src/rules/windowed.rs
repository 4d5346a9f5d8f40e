//! Rule on the windows of poolings and convolutions: recomputes the window members of iteration space, core stage,
//! nodes and folds, and compares them with those in the file.

use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use super::derived_members::read_folds;
use sdsc_format::model::{Entries, Text, WindowInfo};
use std::collections::BTreeMap;

/// Labels of each window axis: the dimension along which the window slides, and the dimension of the points inside one
/// window (the kernel dimension of a convolution).
const WINDOW_AXES: [(&str, &str); 2] = [("i", "ki"), ("j", "kj")];

/// Padding kind of the inputs of poolings and direct convolutions.
const FULL_SPAN_PADDING: &str = "padded_fullspan_wunneeded";

/// Kind of a windowed device function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowFunctionKind {
    Pool,
    Convolution,
    Depthwise,
}

impl WindowFunctionKind {
    fn from_function(function: &str) -> Option<Self> {
        match function {
            "avgpoolfwd" => Some(Self::Pool),
            "conv2d" => Some(Self::Convolution),
            "depthwiseconv2dnative" => Some(Self::Depthwise),
            _ => None,
        }
    }

    /// Returns whether the format has members for data reuse between overlapping windows. Depthwise convolutions lack
    /// them.
    fn has_reuse_members(self) -> bool {
        self != Self::Depthwise
    }

    /// Returns whether the function reads `tensor` through windows.
    fn reads_through_windows(self, file: &FileView<'_>, tensor: usize) -> bool {
        if self.has_reuse_members() { Some(tensor) != file.result_index() } else { tensor == 0 }
    }
}

type WindowsByLabel = BTreeMap<String, WindowInfo>;

pub(super) fn check_window_members(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(kind) = WindowFunctionKind::from_function(&file.compute.function) else { return };
    check_shared_data_members(file, kind, report);
    check_derived_windows(file, kind, report);
    for tensor in file.tensors() {
        check_window_padding(file, kind, &tensor, report);
        check_window_folds(file, kind, &tensor, report);
        check_padding_members(file, kind, &tensor, report);
    }
}

/// Checks that every memory of a tensor states whether its data is padded. This holds for all HBM tensors of poolings
/// and direct convolutions, and for the input of a depthwise convolution.
fn check_padding_members(
    file: &FileView<'_>,
    kind: WindowFunctionKind,
    tensor: &TensorView<'_>,
    report: &mut ViolationReport,
) {
    let is_padded = kind.reads_through_windows(file, tensor.index);
    let in_lx_only = tensor.is_lx();
    let has_padding_members = if kind.has_reuse_members() { !in_lx_only } else { is_padded };
    let memory = &tensor.info.memory;
    for (name, found) in [("hbm", &memory.hbm), ("lx", &memory.lx)] {
        let Some(found) = found else { continue };
        let expected_members = [
            (
                "isPadded",
                has_padding_members.then(|| u8::from(is_padded)).map(i64::from),
                found.is_padded.map(i64::from),
            ),
            ("isZeroPadded", (has_padding_members && !in_lx_only).then_some(0), found.is_zero_padded.map(i64::from)),
            ("dsOffset", (has_padding_members && kind.has_reuse_members()).then_some(0), found.offset),
            (
                "allocateNode_",
                (has_padding_members && kind.has_reuse_members()).then_some(0),
                found.node.as_ref().map(|_| 0),
            ),
        ];
        if let Some((member, _, _)) = expected_members.into_iter().find(|(_, wanted, found)| wanted != found) {
            let message = format!("the member is not what a tensor of '{}' has", file.compute.function);
            report.report_json(file.tensor_member_path(tensor.index, &format!("memOrg_/{name}/{member}")), message);
        }
    }
}

/// Checks the members for data reuse between windows and for stick replication. Both exist for poolings and direct
/// convolutions only.
fn check_shared_data_members(file: &FileView<'_>, kind: WindowFunctionKind, report: &mut ViolationReport) {
    let expected = kind.has_reuse_members().then_some(1);
    let found = file.dsc.class_relation.as_ref().map(|relation| relation.is_reuse);
    if found != expected {
        report.report_json(
            file.dsc_member_path("pdsRelation_/isPdsReuse"),
            format!("{found:?}; of '{}' it is {expected:?}", file.compute.function),
        );
    }
    for (name, class) in file.dsc.classes.iter() {
        if class.stick_replication.is_some() != kind.has_reuse_members() {
            let message = format!(
                "'{}' has the member for every class or for none; poolings and convolutions have it",
                file.compute.function
            );
            report.report_json(file.dsc_member_path(&format!("primaryDsInfo_/{name}/stickRepl_")), message);
        }
    }
}

fn collect_by_label(windows: &Entries<Text, WindowInfo>) -> WindowsByLabel {
    windows.iter().map(|(label, window)| (label.to_string(), window.clone())).collect()
}

/// Checks the windows of the complete op and those of one core against sizes and strides.
fn check_derived_windows(file: &FileView<'_>, kind: WindowFunctionKind, report: &mut ViolationReport) {
    let found = file.dsc.space.windows.as_ref().map(collect_by_label).unwrap_or_default();
    let find_window_dim =
        |label: &str| WINDOW_AXES.iter().find(|(sliding, _)| *sliding == label).map(|(_, taps)| *taps);
    let mut op_windows: WindowsByLabel = WindowsByLabel::new();
    let mut core_windows: WindowsByLabel = WindowsByLabel::new();
    for (label, window) in &found {
        let Some(window_dim) = find_window_dim(label) else { continue };
        let Some(window_size) = file.size(window_dim) else { continue };
        let (op_window, core_window) = match kind {
            WindowFunctionKind::Depthwise => compute_depthwise_windows(file, window, label, window_size),
            WindowFunctionKind::Pool | WindowFunctionKind::Convolution => {
                let total =
                    (file.size(label).unwrap_or(1) - 1).saturating_mul(window.stride).saturating_add(window_size);
                let op_window = WindowInfo {
                    pad_back: window.pad_front,
                    unneeded: None,
                    unneeded_front: None,
                    unneeded_back: None,
                    total,
                    dilation: 1,
                    ..window.clone()
                };
                (op_window.clone(), Some(op_window))
            }
        };
        let with_window_dim = |window: WindowInfo| WindowInfo { window_dim: window_dim.to_owned().into(), ..window };
        op_windows.insert(label.clone(), with_window_dim(op_window));
        core_windows.extend(core_window.map(|part| (label.clone(), with_window_dim(part))));
    }
    let is_complete = WINDOW_AXES.iter().all(|(label, window_dim)| {
        found.contains_key(*label) == (!kind.has_reuse_members() || file.size(window_dim).is_some())
    });
    let stage_windows = file.dsc.stages.core.steady.windows.as_ref().map(collect_by_label).unwrap_or_default();
    for (path, found, expected) in
        [("N_", &found, &op_windows), ("dataStageParam_/0/ss_", &stage_windows, &core_windows)]
    {
        if found != expected || !is_complete {
            let message = format!(
                "windows {}; those of the sizes and the strides are {}",
                format_windows(found),
                format_windows(expected)
            );
            report.report_json(file.dsc_member_path(&format!("{path}/paddingSizes_")), message);
        }
    }
}

fn format_windows(windows: &WindowsByLabel) -> String {
    let format_window = |(label, window): (&String, &WindowInfo)| {
        let WindowInfo { pad_front, pad_back, unneeded, total, stride, dilation, window_dim, .. } = window;
        format!(
            "'{label}' of '{window_dim}': {total} points, steps of {stride}, {dilation} apart, padded by {pad_front} and {pad_back}, \
             {} not read",
            unneeded.unwrap_or_default()
        )
    };
    if windows.is_empty() {
        "none".to_owned()
    } else {
        windows.iter().map(format_window).collect::<Vec<_>>().join("; ")
    }
}

/// Returns the window of the complete op and the window of one core. Input positions that no window reads are removed
/// from the back padding first, then from the front padding.
fn compute_depthwise_windows(
    file: &FileView<'_>,
    window: &WindowInfo,
    label: &str,
    window_size: i64,
) -> (WindowInfo, Option<WindowInfo>) {
    let padding = window.pad_front.saturating_add(window.unneeded_front.unwrap_or_default());
    let fit_padding = |total: i64, outputs: i64| {
        let num_read = (outputs - 1).saturating_mul(window.stride).saturating_add(window_size);
        let unneeded = total.saturating_sub(num_read);
        let num_unread = unneeded.max(0);
        let back = num_unread.min(padding);
        let remaining = num_unread - back;
        let num_valid = total.saturating_sub(padding.saturating_mul(2)).max(0);
        let front = (remaining - remaining.min(num_valid)).min(padding);
        WindowInfo {
            pad_front: padding - front,
            pad_back: padding - back,
            unneeded: Some(unneeded),
            unneeded_front: Some(front),
            unneeded_back: Some(back),
            total,
            ..window.clone()
        }
    };
    let op_window =
        fit_padding(window.total, window.total.saturating_sub(window_size).div_euclid(window.stride.max(1)) + 1);
    let core_window = file.size(label).zip(file.num_slices(label)).map(|(size, slices)| {
        let outputs = size / slices.max(1);
        let total = if slices == 1 {
            window.total
        } else {
            outputs.saturating_mul(window.stride).saturating_add(window_size - 1)
        };
        fit_padding(total, outputs)
    });
    (op_window, core_window)
}

/// Checks that tensors that are read through windows are padded along the window dimensions only, and that no other
/// tensor is padded.
fn check_window_padding(
    file: &FileView<'_>,
    kind: WindowFunctionKind,
    tensor: &TensorView<'_>,
    report: &mut ViolationReport,
) {
    let node = tensor.node;
    let windows = file.dsc.space.windows.iter().flat_map(Entries::iter).map(|(label, _)| &**label);
    let is_padded_dim = |label: &&str| !kind.has_reuse_members() || node.order.iter().any(|known| known == *label);
    let expected: Vec<&str> = if kind.reads_through_windows(file, tensor.index) {
        windows.filter(is_padded_dim).collect()
    } else {
        Vec::new()
    };
    let padding = node.padding.as_ref().or(node.early_padding.as_ref());
    let found: Vec<&str> = padding.into_iter().flat_map(Entries::iter).map(|(label, _)| &**label).collect();
    let path = file.node_member_path(tensor.index, "padding_");
    if found != expected || (padding.is_some() && expected.is_empty()) {
        return report.report_json(
            path,
            format!("padding of {found:?}; a tensor that is read through windows has padding of {expected:?}"),
        );
    }
    let mut kinds = padding.into_iter().flat_map(Entries::iter).map(|(_, kind)| &**kind);
    let Some(first) = kinds.next() else { return };
    if kinds.any(|other| other != first) || (kind.has_reuse_members() && first != FULL_SPAN_PADDING) {
        report.report_json(
            path,
            format!("'{first}' or others; all window dimensions have one padding, in poolings and convolutions '{FULL_SPAN_PADDING}'"),
        );
    }
}

/// Checks that a core's slice of a windowed input is exactly the range that the core's windows read.
fn check_window_folds(
    file: &FileView<'_>,
    kind: WindowFunctionKind,
    tensor: &TensorView<'_>,
    report: &mut ViolationReport,
) {
    if !kind.reads_through_windows(file, tensor.index) {
        return;
    }
    for (label, window) in file.dsc.space.windows.iter().flat_map(Entries::iter) {
        let Some((info, size)) = tensor.coordinate(label).filter(|_| tensor.has_dim(label)).zip(file.size(label))
        else {
            continue;
        };
        let (window_size, slices) =
            (file.size(&window.window_dim).unwrap_or(1), file.num_slices(label).unwrap_or(1).max(1));
        let step = (size / slices).saturating_mul(window.stride);
        let (step, slice_size) = match kind {
            WindowFunctionKind::Pool => (window.total / slices, window.total / slices),
            WindowFunctionKind::Convolution => (step, step.saturating_sub(window.stride).saturating_add(window_size)),
            WindowFunctionKind::Depthwise => (step, step.saturating_add(window_size - 1)),
        };
        let (found, expected) = (read_folds(info), vec![(step, slices), (0, 1), (0, 1), (1, slice_size)]);
        if found != expected {
            let message =
                format!("steps and counts {found:?} of '{label}'; those of what the windows read are {expected:?}");
            report.report_json(
                file.node_member_path(tensor.index, &format!("coordinates_/coordInfo/{label}/folds")),
                message,
            );
        }
    }
}
