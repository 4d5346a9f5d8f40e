//! `spyre-choose-tiles`: hints for ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and what it chose as
//! `spyre.chosen_tiles` of the function. Ops with hints of their own keep them.

use super::{judge::FunctionJudge, loops::{Labels, Loops}, read::Steps, segment::segment};
use crate::{
    dialect::{declared_maxima, target_of},
    mlir::{Op, OpExt, Options, Pass, Reported, error_at},
    search::{choose, stretches},
};
use machine::Target;
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-choose-tiles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    let most_steps = options.number("steps").and_then(|steps| usize::try_from(steps).ok());
    let most_steps = most_steps.ok_or_else(|| error_at(module, "option 'steps': expected a number that is not negative").report())?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        search_function(function, most_steps, &target)?;
    }
    Ok(())
}

/// Searches the parts of a function. What is equal to a part that was searched gets the same loops.
fn search_function(function: Op<'_>, most_steps: usize, target: &Target) -> Result<(), Reported> {
    let steps = Steps::of(function, &declared_maxima(function))?;
    let mut known: BTreeMap<String, Vec<Loops>> = BTreeMap::new();
    let mut labels = Labels::of(function);
    for part in stretches(&steps.plain) {
        let alone = segment(function, &steps.ops[part.clone()]);
        let text = alone.op().to_string();
        if !known.contains_key(&text) {
            known.insert(text.clone(), search(alone.op(), most_steps, target)?);
        }
        for loops in &known[&text] {
            loops.moved_by(part.start).write(&steps.ops, 0, &mut labels);
        }
    }
    Ok(())
}

/// The loops for a function that is one part: none if the whole of it takes no less time with them.
fn search(function: Op<'_>, most_steps: usize, target: &Target) -> Result<Vec<Loops>, Reported> {
    let steps = Steps::of(function, &declared_maxima(function))?;
    let judge = FunctionJudge::of(function, &steps.ops, target).map_err(|(op, message)| error_at(op, message).report())?;
    let chosen = choose(&steps.plain, &judge, most_steps);
    if std::env::var("SPYRE_DEBUG").is_ok() {
        eprintln!("est {} judged {} complete {}", chosen.estimated_ns, chosen.n_judged, chosen.is_complete);
        for segment in &chosen.segments {
            eprintln!("  {:?} {:?} {} {:?}", segment.ops, segment.nest, segment.ns, segment.runner_up);
        }
    }
    let tiled = chosen.segments.iter().filter(|segment| !segment.nest.is_empty());
    let loops: Vec<Loops> = tiled.map(|segment| Loops::new(&segment.ops, &segment.axes, &segment.nest)).collect();
    if loops.is_empty() {
        return Ok(loops);
    }
    let (without, with) = (judge.whole_ns(&[]), judge.whole_ns(&loops));
    let is_faster = with.is_some_and(|with| without.is_none_or(|without| with < without));
    Ok(if is_faster { loops } else { Vec::new() })
}
