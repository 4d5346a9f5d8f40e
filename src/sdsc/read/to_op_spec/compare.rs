//! Compares a file with its re-emission.

use super::OpSpecReadError;
use sdsc_format::model::{ConstantBits, Sdsc};
use serde_json::Value;

/// Returns the first significant difference.
///
/// The comparison ignores the debug handle, which op specs do not have, and the number of a masking constant, which the
/// reference emitter gets wrong (torch-spyre issue 4390). It also ignores constants of which a golden file states the
/// value and not the bits.
pub(super) fn find_difference(file: &Sdsc, emitted: &Sdsc) -> Option<OpSpecReadError> {
    let (mut file, mut emitted) = (file.clone(), emitted.clone());
    normalize_padding(&mut file);
    normalize_padding(&mut emitted);
    file.value.debug_handle = None;
    normalize_constants(&mut file, &mut emitted);
    if file == emitted {
        return None;
    }
    let values = (serde_json::to_value(&file), serde_json::to_value(&emitted));
    let found = match values {
        (Ok(file), Ok(emitted)) => find_first_difference(&file, &emitted, String::new()),
        (Err(_), _) | (_, Err(_)) => None,
    };
    let (member, found, emitted) =
        found.unwrap_or_else(|| ("the order of members".to_owned(), "one".to_owned(), "another".to_owned()));
    Some(OpSpecReadError::NoOpSpec { member, found, emitted })
}

/// Moves the padding of a depthwise convolution's input to the member that holds it after parsing.
fn normalize_padding(sdsc: &mut Sdsc) {
    for node in sdsc.value.dscs.iter_mut().flat_map(|dsc| &mut dsc.value.nodes) {
        if let Some(padding) = node.early_padding.take() {
            node.padding = Some(padding);
        }
    }
}

fn normalize_constants(file: &mut Sdsc, emitted: &mut Sdsc) {
    for (file, emitted) in file.value.dscs.iter_mut().zip(&mut emitted.value.dscs) {
        let (file, emitted) = (&mut file.value, &mut emitted.value);
        // The reference emitter of August 2026 always writes 0 (torch-spyre issue 4390).
        if !file.masking.is_empty() && file.masking_constant == 0 {
            file.masking_constant = emitted.masking_constant;
        }
        let infos = |dsc: &mut sdsc_format::model::Dsc| std::mem::take(&mut dsc.constants.0.0);
        let (mut known, made) = (infos(file), infos(emitted));
        for ((_, known), (_, made)) in known.iter_mut().zip(&made) {
            for ((_, known), (_, made)) in known.data.data.0.iter_mut().zip(&made.data.data.0) {
                if matches!(known.0.as_slice(), [ConstantBits::Marker(_)]) {
                    known.clone_from(made);
                }
            }
        }
        file.constants.0.0 = known;
        emitted.constants.0.0 = made;
    }
}

/// Returns the path of the first difference, and both values.
fn find_first_difference(file: &Value, emitted: &Value, path: String) -> Option<(String, String, String)> {
    match (file, emitted) {
        (Value::Object(file), Value::Object(emitted)) => {
            let keys = file.keys().chain(emitted.keys().filter(|key| !file.contains_key(*key)));
            let at = |key: &String| if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let null = Value::Null;
            let mut pairs =
                keys.map(|key| (file.get(key).unwrap_or(&null), emitted.get(key).unwrap_or(&null), at(key)));
            pairs.find_map(|(file, emitted, path)| find_first_difference(file, emitted, path))
        }
        (Value::Array(file), Value::Array(emitted)) if file.len() == emitted.len() => {
            let mut pairs = file.iter().zip(emitted).enumerate();
            pairs.find_map(|(index, (file, emitted))| find_first_difference(file, emitted, format!("{path}[{index}]")))
        }
        _ if file == emitted => None,
        _ => Some((path, format_value(file), format_value(emitted))),
    }
}

fn format_value(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_difference_by_path() {
        let (file, emitted) = (json!({"a": [1, {"b": "x"}]}), json!({"a": [1, {"b": "y"}]}));
        let found = find_first_difference(&file, &emitted, String::new());
        assert_eq!(found, Some(("a[1].b".to_owned(), "\"x\"".to_owned(), "\"y\"".to_owned())));
        assert_eq!(find_first_difference(&file, &file, String::new()), None);
        let missing = find_first_difference(&json!({}), &json!({"c": 1}), String::new());
        assert_eq!(missing, Some(("c".to_owned(), "nothing".to_owned(), "1".to_owned())));
    }
}
