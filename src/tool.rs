//! What the command-line tools share: exit codes, messages, and writing without half-written files.

use crate::mlir::found_bug;
use clap::Parser;
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

/// A tool's `main`: reads the arguments and runs. Exit 0 on success, 1 on a mistake of the user's, 2 on a bug of ours.
///
/// An empty message stands for errors that MLIR has reported already.
pub fn main<Arguments: Parser>(name: &str, run: impl FnOnce(&Arguments) -> Result<(), String>) -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A wrong command line is the user's mistake like any other: exit 1, where clap would say 2.
            let _ = error.print();
            return ExitCode::from(u8::from(error.use_stderr()));
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            if !message.is_empty() {
                let _ = writeln!(io::stderr(), "{name}: error: {message}");
            }
            ExitCode::from(if found_bug() { 2 } else { 1 })
        }
    }
}

/// Prints; a reader that has gone away, as in `| head`, is no error.
///
/// # Errors
/// The system's reason.
pub fn say(text: &str) -> Result<(), String> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot print: {error}")),
        _ => Ok(()),
    }
}

/// Writes a file as a whole or not at all; `-` is standard output.
///
/// # Errors
/// The file and the system's reason.
pub fn write_file(path: &str, text: &str) -> Result<(), String> {
    if path == "-" {
        return say(text);
    }
    let target = Path::new(path);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> io::Result<()> {
        let mut fresh = tempfile::NamedTempFile::new_in(folder)?;
        fresh.write_all(text.as_bytes())?;
        fresh.persist(target)?;
        Ok(())
    };
    write().map_err(|error| format!("cannot write '{path}': {error}"))
}
