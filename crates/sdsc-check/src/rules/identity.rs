//! Rules on the identity of the operation of a file: its name, number, function and unit, and members with a fixed
//! value.

use super::super::file_view::FileView;
use super::super::functions::{FunctionFamily, execution_unit};
use super::super::report::{ViolationReport, member_pointer};
use sdsc_format::model::{Fold, FoldFunction, Sdsc};

/// Checks that a file has one description of one operation; other rules skip files that do not.
pub(in super::super) fn check_single_operation(sdsc: &Sdsc, report: &mut ViolationReport) {
    let path = member_pointer("", &sdsc.name);
    match sdsc.value.dscs.as_slice() {
        [dsc] if dsc.value.compute.len() != 1 => {
            let path = member_pointer(&format!("{path}/dscs_/0"), &dsc.name);
            report.report_json(
                format!("{path}/computeOp_"),
                format!("{} operations; a file has one", dsc.value.compute.len()),
            );
        }
        [_] => {}
        found => report.report_json(format!("{path}/dscs_"), format!("{} descriptions; a file has one", found.len())),
    }
}

/// Checks that the operation key, the description, the function and the file name agree.
pub(super) fn check_names(file: &FileView<'_>, report: &mut ViolationReport) {
    let function = &*file.compute.function;
    if file.dsc_key != function {
        report.report_json(
            file.compute_member_path("opFuncName"),
            format!("function '{function}' in the description of '{}'; they agree", file.dsc_key),
        );
    }
    let Some((number, name)) = file.key.split_once('_').filter(|(number, _)| number.parse::<u64>().is_ok()) else {
        return report.report_json(
            member_pointer("", file.key),
            format!("the operation is called '{}'; its name is '<number>_<function>'", file.key),
        );
    };
    if name != file.dsc_key {
        report.report_json(
            member_pointer("", file.key),
            format!("the operation is called '{name}' and its description '{}'; they agree", file.dsc_key),
        );
    }
    let file_number = file.name.strip_prefix("sdsc_").and_then(|rest| rest.strip_suffix(".json"));
    if let Some(wanted) = file_number.filter(|wanted| wanted.parse::<u64>().is_ok() && *wanted != number) {
        report.report_json(
            member_pointer("", file.key),
            format!("the operation has number {number} and its file {wanted}; they agree"),
        );
    }
}

/// Checks that the function is a device function.
pub(super) fn check_function(file: &FileView<'_>, report: &mut ViolationReport) {
    let function = &*file.compute.function;
    if FunctionFamily::from_function(function).is_none() {
        report
            .report_json(file.compute_member_path("opFuncName"), format!("'{function}' is no function of the device"));
    }
}

/// Checks that the function runs on its execution unit.
pub(super) fn check_unit(file: &FileView<'_>, report: &mut ViolationReport) {
    let function = &*file.compute.function;
    let Some(family) = FunctionFamily::from_function(function) else { return };
    if file.compute.unit != execution_unit(family) {
        let message = format!("'{function}' runs on '{}'; its unit is '{}'", file.compute.unit, execution_unit(family));
        report.report_json(file.compute_member_path("exUnit"), message);
    }
}

/// Checks the members that have the same value in all files.
pub(super) fn check_fixed_members(file: &FileView<'_>, report: &mut ViolationReport) {
    check_fixed_folds(file, report);
    check_fixed_members_by_core(file, report);
    let dsc = file.dsc;
    let stages = &dsc.stages.core;
    let texts = [
        ("N_/name_", dsc.space.name.as_deref(), "n"),
        ("dataStageParam_/0/ss_/name_", stages.steady.name.as_deref(), "core"),
        ("dataStageParam_/0/el_/name_", stages.end.name.as_deref(), "core"),
        ("computeOp_/0/location", file.compute.location.as_deref(), "Inner"),
        ("computeOp_/0/attributes_/fidelity_", Some(&*file.compute.attributes.fidelity), "regular"),
    ];
    for (path, found, wanted) in texts {
        if let Some(found) = found.filter(|found| *found != wanted) {
            report.report_json(file.dsc_member_path(path), format!("'{found}'; the member is always '{wanted}'"));
        }
    }
    if let Some(found) = dsc.n_corelets.filter(|found| *found != 1 && !(file.is_shuffle() && *found == 2)) {
        report.report_json(file.dsc_member_path("numCoreletsUsed_"), format!("{found} corelets; an op names one"));
    }
    for (tensor, node) in dsc.nodes.iter().enumerate() {
        let texts = [("nodeType_", Some(&*node.node_type), "allocate"), ("prev_", node.previous.as_deref(), "")];
        for (path, found, wanted) in texts {
            if let Some(found) = found.filter(|found| *found != wanted) {
                report.report_json(
                    file.node_member_path(tensor, path),
                    format!("'{found}'; the member is always '{wanted}'"),
                );
            }
        }
    }
    for (name, class) in dsc.classes.iter() {
        if class.stick_replication.as_deref().is_some_and(|found| found != [1]) {
            report.report_json(
                file.dsc_member_path(&format!("primaryDsInfo_/{name}/stickRepl_")),
                "the member is always [1]",
            );
        }
    }
}

fn check_fixed_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    let matches_fold = |fold: &Fold, factor: i64, label: &str| fold.factor == factor && fold.label == label;
    let is_single_time_fold = |folds: &[Fold]| matches!(folds, [fold] if matches_fold(fold, 1, "time"));
    let time_folds = &operation.folds;
    let is_default_fold = time_folds.functions == [FoldFunction::Affine { alpha: 1, beta: 0 }]
        && is_single_time_fold(&time_folds.folds)
        && matches!(time_folds.data.0.as_slice(), [(key, value)] if key == "[0]" && value == "0");
    let members = [
        ("sdscFoldProps_", is_single_time_fold(&operation.fold_props), "once over time"),
        ("sdscFolds_", is_default_fold, "once over time"),
        (
            "coreletFoldProp_",
            (1..=file.num_corelets()).any(|factor| matches_fold(&operation.corelet_fold, factor, "corelet")),
            "one corelet",
        ),
        ("coreFoldProp_", operation.core_fold.label == "core", "a fold over cores"),
        ("datadscs_", operation.data_dscs.as_ref().is_none_or(Vec::is_empty), "empty"),
    ];
    for (path, _, wanted) in members.into_iter().filter(|(_, is_fixed, _)| !is_fixed) {
        report.report_json(file.member_path(path), format!("the member is always {wanted}"));
    }
}

fn check_fixed_members_by_core(file: &FileView<'_>, report: &mut ViolationReport) {
    for (core, dsc) in file.operation.core_to_dsc.iter().filter(|(_, dsc)| **dsc != 0) {
        report.report_json(
            file.member_path(&format!("coreIdToDsc_/{core}")),
            format!("description {dsc}; every core runs description 0"),
        );
    }
    for (core, schedule) in
        file.operation.core_to_schedule.iter().filter(|(_, schedule)| schedule.as_slice() != [[-1, 0, 0, 0]])
    {
        let message = format!("{schedule:?}; the schedule of every core is [[-1, 0, 0, 0]]");
        report.report_json(file.member_path(&format!("coreIdToDscSchedule/{core}")), message);
    }
}
