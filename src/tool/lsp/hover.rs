//! Hover: the documentation of the op, attribute or device function at a position.

use super::{
    attributes::find_attribute,
    cursor::Cursor,
    device_functions::{functions_at, to_markdown},
    documents::range_to_json,
    op_reference::{AttributeRow, OpReference},
};
use serde_json::{Value, json};
use std::ops::Range;

/// Documentation of the word at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hover {
    markdown: String,
    range: Value,
}

impl Hover {
    /// Returns the documentation of the word at a position; `None` if the word has none.
    pub(super) fn from_cursor(cursor: &Cursor<'_>, reference: &OpReference) -> Option<Self> {
        let (word, bytes) = cursor.word()?;
        let markdown = describe(cursor, reference, (word, &bytes))?;
        Some(Self { markdown, range: range_to_json(cursor.line, bytes) })
    }

    /// Adds the documentation to the reply of MLIR's server, which is empty or shows the op itself.
    pub(super) fn add_to(self, reply: &mut Value) {
        let viewed = match &reply["contents"] {
            Value::String(text) => Some(text.as_str()),
            contents => contents["value"].as_str(),
        };
        let value = viewed.map_or_else(
            || self.markdown.clone(),
            |viewed| format!("{}\n\n---\n\n{}", viewed.trim_end(), self.markdown),
        );
        let range = if reply["range"].is_object() { reply["range"].take() } else { self.range };
        *reply = json!({"contents": {"kind": "markdown", "value": value}, "range": range});
    }
}

fn describe(cursor: &Cursor<'_>, reference: &OpReference, (word, bytes): (&str, &Range<usize>)) -> Option<String> {
    if let Some(entry) = reference.entry(word) {
        return Some(entry.to_markdown(word));
    }
    let row = reference.attribute(word).or_else(|| find_attribute(cursor, reference, word));
    if let Some(row) = row {
        return Some(attribute_markdown(row, reference));
    }
    // The functions that are legal at the first character of the word.
    let start = Cursor { before: &cursor.line.1[..bytes.start], ..cursor.clone() };
    functions_at(&start).into_iter().find(|function| function.name == word).map(to_markdown)
}

/// Returns the documentation of an attribute, with that of its type.
pub(super) fn attribute_markdown(row: &AttributeRow, reference: &OpReference) -> String {
    let AttributeRow { name, form, text } = row;
    let title = format!("### `{name}`\n\n{text}");
    match reference.find_entry_by_form(form) {
        Some((name, entry)) => format!("{title}\n\n{}", entry.to_markdown(&name)),
        None if form.starts_with("::") || form == name => title,
        None => format!("{title}\n\n```mlir\n{form}\n```"),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::cursor::tests::parse_marked_text, *};

    fn hover(text: &str) -> Option<Hover> {
        let (document, position) = parse_marked_text(text);
        Hover::from_cursor(&Cursor::from_position(&document, position).unwrap(), &OpReference::load())
    }

    fn check_hover_prefix(text: &str, beginning: &str) {
        let found = hover(text).unwrap().markdown;
        assert!(found.starts_with(beginning), "{text}: {found}");
    }

    #[test]
    fn documents_ops_attributes_and_functions() {
        check_hover_prefix("%0 = spyre.re|duce sum(%x) dims [1]", "### `spyre.reduce`\n\n_Reduce");
        check_hover_prefix("%0 = |spyre.reduce sum(%x)", "### `spyre.reduce`");
        check_hover_prefix("%0 = spyre.reduce su|m(%x)", "### `sum`\n\nDevice function: reduction, 1 operand");
        check_hover_prefix("spyre.copy %x {place = #spy|re.place<lx, 0>}", "### `#spyre.place`\n\n_Assign");
        check_hover_prefix(
            "spyre.copy %x {wo|rk = #spyre.work<[1]>}",
            "### `work`\n\nSplit the iteration space of an op over cores\n\n### `#spyre.work`",
        );
        check_hover_prefix(
            "func.func @f(%x: t {spyre.d|ims = [\"M\"]})",
            "### `spyre.dims`\n\ndimension names of an argument\n\n```mlir\nspyre.dims = [",
        );
    }

    #[test]
    fn returns_nothing_for_undocumented_words() {
        for text in [
            "%0 = arith.add|f %x, %y",
            "%su|m = spyre.reduce max(%x)",
            "return %x : tensor<4x|f16>",
            "// |",
            "work| = 1",
        ] {
            assert_eq!(hover(text), None, "{text}");
        }
    }

    #[test]
    fn appends_documentation_to_hover_of_mlir_server() {
        let found = hover("%0 = spyre.re|duce sum(%x)").unwrap();
        let range = json!({"start": {"line": 0, "character": 5}, "end": {"line": 0, "character": 17}});
        let mut nothing = Value::Null;
        found.clone().add_to(&mut nothing);
        assert_eq!(nothing["range"], range);
        assert!(nothing["contents"]["value"].as_str().unwrap().starts_with("### `spyre.reduce`"));
        let own = json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}});
        let mut viewed = json!({"contents": {"kind": "markdown", "value": "\"spyre.reduce\"\n"}, "range": own});
        found.add_to(&mut viewed);
        assert!(
            viewed["contents"]["value"].as_str().unwrap().starts_with("\"spyre.reduce\"\n\n---\n\n### `spyre.reduce`")
        );
        assert_eq!(viewed["range"], own);
    }
}
