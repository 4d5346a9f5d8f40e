//! Message codes of the rules of the file format: rule `sdsc_rN` has code SPY1000 + N.

use super::{Code, CodeEntry};
use sdsc_check::all_rules;
use std::fmt::Write as _;

/// Number before the code of the first rule.
const FIRST_RULE_CODE: u16 = 1000;

/// Returns the code of the rule with this label.
#[must_use]
pub fn format_rule_code(label: &str) -> Option<Code> {
    let number: u16 = label.strip_prefix("sdsc_r")?.parse().ok()?;
    (number < 200).then(|| Code(FIRST_RULE_CODE + number))
}

/// Returns the table entry of the rule with this code.
pub(super) fn find_rule_entry(code: Code) -> Option<CodeEntry> {
    let rule = all_rules().into_iter().find(|rule| format_rule_code(rule.label) == Some(code))?;
    Some(CodeEntry { code, title: rule.label, text: rule.statement, see: "docs/reference/bundle-format.md" })
}

/// Returns the section on the rules in the page of all codes.
pub(super) fn render_rules_section() -> String {
    let mut text = "## Rules of the file format (SPY1001 to SPY1199)\n\nRule `sdsc_rN` has code SPY1000 + N. \
                    [The bundle format](../bundle-format.md) lists the rules with their sources.\n\n"
        .to_owned();
    for rule in all_rules() {
        if let Some(code) = format_rule_code(rule.label) {
            let _ = writeln!(text, "* **{code}**: `{}`", rule.label);
        }
    }
    text.push('\n');
    text
}
