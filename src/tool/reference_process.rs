//! Client and server of the process that runs the input program with MLIR's JIT: `spyre-run` next to the tool.
//!
//! Compiled code of an untrusted program may do anything. It therefore runs in a separate process with a memory limit,
//! never in the tool.

use super::{VERSION, output_paths::find_sibling_program};
use crate::{
    mlir::{Module, OpExt},
    reference::{ReferenceFiles, ReferenceOutcome, ReferenceRequest, answer_comparison, find_dialect_op},
    validate::OriginalRunner,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::{
    ffi::OsString,
    fs,
    io::{self, Read, Write},
    path::PathBuf,
    process::{Command, Output, Stdio},
};

/// Option that makes `spyre-run` answer a request on standard input.
pub(super) const ANSWER_REQUEST_OPTION: &str = "--answer-request";

/// Name of the program, which is next to the tool.
const RUNNER_NAME: &str = "spyre-run";

/// Functions that the compiler may approximate. If results differ, the program runs a second time with the
/// approximation.
const APPROXIMATED_OPS: [&str; 2] = ["math.erf", "math.tanh"];

/// Message of the reference program when a signal ends it (`dialects/bridge/Input.cpp`).
const CRASH_MESSAGE: &str = "the reference program ended by a signal";

/// Input program, and the `spyre-run` that executes it.
pub(super) struct ReferenceProcess {
    runner: PathBuf,
    module: PathBuf,
    /// Temporary file of a module that was not read from a file; deleted on drop.
    _copy: Option<tempfile::NamedTempFile>,
    /// Number of ops that the JIT compiles, over all runs.
    n_ops: u64,
}

impl ReferenceProcess {
    /// Finds the process for a module that was read from `input`.
    ///
    /// # Errors
    /// Returns the reason if the program cannot be run.
    pub(super) fn find(module: &Module<'_>, input: &str) -> Result<Self, String> {
        if let Some(name) = find_dialect_op(module.op()) {
            return Err(format!("it has '{name}', which MLIR's JIT does not run"));
        }
        let runner = find_sibling_program(RUNNER_NAME)
            .ok_or_else(|| format!("'{RUNNER_NAME}', which runs MLIR's JIT, is not in the directory of this tool"))?;
        let ops = module.op().nested();
        let runs = if ops.iter().any(|op| APPROXIMATED_OPS.contains(&op.full_name())) { 2 } else { 1 };
        let n_ops = runs * ops.len() as u64;
        if fs::metadata(input).is_ok_and(|found| found.is_file()) {
            return Ok(Self { runner, module: input.into(), _copy: None, n_ops });
        }
        let written = tempfile::Builder::new().suffix(".mlir").tempfile().and_then(|mut file| {
            write!(file, "{}", module.op())?;
            Ok(file)
        });
        let copy = written.map_err(|error| format!("it cannot be written to a temporary file: {error}"))?;
        Ok(Self { runner, module: copy.path().to_owned(), _copy: Some(copy), n_ops })
    }

    fn send_request(&self, request: &ReferenceRequest) -> Result<Output, String> {
        let cannot = |error: io::Error| format!("'{}' cannot be started: {error}", self.runner.display());
        let text = serde_json::to_string(request).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.runner);
        let started = command
            .arg(ANSWER_REQUEST_OPTION)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.map_err(cannot)?;
        // If the process ends before it has read the request, its output or exit code gives the reason.
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(text.as_bytes());
        }
        child.wait_with_output().map_err(cannot)
    }
}

impl OriginalRunner for ReferenceProcess {
    fn num_ops(&self) -> u64 {
        self.n_ops
    }

    fn compare(&self, files: ReferenceFiles, max_bytes: u64) -> ReferenceOutcome {
        let request = ReferenceRequest { version: VERSION.to_owned(), module: self.module.clone(), max_bytes, files };
        match self.send_request(&request) {
            Ok(output) => parse_answer(&output),
            Err(reason) => ReferenceOutcome::NotRun(reason),
        }
    }
}

/// Parses the answer that a process has printed. Without one, derives the outcome from standard error and the exit
/// status.
fn parse_answer(output: &Output) -> ReferenceOutcome {
    let said = String::from_utf8_lossy(&output.stderr);
    match serde_json::from_slice(&output.stdout) {
        Ok(answer) => answer,
        Err(_) if said.contains(CRASH_MESSAGE) => ReferenceOutcome::Explained(format!(
            "{CRASH_MESSAGE} on random inputs: it accesses a tensor out of bounds, divides an integer by 0, or fails an assertion"
        )),
        Err(_) => {
            let first = said.lines().next().unwrap_or("no message");
            ReferenceOutcome::NotRun(format!(
                "the process that runs it ended without an answer ({}): {first}",
                output.status
            ))
        }
    }
}

/// Returns whether a command line requests an answer.
pub(super) fn is_request(words: &[OsString]) -> bool {
    words.len() == 2 && words[1] == ANSWER_REQUEST_OPTION
}

/// Reads the request on standard input, prints the answer on standard output, and returns the exit code.
pub(super) fn answer_request() -> u8 {
    let mut text = String::new();
    let read = io::stdin().read_to_string(&mut text).map_err(|error| error.to_string());
    let request = read.and_then(|_| serde_json::from_str::<ReferenceRequest>(&text).map_err(|error| error.to_string()));
    let answered = request.map(|request| {
        if request.version != VERSION {
            return ReferenceOutcome::NotRun(format!(
                "'{RUNNER_NAME}' in the directory of this tool has another version, {VERSION}"
            ));
        }
        limit_memory(request.max_bytes);
        super::run_on_large_stack(|| answer_comparison(&request))
    });
    let answer =
        answered.unwrap_or_else(|error| ReferenceOutcome::NotRun(format!("the request cannot be read: {error}")));
    let printed = serde_json::to_string(&answer)
        .map_err(io::Error::from)
        .and_then(|text| io::stdout().write_all(text.as_bytes()));
    u8::from(printed.is_err())
}

/// Limits the memory of this process, and disables core dumps. If the system rejects this, only the limits in the
/// request apply.
fn limit_memory(max_bytes: u64) {
    let most = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    let _ = setrlimit(Resource::As, most(max_bytes));
    let _ = setrlimit(Resource::Core, most(0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Agreement;
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    fn make_output(status: i32, said: &str, printed: &str) -> Output {
        Output { status: ExitStatus::from_raw(status), stdout: printed.into(), stderr: said.into() }
    }

    #[test]
    fn reports_missing_answer_as_not_run() {
        let agrees = ReferenceOutcome::Agrees(Agreement { elements: 1, of: 1, difference: 0.0, allowed: 1e-9 });
        assert_eq!(parse_answer(&make_output(0, "", &serde_json::to_string(&agrees).unwrap())), agrees);
        let signalled = parse_answer(&make_output(256, &format!("error: {CRASH_MESSAGE}: ..."), ""));
        assert!(matches!(signalled, ReferenceOutcome::Explained(why) if why.contains("divides an integer by 0")));
        let killed = parse_answer(&make_output(9, "", ""));
        assert!(matches!(killed, ReferenceOutcome::NotRun(why) if why.contains("signal: 9")));
    }
}
