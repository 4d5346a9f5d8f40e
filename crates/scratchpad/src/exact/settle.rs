//! Assigns addresses to the runs of a selection, or proves that the runs do not fit.

use super::{
    chains::{Chain, Link, packer},
    cut::Cut,
    problem::Problem,
    selection::{Run, Selection},
};
use crate::pack::{Packer, Packing, Steps};
use std::collections::BTreeMap;

/// Result of the address assignment for a selection.
pub(crate) enum Settled {
    /// Address in bytes of each run.
    Placed(Vec<(Run, i64)>),
    /// Sets of runs for which no addresses were found.
    Unplaced(Vec<Vec<Run>>),
}

/// Runs at one address.
struct Group {
    runs: Vec<Run>,
    chain: Chain,
}

/// Runs that are placed together or not at all.
pub(super) struct Parcel {
    pub(super) runs: Vec<Run>,
    pub(super) chain: Chain,
    /// HBM bytes saved.
    pub(super) saves: i64,
}

/// Finds addresses for all runs of a selection; groups of runs with overlapping live ranges are packed separately.
pub(crate) fn settle(problem: &Problem, selection: &Selection, most: u64, steps: &mut Steps) -> Settled {
    let runs = selection.runs();
    let mut groups = groups(problem, selection, &runs);
    groups.sort_by_key(|group| group.chain.life().start);
    let is_empty = |run: &&Run| problem.values[run.value].units == 0;
    let mut placed: Vec<(Run, i64)> = runs.iter().filter(is_empty).map(|run| (*run, 0)).collect();
    let mut unplaced = Vec::new();
    let mut rest = &groups[..];
    while let Some(first) = rest.first() {
        let (mut n, mut end) = (1, first.chain.life().end);
        while n < rest.len() && rest[n].chain.life().start < end {
            end = end.max(rest[n].chain.life().end);
            n += 1;
        }
        let (part, behind) = rest.split_at(n);
        match pack_part(problem, selection, part, most, steps) {
            Some(addresses) => placed.extend(addresses),
            None => unplaced.push(part.iter().flat_map(|group| group.runs.iter().copied()).collect()),
        }
        rest = behind;
    }
    placed.sort_unstable();
    if unplaced.is_empty() { Settled::Placed(placed) } else { Settled::Unplaced(unplaced) }
}

/// Finds addresses of groups that are live together: with all takeovers of the selection, or only with those that space requires. A long
/// chain of buffers may be as hard to place as one buffer of its length.
fn pack_part(problem: &Problem, selection: &Selection, part: &[Group], most: u64, steps: &mut Steps) -> Option<Vec<(Run, i64)>> {
    let placed = |groups: &[Group], packing: Packing| match packing {
        Packing::Placed(addresses) => Some(in_bytes(problem, groups, &addresses)),
        Packing::Impossible | Packing::OutOfSteps => None,
    };
    let mut chained = packer_of(problem, part);
    if part.iter().all(|group| group.runs.len() == 1) {
        return placed(part, limited(most, steps, &mut chained));
    }
    let mut runs: Vec<Run> = part.iter().flat_map(|group| group.runs.iter().copied()).collect();
    runs.sort_unstable();
    let loose = groups(problem, &loosened(problem, selection, &runs), &runs);
    let mut loosely = packer_of(problem, &loose);
    // If there is enough space, a single list packing suffices.
    if let Some(found) = placed(&loose, limited(loose.len() as u64, steps, &mut loosely)) {
        return Some(found);
    }
    let answer = limited(most / 8, steps, &mut chained);
    let is_open = answer == Packing::OutOfSteps;
    if let Some(found) = placed(part, answer).or_else(|| placed(&loose, limited(most / 2, steps, &mut loosely))) {
        return Some(found);
    }
    if is_open { placed(part, limited(most, steps, &mut chained)) } else { None }
}

fn packer_of(problem: &Problem, groups: &[Group]) -> Packer {
    let chains: Vec<Chain> = groups.iter().map(|group| group.chain.clone()).collect();
    packer(&chains, problem.units)
}

fn in_bytes(problem: &Problem, groups: &[Group], addresses: &[i64]) -> Vec<(Run, i64)> {
    let runs = groups.iter().zip(addresses).flat_map(|(group, address)| group.runs.iter().map(move |run| (*run, address)));
    runs.map(|(run, address)| (run, address * problem.unit_bytes)).collect()
}

/// Returns the selection without the takeovers that space does not require.
fn loosened(problem: &Problem, selection: &Selection, runs: &[Run]) -> Selection {
    let mut room = vec![problem.units; problem.n_ticks];
    for run in runs {
        room[run.ticks(problem)].iter_mut().for_each(|room| *room -= problem.values[run.value].units);
    }
    let mut loose = selection.clone();
    let mut children: Vec<usize> = runs.iter().filter(|run| run.first == 0).map(|run| run.value).collect();
    children.retain(|&child| selection.stays[child].parent.is_some());
    for &child in &children {
        room[problem.values[child].first()] += problem.values[child].units;
    }
    children.sort_by_key(|&child| (problem.values[child].units, child));
    for child in children {
        let (room, units) = (&mut room[problem.values[child].first()], problem.values[child].units);
        if *room >= units {
            *room -= units;
            loose.stays[child].parent = None;
        }
    }
    loose
}

/// Search steps that count as one node of a packing search; both take about the same time.
const STEPS_OF_NODE: u64 = 8;

/// Runs a search with a share of the steps.
fn limited(most: u64, steps: &mut Steps, packer: &mut Packer) -> Packing {
    let granted = most.min(steps.left.div_ceil(STEPS_OF_NODE));
    let mut some = Steps { left: granted };
    let packing = packer.run(&mut some);
    steps.left = steps.left.saturating_sub((granted - some.left) * STEPS_OF_NODE);
    packing
}

/// Returns the groups of a selection, with the HBM bytes that each one saves.
pub(super) fn parcels(problem: &Problem, selection: &Selection) -> Vec<Parcel> {
    let parcel = |group: Group| {
        let mut without = selection.clone();
        let bytes = |selection: &Selection| group.runs.iter().map(|run| selection.value_bytes(problem, run.value)).sum::<i64>();
        let before = bytes(selection);
        group.runs.iter().for_each(|run| without.remove(problem, *run));
        let saves = bytes(&without) - before;
        Parcel { runs: group.runs, chain: group.chain, saves }
    };
    groups(problem, selection, &selection.runs()).into_iter().map(parcel).collect()
}

/// Runs at one address.
pub(super) fn chain(problem: &Problem, runs: &[Run]) -> Chain {
    let link = |run: &Run| {
        let (ticks, value) = (run.ticks(problem), &problem.values[run.value]);
        Link { start: ticks.start, end: ticks.end, units: value.units, limit: value.limit }
    };
    Chain { links: runs.iter().map(link).collect() }
}

/// Groups the runs that take over addresses from one another. Empty runs are omitted.
fn groups(problem: &Problem, selection: &Selection, runs: &[Run]) -> Vec<Group> {
    let ending: BTreeMap<usize, usize> = (0..runs.len())
        .filter(|&at| runs[at].last + 1 == problem.values[runs[at].value].uses.len())
        .map(|at| (runs[at].value, at))
        .collect();
    let parent_of = |run: &Run| {
        let parent = selection.stays[run.value].parent.filter(|_| run.first == 0)?;
        ending.get(&parent).copied()
    };
    let mut order: Vec<usize> = (0..runs.len()).filter(|&at| problem.values[runs[at].value].units > 0).collect();
    // Parents precede their children: of two runs that begin together, the parent was born earlier or is listed first.
    order.sort_by_key(|&at| (runs[at].ticks(problem).start, problem.values[runs[at].value].first(), runs[at]));
    let mut group_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for at in order {
        let (run, value) = (runs[at], &problem.values[runs[at].value]);
        let ticks = run.ticks(problem);
        let link = Link { start: ticks.start, end: ticks.end, units: value.units, limit: value.limit };
        match parent_of(&run).and_then(|parent| group_of.get(&parent).copied()) {
            Some(group) => {
                groups[group].runs.push(run);
                groups[group].chain.links.push(link);
                group_of.insert(at, group);
            }
            None => {
                group_of.insert(at, groups.len());
                groups.push(Group { runs: vec![run], chain: Chain { links: vec![link] } });
            }
        }
    }
    groups
}

/// Maximum number of steps of a cut's proof, so that a simple checker can repeat it.
const PROOF_STEPS: u64 = 5_000;
/// Number of steps after which a set counts as hard.
const HARD_STEPS: u64 = 300;

/// Returns a small set of runs for which addresses are hard to find, and whether it is proved that none exist.
pub(crate) fn core(problem: &Problem, selection: &Selection, runs: &[Run], steps: &mut Steps) -> Option<(Cut, bool)> {
    let search =
        |runs: &[Run], most: u64, steps: &mut Steps| limited(most, steps, &mut packer_of(problem, &groups(problem, selection, runs)));
    // A run through which a remaining run could inherit the address of another one must be kept.
    let is_linked = |rest: &[Run]| {
        let cut = Cut::of(problem, selection, rest.to_vec());
        cut.absent.iter().any(|&link| selection.stays[link].in_lx[0])
    };
    let mut order: Vec<Run> = runs.to_vec();
    // Runs are removed by ascending size, but links after the runs that they connect.
    order
        .sort_by_key(|run| (problem.values[run.value].may_link(), problem.values[run.value].units * run.ticks(problem).len() as i64, *run));
    shrink(&mut order, |rest| !is_linked(rest) && !matches!(search(rest, HARD_STEPS, steps), Packing::Placed(_)));
    let proved = matches!(search(&order, PROOF_STEPS, steps), Packing::Impossible);
    if proved {
        shrink(&mut order, |rest| !is_linked(rest) && matches!(search(rest, PROOF_STEPS, steps), Packing::Impossible));
    } else if matches!(search(&order, HARD_STEPS, steps), Packing::Placed(_)) {
        return None;
    }
    order.sort_unstable();
    Some((Cut::of(problem, selection, order), proved))
}

/// Removes runs that the infeasibility does not require: first halves, then quarters, and so on.
fn shrink(order: &mut Vec<Run>, mut fails: impl FnMut(&[Run]) -> bool) {
    let mut size = order.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < order.len() {
            let end = (start + size).min(order.len());
            let rest: Vec<Run> = order[..start].iter().chain(&order[end..]).copied().collect();
            if fails(&rest) {
                *order = rest;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
}
