//! Help pages of the tools: `--help` has the ten most used options, `--help-all` has all of them, and each has a
//! heading.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

use crate::{common::bless::is_blessed, conventions::TOOLS};
use clap::{Arg, Command};
use spyre_compiler::tool::commands;
use std::{fs, path::Path, process};

/// Maximum number of options of the short page, in addition to those of every page.
const MAX_OPTIONS: usize = 10;

/// Maximum number of columns of a line.
const MAX_COLUMNS: usize = 120;

/// Options that every page has.
const COMMON_OPTIONS: [&str; 3] = ["help", "help-all", "version"];

/// Text that precedes the options of LLVM's library.
pub(crate) const UPSTREAM: &str = "Options and passes of MLIR and LLVM:";

/// Returns the output of a tool for `word`, up to the options of MLIR and LLVM.
pub(crate) fn help_page(tool: &str, word: &str) -> String {
    let (_, path) = TOOLS.iter().find(|(name, _)| *name == tool).unwrap();
    let output = process::Command::new(path).arg(word).output().unwrap();
    assert!(output.status.success(), "{tool} {word}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.split(UPSTREAM).next().unwrap().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Returns the commands of all tools.
fn all_commands() -> Vec<Command> {
    let commands: Vec<Command> = commands::tool_commands().into_iter().chain(commands::driver_commands()).collect();
    assert_eq!(commands.len(), TOOLS.len());
    commands
}

/// Returns the options of a command, without positional arguments.
fn options(command: &Command) -> Vec<&Arg> {
    command.get_arguments().filter(|argument| !argument.is_positional()).collect()
}

/// Returns whether a line of the page documents the option.
fn shows_option(page: &str, option: &Arg) -> bool {
    let name =
        option.get_long().map_or_else(|| format!("-{}", option.get_short().unwrap()), |long| format!("--{long}"));
    let words = |line: &str| line.split([' ', ',', '=', '[']).map(str::to_owned).collect::<Vec<_>>();
    page.lines().filter(|line| line.trim_start().starts_with('-')).any(|line| words(line).contains(&name))
}

#[test]
fn has_heading_for_every_option() {
    for command in all_commands() {
        for option in options(&command) {
            assert!(option.get_help_heading().is_some(), "{} {option}", command.get_name());
        }
    }
}

#[test]
fn lists_at_most_ten_options_on_short_page() {
    for command in all_commands() {
        let page = help_page(command.get_name(), "--help");
        let is_other = |option: &&&Arg| !COMMON_OPTIONS.iter().any(|id| option.get_id() == *id);
        let n_options = options(&command).iter().filter(is_other).filter(|option| shows_option(&page, option)).count();
        assert!((1..=MAX_OPTIONS).contains(&n_options), "{}: {n_options} options\n{page}", command.get_name());
        assert!(page.contains("Use '--help-all' for all options."), "{page}");
        assert_eq!(help_page(command.get_name(), "-h"), page);
    }
}

#[test]
fn lists_all_options_on_full_page() {
    for command in all_commands() {
        let page = help_page(command.get_name(), "--help-all");
        let missing: Vec<String> =
            options(&command).iter().filter(|option| !shows_option(&page, option)).map(ToString::to_string).collect();
        assert!(missing.is_empty(), "{} --help-all: no {missing:?}\n{page}", command.get_name());
    }
}

#[test]
fn keeps_lines_of_help_within_120_columns() {
    for command in all_commands() {
        for word in ["--help", "--help-all"] {
            let page = help_page(command.get_name(), word);
            let wide: Vec<&str> = page.lines().filter(|line| line.chars().count() > MAX_COLUMNS).collect();
            assert!(wide.is_empty(), "{} {word}:\n{}", command.get_name(), wide.join("\n"));
        }
    }
}

/// `BLESS=help` writes the pages of `test/help`; `docs/reference/generated/options.md` has the full ones.
#[test]
fn matches_recorded_short_pages() {
    for (tool, _) in TOOLS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("test/help/{tool}.txt"));
        let page = help_page(tool, "--help");
        if is_blessed(&format!("help/{tool}")) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &page).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(page, expected, "{tool} --help; BLESS=help writes test/help/{tool}.txt");
    }
}

#[test]
fn prints_llvm_options_after_ours() {
    for command in commands::driver_commands() {
        let (_, path) = TOOLS.iter().find(|(name, _)| *name == command.get_name()).unwrap();
        let output = process::Command::new(path).arg("--help-all").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (ours, upstream) = text.split_once(UPSTREAM).unwrap();
        assert!(
            ours.contains("--help-all") && upstream.contains("OVERVIEW: ") && upstream.contains("Exit codes: "),
            "{text}"
        );
    }
}
