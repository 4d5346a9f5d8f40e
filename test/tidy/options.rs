//! Checks that the page of options equals the output of `--help-all` of the tools.

use super::{expect_none, first_difference, root};
use crate::{common::bless, help::help_page};
use std::fs;

const PAGE: &str = "docs/reference/generated/options.md";

/// Tools, in the order of the page; `spyre-opt` and `spyre-lsp-server` without the options of MLIR.
const TOOLS: [&str; 8] = [
    "spyre-compile",
    "spyre-run",
    "spyre-opt",
    "spyre-translate",
    "spyre-tune",
    "spyre-plan",
    "spyre-reduce",
    "spyre-lsp-server",
];

/// Returns the page with a section for each tool. Trailing blanks are removed.
fn options_page(texts: &[(&str, String)]) -> String {
    let mut page = String::from(
        "<!-- Made by `cargo xtask docs` from `--help-all` of the tools. -->\n\n# Options of the tools\n\nThis page lists the options of every tool. \
         The [tools](../tools.md) page explains what they have in common.\n\
         `--help` of a tool shows the most used options.\n",
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
    let page = options_page(&TOOLS.map(|tool| (tool, help_page(tool, "--help-all"))));
    let path = root().join(PAGE);
    if bless::is_blessed(PAGE) {
        fs::write(&path, &page).unwrap_or_else(|error| panic!("{PAGE}: {error}"));
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let difference = first_difference(&found, &page).map(|line| format!("{PAGE}:{line}"));
    expect_none(
        "the page of options is not what `--help-all` prints; `cargo xtask docs` writes it:",
        &difference.into_iter().collect::<Vec<_>>(),
    );
}

#[test]
fn shows_options_as_printed() {
    let page =
        options_page(&[("one", "Does one\n\nOptions:\n  -q  \n\n".to_owned()), ("two", "Does two\n".to_owned())]);
    assert!(
        page.ends_with("\n## one\n\n```text\nDoes one\n\nOptions:\n  -q\n```\n\n## two\n\n```text\nDoes two\n```\n"),
        "{page}"
    );
}
