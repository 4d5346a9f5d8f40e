//! `spyre-translate`: between the compiler's IR and files.

use clap::Parser;
use spyre::mlir::{Session, panicked};
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
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A wrong command line is the user's mistake like any other: exit 1, where clap would say 2.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match mlir_to_bundle(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            if !message.is_empty() {
                eprintln!("spyre-translate: error: {message}");
            }
            ExitCode::from(if panicked() { 2 } else { 1 })
        }
    }
}

/// An empty message stands for errors that passes have reported.
fn mlir_to_bundle(arguments: &Arguments) -> Result<(), String> {
    let session = Session::new();
    let source = session.open(&arguments.input).map_err(|reason| format!("cannot read '{}': {reason}", arguments.input))?;
    let module = source.parse().ok_or_else(String::new)?;
    let pipeline = spyre::pipeline::emit_pipeline(&arguments.output);
    if module.run(&pipeline) { Ok(()) } else { Err(String::new()) }
}
