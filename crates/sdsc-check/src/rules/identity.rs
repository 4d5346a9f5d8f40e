//! Rules on the name and the kind of the operation of a file.

use super::super::file_view::FileView;
use super::super::functions::{Family, unit};
use super::super::report::{Report, member};
use sdsc_format::model::{Fold, FoldFunction, Sdsc};

/// Whether a file has one description of one operation; other rules skip files that do not.
pub(in super::super) fn there_is_one_operation(sdsc: &Sdsc, report: &mut Report) {
    let path = member("", &sdsc.name);
    match sdsc.value.dscs.as_slice() {
        [dsc] if dsc.value.compute.len() != 1 => {
            let path = member(&format!("{path}/dscs_/0"), &dsc.name);
            report.json(format!("{path}/computeOp_"), format!("{} operations; a file has one", dsc.value.compute.len()));
        }
        [_] => {}
        found => report.json(format!("{path}/dscs_"), format!("{} descriptions; a file has one", found.len())),
    }
}

pub(super) fn names_agree(file: &FileView<'_>, report: &mut Report) {
    let function = &*file.compute.function;
    if file.dsc_key != function {
        report.json(file.compute_at("opFuncName"), format!("function '{function}' in the description of '{}'; they agree", file.dsc_key));
    }
    let Some((number, name)) = file.key.split_once('_').filter(|(number, _)| number.parse::<u64>().is_ok()) else {
        return report.json(member("", file.key), format!("the operation is called '{}'; its name is '<number>_<function>'", file.key));
    };
    if name != file.dsc_key {
        report.json(member("", file.key), format!("the operation is called '{name}' and its description '{}'; they agree", file.dsc_key));
    }
    let in_file_name = file.name.strip_prefix("sdsc_").and_then(|rest| rest.strip_suffix(".json"));
    if let Some(wanted) = in_file_name.filter(|wanted| wanted.parse::<u64>().is_ok() && *wanted != number) {
        report.json(member("", file.key), format!("the operation has number {number} and its file {wanted}; they agree"));
    }
}

pub(super) fn function_is_known(file: &FileView<'_>, report: &mut Report) {
    let function = &*file.compute.function;
    if Family::of(function).is_none() {
        report.json(file.compute_at("opFuncName"), format!("'{function}' is no function of the device"));
    }
}

pub(super) fn unit_fits_the_function(file: &FileView<'_>, report: &mut Report) {
    let function = &*file.compute.function;
    let Some(family) = Family::of(function) else { return };
    if file.compute.unit != unit(family) {
        let message = format!("'{function}' runs on '{}'; its unit is '{}'", file.compute.unit, unit(family));
        report.json(file.compute_at("exUnit"), message);
    }
}

pub(super) fn fixed_members_are_fixed(file: &FileView<'_>, report: &mut Report) {
    fixed_folds(file, report);
    fixed_by_core(file, report);
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
            report.json(file.dsc_at(path), format!("'{found}'; the member is always '{wanted}'"));
        }
    }
    if let Some(found) = dsc.n_corelets.filter(|found| *found != 1 && !(file.is_shuffle() && *found == 2)) {
        report.json(file.dsc_at("numCoreletsUsed_"), format!("{found} corelets; an op names one"));
    }
    for (tensor, node) in dsc.nodes.iter().enumerate() {
        let texts = [("nodeType_", Some(&*node.node_type), "allocate"), ("prev_", node.previous.as_deref(), "")];
        for (path, found, wanted) in texts {
            if let Some(found) = found.filter(|found| *found != wanted) {
                report.json(file.node_at(tensor, path), format!("'{found}'; the member is always '{wanted}'"));
            }
        }
    }
    for (name, class) in dsc.classes.iter() {
        if class.stick_replication.as_deref().is_some_and(|found| found != [1]) {
            report.json(file.dsc_at(&format!("primaryDsInfo_/{name}/stickRepl_")), "the member is always [1]");
        }
    }
}

fn fixed_folds(file: &FileView<'_>, report: &mut Report) {
    let operation = file.operation;
    let is = |fold: &Fold, factor: i64, label: &str| fold.factor == factor && fold.label == label;
    let is_once = |folds: &[Fold]| matches!(folds, [fold] if is(fold, 1, "time"));
    let over_time = &operation.folds;
    let is_default = over_time.functions == [FoldFunction::Affine { alpha: 1, beta: 0 }]
        && is_once(&over_time.folds)
        && matches!(over_time.data.0.as_slice(), [(key, value)] if key == "[0]" && value == "0");
    let members = [
        ("sdscFoldProps_", is_once(&operation.fold_props), "once over time"),
        ("sdscFolds_", is_default, "once over time"),
        ("coreletFoldProp_", (1..=file.corelets()).any(|factor| is(&operation.corelet_fold, factor, "corelet")), "one corelet"),
        ("coreFoldProp_", operation.core_fold.label == "core", "a fold over cores"),
        ("datadscs_", operation.data_dscs.as_ref().is_none_or(Vec::is_empty), "empty"),
    ];
    for (path, _, wanted) in members.into_iter().filter(|(_, is_fixed, _)| !is_fixed) {
        report.json(file.at(path), format!("the member is always {wanted}"));
    }
}

fn fixed_by_core(file: &FileView<'_>, report: &mut Report) {
    for (core, dsc) in file.operation.core_to_dsc.iter().filter(|(_, dsc)| **dsc != 0) {
        report.json(file.at(&format!("coreIdToDsc_/{core}")), format!("description {dsc}; every core runs description 0"));
    }
    for (core, schedule) in file.operation.core_to_schedule.iter().filter(|(_, schedule)| schedule.as_slice() != [[-1, 0, 0, 0]]) {
        let message = format!("{schedule:?}; the schedule of every core is [[-1, 0, 0, 0]]");
        report.json(file.at(&format!("coreIdToDscSchedule/{core}")), message);
    }
}
