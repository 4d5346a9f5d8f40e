//! Small changes of a bundle's files.

use crate::check_bundle::bundles::Files;
use serde_json::{Value, json};

/// Replaces a substring of `bundle.mlir`.
pub(crate) fn replace_text(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("bundle.mlir").unwrap();
    let text = String::from_utf8(std::mem::take(bytes)).unwrap();
    assert!(text.contains(from), "{from:?} is not in\n{text}");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

pub(crate) fn json(files: &mut Files, file: &str, edit: impl FnOnce(&mut Value)) {
    let bytes = files.get_mut(file).unwrap();
    let mut value = serde_json::from_slice(bytes).unwrap();
    edit(&mut value);
    *bytes = serde_json::to_vec(&value).unwrap();
}

/// Returns the JSON pointer of a path: `op/` is below the operation, `dsc/` below its description.
pub(crate) fn to_pointer(value: &Value, path: &str) -> String {
    let Value::Object(file) = value else { panic!("no operation") };
    let operation = format!("/{}", file.keys().next().unwrap());
    match path.split_once('/') {
        Some(("op", rest)) => format!("{operation}/{rest}"),
        Some(("dsc", rest)) => {
            let function =
                value.pointer(&format!("{operation}/dscs_/0")).unwrap().as_object().unwrap().keys().next().unwrap();
            format!("{operation}/dscs_/0/{function}/{rest}")
        }
        _ => panic!("{path}"),
    }
}

/// Sets a member of the first file, and adds it if it is absent.
pub(crate) fn set(files: &mut Files, path: &str, to: Value) {
    json(files, "sdsc_0.json", |value| {
        let pointer = to_pointer(value, path);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match value.pointer_mut(parent).unwrap_or_else(|| panic!("{parent}")) {
            Value::Object(members) => drop(members.insert(key.to_owned(), to)),
            Value::Array(items) if items.len() == key.parse::<usize>().unwrap() => items.push(to),
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = to,
            other => panic!("{other}"),
        }
    });
}

/// Returns a member of the first file.
pub(crate) fn member(files: &Files, path: &str) -> Value {
    let value: Value = serde_json::from_slice(&files["sdsc_0.json"]).unwrap();
    value.pointer(&to_pointer(&value, path)).unwrap().clone()
}

/// Removes a member of the first file.
pub(crate) fn remove(files: &mut Files, path: &str) {
    json(files, "sdsc_0.json", |value| {
        let pointer = to_pointer(value, path);
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key).unwrap();
    });
}

/// Replaces a word everywhere in the first file.
pub(crate) fn rename(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("sdsc_0.json").unwrap();
    *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace(from, to).into_bytes();
}

pub(crate) fn set_edit(path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| set(files, path, to)
}

pub(crate) fn text_edit(from: &'static str, to: &'static str) -> impl FnOnce(&mut Files) {
    move |files| replace_text(files, from, to)
}

pub(crate) fn replace_bundle(with: Files) -> impl FnOnce(&mut Files) {
    move |files| *files = with
}

pub(crate) const STARTS_1: &str = "dsc/scheduleTree_/1/startAddressCoreCorelet_/data_";

/// Sets the start of the second tensor on all cores.
pub(crate) fn set_starts(files: &mut Files, start: &str, cores: usize) {
    let starts = (0..cores).map(|core| (format!("[{core}, 0, 0]"), json!(start)));
    set(files, STARTS_1, Value::Object(starts.collect()));
}
