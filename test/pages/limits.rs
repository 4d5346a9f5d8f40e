//! Length limits of pages and of their lines.

use super::{Page, all_pages, expect_rule, read_page, text::prose_lines};

/// Maximum number of lines of the README.
const MAX_README_LINES: usize = 150;

/// Maximum number of words of a concept page.
const MAX_CONCEPT_WORDS: usize = 1_200;

/// Maximum number of words of all prose pages of `docs`.
const MAX_WORDS: usize = 25_000;

/// Maximum number of columns of a line of prose.
const MAX_COLUMNS: usize = 120;

/// Folders of reference pages, which are excluded from the limit of all words.
const REFERENCE_FOLDERS: [&str; 2] = ["docs/reference/", "docs/measurements/"];

fn count_words(page: &Page) -> usize {
    page.text.split_whitespace().count()
}

/// Returns an error if `page` exceeds a limit of its kind.
fn check_page_length(page: &Page) -> Vec<String> {
    let (lines, words) = (page.text.lines().count(), count_words(page));
    let mut violations = Vec::new();
    if page.path == "README.md" && lines > MAX_README_LINES {
        violations.push(format!("README.md: {lines} lines, at most {MAX_README_LINES}"));
    }
    if page.is_below(&["docs/concepts/"]) && words > MAX_CONCEPT_WORDS {
        violations.push(format!("{}: {words} words, at most {MAX_CONCEPT_WORDS}", page.path));
    }
    violations
}

/// Returns an error if the pages of `docs` outside of the reference folders have too many words together.
fn check_total_words(pages: &[Page]) -> Vec<String> {
    let counted = pages.iter().filter(|page| page.is_below(&["docs/"]) && !page.is_below(&REFERENCE_FOLDERS));
    let mut words: Vec<(usize, &str)> = counted.map(|page| (count_words(page), page.path.as_str())).collect();
    words.sort_unstable_by(|a, b| b.cmp(a));
    let total: usize = words.iter().map(|(words, _)| words).sum();
    if total <= MAX_WORDS {
        return Vec::new();
    }
    let longest: Vec<String> = words.iter().take(5).map(|(words, path)| format!("{path} has {words}")).collect();
    vec![format!(
        "docs has {total} words outside of {REFERENCE_FOLDERS:?}, at most {MAX_WORDS}: {}",
        longest.join(", ")
    )]
}

/// Returns the lines of prose that are too wide. Rows of tables and code are exempt.
fn find_wide_lines(page: &Page) -> Vec<String> {
    let is_row = |line: &str| line.starts_with('|') || line.starts_with("<tr>");
    let is_wide = |line: &str| line.chars().count() > MAX_COLUMNS && !is_row(line.trim_start());
    let wide = prose_lines(&page.text).into_iter().filter(|(_, line)| is_wide(line));
    wide.map(|(number, line)| format!("{}: {} columns", page.format_location(number), line.chars().count())).collect()
}

#[test]
fn keeps_pages_within_their_lengths() {
    expect_rule("the README has at most 150 lines, a concept page at most 1,200 words:", &[], check_page_length);
}

#[test]
fn keeps_total_words_of_prose_within_limit() {
    let violations = check_total_words(&all_pages());
    assert!(violations.is_empty(), "{violations:?}");
}

#[test]
fn keeps_lines_of_pages_within_120_columns() {
    expect_rule("a line of prose has at most 120 columns:", &[], find_wide_lines);
}

#[test]
fn finds_long_pages() {
    let of_words = |path: &str, words: usize| Page::new(path, &"word ".repeat(words));
    assert!(check_page_length(&of_words("docs/concepts/a.md", 1_200)).is_empty());
    assert_eq!(check_page_length(&of_words("docs/concepts/a.md", 1_201)).len(), 1);
    assert!(check_page_length(&of_words("docs/reference/a.md", 1_201)).is_empty());
    assert!(check_page_length(&Page::new("README.md", &"line\n".repeat(150))).is_empty());
    assert_eq!(check_page_length(&Page::new("README.md", &"line\n".repeat(151))).len(), 1);
    let pages =
        |words: usize| [of_words("docs/index.md", words), of_words("docs/reference/a.md", 9), of_words("README.md", 9)];
    assert!(check_total_words(&pages(25_000)).is_empty());
    assert_eq!(check_total_words(&pages(25_001)).len(), 1);
}

#[test]
fn finds_wide_lines() {
    let wide = "x".repeat(121);
    let count = |text: &str| find_wide_lines(&Page::new("docs/a.md", text)).len();
    assert_eq!(
        count(&format!("{wide}\n| {wide} |\n<tr><td>{wide}</td></tr>\n```text\n{wide}\n```\n{}\n", "ü".repeat(120))),
        1
    );
    assert_eq!(find_wide_lines(&Page::new("docs/a.md", &format!("a\n{wide}\n"))), ["docs/a.md:2: 121 columns"]);
}

#[test]
fn includes_readme_in_pages() {
    assert!(all_pages().iter().any(|page| page.path == read_page("README.md").path));
}
