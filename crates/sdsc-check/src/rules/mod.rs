//! The rules, one function each.

pub(super) mod addresses;
pub(super) mod constants;
pub(super) mod coordinates;
pub(super) mod cores;
pub(super) mod derived;
pub(super) mod families;
pub(super) mod identity;
pub(super) mod launches;
pub(super) mod layouts;
pub(super) mod sizes;
pub(super) mod slices;
pub(super) mod symbols;
mod table;
pub(super) mod tensors;
pub(super) mod windowed;
pub(super) mod windows;

pub(super) use table::{
    ARGUMENTS, BUFFERS, CONSTANTS, DEBUG_HANDLES, FLOW_IN_HBM, FLOW_IN_LX, FLOW_OF_LAUNCHES, INDEX_RANGES, LAUNCH_SPEC, LIVES,
    LIVES_IN_LAUNCHES, NAMES, ONE_OPERATION, POOL_BYTES, PROGRAM, READ_ONLY, SCHEMA, SIZES, SYMBOLIC_SIZES, TENSORS, TEXT,
};
pub use table::{RULES, rules_table};

use super::file_view::FileView;
use super::report::Report;
use launches::BundleView;

/// A rule of the format.
pub struct Rule {
    /// Its name in messages and in the documentation.
    pub label: &'static str,
    /// Condition that must hold.
    pub statement: &'static str,
    /// Source that the rule is taken from.
    pub source: &'static str,
    check: Check,
}

/// How a rule is checked.
#[derive(Clone, Copy)]
enum Check {
    /// While a file is parsed: other rules skip a file that breaks this rule.
    Reading,
    /// On the statements of `bundle.mlir`.
    Bundle(fn(&BundleView<'_>, &mut Report)),
    /// On each SDSC file.
    File(fn(&FileView<'_>, &mut Report)),
    /// On each SDSC file that breaks no other rule: derived members are recomputed from valid ones.
    Derived(fn(&FileView<'_>, &mut Report)),
}

/// Checks the rules on the statements of `bundle.mlir`.
pub(super) fn check_bundle(view: &BundleView<'_>, report: &mut Report) {
    for (place, rule) in RULES.iter().enumerate() {
        if let Check::Bundle(check) = rule.check {
            report.enter_rule(place);
            check(view, report);
        }
    }
}

/// Rules on an SDSC file that depend on the values of its symbols.
const RULES_ON_VALUES: [&str; 10] =
    ["sdsc_r16", "sdsc_r17", "sdsc_r68", "sdsc_r69", "sdsc_r70", "sdsc_r71", "sdsc_r74", "sdsc_r80", "sdsc_r87", "sdsc_r99"];

/// Checks a further execute of an SDSC file that breaks no rule.
pub(super) fn check_execute(file: &FileView<'_>, report: &mut Report) {
    let before = report.len();
    for (place, rule) in RULES.iter().enumerate().filter(|(_, rule)| RULES_ON_VALUES.contains(&rule.label)) {
        match rule.check {
            Check::File(check) => {
                report.enter_rule(place);
                check(file, report);
            }
            Check::Derived(check) if report.len() == before => {
                report.enter_rule(place);
                check(file, report);
            }
            Check::Derived(_) | Check::Bundle(_) | Check::Reading => {}
        }
    }
}

/// Checks the rules on an SDSC file.
pub(super) fn check_file(file: &FileView<'_>, report: &mut Report) {
    for (place, rule) in RULES.iter().enumerate() {
        if let Check::File(check) = rule.check {
            report.enter_rule(place);
            check(file, report);
        }
    }
    if report.breaks_any(|place| !matches!(RULES[place].check, Check::Derived(_))) {
        return;
    }
    for (place, rule) in RULES.iter().enumerate() {
        if let Check::Derived(check) = rule.check {
            report.enter_rule(place);
            check(file, report);
        }
    }
}
