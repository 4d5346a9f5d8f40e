//! Codes of messages: each is emitted somewhere.

use super::{expect_none, read, sources, words};

/// Constants of the table in `src/codes`.
fn constants() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in super::files("src/codes", &["rs"]) {
        for line in read(&path).lines() {
            let mut line_words = line.trim_start().split(' ');
            let (Some(number), Some(name)) = (line_words.next(), line_words.next()) else { continue };
            if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
                found.push((format!("SPY{number:0>4}"), name.to_owned()));
            }
        }
    }
    found
}

#[test]
fn every_code_is_emitted() {
    let emitting = sources(&["src", "crates", "python/src", "tools"]);
    let emitting: Vec<&str> =
        emitting.iter().filter(|source| !source.path.starts_with("src/codes")).map(|source| source.shipped.as_str()).collect();
    let constants = constants();
    assert!(constants.len() > 150, "the table is not read");
    let is_emitted = |name: &str| emitting.iter().any(|text| words(text, name).next().is_some());
    let unused: Vec<String> = constants.iter().filter(|(_, name)| !is_emitted(name)).map(|(code, name)| format!("{code} {name}")).collect();
    expect_none("a code of `src/codes` that nothing emits", &unused);
}
