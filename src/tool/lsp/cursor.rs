//! The syntax around a position in MLIR text: the word, the brackets that are open, and the op of the statement.
//!
//! The text need not parse: nobody completes a word of a program that is complete. A window of lines is scanned.

use super::documents::{Document, Position};

/// Lines before the position that are scanned. A statement with more lines has no completion in its last ones.
const WINDOW: usize = 100;

/// Bracket that is open at the position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'t> {
    pub(super) bracket: char,
    /// Text of the window before the bracket, without blanks at the end.
    pub(super) before: &'t str,
    /// Text between the bracket and the position.
    pub(super) content: &'t str,
    /// Text between the last comma directly in the bracket and the position.
    pub(super) item: &'t str,
}

/// The syntax around a position.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'t> {
    /// Line of the position, and its number.
    pub(super) line: (usize, &'t str),
    /// Bytes of the line that the word before the position has.
    pub(super) prefix: std::ops::Range<usize>,
    /// Text of the line before the prefix.
    pub(super) before: &'t str,
    pub(super) is_in_string: bool,
    /// Name of the op whose statement the position is in.
    pub(super) op: Option<&'t str>,
    /// Brackets that the statement has opened, outermost first.
    pub(super) openings: Vec<Opening<'t>>,
}

impl<'t> Cursor<'t> {
    /// Scans the text before a position.
    pub(super) fn at(document: &'t Document, position: Position) -> Option<Self> {
        let line = document.line(position.line)?;
        let end = document.byte_of(position)?;
        let first = position.line.saturating_sub(WINDOW);
        let start: usize = document.text.split('\n').take(first).map(|line| line.len() + 1).sum();
        let in_line: usize = end - document.text[..end].rfind('\n').map_or(0, |at| at + 1);
        let word_start = line.1[..in_line].rfind(|letter| !is_word(letter)).map_or(0, |at| at + letter_len(line.1, at));
        let mut scan = Scan { text: &document.text[start..end], ..Scan::default() };
        scan.run();
        let text = scan.text;
        let opening = |&(bracket, at, item): &(char, usize, usize)| Opening {
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

    /// Returns the innermost bracket that is open.
    pub(super) fn innermost(&self) -> Option<&Opening<'t>> {
        self.openings.last()
    }

    /// Returns the word at the position: all of it, with its bytes in the line and its sigil.
    pub(super) fn word(&self) -> Option<(&'t str, std::ops::Range<usize>)> {
        let text = self.line.1;
        let rest = &text[self.prefix.end..];
        let end = self.prefix.end + rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let mut start = self.prefix.start;
        if text[..start].ends_with(['#', '!']) {
            start -= 1;
        }
        Some((&text[start..end], start..end)).filter(|(word, _)| !word.is_empty())
    }
}

fn letter_len(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

/// Whether a word of MLIR may have a letter.
fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.')
}

/// Scan of a window.
#[derive(Default)]
struct Scan<'t> {
    text: &'t str,
    is_in_string: bool,
    op: Option<&'t str>,
    /// Open brackets: the bracket, its byte, and the byte at which the current item begins.
    openings: Vec<(char, usize, usize)>,
    /// Number of brackets that were open before the statement.
    n_outer: usize,
}

impl<'t> Scan<'t> {
    fn run(&mut self) {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            self.is_in_string = false;
            if let Some(op) = op_of_line(line) {
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
                ')' => self.close('('),
                ']' => self.close('['),
                '}' => self.close('{'),
                '>' if self.openings.last().is_some_and(|(bracket, ..)| *bracket == '<') => self.close('<'),
                ',' => {
                    if let Some((_, _, item)) = self.openings.last_mut() {
                        *item = start + at + 1;
                    }
                }
                _ => {}
            }
        }
    }

    /// Closes a bracket, and those inside that the text does not close.
    fn close(&mut self, bracket: char) {
        if let Some(at) = self.openings.iter().rposition(|(open, ..)| *open == bracket) {
            self.openings.truncate(at);
            self.n_outer = self.n_outer.min(at);
        }
    }
}

/// Returns the name of the op that a line begins with; none for the next line of a statement.
fn op_of_line(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let op = match line.strip_prefix('%') {
        Some(results) => results.split_once('=').map(|(_, op)| op.trim_start())?,
        None => line,
    };
    let op = op.strip_prefix('"').unwrap_or(op);
    let length = op.find(|letter| !is_word(letter)).unwrap_or(op.len());
    let (name, rest) = op.split_at(length);
    let is_attribute = rest.trim_start().starts_with('=');
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic()) && (name.contains('.') || name == "return");
    (is_name && !is_attribute).then_some(name)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a document, and the position that `|` marks in its text.
    pub(in crate::tool::lsp) fn marked(text: &str) -> (Document, Position) {
        let (before, after) = text.split_once('|').unwrap();
        let line = before.matches('\n').count();
        let character = before.rsplit('\n').next().unwrap().chars().map(char::len_utf16).sum();
        (Document { version: 1, text: format!("{before}{after}") }, Position { line, character })
    }

    /// Returns the op, the brackets, the word before the position, and whether it is in a string.
    fn around(text: &str) -> (Option<String>, String, String, bool) {
        let (document, position) = marked(text);
        let cursor = Cursor::at(&document, position).unwrap();
        let brackets = cursor.openings.iter().map(|opening| opening.bracket).collect();
        (cursor.op.map(str::to_owned), brackets, cursor.line.1[cursor.prefix.clone()].to_owned(), cursor.is_in_string)
    }

    fn expect(text: &str, op: &str, brackets: &str, prefix: &str, is_in_string: bool) {
        assert_eq!(around(text), (Some(op.to_owned()), brackets.to_owned(), prefix.to_owned(), is_in_string), "{text}");
    }

    #[test]
    fn brackets_of_the_statement_are_known() {
        expect("func.func @f(%x: tensor<4xf16> {spy|", "func.func", "({", "spy", false);
        expect("func.func @f() {\n  %0 = spyre.pointwise ex|", "spyre.pointwise", "", "ex", false);
        expect(
            "func.func @f() {\n  %0 = spyre.pointwise exp(%x) {work = #spyre.work<[1,\n 2]>, di|ms",
            "spyre.pointwise",
            "{",
            "di",
            false,
        );
        expect("%0 = \"spyre.reduce\"(%x) <{function = \"su|", "spyre.reduce", "<{", "su", true);
        expect("func.func @f() -> tensor<4xf16>\n    attributes {|", "func.func", "{", "", false);
    }

    #[test]
    fn strings_comments_and_arrows_have_no_brackets() {
        expect("spyre.copy %x {a = \"{[\\\"(\"} // ((\n  : tensor<4xf16> -> |", "spyre.copy", "", "", false);
    }

    #[test]
    fn a_region_that_ends_is_no_part_of_the_next_statement() {
        expect("spyre.hint tiles(M = 2) {\n  spyre.yield %x\n}\nspyre.fill |", "spyre.fill", "", "", false);
        expect("spyre.hint tiles(M = 2) {\n  %0 = arith.constant {|", "arith.constant", "{", "", false);
    }

    #[test]
    fn an_attribute_at_the_beginning_of_a_line_is_no_op() {
        expect("spyre.copy %x {\n  spyre.times = 2,\n  |", "spyre.copy", "{", "", false);
        expect("spyre.fill dense<[\n  1.0,\n  2.|", "spyre.fill", "<[", "2.", false);
        let (document, position) = marked("spyre.copy %x {\n  spyre.times = 2,\n  wo|");
        let cursor = Cursor::at(&document, position).unwrap();
        let dictionary = cursor.innermost().unwrap();
        assert_eq!([dictionary.before, dictionary.item, dictionary.content], ["spyre.copy %x", "\n  wo", "\n  spyre.times = 2,\n  wo"]);
    }

    #[test]
    fn the_word_has_its_sigil_and_its_end() {
        let word = |text: &str| {
            let (document, position) = marked(text);
            Cursor::at(&document, position).unwrap().word().map(|(word, bytes)| (word.to_owned(), bytes))
        };
        assert_eq!(word("é work = #spyre.wo|rk<[1]>"), Some(("#spyre.work".to_owned(), 10..21)));
        assert_eq!(word("é| = 1"), None);
        assert_eq!(word("|spyre.copy"), Some(("spyre.copy".to_owned(), 0..10)));
    }
}
