//! `spyre-choose-tiles`: hints for ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and what it found as
//! `spyre.tile_search` of the function. Ops with hints of their own keep them.

use super::{
    hints::{Labels, write_hints},
    judge::FunctionJudge,
    read::Steps,
    segment::segment,
};
use crate::{
    dialect::{TileSearch, declared_maxima, target_of},
    mlir::{Op, OpExt, Options, Pass, Reported, error_at},
    search::{Chosen, Found, choose, stretches},
};
use machine::Target;
use std::collections::{BTreeMap, btree_map::Entry};

pub(crate) const PASS: Pass = Pass { argument: "spyre-choose-tiles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    let most_steps = options.number("steps").and_then(|steps| usize::try_from(steps).ok());
    let most_steps = most_steps.ok_or_else(|| {
        let found = options.text("steps");
        error_at(module, format_args!("option 'steps': expected a number that is not negative, found '{found}'")).report()
    })?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        search_function(function, most_steps, &target)?;
    }
    Ok(())
}

/// Searches the parts of a function. What is equal to a part that was searched gets the same loops.
fn search_function(function: Op<'_>, most_steps: usize, target: &Target) -> Result<(), Reported> {
    let steps = Steps::of(function, &declared_maxima(function))?;
    let mut known: BTreeMap<String, Chosen> = BTreeMap::new();
    let mut labels = Labels::of(function);
    let mut nests = Vec::new();
    let mut found: Vec<Found> = Vec::new();
    for part in stretches(&steps.plain) {
        let alone = segment(function, &steps.ops[part.clone()]);
        let text = alone.op().to_string();
        let chosen = match known.entry(text) {
            Entry::Occupied(chosen) => chosen.into_mut(),
            Entry::Vacant(place) => place.insert(search(alone.op(), most_steps, target)?),
        };
        for loops in &chosen.loops {
            nests.push(write_hints(&loops.later_by(part.start), &steps.ops, 0, &mut labels));
        }
        found.extend(chosen.found);
    }
    if !found.is_empty() {
        summary(nests, &found).write(function);
    }
    Ok(())
}

/// What was found in the parts of a function together.
fn summary(nests: Vec<String>, found: &[Found]) -> TileSearch {
    let total_us = |ns: &dyn Fn(&Found) -> Option<f64>| found.iter().filter_map(ns).sum::<f64>() / 1000.0;
    let n_judged: usize = found.iter().map(|found| found.n_judged).sum();
    TileSearch {
        nests,
        us: total_us(&|found| found.ns),
        untiled_us: total_us(&|found| found.untiled_ns),
        least_us: total_us(&|found| Some(found.least_ns)),
        n_judged: i64::try_from(n_judged).unwrap_or(i64::MAX),
        is_cut_short: found.iter().any(|found| !found.is_complete),
    }
}

/// The loops for a function that is one part.
fn search(function: Op<'_>, most_steps: usize, target: &Target) -> Result<Chosen, Reported> {
    let mut steps = Steps::of(function, &declared_maxima(function))?;
    steps.find_eligible(function)?;
    let judge = FunctionJudge::of(function, &steps.ops, target).map_err(|(op, message)| error_at(op, message).report())?;
    Ok(choose(&steps.plain, &judge, most_steps))
}
