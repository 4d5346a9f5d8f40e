//! Shuffles: copies of a tensor in LX from the cores that hold it, its source, to the cores that need it, its
//! destination.
//!
//! Each of the two tensors lists the slices that its cores hold (`coreIdToWkSlice_` of its coordinates); the op's own
//! slices do not matter. Two cores may get the same slice (all-gather), a core may hold nothing, and addresses may
//! differ between cores (LX relayout contract).

use super::error::PlanError;
use super::{CoreAssignment, IterationDim, MemorySpace, OpPlan, TensorPlan};
use sdsc_format::model::{AllocateNode, Dsc, Fold, Operation};
use std::collections::{BTreeMap, BTreeSet};

type RelayoutResult<T> = Result<T, PlanError>;

fn reject_malformed<T>(message: impl Into<String>) -> RelayoutResult<T> {
    Err(PlanError::Malformed(message.into()))
}

/// Returns the cores of a shuffle: as many as `coreFoldProp_` counts.
///
/// `coreIdsUsed_` may list fewer cores: those that hold the source, if the source is a sum that only they have
/// completed.
pub(super) fn find_relayout_cores(
    operation: &Operation,
    dsc: &Dsc,
    dims: &[IterationDim],
    num_machine: i64,
) -> RelayoutResult<Vec<CoreAssignment>> {
    let n_cores = operation.core_fold.factor;
    if !(1..=num_machine).contains(&n_cores) {
        return reject_malformed(format!("coreFoldProp_ counts {n_cores} cores; the machine has {num_machine}"));
    }
    let used: BTreeSet<i64> = dsc.core_ids.iter().copied().collect();
    let num_used = used.len() as i64;
    if used.len() != dsc.core_ids.len() || (operation.n_cores, dsc.n_cores) != (num_used, num_used) {
        let (counted, listed) = (operation.n_cores, dsc.core_ids.len());
        return reject_malformed(format!(
            "numCoresUsed_ is {counted} for {listed} entries of coreIdsUsed_; each core is counted and listed once"
        ));
    }
    if let Some(core) = used.iter().find(|core| !(0..n_cores).contains(*core)) {
        return reject_malformed(format!("coreIdsUsed_ lists core {core}; the op has {n_cores}"));
    }
    let source = dsc.nodes.first().map(|node| node.coordinates.core_to_slice.iter().map(|(core, _)| *core).collect());
    if num_used < n_cores && source.is_some_and(|source: BTreeSet<i64>| source != used) {
        return reject_malformed(format!(
            "coreIdsUsed_ lists {num_used} of {n_cores} cores; these must be the cores that hold the source"
        ));
    }
    let slot = |core: i64, dim: &IterationDim| {
        operation.core_to_slice.get(&core).and_then(|slots| slots.get(dim.label.as_str())).copied()
    };
    let has_corelets = dsc.nodes.iter().any(|node| node.start.has_corelet_values());
    let corelets: &[Option<i64>] = if has_corelets { &[Some(0), Some(1)] } else { &[None] };
    let core = |(id, corelet): (i64, &Option<i64>)| CoreAssignment {
        id,
        corelet: *corelet,
        slice_indices: dims.iter().map(|dim| slot(id, dim).unwrap_or(0)).collect(),
    };
    Ok((0..n_cores).flat_map(|id| corelets.iter().map(move |corelet| (id, corelet))).map(core).collect())
}

/// Returns the order of the dimensions of a shuffle's source in memory, from the one next to the stick outwards.
pub(super) fn read_source_order(dsc: &Dsc, dims: &[IterationDim]) -> Vec<usize> {
    let labels = dsc.nodes.first().map(|node| node.order.as_slice()).unwrap_or_default();
    labels.iter().filter_map(|label| dims.iter().position(|dim| dim.label == **label)).collect()
}

/// Checks that two corelets share a core's slice of a tensor along its stick dimension, which must have a
/// `corelet_fold`.
///
/// If one address stands for both corelets, the layout of the core's slice determines the positions of the halves.
/// Otherwise each corelet has its half at an address of its own.
pub(super) fn check_corelets(dsc: &Dsc, node: &AllocateNode) -> RelayoutResult<()> {
    let factor =
        |folds: &[Fold], label: &str| folds.iter().find(|fold| fold.label == label).map_or(1, |fold| fold.factor);
    let split = |node: &AllocateNode| -> Vec<(String, i64)> {
        let dims = node.coordinates.dims.iter();
        let folds = dims.map(|(label, info)| (label.to_string(), factor(&info.folds.folds, "corelet_fold")));
        folds.filter(|(_, corelets)| *corelets != 1).collect()
    };
    let stated = dsc.nodes.iter().map(|node| factor(&node.start.folds, "corelet")).chain(dsc.n_corelets);
    let folded = dsc.nodes.iter().flat_map(split).map(|(_, corelets)| corelets);
    let corelets = stated.chain(folded).max().unwrap_or(1);
    if corelets == 1 && node.start.has_corelet_values() {
        return reject_malformed(format!("{}: addresses by corelet, but no fold over two corelets", node.name));
    }
    if corelets == 1 {
        return Ok(());
    }
    let class = node.tensor.and_then(|tensor| dsc.tensors.get(tensor)).and_then(|info| dsc.classes.get(&*info.class));
    let stick = class.and_then(|class| class.stick.first()).map(ToString::to_string).unwrap_or_default();
    match split(node).as_slice() {
        [(label, 2)] if *label == stick && corelets == 2 => Ok(()),
        [] => reject_malformed(format!(
            "{}: no corelet_fold for {corelets} corelets; the stick dimension '{stick}' has it",
            node.name
        )),
        found => reject_malformed(format!(
            "{}: corelet_fold of {found:?}; two corelets share the stick dimension '{stick}'",
            node.name
        )),
    }
}

/// Checks the source and the destination of a shuffle: every element has one value, and the destination gets every
/// element.
pub(super) fn check_relayout(plan: &OpPlan) -> RelayoutResult<()> {
    let [source] = plan.inputs.as_slice() else { return reject_malformed("a shuffle has one source") };
    let (source, destination) = (&plan.tensors[*source], &plan.tensors[plan.output]);
    if let Some(outside) = [source, destination].into_iter().find(|tensor| tensor.memory != MemorySpace::Lx) {
        return reject_malformed(format!("{} is in HBM; both tensors of a shuffle are in LX", outside.name));
    }
    if source.format != destination.format || source.stick_dim != destination.stick_dim || plan.mask.is_some() {
        return reject_malformed(
            "a shuffle copies sticks as they are: its tensors have one format and one stick dimension, and no mask",
        );
    }
    if let Some((slots, cores)) = find_holders(plan, source).into_iter().find(|(_, cores)| cores.len() > 1) {
        let slice = format_slice(plan, &slots);
        return reject_malformed(format!(
            "cores {} and {} both hold {slice} of the source; an element has one value",
            cores[0], cores[1]
        ));
    }
    check_cover(plan, source, "source")?;
    check_cover(plan, destination, "destination")
}

/// Checks that the cores together hold all slices of a tensor.
fn check_cover(plan: &OpPlan, tensor: &TensorPlan, role: &str) -> RelayoutResult<()> {
    let held = find_holders(plan, tensor);
    let slices_of = |(dim, table): (usize, &Vec<i64>)| {
        if tensor.has_dim[dim] { plan.dims[dim].size / (table.len() as i64).max(1) } else { 1 }
    };
    let slices: Vec<i64> = tensor.offsets.iter().enumerate().map(slices_of).collect();
    let num_slices = slices.iter().fold(1_i64, |product, slices| product.saturating_mul(*slices));
    if held.len() as i64 == num_slices {
        return Ok(());
    }
    let mut slots = vec![0; slices.len()];
    while held.contains_key(&slots) {
        for (slot, slices) in slots.iter_mut().zip(&slices) {
            *slot = (*slot + 1) % slices;
            if *slot != 0 {
                break;
            }
        }
    }
    reject_malformed(format!("no core holds {} of the {role}; the {role} is complete", format_slice(plan, &slots)))
}

/// Returns the cores that hold each slice of a tensor. A dimension that the tensor lacks has one slice.
fn find_holders(plan: &OpPlan, tensor: &TensorPlan) -> BTreeMap<Vec<i64>, Vec<i64>> {
    let mut holders: BTreeMap<Vec<i64>, Vec<i64>> = BTreeMap::new();
    for (core, slots) in plan.cores.iter().zip(tensor.ownership.iter().flatten()) {
        if let Some(slots) = slots {
            let slots = slots.iter().zip(&tensor.has_dim).map(|(slot, present)| if *present { *slot } else { 0 });
            holders.entry(slots.collect()).or_default().push(core.id);
        }
    }
    holders
}

fn format_slice(plan: &OpPlan, slots: &[i64]) -> String {
    let slots: Vec<String> = plan.dims.iter().zip(slots).map(|(dim, slot)| format!("'{}' {slot}", dim.label)).collect();
    format!("slice {}", slots.join(", "))
}
