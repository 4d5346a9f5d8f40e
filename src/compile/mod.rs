//! One compilation: runs the pipeline phase by phase and collects the report. `validation.rs` adds validation.

mod bound;
mod compulsory_work;
mod excess_cause;
mod faulty_phase;
#[cfg(debug_assertions)]
mod import_fault;
mod library;
mod number_formats;
mod pieces;
mod user_terms;
mod validation;

pub use library::{CompileOutcome, compile_source, parse_options};
pub use user_terms::{parse_in_user_terms, run_in_user_terms};
pub use validation::{
    ValidationSettings, compile_and_validate, compile_and_validate_with_limits, compile_with_validation,
};

use crate::bundle::ir::sdsc_ops::bundle_from_ir;
use crate::dialect::ods::{attr, sdsc, spyre};
use crate::{
    bundle::Bundle,
    codes,
    dialect::{ComputeOp, DeviceTensor, TileSearchSummary, phase_of, read_plan, read_proof, target_of},
    explain::{OpPositions, ValueLocation, collect_lx_values, describe_loops, describe_place, sum_loop_bytes},
    kernel::FusionOutcome,
    mlir::{
        ErrorReported, Module, Op, OpExt, ValueLike, elements, error_at, format_location, integer, integers,
        location_name, module_path, num_bugs, parse_enum, symbol_name, warning_at, warning_at_location,
    },
    pipeline::{CompileOptions, IrStage, Phase, build_check_step, build_emit_step},
    report::{
        LaunchCost, LaunchReport, LayoutMoves, ModelledTime, MoreLxReport, OpReport, PeelTrialsReport, Report,
        RunnerUpReport, TileSearchReport, round_to_thousandths,
    },
    search::ADDITIONAL_LX_BYTES,
    traffic::{Bytes, OpTraffic, collect_accesses, count_traffic, lx_peak_bytes, read_kernel},
};
use bound::{PlanWork, describe_bound};
use compulsory_work::CompulsoryWork;
use cost::{CostFormula, OpFeatures, estimate_kernel_time, estimate_op_ns, extract_features};
use machine::{Target, TimeModel};
use number_formats::{remark_f64, remark_integer_ranges};

/// Compiles `module` in place up to the phase in the options, and writes the files if that is the last phase. A module
/// that was printed after a phase resumes with the next one.
///
/// Returns `None` if a pass failed; it has reported why, and nothing was written.
#[must_use]
pub fn compile(module: &mut Module<'_>, options: &CompileOptions, output: &str) -> Option<Report> {
    compile_watched(module, options, output, &mut |_, _| {})
}

/// Compiles like [`compile`]. `watch` is called after each phase, and additionally during the import once the program
/// consists of our ops.
#[must_use]
pub fn compile_watched<'c>(
    module: &mut Module<'c>,
    options: &CompileOptions,
    output: &str,
    watch: &mut dyn FnMut(Phase, &Module<'c>),
) -> Option<Report> {
    let mut report = Report::default();
    let done = find_completed_phase(module.op(), options).ok()?;
    if done.is_none() {
        #[cfg(debug_assertions)]
        import_fault::inject_import_fault(module);
        remark_f64(module);
    }
    let found_before = num_bugs(module.op());
    // Printed IR may have been edited: the invariants of completed phases are verified before the next phase relies on
    // them.
    if let Some(done) = done.filter(|done| *done < Phase::Emit)
        && module.run_passes(&[build_check_step(done).pass]).is_err()
    {
        return None;
    }
    // The compulsory work is read from the ops before any decision: after the import, or when resumed IR is parsed.
    let mut needs = done.map(|_| CompulsoryWork::from_module(module.op())).unwrap_or_default();
    if done >= Some(Phase::Layout) {
        needs.read_constants(module.op());
    }
    let phases =
        Phase::ALL.into_iter().filter(|phase| done.is_none_or(|done| *phase > done) && *phase <= options.compile_to);
    for phase in phases {
        let steps = if phase == Phase::Emit {
            vec![build_emit_step(output, done.is_none(), options.bundle_format)]
        } else {
            options.steps_of(phase, output)
        };
        for (number, step) in steps.iter().enumerate() {
            // Verification takes as long as a pass, so the module is verified once per phase, by its last pass.
            let is_last = number + 1 == steps.len();
            let pass = std::slice::from_ref(&step.pass);
            if (if is_last { module.run_passes(pass) } else { module.run_unverified(pass) }).is_err() {
                if num_bugs(module.op()) > found_before {
                    let _ = error_at(
                        codes::PANIC,
                        module.op(),
                        format_args!("phase '{phase}' was stopped by a compiler bug; please report this program"),
                    )
                    .report();
                }
                return None;
            }
            // Decisions are complete when the pool is planned, but a compilation may end earlier; op specs exist
            // between the passes of the bundle phase.
            match step.milestone {
                Some(IrStage::Imported) => watch(phase, module),
                Some(IrStage::SpyreOpsOnly) => needs = CompulsoryWork::from_module(module.op()),
                Some(IrStage::ConstantsPadded) => needs.read_constants(module.op()),
                Some(IrStage::MemoryAssigned) if options.compile_to == phase => describe_ops(module.op(), &mut report),
                Some(IrStage::BundlesFormed) => describe_ops(module.op(), &mut report),
                Some(IrStage::Lowered) => {
                    remark_integer_ranges(module.op());
                    describe_launches(module.op(), &needs, &mut report);
                }
                Some(IrStage::MemoryAssigned) | None => {}
            }
        }
        watch(phase, module);
    }
    Some(report)
}

/// Returns the last phase that a module has completed; `None` for a source program.
fn find_completed_phase(module: Op<'_>, options: &CompileOptions) -> Result<Option<Phase>, ErrorReported> {
    let Some(name) = phase_of(module) else {
        let lowered = module.body_ops().into_iter().find(|op| op.is(sdsc::PROGRAM));
        let reject = |op| {
            error_at(
                codes::PHASE_ATTRIBUTE,
                op,
                "expected 'spyre.phase = \"bundle\"' on a module with ops of phase 'bundle'; add the attribute to continue after \
                 that phase",
            )
            .report()
        };
        return lowered.map_or(Ok(None), |op| Err(reject(op)));
    };
    let done: Phase = parse_enum(name).map_err(|message| {
        error_at(codes::PHASE_ATTRIBUTE, module, format_args!("'spyre.phase': {message}")).report()
    })?;
    if done > options.compile_to {
        let message = format!(
            "expected a module before phase '{}', found one after phase '{done}'; give a later phase to --compile-to",
            options.compile_to
        );
        return Err(error_at(codes::PHASE_ATTRIBUTE, module, message).report());
    }
    for option in options.ineffective_options(done) {
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
        report.target = target.named_parameters().into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
    }
    let mut numbers = OpPositions::default();
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        function.text_attr(attr::SYM_NAME).clone_into(&mut report.program);
        report.arguments = argument_names(function);
        for compute in ComputeOp::collect_in(function) {
            numbers.add(compute);
            report.ops.push(describe_op(compute));
        }
        report.explain.loops.extend(describe_loops(function, &numbers));
        report.kernels.extend(read_fusion_outcome(function));
        report.chosen = read_plan(function);
        report.peeled = Some(function.text_attr(attr::SPYRE_PEELED).to_owned()).filter(|peeled| !peeled.is_empty());
        report.peel_trials = read_peel_trials(function);
        report.proof = read_proof(function);
        report
            .tile_search
            .extend(TileSearchSummary::from_function(function).map(|found| describe_search(function, found)));
    }
}

/// Returns the names of the arguments in the model; nothing if none has one.
fn argument_names(function: Op<'_>) -> Vec<String> {
    let names: Vec<String> =
        function.body_args().into_iter().map(|argument| location_name(argument.location()).to_owned()).collect();
    if names.iter().all(String::is_empty) {
        return Vec::new();
    }
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| if name.is_empty() { format!("arg{index}") } else { name })
        .collect()
}

/// Returns the fusion outcome that the pass recorded on a function; `None` if it recorded none.
fn read_fusion_outcome(function: Op<'_>) -> Option<FusionOutcome> {
    serde_json::from_str(function.text_attr(attr::SPYRE_KERNELS)).ok()
}

/// Returns the number of compiled trial programs with peeled remainders, as recorded by the pass.
fn read_peel_trials(function: Op<'_>) -> Option<PeelTrialsReport> {
    let counts = function.attr(attr::SPYRE_PEEL_TRIALS).and_then(integers)?;
    let [n_evaluated, n_infeasible] = counts[..] else { return None };
    Some(PeelTrialsReport { n_judged: n_evaluated, n_infeasible })
}

fn describe_search(function: Op<'_>, found: TileSearchSummary) -> TileSearchReport {
    let TileSearchSummary {
        nests,
        us,
        hbm,
        untiled_us,
        least_us,
        runner_up,
        with_more_lx,
        n_evaluated,
        n_infeasible,
        is_cut_short,
    } = found;
    let (us, untiled_us, least_us) =
        (round_to_thousandths(us), untiled_us.map(round_to_thousandths), least_us.map(round_to_thousandths));
    let function = function.text_attr(attr::SYM_NAME).to_owned();
    let runner_up = runner_up.map(|other| RunnerUpReport {
        nests: other.nests,
        us: round_to_thousandths(other.cost.us),
        hbm: other.cost.hbm,
    });
    let with_more_lx = with_more_lx.map(|cost| MoreLxReport {
        more_bytes: ADDITIONAL_LX_BYTES,
        us: round_to_thousandths(cost.us),
        hbm: cost.hbm,
    });
    TileSearchReport {
        function,
        nests,
        us,
        hbm,
        untiled_us,
        least_us,
        runner_up,
        with_more_lx,
        n_judged: n_evaluated,
        n_infeasible,
        is_cut_short,
    }
}

fn describe_op(compute: ComputeOp<'_>) -> OpReport {
    let ValueLocation { memory, lx_offset_bytes, reason } = describe_place(compute.placement());
    let work = compute.work().unwrap_or_default();
    let layout = DeviceTensor::from_type(compute.op.output().r#type()).and_then(|tensor| tensor.layout);
    OpReport {
        op: compute.op.full_name().to_owned(),
        function: compute.function().to_owned(),
        location: format_location(compute.op.loc()),
        module: module_path(compute.op.loc()),
        iteration_space: compute.iteration_space(),
        dims: compute.dim_names(),
        loops: compute
            .enclosing_loops()
            .into_iter()
            .filter_map(|around| around.attr(attr::COUNT).and_then(integer))
            .collect(),
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

fn describe_launches(module: Op<'_>, needs: &CompulsoryWork, report: &mut Report) {
    let mut moved: Vec<OpTraffic> = Vec::new();
    let mut done = PlanWork { buffers: needs.named_buffers(module), ..PlanWork::default() };
    let target = target_of(module).unwrap_or_else(|_| Target::spyre());
    for (launch, bundle) in module.nested().into_iter().filter(|op| op.is(sdsc::BUNDLE)).enumerate() {
        let Ok(model) = bundle_from_ir(bundle) else { continue };
        let (of_bundle, kernel) = (count_traffic(&model), extract_features(&read_kernel(&model)));
        let launched = describe_launch(
            bundle.text_attr(attr::SYM_NAME),
            &model,
            &of_bundle,
            model_launch_cost(&kernel, &target.time),
        );
        warn_about_many_executes(bundle, &launched);
        report.launches.push(launched);
        report.explain.scratchpad.extend(collect_lx_values(&model, moved.len()));
        let buffers: Vec<&str> =
            bundle.required_attr("buffers", elements).into_iter().filter_map(symbol_name).collect();
        done.accesses.extend(collect_accesses(&model, launch, &buffers, moved.len()));
        done.kernels.extend(kernel);
        moved.extend(of_bundle);
    }
    for ((op, moved), kernel) in report.ops.iter_mut().zip(&moved).zip(&done.kernels) {
        op.us = round_to_thousandths(estimate_op_ns(kernel, &target.time) / 1000.0);
        op.bytes = traffic_bytes(moved);
        report.total.add(&op.bytes);
    }
    let bytes: Vec<Bytes> = report.ops.iter().map(|op| op.bytes).collect();
    sum_loop_bytes(&mut report.explain.loops, &bytes, 1);
    report.assign_start_times();
    report.time = ModelledTime::from_launches(&report.launches);
    report.moves = LayoutMoves::from_ops(&report.ops);
    describe_bound(report, needs, &done, &target);
}

/// Number of executes per launch from which a report warns, if launch overhead dominates its time.
const MIN_WARNED_EXECUTES: i64 = 10_000;

fn warn_about_many_executes(bundle: Op<'_>, launched: &LaunchReport) {
    let LaunchReport { bundle: name, n_executions, cost, .. } = launched;
    if *n_executions >= MIN_WARNED_EXECUTES && 2.0 * cost.fixed_us > cost.estimate_us {
        let (fixed, all) = (cost.fixed_us / 1000.0, cost.estimate_us / 1000.0);
        let found =
            format!("launch '{name}' has {n_executions} executions, whose fixed cost is {fixed:.1} of {all:.1} ms");
        warning_at_location(codes::MANY_LAUNCH_STEPS, bundle, format_args!("{found}; use fewer tiles")).emit();
    }
}

fn describe_launch(name: &str, bundle: &Bundle, moved: &[OpTraffic], cost: LaunchCost) -> LaunchReport {
    let mut bytes = Bytes::default();
    for op in moved {
        bytes.add(&traffic_bytes(op));
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
fn model_launch_cost(ops: &[OpFeatures], time: &TimeModel) -> LaunchCost {
    let modeled = estimate_kernel_time(ops, time, CostFormula::Recommended);
    let microseconds = |ns: f64| round_to_thousandths(ns / 1000.0);
    LaunchCost {
        low_us: microseconds(modeled.low_ns),
        estimate_us: microseconds(modeled.estimate_ns),
        high_us: microseconds(modeled.high_ns),
        hbm_us: microseconds(modeled.hbm_ns),
        compute_us: microseconds(modeled.compute_ns),
        fixed_us: microseconds(modeled.fixed_ns),
        limit: modeled.limit.name(),
        is_ranked: modeled.is_ranked,
        torch_spyre_us: microseconds(estimate_kernel_time(ops, time, CostFormula::TorchSpyre).estimate_ns),
    }
}

const fn traffic_bytes(traffic: &OpTraffic) -> Bytes {
    Bytes {
        hbm_read: traffic.hbm_bytes_read,
        hbm_written: traffic.hbm_bytes_written,
        lx_read: traffic.lx_bytes_read,
        lx_written: traffic.lx_bytes_written,
    }
}
