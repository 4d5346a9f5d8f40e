//! The table of what noticed which mutants.

use crate::Verdict;
use std::{collections::BTreeMap, fmt::Write};

/// Markdown: a row for each stage, then the survivors.
pub(crate) fn markdown(verdicts: &[Verdict]) -> String {
    let mut stages: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for verdict in verdicts {
        let stage = verdict.site.path.iter().nth(1).map_or_else(String::new, |stage| stage.to_string_lossy().into_owned());
        let by = verdict.noticed.unwrap_or("nothing");
        *stages.entry(stage).or_default().entry(by).or_default() += 1;
    }
    let mut text = "| stage | mutants | noticed | by |\n|---|---:|---:|---|\n".to_owned();
    for (stage, by) in &stages {
        let all: usize = by.values().sum();
        let noticed = all - by.get("nothing").copied().unwrap_or(0);
        let tests: Vec<String> = by.iter().filter(|(test, _)| **test != "nothing").map(|(test, count)| format!("{test} {count}")).collect();
        writeln!(text, "| `{stage}` | {all} | {noticed} | {} |", tests.join(", ")).expect("a string takes all text");
    }
    let survivors: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.noticed.is_none()).collect();
    let noticed = verdicts.len() - survivors.len();
    writeln!(text, "\n{noticed} of {} mutants are noticed.\n", verdicts.len()).expect("a string takes all text");
    for survivor in survivors {
        writeln!(text, "* {}", survivor.site).expect("a string takes all text");
    }
    text
}
