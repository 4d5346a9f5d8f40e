//! Session of the proxy: one loop handles the messages of the editor and of MLIR's server, and the results of
//! compilations.

use super::{
    compiler::{Compiler, CompilerOutput},
    completion::{self, TRIGGER_CHARACTERS, items_at},
    cursor::Cursor,
    documents::{DocumentStore, TextPosition},
    frames::{self, JsonStyle},
    hover::Hover,
    op_reference::OpReference,
    schedule::{CompilationId, CompilationScheduler, CompilationTiming, FinishedCompilation},
    settings::EditorSettings,
};
use crate::tool::VERSION;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{self, BufReader, Read, Write},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::Instant,
};

/// Name of the server in its reply to `initialize`.
const SERVER_NAME: &str = "spyre-lsp-server";

/// Message types of `window/logMessage`.
const LOG_WARNING: u8 = 2;

/// Streams from and to an editor or a server.
pub(in crate::tool) struct StreamPair<Input, Output> {
    pub(in crate::tool) input: Input,
    pub(in crate::tool) output: Output,
}

/// Event that the loop handles.
enum SessionEvent {
    FromEditor(Vec<u8>),
    FromServer(Vec<u8>),
    /// The editor closed its stream (`Ok`), or violated the protocol.
    EditorEnded(io::Result<()>),
    ServerEnded(io::Result<()>),
    Compiled(CompilationId, CompilerOutput),
}

/// Constructor of the event for a message of a stream.
type MessageEvent = fn(Vec<u8>) -> SessionEvent;

/// Constructor of the event for the end of a stream.
type EndEvent = fn(io::Result<()>) -> SessionEvent;

/// Addition to the reply to a request of the editor.
enum ReplyAddition {
    /// To `initialize`: name, version and more trigger characters.
    ServerInfo,
    Hover(Hover),
    Completion(Vec<Value>),
}

/// Session of an editor with MLIR's server.
struct ProxySession<'c, ToEditor, ToServer> {
    editor: ToEditor,
    /// Stream to MLIR's server; `None` after the editor has closed its stream, which makes the server exit.
    server: Option<ToServer>,
    style: JsonStyle,
    documents: DocumentStore,
    reference: OpReference,
    settings: EditorSettings,
    /// Pending additions, keyed by the id of the request.
    additions: BTreeMap<String, ReplyAddition>,
    schedule: CompilationScheduler,
    compiler: &'c mut dyn Compiler,
    events: Sender<SessionEvent>,
}

/// Serves an editor until MLIR's server exits. The server exits when the editor requests it or closes its stream.
///
/// # Errors
/// Returns the reason if a stream violates the protocol or cannot be written to.
pub(in crate::tool) fn serve<FromEditor, ToEditor, FromServer, ToServer>(
    editor: StreamPair<FromEditor, ToEditor>,
    server: StreamPair<FromServer, ToServer>,
    compiler: &mut dyn Compiler,
    style: JsonStyle,
) -> Result<(), String>
where
    FromEditor: Read + Send + 'static,
    ToEditor: Write,
    FromServer: Read + Send + 'static,
    ToServer: Write,
{
    serve_with_timing(editor, server, (compiler, CompilationTiming::default()), style)
}

/// Serves an editor as [`serve`] does, with other times.
pub(super) fn serve_with_timing<FromEditor, ToEditor, FromServer, ToServer>(
    editor: StreamPair<FromEditor, ToEditor>,
    server: StreamPair<FromServer, ToServer>,
    (compiler, times): (&mut dyn Compiler, CompilationTiming),
    style: JsonStyle,
) -> Result<(), String>
where
    FromEditor: Read + Send + 'static,
    ToEditor: Write,
    FromServer: Read + Send + 'static,
    ToServer: Write,
{
    let (send, events) = channel();
    spawn_reader(editor.input, send.clone(), (SessionEvent::FromEditor, SessionEvent::EditorEnded))?;
    spawn_reader(server.input, send.clone(), (SessionEvent::FromServer, SessionEvent::ServerEnded))?;
    let mut session = ProxySession {
        editor: editor.output,
        server: Some(server.output),
        style,
        documents: DocumentStore::default(),
        reference: OpReference::load(),
        settings: EditorSettings::default(),
        additions: BTreeMap::new(),
        schedule: CompilationScheduler::new(times),
        compiler,
        events: send,
    };
    session.run(&events)
}

/// Reads messages in a new thread, until the stream ends.
fn spawn_reader(
    stream: impl Read + Send + 'static,
    events: Sender<SessionEvent>,
    (message, end): (MessageEvent, EndEvent),
) -> Result<(), String> {
    let read = move || {
        let mut stream = BufReader::new(stream);
        let result = loop {
            match frames::read(&mut stream) {
                Ok(Some(content)) => {
                    // The session has ended and needs no more messages.
                    if events.send(message(content)).is_err() {
                        return;
                    }
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let _ = events.send(end(result));
    };
    thread::Builder::new()
        .name("messages".to_owned())
        .spawn(read)
        .map(drop)
        .map_err(|error| format!("cannot start a thread: {error}"))
}

impl<ToEditor: Write, ToServer: Write> ProxySession<'_, ToEditor, ToServer> {
    fn run(&mut self, events: &Receiver<SessionEvent>) -> Result<(), String> {
        let mut result = Ok(());
        loop {
            let event = match self.schedule.next_wakeup() {
                Some(time) => events.recv_timeout(time.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(SessionEvent::ServerEnded(ended)) => {
                    return result.and(ended.map_err(|error| format!("MLIR's server: {error}")));
                }
                Ok(SessionEvent::EditorEnded(ended)) => {
                    result = ended.map_err(|error| format!("the editor: {error}"));
                    self.server = None;
                    self.schedule.disable();
                }
                Ok(event) => self.handle(event).map_err(|error| format!("cannot write a message: {error}"))?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return result,
            }
            self.advance().map_err(|error| format!("cannot write a message: {error}"))?;
        }
    }

    fn handle(&mut self, event: SessionEvent) -> io::Result<()> {
        match event {
            SessionEvent::FromEditor(content) => self.handle_editor(&content),
            SessionEvent::FromServer(content) => self.handle_server(&content),
            SessionEvent::Compiled(number, output) => match self.schedule.finish(&self.documents, number, &output) {
                Some(finished) => self.publish_result(finished),
                None => Ok(()),
            },
            SessionEvent::EditorEnded(_) | SessionEvent::ServerEnded(_) => Ok(()),
        }
    }

    /// Forwards a message of the editor. A message that is not JSON is left to MLIR's server to answer.
    fn handle_editor(&mut self, content: &[u8]) -> io::Result<()> {
        if let Ok(message) = serde_json::from_slice::<Value>(content) {
            self.process_editor_message(&message)?;
        }
        match &mut self.server {
            // If the server has exited, the end of its stream reports it.
            Some(server) => frames::write(server, content)
                .or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }),
            None => Ok(()),
        }
    }

    /// Updates the documents for a message of the editor, and computes additions for its requests.
    fn process_editor_message(&mut self, message: &Value) -> io::Result<()> {
        let (params, now) = (&message["params"], Instant::now());
        match message["method"].as_str() {
            Some("initialize") => {
                self.additions.insert(message["id"].to_string(), ReplyAddition::ServerInfo);
                let (settings, rejected) = EditorSettings::from_params(params);
                if !settings.compiles {
                    self.schedule.disable();
                }
                self.settings = settings;
                return rejected.iter().try_for_each(|text| self.log(text));
            }
            Some("textDocument/didOpen") => {
                if let Some(uri) = self.documents.open(params) {
                    self.schedule.open(&uri, now);
                }
            }
            Some("textDocument/didChange") => {
                if let Some(uri) = self.documents.change(params) {
                    self.schedule.change(&uri, now);
                }
            }
            Some("textDocument/didSave") => {
                if let Some((uri, document)) =
                    params["textDocument"]["uri"].as_str().and_then(|uri| Some((uri, self.documents.get(uri)?)))
                {
                    self.schedule.save(uri, document.version, now);
                }
            }
            Some("textDocument/didClose") => {
                if let Some(uri) = self.documents.close(params) {
                    self.schedule.close(&uri);
                }
            }
            Some(method @ ("textDocument/hover" | "textDocument/completion")) => {
                if let Some(addition) = self.compute_addition(method, params) {
                    self.additions.insert(message["id"].to_string(), addition);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the addition to the reply to a request at a position.
    fn compute_addition(&self, method: &str, params: &Value) -> Option<ReplyAddition> {
        let document = self.documents.get(params["textDocument"]["uri"].as_str()?)?;
        let cursor = Cursor::from_position(document, TextPosition::from_json(&params["position"])?)?;
        if method == "textDocument/hover" {
            return Hover::from_cursor(&cursor, &self.reference).map(ReplyAddition::Hover);
        }
        Some(ReplyAddition::Completion(items_at(&cursor, document, &self.reference)))
    }

    /// Forwards a message of MLIR's server, with additions.
    fn handle_server(&mut self, content: &[u8]) -> io::Result<()> {
        let Ok(mut message) = serde_json::from_slice::<Value>(content) else {
            return frames::write(&mut self.editor, content);
        };
        if message["method"] == "textDocument/publishDiagnostics" {
            self.merge_diagnostics(&mut message["params"]);
        } else if message.get("method").is_none() {
            self.add_to_reply(&mut message);
        }
        frames::write_json(&mut self.editor, &message, self.style)
    }

    fn merge_diagnostics(&mut self, params: &mut Value) {
        let Some(uri) = params["uri"].as_str() else { return };
        let version = params["version"].as_i64();
        let is_current =
            self.documents.get(uri).is_some_and(|document| version.is_none_or(|version| version == document.version));
        let diagnostics = params["diagnostics"].as_array().cloned().unwrap_or_default();
        let merged = self.schedule.set_parser_diagnostics((uri, is_current), diagnostics);
        params["diagnostics"] = Value::Array(merged);
    }

    fn add_to_reply(&mut self, message: &mut Value) {
        let Some(addition) = self.additions.remove(&message["id"].to_string()) else { return };
        let Some(result) = message.get_mut("result") else { return };
        match addition {
            ReplyAddition::ServerInfo => add_server_info(result),
            ReplyAddition::Hover(hover) => hover.add_to(result),
            ReplyAddition::Completion(items) => completion::add_to(result, items, &self.reference),
        }
    }

    /// Publishes the result of a compilation.
    fn publish_result(&mut self, finished: FinishedCompilation) -> io::Result<()> {
        let FinishedCompilation { uri, version, diagnostics, message } = finished;
        if let Some(diagnostics) = diagnostics {
            let params = json!({"uri": uri, "version": version, "diagnostics": diagnostics});
            self.notify("textDocument/publishDiagnostics", &params)?;
        }
        message.map_or(Ok(()), |message| self.log(&message))
    }

    /// Starts or stops compilations, as the schedule requires.
    fn advance(&mut self) -> io::Result<()> {
        let events = self.events.clone();
        // The session may have ended; the output is then dropped.
        let receive = move |number, output| drop(events.send(SessionEvent::Compiled(number, output)));
        let options = self.settings.compile_options.as_slice();
        match self.schedule.advance(&self.documents, self.compiler, options, Instant::now(), receive) {
            Ok(()) => Ok(()),
            Err(reason) => {
                self.schedule.disable();
                self.log(&format!("documents are not compiled: {reason}"))
            }
        }
    }

    fn log(&mut self, text: &str) -> io::Result<()> {
        self.notify("window/logMessage", &json!({"type": LOG_WARNING, "message": format!("{SERVER_NAME}: {text}")}))
    }

    fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        frames::write_json(&mut self.editor, &json!({"jsonrpc": "2.0", "method": method, "params": params}), self.style)
    }
}

/// Names this server in the reply to `initialize`, and adds trigger characters of completion.
fn add_server_info(result: &mut Value) {
    if !result.is_object() {
        return;
    }
    result["serverInfo"] = json!({"name": SERVER_NAME, "version": VERSION});
    if let Some(characters) = result["capabilities"]["completionProvider"]["triggerCharacters"].as_array_mut() {
        let new = TRIGGER_CHARACTERS
            .iter()
            .map(|character| json!(character))
            .filter(|character| !characters.contains(character));
        let new: Vec<Value> = new.collect();
        characters.extend(new);
    }
}
