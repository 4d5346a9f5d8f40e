//! Writes the table of the tests that detected each mutant.

use crate::{MutantVerdict, suite::MutantOutcome, tree::STAGES};
use std::{collections::BTreeMap, fmt::Write};

/// Returns Markdown: a row for each stage, then the stopped and the surviving mutants.
pub(crate) fn format_markdown(verdicts: &[MutantVerdict]) -> String {
    let mut text =
        "| stage | mutants | noticed | stopped | survive | noticed by |\n|---|---:|---:|---:|---:|---|\n".to_owned();
    for stage in STAGES {
        let of_stage: Vec<&MutantVerdict> =
            verdicts.iter().filter(|verdict| verdict.site.path.starts_with(stage)).collect();
        text += &format_row(stage, &of_stage);
    }
    text += &format_row("all", &verdicts.iter().collect::<Vec<_>>());
    text += "\n";
    for verdict in verdicts.iter().filter(|verdict| !matches!(verdict.outcome, MutantOutcome::Noticed(_))) {
        writeln!(text, "* {}: {}", verdict.site, verdict.outcome).expect("a string takes all text");
    }
    text
}

fn format_row(name: &str, verdicts: &[&MutantVerdict]) -> String {
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut stopped, mut survive) = (0, 0);
    for verdict in verdicts {
        match &verdict.outcome {
            MutantOutcome::Noticed(test) => *by.entry(test).or_default() += 1,
            MutantOutcome::Stopped(_) => stopped += 1,
            MutantOutcome::Survives | MutantOutcome::Unreached => survive += 1,
        }
    }
    let tests: Vec<String> = by.iter().map(|(test, count)| format!("{test} {count}")).collect();
    let noticed: usize = by.values().sum();
    format!("| `{name}` | {} | {noticed} | {stopped} | {survive} | {} |\n", verdicts.len(), tests.join(", "))
}
