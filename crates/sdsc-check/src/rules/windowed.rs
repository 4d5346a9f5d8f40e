//! Rule on members that describe windows: those of the stages, the nodes and the folds of a windowed op are recomputed
//! and compared.

use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use super::derived_members::read_folds;
use sdsc_format::model::{Entries, Text, WindowInfo};
use std::collections::BTreeMap;

/// Sliding dimension of each window axis, and the dimension of the window's points.
const WINDOW_AXES: [(&str, &str); 2] = [("i", "ki"), ("j", "kj")];

/// Default padding of inputs that are read through windows.
const FULL_SPAN: &str = "padded_fullspan_wunneeded";

/// Kind of function whose window members the schema defines.
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

    /// Returns whether tensors of different windows share data.
    fn is_sliding(self) -> bool {
        self != Self::Depthwise
    }

    /// Returns whether a tensor is read through windows.
    fn reads_windows(self, file: &FileView<'_>, tensor: usize) -> bool {
        if self.is_sliding() { Some(tensor) != file.result_index() } else { tensor == 0 }
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

/// Checks that every memory of a tensor states whether its data is padded. This holds for all tensors of sliding
/// functions, and for the input of a depthwise convolution.
fn check_padding_members(
    file: &FileView<'_>,
    kind: WindowFunctionKind,
    tensor: &TensorView<'_>,
    report: &mut ViolationReport,
) {
    let is_padded = kind.reads_windows(file, tensor.index);
    let in_lx_only = tensor.is_lx();
    let is_said = if kind.is_sliding() { !in_lx_only } else { is_padded };
    let memory = &tensor.info.memory;
    for (name, found) in [("hbm", &memory.hbm), ("lx", &memory.lx)] {
        let Some(found) = found else { continue };
        let wanted = [
            ("isPadded", is_said.then(|| u8::from(is_padded)).map(i64::from), found.is_padded.map(i64::from)),
            ("isZeroPadded", (is_said && !in_lx_only).then_some(0), found.is_zero_padded.map(i64::from)),
            ("dsOffset", (is_said && kind.is_sliding()).then_some(0), found.offset),
            ("allocateNode_", (is_said && kind.is_sliding()).then_some(0), found.node.as_ref().map(|_| 0)),
        ];
        if let Some((member, _, _)) = wanted.into_iter().find(|(_, wanted, found)| wanted != found) {
            let message = format!("the member is not what a tensor of '{}' has", file.compute.function);
            report.report_json(file.tensor_member_path(tensor.index, &format!("memOrg_/{name}/{member}")), message);
        }
    }
}

/// Checks that tensors of overlapping windows share data, and that their sticks are not replicated. Both members exist
/// for poolings and direct convolutions only.
fn check_shared_data_members(file: &FileView<'_>, kind: WindowFunctionKind, report: &mut ViolationReport) {
    let wanted = kind.is_sliding().then_some(1);
    let found = file.dsc.class_relation.as_ref().map(|relation| relation.is_reuse);
    if found != wanted {
        report.report_json(
            file.dsc_member_path("pdsRelation_/isPdsReuse"),
            format!("{found:?}; of '{}' it is {wanted:?}", file.compute.function),
        );
    }
    for (name, class) in file.dsc.classes.iter() {
        if class.stick_replication.is_some() != kind.is_sliding() {
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

fn check_derived_windows(file: &FileView<'_>, kind: WindowFunctionKind, report: &mut ViolationReport) {
    let found = file.dsc.space.windows.as_ref().map(collect_by_label).unwrap_or_default();
    let taps = |label: &str| WINDOW_AXES.iter().find(|(sliding, _)| *sliding == label).map(|(_, taps)| *taps);
    let mut wanted: WindowsByLabel = WindowsByLabel::new();
    let mut per_core: WindowsByLabel = WindowsByLabel::new();
    for (label, window) in &found {
        let Some(taps) = taps(label) else { continue };
        let Some(kernel) = file.size(taps) else { continue };
        let (whole, part) = match kind {
            WindowFunctionKind::Depthwise => compute_depthwise_windows(file, window, label, kernel),
            WindowFunctionKind::Pool | WindowFunctionKind::Convolution => {
                let total = (file.size(label).unwrap_or(1) - 1).saturating_mul(window.stride).saturating_add(kernel);
                let whole = WindowInfo {
                    pad_back: window.pad_front,
                    unneeded: None,
                    unneeded_front: None,
                    unneeded_back: None,
                    total,
                    dilation: 1,
                    ..window.clone()
                };
                (whole.clone(), Some(whole))
            }
        };
        let named = |window: WindowInfo| WindowInfo { window_dim: taps.to_owned().into(), ..window };
        wanted.insert(label.clone(), named(whole));
        per_core.extend(part.map(|part| (label.clone(), named(part))));
    }
    let is_complete = WINDOW_AXES
        .iter()
        .all(|(label, taps)| found.contains_key(*label) == (!kind.is_sliding() || file.size(taps).is_some()));
    let stages = file.dsc.stages.core.steady.windows.as_ref().map(collect_by_label).unwrap_or_default();
    for (path, found, wanted) in [("N_", &found, &wanted), ("dataStageParam_/0/ss_", &stages, &per_core)] {
        if found != wanted || !is_complete {
            let message = format!(
                "windows {}; those of the sizes and the strides are {}",
                format_windows(found),
                format_windows(wanted)
            );
            report.report_json(file.dsc_member_path(&format!("{path}/paddingSizes_")), message);
        }
    }
}

fn format_windows(windows: &WindowsByLabel) -> String {
    let one = |(label, window): (&String, &WindowInfo)| {
        let WindowInfo { pad_front, pad_back, unneeded, total, stride, dilation, window_dim, .. } = window;
        format!(
            "'{label}' of '{window_dim}': {total} points, steps of {stride}, {dilation} apart, padded by {pad_front} and {pad_back}, \
             {} not read",
            unneeded.unwrap_or_default()
        )
    };
    if windows.is_empty() { "none".to_owned() } else { windows.iter().map(one).collect::<Vec<_>>().join("; ") }
}

/// Returns the window of the complete op and that of one core. Positions that no window reads are subtracted from the
/// back padding, then from the front padding.
fn compute_depthwise_windows(
    file: &FileView<'_>,
    window: &WindowInfo,
    label: &str,
    kernel: i64,
) -> (WindowInfo, Option<WindowInfo>) {
    let padding = window.pad_front.saturating_add(window.unneeded_front.unwrap_or_default());
    let fitted = |total: i64, outputs: i64| {
        let read = (outputs - 1).saturating_mul(window.stride).saturating_add(kernel);
        let unneeded = total.saturating_sub(read);
        let rest = unneeded.max(0);
        let back = rest.min(padding);
        let rest = rest - back;
        let valid = total.saturating_sub(padding.saturating_mul(2)).max(0);
        let front = (rest - rest.min(valid)).min(padding);
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
    let whole = fitted(window.total, window.total.saturating_sub(kernel).div_euclid(window.stride.max(1)) + 1);
    let part = file.size(label).zip(file.num_slices(label)).map(|(size, slices)| {
        let outputs = size / slices.max(1);
        let total =
            if slices == 1 { window.total } else { outputs.saturating_mul(window.stride).saturating_add(kernel - 1) };
        fitted(total, outputs)
    });
    (whole, part)
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
    let is_padded = |label: &&str| !kind.is_sliding() || node.order.iter().any(|known| known == *label);
    let wanted: Vec<&str> =
        if kind.reads_windows(file, tensor.index) { windows.filter(is_padded).collect() } else { Vec::new() };
    let padding = node.padding.as_ref().or(node.early_padding.as_ref());
    let found: Vec<&str> = padding.into_iter().flat_map(Entries::iter).map(|(label, _)| &**label).collect();
    let path = file.node_member_path(tensor.index, "padding_");
    if found != wanted || (padding.is_some() && wanted.is_empty()) {
        return report.report_json(
            path,
            format!("padding of {found:?}; a tensor that is read through windows has padding of {wanted:?}"),
        );
    }
    let mut kinds = padding.into_iter().flat_map(Entries::iter).map(|(_, kind)| &**kind);
    let Some(first) = kinds.next() else { return };
    if kinds.any(|other| other != first) || (kind.is_sliding() && first != FULL_SPAN) {
        report.report_json(
            path,
            format!("'{first}' or others; all window dimensions have one padding, in poolings and convolutions '{FULL_SPAN}'"),
        );
    }
}

/// Checks that a core's slice of a windowed input is the range that its windows read.
fn check_window_folds(
    file: &FileView<'_>,
    kind: WindowFunctionKind,
    tensor: &TensorView<'_>,
    report: &mut ViolationReport,
) {
    if !kind.reads_windows(file, tensor.index) {
        return;
    }
    for (label, window) in file.dsc.space.windows.iter().flat_map(Entries::iter) {
        let Some((info, size)) = tensor.coordinate(label).filter(|_| tensor.has_dim(label)).zip(file.size(label))
        else {
            continue;
        };
        let (kernel, slices) = (file.size(&window.window_dim).unwrap_or(1), file.num_slices(label).unwrap_or(1).max(1));
        let step = (size / slices).saturating_mul(window.stride);
        let (step, part) = match kind {
            WindowFunctionKind::Pool => (window.total / slices, window.total / slices),
            WindowFunctionKind::Convolution => (step, step - window.stride + kernel),
            WindowFunctionKind::Depthwise => (step, step + kernel - 1),
        };
        let (found, wanted) = (read_folds(info), vec![(step, slices), (0, 1), (0, 1), (1, part)]);
        if found != wanted {
            let message =
                format!("steps and counts {found:?} of '{label}'; those of what the windows read are {wanted:?}");
            report.report_json(
                file.node_member_path(tensor.index, &format!("coordinates_/coordInfo/{label}/folds")),
                message,
            );
        }
    }
}
