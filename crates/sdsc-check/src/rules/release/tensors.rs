//! Rules of the release on nodes, tensors and layout classes.

use super::super::super::extent::trailing_gap;
use super::super::super::file_view::{FileView, TensorView};
use super::super::super::report::ViolationReport;
use super::super::addresses::start_path;
use super::folds::find_fold_list_fault;
use machine::STICK_BYTES;
use sdsc_format::model::{AllocateNode, Fold, FoldFunction, MemoryPresence, Text};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Maximum number of tensors of a description: one for each segment of the address space.
const MAX_TENSORS: usize = 8;

/// Number of folds of a coordinate in addition to those of its elements.
const NUM_SPATIAL_FOLDS: usize = 3;

/// Entry of `maxDimSizes_` for a dimension without a bound.
const UNBOUNDED_SIZE: i64 = -1;

/// Names of padding kinds.
const PADDING_NAMES: [&str; 6] =
    ["nopad", "lowered_padded", "padded_nozeropad", "padded_wzeropad", "padded_fullspan", "padded_fullspan_wunneeded"];

pub(in super::super) fn check_positive_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    let mut check = |path: String, folds: &[Fold]| {
        for (index, fold) in folds.iter().enumerate().filter(|(_, fold)| fold.factor < 1) {
            let message = format!("a factor of {} for '{}'; a fold has at least one position", fold.factor, fold.label);
            report.report_json(format!("{path}/{index}/factor_"), message);
        }
    };
    check(file.member_path("sdscFoldProps_"), &file.operation.fold_props);
    check(file.member_path("sdscFolds_/dim_prop_attr"), &file.operation.folds.folds);
    check(file.member_path("coreFoldProp_"), std::slice::from_ref(&file.operation.core_fold));
    check(file.member_path("coreletFoldProp_"), std::slice::from_ref(&file.operation.corelet_fold));
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        check(file.node_member_path(tensor, "startAddressCoreCorelet_/dim_prop_attr"), &node.start.folds);
        for (label, info) in node.coordinates.dims.iter() {
            check(
                file.node_member_path(tensor, &format!("coordinates_/coordInfo/{label}/folds/dim_prop_attr")),
                &info.folds.folds,
            );
        }
    }
    for (number, constant) in file.dsc.constants.0.iter() {
        check(file.dsc_member_path(&format!("constantInfo_/{number}/data_/dim_prop_attr")), &constant.data.folds);
    }
}

pub(in super::super) fn check_tensor_count(file: &FileView<'_>, report: &mut ViolationReport) {
    let count = file.dsc.tensors.len();
    if count > MAX_TENSORS {
        report.report_json(
            file.dsc_member_path("labeledDs_"),
            format!("{count} tensors; a description has at most {MAX_TENSORS}"),
        );
    }
}

pub(in super::super) fn check_node_tensor_pairs(file: &FileView<'_>, report: &mut ViolationReport) {
    let (nodes, tensors) = (&file.dsc.nodes, &file.dsc.tensors);
    if nodes.len() != tensors.len() || nodes.is_empty() {
        let message = format!("{} nodes for {} tensors; every tensor has one node", nodes.len(), tensors.len());
        report.report_json(file.dsc_member_path("scheduleTree_"), message);
    }
    let (mut node_names, mut tensor_names) = (BTreeSet::new(), BTreeSet::new());
    for (index, node) in nodes.iter().enumerate() {
        if !node_names.insert(&node.name) {
            report.report_json(
                file.node_member_path(index, "name_"),
                format!("'{}' is the name of another node; names are unique", node.name),
            );
        }
        if let Some(found) = node.tensor.filter(|found| *found != index) {
            report.report_json(
                file.node_member_path(index, "ldsIdx_"),
                format!("a node of tensor {found}; each tensor from 0 on has one node"),
            );
        }
        let is_other = |name: &Text| {
            name.is_empty() || nodes.iter().any(|other| other.name == *name && !std::ptr::eq(other, node))
        };
        if let Some(previous) = node.previous.as_ref().filter(|previous| !is_other(previous)) {
            report.report_json(
                file.node_member_path(index, "prev_"),
                format!("'{previous}' is no other node; 'prev_' names one, or is missing"),
            );
        }
    }
    for (index, tensor) in tensors.iter().enumerate() {
        if !tensor_names.insert(&tensor.name) {
            report.report_json(
                file.tensor_member_path(index, "dsName_"),
                format!("'{}' is the name of another tensor; names are unique", tensor.name),
            );
        }
        if tensor.tensor != index {
            report.report_json(
                file.tensor_member_path(index, "ldsIdx_"),
                format!("a tensor has number {}; tensors have the numbers from 0 on", tensor.tensor),
            );
        }
    }
}

pub(in super::super) fn check_memories_are_present(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        let (component, memory) = (&*tensor.node.component, &tensor.info.memory);
        let slots = [("hbm", &memory.hbm), ("lx", &memory.lx)];
        let is_present = |slot: &Option<MemoryPresence>| slot.as_ref().is_some_and(|slot| slot.is_present == 1);
        if !slots.iter().any(|(name, slot)| *name == component && is_present(slot)) {
            let message = format!(
                "tensor {} is in '{component}', which is not present; a tensor is where its node is",
                tensor.index
            );
            report.report_json(file.tensor_member_path(tensor.index, "memOrg_"), message);
        }
        for (name, slot) in slots {
            let Some(slot) = slot else { continue };
            let flags = [Some(slot.is_present), slot.is_padded, slot.is_zero_padded];
            let path = || file.tensor_member_path(tensor.index, &format!("memOrg_/{name}"));
            if flags.iter().flatten().any(|flag| *flag > 1) {
                report.report_json(path(), "a flag that is neither 0 nor 1");
            }
            if slot.is_zero_padded == Some(1) && slot.is_padded != Some(1) {
                report
                    .report_json(path(), "padded with zeros and not padded; only what is padded is padded with zeros");
            }
            let node = slot.node.as_ref().filter(|node| !node.is_empty() && **node != tensor.node.name);
            if let Some(found) = node {
                report.report_json(path(), format!("'{found}' is not the node of the tensor, '{}'", tensor.node.name));
            }
        }
    }
}

pub(in super::super) fn check_operand_names(file: &FileView<'_>, report: &mut ViolationReport) {
    let (indices, values): (Vec<TensorView<'_>>, Vec<TensorView<'_>>) = file.tensors().partition(TensorView::is_index);
    let indices: Vec<Text> = indices.iter().map(TensorView::operand_name).collect();
    let values: Vec<Text> = values.iter().map(TensorView::operand_name).collect();
    let compute = file.compute;
    let mut check = |member: &str, list: &[Text], known: &[Text], kind: &str| {
        for (position, found) in list.iter().enumerate().filter(|(_, found)| !known.contains(found)) {
            let path = file.compute_member_path(&format!("{member}/{position}"));
            report.report_json(path, format!("'{found}'; {kind} is '<dsName_>-idx<ldsIdx_>' of one of {known:?}"));
        }
    };
    check("inputLabeledDs", &compute.inputs, &values, "an input");
    check("outputLabeledDs", &compute.outputs, &values, "a result");
    check("indirectAccessIndexLabeledDs", compute.indices.as_deref().unwrap_or_default(), &indices, "an index tensor");
    if compute.inputs.is_empty() || compute.outputs.is_empty() {
        report.report_json(
            file.compute_member_path("inputLabeledDs"),
            "an operation without inputs or results; it has at least one of each",
        );
    }
}

pub(in super::super) fn check_index_formats(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(TensorView::is_index) {
        let format = &*tensor.info.format;
        if !matches!(format, "SENUINT32" | "IEEE_INT32") {
            let message = format!("the index tensor is {format}; indices are SENUINT32 or IEEE_INT32");
            report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
        }
        let found = tensor.node.index_type.as_deref();
        if let Some(found) = found.filter(|found| !matches!(*found, "index" | "address")) {
            let message = format!("'{found}'; the type of an index tensor is 'index' or 'address'");
            report.report_json(file.node_member_path(tensor.index, "indexTensorType_"), message);
        }
    }
}

pub(in super::super) fn check_start_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        if let Some(fault) = find_start_fault(file, node) {
            report.report_json(file.node_member_path(tensor, "startAddressCoreCorelet_"), fault);
        }
    }
}

fn find_start_fault(file: &FileView<'_>, node: &AllocateNode) -> Option<String> {
    let start = &node.start;
    if let Some(fault) = find_fold_list_fault(start) {
        return Some(fault);
    }
    let is_const = |function: &FoldFunction| matches!(function, FoldFunction::Const(_));
    // Another rule checks addresses that are listed by corelet.
    let over_time = if start.has_corelet_values() { 2 } else { 1 };
    if !start.functions[over_time..].iter().all(is_const) {
        return Some("a start depends on time, or is not listed by corelet; it is constant over time".to_owned());
    }
    match start.functions[0] {
        FoldFunction::Const(_) if start.data.0.len() == 1 => None,
        // In a shuffle, a core without a slice has no start; another rule checks it.
        FoldFunction::Map(_) if file.is_shuffle() => None,
        FoldFunction::Map(_) => {
            let missing = file.dsc.core_ids.iter().find(|core| start.value_on_core(**core).is_none());
            missing.map(|core| format!("no start for core {core}; every core of the description has one"))
        }
        FoldFunction::Const(_) => {
            Some(format!("{} starts that are equal on all cores; there is one then", start.data.0.len()))
        }
        FoldFunction::Affine { .. } => Some("an affine start; starts are listed".to_owned()),
    }
}

pub(in super::super) fn check_fold_counts(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        for (label, info) in node.coordinates.dims.iter() {
            let (functions, folds) = (info.folds.functions.len(), info.folds.folds.len());
            let elements = folds.checked_sub(NUM_SPATIAL_FOLDS).and_then(|count| i64::try_from(count).ok());
            if info.spatial != 3 || info.temporal != 0 || functions != folds || elements != Some(info.element_folds) {
                let message = format!(
                    "{} spatial, {} temporal and {} element folds with {functions} functions and {folds} factors; a coordinate has 3 \
                     spatial folds, none over time, and one function and factor for each fold",
                    info.spatial, info.temporal, info.element_folds
                );
                report.report_json(file.node_member_path(tensor, &format!("coordinates_/coordInfo/{label}")), message);
            }
        }
    }
}

pub(in super::super) fn check_separate_tensor_starts(file: &FileView<'_>, report: &mut ViolationReport) {
    let is_separate = |node: &&AllocateNode| node.component == "hbm" && node.is_per_core();
    for (tensor, node) in file.dsc.nodes.iter().enumerate().filter(|(_, node)| is_separate(node)) {
        let is_listed = matches!(node.start.functions.first(), Some(FoldFunction::Map(_)));
        if !is_listed && file.dsc.core_ids.len() > 1 {
            let message = "one start for all cores; cores that allocate a tensor separately have one start each";
            report.report_json(file.node_member_path(tensor, "startAddressCoreCorelet_"), message);
        }
    }
}

pub(in super::super) fn check_stick_dims_in_layout(file: &FileView<'_>, report: &mut ViolationReport) {
    for (name, class) in file.dsc.classes.iter() {
        let at = |member: &str| file.dsc_member_path(&format!("primaryDsInfo_/{name}/{member}"));
        if let Some(label) = class.stick.iter().find(|label| !class.order.contains(label)) {
            report.report_json(
                at("stickDimOrder_"),
                format!("'{label}' is not in 'layoutDimOrder_'; a stick runs along dimensions of the layout"),
            );
        }
        let Some(copies) = &class.stick_replication else { continue };
        if copies.len() != class.stick.len() || copies.iter().any(|copies| *copies < 1) {
            let message =
                format!("replications {copies:?} for {} stick dimensions; each has a positive one", class.stick.len());
            report.report_json(at("stickRepl_"), message);
        }
    }
}

pub(in super::super) fn check_padding_names(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        let of_coordinates = node
            .coordinates
            .dims
            .iter()
            .map(|(label, info)| (format!("coordinates_/coordInfo/{label}/padding"), &info.padding));
        let of_node = node
            .padding
            .iter()
            .flat_map(|padding| padding.iter())
            .map(|(label, padding)| (format!("padding_/{label}"), padding));
        for (path, found) in of_coordinates.chain(of_node).filter(|(_, found)| !PADDING_NAMES.contains(&&***found)) {
            report.report_json(
                file.node_member_path(tensor, &path),
                format!("'{found}'; a padding is one of {PADDING_NAMES:?}"),
            );
        }
    }
}

pub(in super::super) fn check_lx_starts(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(TensorView::is_lx) {
        if tensor.node.has_symbolic_start() {
            let path = file.node_member_path(tensor.index, "isStartAddrSymbolic_");
            report.report_json(path, "the start of a tensor in LX is a symbol; starts in LX are numbers");
            continue;
        }
        let mut starts = tensor.node.start.data.iter();
        if let Some((core, start)) = starts.find(|(_, start)| start.0 < 0 || start.0 % STICK_BYTES != 0) {
            let message = format!("start {} in LX; starts are multiples of {STICK_BYTES} from 0 on", start.0);
            report.report_json(start_path(file, tensor.index, *core), message);
        }
    }
}

pub(in super::super) fn check_maximum_sizes(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        for (position, (label, found)) in tensor.node.order.iter().zip(&tensor.node.page_sizes).enumerate() {
            let allowed = maximum_size_range(file, &tensor, label);
            if *found != UNBOUNDED_SIZE && !allowed.contains(found) {
                let (least, most) = allowed.into_inner();
                let message = format!(
                    "at most {found} elements along '{label}'; it is {UNBOUNDED_SIZE}, or from {least} to {most}"
                );
                report.report_json(file.node_member_path(tensor.index, &format!("maxDimSizes_/{position}")), message);
            }
        }
    }
}

/// Returns the legal maximum sizes of a dimension in memory: from the points of a core to those of the op with the gap.
/// Pages, and inputs that are read through windows, have other sizes.
fn maximum_size_range(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str) -> RangeInclusive<i64> {
    if file.is_indirect() || file.is_windowed(label) {
        return 1..=i64::MAX;
    }
    let Some(size) = file.size(label) else { return 1..=i64::MAX };
    let part = file.core_size(label).filter(|_| tensor.has_dim(label)).unwrap_or(1);
    part..=size.saturating_add(trailing_gap(tensor, label))
}
