//! Table of the rules, the most basic first: a file that breaks a rule may break later rules as a consequence.

mod bundle_rules;
mod op_rules;
mod program_rules;

use super::{FormatRule, RuleCheck};
use bundle_rules::BUNDLE_RULES;
use op_rules::OP_RULES;
use program_rules::PROGRAM_RULES;

/// Rules of all files. "Specification" is the SuperDSC-Bundle interface specification and "schema" the project's
/// description of every field; labels of removed rules are not reused.
pub const RULES: &[FormatRule] = &concat_tables::<{ BUNDLE_RULES.len() + OP_RULES.len() + PROGRAM_RULES.len() }>([
    BUNDLE_RULES,
    OP_RULES,
    PROGRAM_RULES,
]);

const fn rule(label: &'static str, statement: &'static str, source: &'static str, check: RuleCheck) -> FormatRule {
    FormatRule { label, statement, source, check }
}

/// Returns the rules of all tables in order; `N` is the total number of rules.
const fn concat_tables<const N: usize>(tables: [&[FormatRule]; 3]) -> [FormatRule; N] {
    let mut rules = [tables[0][0]; N];
    let (mut table, mut row, mut place) = (0, 0, 0);
    while place < N {
        if row == tables[table].len() {
            (table, row) = (table + 1, 0);
        } else {
            rules[place] = tables[table][row];
            (row, place) = (row + 1, place + 1);
        }
    }
    rules
}
