//! `spyre-fuse-prologue-epilogue`: fuses neighboring producers and consumers into kernels.
//!
//! Reads `spyre.kernel` ops and their neighbors; moves ops into the kernels' scopes, and records the moves in the `spyre.kernels`
//! attribute of the function. All legal moves are made first, kernel by kernel in program order, producers before consumers,
//! until a fixed point. Copies of the module determine which moves are kept and which ops loops recompute (`decide.rs`), so the
//! module itself is changed once.

use super::{
    decide::{Decided, decide},
    dim_labels::{DimLabels, program_labels},
    followers::Part,
    fusion::{Fusion, Move, function_of, has_excluded, number_of, producers},
    judge::{CandidateCompiler, Judge, Judged, unnumber},
    kernels_of,
    neighbours::KernelView,
    placed::{Placed, placed},
};
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, Knob, target_of},
    kernel::{Code, Fused, FusionMode, KernelOutcome, Outcome, Refusal, Side, Unfused},
    mlir::{
        Op, OpExt, Options, Pass, Reported, Scratch, error_at, functions_of, i64_attribute, location_text, remark_behind, string_attribute,
    },
    plan_file::key_of,
};
use machine::Target;
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-fuse-prologue-epilogue", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    if functions_of(module).into_iter().all(|function| kernels_of(function).is_empty()) {
        return Ok(());
    }
    number(module);
    let compiler: Option<CandidateCompiler> = options.nested(module, option::COMPILE)?;
    let judge = compiler.as_ref().map(Judge::new);
    let decided = judge.map_or_else(|| Ok(Decided::default()), |judge| decide(module, &target, &judge))?;
    let moves = if decided.is_separate { Vec::new() } else { Fusion { target: &target, choice: &decided.choice }.run(module) };
    let places = placed(module, &target);
    let mut first_kernel = 0;
    for function in functions_of(module) {
        let n_kernels = kernels_of(function).len();
        if n_kernels > 0 {
            let fused =
                |number| moves.iter().filter(move |made| made.kernel == number).map(|made| fused_by(made, &places, &decided)).collect();
            describe(function, first_kernel, &target, &decided, fused);
        }
        first_kernel += n_kernels;
    }
    unnumber(module);
    Ok(())
}

/// Numbers the compute ops, so that they can be identified in copies of the module.
fn number(module: Op<'_>) {
    for (number, compute) in (0..).zip(ComputeOp::all_in(module)) {
        compute.op.set_attr(attr::SPYRE_NUMBER, i64_attribute(module.ctx(), number));
    }
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

/// Records the moves on a function, and reports the refused ones. `first_kernel` is the module-wide number of its first kernel.
fn describe(function: Op<'_>, first_kernel: usize, target: &Target, decided: &Decided, fused: impl Fn(usize) -> Vec<Fused>) {
    let labels = program_labels(function);
    let us = |judged: Judged| judged.cost.ns / 1000.0;
    let mut outcome = Outcome {
        us: decided.fused.map(us),
        separate_us: decided.separate.map(us),
        again_us: decided.fused.map(|judged| judged.again_ns / 1000.0).filter(|us| *us > 0.0),
        hbm_bytes: decided.fused.map(|judged| judged.cost.hbm_bytes),
        separate_hbm_bytes: decided.separate.map(|judged| judged.cost.hbm_bytes),
        n_judged: decided.n_judged,
        n_infeasible: decided.n_infeasible,
        kernels: Vec::new(),
    };
    for (number, kernel) in (first_kernel..).zip(kernels_of(function)) {
        // A copy reads the kernel's operands: it must be erased before uses are counted.
        let copy = Scratch::of(kernel);
        unnumber(copy.op());
        let key = key_of(&copy.op().to_string());
        drop(copy);
        let view = KernelView::of(kernel, &labels, target);
        outcome.kernels.push(KernelOutcome {
            name: kernel.text_attr(attr::NAME).to_owned(),
            key,
            knobs: Knob::all_of(kernel).into_iter().map(|knob| (knob.name, knob.value)).collect(),
            fused: fused(number),
            separate: refusals(&view, &labels, target, decided),
        });
    }
    let text = serde_json::to_string(&outcome).unwrap_or_default();
    function.set_attr(attr::SPYRE_KERNELS, string_attribute(function.ctx(), &text));
}

fn fused_by(made: &Move, places: &BTreeMap<i64, Placed>, decided: &Decided) -> Fused {
    let saved = decided.savings.iter().find(|saving| saving.id == made.id);
    let place = places.get(&made.id.0);
    let times = place.map_or(1, Placed::times);
    Fused {
        function: made.function.clone(),
        location: made.location.clone(),
        side: made.id.1,
        mode: place.map_or(FusionMode::Inline, Placed::mode),
        loops: place.map(Placed::loops).unwrap_or_default().iter().map(|level| format!("{} = {}", level.name, level.count)).collect(),
        times,
        again_us: saved.filter(|_| times > 1).map(|saving| saving.again_ns / 1000.0),
        saved_us: saved.map(|saving| saving.cost.ns / 1000.0),
        saved_hbm_bytes: saved.map(|saving| saving.cost.hbm_bytes),
    }
}

/// Reports why each neighbor stays outside, at the kernel and at the neighbor.
fn refusals(view: &KernelView<'_>, labels: &DimLabels<String>, target: &Target, decided: &Decided) -> Vec<Unfused> {
    let cost = |op: Op<'_>, side: Side| {
        let is_excluded = decided.is_separate
            || number_of(op).is_some_and(|number| decided.choice.excluded.contains(&(number, side)))
            || op.is(spyre::KERNEL) && Part::all_of(op).iter().any(|part| has_excluded(part, &decided.choice.excluded));
        let code = if side == Side::Prologue { Code::PCost } else { Code::ECost };
        let is_impossible = number_of(op).is_some_and(|number| decided.impossible.contains(&(number, side)));
        let why = if is_impossible { "cannot be compiled with the fusion" } else { "is not faster with the fusion" };
        is_excluded.then(|| Refusal { code, message: format!("the program {why}") })
    };
    let in_front = producers(view).into_iter().map(|op| (op, Side::Prologue, view.prologue(op).check()));
    let behind = view.consumers().into_iter().filter(|op| !op.is("func.return") && !op.is(spyre::YIELD));
    let checked = |op: Op<'_>| {
        if op.is(spyre::KERNEL) {
            view.joining(&KernelView::of(op, labels, target), |_| false).map(drop)
        } else {
            view.epilogue(op).check()
        }
    };
    let behind = behind.map(|op| (op, Side::Epilogue, checked(op)));
    let mut found = Vec::new();
    for (op, side, checked) in in_front.chain(behind) {
        let Some(refusal) = checked.err().or_else(|| cost(op, side)) else { continue };
        let where_it_is = if side == Side::Prologue { "before" } else { "after" };
        let message = format!("not fused {where_it_is} kernel '{}' ({}): {}", view.op.text_attr(attr::NAME), refusal.code, refusal.message);
        remark_behind(refusal.code.message_code(), op, message)
            .note(
                view.op,
                format_args!(
                    "the kernel \
         '{}'",
                    view.op.text_attr(attr::NAME)
                ),
            )
            .emit();
        found.push(Unfused::new(function_of(op), location_text(op.loc()), side, refusal.code, refusal.message));
    }
    found
}
