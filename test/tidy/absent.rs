//! Checks that no test passes because its input is absent: it fails, or it is ignored with a reason if the input may be
//! absent.

use super::{RustSource, expect_none, list_files, read_file};
use std::ops::Range;

/// Attribute of a test that needs the reference material outside the repository; `cargo xtask test` runs all of these
/// tests where the material exists.
const IGNORED: &str =
    "#[ignore = \"needs ../shared, the material beside the project: cargo xtask test runs it where that is\"]";

/// Names by which tests find that material; only the listed files may use them.
const NAMES: [&str; 2] = ["SPYRE_SHARED", "../shared"];
const KNOWING: [&str; 2] = ["test/common/places.rs", "test/tidy/absent.rs"];

/// Code before a block in which a test returns without having checked anything.
const ABSENT: [&str; 4] = [" else {", ".exists() {", ".is_none() {", ".is_err() {"];

fn test_sources() -> Vec<(RustSource, String)> {
    let paths = list_files("test", &["rs"])
        .into_iter()
        .chain(list_files("crates", &["rs"]).into_iter().filter(|path| path.contains("/tests/")));
    let read = |path: String| {
        let text = read_file(&path);
        (RustSource::new(path, &text), text)
    };
    paths.filter(|path| !KNOWING.contains(&path.as_str())).map(read).collect()
}

/// Returns the code of modules `shared`: a file of that name, and the braced block after `mod shared` at the start of a
/// line.
fn find_shared_modules(source: &RustSource) -> Vec<Range<usize>> {
    if source.path.ends_with("/shared.rs") {
        return std::iter::once(0..source.code.len()).collect();
    }
    let begins = |(offset, _): &(usize, &str)| *offset == 0 || source.code[..*offset].ends_with('\n');
    let end = |from: usize| source.code[from..].find("\n}").map_or(source.code.len(), |length| from + length);
    source.code.match_indices("mod shared {").filter(begins).map(|(offset, _)| offset..end(offset)).collect()
}

/// Returns the code from each `#[test]` to the end of its function.
fn tests(source: &RustSource) -> Vec<Range<usize>> {
    let test = |(offset, _): (usize, &str)| {
        let line = source.code[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let end = format!("\n{}}}\n", &source.code[line..offset]);
        offset..source.code[offset..].find(&end).map_or(source.code.len(), |length| offset + length)
    };
    source.code.match_indices("#[test]").map(test).collect()
}

/// Returns whether a test returns early if its input is absent. A case of a property test may be skipped:
/// `return Ok(())`.
fn returns_early(test: &str) -> bool {
    let ends =
        |block: &str| block.split('}').next().unwrap_or_default().trim_end().trim_end_matches(';').ends_with("return");
    ABSENT.iter().any(|front| test.split(front).skip(1).any(ends))
}

fn find_violations(source: &RustSource, text: &str) -> Vec<String> {
    let modules = find_shared_modules(source);
    let is_shared = |offset: usize| modules.iter().any(|module| module.contains(&offset));
    let mut found = Vec::new();
    for name in NAMES {
        // The reason of an ignored test may contain the name.
        let in_literal = |(offset, _): &(usize, &str)| {
            let line = text[..*offset].rfind('\n').map_or(0, |newline| newline + 1);
            let line = text[line..].lines().next().unwrap_or_default().trim_start();
            !line.starts_with("//") && !line.starts_with("#[ignore")
        };
        let places = text.match_indices(name).filter(in_literal);
        found.extend(
            places.map(|(offset, _)| {
                format!("{}: '{name}': `common::shared` finds that material", source.location(offset))
            }),
        );
    }
    for (offset, _) in source.code.match_indices("common::shared").filter(|(offset, _)| !is_shared(*offset)) {
        found.push(format!("{}: `common::shared` outside of a module `shared`", source.location(offset)));
    }
    for (offset, list) in source.code.match_indices("common::{") {
        let imported = source.code[offset + list.len()..].split(';').next().unwrap_or_default();
        if imported
            .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
            .any(|name| name.starts_with("shared"))
        {
            found.push(format!("{}: write `common::shared` where it is used", source.location(offset)));
        }
    }
    for test in tests(source) {
        let is_ignored = text[test.clone()].trim_start_matches("#[test]").trim_start().starts_with(IGNORED);
        if is_ignored != is_shared(test.start) {
            found.push(format!(
                "{}: a test of a module `shared`, and no other, is {IGNORED}",
                source.location(test.start)
            ));
        }
        if returns_early(&source.code[test.clone()]) {
            found.push(format!("{}: this test may look at nothing", source.location(test.start)));
        }
    }
    for (offset, _) in source.code.match_indices("read_dir(") {
        let statement = source.code[offset..].split(';').next().unwrap_or_default();
        if statement.contains(" else {") {
            found.push(format!("{}: a folder that is absent is an error", source.location(offset)));
        }
    }
    found
}

#[test]
fn rejects_tests_that_pass_when_material_is_absent() {
    let sources = test_sources();
    assert!(
        sources.iter().any(|(source, _)| !find_shared_modules(source).is_empty()),
        "no test needs the material beside the project"
    );
    let found: Vec<String> = sources.iter().flat_map(|(source, text)| find_violations(source, text)).collect();
    expect_none("a test fails where something is absent that it looks at; see `common::shared`:", &found);
}

/// A test file that no program includes would never be run.
#[test]
fn includes_every_test_file_in_a_program() {
    let programs = ["test/compiler.rs", "test/plain.rs"].map(read_file);
    let is_module =
        |name: &str| programs.iter().any(|program| program.lines().any(|line| line == format!("mod {name};")));
    let is_lost = |name: &&str| !name.contains('/') && !["compiler", "lit", "plain"].contains(name) && !is_module(name);
    let paths = list_files("test", &["rs"]);
    let names = paths.iter().filter_map(|path| path.strip_prefix("test/")?.strip_suffix(".rs"));
    let lost: Vec<String> = names.filter(is_lost).map(|name| format!("test/{name}.rs")).collect();
    expect_none("a file of tests is a module of `test/compiler.rs` or `test/plain.rs`:", &lost);
}

#[test]
fn finds_tests_that_check_nothing() {
    let complaints = |text: &str| {
        let source = RustSource::new("test/some.rs", text);
        find_violations(&source, text).len()
    };
    let module = |attribute: &str| {
        format!("mod shared {{\n    #[test]\n    {attribute}\n    fn a() {{\n        common::shared(x);\n    }}\n}}\n")
    };
    assert_eq!(complaints(&module(IGNORED)), 0);
    assert_eq!(complaints(&module("#[ignore = \"slow\"]")), 1);
    assert_eq!(complaints("#[test]\nfn a() {\n    common::shared(x);\n}\n"), 1);
    assert_eq!(complaints(&format!("#[test]\n{IGNORED}\nfn a() {{}}\n")), 1);
    assert_eq!(complaints("fn a() {\n    let folder = root().join(\"../shared\");\n}\n"), 1);
    assert_eq!(
        complaints("#[test]\nfn a() {\n    let Ok(x) = read() else { return };\n}\n#[test]\nfn b() {\n    c();\n}\n"),
        1
    );
    assert_eq!(complaints("#[test]\nfn a() {\n    if !folder.exists() {\n        return;\n    }\n}\n"), 1);
    assert_eq!(
        complaints("fn a() {\n    let Ok(entries) = fs::read_dir(folder) else {\n        return;\n    };\n}\n"),
        1
    );
    assert_eq!(complaints("use crate::common::shared;\n"), 1);
    assert_eq!(complaints("use crate::common::{self, bless, shared};\n"), 1);
    assert_eq!(complaints("use crate::common::{self, bless};\n"), 0);
}
