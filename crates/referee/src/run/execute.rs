//! One execution of an op: check, count, compute on every core, store.

use crate::account::rounding::OpError;
use crate::account::traffic::{Traffic, count};
use crate::error::SimError;
use crate::load::lives::{Begun, Deaths};
use crate::machine::access::{Part, Parts, check};
use crate::machine::memory::Writer;
use crate::machine::{Machine, RegionId};
use crate::number::POISON;
use crate::ops::{CoreView, ElementOf, Memory, Stored, Values, arranged, combine, compute, moved_bytes, shuffle, write};
use crate::plan::{Interval, Kernel, Plan};
use crate::run::beside::Beside;
use element::Reduction;
use rayon::prelude::*;
use std::sync::Arc;

/// Minimum number of points for which threads pay off.
const SERIAL_POINTS: u64 = 1 << 15;

/// Result of an execution.
pub(crate) struct Executed {
    pub(crate) traffic: Traffic,
    pub(crate) error: OpError,
    /// Slices of the tensors that each core accessed.
    pub(crate) parts: Parts,
}

/// Executes an op once, on the device's numbers and on their companion elements. `lives` has the live ranges of the launch, and the number
/// of the execute.
pub(crate) fn execute<B: Beside>(
    plan: &Arc<Plan>,
    symbols: impl Fn(i64) -> Option<i64>,
    lives: (&Deaths, usize),
    machine: &mut Machine,
    beside: &mut B,
) -> Result<Executed, SimError> {
    let parts = check(plan, symbols, machine)?;
    let mut traffic = count(plan, &parts, machine);
    let leaders = if plan.kernel == Kernel::Shuffle { (0..plan.cores.len()).collect() } else { plan.leaders() };
    traffic.ring_bytes += partial_sum_bytes(plan, &leaders);
    if plan.kernel == Kernel::Shuffle {
        traffic.ring_bytes += moved_bytes(plan);
    }
    let writer = machine.writer(&plan.name);
    let (deaths, number) = lives;
    let holders = (0..plan.cores.len()).filter(|core| plan.tensors[plan.output].is_held_by(*core));
    let first = holders.map(|core| &parts.0[core][plan.output]).min_by_key(|part| part.byte);
    if let Some((life, begins)) = first.and_then(|part| lx_life(deaths, number, part)) {
        machine.note_value(writer, life, begins);
    }
    // Both are computed before either is stored.
    let has_numbers = machine.has_values() && !beside.replaces_numbers();
    let results = if has_numbers { results(plan, &parts, &leaders, machine) } else { Vec::new() };
    let error = beside.execute(plan, &parts, &leaders, machine, &results);
    if !machine.has_values() {
        drop_partial_sums(plan, &leaders, &parts, machine);
        mark(plan, &leaders, &parts, machine, writer);
        return Ok(Executed { traffic, error, parts });
    }
    for (core, stored) in &results {
        write(plan, *core, &parts, stored, POISON, machine);
    }
    drop_partial_sums(plan, &leaders, &parts, machine);
    for core in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        mark_written(plan, core, &parts, machine, writer);
    }
    Ok(Executed { traffic, error, parts })
}

/// Returns the live range that an execute writes in LX, and whether the execute begins it. `part` is that of the core with the lowest
/// address: a live range covers the parts of all cores.
fn lx_life(deaths: &Deaths, number: usize, part: &Part) -> Option<(Begun, bool)> {
    let RegionId::Lx(_) = part.region else { return None };
    deaths.written(number, part.byte).map(|life| (life, life.1 == number))
}

/// Computes the cells that the storing core (leader) of each slice of the result stores, paired with the core.
pub(crate) fn results<M: Memory>(plan: &Plan, parts: &Parts, leaders: &[usize], memory: &M) -> Vec<(usize, Stored<M::Cell>)> {
    let constants: Vec<_> = plan.constants.iter().map(|constant| memory.constant(constant.value, constant.exact)).collect();
    let view = |core| CoreView { plan, core, parts, memory, constants: &constants };
    let values = if plan.kernel == Kernel::Shuffle { shuffle(plan, parts, memory) } else { on_all_cores(plan, view) };
    let values = shared(plan, leaders, &constants, memory, values);
    let stores = |core: usize| leaders[core] == core && plan.tensors[plan.output].is_held_by(core);
    let first = values.into_iter().filter(|(core, _)| stores(*core));
    first.map(|(core, values)| (core, arranged(view(core), values))).collect()
}

/// Poisons the result of cores that pass on a partial sum to the LX of another core: what they keep is not the sum.
fn drop_partial_sums(plan: &Plan, leaders: &[usize], parts: &Parts, machine: &mut Machine) {
    for core in (0..leaders.len()).filter(|core| leaders[*core] != *core) {
        let part = &parts.0[core][plan.output];
        if let RegionId::Lx(_) = part.region {
            let written: Vec<Interval> = plan.touched(part, plan.output).collect();
            let region = machine.region_mut(part.region);
            written.iter().for_each(|bytes| region.drop_values(bytes.start as usize, bytes.end as usize));
        }
    }
}

fn mark_written(plan: &Plan, core: usize, parts: &Parts, machine: &mut Machine, writer: Writer) {
    let part = &parts.0[core][plan.output];
    let written: Vec<Interval> = plan.touched(part, plan.output).collect();
    let region = machine.region_mut(part.region);
    written.iter().for_each(|interval| region.mark_written(interval.start as usize, interval.end as usize, writer));
}

/// Records the bytes that each core would store.
fn mark(plan: &Plan, leaders: &[usize], parts: &Parts, machine: &mut Machine, writer: Writer) {
    for core in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        machine.region_mut(parts.0[core][plan.output].region).forget_values();
        mark_written(plan, core, parts, machine, writer);
    }
}

/// The partial sums travel over the ring as `f32` (assumption), from each further core once.
fn partial_sum_bytes(plan: &Plan, leaders: &[usize]) -> u64 {
    if !plan.kernel.accumulates() {
        return 0;
    }
    let n_further = leaders.iter().enumerate().filter(|(core, leader)| core != *leader).count();
    4 * (n_further * plan.volume(&plan.output_dims())) as u64
}

/// Computes every core's part, on as many threads as there are; the result does not depend on their number.
fn on_all_cores<'m, M: Memory + 'm>(plan: &Plan, view: impl Fn(usize) -> CoreView<'m, M> + Sync) -> Vec<Values<M>> {
    let n_cores = plan.cores.len();
    if plan.points.saturating_mul(n_cores as u64) < SERIAL_POINTS {
        return (0..n_cores).map(|core| compute(view(core))).collect();
    }
    (0..n_cores).into_par_iter().map(|core| compute(view(core))).collect()
}

/// Adds the partial results of cores; returns one result for each storing core.
fn shared<M: Memory>(
    plan: &Plan,
    leaders: &[usize],
    constants: &[ElementOf<M>],
    memory: &M,
    values: Vec<Values<M>>,
) -> Vec<(usize, Values<M>)> {
    let reduction = match plan.kernel {
        Kernel::Reduce(reduction) => reduction,
        Kernel::Contract => Reduction::Sum,
        Kernel::Unary(_) | Kernel::Binary(_) | Kernel::Where | Kernel::MomentPair => return values.into_iter().enumerate().collect(),
        Kernel::LayerNormScale | Kernel::LayerNorm | Kernel::TopK(_) => return values.into_iter().enumerate().collect(),
        Kernel::Copy | Kernel::Shuffle => return values.into_iter().enumerate().collect(),
    };
    let mut values: Vec<Option<Values<M>>> = values.into_iter().map(Some).collect();
    let mut results = Vec::new();
    for leader in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        let mut order = Vec::new();
        let mut parts = Vec::new();
        for core in (0..leaders.len()).filter(|core| leaders[*core] == leader) {
            if let Some(Values::Elements { values, order: dims }) = values[core].take() {
                order = dims;
                parts.push(values);
            }
        }
        let values = combine(memory.arithmetic(), plan, constants, reduction, parts);
        results.push((leader, Values::Elements { values, order }));
    }
    results
}
