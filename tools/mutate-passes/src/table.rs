//! Writes the table of the tests that detected each mutant.

use crate::{Verdict, suite::Outcome, tree::STAGES};
use std::{collections::BTreeMap, fmt::Write};

/// Returns Markdown: a row for each stage, then the stopped and the surviving mutants.
pub(crate) fn markdown(verdicts: &[Verdict]) -> String {
    let mut text = "| stage | mutants | noticed | stopped | survive | noticed by |\n|---|---:|---:|---:|---:|---|\n".to_owned();
    for stage in STAGES {
        let of_stage: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.site.path.starts_with(stage)).collect();
        text += &row(stage, &of_stage);
    }
    text += &row("all", &verdicts.iter().collect::<Vec<_>>());
    text += "\n";
    for verdict in verdicts.iter().filter(|verdict| !matches!(verdict.outcome, Outcome::Noticed(_))) {
        writeln!(text, "* {}: {}", verdict.site, verdict.outcome).expect("a string takes all text");
    }
    text
}

fn row(name: &str, verdicts: &[&Verdict]) -> String {
    let mut by: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut stopped, mut survive) = (0, 0);
    for verdict in verdicts {
        match &verdict.outcome {
            Outcome::Noticed(test) => *by.entry(test).or_default() += 1,
            Outcome::Stopped(_) => stopped += 1,
            Outcome::Survives | Outcome::Unreached => survive += 1,
        }
    }
    let tests: Vec<String> = by.iter().map(|(test, count)| format!("{test} {count}")).collect();
    let noticed: usize = by.values().sum();
    format!("| `{name}` | {} | {noticed} | {stopped} | {survive} | {} |\n", verdicts.len(), tests.join(", "))
}
