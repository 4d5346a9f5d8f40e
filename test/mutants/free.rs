//! Fields without a meaning: changing one affects no computation.

use crate::mutants::{Mutant, free_release::RELEASE_FIELDS, programs::CorrectProgram};
use serde_json::Value;

/// Field with an arbitrary value, or with one kind of irrelevant change.
pub(crate) struct UncheckedField {
    /// Name of the field in the table; a trailing `*` matches all members below.
    pub(crate) field: &'static str,
    /// Irrelevant changes, for the table.
    pub(crate) which: &'static str,
    pub(crate) when: fn(&MemberChange<'_>) -> bool,
    pub(crate) reason: &'static str,
    pub(crate) source: &'static str,
}

/// Change of a member of a file, or of its text.
pub(crate) struct MemberChange<'a> {
    pub(crate) place: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) before: Value,
    pub(crate) after: Value,
}

pub(crate) const UNCHECKED_FIELDS: &[UncheckedField] = &[
    any_change("debug_handle_*", "identifies the source of the op; the back end ignores it", "schema, section 6"),
    any_change("program.json name", "name of the function; only messages contain it", "project, `program.json`"),
    missing("program.json version", "a file without a version has version 1", PAGE),
    any_change(
        "program.json launches/debug_handles*",
        "identifies the sources of ops that share a file; the back end ignores it",
        PAGE,
    ),
    unknown_member("launch_spec.json *"),
    in_any_order("dscs_/labeledDs_"),
    in_any_order("dscs_/scheduleTree_"),
    UncheckedField {
        which: ", an empty object for its text",
        when: |change| is_empty(change.before.pointer(change.place)) && is_empty(change.after.pointer(change.place)),
        ..any_change("dscs_/constantInfo_", "no constants, as text or as an object", "schema, section 3")
    },
    UncheckedField {
        which: ", number for its text",
        when: keeps_number,
        ..any_change(
            "dscs_/scheduleTree_/backGapCore_*",
            "writers write the number of bytes as a number or as text",
            "schema, section 3",
        )
    },
    UncheckedField {
        which: ", an execute that is repeated",
        when: repeats_execute,
        ..any_change(
            "bundle.mlir *",
            "an op that runs again on the same values gives the same results",
            "specification, `sdsc_execute`",
        )
    },
    any_change("launch_spec.json emitter", "name of the compiler that wrote the file", PAGE),
    missing("launch_spec.json symbol_kinds/base_sym_idx", "the default is -1: the symbol has no base", PAGE),
    missing("launch_spec.json symbol_kinds/offset", "the default is 0", PAGE),
    missing("launch_spec.json symbol_kinds/arg_index", "the default is -1, the value of symbols that are sizes", PAGE),
    any_change("program.json constants/shape*", HOST_OF_CONSTANT, PAGE),
    any_change("program.json constants/element_type", HOST_OF_CONSTANT, PAGE),
    any_change("program.json constants/stride_map*", HOST_OF_CONSTANT, PAGE),
    any_change("program.json buffers/shape*", HOST_OF_BUFFER, PAGE),
    any_change("program.json buffers/element_type", HOST_OF_BUFFER, PAGE),
    any_change("program.json buffers/stride_map*", HOST_OF_BUFFER, PAGE),
    UncheckedField {
        which: ", order",
        when: is_swap,
        ..any_change(
            "program.json constants",
            "launches refer to tensors by name; only arguments and results have an order",
            PAGE,
        )
    },
    UncheckedField {
        which: ", order",
        when: is_swap,
        ..any_change(
            "program.json buffers",
            "launches refer to tensors by name; only arguments and results have an order",
            PAGE,
        )
    },
    units("program.json arguments/device_size"),
    units("program.json results/device_size"),
    units("program.json constants/device_size"),
    units("program.json buffers/device_size"),
    steps("program.json arguments/stride_map*"),
    steps("program.json results/stride_map*"),
    UncheckedField {
        which: ", position of a dimension of one row or one stick",
        when: moves_units_only,
        ..any_change(
            "dscs_/scheduleTree_/layoutDimOrder_",
            "a dimension of one row or one stick does not affect addresses, at any position",
            "schema, section 3",
        )
    },
    UncheckedField {
        which: ", of the outermost dimension",
        when: is_outermost,
        ..any_change(
            "dscs_/scheduleTree_/backGapCore_*",
            "a stride is the product of the inner sizes, so a gap after the outermost dimension does not affect addresses",
            "schema, section 3",
        )
    },
];

const PAGE: &str = "project, `program.json`";
const HOST_OF_CONSTANT: &str =
    "the file of a constant has the bytes of the device layout; the description of the host array does not affect them";
const HOST_OF_BUFFER: &str = "launches pass the buffer on in the device layout; it is never a host array";

pub(crate) const fn any_change(field: &'static str, reason: &'static str, source: &'static str) -> UncheckedField {
    UncheckedField { field, which: "", when: |_| true, reason, source }
}

/// Returns the entry of a member whose absence has the meaning of its value.
pub(crate) const fn missing(field: &'static str, reason: &'static str, source: &'static str) -> UncheckedField {
    UncheckedField { which: ", missing", when: is_missing, ..any_change(field, reason, source) }
}

const fn units(field: &'static str) -> UncheckedField {
    UncheckedField {
        which: ", position of a dimension of size 1",
        when: keeps_other_sizes,
        ..any_change(field, "a device dimension of size 1 does not affect addresses, at any position", PAGE)
    }
}

const fn steps(field: &'static str) -> UncheckedField {
    UncheckedField {
        which: ", stride of a dimension of size 1",
        when: steps_of_units_only,
        ..any_change(field, "the only index along a dimension of size 1 is 0, so its stride has no effect", PAGE)
    }
}

const fn unknown_member(field: &'static str) -> UncheckedField {
    UncheckedField {
        which: ", unknown member",
        when: |change| change.kind == "added",
        ..any_change(field, "a reader skips members that it does not know", "launch contract, section 2")
    }
}

const fn in_any_order(field: &'static str) -> UncheckedField {
    UncheckedField {
        which: ", order",
        when: is_swap,
        ..any_change(
            field,
            "'ldsIdx_' identifies the tensor of an entry, so the order has no effect",
            "schema, section 3",
        )
    }
}

/// Returns whether a mutant is an irrelevant change of a field on the list.
pub(crate) fn is_free(program: &CorrectProgram, mutant: &Mutant) -> bool {
    let right = &program.files;
    let of_release = if program.profile.is_release() { RELEASE_FIELDS } else { &[] };
    let is_of = |free: &&UncheckedField| {
        free.field.strip_suffix('*').map_or(free.field == mutant.field, |start| mutant.field.starts_with(start))
    };
    let files = mutant.files(right);
    let [(path, changed)] = files.as_slice() else { return false };
    let read = |bytes: &[u8]| {
        serde_json::from_slice(bytes).unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned().into())
    };
    let (before, after) = (read(&right[path]), read(changed));
    let change = MemberChange { place: &mutant.place, kind: mutant.kind, before, after };
    UNCHECKED_FIELDS.iter().chain(of_release).filter(is_of).any(|free| (free.when)(&change))
}

pub(crate) fn is_missing(change: &MemberChange<'_>) -> bool {
    change.kind == "dropped"
}

fn is_empty(value: Option<&Value>) -> bool {
    value.is_some_and(|value| [serde_json::json!("{}"), serde_json::json!({})].contains(value))
}

/// Returns whether only a copy of an execute is added after it.
fn repeats_execute(change: &MemberChange<'_>) -> bool {
    let (Some(before), Some(after)) = (change.before.as_str(), change.after.as_str()) else { return false };
    let mut lines: Vec<&str> = after.lines().map(str::trim).collect();
    lines.dedup_by(|next, line| next == line && line.contains("sdsc_execute"));
    lines == before.lines().map(str::trim).collect::<Vec<_>>()
}

/// Returns whether a number and its text are exchanged.
pub(crate) fn keeps_number(change: &MemberChange<'_>) -> bool {
    to_number(change.before.pointer(change.place)) == to_number(change.after.pointer(change.place))
}

pub(crate) fn to_number(value: Option<&Value>) -> Option<i64> {
    value.and_then(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()))
}

pub(crate) fn is_swap(change: &MemberChange<'_>) -> bool {
    change.kind == "swapped"
}

fn to_numbers(value: Option<&Value>) -> Vec<i64> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_i64).collect()
}

/// Returns whether a swap preserves the order of all sizes other than 1.
fn keeps_other_sizes(change: &MemberChange<'_>) -> bool {
    let others = |value: &Value| {
        to_numbers(value.pointer(change.place)).into_iter().filter(|size| *size != 1).collect::<Vec<_>>()
    };
    is_swap(change) && others(&change.before) == others(&change.after)
}

fn steps_of_units_only(change: &MemberChange<'_>) -> bool {
    let Some((tensor, _)) = change.place.split_once("/stride_map") else { return false };
    let steps = |value: &Value| to_numbers(value.pointer(&format!("{tensor}/stride_map")));
    let sizes = to_numbers(change.before.pointer(&format!("{tensor}/device_size")));
    let (before, after) = (steps(&change.before), steps(&change.after));
    before.len() == after.len()
        && before.iter().zip(&after).zip(sizes).all(|((before, after), size)| before == after || size == 1)
}

fn to_words(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns the description that contains a position.
fn find_description<'v>(value: &'v Value, place: &str) -> Option<&'v Value> {
    value.pointer(place.split_once("/scheduleTree_")?.0)
}

/// Returns whether the tensor of a node lacks a dimension. It has one row or one stick of it.
fn is_absent(file: &Value, place: &str, label: &str) -> bool {
    let Some((dsc, node)) = place.split_once("/scheduleTree_/") else { return false };
    let member = |path: String| file.pointer(&format!("{dsc}/{path}"));
    let tensor = node.split('/').next().unwrap_or_default();
    let class = member(format!("labeledDs_/{tensor}/dsType_")).and_then(Value::as_str).unwrap_or_default();
    let order = to_words(member(format!("primaryDsInfo_/{class}/layoutDimOrder_")));
    let scales = to_numbers(member(format!("labeledDs_/{tensor}/scale_")));
    order.iter().zip(scales).any(|(known, scale)| *known == label && scale != 1)
}

/// Returns whether a swap preserves the order of all dimensions other than those of one row or one stick.
fn moves_units_only(change: &MemberChange<'_>) -> bool {
    let Some(dsc) = find_description(&change.before, change.place) else { return false };
    let sticks = dsc["primaryDsInfo_"].as_object().into_iter().flat_map(|classes| classes.values());
    let sticks: Vec<&str> = sticks.flat_map(|class| to_words(class.get("stickDimOrder_"))).collect();
    let is_unit = |label: &&str| {
        let size = dsc["N_"][format!("{label}_")].as_i64().unwrap_or(i64::MAX);
        size == 1 || is_absent(&change.before, change.place, label) || (sticks.contains(label) && size <= 64)
    };
    let order = |value: &'_ Value| -> Vec<String> {
        to_words(value.pointer(change.place)).into_iter().filter(|label| !is_unit(label)).map(str::to_owned).collect()
    };
    is_swap(change) && order(&change.before) == order(&change.after)
}

/// Returns whether only the gap of the last dimension of the order changes.
fn is_outermost(change: &MemberChange<'_>) -> bool {
    let Some((node, _)) = change.place.split_once("/backGapCore_") else { return false };
    let order = to_words(change.before.pointer(&format!("{node}/layoutDimOrder_")));
    let without_last = |value: &Value| {
        let gaps =
            value.pointer(&format!("{node}/backGapCore_")).and_then(Value::as_object).cloned().unwrap_or_default();
        gaps.into_iter().filter(|(label, _)| order.last().is_none_or(|last| last != label)).collect::<Vec<_>>()
    };
    without_last(&change.before) == without_last(&change.after)
}
