//! `spyre-choose-tiles`: hints for ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and what it found as
//! `spyre.tile_search` of the function. Ops with hints of their own keep them.

use super::{
    hints::{Labels, write_hints},
    judge::FunctionJudge,
    planned::{follow, key_of_function, planned, record},
    read::Steps,
    segment::segment,
};
use crate::dialect::ods::option;
use crate::{
    dialect::{TileSearch, declared_maxima, set_plan, target_of},
    mlir::{Op, OpExt, Options, Pass, Reported, error_at, quietly},
    plan_file,
    search::{Chosen, Found, Loops, choose, choose_fewest_bytes, stretches},
};
use cost::Objective;
use machine::Target;
use std::collections::{BTreeMap, btree_map::Entry};

pub(crate) const PASS: Pass = Pass { argument: "spyre-choose-tiles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    let steps = options.number(option::STEPS);
    let most_steps = usize::try_from(steps)
        .map_err(|_| error_at(module, format_args!("option 'steps': expected a number that is not negative, found '{steps}'")).report())?;
    let objective = options.read(module, option::OBJECTIVE)?;
    let request = Request { most_steps, objective, target: &target };
    let (path, notes) = (options.text(option::PLAN), options.is_on(option::NOTES_PLAN));
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        if path.is_empty() && !notes {
            search_function(function, request);
        } else {
            plan_function(function, request, path, notes)?;
        }
    }
    Ok(())
}

/// Follows the plan file of that name; without one, searches. Notes what is to be written to a file: what was searched for, and if `notes` is
/// set what was followed as well.
fn plan_function(function: Op<'_>, request: Request<'_>, path: &str, notes: bool) -> Result<(), Reported> {
    let key = key_of_function(function);
    let plan = if path.is_empty() { Ok(None) } else { planned(path, &key, request.target) };
    let Some(plan) = plan.map_err(|message| error_at(function, message).report())? else {
        let loops = search_function(function, request);
        record(function, key, &loops);
        return Ok(());
    };
    let mut steps = Steps::of(function, &declared_maxima(function))?;
    steps.find_eligible(function)?;
    follow(function, &steps, &plan.chosen.loops)?;
    if notes {
        set_plan(function, &plan_file::Chosen { work: None, ..plan.chosen });
    }
    Ok(())
}

/// What is asked of a search.
#[derive(Clone, Copy)]
struct Request<'a> {
    most_steps: usize,
    objective: Objective,
    target: &'a Target,
}

/// Searches the parts of a function. What is equal to a part that was searched gets the same loops. What cannot be read is for the passes that
/// follow to refuse.
fn search_function(function: Op<'_>, request: Request<'_>) -> Vec<Loops> {
    let Ok(steps) = quietly(function, || Steps::of(function, &declared_maxima(function))) else { return Vec::new() };
    let mut known: BTreeMap<String, Chosen> = BTreeMap::new();
    let mut labels = Labels::of(function);
    let mut nests = Vec::new();
    let (mut all, mut found): (Vec<Loops>, Vec<Found>) = Default::default();
    let mut n_judged = 0;
    for part in stretches(&steps.plain) {
        let alone = segment(function, &steps.ops[part.clone()]);
        let text = alone.op().to_string();
        let chosen = match known.entry(text) {
            Entry::Occupied(chosen) => chosen.into_mut(),
            Entry::Vacant(place) => {
                let chosen = search(alone.op(), request);
                n_judged += chosen.found.map_or(0, |found| found.n_judged);
                place.insert(chosen)
            }
        };
        for loops in &chosen.loops {
            let loops = loops.later_by(part.start);
            nests.push(write_hints(&loops, &steps.ops, 0, &mut labels));
            all.push(loops);
        }
        found.extend(chosen.found);
    }
    if !found.is_empty() {
        summary(nests, &found, n_judged).write(function);
    }
    all
}

/// What was found in the parts of a function together.
fn summary(nests: Vec<String>, found: &[Found], n_judged: usize) -> TileSearch {
    let us = |ns: f64| ns / 1000.0;
    TileSearch {
        nests,
        us: us(found.iter().filter_map(|found| found.ns).sum()),
        untiled_us: found.iter().map(|found| found.untiled_ns).sum::<Option<f64>>().map(us),
        least_us: found.iter().map(|found| found.least_ns).sum::<Option<f64>>().map(us),
        n_judged: i64::try_from(n_judged).unwrap_or(i64::MAX),
        is_cut_short: found.iter().any(|found| !found.is_complete),
    }
}

/// The loops for a function that is one part.
fn search(function: Op<'_>, Request { most_steps, objective, target }: Request<'_>) -> Chosen {
    let steps = quietly(function, || {
        let mut steps = Steps::of(function, &declared_maxima(function)).ok()?;
        steps.find_eligible(function).ok()?;
        Some(steps)
    });
    let found = steps.and_then(|steps| {
        let of_time = FunctionJudge::of(function, &steps.ops, target, Objective::Time)?;
        Some(match objective {
            Objective::Time => choose(&steps.plain, &of_time, most_steps),
            Objective::Bytes => {
                let judge = FunctionJudge::of(function, &steps.ops, target, objective)?;
                choose_fewest_bytes(&steps.plain, &of_time, &judge, most_steps)
            }
        })
    });
    found.unwrap_or_default()
}
