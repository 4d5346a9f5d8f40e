//! Canonical spelling of legal files: files that differ only in spelling have the same canonical form.
//!
//! The form is that of the emitter under release 1.0.0, with every optional member that has a meaning. Members that op
//! specs do not have, and that do not change results, are removed: the debug handle, splits over corelets, rows and
//! units, and the fidelity `fast`, which permits less exact results.
//!
//! ```text
//! "[3, 0]": "-4"; one start for all cores          "[3, 0, 0]": "-4"; a start for each core
//! "value-0-idx0", "node-0"                         "Tensor0-idx0", "allocate-Tensor0_hbm"
//! "isStartAddrSymbolic_": true                     "isStartAddrSymbolic_": 1
//! "maxDimSizes_": [128, 256] of a direct tensor    [-1, -1]
//! ```

mod labels;
mod tensors;

pub(super) use labels::rename_dims;

use super::OpSpecReadError;
use crate::{bundle::OpFamily, bundle::OpSpec};
use sdsc_format::model::{
    BitsList, ConstantInfo, DimSizes, Dsc, Entries, FoldMap, Operation, Sdsc, Text, strip_underscore,
};

/// Name of the constant that replaces masked padding.
const MASK_VALUE: &str = "samv-maskvalue";

/// Reductions along the stick. Other reductions have the suffix `nonstick`.
const REDUCTIONS: [&str; 8] = ["absmax", "exx2", "exx2_zeromean", "max", "mean", "min", "prod", "sum"];

/// Returns the canonical form of the file of op `index`.
///
/// # Errors
///
/// If the file has a member with a meaning that no op spec expresses.
pub(super) fn to_canonical(sdsc: &Sdsc, index: usize) -> Result<Sdsc, OpSpecReadError> {
    let mut file = sdsc.clone();
    let function = check_is_expressible(&file.value)?;
    file.name = format!("{index}_{function}").into();
    let operation = &mut file.value;
    if let Some(dsc) = operation.dscs.first_mut() {
        tensors::order_tensors(&mut dsc.value);
    }
    operation.complete();
    operation.convert_to_release();
    // Completion gives symbolic sizes, which the conversion replaced by -1, their maxima again.
    operation.complete();
    if let [dsc] = operation.dscs.as_mut_slice() {
        dsc.name = function;
        canonicalize_description(&mut dsc.value)?;
    }
    canonicalize_operation(operation);
    Ok(file)
}

/// Checks that an op spec can express the structure of a file; returns the function.
fn check_is_expressible(operation: &Operation) -> Result<Text, OpSpecReadError> {
    let [dsc] = operation.dscs.as_slice() else {
        let reason = format!(
            "expected one description that all cores run, found {}; no op spec divides work unevenly",
            operation.dscs.len()
        );
        return Err(OpSpecReadError::member("dscs_", reason));
    };
    let dsc = &dsc.value;
    let [compute] = dsc.compute.as_slice() else {
        let reason =
            format!("expected one operation, found {}; give each fused operation a file of its own", dsc.compute.len());
        return Err(OpSpecReadError::member("computeOp_", reason));
    };
    if operation.core_to_slice.is_empty() && operation.n_cores > 1 {
        let reason = "expected a slice for each core; the format does not say which slice a core computes without them";
        return Err(OpSpecReadError::member("coreIdToWkSlice_", reason));
    }
    if dsc.core_ids.iter().any(|core| !(0..operation.n_cores).contains(core)) {
        let reason = format!("expected the cores from 0 to {}; no op spec chooses cores", operation.n_cores - 1);
        return Err(OpSpecReadError::member("coreIdsUsed_", reason));
    }
    if operation.core_to_schedule.iter().any(|(_, steps)| steps.as_slice() != [[-1, 0, 0, 0]]) {
        let reason = "expected the step [-1, 0, 0, 0] on each core; no op spec has several steps, data operations or \
                      barriers";
        return Err(OpSpecReadError::member("coreIdToDscSchedule", reason));
    }
    if operation.data_dscs.as_ref().is_some_and(|list| !list.is_empty()) {
        return Err(OpSpecReadError::member("datadscs_", "expected an empty list; no op spec has data operations"));
    }
    if operation.share_info.as_ref().is_some_and(|list| !list.is_empty()) {
        return Err(OpSpecReadError::member(
            "ldsShareInfo_",
            "expected an empty list; no op spec divides work unevenly",
        ));
    }
    let (steady, end) = (&dsc.stages.core.steady.sizes.0, &dsc.stages.core.end.sizes.0);
    if steady.0.len() != end.0.len() || steady.iter().any(|(dim, size)| end.get(dim) != Some(size)) {
        let reason = "the sizes differ from those of 'ss_'; no op spec divides work unevenly";
        return Err(OpSpecReadError::member("dataStageParam_.0.el_", reason));
    }
    tensors::check_nodes(dsc, operation.n_cores)?;
    Ok(compute.function.clone())
}

fn canonicalize_operation(operation: &mut Operation) {
    operation.debug_handle = None;
    operation.data_dscs = None;
    operation.share_info = None;
    operation.opcode_correction.take_if(|entries| entries.is_empty());
    operation.symbol_definitions.take_if(|entries| entries.is_empty());
    if !has_shuffled_tensor(operation) {
        operation.corelet_fold.factor = 1;
    }
    for (label, _) in operation.dscs.iter().flat_map(|dsc| dsc.value.space.sizes.0.iter()) {
        let label = strip_underscore(label);
        if operation.slices.get(label).is_none() {
            operation.slices.0.push((Text::from(label.to_owned()), 1));
        }
    }
    for (_, slots) in &mut operation.core_to_slice.0 {
        for (label, _) in operation.slices.iter() {
            if slots.get(label).is_none() {
                slots.0.push((label.clone(), 0));
            }
        }
    }
    operation.core_to_slice.0.sort_by_key(|(core, _)| *core);
    operation.core_to_dsc.0.sort_unstable();
    operation.core_to_schedule.0.sort_by_key(|(core, _)| *core);
}

/// Returns whether a tensor has slices of its own, as in a shuffle.
fn has_shuffled_tensor(operation: &Operation) -> bool {
    let mut nodes = operation.dscs.iter().flat_map(|dsc| &dsc.value.nodes);
    nodes.any(|node| !node.coordinates.core_to_slice.is_empty())
}

fn canonicalize_description(dsc: &mut Dsc) -> Result<(), OpSpecReadError> {
    let is_windowed = is_windowed(dsc);
    dsc.n_corelets = Some(1);
    dsc.core_ids.sort_unstable();
    let symbolic: Vec<Text> = dsc.dim_symbols.iter().flat_map(Entries::iter).map(|(dim, _)| dim.clone()).collect();
    dsc.dim_symbols.take_if(|symbols| symbols.is_empty());
    for (dim, _) in dsc.dim_symbols.iter_mut().flat_map(|symbols| &mut symbols.0) {
        *dim = strip_underscore(dim).to_owned().into();
    }
    let unit = &mut dsc.stages.core;
    unit.name = None;
    for sizes in [&mut dsc.space, &mut unit.steady, &mut unit.end] {
        canonicalize_sizes(sizes, &symbolic);
    }
    dsc.space.symbolic = None;
    let used: Vec<Text> = dsc.tensors.iter().map(|tensor| tensor.class.clone()).collect();
    dsc.classes.0.retain(|(name, _)| used.contains(name));
    for (_, class) in &mut dsc.classes.0 {
        class.stick_replication.take_if(|counts| counts.iter().all(|count| *count == 1));
    }
    dsc.class_relation.take_if(|relation| relation.is_reuse == 1 || !is_windowed);
    tensors::canonicalize_tensors(dsc, is_windowed);
    canonicalize_compute(dsc);
    canonicalize_constants(dsc)
}

/// Returns whether the function slides windows, so that its padding has a meaning.
fn is_windowed(dsc: &Dsc) -> bool {
    let function = dsc.compute.first().map(|compute| compute.function.to_string()).unwrap_or_default();
    OpFamily::from_op(&OpSpec { function, ..OpSpec::default() }).is_windowed()
}

/// Removes sizes that are not set, empty members, and splits of a core's work, which do not change results.
fn canonicalize_sizes(sizes: &mut DimSizes, symbolic: &[Text]) {
    sizes.name = None;
    sizes.max_symbolic_volume = None;
    sizes.corelet_split = None;
    sizes.row_split = None;
    sizes.pe_sfp_split = None;
    let is_symbolic = |key: &str| symbolic.iter().any(|dim| strip_underscore(dim) == strip_underscore(key));
    sizes.sizes.0.0.retain(|(key, size)| *size != -1 || is_symbolic(key));
    for (dim, _) in sizes.symbolic.iter_mut().flat_map(|entries| &mut entries.0) {
        *dim = strip_underscore(dim).to_owned().into();
    }
    sizes.symbolic.take_if(|entries| entries.is_empty());
    for (_, window) in sizes.windows.iter_mut().flat_map(|windows| &mut windows.0) {
        window.window_dim = window.taps_label().to_owned().into();
        if [window.unneeded, window.unneeded_front, window.unneeded_back].iter().all(|pad| pad.unwrap_or(0) == 0) {
            (window.unneeded, window.unneeded_front, window.unneeded_back) = (None, None, None);
        }
    }
    sizes.windows.take_if(|windows| windows.is_empty());
}

fn canonicalize_compute(dsc: &mut Dsc) {
    for compute in &mut dsc.compute {
        if compute.attributes.fidelity == "fast" {
            compute.attributes.fidelity = "regular".into();
        }
        compute.indices.take_if(|indices| indices.is_empty());
        let base = compute.function.strip_suffix("nonstick").unwrap_or(&compute.function);
        if REDUCTIONS.contains(&base) {
            let missing: Vec<_> =
                compute.outputs.iter().filter(|name| !compute.inputs.contains(name)).cloned().collect();
            compute.inputs.extend(missing);
        }
    }
}

/// Numbers constants in order, the mask last, each with one value for all cores.
fn canonicalize_constants(dsc: &mut Dsc) -> Result<(), OpSpecReadError> {
    let mut infos = std::mem::take(&mut dsc.constants.0.0);
    infos.sort_by_key(|(number, info)| (info.name == MASK_VALUE, *number));
    if dsc.masking.is_empty() {
        infos.retain(|(_, info)| info.name != MASK_VALUE);
    }
    let names_mask = |(number, info): &(usize, ConstantInfo)| {
        info.name == MASK_VALUE && i64::try_from(*number) == Ok(dsc.masking_constant)
    };
    // torch-spyre always writes 0 (torch-spyre issue 4390), so the name decides; the compare step accepts 0.
    if infos.iter().any(names_mask) || dsc.masking.is_empty() {
        let position = infos.len().checked_sub(1).filter(|_| !dsc.masking.is_empty());
        dsc.masking_constant = position.and_then(|position| i64::try_from(position).ok()).unwrap_or(-1);
    }
    for (position, (number, info)) in infos.iter_mut().enumerate() {
        canonicalize_constant(*number, info, &dsc.core_ids)?;
        *number = position;
    }
    dsc.constants.0.0 = infos;
    Ok(())
}

fn canonicalize_constant(number: usize, info: &mut ConstantInfo, cores: &[i64]) -> Result<(), OpSpecReadError> {
    let values: Vec<&BitsList> = cores.iter().filter_map(|core| info.data.value_on_core(*core)).collect();
    let Some(first) = values.first().copied().cloned().or_else(|| Some(info.data.data.0.first()?.1.clone())) else {
        return Ok(());
    };
    if values.iter().any(|value| **value != first) {
        let reason = "expected one value for all cores, found different ones; no op spec has a constant for each core";
        return Err(OpSpecReadError::member(format!("constantInfo_.{number}.data_"), reason));
    }
    info.data = FoldMap::from_constant(i64::try_from(cores.len()).unwrap_or(i64::MAX), first);
    Ok(())
}
