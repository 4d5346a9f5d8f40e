//! Start of a session on the standard streams.

use super::{
    compiler::CompilerProcess,
    frames::Style,
    proxy::{Streams, serve},
};
use crate::tool::places::program_beside;
use std::{
    io,
    process::{Child, Command, Stdio},
};

/// Name of the tool.
const NAME: &str = "spyre-lsp-server";

/// Word that makes the tool MLIR's own server, without the proxy.
pub(in crate::tool) const MLIR_ONLY: &str = "--mlir-only";

/// Words that ask for MLIR's own server: its tests have no headers, and its help is no session.
const OF_MLIR: [&str; 5] = ["--lit-test", "-lit-test", "--help", "--help-hidden", "--help-list"];

/// Returns the words for MLIR's server, if a command line asks for it alone.
pub(in crate::tool) fn words_for_mlir(words: &[String]) -> Option<Vec<String>> {
    match words {
        [name, first, rest @ ..] if first == MLIR_ONLY => Some([std::slice::from_ref(name), rest].concat()),
        _ => words.iter().skip(1).any(|word| OF_MLIR.contains(&word.as_str())).then(|| words.to_vec()),
    }
}

/// Serves the editor on the standard streams, with MLIR's server in a process of its own. Returns the exit code of that
/// process, which gets the words of the command line.
///
/// # Errors
/// The reason why the process cannot be started, or the session cannot go on.
pub(in crate::tool) fn serve_on_standard_streams(words: &[String]) -> Result<i32, String> {
    let program = program_beside(NAME).ok_or_else(|| format!("expected '{NAME}' in the directory of this tool, found none; install it"))?;
    let mut command = Command::new(&program);
    command.arg(MLIR_ONLY).args(words.iter().skip(1)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("cannot run '{}': {error}", program.display()))?;
    let style = if words.iter().any(|word| word == "--pretty" || word == "-pretty") { Style::Pretty } else { Style::Compact };
    attend(child, |server| serve(Streams { input: io::stdin(), output: io::stdout() }, server, &mut CompilerProcess::find(), style))
}

/// Streams of a child process.
type ChildStreams = Streams<std::process::ChildStdout, std::process::ChildStdin>;

/// Runs a session with the streams of a process, and waits for its end. A process whose session failed is killed.
fn attend(mut child: Child, session: impl FnOnce(ChildStreams) -> Result<(), String>) -> Result<i32, String> {
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err("MLIR's server has no streams".to_owned());
    };
    let result = session(Streams { input, output });
    if result.is_err() {
        // One that has ended cannot be killed, and need not.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| format!("cannot wait for MLIR's server: {error}"))?;
    result?;
    status.code().ok_or_else(|| format!("MLIR's server ended with {status}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn tests_and_help_of_mlir_are_without_the_proxy() {
        assert_eq!(words_for_mlir(&words("tool --mlir-only --log=verbose")), Some(words("tool --log=verbose")));
        assert_eq!(words_for_mlir(&words("tool --pretty --lit-test")), Some(words("tool --pretty --lit-test")));
        assert_eq!(words_for_mlir(&words("tool --help")), Some(words("tool --help")));
        assert_eq!((words_for_mlir(&words("tool")), words_for_mlir(&words("tool --log=info --mlir-only"))), (None, None));
    }

    #[cfg(unix)]
    fn child(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn the_exit_code_is_that_of_the_process() {
        let read_all = |mut streams: ChildStreams| {
            drop(streams.output);
            let mut text = String::new();
            streams.input.read_to_string(&mut text).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(attend(child("cat; exit 3"), read_all), Ok(3));
        assert!(attend(child("kill -9 $$"), read_all).unwrap_err().contains("signal: 9"));
    }

    #[cfg(unix)]
    #[test]
    fn a_session_that_fails_ends_the_process() {
        assert_eq!(attend(child("exec sleep 100"), |_| Err("no".to_owned())), Err("no".to_owned()));
    }
}
