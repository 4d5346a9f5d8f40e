//! Plans and bounds for what the exact search cannot close: better prices, selections that leave some of LX free until one can be packed,
//! and annealing.

use super::{
    anneal::{anneal, parcels},
    moment::{Moments, can_be_swept},
    places::place,
    prices::Prices,
    problem::Problem,
    proof::{Proof, ceil_div},
    refine::refined,
    rents::rents,
    selection::{Best, Run, Selection, trim},
    settle::{Parcel, Settled, settle},
    sweep::{Limits, sweep},
};
use crate::{pack::Steps, progress::GoOn};

/// Rounds of [`refined`].
const ROUNDS: u64 = 1_000;
/// Where there are many buffers, they may have one in so many of the steps.
const SHARE_OF_PRICES: u64 = 4;
/// Rents may have one in so many of the steps.
const SHARE_OF_RENTS: u64 = 10;
/// Sets per operation, and sets from one set: the first pair is quick, the second finds a way where many values must leave at once.
const WIDTHS: [(usize, usize); 2] = [(64, 64), (16, 4096)];
/// Thousandths of LX that a selection leaves free, so that it can be packed.
const FREE: [i64; 7] = [0, 10, 20, 40, 70, 100, 140];
/// One packing may take a node for as many steps.
const SHARE_OF_NODES: u64 = 200;
/// Heat from nothing, and from a plan ([`anneal`]).
const HOT: i64 = 60;
const WARM: i64 = 7;

/// Prices close to the best ones.
pub(super) fn better_prices(problem: &Problem, prices: &Prices, best: &Best, steps: &mut Steps, go_on: GoOn<'_>) -> Prices {
    let size = (problem.values.len() + problem.n_ticks) as u64;
    let affordable = if problem.is_large() { steps.left / SHARE_OF_PRICES * 8 / size } else { ROUNDS };
    let rounds = ROUNDS.min(affordable);
    steps.left = steps.left.saturating_sub(rounds * size / 8);
    let left = steps.left;
    refined(problem, prices, (best.bytes - problem.fixed_bytes) * prices.scale, rounds, &mut || go_on(left, best.bytes))
}

/// The better of the bounds of prices and rents, if it is above the one known, with its proof.
pub(super) fn better_bound(problem: &Problem, prices: &Prices, best: &Best, (bound, proof): (i64, &mut Proof), steps: &mut Steps) -> i64 {
    let priced = (problem.fixed_bytes + ceil_div(prices.bound(), prices.scale)).min(best.bytes);
    let (rents, taken) = rents(problem, prices, best.bytes, steps.left / SHARE_OF_RENTS);
    steps.left = steps.left.saturating_sub(taken);
    let rented = rents.as_ref().map_or(i64::MIN, |rents| rents.bound.min(best.bytes));
    if priced.max(rented) <= bound {
        return bound;
    }
    let rents = if rented > priced { rents.map_or_else(Vec::new, |rents| rents.operations) } else { Vec::new() };
    // Rents are a proof by themselves.
    let prices = if rents.is_empty() { prices.clone() } else { Prices::new(problem, 1, vec![0; problem.n_ticks]) };
    *proof = Proof { prices, cuts: Vec::new(), rents };
    priced.max(rented)
}

/// Better plans, until the steps are used; false if it was stopped. If no selection packs, annealing begins hot, from nothing.
pub(super) fn improve(problem: &Problem, prices: &Prices, best: &mut Best, steps: &mut Steps, go_on: GoOn<'_>) -> bool {
    if problem.is_large() {
        return place(problem, prices, best, steps, go_on);
    }
    let Some(has_packed) = select_and_pack(problem, prices, best, steps, go_on) else { return false };
    if !has_packed {
        let all = best.selection.clone();
        let mut part = Steps { left: steps.left / 2 };
        steps.left -= part.left;
        let kept_back = steps.left;
        let goes_on = replace(problem, (&all, &[]), HOT, best, &mut part, &mut |left, bytes| go_on(kept_back + left, bytes));
        steps.left += part.left;
        if !goes_on {
            return false;
        }
    }
    let selection = best.selection.clone();
    let placed = best.placed.clone();
    replace(problem, (&selection, &placed), WARM, best, steps, go_on)
}

/// The best selection for a part of LX that has addresses in all of it: with less and less of LX until there are addresses, and then more
/// again. Says whether that is the best plan; none if it was stopped.
fn select_and_pack(problem: &Problem, prices: &Prices, best: &mut Best, steps: &mut Steps, go_on: GoOn<'_>) -> Option<bool> {
    if !can_be_swept(problem) {
        return Some(false);
    }
    let kept_back = steps.left / 3;
    let nodes = steps.left / SHARE_OF_NODES;
    steps.left -= kept_back;
    let (mut fails, mut fits): (i64, Option<i64>) = (0, None);
    let mut rest = &FREE[..];
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
        if pack(problem, prices, free, nodes, best, steps, &mut |left, bytes| go_on(kept_back + left, bytes)) {
            fits = Some(free);
        } else {
            fails = free;
        }
    }
    steps.left += kept_back;
    Some(fits.is_some())
}

/// Whether a selection that leaves `free` thousandths of LX free is packed and better than the best plan.
fn pack(problem: &Problem, prices: &Prices, free: i64, nodes: u64, best: &mut Best, steps: &mut Steps, go_on: GoOn<'_>) -> bool {
    let smaller = Problem { units: problem.units - problem.units * free / 1000, ..problem.clone() };
    let mut prices = prices.clone();
    prices.update(&smaller);
    let Some(mut selection) = select(&smaller, &prices, best.bytes, steps, go_on) else { return false };
    trim(problem, &mut selection);
    let bytes = selection.hbm_bytes(problem);
    if bytes >= best.bytes {
        return false;
    }
    let Settled::Placed(placed) = settle(problem, &selection, nodes, steps) else { return false };
    *best = Best { bytes, selection, placed };
    true
}

fn select(problem: &Problem, prices: &Prices, ceiling: i64, steps: &mut Steps, go_on: GoOn<'_>) -> Option<Selection> {
    let moments = Moments::new(problem, prices)?;
    WIDTHS.iter().find_map(|&(width, branches)| {
        let swept =
            sweep(problem, prices, &moments, &[], &Limits { ceiling, width, branches }, steps.left, &mut |left| go_on(left, ceiling));
        steps.left = steps.left.saturating_sub(swept.steps);
        swept.best
    })
}

/// A better plan by annealing of the parcels of a selection and all the rest, from where they are; false if it was stopped.
fn replace(
    problem: &Problem,
    (selection, placed): (&Selection, &[(Run, i64)]),
    hot: i64,
    best: &mut Best,
    steps: &mut Steps,
    go_on: GoOn<'_>,
) -> bool {
    let parcels = parcels(problem, selection);
    let nothing: i64 = Selection::none(problem).hbm_bytes(problem);
    let known = best.bytes;
    let mut is_stopped = false;
    let address = |run: Run| placed.iter().find(|one| one.0 == run).map(|one| one.1 / problem.unit_bytes);
    // Takeovers that room does not need may have been left out in the plan: then its runs are not at one address, and it starts outside.
    let start_of = |parcel: &Parcel| {
        let first = address(*parcel.runs.first()?)?;
        parcel.runs.iter().all(|&run| address(run) == Some(first)).then_some(first)
    };
    let start = parcels.iter().map(start_of).collect();
    let addresses = anneal(&parcels, start, (problem.units, hot), steps, &mut |left, saved| {
        is_stopped = !go_on(left, known.min(nothing - saved));
        !is_stopped
    });
    let mut found = selection.clone();
    for run in selection.runs().into_iter().filter(|run| problem.values[run.value].units > 0) {
        found.remove(problem, run);
    }
    let mut placed: Vec<(Run, i64)> = found.runs().into_iter().map(|run| (run, 0)).collect();
    for (parcel, address) in parcels.iter().zip(addresses) {
        let Some(address) = address else { continue };
        for &run in &parcel.runs {
            let stay = &mut found.stays[run.value];
            stay.in_lx[run.first..=run.last].fill(true);
            stay.keeps[run.first..run.last].fill(true);
            if run.first == 0 {
                stay.parent = selection.stays[run.value].parent;
            }
            placed.push((run, address * problem.unit_bytes));
        }
    }
    let bytes = found.hbm_bytes(problem);
    if bytes < best.bytes {
        *best = Best { bytes, selection: found, placed };
    }
    !is_stopped
}
