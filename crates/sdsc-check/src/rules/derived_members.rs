//! Rules on derived members: each is recomputed from the others and compared.

use super::super::extent::{DimExtent, dim_extents};
use super::super::file_view::{FileView, TensorView};
use super::super::functions::FunctionFamily;
use super::super::report::ViolationReport;
use sdsc_format::model::{AllocateNode, CoordInfo, FoldFunction, MemoryPresence, Text};
use std::collections::BTreeSet;

/// Padding entry of a dimension without padding.
const NO_PADDING: &str = "nopad";

/// Step and count of each fold of a dimension, outermost first.
pub(super) type FoldSteps = Vec<(i64, i64)>;

pub(super) fn check_derived_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(|tensor| tensor.class.is_some()) {
        for (label, info) in tensor.node.coordinates.dims.iter() {
            let path = || file.node_member_path(tensor.index, &format!("coordinates_/coordInfo/{label}"));
            let wanted = tensor
                .node
                .padding
                .as_ref()
                .or(tensor.node.early_padding.as_ref())
                .and_then(|padding| padding.get(label));
            let wanted = wanted.map_or(NO_PADDING, |padding| &**padding);
            if info.padding != wanted {
                let message = format!("'{}' for '{label}'; the tensor's padding of it is '{wanted}'", info.padding);
                report.report_json(format!("{}/padding", path()), message);
            }
            // Windows read beyond the iteration space: their steps follow from the window, which another rule checks.
            if wanted != NO_PADDING {
                continue;
            }
            let Some(wanted) = expected_folds(file, &tensor, label, info) else { continue };
            let found = read_folds(info);
            if found != wanted {
                let message = format!("steps and counts {found:?} of '{label}'; those of its part are {wanted:?}");
                report.report_json(format!("{}/folds", path()), message);
            }
        }
    }
}

pub(super) fn read_folds(info: &CoordInfo) -> FoldSteps {
    let step = |function: &FoldFunction| match function {
        FoldFunction::Affine { alpha, .. } => *alpha,
        FoldFunction::Map(_) | FoldFunction::Const(_) => i64::MIN,
    };
    info.folds.functions.iter().map(step).zip(info.folds.folds.iter().map(|fold| fold.factor)).collect()
}

/// Returns the folds over cores, corelets and rows, then over the elements of one core's slice.
fn expected_folds(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str, info: &CoordInfo) -> Option<FoldSteps> {
    let slices = info.folds.folds.first()?.factor.max(1);
    let size = if tensor.scale(label)? == 1 { file.size(label)? / slices } else { 1 };
    let (step, elements) = match (tensor.stick().contains(&Text::from(label.to_owned())), info.element_folds) {
        (false, _) => (size, vec![(1, size)]),
        (true, 1) if info.num_corelets() > 1 => {
            let corelets = (size / info.num_corelets(), info.num_corelets());
            return Some(vec![(size, slices), corelets, (0, 1), (1, size)]);
        }
        (true, 2) if tensor.stick().len() == 1 => {
            let per_stick = tensor.elements_per_stick()?;
            match tensor.scale(label) {
                // The stick holds one element, which stands for all of them.
                Some(-2) => (per_stick, vec![(per_stick, 1), (0, per_stick)]),
                Some(_) | None => (size, vec![(per_stick, size / per_stick), (1, per_stick)]),
            }
        }
        (true, 3) => (size, vec![(size / 8, 64), (8, 2), (1, 1)]),
        (true, 4) => (size, vec![(128, size / 128), (8, 8), (64, 2), (1, 8)]),
        // Versions of the reference emitter write different folds for a block of fp8 weights.
        (true, _) => return None,
    };
    Some([(step, slices), (0, 1), (0, 1)].into_iter().chain(elements).collect())
}

pub(super) fn check_derived_pages(file: &FileView<'_>, report: &mut ViolationReport) {
    if !file.is_indirect() {
        return;
    }
    for tensor in file.tensors() {
        for (position, (label, found)) in tensor.node.order.iter().zip(&tensor.node.page_sizes).enumerate() {
            let wanted = expected_pages(file, &tensor, label);
            if !wanted.contains(found) {
                let message = format!("page size {found} along '{label}'; one index selects {}", wanted[0]);
                report.report_json(file.node_member_path(tensor.index, &format!("maxDimSizes_/{position}")), message);
            }
        }
    }
}

/// Returns the valid page sizes along a dimension of a tensor: the number of positions that one index selects, or -1 if
/// the dimension is not accessed through indices. Returns both where the file leaves this open.
fn expected_pages(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str) -> Vec<i64> {
    // No file says whether a dimension of one point was added for an index tensor, with a page of 1, or belongs to the
    // op.
    if is_added_dim(file, tensor, label) {
        return vec![1, -1];
    }
    let Some(index) =
        find_index_tensor(file, tensor.node).filter(|_| !tensor.stick().iter().any(|stick| stick == label))
    else {
        return vec![-1];
    };
    let own: Vec<DimExtent<'_>> =
        dim_extents(file, &index).filter(|extent| !is_added_dim(file, &index, extent.label)).collect();
    let Some(innermost) = own.first().filter(|_| own.iter().any(|extent| extent.label == label)) else {
        return vec![-1];
    };
    let place = tensor
        .node
        .order
        .iter()
        .filter(|other| !is_added_dim(file, tensor, other))
        .position(|other| other == label)
        .unwrap_or(0);
    // Only the innermost indexed dimension has an index for each position.
    let page =
        if own.len() < 2 || innermost.label == label { 1 } else { own.get(place).map_or(1, DimExtent::memory_size) };
    // An index tensor with fewer device dimensions does not determine the page; no file has their number.
    if place < own.len() { vec![page] } else { vec![page, -1] }
}

/// Returns whether a dimension of one point was added for an index tensor without a stick.
fn is_added_dim(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str) -> bool {
    file.size(label) == Some(1) && tensor.node.order.iter().any(|known| known == label)
}

/// Returns the index tensor through which a tensor is accessed.
fn find_index_tensor<'a>(file: &FileView<'a>, node: &AllocateNode) -> Option<TensorView<'a>> {
    let related = node.related.as_deref().filter(|_| node.indirection == "value_tensor")?;
    file.tensors().find(|tensor| tensor.node.name == related && tensor.is_index())
}

pub(super) fn check_class_order(file: &FileView<'_>, report: &mut ViolationReport) {
    // The weight of a depthwise convolution has the window points before the dimensions of its class.
    if &*file.compute.function == "depthwiseconv2dnative" {
        return;
    }
    let mut seen = BTreeSet::new();
    for tensor in file.tensors() {
        let Some(class) = tensor.class.filter(|_| seen.insert(&*tensor.info.class)) else { continue };
        if class.order != tensor.node.order {
            let message = format!(
                "{:?}, where tensor {}, the first of the class, has {:?}; a class has the order of its first tensor",
                class.order, tensor.index, tensor.node.order
            );
            report.report_json(
                file.dsc_member_path(&format!("primaryDsInfo_/{}/layoutDimOrder_", tensor.info.class)),
                message,
            );
        }
    }
}

pub(super) fn check_memories(file: &FileView<'_>, report: &mut ViolationReport) {
    let has_windows = file.dsc.class_relation.is_some() || file.dsc.nodes.iter().any(|node| node.padding.is_some());
    for tensor in file.tensors() {
        let memory = &tensor.info.memory;
        let (in_hbm, in_lx) = (!tensor.is_lx(), !tensor.is_index());
        for (name, wanted, found) in [("hbm", in_hbm, &memory.hbm), ("lx", in_lx, &memory.lx)] {
            let path = file.tensor_member_path(tensor.index, &format!("memOrg_/{name}"));
            match found {
                Some(found) => check_presence(found, name, &tensor, has_windows, path, report),
                None if wanted => report
                    .report_json(path, format!("'{name}' is missing; a tensor names every memory that it may be in")),
                None => {}
            }
        }
    }
}

fn check_presence(
    found: &MemoryPresence,
    memory: &str,
    tensor: &TensorView<'_>,
    has_windows: bool,
    path: String,
    report: &mut ViolationReport,
) {
    if found.is_present != 1 {
        report.report_json(
            format!("{path}/isPresent"),
            format!("{}; a memory that is named is present, 1", found.is_present),
        );
    }
    let for_windows = [
        ("isPadded", found.is_padded.is_some()),
        ("isZeroPadded", found.is_zero_padded.is_some()),
        ("dsOffset", found.offset.is_some()),
        ("allocateNode_", found.node.is_some()),
    ];
    if let Some((member, _)) = for_windows.into_iter().find(|(_, is_there)| *is_there && !has_windows) {
        report.report_json(format!("{path}/{member}"), "only tensors of windowed ops have the member");
    }
    let is_flag = |flag: Option<u8>| flag.is_none_or(|flag| flag <= 1);
    if !is_flag(found.is_padded)
        || found.is_zero_padded.is_some_and(|flag| flag != 0)
        || found.offset.is_some_and(|offset| offset != 0)
    {
        report.report_json(&path, "'isPadded' is 0 or 1, 'isZeroPadded' and 'dsOffset' are 0");
    }
    let wanted = if memory == "hbm" { &*tensor.node.name } else { "" };
    if let Some(node) = found.node.as_deref().filter(|node| *node != wanted) {
        report.report_json(
            format!("{path}/allocateNode_"),
            format!("'{node}'; the node of the tensor in this memory is '{wanted}'"),
        );
    }
}

pub(super) fn check_inputs(file: &FileView<'_>, report: &mut ViolationReport) {
    let num_tensors = file.dsc.tensors.len();
    let num_inputs = match file.family {
        FunctionFamily::Pooling if &*file.compute.function == "depthwiseconv2dnative" => num_tensors,
        FunctionFamily::TopK | FunctionFamily::Pooling => 1,
        FunctionFamily::StickReduction | FunctionFamily::NonstickReduction => num_tensors,
        FunctionFamily::Matmul
        | FunctionFamily::Convolution
        | FunctionFamily::Restickify
        | FunctionFamily::Elementwise
        | FunctionFamily::Conversion => num_tensors.saturating_sub(1),
        FunctionFamily::Other => return,
    };
    let name = |tensor: TensorView<'_>| Text::from(format!("Tensor{0}-idx{0}", tensor.index));
    let wanted: Vec<Text> = file.tensors().take(num_inputs).filter(|tensor| !tensor.is_index()).map(name).collect();
    if file.compute.inputs != wanted {
        let message = format!("{:?}; the inputs of '{}' are {wanted:?}", file.compute.inputs, file.compute.function);
        report.report_json(file.compute_member_path("inputLabeledDs"), message);
    }
}
