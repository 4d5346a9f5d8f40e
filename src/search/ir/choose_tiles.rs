//! `spyre-choose-tiles`: hints for ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and what it chose as
//! `spyre.chosen_tiles` of the function. Ops with hints of their own keep them.

use super::{judge::FunctionJudge, hints::{Labels, write_hints}, read::Steps, segment::segment};
use crate::{
    dialect::{declared_maxima, target_of},
    mlir::{Op, OpExt, Options, Pass, Reported, error_at},
    search::{Loops, choose, stretches},
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
            write_hints(&loops.later_by(part.start), &steps.ops, 0, &mut labels);
        }
    }
    Ok(())
}

/// The loops for a function that is one part.
fn search(function: Op<'_>, most_steps: usize, target: &Target) -> Result<Vec<Loops>, Reported> {
    let steps = Steps::of(function, &declared_maxima(function))?;
    let judge = FunctionJudge::of(function, &steps.ops, target).map_err(|(op, message)| error_at(op, message).report())?;
    let chosen = choose(&steps.plain, &judge, most_steps);
    if std::env::var("SPYRE_DEBUG").is_ok() { eprintln!("{:#?}", (&chosen.loops.iter().map(|l| (l.ops.clone(), l.levels.iter().map(|l| l.count).collect::<Vec<_>>())).collect::<Vec<_>>(), chosen.ns, chosen.untiled_ns, chosen.estimated_ns, chosen.n_judged, chosen.is_complete)); }
    Ok(chosen.loops)
}
