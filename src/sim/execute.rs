//! One execution of an op: check, count, compute on every core, store.

use super::access::{Parts, check};
use super::error::SimError;
use super::machine::Machine;
use super::memory::Writer;
use super::ops::{CoreView, Values, combine, compute, shuffle, store};
use super::plan::{Interval, Kernel, Plan, Reduction};
use super::traffic::{Traffic, count};
use std::num::NonZero;
use std::thread;

/// Points below which threads cost more than they save.
const SERIAL_POINTS: u64 = 1 << 15;

/// Executes an op once.
pub(crate) fn execute(plan: &Plan, symbols: impl Fn(i64) -> Option<i64>, machine: &mut Machine) -> Result<Traffic, SimError> {
    let parts = check(plan, symbols, machine)?;
    let mut traffic = count(plan, &parts, machine);
    let leaders = if plan.kernel == Kernel::Shuffle { (0..plan.cores.len()).collect() } else { plan.leaders() };
    traffic.ring_bytes += partial_sum_bytes(plan, &leaders);
    let values = if plan.kernel == Kernel::Shuffle {
        let (values, moved) = shuffle(plan, &parts, machine);
        traffic.ring_bytes += moved;
        values
    } else if machine.has_values() {
        on_all_cores(plan, &parts, machine)
    } else {
        Vec::new()
    };
    let writer = machine.writer(&plan.name);
    if !machine.has_values() {
        mark(plan, &leaders, &parts, machine, writer);
        return Ok(traffic);
    }
    for (core, values) in shared(plan, &leaders, values).into_iter().filter(|(core, _)| leaders[*core] == *core) {
        store(plan, core, &parts, values, machine, writer);
    }
    Ok(traffic)
}

/// Notes what each core would store.
fn mark(plan: &Plan, leaders: &[usize], parts: &Parts, machine: &mut Machine, writer: Writer) {
    for core in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        let part = &parts.0[core][plan.output];
        let written: Vec<Interval> = plan.touched(part, plan.output).collect();
        let region = machine.region_mut(part.region);
        region.forget_values();
        written.iter().for_each(|interval| region.mark_written(interval.start as usize, interval.end as usize, writer));
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
fn on_all_cores(plan: &Plan, parts: &Parts, machine: &Machine) -> Vec<Values> {
    let n_cores = plan.cores.len();
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(n_cores);
    let view = |core| CoreView { plan, core, parts, machine };
    if n_threads < 2 || plan.points.saturating_mul(n_cores as u64) < SERIAL_POINTS {
        return (0..n_cores).map(|core| compute(view(core))).collect();
    }
    let cores: Vec<usize> = (0..n_cores).collect();
    thread::scope(|scope| {
        let spawn = |cores: &[usize]| {
            let cores = cores.to_vec();
            scope.spawn(move || cores.into_iter().map(|core| compute(view(core))).collect::<Vec<_>>())
        };
        let threads: Vec<_> = cores.chunks(n_cores.div_ceil(n_threads)).map(spawn).collect();
        let join =
            |thread: thread::ScopedJoinHandle<'_, Vec<Values>>| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        threads.into_iter().flat_map(join).collect()
    })
}

/// Adds what cores computed of the same result; gives one result for each first core.
fn shared(plan: &Plan, leaders: &[usize], values: Vec<Values>) -> Vec<(usize, Values)> {
    let reduction = match plan.kernel {
        Kernel::Reduce(reduction) => reduction,
        Kernel::Contract => Reduction::Sum,
        Kernel::Unary(_) | Kernel::Binary(_) | Kernel::Where | Kernel::MomentPair => return values.into_iter().enumerate().collect(),
        Kernel::LayerNormScale | Kernel::LayerNorm | Kernel::Copy | Kernel::Shuffle => return values.into_iter().enumerate().collect(),
    };
    let mut values: Vec<Option<Values>> = values.into_iter().map(Some).collect();
    let mut results = Vec::new();
    for leader in (0..leaders.len()).filter(|core| leaders[*core] == *core) {
        let mut order = Vec::new();
        let mut parts = Vec::new();
        for core in (leader..leaders.len()).filter(|core| leaders[*core] == leader) {
            if let Some(Values::Floats { values, order: dims }) = values[core].take() {
                order = dims;
                parts.push(values);
            }
        }
        results.push((leader, Values::Floats { values: combine(plan, reduction, parts), order }));
    }
    results
}
