//! Backward analysis: the points of each execution on which the sampled elements of the results depend.

use super::points::{PointSubset, collect_group, restrict_plan};
use crate::machine::RegionId;
use crate::machine::access::{TensorSlice, TensorSlices};
use crate::machine::memory::BitSet;
use crate::ops::for_each_needed_source;
use crate::plan::{OpKernel, OpPlan, PointLoopNest};
use machine::STICK_BYTES;
use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// One execution of an op.
pub(super) struct TracedExecution {
    pub(super) plan: Arc<OpPlan>,
    pub(super) parts: TensorSlices,
    pub(super) leaders: Vec<usize>,
}

/// Needed points of an execution.
pub(super) enum NeededPoints {
    /// All points: the op moves elements between cores, ranks them, or moves them to rows that an index selects.
    All { points: u64 },
    /// Needed points by leader, the core that stores a slice of the result.
    Points(Vec<(usize, PointSubset)>),
}

impl NeededPoints {
    /// Returns the number of points that are computed.
    pub(super) fn num_points(&self) -> u64 {
        match self {
            Self::All { points } => *points,
            Self::Points(leading) => leading.iter().map(|(_, points)| points.computed).fold(0, u64::saturating_add),
        }
    }
}

/// Number of bytes that one bit of the set stands for.
const SLOT_BYTES: i64 = 2;

/// Set of the needed elements of one region.
#[derive(Default)]
pub(super) struct NeededSlots(BitSet);

impl NeededSlots {
    fn add(&mut self, start: i64, end: i64) {
        let (start, end) = slot_range(start, end);
        if self.0.num_bits() < end {
            // Grows by doubling, so that a region is not copied for each new element.
            self.0.grow(end.max(2 * self.0.num_bits()));
        }
        self.0.set(start, end);
    }

    fn remove(&mut self, start: i64, end: i64) {
        let (start, end) = slot_range(start, end);
        let end = end.min(self.0.num_bits());
        self.0.clear(start.min(end), end);
    }

    /// Returns whether a byte of this range is needed.
    pub(super) fn contains_any(&self, start: i64, end: i64) -> bool {
        let (start, end) = slot_range(start, end);
        self.0.has_any(start, end)
    }

    /// Returns the first byte of each needed slot.
    pub(super) fn slot_bytes(&self) -> impl Iterator<Item = usize> {
        self.0.iter_set_bits().map(|slot| slot * SLOT_BYTES as usize)
    }
}

const fn slot_range(start: i64, end: i64) -> (usize, usize) {
    ((start / SLOT_BYTES) as usize, ((end + SLOT_BYTES - 1) / SLOT_BYTES) as usize)
}

/// Needed elements by region.
#[derive(Default)]
pub(super) struct NeededElements(BTreeMap<RegionId, NeededSlots>);

impl NeededElements {
    pub(super) fn add(&mut self, region: RegionId, start: i64, end: i64) {
        self.0.entry(region).or_default().add(start, end);
    }

    /// Returns the needed elements of a region; `None` if none are needed.
    pub(super) fn get(&self, region: RegionId) -> Option<&NeededSlots> {
        self.0.get(&region)
    }
}

/// Computes the needed points of each execution, in execution order. The remaining demand is that on arguments and
/// constants.
pub(super) fn compute_needed_points(executions: &[TracedExecution], demand: &mut NeededElements) -> Vec<NeededPoints> {
    let mut works: Vec<NeededPoints> =
        executions.iter().rev().map(|execution| execution.propagate_demand(demand)).collect();
    works.reverse();
    works
}

impl TracedExecution {
    /// Removes the stored elements from the demand, and adds the elements that the execution reads.
    fn propagate_demand(&self, demand: &mut NeededElements) -> NeededPoints {
        let Self { plan, parts, leaders } = self;
        let leading: Vec<usize> = (0..leaders.len()).filter(|core| leaders[*core] == *core).collect();
        let output = |core: usize| &parts.0[core][plan.output];
        let is_needed = |core: &usize| {
            let needed = demand.get(output(*core).region);
            needed.is_some_and(|needed| {
                plan.accessed_intervals(output(*core), plan.output)
                    .any(|bytes| needed.contains_any(bytes.start, bytes.end))
            })
        };
        let wanted: Vec<usize> = leading.iter().copied().filter(is_needed).collect();
        if wanted.is_empty() {
            return NeededPoints::Points(Vec::new());
        }
        // These ops are always computed in full: shuffles only move slices between cores, a top-k result depends on all
        // ranked elements, and an indexed result may be in any row.
        let is_whole = matches!(plan.kernel, OpKernel::Shuffle | OpKernel::TopK(_))
            || plan.tensors[plan.output].indirect.is_some();
        let points: Vec<(usize, PointSubset)> = match is_whole {
            true => Vec::new(),
            false => wanted
                .iter()
                .filter_map(|core| Some((*core, self.find_needed_points(*core, demand.get(output(*core).region)?)?)))
                .collect(),
        };
        let shuffled = (plan.kernel == OpKernel::Shuffle).then(|| self.find_shuffled_bytes(demand));
        for core in leading {
            if let Some(needed) = demand.0.get_mut(&output(core).region) {
                plan.accessed_intervals(output(core), plan.output)
                    .for_each(|bytes| needed.remove(bytes.start, bytes.end));
            }
        }
        if is_whole {
            match shuffled {
                Some(sources) => sources.iter().for_each(|(region, bytes)| demand.add(*region, bytes.start, bytes.end)),
                None => (0..plan.cores.len()).for_each(|core| self.record_all_reads(core, demand)),
            }
            return NeededPoints::All { points: plan.points_per_core.saturating_mul(plan.cores.len() as u64) };
        }
        for (leader, points) in &points {
            let group = collect_group(leaders, *leader);
            let plan = restrict_plan(plan, &group, points);
            group.iter().for_each(|core| record_reads(&plan, &parts.0[*core], demand, &self.plan));
        }
        NeededPoints::Points(points)
    }

    /// Returns the points that a core computes for the needed elements of its slice.
    fn find_needed_points(&self, core: usize, needed: &NeededSlots) -> Option<PointSubset> {
        let plan = &self.plan;
        let (output, part) = (&plan.tensors[plan.output], &self.parts.0[core][plan.output]);
        let (dims, width) = (plan.output_dims(), output.format.bytes());
        let span = if output.is_sparse { STICK_BYTES } else { width };
        let mut is_hit: Vec<Vec<bool>> = plan.local_sizes().into_iter().map(|local| vec![false; local]).collect();
        let inner = Some(output.stick_dim).filter(|dim| dims.contains(dim));
        PointLoopNest::new(vec![output.offset_tables()], &plan.local_sizes(), &dims, inner).for_each_chunk(|piece| {
            let lane = piece.lanes[0];
            let first = part.byte + lane.offset * width;
            if lane.valid == 0 || (lane.stride == 1 && !needed.contains_any(first, first + lane.valid as i64 * width)) {
                return;
            }
            for index in 0..lane.valid {
                let byte = first + index as i64 * lane.stride * width;
                if needed.contains_any(byte, byte + span) {
                    for dim in &dims {
                        is_hit[*dim][piece.position[*dim] + if inner == Some(*dim) { index } else { 0 }] = true;
                    }
                }
            }
        });
        PointSubset::from_hits(plan, &dims, &is_hit, collect_group(&self.leaders, core).len())
    }

    /// Returns the bytes of the source that the needed elements of a shuffle's destination copy.
    fn find_shuffled_bytes(&self, demand: &NeededElements) -> Vec<(RegionId, Range<i64>)> {
        let Self { plan, parts, .. } = self;
        let (input, output) = (plan.inputs[0], plan.output);
        let width = plan.tensors[output].format.bytes();
        let locate = |core: usize, tensor: usize, offset: i64| {
            let part = &parts.0[core][tensor];
            let start = part.byte + offset * width;
            (part.region, start..start + width)
        };
        let mut sources: Vec<(RegionId, Range<i64>)> = Vec::new();
        for_each_needed_source(
            plan,
            |core, offset| {
                let (region, bytes) = locate(core, output, offset);
                demand.get(region).is_some_and(|needed| needed.contains_any(bytes.start, bytes.end))
            },
            |core, offset| {
                let (region, bytes) = locate(core, input, offset);
                match sources.last_mut() {
                    Some((last, before)) if *last == region && before.end == bytes.start => before.end = bytes.end,
                    _ => sources.push((region, bytes)),
                }
            },
        );
        sources
    }

    fn record_all_reads(&self, core: usize, demand: &mut NeededElements) {
        for tensor in &self.plan.inputs {
            record_access(&self.plan, &self.parts.0[core][*tensor], *tensor, demand);
        }
    }
}

fn record_access(plan: &OpPlan, part: &TensorSlice, tensor: usize, demand: &mut NeededElements) {
    plan.accessed_intervals(part, tensor).for_each(|bytes| demand.add(part.region, bytes.start, bytes.end));
}

/// Records the elements that a core reads at the points of `plan`, which is a restriction of `whole`.
fn record_reads(plan: &OpPlan, parts: &[TensorSlice], demand: &mut NeededElements, whole: &OpPlan) {
    for tensor in &plan.inputs {
        let (entry, part) = (&plan.tensors[*tensor], &parts[*tensor]);
        // Offsets to padding are no elements, so the padded windows of a core count in full.
        if entry.indirect.is_some() || !entry.padded_windows.is_empty() {
            record_access(whole, part, *tensor, demand);
            continue;
        }
        let width = entry.format.bytes();
        // A sparse stick also holds values that belong to the same point, such as two moments.
        let has_groups = entry.is_sparse || plan.kernel == OpKernel::LayerNormScale;
        let dims: Vec<usize> = (0..plan.dims.len()).filter(|dim| entry.has_dim[*dim]).collect();
        let inner = Some(entry.stick_dim).filter(|dim| dims.contains(dim));
        let needed = demand.0.entry(part.region).or_default();
        PointLoopNest::new(vec![entry.offset_tables()], &plan.local_sizes(), &dims, inner).for_each_chunk(|piece| {
            let lane = piece.lanes[0];
            let first = part.byte + lane.offset * width;
            if lane.stride == 1 && !has_groups {
                needed.add(first, first + lane.valid as i64 * width);
                return;
            }
            for index in 0..lane.valid as i64 {
                let byte = first + index * lane.stride * width;
                let start = if has_groups { byte / STICK_BYTES * STICK_BYTES } else { byte };
                needed.add(start, if has_groups { start + STICK_BYTES } else { byte + width });
            }
        });
    }
}
