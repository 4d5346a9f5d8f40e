//! Writes the table of the checks that detect the mutants.

use crate::mutants::{
    Mutant,
    free::{FREE, is_free},
    programs::Program,
    verdict::Verdict,
};
use std::{collections::BTreeMap, fmt::Write as _};

/// A mutant and its outcome.
pub(crate) struct Outcome {
    program: String,
    field: String,
    kind: &'static str,
    verdict: Verdict,
    /// Whether no computation depends on the changed value.
    is_free: bool,
    /// Description of the change, for messages.
    shown: String,
}

impl Outcome {
    pub(crate) fn of(program: &Program, mutant: &Mutant, verdict: Verdict) -> Self {
        let shown = format!("{}: {} {} {} [{}] -> {}", program.name, mutant.file, mutant.place, mutant.kind, mutant.field, mutant.to);
        let is_free = !verdict.is_kill() && is_free(&program.files, mutant);
        Self { program: program.name.clone(), field: mutant.field.clone(), kind: mutant.kind, verdict, is_free, shown }
    }
}

/// How many mutants each means finds.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    tried: usize,
    rule: usize,
    emission: usize,
    refused: usize,
    field: usize,
    numbers: usize,
    free: usize,
    survive: usize,
}

impl Row {
    fn add(&mut self, verdict: &Verdict, is_free: bool) {
        self.tried += 1;
        let count = match verdict {
            Verdict::Rule(_) => &mut self.rule,
            Verdict::Emission => &mut self.emission,
            Verdict::Refused => &mut self.refused,
            Verdict::Field => &mut self.field,
            Verdict::Numbers => &mut self.numbers,
            Verdict::Survives if is_free => &mut self.free,
            Verdict::Survives => &mut self.survive,
        };
        *count += 1;
    }

    fn cells(&self) -> String {
        let Self { tried, rule, emission, refused, field, numbers, free, survive } = self;
        format!("{tried} | {rule} | {emission} | {refused} | {field} | {numbers} | {free} | {survive} |")
    }
}

const HEAD: &str = "mutants | a rule | re-emission | simulator refuses | differs in the field | differs in numbers | means nothing | survive |\n\
     |---|---|---|---|---|---|---|---|---|\n";

/// Everything that was tried.
#[derive(Default)]
pub(crate) struct Counts {
    outcomes: Vec<Outcome>,
}

impl Counts {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    pub(crate) fn survivors(&self) -> Vec<String> {
        let survives = |outcome: &&Outcome| !outcome.verdict.is_kill() && !outcome.is_free;
        self.outcomes.iter().filter(survives).map(|outcome| outcome.shown.clone()).collect()
    }

    fn rows(&self, name: impl Fn(&Outcome) -> String) -> BTreeMap<String, Row> {
        let mut rows: BTreeMap<String, Row> = BTreeMap::new();
        for outcome in &self.outcomes {
            rows.entry(name(outcome)).or_default().add(&outcome.verdict, outcome.is_free);
        }
        rows
    }

    fn table(&self, first: &str, name: impl Fn(&Outcome) -> String) -> String {
        let mut table = format!("| {first} | {HEAD}");
        let all = self.rows(|_| "**all**".to_owned());
        for (name, row) in self.rows(name).into_iter().chain(all) {
            writeln!(table, "| {name} | {}", row.cells()).unwrap();
        }
        table
    }

    pub(crate) fn by_kind(&self) -> String {
        self.table("change", |outcome| outcome.kind.to_owned())
    }

    fn by_program(&self) -> String {
        self.table("program", |outcome| format!("`{}`", outcome.program))
    }

    fn by_field(&self) -> String {
        self.table("field", |outcome| format!("`{}`", if outcome.field.is_empty() { "the file" } else { &outcome.field }))
    }
}

/// Compares with the page, or writes it if the caller blesses.
pub(crate) fn expect_on_page(counts: &Counts) {
    const BEGIN: &str = "<!-- mutants: begin -->\n";
    const END: &str = "<!-- mutants: end -->\n";
    let mut free = "| field without meaning | reason | source |\n|---|---|---|\n".to_owned();
    for one in FREE {
        writeln!(free, "| `{}`{} | {} | {} |", one.field, one.which, one.reason, one.source).unwrap();
    }
    let tables = format!("{}\n{}\n{free}\n{}", counts.by_kind(), counts.by_program(), counts.by_field());
    crate::mutants::bless::expect_on_page("docs/measurements/mutants.md", [BEGIN, END], &tables, "mutants");
}
