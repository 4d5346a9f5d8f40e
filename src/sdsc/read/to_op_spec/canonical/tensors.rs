//! Canonical spelling of a file's tensors and of their nodes.

use super::super::OpSpecReadError;
use sdsc_format::model::{
    AllocateNode, CoordInfo, CoreKey, Dsc, Flag, FoldFunction, FoldMap, MemoryPresence, TensorInfo, TensorMemories,
    Text,
};
use std::collections::BTreeMap;

/// Checks that an op spec can express the nodes of a file.
pub(super) fn check_nodes(dsc: &Dsc, num_cores: i64) -> Result<(), OpSpecReadError> {
    for (index, node) in dsc.nodes.iter().enumerate() {
        let reject = |member: &str, reason: &str| {
            Err(OpSpecReadError::member(format!("scheduleTree_[{index}].{member}"), reason))
        };
        if node.component != "lx" && node.non_unified.is_some_and(Flag::is_set) && num_cores > 1 {
            return reject(
                "nonUnifiedAllocInHBM_",
                "expected one allocation for all cores; no op spec allocates the slice of each core separately",
            );
        }
        if node.index_type.as_deref() == Some("address") {
            return reject("indexTensorType_", "expected 'index', found 'address'; no op spec has byte addresses");
        }
    }
    Ok(())
}

/// Sorts nodes and tensors: inputs in the order of the operation, the result last. Nodes and tensors with the same
/// number stand at the same position.
///
/// The list is unchanged if a node has no tensor, or a tensor no node.
pub(super) fn order_tensors(dsc: &mut Dsc) {
    let Some(compute) = dsc.compute.first() else { return };
    let number_of = |position: usize, node: &AllocateNode| node.tensor.unwrap_or(position);
    let numbers: Vec<usize> = dsc.nodes.iter().enumerate().map(|(position, node)| number_of(position, node)).collect();
    let find_tensor = |number: &usize| dsc.tensors.iter().find(|tensor| tensor.tensor == *number).cloned();
    let Some(tensors) = numbers.iter().map(find_tensor).collect::<Option<Vec<_>>>() else { return };
    if tensors.len() != dsc.tensors.len() {
        return;
    }
    let has_indices = compute.indices.as_ref().is_some_and(|indices| !indices.is_empty());
    let key = |tensor: &TensorInfo| {
        let name = operand_name(tensor);
        let input = compute.inputs.iter().position(|input| **input == *name);
        // Index tensors stand among the inputs, so their numbers determine the order.
        let input = if has_indices { None } else { Some(input.unwrap_or(usize::MAX)) };
        (compute.outputs.iter().any(|output| **output == *name), input, tensor.tensor)
    };
    let nodes = std::mem::take(&mut dsc.nodes);
    let mut pairs: Vec<_> = nodes.into_iter().zip(tensors).collect();
    pairs.sort_by_key(|(_, tensor)| key(tensor));
    (dsc.nodes, dsc.tensors) = pairs.into_iter().unzip();
}

/// Returns the name of a tensor in the lists of an operation.
fn operand_name(tensor: &TensorInfo) -> String {
    format!("{}-idx{}", tensor.name, tensor.tensor)
}

/// Gives nodes and tensors canonical names, numbers and members.
pub(super) fn canonicalize_tensors(dsc: &mut Dsc, is_windowed: bool) {
    let operands: BTreeMap<String, Text> = dsc
        .tensors
        .iter()
        .enumerate()
        .map(|(index, tensor)| (operand_name(tensor), format!("Tensor{index}-idx{index}").into()))
        .collect();
    for compute in &mut dsc.compute {
        let lists = [&mut compute.inputs, &mut compute.outputs].into_iter().chain(&mut compute.indices);
        for name in lists.flatten() {
            if let Some(canonical) = operands.get(&**name) {
                *name = canonical.clone();
            }
        }
    }
    let node_name = |index: usize, node: &AllocateNode| format!("allocate-Tensor{index}_{}", node.component);
    let names: BTreeMap<String, Text> = dsc
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| (node.name.to_string(), node_name(index, node).into()))
        .collect();
    for (index, (node, tensor)) in dsc.nodes.iter_mut().zip(&mut dsc.tensors).enumerate() {
        if let Some(name) = names.get(&*node.name) {
            node.name = name.clone();
        }
        if let Some(name) = node.related.as_ref().and_then(|related| names.get(&**related)) {
            node.related = Some(name.clone());
        }
        node.tensor = Some(index);
        tensor.tensor = index;
        tensor.name = format!("Tensor{index}").into();
        canonicalize_node(node, &dsc.core_ids);
        canonicalize_tensor(tensor, node, is_windowed);
    }
}

fn canonicalize_node(node: &mut AllocateNode, cores: &[i64]) {
    node.previous = None;
    node.is_symbolic = node.has_symbolic_start().then_some(Flag::SET);
    node.non_unified = None;
    if let Some(padding) = node.early_padding.take() {
        node.padding = Some(padding);
    }
    node.padding.take_if(|padding| padding.is_empty());
    match &*node.indirection {
        "value_tensor" => {}
        "index_tensor" => {
            node.index_type.get_or_insert_with(|| "index".into());
            node.page_sizes.fill(-1);
        }
        _ => node.page_sizes.fill(-1),
    }
    let gaps = node.gaps.iter_mut().flat_map(|gaps| &mut gaps.0);
    gaps.for_each(|(_, by_core)| by_core.0.sort_unstable_by_key(|(core, _)| *core));
    if let Some(gaps) = &mut node.gaps {
        gaps.0.retain(|(_, by_core)| by_core.iter().any(|(_, gap)| gap.0 != 0));
    }
    node.gaps.take_if(|gaps| gaps.is_empty());
    expand_starts(node, cores);
    node.coordinates.core_to_slice.0.sort_by_key(|(core, _)| *core);
    node.coordinates.dims.0.iter_mut().for_each(|(_, info)| order_stick_folds(info));
}

/// Lists the start of each core, at the only position in time.
fn expand_starts(node: &mut AllocateNode, cores: &[i64]) {
    let start = &node.start;
    let is_once = start.folds.iter().skip(2).all(|fold| fold.factor == 1);
    let starts: Option<Vec<_>> = cores.iter().map(|core| Some((*core, *start.value_on_core(*core)?))).collect();
    let Some(starts) = starts.filter(|_| is_once && !start.functions.is_empty()) else { return };
    let values = starts.into_iter().map(|(core, start)| (CoreKey::from_core(core), start)).collect();
    node.start = FoldMap::from_core_values(i64::try_from(cores.len()).unwrap_or(i64::MAX), 1, values);
}

/// Lists the fold of sticks before the fold of the elements of a stick, as torch-spyre does. The release also has the
/// other order, in which the step of both folds is 1.
fn order_stick_folds(info: &mut CoordInfo) {
    let folds = &mut info.folds;
    let Some(within) = folds.folds.iter().position(|fold| fold.label == "elem_arr_0") else { return };
    let is_reversed = within + 2 == folds.folds.len()
        && folds.folds[within + 1].label == "elem_arr_1"
        && folds.functions.len() == folds.folds.len();
    if is_reversed {
        let elements = folds.folds[within].factor;
        folds.folds.swap(within, within + 1);
        folds.functions[within] = FoldFunction::Affine { alpha: elements, beta: 0 };
        folds.functions[within + 1] = FoldFunction::Affine { alpha: 1, beta: 0 };
    }
}

fn canonicalize_tensor(tensor: &mut TensorInfo, node: &AllocateNode, is_windowed: bool) {
    if node.indirection == "index_tensor" && tensor.format == "IEEE_INT32" {
        tensor.format = "SENUINT32".into();
    }
    let slot = if node.component == "lx" { tensor.memory.lx.take() } else { tensor.memory.hbm.take() };
    let slot = slot.filter(|_| is_windowed).map(|slot| MemoryPresence {
        is_present: slot.is_present,
        is_padded: Some(slot.is_padded.unwrap_or(0)),
        is_zero_padded: Some(slot.is_zero_padded.unwrap_or(0)),
        ..MemoryPresence::default()
    });
    tensor.memory = TensorMemories { hbm: slot, lx: None };
}
