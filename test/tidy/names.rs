//! Names and doc comments: the forms that `docs/reference/testing.md` forbids.
//!
//! The checks look at forms only, and have no exceptions. Whether a name is understood is for a reviewer.

use super::{RustSource, expect_none, list_files, load_sources, read_file};
use std::collections::BTreeMap;

/// Beginnings of doc comments that are no verb and no noun phrase with a head.
const COMMENT_BEGINNINGS: [&str; 9] =
    ["What ", "The same", "Whether of", "Of what", "Of which", "That ", "Who ", "Whose ", "Those "];

/// Words that are no name of a function: it begins with a verb, or is a noun phrase.
const FUNCTION_NAMES: [&str; 16] = [
    "of", "by", "with", "on", "in", "shown", "said", "told", "seen", "kept", "anew", "again", "what", "who", "place",
    "way",
];

/// First words of names of functions that are no verb and no noun phrase.
const FUNCTION_BEGINNINGS: [&str; 12] =
    ["what_", "who_", "whose_", "behind_", "beside_", "the_", "every_", "a_", "an_", "anew_", "such_", "it_"];

/// Words that are no name of a type without a qualifier.
const TYPE_NAMES: [&str; 32] = [
    "Again", "Answer", "Builder", "Cell", "Course", "Cut", "Element", "Entry", "Form", "Found", "Given", "Kept",
    "Kind", "Known", "Level", "Made", "Near", "Part", "Place", "Reader", "Row", "Run", "Seen", "Stay", "Step", "Taken",
    "Turn", "Value", "Walk", "Wanted", "Way", "Written",
];

/// Beginnings of names of constants; `MAX_` and `MIN_` are the words.
const CONSTANT_BEGINNINGS: [&str; 3] = ["MOST_", "LEAST_", "FEWEST_"];

/// Kinds of items, as the code declares them.
const TYPE_KEYWORDS: [&str; 4] = ["struct ", "enum ", "trait ", "union "];

/// Returns the names that the code declares after `keyword`, each with its byte offset.
fn declared<'a>(code: &'a str, keyword: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    super::find_word(code, keyword).filter_map(move |offset| {
        let rest = &code[offset + keyword.len()..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
        (end > 0).then(|| (offset, &rest[..end]))
    })
}

/// Returns the types that shipped code declares, each with its byte offset.
fn declared_types(source: &RustSource) -> impl Iterator<Item = (usize, &str)> {
    TYPE_KEYWORDS.iter().flat_map(|keyword| declared(&source.shipped, keyword))
}

/// Returns the crate of a file: the folder whose `Cargo.toml` it belongs to.
fn crate_of(path: &str) -> String {
    let folders: Vec<&str> = path.split('/').collect();
    let depth = if ["crates", "tools"].contains(&folders[0]) { 2 } else { 1 };
    folders[..depth].join("/")
}

/// Returns violations of the rules for the names that one file declares.
fn check_names(source: &RustSource) -> Vec<String> {
    let mut violations = Vec::new();
    let mut report = |offset: usize, name: &str, reason: &str| {
        violations.push(format!("{}: {name} {reason}", source.location(offset)));
    };
    for (offset, name) in declared(&source.code, "fn ") {
        if FUNCTION_NAMES.contains(&name) || FUNCTION_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            report(offset, name, "begins with no verb and is no noun phrase");
        }
    }
    for keyword in ["const ", "static "] {
        for (offset, name) in declared(&source.code, keyword) {
            if CONSTANT_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
                report(offset, name, "is a limit: MAX_ or MIN_");
            }
        }
    }
    for (offset, name) in declared_types(source) {
        if TYPE_NAMES.contains(&name) {
            report(offset, name, "does not say which");
        }
    }
    violations
}

/// Returns the type names that occur twice in a crate.
fn repeated_types(sources: &[RustSource]) -> Vec<String> {
    let mut places: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for source in sources {
        for (offset, name) in declared_types(source) {
            places.entry((crate_of(&source.path), name)).or_default().push(source.location(offset));
        }
    }
    let repeated = places.into_iter().filter(|(_, places)| places.len() > 1);
    repeated.map(|((_, name), places)| format!("{name}: {}", places.join(", "))).collect()
}

/// Returns the doc comments of a text that begin in a forbidden form, as lines.
fn check_comments(path: &str, text: &str) -> Vec<String> {
    let comment = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(|rest| rest.trim_start().to_owned())
    };
    let mut violations = Vec::new();
    let mut is_inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        let found = comment(line);
        if let Some(found) = &found
            && !is_inside
            && COMMENT_BEGINNINGS.iter().any(|beginning| found.starts_with(beginning))
        {
            violations.push(format!("{path}:{number}: {found}"));
        }
        is_inside = found.is_some();
    }
    violations
}

const FOLDERS: [&str; 8] = ["crates", "src", "tools", "test", "benches", "capi", "python", "spyre"];

#[test]
fn names_say_what_they_stand_for() {
    let sources = load_sources(&FOLDERS);
    let violations: Vec<String> = sources.iter().flat_map(check_names).collect();
    expect_none("a name is a word of the field with a head (docs/reference/testing.md):", &violations);
}

#[test]
fn type_names_occur_once_in_a_crate() {
    let sources = load_sources(&["crates", "src", "tools", "capi", "python", "spyre"]);
    expect_none("a type name occurs once in a crate:", &repeated_types(&sources));
}

#[test]
fn doc_comments_begin_with_a_verb_or_a_noun() {
    let rust = FOLDERS.iter().flat_map(|folder| list_files(folder, &["rs"]));
    let paths = rust.chain(list_files("dialects", &["td", "cpp", "h"]));
    let violations: Vec<String> = paths.flat_map(|path| check_comments(&path, &read_file(&path))).collect();
    expect_none("a doc comment begins with a verb or a noun phrase:", &violations);
}

#[test]
fn detects_planted_names() {
    let text = "/// What it is.\nstruct Part;\nfn of() {}\nfn what_is() {}\nconst MOST_X: u8 = 1;\n\n/// Returns it.\nfn get() {}\n";
    let source = RustSource::new("src/a.rs", text);
    assert_eq!(check_names(&source).len(), 4, "{:?}", check_names(&source));
    assert_eq!(check_comments("src/a.rs", text), ["src/a.rs:1: What it is."]);
    let twice = [RustSource::new("src/a.rs", "struct A;\n"), RustSource::new("src/b.rs", "enum A {}\n")];
    assert_eq!(repeated_types(&twice), ["A: src/a.rs:1, src/b.rs:1"]);
    let apart = [RustSource::new("src/a.rs", "struct A;\n"), RustSource::new("crates/b/src/b.rs", "enum A {}\n")];
    assert_eq!(repeated_types(&apart), Vec::<String>::new());
}
