//! Start of a session on the standard streams.

use super::{
    compiler::CompilerProcess,
    frames::JsonStyle,
    proxy::{StreamPair, serve},
};
use crate::tool::output_paths::find_sibling_program;
use std::{
    io,
    process::{Child, Command, Stdio},
};

/// Name of the tool.
const SERVER_NAME: &str = "spyre-lsp-server";

/// Option that makes the tool run MLIR's own server, without the proxy.
pub(in crate::tool) const MLIR_ONLY_OPTION: &str = "--mlir-only";

/// Options that also select MLIR's own server: its tests have no headers, and its help needs no session.
const MLIR_SERVER_OPTIONS: [&str; 5] = ["--lit-test", "-lit-test", "--help", "--help-hidden", "--help-list"];

/// Returns the words for MLIR's server, if a command line requests this server alone.
pub(in crate::tool) fn mlir_server_arguments(words: &[String]) -> Option<Vec<String>> {
    match words {
        [name, first, rest @ ..] if first == MLIR_ONLY_OPTION => Some([std::slice::from_ref(name), rest].concat()),
        _ => words.iter().skip(1).any(|word| MLIR_SERVER_OPTIONS.contains(&word.as_str())).then(|| words.to_vec()),
    }
}

/// Serves the editor on the standard streams. MLIR's server runs in a separate process with the words of the command
/// line; returns its exit code.
///
/// # Errors
/// Returns the reason if the process cannot be started, or if the session fails.
pub(in crate::tool) fn serve_stdio(words: &[String]) -> Result<i32, String> {
    let program = find_sibling_program(SERVER_NAME)
        .ok_or_else(|| format!("expected '{SERVER_NAME}' in the directory of this tool, found none; install it"))?;
    let mut command = Command::new(&program);
    command.arg(MLIR_ONLY_OPTION).args(words.iter().skip(1)).stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("cannot run '{}': {error}", program.display()))?;
    let style = if words.iter().any(|word| word == "--pretty" || word == "-pretty") {
        JsonStyle::Pretty
    } else {
        JsonStyle::Compact
    };
    run_session(child, |server| {
        serve(StreamPair { input: io::stdin(), output: io::stdout() }, server, &mut CompilerProcess::find(), style)
    })
}

/// Streams of a child process.
type ChildStreams = StreamPair<std::process::ChildStdout, std::process::ChildStdin>;

/// Runs a session with the streams of a process, and waits for the process to end. If the session fails, kills the
/// process.
fn run_session(mut child: Child, session: impl FnOnce(ChildStreams) -> Result<(), String>) -> Result<i32, String> {
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err("MLIR's server has no streams".to_owned());
    };
    let result = session(StreamPair { input, output });
    if result.is_err() {
        // A process that has ended cannot be killed; this error is ignored.
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

    fn split_words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn bypasses_proxy_for_tests_and_help_of_mlir() {
        assert_eq!(
            mlir_server_arguments(&split_words("tool --mlir-only --log=verbose")),
            Some(split_words("tool --log=verbose"))
        );
        assert_eq!(
            mlir_server_arguments(&split_words("tool --pretty --lit-test")),
            Some(split_words("tool --pretty --lit-test"))
        );
        assert_eq!(mlir_server_arguments(&split_words("tool --help")), Some(split_words("tool --help")));
        assert_eq!(
            (
                mlir_server_arguments(&split_words("tool")),
                mlir_server_arguments(&split_words("tool --log=info --mlir-only"))
            ),
            (None, None)
        );
    }

    #[cfg(unix)]
    fn spawn_shell(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn returns_exit_code_of_process() {
        let read_all = |mut streams: ChildStreams| {
            drop(streams.output);
            let mut text = String::new();
            streams.input.read_to_string(&mut text).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(run_session(spawn_shell("cat; exit 3"), read_all), Ok(3));
        assert!(run_session(spawn_shell("kill -9 $$"), read_all).unwrap_err().contains("signal: 9"));
    }

    #[cfg(unix)]
    #[test]
    fn kills_process_if_session_fails() {
        assert_eq!(run_session(spawn_shell("exec sleep 100"), |_| Err("no".to_owned())), Err("no".to_owned()));
    }
}
