//! Table of the rules. Basic rules come first, because a violation of a basic rule may cause violations of later rules.

mod bundle_rules;
mod op_rules;
mod program_rules;

use super::{FormatRule, RuleCheck};
use bundle_rules::BUNDLE_RULES;
use op_rules::OP_RULES;
use program_rules::PROGRAM_RULES;

/// Rules on all files of a program. In their sources, "specification" is the SuperDSC-Bundle interface specification
/// and "schema" is the project's description of every SDSC member. Labels of removed rules are not reused.
pub const RULES: &[FormatRule] = &concat_tables::<{ BUNDLE_RULES.len() + OP_RULES.len() + PROGRAM_RULES.len() }>([
    BUNDLE_RULES,
    OP_RULES,
    PROGRAM_RULES,
]);

const fn rule(label: &'static str, statement: &'static str, source: &'static str, check: RuleCheck) -> FormatRule {
    FormatRule { label, statement, source, check }
}

/// Concatenates the tables at compile time; `N` is the total number of rules.
const fn concat_tables<const N: usize>(tables: [&[FormatRule]; 3]) -> [FormatRule; N] {
    let mut rules = [tables[0][0]; N];
    let (mut table, mut row, mut position) = (0, 0, 0);
    while position < N {
        if row == tables[table].len() {
            (table, row) = (table + 1, 0);
        } else {
            rules[position] = tables[table][row];
            (row, position) = (row + 1, position + 1);
        }
    }
    rules
}
