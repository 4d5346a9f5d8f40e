//! `spyre-lsp-server`: MLIR's language server with the dialects and the device knowledge of this compiler.

use super::{
    help::{DriverOption, add_help_options, build_driver_argument, handle_driver_help},
    lsp::{mlir_server_arguments, serve_stdio},
    reporter::{MESSAGES, MessageArguments, Reporter},
    run_on_large_stack,
};
use crate::mlir::run_lsp_server;
use clap::Command;
use std::ffi::OsString;

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(words) = handle_driver_help(command(), words) else { return 0 };
    if let Some(words) = mlir_server_arguments(&words) {
        return run_on_large_stack(|| run_lsp_server(words.into_iter()));
    }
    serve_stdio(&words).unwrap_or_else(|message| {
        Reporter::new("spyre-lsp-server", MessageArguments::default()).error(&message);
        1
    })
}

/// Options that `--help` shows.
const OPTIONS: [DriverOption; 3] = [
    ("lit-test", "", "Read requests separated by '// -----', and print indented JSON and all log messages", "Protocol"),
    ("pretty", "", "Indent the JSON of replies", "Protocol"),
    ("log", "LEVEL", "Log messages on standard error: error, info, verbose", MESSAGES),
];

/// Returns the clap command, which documents the driver's options.
pub(super) fn command() -> Command {
    let options = OPTIONS.iter().map(build_driver_argument);
    let about = "Language server for MLIR files with the dialects of this compiler; an editor starts it (docs/reference/tools.md)";
    add_help_options(Command::new("spyre-lsp-server").about(about).args(options), &OPTIONS.map(|(name, ..)| name))
}
