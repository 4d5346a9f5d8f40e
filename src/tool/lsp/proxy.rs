//! The session: messages of the editor, of MLIR's server and of compilations, in one loop.

use super::{
    compiler::{Compiler, Output},
    completion::{self, TRIGGER_CHARACTERS, items_at},
    cursor::Cursor,
    documents::{Documents, Position},
    frames::{self, Style},
    hover::Hover,
    op_reference::OpReference,
    schedule::{Finished, Number, Schedule, Times},
    settings::Settings,
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
const NAME: &str = "spyre-lsp-server";

/// Types of `window/logMessage`.
const WARNING: u8 = 2;

/// Streams from and to an editor or a server.
pub(in crate::tool) struct Streams<Input, Output> {
    pub(in crate::tool) input: Input,
    pub(in crate::tool) output: Output,
}

/// Event that the loop handles.
enum Event {
    FromEditor(Vec<u8>),
    FromServer(Vec<u8>),
    /// The editor has gone, or sends no messages of the protocol.
    EditorEnded(io::Result<()>),
    ServerEnded(io::Result<()>),
    Compiled(Number, Output),
}

/// Event of a message of a stream.
type MessageEvent = fn(Vec<u8>) -> Event;

/// Event of the end of a stream.
type EndEvent = fn(io::Result<()>) -> Event;

/// Addition to the reply to a request of the editor.
enum Addition {
    /// To `initialize`: name, version and more trigger characters.
    ServerInfo,
    Hover(Hover),
    Completion(Vec<Value>),
}

/// Session of an editor with MLIR's server.
struct Session<'c, ToEditor, ToServer> {
    editor: ToEditor,
    /// None once the editor has gone, so that the server ends.
    server: Option<ToServer>,
    style: Style,
    documents: Documents,
    reference: OpReference,
    settings: Settings,
    /// Additions to replies, by the id of the request.
    additions: BTreeMap<String, Addition>,
    schedule: Schedule,
    compiler: &'c mut dyn Compiler,
    events: Sender<Event>,
}

/// Serves an editor until MLIR's server ends, which it does when the editor says so or goes away.
///
/// # Errors
/// The reason why the editor or the server cannot be understood, or cannot be written to.
pub(in crate::tool) fn serve<FromEditor, ToEditor, FromServer, ToServer>(
    editor: Streams<FromEditor, ToEditor>,
    server: Streams<FromServer, ToServer>,
    compiler: &mut dyn Compiler,
    style: Style,
) -> Result<(), String>
where
    FromEditor: Read + Send + 'static,
    ToEditor: Write,
    FromServer: Read + Send + 'static,
    ToServer: Write,
{
    serve_with(editor, server, (compiler, Times::default()), style)
}

/// As [`serve`], with other times.
pub(super) fn serve_with<FromEditor, ToEditor, FromServer, ToServer>(
    editor: Streams<FromEditor, ToEditor>,
    server: Streams<FromServer, ToServer>,
    (compiler, times): (&mut dyn Compiler, Times),
    style: Style,
) -> Result<(), String>
where
    FromEditor: Read + Send + 'static,
    ToEditor: Write,
    FromServer: Read + Send + 'static,
    ToServer: Write,
{
    let (send, events) = channel();
    read_in_thread(editor.input, send.clone(), (Event::FromEditor, Event::EditorEnded))?;
    read_in_thread(server.input, send.clone(), (Event::FromServer, Event::ServerEnded))?;
    let mut session = Session {
        editor: editor.output,
        server: Some(server.output),
        style,
        documents: Documents::default(),
        reference: OpReference::load(),
        settings: Settings::default(),
        additions: BTreeMap::new(),
        schedule: Schedule::new(times),
        compiler,
        events: send,
    };
    session.run(&events)
}

/// Reads messages in a thread, until the stream ends.
fn read_in_thread(
    stream: impl Read + Send + 'static,
    events: Sender<Event>,
    (message, end): (MessageEvent, EndEvent),
) -> Result<(), String> {
    let read = move || {
        let mut stream = BufReader::new(stream);
        let result = loop {
            match frames::read(&mut stream) {
                Ok(Some(content)) => {
                    // A session that has ended needs no more.
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
    thread::Builder::new().name("messages".to_owned()).spawn(read).map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

impl<ToEditor: Write, ToServer: Write> Session<'_, ToEditor, ToServer> {
    fn run(&mut self, events: &Receiver<Event>) -> Result<(), String> {
        let mut result = Ok(());
        loop {
            let event = match self.schedule.next_time() {
                Some(time) => events.recv_timeout(time.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::ServerEnded(ended)) => return result.and(ended.map_err(|error| format!("MLIR's server: {error}"))),
                Ok(Event::EditorEnded(ended)) => {
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

    fn handle(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::FromEditor(content) => self.handle_editor(&content),
            Event::FromServer(content) => self.handle_server(&content),
            Event::Compiled(number, output) => match self.schedule.finish(&self.documents, number, &output) {
                Some(finished) => self.finished(finished),
                None => Ok(()),
            },
            Event::EditorEnded(_) | Event::ServerEnded(_) => Ok(()),
        }
    }

    /// Passes a message of the editor on. One that is no JSON is for MLIR's server to answer.
    fn handle_editor(&mut self, content: &[u8]) -> io::Result<()> {
        if let Ok(message) = serde_json::from_slice::<Value>(content) {
            self.follow(&message)?;
        }
        match &mut self.server {
            // A server that has ended is noticed by the end of its stream.
            Some(server) => {
                frames::write(server, content).or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
            }
            None => Ok(()),
        }
    }

    /// Follows the documents and the requests of the editor.
    fn follow(&mut self, message: &Value) -> io::Result<()> {
        let (params, now) = (&message["params"], Instant::now());
        match message["method"].as_str() {
            Some("initialize") => {
                self.additions.insert(message["id"].to_string(), Addition::ServerInfo);
                let (settings, refused) = Settings::read(params);
                if !settings.compiles {
                    self.schedule.disable();
                }
                self.settings = settings;
                return refused.iter().try_for_each(|text| self.log(text));
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
                if let Some((uri, document)) = params["textDocument"]["uri"].as_str().and_then(|uri| Some((uri, self.documents.get(uri)?)))
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
                if let Some(addition) = self.addition(method, params) {
                    self.additions.insert(message["id"].to_string(), addition);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns what is known of the position of a request.
    fn addition(&self, method: &str, params: &Value) -> Option<Addition> {
        let document = self.documents.get(params["textDocument"]["uri"].as_str()?)?;
        let cursor = Cursor::at(document, Position::read(&params["position"])?)?;
        if method == "textDocument/hover" {
            return Hover::at(&cursor, &self.reference).map(Addition::Hover);
        }
        Some(Addition::Completion(items_at(&cursor, document, &self.reference)))
    }

    /// Passes a message of MLIR's server on, with additions.
    fn handle_server(&mut self, content: &[u8]) -> io::Result<()> {
        let Ok(mut message) = serde_json::from_slice::<Value>(content) else { return frames::write(&mut self.editor, content) };
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
        let is_current = self.documents.get(uri).is_some_and(|document| version.is_none_or(|version| version == document.version));
        let diagnostics = params["diagnostics"].as_array().cloned().unwrap_or_default();
        let merged = self.schedule.parsed((uri, is_current), diagnostics);
        params["diagnostics"] = Value::Array(merged);
    }

    fn add_to_reply(&mut self, message: &mut Value) {
        let Some(addition) = self.additions.remove(&message["id"].to_string()) else { return };
        let Some(result) = message.get_mut("result") else { return };
        match addition {
            Addition::ServerInfo => add_server_info(result),
            Addition::Hover(hover) => hover.add_to(result),
            Addition::Completion(items) => completion::add_to(result, items, &self.reference),
        }
    }

    /// Publishes what came of a compilation.
    fn finished(&mut self, finished: Finished) -> io::Result<()> {
        let Finished { uri, version, diagnostics, message } = finished;
        if let Some(diagnostics) = diagnostics {
            let params = json!({"uri": uri, "version": version, "diagnostics": diagnostics});
            self.notify("textDocument/publishDiagnostics", &params)?;
        }
        message.map_or(Ok(()), |message| self.log(&message))
    }

    /// Starts or stops compilations.
    fn advance(&mut self) -> io::Result<()> {
        let events = self.events.clone();
        // A session that has ended needs no output.
        let receive = move |number, output| drop(events.send(Event::Compiled(number, output)));
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
        self.notify("window/logMessage", &json!({"type": WARNING, "message": format!("{NAME}: {text}")}))
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
    result["serverInfo"] = json!({"name": NAME, "version": VERSION});
    if let Some(characters) = result["capabilities"]["completionProvider"]["triggerCharacters"].as_array_mut() {
        let new = TRIGGER_CHARACTERS.iter().map(|character| json!(character)).filter(|character| !characters.contains(character));
        let new: Vec<Value> = new.collect();
        characters.extend(new);
    }
}
