//! The syntax around a position in MLIR text: the word, the open brackets, and the op of the statement.
//!
//! The text need not parse, because completion runs on incomplete programs. A window of lines is scanned.

use super::documents::{Document, TextPosition};

/// Number of lines before the position that are scanned. The last lines of a longer statement have no completion.
const WINDOW_LINES: usize = 100;

/// Bracket that is open at the position.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBracket<'t> {
    pub(super) bracket: char,
    /// Text of the window before the bracket, without trailing blanks.
    pub(super) before: &'t str,
    /// Text between the bracket and the position.
    pub(super) content: &'t str,
    /// Text between the last comma at the nesting level of the bracket and the position.
    pub(super) item: &'t str,
}

/// Syntax around a position.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    /// Number and text of the line that contains the position.
    pub(super) line: (usize, &'t str),
    /// Byte range of the part of the word that is before the position.
    pub(super) prefix: std::ops::Range<usize>,
    /// Text of the line before the prefix.
    pub(super) before: &'t str,
    pub(super) is_in_string: bool,
    /// Name of the op whose statement contains the position.
    pub(super) op: Option<&'t str>,
    /// Open brackets of the statement, outermost first.
    pub(super) openings: Vec<OpenBracket<'t>>,
}

impl<'t> Cursor<'t> {
    /// Scans the text before a position.
    pub(super) fn from_position(document: &'t Document, position: TextPosition) -> Option<Self> {
        let line = document.line(position.line)?;
        let end = document.byte_offset(position)?;
        let first = position.line.saturating_sub(WINDOW_LINES);
        let start: usize = document.text.split('\n').take(first).map(|line| line.len() + 1).sum();
        let in_line: usize = end - document.text[..end].rfind('\n').map_or(0, |at| at + 1);
        let word_start =
            line.1[..in_line].rfind(|letter| !is_word_char(letter)).map_or(0, |at| at + char_len_at(line.1, at));
        let mut scan = SyntaxScanner { text: &document.text[start..end], ..SyntaxScanner::default() };
        scan.run();
        let text = scan.text;
        let opening = |&(bracket, at, item): &(char, usize, usize)| OpenBracket {
            bracket,
            before: text[..at].trim_end(),
            content: &text[at + 1..],
            item: &text[item..],
        };
        Some(Self {
            line,
            prefix: word_start..in_line,
            before: &line.1[..word_start],
            is_in_string: scan.is_in_string,
            op: scan.op,
            openings: scan.openings[scan.n_outer..].iter().map(opening).collect(),
        })
    }

    /// Returns the innermost open bracket.
    pub(super) fn innermost_bracket(&self) -> Option<&OpenBracket<'t>> {
        self.openings.last()
    }

    /// Returns the complete word at the position with its sigil, and its byte range in the line.
    pub(super) fn word(&self) -> Option<(&'t str, std::ops::Range<usize>)> {
        let text = self.line.1;
        let rest = &text[self.prefix.end..];
        let end = self.prefix.end + rest.find(|letter| !is_word_char(letter)).unwrap_or(rest.len());
        let mut start = self.prefix.start;
        if text[..start].ends_with(['#', '!']) {
            start -= 1;
        }
        Some((&text[start..end], start..end)).filter(|(word, _)| !word.is_empty())
    }
}

fn char_len_at(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Returns whether a character may be part of a word of MLIR.
fn is_word_char(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.')
}

/// Scanner of a window of lines.
#[derive(Default)]
struct SyntaxScanner<'t> {
    text: &'t str,
    is_in_string: bool,
    op: Option<&'t str>,
    /// Open brackets: the bracket, its byte, and the byte at which the current item begins.
    openings: Vec<(char, usize, usize)>,
    /// Number of brackets that were open at the start of the statement.
    n_outer: usize,
}

impl<'t> SyntaxScanner<'t> {
    fn run(&mut self) {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            self.is_in_string = false;
            if let Some(op) = parse_op_name(line) {
                (self.op, self.n_outer) = (Some(op), self.openings.len());
            }
            self.scan_line(line, start);
            start += line.len();
        }
    }

    fn scan_line(&mut self, line: &'t str, start: usize) {
        let mut letters = line.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let is_followed_by = |next: char| line[at + letter.len_utf8()..].starts_with(next);
            match letter {
                '\\' if self.is_in_string => drop(letters.next()),
                '"' => self.is_in_string = !self.is_in_string,
                _ if self.is_in_string => {}
                '/' if is_followed_by('/') => return,
                '-' if is_followed_by('>') => drop(letters.next()),
                '(' | '[' | '{' | '<' => self.openings.push((letter, start + at, start + at + 1)),
                ')' => self.close_bracket('('),
                ']' => self.close_bracket('['),
                '}' => self.close_bracket('{'),
                '>' if self.openings.last().is_some_and(|(bracket, ..)| *bracket == '<') => self.close_bracket('<'),
                ',' => {
                    if let Some((_, _, item)) = self.openings.last_mut() {
                        *item = start + at + 1;
                    }
                }
                _ => {}
            }
        }
    }

    /// Closes a bracket, and unclosed brackets inside it.
    fn close_bracket(&mut self, bracket: char) {
        if let Some(at) = self.openings.iter().rposition(|(open, ..)| *open == bracket) {
            self.openings.truncate(at);
            self.n_outer = self.n_outer.min(at);
        }
    }
}

/// Returns the name of the op that a line begins with; `None` if the line continues a statement.
fn parse_op_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let op = match line.strip_prefix('%') {
        Some(results) => results.split_once('=').map(|(_, op)| op.trim_start())?,
        None => line,
    };
    let op = op.strip_prefix('"').unwrap_or(op);
    let length = op.find(|letter| !is_word_char(letter)).unwrap_or(op.len());
    let (name, rest) = op.split_at(length);
    let is_attribute = rest.trim_start().starts_with('=');
    let is_name =
        name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && (name.contains('.') || name == "return");
    (is_name && !is_attribute).then_some(name)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a document, and the position that `|` marks in its text.
    pub(in crate::tool::lsp) fn parse_marked_text(text: &str) -> (Document, TextPosition) {
        let (before, after) = text.split_once('|').unwrap();
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap().chars().map(char::len_utf16).sum();
        (Document { version: 1, text: format!("{before}{after}") }, TextPosition { line, character })
    }

    /// Returns the op, the brackets, the word before the position, and whether it is in a string.
    fn describe_cursor(text: &str) -> (Option<String>, String, String, bool) {
        let (document, position) = parse_marked_text(text);
        let cursor = Cursor::from_position(&document, position).unwrap();
        let brackets = cursor.openings.iter().map(|opening| opening.bracket).collect();
        (cursor.op.map(str::to_owned), brackets, cursor.line.1[cursor.prefix.clone()].to_owned(), cursor.is_in_string)
    }

    fn check_cursor(text: &str, op: &str, brackets: &str, prefix: &str, is_in_string: bool) {
        assert_eq!(
            describe_cursor(text),
            (Some(op.to_owned()), brackets.to_owned(), prefix.to_owned(), is_in_string),
            "{text}"
        );
    }

    #[test]
    fn finds_brackets_of_statement() {
        check_cursor("func.func @f(%x: tensor<4xf16> {spy|", "func.func", "({", "spy", false);
        check_cursor("func.func @f() {\n  %0 = spyre.pointwise ex|", "spyre.pointwise", "", "ex", false);
        check_cursor(
            "func.func @f() {\n  %0 = spyre.pointwise exp(%x) {work = #spyre.work<[1,\n 2]>, di|ms",
            "spyre.pointwise",
            "{",
            "di",
            false,
        );
        check_cursor("%0 = \"spyre.reduce\"(%x) <{function = \"su|", "spyre.reduce", "<{", "su", true);
        check_cursor("func.func @f() -> tensor<4xf16>\n    attributes {|", "func.func", "{", "", false);
    }

    #[test]
    fn ignores_brackets_in_strings_comments_and_arrows() {
        check_cursor("spyre.copy %x {a = \"{[\\\"(\"} // ((\n  : tensor<4xf16> -> |", "spyre.copy", "", "", false);
    }

    #[test]
    fn drops_closed_region_before_next_statement() {
        check_cursor("spyre.hint tiles(M = 2) {\n  spyre.yield %x\n}\nspyre.fill |", "spyre.fill", "", "", false);
        check_cursor("spyre.hint tiles(M = 2) {\n  %0 = arith.constant {|", "arith.constant", "{", "", false);
    }

    #[test]
    fn distinguishes_attribute_at_line_start_from_op() {
        check_cursor("spyre.copy %x {\n  spyre.times = 2,\n  |", "spyre.copy", "{", "", false);
        check_cursor("spyre.fill dense<[\n  1.0,\n  2.|", "spyre.fill", "<[", "2.", false);
        let (document, position) = parse_marked_text("spyre.copy %x {\n  spyre.times = 2,\n  wo|");
        let cursor = Cursor::from_position(&document, position).unwrap();
        let dictionary = cursor.innermost_bracket().unwrap();
        assert_eq!(
            [dictionary.before, dictionary.item, dictionary.content],
            ["spyre.copy %x", "\n  wo", "\n  spyre.times = 2,\n  wo"]
        );
    }

    #[test]
    fn returns_word_with_sigil_and_end() {
        let word = |text: &str| {
            let (document, position) = parse_marked_text(text);
            Cursor::from_position(&document, position).unwrap().word().map(|(word, bytes)| (word.to_owned(), bytes))
        };
        assert_eq!(word("é work = #spyre.wo|rk<[1]>"), Some(("#spyre.work".to_owned(), 10..21)));
        assert_eq!(word("é| = 1"), None);
        assert_eq!(word("|spyre.copy"), Some(("spyre.copy".to_owned(), 0..10)));
    }
}
