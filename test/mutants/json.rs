//! Changes of the fields of a JSON file.

use crate::mutants::{FileChange, Mutant, fields::field_name};
use serde_json::{Value, json};

/// Adds every change of every field.
pub(crate) fn add_mutants(file: &str, content: &[u8], all: &mut Vec<Mutant>) {
    let value: Value = serde_json::from_slice(content).unwrap();
    let mut paths = Vec::new();
    collect_paths(&value, &mut Vec::new(), &mut paths);
    for path in &paths {
        let found = value.pointer(&to_pointer(path)).unwrap();
        let mut add = |kind: &'static str, to: Option<Value>| {
            if to.as_ref() != Some(found) {
                let mut field = field_name(path);
                let name = file.rsplit('/').next().unwrap_or(file);
                if matches!(name, "program.json" | "exact.json" | "launch_spec.json") {
                    field = format!("{name} {field}");
                }
                let to_text = to.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
                let change = FileChange::Member { path: path.clone(), to };
                all.push(Mutant { file: file.to_owned(), place: to_pointer(path), field, kind, to: to_text, change });
            }
        };
        add_replacements(found, &mut add);
        if let Some((key, parent)) = path.split_last() {
            add_neighbour_replacements(&value, parent, key, &mut add);
            if value.pointer(&to_pointer(parent)).unwrap().is_object() {
                add("dropped", None);
            }
        }
    }
}

/// Returns the file with a member replaced or removed.
pub(crate) fn change_member(content: &[u8], path: &[String], to: Option<Value>) -> Vec<u8> {
    let mut value = serde_json::from_slice(content).unwrap();
    set_member(&mut value, path, to);
    serde_json::to_vec(&value).unwrap()
}

fn collect_paths(value: &Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    paths.push(path.clone());
    let mut visit = |key: String, value: &Value| {
        path.push(key);
        collect_paths(value, path, paths);
        path.pop();
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| visit(key.clone(), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(key, value)| visit(key.to_string(), value)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn to_pointer(path: &[String]) -> String {
    path.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect()
}

fn set_member(value: &mut Value, path: &[String], to: Option<Value>) {
    match to {
        Some(to) => *value.pointer_mut(&to_pointer(path)).unwrap() = to,
        None => {
            let (key, parent) = path.split_last().unwrap();
            value.pointer_mut(&to_pointer(parent)).unwrap().as_object_mut().unwrap().remove(key);
        }
    }
}

/// Adds the replacements of a value.
fn add_replacements(found: &Value, add: &mut impl FnMut(&'static str, Option<Value>)) {
    match found {
        Value::Number(number) => {
            let Some(number) = number.as_i64() else {
                return add("other value", Some(json!(number.as_f64().unwrap() * 1.5)));
            };
            add("off by one", Some(json!(number + 1)));
            add("off by one", Some(json!(number - 1)));
            for other in [0, 1, -1, 2, 127, 128, number.wrapping_mul(2), number / 2, -number, i64::MAX] {
                add("other value", Some(json!(other)));
            }
            add("other type", Some(json!(number.to_string())));
            add("other type", Some(Value::Null));
        }
        Value::String(text) => {
            add_text_replacements(text, add);
            add("other type", Some(json!([text])));
            add("other type", Some(json!({})));
            add("other type", Some(Value::Null));
        }
        Value::Array(items) => add_array_replacements(items, add),
        Value::Object(members) => {
            let mut more = members.clone();
            more.insert("unknown_".to_owned(), json!(1));
            add("added", Some(Value::Object(more)));
            add("emptied", Some(json!({})));
            add("other type", Some(json!([])));
            add("other type", Some(Value::Null));
        }
        Value::Null => add("other type", Some(json!(0))),
        Value::Bool(value) => add("other value", Some(json!(!value))),
    }
}

/// Words that can replace each other somewhere in the format.
const WORDS: [&[&str]; 9] = [
    &["SEN169_FP16", "IEEE_FP32", "IEEE_INT32", "SENUINT32"],
    &["f16", "f32", "bf16", "i32", "i64"],
    &["hbm", "lx"],
    &["mb", "out", "x", "in"],
    &["OUTPUT", "KERNEL", "INPUT", "KERNEL_IDX"],
    &["no_indirection", "value_tensor", "index_tensor"],
    &["sub", "add", "max", "min", "exp", "abs", "sum"],
    &["pt", "sfp"],
    &["regular", "fast"],
];

fn add_text_replacements(text: &str, add: &mut impl FnMut(&'static str, Option<Value>)) {
    if let Ok(number) = text.parse::<i64>() {
        add("off by one", Some(json!((number + 1).to_string())));
        add("off by one", Some(json!((number - 1).to_string())));
        for other in [0, -1, 128, number + 128, number - 128, number * 2, -number] {
            add("other value", Some(json!(other.to_string())));
        }
        add("other type", Some(json!(number)));
    }
    for word in WORDS.iter().filter(|words| words.contains(&text)).flat_map(|words| words.iter()) {
        add("other value", Some(json!(word)));
    }
    add("other value", Some(json!("")));
    add("other value", Some(json!(format!("{text}x"))));
}

fn add_array_replacements(items: &[Value], add: &mut impl FnMut(&'static str, Option<Value>)) {
    for at in 0..items.len() {
        let mut fewer = items.to_vec();
        fewer.remove(at);
        add("dropped", Some(json!(fewer)));
        let mut twice = items.to_vec();
        twice.insert(at, items[at].clone());
        add("duplicated", Some(json!(twice)));
        if at + 1 < items.len() {
            let mut swapped = items.to_vec();
            swapped.swap(at, at + 1);
            add("swapped", Some(json!(swapped)));
        }
    }
    add("emptied", Some(json!([])));
    add("other type", Some(json!({})));
    add("other type", Some(Value::Null));
}

/// Adds mutants that replace a value by that of its neighbor: a swap, and a copy.
fn add_neighbour_replacements(
    value: &Value,
    parent: &[String],
    key: &str,
    add: &mut impl FnMut(&'static str, Option<Value>),
) {
    let Value::Object(members) = value.pointer(&to_pointer(parent)).unwrap() else { return };
    let mut after = members.iter().skip_while(|(known, _)| *known != key).skip(1);
    if let (Some((_, next)), Some(own)) = (after.next(), members.get(key))
        && std::mem::discriminant(next) == std::mem::discriminant(own)
    {
        add("value of its neighbour", Some(next.clone()));
    }
}
