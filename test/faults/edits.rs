//! Small changes of the files of a program.

use serde_json::Value;
use std::collections::BTreeMap;

/// A directory in memory. JSON files are in the format of `Value`, so that files are equal if and only if their
/// contents are.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

pub(crate) const BUNDLE: &str = "bundle_0/bundle.mlir";

/// A change of the files.
pub(crate) type FileEdit = Box<dyn Fn(&mut Files)>;

pub(crate) fn edit_text(files: &mut Files, file: &str, edit: impl FnOnce(&str) -> String) {
    let bytes = files.get_mut(file).unwrap_or_else(|| panic!("no {file}"));
    *bytes = edit(std::str::from_utf8(bytes).unwrap()).into_bytes();
}

pub(crate) fn edit_json(files: &mut Files, file: &str, edit: impl FnOnce(&mut Value)) {
    let bytes = files.get_mut(file).unwrap_or_else(|| panic!("no {file}"));
    let mut value = serde_json::from_slice(bytes).unwrap();
    edit(&mut value);
    *bytes = serde_json::to_vec(&value).unwrap();
}

pub(crate) fn sdsc_file_name(op: usize) -> String {
    format!("bundle_0/sdsc_{op}.json")
}

/// Returns a member of an SDSC file: `op/..` is below the operation, `dsc/..` below its description.
fn member<'v>(value: &'v mut Value, path: &str) -> &'v mut Value {
    let only = |value: &'v mut Value| value.as_object_mut().unwrap().values_mut().next().unwrap();
    let operation = only(value);
    let (at, rest) = match path.split_once('/') {
        Some(("op", rest)) => (operation, rest),
        Some(("dsc", rest)) => (only(&mut operation["dscs_"][0]), rest),
        _ => panic!("{path}"),
    };
    at.pointer_mut(&format!("/{rest}")).unwrap_or_else(|| panic!("no {path}"))
}

pub(crate) fn set(files: &mut Files, op: usize, path: &str, to: &Value) {
    edit_json(files, &sdsc_file_name(op), |value| *member(value, path) = to.clone());
}

/// Sets the start of a tensor on all cores, or on one.
pub(crate) fn set_starts(files: &mut Files, op: usize, tensor: usize, core: Option<usize>, start: &str) {
    let wanted = core.map(|core| format!("[{core}, 0, 0]"));
    edit_json(files, &sdsc_file_name(op), |value| {
        let starts = member(value, &format!("dsc/scheduleTree_/{tensor}/startAddressCoreCorelet_/data_"));
        for (key, value) in starts.as_object_mut().unwrap() {
            if wanted.as_ref().is_none_or(|wanted| wanted == key) {
                *value = Value::from(start);
            }
        }
    });
}

/// Replaces the first occurrence in `bundle.mlir`.
pub(crate) fn replace_text(from: &'static str, to: &'static str) -> FileEdit {
    Box::new(move |files| {
        edit_text(files, BUNDLE, |text| {
            assert!(text.contains(from), "{from:?} is not in\n{text}");
            text.replacen(from, to, 1)
        });
    })
}

/// Replaces operands of the execute of an op.
pub(crate) fn replace_operands(op: usize, from: &'static str, to: &'static str) -> FileEdit {
    edit_execute(op, move |line| {
        assert!(line.contains(from), "{from:?} is not in {line}");
        line.replacen(from, to, 1)
    })
}

/// Replaces the line that executes an op.
pub(crate) fn edit_execute(op: usize, edit: impl Fn(&str) -> String + 'static) -> FileEdit {
    Box::new(move |files| {
        edit_text(files, BUNDLE, |text| {
            let line = execute_line(text, op);
            text.replacen(line, &edit(line), 1)
        });
    })
}

/// Returns the line that executes an op, with its line end.
pub(crate) fn execute_line(text: &str, op: usize) -> &str {
    let file = format!("\"sdsc_{op}.json\"");
    text.split_inclusive('\n').find(|line| line.contains(&file)).unwrap_or_else(|| panic!("{file} is not executed"))
}

pub(crate) fn set_member(op: usize, path: &'static str, to: Value) -> FileEdit {
    Box::new(move |files| set(files, op, path, &to))
}

/// Swaps two members of a file.
pub(crate) fn swap_members(op: usize, first: &'static str, second: &'static str) -> FileEdit {
    Box::new(move |files| {
        edit_json(files, &sdsc_file_name(op), |value| {
            let [was_first, was_second] = [first, second].map(|path| member(value, path).clone());
            *member(value, first) = was_second;
            *member(value, second) = was_first;
        });
    })
}

/// Replaces a word everywhere in the file of an op.
pub(crate) fn rename_word(op: usize, from: &'static str, to: &'static str) -> FileEdit {
    Box::new(move |files| edit_text(files, &sdsc_file_name(op), |text| text.replace(from, to)))
}

/// Sets the start of a buffer in LX. `places` has each op that uses it, and the tensor's number there.
pub(crate) fn move_buffer(places: &'static [(usize, usize)], core: Option<usize>, start: &'static str) -> FileEdit {
    Box::new(move |files| places.iter().for_each(|&(op, tensor)| set_starts(files, op, tensor, core, start)))
}

/// Changes `program.json`.
pub(crate) fn edit_program(edit: impl Fn(&mut Value) + 'static) -> FileEdit {
    Box::new(move |files| edit_json(files, "program.json", &edit))
}

/// Applies all edits in order.
pub(crate) fn apply_all(edits: Vec<FileEdit>) -> FileEdit {
    Box::new(move |files| edits.iter().for_each(|edit| edit(files)))
}
