//! Runs the commands of the `console` blocks of pages, and compares their output with that on the pages.
//!
//! The commands of a page run in order, in a separate folder. It has links to the folders of the project that commands
//! read, and a copy of each example. So a user can run the commands in the root of a clone.
//! `BLESS=tutorial cargo test --test compiler -- tutorial::` writes the pages.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

use crate::common::bless;
use std::{env, fmt::Write as _, fs, os::unix::fs::symlink, path::Path, process::Command};

/// Folders of the project from which commands read.
const READ_FOLDERS: [&str; 3] = ["examples", "test", "benches"];

/// Folders with examples, which commands also find in the folder in which they run.
const EXAMPLES: [&str; 2] = ["examples", "examples/kernels"];

/// Returns the standard output of a command. The command must succeed; of a pipe, at least the last command.
fn run(command: &str, folder: &Path) -> String {
    let tools = Path::new(env!("CARGO_BIN_EXE_spyre-compile")).parent().unwrap();
    let path = format!("{}:{}", tools.display(), env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the page with the output of `answer` after each command of its `console` blocks. A command begins with `$ `,
/// and each continuation line with `> `.
fn replace_answers(page: &str, mut answer: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut is_console = false;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            is_console = line == "```console";
        }
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if !is_console || line.starts_with("```") || command.is_some() {
            writeln!(text, "{line}").unwrap();
        }
        let Some(command) = command else { continue };
        let mut command = command.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
            writeln!(text, "{more}").unwrap();
            write!(command, "\n{}", &more[2..]).unwrap();
        }
        text += &answer(&command);
    }
    text
}

/// Runs the commands of a page in a new folder, and compares their output with that on the page. Returns the number of
/// commands.
fn check(page: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    for name in READ_FOLDERS {
        symlink(root.join(name), folder.path().join(name)).unwrap();
    }
    for example in EXAMPLES.iter().flat_map(|name| fs::read_dir(root.join(name)).unwrap()) {
        let path = example.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "mlir") {
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let read = || fs::read_to_string(root.join(page)).unwrap();
    let mut commands = 0;
    let wanted = replace_answers(&read(), |command| {
        commands += 1;
        run(command, folder.path())
    });
    if bless::is_blessed("tutorial") {
        fs::write(root.join(page), &wanted).unwrap();
    }
    let found = read();
    let difference = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    assert!(found == wanted, "{page} is out of date, BLESS=tutorial writes it: {difference:?}");
    commands
}

/// Runs the commands of the pages of a folder, and returns the number of pages that have some.
fn check_folder(folder: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| name.ends_with(".md"));
    let mut pages: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
    pages.sort();
    pages.iter().filter(|page| check(page) > 0).count()
}

#[test]
fn prints_output_stated_in_readme() {
    assert!(check("README.md") > 1);
}

#[test]
fn prints_output_stated_in_getting_started() {
    assert!(check_folder("docs/getting-started") > 0);
}

#[test]
fn prints_output_stated_in_concepts() {
    assert!(check_folder("docs/concepts") > 5);
}

#[test]
fn prints_output_stated_in_guides() {
    assert!(check_folder("docs/guides") > 4);
}

#[test]
fn replaces_old_answers_and_keeps_other_blocks() {
    let page = "a\n```console\n$ one\nold\n$ two\n```\n```text\n$ three\nkept\n```\n";
    let wanted = "a\n```console\n$ one\n1\n$ two\n1\n```\n```text\n$ three\nkept\n```\n";
    assert_eq!(replace_answers(page, |_| "1\n".to_owned()), wanted);
}

#[test]
fn continues_command_on_next_line() {
    let page = "```console\n$ one \\\n> | two\nold\n> no command\n```\n";
    let wanted = "```console\n$ one \\\n> | two\none \\\n| two\n```\n";
    assert_eq!(replace_answers(page, |command| format!("{command}\n")), wanted);
}
