//! Rules of the release on cores, schedules and sizes.

use super::super::super::file_view::FileView;
use super::super::super::report::{ViolationReport, member_pointer};
use sdsc_format::model::{Entries, Text, strip_underscore};
use std::collections::{BTreeMap, BTreeSet};

pub(in super::super) fn check_schedules(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    let data_operations = operation.data_dscs.as_ref().map_or(0, Vec::len);
    let is_number =
        |number: i64, count: usize| number == -1 || usize::try_from(number).is_ok_and(|number| number < count);
    let mut known: BTreeMap<Option<i64>, (i64, &Vec<[i64; 4]>)> = BTreeMap::new();
    for (core, steps) in operation.core_to_schedule.iter() {
        let path = file.member_path(&format!("coreIdToDscSchedule/{core}"));
        for (index, step @ [data, dsc, before, after]) in steps.iter().enumerate() {
            let fault = match () {
                () if (*data, *dsc) == (-1, -1) => "names neither a data operation nor a description",
                () if !is_number(*data, data_operations) => "names no data operation of 'datadscs_'",
                () if !is_number(*dsc, operation.dscs.len()) => "names no description of 'dscs_'",
                () if !(0..=1).contains(before) || !(0..=1).contains(after) => "has a barrier that is neither 0 nor 1",
                () => continue,
            };
            report.report_json(format!("{path}/{index}"), format!("step {step:?} {fault}"));
        }
        let (other, first) = *known.entry(operation.core_to_dsc.get(core).copied()).or_insert((*core, steps));
        if steps != first {
            report.report_json(
                path,
                format!("another schedule than that of core {other}; cores with one description have equal schedules"),
            );
        }
    }
}

pub(in super::super) fn check_description_cores(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    for (core, dsc) in operation.core_to_dsc.iter() {
        if usize::try_from(*dsc).map_or(true, |dsc| dsc >= operation.dscs.len()) {
            let message = format!("description {dsc} of {}; a core runs one of them", operation.dscs.len());
            report.report_json(file.member_path(&format!("coreIdToDsc_/{core}")), message);
        }
    }
    let runs = |core: i64| {
        let steps = operation.core_to_schedule.get(&core).into_iter().flatten();
        let in_steps = steps.map(|[_, dsc, _, _]| *dsc).any(|dsc| usize::try_from(dsc) == Ok(file.dsc_index));
        in_steps || operation.core_to_dsc.get(&core).is_some_and(|dsc| usize::try_from(*dsc) == Ok(file.dsc_index))
    };
    let cores: BTreeSet<i64> = operation.core_to_dsc.iter().map(|(core, _)| *core).filter(|core| runs(*core)).collect();
    let listed: BTreeSet<i64> = file.dsc.core_ids.iter().copied().collect();
    if cores != listed || listed.len() != file.dsc.core_ids.len() {
        let message = format!("cores {:?}; the cores that run the description are {cores:?}", file.dsc.core_ids);
        report.report_json(file.dsc_member_path("coreIdsUsed_"), message);
    }
}

pub(in super::super) fn check_data_operations(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(found) = &file.operation.data_dscs else { return };
    let is_run = |number: usize| {
        let steps = file.operation.core_to_schedule.iter().flat_map(|(_, steps)| steps);
        steps.into_iter().any(|[data, ..]| usize::try_from(*data) == Ok(number))
    };
    if let Some(unused) = (0..found.len()).find(|number| !is_run(*number)) {
        report.report_json(
            file.member_path(&format!("datadscs_/{unused}")),
            "no step of a schedule runs the data operation",
        );
    } else if found.is_empty() && file.dsc.dim_symbols.is_none() {
        report.report_json(
            file.member_path("datadscs_"),
            "the member is there without symbolic sizes; it is left out then",
        );
    }
}

pub(in super::super) fn check_corelet_counts(file: &FileView<'_>, report: &mut ViolationReport) {
    let corelets = &file.operation.corelet_fold;
    if !matches!(corelets.factor, 1 | 2) || corelets.label != "corelet" {
        let message = format!("{} of '{}'; a core has 1 or 2 of 'corelet'", corelets.factor, corelets.label);
        report.report_json(file.member_path("coreletFoldProp_"), message);
    }
    if let Some(found) = file.dsc.n_corelets.filter(|found| !(1..=2).contains(found)) {
        report.report_json(file.dsc_member_path("numCoreletsUsed_"), format!("{found} corelets; a core has 1 or 2"));
    }
}

/// Checks an op with unequal work: the sizes of the slices of a dimension add up to its size. `el_` has the size of the
/// last slice, which is at most that of the others in `ss_`; the file view has cores of equal sizes only.
pub(in super::super) fn check_uneven_slices(file: &FileView<'_>, report: &mut ViolationReport) {
    let stage = &file.dsc.stages.core;
    for (key, end) in stage.end.sizes.0.iter() {
        let size = stage.steady.sizes.0.get(key);
        if size.is_none_or(|size| size != end) {
            let message = format!(
                "{end} points in the last slice, where 'ss_' has {}; the last one of several slices may be smaller",
                size.map_or("no size".to_owned(), i64::to_string)
            );
            report.report_json(file.dsc_member_path(&format!("dataStageParam_/0/el_/{key}")), message);
        }
    }
    if file.dsc_index != 0 || !file.is_uneven() {
        return;
    }
    for (key, size) in file.dsc.space.sizes.0.iter() {
        let label = strip_underscore(key);
        let mut parts: BTreeMap<i64, i64> = BTreeMap::new();
        for dsc in &file.operation.dscs {
            let part = dsc.value.stages.core.steady.sizes.get(label).unwrap_or_default();
            let slots = dsc.value.core_ids.iter().filter_map(|core| file.operation.core_to_slice.get(core)?.get(label));
            parts.extend(slots.map(|slot| (*slot, part)));
        }
        let sum: i64 = parts.values().fold(0, |sum, part| sum.saturating_add(*part));
        if sum != *size {
            let message = format!(
                "parts {:?} for the {size} points of '{label}'; the parts of its slices together have its size",
                parts.values()
            );
            report.report_json(file.dsc_member_path(&format!("N_/{key}")), message);
        }
    }
}

pub(in super::super) fn check_number_ranges(file: &FileView<'_>, report: &mut ViolationReport) {
    let mut check = |path: String, found: i64, least: i64| {
        if found < least {
            report.report_json(path, format!("{found}; the number is at least {least}"));
        }
    };
    check(file.member_path("numCoresUsed_"), file.operation.n_cores, 1);
    check(file.dsc_member_path("numCoresUsed_"), file.dsc.n_cores, 1);
    check(file.dsc_member_path("maskingConstId_"), file.dsc.masking_constant, -1);
    for (label, slices) in file.operation.slices.iter() {
        check(file.member_path(&format!("numWkSlicesPerDim_/{label}")), *slices, 1);
    }
    for (core, slots) in file.operation.core_to_slice.iter() {
        slots
            .iter()
            .for_each(|(label, slot)| check(file.member_path(&format!("coreIdToWkSlice_/{core}/{label}")), *slot, 0));
    }
    for (core, dsc) in file.operation.core_to_dsc.iter() {
        check(file.member_path(&format!("coreIdToDsc_/{core}")), *dsc, 0);
    }
    file.dsc.core_ids.iter().for_each(|core| check(file.dsc_member_path("coreIdsUsed_"), *core, 0));
    if file.dsc.class_relation.is_some_and(|relation| relation.is_reuse > 1) {
        report.report_json(file.dsc_member_path("pdsRelation_/isPdsReuse"), "the member is 0 or 1");
    }
}

pub(in super::super) fn check_split_dims(file: &FileView<'_>, report: &mut ViolationReport) {
    fn collect_keys<V>(split: &Option<Entries<Text, V>>) -> Vec<&Text> {
        split.iter().flat_map(Entries::iter).map(|(key, _)| key).collect()
    }
    let is_dim = |key: &str| file.labels().any(|label| label == strip_underscore(key));
    let stages = &file.dsc.stages.core;
    for (place, sizes) in
        [("N_", &file.dsc.space), ("dataStageParam_/0/ss_", &stages.steady), ("dataStageParam_/0/el_", &stages.end)]
    {
        let splits = [
            ("coreletSplit_", collect_keys(&sizes.corelet_split)),
            ("rowSplit_", collect_keys(&sizes.row_split)),
            ("peSfpSplit_", collect_keys(&sizes.pe_sfp_split)),
        ];
        for (member, keys) in splits {
            for key in keys.into_iter().filter(|key| !is_dim(key)) {
                let path = member_pointer(&file.dsc_member_path(&format!("{place}/{member}")), key);
                report.report_json(path, format!("'{key}' is no dimension of 'N_'; a split is of a dimension"));
            }
        }
        for (key, volume) in sizes.max_symbolic_volume.iter().flat_map(Entries::iter) {
            let dims: Vec<String> = serde_json::from_str(key).unwrap_or_default();
            if dims.is_empty() || *volume < 1 || !dims.iter().all(|dim| is_dim(dim)) {
                let path = member_pointer(&file.dsc_member_path(&format!("{place}/maxSymbolicVolume_")), key);
                let message =
                    format!("at most {volume} points of '{key}'; a positive number bounds a list of dimensions");
                report.report_json(path, message);
            }
        }
    }
}
