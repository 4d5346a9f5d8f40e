//! Computes some elements of a program's results, with only the points that they depend on.
//!
//! The program is executed twice without values, so that every address is computed and checked as usual. The first execution records the
//! accesses of each op. A backward analysis ([`demand`]) determines the needed points of each execution. In the second execution each op is
//! computed on these points alone ([`points`]).

mod demand;
mod points;

use crate::account::rounding::OpError;
use crate::error::SimError;
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::machine::access::Parts;
use crate::machine::memory::Bits;
use crate::machine::{Extent, Machine, RegionId};
use crate::number::{decode_run, meaning};
use crate::ops::{Stored, write};
use crate::plan::Plan;
use crate::run::beside::{Beside, Companion, Given};
use crate::run::execute::results;
use crate::run::planes::{Both, Planes, is_float, is_number};
use crate::run::simulation::{RunOptions, Simulation, array_error};
use demand::{Demand, Execution, Work, works};
use points::{Points, group_of, reduced};
use rayon::prelude::*;
use sdsc_format::program::Tensor;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of executions whose addresses are kept at a time.
const MOST_EXECUTIONS: usize = 1 << 16;

/// Places that are looked through at a time.
const MOST_PLACES: usize = 4096;

impl Simulation {
    /// See [`Self::sampled`].
    pub(crate) fn sampled_with<A: Companion>(
        &self,
        arithmetic: &A,
        inputs: &BTreeMap<String, HostArray>,
        wanted: &[Vec<usize>],
        options: &RunOptions,
    ) -> Result<Vec<Vec<A::Element>>, SimError> {
        self.check_fits()?;
        let mut trace = Trace::default();
        let (buffers, report) = self.count_beside(inputs, options, &mut trace)?;
        if trace.executions.len() > MOST_EXECUTIONS {
            let what = format!("samples of results after more than {MOST_EXECUTIONS} executions of ops");
            return Err(SimError::NotSimulated { op: self.program.name.clone(), what });
        }
        let mut demand = Demand::default();
        let mut bytes = Vec::with_capacity(wanted.len());
        for (tensor, wanted) in self.program.results.iter().zip(wanted) {
            let of = bytes_of(tensor, wanted)?;
            let (region, width) = (region_of(tensor, &buffers), DeviceLayout::of(tensor)?.format.bytes());
            of.iter().for_each(|byte| demand.add(region, *byte as i64, *byte as i64 + width));
            bytes.push(of);
        }
        let works = works(&trace.executions, &mut demand);
        let points = works.iter().map(Work::points).fold(report.steps, u64::saturating_add);
        if points > options.max_steps {
            return Err(SimError::TooManySteps { op: self.program.name.clone(), limit: options.max_steps });
        }
        drop(trace);
        let mut sampled = Sampled { arithmetic, planes: Planes::alone(arithmetic), demand, works: works.into_iter() };
        let (buffers, _) = self.count_beside(inputs, options, &mut sampled)?;
        let found = self.program.results.iter().zip(&bytes).map(|(tensor, bytes)| {
            let read = sampled.planes.reader(region_of(tensor, &buffers), DeviceLayout::of(tensor)?.format);
            Ok(bytes.iter().map(|byte| read(*byte)).collect())
        });
        found.collect()
    }
}

fn region_of(tensor: &Tensor, buffers: &BTreeMap<String, Extent>) -> RegionId {
    RegionId::Hbm(buffers.get(&tensor.name).map_or(0, |extent| extent.buffer))
}

/// The bytes of a result's buffer at which elements begin.
fn bytes_of(tensor: &Tensor, wanted: &[usize]) -> Result<Vec<usize>, SimError> {
    let layout = DeviceLayout::of(tensor)?;
    if !is_float(layout.format) && !wanted.is_empty() {
        let what = format!("samples of '{}', whose elements are integers", tensor.name);
        return Err(SimError::NotSimulated { op: tensor.name.clone(), what });
    }
    if wanted.last().is_some_and(|last| *last >= layout.host_length()) {
        return Err(array_error(tensor, format!("has {} elements, fewer than are asked for", layout.host_length())));
    }
    let mut is_wanted = Bits::default();
    is_wanted.grow(layout.host_length());
    wanted.iter().for_each(|place| is_wanted.set(*place, place + 1));
    let mut bytes = vec![0; wanted.len()];
    // Those that are far apart are looked at one by one.
    let is_taken = |places: Range<usize>, _| places.len() > MOST_PLACES || is_wanted.any(places.start, places.end);
    layout.each_element_of(is_taken, |place, byte| {
        if is_wanted.any(place, place + 1)
            && let Ok(at) = wanted.binary_search(&place)
        {
            bytes[at] = byte;
        }
    });
    Ok(bytes)
}

/// Records the accesses of executions.
#[derive(Default)]
struct Trace {
    executions: Vec<Execution>,
}

impl Beside for Trace {
    fn execute(&mut self, plan: &Arc<Plan>, parts: &Parts, leaders: &[usize], _: &Machine, _: &[(usize, Stored<u8>)]) -> OpError {
        if self.executions.len() <= MOST_EXECUTIONS {
            self.executions.push(Execution { plan: plan.clone(), parts: parts.clone(), leaders: leaders.to_vec() });
        }
        OpError::default()
    }

    fn put(&mut self, _: &Given<'_>, _: &Machine) {}

    fn release(&mut self, _: RegionId) {}

    fn end_life(&mut self, _: RegionId, _: usize, _: usize) {}
}

/// Computes the needed points.
struct Sampled<'a, A: Companion> {
    arithmetic: &'a A,
    planes: Planes<'a, A>,
    /// The elements of arguments and constants that are needed.
    demand: Demand,
    /// Needed points of the remaining executions.
    works: std::vec::IntoIter<Work>,
}

impl<A: Companion> Beside for Sampled<'_, A> {
    fn execute(&mut self, plan: &Arc<Plan>, parts: &Parts, leaders: &[usize], machine: &Machine, _: &[(usize, Stored<u8>)]) -> OpError {
        let (memory, poison) = (Both { machine, planes: &self.planes }, self.arithmetic.poison());
        match self.works.next() {
            None => {}
            Some(Work::Whole { .. }) => {
                let stored = results(plan, parts, leaders, &memory);
                stored.iter().for_each(|(core, stored)| write(plan, *core, parts, stored, poison, &mut self.planes));
            }
            Some(Work::Points(leading)) => {
                let of = |(leader, points): &(usize, Points)| {
                    let group = group_of(leaders, *leader);
                    let (part, plan) = (Parts(group.iter().map(|core| parts.0[*core].clone()).collect()), reduced(plan, &group, points));
                    let stored = results(&plan, &part, &vec![0; group.len()], &memory);
                    (plan, part, stored)
                };
                let done: Vec<_> = leading.par_iter().map(of).collect();
                for (plan, part, stored) in &done {
                    stored.iter().for_each(|(core, stored)| write(plan, *core, part, stored, poison, &mut self.planes));
                }
            }
        }
        OpError::default()
    }

    fn put(&mut self, given: &Given<'_>, machine: &Machine) {
        let (format, region) = (given.layout.format, given.region);
        let Some(needed) = self.demand.of(region).filter(|_| is_float(format)) else { return };
        let (width, poison, arithmetic) = (format.bytes() as usize, self.arithmetic.poison(), self.arithmetic);
        let bytes = machine.bytes(region);
        let device = |byte: usize| {
            let mut number = [0.0];
            // A buffer without values has no bytes.
            if byte + width <= bytes.len() {
                decode_run(format, bytes, byte, 1, &mut number);
            }
            number[0]
        };
        let plane = self.planes.plane(region);
        if given.argument.is_none() {
            // Padding of a constant has numbers, too.
            for byte in needed.bytes().filter(|byte| byte.is_multiple_of(width)) {
                let number = device(byte);
                plane.write(byte, format, &[arithmetic.given(meaning(format, number), number)], poison);
            }
        }
        let is_taken = |_, bytes: Range<usize>| needed.has(bytes.start as i64, bytes.end as i64);
        given.layout.each_element_of(is_taken, |index, byte| {
            if !needed.has(byte as i64, (byte + width) as i64) {
                return;
            }
            let element = match (given.argument, given.exact) {
                (Some(argument), None) => arithmetic.argument(argument, index as u64, 0.0, 0.0),
                (Some(argument), Some(exact)) if is_number(exact) => {
                    arithmetic.argument(argument, index as u64, exact.elements.get(index), device(byte))
                }
                (_, Some(exact)) => arithmetic.given(exact.elements.get(index), device(byte)),
                (None, None) => return,
            };
            plane.write(byte, format, &[element], poison);
        });
    }

    fn release(&mut self, region: RegionId) {
        self.planes.release(region);
    }

    fn end_life(&mut self, region: RegionId, start: usize, end: usize) {
        self.planes.end_life(region, start, end);
    }
}
