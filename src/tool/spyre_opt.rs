//! `spyre-opt`: MLIR's opt driver with the dialects and passes of this compiler.

use super::{
    help::{DriverOption, add_help_options, build_driver_argument, handle_driver_help},
    reporter::MESSAGES,
    run_on_large_stack,
};
use crate::{
    mlir::run_opt_driver,
    pipeline::{HOOKS, PASSES, pass_summary},
    validate::ValidationObserver,
};
use clap::{Arg, Command};
use std::ffi::OsString;

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> i32 {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(words) = handle_driver_help(command(), words) else { return 0 };
    let observer = ValidationObserver::default();
    run_on_large_stack(|| run_opt_driver(&HOOKS, &|pass, event| observer.observe(pass, event), words.into_iter()))
}

/// Headings of the options in `--help`.
const PIPELINE: &str = "Pipeline";
const OUTPUT: &str = "Output";
const VERIFICATION: &str = "Verification";

/// Options that `--help-all` shows before those of MLIR.
const OPTIONS: [DriverOption; 12] = [
    (
        "spyre-compile",
        "OPTIONS",
        "Run the pipeline of spyre-compile, such as --spyre-compile=\"compile-to=lx tiles=M=4\"",
        PIPELINE,
    ),
    ("pass-pipeline", "PIPELINE", "Run a textual pipeline, such as 'builtin.module(spyre-check-input)'", PIPELINE),
    ("split-input-file", "", "Process the chunks between '// -----' lines separately", PIPELINE),
    ("mlir-print-ir-after-all", "", "Print IR after each pass", OUTPUT),
    ("mlir-timing", "", "Print the time of each pass", OUTPUT),
    ("emit-bytecode", "", "Write bytecode instead of text", OUTPUT),
    (
        "spyre-validate-each",
        "",
        "Compare functions before and after each pass, over a finite field; reject a difference",
        VERIFICATION,
    ),
    ("verify-diagnostics", "", "Compare diagnostics with 'expected-error' comments", VERIFICATION),
    ("remarks-filter", "REGEX", "Print remarks of these categories: spyre-{lx,work,layout,tiles,kernels}", MESSAGES),
    ("remarks-output-file", "FILE.yaml", "Write remarks to a file", MESSAGES),
    ("remark-format", "FORMAT", "Format of remarks: emitRemark, yaml, bitstream", MESSAGES),
    ("list-passes", "", "Print all registered passes", MESSAGES),
];

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 9] = [
    "spyre-compile",
    "pass-pipeline",
    "split-input-file",
    "output",
    "mlir-print-ir-after-all",
    "mlir-timing",
    "spyre-validate-each",
    "verify-diagnostics",
    "remarks-filter",
];

/// Returns the clap command, which documents the driver's options.
pub(super) fn command() -> Command {
    let options = OPTIONS.iter().map(build_driver_argument);
    let output = Arg::new("output")
        .short('o')
        .value_name("FILE")
        .help("Output file [default: standard output]")
        .help_heading(OUTPUT);
    let input =
        Arg::new("input").value_name("INPUT").help("Input module, MLIR text or bytecode [default: standard input]");
    let command = Command::new("spyre-opt")
        .about("Run passes on a module: mlir-opt with the dialects and passes of this compiler");
    let command = add_help_options(command.arg(input).args(options).arg(output), &COMMON_OPTIONS);
    let notes = [command.get_after_help(), command.get_after_long_help()].map(|note| note.cloned().unwrap_or_default());
    let [short, long] = notes.map(|note| format!("{}\n{note}", list_passes()));
    command.after_help(short).after_long_help(long)
}

/// Lists the passes of this compiler, in the order of the pipeline.
fn list_passes() -> String {
    let width = PASSES.iter().map(|pass| pass.argument.len()).max().unwrap_or_default();
    let line = |argument: &str| format!("      --{argument:width$}  {}\n", pass_summary(argument).unwrap_or_default());
    let lines: String = PASSES.iter().map(|pass| line(pass.argument)).collect();
    format!("Passes, in the order of the pipeline; docs/reference/generated/passes.md describes them:\n{lines}")
}
