//! Rules for pages, each a test: lengths, line width, sentences, private phrases, and the terms of the glossary. A
//! failure names the file and line. `docs/reference/testing.md` lists the rules; `test/tidy/links.rs` checks links.

#[path = "pages/glossary.rs"]
mod glossary;
#[path = "pages/limits.rs"]
mod limits;
#[path = "pages/phrases.rs"]
mod phrases;
#[path = "pages/sentences.rs"]
mod sentences;
#[path = "pages/text.rs"]
mod text;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Pages outside of `docs`.
const ROOT_PAGES: [&str; 7] = [
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "python/README.md",
    "src/README.md",
];

/// A page of the project: its path from the root, and its text.
struct Page {
    path: String,
    text: String,
}

impl Page {
    fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns `path:line` for messages.
    fn format_location(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }

    fn is_below(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read_page(path: &str) -> Page {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Page::new(path, &text)
}

/// Lists the Markdown files below `folder`, sorted, as paths from the root.
fn list_markdown(folder: &Path) -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    let mut paths = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("entries of a folder can be read").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned());
            }
        }
    }
    paths.sort();
    paths
}

/// Returns all pages, sorted by path. Generated ones contain prose of `.td` files, tables and messages.
fn all_pages() -> Vec<Page> {
    let below_docs = list_markdown(&root().join("docs"));
    assert!(below_docs.len() > 30, "docs has {} pages", below_docs.len());
    let paths = ROOT_PAGES.iter().map(|path| (*path).to_owned()).chain(below_docs);
    paths.map(|path| read_page(&path)).collect()
}

/// Fails with the list of violations of `rule`, and with the pages of `exempt` that no longer violate it.
///
/// Pages in `exempt` are being edited elsewhere. The list may only shrink: remove a page as soon as it follows the
/// rule.
fn expect_rule(rule: &str, exempt: &[&str], check: impl Fn(&Page) -> Vec<String>) {
    let pages = all_pages();
    let is_exempt = |page: &Page| exempt.contains(&page.path.as_str());
    let violations: Vec<String> = pages.iter().filter(|page| !is_exempt(page)).flat_map(&check).collect();
    assert!(violations.is_empty(), "{rule}\n  {}\n", violations.join("\n  "));
    let is_broken = |path: &&&str| pages.iter().any(|page| page.path == **path && !check(page).is_empty());
    let clean: Vec<&&str> = exempt.iter().filter(|path| !is_broken(path)).collect();
    assert!(
        clean.is_empty(),
        "these pages keep the rule or are gone, remove them from the list of exemptions: {clean:?}\n  {rule}"
    );
}

#[test]
#[should_panic(expected = "remove them from the list of exemptions: [\"docs/index.md\"]")]
fn reports_exempt_page_that_follows_rule() {
    expect_rule("no page breaks this rule:", &["docs/index.md"], |_| Vec::new());
}

#[test]
#[should_panic(expected = "every page breaks this rule:\n  README.md\n")]
fn lists_violations() {
    let is_readme = |page: &Page| if page.path == "README.md" { vec![page.path.clone()] } else { Vec::new() };
    expect_rule("every page breaks this rule:", &[], is_readme);
}
