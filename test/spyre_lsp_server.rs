//! `spyre-lsp-server` as an editor talks to it: diagnostics of the parser and the compiler, hover, definition,
//! completion.

#![allow(clippy::unwrap_used, reason = "a test of what is printed")]

use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

const PROGRAM: &str = "func.func @main(%arg0: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %max = spyre.reduce max(%arg0) dims [1] : tensor<4x64xf16> -> tensor<4x1xf16>
  %0 = spyre.pointwise sub(%arg0, %max) : (tensor<4x64xf16>, tensor<4x1xf16>) -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
";

struct Editor {
    server: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: u64,
}

impl Editor {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-lsp-server"));
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (to, from) = (server.stdin.take().unwrap(), BufReader::new(server.stdout.take().unwrap()));
        let mut editor = Self { server, to, from, number: 0 };
        let answer = editor.request("initialize", &json!({"processId": null, "rootUri": null, "capabilities": {}}));
        assert!(answer["capabilities"]["hoverProvider"].as_bool().unwrap(), "{answer}");
        assert_eq!(answer["serverInfo"], json!({"name": "spyre-lsp-server", "version": spyre_compiler::tool::VERSION}));
        editor.notify("initialized", &json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.to.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}));
        let mut answer = self.read_message();
        assert_eq!(answer["id"], self.number, "{answer}");
        answer["result"].take()
    }

    fn read_message(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server has gone");
            match line.trim() {
                "" => break,
                line => length = line.strip_prefix("Content-Length: ").map_or(length, |length| length.parse().unwrap()),
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Opens a program; returns its diagnostics.
    fn open(&mut self, name: &str, text: &str) -> Vec<Value> {
        let document = json!({"uri": format!("file:///{name}"), "languageId": "mlir", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
        self.read_diagnostics()
    }

    fn read_diagnostics(&mut self) -> Vec<Value> {
        let mut published = self.read_message();
        assert_eq!(published["method"], "textDocument/publishDiagnostics");
        std::mem::take(published["params"]["diagnostics"].as_array_mut().unwrap())
    }

    fn request_at(&mut self, method: &str, name: &str, [line, character]: [usize; 2]) -> Value {
        let place = json!({"textDocument": {"uri": format!("file:///{name}")}, "position": {"line": line, "character": character}});
        self.request(method, &place)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns the line and column of the first letter of a word.
fn find_word(word: &str) -> [usize; 2] {
    let (line, text) = PROGRAM.lines().enumerate().find(|(_, text)| text.contains(word)).unwrap();
    [line, text.find(word).unwrap()]
}

#[test]
fn reports_verifier_diagnostic_at_its_location() {
    let mut editor = Editor::start();
    assert_eq!(editor.open("right.mlir", PROGRAM), Vec::<Value>::new());
    let found = editor.open("wrong.mlir", &PROGRAM.replace("dims [1]", "dims [2]"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0]["message"].as_str().unwrap().contains("'spyre.reduce' op"), "{found:?}");
    assert_eq!(found[0]["range"]["start"]["line"], 1);
}

/// A program that the parser accepts and the compiler does not.
const REJECTED: &str = "func.func @main(%x: tensor<4x64xf16> {spyre.dims = [\"M\", \"K\"]}) -> tensor<4x64xf16> {
  %0 = spyre.hint tiles(M = 3) {
    %1 = spyre.pointwise exp(%x) : tensor<4x64xf16>
    spyre.yield %1 : tensor<4x64xf16>
  }
  return %0 : tensor<4x64xf16>
}
";

#[test]
fn reports_compiler_rejection_as_diagnostic() {
    let mut editor = Editor::start();
    assert_eq!(editor.open("refused.mlir", REJECTED), Vec::<Value>::new());
    let found = editor.read_diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    let message = "tile count 3 does not divide dimension 'M' of size 4; nearest divisors are 2 and 4";
    assert_eq!([&found[0]["source"], &found[0]["code"], &found[0]["message"]], ["spyre-compile", "SPY0501", message]);
    assert_eq!(found[0]["range"], json!({"start": {"line": 2, "character": 9}, "end": {"line": 2, "character": 24}}));
}

#[test]
fn describes_operation_on_hover() {
    let mut editor = Editor::start();
    editor.open("a.mlir", PROGRAM);
    let hover = editor.request_at("textDocument/hover", "a.mlir", find_word("spyre.pointwise"));
    assert!(hover["contents"]["value"].as_str().unwrap().contains("\"spyre.pointwise\""), "{hover}");
    assert!(
        hover["contents"]["value"]
            .as_str()
            .unwrap()
            .contains("_Apply an elementwise device function, with broadcasting_"),
        "{hover}"
    );
}

#[test]
fn navigates_between_use_and_definition() {
    let mut editor = Editor::start();
    editor.open("a.mlir", PROGRAM);
    let definition = editor.request_at("textDocument/definition", "a.mlir", find_word("%max) :"));
    assert_eq!(definition[0]["range"]["start"], json!({"line": 1, "character": 2}), "{definition}");
    let place = json!({"textDocument": {"uri": "file:///a.mlir"}, "position": {"line": 1, "character": 3}, "context": {"includeDeclaration": false}});
    let uses = editor.request("textDocument/references", &place);
    assert!(uses.as_array().unwrap().iter().any(|found| found["range"]["start"]["line"] == 2), "{uses}");
}

#[test]
fn completes_names_of_our_dialects() {
    let mut editor = Editor::start();
    editor.open("a.mlir", &PROGRAM.replace("spyre.pointwise sub", "spyre."));
    let [line, column] = find_word("spyre.pointwise");
    let found = editor.request_at("textDocument/completion", "a.mlir", [line, column + "spyre.".len()]);
    let items = found["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item["label"].as_str().unwrap().contains("matmul")), "{found}");
}

#[test]
fn completes_device_functions() {
    let mut editor = Editor::start();
    editor.open("a.mlir", PROGRAM);
    let [line, column] = find_word("max(%arg0)");
    let found = editor.request_at("textDocument/completion", "a.mlir", [line, column]);
    let labels: Vec<_> =
        found["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
    assert!(labels.contains(&"sum") && !labels.contains(&"exp"), "{labels:?}");
}
