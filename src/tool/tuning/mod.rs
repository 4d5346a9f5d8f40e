//! Tuning of a program, shared by `spyre-tune` and `spyre-compile --tune`.
//!
//! | file | what |
//! |---|---|
//! | `program.rs` | tunable parameters of a program, and the cost of a candidate |
//! | `counted.rs` | costs of the best candidates as the referee counts them |
//! | `interrupt.rs` | Ctrl-C |
//! | `progress.rs` | progress display |
//! | `said.rs` | messages about the result |

mod counted;
mod interrupt;
mod program;
mod progress;
mod said;

use super::{STACK_BYTES, Speaker};
use crate::{
    codes,
    kernel::FixedKind,
    mlir::{Module, note_bug},
    pipeline::Options,
    tune::{Answer, Cache, Candidate, Entry, Found, Looked, Placed, Point, Ranked, Rejection, Request, Stop, Terms, search},
};
use cost::{Cost, Objective};
use counted::counted;
pub(super) use program::{Program, cost_of};
use progress::Display;
pub(super) use said::{costs, first_line, short_summary};
use std::{num::NonZero, thread::available_parallelism};

/// Default maximum number of candidates that are compiled.
pub(super) const BUDGET: u32 = 2000;

/// Number of best candidates that are recorded.
const KEPT: usize = 10;

/// Number of best candidates whose cost the referee counts.
const COUNTED: usize = 3;

/// Request to tune a program.
pub(super) struct Ask {
    /// Terms of the search: budget, seed, tolerance, shard.
    pub(super) terms: Terms,
    /// Kinds of parameters without a knob that are searched as well.
    pub(super) open: Vec<FixedKind>,
    /// Cache of results.
    pub(super) cache: Cache,
    /// Number of threads; `None` for all that the machine has.
    pub(super) threads: Option<NonZero<usize>>,
    /// Reporter of diagnostics and messages.
    pub(super) speaker: Speaker,
}

/// Result of tuning a program.
pub(super) struct Tuned {
    /// The tuned program.
    pub(super) program: Program,
    /// Result with its key, as the cache records it.
    pub(super) entry: Entry,
    /// All evaluated candidates; `None` if the result is from a cache.
    pub(super) found: Option<Found>,
    /// Costs that the referee counts for the best candidates, in their order; empty if the result is from a cache.
    pub(super) counted: Vec<Cost>,
    /// Cache entry of the result, or the reason for a miss; `None` without a cache.
    pub(super) looked: Option<Looked>,
}

impl Tuned {
    /// Returns the options of a compilation with the best choices.
    pub(super) fn options(&self) -> Options {
        self.program.options_at(&self.program.space.point(&self.best().choices).unwrap_or_else(|| self.program.space.untuned()))
    }

    /// Returns the command-line options that select the best choices.
    pub(super) fn line(&self) -> String {
        self.program.line_at(&self.program.space.point(&self.best().choices).unwrap_or_else(|| self.program.space.untuned()))
    }

    pub(super) fn best(&self) -> &Ranked {
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
pub(super) fn tune(module: &Module<'_>, options: &Options, ask: &Ask) -> Result<Tuned, String> {
    let program = Program::read(module, options, &ask.open)?;
    let mut starts = Vec::new();
    let mut looked = None;
    if ask.cache.writable.is_some() || !ask.cache.read_only.is_empty() {
        let mut warn = |message: String| ask.speaker.warning(&message);
        let entries = usable(ask.cache.entries(&mut warn)?, &program, &mut warn);
        match Looked::among(&entries, &program.key, &ask.terms) {
            Looked::Hit(hit) => {
                let entry = hit.entry.clone();
                return Ok(Tuned { program, entry, found: None, counted: Vec::new(), looked: Some(Looked::Hit(hit)) });
            }
            miss @ Looked::Miss(_) => looked = Some(miss),
        }
        // The result of a shard must not depend on other entries in the cache of its machine.
        if ask.terms.shard.count() == 1 {
            starts = starts_of(&entries, &program);
        }
    }
    let (found, best, counted) = searched(module, options, &program, ask, &starts)?;
    let answer = answer_of(&found, best, &program, starts);
    let entry = Entry { key: program.key.clone(), terms: ask.terms.clone(), answer };
    Ok(Tuned { program, entry, found: Some(found), counted, looked })
}

/// Returns the cache entries, without entries for this program whose choices the program does not have.
fn usable(mut entries: Vec<Placed>, program: &Program, warn: &mut dyn FnMut(String)) -> Vec<Placed> {
    entries.retain(|placed| {
        let Entry { key, answer, .. } = &placed.entry;
        let is_known = |ranked: &Ranked| program.space.point(&ranked.choices).is_some();
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
fn starts_of(entries: &[Placed], program: &Program) -> Vec<Vec<String>> {
    let mut starts: Vec<Vec<String>> = Vec::new();
    for placed in entries.iter().filter(|placed| placed.is_other_shape_of(&program.key)) {
        let Some(best) = placed.entry.answer.best.first().filter(|best| program.space.point(&best.choices).is_some()) else { continue };
        if !starts.contains(&best.choices) {
            starts.push(best.choices.clone());
        }
    }
    starts
}

/// Searches, and counts the costs of the best candidates.
fn searched(
    module: &Module<'_>,
    options: &Options,
    program: &Program,
    ask: &Ask,
    starts: &[Vec<String>],
) -> Result<(Found, Vec<Candidate>, Vec<Cost>), String> {
    let Terms { budget, seed, within, shard } = ask.terms;
    let starts = starts.iter().filter_map(|choices| program.space.point(choices)).collect();
    let request = Request { objective: options.objective, budget, within, seed, shard, starts };
    let threads = ask.threads.map_or_else(|| available_parallelism().map_or(1, NonZero::get), NonZero::get);
    // Deeply nested IR needs a large stack, as in every tool.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build().map_err(|error| error.to_string())?;
    let interrupt = interrupt::listen()?;
    let display = Display::new(ask.speaker);
    let found =
        pool.install(|| search(&program.space, program, &request, &|| interrupt.is_wanted(), &mut |progress| display.show(progress)));
    drop(display);
    if let Some(message) = bugs_said(&found, program) {
        note_bug(module.op());
        return Err(message);
    }
    if found.ranked.is_empty() && shard.count() == 1 {
        return Err(nothing(&found));
    }
    let (best, counted) = second_look(module, options, program, &found, ask.speaker)?;
    Ok((found, best, counted))
}

/// Returns the best candidates and the costs that the referee counts for the first ones, which are sorted by these
/// costs.
fn second_look(
    module: &Module<'_>,
    options: &Options,
    program: &Program,
    found: &Found,
    speaker: Speaker,
) -> Result<(Vec<Candidate>, Vec<Cost>), String> {
    let mut best: Vec<Candidate> = found.ranked.iter().take(KEPT).cloned().collect();
    let n_counted = best.len().min(COUNTED);
    let mut looked: Vec<(Cost, Candidate)> = Vec::new();
    for candidate in best.drain(..n_counted) {
        let cost = counted(module, &program.options_at(&candidate.point), &program.target).map_err(|error| {
            codes::OWN_FILES.says(format_args!("the simulator rejects the bundle of {}: {error}", program.line_at(&candidate.point)))
        })?;
        if cost.hbm_bytes != candidate.cost.hbm_bytes {
            let line = program.line_at(&candidate.point);
            speaker.warning(&format!(
                "the simulator counts {} bytes of HBM traffic with {line}, the cost model {}",
                cost.hbm_bytes, candidate.cost.hbm_bytes
            ));
        }
        looked.push((cost, candidate));
    }
    // The sort is stable: ties keep the order of the model.
    looked.sort_by(|(one, _), (other, _)| order(options.objective, one, other));
    let (costs, mut first): (Vec<Cost>, Vec<Candidate>) = looked.into_iter().unzip();
    first.append(&mut best);
    Ok((first, costs))
}

/// Compares two costs; times are rounded, because sums differ by rounding errors.
fn order(objective: Objective, one: &Cost, other: &Cost) -> std::cmp::Ordering {
    let rounded = |cost: &Cost| Cost { ns: cost.ns.round(), hbm_bytes: cost.hbm_bytes };
    objective.order(&rounded(one), &rounded(other))
}

/// Returns the answer of a search, as an entry records it.
fn answer_of(found: &Found, best: Vec<Candidate>, program: &Program, starts: Vec<Vec<String>>) -> Answer {
    let ranked = |Candidate { point, cost }: Candidate| Ranked {
        choices: program.space.choices(&point),
        n_changes: program.space.n_changes(&point),
        point: point.0,
        us: cost.ns / 1000.0,
        hbm_bytes: cost.hbm_bytes,
    };
    let untuned = program.space.untuned();
    let cost = found.looked_at.get(&untuned).and_then(|judged| judged.as_ref().ok());
    Answer {
        best: best.into_iter().map(ranked).collect(),
        untuned: cost.map(|cost| ranked(Candidate { point: untuned.clone(), cost: *cost })),
        bound_us: found.bound.map(|bound| bound.ns / 1000.0),
        bound_hbm_bytes: found.bound.map(|bound| bound.hbm_bytes),
        n_compiled: found.n_compiled,
        rejected: found.rejected.iter().map(|(reason, (count, _))| (reason.clone(), *count)).collect(),
        is_exhaustive: found.is_exhaustive,
        stop: found.stop,
        starts,
    }
}

/// Returns the error for a search that found no valid candidate.
fn nothing(found: &Found) -> String {
    if found.stop == Stop::Interrupted {
        return codes::TUNE_NOTHING.says("stopped before a candidate was found");
    }
    let reasons: Vec<String> =
        found.rejected.iter().map(|(reason, (count, message))| format!("{count} by {reason} (the first: {message})")).collect();
    codes::TUNE_NOTHING
        .says(format_args!("expected a valid candidate, found none; rejected: {}; change the program or its ranges", reasons.join(", ")))
}

/// Returns the message about candidates that a compiler bug has stopped: one of them may be the best.
fn bugs_said(found: &Found, program: &Program) -> Option<String> {
    let (count, _) = found.rejected.get(program::BUG)?;
    let of_bug = |(point, judged): (&Point, &Result<Cost, Rejection>)| {
        let rejection = judged.as_ref().err().filter(|rejection| rejection.reason == program::BUG)?;
        Some(format!("with {}: {}", program.line_at(point), rejection.message))
    };
    let first = found.looked_at.iter().find_map(of_bug).unwrap_or_default();
    Some(format!("{count} candidates cannot be compiled because of a compiler bug, the first {first}"))
}
