//! Diagnostics of passes in the tool's own words, where they are about its command line or a file as a whole.

use super::{
    Speaker,
    speech::{Message, Place, RemarkOrigin, print_line},
    terminal::without_line,
};
use crate::{
    codes::split_code,
    mlir::{Collected, Session, SourcePlace, intercept},
};

/// From here on the tool speaks for MLIR: in JSON, or in its own words where there is no place in a file. What else is said in text is
/// printed as before, with the line that it is about. The session is the tool's, and so are the signals of the process.
pub(super) fn listen(session: &Session, speaker: Speaker) {
    session.serve_tool();
    intercept(session.context(), move |said| {
        // MLIR may print the message itself.
        without_line(|| ());
        if speaker.is_quiet() && said.severity != "error" {
            return true;
        }
        let subject = Subject::of(said);
        if speaker.is_json() {
            print_line(&message(said, &subject).in_one_line());
            return true;
        }
        let Some(line) = subject.in_text(speaker.tool(), &severity_with_code(said)) else { return false };
        print_line(&line);
        true
    });
}

/// Subject of a diagnostic, with its message.
enum Subject<'d> {
    /// The command line, or nothing that has a place.
    Tool(String),
    /// A file as a whole.
    File(&'d SourcePlace, String),
    /// A place in a file, in the words that it was said in.
    Place,
}

impl<'d> Subject<'d> {
    fn of(said: &'d Collected) -> Self {
        let Collected { message, places, notes, .. } = said;
        let Some(place) = places.first() else { return Self::Tool(spelled(without_subject(message).1)) };
        let (subject, what) = without_subject(message);
        if what.starts_with("option '") {
            return Self::Tool(spelled(what));
        }
        let is_of_module = subject == "'builtin.module'";
        let is_said_of_module =
            ["is ", "has ", "gives ", "leaves ", "needs ", "takes ", "computes ", "cannot be "].iter().any(|verb| what.starts_with(verb));
        if is_of_module && !is_said_of_module {
            return Self::Tool(what.to_owned());
        }
        if !notes.is_empty() || (place.line > 0 && !is_of_module) {
            return Self::Place;
        }
        let subject = if is_of_module { "the module " } else { "" };
        Self::File(place, format!("{subject}{what}"))
    }

    /// In one line of text; none where the line of the file belongs to it.
    fn in_text(&self, tool: &str, severity: &str) -> Option<String> {
        match self {
            Self::Tool(what) => Some(format!("{tool}: {severity}: {what}")),
            Self::File(place, what) => Some(format!("{}: {severity}: {what}", spelled_place(place))),
            Self::Place => None,
        }
    }
}

/// Severity and code, as in `error[SPY0501]`.
fn severity_with_code(said: &Collected) -> String {
    said.code.map_or_else(|| said.severity.to_owned(), |code| format!("{}[{code}]", said.severity))
}

/// The op that a message begins with, and the rest.
fn without_subject(message: &str) -> (&str, &str) {
    let named = message.split_once(" op ").filter(|(subject, _)| subject.starts_with('\'') && !subject.contains(' '));
    named.unwrap_or(("", message))
}

/// The diagnostic for JSON.
fn message(said: &Collected, subject: &Subject<'_>) -> Message {
    let text = match subject {
        Subject::Tool(what) | Subject::File(_, what) => what.clone(),
        Subject::Place => said.message.clone(),
    };
    let op = without_subject(&said.message).0;
    let (origin, text) = match RemarkOrigin::split(&text) {
        Some((origin, text)) if said.severity == "remark" => (Some(origin), text),
        _ => (None, text),
    };
    let mut places = if matches!(subject, Subject::Tool(_)) { [].iter() } else { said.places.iter() };
    Message {
        severity: said.severity.to_owned(),
        code: said.code.map(|code| code.to_string()),
        op: Some(op.trim_matches('\'').to_owned()).filter(|op| !op.is_empty() && op != "builtin.module"),
        origin,
        place: places.next().map(place_of).unwrap_or_default(),
        message: text,
        called_from: places.map(place_of).collect(),
        notes: said.notes.iter().map(|note| message(note, &Subject::Place)).collect(),
    }
}

/// A place; one without a line is that of a file as a whole.
fn place_of(place: &SourcePlace) -> Place {
    let number = |number: i64| (place.line > 0).then_some(number);
    Place { file: Some(place.file.clone()), line: number(place.line), column: number(place.column) }
}

/// A file, with a line where one is known.
fn spelled_place(place: &SourcePlace) -> String {
    let SourcePlace { file, line, column } = place;
    if *line > 0 { format!("{file}:{line}:{column}") } else { file.clone() }
}

/// A message with the option that it begins with as the command line has it: `option 'cores'` is `--cores`.
pub(super) fn spelled(message: &str) -> String {
    let (code, message) = split_code(message);
    let named = message.strip_prefix("option '").and_then(|rest| rest.split_once('\''));
    let text = named.map(|(name, rest)| format!("--{name}{rest}")).unwrap_or(message);
    code.map_or(text.clone(), |code| code.says(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(message: &str, line: i64) -> Option<String> {
        let said = collected(message, line);
        Subject::of(&said).in_text("tool", &severity_with_code(&said))
    }

    fn collected(message: &str, line: i64) -> Collected {
        let places = vec![SourcePlace { file: "a.mlir".to_owned(), line, column: line }];
        Collected { severity: "error", code: None, message: message.to_owned(), places, module: String::new(), notes: Vec::new() }
    }

    fn in_json(said: &Collected) -> String {
        message(said, &Subject::of(said)).in_one_line()
    }

    #[test]
    fn json_has_the_place_the_notes_and_what_it_was_called_from() {
        let mut said = collected("'linalg.exp' op is wrong", 3);
        said.places.push(SourcePlace { file: "b.py".to_owned(), line: 7, column: 2 });
        said.notes.push(Collected { severity: "note", ..collected("as here", 4) });
        assert_eq!(
            in_json(&said),
            r#"{"severity":"error","code":null,"op":"linalg.exp","file":"a.mlir","line":3,"column":3,"message":"'linalg.exp' op is wrong","called_from":[{"file":"b.py","line":7,"column":2}],"notes":[{"severity":"note","code":null,"file":"a.mlir","line":4,"column":4,"message":"as here","notes":[]}]}"#
        );
        let of_tool = in_json(&collected("'builtin.module' op option 'cores': no", 0));
        assert_eq!(of_tool, r#"{"severity":"error","code":null,"file":null,"line":null,"column":null,"message":"--cores: no","notes":[]}"#);
        let of_file = in_json(&collected("'builtin.module' op is empty", 0));
        assert_eq!(
            of_file,
            r#"{"severity":"error","code":null,"file":"a.mlir","line":null,"column":null,"message":"the module is empty","notes":[]}"#
        );
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
