//! Compares a file with its re-emission.

use super::canonical::to_canonical;
use super::{OpSpecReadError, SymbolValue};
use sdsc_format::model::{ConstantBits, DecimalInteger, Sdsc, SizeSymbol, Text};
use serde_json::Value;
use std::collections::BTreeMap;

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
    Some(find_member_difference(&file, &emitted).unwrap_or_else(|| OpSpecReadError::NoOpSpec {
        member: "the order of members".to_owned(),
        found: "one".to_owned(),
        emitted: "another".to_owned(),
    }))
}

/// Returns the first difference in meaning between a canonical file and the emitted file of op `index`.
///
/// The comparison ignores the order of members, missing coordinates, which follow from the other members, and the ids
/// of symbols. Starts that are equal in the file are equal in the emission; the caller compares their values.
///
/// # Errors
///
/// If the emission has no canonical form.
pub(super) fn find_meaning_difference(
    file: &Sdsc,
    emitted: &Sdsc,
    index: usize,
    symbols: &BTreeMap<i64, SymbolValue>,
) -> Result<Option<OpSpecReadError>, OpSpecReadError> {
    let (mut file, mut emitted) = (file.clone(), to_canonical(emitted, index)?);
    add_missing_coordinates(&mut file, &emitted);
    normalize_constants(&mut file, &mut emitted);
    number_symbols(&mut emitted, |id| id);
    let mut by_id = file.clone();
    number_symbols(&mut by_id, |id| id);
    let Some(difference) = find_member_difference(&by_id, &emitted) else { return Ok(None) };
    // Other emitters may give several ids to one value.
    number_symbols(&mut file, |id| find_first_equal(id, symbols));
    Ok(find_member_difference(&file, &emitted).map(|_| difference))
}

/// Returns the greatest id of the symbols with the value of symbol `id`.
fn find_first_equal(id: i64, symbols: &BTreeMap<i64, SymbolValue>) -> i64 {
    let Some(value) = symbols.get(&id) else { return id };
    symbols.iter().rev().find(|(_, other)| *other == value).map_or(id, |(first, _)| *first)
}

/// Replaces the ids of start addresses by numbers in the order of their first uses, and those of sizes by numbers in
/// the order of the names of their dimensions. Symbols with equal keys get equal numbers.
fn number_symbols(sdsc: &mut Sdsc, key: impl Fn(i64) -> i64) {
    let operation = &mut sdsc.value;
    let (mut keys, mut tags) = (Vec::new(), Vec::new());
    for dsc in operation.dscs.iter_mut().map(|dsc| &mut dsc.value) {
        for start in
            dsc.nodes.iter_mut().filter(|node| node.has_symbolic_start()).flat_map(|node| &mut node.start.data.0)
        {
            let key = key(start.1.0);
            let position = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
                keys.push(key);
                keys.len() - 1
            });
            start.1 = DecimalInteger(i64::try_from(position).unwrap_or(i64::MAX));
        }
        let mut dims: Vec<_> = dsc.dim_symbols.iter_mut().flat_map(|dims| &mut dims.0).collect();
        dims.sort_by(|(first, _), (second, _)| first.cmp(second));
        for (number, symbol) in (0..).zip(dims.into_iter().flat_map(|(_, symbols)| symbols)) {
            let id = symbol.id.to_string();
            let tag = operation.symbol_tags.as_ref().and_then(|tags| tags.get(&id)).cloned();
            tags.extend(tag.map(|tag| (Text::from(number.to_string()), tag)));
            *symbol = SizeSymbol { id: number, is_text: true };
        }
    }
    operation.symbol_tags = (!tags.is_empty()).then(|| tags.into_iter().collect());
}

/// Gives tensors without coordinates those of the emission.
fn add_missing_coordinates(file: &mut Sdsc, emitted: &Sdsc) {
    let nodes = |sdsc: &Sdsc| sdsc.value.dscs.first().map(|dsc| dsc.value.nodes.clone()).unwrap_or_default();
    let known = file.value.dscs.iter_mut().flat_map(|dsc| &mut dsc.value.nodes);
    for (node, emitted) in known.zip(nodes(emitted)) {
        if node.coordinates.dims.is_empty() && node.coordinates.core_to_slice.is_empty() {
            node.coordinates = emitted.coordinates;
        }
    }
}

/// Returns the first member with different values. The order of members has no meaning.
fn find_member_difference(file: &Sdsc, emitted: &Sdsc) -> Option<OpSpecReadError> {
    if file == emitted {
        return None;
    }
    let (Ok(file), Ok(emitted)) = (serde_json::to_value(file), serde_json::to_value(emitted)) else { return None };
    let (member, found, emitted) = find_first_difference(&file, &emitted, String::new())?;
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
