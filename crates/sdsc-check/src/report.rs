//! Violations that a check finds, and the functions with which rules report them.

use sdsc_format::bundle_text::Position;
use std::fmt;

/// Rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Label of the rule.
    pub label: &'static str,
    /// File, relative to the checked directory.
    pub file: String,
    /// Location in the file.
    pub place: ViolationLocation,
    /// Message: the value found and the rule broken.
    pub message: String,
}

/// Location in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationLocation {
    /// The complete file.
    File,
    /// A JSON pointer, such as `/0_add/dscs_/0/add/N_/mb_`.
    Json(String),
    /// Line and column.
    Text(Position),
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, file, place, message } = self;
        match place {
            ViolationLocation::File => write!(formatter, "{file}: {label}: {message}"),
            ViolationLocation::Json(path) => write!(formatter, "{file}:{path}: {label}: {message}"),
            ViolationLocation::Text(at) => write!(formatter, "{file}:{at}: {label}: {message}"),
        }
    }
}

/// Violation with the index of its rule in the table.
#[derive(Debug)]
struct RecordedViolation {
    rule: usize,
    file: String,
    place: ViolationLocation,
    message: String,
}

/// Collects violations. Each is recorded with the rule and the file that are being checked.
#[derive(Debug, Default)]
pub(super) struct ViolationReport {
    rule: usize,
    file: String,
    found: Vec<RecordedViolation>,
}

impl ViolationReport {
    /// Sets the current file.
    pub(super) fn enter_file(&mut self, file: impl Into<String>) {
        self.file = file.into();
    }

    /// Sets the current rule, by its index in the table. Violations of rules with a lower index are reported first.
    pub(super) const fn enter_rule(&mut self, rule: usize) {
        self.rule = rule;
    }

    /// Returns the number of violations so far.
    pub(super) const fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns whether the file has violations of any of the given rules so far.
    pub(super) fn breaks_any(&self, is_one: impl Fn(usize) -> bool) -> bool {
        self.found.iter().any(|found| is_one(found.rule))
    }

    /// Reports a violation of the file as a whole.
    pub(super) fn report_file(&mut self, message: impl Into<String>) {
        self.push(ViolationLocation::File, message.into());
    }

    /// Reports a violation of a file other than the current one.
    pub(super) fn report_other_file(&mut self, file: &str, message: impl Into<String>) {
        let checked = std::mem::replace(&mut self.file, file.to_owned());
        self.report_file(message);
        self.file = checked;
    }

    /// Reports a violation at a member of a JSON file.
    pub(super) fn report_json(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.push(ViolationLocation::Json(path.into()), message.into());
    }

    /// Reports a violation at a position in a text.
    pub(super) fn report_text(&mut self, at: Position, message: impl Into<String>) {
        self.push(ViolationLocation::Text(at), message.into());
    }

    fn push(&mut self, place: ViolationLocation, message: String) {
        self.found.push(RecordedViolation { rule: self.rule, file: self.file.clone(), place, message });
    }

    /// Returns the violations, those of the most basic rules first. Violations of one rule are in the order of the
    /// files. `label` returns the label of a rule.
    pub(super) fn into_violations(self, label: impl Fn(usize) -> &'static str) -> Vec<Violation> {
        let mut found = self.found;
        found.sort_by_key(|found| found.rule);
        let violation =
            |RecordedViolation { rule, file, place, message }| Violation { label: label(rule), file, place, message };
        found.into_iter().map(violation).collect()
    }
}

/// Returns the JSON pointer to a member, given the pointer to its parent.
pub(super) fn member_pointer(parent: &str, key: &str) -> String {
    // The two characters with a special meaning in a pointer are escaped (RFC 6901).
    format!("{parent}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_basic_rules_first() {
        let mut report = ViolationReport::default();
        report.enter_file("b");
        report.enter_rule(1);
        report.report_json(member_pointer("/0_a~b", "x/y"), "one");
        report.enter_rule(0);
        report.report_text(Position { line: 3, column: 4 }, "two");
        report.report_file("three");
        let viewed: Vec<_> =
            report.into_violations(|rule| ["first", "second"][rule]).iter().map(ToString::to_string).collect();
        assert_eq!(viewed, ["b:3:4: first: two", "b: first: three", "b:/0_a~b/x~1y: second: one"]);
    }
}
