//! Rules of the release on symbolic sizes.

use super::super::super::file_view::{FileView, TensorView};
use super::super::super::launch::ValueBase;
use super::super::super::report::{ViolationReport, member_pointer};
use super::super::addresses::{StartAddress, collect_starts, start_path};
use sdsc_format::Sdsc;
use sdsc_format::model::{Dsc, Entries, strip_underscore};

/// Returns whether the size of a dimension is symbolic.
fn has_symbol(dsc: &Dsc, label: &str) -> bool {
    dsc.dim_symbols.iter().flat_map(Entries::iter).any(|(known, _)| strip_underscore(known) == label)
}

/// Checks the sizes of the space before a reader replaces -1 by the maximum.
pub(in super::super::super) fn check_symbolic_space(sdsc: &Sdsc, report: &mut ViolationReport) {
    for (index, named) in sdsc.value.dscs.iter().enumerate() {
        let is_symbolic = |key: &str| has_symbol(&named.value, strip_underscore(key));
        for (key, size) in named.value.space.sizes.0.iter() {
            if is_symbolic(key) && *size != -1 {
                let dsc = member_pointer(&format!("{}/dscs_/{index}", member_pointer("", &sdsc.name)), &named.name);
                report.report_json(
                    format!("{dsc}/N_/{key}"),
                    format!("{size} points of a symbolic size; the size is -1"),
                );
            }
        }
    }
}

pub(in super::super) fn check_symbolic_bounds(file: &FileView<'_>, report: &mut ViolationReport) {
    for (label, ids) in file.dsc.dim_symbols.iter().flat_map(Entries::iter) {
        let path = file.dsc_member_path(&format!("dimToSymbolMapping_/{label}"));
        if ids.is_empty() || ids.iter().any(|symbol| symbol.id >= 0) {
            report.report_json(&path, "a symbolic size has negative symbol ids");
        }
        let label = strip_underscore(label);
        let stages = &file.dsc.stages.core;
        if stages.steady.sizes == stages.end.sizes && stages.steady.bounds(label) != stages.end.bounds(label) {
            let path = file.dsc_member_path("dataStageParam_/0/el_/symbolicDimInfo_");
            report.report_json(
                path,
                format!("the bounds of '{label}' are not those of 'ss_'; equal slices have equal bounds"),
            );
            continue;
        }
        let Some(bounds) = stages.steady.bounds(label).or_else(|| file.dsc.space.bounds(label)) else {
            let message =
                format!("'{label}' is not in 'symbolicDimInfo_'; a symbolic size has a largest size and a granularity");
            report.report_json(path, message);
            continue;
        };
        if bounds.max < 1 || bounds.granularity < 1 || bounds.max % bounds.granularity != 0 {
            let message = format!(
                "at most {} in steps of {}; the largest size is a positive number of steps",
                bounds.max, bounds.granularity
            );
            report.report_json(&path, message);
        } else if let Some(fault) = find_granularity_fault(file, label, ids.iter().map(|symbol| symbol.id)) {
            report.report_json(path, fault);
        }
    }
}

/// Compares the granularities of the complete size, which the space or the launch states, with those of the slices.
fn find_granularity_fault(file: &FileView<'_>, label: &str, ids: impl Iterator<Item = i64>) -> Option<String> {
    let slices = file.num_slices(label).unwrap_or(1).max(1);
    let declared = file.dsc.space.bounds(label).map(|whole| whole.granularity);
    let stages = &file.dsc.stages.core;
    for whole in declared.into_iter().chain(ids.filter_map(|id| find_parameter_granularity(file, id))) {
        if whole % slices != 0 {
            return Some(format!("{slices} slices of a granularity of {whole}; the slices divide the granularity"));
        }
        let parts = [&stages.steady, &stages.end].into_iter().filter_map(|stage| stage.bounds(label));
        // A stage states the granularity of a slice, or that of the complete size.
        if let Some(part) = parts.map(|bounds| bounds.granularity).find(|part| ![whole / slices, whole].contains(part))
        {
            return Some(format!(
                "a granularity of {part} in a stage, where {slices} slices share {whole}; the slices share it equally"
            ));
        }
    }
    None
}

/// Returns the granularity that the function of the bundle declares for the value of a symbol.
fn find_parameter_granularity(file: &FileView<'_>, id: i64) -> Option<i64> {
    let (execute, launch) = (file.context.execute?, file.context.launch?);
    let position = execute.symbol_ids().iter().position(|known| *known == id)?;
    match execute.values.get(position)?.as_ref()?.base? {
        ValueBase::Parameter(number) => *launch.granularities.get(number)?,
        ValueBase::Argument(_) | ValueBase::Pool(_) => None,
    }
}

pub(in super::super) fn check_symbolic_starts(file: &FileView<'_>, report: &mut ViolationReport) {
    let is_divided =
        |label: &&str| has_symbol(file.dsc, label) && file.num_slices(label).is_some_and(|slices| slices > 1);
    let divided: Vec<&str> = file.labels().filter(is_divided).collect();
    let starts = collect_starts(file);
    let has_slices = |tensor: &TensorView<'_>| !tensor.is_lx() && divided.iter().any(|label| tensor.has_dim(label));
    for tensor in file.tensors().filter(has_slices) {
        if !tensor.node.has_symbolic_start() {
            let message = "starts that are numbers, where cores divide a symbolic size; the starts are symbols";
            report.report_json(file.node_member_path(tensor.index, "isStartAddrSymbolic_"), message);
            continue;
        }
        let is_number = |start: &&StartAddress<'_>| start.tensor.index == tensor.index && start.form.base.is_none();
        if let Some(start) = starts.iter().find(is_number) {
            let message = format!(
                "the number {} for the start of a slice of a symbolic size; it is an offset from a buffer",
                start.form.constant
            );
            report.report_json(start_path(file, tensor.index, start.core), message);
        }
    }
}
