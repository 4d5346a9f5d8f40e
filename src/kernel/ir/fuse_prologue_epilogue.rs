//! `spyre-fuse-prologue-epilogue`: fuses neighboring producers and consumers into kernels.
//!
//! Reads `spyre.kernel` ops and their neighbors; moves ops into the kernels' scopes, and records the moves in the
//! `spyre.kernels` attribute of the function. All legal moves are made first, kernel by kernel in program order,
//! producers before consumers, until a fixed point. Copies of the module determine which moves are kept and which ops
//! loops recompute (`decide.rs`), so the module itself is changed once.

use super::{
    collect_kernels,
    consumer_kernels::KernelSegment,
    cost_evaluator::{CandidateCompiler, ModuleCost, ModuleCostEvaluator, remove_numbers},
    decide::{FusionDecision, decide_fusion},
    dim_labels::{DimLabels, compute_program_labels},
    fusion::{CompletedMove, NeighborFusion, collect_producers, function_name, has_excluded, original_number},
    moved_ops::{MovedOpLoops, collect_moved_op_loops},
    moves::FUSING_PASS,
    neighbors::KernelView,
};
use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, Knob, target_of},
    kernel::{FusedOp, FusionMode, FusionOutcome, FusionRejection, FusionRule, KernelOutcome, NeighborSide, UnfusedOp},
    mlir::{
        DetachedClone, ErrorReported, Op, OpExt, Pass, PassOptions, error_at, find_defined_functions, format_location,
        i64_attribute, remark_at_location, string_attribute,
    },
    plan_file::compute_program_key,
};
use machine::Target;
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: FUSING_PASS, run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    if find_defined_functions(module).into_iter().all(|function| collect_kernels(function).is_empty()) {
        return Ok(());
    }
    number_ops(module);
    let compiler: Option<CandidateCompiler> = options.read_nested_options(module, option::COMPILE)?;
    let evaluator = compiler.as_ref().map(ModuleCostEvaluator::new);
    let decided = evaluator
        .map_or_else(|| Ok(FusionDecision::default()), |evaluator| decide_fusion(module, &target, &evaluator))?;
    let moves = if decided.is_separate {
        Vec::new()
    } else {
        NeighborFusion { target: &target, choice: &decided.choice }.fuse_neighbors(module)
    };
    let places = collect_moved_op_loops(module, &target);
    let mut first_kernel = 0;
    for function in find_defined_functions(module) {
        let num_kernels = collect_kernels(function).len();
        if num_kernels > 0 {
            let fused = |number| {
                moves
                    .iter()
                    .filter(move |made| made.kernel == number)
                    .map(|made| to_fused_op(made, &places, &decided))
                    .collect()
            };
            record_outcome(function, first_kernel, &target, &decided, fused);
        }
        first_kernel += num_kernels;
    }
    remove_numbers(module);
    Ok(())
}

/// Numbers the compute ops, so that they can be identified in copies of the module.
fn number_ops(module: Op<'_>) {
    for (number, compute) in (0..).zip(ComputeOp::collect_in(module)) {
        compute.op.set_attr(attr::SPYRE_NUMBER, i64_attribute(module.ctx(), number));
    }
}

//===----------------------------------------------------------------------===//
// Reporting
//===----------------------------------------------------------------------===//

/// Records the moves on a function, and reports the rejected ones. `first_kernel` is the module-wide number of its
/// first kernel.
fn record_outcome(
    function: Op<'_>,
    first_kernel: usize,
    target: &Target,
    decided: &FusionDecision,
    fused: impl Fn(usize) -> Vec<FusedOp>,
) {
    let labels = compute_program_labels(function);
    let us = |evaluated: ModuleCost| evaluated.cost.ns / 1000.0;
    let mut outcome = FusionOutcome {
        us: decided.fused.map(us),
        separate_us: decided.separate.map(us),
        again_us: decided.fused.map(|evaluated| evaluated.recomputation_ns / 1000.0).filter(|us| *us > 0.0),
        hbm_bytes: decided.fused.map(|evaluated| evaluated.cost.hbm_bytes),
        separate_hbm_bytes: decided.separate.map(|evaluated| evaluated.cost.hbm_bytes),
        n_judged: decided.n_evaluated,
        n_infeasible: decided.n_infeasible,
        kernels: Vec::new(),
    };
    for (number, kernel) in (first_kernel..).zip(collect_kernels(function)) {
        // A copy reads the kernel's operands: it must be erased before uses are counted.
        let copy = DetachedClone::from_op(kernel);
        remove_numbers(copy.op());
        let key = compute_program_key(&copy.op().to_string());
        drop(copy);
        let view = KernelView::new(kernel, &labels, target);
        outcome.kernels.push(KernelOutcome {
            name: kernel.text_attr(attr::NAME).to_owned(),
            key,
            knobs: Knob::collect_from_kernel(kernel).into_iter().map(|knob| (knob.name, knob.value)).collect(),
            fused: fused(number),
            separate: report_rejections(&view, &labels, target, decided),
        });
    }
    let text = serde_json::to_string(&outcome).unwrap_or_default();
    function.set_attr(attr::SPYRE_KERNELS, string_attribute(function.ctx(), &text));
}

fn to_fused_op(made: &CompletedMove, places: &BTreeMap<i64, MovedOpLoops>, decided: &FusionDecision) -> FusedOp {
    let saved = decided.savings.iter().find(|saving| saving.id == made.id);
    let place = places.get(&made.id.0);
    let times = place.map_or(1, MovedOpLoops::num_computations);
    FusedOp {
        function: made.function.clone(),
        location: made.location.clone(),
        side: made.id.1,
        mode: place.map_or(FusionMode::Inline, MovedOpLoops::mode),
        loops: place
            .map(MovedOpLoops::loops)
            .unwrap_or_default()
            .iter()
            .map(|level| format!("{} = {}", level.name, level.count))
            .collect(),
        times,
        again_us: saved.filter(|_| times > 1).map(|saving| saving.again_ns / 1000.0),
        saved_us: saved.map(|saving| saving.cost.ns / 1000.0),
        saved_hbm_bytes: saved.map(|saving| saving.cost.hbm_bytes),
    }
}

/// Reports why each neighbor stays outside, at the kernel and at the neighbor.
fn report_rejections(
    view: &KernelView<'_>,
    labels: &DimLabels<String>,
    target: &Target,
    decided: &FusionDecision,
) -> Vec<UnfusedOp> {
    let cost = |op: Op<'_>, side: NeighborSide| {
        let is_excluded = decided.is_separate
            || original_number(op).is_some_and(|number| decided.choice.excluded.contains(&(number, side)))
            || op.is(spyre::KERNEL)
                && KernelSegment::find_all(op).iter().any(|part| has_excluded(part, &decided.choice.excluded));
        let code = if side == NeighborSide::Prologue { FusionRule::PCost } else { FusionRule::ECost };
        let is_impossible = original_number(op).is_some_and(|number| decided.impossible.contains(&(number, side)));
        let why = if is_impossible { "cannot be compiled with the fusion" } else { "is not faster with the fusion" };
        is_excluded.then(|| FusionRejection { code, message: format!("the program {why}") })
    };
    let in_front =
        collect_producers(view).into_iter().map(|op| (op, NeighborSide::Prologue, view.describe_prologue(op).check()));
    let after = view.collect_consumers().into_iter().filter(|op| !op.is("func.return") && !op.is(spyre::YIELD));
    let checked = |op: Op<'_>| {
        if op.is(spyre::KERNEL) {
            view.find_fusible_segment(&KernelView::new(op, labels, target), |_| false).map(drop)
        } else {
            view.describe_epilogue(op).check()
        }
    };
    let after = after.map(|op| (op, NeighborSide::Epilogue, checked(op)));
    let mut found = Vec::new();
    for (op, side, checked) in in_front.chain(after) {
        let Some(rejection) = checked.err().or_else(|| cost(op, side)) else { continue };
        let where_it_is = if side == NeighborSide::Prologue { "before" } else { "after" };
        let message = format!(
            "not fused {where_it_is} kernel '{}' ({}): {}",
            view.op.text_attr(attr::NAME),
            rejection.code,
            rejection.message
        );
        remark_at_location(rejection.code.message_code(), op, message)
            .with_note(
                view.op,
                format_args!(
                    "the kernel \
         '{}'",
                    view.op.text_attr(attr::NAME)
                ),
            )
            .emit();
        found.push(UnfusedOp::new(
            function_name(op),
            format_location(op.loc()),
            side,
            rejection.code,
            rejection.message,
        ));
    }
    found
}
