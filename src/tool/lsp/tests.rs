//! Tests of complete sessions: an editor and the proxy, with a scripted server and a scripted compiler.

use super::{
    compiler::{CompilationHandle, Compiler, CompilerOutput, OutputReceiver},
    frames::{self, JsonStyle},
    proxy::{StreamPair, serve_with_timing},
    schedule::CompilationTiming,
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
const TIMING: CompilationTiming =
    CompilationTiming { pause: Duration::from_millis(60), limit: Duration::from_millis(400) };

/// Maximum time until an expected message arrives, and time in which no message may arrive.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(20);
const SILENCE_DURATION: Duration = Duration::from_millis(250);

/// Runs in place of MLIR's server: rejects texts with `?`, and knows nothing else.
fn serve_as_mlir(input: PipeReader, mut output: PipeWriter) {
    let mut input = BufReader::new(input);
    while let Some(content) = frames::read(&mut input).unwrap() {
        let message: Value = serde_json::from_slice(&content).unwrap();
        let (params, id) = (&message["params"], &message["id"]);
        let published = |text: &Value| {
            let rejected = text.as_str().unwrap().contains('?');
            let diagnostics = if rejected {
                json!([{"message": "parse error", "severity": 1, "range": range(0, 0, 1)}])
            } else {
                json!([])
            };
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
            "textDocument/hover" => {
                json!({"id": id, "result": {"contents": {"kind": "markdown", "value": "shown by MLIR"}}})
            }
            "textDocument/completion" => {
                json!({"id": id, "result": {"isIncomplete": false, "items": [{"label": "of MLIR"}]}})
            }
            "textDocument/definition" => json!({"id": id, "error": {"code": 1, "message": "no"}}),
            "exit" => return,
            _ => continue,
        };
        frames::write_json(&mut output, &reply, JsonStyle::Compact).unwrap();
    }
}

fn range(line: usize, start: usize, end: usize) -> Value {
    json!({"start": {"line": line, "character": start}, "end": {"line": line, "character": end}})
}

/// Text and options of a compilation.
type CompilationCall = (String, Vec<String>);

/// Compiler that rejects texts with `wrong`, never ends with `slow`, crashes with `crash`, and is absent with `absent`.
#[derive(Clone, Default)]
struct ScriptedCompiler {
    started: Arc<Mutex<Vec<CompilationCall>>>,
}

const ERROR_MESSAGE: &str =
    r#"{"severity":"error","code":"SPY0501","file":"<stdin>","line":2,"column":8,"message":"refused","notes":[]}"#;

impl ScriptedCompiler {
    fn texts(&self) -> Vec<String> {
        self.started.lock().unwrap().iter().map(|(text, _)| text.clone()).collect()
    }
}

impl Compiler for ScriptedCompiler {
    fn start(
        &mut self,
        text: &str,
        options: &[String],
        receiver: OutputReceiver,
    ) -> Result<Box<dyn CompilationHandle>, String> {
        if text.contains("absent") {
            return Err("the compiler is absent".to_owned());
        }
        self.started.lock().unwrap().push((text.to_owned(), options.to_vec()));
        let is_rejected = text.contains("wrong") || text.contains("slow");
        let messages = if is_rejected { ERROR_MESSAGE.to_owned() } else { String::new() };
        let failure = text.contains("crash").then(|| "ended with signal 11".to_owned());
        let mut compilation =
            ScriptedCompilation { receiver: Some(receiver), output: CompilerOutput { messages, failure } };
        if !text.contains("slow") {
            compilation.stop();
        }
        Ok(Box::new(compilation))
    }
}

struct ScriptedCompilation {
    receiver: Option<OutputReceiver>,
    output: CompilerOutput,
}

impl CompilationHandle for ScriptedCompilation {
    fn stop(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            receiver(self.output.clone());
        }
    }
}

/// Editor of a session.
struct TestEditor {
    to: PipeWriter,
    from: Messages<Value>,
    compiler: ScriptedCompiler,
    proxy: JoinHandle<Result<(), String>>,
}

impl TestEditor {
    fn start(options: &Value) -> (Self, Value) {
        let [(from_editor, to), (from, to_editor), (from_proxy, to_server), (from_server, to_proxy)] =
            [(); 4].map(|()| pipe().unwrap());
        thread::spawn(move || serve_as_mlir(from_proxy, to_proxy));
        let compiler = ScriptedCompiler::default();
        let mut copy = compiler.clone();
        let proxy = thread::spawn(move || {
            let editor = StreamPair { input: from_editor, output: to_editor };
            let server = StreamPair { input: from_server, output: to_server };
            serve_with_timing(editor, server, (&mut copy, TIMING), JsonStyle::Compact)
        });
        let (send, messages) = channel();
        thread::spawn(move || {
            let mut from = BufReader::new(from);
            while let Ok(Some(content)) = frames::read(&mut from) {
                let _ = send.send(serde_json::from_slice(&content).unwrap());
            }
        });
        let mut editor = Self { to, from: messages, compiler, proxy };
        let reply = editor.send_request("initialize", &json!({"capabilities": {}, "initializationOptions": options}));
        (editor, reply)
    }

    fn send_notification(&mut self, method: &str, params: &Value) {
        frames::write_json(
            &mut self.to,
            &json!({"jsonrpc": "2.0", "method": method, "params": params}),
            JsonStyle::Compact,
        )
        .unwrap();
    }

    fn send_request(&mut self, method: &str, params: &Value) -> Value {
        frames::write_json(
            &mut self.to,
            &json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}),
            JsonStyle::Compact,
        )
        .unwrap();
        let reply = self.receive();
        assert_eq!(reply["id"], method, "{reply}");
        reply
    }

    fn send_request_at(&mut self, method: &str, line: usize, character: usize) -> Value {
        self.send_request(
            method,
            &json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}),
        )
    }

    fn receive(&self) -> Value {
        self.from.recv_timeout(MESSAGE_TIMEOUT).unwrap()
    }

    fn expect_silence(&self) {
        assert_eq!(self.from.recv_timeout(SILENCE_DURATION), Err(RecvTimeoutError::Timeout));
    }

    /// Returns the messages of the next published diagnostics, with their lines.
    fn receive_diagnostics(&self) -> Vec<(String, u64)> {
        let published = self.receive();
        assert_eq!(published["method"], "textDocument/publishDiagnostics", "{published}");
        let diagnostics = published["params"]["diagnostics"].as_array().unwrap();
        let read = |found: &Value| {
            (found["message"].as_str().unwrap().to_owned(), found["range"]["start"]["line"].as_u64().unwrap())
        };
        diagnostics.iter().map(read).collect()
    }

    fn open(&mut self, text: &str) {
        self.send_notification(
            "textDocument/didOpen",
            &json!({"textDocument": {"uri": URI, "languageId": "mlir", "version": 1, "text": text}}),
        );
    }

    fn change(&mut self, version: i64, text: &str) {
        self.send_notification(
            "textDocument/didChange",
            &json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": text}]}),
        );
    }

    fn save(&mut self) {
        self.send_notification("textDocument/didSave", &json!({"textDocument": {"uri": URI}}));
    }

    fn shut_down(mut self) -> Result<(), String> {
        self.send_notification("exit", &Value::Null);
        self.proxy.join().unwrap()
    }
}

fn expected_errors() -> Vec<(String, u64)> {
    vec![("refused".to_owned(), 1)]
}

#[test]
fn reports_own_name_and_capabilities_of_mlir_server() {
    let (editor, reply) = TestEditor::start(&Value::Null);
    let result = &reply["result"];
    assert_eq!(result["serverInfo"], json!({"name": "spyre-lsp-server", "version": crate::tool::VERSION}));
    assert_eq!(result["capabilities"]["hoverProvider"], true);
    assert_eq!(result["capabilities"]["completionProvider"]["triggerCharacters"], json!([".", "{"]));
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn extends_replies_of_mlir_server() {
    let (mut editor, _) = TestEditor::start(&Value::Null);
    editor.open(PROGRAM);
    assert_eq!(editor.receive_diagnostics(), []);
    let hover = editor.send_request_at("textDocument/hover", 1, 10);
    let text = hover["result"]["contents"]["value"].as_str().unwrap();
    assert!(text.starts_with("shown by MLIR\n\n---\n\n### `spyre.pointwise`"), "{text}");
    let completion = editor.send_request_at("textDocument/completion", 1, 24);
    let labels: Vec<&str> =
        completion["result"]["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert!(labels[0] == "of MLIR" && labels.contains(&"exp") && !labels.contains(&"sum"), "{labels:?}");
    assert_eq!(editor.send_request_at("textDocument/definition", 0, 0)["error"]["message"], "no");
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn publishes_compiler_errors_until_text_changes() {
    let (mut editor, _) = TestEditor::start(&Value::Null);
    let wrong = PROGRAM.replace("exp", "wrong");
    editor.open(&wrong);
    assert_eq!(editor.receive_diagnostics(), []);
    assert_eq!(editor.receive_diagnostics(), expected_errors());
    // The change is published without the stale diagnostic, and compiled after the pause.
    editor.change(2, PROGRAM);
    assert_eq!(editor.receive_diagnostics(), []);
    editor.expect_silence();
    editor.change(3, &format!("{wrong}\n"));
    assert_eq!(editor.receive_diagnostics(), []);
    assert_eq!(editor.receive_diagnostics(), expected_errors());
    assert_eq!(editor.compiler.texts(), [wrong.clone(), PROGRAM.to_owned(), format!("{wrong}\n")]);
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn skips_compilation_of_text_that_does_not_parse() {
    let (mut editor, _) = TestEditor::start(&Value::Null);
    editor.open("wrong ?\n");
    assert_eq!(editor.receive_diagnostics(), [("parse error".to_owned(), 0)]);
    editor.save();
    editor.expect_silence();
    assert!(editor.compiler.texts().is_empty());
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn compiles_idle_or_saved_text_once() {
    let (mut editor, _) = TestEditor::start(&json!({"compileOptions": ["--cores=4"]}));
    editor.open(PROGRAM);
    editor.receive();
    // After fast typing, only the last text is compiled.
    for version in 2..6 {
        editor.change(version, &format!("// {version}\n{PROGRAM}"));
        editor.receive();
    }
    editor.expect_silence();
    editor.save();
    editor.expect_silence();
    let started = editor.compiler.started.lock().unwrap().clone();
    assert!(started.iter().all(|(_, options)| options == &["--cores=4"]), "{started:?}");
    assert_eq!(editor.compiler.texts().last().unwrap(), &format!("// 5\n{PROGRAM}"));
    assert_eq!(editor.compiler.texts().iter().filter(|text| text.starts_with("// 5")).count(), 1);
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn stops_compilation_on_change_and_on_timeout() {
    let (mut editor, _) = TestEditor::start(&Value::Null);
    let slow = PROGRAM.replace("exp", "slow");
    editor.open(&slow);
    assert_eq!(editor.receive_diagnostics(), []);
    editor.change(2, &format!("{slow}\n"));
    assert_eq!(editor.receive_diagnostics(), []);
    // The second compilation times out; its output up to the timeout is published.
    assert_eq!(editor.receive_diagnostics(), expected_errors());
    let log = editor.receive();
    assert_eq!((&log["method"], &log["params"]["type"]), (&json!("window/logMessage"), &json!(2)));
    assert!(
        log["params"]["message"].as_str().unwrap().contains("compilation of 'file:///a.mlir' was stopped after 0 s"),
        "{log}"
    );
    editor.send_notification("textDocument/didClose", &json!({"textDocument": {"uri": URI}}));
    editor.expect_silence();
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn logs_compiler_that_fails_or_is_missing() {
    let (mut editor, _) = TestEditor::start(&Value::Null);
    editor.open(&PROGRAM.replace("exp", "crash"));
    assert_eq!(editor.receive_diagnostics(), []);
    assert!(
        editor.receive()["params"]["message"].as_str().unwrap().ends_with("'file:///a.mlir': ended with signal 11")
    );
    editor.change(2, "absent");
    assert_eq!(editor.receive_diagnostics(), []);
    let log = editor.receive();
    assert_eq!(log["params"]["message"], "spyre-lsp-server: documents are not compiled: the compiler is absent");
    // The absence is logged once.
    editor.change(3, "absent, too");
    assert_eq!(editor.receive_diagnostics(), []);
    editor.expect_silence();
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn disables_compilation_on_request_of_editor() {
    let (mut editor, _) = TestEditor::start(&json!({"compile": false}));
    editor.open(&PROGRAM.replace("exp", "wrong"));
    assert_eq!(editor.receive_diagnostics(), []);
    editor.expect_silence();
    assert!(editor.compiler.texts().is_empty());
    assert_eq!(editor.shut_down(), Ok(()));
}

#[test]
fn logs_ignored_settings() {
    let [(from_editor, mut to), (from, to_editor)] = [(); 2].map(|()| pipe().unwrap());
    let [(from_proxy, to_server), (from_server, to_proxy)] = [(); 2].map(|()| pipe().unwrap());
    thread::spawn(move || serve_as_mlir(from_proxy, to_proxy));
    let server = StreamPair { input: from_server, output: to_server };
    let options = json!({"compileOptions": ["--report=x.json"]});
    frames::write_json(
        &mut to,
        &json!({"id": 1, "method": "initialize", "params": {"initializationOptions": options}}),
        JsonStyle::Compact,
    )
    .unwrap();
    // The editor closes its stream without `exit`: the server ends.
    drop(to);
    let mut compiler = ScriptedCompiler::default();
    let editor = StreamPair { input: from_editor, output: to_editor };
    assert_eq!(serve_with_timing(editor, server, (&mut compiler, TIMING), JsonStyle::Pretty), Ok(()));
    let mut from = BufReader::new(from);
    let log = String::from_utf8(frames::read(&mut from).unwrap().unwrap()).unwrap();
    assert!(
        log.contains("found \\\"--report=x.json\\\"; the option is left out") && log.starts_with("{\n  \"jsonrpc\""),
        "{log}"
    );
    assert!(frames::read(&mut from).unwrap().is_some());
}

#[test]
fn rejects_editor_that_violates_protocol() {
    let [(from_editor, mut to), (_from, to_editor)] = [(); 2].map(|()| pipe().unwrap());
    let [(from_proxy, to_server), (from_server, to_proxy)] = [(); 2].map(|()| pipe().unwrap());
    thread::spawn(move || serve_as_mlir(from_proxy, to_proxy));
    std::io::Write::write_all(&mut to, b"hello\n").unwrap();
    let editor = StreamPair { input: from_editor, output: to_editor };
    let server = StreamPair { input: from_server, output: to_server };
    let rejected =
        serve_with_timing(editor, server, (&mut ScriptedCompiler::default(), TIMING), JsonStyle::Compact).unwrap_err();
    assert!(
        rejected.starts_with("the editor: expected the header 'Content-Length: BYTES'")
            && rejected.ends_with("found 'hello'"),
        "{rejected}"
    );
}
