//! The commands of `docs/tutorial.md` and `README.md` print what the pages say: each `console` block is run, in order and in one folder.
//! `BLESS=tutorial cargo test --test compiler -- tutorial::` writes the pages.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

use crate::common::bless;
use std::{env, fmt::Write as _, fs, path::Path, process::Command};

/// What a command prints on standard output. It must succeed, the last one of a pipe at least.
fn run(command: &str, folder: &Path) -> String {
    let tools = Path::new(env!("CARGO_BIN_EXE_spyre-compile")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The page with what the commands of its `console` blocks print.
fn with_answers(page: &str, mut answer: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut is_console = false;
    for line in page.lines() {
        is_console = if line.starts_with("```") { line == "```console" } else { is_console };
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if !is_console || line.starts_with("```") || command.is_some() {
            writeln!(text, "{line}").unwrap();
        }
        text += &command.map(&mut answer).unwrap_or_default();
    }
    text
}

/// Runs the commands of a page in a new folder, which it gives, and compares what they print with what the page says.
fn check(page: &str) -> tempfile::TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root.join("examples/softmax.mlir"), folder.path().join("softmax.mlir")).unwrap();
    let read = || fs::read_to_string(root.join(page)).unwrap();
    let mut n_commands = 0;
    let wanted = with_answers(&read(), |command| {
        n_commands += 1;
        run(command, folder.path())
    });
    assert!(n_commands > 1, "{page} has {n_commands} commands");
    if bless::is_blessed("tutorial") {
        fs::write(root.join(page), &wanted).unwrap();
    }
    let found = read();
    let difference = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    assert!(found == wanted, "{page} is out of date, BLESS=tutorial writes it: {difference:?}");
    folder
}

#[test]
fn the_commands_of_the_tutorial_print_what_it_says() {
    let folder = check("docs/tutorial.md");
    let picture = fs::read_to_string(folder.path().join("report.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("exp"), "{picture}");
}

#[test]
fn the_commands_of_the_readme_print_what_it_says() {
    check("README.md");
}

#[test]
fn old_answers_are_replaced_and_other_blocks_stay() {
    let page = "a\n```console\n$ one\nold\n$ two\n```\n```text\n$ three\nkept\n```\n";
    let wanted = "a\n```console\n$ one\n1\n$ two\n1\n```\n```text\n$ three\nkept\n```\n";
    assert_eq!(with_answers(page, |_| "1\n".to_owned()), wanted);
}
