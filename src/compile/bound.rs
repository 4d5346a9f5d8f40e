//! Gap between a plan and the lower bound of all plans, and its causes.

use super::{
    compulsory_work::{BufferKind, CompulsoryTraffic, CompulsoryWork, NamedBuffer},
    excess_cause::find_excess_causes,
};
use crate::{
    explain::{Gap, HbmValue, LowerBound, OpGap, ValueGap},
    report::{OpReport, Report, round_to_thousandths},
    traffic::{BufferAccess, TrafficBuffer, ValueTraffic, group_by_value},
};
use cost::{CostFormula, OpFeatures, OpKind, Roofline, TimeEstimate, estimate_kernel_time, min_compute_ns};
use machine::Target;
use std::{cmp::Reverse, collections::BTreeMap};

/// Maximum number of values, and of ops, by which a report explains the gap.
const MAX_EXPLAINED: usize = 8;

/// Work of the launches of a plan.
#[derive(Default)]
pub(super) struct PlanWork<'a> {
    /// HBM accesses of the ops.
    pub(super) accesses: Vec<BufferAccess>,
    /// Ops in the form of the cost model, in the order of the report.
    pub(super) kernels: Vec<OpFeatures>,
    /// Buffers that have a name in the program, by name.
    pub(super) buffers: BTreeMap<&'a str, NamedBuffer>,
}

/// Adds the bound and the gap to a report whose ops and total are already known.
pub(super) fn describe_bound(report: &mut Report, needs: &CompulsoryWork, done: &PlanWork<'_>, target: &Target) {
    let parts = group_by_value(&done.accesses, |name| {
        done.buffers.get(name).map_or(0, |buffer| buffer.needed.if_indices_differ)
    });
    let through_hbm = needs.through_hbm;
    let sum =
        |bytes: fn(&CompulsoryTraffic) -> i64| done.buffers.values().map(|buffer| bytes(&buffer.needed)).sum::<i64>();
    let compulsory = sum(|needed| needed.if_indices_differ);
    let (hbm, hbm_of_any_indices) = (compulsory + through_hbm, sum(|needed| needed.of_any_indices) + through_hbm);
    let products = needs.min_matmul_bytes(target);
    let binding = match () {
        () if products > hbm => "products",
        () if through_hbm > 0 => "functions",
        () => "compulsory",
    };
    let least @ Roofline { hbm_ns, compute_ns, fixed_ns, ns } = needs.work.roofline(hbm_of_any_indices, target);
    let [us, hbm_us, compute_us, fixed_us] = [ns, hbm_ns, compute_ns, fixed_ns].map(to_microseconds);
    let limit = limiting_resource(&least);
    let repeated = Some(compute_repeated_use_bytes(&parts, &done.buffers)).filter(|bytes| *bytes > 0);
    let hbm_per_use = repeated.map(|bytes| hbm + bytes);
    let us_per_use = repeated.map(|bytes| to_microseconds(needs.work.roofline(hbm_of_any_indices + bytes, target).ns));
    report.lower_bound = LowerBound {
        hbm,
        compulsory,
        through_hbm,
        hbm_of_any_indices,
        products,
        binding,
        hbm_per_use,
        us_per_use,
        us,
        hbm_us,
        compute_us,
        fixed_us,
        limit,
    };
    report.explain.hbm = collect_hbm_values(&parts, &done.buffers, &report.ops);
    let above = rank_slow_ops(&done.kernels, &report.ops, target);
    for gap in &above {
        report.ops[gap.op].gap_us = gap.us;
    }
    report.gap = Gap {
        hbm: report.total.hbm() - hbm,
        us: round_to_thousandths(report.time.estimate_us - us),
        values: rank_excess_values(&report.explain.hbm),
        ops: above.into_iter().take(MAX_EXPLAINED).collect(),
    };
}

/// Returns the bytes of constants that a plan moves because several ops read them, beyond one read of each: at most one
/// read per op.
fn compute_repeated_use_bytes(parts: &[ValueTraffic], buffers: &BTreeMap<&str, NamedBuffer>) -> i64 {
    let repeated = |part: &ValueTraffic| {
        let TrafficBuffer::Named(name) = &part.buffer else { return 0 };
        let needed = buffers.get(name.as_str()).map_or(0, |buffer| buffer.needed.per_use);
        needed.min(part.read_bytes) - part.needed_bytes
    };
    parts.iter().map(|part| repeated(part).max(0)).sum()
}

fn to_microseconds(ns: f64) -> f64 {
    round_to_thousandths(ns / 1000.0)
}

fn limiting_resource(least: &Roofline) -> &'static str {
    let Roofline { hbm_ns, compute_ns, fixed_ns, ns: _ } = *least;
    if fixed_ns > hbm_ns.max(compute_ns) {
        "fixed"
    } else if compute_ns > hbm_ns {
        "compute"
    } else {
        "hbm"
    }
}

/// Returns the values in HBM, in the order of their first uses.
fn collect_hbm_values(
    parts: &[ValueTraffic],
    buffers: &BTreeMap<&str, NamedBuffer>,
    ops: &[OpReport],
) -> Vec<HbmValue> {
    let value = |part: &ValueTraffic| {
        let writer = part.writer.and_then(|op| ops.get(op));
        let (memory, name) = match (&part.buffer, writer) {
            (TrafficBuffer::Named(name), _) => ("hbm", name.clone()),
            (TrafficBuffer::Pool { .. }, Some(writer)) => ("pool", writer.function.clone()),
            (TrafficBuffer::Pool { .. }, None) => ("pool", "a value of the pool".to_owned()),
        };
        HbmValue {
            name,
            op: part.writer,
            first_op: *part.live_range.start(),
            last_op: *part.live_range.end(),
            readers: part.readers.clone(),
            memory,
            hbm_read: part.read_bytes,
            hbm_written: part.written_bytes,
            needed: part.needed_bytes,
            why: if part.excess_bytes() > 0 {
                explain_excess_traffic(part, buffer_kind(part, buffers), writer)
            } else {
                String::new()
            },
        }
    };
    let mut values: Vec<HbmValue> = parts.iter().map(value).collect();
    // The sort is stable: among values with the same first op, named ones come first.
    values.sort_by_key(|value| value.first_op);
    values
}

fn rank_excess_values(values: &[HbmValue]) -> Vec<ValueGap> {
    let mut above: Vec<&HbmValue> = values.iter().filter(|value| value.excess() > 0).collect();
    above.sort_by_key(|value| Reverse(value.excess()));
    let gap = |value: &&HbmValue| ValueGap {
        name: value.name.clone(),
        op: value.op,
        hbm: value.excess(),
        why: value.why.clone(),
    };
    above.iter().take(MAX_EXPLAINED).map(gap).collect()
}

/// Returns the kind of contents of a value's buffer; `None` for a location in a pool.
fn buffer_kind(part: &ValueTraffic, buffers: &BTreeMap<&str, NamedBuffer>) -> Option<BufferKind> {
    let TrafficBuffer::Named(name) = &part.buffer else { return None };
    buffers.get(name.as_str()).map(|buffer| buffer.kind)
}

fn explain_excess_traffic(part: &ValueTraffic, kind: Option<BufferKind>, writer: Option<&OpReport>) -> String {
    let causes: Vec<String> = find_excess_causes(part, kind, writer).iter().map(ToString::to_string).collect();
    causes.join("; ")
}

/// Returns the ops that take longer than their minimum time, largest difference first.
fn rank_slow_ops(kernels: &[OpFeatures], ops: &[OpReport], target: &Target) -> Vec<OpGap> {
    let above = |(op, (kernel, report)): (usize, (&OpFeatures, &OpReport))| {
        let spent = estimate_kernel_time(std::slice::from_ref(kernel), &target.time, CostFormula::Recommended);
        let kind = if kernel.kind == OpKind::Matmul { OpKind::Matmul } else { OpKind::Pointwise };
        let least_ns = min_compute_ns(kind, kernel.points, target) + target.time.recommended.op_ns;
        let us = to_microseconds(spent.estimate_ns - least_ns);
        OpGap { op, name: report.function.clone(), us, why: explain_slow_op(kernel, &spent, least_ns, target) }
    };
    let mut above: Vec<OpGap> = kernels.iter().zip(ops).enumerate().map(above).filter(|gap| gap.us > 0.0).collect();
    // The sort is stable: ties keep their order.
    above.sort_by(|one, other| other.us.total_cmp(&one.us));
    above
}

fn explain_slow_op(kernel: &OpFeatures, spent: &TimeEstimate, least_ns: f64, target: &Target) -> String {
    let constants = &target.time.recommended;
    let compute_ns = spent.compute_ns - (least_ns - constants.op_ns);
    let starts_ns = spent.fixed_ns - constants.op_ns;
    if starts_ns > spent.hbm_ns.max(compute_ns) {
        return format!("starts {} times", kernel.trips);
    }
    if spent.hbm_ns >= compute_ns {
        return format!("moves {} bytes of HBM", kernel.bytes.hbm());
    }
    let share = 100.0 * (least_ns - constants.op_ns) / spent.compute_ns;
    format!("computes on {} of {} cores, at {share:.0} % of the peak rate of all cores", kernel.cores, target.cores)
}
