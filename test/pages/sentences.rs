//! Sentences of pages: none has more than 40 words, and the average of a page is at most 25.

use super::{
    Page, expect_rule,
    text::{BlockKind, split_blocks},
};

/// Maximum number of words of one sentence.
const MAX_WORDS: usize = 40;

/// Maximum average number of words of the sentences of a page.
const MAX_MEAN_WORDS: usize = 25;

/// Pages that are being edited elsewhere. The list may only shrink.
const EXEMPT: &[&str] = &[];

/// Abbreviations whose full stop ends no sentence.
const ABBREVIATIONS: [&str; 5] = ["e.g.", "i.e.", "vs.", "cf.", "etc."];

/// Splits a text into sentences and counts the words of each.
fn measure_sentences(text: &str) -> Vec<(usize, String)> {
    let mut sentences = vec![Vec::new()];
    for word in text.split_whitespace() {
        if let Some(sentence) = sentences.last_mut() {
            sentence.push(word);
        }
        let bare = word.trim_end_matches([')', '"', '\'']);
        if bare.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&bare) {
            sentences.push(Vec::new());
        }
    }
    let count = |sentence: &Vec<&str>| sentence.iter().filter(|word| word.contains(char::is_alphanumeric)).count();
    sentences.iter().map(|sentence| (count(sentence), sentence.join(" "))).filter(|(words, _)| *words > 0).collect()
}

/// Returns the sentences of `page` that are too long, and the average length if it is too large.
fn find_long_sentences(page: &Page) -> Vec<String> {
    let mut violations = Vec::new();
    let (mut words_total, mut sentences_total) = (0, 0);
    for block in split_blocks(&page.text) {
        for (words, sentence) in measure_sentences(&block.text) {
            if words > MAX_WORDS {
                let start: String = sentence.chars().take(80).collect();
                violations.push(format!("{}: {words} words: {start}...", page.format_location(block.line)));
            }
            if block.kind == BlockKind::Paragraph {
                words_total += words;
                sentences_total += 1;
            }
        }
    }
    if words_total > MAX_MEAN_WORDS * sentences_total {
        violations.push(format!(
            "{}: {sentences_total} sentences have {words_total} words, more than 25 on average",
            page.path
        ));
    }
    violations
}

#[test]
fn keeps_sentences_short() {
    expect_rule("a sentence has at most 40 words, and 25 on average over a page:", EXEMPT, find_long_sentences);
}

#[test]
fn finds_long_sentences() {
    let count = |text: &str| find_long_sentences(&Page::new("docs/a.md", text)).len();
    let words = |number: usize| vec!["word"; number].join(" ");
    let short = "Short one. ".repeat(9);
    assert_eq!(count(&format!("{short}\n{}.\n", words(40))), 0);
    assert_eq!(count(&format!("{short}\n{}.\n", words(41))), 1);
    assert_eq!(count(&format!("| a | {} |\n", words(41))), 1, "a cell is a text of its own");
    assert_eq!(count(&format!("{short}\n{}. {}.\n", words(30), words(30))), 0);
    assert_eq!(count(&format!("{}. {}.\n", words(30), words(30))), 1, "the mean is too high");
    assert_eq!(count(&format!("{short}\n* {}\n* {}\n", words(30), words(30))), 0, "items are texts of their own");
    assert_eq!(count(&format!("{short}\n{} `{}` {}.\n", words(19), words(9), words(20))), 0, "a code span is one word");
    assert_eq!(measure_sentences("One, e.g. two (three.) Four 1.5 five?").len(), 2);
}
