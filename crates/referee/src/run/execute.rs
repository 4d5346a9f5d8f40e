//! One execution of an op: checks accesses, counts bytes, computes on every core, and stores.

use crate::account::rounding::OpRoundingError;
use crate::account::traffic::{Traffic, count_traffic};
use crate::error::SimError;
use crate::load::live_ranges::{ExpirySchedule, LiveRangeId};
use crate::machine::access::{TensorSlice, TensorSlices, check_accesses};
use crate::machine::memory::WriterId;
use crate::machine::{Machine, RegionId};
use crate::number::POISON_BYTE;
use crate::ops::{
    CoreView, ElementMemory, EncodedSlice, MemoryElement, SliceValues, combine_partial_results, compute_slice,
    count_moved_bytes, encode_slice, shuffle, store_slice,
};
use crate::plan::{ByteInterval, OpKernel, OpPlan};
use crate::run::shadow_memory::ShadowMemory;
use element::Reduction;
use rayon::prelude::*;
use std::sync::Arc;

/// Minimum number of points for which threads pay off.
const MIN_PARALLEL_POINTS: u64 = 1 << 15;

/// Result of an execution.
pub(crate) struct ExecutionOutcome {
    pub(crate) traffic: Traffic,
    pub(crate) error: OpRoundingError,
    /// Slices of the tensors that each core accessed.
    pub(crate) parts: TensorSlices,
}

/// Executes an op once, on the device's numbers and on their companion elements. `lives` has the expiry schedule of the
/// launch, and the number of the execute.
pub(crate) fn execute_op<B: ShadowMemory>(
    plan: &Arc<OpPlan>,
    symbols: impl Fn(i64) -> Option<i64>,
    lives: (&ExpirySchedule, usize),
    machine: &mut Machine,
    beside: &mut B,
) -> Result<ExecutionOutcome, SimError> {
    let parts = check_accesses(plan, symbols, machine)?;
    let mut traffic = count_traffic(plan, &parts, machine);
    let leaders = if plan.kernel == OpKernel::Shuffle { (0..plan.cores.len()).collect() } else { plan.find_leaders() };
    traffic.ring_bytes += count_partial_sum_bytes(plan, &leaders);
    if plan.kernel == OpKernel::Shuffle {
        traffic.ring_bytes += count_moved_bytes(plan);
    }
    let writer = machine.register_writer(&plan.name);
    let (deaths, number) = lives;
    let holders = (0..plan.cores.len()).filter(|core| plan.tensors[plan.output].is_held_by(*core));
    let first = holders.map(|core| &parts.0[core][plan.output]).min_by_key(|part| part.byte);
    if let Some((live_range, begins)) = first.and_then(|part| find_lx_live_range(deaths, number, part)) {
        machine.record_value(writer, live_range, begins);
    }
    // Both kinds of results are computed before any is stored.
    let has_numbers = machine.has_values() && !beside.replaces_numbers();
    let results = if has_numbers { compute_results(plan, &parts, &leaders, machine) } else { Vec::new() };
    let error = beside.execute_op(plan, &parts, &leaders, machine, &results);
    if !machine.has_values() {
        drop_partial_sums(plan, &leaders, &parts, machine);
        mark_results_written(plan, &leaders, &parts, machine, writer);
        return Ok(ExecutionOutcome { traffic, error, parts });
    }
    for (core, stored) in &results {
        store_slice(plan, *core, &parts, stored, POISON_BYTE, machine);
    }
    drop_partial_sums(plan, &leaders, &parts, machine);
    for core in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        mark_written(plan, core, &parts, machine, writer);
    }
    Ok(ExecutionOutcome { traffic, error, parts })
}

/// Returns the live range that an execute writes in LX, and whether the execute begins it. `part` is the slice with the
/// lowest address of all cores: a live range covers the slices of all cores.
fn find_lx_live_range(deaths: &ExpirySchedule, number: usize, part: &TensorSlice) -> Option<(LiveRangeId, bool)> {
    let RegionId::Lx(_) = part.region else { return None };
    deaths.find_written_range(number, part.byte).map(|live_range| (live_range, live_range.1 == number))
}

/// Computes the cells of each slice of the result, paired with the core (leader) that stores them.
pub(crate) fn compute_results<M: ElementMemory>(
    plan: &OpPlan,
    parts: &TensorSlices,
    leaders: &[usize],
    memory: &M,
) -> Vec<(usize, EncodedSlice<M::Cell>)> {
    let constants: Vec<_> =
        plan.constants.iter().map(|constant| memory.constant(constant.value, constant.exact)).collect();
    let view = |core| CoreView { plan, core, parts, memory, constants: &constants };
    let values =
        if plan.kernel == OpKernel::Shuffle { shuffle(plan, parts, memory) } else { compute_all_slices(plan, view) };
    let values = reduce_across_cores(plan, leaders, &constants, memory, values);
    let stores = |core: usize| leaders[core] == core && plan.tensors[plan.output].is_held_by(core);
    let first = values.into_iter().filter(|(core, _)| stores(*core));
    first.map(|(core, values)| (core, encode_slice(view(core), values))).collect()
}

/// Poisons the result of cores that pass on a partial sum to the LX of another core: they do not have the final sum.
fn drop_partial_sums(plan: &OpPlan, leaders: &[usize], parts: &TensorSlices, machine: &mut Machine) {
    for core in (0..leaders.len()).filter(|core| leaders[*core] != *core) {
        let part = &parts.0[core][plan.output];
        if let RegionId::Lx(_) = part.region {
            let written: Vec<ByteInterval> = plan.accessed_intervals(part, plan.output).collect();
            let region = machine.region_mut(part.region);
            written.iter().for_each(|bytes| region.drop_values(bytes.start as usize, bytes.end as usize));
        }
    }
}

fn mark_written(plan: &OpPlan, core: usize, parts: &TensorSlices, machine: &mut Machine, writer: WriterId) {
    let part = &parts.0[core][plan.output];
    let written: Vec<ByteInterval> = plan.accessed_intervals(part, plan.output).collect();
    let region = machine.region_mut(part.region);
    written.iter().for_each(|interval| region.mark_written(interval.start as usize, interval.end as usize, writer));
}

/// Marks the bytes that each core would store as written.
fn mark_results_written(
    plan: &OpPlan,
    leaders: &[usize],
    parts: &TensorSlices,
    machine: &mut Machine,
    writer: WriterId,
) {
    for core in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        machine.region_mut(parts.0[core][plan.output].region).disable_values();
        mark_written(plan, core, parts, machine, writer);
    }
}

/// Returns the bytes of partial sums on the ring: one `f32` (assumption) per element and core that passes on a sum.
fn count_partial_sum_bytes(plan: &OpPlan, leaders: &[usize]) -> u64 {
    if !plan.kernel.can_accumulate() {
        return 0;
    }
    let num_further = leaders.iter().enumerate().filter(|(core, leader)| core != *leader).count();
    4 * (num_further * plan.volume(&plan.output_dims())) as u64
}

/// Computes the slices of all cores in parallel. The result does not depend on the number of threads.
fn compute_all_slices<'m, M: ElementMemory + 'm>(
    plan: &OpPlan,
    view: impl Fn(usize) -> CoreView<'m, M> + Sync,
) -> Vec<SliceValues<M>> {
    let n_cores = plan.cores.len();
    if plan.points_per_core.saturating_mul(n_cores as u64) < MIN_PARALLEL_POINTS {
        return (0..n_cores).map(|core| compute_slice(view(core))).collect();
    }
    (0..n_cores).into_par_iter().map(|core| compute_slice(view(core))).collect()
}

/// Adds the partial results of the cores; returns one result for each storing core.
fn reduce_across_cores<M: ElementMemory>(
    plan: &OpPlan,
    leaders: &[usize],
    constants: &[MemoryElement<M>],
    memory: &M,
    values: Vec<SliceValues<M>>,
) -> Vec<(usize, SliceValues<M>)> {
    let reduction = match plan.kernel {
        OpKernel::Reduce(reduction) => reduction,
        OpKernel::Contract => Reduction::Sum,
        OpKernel::Unary(_) | OpKernel::Binary(_) | OpKernel::Where | OpKernel::MomentPair => {
            return values.into_iter().enumerate().collect();
        }
        OpKernel::LayerNormScale | OpKernel::LayerNorm | OpKernel::TopK(_) => {
            return values.into_iter().enumerate().collect();
        }
        OpKernel::Copy | OpKernel::Shuffle => return values.into_iter().enumerate().collect(),
    };
    let mut values: Vec<Option<SliceValues<M>>> = values.into_iter().map(Some).collect();
    let mut results = Vec::new();
    for leader in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        let mut order = Vec::new();
        let mut parts = Vec::new();
        for core in (0..leaders.len()).filter(|core| leaders[*core] == leader) {
            if let Some(SliceValues::Elements { values, order: dims }) = values[core].take() {
                order = dims;
                parts.push(values);
            }
        }
        let values = combine_partial_results(memory.arithmetic(), plan, constants, reduction, parts);
        results.push((leader, SliceValues::Elements { values, order }));
    }
    results
}
