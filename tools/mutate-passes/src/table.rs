//! Formats mutation-testing results as a table: detected and surviving mutants per compiler stage.

use crate::{MutantVerdict, suite::MutantOutcome, tree::STAGES};
use std::{collections::BTreeMap, fmt::Write};

/// Formats a Markdown table with one row per stage, and a list of the mutants whose test timed out or that survived.
pub(crate) fn format_markdown(verdicts: &[MutantVerdict]) -> String {
    let mut text =
        "| stage | mutants | noticed | stopped | survive | noticed by |\n|---|---:|---:|---:|---:|---|\n".to_owned();
    for stage in STAGES {
        let stage_verdicts: Vec<&MutantVerdict> =
            verdicts.iter().filter(|verdict| verdict.site.path.starts_with(stage)).collect();
        text += &format_row(stage, &stage_verdicts);
    }
    text += &format_row("all", &verdicts.iter().collect::<Vec<_>>());
    text += "\n";
    for verdict in verdicts.iter().filter(|verdict| !matches!(verdict.outcome, MutantOutcome::Detected(_))) {
        writeln!(text, "* {}: {}", verdict.site, verdict.outcome).expect("a string takes all text");
    }
    text
}

fn format_row(name: &str, verdicts: &[&MutantVerdict]) -> String {
    let mut num_detected_by_test: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut num_timed_out, mut num_surviving) = (0, 0);
    for verdict in verdicts {
        match &verdict.outcome {
            MutantOutcome::Detected(test) => *num_detected_by_test.entry(test).or_default() += 1,
            MutantOutcome::TimedOut(_) => num_timed_out += 1,
            MutantOutcome::Survives | MutantOutcome::Unreached => num_surviving += 1,
        }
    }
    let test_counts: Vec<String> = num_detected_by_test.iter().map(|(test, count)| format!("{test} {count}")).collect();
    let num_detected: usize = num_detected_by_test.values().sum();
    format!(
        "| `{name}` | {} | {num_detected} | {num_timed_out} | {num_surviving} | {} |\n",
        verdicts.len(),
        test_counts.join(", ")
    )
}
