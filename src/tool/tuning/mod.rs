//! Tuning of a program, shared by `spyre-tune` and `spyre-compile --tune`.
//!
//! `TunableProgram` defines the search space and the cost of a candidate. The search itself is in `crate::tune`. This
//! module adds the cache, the second evaluation of the best candidates by the referee, Ctrl-C and progress.

mod interrupt;
mod program;
mod progress;
mod simulated_cost;
mod summary;

use super::{Reporter, STACK_BYTES};
use crate::{
    codes,
    kernel::FixedNumberKind,
    mlir::{Module, record_bug},
    pipeline::CompileOptions,
    tune::{
        CacheLookup, LocatedEntry, RankedPoint, Rejection, TuneCache, TuneCandidate, TuneEntry, TuneParameters,
        TunePoint, TuneResult, TuneSearchRequest, TuneSearchResult, TuneStopReason, search,
    },
};
use cost::{ModeledCost, Objective};
pub(super) use program::{TunableProgram, modeled_cost};
use progress::TuningProgressDisplay;
use simulated_cost::simulate_cost;
use std::{num::NonZero, thread::available_parallelism};
pub(super) use summary::{format_costs, format_first_line, format_short_summary};

/// Default maximum number of compiled candidates.
pub(super) const BUDGET: u32 = 2000;

/// Number of best candidates that are recorded.
const NUM_RECORDED: usize = 10;

/// Number of best candidates that the referee evaluates again.
const NUM_SIMULATED: usize = 3;

/// Request to tune a program.
pub(super) struct TuneRequest {
    /// Terms of the search: budget, seed, tolerance, shard.
    pub(super) terms: TuneParameters,
    /// Kinds of parameters without a knob that are searched as well.
    pub(super) open: Vec<FixedNumberKind>,
    /// Cache of results.
    pub(super) cache: TuneCache,
    /// Number of threads; `None` for one per core of the host.
    pub(super) threads: Option<NonZero<usize>>,
    /// Reporter of diagnostics and messages.
    pub(super) reporter: Reporter,
}

/// Result of tuning a program.
pub(super) struct TuneOutcome {
    /// The tuned program.
    pub(super) program: TunableProgram,
    /// Result with its key, as the cache records it.
    pub(super) entry: TuneEntry,
    /// All evaluated candidates; `None` if the result is from a cache.
    pub(super) found: Option<TuneSearchResult>,
    /// Costs that the referee counts for the best candidates, in their order; empty if the result is from a cache.
    pub(super) counted: Vec<ModeledCost>,
    /// Cache entry of the result, or the reason for a miss; `None` without a cache.
    pub(super) looked: Option<CacheLookup>,
}

impl TuneOutcome {
    /// Returns the options of a compilation with the best choices.
    pub(super) fn best_options(&self) -> CompileOptions {
        self.program.options_at(
            &self.program.space.parse_point(&self.best().choices).unwrap_or_else(|| self.program.space.untuned_point()),
        )
    }

    /// Returns the command-line options that select the best choices.
    pub(super) fn format_best_options(&self) -> String {
        self.program.format_options_at(
            &self.program.space.parse_point(&self.best().choices).unwrap_or_else(|| self.program.space.untuned_point()),
        )
    }

    pub(super) fn best(&self) -> &RankedPoint {
        &self.entry.answer.best[0]
    }

    pub(super) const fn is_from_cache(&self) -> bool {
        self.found.is_none()
    }
}

/// Tunes a program. The options must be valid.
///
/// # Errors
/// If no candidate is valid, with the counts of reasons; an empty message if the error has been reported.
pub(super) fn tune(module: &Module<'_>, options: &CompileOptions, ask: &TuneRequest) -> Result<TuneOutcome, String> {
    let program = TunableProgram::read(module, options, &ask.open)?;
    let mut starts = Vec::new();
    let mut looked = None;
    if ask.cache.writable.is_some() || !ask.cache.read_only.is_empty() {
        let mut warn = |message: String| ask.reporter.warning(&message);
        let entries = filter_usable_entries(ask.cache.read_entries(&mut warn)?, &program, &mut warn);
        match CacheLookup::find(&entries, &program.key, &ask.terms) {
            CacheLookup::Hit(hit) => {
                let entry = hit.entry.clone();
                return Ok(TuneOutcome {
                    program,
                    entry,
                    found: None,
                    counted: Vec::new(),
                    looked: Some(CacheLookup::Hit(hit)),
                });
            }
            miss @ CacheLookup::Miss(_) => looked = Some(miss),
        }
        // The result of a shard must not depend on other entries in the cache of its machine.
        if ask.terms.shard.count() == 1 {
            starts = find_start_points(&entries, &program);
        }
    }
    let (found, best, counted) = run_search(module, options, &program, ask, &starts)?;
    let answer = build_result(&found, best, &program, starts);
    let entry = TuneEntry { key: program.key.clone(), terms: ask.terms.clone(), answer };
    Ok(TuneOutcome { program, entry, found: Some(found), counted, looked })
}

/// Returns the cache entries without those whose choices this program does not have, although they are for it.
fn filter_usable_entries(
    mut entries: Vec<LocatedEntry>,
    program: &TunableProgram,
    warn: &mut dyn FnMut(String),
) -> Vec<LocatedEntry> {
    entries.retain(|placed| {
        let TuneEntry { key, answer, .. } = &placed.entry;
        let is_known = |ranked: &RankedPoint| program.space.parse_point(&ranked.choices).is_some();
        let is_usable = *key != program.key || answer.best.iter().chain(&answer.untuned).all(is_known);
        if !is_usable {
            warn(format!("{}: entry is skipped: it has choices that the program does not have", placed.place));
        }
        is_usable
    });
    entries
}

/// Returns start points: the best choices of entries for other shapes of the same ops, if the program has these
/// choices.
fn find_start_points(entries: &[LocatedEntry], program: &TunableProgram) -> Vec<Vec<String>> {
    let mut starts: Vec<Vec<String>> = Vec::new();
    for placed in entries.iter().filter(|placed| placed.is_other_shape_of(&program.key)) {
        let Some(best) =
            placed.entry.answer.best.first().filter(|best| program.space.parse_point(&best.choices).is_some())
        else {
            continue;
        };
        if !starts.contains(&best.choices) {
            starts.push(best.choices.clone());
        }
    }
    starts
}

/// Searches, and counts the costs of the best candidates.
fn run_search(
    module: &Module<'_>,
    options: &CompileOptions,
    program: &TunableProgram,
    ask: &TuneRequest,
    starts: &[Vec<String>],
) -> Result<(TuneSearchResult, Vec<TuneCandidate>, Vec<ModeledCost>), String> {
    let TuneParameters { budget, seed, within, shard } = ask.terms;
    let starts = starts.iter().filter_map(|choices| program.space.parse_point(choices)).collect();
    let request =
        TuneSearchRequest { objective: options.objective, budget, relative_tolerance: within, seed, shard, starts };
    let threads = ask.threads.map_or_else(|| available_parallelism().map_or(1, NonZero::get), NonZero::get);
    // Deeply nested IR needs a large stack, as in every tool.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK_BYTES)
        .build()
        .map_err(|error| error.to_string())?;
    let interrupt = interrupt::install_handlers()?;
    let display = TuningProgressDisplay::new(ask.reporter);
    let found = pool.install(|| {
        search(&program.space, program, &request, &|| interrupt.is_requested(), &mut |progress| {
            display.update(progress)
        })
    });
    drop(display);
    if let Some(message) = format_bug_error(&found, program) {
        record_bug(module.op());
        return Err(message);
    }
    if found.ranked.is_empty() && shard.count() == 1 {
        return Err(format_no_candidate_error(&found));
    }
    let (best, counted) = simulate_best_candidates(module, options, program, &found, ask.reporter)?;
    Ok((found, best, counted))
}

/// Returns the best candidates and the costs that the referee counts for the first ones, which are sorted by these
/// costs.
fn simulate_best_candidates(
    module: &Module<'_>,
    options: &CompileOptions,
    program: &TunableProgram,
    found: &TuneSearchResult,
    reporter: Reporter,
) -> Result<(Vec<TuneCandidate>, Vec<ModeledCost>), String> {
    let mut best: Vec<TuneCandidate> = found.ranked.iter().take(NUM_RECORDED).cloned().collect();
    let num_counted = best.len().min(NUM_SIMULATED);
    let mut looked: Vec<(ModeledCost, TuneCandidate)> = Vec::new();
    for candidate in best.drain(..num_counted) {
        let cost = simulate_cost(module, &program.options_at(&candidate.point), &program.target).map_err(|error| {
            codes::OWN_FILES.format(format_args!(
                "the simulator rejects the bundle of {}: {error}",
                program.format_options_at(&candidate.point)
            ))
        })?;
        if cost.hbm_bytes != candidate.cost.hbm_bytes {
            let line = program.format_options_at(&candidate.point);
            reporter.warning(&format!(
                "the simulator counts {} bytes of HBM traffic with {line}, the cost model {}",
                cost.hbm_bytes, candidate.cost.hbm_bytes
            ));
        }
        looked.push((cost, candidate));
    }
    // The sort is stable: ties keep the order of the model.
    looked.sort_by(|(one, _), (other, _)| compare_costs(options.objective, one, other));
    let (costs, mut first): (Vec<ModeledCost>, Vec<TuneCandidate>) = looked.into_iter().unzip();
    first.append(&mut best);
    Ok((first, costs))
}

/// Compares two costs. Times are rounded, because the order of a sum changes its last bits.
fn compare_costs(objective: Objective, one: &ModeledCost, other: &ModeledCost) -> std::cmp::Ordering {
    let rounded = |cost: &ModeledCost| ModeledCost { ns: cost.ns.round(), hbm_bytes: cost.hbm_bytes };
    objective.compare(&rounded(one), &rounded(other))
}

/// Returns the result of a search in the form of a cache entry.
fn build_result(
    found: &TuneSearchResult,
    best: Vec<TuneCandidate>,
    program: &TunableProgram,
    starts: Vec<Vec<String>>,
) -> TuneResult {
    let ranked = |TuneCandidate { point, cost }: TuneCandidate| RankedPoint {
        choices: program.space.choices(&point),
        n_changes: program.space.num_changes(&point),
        point: point.0,
        us: cost.ns / 1000.0,
        hbm_bytes: cost.hbm_bytes,
    };
    let untuned = program.space.untuned_point();
    let cost = found.visited.get(&untuned).and_then(|evaluated| evaluated.as_ref().ok());
    TuneResult {
        best: best.into_iter().map(ranked).collect(),
        untuned: cost.map(|cost| ranked(TuneCandidate { point: untuned.clone(), cost: *cost })),
        bound_us: found.bound.map(|bound| bound.ns / 1000.0),
        bound_hbm_bytes: found.bound.map(|bound| bound.hbm_bytes),
        n_compiled: found.num_compiled,
        rejected: found.rejected.iter().map(|(reason, (count, _))| (reason.clone(), *count)).collect(),
        is_exhaustive: found.is_exhaustive,
        stop: found.stop,
        starts,
    }
}

/// Returns the error for a search that found no valid candidate.
fn format_no_candidate_error(found: &TuneSearchResult) -> String {
    if found.stop == TuneStopReason::Interrupted {
        return codes::TUNE_NOTHING.format("stopped before a candidate was found");
    }
    let reasons: Vec<String> = found
        .rejected
        .iter()
        .map(|(reason, (count, message))| format!("{count} by {reason} (the first: {message})"))
        .collect();
    codes::TUNE_NOTHING.format(format_args!(
        "expected a valid candidate, found none; rejected: {}; change the program or its ranges",
        reasons.join(", ")
    ))
}

/// Returns the message about candidates that a compiler bug has stopped: one of them may be the best.
fn format_bug_error(found: &TuneSearchResult, program: &TunableProgram) -> Option<String> {
    let (count, _) = found.rejected.get(program::BUG_REASON)?;
    let of_bug = |(point, evaluated): (&TunePoint, &Result<ModeledCost, Rejection>)| {
        let rejection = evaluated.as_ref().err().filter(|rejection| rejection.reason == program::BUG_REASON)?;
        Some(format!("with {}: {}", program.format_options_at(point), rejection.message))
    };
    let first = found.visited.iter().find_map(of_bug).unwrap_or_default();
    Some(format!("{count} candidates cannot be compiled because of a compiler bug, the first {first}"))
}
