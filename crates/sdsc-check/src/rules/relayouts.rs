//! Rules on shuffles: copies of a tensor in LX from the cores that hold it to those that need it (LX relayout
//! contract).
//!
//! The first tensor is the source, the second the destination. Each states which slice its cores hold. Rules on cores
//! and slices of other ops do not apply: a core may hold nothing, two cores may hold the same slice, and addresses may
//! differ between cores.

use super::super::extent::compute_start_bytes;
use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use super::addresses::start_path;
use sdsc_format::model::{CoreKey, Entries, FoldFunction, Text};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the source and the destination of a shuffle, with their names.
fn shuffle_views<'a>(file: &FileView<'a>) -> Option<[(TensorView<'a>, &'static str); 2]> {
    let tensors: Vec<_> = file.tensors().zip(["source", "destination"]).collect();
    if file.is_shuffle() { tensors.try_into().ok() } else { None }
}

/// Checks the core lists of a shuffle. If the source is a completed sum, `numCoresUsed_` may count only the cores that
/// completed it.
pub(super) fn check_shuffle_core_lists(file: &FileView<'_>, report: &mut ViolationReport) {
    let (operation, n_cores) = (file.operation, file.num_cores());
    let used: BTreeSet<i64> = file.dsc.core_ids.iter().copied().collect();
    if i64::try_from(used.len()) != Ok(file.dsc.n_cores) || used.len() != file.dsc.core_ids.len() {
        let message = format!("{:?} for {} cores; each is listed once", file.dsc.core_ids, file.dsc.n_cores);
        report.report_json(file.dsc_member_path("coreIdsUsed_"), message);
    }
    let source: BTreeSet<i64> =
        shuffle_views(file).map(|[(source, _), _]| listed_cores(&source).collect()).unwrap_or_default();
    if file.dsc.n_cores < n_cores && used != source {
        let message = format!(
            "{used:?} of {n_cores} cores; either all cores are listed, or those that hold the source, {source:?}"
        );
        report.report_json(file.dsc_member_path("coreIdsUsed_"), message);
    }
    let by_core = [
        ("coreIdToDsc_", operation.core_to_dsc.iter().map(|(core, _)| *core).collect::<BTreeSet<i64>>()),
        ("coreIdToDscSchedule", operation.core_to_schedule.iter().map(|(core, _)| *core).collect()),
    ];
    for (member, found) in by_core.into_iter().filter(|(_, found)| *found != used) {
        report.report_json(
            file.member_path(member),
            format!("cores {found:?}; they are those of 'coreIdsUsed_', {used:?}"),
        );
    }
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        check_shuffle_starts(file, tensor, report);
        let path = file.node_member_path(tensor, "coordinates_/coreIdToWkSlice_");
        check_known_cores(&node.coordinates.core_to_slice, n_cores, path, report);
    }
    check_known_cores(&operation.core_to_slice, n_cores, file.member_path("coreIdToWkSlice_"), report);
}

/// Checks that a tensor has an address on every core that holds a slice of it. In the release, one address may stand for
/// all cores; another rule checks it.
fn check_shuffle_starts(file: &FileView<'_>, tensor: usize, report: &mut ViolationReport) {
    let (node, n_cores) = (&file.dsc.nodes[tensor], file.num_cores());
    if file.context.profile.is_release() && matches!(node.start.functions.first(), Some(FoldFunction::Const(_))) {
        return;
    }
    let found: BTreeSet<i64> = node.start.data.iter().map(|(key, _)| key.core).collect();
    let is_known = |core: &i64| (0..n_cores).contains(core);
    let mut holders = node.coordinates.core_to_slice.iter().map(|(core, _)| *core).filter(is_known);
    let missing = holders.find(|core| !found.contains(core));
    let unknown = found.iter().copied().find(|core| !is_known(core));
    let last = n_cores.saturating_sub(1);
    let fault = match (missing, unknown) {
        (Some(core), _) => format!("no address on core {core}, which holds a slice"),
        (None, Some(core)) => format!("an address on core {core}; there are cores 0 to {last}"),
        (None, None) => return,
    };
    report.report_json(file.node_member_path(tensor, "startAddressCoreCorelet_/data_"), fault);
}

fn check_known_cores<V>(by_core: &Entries<i64, V>, n_cores: i64, path: String, report: &mut ViolationReport) {
    if let Some((core, _)) = by_core.iter().find(|(core, _)| !(0..n_cores).contains(*core)) {
        report.report_json(path, format!("core {core} is listed; there are cores 0 to {}", n_cores.saturating_sub(1)));
    }
}

fn listed_cores<'a>(tensor: &TensorView<'a>) -> impl Iterator<Item = i64> + 'a {
    tensor.node.coordinates.core_to_slice.iter().map(|(core, _)| *core)
}

/// Checks that every slice of the source is on one core, and every slice of the destination on at least one.
pub(super) fn check_view_coverage(file: &FileView<'_>, report: &mut ViolationReport) {
    if file.is_shuffle() && shuffle_views(file).is_none() {
        return report.report_json(
            file.dsc_member_path("labeledDs_"),
            format!("{} tensors; a shuffle has a source and a destination", file.dsc.tensors.len()),
        );
    }
    for (tensor, role) in shuffle_views(file).into_iter().flatten() {
        let path = file.node_member_path(tensor.index, "coordinates_/coreIdToWkSlice_");
        let (held, num_slices) = find_slice_holders(file, &tensor);
        let twice = held.iter().find(|(_, cores)| cores.len() > 1).filter(|_| role == "source");
        if let Some((_, cores)) = twice {
            let (first, second) = (cores[0], cores[1]);
            report.report_json(
                format!("{path}/{second}"),
                format!("cores {first} and {second} hold the same slice; an element of the source has one value"),
            );
        } else if i64::try_from(held.len()) != Ok(num_slices) {
            let message = format!(
                "{} of the {num_slices} slices of the {role} are on a core; every slice must be on a core",
                held.len()
            );
            report.report_json(path, message);
        }
    }
}

type SliceKey<'a> = Vec<(&'a str, i64)>;

/// Returns the cores that hold each slice of a tensor, and the number of slices.
fn find_slice_holders<'a>(file: &'a FileView<'_>, tensor: &TensorView<'a>) -> (BTreeMap<SliceKey<'a>, Vec<i64>>, i64) {
    let dims: Vec<&str> = file.labels().filter(|label| tensor.has_dim(label)).collect();
    let slice = |slots: &Entries<Text, i64>| {
        dims.iter().map(|label| (*label, slots.get(*label).copied().unwrap_or_default())).collect()
    };
    let mut held: BTreeMap<SliceKey<'a>, Vec<i64>> = BTreeMap::new();
    for (core, slots) in tensor.node.coordinates.core_to_slice.iter() {
        held.entry(slice(slots)).or_default().push(*core);
    }
    let num_slices =
        dims.iter().fold(1_i64, |product, label| product.saturating_mul(tensor.num_held_slices(label).unwrap_or(1)));
    (held, num_slices)
}

/// Checks that the destination is in LX like the source, and shares no byte with it.
pub(super) fn check_disjoint_views(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some([(source, _), (destination, _)]) = shuffle_views(file) else { return };
    if let Some(outside) = [source, destination].iter().find(|tensor| !tensor.is_lx()) {
        let message =
            format!("tensor {} is in '{}'; both tensors of a shuffle are in LX", outside.index, outside.node.component);
        return report.report_json(file.node_member_path(outside.index, "component_"), message);
    }
    if source.info.format != destination.info.format {
        let message =
            format!("{}, where the source is {}; a shuffle copies bits", destination.info.format, source.info.format);
        report.report_json(file.tensor_member_path(destination.index, "dataFormat_"), message);
    }
    let (source_bytes, destination_bytes) =
        (compute_start_bytes(file, &source), compute_start_bytes(file, &destination));
    let holds: BTreeSet<i64> = listed_cores(&source).collect();
    let starts = |tensor: &TensorView<'_>, core: i64| find_core_starts(tensor, core);
    for core in listed_cores(&destination).filter(|core| holds.contains(core)) {
        for (key, to) in starts(&destination, core) {
            let meets = |(_, from): &(CoreKey, i64)| {
                *from < to.saturating_add(destination_bytes) && to < from.saturating_add(source_bytes)
            };
            if let Some((_, from)) = starts(&source, core).into_iter().find(meets) {
                let message = format!(
                    "{destination_bytes} bytes from {to}, where the source has {source_bytes} from {from}; they share no byte"
                );
                return report.report_json(start_path(file, destination.index, key), message);
            }
        }
    }
}

/// Returns the start addresses of a tensor on a core, one for each corelet if they differ.
fn find_core_starts(tensor: &TensorView<'_>, core: i64) -> Vec<(CoreKey, i64)> {
    if !tensor.node.start.has_corelet_values() {
        let start = tensor.node.start.value_on_core(core);
        return start.map(|address| (CoreKey::from_core(core), address.0)).into_iter().collect();
    }
    let starts = tensor.node.start.data.iter().filter(|(key, _)| key.core == core);
    starts.map(|(key, address)| (*key, address.0)).collect()
}

/// Checks that only the tensors of a shuffle have addresses by corelet: two for each core, each of complete sticks that
/// share no byte.
pub(super) fn check_corelet_starts(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        if let Some(fault) = find_corelet_start_fault(file, &tensor) {
            report.report_json(file.node_member_path(tensor.index, "startAddressCoreCorelet_"), fault);
        }
    }
}

fn find_corelet_start_fault(file: &FileView<'_>, tensor: &TensorView<'_>) -> Option<String> {
    let start = &tensor.node.start;
    if !start.has_corelet_values() {
        let (key, _) = start.data.iter().find(|(key, _)| key.corelet != 0)?;
        return Some(format!("the key '{key}', where corelets have one address; it has corelet 0"));
    }
    if !file.is_shuffle() || file.num_corelets() != 2 {
        return Some("addresses by corelet; only a shuffle over two corelets has them".to_owned());
    }
    let cores: BTreeSet<i64> = start.data.iter().map(|(key, _)| key.core).collect();
    let bytes = compute_start_bytes(file, tensor);
    let is_apart = |starts: &[(CoreKey, i64)]| matches!(starts, [(_, one), (_, other)] if (one - other).abs() >= bytes);
    if let Some(core) = cores.into_iter().find(|core| !is_apart(&find_core_starts(tensor, *core))) {
        let found: Vec<i64> = find_core_starts(tensor, core).into_iter().map(|(_, address)| address).collect();
        return Some(format!("addresses {found:?} on core {core}; its two corelets have {bytes} bytes each"));
    }
    let stick = tensor.stick().first()?;
    let part = file.size(stick)? / tensor.num_held_slices(stick)?.max(1);
    let pair = 2 * tensor.stick_size(stick)?;
    (part % pair != 0).then(|| {
        format!("{part} positions of '{stick}' on a core; corelets with their own addresses have complete sticks")
    })
}

/// Checks the folds over corelets: two corelets share a core's slice along its sticks, on both sides, and all members
/// count them.
pub(super) fn check_corelet_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    let corelets = file.num_corelets();
    check_corelet_counts(file, corelets, report);
    for (tensor, _) in shuffle_views(file).into_iter().flatten().filter(|_| corelets > 1) {
        let folds = tensor.node.coordinates.dims.iter();
        let split: Vec<(&str, i64)> =
            folds.map(|(label, info)| (&**label, info.num_corelets())).filter(|(_, corelets)| *corelets != 1).collect();
        let stick = tensor.stick().first().map_or("", |label| &**label);
        let path = file.node_member_path(tensor.index, "coordinates_/coordInfo");
        match split.as_slice() {
            [(label, 2)] if *label == stick && corelets == 2 => {}
            [] => report.report_json(
                path,
                format!("no 'corelet_fold' of {corelets}; {corelets} corelets share the stick dimension '{stick}'"),
            ),
            found => report.report_json(
                path,
                format!("'corelet_fold' of {found:?}; two corelets share the stick dimension '{stick}'"),
            ),
        }
    }
}

/// Checks that the members that count corelets agree. A file of the release may count two corelets of which a shuffle
/// uses one.
fn check_corelet_counts(file: &FileView<'_>, corelets: i64, report: &mut ViolationReport) {
    if !file.is_shuffle() || file.context.profile.is_release() {
        return;
    }
    let starts = file.dsc.nodes.iter().enumerate().filter_map(|(tensor, node)| {
        let path = file.node_member_path(tensor, "startAddressCoreCorelet_/dim_prop_attr/1/factor_");
        Some((path, node.start.folds.get(1)?.factor))
    });
    let root = (file.member_path("coreletFoldProp_/factor_"), file.operation.corelet_fold.factor);
    let used = file.dsc.n_corelets.map(|used| (file.dsc_member_path("numCoreletsUsed_"), used));
    for (path, found) in starts.chain([root]).chain(used).filter(|(_, found)| *found != corelets) {
        report.report_json(path, format!("{found} corelets, where another member has {corelets}; all members agree"));
    }
}
