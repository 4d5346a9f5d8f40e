//! Checks that all link targets of the project's pages exist: files, headings, and the paths that the pages name. The
//! book has every page.

use super::{expect_none, list_files, read_file, root};
use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

/// Folders that contain pages, or that pages name.
const FOLDERS: [&str; 10] =
    ["benches", "crates", "dialects", "docs", "examples", "fuzz", "python", "src", "test", "tools"];

/// Page that cites paths of other projects.
const EXTERNAL_PATHS_PAGE: &str = "docs/reference/sources.md";

/// Table of contents of the book.
const CONTENTS: &str = "docs/SUMMARY.md";

fn list_pages() -> Vec<String> {
    let below = FOLDERS.into_iter().flat_map(|folder| list_files(folder, &["md"]));
    below
        .chain(["CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"].map(str::to_owned))
        .collect()
}

/// Returns the lines of a page outside of code.
fn prose_lines(page: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(page.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Splits a line into alternating text and code spans, text first.
fn split_spans(line: &str) -> impl Iterator<Item = (bool, &str)> {
    line.split('`').enumerate().map(|(number, part)| (number % 2 == 1, part))
}

/// Returns the link targets in a line. The text of a link may be code.
fn find_links(line: &str) -> Vec<&str> {
    let ends: Vec<&str> = line.split("](").skip(1).collect();
    ends.into_iter().filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// Returns the anchor of a heading in GitHub and mdBook.
fn to_anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter))
        .collect::<String>();
    kept.trim().replace(' ', "-")
}

fn collect_anchors(page: &str) -> BTreeSet<String> {
    let headings =
        prose_lines(page).filter_map(|(_, line)| line.strip_prefix('#')).map(|rest| rest.trim_start_matches('#'));
    headings.map(to_anchor).collect()
}

/// Returns a path without `..`.
fn normalize_path(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, component| {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
        plain
    })
}

/// Returns whether a code span is the path of one file or folder of the project, without a pattern or a placeholder in
/// capitals.
fn is_path(span: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ['_', '-', '.', '/'].contains(&letter);
    let stands_for_a_name = |part: &str| part.chars().any(char::is_alphabetic) && part == part.to_uppercase();
    let mut parts = span.split('/');
    let first = parts.next().unwrap_or_default();
    FOLDERS.contains(&first) && span.contains('/') && span.chars().all(is_plain) && !parts.any(stands_for_a_name)
}

/// Returns the broken links and paths of a page, as messages.
fn find_broken(place: &str, page: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for (number, line) in prose_lines(page) {
        for target in find_links(line).into_iter().filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() {
                PathBuf::from(place)
            } else {
                normalize_path(&Path::new(place).with_file_name(file))
            };
            if !root().join(&linked).exists() {
                broken.push(format!("{place}:{number}: there is no '{}'", linked.display()));
            } else if !heading.is_empty() {
                let text = if file.is_empty() { page.to_owned() } else { read_file(&linked.to_string_lossy()) };
                let is_there = collect_anchors(&text).contains(heading);
                broken.extend(
                    (!is_there)
                        .then(|| format!("{place}:{number}: '{}' has no heading '#{heading}'", linked.display())),
                );
            }
        }
        let named =
            split_spans(line).filter(|(is_code, span)| *is_code && place != EXTERNAL_PATHS_PAGE && is_path(span));
        let missing = named.filter(|(_, span)| !root().join(span).exists());
        broken.extend(missing.map(|(_, span)| format!("{place}:{number}: there is no '{span}'")));
    }
    broken
}

#[test]
fn resolves_links_and_paths_of_pages() {
    let pages = list_pages();
    assert!(pages.len() > 25, "{pages:?}");
    let found: Vec<String> = pages.iter().flat_map(|place| find_broken(place, &read_file(place))).collect();
    expect_none("links and paths of pages lead to files and headings of the project:", &found);
}

#[test]
fn lists_every_page_once_in_book() {
    let contents = read_file(CONTENTS);
    let mut chapters: Vec<String> =
        contents.lines().flat_map(find_links).map(|target| format!("docs/{target}")).collect();
    chapters.sort();
    let pages: Vec<String> = list_files("docs", &["md"]).into_iter().filter(|page| page != CONTENTS).collect();
    assert_eq!(chapters, pages, "{CONTENTS} has other pages (left) than docs (right)");
}

#[test]
fn finds_broken_links_and_paths() {
    let found = |page: &str| find_broken("docs/reference/testing.md", page).len();
    assert_eq!(
        found(
            "# A title\n[a](#a-title) [b](report.md#the-bound) [c](../../README.md) `src/lib.rs` [d](https://example.org/x)"
        ),
        0
    );
    assert_eq!(
        found("`src/*.rs` `src/STAGE/ir.rs` `src/<stage>/x.rs` `tests/x.rs`\n```\n[a](nowhere.md) `src/none.rs`\n```"),
        0
    );
    assert_eq!(found("[a](nowhere.md)\n[`b`](#nowhere)\n[c](report.md#nowhere)\n`src/none.rs` `docs/none.md`"), 5);
}

#[test]
fn derives_anchors_as_the_book_does() {
    let names = collect_anchors("# The `--check` option, and *how*\n```\n# a comment\n```\n## A_b c-d");
    assert_eq!(names, BTreeSet::from(["the---check-option-and-how".to_owned(), "a_b-c-d".to_owned()]));
}
