//! Checks that the project has at most thirty terms of its own, and that the glossary explains each of them.

use super::{
    Page, all_pages,
    phrases::contains_words,
    read_page,
    text::{plain_text, prose_lines, split_blocks},
};
use std::collections::BTreeSet;

/// Maximum number of entries of the glossary.
const MAX_ENTRIES: usize = 30;

const GLOSSARY: &str = "docs/glossary.md";

/// Words with a project-specific meaning. A page may use one only if the glossary has an entry for it.
const OWN_WORDS: [&str; 26] = [
    "bundle",
    "certificate",
    "core split",
    "core view",
    "device function",
    "device layout",
    "DL16",
    "execute",
    "HBM",
    "hint",
    "hint scope",
    "knob",
    "launch",
    "LX",
    "named dimension",
    "op spec",
    "pool",
    "referee",
    "restickify",
    "room",
    "SDSC",
    "span",
    "stick",
    "stick dimension",
    "SuperDSC",
    "symbolic size",
];

/// Returns the words that the glossary explains: the first cells of its rows, split at commas, without text in
/// brackets.
fn parse_glossary_entries(glossary: &Page) -> Vec<BTreeSet<String>> {
    let rows = prose_lines(&glossary.text).into_iter().filter_map(|(_, line)| line.trim().strip_prefix("| "));
    let cells = rows
        .filter_map(|row| row.split(" |").next())
        .filter(|cell| !cell.eq_ignore_ascii_case("word") && !cell.starts_with("--"));
    let words = |cell: &str| -> BTreeSet<String> {
        let bare = cell.split(" (").next().unwrap_or_default().replace('`', "");
        plain_text(&bare).split(',').map(|word| word.trim().to_lowercase()).collect()
    };
    cells.map(words).collect()
}

/// Returns the own words that `pages` use and `glossary` does not explain, and an error if it has too many entries.
fn find_unexplained_words(pages: &[Page], glossary: &Page) -> Vec<String> {
    let entries = parse_glossary_entries(glossary);
    let mut violations = Vec::new();
    if entries.len() > MAX_ENTRIES {
        violations.push(format!(
            "{GLOSSARY} has {} entries, at most {MAX_ENTRIES}; use the field's word for some",
            entries.len()
        ));
    }
    for word in OWN_WORDS {
        let lower = word.to_lowercase();
        if entries.iter().any(|words| words.contains(&lower)) {
            continue;
        }
        let uses = |page: &&Page| {
            split_blocks(&page.text).iter().any(|block| contains_words(&block.text.to_lowercase(), &lower))
        };
        if let Some(page) = pages.iter().filter(|page| page.path != GLOSSARY).find(uses) {
            violations.push(format!(
                "{}: '{word}' has no entry in {GLOSSARY}; explain it there, or use the field's word",
                page.path
            ));
        }
    }
    violations
}

#[test]
fn explains_project_words() {
    let pages: Vec<Page> = all_pages().into_iter().filter(|page| page.is_below(&["README.md", "docs/"])).collect();
    let violations = find_unexplained_words(&pages, &read_page(GLOSSARY));
    assert!(
        violations.is_empty(),
        "at most thirty words of our own, each in the glossary:\n  {}\n",
        violations.join("\n  ")
    );
}

#[test]
fn finds_unexplained_words_and_too_many_entries() {
    let glossary = |rows: usize| {
        let rows: String = (0..rows).map(|row| format!("| word{row} | meaning |\n")).collect();
        Page::new(
            GLOSSARY,
            &format!(
                "| word | meaning |\n|---|---|\n| SuperDSC, SDSC | a file |\n| core split (`work`) | slices |\n{rows}"
            ),
        )
    };
    let count =
        |text: &str, rows: usize| find_unexplained_words(&[Page::new("docs/a.md", text)], &glossary(rows)).len();
    assert_eq!(count("An SDSC file has a core split. `pool`\n", 28), 0);
    assert_eq!(count("An SDSC file has a core split.\n", 29), 1);
    assert_eq!(count("A pool.\n", 0), 1);
    assert_eq!(count("A Pool has a restickify.\n", 0), 2);
}
