//! `spyre-translate`: between the compiler's IR and files.

use clap::{ArgGroup, Parser};
use spyre::{
    mlir::Session,
    tool,
    translate::{mlir_to_bundle, opspec_to_mlir},
};
use std::{fs, io::Read, process::ExitCode};

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
    /// The input; `-` reads standard input
    input: String,
    /// The file or directory to write; IR goes to standard output without it
    #[arg(short = 'o', value_name = "OUTPUT")]
    output: Option<String>,
}

fn main() -> ExitCode {
    tool::main("spyre-translate", run)
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let session = Session::new();
    if arguments.opspec_to_mlir {
        let text = read(&arguments.input)?;
        let ir = opspec_to_mlir(&session, &text).map_err(|message| format!("'{}': {message}", arguments.input))?;
        return tool::write_file(arguments.output.as_deref().unwrap_or("-"), &ir);
    }
    let output = arguments.output.as_deref().ok_or("-o DIR is missing: where should the bundle go?")?;
    mlir_to_bundle(&session, &arguments.input, output)
}

fn read(path: &str) -> Result<String, String> {
    let text = if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    text.map_err(|error| format!("cannot read '{path}': {error}"))
}
