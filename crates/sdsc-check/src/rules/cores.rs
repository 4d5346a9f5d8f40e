//! Rules on cores and their slices.

use super::super::file_view::FileView;
use super::super::report::ViolationReport;
use super::relayouts::check_shuffle_core_lists;
use sdsc_format::model::{EmptyObject, Entries, Fold, FoldFunction, Text};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check_core_counts(file: &FileView<'_>, report: &mut ViolationReport) {
    let (cores, limit) = (file.operation.n_cores, file.context.target.cores);
    if !(1..=limit).contains(&cores) {
        report.report_json(file.member_path("numCoresUsed_"), format!("{cores} cores; an op uses 1 to {limit}"));
    }
    let folded = file.operation.core_fold.factor;
    if folded != cores && !(file.is_shuffle() && (cores..=limit).contains(&folded)) {
        let message = format!("a fold over {folded} cores; the op uses {cores}");
        report.report_json(file.member_path("coreFoldProp_/factor_"), message);
    }
    let own = if file.has_several_descriptions() {
        i64::try_from(file.dsc.core_ids.len()).unwrap_or(i64::MAX)
    } else {
        cores
    };
    if file.dsc.n_cores != own {
        report.report_json(
            file.dsc_member_path("numCoresUsed_"),
            format!("{} cores; the op uses {own}", file.dsc.n_cores),
        );
    }
}

pub(super) fn check_core_lists(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    if file.context.profile.is_release() && !file.is_shuffle() {
        return check_released_core_lists(file, report);
    }
    if !file.dsc.core_ids.is_sorted() {
        report.report_json(
            file.dsc_member_path("coreIdsUsed_"),
            format!("{:?}; cores are listed in order", file.dsc.core_ids),
        );
    }
    if file.is_shuffle() {
        return check_shuffle_core_lists(file, report);
    }
    let mut check = |path: String, cores: Vec<i64>| {
        if let Some(fault) = find_listing_fault(cores, operation.n_cores) {
            report.report_json(
                path,
                format!("{fault}; cores 0 to {} are listed once each", operation.n_cores.saturating_sub(1)),
            );
        }
    };
    check(file.member_path("coreIdToDsc_"), core_keys(&operation.core_to_dsc));
    if !operation.core_to_slice.is_empty() {
        check(file.member_path("coreIdToWkSlice_"), core_keys(&operation.core_to_slice));
    }
    check(file.member_path("coreIdToDscSchedule"), core_keys(&operation.core_to_schedule));
    check(file.dsc_member_path("coreIdsUsed_"), file.dsc.core_ids.clone());
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        let cores = node.start.data.iter().map(|(key, _)| key.core).collect();
        check(file.node_member_path(tensor, "startAddressCoreCorelet_/data_"), cores);
        if !node.coordinates.core_to_slice.is_empty() {
            check(
                file.node_member_path(tensor, "coordinates_/coreIdToWkSlice_"),
                core_keys(&node.coordinates.core_to_slice),
            );
        }
    }
}

/// Checks the maps over cores of the release: they have the cores of all descriptions, in any order. Other rules check
/// which cores run a description, and the cores of start addresses.
fn check_released_core_lists(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    let cores: BTreeSet<i64> = operation.dscs.iter().flat_map(|dsc| dsc.value.core_ids.iter().copied()).collect();
    if i64::try_from(cores.len()) != Ok(operation.n_cores) {
        let message = format!("cores {cores:?} of all descriptions; the op uses {}", operation.n_cores);
        report.report_json(file.dsc_member_path("coreIdsUsed_"), message);
    }
    let limit = file.context.target.cores;
    if let Some(core) = cores.iter().find(|core| !(0..limit).contains(*core)) {
        report.report_json(
            file.dsc_member_path("coreIdsUsed_"),
            format!("core {core}; the machine has cores 0 to {}", limit - 1),
        );
    }
    let mut check = |member: &str, listed: BTreeSet<i64>| {
        if listed != cores {
            let message = format!("cores {listed:?}; the descriptions use {cores:?}, and each core is listed once");
            report.report_json(file.member_path(member), message);
        }
    };
    check("coreIdToDsc_", core_keys(&operation.core_to_dsc).into_iter().collect());
    if !operation.core_to_slice.is_empty() {
        check("coreIdToWkSlice_", core_keys(&operation.core_to_slice).into_iter().collect());
    }
    check("coreIdToDscSchedule", core_keys(&operation.core_to_schedule).into_iter().collect());
}

fn core_keys<V>(entries: &Entries<i64, V>) -> Vec<i64> {
    entries.iter().map(|(core, _)| *core).collect()
}

fn find_listing_fault(mut cores: Vec<i64>, n_cores: i64) -> Option<String> {
    cores.sort_unstable();
    for (expected, core) in (0..).zip(&cores) {
        if *core != expected {
            let missing = expected < *core && expected < n_cores;
            return Some(if missing {
                format!("core {expected} is missing")
            } else {
                format!("core {core} is listed")
            });
        }
    }
    let num_listed = i64::try_from(cores.len()).expect("fewer than 2^63");
    match num_listed.cmp(&n_cores) {
        std::cmp::Ordering::Less => Some(format!("core {num_listed} is missing")),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(format!("core {n_cores} is listed")),
    }
}

pub(super) fn check_core_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    const MAP: FoldFunction = FoldFunction::Map(EmptyObject {});
    const CONST: FoldFunction = FoldFunction::Const(EmptyObject {});
    let (cores, corelets) = (file.num_cores(), file.num_corelets());
    let mut check = |path: String, functions: &[FoldFunction], wanted: &[[FoldFunction; 3]], folds: &[Fold]| {
        let is_fold = |fold: &Fold, factor: i64, label: &str| fold.factor == factor && fold.label == label;
        let is_over_cores = matches!(folds, [core, corelet, time]
            if is_fold(core, cores, "core") && (1..=corelets).any(|factor| is_fold(corelet, factor, "corelet")) && is_fold(time, 1, "time"));
        if !is_over_cores {
            report.report_json(
                format!("{path}/dim_prop_attr"),
                format!("the folds are {cores} of 'core', {corelets} of 'corelet' and 1 of 'time'"),
            );
        }
        if !wanted.iter().any(|wanted| functions == wanted) {
            report.report_json(
                format!("{path}/dim_prop_func"),
                "addresses are listed by core, and constants are the same on every core",
            );
        }
    };
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        let path = file.node_member_path(tensor, "startAddressCoreCorelet_");
        // Another rule checks addresses that are listed by corelet.
        check(path, &node.start.functions, &[[MAP, CONST, CONST], [MAP, MAP, CONST]], &node.start.folds);
    }
    for (number, constant) in file.dsc.constants.0.iter() {
        let path = file.dsc_member_path(&format!("constantInfo_/{number}/data_"));
        check(path, &constant.data.functions, &[[CONST, CONST, MAP]], &constant.data.folds);
    }
}

pub(super) fn check_slice_counts(file: &FileView<'_>, report: &mut ViolationReport) {
    let cores = file.operation.n_cores;
    let found = file.operation.slices.iter().fold(1_i64, |product, (_, slices)| product.saturating_mul(*slices));
    // A shuffle computes nothing: its tensors state which slices the cores hold.
    if found != cores && !file.is_shuffle() {
        report.report_json(
            file.member_path("numWkSlicesPerDim_"),
            format!("{found} slices for {cores} cores; each core computes one slice"),
        );
    }
    for tensor in
        file.tensors().filter(|tensor| !file.is_shuffle() && !tensor.node.coordinates.core_to_slice.is_empty())
    {
        let path = file.node_member_path(tensor.index, "coordinates_/coreIdToWkSlice_");
        report.report_json(path, "slices that the cores hold; only a shuffle has slices of its own for a tensor");
    }
}

type SlotsByCore = Entries<i64, Entries<Text, i64>>;

pub(super) fn check_slot_ranges(file: &FileView<'_>, report: &mut ViolationReport) {
    let labels: Vec<_> = file.operation.slices.iter().map(|(label, _)| &**label).collect();
    let slices = |label: &str| file.num_slices(label);
    check_slots(&file.operation.core_to_slice, &labels, slices, &file.member_path("coreIdToWkSlice_"), report);
    for tensor in file.tensors() {
        let path = file.node_member_path(tensor.index, "coordinates_/coreIdToWkSlice_");
        // A dimension that the tensor does not have counts as one slice.
        let held = |label: &str| file.num_slices(label).and(tensor.num_held_slices(label).or(Some(1)));
        check_slots(&tensor.node.coordinates.core_to_slice, &labels, held, &path, report);
    }
}

fn check_slots(
    slots: &SlotsByCore,
    labels: &[&str],
    slices: impl Fn(&str) -> Option<i64>,
    path: &str,
    report: &mut ViolationReport,
) {
    for (core, slots) in slots.iter() {
        for (label, slot) in slots.iter() {
            let fault = match slices(label) {
                Some(slices) if (0..slices).contains(slot) => continue,
                Some(slices) => format!("slice {slot} of '{label}', which has {slices} slices"),
                None => format!("a slice of '{label}', which is no dimension of the op"),
            };
            report.report_json(format!("{path}/{core}/{label}"), fault);
        }
        if let Some(missing) = labels.iter().find(|label| slots.get(**label).is_none()) {
            report.report_json(
                format!("{path}/{core}"),
                format!("no slice of '{missing}'; a core has a slice of every dimension"),
            );
        }
    }
}

pub(super) fn check_distinct_slots(file: &FileView<'_>, report: &mut ViolationReport) {
    let mut owner: BTreeMap<BTreeSet<(&str, i64)>, i64> = BTreeMap::new();
    for (core, slots) in file.operation.core_to_slice.iter().filter(|_| !file.is_shuffle()) {
        let slice = slots.iter().map(|(label, slot)| (&**label, *slot)).collect();
        if let Some(other) = owner.insert(slice, *core) {
            let message = format!("core {core} computes the slice of core {other}; each core has its own");
            report.report_json(file.member_path(&format!("coreIdToWkSlice_/{core}")), message);
        }
    }
}
