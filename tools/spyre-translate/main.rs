//! `spyre-translate`: between the compiler's IR and files.

use clap::Parser;
use spyre::{mlir::Session, tool};
use std::process::ExitCode;

/// Translates between IR and bundle files.
#[derive(Parser)]
#[command(name = "spyre-translate", version)]
struct Arguments {
    /// sdsc or sdscbundle IR to files: needs -o DIR
    #[arg(long, required = true)]
    mlir_to_bundle: bool,
    /// The module, as MLIR text or bytecode; `-` reads standard input
    input: String,
    /// The directory to write
    #[arg(short = 'o', value_name = "DIR")]
    output: String,
}

fn main() -> ExitCode {
    tool::main("spyre-translate", mlir_to_bundle)
}

fn mlir_to_bundle(arguments: &Arguments) -> Result<(), String> {
    let session = Session::new();
    let source = session.open(&arguments.input).map_err(|reason| format!("cannot read '{}': {reason}", arguments.input))?;
    let module = source.parse().ok_or_else(String::new)?;
    let pipeline = spyre::pipeline::emit_pipeline(&arguments.output);
    if module.run(&pipeline) { Ok(()) } else { Err(String::new()) }
}
