//! Codes of messages: each is emitted somewhere in the code.

use super::{expect_none, find_word, list_files, load_sources, read_file};
use rooms::RustSource;

/// Returns the constants of the table in `src/codes`.
fn read_code_constants() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for path in list_files("src/codes", &["rs"]) {
        for line in read_file(&path).lines() {
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
fn emits_every_code() {
    let rust = load_sources(&["src", "crates", "python/src", "tools"]);
    let is_table = |source: &&RustSource| source.path.starts_with("src/codes") && !source.path.ends_with("page.rs");
    let rust: Vec<&str> =
        rust.iter().filter(|source| !is_table(source)).map(|source| source.shipped.as_str()).collect();
    let cpp: Vec<String> = list_files("dialects", &["cpp"]).iter().map(|path| read_file(path)).collect();
    let constants = read_code_constants();
    assert!(constants.len() > 150, "the table is not read");
    let is_emitted = |code: &str, name: &str| {
        rust.iter().any(|text| find_word(text, name).next().is_some()) || cpp.iter().any(|text| text.contains(code))
    };
    let unused: Vec<String> = constants
        .iter()
        .filter(|(code, name)| !is_emitted(code, name))
        .map(|(code, name)| format!("{code} {name}"))
        .collect();
    expect_none("a code of `src/codes` that nothing emits", &unused);
}
