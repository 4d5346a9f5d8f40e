//! The end of an operation: results are rounded and stored.

use super::copy::row_offset;
use super::{CoreView, Values};
use crate::sim::access::Parts;
use crate::sim::machine::Machine;
use crate::sim::memory::{Region, Writer};
use crate::sim::number::{POISON, encode_run, width};
use crate::sim::plan::{Interval, Lane, Plan, TensorPlan, Track, Walk, dense};
use crate::target::STICK_BYTES;

/// A run of elements to store: the element offset from the start of the part, and where the bits are.
struct Run {
    lane: Lane,
    bits: usize,
}

/// Stores one core's part of the result.
pub(crate) fn store(plan: &Plan, core: usize, parts: &Parts, values: Values, machine: &mut Machine, writer: Writer) {
    let format = plan.tensors[plan.output].format;
    let mut encoded = Vec::new();
    let (bits, runs, group) = match values {
        Values::Bits(bits) => (bits, point_runs(CoreView { plan, core, parts, machine }), 1),
        Values::Floats { values, order } => {
            encode_run(format, &values, &mut encoded);
            let (bits, runs) = in_order(plan, &encoded, &order, 1);
            (bits, runs, 1)
        }
        Values::Pairs { values, order } => {
            encode_run(format, values.as_flattened(), &mut encoded);
            let (bits, runs) = in_order(plan, &encoded, &order, 2);
            (bits, runs, 2)
        }
    };
    let part = &parts.0[core][plan.output];
    let written: Vec<Interval> = plan.touched(part, plan.output).collect();
    let region = machine.region_mut(part.region);
    runs.iter().for_each(|run| write(&plan.tensors[plan.output], part.byte, run, &bits[run.bits..], group, region));
    written.iter().for_each(|interval| region.mark_written(interval.start as usize, interval.end as usize, writer));
}

/// Writes a run; `group` is the number of values of a point.
fn write(output: &TensorPlan, start: i64, run: &Run, bits: &[u8], group: usize, region: &mut Region) {
    let (lane, width) = (run.lane, width(output.format));
    let at = |index: usize| (start + (lane.offset + index as i64 * lane.stride) * width as i64) as usize;
    if output.is_sparse {
        for (index, element) in bits.chunks_exact(width * group).take(lane.valid).enumerate() {
            // The rest of the stick is anything; a reader that takes it for values gets NaN.
            let mut stick = [POISON; STICK_BYTES as usize];
            stick[..element.len()].copy_from_slice(element);
            region.write(at(index), &stick);
        }
    } else if lane.stride == 1 {
        region.write(at(0), &bits[..lane.valid * width]);
    } else {
        bits.chunks_exact(width).take(lane.valid).enumerate().for_each(|(index, element)| region.write(at(index), element));
    }
}

/// The runs of a result in the order of the points.
fn point_runs(view: CoreView<'_>) -> Vec<Run> {
    let plan = view.plan;
    let width = width(plan.tensors[plan.output].format);
    let output = &plan.tensors[plan.output];
    if output.ownership.is_some() {
        return owned_runs(output);
    }
    let (mut runs, mut bits) = (Vec::new(), 0);
    plan.points_walk().each(|piece| {
        let lane = piece.lanes[plan.output];
        let lane = Lane { offset: lane.offset + row_offset(view, plan.output, &piece), ..lane };
        runs.push(Run { lane, bits });
        bits += piece.length * width;
    });
    runs
}

/// The runs of a result whose slices are not those of the op.
fn owned_runs(output: &TensorPlan) -> Vec<Run> {
    let locals: Vec<usize> = output.offsets.iter().map(Vec::len).collect();
    let dims: Vec<usize> = (0..locals.len()).collect();
    let (mut runs, mut bits) = (Vec::new(), 0);
    Walk::new(vec![output.track()], &locals, &dims, output.stick()).each(|piece| {
        runs.push(Run { lane: piece.lanes[0], bits });
        bits += piece.length * width(output.format);
    });
    runs
}

/// The runs of a result that is row-major over some dimensions, and its bits in the order of the runs.
fn in_order(plan: &Plan, bits: &[u8], order: &[usize], group: usize) -> (Vec<u8>, Vec<Run>) {
    let output = &plan.tensors[plan.output];
    let width = width(output.format) * group;
    let locals = plan.locals();
    let (places, even) = (dense(&locals, order), vec![0; locals.len()]);
    let tracks = vec![output.track(), Track { offsets: &places, even: &even }];
    let inner = output.stick().filter(|dim| order.contains(dim)).or(order.last().copied());
    let (mut sorted, mut runs) = (Vec::with_capacity(bits.len()), Vec::new());
    Walk::new(tracks, &locals, order, inner).each(|piece| {
        let [lane, place] = [piece.lanes[0], piece.lanes[1]];
        runs.push(Run { lane, bits: sorted.len() });
        for index in 0..piece.length {
            let at = (place.offset + place.stride * index as i64) as usize * width;
            sorted.extend_from_slice(&bits[at..at + width]);
        }
    });
    (sorted, runs)
}
