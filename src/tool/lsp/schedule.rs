//! Schedule of compilations, and the diagnostics of each document.
//!
//! A document is compiled after it is opened or saved, or after a pause without changes, if MLIR's server finds no
//! error in it. One compilation runs at a time. It is stopped when its text changes, or at a time limit.

use super::{
    compiler::{CompilationHandle, Compiler, CompilerOutput},
    diagnostics::{has_error, is_program, merge_diagnostics, read_messages},
    documents::{Document, DocumentStore},
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Pause before a compilation, and its time limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompilationTiming {
    /// Time without a change after which a text is compiled.
    pub(super) pause: Duration,
    /// Maximum duration of a compilation.
    pub(super) limit: Duration,
}

impl Default for CompilationTiming {
    fn default() -> Self {
        Self { pause: Duration::from_secs(1), limit: Duration::from_secs(30) }
    }
}

/// Diagnostics of a document, and the time of its next compilation.
#[derive(Debug, Default)]
struct DocumentState {
    /// Earliest time of the next compilation; `None` if the text need not be compiled.
    due: Option<Instant>,
    /// Whether MLIR's server has read this version without errors.
    is_parsed: bool,
    /// Last version that was compiled completely.
    compiled: Option<i64>,
    of_parser: Vec<Value>,
    of_compiler: Vec<Value>,
}

/// Number of a compilation. Output of any but the running compilation is ignored.
pub(super) type CompilationId = u64;

/// Running compilation of a document.
struct RunningCompilation {
    number: CompilationId,
    uri: String,
    deadline: Instant,
    is_late: bool,
    compilation: Box<dyn CompilationHandle>,
}

/// Schedule of compilations.
pub(super) struct CompilationScheduler {
    times: CompilationTiming,
    is_enabled: bool,
    states: BTreeMap<String, DocumentState>,
    running: Option<RunningCompilation>,
    num_started: CompilationId,
}

impl CompilationScheduler {
    pub(super) fn new(times: CompilationTiming) -> Self {
        Self { times, is_enabled: true, states: BTreeMap::new(), running: None, num_started: 0 }
    }

    /// Disables all further compilations.
    pub(super) fn disable(&mut self) {
        self.is_enabled = false;
        self.running = None;
    }

    /// Handles the opening of a document.
    pub(super) fn open(&mut self, uri: &str, now: Instant) {
        self.close(uri);
        self.states.insert(uri.to_owned(), DocumentState { due: Some(now), ..DocumentState::default() });
    }

    /// Handles a change: stops the compilation of the old text, and drops its diagnostics.
    pub(super) fn change(&mut self, uri: &str, now: Instant) {
        self.stop(uri);
        let state = self.states.entry(uri.to_owned()).or_default();
        state.of_compiler.clear();
        (state.due, state.is_parsed) = (Some(now + self.times.pause), false);
    }

    /// Handles the saving of a document.
    pub(super) fn save(&mut self, uri: &str, version: i64, now: Instant) {
        let is_running = self.running.as_ref().is_some_and(|running| running.uri == uri);
        if let Some(state) = self.states.get_mut(uri).filter(|state| state.compiled != Some(version) && !is_running) {
            state.due = Some(now);
        }
    }

    /// Handles the closing of a document.
    pub(super) fn close(&mut self, uri: &str) {
        self.stop(uri);
        self.states.remove(uri);
    }

    fn stop(&mut self, uri: &str) {
        if self.running.as_ref().is_some_and(|running| running.uri == uri) {
            self.running = None;
        }
    }

    /// Records the diagnostics of MLIR's server for a version; returns those to publish.
    pub(super) fn set_parser_diagnostics(
        &mut self,
        (uri, is_current): (&str, bool),
        diagnostics: Vec<Value>,
    ) -> Vec<Value> {
        let Some(state) = self.states.get_mut(uri) else { return diagnostics };
        state.is_parsed = is_current && !has_error(&diagnostics);
        state.of_parser = diagnostics;
        merge_diagnostics(&state.of_parser, &state.of_compiler)
    }

    /// Returns the time at which [`CompilationScheduler::advance`] must be called next.
    pub(super) fn next_wakeup(&self) -> Option<Instant> {
        match &self.running {
            Some(running) => (!running.is_late).then_some(running.deadline),
            None if self.is_enabled => {
                self.states.values().filter(|state| state.is_parsed).filter_map(|state| state.due).min()
            }
            None => None,
        }
    }

    /// Stops a late compilation, or starts the next one. `receive` gets its number and its output.
    ///
    /// # Errors
    /// Returns the reason if the compiler can never compile anything.
    pub(super) fn advance(
        &mut self,
        documents: &DocumentStore,
        compiler: &mut dyn Compiler,
        options: &[String],
        now: Instant,
        receive: impl FnOnce(CompilationId, CompilerOutput) + Send + 'static,
    ) -> Result<(), String> {
        if let Some(running) = &mut self.running {
            if now >= running.deadline && !running.is_late {
                running.is_late = true;
                running.compilation.stop();
            }
            return Ok(());
        }
        let Some((uri, document)) = self.next_document(documents, now) else { return Ok(()) };
        self.num_started += 1;
        let number = self.num_started;
        let compilation = compiler.start(&document.text, options, Box::new(move |output| receive(number, output)))?;
        self.running =
            Some(RunningCompilation { number, uri, deadline: now + self.times.limit, is_late: false, compilation });
        Ok(())
    }

    /// Returns a document that is due. Documents that are no programs are removed from the schedule.
    fn next_document<'d>(&mut self, documents: &'d DocumentStore, now: Instant) -> Option<(String, &'d Document)> {
        let is_enabled = self.is_enabled;
        for (uri, state) in &mut self.states {
            let is_due = is_enabled && state.is_parsed && state.due.is_some_and(|due| due <= now);
            if is_due {
                state.due = None;
                if let Some(document) = documents.get(uri).filter(|document| is_program(document)) {
                    return Some((uri.clone(), document));
                }
            }
        }
        None
    }

    /// Handles the end of a compilation. Returns its result, if it is the running one.
    pub(super) fn finish(
        &mut self,
        documents: &DocumentStore,
        number: CompilationId,
        output: &CompilerOutput,
    ) -> Option<FinishedCompilation> {
        let running = self.running.take_if(|running| running.number == number)?;
        let document = documents.get(&running.uri)?;
        let state = self.states.get_mut(&running.uri)?;
        let found = read_messages(&output.messages, (&running.uri, document));
        let is_new = found != state.of_compiler;
        state.of_compiler = found;
        state.compiled = Some(document.version);
        let message = match &output.failure {
            _ if running.is_late => {
                Some(format!("compilation of '{}' was stopped after {} s", running.uri, self.times.limit.as_secs()))
            }
            Some(failure) => Some(format!("'{}': {failure}", running.uri)),
            None => None,
        };
        let diagnostics = is_new.then(|| merge_diagnostics(&state.of_parser, &state.of_compiler));
        Some(FinishedCompilation { uri: running.uri, version: document.version, diagnostics, message })
    }
}

/// Result of a compilation.
#[derive(Debug, PartialEq)]
pub(super) struct FinishedCompilation {
    pub(super) uri: String,
    pub(super) version: i64,
    /// Diagnostics to publish; `None` if they are unchanged.
    pub(super) diagnostics: Option<Vec<Value>>,
    /// Message for the log if the compilation timed out or failed.
    pub(super) message: Option<String>,
}
