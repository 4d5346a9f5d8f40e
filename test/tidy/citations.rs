//! Checks that every citation has a row in `docs/reference/sources.md`.

use super::{expect_none, list_files, read_file};
use std::collections::BTreeSet;

/// Form of a citation of each section of the page, and the heading of the section.
const PARTS: [(&str, &str); 4] = [
    ("torch-spyre facts, ", "## torch-spyre facts"),
    ("cost models, ", "## Cost models"),
    ("peers, ", "## Peers"),
    ("schema, ", "## Schema"),
];

/// Returns the names of the rows of a section: those in its first column.
fn row_names<'p>(page: &'p str, heading: &str) -> BTreeSet<&'p str> {
    let part = page.split_once(heading).map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or(rest));
    part.lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .filter(|name| !["name", "---"].contains(name))
        .collect()
}

/// Joins the text into one line: a citation may continue on the next comment line.
fn join_lines(text: &str) -> String {
    let words = text.lines().map(|line| line.trim_start().trim_start_matches(['/', '!', '#', '*']).trim());
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the names that follow `citation` in a text: `B.4`, `section 3`, `2.6`; several are separated by commas or
/// `and`.
fn find_citations(text: &str, citation: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (offset, _) in text.match_indices(citation) {
        let mut rest = &text[offset + citation.len()..];
        while let Some((name, after)) = first_name(rest) {
            found.push(name.to_owned());
            let next = [", ", " and "].iter().find_map(|between| after.strip_prefix(between));
            let Some(next) = next else { break };
            rest = next;
        }
    }
    found
}

/// Splits a text into a leading name and the remainder.
fn first_name(text: &str) -> Option<(&str, &str)> {
    let is_section = text.starts_with("section ");
    let begin = if is_section { "section ".len() } else { 0 };
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '.';
    let length = text[begin..].find(|letter| !is_part(letter)).unwrap_or(text.len() - begin);
    let name = text[..begin + length].trim_end_matches('.');
    (name.len() > begin).then(|| (name, &text[name.len()..]))
}

fn find_missing(text: &str, page: &str) -> Vec<String> {
    let text = join_lines(text);
    let of_part = |(citation, heading): &(&str, &str)| {
        let known = row_names(page, heading);
        // A subsection of the schema has the row of its section.
        let is_known = |name: &str| {
            known.contains(name)
                || name.split_once('.').is_some_and(|(whole, _)| name.starts_with("section") && known.contains(whole))
        };
        // Further chapters are cited by number alone: "2.6, 9".
        let is_known = |name: &String| is_known(name) || known.contains(format!("section {name}").as_str());
        find_citations(&text, citation)
            .into_iter()
            .filter(|name| !is_known(name))
            .map(|name| format!("{citation}{name}"))
            .collect::<Vec<_>>()
    };
    PARTS.iter().flat_map(of_part).collect()
}

#[test]
fn lists_source_of_every_citation() {
    let page = read_file("docs/reference/sources.md");
    let extensions = ["rs", "md", "td", "def", "cpp", "h"];
    let paths = ["src", "crates", "docs", "test", "dialects", "tools"]
        .into_iter()
        .flat_map(|folder| list_files(folder, &extensions));
    let complaints =
        |path: String| find_missing(&read_file(&path), &page).into_iter().map(move |name| format!("{path}: {name}"));
    let found: Vec<String> = paths.filter(|path| path != "test/tidy/citations.rs").flat_map(complaints).collect();
    expect_none("a source is cited that docs/reference/sources.md does not know:", &found);
}

#[test]
fn finds_citation_without_source() {
    let page = "## torch-spyre facts\n| name | about | public source |\n|---|---|---|\n| B.4 | x | y |\n## Cost models\n| section 9 | x | y |\n";
    let missing = |text: &str| find_missing(text, page);
    assert_eq!(
        missing("x (torch-spyre\n    /// facts, B.4) and \"cost models, 9\"; cost models, section 9."),
        Vec::<String>::new()
    );
    assert_eq!(missing("torch-spyre facts, B.4 and G.5"), ["torch-spyre facts, G.5"]);
    assert_eq!(
        missing("\"torch-spyre facts, B\"; schema, section 6.1"),
        ["torch-spyre facts, B", "schema, section 6.1"]
    );
}
