//! Rules on the two descriptions of each tensor (its data structure and its schedule node), and on the operand lists of
//! the compute operation.

use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use machine::DeviceFormat;
use sdsc_format::model::{MemoryPresence, Text};
use std::collections::BTreeSet;

/// Checks that each tensor has one schedule node, and that both lists are numbered in order.
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

/// Checks that the node and the data structure of a tensor name the same memory, HBM or LX.
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
        let expected_name = format!("allocate-Tensor{}_{component}", tensor.index);
        if tensor.node.name != expected_name {
            report.report_json(
                file.node_member_path(tensor.index, "name_"),
                format!("'{}'; the node is called '{expected_name}'", tensor.node.name),
            );
        }
        let memory = &tensor.info.memory;
        let is_present =
            |presence: &Option<MemoryPresence>| presence.as_ref().is_some_and(|presence| presence.is_present == 1);
        let memories_agree =
            if tensor.is_lx() { memory.hbm.is_none() && is_present(&memory.lx) } else { is_present(&memory.hbm) };
        if !memories_agree {
            let message = format!(
                "the memories are not those of a tensor in '{component}'; a tensor in LX is not in HBM as well"
            );
            report.report_json(file.tensor_member_path(tensor.index, "memOrg_"), message);
        }
    }
}

/// Checks that the compute operation lists existing tensors, each once, and the last tensor as its result.
pub(super) fn check_operands(file: &FileView<'_>, report: &mut ViolationReport) {
    let operand_names: Vec<_> =
        (0..file.dsc.tensors.len()).map(|index| Text::from(format!("Tensor{index}-idx{index}"))).collect();
    let compute = file.compute;
    let operand_lists = [("inputLabeledDs", &compute.inputs), ("outputLabeledDs", &compute.outputs)];
    let index_operands = compute.indices.as_ref().map(|indices| ("indirectAccessIndexLabeledDs", indices));
    for (member, list) in operand_lists.into_iter().chain(index_operands) {
        let mut seen = BTreeSet::new();
        for (position, name) in list.iter().enumerate() {
            if !operand_names.contains(name) {
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
    if compute.outputs.len() > 1 || compute.outputs.last() != operand_names.last() {
        let message = format!("{:?}; the one result is the last tensor", compute.outputs);
        report.report_json(file.compute_member_path("outputLabeledDs"), message);
    }
}

/// Checks that index tensors are listed as index operands, and not as inputs.
pub(super) fn check_index_tensor_list(file: &FileView<'_>, report: &mut ViolationReport) {
    let operand_name = |index: usize| Text::from(format!("Tensor{index}-idx{index}"));
    let expected: Vec<_> =
        file.tensors().filter(TensorView::is_index).map(|tensor| operand_name(tensor.index)).collect();
    let found = file.compute.indices.as_deref().unwrap_or_default();
    if found != expected {
        let message = format!("{found:?}; the index tensors are {expected:?}, and all are listed");
        report.report_json(file.compute_member_path("indirectAccessIndexLabeledDs"), message);
    }
    if let Some(position) = file.compute.inputs.iter().position(|input| expected.contains(input)) {
        let message =
            format!("'{}' is an index tensor; index tensors are not listed as inputs", file.compute.inputs[position]);
        report.report_json(file.compute_member_path(&format!("inputLabeledDs/{position}")), message);
    }
}

/// Checks that index tensors hold unsigned 32-bit integers in HBM and have the type `index`.
pub(super) fn check_index_tensor_format(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(TensorView::is_index) {
        let index_format = DeviceFormat::SenUint32.name();
        if tensor.info.format != index_format {
            let message = format!("the index tensor is {}; indices are {index_format}", tensor.info.format);
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

/// Checks that every index tensor and the tensor that it indexes refer to each other.
pub(super) fn check_indirect_access(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor_index, node) in file.dsc.nodes.iter().enumerate() {
        let partner_kind = match &*node.indirection {
            "index_tensor" => Some("value_tensor"),
            "value_tensor" => Some("index_tensor"),
            "no_indirection" => None,
            found => {
                let message = format!("'{found}'; the access is 'no_indirection', 'index_tensor' or 'value_tensor'");
                report.report_json(file.node_member_path(tensor_index, "indirectAllocType_"), message);
                continue;
            }
        };
        let path = || file.node_member_path(tensor_index, "relatedIndirectAccessAlloc_");
        match (partner_kind, &node.related) {
            (None, None) => {}
            (None, Some(found)) => {
                report.report_json(path(), format!("'{found}'; a tensor that is accessed directly has no partner"))
            }
            (Some(partner_kind), None) => {
                report.report_json(path(), format!("no partner; it is the node of a '{partner_kind}'"))
            }
            (Some(partner_kind), Some(found)) => {
                if !file.dsc.nodes.iter().any(|other| other.name == *found && other.indirection == partner_kind) {
                    report.report_json(
                        path(),
                        format!(
                            "'{found}' is no node of a '{partner_kind}'; an index tensor and what it indexes are partners"
                        ),
                    );
                }
            }
        }
    }
}

/// Checks that page sizes are positive and occur only in ops with indirect accesses.
pub(super) fn check_page_access(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor_index, node) in file.dsc.nodes.iter().enumerate() {
        for (position, page_size) in node.page_sizes.iter().enumerate() {
            let is_valid = *page_size >= 1 && file.is_indirect();
            if *page_size != -1 && !is_valid {
                let message =
                    format!("page size {page_size}; only indexed dimensions have a page size, all others have -1");
                report.report_json(file.node_member_path(tensor_index, &format!("maxDimSizes_/{position}")), message);
            }
        }
    }
}
