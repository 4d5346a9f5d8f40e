//! `spyre-choose-tiles`: adds tiling hints to ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and the search result as
//! attribute `spyre.tile_search` of the function. Ops with hints of their own keep them.

use super::{
    certify::certify,
    hints::{Labels, write_hints},
    judge::FunctionJudge,
    planned::{follow, key_of_function, planned, record},
    read::Steps,
    segment::segment,
};
use crate::dialect::ods::option;
use crate::{
    codes,
    dialect::{PlannedCost, RunnerUp, TileSearch, declared_maxima, mark_symbolic, set_plan, target_of},
    joint::check_hit,
    mlir::{Op, OpExt, Options, Pass, Reported, error_at, quietly},
    search::{Chosen, Found, Loops, MORE_LX_BYTES, choose, choose_fewest_bytes, cost_with, stretches},
};
use cost::{Cost, Objective};
use machine::Target;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::Range,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-choose-tiles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let steps = options.number(option::STEPS);
    let most_steps = usize::try_from(steps).map_err(|_| {
        error_at(codes::OPTION_VALUE, module, format_args!("option 'steps': expected a nonnegative number, found '{steps}'")).report()
    })?;
    let objective = options.read(module, option::OBJECTIVE)?;
    let more_lx = options.is_on(option::MORE_LX).then(|| Target { lx_bytes: target.lx_bytes + MORE_LX_BYTES, ..target.clone() });
    let request = Request { most_steps, objective, target: &target, more_lx: more_lx.as_ref() };
    mark_symbolic(module)?;
    let (path, notes) = (options.text(option::PLAN), options.is_on(option::NOTES_PLAN));
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        if options.is_on(option::PROVES) {
            certify(function, &target)?;
        }
        if path.is_empty() && !notes {
            search_function(function, request);
        } else {
            plan_function(function, request, path, notes)?;
        }
    }
    Ok(())
}

/// Applies the plan file `path`, or searches if there is none. Records a new plan for the file (an applied one too, if `notes` is set), and
/// the core splits of the plan for the later pass that divides work.
fn plan_function(function: Op<'_>, request: Request<'_>, path: &str, notes: bool) -> Result<(), Reported> {
    let key = key_of_function(function);
    let plan = if path.is_empty() { Ok(None) } else { planned(path, &key, request.target) };
    let Some(plan) = plan.map_err(|message| error_at(codes::PLAN_READ, function, message).report())? else {
        let loops = search_function(function, request);
        record(function, key, &loops);
        return Ok(());
    };
    let mut steps = Steps::of(function, &declared_maxima(function))?;
    steps.find_eligible(function)?;
    follow(function, &steps, &plan.chosen.loops)?;
    // The file is read once: the pass that divides work finds the splits in this attribute.
    if notes || plan.chosen.work.is_some() {
        set_plan(function, &plan.chosen);
    }
    Ok(())
}

/// Parameters of a search.
#[derive(Clone, Copy)]
struct Request<'a> {
    most_steps: usize,
    objective: Objective,
    target: &'a Target,
    /// The target with more LX per core, if the cost with more LX is requested.
    more_lx: Option<&'a Target>,
}

/// Result of the search for one partition of a program.
#[derive(Debug, Default, PartialEq)]
struct Part {
    chosen: Chosen,
    /// Cost with more LX, if it was requested.
    with_more_lx: Option<Cost>,
}

/// Searches the partitions of a function. Partitions that equal one already searched get its loops. Programs that
/// cannot be read are left for later passes to reject.
fn search_function(function: Op<'_>, request: Request<'_>) -> Vec<Loops> {
    let Ok(steps) = quietly(function, || Steps::of(function, &declared_maxima(function))) else { return Vec::new() };
    let mut known: BTreeMap<String, Part> = BTreeMap::new();
    let mut labels = Labels::of(function);
    let (mut all, mut nests): (Vec<Loops>, Vec<String>) = Default::default();
    let mut texts: Vec<String> = Vec::new();
    let ranges = stretches(&steps.plain);
    for range in &ranges {
        let alone = segment(function, &steps.ops[range.clone()]);
        let text = alone.op().to_string();
        let part = match known.entry(text.clone()) {
            Entry::Occupied(part) => {
                check_hit(part.get(), || search(alone.op(), request));
                part.into_mut()
            }
            Entry::Vacant(new) => new.insert(search(alone.op(), request)),
        };
        for loops in &part.chosen.loops {
            let loops = loops.later_by(range.start);
            nests.push(write_hints(&loops, &steps.ops, 0, &mut labels).scope);
            all.push(loops);
        }
        texts.push(text);
    }
    let found = || known.values().filter_map(|part| part.chosen.found.as_ref());
    let counts = Counts { judged: found().map(|found| found.n_judged).sum(), infeasible: found().map(|found| found.n_infeasible).sum() };
    let parts: Vec<(Range<usize>, &Part)> = ranges.into_iter().zip(texts.iter().filter_map(|text| known.get(text))).collect();
    if let Some(summary) = summary(nests, &parts, counts) {
        TileSearch { runner_up: runner_up(function, &steps, &parts, &summary), ..summary }.write(function);
    }
    all
}

/// Numbers of evaluated and of infeasible plans.
struct Counts {
    judged: usize,
    infeasible: usize,
}

/// Sums up the results for all partitions of a function. Returns `None` if none was searched.
fn summary(nests: Vec<String>, parts: &[(Range<usize>, &Part)], counts: Counts) -> Option<TileSearch> {
    let searched: Vec<(&Found, &Part)> = parts.iter().filter_map(|(_, part)| Some((part.chosen.found.as_ref()?, *part))).collect();
    let found = || searched.iter().map(|(found, _)| *found);
    let cost: Cost = found().filter_map(|found| found.cost).sum();
    let more_lx: Option<Vec<Cost>> = searched.iter().map(|(_, part)| part.with_more_lx).collect();
    (!searched.is_empty()).then(|| TileSearch {
        nests,
        us: us(cost.ns),
        hbm: cost.hbm_bytes,
        untiled_us: found().map(|found| found.untiled.map(|cost| cost.ns)).sum::<Option<f64>>().map(us),
        least_us: found().map(|found| found.least_ns).sum::<Option<f64>>().map(us),
        runner_up: None,
        with_more_lx: more_lx.map(|costs| planned_cost(costs.into_iter().sum())),
        n_judged: i64::try_from(counts.judged).unwrap_or(i64::MAX),
        n_infeasible: i64::try_from(counts.infeasible).unwrap_or(i64::MAX),
        is_cut_short: found().any(|found| !found.is_complete),
    })
}

fn us(ns: f64) -> f64 {
    ns / 1000.0
}

fn planned_cost(cost: Cost) -> PlannedCost {
    PlannedCost { us: us(cost.ns), hbm: cost.hbm_bytes }
}

/// Returns the next best plan of a function: the runner-up of the partition in which it costs least extra, with all other partitions as
/// chosen.
fn runner_up(function: Op<'_>, steps: &Steps<'_>, parts: &[(Range<usize>, &Part)], chosen: &TileSearch) -> Option<RunnerUp> {
    let of_part = |(range, part): &(Range<usize>, &Part)| {
        let found = part.chosen.found.as_ref()?;
        let (own, other) = (found.cost?, found.runner_up.clone()?);
        Some((other.cost.ns - own.ns, other.cost.hbm_bytes - own.hbm_bytes, range.clone(), other.loops))
    };
    let (more_ns, more_bytes, range, loops) = parts.iter().filter_map(of_part).min_by(|one, other| one.0.total_cmp(&other.0))?;
    // The chosen loops have added dimension names by now.
    let alone = segment(function, &steps.ops[range.clone()]);
    let of_alone = quietly(alone.op(), || Steps::of(alone.op(), &declared_maxima(alone.op()))).ok()?;
    let mut labels = Labels::of(alone.op());
    let nests =
        loops.iter().map(|loops| write_hints(&loops.later_by(range.start), &of_alone.ops, range.start, &mut labels).scope).collect();
    Some(RunnerUp { nests, cost: PlannedCost { us: chosen.us + us(more_ns), hbm: chosen.hbm + more_bytes } })
}

/// Searches loops for a function that is one partition.
fn search(function: Op<'_>, request: Request<'_>) -> Part {
    let steps = quietly(function, || {
        let mut steps = Steps::of(function, &declared_maxima(function)).ok()?;
        steps.find_eligible(function).ok()?;
        Some(steps)
    });
    let Some(steps) = steps else { return Part::default() };
    let chosen = search_on(function, &steps, request, request.target).unwrap_or_default();
    let more_lx = request.more_lx.filter(|_| chosen.found.is_some());
    let with_more_lx = more_lx.and_then(|target| {
        let of_larger = search_on(function, &steps, request, target)?;
        let judge = FunctionJudge::of(function, &steps.ops, target, request.objective)?;
        cost_with(&judge, &of_larger, &chosen.loops, request.objective)
    });
    Part { chosen, with_more_lx }
}

fn search_on(function: Op<'_>, steps: &Steps<'_>, request: Request<'_>, target: &Target) -> Option<Chosen> {
    let of_time = FunctionJudge::of(function, &steps.ops, target, Objective::Time)?;
    Some(match request.objective {
        Objective::Time => choose(&steps.plain, &of_time, request.most_steps),
        Objective::Bytes => {
            let judge = FunctionJudge::of(function, &steps.ops, target, Objective::Bytes)?;
            choose_fewest_bytes(&steps.plain, &of_time, &judge, request.most_steps)
        }
    })
}
