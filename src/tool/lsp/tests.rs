//! Sessions of an editor with the proxy, in front of a scripted server and a scripted compiler.

use super::{
    compiler::{Compilation, Compiler, Output, Receiver},
    frames::{self, Style},
    proxy::{Streams, serve_with},
    schedule::Times,
};
use serde_json::{Value, json};
use std::{
    io::{BufReader, PipeReader, PipeWriter, pipe},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver as Messages, RecvTimeoutError, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

const URI: &str = "file:///a.mlir";
const PROGRAM: &str = "func.func @f(%x: tensor<4x64xf16>) {\n  %0 = spyre.pointwise exp(%x)\n}\n";
const TIMES: Times = Times { pause: Duration::from_millis(60), limit: Duration::from_millis(400) };

/// Longest time for what must happen, and time in which nothing may happen.
const PATIENCE: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_millis(250);

/// Server in the place of MLIR's: refuses texts with `?`, and knows nothing else.
fn serve_as_mlir(input: PipeReader, mut output: PipeWriter) {
    let mut input = BufReader::new(input);
    while let Some(content) = frames::read(&mut input).unwrap() {
        let message: Value = serde_json::from_slice(&content).unwrap();
        let (params, id) = (&message["params"], &message["id"]);
        let published = |text: &Value| {
            let refused = text.as_str().unwrap().contains('?');
            let diagnostics = if refused { json!([{"message": "parse error", "severity": 1, "range": range(0, 0, 1)}]) } else { json!([]) };
            let document = &params["textDocument"];
            let params = json!({"uri": document["uri"], "version": document["version"], "diagnostics": diagnostics});
            json!({"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params})
        };
        let reply = match message["method"].as_str().unwrap() {
            "initialize" => {
                let capabilities = json!({"hoverProvider": true, "completionProvider": {"triggerCharacters": ["."]}});
                json!({"id": id, "result": {"capabilities": capabilities, "serverInfo": {"name": "mlir-lsp-server", "version": "0"}}})
            }
            "textDocument/didOpen" => published(&params["textDocument"]["text"]),
            "textDocument/didChange" => published(&params["contentChanges"][0]["text"]),
            "textDocument/hover" => json!({"id": id, "result": {"contents": {"kind": "markdown", "value": "shown by MLIR"}}}),
            "textDocument/completion" => json!({"id": id, "result": {"isIncomplete": false, "items": [{"label": "of MLIR"}]}}),
            "textDocument/definition" => json!({"id": id, "error": {"code": 1, "message": "no"}}),
            "exit" => return,
            _ => continue,
        };
        frames::write_json(&mut output, &reply, Style::Compact).unwrap();
    }
}

fn range(line: usize, start: usize, end: usize) -> Value {
    json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
}

/// Text and options of a compilation.
type Started = (String, Vec<String>);

/// Compiler that refuses texts with `wrong`, never ends with `slow`, crashes with `crash`, and is absent with `absent`.
#[derive(Clone, Default)]
struct ScriptedCompiler {
    started: Arc<Mutex<Vec<Started>>>,
}

const REFUSAL: &str = r#"{"severity":"error","code":"SPY0501","file":"<stdin>","line":2,"column":8,"message":"refused","notes":[]}"#;

impl ScriptedCompiler {
    fn texts(&self) -> Vec<String> {
        self.started.lock().unwrap().iter().map(|(text, _)| text.clone()).collect()
    }
}

impl Compiler for ScriptedCompiler {
    fn start(&mut self, text: &str, options: &[String], receiver: Receiver) -> Result<Box<dyn Compilation>, String> {
        if text.contains("absent") {
            return Err("the compiler is absent".to_owned());
        }
        self.started.lock().unwrap().push((text.to_owned(), options.to_vec()));
        let is_refused = text.contains("wrong") || text.contains("slow");
        let messages = if is_refused { REFUSAL.to_owned() } else { String::new() };
        let failure = text.contains("crash").then(|| "ended with signal 11".to_owned());
        let mut compilation = ScriptedCompilation { receiver: Some(receiver), output: Output { messages, failure } };
        if !text.contains("slow") {
            compilation.stop();
        }
        Ok(Box::new(compilation))
    }
}

struct ScriptedCompilation {
    receiver: Option<Receiver>,
    output: Output,
}

impl Compilation for ScriptedCompilation {
    fn stop(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            receiver(self.output.clone());
        }
    }
}

/// Editor of a session.
struct Editor {
    to: PipeWriter,
    from: Messages<Value>,
    compiler: ScriptedCompiler,
    proxy: JoinHandle<Result<(), String>>,
}

impl Editor {
    fn start(options: &Value) -> (Self, Value) {
        let [(from_editor, to), (from, to_editor), (from_proxy, to_server), (from_server, to_proxy)] = [(); 4].map(|()| pipe().unwrap());
        thread::spawn(move || serve_as_mlir(from_proxy, to_proxy));
        let compiler = ScriptedCompiler::default();
        let mut copy = compiler.clone();
        let proxy = thread::spawn(move || {
            let editor = Streams { input: from_editor, output: to_editor };
            let server = Streams { input: from_server, output: to_server };
            serve_with(editor, server, (&mut copy, TIMES), Style::Compact)
        });
        let (send, messages) = channel();
        thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Ok(Some(content)) = frames::read(&mut from) {
                let _ = send.send(serde_json::from_slice(&content).unwrap());
            }
        });
        let mut editor = Self { to, from: messages, compiler, proxy };
        let reply = editor.ask("initialize", &json!({"capabilities": {}, "initializationOptions": options}));
        (editor, reply)
    }

    fn tell(&mut self, method: &str, params: &Value) {
        frames::write_json(&mut self.to, &json!({"jsonrpc": "2.0", "method": method, "params": params}), Style::Compact).unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        frames::write_json(&mut self.to, &json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}), Style::Compact)
            .unwrap();
        let reply = self.hear();
        assert_eq!(reply["id"], method, "{reply}");
        reply
    }

    fn ask_at(&mut self, method: &str, line: usize, character: usize) -> Value {
        self.ask(method, &json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}))
    }

    fn hear(&self) -> Value {
        self.from.recv_timeout(PATIENCE).unwrap()
    }

    fn expect_silence(&self) {
        assert_eq!(self.from.recv_timeout(SILENCE), Err(RecvTimeoutError::Timeout));
    }

    /// Returns the messages of the diagnostics that are published next, with their lines.
    fn hear_diagnostics(&self) -> Vec<(String, u64)> {
        let published = self.hear();
        assert_eq!(published["method"], "textDocument/publishDiagnostics", "{published}");
        let diagnostics = published["params"]["diagnostics"].as_array().unwrap();
        let read = |found: &Value| (found["message"].as_str().unwrap().to_owned(), found["range"]["start"]["line"].as_u64().unwrap());
        diagnostics.iter().map(read).collect()
    }

    fn open(&mut self, text: &str) {
        self.tell("textDocument/didOpen", &json!({"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": text}}));
    }

    fn change(&mut self, version: i64, text: &str) {
        self.tell("textDocument/didChange", &json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]}));
    }

    fn save(&mut self) {
        self.tell("textDocument/didSave", &json!({"textDocument": {"uri": URI}}));
    }

    fn end(mut self) -> Result<(), String> {
        self.tell("exit", &Value::Null);
        self.proxy.join().unwrap()
    }
}

fn refusal() -> Vec<(String, u64)> {
    vec![("refused".to_owned(), 1)]
}

#[test]
fn the_server_has_its_own_name_and_the_capabilities_of_mlir() {
    let (editor, reply) = Editor::start(&Value::Null);
    let result = &reply["result"];
    assert_eq!(result["serverInfo"], json!({"name": "spyre-lsp-server", "version": crate::tool::VERSION}));
    assert_eq!(result["capabilities"]["hoverProvider"], true);
    assert_eq!(result["capabilities"]["completionProvider"]["triggerCharacters"], json!([".", "{"]));
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn replies_have_what_mlir_says_and_what_it_does_not_know() {
    let (mut editor, _) = Editor::start(&Value::Null);
    editor.open(PROGRAM);
    assert_eq!(editor.hear_diagnostics(), []);
    let hover = editor.ask_at("textDocument/hover", 1, 10);
    let text = hover["result"]["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("shown by MLIR\n\n---\n\n### `spyre.pointwise`"), "{text}");
    let completion = editor.ask_at("textDocument/completion", 1, 24);
    let labels: Vec<&str> = completion["result"]["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert!(labels[0] == "of MLIR" && labels.contains(&"exp") && !labels.contains(&"sum"), "{labels:?}");
    assert_eq!(editor.ask_at("textDocument/definition", 0, 0)["error"]["message"], "no");
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn what_the_compiler_refuses_is_a_diagnostic_until_the_text_changes() {
    let (mut editor, _) = Editor::start(&Value::Null);
    let wrong = PROGRAM.replace("exp", "wrong");
    editor.open(&wrong);
    assert_eq!(editor.hear_diagnostics(), []);
    assert_eq!(editor.hear_diagnostics(), refusal());
    // The change is published without the stale diagnostic, and compiled once it rests.
    editor.change(2, PROGRAM);
    assert_eq!(editor.hear_diagnostics(), []);
    editor.expect_silence();
    editor.change(3, &format!("{wrong}\n"));
    assert_eq!(editor.hear_diagnostics(), []);
    assert_eq!(editor.hear_diagnostics(), refusal());
    assert_eq!(editor.compiler.texts(), [wrong.clone(), PROGRAM.to_owned(), format!("{wrong}\n")]);
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn a_text_that_does_not_parse_is_not_compiled() {
    let (mut editor, _) = Editor::start(&Value::Null);
    editor.open("wrong ?\n");
    assert_eq!(editor.hear_diagnostics(), [("parse error".to_owned(), 0)]);
    editor.save();
    editor.expect_silence();
    assert!(editor.compiler.texts().is_empty());
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn a_text_is_compiled_when_it_rests_or_is_saved_and_once() {
    let (mut editor, _) = Editor::start(&json!({"compileOptions": ["--cores=4"]}));
    editor.open(PROGRAM);
    editor.hear();
    // Fast typing: only the last text rests.
    for version in 2..6 {
        editor.change(version, &format!("// {version}\n{PROGRAM}"));
        editor.hear();
    }
    editor.expect_silence();
    editor.save();
    editor.expect_silence();
    let started = editor.compiler.started.lock().unwrap().clone();
    assert!(started.iter().all(|(_, options)| options == &["--cores=4"]), "{started:?}");
    assert_eq!(editor.compiler.texts().last().unwrap(), &format!("// 5\n{PROGRAM}"));
    assert_eq!(editor.compiler.texts().iter().filter(|text| text.starts_with("// 5")).count(), 1);
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn a_compilation_is_stopped_by_a_change_and_by_time() {
    let (mut editor, _) = Editor::start(&Value::Null);
    let slow = PROGRAM.replace("exp", "slow");
    editor.open(&slow);
    assert_eq!(editor.hear_diagnostics(), []);
    editor.change(2, &format!("{slow}\n"));
    assert_eq!(editor.hear_diagnostics(), []);
    // Of the second compilation is shown what it said until its end.
    assert_eq!(editor.hear_diagnostics(), refusal());
    let log = editor.hear();
    assert_eq!((&log["method"], &log["params"]["type"]), (&json!("window/logMessage"), &json!(2)));
    assert!(log["params"]["message"].as_str().unwrap().contains("compilation of 'file:///a.mlir' was stopped after 0 s"), "{log}");
    editor.tell("textDocument/didClose", &json!({"textDocument": {"uri": URI}}));
    editor.expect_silence();
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn a_compiler_that_fails_or_is_absent_is_in_the_log() {
    let (mut editor, _) = Editor::start(&Value::Null);
    editor.open(&PROGRAM.replace("exp", "crash"));
    assert_eq!(editor.hear_diagnostics(), []);
    assert!(editor.hear()["params"]["message"].as_str().unwrap().ends_with("'file:///a.mlir': ended with signal 11"));
    editor.change(2, "absent");
    assert_eq!(editor.hear_diagnostics(), []);
    let log = editor.hear();
    assert_eq!(log["params"]["message"], "spyre-lsp-server: documents are not compiled: the compiler is absent");
    // It is said once.
    editor.change(3, "absent, too");
    assert_eq!(editor.hear_diagnostics(), []);
    editor.expect_silence();
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn an_editor_may_turn_compilations_off() {
    let (mut editor, _) = Editor::start(&json!({"compile": false}));
    editor.open(&PROGRAM.replace("exp", "wrong"));
    assert_eq!(editor.hear_diagnostics(), []);
    editor.expect_silence();
    assert!(editor.compiler.texts().is_empty());
    assert_eq!(editor.end(), Ok(()));
}

#[test]
fn settings_that_are_not_used_are_in_the_log() {
    let [(from_editor, mut to), (from, to_editor)] = [(); 2].map(|()| pipe().unwrap());
    let [(from_proxy, to_server), (from_server, to_proxy)] = [(); 2].map(|()| pipe().unwrap());
    thread::spawn(move || serve_as_mlir(from_proxy, to_proxy));
    let server = Streams { input: from_server, output: to_server };
    let options = json!({"compileOptions": ["--report=x.json"]});
    frames::write_json(&mut to, &json!({"id": 1, "method": "initialize", "params": {"initializationOptions": options}}), Style::Compact)
        .unwrap();
    // The editor goes away without a word: the server ends.
    drop(to);
    let mut compiler = ScriptedCompiler::default();
    let editor = Streams { input: from_editor, output: to_editor };
    assert_eq!(serve_with(editor, server, (&mut compiler, TIMES), Style::Pretty), Ok(()));
    let mut from = BufReader::new(from);
    let log = String::from_utf8(frames::read(&mut from).unwrap().unwrap()).unwrap();
    assert!(log.contains("found \\\"--report=x.json\\\"; the option is left out") && log.starts_with("{\n  \"jsonrpc\""), "{log}");
    assert!(frames::read(&mut from).unwrap().is_some());
}

#[test]
fn an_editor_that_does_not_speak_the_protocol_is_an_error() {
    let [(from_editor, mut to), (_from, to_editor)] = [(); 2].map(|()| pipe().unwrap());
    let [(from_proxy, to_server), (from_server, to_proxy)] = [(); 2].map(|()| pipe().unwrap());
    thread::spawn(move || serve_as_mlir(from_proxy, to_proxy));
    std::io::Write::write_all(&mut to, b"hello\n").unwrap();
    let editor = Streams { input: from_editor, output: to_editor };
    let server = Streams { input: from_server, output: to_server };
    let refused = serve_with(editor, server, (&mut ScriptedCompiler::default(), TIMES), Style::Compact).unwrap_err();
    assert!(
        refused.starts_with("the editor: expected the header 'Content-Length: BYTES'") && refused.ends_with("found 'hello'"),
        "{refused}"
    );
}
