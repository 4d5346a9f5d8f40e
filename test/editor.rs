//! Tests the VS Code extension in `editors/vscode`: the client finds and starts the server, and the server answers.
//!
//! Ignored in plain `cargo test`, because it needs node, which `cargo xtask setup` installs; `cargo xtask test` runs
//! it.

#![allow(clippy::unwrap_used, reason = "a test over processes")]

use std::{path::Path, process::Command};

fn run_script(name: &str, words: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/editor").join(name);
    let done = Command::new("node").arg(script).args(words).output().expect("`cargo xtask setup` installs node");
    let (said, complained) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}{complained}");
    said.into_owned()
}

#[test]
#[ignore = "needs node; `cargo xtask test` runs it"]
fn finds_server_of_setting_install_or_build() {
    assert_eq!(run_script("find.js", &[]), "ok\n");
}

#[test]
#[ignore = "needs node; `cargo xtask test` runs it"]
fn starts_server_and_shows_its_diagnostics() {
    assert_eq!(run_script("session.js", &[env!("CARGO_BIN_EXE_spyre-lsp-server")]), "ok\n");
}
