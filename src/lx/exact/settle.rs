//! From a selection to addresses: the runs as rectangles, or the proof that they do not fit.

use super::{
    chains::{Chain, Link, pack_chains},
    cut::Cut,
    problem::Problem,
    selection::{Run, Selection},
};
use crate::lx::pack::{Packing, Rectangle, Steps, pack};
use std::collections::BTreeMap;

/// What became of a selection.
pub(crate) enum Settled {
    /// The byte at which each run begins.
    Placed(Vec<(Run, i64)>),
    /// No addresses exist.
    Impossible,
    /// Nobody knows.
    OutOfSteps,
}

/// Runs at one address, with the rows of the instance they stand for.
struct Group {
    runs: Vec<Run>,
    chain: Chain,
}

/// Finds addresses for all runs of a selection.
pub(crate) fn settle(problem: &Problem, selection: &Selection, steps: &mut Steps) -> Settled {
    settle_runs(problem, selection, &selection.runs(), steps)
}

/// Finds addresses for some runs of a selection.
pub(crate) fn settle_runs(problem: &Problem, selection: &Selection, runs: &[Run], steps: &mut Steps) -> Settled {
    let groups = groups(problem, selection, runs);
    let packing = pack_groups(problem, &groups, steps);
    match packing {
        Packing::Placed(addresses) => {
            let of_group = |(group, address): (&Group, i64)| group.runs.iter().map(move |run| (*run, address * problem.unit_bytes)).collect::<Vec<_>>();
            let mut placed: Vec<(Run, i64)> = groups.iter().zip(addresses).flat_map(of_group).collect();
            let is_empty = |run: &&Run| problem.values[run.value].units == 0;
            placed.extend(runs.iter().filter(is_empty).map(|run| (*run, 0)));
            placed.sort_unstable();
            Settled::Placed(placed)
        }
        Packing::Impossible => Settled::Impossible,
        Packing::OutOfSteps => Settled::OutOfSteps,
    }
}

/// Runs that take over addresses from one another belong together. Empty runs are left out.
fn groups(problem: &Problem, selection: &Selection, runs: &[Run]) -> Vec<Group> {
    let ending: BTreeMap<usize, usize> =
        (0..runs.len()).filter(|&at| runs[at].last + 1 == problem.values[runs[at].value].uses.len()).map(|at| (runs[at].value, at)).collect();
    let parent_of = |run: &Run| {
        let parent = selection.stays[run.value].parent.filter(|_| run.first == 0)?;
        ending.get(&parent).copied()
    };
    let mut order: Vec<usize> = (0..runs.len()).filter(|&at| problem.values[runs[at].value].units > 0).collect();
    order.sort_by_key(|&at| (runs[at].ticks(problem).start, problem.values[runs[at].value].parents.len().min(1), at));
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

/// Rectangles go to the packing engine. A chain that gets smaller is first tried as its largest rectangle.
fn pack_groups(problem: &Problem, groups: &[Group], steps: &mut Steps) -> Packing {
    let chains: Vec<Chain> = groups.iter().map(|group| group.chain.clone()).collect();
    let is_plain = |chain: &Chain| chain.links.iter().all(|link| link.units == chain.links[0].units && link.limit == problem.units);
    let all_plain = chains.iter().all(is_plain);
    let limit = chains.iter().flat_map(|chain| chain.links.iter().map(|link| link.limit)).min().unwrap_or(problem.units);
    let rectangle = |chain: &Chain| Rectangle {
        lower: chain.links.iter().map(|link| link.start as i64).min().unwrap_or(0),
        upper: chain.links.iter().map(|link| link.end as i64).max().unwrap_or(0),
        size: chain.links.iter().map(|link| link.units).max().unwrap_or(0),
    };
    let rectangles: Vec<Rectangle> = chains.iter().map(rectangle).collect();
    if all_plain {
        return pack(&rectangles, problem.units, steps);
    }
    let mut some = Steps { left: steps.left.min(50 * chains.len() as u64 + 100) };
    let granted = some.left;
    let packing = pack(&rectangles, limit, &mut some);
    steps.left -= granted - some.left;
    if matches!(packing, Packing::Placed(_)) { packing } else { pack_chains(&chains, problem.units, steps) }
}

/// Steps that a proof of a cut may take, so that a simple checker can repeat it.
const PROOF_STEPS: u64 = 2_000;

/// A small set of runs of a selection that does not fit.
pub(crate) fn core(problem: &Problem, selection: &Selection, steps: &mut Steps) -> Option<Cut> {
    let mut runs = selection.runs();
    runs.retain(|run| problem.values[run.value].units > 0);
    let fails = |runs: &[Run], most: u64, steps: &mut Steps| {
        let chains: Vec<Chain> = groups(problem, selection, runs).into_iter().map(|group| group.chain).collect();
        let mut some = Steps { left: most.min(steps.left) };
        let granted = some.left;
        let packing = pack_chains(&chains, problem.units, &mut some);
        steps.left -= granted - some.left;
        matches!(packing, Packing::Impossible)
    };
    // From the crowd in the middle of each operation outwards the core is small; here the largest leave last.
    let mut order = runs.clone();
    order.sort_by_key(|run| (problem.values[run.value].units * run.ticks(problem).len() as i64, *run));
    let mut size = order.len();
    while size > 0 {
        let mut start = 0;
        while start < order.len() {
            let end = (start + size).min(order.len());
            let rest: Vec<Run> = order[..start].iter().chain(&order[end..]).copied().collect();
            if fails(&rest, PROOF_STEPS, steps) {
                order = rest;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    order.sort_unstable();
    fails(&order, PROOF_STEPS, steps).then(|| Cut::of(problem, selection, order))
}
