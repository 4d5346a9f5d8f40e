//! `spyre-translate`: between the compiler's IR and files.

use crate::{
    codes,
    sdsc::broken_rules,
    tool::{self, Messages, Speaker},
};
use clap::{ArgGroup, Command, CommandFactory, Parser};
use std::{ffi::OsString, path::Path};

#[cfg(feature = "mlir")]
mod ir;

/// Translates between IR and bundle files.
#[derive(Parser)]
#[command(name = "spyre-translate", version = tool::VERSION, after_help = tool::EXIT_CODES)]
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
    #[command(flatten)]
    messages: Messages,
}

/// Runs the tool with the words of its command line, of which the first is its own name, and gives its exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    tool::main("spyre-translate", words, |arguments: &Arguments| Speaker::new("spyre-translate", arguments.messages), run)
}

/// The command line.
pub(super) fn command() -> Command {
    Arguments::command()
}

fn run(arguments: &Arguments, speaker: Speaker) -> Result<(), String> {
    if arguments.check_bundle {
        return check_bundle(&arguments.input);
    }
    ir::translate(arguments, speaker)
}

#[cfg(not(feature = "mlir"))]
mod ir {
    /// There is no IR in such a build.
    pub(crate) fn translate(_: &super::Arguments, _: super::Speaker) -> Result<(), String> {
        let can = "this spyre-translate was built without MLIR and only checks: 'cargo build' with its default features makes one that can";
        Err(format!("there is no IR to translate from or to: {can}"))
    }
}

/// Violations are the result, so they go to standard output.
fn check_bundle(directory: &str) -> Result<(), String> {
    let violations = broken_rules(Path::new(directory))?;
    for violation in &violations {
        tool::say(&format!("{violation}\n"))?;
    }
    match violations.len() {
        0 => Ok(()),
        1 => Err(codes::FORMAT_RULE.says(format_args!("'{directory}' breaks a rule of the format; see docs/reference/bundle-format.md"))),
        count => Err(codes::FORMAT_RULE
            .says(format_args!("'{directory}' breaks rules of the format in {count} places; see docs/reference/bundle-format.md"))),
    }
}
