//! Rust files as code, with comments, contents of literals and unit tests blanked.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

const TEST_ATTRIBUTE: &str = "#[cfg(test)]";

/// A Rust file.
#[derive(Clone, Debug)]
pub struct RustSource {
    /// Path relative to the project.
    pub path: String,
    /// Text with blanked comments and literals; offsets and lines are unchanged.
    pub code: String,
    /// Code without unit tests: items after `#[cfg(test)]` are blanked, and the complete file of a test module.
    pub shipped: String,
}

impl RustSource {
    /// Returns a file with this text.
    #[must_use]
    pub fn new(path: impl Into<String>, text: &str) -> Self {
        let code = blank_comments_and_literals(text);
        Self { path: path.into(), shipped: blank_tests(&code), code }
    }

    /// Reads the files below the folders, sorted by name. A file that is a module for unit tests has no shipped code.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read_all(root: &Path, folders: &[&str]) -> Result<Vec<Self>, String> {
        let (mut sources, mut of_tests) = (Vec::new(), BTreeSet::new());
        for path in folders.iter().flat_map(|folder| rust_files(root, folder)) {
            let text = fs::read_to_string(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
            let source = Self::new(path, &text);
            of_tests.extend(source.test_modules(&text));
            sources.push(source);
        }
        for source in &mut sources {
            let is_in = |module: &String| {
                source.path == format!("{module}.rs") || source.path.starts_with(&format!("{module}/"))
            };
            if of_tests.iter().any(is_in) {
                source.shipped = blank_range(&source.code, 0, source.code.len());
            }
        }
        Ok(sources)
    }

    /// Returns `path:line` of a byte of the code.
    #[must_use]
    pub fn location(&self, offset: usize) -> String {
        format!("{}:{}", self.path, 1 + self.code[..offset].matches('\n').count())
    }

    /// Returns the number of lines with code, without tests.
    #[must_use]
    pub fn count_lines(&self) -> usize {
        self.shipped.lines().filter(|line| !line.trim().is_empty()).count()
    }

    /// Returns the modules in other files that are for unit tests only, as paths without `.rs`. `text` is the contents
    /// of the file.
    fn test_modules(&self, text: &str) -> Vec<String> {
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let own = self.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let mut found = Vec::new();
        for (start, _) in self.code.match_indices(TEST_ATTRIBUTE) {
            let end = find_item_end(&self.code, start + TEST_ATTRIBUTE.len());
            let words: Vec<&str> = self.code[start..end].trim_end_matches(';').split_whitespace().collect();
            let [.., "mod", name] = words.as_slice() else { continue };
            let named = text[start..end].split_once("#[path = \"").and_then(|(_, rest)| rest.split_once(".rs\""));
            match named {
                Some((name, _)) => found.push(format!("{folder}/{name}")),
                None => found.extend([format!("{folder}/{name}"), format!("{own}/{name}")]),
            }
        }
        found
    }
}

/// Lists the Rust files below a folder, relative to the root, sorted by name.
fn rust_files(root: &Path, folder: &str) -> Vec<String> {
    let (mut found, mut folders): (Vec<String>, Vec<PathBuf>) = (Vec::new(), vec![root.join(folder)]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// Returns the text with a range of bytes blanked; lines are unchanged.
fn blank_range(text: &str, from: usize, to: usize) -> String {
    let keep_line = |letter: char| if letter == '\n' { "\n".to_owned() } else { " ".repeat(letter.len_utf8()) };
    let blanks: String = text[from..to].chars().map(keep_line).collect();
    [&text[..from], &blanks, &text[to..]].concat()
}

/// Returns the code with items after `#[cfg(test)]` replaced by blanks.
fn blank_tests(code: &str) -> String {
    let (mut shipped, mut from) = (code.to_owned(), 0);
    while let Some(start) = code[from..].find(TEST_ATTRIBUTE).map(|found| from + found) {
        from = find_item_end(code, start + TEST_ATTRIBUTE.len());
        shipped = blank_range(&shipped, start, from);
    }
    shipped
}

/// Returns the end of the item that begins at `at`, with its leading attributes: after its `;`, its block or, for a
/// field or a variant, its comma.
fn find_item_end(code: &str, at: usize) -> usize {
    let mut start = at + (code[at..].len() - code[at..].trim_start().len());
    while code[start..].starts_with("#[") {
        let Some(close) = find_closing(&code[start + 1..]) else { return code.len() };
        start += 1 + close;
        start += code[start..].len() - code[start..].trim_start().len();
    }
    let mut words =
        code[start..].split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(|word| !word.is_empty());
    let is_visibility = |word: &&str| ["pub", "crate", "super"].contains(word);
    let first = words.find(|word| !is_visibility(word)).unwrap_or_default();
    let has_block = first != "use" && (first != "const" || words.next() == Some("fn")) && first != "static";
    let is_item =
        ["use", "const", "static", "mod", "fn", "struct", "enum", "impl", "trait", "type", "unsafe", "macro_rules"]
            .contains(&first);
    let mut depth = 0_usize;
    for (offset, letter) in code[start..].char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return start + offset,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        let ends = depth == 0 && (letter == ';' || letter == '}' && has_block || letter == ',' && !is_item);
        if ends {
            return start + offset + 1;
        }
    }
    code.len()
}

/// Returns the length of the bracketed group at the start of `code`.
fn find_closing(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, letter) in code.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' if depth == 1 => return Some(offset + 1),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the text with comments and contents of literals blanked.
#[must_use]
pub(crate) fn blank_comments_and_literals(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut kept, mut at) = (String::with_capacity(text.len()), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = if rest.starts_with(b"//") {
            rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            block_comment_len(rest)
        } else if let Some(hashes) =
            raw_string_hashes(rest).filter(|_| at == 0 || !is_word(bytes[at - 1]) || bytes[at - 1] == b'b')
        {
            let (close, open) = (format!("\"{}", "#".repeat(hashes)), hashes + 2);
            let inside = rest[open..].windows(close.len()).position(|end| end == close.as_bytes());
            inside.map_or(rest.len(), |inside| open + inside + close.len())
        } else if rest[0] == b'"' {
            literal_len(rest, b'"')
        } else if rest[0] == b'\'' && is_character(&text[at..]) {
            literal_len(rest, b'\'')
        } else {
            at += 1;
            continue;
        };
        let end = (at + length).min(bytes.len());
        out.push_str(&text[kept..at]);
        let letters = text[at..end].chars();
        letters.for_each(|letter| {
            if letter == '\n' { out.push('\n') } else { out.extend(std::iter::repeat_n(' ', letter.len_utf8())) }
        });
        (kept, at) = (end, end);
    }
    out.push_str(&text[kept..]);
    out
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether the quote at the start opens a character literal, not a lifetime.
fn is_character(code: &str) -> bool {
    let mut letters = code.chars().skip(1);
    letters.next() == Some('\\') || letters.next() == Some('\'')
}

/// Returns the length of the comment that begins here, including nested comments.
fn block_comment_len(code: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < code.len() {
        let step = &code[at..(at + 2).min(code.len())];
        at += match step {
            b"/*" => {
                depth += 1;
                2
            }
            b"*/" => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the number of `#` of the raw string that begins here.
fn raw_string_hashes(code: &[u8]) -> Option<usize> {
    let rest = code.strip_prefix(b"r")?;
    let hashes = rest.iter().take_while(|byte| **byte == b'#').count();
    (rest.get(hashes) == Some(&b'"')).then_some(hashes)
}

/// Returns the length of the string or character literal that begins here, including its quotes.
fn literal_len(code: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < code.len() && code[at] != quote {
        at += if code[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_literals() {
        let code = blank_comments_and_literals(
            "a(\"unsafe \\\" x\") /* unsafe /* unsafe */ unsafe */ 'u' '\\'' r#\"un\"safe\"# // unsafe\nfn f<'a>() {}",
        );
        assert!(
            !code.contains("unsafe")
                && !code.contains('"')
                && code.starts_with("a(")
                && code.ends_with("\nfn f<'a>() {}"),
            "{code}"
        );
        let text = "/* \u{e4} */ 'ä' \"ä\" b\"x\" x";
        assert_eq!(blank_comments_and_literals(text).trim_start_matches([' ', 'b']), "x");
        assert_eq!(blank_comments_and_literals(text).len(), text.len());
    }

    #[test]
    fn drops_test_code() {
        let shipped =
            |text: &str| RustSource::new("a.rs", text).shipped.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(shipped("a; #[cfg(test)] mod tests { fn f() { x } } b;"), "a; b;");
        assert_eq!(shipped("#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests; b;"), "b;");
        assert_eq!(shipped("#[cfg(test)] pub(crate) use a::{b, c}; b;"), "b;");
        assert_eq!(shipped("#[cfg(test)] fn f<A, B>(a: [A; 2]) -> B { x; } b;"), "b;");
        assert_eq!(shipped("#[cfg(test)] const A: [i64; 2] = { [1, 2] }; b;"), "b;");
        assert_eq!(shipped("enum E { A, #[cfg(test)] B { x: i64 }, C, #[cfg(test)] D }"), "enum E { A, , C, }");
    }

    #[test]
    fn finds_test_modules_in_other_files() {
        let text = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\n#[path = \"named.rs\"]\nmod other;\nmod real;";
        let source = RustSource::new("src/a/b.rs", text);
        assert_eq!(source.test_modules(text), ["src/a/tests", "src/a/b/tests", "src/a/named"]);
    }

    #[test]
    fn counts_lines_without_comments_and_tests() {
        assert_eq!(
            RustSource::new("a.rs", "//! A page.\n\nfn f() {\n    // Why.\n}\n#[cfg(test)]\nmod tests {\n}\n")
                .count_lines(),
            2
        );
    }
}
