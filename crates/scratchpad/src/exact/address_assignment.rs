//! Assigns addresses to the residency intervals of a selection, or finds sets of intervals that do not fit together.

use super::{
    chains::{AddressChain, ChainLink, build_chain_packer},
    cut::PackingCut,
    problem::SelectionProblem,
    selection::{ResidencyInterval, ResidencySelection},
};
use crate::pack::{Packer, PackingResult, StepBudget};
use std::collections::BTreeMap;

/// Result of the address assignment of a selection.
pub(crate) enum AddressAssignment {
    /// Address in bytes of each interval.
    Placed(Vec<(ResidencyInterval, i64)>),
    /// Sets of intervals for which no addresses were found.
    Unplaced(Vec<Vec<ResidencyInterval>>),
}

/// Intervals at one address.
struct AddressGroup {
    runs: Vec<ResidencyInterval>,
    chain: AddressChain,
}

/// Intervals that are placed together or not at all.
pub(super) struct IntervalGroup {
    pub(super) runs: Vec<ResidencyInterval>,
    pub(super) chain: AddressChain,
    /// HBM bytes that placing the group saves.
    pub(super) saves: i64,
}

/// Assigns addresses to all residency intervals of `selection`. Groups of intervals with overlapping live ranges are
/// packed separately, each in at most `most` steps.
pub(crate) fn assign_addresses(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    most: u64,
    steps: &mut StepBudget,
) -> AddressAssignment {
    let runs = selection.collect_intervals();
    let mut groups = group_intervals(problem, selection, &runs);
    groups.sort_by_key(|group| group.chain.live_range().start);
    let is_empty = |run: &&ResidencyInterval| problem.values[run.value].units == 0;
    let mut placed: Vec<(ResidencyInterval, i64)> = runs.iter().filter(is_empty).map(|run| (*run, 0)).collect();
    let mut unplaced = Vec::new();
    let mut rest = &groups[..];
    while let Some(first) = rest.first() {
        let (mut n, mut end) = (1, first.chain.live_range().end);
        while n < rest.len() && rest[n].chain.live_range().start < end {
            end = end.max(rest[n].chain.live_range().end);
            n += 1;
        }
        let (part, after) = rest.split_at(n);
        match pack_component(problem, selection, part, most, steps) {
            Some(addresses) => placed.extend(addresses),
            None => unplaced.push(part.iter().flat_map(|group| group.runs.iter().copied()).collect()),
        }
        rest = after;
    }
    placed.sort_unstable();
    if unplaced.is_empty() { AddressAssignment::Placed(placed) } else { AddressAssignment::Unplaced(unplaced) }
}

/// Finds addresses of groups that are live together, either with every in-place reuse of the selection or only with
/// those that save necessary space. Both are tried, because a long chain of reuses may be as hard to place as one
/// buffer of its length.
fn pack_component(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    part: &[AddressGroup],
    most: u64,
    steps: &mut StepBudget,
) -> Option<Vec<(ResidencyInterval, i64)>> {
    let placed = |groups: &[AddressGroup], packing: PackingResult| match packing {
        PackingResult::Placed(addresses) => Some(to_byte_addresses(problem, groups, &addresses)),
        PackingResult::Infeasible | PackingResult::OutOfSteps => None,
    };
    let mut chained = build_group_packer(problem, part);
    if part.iter().all(|group| group.runs.len() == 1) {
        return placed(part, run_limited(most, steps, &mut chained));
    }
    let mut runs: Vec<ResidencyInterval> = part.iter().flat_map(|group| group.runs.iter().copied()).collect();
    runs.sort_unstable();
    let loose = group_intervals(problem, &remove_unneeded_reuse(problem, selection, &runs), &runs);
    let mut loosely = build_group_packer(problem, &loose);
    // If there is enough space, one list packing suffices.
    if let Some(found) = placed(&loose, run_limited(loose.len() as u64, steps, &mut loosely)) {
        return Some(found);
    }
    let answer = run_limited(most / 8, steps, &mut chained);
    let is_open = answer == PackingResult::OutOfSteps;
    if let Some(found) = placed(part, answer).or_else(|| placed(&loose, run_limited(most / 2, steps, &mut loosely))) {
        return Some(found);
    }
    if is_open { placed(part, run_limited(most, steps, &mut chained)) } else { None }
}

fn build_group_packer(problem: &SelectionProblem, groups: &[AddressGroup]) -> Packer {
    let chains: Vec<AddressChain> = groups.iter().map(|group| group.chain.clone()).collect();
    build_chain_packer(&chains, problem.units)
}

fn to_byte_addresses(
    problem: &SelectionProblem,
    groups: &[AddressGroup],
    addresses: &[i64],
) -> Vec<(ResidencyInterval, i64)> {
    let runs =
        groups.iter().zip(addresses).flat_map(|(group, address)| group.runs.iter().map(move |run| (*run, address)));
    runs.map(|(run, address)| (run, address * problem.unit_bytes)).collect()
}

/// Returns the selection with only those in-place reuses that save necessary space.
fn remove_unneeded_reuse(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    runs: &[ResidencyInterval],
) -> ResidencySelection {
    let mut room = vec![problem.units; problem.num_ticks];
    for run in runs {
        room[run.ticks(problem)].iter_mut().for_each(|room| *room -= problem.values[run.value].units);
    }
    let mut loose = selection.clone();
    let mut children: Vec<usize> = runs.iter().filter(|run| run.first == 0).map(|run| run.value).collect();
    children.retain(|&child| selection.intervals[child].parent.is_some());
    for &child in &children {
        room[problem.values[child].first_tick()] += problem.values[child].units;
    }
    children.sort_by_key(|&child| (problem.values[child].units, child));
    for child in children {
        let (room, units) = (&mut room[problem.values[child].first_tick()], problem.values[child].units);
        if *room >= units {
            *room -= units;
            loose.intervals[child].parent = None;
        }
    }
    loose
}

/// Steps that one node of a packing search costs: they take about as much time.
const STEPS_PER_NODE: u64 = 8;

/// Runs a packing search for at most `most` packing nodes.
fn run_limited(most: u64, steps: &mut StepBudget, packer: &mut Packer) -> PackingResult {
    let granted = most.min(steps.left.div_ceil(STEPS_PER_NODE));
    let mut some = StepBudget { left: granted };
    let packing = packer.run(&mut some);
    steps.left = steps.left.saturating_sub((granted - some.left) * STEPS_PER_NODE);
    packing
}

/// Returns the groups of intervals of a selection that share an address, with the HBM bytes that each group saves.
pub(super) fn collect_interval_groups(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
) -> Vec<IntervalGroup> {
    let parcel = |group: AddressGroup| {
        let mut without = selection.clone();
        let bytes = |selection: &ResidencySelection| {
            group.runs.iter().map(|run| selection.value_bytes(problem, run.value)).sum::<i64>()
        };
        let before = bytes(selection);
        group.runs.iter().for_each(|run| without.remove_interval(problem, *run));
        let saves = bytes(&without) - before;
        IntervalGroup { runs: group.runs, chain: group.chain, saves }
    };
    group_intervals(problem, selection, &selection.collect_intervals()).into_iter().map(parcel).collect()
}

/// Builds the chain of intervals at one address.
pub(super) fn build_chain(problem: &SelectionProblem, runs: &[ResidencyInterval]) -> AddressChain {
    let link = |run: &ResidencyInterval| {
        let (ticks, value) = (run.ticks(problem), &problem.values[run.value]);
        ChainLink { start: ticks.start, end: ticks.end, units: value.units, limit: value.limit }
    };
    AddressChain { links: runs.iter().map(link).collect() }
}

/// Groups the intervals that reuse addresses of each other. Omits empty intervals.
fn group_intervals(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    runs: &[ResidencyInterval],
) -> Vec<AddressGroup> {
    let ending: BTreeMap<usize, usize> = (0..runs.len())
        .filter(|&at| runs[at].last + 1 == problem.values[runs[at].value].uses.len())
        .map(|at| (runs[at].value, at))
        .collect();
    let parent_of = |run: &ResidencyInterval| {
        let parent = selection.intervals[run.value].parent.filter(|_| run.first == 0)?;
        ending.get(&parent).copied()
    };
    let mut order: Vec<usize> = (0..runs.len()).filter(|&at| problem.values[runs[at].value].units > 0).collect();
    // Parents precede their children: of two intervals that begin together, the parent was born earlier or is listed
    // first.
    order.sort_by_key(|&at| (runs[at].ticks(problem).start, problem.values[runs[at].value].first_tick(), runs[at]));
    let mut group_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: Vec<AddressGroup> = Vec::new();
    for at in order {
        let (run, value) = (runs[at], &problem.values[runs[at].value]);
        let ticks = run.ticks(problem);
        let link = ChainLink { start: ticks.start, end: ticks.end, units: value.units, limit: value.limit };
        match parent_of(&run).and_then(|parent| group_of.get(&parent).copied()) {
            Some(group) => {
                groups[group].runs.push(run);
                groups[group].chain.links.push(link);
                group_of.insert(at, group);
            }
            None => {
                group_of.insert(at, groups.len());
                groups.push(AddressGroup { runs: vec![run], chain: AddressChain { links: vec![link] } });
            }
        }
    }
    groups
}

/// Maximum number of steps of a cut's proof. A simple checker has to repeat the proof.
const MAX_PROOF_STEPS: u64 = 5_000;
/// Number of steps after which a set of intervals counts as hard.
const HARD_STEPS: u64 = 300;

/// Returns a small set of intervals for which addresses are hard to find, as a cut, and whether it is proved that no
/// addresses exist.
pub(crate) fn find_infeasible_core(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    runs: &[ResidencyInterval],
    steps: &mut StepBudget,
) -> Option<(PackingCut, bool)> {
    let search = |runs: &[ResidencyInterval], most: u64, steps: &mut StepBudget| {
        run_limited(most, steps, &mut build_group_packer(problem, &group_intervals(problem, selection, runs)))
    };
    // The core must keep an interval through which a remaining interval could inherit the address of another one.
    let is_linked = |rest: &[ResidencyInterval]| {
        let cut = PackingCut::from_runs(problem, selection, rest.to_vec());
        cut.absent.iter().any(|&link| selection.intervals[link].in_lx[0])
    };
    let mut order: Vec<ResidencyInterval> = runs.to_vec();
    // Small intervals are removed first. Links are removed after the intervals that they connect.
    order.sort_by_key(|run| {
        (
            problem.values[run.value].may_pass_address_on(),
            problem.values[run.value].units * run.ticks(problem).len() as i64,
            *run,
        )
    });
    shrink_core(&mut order, |rest| {
        !is_linked(rest) && !matches!(search(rest, HARD_STEPS, steps), PackingResult::Placed(_))
    });
    let proved = matches!(search(&order, MAX_PROOF_STEPS, steps), PackingResult::Infeasible);
    if proved {
        shrink_core(&mut order, |rest| {
            !is_linked(rest) && matches!(search(rest, MAX_PROOF_STEPS, steps), PackingResult::Infeasible)
        });
    } else if matches!(search(&order, HARD_STEPS, steps), PackingResult::Placed(_)) {
        return None;
    }
    order.sort_unstable();
    Some((PackingCut::from_runs(problem, selection, order), proved))
}

/// Removes intervals while `fails` holds for the remaining ones: first halves, then quarters, and so on.
fn shrink_core(order: &mut Vec<ResidencyInterval>, mut fails: impl FnMut(&[ResidencyInterval]) -> bool) {
    let mut size = order.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < order.len() {
            let end = (start + size).min(order.len());
            let rest: Vec<ResidencyInterval> = order[..start].iter().chain(&order[end..]).copied().collect();
            if fails(&rest) {
                *order = rest;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
}
