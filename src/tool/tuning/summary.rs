//! Text output about a tuning search, shared by all tools that tune.

use super::TuneOutcome;
use crate::tune::{RankedPoint, TuneStopReason};

/// Returns the lines about tuning that precede the summary of a compilation.
pub(in crate::tool) fn format_short_summary(tuned: &TuneOutcome) -> String {
    let lines = std::iter::once(format_first_line(tuned))
        .chain(format_costs(tuned))
        .chain([format!("  {}", tuned.format_best_options())]);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns the first line of a summary: the tunable dimensions, the numbers of candidates and compilations, and how the
/// search ended.
pub(in crate::tool) fn format_first_line(tuned: &TuneOutcome) -> String {
    let answer = &tuned.entry.answer;
    let names: Vec<&str> = tuned.program.space.dimensions().iter().map(|dimension| dimension.name.as_str()).collect();
    let open = if names.is_empty() { "nothing to tune".to_owned() } else { format!("tunable: {}", names.join(", ")) };
    let how = match (answer.stop, answer.is_exhaustive) {
        (TuneStopReason::Exhausted, _) => "complete search",
        (TuneStopReason::Bound, _) => "stopped within the requested distance of the bound",
        (TuneStopReason::Budget, _) => "budget used up",
        (TuneStopReason::Interrupted, _) => "interrupted; best candidate so far",
    };
    format!(
        "{}: {open}; {} candidates, {} compiled, {how}",
        tuned.program.name,
        tuned.program.space.size(),
        answer.n_compiled
    )
}

/// Returns the lines with the untuned cost, the tuned cost and the lower bound.
pub(in crate::tool) fn format_costs(tuned: &TuneOutcome) -> Vec<String> {
    let answer = &tuned.entry.answer;
    let said = |ranked: &RankedPoint| format!("{:.1} us and {} bytes", ranked.us, ranked.hbm_bytes);
    let untuned = answer.untuned.as_ref().map_or_else(|| "cannot be compiled".to_owned(), said);
    let (Some(best), Some(us), Some(bytes)) = (answer.best.first(), answer.bound_us, answer.bound_hbm_bytes) else {
        return Vec::new();
    };
    vec![format!("  untuned {untuned}, tuned {}, bound {us:.1} us and {bytes} bytes", said(best))]
}
