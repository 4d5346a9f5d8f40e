//! Modelled time of a launch, as an interval: nobody outside has a cycle model of the device.
//!
//! The structure and every constant are those of the recommended model ("cost models, section 10", fitted by others on measured device
//! times), applied to the bytes that the simulator counted. The lower end assumes that memory, compute and the ring overlap fully, the
//! upper end that nothing does ("peers, section 5"). Terms that need what only a compiler knows are left out.

use crate::account::report::{LaunchReport, OpKind, OpReport, OpShape};
use serde::Serialize;
use std::ops::AddAssign;

/// Modelled time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ModelledTime {
    /// Everything overlaps.
    pub low_ns: f64,
    /// The recommended estimate in between.
    pub estimate_ns: f64,
    /// Nothing overlaps.
    pub high_ns: f64,
}

impl AddAssign for ModelledTime {
    fn add_assign(&mut self, other: Self) {
        self.low_ns += other.low_ns;
        self.estimate_ns += other.estimate_ns;
        self.high_ns += other.high_ns;
    }
}

/// HBM in one direction, bytes/ns (fitted on 61 runs).
const HBM: f64 = 150.0;
/// Turning the bus around, ns a byte of the smaller direction (fitted; gives 105 bytes/ns for a copy).
const TURNAROUND: f64 = 0.005_74;
/// Restickify, bytes/ns (fitted).
const RESTICKIFY: f64 = 116.0;
/// Reductions that keep the sticks, bytes/ns (fitted).
const COLUMN_REDUCTION: f64 = 113.0;
/// A broadcast operand beside a full one, bytes/ns (fitted).
const BROADCAST: f64 = 118.0;
/// Products, multiply-adds/ns and core (fitted; nominal 1536).
const PRODUCTS: f64 = 1140.0;
/// Elementwise functions, elements/ns and core (chosen by hand on measured rows).
const POINTWISE: f64 = 24.0;
/// Reductions, elements/ns and core (fitted).
const REDUCTION: f64 = 12.0;
/// The ring, bytes/ns and direction: 128 bytes a cycle (published) at 1.5 GHz (derived).
const RING: f64 = 192.0;
/// The part of the shorter of memory and compute that is hidden (fitted, later removed upstream).
const OVERLAP: f64 = 0.46;
/// One iteration of a loop, ns (chosen by hand on measured rows).
const ITERATION: f64 = 1500.0;

/// The modelled time of a launch; `launch_ns` is what a launch costs by itself, which nobody has measured.
#[must_use]
pub fn modelled(launch: &LaunchReport, launch_ns: f64) -> ModelledTime {
    let memory = memory(launch);
    let compute: f64 = launch.ops.iter().map(compute).sum();
    let ring = launch.total.ring_bytes as f64 / RING;
    let fixed = launch_ns + ITERATION * launch.iterations as f64;
    ModelledTime {
        low_ns: launch_ns + memory.max(compute).max(ring),
        estimate_ns: fixed + compute + memory - OVERLAP * compute.min(memory),
        high_ns: fixed + compute + memory + ring,
    }
}

/// The time of HBM. Beside products the rates of single ops do not show; without them every op has its own.
fn memory(launch: &LaunchReport) -> f64 {
    let total = &launch.total;
    if launch.ops.iter().any(|op| op.shape.kind == OpKind::Contract) {
        return both_ways(total.hbm_read as f64, total.hbm_written as f64);
    }
    let special = launch.ops.iter().any(|op| rate(&op.shape).is_some());
    if !special {
        return both_ways(total.hbm_read as f64, total.hbm_written as f64);
    }
    let time = |op: &OpReport| {
        let (read, written) = (op.traffic.hbm_read as f64, op.traffic.hbm_written as f64);
        rate(&op.shape).map_or_else(|| both_ways(read, written), |rate| (read + written) / rate)
    };
    launch.ops.iter().map(time).sum()
}

fn both_ways(read: f64, written: f64) -> f64 {
    (read + written) / HBM + TURNAROUND * read.min(written)
}

/// The bytes/ns of an access pattern that has its own rate.
fn rate(shape: &OpShape) -> Option<f64> {
    match shape.kind {
        OpKind::Restickify => Some(RESTICKIFY),
        OpKind::ColumnReduction => Some(COLUMN_REDUCTION),
        OpKind::Pointwise if shape.broadcasts => Some(BROADCAST),
        OpKind::Contract | OpKind::Pointwise | OpKind::RowReduction => None,
    }
}

fn compute(op: &OpReport) -> f64 {
    let points = (op.points as f64) * op.executions as f64;
    let cores = op.cores as f64;
    match op.shape.kind {
        OpKind::Contract => points / (product_cores(&op.shape) * product_rate(&op.shape)) * penalty(&op.shape),
        OpKind::RowReduction | OpKind::ColumnReduction => points / (cores * REDUCTION),
        OpKind::Pointwise | OpKind::Restickify => points / (cores * POINTWISE),
    }
}

/// Cores that a split of the contracted dimension is worth: half of its slices.
fn product_cores(shape: &OpShape) -> f64 {
    let contracted = if shape.contracted_slices > 1 { shape.contracted_slices as f64 / 2.0 } else { 1.0 };
    (shape.row_slices * shape.column_slices * shape.batch_slices) as f64 * contracted
}

fn product_rate(shape: &OpShape) -> f64 {
    match shape.batch {
        0 | 1 => PRODUCTS * (shape.rows_per_core as f64 / 64.0).powf(0.35).min(1.0),
        2 | 3 => 290.0,
        _ => 160.0,
    }
}

/// What a batched product loses by its split.
fn penalty(shape: &OpShape) -> f64 {
    let split = shape.batch_slices as f64;
    let fan = shape.row_slices.max(shape.column_slices) as f64;
    match shape.batch {
        0 | 1 => 1.0,
        _ if shape.batch_slices > 1 => 2.2 * (split / 4.0).max(1.0),
        _ => (fan / 8.0).max(1.0).powf(0.6) * if shape.column_slices < 4 { 1.3 } else { 1.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_runs_at_the_fitted_rate() {
        assert!((2.0 * 1e6 / both_ways(1e6, 1e6) - 105.0).abs() < 0.5);
    }

    #[test]
    fn more_bytes_are_never_cheaper() {
        let mut launch = LaunchReport::default();
        let mut last = modelled(&launch, 0.0);
        for _ in 0..4 {
            launch.total.hbm_read += 1 << 20;
            let time = modelled(&launch, 0.0);
            assert!(time.low_ns > last.low_ns && time.high_ns >= time.estimate_ns && time.estimate_ns >= time.low_ns);
            last = time;
        }
    }
}
