//! Backward analysis: the points of each execution that the sampled elements of the results depend on.

use super::points::{Points, group_of, reduced};
use crate::machine::RegionId;
use crate::machine::access::{Part, Parts};
use crate::machine::memory::Bits;
use crate::plan::{Kernel, Plan, Walk};
use machine::STICK_BYTES;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One execution of an op.
pub(super) struct Execution {
    pub(super) plan: Arc<Plan>,
    pub(super) parts: Parts,
    pub(super) leaders: Vec<usize>,
}

/// Needed points of an execution.
pub(super) enum Work {
    /// All points, as many as given: the op moves elements between cores, or to rows that an index selects.
    Whole { points: u64 },
    /// Needed points of some leaders, the cores that store a slice of the result.
    Points(Vec<(usize, Points)>),
}

impl Work {
    /// Returns the number of points that are computed.
    pub(super) fn points(&self) -> u64 {
        match self {
            Self::Whole { points } => *points,
            Self::Points(leading) => leading.iter().map(|(_, points)| points.computed).fold(0, u64::saturating_add),
        }
    }
}

/// Bytes that one bit of the set stands for.
const SLOT: i64 = 2;

/// Needed elements of one region.
#[derive(Default)]
pub(super) struct Needed(Bits);

impl Needed {
    fn add(&mut self, start: i64, end: i64) {
        let (start, end) = slots(start, end);
        if self.0.length() < end {
            // Grows by doubling, so that a region is not copied for each new element.
            self.0.grow(end.max(2 * self.0.length()));
        }
        self.0.set(start, end);
    }

    fn remove(&mut self, start: i64, end: i64) {
        let (start, end) = slots(start, end);
        let end = end.min(self.0.length());
        self.0.clear(start.min(end), end);
    }

    /// Returns whether one of these bytes is needed.
    pub(super) fn has(&self, start: i64, end: i64) -> bool {
        let (start, end) = slots(start, end);
        self.0.any(start, end)
    }

    /// Returns the first byte of each needed slot.
    pub(super) fn bytes(&self) -> impl Iterator<Item = usize> {
        self.0.places().map(|slot| slot * SLOT as usize)
    }
}

const fn slots(start: i64, end: i64) -> (usize, usize) {
    ((start / SLOT) as usize, ((end + SLOT - 1) / SLOT) as usize)
}

/// Needed elements by region.
#[derive(Default)]
pub(super) struct Demand(BTreeMap<RegionId, Needed>);

impl Demand {
    pub(super) fn add(&mut self, region: RegionId, start: i64, end: i64) {
        self.0.entry(region).or_default().add(start, end);
    }

    /// Returns the needed elements of a region; `None` if none are needed.
    pub(super) fn of(&self, region: RegionId) -> Option<&Needed> {
        self.0.get(&region)
    }
}

/// Returns the needed points of each execution, in execution order. The remaining demand is that on arguments and constants.
pub(super) fn works(executions: &[Execution], demand: &mut Demand) -> Vec<Work> {
    let mut works: Vec<Work> = executions.iter().rev().map(|execution| execution.work(demand)).collect();
    works.reverse();
    works
}

impl Execution {
    /// Removes the stored elements from the demand, and adds the elements that the execution reads.
    fn work(&self, demand: &mut Demand) -> Work {
        let Self { plan, parts, leaders } = self;
        let leading: Vec<usize> = (0..leaders.len()).filter(|core| leaders[*core] == *core).collect();
        let output = |core: usize| &parts.0[core][plan.output];
        let is_needed = |core: &usize| {
            let needed = demand.of(output(*core).region);
            needed.is_some_and(|needed| plan.touched(output(*core), plan.output).any(|bytes| needed.has(bytes.start, bytes.end)))
        };
        let wanted: Vec<usize> = leading.iter().copied().filter(is_needed).collect();
        if wanted.is_empty() {
            return Work::Points(Vec::new());
        }
        // These ops are not reduced to points: shuffles move slices between cores, a top-k result depends on all ranked
        // elements, and an indexed result may be in any row.
        let is_whole = matches!(plan.kernel, Kernel::Shuffle | Kernel::TopK(_)) || plan.tensors[plan.output].indirect.is_some();
        let points: Vec<(usize, Points)> = match is_whole {
            true => Vec::new(),
            false => wanted.iter().filter_map(|core| Some((*core, self.points(*core, demand.of(output(*core).region)?)?))).collect(),
        };
        for core in leading {
            if let Some(needed) = demand.0.get_mut(&output(core).region) {
                plan.touched(output(core), plan.output).for_each(|bytes| needed.remove(bytes.start, bytes.end));
            }
        }
        if is_whole {
            (0..plan.cores.len()).for_each(|core| self.read_all(core, demand));
            return Work::Whole { points: plan.points.saturating_mul(plan.cores.len() as u64) };
        }
        for (leader, points) in &points {
            let group = group_of(leaders, *leader);
            let plan = reduced(plan, &group, points);
            group.iter().for_each(|core| read(&plan, &parts.0[*core], demand, &self.plan));
        }
        Work::Points(points)
    }

    /// Returns the points that a core computes for the needed elements of its slice.
    fn points(&self, core: usize, needed: &Needed) -> Option<Points> {
        let plan = &self.plan;
        let (output, part) = (&plan.tensors[plan.output], &self.parts.0[core][plan.output]);
        let (dims, width) = (plan.output_dims(), output.format.bytes());
        let span = if output.is_sparse { STICK_BYTES } else { width };
        let mut is_hit: Vec<Vec<bool>> = plan.locals().into_iter().map(|local| vec![false; local]).collect();
        let inner = Some(output.stick).filter(|dim| dims.contains(dim));
        Walk::new(vec![output.track()], &plan.locals(), &dims, inner).each(|piece| {
            let lane = piece.lanes[0];
            let first = part.byte + lane.offset * width;
            if lane.valid == 0 || (lane.stride == 1 && !needed.has(first, first + lane.valid as i64 * width)) {
                return;
            }
            for index in 0..lane.valid {
                let byte = first + index as i64 * lane.stride * width;
                if needed.has(byte, byte + span) {
                    for dim in &dims {
                        is_hit[*dim][piece.position[*dim] + if inner == Some(*dim) { index } else { 0 }] = true;
                    }
                }
            }
        });
        Points::of(plan, &dims, &is_hit, group_of(&self.leaders, core).len())
    }

    fn read_all(&self, core: usize, demand: &mut Demand) {
        for tensor in &self.plan.inputs {
            touch(&self.plan, &self.parts.0[core][*tensor], *tensor, demand);
        }
    }
}

fn touch(plan: &Plan, part: &Part, tensor: usize, demand: &mut Demand) {
    plan.touched(part, tensor).for_each(|bytes| demand.add(part.region, bytes.start, bytes.end));
}

/// Records the elements that a core reads at the points of a plan, a subset of those of `whole`.
fn read(plan: &Plan, parts: &[Part], demand: &mut Demand, whole: &Plan) {
    for tensor in &plan.inputs {
        let (entry, part) = (&plan.tensors[*tensor], &parts[*tensor]);
        if entry.indirect.is_some() {
            touch(whole, part, *tensor, demand);
            continue;
        }
        let width = entry.format.bytes();
        // A sparse stick also has values that belong to its point, such as two moments.
        let has_groups = entry.is_sparse || plan.kernel == Kernel::LayerNormScale;
        let dims: Vec<usize> = (0..plan.dims.len()).filter(|dim| entry.present[*dim]).collect();
        let inner = Some(entry.stick).filter(|dim| dims.contains(dim));
        let needed = demand.0.entry(part.region).or_default();
        Walk::new(vec![entry.track()], &plan.locals(), &dims, inner).each(|piece| {
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
