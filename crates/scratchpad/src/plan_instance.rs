//! Planning of a complete instance, with step limits and progress reports.

use super::{
    Exact, Instance, Placement, Plan, Progress, Stays, UnknownPlanner,
    buffer::can_succeed,
    drawing::{Drawing, Stay},
    pack::{Packer, Packing, Peak, PeakSearch, Rectangle, Shape, Steps, load},
    planner_named,
};

/// Limits of a planning run.
pub struct Limits<'a> {
    /// Total number of steps; the same number gives the same plan on every machine.
    pub budget: u64,
    /// Callback that is called from time to time; planning stops when it returns false.
    pub go_on: &'a mut dyn FnMut(&Progress) -> bool,
}

/// Steps between two calls of the watcher: about ten milliseconds.
const PORTION: u64 = 10_000;

impl Limits<'_> {
    /// Runs portions of steps until `work` returns that it is done or the limits are reached. Returns the steps taken, and whether the
    /// watcher stopped it.
    fn spend(&mut self, mut work: impl FnMut(&mut Steps) -> (bool, Progress)) -> (u64, bool) {
        let mut taken = 0;
        loop {
            let mut portion = Steps { left: PORTION.min(self.budget - taken) };
            let given = portion.left;
            let (is_done, progress) = work(&mut portion);
            taken += given - portion.left;
            if is_done || taken >= self.budget {
                return (taken, false);
            }
            if !(self.go_on)(&Progress { steps: taken, ..progress }) {
                return (taken, true);
            }
        }
    }
}

/// Plans with the named planner. A planner that chooses residency intervals first searches addresses for everything that may be placed,
/// which leaves the fewest bytes. If there are none, or they are hard to find, it chooses intervals of the kind `stays`.
///
/// # Errors
/// If there is no planner of this name.
pub fn plan_instance(instance: &Instance, planner: &str, stays: Stays, limits: &mut Limits) -> Result<Plan, UnknownPlanner> {
    let Instance { buffers, capacity, .. } = instance;
    let planner = planner_named(planner)?;
    if !planner.chooses_stays() {
        let placement = planner.plan(buffers, capacity);
        return Ok(Exact { stays: Stays::Whole, budget: 0 }.adopt(buffers, capacity, &placement));
    }
    let exact = Exact { stays, budget: limits.budget };
    let mut packer = Packer::new(&shapes(instance), &[], capacity.bytes.div_euclid(capacity.alignment));
    let mut answer = Packing::OutOfSteps;
    let mut packing = Limits { budget: limits.budget / 4 * 3, go_on: &mut *limits.go_on };
    let (steps, timed_out) = packing.spend(|portion| {
        answer = packer.run(portion);
        (answer != Packing::OutOfSteps || packer.is_at_its_end(), Progress { steps: 0, best: i64::MAX, bound: 0 })
    });
    if let Packing::Placed(offsets) = answer {
        let plan = exact.adopt(buffers, capacity, &placed(instance, &offsets));
        if plan.optimal {
            return Ok(Plan { steps, ..plan });
        }
    }
    let (mut steps, mut is_stopped, mut known) = (steps, timed_out, None);
    let budget = limits.budget - steps;
    if stays == Stays::Split {
        // Split plans start from plans with unsplit live ranges, so the unsplit search gets as many steps.
        let whole = solve(&Exact { stays: Stays::Whole, budget }, instance, None, (steps, &mut is_stopped), limits);
        steps += whole.steps;
        known = Some(whole.whole_lives(buffers, capacity));
    }
    let plan = solve(&Exact { budget, ..exact }, instance, known.as_ref(), (steps, &mut is_stopped), limits);
    Ok(Plan { steps: plan.steps + steps, timed_out: is_stopped, ..plan })
}

/// Plans after some steps are used. The watcher is not called again after it returned false.
fn solve(
    exact: &Exact,
    instance: &Instance,
    known: Option<&Placement>,
    (steps, is_stopped): (u64, &mut bool),
    limits: &mut Limits,
) -> Plan {
    exact.solve_watched(&instance.buffers, &instance.capacity, known, &mut |progress| {
        *is_stopped = *is_stopped || !(limits.go_on)(&Progress { steps: steps + progress.steps, ..*progress });
        !*is_stopped
    })
}

/// Smallest LX in which every buffer that may be placed has an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPeak {
    /// The addresses.
    pub placement: Placement,
    /// Bytes that suffice.
    pub bytes: i64,
    /// Lower bound of the bytes; both are multiples of the alignment.
    pub lower_bound: i64,
    /// Steps taken.
    pub steps: u64,
    /// Whether the watcher stopped the search.
    pub timed_out: bool,
}

/// Searches the smallest LX; uses the alignment of the instance, and ignores its capacity.
#[must_use]
pub fn smallest_lx(instance: &Instance, limits: &mut Limits) -> PlannedPeak {
    let shapes = shapes(instance);
    let alignment = instance.capacity.alignment;
    let mut search = PeakSearch::new(&shapes, &[]);
    let (steps, timed_out) = limits.spend(|portion| {
        search.run(portion);
        let Peak { height, lower_bound, .. } = search.peak;
        (
            search.peak.is_optimal() || search.is_at_its_end(),
            Progress { steps: 0, best: height * alignment, bound: lower_bound * alignment },
        )
    });
    let Peak { offsets, height, lower_bound } = search.peak;
    // The search permits no overlap. With takeovers, only the bytes that are certainly live together are a lower bound.
    let is_kept_apart = (0..instance.buffers.len()).all(|buffer| !may_inherit(instance, buffer));
    let lower_bound = if is_kept_apart { lower_bound } else { load_without_heirs(instance) };
    let (bytes, lower_bound) = (height * alignment, lower_bound * alignment);
    PlannedPeak { placement: placed(instance, &offsets), bytes, lower_bound, steps, timed_out }
}

/// Returns whether a buffer may take over an address.
fn may_inherit(instance: &Instance, buffer: usize) -> bool {
    let is_placed = |index: usize| instance.buffers[index].barred.is_none();
    let parents = &instance.buffers[buffer].in_place_parents;
    is_placed(buffer) && parents.iter().any(|&parent| is_placed(parent) && can_succeed(&instance.buffers, buffer, parent))
}

/// Returns the maximum number of units live at once, without buffers that may take over an address in that operation.
fn load_without_heirs(instance: &Instance) -> i64 {
    let shapes = shapes(instance);
    let steps = shapes.iter().enumerate().flat_map(|(buffer, shape)| {
        let birth = i64::from(may_inherit(instance, buffer));
        shape.steps.iter().map(move |step| Rectangle { lower: step.lower + birth, ..*step })
    });
    load(&steps.filter(|step| step.lower < step.upper).collect::<Vec<_>>())
}

/// Converts the buffers into units of the alignment; a barred buffer occupies no space.
fn shapes(instance: &Instance) -> Vec<Shape> {
    let tick = |time: usize| i64::try_from(time).expect("fewer than 2^63");
    let shape = |buffer: &super::Buffer| {
        let life = buffer.life();
        let size = if buffer.barred.is_some() { 0 } else { instance.capacity.align(buffer.bytes) / instance.capacity.alignment };
        Shape::from(Rectangle { lower: tick(life.start), upper: tick(life.end), size })
    };
    instance.buffers.iter().map(shape).collect()
}

/// Places every buffer that may be placed at these offsets.
fn placed(instance: &Instance, offsets: &[i64]) -> Placement {
    let offsets = offsets.iter().map(|offset| Some(offset * instance.capacity.alignment)).chain(std::iter::repeat(None));
    let address = |(buffer, offset): (&super::Buffer, Option<i64>)| if buffer.barred.is_some() { None } else { offset };
    let addresses: Vec<Option<i64>> = instance.buffers.iter().zip(offsets).map(address).collect();
    Placement::explained(&instance.buffers, &instance.capacity, addresses)
}

/// Draws a plan.
#[must_use]
pub fn drawing_of(instance: &Instance, plan: &Plan, title: String) -> Drawing {
    let buffers = &instance.buffers;
    let last_address = |parent: usize| {
        let last = plan.stays.iter().find(|stay| stay.buffer == parent && stay.end == buffers[parent].life().end);
        last.map(|stay| stay.address)
    };
    let stay = |stay: &super::StayInLx| {
        let buffer = &buffers[stay.buffer];
        let is_born = stay.start == buffer.life().start;
        let takes_over =
            |parent: &&usize| is_born && can_succeed(buffers, stay.buffer, **parent) && last_address(**parent) == Some(stay.address);
        let successor_of = buffer.in_place_parents.iter().find(takes_over).map(|&parent| buffers[parent].name.clone());
        Stay { name: buffer.name.clone(), bytes: buffer.bytes, address: stay.address, times: stay.start..stay.end, successor_of }
    };
    let stays = plan.stays.iter().map(stay).collect();
    Drawing { title, capacity_bytes: instance.capacity.bytes, stays, operations: Vec::new(), loops: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::{buffer, child};
    use super::*;
    use crate::{Barred, Buffer, Capacity};

    fn instance(buffers: Vec<Buffer>, bytes: i64, alignment: i64) -> Instance {
        Instance { name: String::new(), capacity: Capacity { bytes, alignment }, buffers }
    }

    fn limits(go_on: &mut dyn FnMut(&Progress) -> bool) -> Limits<'_> {
        Limits { budget: 100_000, go_on }
    }

    #[test]
    fn everything_is_placed_when_it_fits() {
        let barred = Buffer { barred: Some(Barred("its size is not known".to_owned())), ..buffer("barred", 900, &[0, 3]) };
        let buffers = vec![buffer("a", 100, &[0, 1]), buffer("b", 200, &[1, 3]), barred, buffer("c", 130, &[2, 3])];
        let instance = instance(buffers, 512, 128);
        let plan = plan_instance(&instance, "exact", Stays::Split, &mut limits(&mut |_| true)).unwrap();
        assert_eq!((plan.stays.len(), plan.hbm_bytes_left, plan.lower_bound, plan.optimal), (3, 1800, 1800, true));
        assert!(plan_instance(&instance, "exactly", Stays::Split, &mut limits(&mut |_| true)).is_err());
    }

    #[test]
    fn what_does_not_fit_is_chosen_from() {
        let instance = instance(vec![buffer("a", 3, &[0, 1]), buffer("b", 2, &[0, 1, 1])], 4, 1);
        for (planner, optimal) in [("exact", true), ("greedy", false)] {
            let plan = plan_instance(&instance, planner, Stays::Whole, &mut limits(&mut |_| true)).unwrap();
            assert_eq!((plan.stays.len(), plan.optimal, plan.timed_out), (1, optimal, false), "{planner}");
            assert_eq!(plan.hbm_bytes_left, 6, "{planner}");
        }
        let stopped = plan_instance(&instance, "exact", Stays::Whole, &mut limits(&mut |_| false)).unwrap();
        assert!(stopped.timed_out);
    }

    #[test]
    fn the_smallest_lx_is_found_and_the_watcher_is_heard() {
        let buffers = vec![buffer("a", 3, &[0, 1]), buffer("b", 2, &[1, 3]), buffer("c", 4, &[3, 4]), buffer("d", 1, &[0, 4])];
        let instance = instance(buffers, 1, 1);
        let peak = smallest_lx(&instance, &mut limits(&mut |_| true));
        assert_eq!((peak.bytes, peak.lower_bound, peak.timed_out), (7, 7, false));
        let mut never = |_: &Progress| false;
        let mut limits = Limits { budget: u64::MAX, go_on: &mut never };
        assert_eq!(limits.spend(|steps| (false, Progress { steps: std::mem::take(&mut steps.left), best: 1, bound: 0 })), (PORTION, true));
    }

    #[test]
    fn a_chain_is_drawn_as_one() {
        let buffers = vec![buffer("parent", 40, &[0, 1]), child(buffer("child", 20, &[1, 3]), &[0])];
        let instance = instance(buffers, 100, 1);
        let placement = Placement { addresses: vec![Some(0), Some(0)], reasons: vec![None, None] };
        let plan = Exact::whole_lives().adopt(&instance.buffers, &instance.capacity, &placement);
        let stays = drawing_of(&instance, &plan, String::new()).stays;
        assert_eq!((stays[1].times.clone(), stays[1].successor_of.as_deref()), (1..4, Some("parent")));
    }
}
