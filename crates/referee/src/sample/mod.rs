//! Computes selected elements of a program's results, at only the points on which they depend.
//!
//! The program is executed twice without values, so that every address is computed and checked as usual. The first
//! execution records the accesses of each op. A backward analysis ([`demand`]) determines the needed points of each
//! execution. In the second execution each op is computed at these points alone ([`points`]).

mod demand;
mod points;

use crate::account::rounding::OpRoundingError;
use crate::error::SimError;
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::machine::access::TensorSlices;
use crate::machine::memory::BitSet;
use crate::machine::{BufferExtent, Machine, RegionId};
use crate::number::{decode_run, to_program_number};
use crate::ops::{EncodedSlice, store_slice};
use crate::plan::OpPlan;
use crate::run::execute::compute_results;
use crate::run::shadow_memory::{ShadowArithmetic, ShadowInput, ShadowMemory};
use crate::run::shadow_planes::{MemoryWithShadow, ShadowPlanes, is_float, is_float_array};
use crate::run::simulation::{RunOptions, Simulation, array_error};
use demand::{NeededElements, NeededPoints, TracedExecution, compute_needed_points};
use points::{PointSubset, collect_group, restrict_plan};
use rayon::prelude::*;
use sdsc_format::program::Tensor;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of executions whose addresses are kept in memory.
const MAX_EXECUTIONS: usize = 1 << 16;

/// Maximum length of an index range that is scanned for selected elements.
const MAX_SCANNED_ELEMENTS: usize = 4096;

impl Simulation {
    /// Implements [`Self::sample_elements`].
    pub(crate) fn sampled_with<A: ShadowArithmetic>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        wanted: &[Vec<usize>],
        options: &RunOptions,
    ) -> Result<Vec<Vec<A::Element>>, SimError> {
        self.check_element_widths()?;
        let mut trace = ExecutionTrace::default();
        let (buffers, report) = self.count_with_shadow(inputs, options, &mut trace)?;
        if trace.executions.len() > MAX_EXECUTIONS {
            let what = format!("samples of results after more than {MAX_EXECUTIONS} executions of ops");
            return Err(SimError::NotSimulated { op: self.program.name.clone(), what });
        }
        let mut demand = NeededElements::default();
        let mut bytes = Vec::with_capacity(wanted.len());
        for (tensor, wanted) in self.program.results.iter().zip(wanted) {
            let of = find_element_bytes(tensor, wanted)?;
            let (region, width) =
                (result_region_id(tensor, &buffers), DeviceLayout::from_tensor(tensor)?.format.bytes());
            of.iter().for_each(|byte| demand.add(region, *byte as i64, *byte as i64 + width));
            bytes.push(of);
        }
        let works = compute_needed_points(&trace.executions, &mut demand);
        let points = works.iter().map(NeededPoints::num_points).fold(report.steps, u64::saturating_add);
        if points > options.max_steps {
            return Err(SimError::TooManySteps { op: self.program.name.clone(), limit: options.max_steps });
        }
        drop(trace);
        let mut sampled = SampleExecutor {
            arithmetic,
            planes: ShadowPlanes::new_standalone(arithmetic),
            demand,
            works: works.into_iter(),
        };
        let (buffers, _) = self.count_with_shadow(inputs, options, &mut sampled)?;
        let found = self.program.results.iter().zip(&bytes).map(|(tensor, bytes)| {
            let read = sampled
                .planes
                .element_reader(result_region_id(tensor, &buffers), DeviceLayout::from_tensor(tensor)?.format);
            Ok(bytes.iter().map(|byte| read(*byte)).collect())
        });
        found.collect()
    }
}

fn result_region_id(tensor: &Tensor, buffers: &BTreeMap<String, BufferExtent>) -> RegionId {
    RegionId::Hbm(buffers.get(&tensor.name).map_or(0, |extent| extent.buffer))
}

/// Returns the bytes of a result's buffer at which the selected elements begin.
fn find_element_bytes(tensor: &Tensor, wanted: &[usize]) -> Result<Vec<usize>, SimError> {
    let layout = DeviceLayout::from_tensor(tensor)?;
    if !is_float(layout.format) && !wanted.is_empty() {
        let what = format!("samples of '{}', whose elements are integers", tensor.name);
        return Err(SimError::NotSimulated { op: tensor.name.clone(), what });
    }
    if wanted.last().is_some_and(|last| *last >= layout.num_host_elements()) {
        return Err(array_error(
            tensor,
            format!("has {} elements, fewer than are asked for", layout.num_host_elements()),
        ));
    }
    let mut is_wanted = BitSet::default();
    is_wanted.grow(layout.num_host_elements());
    wanted.iter().for_each(|place| is_wanted.set(*place, place + 1));
    let mut bytes = vec![0; wanted.len()];
    // Longer ranges are not scanned: their elements are tested one by one.
    let is_taken =
        |places: Range<usize>, _| places.len() > MAX_SCANNED_ELEMENTS || is_wanted.has_any(places.start, places.end);
    layout.for_each_selected_element(is_taken, |place, byte| {
        if is_wanted.has_any(place, place + 1)
            && let Ok(at) = wanted.binary_search(&place)
        {
            bytes[at] = byte;
        }
    });
    Ok(bytes)
}

/// Companion memory that records the accesses of executions.
#[derive(Default)]
struct ExecutionTrace {
    executions: Vec<TracedExecution>,
}

impl ShadowMemory for ExecutionTrace {
    fn execute_op(
        &mut self,
        plan: &Arc<OpPlan>,
        parts: &TensorSlices,
        leaders: &[usize],
        _: &Machine,
        _: &[(usize, EncodedSlice<u8>)],
    ) -> OpRoundingError {
        if self.executions.len() <= MAX_EXECUTIONS {
            self.executions.push(TracedExecution {
                plan: plan.clone(),
                parts: parts.clone(),
                leaders: leaders.to_vec(),
            });
        }
        OpRoundingError::default()
    }

    fn store_input(&mut self, _: &ShadowInput<'_>, _: &Machine) {}

    fn release_region(&mut self, _: RegionId) {}

    fn end_live_range(&mut self, _: RegionId, _: usize, _: usize) {}
}

/// Companion memory that computes only the needed points.
struct SampleExecutor<'a, A: ShadowArithmetic> {
    arithmetic: &'a A,
    planes: ShadowPlanes<'a, A>,
    /// Needed elements of arguments and constants.
    demand: NeededElements,
    /// Needed points of the remaining executions.
    works: std::vec::IntoIter<NeededPoints>,
}

impl<A: ShadowArithmetic> ShadowMemory for SampleExecutor<'_, A> {
    fn execute_op(
        &mut self,
        plan: &Arc<OpPlan>,
        parts: &TensorSlices,
        leaders: &[usize],
        machine: &Machine,
        _: &[(usize, EncodedSlice<u8>)],
    ) -> OpRoundingError {
        let (memory, poison) = (MemoryWithShadow { machine, planes: &self.planes }, self.arithmetic.poison());
        match self.works.next() {
            None => {}
            Some(NeededPoints::All { .. }) => {
                let stored = compute_results(plan, parts, leaders, &memory);
                stored
                    .iter()
                    .for_each(|(core, stored)| store_slice(plan, *core, parts, stored, poison, &mut self.planes));
            }
            Some(NeededPoints::Points(leading)) => {
                let of = |(leader, points): &(usize, PointSubset)| {
                    let group = collect_group(leaders, *leader);
                    let (part, plan) = (
                        TensorSlices(group.iter().map(|core| parts.0[*core].clone()).collect()),
                        restrict_plan(plan, &group, points),
                    );
                    let stored = compute_results(&plan, &part, &vec![0; group.len()], &memory);
                    (plan, part, stored)
                };
                let done: Vec<_> = leading.par_iter().map(of).collect();
                for (plan, part, stored) in &done {
                    stored
                        .iter()
                        .for_each(|(core, stored)| store_slice(plan, *core, part, stored, poison, &mut self.planes));
                }
            }
        }
        OpRoundingError::default()
    }

    fn store_input(&mut self, given: &ShadowInput<'_>, machine: &Machine) {
        let (format, region) = (given.layout.format, given.region);
        let Some(needed) = self.demand.get(region).filter(|_| is_float(format)) else { return };
        let (width, poison, arithmetic) = (format.bytes() as usize, self.arithmetic.poison(), self.arithmetic);
        let bytes = machine.bytes(region);
        let device = |byte: usize| {
            let mut number = [0.0];
            // A buffer without values has no bytes.
            if byte + width <= bytes.len() {
                decode_run(format, bytes, 8 * byte, 1, &mut number);
            }
            number[0]
        };
        let plane = self.planes.plane_mut(region);
        if given.argument.is_none() {
            // The padding of a constant has numbers, too.
            for byte in needed.slot_bytes().filter(|byte| byte.is_multiple_of(width)) {
                let number = device(byte);
                plane.write(byte, format, &[arithmetic.embed_value(to_program_number(format, number), number)], poison);
            }
        }
        let is_taken = |_, bytes: Range<usize>| needed.contains_any(bytes.start as i64, bytes.end as i64);
        given.layout.for_each_selected_element(is_taken, |index, byte| {
            if !needed.contains_any(byte as i64, (byte + width) as i64) {
                return;
            }
            let element = match (given.argument, given.exact) {
                (Some(argument), None) => arithmetic.embed_argument(argument, index as u64, 0.0, 0.0),
                (Some(argument), Some(exact)) if is_float_array(exact) => {
                    arithmetic.embed_argument(argument, index as u64, exact.elements.get(index), device(byte))
                }
                (_, Some(exact)) => arithmetic.embed_value(exact.elements.get(index), device(byte)),
                (None, None) => return,
            };
            plane.write(byte, format, &[element], poison);
        });
    }

    fn release_region(&mut self, region: RegionId) {
        self.planes.release_region(region);
    }

    fn end_live_range(&mut self, region: RegionId, start: usize, end: usize) {
        self.planes.end_live_range(region, start, end);
    }
}
