//! Tests common user errors and the tools' messages: every row of `rows.rs` is run. Its message must name the location,
//! the value, the rule and the fix, and no output may remain. `docs/reference/errors.md` lists the messages;
//! `BLESS=errors cargo test --test compiler -- errors::` writes it.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

#[path = "errors/material.rs"]
pub(crate) mod material;
#[path = "errors/rows.rs"]
pub(crate) mod rows;

use crate::common::{bless, schemas};
use material::InputFolder;
use rows::{ExpectedAnswer, MistakeCase, ROWS};
use serde_json::Value;
use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path, process::Command};

/// Texts that no message may contain: names of temporary files, and types and libraries of the implementation.
const LEAKS: [&str; 13] = [
    ".tmp",
    ".spyre-",
    "os error",
    "at path",
    "Some(",
    "half::",
    "npyz",
    "serde",
    " i64",
    " usize",
    "'builtin.module'",
    ":0:0",
    "<unknown>",
];

/// Exit code and output of one command.
pub(crate) struct CommandOutput {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

/// Runs a command of the table in the folder of its files.
pub(crate) fn run_command(command: &str, folder: &Path) -> CommandOutput {
    let tools = Path::new(env!("CARGO_BIN_EXE_spyre-compile")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    CommandOutput { code: output.status.code(), text }
}

/// Returns every file below a folder, with its contents.
pub(crate) fn read_contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.insert(format!("{name}/"), Vec::new());
            found.extend(read_contents(&path).into_iter().map(|(inner, content)| (format!("{name}/{inner}"), content)));
        } else {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Returns the faults of a command's output; empty if it is as expected.
pub(crate) fn find_faults(row: &MistakeCase, said: &CommandOutput, is_untouched: bool) -> Vec<String> {
    let (code, asked): (i32, Vec<(&str, &str)>) = match &row.answer {
        ExpectedAnswer::Rejected(points) => {
            (1, ["place", "value", "rule", "what to do"].into_iter().zip(*points).collect())
        }
        ExpectedAnswer::Accepted(words) => (0, vec![("what it does", words)]),
    };
    let mut faults = Vec::new();
    if said.code != Some(code) {
        faults.push(format!("exit code {:?} instead of {code}", said.code));
    }
    let missing = asked.into_iter().filter(|(_, words)| !said.text.contains(words));
    faults.extend(missing.map(|(point, words)| format!("{point}: '{words}' is not said")));
    if code == 1 {
        // MLIR's own driver reports the location of a pass in its usual format.
        let is_mlirs =
            |leak: &str| row.command.starts_with("spyre-opt") && ["<unknown>", "'builtin.module'"].contains(&leak);
        faults.extend(
            LEAKS
                .iter()
                .filter(|leak| said.text.contains(**leak) && !is_mlirs(leak))
                .map(|leak| format!("'{leak}' is said")),
        );
        if !is_untouched {
            faults.push("something is left behind".to_owned());
        }
    }
    faults
}

/// Runs a row. Returns the output, and the report of its faults, which is empty if there are none.
pub(crate) fn check_row(row: &MistakeCase, folder: &Path) -> (CommandOutput, String) {
    let before = read_contents(folder);
    let said = run_command(row.command, folder);
    let faults = find_faults(row, &said, read_contents(folder) == before);
    let report = match faults.as_slice() {
        [] => String::new(),
        faults => format!("{}\n  $ {}\n{}  {}\n\n", row.mistake, row.command, said.text, faults.join("\n  ")),
    };
    (said, report)
}

fn first_difference(a: &str, b: &str) -> Option<String> {
    let mut lines = a.lines().zip(b.lines()).zip(1..).filter(|((a, b), _)| a != b);
    let differing = lines.next().map(|((_, b), number)| format!("line {number} should be: {b}"));
    differing.or_else(|| (a.lines().count() != b.lines().count()).then(|| "another number of lines".to_owned()))
}

#[test]
fn answers_every_mistake_with_place_value_rule_and_remedy() {
    let mut wrong = String::new();
    let mut page = material::PAGE_HEAD.to_owned();
    for (number, row) in (1..).zip(ROWS) {
        let (said, report) = check_row(row, InputFolder::new().folder());
        wrong += &report;
        let _ = write!(
            page,
            "\n## {number}. {}\n\n```console\n$ {}\n{}```\n",
            row.mistake,
            row.command,
            rows::excerpt_answer(row, &said.text)
        );
    }
    page += &material::page_end();
    assert!(wrong.is_empty(), "{wrong}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/errors.md");
    if bless::is_blessed("errors") {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = first_difference(&found, &page) {
        panic!(
            "docs/reference/errors.md is out of date, `BLESS=errors cargo test --test compiler -- errors::` writes it: {difference}"
        );
    }
}

/// Tools with JSON output; the others are MLIR drivers.
const JSON_TOOLS: [&str; 4] = ["spyre-compile ", "spyre-run ", "spyre-translate ", "spyre-plan "];

/// Formats JSON messages like the text output.
fn format_messages(messages: &[Value]) -> String {
    let mut text = String::new();
    for message in messages {
        let place = ["file", "line", "column"].map(|part| &message[part]);
        let place: String =
            place.iter().filter(|part| !part.is_null()).map(|part| format!("{part}:").replace('"', "")).collect();
        let _ = writeln!(
            text,
            "{place} {}: {}",
            message["severity"].as_str().unwrap(),
            message["message"].as_str().unwrap()
        );
        text += &format_messages(message["notes"].as_array().unwrap());
    }
    text
}

#[test]
fn answers_every_mistake_in_json_as_in_text() {
    let form = schemas::load_schema("message");
    let mut wrong = String::new();
    let mut n_rows = 0;
    for row in ROWS.iter().filter(|row| JSON_TOOLS.iter().any(|tool| row.command.starts_with(tool))) {
        let ExpectedAnswer::Rejected(points) = &row.answer else { continue };
        let material = InputFolder::new();
        let said = run_command(&format!("{} --format=json", row.command), material.folder());
        let messages: Result<Vec<Value>, _> = said.text.lines().map(serde_json::from_str).collect();
        let Ok(messages) = messages else {
            let _ = writeln!(wrong, "{}: no JSON: {}", row.command, said.text);
            continue;
        };
        // Only text output is prefixed with the name of the tool.
        let tool = format!("{}: error", row.command.split(' ').next().unwrap());
        let text = format!("{tool}\n{}", format_messages(&messages));
        let missing = points.iter().filter(|point| !text.contains(**point)).copied().collect::<Vec<_>>();
        if said.code != Some(1)
            || messages.is_empty()
            || !missing.is_empty()
            || messages.iter().any(|message| !form.is_valid(message))
        {
            let _ = writeln!(wrong, "{}: exit {:?}, without {missing:?}: {}", row.command, said.code, said.text);
        }
        n_rows += 1;
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n_rows > 40, "{n_rows} rows are answered in JSON");
}

#[test]
fn reports_missing_points_leaks_and_leftover_files() {
    let row =
        MistakeCase { mistake: "", command: "", answer: ExpectedAnswer::Rejected(["a.mlir", "7", "at most", "give"]) };
    let said = |code, text: &str| CommandOutput { code: Some(code), text: text.to_owned() };
    assert!(find_faults(&row, &said(1, "a.mlir: 7 is too many, at most 6: give 6"), true).is_empty());
    assert_eq!(find_faults(&row, &said(2, "a.mlir: 7 is Some(7), at most 6: give 6"), false).len(), 3);
    assert_eq!(
        find_faults(&row, &said(1, "a.mlir: 7 is too many, at most 6"), true),
        ["what to do: 'give' is not said"]
    );
}
