//! Planning of an instance as a whole, within limits, watched from outside.

use super::{
    Instance, Placement, UnknownPlanner,
    drawing::{Drawing, Stay},
    pack::{Packer, Packing, Peak, PeakSearch, Rectangle, Shape, Steps},
    planner_named,
};

/// How far a plan has come. The gap is between `best` and `bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps taken.
    pub steps: u64,
    /// The best value so far, in bytes.
    pub best: i64,
    /// No plan has a lower value.
    pub bound: i64,
}

/// How long a plan may take.
pub struct Limits<'a> {
    /// Steps in all; the same number gives the same plan on every machine.
    pub budget: u64,
    /// Called from time to time; planning stops when it says no.
    pub go_on: &'a mut dyn FnMut(&Progress) -> bool,
}

/// Steps between two calls of the watcher: some ten milliseconds.
const PORTION: u64 = 10_000;

impl Limits<'_> {
    /// Takes portions of steps until `work` is done (then it says so) or the limits are reached. Gives the steps taken, and whether the
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

/// A plan of an instance, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedInstance {
    /// The addresses.
    pub placement: Placement,
    /// No plan leaves fewer bytes in HBM.
    pub lower_bound: i64,
    /// Steps taken.
    pub steps: u64,
    /// The watcher stopped it.
    pub timed_out: bool,
}

/// Plans with the planner of that name; `exact` places every buffer that may be placed when there is such a packing.
///
/// # Errors
/// When there is no such planner.
pub fn plan_instance(instance: &Instance, planner: &str, limits: &mut Limits) -> Result<PlannedInstance, UnknownPlanner> {
    // Placing everything that may be placed leaves least.
    let all = instance.buffers.iter().map(|buffer| buffer.barred.is_none().then_some(0)).collect();
    let lower_bound = Placement { addresses: all, reasons: Vec::new() }.hbm_bytes_left(&instance.buffers);
    let plan = |placement, steps, timed_out| PlannedInstance { placement, lower_bound, steps, timed_out };
    if planner != "exact" {
        return Ok(plan(planner_named(planner)?.plan(&instance.buffers, &instance.capacity), 0, false));
    }
    let best = ["first-fit", "best-fit", "greedy"].map(planner_named).into_iter().collect::<Result<Vec<_>, _>>()?;
    let best = best.iter().map(|planner| planner.plan(&instance.buffers, &instance.capacity));
    let fallback = || best.min_by_key(|placement| placement.hbm_bytes_left(&instance.buffers));
    let units = instance.capacity.bytes.div_euclid(instance.capacity.alignment);
    let mut packer = Packer::new(&shapes(instance), &[], units);
    let mut answer = Packing::OutOfSteps;
    let (steps, timed_out) = limits.spend(|portion| {
        answer = packer.run(portion);
        (answer != Packing::OutOfSteps, Progress { steps: 0, best: i64::MAX, bound: lower_bound })
    });
    let placement = match answer {
        Packing::Placed(offsets) => placed(instance, &offsets),
        Packing::Impossible | Packing::OutOfSteps => fallback().unwrap_or_else(|| placed(instance, &[])),
    };
    Ok(plan(placement, steps, timed_out))
}

/// The smallest LX in which every buffer that may be placed has a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPeak {
    /// The addresses.
    pub placement: Placement,
    /// Bytes that suffice.
    pub bytes: i64,
    /// Bytes below which there is no plan.
    pub lower_bound: i64,
    /// Steps taken.
    pub steps: u64,
    /// The watcher stopped it.
    pub timed_out: bool,
}

/// Looks for the smallest LX; the capacity of the instance does not matter, its alignment does.
#[must_use]
pub fn smallest_lx(instance: &Instance, limits: &mut Limits) -> PlannedPeak {
    let shapes = shapes(instance);
    let alignment = instance.capacity.alignment;
    let mut search = PeakSearch::new(&shapes, &[]);
    let (steps, timed_out) = limits.spend(|portion| {
        search.run(portion);
        let Peak { height, lower_bound, .. } = search.peak;
        (search.peak.is_optimal(), Progress { steps: 0, best: height * alignment, bound: lower_bound * alignment })
    });
    let Peak { offsets, height, lower_bound } = search.peak;
    let (bytes, lower_bound) = (height * alignment, lower_bound * alignment);
    PlannedPeak { placement: placed(instance, &offsets), bytes, lower_bound, steps, timed_out }
}

/// The buffers in units of the alignment; a barred one takes no place.
fn shapes(instance: &Instance) -> Vec<Shape> {
    let tick = |time: usize| i64::try_from(time).unwrap_or(i64::MAX);
    let shape = |buffer: &super::Buffer| {
        let life = buffer.life();
        let size = if buffer.barred.is_some() { 0 } else { instance.capacity.align(buffer.bytes) / instance.capacity.alignment };
        Shape::from(Rectangle { lower: tick(life.start), upper: tick(life.end), size })
    };
    instance.buffers.iter().map(shape).collect()
}

/// Every buffer that may be placed, at these offsets.
fn placed(instance: &Instance, offsets: &[i64]) -> Placement {
    let offsets = offsets.iter().map(|offset| Some(offset * instance.capacity.alignment)).chain(std::iter::repeat(None));
    let address = |(buffer, offset): (&super::Buffer, Option<i64>)| if buffer.barred.is_some() { None } else { offset };
    let addresses: Vec<Option<i64>> = instance.buffers.iter().zip(offsets).map(address).collect();
    Placement::explained(&instance.buffers, &instance.capacity, addresses)
}

/// The picture of a placement.
#[must_use]
pub fn drawing_of(instance: &Instance, placement: &Placement, title: String) -> Drawing {
    let buffers = &instance.buffers;
    let stay = |(index, address): (usize, &Option<i64>)| {
        let buffer = &buffers[index];
        let takes_over = |parent: &&usize| placement.addresses[**parent] == *address && buffer.can_succeed(&buffers[**parent]);
        let successor_of = buffer.in_place_parents.iter().find(takes_over).map(|&parent| buffers[parent].name.clone());
        let life = Some(buffer.life()).filter(|life| !life.is_empty())?;
        Some(Stay { name: buffer.name.clone(), bytes: buffer.bytes, address: (*address)?, times: life, successor_of })
    };
    let stays = placement.addresses.iter().enumerate().filter_map(stay).collect();
    Drawing { title, capacity_bytes: instance.capacity.bytes, stays }
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::{buffer, child};
    use super::*;
    use crate::lx::{Barred, Buffer, Capacity, check};

    fn instance(buffers: Vec<Buffer>, bytes: i64, alignment: i64) -> Instance {
        Instance { name: String::new(), capacity: Capacity { bytes, alignment }, buffers }
    }

    fn limits(go_on: &mut dyn FnMut(&Progress) -> bool) -> Limits<'_> {
        Limits { budget: 100_000, go_on }
    }

    #[test]
    fn everything_is_placed_when_it_fits() {
        let barred = Buffer { barred: Some(Barred::Unsized), ..buffer("barred", 900, &[0, 3]) };
        let buffers = vec![buffer("a", 100, &[0, 1]), buffer("b", 200, &[1, 3]), barred, buffer("c", 130, &[2, 3])];
        let instance = instance(buffers, 512, 128);
        let plan = plan_instance(&instance, "exact", &mut limits(&mut |_| true)).unwrap();
        assert_eq!(check(&instance.buffers, &instance.capacity, &plan.placement), Ok(()));
        assert_eq!((plan.placement.n_placed(), plan.lower_bound), (3, 1800));
        assert_eq!(plan.placement.hbm_bytes_left(&instance.buffers), plan.lower_bound);
        assert!(plan_instance(&instance, "exactly", &mut limits(&mut |_| true)).is_err());
    }

    #[test]
    fn what_does_not_fit_is_planned_by_the_best_of_the_others() {
        let instance = instance(vec![buffer("a", 3, &[0, 1]), buffer("b", 2, &[0, 1, 1])], 4, 1);
        let plan = plan_instance(&instance, "exact", &mut limits(&mut |_| true)).unwrap();
        assert_eq!((plan.placement.addresses, plan.timed_out), (vec![None, Some(0)], false));
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
        let stays = drawing_of(&instance, &placement, String::new()).stays;
        assert_eq!((stays[1].times.clone(), stays[1].successor_of.as_deref()), (1..4, Some("parent")));
    }
}
