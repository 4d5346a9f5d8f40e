//! Counts the bytes that an execution moves.
//!
//! HBM moves complete sticks. Bytes that several cores read in one operation are broadcast and counted once, as in the
//! cost models; the repeated requests are counted separately.

use crate::machine::access::{TensorSlice, TensorSlices};
use crate::machine::{Machine, RegionId};
use crate::plan::{ByteInterval, OpPlan};
use machine::STICK_BYTES;
use serde::Serialize;
use std::ops::AddAssign;

/// Bytes moved by one or more executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Bytes of the sticks read from HBM, once per execution and tensor.
    pub hbm_read: u64,
    /// Bytes of the sticks written to HBM.
    pub hbm_written: u64,
    /// Share of `hbm_read` that the same launch had read before.
    pub hbm_reread: u64,
    /// Bytes that cores requested from HBM in addition to `hbm_read`, because several cores read the same sticks.
    pub hbm_replicated: u64,
    /// Bytes of the elements in `hbm_read` that the operation uses. A sparse tensor has one element in each stick.
    pub hbm_read_elements: u64,
    /// Bytes of the elements in `hbm_written` that the operation produces. A sparse tensor has one element in each
    /// stick.
    pub hbm_written_elements: u64,
    /// Bytes of the sticks that all cores read from their LX.
    pub lx_read: u64,
    /// Bytes of the sticks that all cores write to their LX.
    pub lx_written: u64,
    /// Bytes that move between cores: partial sums, and slices that change their core.
    pub ring_bytes: u64,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.hbm_read += other.hbm_read;
        self.hbm_written += other.hbm_written;
        self.hbm_reread += other.hbm_reread;
        self.hbm_replicated += other.hbm_replicated;
        self.hbm_read_elements += other.hbm_read_elements;
        self.hbm_written_elements += other.hbm_written_elements;
        self.lx_read += other.lx_read;
        self.lx_written += other.lx_written;
        self.ring_bytes += other.ring_bytes;
    }
}

/// Counts the bytes of one execution, except ring traffic.
pub(crate) fn count_traffic(plan: &OpPlan, parts: &TensorSlices, machine: &mut Machine) -> Traffic {
    let mut traffic = Traffic::default();
    let leaders = plan.find_leaders();
    for tensor in 0..plan.tensors.len() {
        let is_output = tensor == plan.output;
        let shared = |core: usize| is_output && plan.tensors[tensor].ownership.is_none() && leaders[core] != core;
        let cores = (0..plan.cores.len()).filter(|core| !shared(*core));
        let parts: Vec<&TensorSlice> = cores.map(|core| &parts.0[core][tensor]).collect();
        match parts.first().map(|part| part.region) {
            Some(RegionId::Lx(_)) => {
                let bytes = parts
                    .iter()
                    .flat_map(|part| plan.accessed_intervals(part, tensor))
                    .map(round_to_sticks)
                    .map(interval_length)
                    .sum::<u64>();
                *if is_output { &mut traffic.lx_written } else { &mut traffic.lx_read } += bytes;
            }
            Some(RegionId::Hbm(_)) => count_hbm(plan, tensor, &parts, machine, &mut traffic),
            None => {}
        }
    }
    traffic
}

fn count_hbm(plan: &OpPlan, tensor: usize, parts: &[&TensorSlice], machine: &mut Machine, traffic: &mut Traffic) {
    let mut touched: Vec<(RegionId, ByteInterval)> = Vec::new();
    let mut elements: Vec<(RegionId, ByteInterval)> = Vec::new();
    for part in parts {
        touched.extend(plan.accessed_intervals(part, tensor).map(|interval| (part.region, round_to_sticks(interval))));
        elements.extend(plan.element_intervals(part, tensor).map(|interval| (part.region, interval)));
    }
    let asked: u64 = touched.iter().map(|(_, interval)| interval_length(*interval)).sum();
    let touched = merge_intervals(touched);
    let once: u64 = touched.iter().map(|(_, interval)| interval_length(*interval)).sum();
    let elements: u64 = merge_intervals(elements).iter().map(|(_, interval)| interval_length(*interval)).sum();
    if tensor == plan.output {
        traffic.hbm_written += once;
        traffic.hbm_written_elements += elements;
        return;
    }
    traffic.hbm_read += once;
    traffic.hbm_read_elements += elements;
    traffic.hbm_replicated += asked - once;
    for (region, interval) in touched {
        traffic.hbm_reread +=
            machine.region_mut(region).count_read(interval.start as usize, interval.end as usize) as u64;
    }
}

/// Rounds an interval outward to complete sticks.
fn round_to_sticks(interval: ByteInterval) -> ByteInterval {
    let start = interval.start - interval.start % STICK_BYTES;
    let last = interval.end + STICK_BYTES - 1;
    ByteInterval { start, end: last - last % STICK_BYTES }
}

fn interval_length(interval: ByteInterval) -> u64 {
    (interval.end - interval.start).unsigned_abs()
}

fn merge_intervals(mut intervals: Vec<(RegionId, ByteInterval)>) -> Vec<(RegionId, ByteInterval)> {
    intervals.sort_unstable();
    let mut all: Vec<(RegionId, ByteInterval)> = Vec::new();
    for (region, next) in intervals {
        match all.last_mut() {
            Some((known, last)) if *known == region && next.start <= last.end => last.end = last.end.max(next.end),
            _ => all.push((region, next)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_element_to_its_stick() {
        assert_eq!(round_to_sticks(ByteInterval { start: 130, end: 132 }), ByteInterval { start: 128, end: 256 });
        assert_eq!(round_to_sticks(ByteInterval { start: 128, end: 256 }), ByteInterval { start: 128, end: 256 });
    }

    #[test]
    fn counts_bytes_that_two_cores_access_once() {
        let interval = |start, end| (RegionId::Hbm(0), ByteInterval { start, end });
        let all = merge_intervals(vec![interval(0, 256), interval(128, 384), interval(512, 640)]);
        assert_eq!(all, [interval(0, 384), interval(512, 640)]);
    }
}
