//! Converts messages of the compiler to diagnostics of the protocol, and merges them with those of MLIR's server.

use super::documents::{Document, range_to_json};
use serde_json::{Value, json};

/// Name of standard input in the compiler's messages.
const STDIN_NAME: &str = "<stdin>";

/// Source name of the diagnostics, which editors display.
const DIAGNOSTIC_SOURCE: &str = "spyre-compile";

/// Separator of the chunks of a test. MLIR's server reads the chunks one by one; the compiler does not.
const TEST_SEPARATOR: &str = "// -----";

/// Ops and types that exist only after the last phase that reads a text.
const LOWERED_NAMES: [&str; 3] = ["sdsc.program", "sdsc.bundle", "sdscbundle."];

/// Returns whether the compiler can read the text as one program.
pub(super) fn is_program(document: &Document) -> bool {
    let is_lowered = LOWERED_NAMES.iter().any(|name| document.text.contains(name));
    let is_split = document.lines().any(|line| line.starts_with(TEST_SEPARATOR));
    !is_lowered && !is_split && !document.text.trim().is_empty()
}

/// Returns whether a list of diagnostics contains an error. A diagnostic without severity is an error.
pub(super) fn has_error(diagnostics: &[Value]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic["severity"].as_u64().unwrap_or(1) == 1)
}

/// Parses the output of a compilation, which has one JSON object per line, into diagnostics. Other lines are ignored.
pub(super) fn read_messages(output: &str, (uri, document): (&str, &Document)) -> Vec<Value> {
    let messages = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.filter_map(|message| to_diagnostic(&message, (uri, document))).collect()
}

/// Returns the diagnostics of MLIR's server, followed by those of the compiler that differ from them.
pub(super) fn merge_diagnostics(parser: &[Value], compiler: &[Value]) -> Vec<Value> {
    let mut merged = parser.to_vec();
    for diagnostic in compiler {
        let is_equal = |other: &Value| {
            let line = |value: &Value| value["range"]["start"]["line"].clone();
            other["message"] == diagnostic["message"] && line(other) == line(diagnostic)
        };
        if !merged.iter().any(is_equal) {
            merged.push(diagnostic.clone());
        }
    }
    merged
}

/// Converts a message of the compiler to a diagnostic.
fn to_diagnostic(message: &Value, (uri, document): (&str, &Document)) -> Option<Value> {
    let severity = match message["severity"].as_str()? {
        "error" => 1,
        "warning" => 2,
        _ => 3,
    };
    let mut text = message["message"].as_str()?.to_owned();
    let range = convert_range(message, document).unwrap_or_else(|| {
        text += &format_location(message).map_or_else(String::new, |place| format!(" ({place})"));
        find_line_of_location(message, document)
            .unwrap_or_else(|| trimmed_line_range(document.line(0).unwrap_or_default()))
    });
    let mut related = Vec::new();
    let none = Vec::new();
    let list = |name: &str| message[name].as_array().unwrap_or(&none);
    let callers = list("called_from").iter().map(|place| (place, "called from here"));
    let notes = list("notes").iter().filter_map(|note| Some((note, note["message"].as_str()?)));
    for (place, said) in callers.chain(notes) {
        match self::convert_range(place, document) {
            Some(range) => related.push(json!({"location": {"uri": uri, "range": range}, "message": said})),
            None => {
                text += &format!(
                    "\n{said}{}",
                    format_location(place).map_or_else(String::new, |place| format!(" ({place})"))
                )
            }
        }
    }
    let mut diagnostic = json!({"range": range, "severity": severity, "source": DIAGNOSTIC_SOURCE, "message": text});
    if let Some(code) = message["code"].as_str() {
        diagnostic["code"] = json!(code);
    }
    if !related.is_empty() {
        diagnostic["relatedInformation"] = Value::Array(related);
    }
    Some(diagnostic)
}

/// Returns the range of a location in the document; `None` for a location elsewhere.
fn convert_range(place: &Value, document: &Document) -> Option<Value> {
    if place["file"].as_str() != Some(STDIN_NAME) {
        return None;
    }
    let number = |name: &str| place[name].as_u64().and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
    let Some(line) = number("line") else { return Some(trimmed_line_range(document.line(0)?)) };
    let line = document.line(line)?;
    let start = number("column").unwrap_or(0).min(line.1.len());
    let start = (0..=start).rev().find(|byte| line.1.is_char_boundary(*byte))?;
    Some(range_to_json(line, start..token_end(line.1, start)))
}

/// Returns the end of the token that begins at byte `start` of a line.
fn token_end(line: &str, start: usize) -> usize {
    let token = &line[start..];
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '$' | '-');
    let length = match token.chars().next() {
        None => 0,
        Some('"') => token[1..].find('"').map_or(token.len(), |end| end + 2),
        Some(first) => {
            let rest = &token[first.len_utf8()..];
            let is_begin = is_word(first) || matches!(first, '%' | '@' | '#' | '!' | '^');
            first.len_utf8() + if is_begin { rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()) } else { 0 }
        }
    };
    start + length
}

/// Formats a location in another file, such as a Python program.
fn format_location(place: &Value) -> Option<String> {
    let file = place["file"].as_str().filter(|file| *file != STDIN_NAME)?;
    Some(match (place["line"].as_u64(), place["column"].as_u64()) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        _ => file.to_owned(),
    })
}

/// Returns the range of the line whose op has this location in another file: `loc("model.py":3:1)`, or an alias of it.
fn find_line_of_location(place: &Value, document: &Document) -> Option<Value> {
    let (file, line, column) = (place["file"].as_str()?, place["line"].as_u64()?, place["column"].as_u64()?);
    let spelled = format!("\"{file}\":{line}:{column}");
    let found = |text: &str| document.lines().position(|line| line.contains(text) && !line.starts_with('#'));
    let alias = || {
        let definition = document.lines().find(|line| line.starts_with('#') && line.contains(&spelled))?;
        found(&format!("loc({})", definition.split([' ', '=']).next()?))
    };
    document.line(found(&spelled).or_else(alias)?).map(trimmed_line_range)
}

/// Returns the range of a line without the blanks around its text.
fn trimmed_line_range(line: (usize, &str)) -> Value {
    let start = line.1.len() - line.1.trim_start().len();
    range_to_json(line, start..line.1.trim_end().len().max(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document { version: 1, text: text.to_owned() }
    }

    fn read(message: &Value, text: &str) -> Value {
        read_messages(&message.to_string(), ("file:///a.mlir", &document(text))).remove(0)
    }

    fn span(line: usize, start: usize, end: usize) -> Value {
        json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
    }

    #[test]
    fn converts_severity_code_and_token_of_message() {
        let text = "module {\n  /*é*/ %0 = spyre.reduce sum(%x)\n}";
        let message = json!({"severity": "warning", "code": "SPY0405", "file": STDIN_NAME, "line": 2, "column": 15, "message": "m", "notes": []});
        let expected = json!({"range": span(1, 13, 25), "severity": 2, "code": "SPY0405", "source": DIAGNOSTIC_SOURCE, "message": "m"});
        assert_eq!(read(&message, text), expected);
        let remark = json!({"severity": "remark", "code": null, "file": STDIN_NAME, "line": 2, "column": 10, "message": "r", "notes": []});
        assert_eq!(
            read(&remark, text),
            json!({"range": span(1, 8, 10), "severity": 3, "source": DIAGNOSTIC_SOURCE, "message": "r"})
        );
    }

    #[test]
    fn relates_notes_and_callers_in_document_and_appends_others() {
        let place = |file: &str, line: u64| json!({"severity": "note", "file": file, "line": line, "column": 1, "message": "'A' comes from here"});
        let message = json!({"severity": "error", "file": STDIN_NAME, "line": 1, "column": 1, "message": "m",
                             "called_from": [{"file": STDIN_NAME, "line": 2, "column": 1}], "notes": [place(STDIN_NAME, 2), place("m.py", 7)]});
        let found = read(&message, "first\nsecond");
        assert_eq!(found["message"], "m\n'A' comes from here (m.py:7:1)");
        let related =
            |said: &str| json!({"location": {"uri": "file:///a.mlir", "range": span(1, 0, 6)}, "message": said});
        assert_eq!(found["relatedInformation"], json!([related("called from here"), related("'A' comes from here")]));
    }

    #[test]
    fn finds_op_by_its_python_location() {
        let message = json!({"severity": "error", "file": "m.py", "line": 3, "column": 1, "message": "m", "notes": []});
        let at = |text: &str| {
            let found = read(&message, text);
            assert_eq!(found["message"], "m (m.py:3:1)");
            found["range"].clone()
        };
        assert_eq!(at("a\n  op loc(\"m.py\":3:1)"), span(1, 2, 20));
        assert_eq!(at("#loc3 = loc(\"m.py\":3:1)\n  op loc(#loc3)\n"), span(1, 2, 15));
        assert_eq!(at("a b\nc"), span(0, 0, 3));
    }

    #[test]
    fn reports_messages_without_location_at_first_line_and_skips_other_output() {
        let output = "PLEASE submit a bug report\n{\"severity\":\"error\",\"file\":null,\"line\":null,\"message\":\"--cores: no\"}\n{}\n";
        let found = read_messages(output, ("u", &document("a b")));
        assert_eq!(
            found,
            [json!({"range": span(0, 0, 3), "severity": 1, "source": DIAGNOSTIC_SOURCE, "message": "--cores: no"})]
        );
        let beyond = json!({"severity": "error", "file": STDIN_NAME, "line": 9, "column": 9, "message": "m"});
        assert_eq!(read(&beyond, "a b")["range"], span(0, 0, 3));
    }

    #[test]
    fn finds_end_of_token() {
        let ends = ["%arg0: f", "\"spyre.reduce\"(%0)", "\"open", "é", "", "(x", "@main-2(", "->"]
            .map(|text| token_end(text, 0));
        assert_eq!(ends, [5, 14, 5, 2, 0, 1, 7, 1]);
    }

    #[test]
    fn removes_duplicate_messages() {
        let at = |line: usize, text: &str| json!({"range": span(line, 0, 1), "message": text});
        let (parser, compiler) = ([at(0, "a")], [at(0, "a"), at(1, "a"), at(1, "a"), at(1, "b")]);
        assert_eq!(merge_diagnostics(&parser, &compiler), [at(0, "a"), at(1, "a"), at(1, "b")]);
        assert!(has_error(&parser) && !has_error(&[json!({"severity": 2})]));
    }

    #[test]
    fn skips_split_tests_and_lowered_programs() {
        for text in [
            "",
            " \n",
            "func.func @f()\n// -----\nfunc.func @g()",
            "sdsc.program @p {",
            "func.func @b(%x: !sdscbundle.input_arg<index>)",
        ] {
            assert!(!is_program(&document(text)), "{text}");
        }
        assert!(is_program(&document("func.func @f() // -----")));
    }
}
