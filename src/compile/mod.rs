//! One compilation: runs the pipeline phase by phase and collects the report. `validated.rs` adds validation.

mod blame;
mod bound;
mod cause;
mod library;
#[cfg(debug_assertions)]
mod misread;
mod needs;
mod number_formats;
mod pieces;
mod user_terms;
mod validated;

pub use library::{Compiled, compile_source};
pub use user_terms::{in_user_terms, parse_in_user_terms};
pub use validated::{Validation, compile_as_validated, compile_validated, compile_validated_within};

use crate::bundle::ir::sdsc_ops::bundle_of;
use crate::dialect::ods::{attr, sdsc, spyre};
use crate::{
    bundle::Bundle,
    codes,
    dialect::{ComputeOp, Tensor, TileSearch, phase_of, plan_of, proof_of, target_of},
    explain::{Numbers, ValuePlace, add_up, loops_of, place_of, values_in_lx},
    kernel::Outcome,
    mlir::{
        Module, Op, OpExt, Reported, ValueLike, bugs_of, elements, error_at, integer, integers, location_name, location_text, module_path,
        one_of, symbol_name, warning_at, warning_behind,
    },
    pipeline::{Milestone, Options, Phase, check, emission},
    report::{
        Cost, LaunchReport, ModelledTime, MoreLxReport, Moves, OpReport, PeelTrialsReport, Report, RunnerUpReport, TileSearchReport,
        thousandths,
    },
    search::MORE_LX_BYTES,
    traffic::{Bytes, OpTraffic, accesses, kernel_of, lx_peak_bytes, traffic},
};
use bound::{Done, describe_bound};
use cost::{Formula, KernelOp, describe, estimate_op_ns, price};
use machine::{Target, TimeModel};
use needs::Needs;
use number_formats::{remark_f64, remark_integer_ranges};

/// Compiles `module` in place up to the phase in the options, and writes the files if that is the last phase. A module that was printed
/// after a phase resumes with the next one.
///
/// Returns `None` if a pass failed; it has reported why, and nothing was written.
#[must_use]
pub fn compile(module: &mut Module<'_>, options: &Options, output: &str) -> Option<Report> {
    compile_watched(module, options, output, &mut |_, _| {})
}

/// Compiles like [`compile`]. `watch` is called after each phase, and additionally during the import once the program consists of our
/// ops.
#[must_use]
pub fn compile_watched<'c>(
    module: &mut Module<'c>,
    options: &Options,
    output: &str,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let mut report = Report::default();
    let done = phase_behind(module.op(), options).ok()?;
    if done.is_none() {
        #[cfg(debug_assertions)]
        misread::misread(module);
        remark_f64(module);
    }
    let found_before = bugs_of(module.op());
    // Printed IR may have been edited: the invariants of completed phases are verified before the next phase relies on them.
    if let Some(done) = done.filter(|done| *done < Phase::Emit)
        && module.run_passes(&[check(done).pass]).is_err()
    {
        return None;
    }
    // The compulsory work is read from the ops before any decision: after the import, or when resumed IR is parsed.
    let mut needs = done.map(|_| Needs::of(module.op())).unwrap_or_default();
    if done >= Some(Phase::Layout) {
        needs.read_constants(module.op());
    }
    let phases = Phase::ALL.into_iter().filter(|phase| done.is_none_or(|done| *phase > done) && *phase <= options.compile_to);
    for phase in phases {
        let steps = if phase == Phase::Emit {
            vec![emission(output, done.is_none(), options.bundle_format)]
        } else {
            options.steps_of(phase, output)
        };
        for (number, step) in steps.iter().enumerate() {
            // Verification takes as long as a pass, so the module is verified once per phase, by its last pass.
            let is_last = number + 1 == steps.len();
            let pass = std::slice::from_ref(&step.pass);
            if (if is_last { module.run_passes(pass) } else { module.run_unverified(pass) }).is_err() {
                if bugs_of(module.op()) > found_before {
                    let _ = error_at(
                        codes::PANIC,
                        module.op(),
                        format_args!("phase '{phase}' was stopped by a compiler bug; please report this program"),
                    )
                    .report();
                }
                return None;
            }
            // Decisions are complete when the pool is planned, but a compilation may end earlier; op specs exist between the passes of
            // the bundle phase.
            match step.milestone {
                Some(Milestone::Imported) => watch(phase, module),
                Some(Milestone::Flat) => needs = Needs::of(module.op()),
                Some(Milestone::Padded) => needs.read_constants(module.op()),
                Some(Milestone::Placed) if options.compile_to == phase => describe_ops(module.op(), &mut report),
                Some(Milestone::Formed) => describe_ops(module.op(), &mut report),
                Some(Milestone::Lowered) => {
                    remark_integer_ranges(module.op());
                    describe_launches(module.op(), &needs, &mut report);
                }
                Some(Milestone::Placed) | None => {}
            }
        }
        watch(phase, module);
    }
    Some(report)
}

/// Returns the last phase that a module has completed; `None` for a source program.
fn phase_behind(module: Op<'_>, options: &Options) -> Result<Option<Phase>, Reported> {
    let Some(name) = phase_of(module) else {
        let lowered = module.body_ops().into_iter().find(|op| op.is(sdsc::PROGRAM));
        let refuse = |op| {
            error_at(
                codes::PHASE_ATTRIBUTE,
                op,
                "expected 'spyre.phase = \"bundle\"' on a module with ops of phase 'bundle'; add the attribute to continue after \
                 that phase",
            )
            .report()
        };
        return lowered.map_or(Ok(None), |op| Err(refuse(op)));
    };
    let done: Phase =
        one_of(name).map_err(|message| error_at(codes::PHASE_ATTRIBUTE, module, format_args!("'spyre.phase': {message}")).report())?;
    if done > options.compile_to {
        let message = format!(
            "expected a module before phase '{}', found one after phase '{done}'; give a later phase to --compile-to",
            options.compile_to
        );
        return Err(error_at(codes::PHASE_ATTRIBUTE, module, message).report());
    }
    for option in options.without_effect(done) {
        warning_at(
            codes::NO_EFFECT,
            module,
            format_args!("option '{option}' has no effect: it belongs to phase '{done}' or an earlier one; remove it"),
        )
        .emit();
    }
    Ok(Some(done))
}

fn describe_ops(module: Op<'_>, report: &mut Report) {
    if let Ok(target) = target_of(module) {
        report.target = target.numbers().into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
    }
    let mut numbers = Numbers::default();
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        function.text_attr(attr::SYM_NAME).clone_into(&mut report.program);
        report.arguments = argument_names(function);
        for compute in ComputeOp::all_in(function) {
            numbers.add(compute);
            report.ops.push(describe_op(compute));
        }
        report.explain.loops.extend(loops_of(function, &numbers));
        report.kernels.extend(kernels_in(function));
        report.chosen = plan_of(function);
        report.peeled = Some(function.text_attr(attr::SPYRE_PEELED).to_owned()).filter(|peeled| !peeled.is_empty());
        report.peel_trials = peel_trials_of(function);
        report.proof = proof_of(function);
        report.tile_search.extend(TileSearch::of(function).map(|found| describe_search(function, found)));
    }
}

/// Returns the names of the arguments in the model; nothing if none has one.
fn argument_names(function: Op<'_>) -> Vec<String> {
    let names: Vec<String> = function.body_args().into_iter().map(|argument| location_name(argument.location()).to_owned()).collect();
    if names.iter().all(String::is_empty) {
        return Vec::new();
    }
    names.into_iter().enumerate().map(|(index, name)| if name.is_empty() { format!("arg{index}") } else { name }).collect()
}

/// Returns the fusion outcome that the pass recorded on a function; `None` if it recorded none.
fn kernels_in(function: Op<'_>) -> Option<Outcome> {
    serde_json::from_str(function.text_attr(attr::SPYRE_KERNELS)).ok()
}

/// Returns the number of compiled trial programs with peeled remainders, as recorded by the pass.
fn peel_trials_of(function: Op<'_>) -> Option<PeelTrialsReport> {
    let counts = function.attr(attr::SPYRE_PEEL_TRIALS).and_then(integers)?;
    let [n_judged, n_infeasible] = counts[..] else { return None };
    Some(PeelTrialsReport { n_judged, n_infeasible })
}

fn describe_search(function: Op<'_>, found: TileSearch) -> TileSearchReport {
    let TileSearch { nests, us, hbm, untiled_us, least_us, runner_up, with_more_lx, n_judged, n_infeasible, is_cut_short } = found;
    let (us, untiled_us, least_us) = (thousandths(us), untiled_us.map(thousandths), least_us.map(thousandths));
    let function = function.text_attr(attr::SYM_NAME).to_owned();
    let runner_up = runner_up.map(|other| RunnerUpReport { nests: other.nests, us: thousandths(other.cost.us), hbm: other.cost.hbm });
    let with_more_lx = with_more_lx.map(|cost| MoreLxReport { more_bytes: MORE_LX_BYTES, us: thousandths(cost.us), hbm: cost.hbm });
    TileSearchReport { function, nests, us, hbm, untiled_us, least_us, runner_up, with_more_lx, n_judged, n_infeasible, is_cut_short }
}

fn describe_op(compute: ComputeOp<'_>) -> OpReport {
    let ValuePlace { memory, lx_offset_bytes, reason } = place_of(compute.place());
    let work = compute.work().unwrap_or_default();
    let layout = Tensor::of(compute.op.output().r#type()).and_then(|tensor| tensor.layout);
    OpReport {
        op: compute.op.full_name().to_owned(),
        function: compute.function().to_owned(),
        location: location_text(compute.op.loc()),
        module: module_path(compute.op.loc()),
        iteration_space: compute.iteration_space(),
        dims: compute.dim_names(),
        loops: compute.loops().into_iter().filter_map(|around| around.attr(attr::COUNT).and_then(integer)).collect(),
        cores: work.iter().product(),
        work,
        memory,
        lx_offset_bytes,
        result_bytes: layout.map_or(0, |layout| layout.bytes()),
        is_for_layout: compute.op.is(spyre::RESTICKIFY) || compute.op.attr(attr::SPYRE_FOR_LAYOUT).is_some(),
        reason,
        bytes: Bytes::default(),
        start_us: 0.0,
        us: 0.0,
        gap_us: 0.0,
    }
}

fn describe_launches(module: Op<'_>, needs: &Needs, report: &mut Report) {
    let mut moved: Vec<OpTraffic> = Vec::new();
    let mut done = Done { buffers: needs.by_name(module), ..Done::default() };
    let target = target_of(module).unwrap_or_else(|_| Target::spyre());
    for (launch, bundle) in module.nested().into_iter().filter(|op| op.is(sdsc::BUNDLE)).enumerate() {
        let Ok(model) = bundle_of(bundle) else { continue };
        let (of_bundle, kernel) = (traffic(&model), describe(&kernel_of(&model)));
        let launched = describe_launch(bundle.text_attr(attr::SYM_NAME), &model, &of_bundle, cost_of(&kernel, &target.time));
        warn_of_many_executes(bundle, &launched);
        report.launches.push(launched);
        report.explain.scratchpad.extend(values_in_lx(&model, moved.len()));
        let buffers: Vec<&str> = bundle.required("buffers", elements).into_iter().filter_map(symbol_name).collect();
        done.accesses.extend(accesses(&model, launch, &buffers, moved.len()));
        done.kernels.extend(kernel);
        moved.extend(of_bundle);
    }
    for ((op, moved), kernel) in report.ops.iter_mut().zip(&moved).zip(&done.kernels) {
        op.us = thousandths(estimate_op_ns(kernel, &target.time) / 1000.0);
        op.bytes = bytes_of(moved);
        report.total.add(&op.bytes);
    }
    let bytes: Vec<Bytes> = report.ops.iter().map(|op| op.bytes).collect();
    add_up(&mut report.explain.loops, &bytes, 1);
    report.begin_ops();
    report.time = ModelledTime::of(&report.launches);
    report.moves = Moves::of(&report.ops);
    describe_bound(report, needs, &done, &target);
}

/// Number of executes per launch from which a report warns, if launch overhead dominates its time.
const MANY_EXECUTES: i64 = 10_000;

fn warn_of_many_executes(bundle: Op<'_>, launched: &LaunchReport) {
    let LaunchReport { bundle: name, n_executions, cost, .. } = launched;
    if *n_executions >= MANY_EXECUTES && 2.0 * cost.fixed_us > cost.estimate_us {
        let (fixed, all) = (cost.fixed_us / 1000.0, cost.estimate_us / 1000.0);
        let found = format!("launch '{name}' has {n_executions} executions, whose fixed cost is {fixed:.1} of {all:.1} ms");
        warning_behind(codes::MANY_LAUNCH_STEPS, bundle, format_args!("{found}; use fewer tiles")).emit();
    }
}

fn describe_launch(name: &str, bundle: &Bundle, moved: &[OpTraffic], cost: Cost) -> LaunchReport {
    let mut bytes = Bytes::default();
    for op in moved {
        bytes.add(&bytes_of(op));
    }
    LaunchReport {
        bundle: name.to_owned(),
        n_ops: moved.len(),
        n_executions: moved.iter().map(|op| op.executions).sum(),
        bytes,
        lx_peak_bytes: lx_peak_bytes(bundle),
        pool_bytes: bundle.pool_bytes,
        start_us: 0.0,
        cost,
    }
}

/// Returns the modeled time of a launch; a bundle is one kernel.
fn cost_of(ops: &[KernelOp], time: &TimeModel) -> Cost {
    let modeled = price(ops, time, Formula::Recommended);
    let microseconds = |ns: f64| thousandths(ns / 1000.0);
    Cost {
        low_us: microseconds(modeled.low_ns),
        estimate_us: microseconds(modeled.estimate_ns),
        high_us: microseconds(modeled.high_ns),
        hbm_us: microseconds(modeled.hbm_ns),
        compute_us: microseconds(modeled.compute_ns),
        fixed_us: microseconds(modeled.fixed_ns),
        limit: modeled.limit.name(),
        is_ranked: modeled.is_ranked,
        torch_spyre_us: microseconds(price(ops, time, Formula::TorchSpyre).estimate_ns),
    }
}

const fn bytes_of(traffic: &OpTraffic) -> Bytes {
    Bytes {
        hbm_read: traffic.hbm_bytes_read,
        hbm_written: traffic.hbm_bytes_written,
        lx_read: traffic.lx_bytes_read,
        lx_written: traffic.lx_bytes_written,
    }
}
