//! Rules on the iteration space and on the slice of one core.

use super::super::extent::compute_core_bytes;
use super::super::file_view::{FileView, TensorView};
use super::super::functions::FunctionFamily;
use super::super::report::ViolationReport;
use sdsc_format::model::{Entries, LabeledSizes, strip_underscore};
use std::collections::BTreeSet;

pub(super) fn check_dims(file: &FileView<'_>, report: &mut ViolationReport) {
    let space: BTreeSet<_> = file.labels().collect();
    let mut check_all = |path: String, labels: BTreeSet<&str>| {
        if let Some(label) = space.symmetric_difference(&labels).next() {
            let place = if labels.contains(label) { "is here and not in" } else { "is missing here and is in" };
            report.report_json(path, format!("dimension '{label}' {place} 'N_'; both have the same dimensions"));
        }
    };
    let stages = &file.dsc.stages.core;
    check_all(
        file.member_path("numWkSlicesPerDim_"),
        file.operation.slices.iter().map(|(label, _)| &**label).collect(),
    );
    check_all(file.dsc_member_path("dataStageParam_/0/ss_"), collect_labels(&stages.steady.sizes));
    check_all(file.dsc_member_path("dataStageParam_/0/el_"), collect_labels(&stages.end.sizes));
    let mut check_each = |path: &str, label: &str| {
        if !space.contains(label) {
            report.report_json(
                file.dsc_member_path(path),
                format!("'{label}' is no dimension of 'N_'; every dimension has a size"),
            );
        }
    };
    for (name, class) in file.dsc.classes.iter() {
        class.order.iter().for_each(|label| check_each(&format!("primaryDsInfo_/{name}/layoutDimOrder_"), label));
        class.stick.iter().for_each(|label| check_each(&format!("primaryDsInfo_/{name}/stickDimOrder_"), label));
    }
    file.dsc.masking.iter().for_each(|(label, _)| check_each("coordinateMasking_", label));
    file.dsc.dim_symbols.iter().flat_map(Entries::iter).for_each(|(label, _)| check_each("dimToSymbolMapping_", label));
    let symbolic = stages.steady.symbolic.iter().flat_map(Entries::iter).map(|(label, _)| strip_underscore(label));
    symbolic.for_each(|label| check_each("dataStageParam_/0/ss_/symbolicDimInfo_", label));
}

fn collect_labels(sizes: &LabeledSizes) -> BTreeSet<&str> {
    sizes.0.iter().map(|(key, _)| strip_underscore(key)).collect()
}

pub(super) fn check_slice_divisibility(file: &FileView<'_>, report: &mut ViolationReport) {
    if file.is_uneven() {
        return;
    }
    for label in file.labels() {
        let (Some(size), Some(part), Some(slices)) = (file.size(label), file.core_size(label), file.num_slices(label))
        else {
            continue;
        };
        if size < 1 {
            report.report_json(
                file.dsc_member_path(&format!("N_/{label}_")),
                format!("{size} points of '{label}'; a dimension has at least one"),
            );
        } else if part < 1 || slices < 1 || part.checked_mul(slices) != Some(size) {
            let path = file.dsc_member_path(&format!("dataStageParam_/0/ss_/{label}_"));
            report.report_json(
                path,
                format!("{slices} slices of {part} points for the {size} points of '{label}'; the product is the size of the dimension"),
            );
        }
    }
}

pub(super) fn check_equal_stages(file: &FileView<'_>, report: &mut ViolationReport) {
    let stages = &file.dsc.stages.core;
    for (key, size) in stages.steady.sizes.0.iter() {
        let end = stages.end.sizes.0.get(key);
        if let Some(end) = end.filter(|end| *end != size) {
            let message = format!("{end} points where 'ss_' has {size}; every core has equal work from start to end");
            report.report_json(file.dsc_member_path(&format!("dataStageParam_/0/el_/{key}")), message);
        }
    }
    if stages.steady.symbolic != stages.end.symbolic {
        report.report_json(
            file.dsc_member_path("dataStageParam_/0/el_/symbolicDimInfo_"),
            "the bounds are not those of 'ss_'; both stages are equal",
        );
    }
    if stages.steady.windows != stages.end.windows {
        report.report_json(
            file.dsc_member_path("dataStageParam_/0/el_/paddingSizes_"),
            "the windows are not those of 'ss_'; both stages are equal",
        );
    }
}

pub(super) fn check_stick_alignment(file: &FileView<'_>, report: &mut ViolationReport) {
    let mut seen = BTreeSet::new();
    for tensor in file.tensors() {
        for label in tensor.stick().iter().filter(|label| tensor.has_dim(label)) {
            let held = if file.is_shuffle() { tensor.num_held_slices(label) } else { None };
            let held = held.filter(|slices| *slices > 0).and_then(|slices| Some(file.size(label)? / slices));
            let (Some(per_stick), Some(part)) = (tensor.stick_size(label), held.or(file.core_size(label))) else {
                continue;
            };
            let class = &*tensor.info.class;
            if is_misaligned(file, &tensor, label, per_stick, part) && seen.insert((class, label)) {
                let path = file.dsc_member_path(&format!("dataStageParam_/0/ss_/{label}_"));
                let message = format!(
                    "{part} points of '{label}' on each core; a core has complete sticks of '{class}', which have {per_stick}"
                );
                report.report_json(path, message);
            }
        }
    }
}

fn is_misaligned(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str, per_stick: i64, part: i64) -> bool {
    let is_cut = per_stick > 0 && part % per_stick != 0;
    let is_split = file.is_shuffle() || file.num_slices(label).is_some_and(|slices| slices > 1);
    if tensor.is_index() {
        // The last stick of an index tensor may be partly filled; only a division among cores must not split one.
        is_cut && is_split && part > per_stick
    } else {
        // The reference emitter does not pad the result of a conversion of a one-dimensional tensor.
        let is_flat = file.family == FunctionFamily::Conversion
            && file.labels().all(|other| other == label || file.size(other) == Some(1));
        is_cut && (is_split || !is_flat)
    }
}

pub(super) fn check_addressable_spans(file: &FileView<'_>, report: &mut ViolationReport) {
    let limit = file.context.target.core_span_bytes;
    for tensor in file.tensors().filter(|tensor| !tensor.is_lx()) {
        let bytes = compute_core_bytes(file, &tensor);
        if bytes > limit {
            let message = format!(
                "a core addresses {bytes} bytes of the tensor; it must not exceed 65535 pages of 4096, {limit} bytes"
            );
            report.report_json(file.node_member_path(tensor.index, "startAddressCoreCorelet_"), message);
        }
    }
}
