//! The command-line tools and their shared code: exit codes, messages, and atomic writes of files.

pub mod commands;
#[cfg(feature = "mlir")]
mod diagnostics;
#[cfg(feature = "mlir")]
mod foreign_file;
mod help;
mod lsp;
#[cfg(feature = "manual")]
pub mod manual;
mod output_paths;
#[cfg(feature = "mlir")]
mod pipeline_arguments;
mod progress;
#[cfg(feature = "mlir")]
mod reference_process;
#[cfg(feature = "mlir")]
mod remarks;
#[cfg(feature = "mlir")]
mod report_file;
mod reporter;
#[cfg(feature = "mlir")]
pub mod spyre_compile;
#[cfg(feature = "mlir")]
pub mod spyre_lsp_server;
#[cfg(feature = "mlir")]
pub mod spyre_opt;
pub mod spyre_plan;
#[cfg(feature = "mlir")]
pub mod spyre_reduce;
pub mod spyre_run;
pub mod spyre_translate;
#[cfg(feature = "mlir")]
pub mod spyre_tune;
mod terminal;
#[cfg(feature = "mlir")]
mod tuning;

use crate::codes;
#[cfg(feature = "mlir")]
use crate::mlir::tool_found_bug;
use clap::{
    Command, FromArgMatches,
    error::{ContextKind, ContextValue, ErrorKind},
};
#[cfg(feature = "mlir")]
pub use foreign_file::check_is_mlir;
pub use output_paths::{check_output_directory, check_output_file, find_similar_file, format_read_error};
use output_paths::{describe_io_error, parent_directory};
use progress::ProgressIndicator;
pub use reporter::{
    EXIT_CODES, Message, MessageArguments, MessageFormat, MessageLocation, Reporter, VERSION, Verbosity,
};
use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::Path,
};
use terminal::run_with_line_erased;

/// Runs a tool: parses the words with `command`, calls `run`, and returns the exit code: 0 for success, 1 for an error
/// of the user, 2 for a compiler bug.
///
/// An empty error message means that MLIR has reported the error already.
fn main<Arguments: FromArgMatches + Send + Sync>(
    name: &'static str,
    mut command: Command,
    words: impl IntoIterator<Item = OsString>,
    speaker: impl FnOnce(&Arguments) -> Reporter,
    run: impl FnOnce(&Arguments, Reporter) -> Result<(), String> + Send,
) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let matches = command.try_get_matches_from_mut(&words);
    let arguments =
        matches.and_then(|matches| Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command)));
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) if error.kind() == ErrorKind::DisplayHelp && help::requests_full_help(&words) => {
            // As below, a failure to print help is no error of the user.
            let _ = print_text(&help::render_full_page(&command));
            return 0;
        }
        Err(error) => return report_usage_error(Reporter::from_words(name, &words), &error, &command, &words),
    };
    let speaker = speaker(&arguments);
    // MLIR sessions are created and destroyed in this one thread.
    match run_on_large_stack(|| run(&arguments, speaker).map_err(|message| (message, tool_found_bug()))) {
        Ok(()) => 0,
        Err((message, found_bug)) => {
            if !message.is_empty() {
                speaker.error(&message);
            }
            if found_bug { 2 } else { 1 }
        }
    }
}

/// Prints help, version or a usage error, and returns the exit code. The code of a usage error is 1, as of other user
/// errors (clap would use 2).
fn report_usage_error(speaker: Reporter, error: &clap::Error, command: &Command, words: &[OsString]) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    // The standard library's message does not state which numbers are valid.
    let text =
        text.replace("invalid digit found in string", "expected a whole number without a unit; give one such as 4096");
    let advice = if error.kind() == ErrorKind::ArgumentConflict {
        "\n\n  tip: leave one of them out".to_owned()
    } else {
        stray_word_advice(error, command, words).map_or_else(String::new, |advice| format!("\n\n  tip: {advice}"))
    };
    speaker.error(&codes::USAGE.add_if_missing(&text.replacen("\n\nUsage", &format!("{advice}\n\nUsage"), 1)));
    1
}

/// Returns advice on a surplus word after the input, which is often meant as the output directory.
fn stray_word_advice(error: &clap::Error, command: &Command, words: &[OsString]) -> Option<String> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    let has_output = command.get_arguments().any(|argument| argument.get_short() == Some('o'));
    let is_output_given = words.iter().any(|given| given == "-o");
    Some(if has_output && !is_output_given {
        format!("expected one input; name the output with '-o {word}'")
    } else {
        format!("expected one input; run {} once for each", command.get_name())
    })
}

/// Returns whether the tool found a compiler bug. Only passes find bugs, so without MLIR there are none.
#[cfg(not(feature = "mlir"))]
const fn tool_found_bug() -> bool {
    false
}

/// Stack size of a tool, in bytes. It suffices for the maximum nesting of text that `dialects/bridge/Input.h` permits.
/// The stack of the first thread depends on the user's settings.
pub const STACK_BYTES: usize = 256 << 20;

/// Runs `run` on a stack of [`STACK_BYTES`]; only used pages take memory.
pub fn run_on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        // Panic messages name the thread as they name the first thread.
        let thread =
            std::thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => std::panic::panic_any(format!("cannot start a thread: {error}")),
        }
    })
}

/// Returns the paths of the files below a folder, relative to it and sorted.
///
/// # Errors
/// Returns the I/O error.
pub fn list_files(folder: &Path) -> io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            files.extend(list_files(&entry.path())?.into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

/// Prints text on standard output. A closed pipe, as in `| head`, is no error.
///
/// # Errors
/// Returns the I/O error.
pub fn print_text(text: &str) -> Result<(), String> {
    print_bytes(text.as_bytes())
}

fn print_bytes(content: &[u8]) -> Result<(), String> {
    match run_with_line_erased(|| io::stdout().write_all(content)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(codes::SYSTEM.format(format_args!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}

/// Returns the last component of a path, for a progress line.
fn display_name(path: &str) -> &str {
    match path {
        "-" => "standard input",
        path => Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path),
    }
}

/// Writes a file completely or not at all; `-` is standard output. Devices and pipes, such as `/dev/null`, are written
/// to and not replaced.
///
/// # Errors
/// Returns the path and the I/O error.
pub fn write_file(path: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
    let content = content.as_ref();
    if path == "-" {
        return print_bytes(content);
    }
    let write = || match fs::canonicalize(path) {
        Ok(place) if !place.is_file() => fs::write(place, content),
        // A symbolic link stays: its target is replaced.
        Ok(file) => replace_file(&file, content),
        Err(_) => replace_file(Path::new(path), content),
    };
    write().map_err(|error| {
        codes::OUTPUT_WRITE.format(format_args!("cannot write '{path}': {}", describe_io_error(&error)))
    })
}

fn replace_file(target: &Path, content: &[u8]) -> io::Result<()> {
    let mut fresh = new_file(parent_directory(target))?;
    fresh.write_all(content)?;
    fresh.persist(target)?;
    Ok(())
}

/// Creates a temporary file with the permissions of ordinary files. By default, only the user could read it.
#[cfg(unix)]
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

#[cfg(not(unix))]
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    #[test]
    fn writes_to_pipe_without_replacing_it() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_file(pipe.to_str().unwrap(), "text").unwrap();
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), "text");
    }

    #[test]
    fn writes_through_symbolic_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(link.to_str().unwrap(), "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn creates_files_with_default_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
        write_file(ours.to_str().unwrap(), "text").unwrap();
        fs::write(&other, "text").unwrap();
        let rights = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(rights(&ours), rights(&other));
    }
}
