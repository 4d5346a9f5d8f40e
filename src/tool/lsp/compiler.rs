//! The compiler as a child process: reads a text on standard input, prints its diagnostics as JSON, and writes no file.

use std::{
    io::{Read, Write},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// Name of the program, which is next to the tool.
const COMPILER_NAME: &str = "spyre-compile";

/// Words that make the compiler read standard input, run all phases that may reject a program, and write no file.
const COMPILER_ARGUMENTS: [&str; 5] = ["-", "--compile-to=bundle", "-o", "/dev/null", "--format=json"];

/// Maximum number of bytes that are read of the messages of a compilation.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;

/// Output of a compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::tool) struct CompilerOutput {
    /// Messages, one JSON object per line.
    pub(in crate::tool) messages: String,
    /// Description of the end of the process, if it neither succeeded nor rejected the program.
    pub(in crate::tool) failure: Option<String>,
}

/// Receiver of the output of a compilation; called in another thread.
pub(in crate::tool) type OutputReceiver = Box<dyn FnOnce(CompilerOutput) + Send>;

/// Running compilation. It is stopped when the value is dropped.
pub(in crate::tool) trait CompilationHandle {
    /// Stops the compilation. Its receiver gets the output up to this point.
    fn stop(&mut self);
}

/// Compiler that can start compilations.
pub(in crate::tool) trait Compiler {
    /// Starts to compile a text.
    ///
    /// # Errors
    /// Returns the reason if this compiler can never compile anything.
    fn start(
        &mut self,
        text: &str,
        options: &[String],
        receiver: OutputReceiver,
    ) -> Result<Box<dyn CompilationHandle>, String>;
}

/// The compiler as a program.
#[derive(Debug)]
pub(in crate::tool) struct CompilerProcess {
    program: Option<PathBuf>,
}

impl CompilerProcess {
    /// Returns the compiler next to this tool, which may be absent.
    pub(in crate::tool) fn find() -> Self {
        Self { program: crate::tool::output_paths::find_sibling_program(COMPILER_NAME) }
    }
}

impl Compiler for CompilerProcess {
    fn start(
        &mut self,
        text: &str,
        options: &[String],
        receiver: OutputReceiver,
    ) -> Result<Box<dyn CompilationHandle>, String> {
        let absent =
            || format!("expected '{COMPILER_NAME}' in the directory of the language server, found none; install both");
        let program = self.program.as_ref().ok_or_else(absent)?;
        let mut command = Command::new(program);
        command
            .args(COMPILER_ARGUMENTS)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("cannot run '{}': {error}", program.display()))?;
        let child = Arc::new(Mutex::new(child));
        let (shared, text) = (Arc::clone(&child), text.to_owned());
        let communicate = move || receiver(communicate(&shared, &text));
        thread::Builder::new()
            .name("compiler".to_owned())
            .spawn(communicate)
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Box::new(RunningProcess(child)))
    }
}

struct RunningProcess(Arc<Mutex<Child>>);

impl CompilationHandle for RunningProcess {
    fn stop(&mut self) {
        // A process that has ended cannot be killed; this error is ignored.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Writes the text to the process, and reads its output until it ends.
fn communicate(child: &Mutex<Child>, text: &str) -> CompilerOutput {
    let lock = || child.lock().unwrap_or_else(PoisonError::into_inner);
    let (input, output) = {
        let mut child = lock();
        (child.stdin.take(), child.stderr.take())
    };
    // If the process ends before it has read the text, its output or exit code gives the reason.
    let _ = input.map(|mut input| input.write_all(text.as_bytes()));
    let mut said = Vec::new();
    let _ = output.map(|output| output.take(MAX_OUTPUT_BYTES).read_to_end(&mut said));
    let mut child = lock();
    // If the output is longer than the limit, the process is killed.
    let _ = child.kill();
    let failure = match child.wait() {
        Ok(status) if matches!(status.code(), Some(0..=2)) => None,
        Ok(status) => Some(format!("'{COMPILER_NAME}' ended with {status}")),
        Err(error) => Some(format!("cannot wait for '{COMPILER_NAME}': {error}")),
    };
    CompilerOutput { messages: String::from_utf8_lossy(&said).into_owned(), failure }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt, sync::mpsc, time::Duration};

    /// Compiles a text with a shell script instead of the compiler.
    fn start_script(
        script: &str,
        text: &str,
    ) -> (tempfile::TempDir, Box<dyn CompilationHandle>, mpsc::Receiver<CompilerOutput>) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(COMPILER_NAME);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (send, outputs) = mpsc::channel();
        let mut compiler = CompilerProcess { program: Some(program) };
        let receiver = Box::new(move |output| send.send(output).unwrap());
        let running = compiler.start(text, &["--cores=4".to_owned()], receiver).unwrap();
        (folder, running, outputs)
    }

    #[test]
    fn sends_text_and_reads_messages() {
        let (_folder, _running, outputs) = start_script("cat >&2; echo \"$*\" >&2; exit 1", "text\n");
        let messages = "text\n- --compile-to=bundle -o /dev/null --format=json --cores=4\n".to_owned();
        assert_eq!(outputs.recv().unwrap(), CompilerOutput { messages, failure: None });
    }

    #[test]
    fn handles_early_exit_with_text_longer_than_a_pipe() {
        let (_folder, _running, outputs) = start_script("echo no >&2; exit 1", &"x".repeat(1 << 20));
        assert_eq!(outputs.recv().unwrap(), CompilerOutput { messages: "no\n".to_owned(), failure: None });
    }

    #[test]
    fn returns_messages_of_stopped_process() {
        let (_folder, mut running, outputs) = start_script("echo first >&2; exec sleep 100", "");
        assert!(outputs.recv_timeout(Duration::from_millis(300)).is_err());
        running.stop();
        let output = outputs.recv().unwrap();
        assert_eq!(output.messages, "first\n");
        assert!(output.failure.unwrap().contains("signal"));
    }

    #[test]
    fn reports_expected_location_of_missing_compiler() {
        let rejected = CompilerProcess { program: None }.start("", &[], Box::new(|_| ())).err().unwrap();
        assert_eq!(
            rejected,
            "expected 'spyre-compile' in the directory of the language server, found none; install both"
        );
    }
}
