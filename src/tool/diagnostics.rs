//! Formats MLIR's diagnostics as messages of a tool: JSON, or text without a source line if the message is about the
//! command line or a complete file.

use super::{
    Reporter,
    reporter::{Message, MessageLocation, RemarkOrigin, print_line},
    terminal::run_with_line_erased,
};
use crate::{
    codes::split_code,
    mlir::{CollectedDiagnostic, Session, SourcePosition, intercept_diagnostics},
};

/// Installs the diagnostic handler of a tool. With `--format=json`, it prints every diagnostic as JSON. In text, it
/// prints diagnostics about the command line or a complete file, and leaves the others, with their source lines, to
/// MLIR. Marks the session as a tool's, so that it also handles the signals of the process.
pub(super) fn install_handler(session: &Session, speaker: Reporter) {
    session.mark_as_tool();
    intercept_diagnostics(session.context(), move |said| {
        // MLIR may print the message itself.
        run_with_line_erased(|| ());
        if speaker.is_quiet() && said.severity != "error" {
            return true;
        }
        let subject = DiagnosticSubject::from_diagnostic(said);
        if speaker.is_json() {
            print_line(&build_message(said, &subject).to_json_line());
            return true;
        }
        let Some(line) = subject.format_text(speaker.tool(), &format_severity(said)) else { return false };
        print_line(&line);
        true
    });
}

/// Subject of a diagnostic, with its text.
enum DiagnosticSubject<'d> {
    /// The command line, or no location at all.
    Tool(String),
    /// A complete file.
    File(&'d SourcePosition, String),
    /// A location in a file; MLIR's own text is printed.
    Place,
}

impl<'d> DiagnosticSubject<'d> {
    fn from_diagnostic(said: &'d CollectedDiagnostic) -> Self {
        let CollectedDiagnostic { message, places, notes, .. } = said;
        let Some(place) = places.first() else { return Self::Tool(format_option_name(split_subject(message).1)) };
        let (subject, what) = split_subject(message);
        if what.starts_with("option '") {
            return Self::Tool(format_option_name(what));
        }
        let is_of_module = subject == "'builtin.module'";
        let is_said_of_module = ["is ", "has ", "gives ", "leaves ", "needs ", "takes ", "computes ", "cannot be "]
            .iter()
            .any(|verb| what.starts_with(verb));
        if is_of_module && !is_said_of_module {
            return Self::Tool(what.to_owned());
        }
        if !notes.is_empty() || (place.line > 0 && !is_of_module) {
            return Self::Place;
        }
        let subject = if is_of_module { "the module " } else { "" };
        Self::File(place, format!("{subject}{what}"))
    }

    /// Returns the message as one line of text; `None` if MLIR prints it with the source line.
    fn format_text(&self, tool: &str, severity: &str) -> Option<String> {
        match self {
            Self::Tool(what) => Some(format!("{tool}: {severity}: {what}")),
            Self::File(place, what) => Some(format!("{}: {severity}: {what}", format_place(place))),
            Self::Place => None,
        }
    }
}

/// Returns severity and code, as in `error[SPY0501]`.
fn format_severity(said: &CollectedDiagnostic) -> String {
    said.code.map_or_else(|| said.severity.to_owned(), |code| format!("{}[{code}]", said.severity))
}

/// Splits a message into the op name that it begins with (empty without one) and the text after it.
fn split_subject(message: &str) -> (&str, &str) {
    let named = message.split_once(" op ").filter(|(subject, _)| subject.starts_with('\'') && !subject.contains(' '));
    named.unwrap_or(("", message))
}

/// Builds the JSON message of a diagnostic.
fn build_message(said: &CollectedDiagnostic, subject: &DiagnosticSubject<'_>) -> Message {
    let text = match subject {
        DiagnosticSubject::Tool(what) | DiagnosticSubject::File(_, what) => what.clone(),
        DiagnosticSubject::Place => said.message.clone(),
    };
    let op = split_subject(&said.message).0;
    let (origin, text) = match RemarkOrigin::split(&text) {
        Some((origin, text)) if said.severity == "remark" => (Some(origin), text),
        _ => (None, text),
    };
    let mut places = if matches!(subject, DiagnosticSubject::Tool(_)) { [].iter() } else { said.places.iter() };
    Message {
        severity: said.severity.to_owned(),
        code: said.code.map(|code| code.to_string()),
        op: Some(op.trim_matches('\'').to_owned()).filter(|op| !op.is_empty() && op != "builtin.module"),
        origin,
        place: places.next().map(convert_place).unwrap_or_default(),
        message: text,
        called_from: places.map(convert_place).collect(),
        notes: said.notes.iter().map(|note| build_message(note, &DiagnosticSubject::Place)).collect(),
    }
}

/// Converts a location. Without a line, it is that of a complete file.
fn convert_place(place: &SourcePosition) -> MessageLocation {
    let number = |number: i64| (place.line > 0).then_some(number);
    MessageLocation { file: Some(place.file.clone()), line: number(place.line), column: number(place.column) }
}

/// Formats a location as `file:line:column`, or as the file alone if the line is unknown.
fn format_place(place: &SourcePosition) -> String {
    let SourcePosition { file, line, column } = place;
    if *line > 0 { format!("{file}:{line}:{column}") } else { file.clone() }
}

/// Replaces a leading pass option by the command-line option: `option 'cores'` becomes `--cores`.
pub(super) fn format_option_name(message: &str) -> String {
    let (code, message) = split_code(message);
    let named = message.strip_prefix("option '").and_then(|rest| rest.split_once('\''));
    let text = named.map(|(name, rest)| format!("--{name}{rest}")).unwrap_or(message);
    code.map_or(text.clone(), |code| code.format(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_diagnostic(message: &str, line: i64) -> Option<String> {
        let said = make_diagnostic(message, line);
        DiagnosticSubject::from_diagnostic(&said).format_text("tool", &format_severity(&said))
    }

    fn make_diagnostic(message: &str, line: i64) -> CollectedDiagnostic {
        let places = vec![SourcePosition { file: "a.mlir".to_owned(), line, column: line }];
        CollectedDiagnostic {
            severity: "error",
            code: None,
            message: message.to_owned(),
            places,
            module: String::new(),
            notes: Vec::new(),
        }
    }

    fn format_json(said: &CollectedDiagnostic) -> String {
        build_message(said, &DiagnosticSubject::from_diagnostic(said)).to_json_line()
    }

    #[test]
    fn writes_location_notes_and_callers_as_json() {
        let mut said = make_diagnostic("'linalg.exp' op is wrong", 3);
        said.places.push(SourcePosition { file: "b.py".to_owned(), line: 7, column: 2 });
        said.notes.push(CollectedDiagnostic { severity: "note", ..make_diagnostic("as here", 4) });
        assert_eq!(
            format_json(&said),
            r#"{"severity":"error","code":null,"op":"linalg.exp","file":"a.mlir","line":3,"column":3,"message":"'linalg.exp' op is wrong","called_from":[{"file":"b.py","line":7,"column":2}],"notes":[{"severity":"note","code":null,"file":"a.mlir","line":4,"column":4,"message":"as here","notes":[]}]}"#
        );
        let of_tool = format_json(&make_diagnostic("'builtin.module' op option 'cores': no", 0));
        assert_eq!(
            of_tool,
            r#"{"severity":"error","code":null,"file":null,"line":null,"column":null,"message":"--cores: no","notes":[]}"#
        );
        let of_file = format_json(&make_diagnostic("'builtin.module' op is empty", 0));
        assert_eq!(
            of_file,
            r#"{"severity":"error","code":null,"file":"a.mlir","line":null,"column":null,"message":"the module is empty","notes":[]}"#
        );
    }

    #[test]
    fn reports_options_and_files_by_name() {
        assert_eq!(
            format_diagnostic("'func.func' op option 'dims' names argument 5", 1).unwrap(),
            "tool: error: --dims names argument 5"
        );
        assert_eq!(format_diagnostic("'builtin.module' op option 'cores': no", 0).unwrap(), "tool: error: --cores: no");
        assert_eq!(
            format_diagnostic("'builtin.module' op cannot write 'b'", 1).unwrap(),
            "tool: error: cannot write 'b'"
        );
        assert_eq!(format_diagnostic("'builtin.module' op is empty", 0).unwrap(), "a.mlir: error: the module is empty");
        assert_eq!(
            format_diagnostic("bytecode of another MLIR", 0).unwrap(),
            "a.mlir: error: bytecode of another MLIR"
        );
        assert_eq!(
            format_diagnostic("'builtin.module' op is empty", 1).unwrap(),
            "a.mlir:1:1: error: the module is empty"
        );
        assert_eq!(format_diagnostic("'linalg.exp' op cannot be read", 3), None);
    }
}
