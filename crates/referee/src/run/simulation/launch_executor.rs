//! Execution of the launches of a program in order: each interprets the statements of its `bundle.mlir`.

use super::{RunOptions, Simulation};
use crate::account::report::{LaunchReport, OpReport, RunReport};
use crate::account::time::Timeline;
use crate::error::SimError;
use crate::load::address_program::{Expression, Statement, evaluate_map};
use crate::load::directory::LoadedBundle;
use crate::load::live_ranges::{ExpiredRange, ExpirySchedule, ScratchMemory};
use crate::machine::access::{TensorSlices, check_disjoint};
use crate::machine::{BufferExtent, Machine, RegionId};
use crate::plan::{OpPlan, SymbolicSize};
use crate::run::execute::{ExecutionOutcome, execute_op};
use crate::run::lx_image::preload_lx;
use crate::run::shadow_memory::ShadowMemory;
use machine::TimeModel;
use sdsc_format::program::LaunchEntry;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Simulation {
    pub(super) fn launch_all<B: ShadowMemory>(
        &self,
        buffers: &BTreeMap<String, BufferExtent>,
        options: &RunOptions,
        machine: &mut Machine,
        beside: &mut B,
    ) -> Result<RunReport, SimError> {
        preload_lx(&options.lx, machine)?;
        let mut report = RunReport { program: self.program.name.clone(), ..RunReport::default() };
        for (number, entry) in self.program.launches.iter().enumerate() {
            self.begin_live_ranges(number, buffers, machine);
            let Some(loaded) = self.bundles.get(&entry.bundle) else { continue };
            if options.wipe_lx {
                machine.wipe_lx();
            }
            machine.reset_reads();
            let mut launch = LaunchExecutor {
                loaded,
                entry,
                expiry_schedule: &self.expiry_schedules[number],
                options,
                machine: &mut *machine,
                beside: &mut *beside,
                pool_bytes: self.target.pool_bytes,
                steps: &mut report.steps,
                values: Vec::new(),
                ops: Vec::new(),
                iterations: 0,
                pool: None,
                running: Vec::new(),
                timeline: Timeline::default(),
                time: &self.target.time,
                sizes: &self.sizes,
            };
            let done = launch.execute_launch(buffers)?;
            report.total += done.total;
            report.time += done.time;
            report.launches.push(done);
            self.end_live_ranges(number, buffers, machine, beside);
        }
        Ok(report)
    }
}

/// State of a running launch.
struct LaunchExecutor<'l, B: ShadowMemory> {
    loaded: &'l LoadedBundle,
    entry: &'l LaunchEntry,
    expiry_schedule: &'l ExpirySchedule,
    options: &'l RunOptions,
    machine: &'l mut Machine,
    beside: &'l mut B,
    /// Maximum number of bytes of a pool of unknown size.
    pool_bytes: i64,
    steps: &'l mut u64,
    /// Values of the bundle, by number.
    values: Vec<i64>,
    ops: Vec<OpReport>,
    iterations: u64,
    /// Buffer of the first pool.
    pool: Option<usize>,
    /// Current iterations of the enclosing loops, from 0, outermost first.
    running: Vec<i64>,
    /// Records of the executions for the time model.
    timeline: Timeline,
    time: &'l TimeModel,
    /// Chosen symbolic sizes.
    sizes: &'l BTreeMap<String, i64>,
}

/// Position in a launch: executes and loops are numbered in the order of the text.
#[derive(Clone, Copy, Default)]
struct StatementCursor {
    execute: usize,
    loops: usize,
}

impl<B: ShadowMemory> LaunchExecutor<'_, B> {
    fn execute_launch(&mut self, buffers: &BTreeMap<String, BufferExtent>) -> Result<LaunchReport, SimError> {
        self.values = vec![0; self.loaded.bundle.num_values];
        let pools = self.map_buffers(buffers)?;
        let loaded = self.loaded;
        self.pool = pools.first().map(|(buffer, _)| *buffer);
        let done = self.execute_statements(&loaded.bundle.body, &pools, &mut StatementCursor::default());
        self.machine.unmap_all();
        for (buffer, _) in &pools {
            self.machine.release(*buffer);
            self.beside.release_region(RegionId::Hbm(*buffer));
        }
        done?;
        let mut report =
            LaunchReport { bundle: self.entry.bundle.clone(), iterations: self.iterations, ..LaunchReport::default() };
        report.ops = std::mem::take(&mut self.ops);
        for op in &report.ops {
            report.total += op.traffic;
        }
        report.time = self.timeline.model_time(&pools.iter().map(|(buffer, _)| *buffer).collect(), self.time);
        Ok(report)
    }

    /// Maps the arguments and the pools to addresses, and sets the values of the parameters. Returns the pools with
    /// their addresses.
    ///
    /// With absolute addresses in the files, argument `i` has segment `i`, or `i + 1` if there is a pool ("torch-spyre
    /// facts, A"). Otherwise any address is valid. Segment 0 remains empty, so that an address without its base is
    /// outside of every buffer.
    fn map_buffers(&mut self, buffers: &BTreeMap<String, BufferExtent>) -> Result<Vec<(usize, i64)>, SimError> {
        let bundle = &self.loaded.bundle;
        let sizes = bundle.pool_sizes();
        let is_symbolic = bundle.parameters.iter().any(|parameter| parameter.size.is_none());
        let stated = self.entry.pool_bytes.max(0);
        let has_silent_pool = !is_symbolic && sizes.is_empty() && (stated > 0 || self.has_silent_pool());
        let first_argument = usize::from(is_symbolic || !sizes.is_empty() || has_silent_pool);
        let first_pool = if is_symbolic { 1 + self.entry.arguments.len() } else { 0 };
        let mut addresses = Vec::new();
        for (number, name) in self.entry.arguments.iter().enumerate() {
            let address = self.machine.segment_address(first_argument + number);
            addresses.push(address);
            if let Some(buffer) = buffers.get(name) {
                self.machine.map_tensor(*buffer, address);
            }
        }
        self.set_parameters(&addresses)?;
        let name = format!("pool of {}", self.entry.bundle);
        let mut pools = Vec::new();
        for bytes in &sizes {
            pools.push(self.machine.allocate(&name, *bytes)?);
        }
        if has_silent_pool && stated > 0 {
            pools.push(self.machine.allocate(&name, stated)?);
        } else if has_silent_pool {
            pools.push(self.machine.reserve(&name, self.pool_bytes));
        }
        let placed = pools
            .into_iter()
            .enumerate()
            .map(|(number, pool)| (pool, self.machine.segment_address(first_pool + number)));
        let placed: Vec<(usize, i64)> = placed.collect();
        placed.iter().for_each(|(pool, address)| self.machine.map_tensor(BufferExtent::whole_buffer(*pool), *address));
        Ok(placed)
    }

    /// Returns whether a bundle with absolute addresses uses a pool. The only evidence is that the arguments end one
    /// segment later.
    fn has_silent_pool(&self) -> bool {
        let last = self.loaded.plans.values().flatten().flatten().filter_map(|plan| plan.max_address()).max();
        last.is_some_and(|last| last >= self.machine.segment_address(self.entry.arguments.len()))
    }

    fn set_parameters(&mut self, addresses: &[i64]) -> Result<(), SimError> {
        let bundle = &self.loaded.bundle;
        let mut num_sizes = 0;
        for (value, parameter) in bundle.parameters.iter().enumerate() {
            if let Some(size) = Simulation::parameter_size(self.sizes, self.entry, num_sizes, parameter) {
                self.values[value] = size;
                num_sizes += 1;
                continue;
            }
            let number = bundle.argument_number(value, addresses.len());
            let Some(address) = number.and_then(|number| addresses.get(number)) else {
                return Err(
                    self.malformed_error(format!("no argument of the launch for the parameter '{}'", parameter.name))
                );
            };
            self.values[value] = *address;
        }
        Ok(())
    }

    fn malformed_error(&self, message: String) -> SimError {
        SimError::Malformed { file: format!("{}/bundle.mlir", self.entry.bundle), message }
    }

    fn execute_statements(
        &mut self,
        body: &[Statement],
        pools: &[(usize, i64)],
        cursor: &mut StatementCursor,
    ) -> Result<(), SimError> {
        let deaths = self.expiry_schedule;
        for statement in body {
            match statement {
                Statement::Define { result, expression } => self.values[*result] = self.evaluate(expression, pools)?,
                Statement::For { iterator, lower, upper, step, body } => {
                    let (upper, step) = (self.values[*upper], self.values[*step]);
                    if step < 1 {
                        return Err(self.malformed_error(format!("a loop with the step {step}")));
                    }
                    let mut at = self.values[*lower];
                    let number = cursor.loops;
                    cursor.loops += 1;
                    let first = *cursor;
                    self.running.push(0);
                    while at < upper {
                        *cursor = first;
                        self.values[*iterator] = at;
                        self.iterations += 1;
                        self.count_steps(RunOptions::STATEMENT_STEPS, &self.entry.bundle)?;
                        self.execute_statements(body, pools, cursor)?;
                        at = at.saturating_add(step);
                        if let Some(iteration) = self.running.last_mut() {
                            *iteration += 1;
                        }
                    }
                    self.running.pop();
                    *cursor = first;
                    skip_statements(body, cursor);
                    self.expire_ranges(deaths.ranges_ending_after_loop(number));
                }
                Statement::Execute { file, operands, symbols, .. } => {
                    self.execute_file(file, operands, symbols.as_deref(), cursor.execute)?;
                    self.expire_ranges(deaths.ranges_ending_after_op(cursor.execute));
                    cursor.execute += 1;
                }
            }
        }
        Ok(())
    }

    /// Poisons bytes whose live ranges have ended.
    fn expire_ranges(&mut self, dead: &[ExpiredRange]) {
        for ExpiredRange { memory, start, end } in dead {
            let regions = match memory {
                ScratchMemory::Lx => self.machine.lx_regions(),
                ScratchMemory::Pool => self.pool.map(RegionId::Hbm).into_iter().collect(),
            };
            for region in regions {
                self.machine.region_mut(region).end_live_range(*start as usize, *end as usize);
                self.beside.end_live_range(region, *start as usize, *end as usize);
            }
        }
    }

    fn evaluate(&self, expression: &Expression, pools: &[(usize, i64)]) -> Result<i64, SimError> {
        let value = match expression {
            Expression::Constant(number) => Some(*number),
            Expression::Add(left, right) => self.values[*left].checked_add(self.values[*right]),
            Expression::Extract(parameter) => Some(self.values[*parameter]),
            Expression::Apply { map, operands } => {
                let operands: Vec<i64> = operands.iter().map(|operand| self.values[*operand]).collect();
                evaluate_map(map, &operands)
            }
            Expression::Allocate { pool, .. } => pools.get(*pool).map(|(_, address)| *address),
        };
        value.ok_or_else(|| self.malformed_error("an address overflows".to_owned()))
    }

    fn execute_file(
        &mut self,
        file: &str,
        operands: &[usize],
        symbols: Option<&[i64]>,
        position: usize,
    ) -> Result<(), SimError> {
        let Some(steps) = self.loaded.plans.get(file) else { return Ok(()) };
        let values: Vec<i64> = operands.iter().map(|operand| self.values[*operand]).collect();
        for step in steps {
            let mut done: Vec<(&Arc<OpPlan>, TensorSlices)> = Vec::with_capacity(step.len());
            for (number, plan) in step.iter().enumerate() {
                let parts = self.execute_plan((file, plan), (&values, symbols), (position, number))?;
                check_disjoint(&done, (plan, &parts), self.machine)?;
                done.push((plan, parts));
            }
        }
        if let Some(op) = self.ops.iter_mut().find(|op| op.file == file) {
            op.executions += 1;
        }
        Ok(())
    }

    /// Executes op description `number` of a step.
    fn execute_plan(
        &mut self,
        (file, plan): (&str, &Arc<OpPlan>),
        (values, symbols): (&[i64], Option<&[i64]>),
        (position, number): (usize, usize),
    ) -> Result<TensorSlices, SimError> {
        let points =
            if self.machine.has_values() { plan.points_per_core.saturating_mul(plan.cores.len() as u64) } else { 0 };
        self.count_steps(points.saturating_add(RunOptions::STATEMENT_STEPS), &plan.name)?;
        let operand_of = |symbol: i64| match symbols {
            Some(symbols) => symbols.iter().position(|known| *known == symbol),
            None => usize::try_from(-1 - symbol).ok(),
        };
        let value = |symbol: i64| operand_of(symbol).and_then(|position| values.get(position)).copied();
        for SymbolicSize { symbol, dim, name } in &plan.symbolic_sizes {
            match value(*symbol) {
                None => return Err(SimError::NoValue { op: plan.name.clone(), symbol: *symbol }),
                // The file names the size, and the launch passes it as a parameter.
                Some(size) if size != plan.dims[*dim].size => {
                    let name = name.as_deref().unwrap_or(&plan.dims[*dim].label);
                    let message =
                        format!("'{name}' is {} in this file, but the launch gives {size}", plan.dims[*dim].size);
                    return Err(SimError::Malformed { file: plan.name.clone(), message });
                }
                Some(_) => {}
            }
        }
        let ExecutionOutcome { traffic, error, parts } =
            execute_op(plan, value, (self.expiry_schedule, position), self.machine, self.beside)?;
        self.timeline.record_execution((position, number), plan, &parts, &self.running);
        let index = self.ops.iter().position(|op| op.file == file).unwrap_or(self.ops.len());
        if index == self.ops.len() {
            self.ops.push(OpReport::new(file, self.loaded.plans.get(file).into_iter().flatten().flatten()));
        }
        self.ops[index].traffic += traffic;
        self.ops[index].error.merge(error);
        Ok(parts)
    }

    fn count_steps(&mut self, steps: u64, op: &str) -> Result<(), SimError> {
        *self.steps = self.steps.saturating_add(steps);
        let limit = self.options.max_steps;
        if *self.steps > limit { Err(SimError::TooManySteps { op: op.to_owned(), limit }) } else { Ok(()) }
    }
}

/// Advances the cursor past statements, executed or not.
fn skip_statements(body: &[Statement], cursor: &mut StatementCursor) {
    for statement in body {
        match statement {
            Statement::Execute { .. } => cursor.execute += 1,
            Statement::For { body, .. } => {
                cursor.loops += 1;
                skip_statements(body, cursor);
            }
            Statement::Define { .. } => {}
        }
    }
}
