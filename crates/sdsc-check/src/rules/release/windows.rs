//! Rules of the release on windows.

use super::super::super::file_view::FileView;
use super::super::super::report::ViolationReport;
use sdsc_format::model::{DimSizes, WindowInfo};

/// Returns the members with windows: the sizes of the op, and those of a core.
fn collect_window_sizes<'a>(file: &FileView<'a>) -> [(&'static str, &'a DimSizes, bool); 3] {
    let stages = &file.dsc.stages.core;
    [
        ("N_", &file.dsc.space, false),
        ("dataStageParam_/0/ss_", &stages.steady, true),
        ("dataStageParam_/0/el_", &stages.end, true),
    ]
}

/// Returns whether cores divide the dimension, so that the windows of a core differ from those of the op.
fn is_divided(file: &FileView<'_>, label: &str) -> bool {
    file.num_slices(label).is_some_and(|slices| slices > 1)
}

pub(in super::super) fn check_window_sizes(file: &FileView<'_>, report: &mut ViolationReport) {
    for (path, sizes, is_core) in collect_window_sizes(file) {
        for (label, window) in sizes.windows() {
            let is_split = is_core && is_divided(file, label);
            if let Some(fault) = find_size_fault(file, sizes, label, window, is_split) {
                report.report_json(file.dsc_member_path(&format!("{path}/paddingSizes_/{label}")), fault);
            }
        }
    }
}

fn find_size_fault(
    file: &FileView<'_>,
    sizes: &DimSizes,
    label: &str,
    window: &WindowInfo,
    is_split: bool,
) -> Option<String> {
    let pads = (window.pad_front, window.pad_back);
    if is_split && pads != (-1, -1) {
        return Some(format!("padding {pads:?} of '{label}', which is split over cores; it is -1 there"));
    }
    if !is_split && (pads.0 < 0 || pads.1 < 0) || window.stride < 1 || window.dilation < 1 {
        return Some(format!(
            "padding {pads:?}, stride {} and dilation {}; padding is not negative, the others are positive",
            window.stride, window.dilation
        ));
    }
    let (outputs, points) = (sizes.sizes.get(label)?, file.size(window.taps_label())?);
    let wanted = window.count_read_points(outputs, points);
    (window.total != wanted)
        .then(|| format!("a total of {} points; the windows read {wanted}, including unneeded points", window.total))
}

pub(in super::super) fn check_window_dims(file: &FileView<'_>, report: &mut ViolationReport) {
    for (path, sizes, _) in collect_window_sizes(file) {
        for (label, window) in sizes.windows() {
            let taps = window.taps_label();
            let fault = match () {
                () if !file.family.is_windowed() => {
                    format!("windows of '{}'; only convolutions and poolings have windows", file.compute.function)
                }
                () if !matches!(&**label, "i" | "j") => format!("windows along '{label}'; they run along 'i' and 'j'"),
                // A dimension that is not set has no windows to check.
                () if matches!(taps, "" | "ki" | "kj") && (taps.is_empty() || file.size(taps).is_some()) => continue,
                () => format!("the window's dimension is '{taps}'; it is 'ki' or 'kj', and in 'N_'"),
            };
            report.report_json(file.dsc_member_path(&format!("{path}/paddingSizes_/{label}")), fault);
        }
    }
}

pub(in super::super) fn check_unneeded_points(file: &FileView<'_>, report: &mut ViolationReport) {
    for (path, sizes, is_core) in collect_window_sizes(file) {
        for (label, window) in sizes.windows() {
            let is_split = is_core && is_divided(file, label);
            if let Some(fault) = find_unneeded_fault(window, is_split) {
                report.report_json(file.dsc_member_path(&format!("{path}/paddingSizes_/{label}")), fault);
            }
        }
    }
}

/// Finds a fault of the points that no window reads. They are taken from the back padding, then from the data, then
/// from the front padding.
fn find_unneeded_fault(window: &WindowInfo, is_split: bool) -> Option<String> {
    let [unneeded, front, back] =
        [window.unneeded, window.unneeded_front, window.unneeded_back].map(Option::unwrap_or_default);
    if unneeded < 0 || front < 0 || back < 0 || front.saturating_add(back) > unneeded {
        return Some(format!(
            "{unneeded} unneeded points, {front} of the front and {back} of the back padding; the points include both"
        ));
    }
    if unneeded >= window.stride {
        return Some(format!(
            "{unneeded} unneeded points for a stride of {}; a further window would read them",
            window.stride
        ));
    }
    if is_split {
        return None;
    }
    if back < unneeded && window.pad_back > 0 {
        return Some(format!(
            "{unneeded} unneeded points and a back padding of {}; unneeded points are taken from it first",
            window.pad_back
        ));
    }
    let data = window.total - window.pad_front - window.pad_back - front - back;
    (front > 0 && unneeded - front - back < data)
        .then(|| format!("{front} unneeded points of the front padding; the data is taken before"))
}

pub(in super::super) fn check_stage_windows(file: &FileView<'_>, report: &mut ViolationReport) {
    for (path, sizes, _) in collect_window_sizes(file).into_iter().filter(|(_, _, is_core)| *is_core) {
        for (label, window) in sizes.windows() {
            let Some((_, whole)) = file.dsc.space.windows().find(|(known, _)| *known == label) else { continue };
            let steps = |window: &WindowInfo| (window.stride, window.dilation);
            let pads = |window: &WindowInfo| (window.pad_front, window.pad_back);
            let differs = steps(window) != steps(whole)
                || (!is_divided(file, label) && pads(window) != pads(whole))
                || (!window.window_dim.is_empty() && window.window_dim != whole.window_dim);
            if differs {
                let message = "other windows than those of 'N_'; a core has the steps and paddings of the op";
                report.report_json(file.dsc_member_path(&format!("{path}/paddingSizes_/{label}")), message);
            }
        }
    }
}
