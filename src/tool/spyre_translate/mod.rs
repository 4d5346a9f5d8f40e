//! `spyre-translate`: translates between the compiler's IR and files.

use crate::{
    codes,
    sdsc::find_violations,
    tool::{self, MessageArguments, MessageFormat, Reporter, help::add_help_options, reporter::MESSAGES},
};
use clap::{ArgGroup, Command, CommandFactory, Parser, ValueEnum};
use sdsc_check::{Profile, UnknownProfileError};
use std::{ffi::OsString, path::Path};

#[cfg(feature = "mlir")]
mod ir;

/// Translate between IR and bundle files
#[derive(Parser)]
#[command(name = "spyre-translate")]
#[command(group = ArgGroup::new("mode").required(true))]
struct TranslateArguments {
    /// Translate op specs in JSON (torch-spyre's OpSpec and LoopSpec) to sdsc IR
    #[arg(long, group = "mode", help_heading = MODES)]
    opspec_to_mlir: bool,
    /// Write sdsc or sdscbundle IR as a bundle; requires -o DIR
    #[arg(long, group = "mode", help_heading = MODES)]
    mlir_to_bundle: bool,
    /// Read a bundle directory as sdsc IR
    #[arg(long, group = "mode", help_heading = MODES)]
    bundle_to_mlir: bool,
    /// Check a bundle directory against the rules of the format, and print each violation
    #[arg(long, group = "mode", conflicts_with = "output", help_heading = MODES)]
    check_bundle: bool,
    /// Input file or bundle directory; '-' reads standard input
    input: String,
    /// File or directory to write [default: standard output for IR]
    #[arg(short = 'o', value_name = "OUTPUT", help_heading = "Output")]
    output: Option<String>,
    /// Format of messages (text, json), or of bundle files (such as 1.0). Repeatable
    #[arg(long = "format", value_name = "FORMAT", value_parser = format_choice, help_heading = MESSAGES)]
    formats: Vec<FormatChoice>,
}

/// Value of `--format`: a message format or a profile of the files.
#[derive(Clone, Copy)]
enum FormatChoice {
    Diagnostics(MessageFormat),
    Files(Profile),
}

fn format_choice(name: &str) -> Result<FormatChoice, String> {
    let diagnostics = <MessageFormat as ValueEnum>::from_str(name, false).map(FormatChoice::Diagnostics);
    diagnostics.or_else(|_| {
        name.parse()
            .map(FormatChoice::Files)
            .map_err(|error: UnknownProfileError| format!("{error}, or 'text' or 'json'"))
    })
}

impl TranslateArguments {
    fn message_arguments(&self) -> MessageArguments {
        let format = self.formats.iter().rev().find_map(|choice| match choice {
            FormatChoice::Diagnostics(format) => Some(*format),
            FormatChoice::Files(_) => None,
        });
        MessageArguments { format: format.unwrap_or_default() }
    }

    /// Returns the profile of the files that are checked or written.
    fn profile(&self) -> Result<Profile, String> {
        let mut profiles = self.formats.iter().filter_map(|choice| match choice {
            FormatChoice::Files(profile) => Some(*profile),
            FormatChoice::Diagnostics(_) => None,
        });
        match (profiles.next(), profiles.next()) {
            (Some(_), _) if !self.check_bundle && !self.mlir_to_bundle => Err(codes::NO_EFFECT.format(
                "'--format' names a form of the files, which '--check-bundle' checks and '--mlir-to-bundle' writes; add \
                 one of them",
            )),
            (Some(_), Some(_)) => Err(codes::OPTION_TWICE.format("'--format' names two forms of the files; give one")),
            (profile, _) => Ok(profile.unwrap_or_default()),
        }
    }
}

/// Heading of the modes in `--help`.
const MODES: &str = "Modes, exactly one";

/// Options that `--help` shows; at most ten.
const COMMON_OPTIONS: [&str; 5] = ["opspec_to_mlir", "mlir_to_bundle", "bundle_to_mlir", "check_bundle", "output"];

/// Runs the tool with the words of its command line, the first of which is its own name. Returns the exit code.
#[must_use]
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let speaker = |arguments: &TranslateArguments| Reporter::new("spyre-translate", arguments.message_arguments());
    tool::main("spyre-translate", command(), words, speaker, run)
}

/// Returns the clap command of the tool.
pub(super) fn command() -> Command {
    add_help_options(TranslateArguments::command(), &COMMON_OPTIONS)
}

fn run(arguments: &TranslateArguments, speaker: Reporter) -> Result<(), String> {
    let profile = arguments.profile()?;
    if arguments.check_bundle {
        return check_bundle(&arguments.input, profile);
    }
    ir::translate(arguments, profile, speaker)
}

#[cfg(not(feature = "mlir"))]
mod ir {
    /// Rejects all modes that need IR, because this build has no MLIR.
    pub(crate) fn translate(_: &super::TranslateArguments, _: super::Profile, _: super::Reporter) -> Result<(), String> {
        let can =
            "this spyre-translate was built without MLIR and only checks bundles; build it with the default features";
        Err(crate::codes::WITHOUT_MLIR.format(format_args!("there is no IR to translate from or to: {can}")))
    }
}

/// Checks a bundle, and prints its violations on standard output, because they are the result.
fn check_bundle(directory: &str, profile: Profile) -> Result<(), String> {
    let violations = find_violations(Path::new(directory), profile)?;
    for violation in &violations {
        tool::print_text(&format!("{violation}\n"))?;
    }
    match violations.len() {
        0 => Ok(()),
        1 => Err(codes::FORMAT_RULE
            .format(format_args!("'{directory}' breaks a rule of the format; see docs/reference/bundle-format.md"))),
        count => Err(codes::FORMAT_RULE.format(format_args!(
            "'{directory}' breaks rules of the format in {count} places; see docs/reference/bundle-format.md"
        ))),
    }
}
