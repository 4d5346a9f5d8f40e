//! Results of tuning as terminal text and as files.

use super::super::tuning::{TuneOutcome, format_costs, format_first_line};
use crate::{
    report::Report,
    tune::{CacheLookup, RankedPoint, TuneEntry},
    validate::Verdict,
};
use cost::ModeledCost;
use serde::Serialize;
use std::collections::BTreeMap;

/// Results of tuning as JSON.
#[derive(Serialize)]
pub(super) struct TuningReport<'a> {
    program: &'a str,
    space: Vec<OpenDimension<'a>>,
    size: String,
    #[serde(flatten)]
    entry: &'a TuneEntry,
    /// Example message for each rejection reason.
    refused: BTreeMap<&'a str, &'a str>,
    /// Costs that the referee counts for the best candidates.
    counted: Vec<CountedCost>,
    /// Command-line options of `spyre-compile` that select the best choices.
    line: String,
    is_from_cache: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<String>,
}

#[derive(Serialize)]
struct OpenDimension<'a> {
    name: &'a str,
    choices: &'a [String],
    untuned: &'a str,
}

#[derive(Serialize)]
struct CountedCost {
    us: f64,
    hbm_bytes: i64,
}

/// Returns the content of a JSON report.
pub(super) fn build_report<'a>(tuned: &'a TuneOutcome, compiled: Option<&Report>) -> TuningReport<'a> {
    let space = tuned.program.space.dimensions().iter().map(|dimension| OpenDimension {
        name: &dimension.name,
        choices: &dimension.choices,
        untuned: &dimension.choices[dimension.untuned],
    });
    let rejected = tuned.found.iter().flat_map(|found| &found.rejected);
    TuningReport {
        program: &tuned.program.name,
        space: space.collect(),
        size: tuned.program.space.size().to_string(),
        entry: &tuned.entry,
        refused: rejected.map(|(reason, (_, message))| (reason.as_str(), message.as_str())).collect(),
        counted: tuned
            .counted
            .iter()
            .map(|cost| CountedCost { us: round_to_thousandths(cost.ns / 1000.0), hbm_bytes: cost.hbm_bytes })
            .collect(),
        line: if tuned.entry.answer.best.is_empty() { String::new() } else { tuned.format_best_options() },
        is_from_cache: tuned.is_from_cache(),
        validation: compiled.and_then(|report| report.validation.as_ref()).map(|verdict| verdict.lines().join("; ")),
    }
}

fn round_to_thousandths(us: f64) -> f64 {
    (us * 1000.0).round() / 1000.0
}

/// Formats a search as CSV: evaluated points, the best first, then rejected points. A result from a cache has only the
/// recorded best points.
pub(super) fn format_csv(tuned: &TuneOutcome) -> String {
    let space = &tuned.program.space;
    let names: Vec<String> = space.dimensions().iter().map(|dimension| quote_csv_field(&dimension.name)).collect();
    let row = |choices: Vec<String>, rest: String| {
        let fields: Vec<String> = choices.iter().map(|choice| quote_csv_field(choice)).chain([rest]).collect();
        fields.join(",") + "\n"
    };
    let mut text = row(names, "us,hbm_bytes,reason,message".to_owned());
    let Some(found) = &tuned.found else {
        let ranked =
            |ranked: &RankedPoint| row(ranked.choices.clone(), format!("{},{},,", ranked.us, ranked.hbm_bytes));
        text.extend(tuned.entry.answer.best.iter().map(ranked));
        return text;
    };
    for candidate in &found.ranked {
        let ModeledCost { ns, hbm_bytes } = candidate.cost;
        text += &row(space.choices(&candidate.point), format!("{},{hbm_bytes},,", round_to_thousandths(ns / 1000.0)));
    }
    for (point, evaluated) in &found.visited {
        if let Err(rejection) = evaluated {
            text += &row(
                space.choices(point),
                format!(",,{},{}", quote_csv_field(&rejection.reason), quote_csv_field(&rejection.message)),
            );
        }
    }
    text
}

/// Quotes a field of a CSV file, if it needs quotes.
fn quote_csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Returns the summary for the terminal.
pub(super) fn format_summary(tuned: &TuneOutcome, compiled: Option<&Report>) -> String {
    let answer = &tuned.entry.answer;
    let mut lines = vec![format_first_line(tuned)];
    lines.extend(tuned.looked.as_ref().map(|looked| match looked {
        CacheLookup::Hit(hit) => format!("  from the cache, {}", hit.place),
        CacheLookup::Miss(why) => format!("  not in the cache: {why}"),
    }));
    if !answer.rejected.is_empty() {
        let reasons: Vec<String> =
            answer.rejected.iter().map(|(reason, count)| format!("{count} by {reason}")).collect();
        lines.push(format!("  refused: {}", reasons.join(", ")));
    }
    lines.extend(format_table(tuned));
    lines.extend(format_costs(tuned));
    if !tuned.counted.is_empty() {
        let counts: Vec<String> = tuned.counted.iter().map(|cost| cost.hbm_bytes.to_string()).collect();
        lines.push(format!(
            "  the simulator counts {} bytes of HBM traffic for the best {}",
            counts.join(", "),
            counts.len()
        ));
    }
    let verdict = compiled.and_then(|report| report.validation.as_ref());
    lines.extend(verdict.into_iter().flat_map(Verdict::lines).map(|line| format!("  {line}")));
    if !answer.best.is_empty() {
        lines.push(format!("  {}", tuned.format_best_options()));
    }
    lines.join("\n") + "\n"
}

/// Returns the table of the recorded best points.
fn format_table(tuned: &TuneOutcome) -> Vec<String> {
    let answer = &tuned.entry.answer;
    let above = |us: f64| {
        answer
            .bound_us
            .filter(|bound| *bound > 0.0)
            .map_or_else(String::new, |bound| format!("{:.1} %", 100.0 * (us / bound - 1.0)))
    };
    let row = |ranked: &RankedPoint| {
        let named = tuned
            .program
            .space
            .dimensions()
            .iter()
            .zip(&ranked.choices)
            .map(|(dimension, choice)| format!("{}={choice}", dimension.name));
        format!(
            "  {:>10.1} {:>12} {:>11}  {}",
            ranked.us,
            ranked.hbm_bytes,
            above(ranked.us),
            named.collect::<Vec<_>>().join(" ")
        )
    };
    let head = format!("  {:>10} {:>12} {:>11}  choices", "us", "HBM bytes", "above bound");
    std::iter::once(head).chain(answer.best.iter().map(row)).collect()
}
