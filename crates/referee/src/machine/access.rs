//! Memory accesses of an execution, and their checks.
//!
//! All checks precede the computation. They examine the bytes of each core's slice of each tensor.

mod conflicts;
mod rows;

use crate::error::{AccessSite, SimError};
use crate::machine::memory::MemoryRegion;
use crate::machine::{Machine, MemoryLocation, RegionId};
use crate::plan::{ByteInterval, MemorySpace, OpPlan, StartAddress};
use machine::STICK_BYTES;
use std::collections::BTreeSet;

pub(crate) use conflicts::check_disjoint;
pub(crate) use rows::read_row_index;

/// Slice of a tensor that one core accesses in an execution.
#[derive(Clone, Debug)]
pub(crate) struct TensorSlice {
    pub(crate) region: RegionId,
    /// Position of the core in [`OpPlan::cores`].
    core: usize,
    /// Start of the slice in the region.
    pub(crate) byte: i64,
    /// End of the bytes of the region that the tensor may use.
    pub(crate) end: i64,
    /// Address of the start, for messages.
    pub(crate) address: i64,
    /// Rows of an indexed tensor, without duplicates; empty on a core that holds no slice of the tensor.
    rows: Option<Vec<i64>>,
}

/// All slices: by core, then by tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorSlices(pub(crate) Vec<Vec<TensorSlice>>);

impl TensorSlice {
    /// Translates intervals relative to the start of the slice to bytes of the region, for each selected row.
    pub(crate) fn intervals<'p>(
        &'p self,
        intervals: &'p [ByteInterval],
        row_bytes: i64,
    ) -> impl Iterator<Item = ByteInterval> + 'p {
        let rows = self.rows.as_deref().unwrap_or(&[0]);
        rows.iter().flat_map(move |row| {
            let base = self.byte + row * row_bytes;
            intervals
                .iter()
                .map(move |interval| ByteInterval { start: base + interval.start, end: base + interval.end })
        })
    }
}

impl OpPlan {
    pub(crate) fn access_site(&self, core: usize, tensor: usize) -> AccessSite {
        AccessSite { op: self.name.clone(), core: self.cores[core].id, tensor: self.tensors[tensor].name.clone() }
    }

    /// Returns the distance of two rows of an indexed tensor, in bytes.
    pub(crate) fn row_bytes(&self, tensor: usize) -> i64 {
        let tensor = &self.tensors[tensor];
        tensor.indirect.map_or(0, |indirect| indirect.row_stride * tensor.format.bytes())
    }

    /// Returns the byte intervals of a tensor that a core accesses.
    pub(crate) fn accessed_intervals<'p>(
        &'p self,
        part: &'p TensorSlice,
        tensor: usize,
    ) -> impl Iterator<Item = ByteInterval> + 'p {
        let plan = &self.tensors[tensor];
        let is_output = tensor == self.output;
        let intervals = if is_output { &plan.written_intervals } else { plan.read_intervals_of(part.core) };
        part.intervals(intervals, self.row_bytes(tensor))
    }

    /// Returns the byte intervals of the elements of a tensor that a core accesses.
    pub(crate) fn element_intervals<'p>(
        &'p self,
        part: &'p TensorSlice,
        tensor: usize,
    ) -> impl Iterator<Item = ByteInterval> + 'p {
        part.intervals(self.tensors[tensor].read_intervals_of(part.core), self.row_bytes(tensor))
    }
}

/// Locates all slices, and checks that the execution violates no rule.
pub(crate) fn check_accesses(
    plan: &OpPlan,
    symbols: impl Fn(i64) -> Option<i64>,
    machine: &mut Machine,
) -> Result<TensorSlices, SimError> {
    let mut parts = locate_slices(plan, &symbols, machine)?;
    rows::resolve_rows(plan, &mut parts, machine)?;
    conflicts::check_within_core(plan, &parts, machine)?;
    conflicts::check_between_cores(plan, &parts, machine)?;
    // Cores often read the same bytes, for instance of a complete matrix.
    let mut seen = BTreeSet::new();
    for (core, tensors) in parts.0.iter().enumerate() {
        for tensor in (0..tensors.len()).filter(|tensor| *tensor != plan.output) {
            let part = &tensors[tensor];
            if part.rows.is_some() || seen.insert((tensor, part.region, part.byte)) {
                check_written(plan, core, tensor, part, machine)?;
            }
        }
    }
    Ok(parts)
}

fn locate_slices(
    plan: &OpPlan,
    symbols: &impl Fn(i64) -> Option<i64>,
    machine: &mut Machine,
) -> Result<TensorSlices, SimError> {
    let mut parts = Vec::with_capacity(plan.cores.len());
    for core in 0..plan.cores.len() {
        let tensors = (0..plan.tensors.len()).map(|tensor| locate_slice(plan, core, tensor, symbols, machine));
        parts.push(tensors.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(TensorSlices(parts))
}

fn locate_slice(
    plan: &OpPlan,
    core: usize,
    tensor: usize,
    symbols: &impl Fn(i64) -> Option<i64>,
    machine: &mut Machine,
) -> Result<TensorSlice, SimError> {
    let entry = &plan.tensors[tensor];
    let address = match entry.starts[core] {
        StartAddress::Address(address) => address,
        StartAddress::Symbol(symbol) => {
            symbols(symbol).ok_or_else(|| SimError::NoValue { op: plan.name.clone(), symbol })?
        }
    };
    if address % STICK_BYTES != 0 {
        return Err(SimError::Misaligned { site: plan.access_site(core, tensor), address });
    }
    let location = match entry.memory {
        MemorySpace::Lx => {
            Some(MemoryLocation { region: RegionId::Lx(plan.cores[core].id), byte: address, end: machine.lx_bytes() })
        }
        MemorySpace::Hbm => machine.find_buffer(address),
    };
    let intervals = if tensor == plan.output { &entry.written_intervals } else { entry.read_intervals_of(core) };
    let extent = ByteInterval {
        start: intervals.first().map_or(0, |interval| interval.start.min(0)),
        end: intervals.last().map_or(0, |interval| interval.end),
    };
    let Some(location) = location else {
        let (site, memory) = (plan.access_site(core, tensor), "HBM: no buffer is there".to_owned());
        return Err(SimError::OutOfBounds { site, address, end: address.saturating_add(extent.end), memory });
    };
    let is_held = entry.is_held_by(core);
    let part = TensorSlice {
        region: location.region,
        core,
        byte: location.byte,
        end: location.end,
        address,
        rows: (!is_held).then(Vec::new),
    };
    if tensor == plan.output
        && let Some(region) = machine.region(part.region).filter(|region| region.is_read_only())
    {
        return Err(SimError::ReadOnly { site: plan.access_site(core, tensor), address, memory: region.name.clone() });
    }
    // An indexed tensor is checked after its rows are resolved.
    if entry.indirect.is_none() && is_held {
        check_bounds(plan, core, tensor, &part, extent, machine)?;
    }
    Ok(part)
}

fn check_bounds(
    plan: &OpPlan,
    core: usize,
    tensor: usize,
    part: &TensorSlice,
    extent: ByteInterval,
    machine: &mut Machine,
) -> Result<(), SimError> {
    let region = machine.region_mut(part.region);
    let starts_inside = part.byte >= 0 && part.byte.saturating_add(extent.start) >= 0;
    let last = part.byte.checked_add(extent.end).filter(|last| starts_inside && *last <= part.end);
    match last {
        Some(last) => region.ensure_length(last as usize),
        None => {
            let (site, address) = (plan.access_site(core, tensor), part.address);
            return Err(SimError::OutOfBounds {
                site,
                address,
                end: address.saturating_add(extent.end),
                memory: region.name.clone(),
            });
        }
    }
    Ok(())
}

fn check_written(
    plan: &OpPlan,
    core: usize,
    tensor: usize,
    part: &TensorSlice,
    machine: &Machine,
) -> Result<(), SimError> {
    let Some(region) = machine.region(part.region) else { return Ok(()) };
    for interval in plan.accessed_intervals(part, tensor) {
        if let Some(byte) = region.find_unwritten(interval.start as usize, interval.end as usize) {
            let (site, address) = (plan.access_site(core, tensor), part.address - part.byte + byte as i64);
            let memory = region.name.clone();
            return Err(match region.last_writer(byte) {
                0 => SimError::Unwritten { site, address, memory },
                writer => SimError::Dead { site, address, memory, writer: machine.writer_name(writer).to_owned() },
            });
        }
    }
    match part.region {
        RegionId::Hbm(_) => Ok(()),
        RegionId::Lx(_) => check_lx_writers(plan, core, tensor, part, region, machine),
    }
}

/// Checks that all bytes of an LX tensor belong to one value: one execution wrote them, or several that write slices of
/// one live range. Bytes of another writer mean that two live buffers overlap.
fn check_lx_writers(
    plan: &OpPlan,
    core: usize,
    tensor: usize,
    part: &TensorSlice,
    region: &MemoryRegion,
    machine: &Machine,
) -> Result<(), SimError> {
    let first = region.last_writer(part.byte as usize);
    for interval in plan.accessed_intervals(part, tensor) {
        let (mut start, mut writer) = (interval.start as usize, first);
        while let Some(byte) = region.find_other_writer(start, interval.end as usize, writer) {
            (start, writer) = (byte, region.last_writer(byte));
            if !machine.wrote_same_value(first, writer) {
                return Err(SimError::TornBuffer {
                    site: plan.access_site(core, tensor),
                    first: machine.writer_name(first).to_owned(),
                    second: machine.writer_name(writer).to_owned(),
                    address: byte as i64,
                });
            }
        }
    }
    Ok(())
}
