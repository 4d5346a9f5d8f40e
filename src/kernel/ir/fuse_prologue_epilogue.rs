//! `spyre-fuse-prologue-epilogue`: moves neighbours of kernels into them.
//!
//! Reads `spyre.kernel` ops and what stands beside them; moves ops into the kernels' scopes, and writes what it did as `spyre.kernels` of the
//! function. Everything that the rules allow is moved first, kernel by kernel in program order, what makes inputs before what reads outputs,
//! until nothing moves any more. Then each move is taken back once, and stays so if the program is better without it. Both are tried on
//! copies of the module, so that the moves are made once.

use super::{
    dim_labels::DimLabels,
    followers::join,
    judge::{Judge, unnumber},
    kernels_of,
    moves::{move_behind, move_in_front},
    neighbours::{KernelView, Level},
};
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    dialect::{ComputeOp, Knob, target_of},
    kernel::{Code, Fused, KernelOutcome, Outcome, Refusal, Side, Unfused},
    mlir::{
        Op, OpExt, Options, Pass, Reported, Scratch, argument_attribute, error_at, functions_of, i64_attribute, integer, location_text,
        remark_at, shape_of, string_attribute, strings,
    },
    plan_file::key_of,
};
use cost::Cost;
use machine::Target;
use std::{cmp::Ordering, collections::BTreeSet};

pub(crate) const PASS: Pass = Pass { argument: "spyre-fuse-prologue-epilogue", run };

/// The most moves that are taken back to see what comes of it.
const MOST_TRIALS: usize = 32;
/// The part of a time below which a difference is none.
const SAME_TIME: f64 = 1e-6;

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(module, message).report())?;
    if functions_of(module).into_iter().all(|function| kernels_of(function).is_empty()) {
        return Ok(());
    }
    number(module);
    let judge = Some(options.text(option::COMPILE)).filter(|text| !text.is_empty()).map(Judge::new);
    let decided = judge.map_or_else(Decided::default, |judge| decide(module, &target, &judge));
    let moves = if decided.is_separate { Vec::new() } else { Fusion { target: &target, excluded: &decided.excluded }.run(module) };
    let mut first_kernel = 0;
    for function in functions_of(module) {
        let n_kernels = kernels_of(function).len();
        if n_kernels > 0 {
            describe(function, first_kernel, &target, &decided, &moves);
        }
        first_kernel += n_kernels;
    }
    unnumber(module);
    Ok(())
}

/// Numbers the ops that compute, so that they are known in copies of the module.
fn number(module: Op<'_>) {
    for (number, compute) in (0..).zip(ComputeOp::all_in(module)) {
        compute.op.set_attr(attr::SPYRE_NUMBER, i64_attribute(module.ctx(), number));
    }
}

fn number_of(op: Op<'_>) -> Option<i64> {
    op.attr(attr::SPYRE_NUMBER).and_then(integer)
}

//===----------------------------------------------------------------------===//
// What moves
//===----------------------------------------------------------------------===//

/// An op on one side of a kernel, by its number.
type EdgeId = (i64, Side);

/// A move that was made.
#[derive(Clone, Debug)]
struct Move {
    id: EdgeId,
    /// The number of the kernel in the module.
    kernel: usize,
    function: String,
    location: String,
    levels: Vec<Level>,
}

/// Moves all that may move.
struct Fusion<'a> {
    target: &'a Target,
    /// What stays where it is.
    excluded: &'a BTreeSet<EdgeId>,
}

impl Fusion<'_> {
    fn run(&self, module: Op<'_>) -> Vec<Move> {
        let mut moves = Vec::new();
        while self.step(module, &mut moves) {}
        moves
    }

    /// Makes the first move that may be made; false if there is none. Kernels are joined last: what stands between them moves into one first.
    fn step(&self, module: Op<'_>, moves: &mut Vec<Move>) -> bool {
        let mut first_kernel = 0;
        for function in functions_of(module) {
            let (labels, kernels) = (program_labels(function), kernels_of(function));
            let views: Vec<KernelView<'_>> = kernels.iter().map(|kernel| KernelView::of(*kernel, &labels, self.target)).collect();
            let moved = (first_kernel..).zip(&views).any(|(number, view)| self.step_of(view, number, moves));
            if moved || self.join_two(function, &views, first_kernel, moves) {
                return true;
            }
            first_kernel += kernels.len();
        }
        false
    }

    /// Joins the first kernel that may be joined to the one that it reads; false if there is none.
    fn join_two(&self, function: Op<'_>, views: &[KernelView<'_>], first_kernel: usize, moves: &mut Vec<Move>) -> bool {
        for (place, view) in views.iter().enumerate() {
            for consumer in view.consumers() {
                let Some(next) = views.iter().position(|other| other.op == consumer) else { continue };
                if has_excluded(consumer, self.excluded) || view.follower(&views[next]).check().is_err() {
                    continue;
                }
                let output = consumer.inputs().into_iter().find_map(|value| view.output_behind(value));
                let levels = output.map(|output| view.levels_in(view.made(output).scope)).unwrap_or_default();
                let (kernel, joined) = (first_kernel + place, first_kernel + next);
                let described = |kernel| KernelView::of(kernel, &program_labels(function), self.target);
                join(view.op, consumer, described, |op| moves.extend(made(op, Side::Epilogue, kernel, levels.clone())));
                // What had moved into the second kernel is in the first one now, and there is one kernel less.
                for made in moves.iter_mut().filter(|made| made.kernel >= joined) {
                    made.kernel = if made.kernel == joined { kernel } else { made.kernel - 1 };
                }
                return true;
            }
        }
        false
    }

    fn step_of(&self, view: &KernelView<'_>, kernel: usize, moves: &mut Vec<Move>) -> bool {
        for producer in producers(view) {
            let is_excluded = number_of(producer).is_some_and(|number| self.excluded.contains(&(number, Side::Prologue)));
            if is_excluded || view.prologue(producer).check().is_err() {
                continue;
            }
            let site = view.inputs_from(producer).first().and_then(|input| first_site(view, *input));
            moves.extend(made(producer, Side::Prologue, kernel, site.map(|site| view.levels_in(site)).unwrap_or_default()));
            move_in_front(view, producer);
            return true;
        }
        for consumer in view.consumers().into_iter().filter(|op| ComputeOp::of(*op).is_some()) {
            let is_excluded = number_of(consumer).is_some_and(|number| self.excluded.contains(&(number, Side::Epilogue)));
            if is_excluded || view.epilogue(consumer).check().is_err() {
                continue;
            }
            let output = consumer.inputs().into_iter().find_map(|value| view.output_behind(value));
            let levels = output.map(|output| view.levels_in(view.made(output).scope)).unwrap_or_default();
            moves.extend(made(consumer, Side::Epilogue, kernel, levels));
            move_behind(view, consumer);
            return true;
        }
        false
    }
}

/// Whether one of the ops of a kernel is among those that stay behind another one.
fn has_excluded(kernel: Op<'_>, excluded: &BTreeSet<EdgeId>) -> bool {
    kernel.nested().into_iter().filter_map(number_of).any(|number| excluded.contains(&(number, Side::Epilogue)))
}

/// The scope in which an input is read first.
fn first_site<'c>(view: &KernelView<'c>, input: usize) -> Option<Op<'c>> {
    crate::dialect::readers_through_views(view.op.body_args()[input]).first().and_then(|site| site.parent())
}

/// The ops that make inputs, each once, in the order of the inputs. A kernel is none: it is for the second of two kernels to join the first.
fn producers<'c>(view: &KernelView<'c>) -> Vec<Op<'c>> {
    let mut found: Vec<Op<'c>> = Vec::new();
    for producer in (0..view.op.inputs().len()).filter_map(|input| view.producer(input)) {
        if !found.contains(&producer) && !producer.is(spyre::KERNEL) {
            found.push(producer);
        }
    }
    found
}

/// What is noted of a move; nothing of one of a constant.
fn made(op: Op<'_>, side: Side, kernel: usize, levels: Vec<Level>) -> Option<Move> {
    let id = (number_of(op)?, side);
    Some(Move { id, kernel, function: function_of(op), location: location_text(op.loc()), levels })
}

fn function_of(op: Op<'_>) -> String {
    ComputeOp::of(op).map_or_else(|| op.full_name().to_owned(), |compute| compute.function().to_owned())
}

/// The names that the program's arguments give to the dimensions of all values.
pub(super) fn program_labels(function: Op<'_>) -> DimLabels<String> {
    let mut labels = DimLabels::new();
    for (number, argument) in function.body_args().into_iter().enumerate() {
        let names = argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
        if names.len() == shape_of(argument).len() {
            labels.set(argument, names.into_iter().map(|name| (!name.is_empty()).then(|| name.to_owned())).collect());
        }
    }
    labels.carry(function);
    labels
}

//===----------------------------------------------------------------------===//
// What pays
//===----------------------------------------------------------------------===//

/// What stays outside since the program is better so, and what was found on the way.
#[derive(Default)]
struct Decided {
    excluded: BTreeSet<EdgeId>,
    /// Nothing moves: the program is best as it is. To exclude all moves is less, since what stays behind one kernel might move in front of the next.
    is_separate: bool,
    /// What the program takes in addition if a move is taken back.
    savings: Vec<(EdgeId, Cost)>,
    fused: Option<Cost>,
    separate: Option<Cost>,
    n_judged: usize,
}

/// Compiles the module without moves, with all of them, and with all but one.
fn decide(module: Op<'_>, target: &Target, judge: &Judge) -> Decided {
    let moves_without = |excluded: &BTreeSet<EdgeId>| {
        let copy = Scratch::of(module);
        let moves = Fusion { target, excluded }.run(copy.op());
        (moves, copy)
    };
    let (moves, fused) = moves_without(&BTreeSet::new());
    if moves.is_empty() {
        return Decided::default();
    }
    let (separate, mut best) = (judge.cost(module), judge.cost(fused.op()));
    let (mut excluded, mut savings) = (BTreeSet::new(), Vec::new());
    for made in moves.iter().rev().take(MOST_TRIALS) {
        let mut trial = excluded.clone();
        trial.insert(made.id);
        let cost = judge.cost(moves_without(&trial).1.op());
        if is_better(judge, cost, best) {
            (excluded, best) = (trial, cost);
        } else if let (Some(cost), Some(best)) = (cost, best) {
            savings.push((made.id, Cost { ns: cost.ns - best.ns, hbm_bytes: cost.hbm_bytes - best.hbm_bytes }));
        }
    }
    let is_separate = is_better(judge, separate, best);
    if is_separate {
        (best, savings) = (separate, Vec::new());
    }
    Decided { excluded, is_separate, savings, fused: best, separate, n_judged: judge.n_judged() }
}

/// Whether the first is better than the second; what cannot be compiled is worse than all else. Times that differ by less are the same: sums of
/// the same numbers in another order.
fn is_better(judge: &Judge, one: Option<Cost>, other: Option<Cost>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let is_same_time = (one.ns - other.ns).abs() <= SAME_TIME * other.ns;
            let other = if is_same_time { Cost { ns: one.ns, ..other } } else { other };
            judge.objective.order(&one, &other) == Ordering::Less
        }
        (one, other) => one.is_some() && other.is_none(),
    }
}

//===----------------------------------------------------------------------===//
// What is told
//===----------------------------------------------------------------------===//

/// Writes what was done on a function, and tells what was not. `first_kernel` is the number of its first kernel in the module.
fn describe(function: Op<'_>, first_kernel: usize, target: &Target, decided: &Decided, moves: &[Move]) {
    let labels = program_labels(function);
    let us = |cost: Cost| cost.ns / 1000.0;
    let mut outcome = Outcome {
        us: decided.fused.map(us),
        separate_us: decided.separate.map(us),
        hbm_bytes: decided.fused.map(|cost| cost.hbm_bytes),
        separate_hbm_bytes: decided.separate.map(|cost| cost.hbm_bytes),
        n_judged: decided.n_judged,
        kernels: Vec::new(),
    };
    for (number, kernel) in (first_kernel..).zip(kernels_of(function)) {
        // A copy reads what the kernel reads: it must be gone before readers are counted.
        let key = key_of(&Scratch::of(kernel).op().to_string());
        let view = KernelView::of(kernel, &labels, target);
        let fused = moves.iter().filter(|made| made.kernel == number).map(|made| fused_by(made, decided));
        outcome.kernels.push(KernelOutcome {
            name: kernel.text_attr(attr::NAME).to_owned(),
            key,
            knobs: Knob::all_of(kernel).into_iter().map(|knob| (knob.name, knob.value)).collect(),
            fused: fused.collect(),
            separate: refusals(&view, &labels, target, decided),
        });
    }
    let text = serde_json::to_string(&outcome).unwrap_or_default();
    function.set_attr(attr::SPYRE_KERNELS, string_attribute(function.ctx(), &text));
}

fn fused_by(made: &Move, decided: &Decided) -> Fused {
    let saved = decided.savings.iter().find(|(id, _)| *id == made.id).map(|(_, cost)| *cost);
    Fused {
        function: made.function.clone(),
        location: made.location.clone(),
        side: made.id.1,
        loops: made.levels.iter().map(|level| format!("{} = {}", level.name, level.count)).collect(),
        saved_us: saved.map(|cost| cost.ns / 1000.0),
        saved_hbm_bytes: saved.map(|cost| cost.hbm_bytes),
    }
}

/// Why each neighbour stays outside, told at both places.
fn refusals(view: &KernelView<'_>, labels: &DimLabels<String>, target: &Target, decided: &Decided) -> Vec<Unfused> {
    let cost = |op: Op<'_>, side: Side| {
        let is_excluded = decided.is_separate
            || number_of(op).is_some_and(|number| decided.excluded.contains(&(number, side)))
            || op.is(spyre::KERNEL) && has_excluded(op, &decided.excluded);
        let code = if side == Side::Prologue { Code::PCost } else { Code::ECost };
        is_excluded.then(|| Refusal { code, message: "is not moved, as the program takes less time so".to_owned() })
    };
    let in_front = producers(view).into_iter().map(|op| (op, Side::Prologue, view.prologue(op).check()));
    let behind = view.consumers().into_iter().filter(|op| !op.is("func.return") && !op.is(spyre::YIELD));
    let checked = |op: Op<'_>| {
        if op.is(spyre::KERNEL) { view.follower(&KernelView::of(op, labels, target)).check() } else { view.epilogue(op).check() }
    };
    let behind = behind.map(|op| (op, Side::Epilogue, checked(op)));
    let mut found = Vec::new();
    for (op, side, checked) in in_front.chain(behind) {
        let Some(refusal) = checked.err().or_else(|| cost(op, side)) else { continue };
        let where_it_is = if side == Side::Prologue { "in front of" } else { "behind" };
        let message = format!("[{}] stays {where_it_is} the kernel: {}", refusal.code, refusal.message);
        remark_at(op, message).note(view.op, format_args!("the kernel '{}'", view.op.text_attr(attr::NAME))).emit();
        found.push(Unfused::new(function_of(op), location_text(op.loc()), side, refusal.code, refusal.message));
    }
    found
}
