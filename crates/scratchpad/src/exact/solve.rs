//! Main loop of the exact planner: selection, packing and cuts, until the plan meets the bound or the budget is used.

use super::{
    address_assignment::{AddressAssignment, assign_addresses, find_infeasible_core},
    cut::PackingCut,
    dense::{improve_bound, improve_plan, improve_prices},
    multipliers::StepMultipliers,
    prices::DualPrices,
    problem::{ResidencyMode, SelectionProblem},
    proof::{BoundProof, ceil_div},
    schedule_step::SweepSchedule,
    selection::{BestPlan, ResidencyInterval, ResidencySelection, ValueResidency, remove_useless_intervals},
    sweep::{SweepLimits, sweep},
};
use crate::{
    BestFitPlanner, Buffer, Capacity, FirstFitPlanner, GreedyPlanner, Placement, Planner, PlanningProgress,
    pack::StepBudget,
};

/// Exact planner: finds a plan and a lower bound on its HBM bytes, with a proof, within a step budget.
#[derive(Clone, Copy, Debug)]
pub struct ExactPlanner {
    /// Residency that the plan may choose: with or without live-range splitting.
    pub mode: ResidencyMode,
    /// Steps of sweeps and packings.
    pub budget: u64,
}

/// Residency interval of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LxInterval {
    /// Position of the buffer in the list.
    pub buffer: usize,
    /// First operation whose uses the interval serves.
    pub start: usize,
    /// Last operation of the interval, plus one.
    pub end: usize,
    /// Address in bytes.
    pub address: i64,
}

/// Maximum number of steps for one packing.
const MAX_PACKING_STEPS: u64 = 2_000;
/// Maximum number of sets of a sweep that only has to find a good selection.
const NARROW_WIDTH: usize = 4;
/// Initial and maximum number of sets that a complete sweep keeps.
const INITIAL_WIDTH: usize = 64;
const MAX_WIDTH: usize = 1 << 14;
/// Subgradient steps for the prices: at the beginning, and where good prices are required.
const NUM_INITIAL_PRICE_STEPS: usize = 30;
const NUM_REFINED_PRICE_STEPS: usize = 60;
/// Maximum number of cuts that a sweep can track.
const MAX_CUTS: usize = 128;

/// Plan of the exact planner, and a lower bound that tells how far the plan is from optimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchpadPlan {
    /// Residency intervals, by buffer and time.
    pub intervals: Vec<LxInterval>,
    /// HBM bytes per core that the plan leaves.
    pub hbm_bytes_left: i64,
    /// Lower bound on the HBM bytes per core of every plan that the certificate covers.
    pub lower_bound: i64,
    /// Whether the bytes left equal the lower bound.
    pub optimal: bool,
    /// Steps used.
    pub steps: u64,
    /// Whether the callback stopped the search.
    pub timed_out: bool,
    /// Per buffer: reason why it has no interval; `None` for a buffer with intervals.
    pub reasons: Vec<Option<String>>,
    /// Proof of the bound.
    pub certificate: BoundCertificate,
}

/// Proof that no plan leaves fewer HBM bytes than the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCertificate {
    /// Whether the bound covers only plans with unsplit live ranges.
    pub whole_live_ranges: bool,
    /// Scale: prices are HBM bytes times this factor.
    pub scale: i64,
    /// Operation, and price of a unit of LX during it. Prices of 0 are omitted.
    pub prices: Vec<(usize, i64)>,
    /// Sets of residency intervals that do not fit together.
    pub cuts: Vec<CertifiedCut>,
    /// Operation, and per buffer the HBM bytes that it pays for being in LX during it. If there are any, they alone
    /// prove the bound.
    pub multipliers: Vec<(usize, Vec<(usize, i64)>)>,
}

/// Residency intervals that do not fit together if exactly these reuses occur and no absent buffer is in LX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedCut {
    /// Buffer, first operation, last operation plus one.
    pub intervals: Vec<(usize, usize, usize)>,
    /// Pairs of child and parent.
    pub mergers: Vec<(usize, usize)>,
    /// Buffers that are live in one operation only, through which one of the intervals could inherit the address of
    /// another.
    pub absent: Vec<usize>,
}

/// Default step budget of a plan: about a second.
const DEFAULT_BUDGET: u64 = 2_000_000;
/// Step budget of a plan during compilation, which makes several plans: about 25 ms, plus half a millisecond per
/// buffer. Better prices take a quarter of the steps per buffer, narrow sweeps the remainder.
const BASE_COMPILATION_STEPS: u64 = 50_000;
const COMPILATION_STEPS_PER_BUFFER: u64 = 1_000;
/// Divisor of the step budget for a plan that is only compared with other plans.
const COMPARISON_BUDGET_DIVISOR: u64 = 4;

impl Planner for ExactPlanner {
    fn name(&self) -> &'static str {
        "exact"
    }

    fn chooses_residency(&self) -> bool {
        true
    }

    /// Returns the plan as a placement. The plan has unsplit live ranges only, because a placement cannot represent
    /// others.
    fn plan(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        Self { mode: ResidencyMode::Whole, ..*self }.solve(buffers, capacity).to_placement(buffers, capacity)
    }
}

impl ScratchpadPlan {
    /// Converts a plan with unsplit live ranges into a placement.
    pub(crate) fn to_placement(&self, buffers: &[Buffer], capacity: &Capacity) -> Placement {
        let mut addresses = vec![None; buffers.len()];
        for interval in &self.intervals {
            addresses[interval.buffer] = Some(interval.address);
        }
        Placement::from_addresses(buffers, capacity, addresses)
    }
}

impl ExactPlanner {
    /// Creates a planner that keeps each buffer in LX for its whole live range or not at all.
    #[must_use]
    pub const fn new_unsplit() -> Self {
        Self { mode: ResidencyMode::Whole, budget: DEFAULT_BUDGET }
    }

    /// Creates a planner that may split live ranges.
    #[must_use]
    pub const fn new_split() -> Self {
        Self { mode: ResidencyMode::Split, budget: DEFAULT_BUDGET }
    }

    /// Creates a planner for a compilation. Its budget grows with the number of buffers, so that compile time is linear
    /// in the size of the program.
    #[must_use]
    pub const fn new_for_compilation(intervals: ResidencyMode, num_buffers: usize) -> Self {
        Self { mode: intervals, budget: BASE_COMPILATION_STEPS + COMPILATION_STEPS_PER_BUFFER * num_buffers as u64 }
    }

    /// Creates a planner for one of several candidate plans of a compilation, with a share of the step budget.
    #[must_use]
    pub const fn new_for_comparison(num_buffers: usize) -> Self {
        let intervals = Self::new_for_compilation(ResidencyMode::Whole, num_buffers);
        Self { budget: intervals.budget / COMPARISON_BUDGET_DIVISOR, ..intervals }
    }

    /// Returns the best plan within the budget, and a lower bound with its proof.
    #[must_use]
    pub fn solve(&self, buffers: &[Buffer], capacity: &Capacity) -> ScratchpadPlan {
        self.solve_with_progress(buffers, capacity, None, &mut |_| true)
    }

    /// Converts a placement of another planner into a plan. Its lower bound is the sum of each buffer's own minimum
    /// cost.
    #[must_use]
    pub fn import_placement(&self, buffers: &[Buffer], capacity: &Capacity, placement: &Placement) -> ScratchpadPlan {
        let problem = SelectionProblem::new(buffers, capacity, self.mode);
        let best = best_plan_from_placement(&problem, placement);
        let prices = DualPrices::new(&problem, 1, vec![0; problem.num_ticks]);
        let bound = (problem.fixed_bytes + prices.bound()).min(best.bytes);
        let reasons = placement.reasons.iter().map(|reason| reason.as_ref().map(ToString::to_string)).collect();
        let proof = BoundProof { prices, cuts: Vec::new(), multipliers: Vec::new() };
        ScratchpadPlan { reasons, ..build_plan(&problem, (buffers, capacity), &best, bound, &proof) }
    }

    /// Solves the problem as [`Self::solve`] does. The plan is no worse than the placement `known`. Reports progress to
    /// `go_on` from time to time, and ends the search when `go_on` returns false.
    #[must_use]
    pub fn solve_with_progress(
        &self,
        buffers: &[Buffer],
        capacity: &Capacity,
        known: Option<&Placement>,
        go_on: &mut dyn FnMut(&PlanningProgress) -> bool,
    ) -> ScratchpadPlan {
        let problem = SelectionProblem::new(buffers, capacity, self.mode);
        let mut steps = StepBudget { left: self.budget };
        let mut best = find_best_simple_plan(&problem, buffers, capacity, &[&FirstFitPlanner]);
        if let Some(placement) = known {
            best = choose_better(best, best_plan_from_placement(&problem, placement));
        }
        let scale = 1 << 16;
        let goal = (best.bytes - problem.fixed_bytes) * scale;
        let mut prices = DualPrices::new_optimized(&problem, scale, goal, NUM_INITIAL_PRICE_STEPS);
        let (mut cuts, mut num_proved): (Vec<PackingCut>, usize) = (Vec::new(), 0);
        let mut bound = problem.fixed_bytes + ceil_div(prices.bound(), scale);
        let mut proof = BoundProof { prices: prices.clone(), cuts: Vec::new(), multipliers: Vec::new() };
        // Most of the steps are reserved for problems that the exact search cannot close.
        let kept_back = steps.left / 10 * 9;
        steps.left -= kept_back;
        let mut is_stopped = false;
        while best.bytes > bound && steps.left > 0 {
            let progress = PlanningProgress { steps: self.budget - kept_back - steps.left, best: best.bytes, bound };
            is_stopped = is_stopped || !go_on(&progress);
            if is_stopped {
                break;
            }
            let mut watched =
                |left: u64| go_on(&PlanningProgress { steps: self.budget - kept_back - left, best: best.bytes, bound });
            let selected =
                select_below_ceiling(&problem, &mut prices, &cuts, (bound, best.bytes), &mut steps, &mut watched);
            let Some((found, proved)) = selected else { break };
            // The bound of a sweep is valid only if all of its cuts are proved.
            if cuts.len() == num_proved && proved > bound {
                bound = proved.min(best.bytes);
                proof = BoundProof { prices: prices.clone(), cuts: cuts.clone(), multipliers: Vec::new() };
            }
            let Some(mut selection) = found else { break };
            remove_useless_intervals(&problem, &mut selection);
            match assign_addresses(&problem, &selection, MAX_PACKING_STEPS, &mut steps) {
                AddressAssignment::Placed(placed) => {
                    let bytes = selection.hbm_bytes(&problem);
                    best = BestPlan { bytes, selection, placed };
                    if cuts.len() == num_proved {
                        break;
                    }
                }
                AddressAssignment::Unplaced(_) if problem.is_large() => break,
                AddressAssignment::Unplaced(parts) => {
                    let before = cuts.len();
                    for runs in parts {
                        let Some((cut, proved)) = find_infeasible_core(&problem, &selection, &runs, &mut steps) else {
                            continue;
                        };
                        if cuts.len() < MAX_CUTS {
                            // Proved cuts come first.
                            let at = if proved { num_proved } else { cuts.len() };
                            num_proved += usize::from(proved);
                            cuts.insert(at, cut);
                        }
                    }
                    let has_new = cuts.len() > before;
                    if !has_new {
                        break;
                    }
                }
            }
        }
        steps.left += kept_back;
        if bound < best.bytes {
            best = choose_better(
                best,
                find_best_simple_plan(&problem, buffers, capacity, &[&BestFitPlanner, &GreedyPlanner]),
            );
            let mut watched = |left: u64, best: i64| {
                is_stopped = is_stopped || !go_on(&PlanningProgress { steps: self.budget - left, best, bound });
                !is_stopped
            };
            let prices = improve_prices(&problem, &prices, &best, &mut steps, &mut watched);
            let known = bound;
            bound = improve_bound(&problem, &prices, &best, (known, &mut proof), &mut steps);
            let mut watched = |left: u64, best: i64| {
                is_stopped = is_stopped || !go_on(&PlanningProgress { steps: self.budget - left, best, bound });
                !is_stopped
            };
            // The computation of the bound may have taken long, so the callback is called before the search continues.
            if watched(steps.left, best.bytes) {
                improve_plan(&problem, &prices, &mut best, &mut steps, &mut watched);
            }
        }
        let plan = build_plan(&problem, (buffers, capacity), &best, bound.min(best.bytes), &proof);
        ScratchpadPlan { steps: self.budget - steps.left, timed_out: is_stopped, ..plan }
    }
}

/// Returns the best selection with fewer HBM bytes than the ceiling, ignoring addresses, and a lower bound of all
/// selections. A narrow sweep finds a low ceiling. If no sweep can hold all sets below that ceiling, lower ceilings are
/// tried first: a lower ceiling leaves fewer sets.
fn select_below_ceiling(
    problem: &SelectionProblem,
    prices: &mut DualPrices,
    cuts: &[PackingCut],
    (floor, ceiling): (i64, i64),
    steps: &mut StepBudget,
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Option<(Option<ResidencySelection>, i64)> {
    let (mut best, mut bound, mut ceiling): (Option<ResidencySelection>, i64, i64) = (None, floor, ceiling);
    let (mut width, mut reach) = if cuts.is_empty() { (NARROW_WIDTH, i64::MAX) } else { (INITIAL_WIDTH, 1) };
    let mut is_fitted = false;
    let mut moments = SweepSchedule::new(problem, prices)?;
    loop {
        let goal = ceiling.min(bound.saturating_add(reach));
        let swept = sweep(
            problem,
            prices,
            &moments,
            cuts,
            &SweepLimits { ceiling: goal, width, branches: width },
            steps.left,
            go_on,
        );
        steps.left = steps.left.saturating_sub(swept.steps);
        let is_complete = swept.bound >= goal;
        bound = bound.max(swept.bound);
        if let Some(found) = swept.best {
            ceiling = found.hbm_bytes(problem);
            best = Some(found);
        }
        if bound >= ceiling || steps.left == 0 || swept.is_stopped || (width >= MAX_WIDTH && !is_complete) {
            return Some((best, bound));
        }
        if width == NARROW_WIDTH {
            width = INITIAL_WIDTH;
            continue;
        }
        if is_complete {
            reach = reach.saturating_mul(2);
            continue;
        }
        if !is_fitted {
            let goal = (ceiling - problem.fixed_bytes) * prices.scale;
            *prices = DualPrices::new_optimized(problem, prices.scale, goal, NUM_REFINED_PRICE_STEPS);
            moments = SweepSchedule::new(problem, prices)?;
            is_fitted = true;
        }
        if reach == i64::MAX {
            // One sweep cannot hold all sets.
            reach = (ceiling - bound) / 16 + 1;
        } else {
            width *= 4;
        }
    }
}

/// Returns the best plan of some heuristic planners.
fn find_best_simple_plan(
    problem: &SelectionProblem,
    buffers: &[Buffer],
    capacity: &Capacity,
    planners: &[&dyn Planner],
) -> BestPlan {
    let none = ResidencySelection::all_in_hbm(problem);
    let mut best = BestPlan { bytes: none.hbm_bytes(problem), selection: none, placed: Vec::new() };
    for planner in planners {
        best = choose_better(best, best_plan_from_placement(problem, &planner.plan(buffers, capacity)));
    }
    best
}

/// Returns the better of two plans; the first if they are equal.
fn choose_better(one: BestPlan, other: BestPlan) -> BestPlan {
    if other.bytes < one.bytes { other } else { one }
}

fn best_plan_from_placement(problem: &SelectionProblem, placement: &Placement) -> BestPlan {
    let (selection, placed) = selection_from_placement(problem, placement);
    BestPlan { bytes: selection.hbm_bytes(problem), selection, placed }
}

/// Converts a placement into a selection.
fn selection_from_placement(
    problem: &SelectionProblem,
    placement: &Placement,
) -> (ResidencySelection, Vec<(ResidencyInterval, i64)>) {
    let mut selection = ResidencySelection::all_in_hbm(problem);
    let mut placed = Vec::new();
    for (index, value) in problem.values.iter().enumerate() {
        let Some(address) = placement.addresses[value.buffer] else { continue };
        let n = value.uses.len();
        selection.intervals[index] = ValueResidency { in_lx: vec![true; n], keeps: vec![true; n], parent: None };
        placed.push((ResidencyInterval { value: index, first: 0, last: n - 1 }, address));
    }
    (selection, placed)
}

/// Returns the operations with uses, in program order: the operation of each tick.
fn collect_use_times(buffers: &[Buffer]) -> Vec<usize> {
    let mut times: Vec<usize> = buffers.iter().flat_map(|buffer| buffer.uses.iter().map(|one| one.time)).collect();
    times.sort_unstable();
    times.dedup();
    times
}

/// Builds the plan of the best selection. Requires that `bound` does not exceed the HBM bytes of `best`.
fn build_plan(
    problem: &SelectionProblem,
    (buffers, capacity): (&[Buffer], &Capacity),
    best: &BestPlan,
    bound: i64,
    proof: &BoundProof,
) -> ScratchpadPlan {
    let intervals = collect_lx_intervals(problem, buffers, best);
    let mut reasons: Vec<Option<String>> =
        buffers.iter().map(|buffer| Some(explain_hbm_residency(buffer, capacity))).collect();
    intervals.iter().for_each(|interval| reasons[interval.buffer] = None);
    ScratchpadPlan {
        intervals,
        hbm_bytes_left: best.bytes,
        lower_bound: bound,
        optimal: bound == best.bytes,
        steps: 0,
        timed_out: false,
        reasons,
        certificate: build_certificate(problem, &collect_use_times(buffers), proof),
    }
}

fn explain_hbm_residency(buffer: &Buffer, capacity: &Capacity) -> String {
    match &buffer.barred {
        Some(barred) => barred.to_string(),
        None if buffer.bytes > capacity.bytes => {
            format!("it needs {} bytes and LX has {}", buffer.bytes, capacity.bytes)
        }
        None => "other buffers save more HBM bytes, or it saves none".to_owned(),
    }
}

fn collect_lx_intervals(problem: &SelectionProblem, buffers: &[Buffer], best: &BestPlan) -> Vec<LxInterval> {
    let times = collect_use_times(buffers);
    let interval = |&(run, address): &(ResidencyInterval, i64)| {
        let (buffer, start, end) = to_operations(problem, &times, run);
        LxInterval { buffer, start, end, address }
    };
    let mut intervals: Vec<LxInterval> = best.placed.iter().map(interval).collect();
    intervals.sort_unstable();
    intervals
}

/// Returns the buffer, the first operation, and the last operation plus one.
fn to_operations(problem: &SelectionProblem, times: &[usize], run: ResidencyInterval) -> (usize, usize, usize) {
    let ticks = run.ticks(problem);
    (problem.values[run.value].buffer, times[ticks.start], times[ticks.end - 1] + 1)
}

fn build_certificate(problem: &SelectionProblem, times: &[usize], proof: &BoundProof) -> BoundCertificate {
    let cut = |cut: &PackingCut| CertifiedCut {
        intervals: cut.runs.iter().map(|&run| to_operations(problem, times, run)).collect(),
        mergers: cut
            .merges
            .iter()
            .map(|&(child, parent)| (problem.values[child].buffer, problem.values[parent].buffer))
            .collect(),
        absent: cut.absent.iter().map(|&value| problem.values[value].buffer).collect(),
    };
    let rented = |one: &StepMultipliers| {
        let rents = one.multipliers.iter().map(|&(value, bytes)| (problem.values[value].buffer, bytes));
        (times[one.tick], rents.collect())
    };
    let priced = times.iter().copied().zip(proof.prices.unit_prices.iter().copied()).filter(|&(_, price)| price > 0);
    BoundCertificate {
        whole_live_ranges: problem.mode == ResidencyMode::Whole,
        scale: proof.prices.scale,
        prices: priced.collect(),
        cuts: proof.cuts.iter().map(cut).collect(),
        multipliers: proof.multipliers.iter().map(rented).collect(),
    }
}
