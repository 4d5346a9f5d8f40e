//! Texts of the open documents, and positions in them.

use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Position in a document in the units of the protocol: lines and UTF-16 code units, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TextPosition {
    pub(super) line: usize,
    pub(super) character: usize,
}

impl TextPosition {
    /// Parses the position in the parameters of a request, or in a range.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let number = |name: &str| value[name].as_u64().and_then(|number| usize::try_from(number).ok());
        Some(Self { line: number("line")?, character: number("character")? })
    }

    pub(super) fn to_json(self) -> Value {
        json!({"line": self.line, "character": self.character})
    }
}

/// Returns the range of `bytes` in a line, as JSON.
pub(super) fn range_to_json(line: (usize, &str), bytes: std::ops::Range<usize>) -> Value {
    let (number, text) = line;
    let position = |byte: usize| TextPosition { line: number, character: count_utf16_units(text, byte) }.to_json();
    json!({"start": position(bytes.start), "end": position(bytes.end)})
}

/// Returns the number of UTF-16 code units before a byte of a line.
fn count_utf16_units(line: &str, byte: usize) -> usize {
    line.char_indices().take_while(|(at, _)| *at < byte).map(|(_, letter)| letter.len_utf16()).sum()
}

/// Text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Document {
    /// Version number that the editor assigned to this text.
    pub(super) version: i64,
    pub(super) text: String,
}

impl Document {
    /// Returns the lines, without line ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line))
    }

    /// Returns a line with its number.
    pub(super) fn line(&self, number: usize) -> Option<(usize, &str)> {
        self.lines().nth(number).map(|text| (number, text))
    }

    /// Returns the byte offset of a position in the text. A position after the end of its line is the end of the line.
    pub(super) fn byte_offset(&self, position: TextPosition) -> Option<usize> {
        let (_, line) = self.line(position.line)?;
        let start: usize = self.text.split('\n').take(position.line).map(|line| line.len() + 1).sum();
        let mut units = 0;
        let inside = line.char_indices().find(|(_, letter)| {
            let is_reached = units >= position.character;
            units += letter.len_utf16();
            is_reached
        });
        Some(start + inside.map_or(line.len(), |(byte, _)| byte))
    }

    /// Applies a change of a range or of the complete text. Positions after the end of the text are its end.
    fn apply_change(&mut self, change: &Value) {
        let Some(text) = change["text"].as_str() else { return };
        let byte = |end: &str| {
            TextPosition::from_json(&change["range"][end])
                .map(|position| self.byte_offset(position).unwrap_or(self.text.len()))
        };
        match (byte("start"), byte("end")) {
            (Some(start), Some(end)) => self.text.replace_range(start..end.max(start), text),
            _ => text.clone_into(&mut self.text),
        }
    }
}

/// The open documents, by URI.
#[derive(Debug, Default)]
pub(super) struct DocumentStore {
    open: BTreeMap<String, Document>,
}

impl DocumentStore {
    pub(super) fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    /// Handles `textDocument/didOpen`; returns the URI.
    pub(super) fn open(&mut self, params: &Value) -> Option<String> {
        let document = &params["textDocument"];
        let (uri, text) = (document["uri"].as_str()?, document["text"].as_str()?);
        let version = document["version"].as_i64().unwrap_or(0);
        self.open.insert(uri.to_owned(), Document { version, text: text.to_owned() });
        Some(uri.to_owned())
    }

    /// Handles `textDocument/didChange`; returns the URI.
    pub(super) fn change(&mut self, params: &Value) -> Option<String> {
        let uri = params["textDocument"]["uri"].as_str()?;
        let document = self.open.get_mut(uri)?;
        params["contentChanges"].as_array()?.iter().for_each(|change| document.apply_change(change));
        document.version = params["textDocument"]["version"].as_i64().unwrap_or(document.version + 1);
        Some(uri.to_owned())
    }

    /// Handles `textDocument/didClose`; returns the URI.
    pub(super) fn close(&mut self, params: &Value) -> Option<String> {
        let uri = params["textDocument"]["uri"].as_str()?;
        self.open.remove(uri);
        Some(uri.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_document(text: &str) -> DocumentStore {
        let mut documents = DocumentStore::default();
        documents.open(&json!({"textDocument": {"uri": "u", "version": 1, "text": text}})).unwrap();
        documents
    }

    #[test]
    fn counts_positions_in_utf16_units_and_clamps_to_line() {
        let documents = open_document("// é𝒙z\r\nnext");
        let byte = |line, character| documents.get("u").unwrap().byte_offset(TextPosition { line, character });
        // 'é' takes two bytes and one unit, '𝒙' four bytes and two units.
        assert_eq!([byte(0, 3), byte(0, 4), byte(0, 6), byte(0, 99)], [Some(3), Some(5), Some(9), Some(10)]);
        assert_eq!([byte(1, 0), byte(1, 4), byte(2, 0)], [Some(12), Some(16), None]);
        let line = documents.get("u").unwrap().line(0).unwrap();
        assert_eq!(
            range_to_json(line, 9..10),
            json!({"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 7}})
        );
    }

    #[test]
    fn replaces_ranges_or_complete_text() {
        let mut documents = open_document("a b\nc");
        let range = |from: usize, to: usize| json!({"start": {"line": 0, "character": from}, "end": {"line": 0, "character": to}});
        let changes = json!([{"range": range(2, 3), "text": "B\nx"}, {"range": range(0, 1), "text": ""}]);
        documents.change(&json!({"textDocument": {"uri": "u", "version": 7}, "contentChanges": changes})).unwrap();
        assert_eq!(documents.get("u").unwrap(), &Document { version: 7, text: " B\nx\nc".to_owned() });
        let after = json!({"start": {"line": 9, "character": 0}, "end": {"line": 10, "character": 0}});
        documents
            .change(
                &json!({"textDocument": {"uri": "u", "version": 7}, "contentChanges": [{"range": after, "text": "!"}]}),
            )
            .unwrap();
        assert_eq!(documents.get("u").unwrap().text, " B\nx\nc!");
        documents.change(&json!({"textDocument": {"uri": "u"}, "contentChanges": [{"text": "all"}]})).unwrap();
        assert_eq!(documents.get("u").unwrap(), &Document { version: 8, text: "all".to_owned() });
    }

    #[test]
    fn forgets_closed_document() {
        let mut documents = open_document("a");
        documents.close(&json!({"textDocument": {"uri": "u"}})).unwrap();
        assert!(documents.get("u").is_none());
        assert_eq!(documents.change(&json!({"textDocument": {"uri": "u"}, "contentChanges": []})), None);
    }
}
