//! Validation of the JSON that tests write, against `docs/reference/schemas`.

use jsonschema::Validator;
use serde_json::Value;
use std::{fs, path::Path};

/// Loads the schema of a file format, by the name of its file.
///
/// # Panics
/// There is no valid schema of that name.
pub(crate) fn load_schema(form: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/schemas").join(format!("{form}.json"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut schema = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    forbid_unknown_members(&mut schema);
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Formats may gain members, so their schemas allow unknown members; the output in tests has only members of the
/// schema.
fn forbid_unknown_members(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(forbid_unknown_members);
            if members.get("properties").is_some_and(|properties| properties.is_object()) {
                members.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(forbid_unknown_members),
        _ => {}
    }
}

/// Checks a value against the schema of its format.
///
/// # Panics
/// The value does not conform; the message has the first violation.
#[allow(dead_code, reason = "not every test program has values that must have a form")]
pub(crate) fn expect_schema(form: &str, value: &Value) {
    if let Err(error) = load_schema(form).validate(value) {
        panic!("docs/reference/schemas/{form}.json: {} at {}", error, error.instance_path());
    }
}
