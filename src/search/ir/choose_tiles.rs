//! `spyre-choose-tiles`: hints for ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and what it chose as
//! `spyre.chosen_tiles` of the function. Ops with hints of their own keep them.

use super::{judge::FunctionJudge, read::Steps};
use crate::{
    dialect::{ComputeOp, TileHint, declared_maxima, hints_attribute, target_of},
    hint::Count,
    mlir::{Op, OpExt, Options, Pass, Reported, error_at, string_array},
    search::{Axis, Cut, choose},
};
use machine::Target;
use std::ops::Range;

pub(crate) const PASS: Pass = Pass { argument: "spyre-choose-tiles", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    let most_steps = options.number("steps").and_then(|steps| usize::try_from(steps).ok());
    let most_steps = most_steps.ok_or_else(|| error_at(module, "option 'steps': expected a number that is not negative").report())?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        search(function, most_steps, &target)?;
    }
    Ok(())
}

fn search(function: Op<'_>, most_steps: usize, target: &Target) -> Result<(), Reported> {
    let steps = Steps::of(function, &declared_maxima(function))?;
    let judge = FunctionJudge::of(function, &steps, target).map_err(|(op, message)| error_at(op, message).report())?;
    let chosen = choose(&steps.plain, &judge, most_steps);
    if std::env::var("SPYRE_DEBUG").is_ok() {
        eprintln!("est {} judged {} complete {}", chosen.estimated_ns, chosen.n_judged, chosen.is_complete);
        for segment in &chosen.segments {
            eprintln!("  {:?} {:?} {} {:?}", segment.ops, segment.nest, segment.ns, segment.runner_up);
        }
    }
    let nests: Vec<(Range<usize>, &[Axis], &[Cut])> = chosen
        .segments
        .iter()
        .filter(|segment| !segment.nest.is_empty())
        .map(|segment| (segment.ops.clone(), segment.axes.as_slice(), segment.nest.as_slice()))
        .collect();
    if nests.is_empty() {
        return Ok(());
    }
    let without = judge.whole_ns(&[]);
    let with = judge.whole_ns(&nests);
    let Some(with) = with.filter(|with| without.is_none_or(|without| *with < without)) else { return Ok(()) };
    let _ = with;
    for (ops, axes, nest) in &nests {
        write_hints(&steps.ops, ops.start, axes, ops.start, nest);
    }
    Ok(())
}

/// Writes a nest as hints on ops: the step of number `first` of the axes is `ops[at]`.
pub(super) fn write_hints(ops: &[Op<'_>], at: usize, axes: &[Axis], first: usize, nest: &[Cut]) {
    for (level, cut) in nest.iter().enumerate() {
        let name = format!("tiled{first}_{level}");
        let id = i64::try_from(1_000_000 + first * 4 + level).unwrap_or(i64::MAX);
        for (&step, &dim) in &axes[cut.axis].dims {
            let Some(compute) = ComputeOp::of(ops[at + step - first]) else { continue };
            let mut names = compute.dim_names();
            names[dim].clone_from(&name);
            compute.op.set_attr("dims", string_array(compute.op.ctx(), &names));
            let mut hints = compute.hints();
            hints.push(TileHint { id, dim: name.clone(), count: Count::Number(cut.count) });
            compute.op.set_attr("hints", hints_attribute(compute.op.ctx(), &hints));
        }
    }
}
