//! Checks that pages use the terms of the field: prose contains no phrase of `phrases.txt`.

use super::{Page, expect_rule, text::split_blocks};

/// Phrases, one per line: `phrase | replacement`.
const PHRASES: &str = include_str!("phrases.txt");

/// Pages that are being edited elsewhere. The list may only shrink.
const EXEMPT: &[&str] = &["docs/measurements/models.md", "docs/reference/supported-ops.md"];

/// Returns the phrases and their replacements.
fn parse_phrases(list: &str) -> Vec<(&str, &str)> {
    let rows = list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.map(|row| row.split_once(" | ").unwrap_or_else(|| panic!("phrases.txt: no ' | ' in: {row}"))).collect()
}

/// Returns whether `text` contains `phrase` at word boundaries. Both are in lower case.
pub(super) fn contains_words(text: &str, phrase: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '-';
    text.match_indices(phrase).any(|(offset, _)| {
        !text[..offset].ends_with(is_letter) && !text[offset + phrase.len()..].starts_with(is_letter)
    })
}

fn find_private_phrases(page: &Page, phrases: &[(&str, &str)]) -> Vec<String> {
    let mut violations = Vec::new();
    for block in split_blocks(&page.text) {
        let text = block.text.to_lowercase();
        let found = phrases.iter().filter(|(phrase, _)| contains_words(&text, phrase));
        violations
            .extend(found.map(|(phrase, instead)| {
                format!("{}: '{phrase}'; write: {instead}", page.format_location(block.line))
            }));
    }
    violations
}

#[test]
fn uses_words_of_the_field() {
    let phrases = parse_phrases(PHRASES);
    assert!(phrases.len() > 50, "phrases.txt has {} phrases", phrases.len());
    expect_rule("prose has no phrase of test/pages/phrases.txt:", EXEMPT, |page| find_private_phrases(page, &phrases));
}

#[test]
fn finds_private_phrases() {
    let phrases = parse_phrases("# a comment\n\nof run time | runtime\ndear | expensive\n");
    let found = |text: &str| find_private_phrases(&Page::new("docs/a.md", text), &phrases);
    assert_eq!(found("Numbers Of\nrun time.\n"), ["docs/a.md:1: 'of run time'; write: runtime"]);
    assert_eq!(found("| a | dear |\n").len(), 1);
    assert_eq!(found("`dear` endeared, dearly\n\n```text\ndear\n```\n").len(), 0);
}

/// A replacement must not contain a phrase of another row.
#[test]
fn contains_no_private_phrase_in_replacements() {
    let phrases = parse_phrases(PHRASES);
    let wrong = phrases.iter().filter(|(_, instead)| phrases.iter().any(|(phrase, _)| contains_words(instead, phrase)));
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}
