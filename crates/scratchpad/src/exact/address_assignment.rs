//! Assigns LX addresses to the residency intervals of a selection, or finds sets of intervals that do not fit together.

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

/// Intervals at one address, because each reuses the address of its predecessor in place.
struct AddressGroup {
    intervals: Vec<ResidencyInterval>,
    chain: AddressChain,
}

/// Intervals at one address, which are placed together or not at all.
pub(super) struct IntervalGroup {
    pub(super) intervals: Vec<ResidencyInterval>,
    pub(super) chain: AddressChain,
    /// HBM bytes that placing the group saves.
    pub(super) saved_bytes: i64,
}

/// Assigns addresses to all residency intervals of `selection`. Connected components of overlapping live ranges are
/// packed separately. `max_nodes` limits the packing nodes of each component, `steps` those of all together.
pub(crate) fn assign_addresses(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    max_nodes: u64,
    steps: &mut StepBudget,
) -> AddressAssignment {
    let intervals = selection.collect_intervals();
    let mut groups = group_intervals(problem, selection, &intervals);
    groups.sort_by_key(|group| group.chain.live_range().start);
    let is_empty = |interval: &&ResidencyInterval| problem.values[interval.value].units == 0;
    let mut placed: Vec<(ResidencyInterval, i64)> =
        intervals.iter().filter(is_empty).map(|interval| (*interval, 0)).collect();
    let mut unplaced = Vec::new();
    let mut rest = &groups[..];
    while let Some(first) = rest.first() {
        let (mut n, mut end) = (1, first.chain.live_range().end);
        while n < rest.len() && rest[n].chain.live_range().start < end {
            end = end.max(rest[n].chain.live_range().end);
            n += 1;
        }
        let (component, remaining) = rest.split_at(n);
        match pack_component(problem, selection, component, max_nodes, steps) {
            Some(addresses) => placed.extend(addresses),
            None => unplaced.push(component.iter().flat_map(|group| group.intervals.iter().copied()).collect()),
        }
        rest = remaining;
    }
    placed.sort_unstable();
    if unplaced.is_empty() { AddressAssignment::Placed(placed) } else { AddressAssignment::Unplaced(unplaced) }
}

/// Finds addresses for one connected component, either with every in-place reuse of the selection or only with those
/// that the capacity requires. Both are tried, because a long chain of reuses may be as hard to place as one buffer
/// with the live range of the chain.
fn pack_component(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    component: &[AddressGroup],
    max_nodes: u64,
    steps: &mut StepBudget,
) -> Option<Vec<(ResidencyInterval, i64)>> {
    let to_addresses = |groups: &[AddressGroup], packing: PackingResult| match packing {
        PackingResult::Placed(addresses) => Some(to_byte_addresses(problem, groups, &addresses)),
        PackingResult::Infeasible | PackingResult::OutOfSteps => None,
    };
    let mut chained_packer = build_group_packer(problem, component);
    if component.iter().all(|group| group.intervals.len() == 1) {
        return to_addresses(component, run_limited(max_nodes, steps, &mut chained_packer));
    }
    let mut intervals: Vec<ResidencyInterval> =
        component.iter().flat_map(|group| group.intervals.iter().copied()).collect();
    intervals.sort_unstable();
    let unchained_groups = group_intervals(problem, &remove_unneeded_reuse(problem, selection, &intervals), &intervals);
    let mut unchained_packer = build_group_packer(problem, &unchained_groups);
    // If there is enough space, one list packing suffices.
    if let Some(found) =
        to_addresses(&unchained_groups, run_limited(unchained_groups.len() as u64, steps, &mut unchained_packer))
    {
        return Some(found);
    }
    let result = run_limited(max_nodes / 8, steps, &mut chained_packer);
    let is_undecided = result == PackingResult::OutOfSteps;
    if let Some(found) = to_addresses(component, result)
        .or_else(|| to_addresses(&unchained_groups, run_limited(max_nodes / 2, steps, &mut unchained_packer)))
    {
        return Some(found);
    }
    if is_undecided { to_addresses(component, run_limited(max_nodes, steps, &mut chained_packer)) } else { None }
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
    let placed_intervals = groups
        .iter()
        .zip(addresses)
        .flat_map(|(group, address)| group.intervals.iter().map(move |interval| (*interval, address)));
    placed_intervals.map(|(interval, address)| (interval, address * problem.unit_bytes)).collect()
}

/// Returns the selection without the in-place reuses that the capacity does not require.
fn remove_unneeded_reuse(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    intervals: &[ResidencyInterval],
) -> ResidencySelection {
    let mut free_units = vec![problem.units; problem.num_ticks];
    for interval in intervals {
        free_units[interval.ticks(problem)].iter_mut().for_each(|room| *room -= problem.values[interval.value].units);
    }
    let mut pruned = selection.clone();
    let mut children: Vec<usize> =
        intervals.iter().filter(|interval| interval.first == 0).map(|run| run.value).collect();
    children.retain(|&child| selection.intervals[child].parent.is_some());
    for &child in &children {
        free_units[problem.values[child].first_tick()] += problem.values[child].units;
    }
    children.sort_by_key(|&child| (problem.values[child].units, child));
    for child in children {
        let (free, units) = (&mut free_units[problem.values[child].first_tick()], problem.values[child].units);
        if *free >= units {
            *free -= units;
            pruned.intervals[child].parent = None;
        }
    }
    pruned
}

/// Number of planner steps that take as long as one node of a packing search.
const STEPS_PER_NODE: u64 = 8;

/// Runs a packing search for at most `max_nodes` packing nodes, and subtracts their cost from `steps`.
fn run_limited(max_nodes: u64, steps: &mut StepBudget, packer: &mut Packer) -> PackingResult {
    let granted = max_nodes.min(steps.left.div_ceil(STEPS_PER_NODE));
    let mut granted_budget = StepBudget { left: granted };
    let packing = packer.run(&mut granted_budget);
    steps.left = steps.left.saturating_sub((granted - granted_budget.left) * STEPS_PER_NODE);
    packing
}

/// Returns the groups of intervals of a selection that share an address, with the HBM bytes that each group saves.
pub(super) fn collect_interval_groups(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
) -> Vec<IntervalGroup> {
    let to_interval_group = |group: AddressGroup| {
        let mut without = selection.clone();
        let bytes = |selection: &ResidencySelection| {
            group.intervals.iter().map(|interval| selection.value_bytes(problem, interval.value)).sum::<i64>()
        };
        let before = bytes(selection);
        group.intervals.iter().for_each(|interval| without.remove_interval(problem, *interval));
        let saves = bytes(&without) - before;
        IntervalGroup { intervals: group.intervals, chain: group.chain, saved_bytes: saves }
    };
    group_intervals(problem, selection, &selection.collect_intervals()).into_iter().map(to_interval_group).collect()
}

/// Builds the chain of intervals at one address.
pub(super) fn build_chain(problem: &SelectionProblem, intervals: &[ResidencyInterval]) -> AddressChain {
    let link = |interval: &ResidencyInterval| {
        let (ticks, value) = (interval.ticks(problem), &problem.values[interval.value]);
        ChainLink { start: ticks.start, end: ticks.end, units: value.units, limit: value.limit }
    };
    AddressChain { links: intervals.iter().map(link).collect() }
}

/// Groups the intervals that reuse addresses of each other. Omits intervals of size 0.
fn group_intervals(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    intervals: &[ResidencyInterval],
) -> Vec<AddressGroup> {
    let final_intervals: BTreeMap<usize, usize> = (0..intervals.len())
        .filter(|&at| intervals[at].last + 1 == problem.values[intervals[at].value].uses.len())
        .map(|at| (intervals[at].value, at))
        .collect();
    let parent_of = |interval: &ResidencyInterval| {
        let parent = selection.intervals[interval.value].parent.filter(|_| interval.first == 0)?;
        final_intervals.get(&parent).copied()
    };
    let mut order: Vec<usize> =
        (0..intervals.len()).filter(|&at| problem.values[intervals[at].value].units > 0).collect();
    // Parents precede their children: of two intervals that begin in one tick, the parent is defined earlier or is
    // listed first.
    order.sort_by_key(|&at| {
        (intervals[at].ticks(problem).start, problem.values[intervals[at].value].first_tick(), intervals[at])
    });
    let mut group_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: Vec<AddressGroup> = Vec::new();
    for at in order {
        let (interval, value) = (intervals[at], &problem.values[intervals[at].value]);
        let ticks = interval.ticks(problem);
        let link = ChainLink { start: ticks.start, end: ticks.end, units: value.units, limit: value.limit };
        match parent_of(&interval).and_then(|parent| group_of.get(&parent).copied()) {
            Some(group) => {
                groups[group].intervals.push(interval);
                groups[group].chain.links.push(link);
                group_of.insert(at, group);
            }
            None => {
                group_of.insert(at, groups.len());
                groups.push(AddressGroup { intervals: vec![interval], chain: AddressChain { links: vec![link] } });
            }
        }
    }
    groups
}

/// Maximum number of packing nodes of the proof of a cut. The limit is low because a simple checker repeats the proof.
const MAX_PROOF_NODES: u64 = 5_000;
/// Number of packing nodes after which a set of intervals counts as hard.
const HARD_PACKING_NODES: u64 = 300;

/// Returns a small infeasible set of intervals as a cut, and whether its infeasibility is proved. Without a proof, the
/// search only found no addresses in `HARD_PACKING_NODES` nodes. Returns `None` if addresses exist.
pub(crate) fn find_infeasible_core(
    problem: &SelectionProblem,
    selection: &ResidencySelection,
    intervals: &[ResidencyInterval],
    steps: &mut StepBudget,
) -> Option<(PackingCut, bool)> {
    let search = |intervals: &[ResidencyInterval], max_nodes: u64, steps: &mut StepBudget| {
        run_limited(max_nodes, steps, &mut build_group_packer(problem, &group_intervals(problem, selection, intervals)))
    };
    // An interval may link two others: one inherits the address of the other through it. Such a link must stay in the
    // core.
    let is_linked = |rest: &[ResidencyInterval]| {
        let cut = PackingCut::from_runs(problem, selection, rest.to_vec());
        cut.absent.iter().any(|&link| selection.intervals[link].in_lx[0])
    };
    let mut core: Vec<ResidencyInterval> = intervals.to_vec();
    // The reduction tries small intervals first, and links after the intervals that they connect.
    core.sort_by_key(|interval| {
        (
            problem.values[interval.value].may_pass_address_on(),
            problem.values[interval.value].units * interval.ticks(problem).len() as i64,
            *interval,
        )
    });
    shrink_core(&mut core, |rest| {
        !is_linked(rest) && !matches!(search(rest, HARD_PACKING_NODES, steps), PackingResult::Placed(_))
    });
    let proved = matches!(search(&core, MAX_PROOF_NODES, steps), PackingResult::Infeasible);
    if proved {
        shrink_core(&mut core, |rest| {
            !is_linked(rest) && matches!(search(rest, MAX_PROOF_NODES, steps), PackingResult::Infeasible)
        });
    } else if matches!(search(&core, HARD_PACKING_NODES, steps), PackingResult::Placed(_)) {
        return None;
    }
    core.sort_unstable();
    Some((PackingCut::from_runs(problem, selection, core), proved))
}

/// Removes intervals while `fails` holds for the remaining ones: first halves, then quarters, and so on (delta
/// debugging).
fn shrink_core(core: &mut Vec<ResidencyInterval>, mut fails: impl FnMut(&[ResidencyInterval]) -> bool) {
    let mut size = core.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < core.len() {
            let end = (start + size).min(core.len());
            let rest: Vec<ResidencyInterval> = core[..start].iter().chain(&core[end..]).copied().collect();
            if fails(&rest) {
                *core = rest;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
}
