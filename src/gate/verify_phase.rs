//! `spyre-verify-phase`: rejects ops that a phase should have removed, and ops that lack the decisions of that phase.
//!
//! Reads the module; writes `spyre.phase`, from which the compilation of a printed module resumes. The invariants of
//! earlier phases remain in force. Uses of values are checked as well, because no op verifier sees all of them. All
//! violations are reported, not only the first one.

use super::check_sizes::check_sizes;
use crate::dialect::ods::{attr, option, sdsc, spyre};
use crate::work::ir::describe_op::describe_op;
use crate::{
    codes,
    dialect::{ComputeOp, DeviceTensor, core_split_of, set_phase, target_of},
    import::ir::check_input::check_buffers,
    layout::ir::copy_aliased_results::find_shared_results,
    lx::ir::allocate_scratchpad::check_lx_placement,
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, ValueLike, error_at},
    phase::Phase,
    tile::ir::insert_loop_copies::check_settled,
    work::check_split,
};
use machine::Target;

pub(crate) const PASS: Pass = Pass { argument: "spyre-verify-phase", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let phase: Phase = options.read_enum(module, option::PHASE)?;
    check_sizes(module)?;
    // Every violation is reported. Layouts and core splits are checked only if all ops have them.
    combine_reports(
        find_violations(module, phase).into_iter().map(|(op, broken)| report_violation(op, phase, broken)),
    )?;
    check_buffers(module)?;
    if (Phase::Tile..Phase::Bundle).contains(&phase) {
        check_settled(module)?;
    }
    if (Phase::Work..Phase::Bundle).contains(&phase) {
        let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
        let work =
            |compute: ComputeOp<'_>| Some(report_violation(compute.op, phase, &check_work(compute, &target).err()?));
        combine_reports(ComputeOp::collect_in(module).into_iter().filter_map(work))?;
        if phase == Phase::Lx {
            let functions = module.body_ops().into_iter().filter(|op| op.is("func.func"));
            combine_reports(functions.filter_map(|function| {
                check_lx_placement(function, &target, &|op, broken| report_violation(op, phase, broken)).err()
            }))?;
        }
    }
    set_phase(module, phase.name());
    Ok(())
}

fn report_violation(op: Op<'_>, phase: Phase, broken: &str) -> ErrorReported {
    error_at(codes::INTERNAL, op, format_args!("is not allowed after phase '{phase}': {broken}")).report()
}

/// Drains all reports; returns the last error, if any.
fn combine_reports(reported: impl Iterator<Item = ErrorReported>) -> Result<(), ErrorReported> {
    reported.last().map_or(Ok(()), Err)
}

/// Checks that the machine supports the core split of an op.
fn check_work(compute: ComputeOp<'_>, target: &Target) -> Result<(), String> {
    let (operation, split) = (describe_op(compute)?, core_split_of(compute)?);
    check_split(&operation, &split, target).map_err(|error| error.explain(&operation, &compute.dim_names()))
}

/// Returns the ops that violate an invariant, each with the rule; ops nested in one of them are omitted.
fn find_violations(module: Op<'_>, phase: Phase) -> Vec<(Op<'_>, &'static str)> {
    let mut found: Vec<(Op<'_>, &'static str)> = Vec::new();
    for op in module.nested() {
        // Pre-order: an op precedes its nested ops.
        let is_within = |around: Op<'_>| std::iter::successors(op.parent(), |op| op.parent()).any(|op| op == around);
        if !found.last().is_some_and(|&(last, _)| is_within(last)) {
            found.extend(find_phase_violation(op, phase).map(|broken| (op, broken)));
        }
    }
    found
}

/// Returns the first invariant that an op violates after `phase`; `None` if there is none.
fn find_phase_violation(op: Op<'_>, phase: Phase) -> Option<&'static str> {
    let is_after = |other: Phase| phase >= other;
    if is_after(Phase::Bundle) {
        let name = op.full_name();
        return (name.starts_with("spyre.") || name == sdsc::BUNDLE || name == sdsc::LOOP)
            .then_some("it should have been lowered");
    }
    if is_after(Phase::Import) && (op.full_name().starts_with("linalg.") || op.full_name().starts_with("tensor.")) {
        return Some("it should have become spyre ops");
    }
    if is_after(Phase::Import) && op.is(spyre::HINT) {
        return Some("it should have become attributes of ops");
    }
    if is_after(Phase::Import) && op.is(spyre::KERNEL) {
        return Some("it should have been inlined");
    }
    if op.is("func.return")
        && is_after(Phase::Layout)
        && !is_after(Phase::Bundle)
        && !find_shared_results(op).is_empty()
    {
        return Some(
            "a result shares the buffer of another result, an argument or a constant, so no launch would write it",
        );
    }
    let is_laid_out = || DeviceTensor::from_type(op.output().r#type()).is_some_and(|tensor| tensor.layout.is_some());
    let makes_buffer = op.is(spyre::EMPTY) || ComputeOp::from_op(op).is_some();
    if is_after(Phase::Layout) && makes_buffer && !is_laid_out() {
        return Some("its result has no device layout");
    }
    let compute = ComputeOp::from_op(op)?;
    if is_after(Phase::Tile) && op.attr(attr::HINTS).is_some() {
        return Some("its hints should have become loops");
    }
    if is_after(Phase::Work) && compute.work().is_none() {
        return Some("it has no core split ('work')");
    }
    if is_after(Phase::Work) && op.attr(attr::WORK_DIV).is_some() {
        return Some("its 'work_div' should have become its core split ('work')");
    }
    if is_after(Phase::Lx) && compute.placement().is_none() {
        return Some("its result has no memory assigned ('place')");
    }
    None
}
