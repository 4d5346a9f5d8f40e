//! Rules on the two descriptions of each tensor and on how the operation names tensors.

use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use machine::DeviceFormat;
use sdsc_format::model::{MemoryPresence, Text};
use std::collections::BTreeSet;

pub(super) fn check_tensor_numbers(file: &FileView<'_>, report: &mut ViolationReport) {
    let (nodes, tensors) = (file.dsc.nodes.len(), file.dsc.tensors.len());
    if nodes != tensors || nodes == 0 {
        report.report_json(
            file.dsc_member_path("scheduleTree_"),
            format!("{nodes} nodes for {tensors} tensors; every tensor has one node"),
        );
    }
    for (index, node) in file.dsc.nodes.iter().enumerate() {
        if let Some(found) = node.tensor.filter(|found| *found != index) {
            report.report_json(
                file.node_member_path(index, "ldsIdx_"),
                format!("node {index} is of tensor {found}; nodes are in the order of tensors"),
            );
        }
    }
    for (index, tensor) in file.dsc.tensors.iter().enumerate() {
        if tensor.tensor != index {
            report.report_json(
                file.tensor_member_path(index, "ldsIdx_"),
                format!("tensor {index} has number {}; tensors are numbered in order", tensor.tensor),
            );
        }
        if tensor.name != format!("Tensor{index}") {
            report.report_json(
                file.tensor_member_path(index, "dsName_"),
                format!("'{}'; the tensor is called 'Tensor{index}'", tensor.name),
            );
        }
    }
}

pub(super) fn check_memory_agreement(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        let component = &*tensor.node.component;
        if !matches!(component, "hbm" | "lx") {
            report.report_json(
                file.node_member_path(tensor.index, "component_"),
                format!("'{component}'; a tensor is in 'hbm' or 'lx'"),
            );
            continue;
        }
        let wanted = format!("allocate-Tensor{}_{component}", tensor.index);
        if tensor.node.name != wanted {
            report.report_json(
                file.node_member_path(tensor.index, "name_"),
                format!("'{}'; the node is called '{wanted}'", tensor.node.name),
            );
        }
        let memory = &tensor.info.memory;
        let is_there =
            |presence: &Option<MemoryPresence>| presence.as_ref().is_some_and(|presence| presence.is_present == 1);
        let agrees = if tensor.is_lx() { memory.hbm.is_none() && is_there(&memory.lx) } else { is_there(&memory.hbm) };
        if !agrees {
            let message = format!(
                "the memories are not those of a tensor in '{component}'; a tensor in LX is not in HBM as well"
            );
            report.report_json(file.tensor_member_path(tensor.index, "memOrg_"), message);
        }
    }
}

pub(super) fn check_operands(file: &FileView<'_>, report: &mut ViolationReport) {
    let names: Vec<_> =
        (0..file.dsc.tensors.len()).map(|index| Text::from(format!("Tensor{index}-idx{index}"))).collect();
    let compute = file.compute;
    let lists = [("inputLabeledDs", &compute.inputs), ("outputLabeledDs", &compute.outputs)];
    let indices = compute.indices.as_ref().map(|indices| ("indirectAccessIndexLabeledDs", indices));
    for (member, list) in lists.into_iter().chain(indices) {
        let mut seen = BTreeSet::new();
        for (position, name) in list.iter().enumerate() {
            if !names.contains(name) {
                let message = format!("'{name}'; an operand is called 'Tensor<i>-idx<i>' after a tensor of the file");
                report.report_json(file.compute_member_path(&format!("{member}/{position}")), message);
            } else if !seen.insert(name) {
                report.report_json(
                    file.compute_member_path(&format!("{member}/{position}")),
                    format!("'{name}' is listed twice; a tensor is listed once"),
                );
            }
        }
        if list.is_empty() {
            report.report_json(file.compute_member_path(member), "no tensor is listed; there is at least one");
        }
    }
    if compute.outputs.len() > 1 || compute.outputs.last() != names.last() {
        let message = format!("{:?}; the one result is the last tensor", compute.outputs);
        report.report_json(file.compute_member_path("outputLabeledDs"), message);
    }
}

pub(super) fn check_index_tensor_list(file: &FileView<'_>, report: &mut ViolationReport) {
    let name = |index: usize| Text::from(format!("Tensor{index}-idx{index}"));
    let wanted: Vec<_> = file.tensors().filter(TensorView::is_index).map(|tensor| name(tensor.index)).collect();
    let found = file.compute.indices.as_deref().unwrap_or_default();
    if found != wanted {
        let message = format!("{found:?}; the index tensors are {wanted:?}, and all are listed");
        report.report_json(file.compute_member_path("indirectAccessIndexLabeledDs"), message);
    }
    if let Some(position) = file.compute.inputs.iter().position(|input| wanted.contains(input)) {
        let message =
            format!("'{}' is an index tensor; index tensors are not listed as inputs", file.compute.inputs[position]);
        report.report_json(file.compute_member_path(&format!("inputLabeledDs/{position}")), message);
    }
}

pub(super) fn check_index_tensor_format(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(TensorView::is_index) {
        let wanted = DeviceFormat::SenUint32.name();
        if tensor.info.format != wanted {
            let message = format!("the index tensor is {}; indices are {wanted}", tensor.info.format);
            report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
        }
        if tensor.is_lx() || tensor.info.memory.lx.is_some() {
            report.report_json(
                file.tensor_member_path(tensor.index, "memOrg_"),
                "the index tensor may be in LX; indices are read from HBM only",
            );
        }
        if tensor.node.index_type.as_deref() != Some("index") {
            report.report_json(
                file.node_member_path(tensor.index, "indexTensorType_"),
                "the index tensor has no type 'index'",
            );
        }
    }
}

pub(super) fn check_indirect_access(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        let wanted = match &*node.indirection {
            "index_tensor" => Some("value_tensor"),
            "value_tensor" => Some("index_tensor"),
            "no_indirection" => None,
            found => {
                let message = format!("'{found}'; the access is 'no_indirection', 'index_tensor' or 'value_tensor'");
                report.report_json(file.node_member_path(tensor, "indirectAllocType_"), message);
                continue;
            }
        };
        let path = || file.node_member_path(tensor, "relatedIndirectAccessAlloc_");
        match (wanted, &node.related) {
            (None, None) => {}
            (None, Some(found)) => {
                report.report_json(path(), format!("'{found}'; a tensor that is accessed directly has no partner"))
            }
            (Some(wanted), None) => report.report_json(path(), format!("no partner; it is the node of a '{wanted}'")),
            (Some(wanted), Some(found)) => {
                if !file.dsc.nodes.iter().any(|other| other.name == *found && other.indirection == wanted) {
                    report.report_json(
                        path(),
                        format!(
                            "'{found}' is no node of a '{wanted}'; an index tensor and what it indexes are partners"
                        ),
                    );
                }
            }
        }
    }
}

pub(super) fn check_page_access(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        for (position, page) in node.page_sizes.iter().enumerate() {
            let is_paged = *page >= 1 && file.is_indirect();
            if *page != -1 && !is_paged {
                let message = format!("page size {page}; only indexed dimensions have a page size, all others have -1");
                report.report_json(file.node_member_path(tensor, &format!("maxDimSizes_/{position}")), message);
            }
        }
    }
}
