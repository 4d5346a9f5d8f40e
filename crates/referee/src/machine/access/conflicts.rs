//! Conflicts: two accesses of one operation to the same bytes.

use super::{ByteInterval, OpPlan, TensorSlice, TensorSlices};
use crate::error::SimError;
use crate::machine::{Machine, RegionId};
use std::sync::Arc;

/// Bytes that one core writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CoreWrite {
    region: RegionId,
    interval: ByteInterval,
    core: usize,
}

fn region_name(machine: &Machine, region: RegionId) -> String {
    machine.region(region).map_or_else(String::new, |region| region.name.clone())
}

/// Rejects a result that overlaps another tensor on the same core, unless it replaces that tensor element for element
/// (in place).
pub(super) fn check_within_core(plan: &OpPlan, parts: &TensorSlices, machine: &Machine) -> Result<(), SimError> {
    for (core, tensors) in parts.0.iter().enumerate() {
        let output = &tensors[plan.output];
        for (tensor, part) in tensors.iter().enumerate().filter(|(tensor, _)| *tensor != plan.output) {
            if part.region != output.region || is_in_place(plan, tensor, part, output) {
                continue;
            }
            check_apart(plan, parts, core, (core, tensor), machine)?;
        }
    }
    check_between_corelets(plan, parts, machine)
}

/// Rejects a result of a corelet that overlaps a tensor of the other corelet of its core.
fn check_between_corelets(plan: &OpPlan, parts: &TensorSlices, machine: &Machine) -> Result<(), SimError> {
    for (core, assigned) in plan.cores.iter().enumerate().filter(|(_, core)| core.corelet.is_some()) {
        let other = |other: &usize| *other != core && plan.cores[*other].id == assigned.id;
        for other in (0..plan.cores.len()).filter(other) {
            for tensor in 0..plan.tensors.len() {
                check_apart(plan, parts, core, (other, tensor), machine)?;
            }
        }
    }
    Ok(())
}

/// Rejects a result of a core that shares a byte with a tensor on the same or another entry of the core list.
fn check_apart(
    plan: &OpPlan,
    parts: &TensorSlices,
    core: usize,
    (other, tensor): (usize, usize),
    machine: &Machine,
) -> Result<(), SimError> {
    let (output, part) = (&parts.0[core][plan.output], &parts.0[other][tensor]);
    let read: Vec<ByteInterval> = plan.accessed_intervals(part, tensor).collect();
    let written: Vec<ByteInterval> = plan.accessed_intervals(output, plan.output).collect();
    match find_common_byte(&read, &written) {
        Some(byte) => Err(SimError::Overlap {
            site: plan.access_site(core, plan.output),
            other: plan.tensors[tensor].name.clone(),
            address: output.address - output.byte + byte,
            memory: region_name(machine, output.region),
        }),
        None => Ok(()),
    }
}

fn is_in_place(plan: &OpPlan, tensor: usize, part: &TensorSlice, output: &TensorSlice) -> bool {
    let (read, written) = (&plan.tensors[tensor], &plan.tensors[plan.output]);
    let same_place = part.byte == output.byte && read.indirect.is_none() && written.indirect.is_none();
    plan.kernel.is_elementwise() && same_place && read.format == written.format && read.offsets == written.offsets
}

/// Returns the first byte that is in both of two sorted lists.
fn find_common_byte(left: &[ByteInterval], right: &[ByteInterval]) -> Option<i64> {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let start = one.start.max(other.start);
        if start < one.end.min(other.end) {
            return Some(start);
        }
        if one.end <= other.end {
            left.next();
        } else {
            right.next();
        }
    }
    None
}

/// Rejects bytes in HBM that two cores write, or that one core writes and another reads. LX is private to each core.
pub(super) fn check_between_cores(plan: &OpPlan, parts: &TensorSlices, machine: &Machine) -> Result<(), SimError> {
    let leaders = find_storing_cores(plan, parts)?;
    let mut writes = Vec::new();
    for (core, tensors) in parts.0.iter().enumerate().filter(|(core, _)| leaders[*core] == *core) {
        let output = &tensors[plan.output];
        if matches!(output.region, RegionId::Hbm(_)) {
            writes.extend(plan.accessed_intervals(output, plan.output).map(|interval| CoreWrite {
                region: output.region,
                interval,
                core,
            }));
        }
    }
    writes.sort_unstable();
    for pair in writes.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        if one.region == other.region && other.interval.start < one.interval.end && one.core != other.core {
            let output = &parts.0[other.core][plan.output];
            return Err(SimError::WriteConflict {
                site: plan.access_site(other.core, plan.output),
                other: plan.cores[one.core].id,
                address: output.address - output.byte + other.interval.start,
                memory: region_name(machine, one.region),
            });
        }
    }
    check_reads(plan, parts, &writes, &leaders, machine)
}

/// Returns the core that stores each result. Several cores may compute partial sums of one result. In HBM, these cores
/// have the same address for it; in LX, consecutive cores pass the sum on to the last one.
fn find_storing_cores(plan: &OpPlan, parts: &TensorSlices) -> Result<Vec<usize>, SimError> {
    if plan.tensors[plan.output].ownership.is_some() {
        return Ok((0..plan.cores.len()).collect());
    }
    let leaders = plan.find_leaders();
    for (core, leader) in leaders.iter().enumerate().filter(|(core, leader)| core != *leader) {
        let (part, first) = (&parts.0[core][plan.output], &parts.0[*leader][plan.output]);
        let is_split = plan.consumed_dims().iter().any(|dim| plan.dims[*dim].num_slices > 1);
        if !plan.kernel.can_accumulate() && is_split {
            return Err(SimError::NotSimulated {
                op: plan.name.clone(),
                what: format!("'{}' with a split reduction", plan.function),
            });
        }
        if matches!(part.region, RegionId::Lx(_)) {
            if leaders[core..*leader].iter().any(|other| other != leader) {
                let what =
                    "a sum in LX over cores that are not consecutive; the format does not say which core completes it"
                        .to_owned();
                return Err(SimError::NotSimulated { op: plan.name.clone(), what });
            }
            continue;
        }
        if (part.region, part.byte) != (first.region, first.byte) {
            let (one, other) = (plan.cores[*leader].id, plan.cores[core].id);
            let message = format!("cores {one} and {other} add to the same part of the result at different addresses");
            return Err(SimError::Malformed { file: plan.name.clone(), message });
        }
    }
    Ok(leaders)
}

/// Rejects an op description that accesses HBM bytes that another description of the same step writes, or that writes
/// bytes that the other accesses.
pub(crate) fn check_disjoint(
    done: &[(&Arc<OpPlan>, TensorSlices)],
    (plan, parts): (&Arc<OpPlan>, &TensorSlices),
    machine: &Machine,
) -> Result<(), SimError> {
    for (other, of_other) in done {
        for core in 0..plan.cores.len() {
            for tensor in 0..plan.tensors.len() {
                if let Some((writer, address)) = find_shared_byte((plan, parts), (core, tensor), (other, of_other)) {
                    let (site, memory) =
                        (plan.access_site(core, tensor), region_name(machine, parts.0[core][tensor].region));
                    return Err(SimError::ReadConflict { site, other: other.cores[writer].id, address, memory });
                }
            }
        }
    }
    Ok(())
}

/// Returns the first HBM byte that one description writes and the other accesses, and the core of the other.
fn find_shared_byte(
    (plan, parts): (&OpPlan, &TensorSlices),
    (core, tensor): (usize, usize),
    (other, of_other): (&OpPlan, &TensorSlices),
) -> Option<(usize, i64)> {
    let part = &parts.0[core][tensor];
    if matches!(part.region, RegionId::Lx(_)) {
        return None;
    }
    let own: Vec<ByteInterval> = plan.accessed_intervals(part, tensor).collect();
    for (of_core, tensors) in of_other.0.iter().enumerate() {
        for (number, touched) in tensors.iter().enumerate().filter(|(_, touched)| touched.region == part.region) {
            if tensor != plan.output && number != other.output {
                continue;
            }
            let theirs: Vec<ByteInterval> = other.accessed_intervals(touched, number).collect();
            if let Some(byte) = find_common_byte(&own, &theirs) {
                return Some((of_core, part.address - part.byte + byte));
            }
        }
    }
    None
}

fn check_reads(
    plan: &OpPlan,
    parts: &TensorSlices,
    writes: &[CoreWrite],
    leaders: &[usize],
    machine: &Machine,
) -> Result<(), SimError> {
    let is_written = |region| {
        writes.first().is_some_and(|write| write.region <= region) && writes.iter().any(|write| write.region == region)
    };
    for (core, tensors) in parts.0.iter().enumerate() {
        for (tensor, part) in tensors.iter().enumerate() {
            if tensor == plan.output || matches!(part.region, RegionId::Lx(_)) || !is_written(part.region) {
                continue;
            }
            for interval in plan.accessed_intervals(part, tensor) {
                let before =
                    writes.partition_point(|write| (write.region, write.interval.end) <= (part.region, interval.start));
                let overlapping = writes[before..]
                    .iter()
                    .take_while(|write| write.region == part.region && write.interval.start < interval.end);
                if let Some(write) = overlapping.into_iter().find(|write| write.core != leaders[core]) {
                    return Err(SimError::ReadConflict {
                        site: plan.access_site(core, tensor),
                        other: plan.cores[write.core].id,
                        address: part.address - part.byte + interval.start.max(write.interval.start),
                        memory: region_name(machine, part.region),
                    });
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_common_byte() {
        let intervals = |pairs: &[(i64, i64)]| {
            pairs.iter().map(|(start, end)| ByteInterval { start: *start, end: *end }).collect::<Vec<_>>()
        };
        let left = intervals(&[(0, 10), (20, 30), (40, 50)]);
        assert_eq!(find_common_byte(&left, &intervals(&[(10, 20), (30, 40)])), None);
        assert_eq!(find_common_byte(&left, &intervals(&[(10, 20), (29, 40)])), Some(29));
        assert_eq!(find_common_byte(&left, &intervals(&[(5, 100)])), Some(5));
    }
}
