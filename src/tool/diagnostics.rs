//! Diagnostics of passes in the tool's own words, where they are about its command line or a file as a whole.

use crate::mlir::{Collected, Session, SourcePlace, intercept};
use std::io::{self, Write};

/// From here on, what has no place in a file is printed as a message of the tool; everything else is printed as before.
pub(super) fn say_without_place(session: &Session, tool: &'static str) {
    intercept(session.context(), move |said| {
        let Some(message) = without_place(tool, said) else { return false };
        // Nobody can be told that this cannot be told.
        let _ = writeln!(io::stderr(), "{message}");
        true
    });
}

/// The message, if it is about the command line or a file as a whole.
fn without_place(tool: &str, said: &Collected) -> Option<String> {
    let Collected { severity, message, places, notes } = said;
    let place = places.first();
    let in_text = place.is_some_and(|place| place.line > 0);
    let (subject, what) = message.split_once(" op ").unwrap_or(("", message));
    let is_subject = subject.starts_with('\'') && !subject.contains(' ');
    let what = if is_subject { what } else { message };
    if what.starts_with("option '") {
        return Some(format!("{tool}: {severity}: {}", spelled(what)));
    }
    let is_of_module = subject == "'builtin.module'";
    let is_said_of_module = ["is ", "has ", "gives ", "leaves ", "needs ", "takes "].iter().any(|verb| what.starts_with(verb));
    if (is_of_module && !is_said_of_module) || place.is_none() {
        return Some(format!("{tool}: {severity}: {what}"));
    }
    if !notes.is_empty() || (in_text && !is_of_module) {
        return None;
    }
    let subject = if is_of_module { "the module " } else { "" };
    place.map(|place| format!("{}: {severity}: {subject}{what}", spelled_place(place)))
}

/// A file, with a line where one is known.
fn spelled_place(place: &SourcePlace) -> String {
    let SourcePlace { file, line, column } = place;
    if *line > 0 { format!("{file}:{line}:{column}") } else { file.clone() }
}

/// A message with the option that it begins with as the command line has it: `option 'cores'` is `--cores`.
pub(super) fn spelled(message: &str) -> String {
    let named = message.strip_prefix("option '").and_then(|rest| rest.split_once('\''));
    named.map_or_else(|| message.to_owned(), |(name, rest)| format!("--{name}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str, line: i64) -> Option<String> {
        let places = vec![SourcePlace { file: "a.mlir".to_owned(), line, column: line }];
        without_place("tool", &Collected { severity: "error", message: message.to_owned(), places, notes: Vec::new() })
    }

    #[test]
    fn options_are_reported_as_options_and_whole_files_as_files() {
        assert_eq!(said("'func.func' op option 'dims' names argument 5", 1).unwrap(), "tool: error: --dims names argument 5");
        assert_eq!(said("'builtin.module' op option 'cores': no", 0).unwrap(), "tool: error: --cores: no");
        assert_eq!(said("'builtin.module' op cannot write 'b'", 1).unwrap(), "tool: error: cannot write 'b'");
        assert_eq!(said("'builtin.module' op is empty", 0).unwrap(), "a.mlir: error: the module is empty");
        assert_eq!(said("bytecode of another MLIR", 0).unwrap(), "a.mlir: error: bytecode of another MLIR");
        assert_eq!(said("'builtin.module' op is empty", 1).unwrap(), "a.mlir:1:1: error: the module is empty");
        assert_eq!(said("'linalg.exp' op cannot be read", 3), None);
    }
}
