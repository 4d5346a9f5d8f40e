//! Messages of a tool: text or JSON, at the requested verbosity.

use super::terminal::run_with_line_erased;
use crate::codes::split_code;
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;
use std::{
    ffi::OsString,
    io::{self, Write},
};

/// Version of every tool: that of the package, the origin of the build, and the MLIR version.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("SPYRE_ORIGIN"), ", ", env!("SPYRE_LLVM"), ")");

/// Last line of every `--help`.
pub const EXIT_CODES: &str = "Exit codes: 0 success, 1 invalid input or options, 2 internal error";

/// Heading in `--help` of the options about what a tool prints.
pub(super) const MESSAGES: &str = "Messages";

/// Formats of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Lines of text
    #[default]
    Text,
    /// One JSON object per line; docs/reference/schemas/message.json describes it
    Json,
}

/// Options of every tool for its messages.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct MessageArguments {
    /// Format of diagnostics: text, json (docs/reference/tools.md)
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t, help_heading = MESSAGES)]
    pub format: MessageFormat,
}

/// Verbosity of a tool.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct Verbosity {
    /// Print errors and requested output only
    #[arg(short, long, conflicts_with = "verbose", help_heading = MESSAGES)]
    pub quiet: bool,
    /// Print each phase with its passes and time, on standard error
    #[arg(short, long, help_heading = MESSAGES)]
    pub verbose: bool,
}

/// Reporter of a tool's messages: tool name, message format and verbosity.
#[derive(Clone, Copy, Debug)]
pub struct Reporter {
    tool: &'static str,
    format: MessageFormat,
    amount: Verbosity,
}

/// Message of a tool on standard error with `--format=json`, in one line.
#[derive(Debug, Default, JsonSchema, Serialize)]
pub struct Message {
    /// `error`, `warning`, `remark` or `note`.
    pub severity: String,
    /// Stable code, such as `SPY0501`, which `spyre-compile --explain` explains; null for messages without a code, such
    /// as notes.
    pub code: Option<String>,
    /// Op that the message is about, such as `linalg.exp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<String>,
    /// Origin of an optimization remark.
    #[serde(flatten)]
    pub origin: Option<RemarkOrigin>,
    /// Location that the message refers to.
    #[serde(flatten)]
    pub place: MessageLocation,
    /// Text of the message.
    pub message: String,
    /// Locations of the enclosing calls, innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub called_from: Vec<MessageLocation>,
    /// Notes that belong to the message.
    pub notes: Vec<Self>,
}

/// Origin of an optimization remark: `--remarks-filter` selects by category.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct RemarkOrigin {
    /// `passed`, `missed`, `analysis` or `failure`.
    pub kind: String,
    /// Category, such as `spyre-lx`.
    pub category: String,
    /// Name of the remark in its category, such as `place`.
    pub name: String,
    /// Function that contains the op.
    pub function: String,
}

impl RemarkOrigin {
    /// Splits a remark, as MLIR prints it, into its origin and its text; `None` for other messages.
    #[must_use]
    pub fn split(message: &str) -> Option<(Self, String)> {
        let (kind, rest) = message.strip_prefix('[')?.split_once("] ")?;
        let (name, rest) = rest.split_once(" | Category:")?;
        let (category, rest) = rest.split_once(" | Function=")?;
        let (function, text) = rest.split_once(" | Remark=\"")?;
        let [kind, category, name, function] =
            [&kind.to_ascii_lowercase(), category, name, function].map(|part| part.trim().to_owned());
        Some((Self { kind, category, name, function }, text.strip_suffix('"')?.to_owned()))
    }
}

/// Location in a file.
#[derive(Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct MessageLocation {
    /// File; null for messages about the command line.
    pub file: Option<String>,
    /// Line, from 1; null for messages about a complete file.
    pub line: Option<i64>,
    /// Column, from 1.
    pub column: Option<i64>,
}

impl Reporter {
    /// Creates a reporter with the default verbosity, which prints no steps.
    #[must_use]
    pub fn new(tool: &'static str, messages: MessageArguments) -> Self {
        Self { tool, format: messages.format, amount: Verbosity::default() }
    }

    /// Returns this reporter with another verbosity.
    #[must_use]
    pub const fn with_verbosity(self, amount: Verbosity) -> Self {
        Self { amount, ..self }
    }

    /// Creates the reporter of a tool whose command line is invalid, with the message format that the words request.
    #[must_use]
    pub fn from_words(tool: &'static str, words: &[OsString]) -> Self {
        Self::new(tool, MessageArguments { format: requested_format(words) })
    }

    /// Prints an error.
    pub fn error(self, message: &str) {
        self.emit("error", message);
    }

    /// Prints a warning, unless the user requests quiet.
    pub fn warning(self, message: &str) {
        if !self.amount.quiet {
            self.emit("warning", message);
        }
    }

    /// Prints a step, if the user requests verbose output.
    pub fn report_step(self, message: &str) {
        if self.amount.verbose {
            self.emit("remark", message);
        }
    }

    /// Prints a summary on standard output, unless the user requests quiet.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub fn print_summary(self, text: &str) -> Result<(), String> {
        if self.amount.quiet { Ok(()) } else { super::print_text(text) }
    }

    pub(super) const fn tool(self) -> &'static str {
        self.tool
    }

    pub(super) fn is_json(self) -> bool {
        self.format == MessageFormat::Json
    }

    /// Returns whether each step is printed.
    pub(super) const fn is_verbose(self) -> bool {
        self.amount.verbose
    }

    /// Returns whether only errors are printed.
    pub(super) const fn is_quiet(self) -> bool {
        self.amount.quiet
    }

    fn emit(self, severity: &str, message: &str) {
        let (code, message) = split_code(message);
        if self.is_json() {
            let (severity, code) = (severity.to_owned(), code.map(|code| code.to_string()));
            return print_line(&Message { severity, code, message, ..Message::default() }.to_json_line());
        }
        let code = code.map_or_else(String::new, |code| format!("[{code}]"));
        let severity = if severity == "remark" { String::new() } else { format!("{severity}{code}: ") };
        print_line(&format!("{}: {severity}{message}", self.tool));
    }
}

impl Message {
    /// Formats the message as one line of JSON.
    pub(super) fn to_json_line(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers are JSON")
    }
}

/// Prints a line on standard error. Ignores failures, because no output is left to report them.
pub(super) fn print_line(line: &str) {
    let _ = run_with_line_erased(|| writeln!(io::stderr(), "{line}"));
}

/// Returns the message format that an otherwise invalid command line requests.
fn requested_format(words: &[OsString]) -> MessageFormat {
    let own = words.iter().map(|word| word.to_string_lossy()).take_while(|word| word != "--").collect::<Vec<_>>();
    let is_asked =
        own.iter().any(|word| word == "--format=json") || own.windows(2).any(|pair| pair == ["--format", "json"]);
    if is_asked { MessageFormat::Json } else { MessageFormat::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_message_format_of_invalid_command_line() {
        let format = |words: &[&str]| requested_format(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(format(&["tool", "--format=json", "--nonsense"]), MessageFormat::Json);
        assert_eq!(format(&["tool", "--nonsense", "--format", "json"]), MessageFormat::Json);
        assert_eq!(format(&["tool", "--format=text", "json"]), MessageFormat::Text);
        assert_eq!(format(&["spyre-reduce", "a.mlir", "--", "spyre-compile", "--format=json"]), MessageFormat::Text);
    }

    #[test]
    fn splits_remark_into_origin_and_text() {
        let (origin, text) = RemarkOrigin::split(
            "[Missed] place | Category:spyre-lx | Function=f | Remark=\"result of 'max' is not \"here\"\"",
        )
        .unwrap();
        assert_eq!(
            [&origin.kind, &origin.category, &origin.name, &origin.function],
            ["missed", "spyre-lx", "place", "f"]
        );
        assert_eq!(text, "result of 'max' is not \"here\"");
        assert_eq!(RemarkOrigin::split("[1, 2] is no shape"), None);
    }

    #[test]
    fn writes_null_location_for_messages_without_one() {
        let message =
            Message { severity: "error".to_owned(), message: "no\n\"file\"".to_owned(), ..Message::default() };
        let line = message.to_json_line();
        assert_eq!(
            line,
            r#"{"severity":"error","code":null,"file":null,"line":null,"column":null,"message":"no\n\"file\"","notes":[]}"#
        );
    }
}
