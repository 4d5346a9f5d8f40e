//! Plans and bounds for problems that the exact search cannot close: better prices, packings of selections that leave
//! part of LX free, and annealing.

use super::{
    address_assignment::{AddressAssignment, IntervalGroup, assign_addresses},
    address_sweep::improve_by_address_sweeps,
    anneal::{anneal, collect_candidate_groups},
    multipliers::search_multipliers,
    prices::DualPrices,
    problem::SelectionProblem,
    proof::{BoundProof, ceil_div},
    refine::refine_prices,
    schedule_step::{SweepSchedule, can_be_swept},
    selection::{BestPlan, ResidencyInterval, ResidencySelection, remove_useless_intervals},
    sweep::{SweepLimits, sweep},
};
use crate::{pack::StepBudget, progress::ProgressCallback};

/// Maximum number of subgradient steps of [`refine_prices`].
const MAX_ROUNDS: u64 = 1_000;
/// Divisor of the step budget for better prices, if the problem is large.
const PRICE_BUDGET_DIVISOR: u64 = 4;
/// Divisor of the step budget for multipliers per value.
const MULTIPLIER_BUDGET_DIVISOR: u64 = 10;
/// Sets kept per operation, and successors per set. The first pair is fast. The second finds plans in which many values
/// leave LX at once.
const SWEEP_WIDTHS: [(usize, usize); 2] = [(64, 64), (16, 4096)];
/// Fractions of LX, in thousandths, that a selection leaves free so that packing it is easier.
const FREE_FRACTIONS: [i64; 7] = [0, 10, 20, 40, 70, 100, 140];
/// Divisor of the step budget for the search nodes of one packing.
const NODE_BUDGET_DIVISOR: u64 = 200;
/// Initial temperatures of [`anneal`], in hundredths of the mean saving: without a plan and with one.
const INITIAL_TEMPERATURE: i64 = 60;
const RESTART_TEMPERATURE: i64 = 7;

/// Improves `prices` by subgradient steps, as far as the budget permits.
pub(super) fn improve_prices(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> DualPrices {
    let size = (problem.values.len() + problem.num_ticks) as u64;
    let affordable = if problem.is_large() { steps.left / PRICE_BUDGET_DIVISOR * 8 / size } else { MAX_ROUNDS };
    let rounds = MAX_ROUNDS.min(affordable);
    steps.left = steps.left.saturating_sub(rounds * size / 8);
    let left = steps.left;
    refine_prices(problem, prices, (best.bytes - problem.fixed_bytes) * prices.scale, rounds, &mut || {
        go_on(left, best.bytes)
    })
}

/// Returns the better of two bounds with its proof: that of prices, and that of multipliers per value. Keeps the known
/// bound if both are lower.
pub(super) fn improve_bound(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &BestPlan,
    (bound, proof): (i64, &mut BoundProof),
    steps: &mut StepBudget,
) -> i64 {
    let priced = (problem.fixed_bytes + ceil_div(prices.bound(), prices.scale)).min(best.bytes);
    let (rents, taken) = search_multipliers(problem, prices, best.bytes, steps.left / MULTIPLIER_BUDGET_DIVISOR);
    steps.left = steps.left.saturating_sub(taken);
    let rented = rents.as_ref().map_or(i64::MIN, |rents| rents.bound.min(best.bytes));
    if priced.max(rented) <= bound {
        return bound;
    }
    let rents = if rented > priced { rents.map_or_else(Vec::new, |rents| rents.operations) } else { Vec::new() };
    // Multipliers per value are a complete proof without prices.
    let prices =
        if rents.is_empty() { prices.clone() } else { DualPrices::new(problem, 1, vec![0; problem.num_ticks]) };
    *proof = BoundProof { prices, cuts: Vec::new(), multipliers: rents };
    priced.max(rented)
}

/// Searches better plans until the steps are used. Returns false if the callback stopped the search. If no selection
/// can be packed, annealing begins without addresses and at high temperature.
pub(super) fn improve_plan(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> bool {
    if problem.is_large() {
        return improve_by_address_sweeps(problem, prices, best, steps, go_on);
    }
    let Some(has_packed) = select_and_pack(problem, prices, best, steps, go_on) else { return false };
    if !has_packed {
        let all = best.selection.clone();
        let mut part = StepBudget { left: steps.left / 2 };
        steps.left -= part.left;
        let kept_back = steps.left;
        let goes_on =
            anneal_selection(problem, (&all, &[]), INITIAL_TEMPERATURE, best, &mut part, &mut |left, bytes| {
                go_on(kept_back + left, bytes)
            });
        steps.left += part.left;
        if !goes_on {
            return false;
        }
    }
    let selection = best.selection.clone();
    let placed = best.placed.clone();
    anneal_selection(problem, (&selection, &placed), RESTART_TEMPERATURE, best, steps, go_on)
}

/// Searches the largest share of LX that a selection may use so that it can be packed. The share first shrinks until
/// packing succeeds, then grows. Returns whether the best plan improved, or `None` if the callback stopped the search.
fn select_and_pack(
    problem: &SelectionProblem,
    prices: &DualPrices,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> Option<bool> {
    if !can_be_swept(problem) {
        return Some(false);
    }
    let kept_back = steps.left / 3;
    let nodes = steps.left / NODE_BUDGET_DIVISOR;
    steps.left -= kept_back;
    let (mut fails, mut fits): (i64, Option<i64>) = (0, None);
    let mut rest = &FREE_FRACTIONS[..];
    loop {
        let free = match (fits, rest) {
            (Some(fits), _) if fits - fails > 4 => fits.midpoint(fails),
            (None, [first, ..]) => *first,
            (Some(_) | None, _) => break,
        };
        if steps.left == 0 {
            break;
        }
        if !go_on(kept_back + steps.left, best.bytes) {
            return None;
        }
        rest = &rest[usize::from(fits.is_none())..];
        if pack_with_slack(problem, prices, free, nodes, best, steps, &mut |left, bytes| go_on(kept_back + left, bytes))
        {
            fits = Some(free);
        } else {
            fails = free;
        }
    }
    steps.left += kept_back;
    Some(fits.is_some())
}

/// Selects values for an LX that is smaller by `free` thousandths, and packs them into LX. Returns whether the best
/// plan improved.
fn pack_with_slack(
    problem: &SelectionProblem,
    prices: &DualPrices,
    free: i64,
    nodes: u64,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> bool {
    let smaller = SelectionProblem { units: problem.units - problem.units * free / 1000, ..problem.clone() };
    let mut prices = prices.clone();
    prices.update(&smaller);
    let Some(mut selection) = select_values(&smaller, &prices, best.bytes, steps, go_on) else { return false };
    remove_useless_intervals(problem, &mut selection);
    let bytes = selection.hbm_bytes(problem);
    if bytes >= best.bytes {
        return false;
    }
    let AddressAssignment::Placed(placed) = assign_addresses(problem, &selection, nodes, steps) else { return false };
    *best = BestPlan { bytes, selection, placed };
    true
}

fn select_values(
    problem: &SelectionProblem,
    prices: &DualPrices,
    ceiling: i64,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> Option<ResidencySelection> {
    let moments = SweepSchedule::new(problem, prices)?;
    SWEEP_WIDTHS.iter().find_map(|&(width, branches)| {
        let swept =
            sweep(problem, prices, &moments, &[], &SweepLimits { ceiling, width, branches }, steps.left, &mut |left| {
                go_on(left, ceiling)
            });
        steps.left = steps.left.saturating_sub(swept.steps);
        swept.best
    })
}

/// Anneals the groups of a selection and all other groups, starting from their current addresses. Returns false if the
/// callback stopped the search.
fn anneal_selection(
    problem: &SelectionProblem,
    (selection, placed): (&ResidencySelection, &[(ResidencyInterval, i64)]),
    hot: i64,
    best: &mut BestPlan,
    steps: &mut StepBudget,
    go_on: ProgressCallback<'_>,
) -> bool {
    let parcels = collect_candidate_groups(problem, selection);
    let nothing: i64 = ResidencySelection::all_in_hbm(problem).hbm_bytes(problem);
    let known = best.bytes;
    let mut is_stopped = false;
    let address = |run: ResidencyInterval| placed.iter().find(|one| one.0 == run).map(|one| one.1 / problem.unit_bytes);
    // The plan may omit reuses that save no necessary space. The intervals of such a group have several addresses, so
    // the group starts without one.
    let start_of = |parcel: &IntervalGroup| {
        let first = address(*parcel.intervals.first()?)?;
        parcel.intervals.iter().all(|&run| address(run) == Some(first)).then_some(first)
    };
    let start = parcels.iter().map(start_of).collect();
    let addresses = anneal(&parcels, start, (problem.units, hot), steps, &mut |left, saved| {
        is_stopped = !go_on(left, known.min(nothing - saved));
        !is_stopped
    });
    let mut found = selection.clone();
    for run in selection.collect_intervals().into_iter().filter(|run| problem.values[run.value].units > 0) {
        found.remove_interval(problem, run);
    }
    let mut placed: Vec<(ResidencyInterval, i64)> = found.collect_intervals().into_iter().map(|run| (run, 0)).collect();
    for (parcel, address) in parcels.iter().zip(addresses) {
        let Some(address) = address else { continue };
        for &run in &parcel.intervals {
            let interval = &mut found.intervals[run.value];
            interval.in_lx[run.first..=run.last].fill(true);
            interval.keeps[run.first..run.last].fill(true);
            if run.first == 0 {
                interval.parent = selection.intervals[run.value].parent;
            }
            placed.push((run, address * problem.unit_bytes));
        }
    }
    let bytes = found.hbm_bytes(problem);
    if bytes < best.bytes {
        *best = BestPlan { bytes, selection: found, placed };
    }
    !is_stopped
}
