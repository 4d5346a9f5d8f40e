//! The page of options is what `--help` of the tools prints.

use super::{expect_none, first_difference, root};
use crate::common::bless;
use std::{fs, process::Command};

const PAGE: &str = "docs/reference/generated/options.md";

/// The tools with command lines of ours; `spyre-opt` and `spyre-lsp-server` have those of MLIR.
const TOOLS: [(&str, &str); 6] = [
    ("spyre-compile", env!("CARGO_BIN_EXE_spyre-compile")),
    ("spyre-run", env!("CARGO_BIN_EXE_spyre-run")),
    ("spyre-translate", env!("CARGO_BIN_EXE_spyre-translate")),
    ("spyre-tune", env!("CARGO_BIN_EXE_spyre-tune")),
    ("spyre-plan", env!("CARGO_BIN_EXE_spyre-plan")),
    ("spyre-reduce", env!("CARGO_BIN_EXE_spyre-reduce")),
];

/// Returns what `tool --help` prints.
fn help_text(tool: &str) -> String {
    let output = Command::new(tool).arg("--help").output().unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(output.status.success(), "{tool} --help: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap_or_else(|error| panic!("{tool} --help: {error}"))
}

/// Returns the page with a section for each tool. Lines of the texts have no blanks at their ends.
fn options_page(texts: &[(&str, String)]) -> String {
    let mut page = String::from(
        "<!-- Made by `cargo xtask docs` from `--help` of the tools. -->\n\n# Options of the tools\n\nThis page lists the options of every tool. \
         The [tools](../tools.md) page explains what they have in common.\n",
    );
    for (name, text) in texts {
        page += &format!("\n## {name}\n\n```text\n");
        text.trim_end().lines().for_each(|line| page += &format!("{}\n", line.trim_end()));
        page += "```\n";
    }
    page
}

#[test]
fn generated_docs_of_options_are_up_to_date() {
    let page = options_page(&TOOLS.map(|(name, tool)| (name, help_text(tool))));
    let path = root().join(PAGE);
    if bless::is_blessed(PAGE) {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{PAGE}: {error}"));
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let difference = first_difference(&found, &page).map(|line| format!("{PAGE}:{line}"));
    expect_none(
        "the page of options is not what `--help` prints; `cargo xtask docs` writes it:",
        &difference.into_iter().collect::<Vec<_>>(),
    );
}

#[test]
fn options_are_shown_as_they_are_printed() {
    let page = options_page(&[("one", "Does one\n\nOptions:\n  -q  \n\n".to_owned()), ("two", "Does two\n".to_owned())]);
    assert!(page.ends_with("\n## one\n\n```text\nDoes one\n\nOptions:\n  -q\n```\n\n## two\n\n```text\nDoes two\n```\n"), "{page}");
}
