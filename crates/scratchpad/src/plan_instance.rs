//! Plans one instance with step limits and progress reports: entry points of the tools, above the planners.

use super::{
    ExactPlanner, Instance, Placement, PlanningProgress, ResidencyMode, ScratchpadPlan, UnknownPlanner,
    buffer::can_reuse_in_place,
    drawing::{DrawnInterval, LxDrawing},
    find_planner,
    pack::{Packer, PackingPeak, PackingResult, PackingShape, PeakSearch, Rectangle, StepBudget, compute_max_load},
};

/// Limits of a planning run.
pub struct PlanningLimits<'a> {
    /// Total number of steps. The same number gives the same plan on every machine.
    pub budget: u64,
    /// Callback that receives progress every few milliseconds. Planning stops when it returns false.
    pub go_on: &'a mut dyn FnMut(&PlanningProgress) -> bool,
}

/// Steps between two calls of the callback: about ten milliseconds.
const STEPS_PER_PORTION: u64 = 10_000;

impl PlanningLimits<'_> {
    /// Runs portions of steps until `work` returns that it is done, the budget is used, or the callback stops the run.
    /// Returns the steps taken, and whether the callback stopped the run.
    fn run_portions(&mut self, mut work: impl FnMut(&mut StepBudget) -> (bool, PlanningProgress)) -> (u64, bool) {
        let mut taken = 0;
        loop {
            let mut portion = StepBudget { left: STEPS_PER_PORTION.min(self.budget - taken) };
            let given = portion.left;
            let (is_done, progress) = work(&mut portion);
            taken += given - portion.left;
            if is_done || taken >= self.budget {
                return (taken, false);
            }
            if !(self.go_on)(&PlanningProgress { steps: taken, ..progress }) {
                return (taken, true);
            }
        }
    }
}

/// Plans `instance` with the named planner. A planner that chooses residency intervals first searches addresses for all
/// eligible buffers, because a plan with every buffer in LX leaves the fewest bytes. If that search fails, the planner
/// chooses intervals according to `stays`.
///
/// # Errors
/// Returns [`UnknownPlanner`] if no planner has this name.
pub fn plan_instance(
    instance: &Instance,
    planner: &str,
    intervals: ResidencyMode,
    limits: &mut PlanningLimits,
) -> Result<ScratchpadPlan, UnknownPlanner> {
    let Instance { buffers, capacity, .. } = instance;
    let planner = find_planner(planner)?;
    if !planner.chooses_residency() {
        let placement = planner.plan(buffers, capacity);
        return Ok(
            ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(buffers, capacity, &placement)
        );
    }
    let exact = ExactPlanner { mode: intervals, budget: limits.budget };
    let mut packer = Packer::new(&convert_to_shapes(instance), &[], capacity.bytes.div_euclid(capacity.alignment));
    let mut answer = PackingResult::OutOfSteps;
    let mut packing = PlanningLimits { budget: limits.budget / 4 * 3, go_on: &mut *limits.go_on };
    let (steps, timed_out) = packing.run_portions(|portion| {
        answer = packer.run(portion);
        (
            answer != PackingResult::OutOfSteps || packer.is_exhausted(),
            PlanningProgress { steps: 0, best: i64::MAX, bound: 0 },
        )
    });
    if let PackingResult::Placed(offsets) = answer {
        let plan = exact.import_placement(buffers, capacity, &build_placement(instance, &offsets));
        if plan.optimal {
            return Ok(ScratchpadPlan { steps, ..plan });
        }
    }
    let (mut steps, mut is_stopped, mut known) = (steps, timed_out, None);
    let budget = limits.budget - steps;
    if intervals == ResidencyMode::Split {
        // The unsplit plan is the starting point of the split search. Both searches get the same number of steps.
        let whole = solve_remaining(
            &ExactPlanner { mode: ResidencyMode::Whole, budget },
            instance,
            None,
            (steps, &mut is_stopped),
            limits,
        );
        steps += whole.steps;
        known = Some(whole.to_placement(buffers, capacity));
    }
    let plan =
        solve_remaining(&ExactPlanner { budget, ..exact }, instance, known.as_ref(), (steps, &mut is_stopped), limits);
    Ok(ScratchpadPlan { steps: plan.steps + steps, timed_out: is_stopped, ..plan })
}

/// Solves the instance after `steps` earlier steps, which progress reports include. The callback is not called again
/// after it returned false.
fn solve_remaining(
    exact: &ExactPlanner,
    instance: &Instance,
    known: Option<&Placement>,
    (steps, is_stopped): (u64, &mut bool),
    limits: &mut PlanningLimits,
) -> ScratchpadPlan {
    exact.solve_with_progress(&instance.buffers, &instance.capacity, known, &mut |progress| {
        *is_stopped = *is_stopped || !(limits.go_on)(&PlanningProgress { steps: steps + progress.steps, ..*progress });
        !*is_stopped
    })
}

/// Smallest LX in which every eligible buffer has an address for its whole live range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimumLxPlan {
    /// Addresses in an LX of this size.
    pub placement: Placement,
    /// Size of LX, in bytes, for which addresses were found.
    pub bytes: i64,
    /// Lower bound of this size, in bytes. Both sizes are multiples of the alignment.
    pub lower_bound: i64,
    /// Steps taken.
    pub steps: u64,
    /// Whether the callback stopped the search.
    pub timed_out: bool,
}

/// Searches the smallest LX. Uses the alignment of the instance and ignores its capacity.
#[must_use]
pub fn find_smallest_lx(instance: &Instance, limits: &mut PlanningLimits) -> MinimumLxPlan {
    let shapes = convert_to_shapes(instance);
    let alignment = instance.capacity.alignment;
    let mut search = PeakSearch::new(&shapes, &[]);
    let (steps, timed_out) = limits.run_portions(|portion| {
        search.run(portion);
        let PackingPeak { height, lower_bound, .. } = search.peak;
        (
            search.peak.is_optimal() || search.is_exhausted(),
            PlanningProgress { steps: 0, best: height * alignment, bound: lower_bound * alignment },
        )
    });
    let PackingPeak { offsets, height, lower_bound } = search.peak;
    // The search ignores in-place reuse. If reuse is possible, only the bytes that are certainly live together are a
    // bound.
    let is_kept_apart = (0..instance.buffers.len()).all(|buffer| !may_reuse_address(instance, buffer));
    let lower_bound = if is_kept_apart { lower_bound } else { compute_load_without_reuse(instance) };
    let (bytes, lower_bound) = (height * alignment, lower_bound * alignment);
    MinimumLxPlan { placement: build_placement(instance, &offsets), bytes, lower_bound, steps, timed_out }
}

/// Returns whether a buffer may reuse the address of some parent.
fn may_reuse_address(instance: &Instance, buffer: usize) -> bool {
    let is_placed = |index: usize| instance.buffers[index].barred.is_none();
    let parents = &instance.buffers[buffer].in_place_parents;
    is_placed(buffer)
        && parents.iter().any(|&parent| is_placed(parent) && can_reuse_in_place(&instance.buffers, buffer, parent))
}

/// Returns the maximum number of units live at once. A buffer that may reuse an address does not count in the operation
/// of its birth.
fn compute_load_without_reuse(instance: &Instance) -> i64 {
    let shapes = convert_to_shapes(instance);
    let steps = shapes.iter().enumerate().flat_map(|(buffer, shape)| {
        let birth = i64::from(may_reuse_address(instance, buffer));
        shape.steps.iter().map(move |step| Rectangle { lower: step.lower + birth, ..*step })
    });
    compute_max_load(&steps.filter(|step| step.lower < step.upper).collect::<Vec<_>>())
}

/// Converts the buffers into shapes, in units of the alignment. An ineligible buffer has size 0.
fn convert_to_shapes(instance: &Instance) -> Vec<PackingShape> {
    let tick = |time: usize| i64::try_from(time).expect("fewer than 2^63");
    let shape = |buffer: &super::Buffer| {
        let life = buffer.live_range();
        let size = if buffer.barred.is_some() {
            0
        } else {
            instance.capacity.align(buffer.bytes) / instance.capacity.alignment
        };
        PackingShape::from(Rectangle { lower: tick(life.start), upper: tick(life.end), size })
    };
    instance.buffers.iter().map(shape).collect()
}

/// Places every eligible buffer at its offset, in units of the alignment.
fn build_placement(instance: &Instance, offsets: &[i64]) -> Placement {
    let offsets =
        offsets.iter().map(|offset| Some(offset * instance.capacity.alignment)).chain(std::iter::repeat(None));
    let address = |(buffer, offset): (&super::Buffer, Option<i64>)| if buffer.barred.is_some() { None } else { offset };
    let addresses: Vec<Option<i64>> = instance.buffers.iter().zip(offsets).map(address).collect();
    Placement::from_addresses(&instance.buffers, &instance.capacity, addresses)
}

/// Builds the drawing of a plan.
#[must_use]
pub fn build_drawing(instance: &Instance, plan: &ScratchpadPlan, title: String) -> LxDrawing {
    let buffers = &instance.buffers;
    let last_address = |parent: usize| {
        let last = plan
            .intervals
            .iter()
            .find(|interval| interval.buffer == parent && interval.end == buffers[parent].live_range().end);
        last.map(|interval| interval.address)
    };
    let interval = |interval: &super::LxInterval| {
        let buffer = &buffers[interval.buffer];
        let is_born = interval.start == buffer.live_range().start;
        let takes_over = |parent: &&usize| {
            is_born
                && can_reuse_in_place(buffers, interval.buffer, **parent)
                && last_address(**parent) == Some(interval.address)
        };
        let successor_of = buffer.in_place_parents.iter().find(takes_over).map(|&parent| buffers[parent].name.clone());
        DrawnInterval {
            name: buffer.name.clone(),
            bytes: buffer.bytes,
            address: interval.address,
            times: interval.start..interval.end,
            successor_of,
        }
    };
    let intervals = plan.intervals.iter().map(interval).collect();
    LxDrawing { title, capacity_bytes: instance.capacity.bytes, intervals, operations: Vec::new(), loops: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::{buffer, child};
    use super::*;
    use crate::{Buffer, Capacity, PlacementExclusion};

    fn build_instance(buffers: Vec<Buffer>, bytes: i64, alignment: i64) -> Instance {
        Instance { name: String::new(), capacity: Capacity { bytes, alignment }, buffers }
    }

    fn build_limits(go_on: &mut dyn FnMut(&PlanningProgress) -> bool) -> PlanningLimits<'_> {
        PlanningLimits { budget: 100_000, go_on }
    }

    #[test]
    fn places_everything_that_fits() {
        let barred = Buffer {
            barred: Some(PlacementExclusion("its size is not known".to_owned())),
            ..buffer("barred", 900, &[0, 3])
        };
        let buffers = vec![buffer("a", 100, &[0, 1]), buffer("b", 200, &[1, 3]), barred, buffer("c", 130, &[2, 3])];
        let instance = build_instance(buffers, 512, 128);
        let plan = plan_instance(&instance, "exact", ResidencyMode::Split, &mut build_limits(&mut |_| true)).unwrap();
        assert_eq!((plan.intervals.len(), plan.hbm_bytes_left, plan.lower_bound, plan.optimal), (3, 1800, 1800, true));
        assert!(plan_instance(&instance, "exactly", ResidencyMode::Split, &mut build_limits(&mut |_| true)).is_err());
    }

    #[test]
    fn selects_buffers_that_do_not_all_fit() {
        let instance = build_instance(vec![buffer("a", 3, &[0, 1]), buffer("b", 2, &[0, 1, 1])], 4, 1);
        for (planner, optimal) in [("exact", true), ("greedy", false)] {
            let plan =
                plan_instance(&instance, planner, ResidencyMode::Whole, &mut build_limits(&mut |_| true)).unwrap();
            assert_eq!((plan.intervals.len(), plan.optimal, plan.timed_out), (1, optimal, false), "{planner}");
            assert_eq!(plan.hbm_bytes_left, 6, "{planner}");
        }
        let stopped =
            plan_instance(&instance, "exact", ResidencyMode::Whole, &mut build_limits(&mut |_| false)).unwrap();
        assert!(stopped.timed_out);
    }

    #[test]
    fn finds_smallest_lx_and_stops_when_callback_returns_false() {
        let buffers =
            vec![buffer("a", 3, &[0, 1]), buffer("b", 2, &[1, 3]), buffer("c", 4, &[3, 4]), buffer("d", 1, &[0, 4])];
        let instance = build_instance(buffers, 1, 1);
        let peak = find_smallest_lx(&instance, &mut build_limits(&mut |_| true));
        assert_eq!((peak.bytes, peak.lower_bound, peak.timed_out), (7, 7, false));
        let mut never = |_: &PlanningProgress| false;
        let mut limits = PlanningLimits { budget: u64::MAX, go_on: &mut never };
        assert_eq!(
            limits.run_portions(|steps| (
                false,
                PlanningProgress { steps: std::mem::take(&mut steps.left), best: 1, bound: 0 }
            )),
            (STEPS_PER_PORTION, true)
        );
    }

    #[test]
    fn draws_chain_as_successors() {
        let buffers = vec![buffer("parent", 40, &[0, 1]), child(buffer("child", 20, &[1, 3]), &[0])];
        let instance = build_instance(buffers, 100, 1);
        let placement = Placement { addresses: vec![Some(0), Some(0)], reasons: vec![None, None] };
        let plan = ExactPlanner::new_unsplit().import_placement(&instance.buffers, &instance.capacity, &placement);
        let intervals = build_drawing(&instance, &plan, String::new()).intervals;
        assert_eq!((intervals[1].times.clone(), intervals[1].successor_of.as_deref()), (1..4, Some("parent")));
    }
}
