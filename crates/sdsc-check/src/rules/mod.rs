//! The rules, one function each.

pub(super) mod addresses;
pub(super) mod constants;
pub(super) mod coordinates;
pub(super) mod cores;
pub(super) mod derived_members;
pub(super) mod families;
pub(super) mod identity;
pub(super) mod launches;
pub(super) mod layouts;
pub(super) mod narrow_products;
pub(super) mod relayouts;
mod release;
mod release_table;
mod rule_indices;
pub(super) mod sharing;
pub(super) mod sizes;
pub(super) mod slices;
pub(super) mod symbols;
mod table;
pub(super) mod tensors;
pub(super) mod windowed;
pub(super) mod windows;

pub(super) use release::symbols::check_symbolic_space;
pub use release_table::RELEASE_RULES;
pub(super) use rule_indices::{
    ARGUMENTS, BUFFERS, CONSTANTS, DEBUG_HANDLES, ELEMENT_ORDER, FLOW_BETWEEN_LAUNCHES, FLOW_IN_HBM, FLOW_IN_LX,
    INDEX_RANGES, LAUNCH_SPEC, LIVE_RANGES, LIVE_RANGES_IN_LAUNCHES, NAMES, ONE_OPERATION, POOL_BYTES, PROGRAM,
    READ_ONLY, SCHEMA, SIZES, SYMBOLIC_SIZES, SYMBOLIC_SPACE, TENSORS, TEXT,
};
pub use table::RULES;

use super::file_view::FileView;
use super::profile::Profile;
use super::report::ViolationReport;
use launches::BundleView;
use std::fmt::Write;

/// A rule of the format.
#[derive(Clone, Copy)]
pub struct FormatRule {
    /// Its name in messages and in the documentation.
    pub label: &'static str,
    /// Condition that must hold.
    pub statement: &'static str,
    /// Source that the rule is taken from.
    pub source: &'static str,
    check: RuleCheck,
}

/// Kind of check of a rule.
#[derive(Clone, Copy)]
enum RuleCheck {
    /// Checked while a file is parsed; other rules skip a file that breaks this rule.
    Reading,
    /// Checked on the statements of `bundle.mlir`.
    Bundle(fn(&BundleView<'_>, &mut ViolationReport)),
    /// Checked on each SDSC file.
    File(fn(&FileView<'_>, &mut ViolationReport)),
    /// Checked on each SDSC file that breaks no other rule: derived members are recomputed from valid ones.
    Derived(fn(&FileView<'_>, &mut ViolationReport)),
}

/// Returns the rules of a profile with their indices: those of [`RULES`], then those of [`RELEASE_RULES`].
fn profile_rules(profile: Profile) -> impl Iterator<Item = (usize, &'static FormatRule)> {
    let known = RULES.iter().enumerate().filter(move |(_, rule)| profile.includes_base_rule(rule.label));
    let added = (RULES.len()..).zip(RELEASE_RULES).filter(move |(_, rule)| profile.includes_added_rule(rule.label));
    known.chain(added)
}

/// Returns the rule at an index.
pub(super) fn rule_at(place: usize) -> &'static FormatRule {
    RULES.get(place).unwrap_or_else(|| &RELEASE_RULES[place - RULES.len()])
}

/// Checks the rules on the statements of `bundle.mlir`.
pub(super) fn check_bundle(view: &BundleView<'_>, report: &mut ViolationReport) {
    for (place, rule) in profile_rules(view.profile) {
        if let RuleCheck::Bundle(check) = rule.check {
            report.enter_rule(place);
            check(view, report);
        }
    }
}

/// Rules on an SDSC file that depend on the values of its symbols.
const RULES_ON_VALUES: [&str; 10] = [
    "sdsc_r16", "sdsc_r17", "sdsc_r68", "sdsc_r69", "sdsc_r70", "sdsc_r71", "sdsc_r74", "sdsc_r80", "sdsc_r87",
    "sdsc_r99",
];

/// Checks a further execute of an SDSC file that breaks no rule.
pub(super) fn check_execute(file: &FileView<'_>, report: &mut ViolationReport) {
    let before = report.len();
    for (place, rule) in profile_rules(file.context.profile).filter(|(_, rule)| RULES_ON_VALUES.contains(&rule.label)) {
        match rule.check {
            RuleCheck::File(check) => {
                report.enter_rule(place);
                check(file, report);
            }
            RuleCheck::Derived(check) if report.len() == before => {
                report.enter_rule(place);
                check(file, report);
            }
            RuleCheck::Derived(_) | RuleCheck::Bundle(_) | RuleCheck::Reading => {}
        }
    }
}

/// Checks the rules on an SDSC file.
pub(super) fn check_file(file: &FileView<'_>, report: &mut ViolationReport) {
    let profile = file.context.profile;
    for (place, rule) in profile_rules(profile) {
        if let RuleCheck::File(check) = rule.check {
            report.enter_rule(place);
            check(file, report);
        }
    }
    if report.breaks_any(|place| !matches!(rule_at(place).check, RuleCheck::Derived(_))) {
        return;
    }
    for (place, rule) in profile_rules(profile) {
        if let RuleCheck::Derived(check) = rule.check {
            report.enter_rule(place);
            check(file, report);
        }
    }
}

/// Returns the number in the label of a rule.
fn rule_number(rule: &FormatRule) -> Option<u32> {
    rule.label.strip_prefix("sdsc_r")?.parse().ok()
}

/// Returns the rules of all profiles in the order of their numbers.
#[must_use]
pub fn all_rules() -> Vec<&'static FormatRule> {
    let mut rules: Vec<&FormatRule> = RULES.iter().chain(RELEASE_RULES).collect();
    rules.sort_by_key(|rule| rule_number(rule));
    rules
}

/// Returns the rules as a Markdown table in the order of their numbers, for `docs/reference/bundle-format.md`.
#[must_use]
pub fn format_rules_table() -> String {
    let mut table = String::from("| label | rule | source |\n|---|---|---|\n");
    for rule in all_rules() {
        // Writing to memory cannot fail.
        let _ = writeln!(table, "| `{}` | {} | {} |", rule.label, rule.statement, rule.source);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_labels_in_order() {
        for table in [RULES, RELEASE_RULES] {
            assert!(table.is_sorted_by(|one, next| rule_number(one).unwrap() < rule_number(next).unwrap()));
        }
        assert!(all_rules().is_sorted_by(|one, next| rule_number(one).unwrap() < rule_number(next).unwrap()));
        for rule in all_rules() {
            assert!(!rule.statement.ends_with('.') && !rule.statement.contains('|'), "{}", rule.statement);
        }
        for place in [TEXT, SCHEMA, PROGRAM, ONE_OPERATION, CONSTANTS, BUFFERS] {
            assert!(matches!(RULES[place].check, RuleCheck::Reading));
        }
    }
}
