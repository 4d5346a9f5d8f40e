//! `spyre-search-tiling`: adds tiling hints to ops that have none, where loops save time.
//!
//! Reads layouts, access maps, `hints` and `dims`; writes `hints` and `dims` of the ops that it puts into loops, and
//! the search result as attribute `spyre.tile_search` of the function. Ops with hints of their own keep them.

use super::{
    apply_plan::{apply_loops, compute_function_key, read_plan, record_loops},
    certify::record_certificate,
    cost_evaluator::IrCostEvaluator,
    hints::{LabelAllocator, write_hints},
    searched_function::SearchedFunction,
    segment::extract_segment,
};
use crate::dialect::ods::option;
use crate::{
    assignment::check_memo_hit,
    codes,
    dialect::{PlannedCost, RunnerUpPlan, TileSearchSummary, declared_maxima, mark_symbolic, set_plan, target_of},
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, error_at, suppress_diagnostics},
    search::{
        ADDITIONAL_LX_BYTES, LoopNest, TileSearchResult, TileSearchStatistics, choose_fewest_bytes, choose_tilings,
        compute_cost_with_more_lx, partition_program,
    },
};
use cost::{ModeledCost, Objective};
use machine::Target;
use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::Range,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-search-tiling", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let steps = options.get_number(option::STEPS);
    let most_steps = usize::try_from(steps).map_err(|_| {
        error_at(
            codes::OPTION_VALUE,
            module,
            format_args!("option 'steps': expected a nonnegative number, found '{steps}'"),
        )
        .report()
    })?;
    let objective = options.read_enum(module, option::OBJECTIVE)?;
    let more_lx = options
        .is_enabled(option::MORE_LX)
        .then(|| Target { lx_bytes: target.lx_bytes + ADDITIONAL_LX_BYTES, ..target.clone() });
    let request = TileSearchRequest { most_steps, objective, target: &target, more_lx: more_lx.as_ref() };
    mark_symbolic(module)?;
    let (path, notes) = (options.get_text(option::PLAN), options.is_enabled(option::NOTES_PLAN));
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
        if options.is_enabled(option::PROVES) {
            record_certificate(function, &target)?;
        }
        if path.is_empty() && !notes {
            search_function(function, request);
        } else {
            plan_function(function, request, path, notes)?;
        }
    }
    Ok(())
}

/// Applies the plan file `path`, or searches if there is none. Records a new plan for the file (an applied one too, if
/// `notes` is set), and the core splits of the plan for the later pass that divides work.
fn plan_function(
    function: Op<'_>,
    request: TileSearchRequest<'_>,
    path: &str,
    notes: bool,
) -> Result<(), ErrorReported> {
    let key = compute_function_key(function);
    let plan = if path.is_empty() { Ok(None) } else { read_plan(path, &key, request.target) };
    let Some(plan) = plan.map_err(|message| error_at(codes::PLAN_READ, function, message).report())? else {
        let loops = search_function(function, request);
        record_loops(function, key, &loops);
        return Ok(());
    };
    let mut steps = SearchedFunction::from_function(function, &declared_maxima(function))?;
    steps.find_lx_eligible(function)?;
    apply_loops(function, &steps, &plan.chosen.loops)?;
    // The file is read once: the pass that divides work finds the splits in this attribute.
    if notes || plan.chosen.work.is_some() {
        set_plan(function, &plan.chosen);
    }
    Ok(())
}

/// Parameters of a search.
#[derive(Clone, Copy)]
struct TileSearchRequest<'a> {
    most_steps: usize,
    objective: Objective,
    target: &'a Target,
    /// The target with more LX per core, if the cost with more LX is requested.
    more_lx: Option<&'a Target>,
}

/// Result of the search for one partition of a program.
#[derive(Debug, Default, PartialEq)]
struct PartitionResult {
    chosen: TileSearchResult,
    /// Cost with more LX, if it was requested.
    with_more_lx: Option<ModeledCost>,
}

/// Searches the partitions of a function. Partitions that equal one already searched get its loops. Programs that
/// cannot be read are left for later passes to reject.
fn search_function(function: Op<'_>, request: TileSearchRequest<'_>) -> Vec<LoopNest> {
    let Ok(steps) =
        suppress_diagnostics(function, || SearchedFunction::from_function(function, &declared_maxima(function)))
    else {
        return Vec::new();
    };
    let mut known: BTreeMap<String, PartitionResult> = BTreeMap::new();
    let mut labels = LabelAllocator::from_function(function);
    let (mut all, mut nests): (Vec<LoopNest>, Vec<String>) = Default::default();
    let mut texts: Vec<String> = Vec::new();
    let ranges = partition_program(&steps.plain);
    for range in &ranges {
        let alone = extract_segment(function, &steps.ops[range.clone()]);
        let text = alone.op().to_string();
        let part = match known.entry(text.clone()) {
            Entry::Occupied(part) => {
                check_memo_hit(part.get(), || search_partition(alone.op(), request));
                part.into_mut()
            }
            Entry::Vacant(new) => new.insert(search_partition(alone.op(), request)),
        };
        for loops in &part.chosen.loops {
            let loops = loops.shift_positions(range.start);
            nests.push(write_hints(&loops, &steps.ops, 0, &mut labels).scope);
            all.push(loops);
        }
        texts.push(text);
    }
    let found = || known.values().filter_map(|part| part.chosen.found.as_ref());
    let counts = EvaluationCounts {
        evaluated: found().map(|found| found.num_evaluated).sum(),
        infeasible: found().map(|found| found.num_infeasible).sum(),
    };
    let parts: Vec<(Range<usize>, &PartitionResult)> =
        ranges.into_iter().zip(texts.iter().filter_map(|text| known.get(text))).collect();
    if let Some(summary) = summarize_search(nests, &parts, counts) {
        TileSearchSummary { runner_up: find_runner_up(function, &steps, &parts, &summary), ..summary }.write(function);
    }
    all
}

/// Numbers of evaluated and of infeasible plans.
struct EvaluationCounts {
    evaluated: usize,
    infeasible: usize,
}

/// Sums up the results for all partitions of a function. Returns `None` if none was searched.
fn summarize_search(
    nests: Vec<String>,
    parts: &[(Range<usize>, &PartitionResult)],
    counts: EvaluationCounts,
) -> Option<TileSearchSummary> {
    let searched: Vec<(&TileSearchStatistics, &PartitionResult)> =
        parts.iter().filter_map(|(_, part)| Some((part.chosen.found.as_ref()?, *part))).collect();
    let found = || searched.iter().map(|(found, _)| *found);
    let cost: ModeledCost = found().filter_map(|found| found.cost).sum();
    let more_lx: Option<Vec<ModeledCost>> = searched.iter().map(|(_, part)| part.with_more_lx).collect();
    (!searched.is_empty()).then(|| TileSearchSummary {
        nests,
        us: to_us(cost.ns),
        hbm: cost.hbm_bytes,
        untiled_us: found().map(|found| found.untiled.map(|cost| cost.ns)).sum::<Option<f64>>().map(to_us),
        least_us: found().map(|found| found.least_ns).sum::<Option<f64>>().map(to_us),
        runner_up: None,
        with_more_lx: more_lx.map(|costs| to_planned_cost(costs.into_iter().sum())),
        n_evaluated: i64::try_from(counts.evaluated).unwrap_or(i64::MAX),
        n_infeasible: i64::try_from(counts.infeasible).unwrap_or(i64::MAX),
        is_cut_short: found().any(|found| !found.is_complete),
    })
}

fn to_us(ns: f64) -> f64 {
    ns / 1000.0
}

fn to_planned_cost(cost: ModeledCost) -> PlannedCost {
    PlannedCost { us: to_us(cost.ns), hbm: cost.hbm_bytes }
}

/// Returns the next best plan of a function: the runner-up of one partition, with all other partitions as chosen. The
/// partition is the one in which it costs least extra.
fn find_runner_up(
    function: Op<'_>,
    steps: &SearchedFunction<'_>,
    parts: &[(Range<usize>, &PartitionResult)],
    chosen: &TileSearchSummary,
) -> Option<RunnerUpPlan> {
    let of_part = |(range, part): &(Range<usize>, &PartitionResult)| {
        let found = part.chosen.found.as_ref()?;
        let (own, other) = (found.cost?, found.runner_up.clone()?);
        Some((other.cost.ns - own.ns, other.cost.hbm_bytes - own.hbm_bytes, range.clone(), other.loops))
    };
    let (more_ns, more_bytes, range, loops) =
        parts.iter().filter_map(of_part).min_by(|one, other| one.0.total_cmp(&other.0))?;
    // The chosen loops have added dimension names by now.
    let alone = extract_segment(function, &steps.ops[range.clone()]);
    let of_alone =
        suppress_diagnostics(alone.op(), || SearchedFunction::from_function(alone.op(), &declared_maxima(alone.op())))
            .ok()?;
    let mut labels = LabelAllocator::from_function(alone.op());
    let nests = loops
        .iter()
        .map(|loops| write_hints(&loops.shift_positions(range.start), &of_alone.ops, range.start, &mut labels).scope)
        .collect();
    Some(RunnerUpPlan { nests, cost: PlannedCost { us: chosen.us + to_us(more_ns), hbm: chosen.hbm + more_bytes } })
}

/// Searches loops for a function that is one partition.
fn search_partition(function: Op<'_>, request: TileSearchRequest<'_>) -> PartitionResult {
    let steps = suppress_diagnostics(function, || {
        let mut steps = SearchedFunction::from_function(function, &declared_maxima(function)).ok()?;
        steps.find_lx_eligible(function).ok()?;
        Some(steps)
    });
    let Some(steps) = steps else { return PartitionResult::default() };
    let chosen = search_for_target(function, &steps, request, request.target).unwrap_or_default();
    let more_lx = request.more_lx.filter(|_| chosen.found.is_some());
    let with_more_lx = more_lx.and_then(|target| {
        let of_larger = search_for_target(function, &steps, request, target)?;
        let evaluator = IrCostEvaluator::new(function, &steps.ops, target, request.objective)?;
        compute_cost_with_more_lx(&evaluator, &of_larger, &chosen.loops, request.objective)
    });
    PartitionResult { chosen, with_more_lx }
}

fn search_for_target(
    function: Op<'_>,
    steps: &SearchedFunction<'_>,
    request: TileSearchRequest<'_>,
    target: &Target,
) -> Option<TileSearchResult> {
    let of_time = IrCostEvaluator::new(function, &steps.ops, target, Objective::Time)?;
    Some(match request.objective {
        Objective::Time => choose_tilings(&steps.plain, &of_time, request.most_steps),
        Objective::Bytes => {
            let evaluator = IrCostEvaluator::new(function, &steps.ops, target, Objective::Bytes)?;
            choose_fewest_bytes(&steps.plain, &of_time, &evaluator, request.most_steps)
        }
    })
}
