//! Writes the table of the checks that detect the mutants.

use crate::mutants::{
    Mutant,
    free::{UNCHECKED_FIELDS, is_free},
    free_release::RELEASE_FIELDS,
    programs::CorrectProgram,
    verdict::MutantVerdict,
};
use std::{collections::BTreeMap, fmt::Write as _};

/// A mutant and its outcome.
pub(crate) struct MutantOutcome {
    program: String,
    field: String,
    kind: &'static str,
    verdict: MutantVerdict,
    /// Whether no computation depends on the changed value.
    is_free: bool,
    /// Description of the change, for messages.
    viewed: String,
}

impl MutantOutcome {
    pub(crate) fn new(program: &CorrectProgram, mutant: &Mutant, verdict: MutantVerdict) -> Self {
        let viewed = format!(
            "{}: {} {} {} [{}] -> {}",
            program.name, mutant.file, mutant.place, mutant.kind, mutant.field, mutant.to
        );
        let is_free = !verdict.is_kill() && is_free(program, mutant);
        Self { program: program.name.clone(), field: mutant.field.clone(), kind: mutant.kind, verdict, is_free, viewed }
    }
}

/// Number of mutants that each check detects.
#[derive(Clone, Copy, Debug, Default)]
struct DetectionCounts {
    tried: usize,
    rule: usize,
    emission: usize,
    rejected: usize,
    field: usize,
    numbers: usize,
    free: usize,
    survive: usize,
}

impl DetectionCounts {
    fn add(&mut self, verdict: &MutantVerdict, is_free: bool) {
        self.tried += 1;
        let count = match verdict {
            MutantVerdict::Rule(_) => &mut self.rule,
            MutantVerdict::Emission => &mut self.emission,
            MutantVerdict::Rejected => &mut self.rejected,
            MutantVerdict::Field => &mut self.field,
            MutantVerdict::Numbers => &mut self.numbers,
            MutantVerdict::Survives if is_free => &mut self.free,
            MutantVerdict::Survives => &mut self.survive,
        };
        *count += 1;
    }

    fn cells(&self) -> String {
        let Self { tried, rule, emission, rejected: refused, field, numbers, free, survive } = self;
        format!("{tried} | {rule} | {emission} | {refused} | {field} | {numbers} | {free} | {survive} |")
    }
}

const HEAD: &str = "mutants | a rule | re-emission | simulator refuses | differs in the field | differs in numbers | means nothing | survive |\n\
     |---|---|---|---|---|---|---|---|---|\n";

/// Statistics of all tried mutants.
#[derive(Default)]
pub(crate) struct MutantStatistics {
    outcomes: Vec<MutantOutcome>,
}

impl MutantStatistics {
    pub(crate) fn add(&mut self, outcome: MutantOutcome) {
        self.outcomes.push(outcome);
    }

    pub(crate) fn survivors(&self) -> Vec<String> {
        let survives = |outcome: &&MutantOutcome| !outcome.verdict.is_kill() && !outcome.is_free;
        self.outcomes.iter().filter(survives).map(|outcome| outcome.viewed.clone()).collect()
    }

    fn rows(&self, name: impl Fn(&MutantOutcome) -> String) -> BTreeMap<String, DetectionCounts> {
        let mut rows: BTreeMap<String, DetectionCounts> = BTreeMap::new();
        for outcome in &self.outcomes {
            rows.entry(name(outcome)).or_default().add(&outcome.verdict, outcome.is_free);
        }
        rows
    }

    fn table(&self, first: &str, name: impl Fn(&MutantOutcome) -> String) -> String {
        let mut table = format!("| {first} | {HEAD}");
        let all = self.rows(|_| "**all**".to_owned());
        for (name, row) in self.rows(name).into_iter().chain(all) {
            writeln!(table, "| {name} | {}", row.cells()).unwrap();
        }
        table
    }

    pub(crate) fn table_by_kind(&self) -> String {
        self.table("change", |outcome| outcome.kind.to_owned())
    }

    fn table_by_program(&self) -> String {
        self.table("program", |outcome| format!("`{}`", outcome.program))
    }

    fn table_by_field(&self) -> String {
        self.table("field", |outcome| {
            format!("`{}`", if outcome.field.is_empty() { "the file" } else { &outcome.field })
        })
    }
}

/// Compares with the page, or writes it if the caller blesses.
pub(crate) fn expect_on_page(counts: &MutantStatistics) {
    const BEGIN: &str = "<!-- mutants: begin -->\n";
    const END: &str = "<!-- mutants: end -->\n";
    let mut free = "| field without meaning | reason | source |\n|---|---|---|\n".to_owned();
    for (fields, profile) in [(UNCHECKED_FIELDS, ""), (RELEASE_FIELDS, " (`1.0`)")] {
        for one in fields {
            writeln!(free, "| `{}`{}{profile} | {} | {} |", one.field, one.which, one.reason, one.source).unwrap();
        }
    }
    let tables =
        format!("{}\n{}\n{free}\n{}", counts.table_by_kind(), counts.table_by_program(), counts.table_by_field());
    crate::mutants::bless::expect_on_page("docs/measurements/mutants.md", [BEGIN, END], &tables, "mutants");
}
