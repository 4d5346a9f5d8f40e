//! `spyre-lsp-server`: MLIR's language server with our dialects, and what only this compiler knows, for editors.

use super::{
    help::{DriverOption, answer_for_driver, driver_option, with_help},
    lsp::{serve_on_standard_streams, words_for_mlir},
    on_large_stack,
    speech::{MESSAGES, Messages, Speaker},
};
use crate::mlir::lsp_server_main;
use clap::Command;
use std::ffi::OsString;

/// Runs the tool with the words of its command line, of which the first is its own name, and gives its exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(words) = answer_for_driver(command(), words) else { return 0 };
    if let Some(words) = words_for_mlir(&words) {
        return on_large_stack(|| lsp_server_main(words.into_iter()));
    }
    serve_on_standard_streams(&words).unwrap_or_else(|message| {
        Speaker::new("spyre-lsp-server", Messages::default()).error(&message);
        1
    })
}

/// Options that `--help` shows.
const OPTIONS: [DriverOption; 3] = [
    ("lit-test", "", "Read requests separated by '// -----', and print indented JSON and all log messages", "Protocol"),
    ("pretty", "", "Indent the JSON of replies", "Protocol"),
    ("log", "LEVEL", "Log messages on standard error: error, info, verbose", MESSAGES),
];

/// Returns the command line as far as its help page shows it.
pub(super) fn command() -> Command {
    let options = OPTIONS.iter().map(driver_option);
    let about = "Language server for MLIR files with the dialects of this compiler; an editor starts it (docs/reference/tools.md)";
    with_help(Command::new("spyre-lsp-server").about(about).args(options), &OPTIONS.map(|(name, ..)| name))
}
