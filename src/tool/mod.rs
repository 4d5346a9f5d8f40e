//! The command-line tools, and what they share: exit codes, messages, and writing without half-written files.

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

/// A tool's `main`: reads the words by `command`, runs, and gives the exit code: 0 on success, 1 on a mistake of the
/// user's, 2 on a bug of ours.
///
/// An empty message stands for errors that MLIR has reported already.
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
            // As below, help that cannot be printed is no mistake of the user's.
            let _ = print_text(&help::render_full_page(&command));
            return 0;
        }
        Err(error) => return report_usage_error(Reporter::from_words(name, &words), &error, &command, &words),
    };
    let speaker = speaker(&arguments);
    // Sessions end in the thread that they are made in.
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

/// Help and version are what was asked for. A wrong command line is the user's mistake like any other: exit 1, where
/// clap would say 2.
fn report_usage_error(speaker: Reporter, error: &clap::Error, command: &Command, words: &[OsString]) -> u8 {
    if !error.use_stderr() {
        let _ = error.print();
        return 0;
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    // The standard library's message does not say which numbers are valid.
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

/// Returns the advice for a word after the input, which is often meant as the output directory.
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

/// Only passes find compiler bugs.
#[cfg(not(feature = "mlir"))]
const fn tool_found_bug() -> bool {
    false
}

/// The stack of a tool. Text nests at most as deep as `dialects/bridge/Input.h` says, for which this is enough; what
/// the system gives the first thread depends on the user's settings.
pub const STACK_BYTES: usize = 256 << 20;

/// Runs on a stack of [`STACK_BYTES`], of which only what is used takes memory.
pub fn run_on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        // Names the thread in messages of a panic as the first one has it.
        let thread =
            std::thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, run);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => std::panic::panic_any(format!("cannot start a thread: {error}")),
        }
    })
}

/// Prints; a reader that has gone away, as in `| head`, is no error.
///
/// # Errors
/// The system's reason.
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

/// Returns the name of a file or a directory for a progress line, without its folder.
fn display_name(path: &str) -> &str {
    match path {
        "-" => "standard input",
        path => Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path),
    }
}

/// Writes a file as a whole or not at all; `-` is standard output. What is no file, as `/dev/null` or a pipe, is
/// written to and stays what it is.
///
/// # Errors
/// The file and the system's reason.
pub fn write_file(path: &str, content: impl AsRef<[u8]>) -> Result<(), String> {
    let content = content.as_ref();
    if path == "-" {
        return print_bytes(content);
    }
    let write = || match fs::canonicalize(path) {
        Ok(place) if !place.is_file() => fs::write(place, content),
        // Behind a link is the file that is meant.
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

/// A temporary file is the user's alone; what a tool writes has the rights of any other file.
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
