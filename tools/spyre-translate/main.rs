//! `spyre-translate`: between the compiler's IR and files.

use clap::{ArgGroup, Parser};
use files::{MAX_TEXT_BYTES, read_stream, read_text};
use spyre::{
    tool,
    translate::{broken_rules, bundle_to_mlir, mlir_to_bundle, opspec_to_mlir},
};
use std::{io, path::Path, process::ExitCode};

/// Translates between IR and bundle files.
#[derive(Parser)]
#[command(name = "spyre-translate", version)]
#[command(group = ArgGroup::new("mode").required(true))]
struct Arguments {
    /// Op specs in JSON (the level of torch-spyre's OpSpec and LoopSpec) to the sdsc dialect
    #[arg(long, group = "mode")]
    opspec_to_mlir: bool,
    /// sdsc or sdscbundle IR to files: needs -o DIR
    #[arg(long, group = "mode")]
    mlir_to_bundle: bool,
    /// The files of a bundle directory back to sdsc IR
    #[arg(long, group = "mode")]
    bundle_to_mlir: bool,
    /// Check a bundle directory against every rule of the format, and print each violation
    #[arg(long, group = "mode", conflicts_with = "output")]
    check_bundle: bool,
    /// The input: a file, where `-` reads standard input, or a directory
    input: String,
    /// The file or directory to write; IR goes to standard output without it
    #[arg(short = 'o', value_name = "OUTPUT")]
    output: Option<String>,
}

fn main() -> ExitCode {
    tool::main("spyre-translate", run)
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if arguments.check_bundle {
        return check_bundle(&arguments.input);
    }
    let session = spyre::pipeline::session();
    if arguments.opspec_to_mlir {
        let text = read(&arguments.input)?;
        let ir = opspec_to_mlir(&session, &text).map_err(|message| format!("'{}': {message}", arguments.input))?;
        return tool::write_file(arguments.output.as_deref().unwrap_or("-"), &ir);
    }
    if arguments.bundle_to_mlir {
        let ir = bundle_to_mlir(&session, Path::new(&arguments.input))?;
        return tool::write_file(arguments.output.as_deref().unwrap_or("-"), &ir);
    }
    let output = arguments.output.as_deref().ok_or("-o DIR is missing: where should the bundle go?")?;
    mlir_to_bundle(&session, &arguments.input, output)
}

/// Violations are the result, so they go to standard output.
fn check_bundle(directory: &str) -> Result<(), String> {
    let violations = broken_rules(Path::new(directory))?;
    for violation in &violations {
        tool::say(&format!("{violation}\n"))?;
    }
    match violations.len() {
        0 => Ok(()),
        1 => Err(format!("'{directory}' breaks a rule of the format, see docs/sdsc-format.md")),
        count => Err(format!("'{directory}' breaks rules of the format in {count} places, see docs/sdsc-format.md")),
    }
}

fn read(path: &str) -> Result<String, String> {
    let text = if path == "-" { read_stream(io::stdin(), MAX_TEXT_BYTES) } else { read_text(Path::new(path), MAX_TEXT_BYTES) };
    text.map_err(|error| format!("cannot read '{path}': {error}"))
}
