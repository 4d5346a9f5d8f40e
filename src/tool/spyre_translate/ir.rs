//! Modes of `spyre-translate` that read or write IR.

use super::{super::diagnostics::install_handler, TranslateArguments};
use crate::{
    codes, pipeline,
    tool::{self, Reporter},
    translate::{bundle_to_mlir, mlir_to_bundle, opspec_to_mlir},
};
use files::{MAX_TEXT_BYTES, read_stream, read_text};
use sdsc_check::Profile;
use std::{io, path::Path};

/// Runs the selected mode. Files are written in the form of the profile.
pub(crate) fn translate(arguments: &TranslateArguments, profile: Profile, reporter: Reporter) -> Result<(), String> {
    let session = pipeline::create_session();
    if arguments.opspec_to_mlir {
        let text = read_input(&arguments.input)?;
        let ir = opspec_to_mlir(&session, &text)
            .map_err(|message| codes::SIM_FILES.add_if_missing(&format!("'{}': {message}", arguments.input)))?;
        return tool::write_file(arguments.output.as_deref().unwrap_or("-"), &ir);
    }
    if arguments.bundle_to_mlir {
        let ir = bundle_to_mlir(&session, Path::new(&arguments.input))?;
        return tool::write_file(arguments.output.as_deref().unwrap_or("-"), &ir);
    }
    let output = arguments
        .output
        .as_deref()
        .ok_or_else(|| codes::OUTPUT_MISSING.format("missing output directory; add -o DIR"))?;
    crate::tool::check_output_directory(output)?;
    let input = &arguments.input;
    let source = session
        .open_source(input)
        .map_err(|reason| codes::INPUT_READ.format(format_args!("cannot read '{input}': {reason}")))?;
    install_handler(&session, reporter);
    mlir_to_bundle(&source, output, profile)
}

fn read_input(path: &str) -> Result<String, String> {
    let text =
        if path == "-" { read_stream(io::stdin(), MAX_TEXT_BYTES) } else { read_text(Path::new(path), MAX_TEXT_BYTES) };
    text.map_err(|error| codes::INPUT_READ.format(format_args!("cannot read '{path}': {error}")))
}
