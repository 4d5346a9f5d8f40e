//! Conflicts: two accesses of one operation to the same bytes.

use super::{Interval, Part, Parts, Plan};
use crate::error::SimError;
use crate::machine::{Machine, RegionId};
use std::sync::Arc;

/// Bytes that a core writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Write {
    region: RegionId,
    interval: Interval,
    core: usize,
}

fn memory(machine: &Machine, region: RegionId) -> String {
    machine.region(region).map_or_else(String::new, |region| region.name.clone())
}

/// Refuses a result that overlaps another tensor on the same core, unless the result replaces that tensor element for element (in place).
pub(super) fn within_core(plan: &Plan, parts: &Parts, machine: &Machine) -> Result<(), SimError> {
    for (core, tensors) in parts.0.iter().enumerate() {
        let output = &tensors[plan.output];
        for (tensor, part) in tensors.iter().enumerate().filter(|(tensor, _)| *tensor != plan.output) {
            if part.region != output.region || replaces(plan, tensor, part, output) {
                continue;
            }
            let read: Vec<Interval> = plan.touched(part, tensor).collect();
            let written: Vec<Interval> = plan.touched(output, plan.output).collect();
            if let Some(byte) = first_common(&read, &written) {
                return Err(SimError::Overlap {
                    site: plan.site(core, plan.output),
                    other: plan.tensors[tensor].name.clone(),
                    address: output.address - output.byte + byte,
                    memory: memory(machine, output.region),
                });
            }
        }
    }
    Ok(())
}

fn replaces(plan: &Plan, tensor: usize, part: &Part, output: &Part) -> bool {
    let (read, written) = (&plan.tensors[tensor], &plan.tensors[plan.output]);
    let same_place = part.byte == output.byte && read.indirect.is_none() && written.indirect.is_none();
    plan.kernel.is_elementwise() && same_place && read.format == written.format && read.offsets == written.offsets
}

/// Returns the first byte that is in both lists; each list is sorted.
fn first_common(left: &[Interval], right: &[Interval]) -> Option<i64> {
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

/// Refuses bytes in HBM that two cores write, or that one core writes and another reads. LX is private to each core.
pub(super) fn between_cores(plan: &Plan, parts: &Parts, machine: &Machine) -> Result<(), SimError> {
    let leaders = shared_results(plan, parts)?;
    let mut writes = Vec::new();
    for (core, tensors) in parts.0.iter().enumerate().filter(|(core, _)| leaders[*core] == *core) {
        let output = &tensors[plan.output];
        if matches!(output.region, RegionId::Hbm(_)) {
            writes.extend(plan.touched(output, plan.output).map(|interval| Write { region: output.region, interval, core }));
        }
    }
    writes.sort_unstable();
    for pair in writes.windows(2) {
        let (one, other) = (&pair[0], &pair[1]);
        if one.region == other.region && other.interval.start < one.interval.end && one.core != other.core {
            let output = &parts.0[other.core][plan.output];
            return Err(SimError::WriteConflict {
                site: plan.site(other.core, plan.output),
                other: plan.cores[one.core].id,
                address: output.address - output.byte + other.interval.start,
                memory: memory(machine, one.region),
            });
        }
    }
    reads(plan, parts, &writes, &leaders, machine)
}

/// Returns the core that stores each result, of those that compute partial sums of it. In HBM, all have the same address for it; in LX,
/// consecutive cores pass the sum on to the last one.
fn shared_results(plan: &Plan, parts: &Parts) -> Result<Vec<usize>, SimError> {
    if plan.tensors[plan.output].ownership.is_some() {
        return Ok((0..plan.cores.len()).collect());
    }
    let leaders = plan.leaders();
    for (core, leader) in leaders.iter().enumerate().filter(|(core, leader)| core != *leader) {
        let (part, first) = (&parts.0[core][plan.output], &parts.0[*leader][plan.output]);
        let is_split = plan.consumed_dims().iter().any(|dim| plan.dims[*dim].slices > 1);
        if !plan.kernel.accumulates() && is_split {
            return Err(SimError::NotSimulated { op: plan.name.clone(), what: format!("'{}' with a split reduction", plan.function) });
        }
        if matches!(part.region, RegionId::Lx(_)) {
            if leaders[core..*leader].iter().any(|other| other != leader) {
                let what = "a sum in LX over cores that are not consecutive; the format does not say which core completes it".to_owned();
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

/// Refuses a description that touches bytes in HBM that another description of the same step writes, or writes bytes that it touches.
pub(crate) fn check_apart(done: &[(&Arc<Plan>, Parts)], (plan, parts): (&Arc<Plan>, &Parts), machine: &Machine) -> Result<(), SimError> {
    for (other, of_other) in done {
        for core in 0..plan.cores.len() {
            for tensor in 0..plan.tensors.len() {
                if let Some((writer, address)) = first_shared((plan, parts), (core, tensor), (other, of_other)) {
                    let (site, memory) = (plan.site(core, tensor), memory(machine, parts.0[core][tensor].region));
                    return Err(SimError::ReadConflict { site, other: other.cores[writer].id, address, memory });
                }
            }
        }
    }
    Ok(())
}

/// Returns the first byte of a tensor in HBM that a description writes and the other touches, with the core of the other.
fn first_shared(
    (plan, parts): (&Plan, &Parts),
    (core, tensor): (usize, usize),
    (other, of_other): (&Plan, &Parts),
) -> Option<(usize, i64)> {
    let part = &parts.0[core][tensor];
    if matches!(part.region, RegionId::Lx(_)) {
        return None;
    }
    let own: Vec<Interval> = plan.touched(part, tensor).collect();
    for (of_core, tensors) in of_other.0.iter().enumerate() {
        for (number, touched) in tensors.iter().enumerate().filter(|(_, touched)| touched.region == part.region) {
            if tensor != plan.output && number != other.output {
                continue;
            }
            let theirs: Vec<Interval> = other.touched(touched, number).collect();
            if let Some(byte) = first_common(&own, &theirs) {
                return Some((of_core, part.address - part.byte + byte));
            }
        }
    }
    None
}

fn reads(plan: &Plan, parts: &Parts, writes: &[Write], leaders: &[usize], machine: &Machine) -> Result<(), SimError> {
    let is_written =
        |region| writes.first().is_some_and(|write| write.region <= region) && writes.iter().any(|write| write.region == region);
    for (core, tensors) in parts.0.iter().enumerate() {
        for (tensor, part) in tensors.iter().enumerate() {
            if tensor == plan.output || matches!(part.region, RegionId::Lx(_)) || !is_written(part.region) {
                continue;
            }
            for interval in plan.touched(part, tensor) {
                let before = writes.partition_point(|write| (write.region, write.interval.end) <= (part.region, interval.start));
                let overlapping =
                    writes[before..].iter().take_while(|write| write.region == part.region && write.interval.start < interval.end);
                if let Some(write) = overlapping.into_iter().find(|write| write.core != leaders[core]) {
                    return Err(SimError::ReadConflict {
                        site: plan.site(core, tensor),
                        other: plan.cores[write.core].id,
                        address: part.address - part.byte + interval.start.max(write.interval.start),
                        memory: memory(machine, part.region),
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
    fn a_common_byte_is_found() {
        let intervals = |pairs: &[(i64, i64)]| pairs.iter().map(|(start, end)| Interval { start: *start, end: *end }).collect::<Vec<_>>();
        let left = intervals(&[(0, 10), (20, 30), (40, 50)]);
        assert_eq!(first_common(&left, &intervals(&[(10, 20), (30, 40)])), None);
        assert_eq!(first_common(&left, &intervals(&[(10, 20), (29, 40)])), Some(29));
        assert_eq!(first_common(&left, &intervals(&[(5, 100)])), Some(5));
    }
}
