//! Tests the labelled rules of the bundle format: valid bundles pass, and each small mutation is rejected with the
//! labels of the rules that it breaks.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "check_bundle/bundles.rs"]
pub(crate) mod bundles;
#[path = "check_bundle/derived.rs"]
mod derived;
#[path = "check_bundle/edits.rs"]
pub(crate) mod edits;
#[path = "check_bundle/launch_specs.rs"]
mod launch_specs;
#[path = "check_bundle/mutations.rs"]
mod mutations;

use crate::common::{self, bless};
use bundles::{Files, RIGHT, emit, find_valid_bundle, nest};
use edits::{replace_text, set};
use machine::Target;
use mutations::{BrokenBundle, all_broken};
use proptest::prelude::*;
use sdsc_check::{
    BundleFiles, CheckError, KernelArgument, RULES, check_bundle, check_directory, check_files, format_rules_table,
};
use serde_json::{Value, json};
use spyre_compiler::sdsc::read::case_json;
use std::{collections::BTreeSet, path::PathBuf};

/// Checks files, and returns the labels of the violated rules and a printed list of the violations.
fn collect_violations(files: &Files) -> (Vec<&'static str>, String) {
    let found =
        check_files(files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())), &Target::spyre()).unwrap();
    let mut labels: Vec<_> = found.iter().map(|violation| violation.label).collect();
    labels.dedup();
    (labels, found.iter().map(|violation| format!("\n  {violation}")).collect())
}

#[test]
fn accepts_files_of_our_emitter() {
    for (name, files) in RIGHT.iter() {
        let (labels, viewed) = collect_violations(files);
        assert!(labels.is_empty(), "{name}:{viewed}");
    }
}

#[test]
fn ignores_order_of_members() {
    for (name, mut files) in RIGHT.iter().cloned() {
        for (path, bytes) in files.iter_mut().filter(|(path, _)| path.ends_with(".json")) {
            // `Value` sorts the members of an object by name.
            let sorted: Value = serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
            *bytes = serde_json::to_vec(&sorted).unwrap();
        }
        let (labels, viewed) = collect_violations(&files);
        assert!(labels.is_empty(), "{name}:{viewed}");
    }
}

#[test]
fn rejects_each_mutation_by_its_rule() {
    let mut wrong = String::new();
    for (number, BrokenBundle { labels: expected, files }) in all_broken().into_iter().enumerate() {
        let (found, viewed) = collect_violations(&files);
        if found != expected {
            wrong += &format!("\nmutation {number}: expected {expected:?}, found {found:?}{viewed}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn covers_every_rule_by_file_that_breaks_only_it() {
    let broken = all_broken();
    assert!(broken.len() >= 30);
    let labels_broken_alone: BTreeSet<_> =
        broken.iter().filter(|broken| broken.labels.len() == 1).map(|broken| broken.labels[0]).collect();
    let missing: Vec<_> =
        RULES.iter().map(|rule| rule.label).filter(|label| !labels_broken_alone.contains(label)).collect();
    assert!(missing.is_empty(), "no mutation breaks just {missing:?}");
}

fn check_bundles_are_accepted(cases: &[PathBuf]) {
    for case in cases {
        let found = check_directory(case).unwrap();
        // Golden bundles contain "?DL16(...)" where the bits of a constant are unknown. These are the only violations
        // that they may have.
        let is_marker = |message: &str| message.starts_with("'?DL16(");
        let viewed: String =
            found.iter().filter(|one| !is_marker(&one.message)).map(|one| format!("\n  {one}")).collect();
        assert!(viewed.is_empty(), "{}:{viewed}", case.display());
    }
}

fn check_emitted_op_specs_are_accepted(cases: &[PathBuf]) {
    for case in cases {
        let bundle = case_json::read_case(&std::fs::read_to_string(case.join("case.json")).unwrap()).unwrap();
        let (labels, viewed) = collect_violations(&emit(bundle.pool_bytes, bundle.items));
        assert!(labels.is_empty(), "{}:{viewed}", case.display());
    }
}

#[test]
fn accepts_golden_bundles() {
    check_bundles_are_accepted(&common::golden_cases());
}

#[test]
fn accepts_emitted_golden_op_specs() {
    check_emitted_op_specs_are_accepted(&common::golden_cases());
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn accepts_golden_bundles() {
        check_bundles_are_accepted(&common::shared_golden_cases());
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn accepts_emitted_golden_op_specs() {
        check_emitted_op_specs_are_accepted(&common::shared_golden_cases());
    }
}

#[test]
fn reports_location_and_value_of_violations() {
    let first_violation = |edit: &dyn Fn(&mut Files)| {
        let mut files = find_valid_bundle("add");
        edit(&mut files);
        collect_violations(&files).1.lines().nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(
        first_violation(&|files| set(files, "dsc/dataStageParam_/0/el_/mb_", json!(31))),
        "sdsc_0.json:/0_add/dscs_/0/add/dataStageParam_/0/el_/mb_: sdsc_r30: 31 points where 'ss_' has 32; \
         every core has equal work from start to end"
    );
    assert_eq!(
        first_violation(&|files| replace_text(files, "(%arg_0, ", "(")),
        "bundle.mlir:24:3: sdsc_r13: 11 operands for 12 symbol ids; each operand is the value of one symbol"
    );
    let wrong_type = first_violation(&|files| set(files, "dsc/coreIdsUsed_", json!([0, "1"])));
    assert!(
        wrong_type.starts_with("sdsc_0.json:/0_add/dscs_/0/add/coreIdsUsed_/1: sdsc_r2: invalid type"),
        "{wrong_type}"
    );
}

#[test]
fn names_argument_of_wrong_launch_specification() {
    let first_violation = |path: &str, value: Value| {
        let mut files = find_valid_bundle("launched");
        edits::json(&mut files, "bundle_0/launch_spec.json", |spec| *spec.pointer_mut(path).unwrap() = value);
        collect_violations(&files).1.lines().nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(
        first_violation("/args/1/shape", json!([128, 512])),
        "bundle_0/launch_spec.json:/args/1/shape: sdsc_r136: expected shape [512, 128] for 't1', found shape [128, 512] for 't1'; \
         a launch specification repeats the values of the program"
    );
    assert_eq!(
        first_violation("/args/1/layout/padding", json!([64, 0])),
        "bundle_0/launch_spec.json:/args/1/layout: sdsc_r136: layout of 't1' (stick_size [64], padding [64, 0]): the standard tiling is \
         device size [2, 576, 64]; the tensor has device size [2, 512, 64]"
    );
}

#[test]
fn requires_standard_tiling_of_device_shape() {
    let mut files = find_valid_bundle("launched");
    edits::json(&mut files, "bundle_0/launch_spec.json", |spec| {
        spec["args"][1]["layout"] =
            json!({"stick_size": [64], "padding": [0, 0], "device_size": [2, 512, 64], "stride_map": [64, 128, 1]});
        drop(spec.as_object_mut().unwrap().remove("emitter").unwrap());
    });
    let (labels, viewed) = collect_violations(&files);
    assert!(labels.is_empty(), "{viewed}");
}

/// Other launchers list addresses that follow from those of arguments, and members of their own.
#[test]
fn accepts_derived_symbols_and_unknown_members_of_launch_specification() {
    let mut files = find_valid_bundle("launched");
    let add = |files: &mut Files, argument: usize| {
        edits::json(files, "bundle_0/launch_spec.json", |spec| {
            let kinds = spec["symbol_kinds"].as_array_mut().unwrap();
            kinds.insert(1, json!({"kind": "kernel_derived", "base_sym_idx": 0, "offset": 128, "arg_index": argument}));
            spec["target"] = json!("card");
        });
    };
    add(&mut files, 0);
    let (labels, viewed) = collect_violations(&files);
    assert!(labels.is_empty(), "{viewed}");
    add(&mut files, 9);
    let (labels, viewed) = collect_violations(&files);
    assert!(labels == ["sdsc_r136"] && viewed.contains("expected an argument below 3, found argument 9"), "{viewed}");
}

#[test]
fn reports_missing_bundle_as_error() {
    let dir = std::env::temp_dir();
    let missing = dir.join("no-such-directory-of-spyre");
    assert!(matches!(check_directory(&missing), Err(CheckError::NoBundle(found)) if found == missing));
    let none: [(&str, &[u8]); 0] = [];
    assert!(matches!(check_files(none, &Target::spyre()), Err(CheckError::NoBundle(_))));
}

#[test]
fn checks_bundle_in_memory() {
    let mut files = nest();
    let text = String::from_utf8(files.remove("bundle.mlir").unwrap()).unwrap();
    let buffer = |name: &str, bytes| KernelArgument { name: name.to_owned(), bytes, ..KernelArgument::default() };
    let mut bundle = BundleFiles { text, sdsc: files, arguments: vec![buffer("x", 32768), buffer("y", 65536)] };
    assert_eq!(check_bundle(&bundle), []);
    bundle.arguments[1].bytes -= 1;
    let found = check_bundle(&bundle);
    assert_eq!(found.len(), 1);
    let expected = "core 1 reaches bytes 4096 to 65536 of 'y', kernel argument 1, which has 65535; a tensor lies within its buffer";
    assert_eq!((found[0].label, found[0].message.as_str()), ("sdsc_r70", expected));
}

#[test]
fn lists_every_rule_on_page() {
    const BEGIN: &str = "<!-- rules: written by `BLESS=check_bundle cargo test --test plain -- check_bundle::` -->\n";
    const END: &str = "<!-- end of rules -->\n";
    bless::expect_on_page("docs/reference/bundle-format.md", [BEGIN, END], &format_rules_table(), "check_bundle");
}

/// Replaces one value of a JSON text, given by its position in pre-order. The position counts down to 0 during the
/// traversal.
fn replace_nth(value: &mut Value, remaining: &mut usize, to: &Value) {
    if *remaining == 0 {
        *value = to.clone();
    }
    *remaining = remaining.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace_nth(item, remaining, to)),
        Value::Object(members) => members.values_mut().for_each(|member| replace_nth(member, remaining, to)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

proptest! {
    #[test]
    fn check_never_panics_on_files(base_of in 0..RIGHT.len(), file in any::<prop::sample::Index>(), places in prop::collection::vec((0..900_usize, 0..10_usize), 1..4)) {
        let odd = [json!(0), json!(-1), json!(3), json!(i64::MAX), json!(i64::MIN), json!("-1"), json!("mb"), json!([]), json!({}), json!(-2)];
        let mut files = RIGHT[base_of].1.clone();
        let names: Vec<_> = files.keys().filter(|name| name.ends_with(".json")).cloned().collect();
        edits::json(&mut files, &names[file.index(names.len())], |value| places.into_iter().for_each(|(mut place, to)| replace_nth(value, &mut place, &odd[to])));
        collect_violations(&files);
    }

    #[test]
    fn check_never_panics_on_text(base_of in 0..RIGHT.len(), at in any::<prop::sample::Index>(), to in "[%#0-9a-z(){}\\[\\]<>=,:\" *-]{0,4}", length in 0..8_usize) {
        let mut files = RIGHT[base_of].1.clone();
        let path = files.keys().find(|path| path.ends_with("bundle.mlir")).unwrap().clone();
        let mut text = String::from_utf8(files[&path].clone()).unwrap();
        let start = at.index(text.len());
        text.replace_range(start..(start + length).min(text.len()), &to);
        files.insert(path, text.into_bytes());
        collect_violations(&files);
    }
}
