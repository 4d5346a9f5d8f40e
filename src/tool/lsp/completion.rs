//! Completion: device functions, attributes and dimension names at a position.

use super::{
    attributes::{DimNameSyntax, attributes_at, collect_dimension_names, find_dim_name_syntax},
    cursor::Cursor,
    device_functions::{functions_at, summarize, to_markdown},
    documents::{Document, range_to_json},
    hover::attribute_markdown,
    op_reference::OpReference,
};
use serde_json::{Value, json};

/// Characters after which the editor requests completions, in addition to those of MLIR's server.
pub(super) const TRIGGER_CHARACTERS: [&str; 1] = ["{"];

/// Completion item kinds of the protocol.
const FUNCTION_KIND: u8 = 3;
const PROPERTY_KIND: u8 = 10;
const CONSTANT_KIND: u8 = 21;

/// Returns the completion items for a position.
pub(super) fn items_at(cursor: &Cursor<'_>, document: &Document, reference: &OpReference) -> Vec<Value> {
    let range = range_to_json(cursor.line, cursor.prefix.clone());
    let item = |label: &str, (kind, detail): (u8, &str), text: &str, markdown: Option<String>| {
        let mut item =
            json!({"label": label, "kind": kind, "detail": detail, "textEdit": {"range": range, "newText": text}});
        if let Some(value) = markdown {
            item["documentation"] = json!({"kind": "markdown", "value": value});
        }
        item
    };
    let functions = functions_at(cursor).into_iter();
    let functions =
        functions.map(|row| item(row.name, (FUNCTION_KIND, &summarize(row)), row.name, Some(to_markdown(row))));
    let attributes = attributes_at(cursor, reference).into_iter();
    let attributes = attributes.map(|row| {
        let markdown = attribute_markdown(row, reference);
        item(&row.name, (PROPERTY_KIND, &row.text), &format!("{} = ", row.name), Some(markdown))
    });
    let names = find_dim_name_syntax(cursor)
        .into_iter()
        .flat_map(|form| collect_dimension_names(&document.text).into_iter().map(move |name| (form, name)));
    let names = names.filter(|(_, name)| !is_being_written(cursor, document, name));
    let names = names.map(|(form, name)| {
        let text = match form {
            DimNameSyntax::Quoted | DimNameSyntax::Bare => name.to_owned(),
            DimNameSyntax::Unquoted => format!("\"{name}\""),
            DimNameSyntax::Counted => format!("{name} = "),
        };
        item(name, (CONSTANT_KIND, "dimension"), &text, None)
    });
    functions.chain(attributes).chain(names).collect()
}

/// Returns whether a name occurs only as the unfinished word at the position.
fn is_being_written(cursor: &Cursor<'_>, document: &Document, name: &str) -> bool {
    let word = cursor.word().map(|(word, _)| word);
    word == Some(name) && document.text.matches(&format!("\"{name}\"")).count() < 2 && cursor.is_in_string
}

/// Adds items to the reply of MLIR's server, and documentation to its items for ops of this compiler.
pub(super) fn add_to(reply: &mut Value, items: Vec<Value>, reference: &OpReference) {
    let mut all = match reply.take() {
        Value::Array(items) => items,
        mut list => {
            let items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
            *reply = list;
            items
        }
    };
    for item in &mut all {
        let entry = item["label"].as_str().and_then(|label| {
            let names = [label.to_owned(), format!("spyre.{label}")];
            names.into_iter().find_map(|name| reference.entry(&name).map(|entry| entry.to_markdown(&name)))
        });
        if let (Some(value), Value::Null) = (entry, &item["documentation"]) {
            item["documentation"] = json!({"kind": "markdown", "value": value});
        }
    }
    let is_new = |item: &Value| !all.iter().any(|known| known["label"] == item["label"]);
    let new: Vec<Value> = items.into_iter().filter(is_new).collect();
    all.extend(new);
    let is_incomplete = reply["isIncomplete"].as_bool().unwrap_or(false);
    *reply = json!({"isIncomplete": is_incomplete, "items": all});
}

#[cfg(test)]
mod tests {
    use super::{super::cursor::tests::parse_marked_text, *};

    fn items(text: &str) -> Vec<Value> {
        let (document, position) = parse_marked_text(text);
        items_at(&Cursor::from_position(&document, position).unwrap(), &document, &OpReference::load())
    }

    fn texts(text: &str) -> Vec<String> {
        items(text).iter().map(|item| item["textEdit"]["newText"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn replaces_word_by_documented_function() {
        let found = items("  %0 = spyre.pointwise gel|");
        let item = found.iter().find(|item| item["label"] == "gelufwd").unwrap();
        let range = json!({"start": {"line": 0, "character": 23}, "end": {"line": 0, "character": 26}});
        assert_eq!(item["textEdit"], json!({"newText": "gelufwd", "range": range}));
        assert_eq!((&item["kind"], &item["detail"]), (&json!(FUNCTION_KIND), &json!("elementwise, 1 operand")));
        assert!(item["documentation"]["value"].as_str().unwrap().contains("constants: none"));
    }

    #[test]
    fn completes_attribute_with_equals_sign() {
        let found = items("spyre.copy %x {pl|");
        let place = found.iter().find(|item| item["label"] == "place").unwrap();
        assert_eq!((&place["kind"], &place["textEdit"]["newText"]), (&json!(PROPERTY_KIND), &json!("place = ")));
        assert!(place["documentation"]["value"].as_str().unwrap().contains("#spyre.place<lx, 0>"));
    }

    #[test]
    fn writes_dimension_names_in_syntax_of_position() {
        let program = "func.func @f(%x: t {spyre.dims = [\"M\", \"K\"]}) {\n";
        let named = |rest: &str| texts(&format!("{program}{rest}"));
        assert_eq!(named("spyre.copy %x {dims = [\"|"), ["K", "M"]);
        assert_eq!(named("spyre.copy %x {dims = [|"), ["\"K\"", "\"M\""]);
        assert_eq!(named("%0 = spyre.hint tiles(|"), ["K = ", "M = "]);
        assert_eq!(named("%0 = spyre.hint recompute(|"), ["K", "M"]);
        assert_eq!(named("spyre.copy %x {dims = [\"Mo|\"]}"), ["K", "M"]);
    }

    #[test]
    fn merges_items_with_those_of_mlir_server_once() {
        let reference = OpReference::load();
        let mut nothing = Value::Null;
        add_to(&mut nothing, vec![json!({"label": "exp"})], &reference);
        assert_eq!(nothing, json!({"isIncomplete": false, "items": [{"label": "exp"}]}));
        let mut list = json!({"isIncomplete": true, "items": [{"label": "matmul"}, {"label": "exp"}]});
        add_to(&mut list, vec![json!({"label": "exp"}), json!({"label": "log"})], &reference);
        let labels: Vec<_> =
            list["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
        assert_eq!((labels, &list["isIncomplete"]), (vec!["matmul", "exp", "log"], &json!(true)));
        assert!(list["items"][0]["documentation"]["value"].as_str().unwrap().starts_with("### `spyre.matmul`"));
        let mut array = json!([{"label": "a"}]);
        add_to(&mut array, Vec::new(), &reference);
        assert_eq!(array["items"], json!([{"label": "a"}]));
    }
}
