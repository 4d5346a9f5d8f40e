//! The commands of pages print what the pages say: each `console` block is run, in order and in one folder with the programs of `examples`.
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

/// Returns the page with what the commands of its `console` blocks print. A line `> ...` continues the command above it.
fn with_answers(page: &str, mut answer: impl FnMut(&str) -> String) -> String {
    let mut text = String::new();
    let mut is_console = false;
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        is_console = if line.starts_with("```") { line == "```console" } else { is_console };
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        if !is_console || line.starts_with("```") || command.is_some() {
            writeln!(text, "{line}").unwrap();
        }
        let Some(mut command) = command.map(str::to_owned) else { continue };
        while let Some(line) = lines.next_if(|line| line.starts_with("> ")) {
            writeln!(text, "{line}").unwrap();
            write!(command, "\n{}", &line[2..]).unwrap();
        }
        text += &answer(&command);
    }
    text
}

/// Copies the programs of a folder of `examples`.
fn copy_programs(from: &Path, to: &Path) {
    let programs = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path());
    for path in programs.filter(|path| path.extension().is_some_and(|extension| extension == "mlir")) {
        fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Runs the commands of a page in a new folder, which it returns, and compares what they print with what the page says.
fn check(page: &str) -> tempfile::TempDir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    copy_programs(&root.join("examples"), folder.path());
    copy_programs(&root.join("examples/kernels"), folder.path());
    let read = || fs::read_to_string(root.join(page)).unwrap();
    let mut num_commands = 0;
    let wanted = with_answers(&read(), |command| {
        num_commands += 1;
        run(command, folder.path())
    });
    assert!(num_commands > 1, "{page} has {num_commands} commands");
    if bless::is_blessed("tutorial") {
        fs::write(root.join(page), &wanted).unwrap();
    }
    let found = read();
    let difference = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    assert!(found == wanted, "{page} is out of date, BLESS=tutorial writes it: {difference:?}");
    folder
}

/// Returns the pages of a folder of `docs` that have `console` blocks.
fn pages_with_commands(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root.join(folder)).unwrap();
    let names = entries.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy()));
    let has_commands = |page: &String| page.ends_with(".md") && fs::read_to_string(root.join(page)).is_ok_and(|text| text.contains("\n```console\n"));
    names.filter(has_commands).collect()
}

#[test]
fn the_commands_of_the_guides_print_what_they_say() {
    let pages = pages_with_commands("docs/guides");
    assert!(pages.len() > 4, "{pages:?}");
    pages.iter().for_each(|page| drop(check(page)));
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

#[test]
fn a_command_of_several_lines_is_one_command() {
    let page = "```console\n$ cat << END\n> a\n> END\nold\n```\n> quoted\n";
    let mut commands = Vec::new();
    let text = with_answers(page, |command| {
        commands.push(command.to_owned());
        "a\n".to_owned()
    });
    assert_eq!((text.as_str(), commands), ("```console\n$ cat << END\n> a\n> END\na\n```\n> quoted\n", vec!["cat << END\na\nEND".to_owned()]));
}
