//! Programs with a launch specification, correct and incorrect.

use crate::check_bundle::bundles::{Files, baked, find_valid_bundle, table};
use crate::check_bundle::edits::json;
use crate::check_bundle::mutations::{BrokenBundle, break_bundle};
use sdsc_format::program::Program;
use serde_json::{Value, json};
use spyre_compiler::launch::launch_spec::build_launch_spec_files;

/// Returns the program of a gather with its launch specification.
pub(crate) fn program_with_launch_spec() -> Files {
    let mut files = table();
    let program: Program = serde_json::from_slice(&files["program.json"]).unwrap();
    let specs = build_launch_spec_files(&program, &[Some([2].into())]).unwrap();
    files.extend(specs.into_iter().map(|file| (file.path, file.content)));
    files
}

/// Returns the sum of two matrices with absolute addresses, as a program.
pub(crate) fn baked_program() -> Files {
    let tensor = |name: &str| {
        json!({"name": name, "shape": [128, 256], "element_type": "f16", "format": "SEN169_FP16", "device_size": [4, 128, 64],
               "stride_map": [64, 256, 1], "bytes": 65536})
    };
    let program = json!({"name": "main", "arguments": [tensor("t0"), tensor("t1")], "results": [tensor("t2")], "constants": [],
                         "buffers": [], "launches": [{"bundle": "bundle_0", "arguments": ["t0", "t1", "t2"]}]});
    let bundle = baked().into_iter().map(|(name, bytes)| (format!("bundle_0/{name}"), bytes));
    bundle.chain([("program.json".to_owned(), serde_json::to_vec(&program).unwrap())]).collect()
}

fn break_spec(edit: impl FnOnce(&mut Value)) -> BrokenBundle {
    break_bundle(&["sdsc_r136"], "launched", |files| json(files, "bundle_0/launch_spec.json", edit))
}

fn set_spec_member(path: &'static str, value: Value) -> BrokenBundle {
    break_spec(|spec| *spec.pointer_mut(path).unwrap() = value)
}

fn remove_spec_member(parent: &'static str, member: &'static str) -> BrokenBundle {
    break_spec(|spec| drop(spec.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(member).unwrap()))
}

pub(crate) fn broken_launch_specs() -> Vec<BrokenBundle> {
    vec![
        set_spec_member("/version", json!(2)),
        set_spec_member("/kernel_name", json!("main_1")),
        set_spec_member("/pool_size", json!(128)),
        set_spec_member("/bundle_symbolic_args", json!(false)),
        set_spec_member("/symbol_kinds/1/arg_index", json!(0)),
        set_spec_member("/symbol_kinds/1/kind", json!("pool")),
        set_spec_member("/symbol_kinds/1/offset", json!(128)),
        break_spec(|spec| drop(spec["symbol_kinds"].as_array_mut().unwrap().pop())),
        break_spec(|spec| spec["symbols"] = json!({"s0": {"min": 1, "max": 16}})),
        break_spec(|spec| drop(spec["args"].as_array_mut().unwrap().pop())),
        set_spec_member("/args/1/arg_index", json!(2)),
        set_spec_member("/args/1/role", json!("input_output")),
        set_spec_member("/args/2/role", json!("input")),
        set_spec_member("/args/2/role", json!("input_output")),
        set_spec_member("/args/1/shape", json!([128, 512])),
        set_spec_member("/args/1/shape", json!(["s0", 128])),
        set_spec_member("/args/1/dtype", json!("float32")),
        set_spec_member("/args/1/dtype", json!("f16")),
        set_spec_member("/args/0/dtype", json!("int64")),
        set_spec_member("/args/1/layout/stick_size", json!([32])),
        set_spec_member("/args/1/layout/padding", json!([64, 0])),
        set_spec_member("/args/1/layout/padding", json!([0, 64])),
        set_spec_member("/args/1/layout/padding", json!([0, -1])),
        set_spec_member("/args/1/layout/padding", json!([0])),
        break_spec(|spec| spec["args"][1]["layout"]["device_size"] = json!([2, 512, 64])),
        break_spec(|spec| {
            spec["args"][1]["layout"]["device_size"] = json!([8, 128, 64]);
            spec["args"][1]["layout"]["stride_map"] = json!([8192, 1, 128]);
        }),
        remove_spec_member("", "bundle_symbolic_args"),
        remove_spec_member("/args/1", "dtype"),
        remove_spec_member("/args/1", "layout"),
        break_bundle(&["sdsc_r136"], "baked program", |files| {
            let mut spec: Value =
                serde_json::from_slice(&find_valid_bundle("launched")["bundle_0/launch_spec.json"]).unwrap();
            for (number, role) in ["input", "input", "output"].into_iter().enumerate() {
                spec["args"][number] = spec["args"][2].clone();
                spec["args"][number]["arg_index"] = json!(number);
                spec["args"][number]["role"] = json!(role);
                spec["args"][number]["shape"] = json!([128, 256]);
            }
            files.insert("bundle_0/launch_spec.json".to_owned(), serde_json::to_vec(&spec).unwrap());
        }),
    ]
}
