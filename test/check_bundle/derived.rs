//! Bundles with a member that is inconsistent with the others, and programs with inconsistent files.

use crate::check_bundle::bundles::Files;
use crate::check_bundle::edits::{json, remove, replace_text, set, set_edit, text_edit, to_pointer};
use crate::check_bundle::mutations::{BrokenBundle, break_bundle};
use serde_json::{Value, json};

/// Changes `program.json`.
fn edit_program(edit: impl FnOnce(&mut Value)) -> impl FnOnce(&mut Files) {
    move |files| json(files, "program.json", edit)
}

/// Sets a member of an existing file.
fn set_in_file(file: &'static str, path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| {
        json(files, file, |value| {
            let pointer = to_pointer(value, path);
            *value.pointer_mut(&pointer).unwrap() = to;
        });
    }
}

/// Makes the second op read unwritten memory of the pool.
fn read_unwritten_memory(files: &mut Files) {
    replace_text(files, "allocate 8192 bytes", "allocate 24576 bytes");
    let far = "\t\t%far = arith.constant 16384 : index\n\t\t%there = arith.addi %pool, %far : index\n\t\t%farther = arith.constant 20480 : index\n\
               \t\t%beyond = arith.addi %pool, %farther : index\n\t\t%c0 = ";
    replace_text(files, "\t\t%c0 = ", far);
    replace_text(files, "(%pool_addr_0, %pool_addr_4096, ", "(%there, %beyond, ");
}

pub(crate) fn broken_members() -> Vec<BrokenBundle> {
    vec![
        break_bundle(&["sdsc_r2"], "add", set_edit("dsc/dataStageParam_/0/ss_/rowSplit_", json!([]))),
        break_bundle(&["sdsc_r2"], "add", set_edit("dsc/labeledDs_/0/memOrg_/lx", json!(null))),
        break_bundle(
            &["sdsc_r2"],
            "add",
            set_edit("dsc/scheduleTree_/0/startAddressCoreCorelet_/dim_prop_func/0/Map/x", json!(1)),
        ),
        break_bundle(&["sdsc_r23"], "add", set_edit("dsc/coreIdsUsed_", json!([1, 0, 2, 3]))),
        break_bundle(
            &["sdsc_r80"],
            "add",
            text_edit("%arg_0_core_4096, %arg_0_core_8192, ", "%arg_0_core_8192, %arg_0_core_4096, "),
        ),
        break_bundle(
            &["sdsc_r80"],
            "add of columns",
            text_edit("%arg_1_core_16384, %arg_1_core_32768, ", "%arg_1_core_32768, %arg_1_core_16384, "),
        ),
        break_bundle(&["sdsc_r81"], "relayout", |files| remove(files, "op/coreIdToWkSlice_/1")),
        break_bundle(&["sdsc_r81"], "relayout", |files| {
            set_edit("op/coreIdToWkSlice_/1/out", json!(2))(files);
            set_edit("op/coreIdToWkSlice_/2/out", json!(1))(files);
        }),
        break_bundle(
            &["sdsc_r82"],
            "add",
            set_edit("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/padding", json!("nopadx")),
        ),
        break_bundle(
            &["sdsc_r82"],
            "add",
            set_edit("dsc/scheduleTree_/1/coordinates_/coordInfo/out/folds/dim_prop_func/3/Affine/alpha_", json!(65)),
        ),
        break_bundle(&["sdsc_r83"], "gather", set_edit("dsc/scheduleTree_/1/maxDimSizes_/1", json!(129))),
        break_bundle(&["sdsc_r84"], "add", set_edit("dsc/primaryDsInfo_/OUTPUT/layoutDimOrder_", json!(["out", "mb"]))),
        break_bundle(&["sdsc_r85"], "add", |files| remove(files, "dsc/labeledDs_/1/memOrg_/lx")),
        break_bundle(&["sdsc_r85"], "add", set_edit("dsc/labeledDs_/1/memOrg_/lx/isPresent", json!(2))),
        break_bundle(&["sdsc_r86"], "padded sum", set_edit("dsc/computeOp_/0/inputLabeledDs", json!(["Tensor0-idx0"]))),
        break_bundle(&["sdsc_r88"], "chain", |files| {
            for core in ["[0, 0, 0]", "[1, 0, 0]"] {
                json(files, "sdsc_1.json", |value| {
                    let starts = to_pointer(value, "dsc/scheduleTree_/0/startAddressCoreCorelet_/data_");
                    value.pointer_mut(&starts).unwrap()[core] = json!("128");
                });
            }
        }),
        break_bundle(&["sdsc_r89"], "nest", read_unwritten_memory),
    ]
}

/// Changes the live range of the tile in the pool of a program.
fn set_live_range(member: &'static str, number: i64) -> BrokenBundle {
    break_bundle(
        &["sdsc_r100"],
        "program",
        edit_program(move |value| value["launches"][0]["pool"][0][member] = json!(number)),
    )
}

pub(crate) fn broken_live_ranges() -> Vec<BrokenBundle> {
    let second = |offset: i64, [first_op, last_op]: [i64; 2]| {
        edit_program(move |value| {
            let live_ranges = value["launches"][0]["pool"].as_array_mut().unwrap();
            live_ranges.push(json!({"offset": offset, "bytes": 8192, "first_op": first_op, "last_op": last_op}));
        })
    };
    vec![
        set_live_range("offset", 128),
        set_live_range("offset", 64),
        set_live_range("offset", -128),
        set_live_range("bytes", 8064),
        set_live_range("bytes", 8320),
        set_live_range("bytes", 0),
        set_live_range("first_op", 1),
        set_live_range("last_op", 0),
        set_live_range("last_op", 2),
        break_bundle(
            &["sdsc_r100"],
            "program",
            edit_program(|value| drop(value["launches"][0].as_object_mut().unwrap().remove("pool"))),
        ),
        // A second live range of the same bytes, one of unaccessed bytes, and one at the wrong position in the list.
        break_bundle(
            &["sdsc_r103"],
            "program",
            edit_program(|value| value["sizes"] = json!([{"name": "s0", "maximum": 64, "granularity": 48}])),
        ),
        break_bundle(
            &["sdsc_r103"],
            "program",
            edit_program(|value| value["arguments"][0]["symbolic"] = json!([{"dim": 0, "size": "s0"}])),
        ),
        break_bundle(&["sdsc_r103"], "program", edit_program(|value| value["launches"][0]["sizes"] = json!(["s0"]))),
        break_bundle(&["sdsc_r100"], "program", second(0, [1, 1])),
        break_bundle(&["sdsc_r100"], "program", second(8192, [1, 1])),
        break_bundle(&["sdsc_r100"], "program", second(-8192, [0, 1])),
    ]
}

pub(crate) fn broken_programs() -> Vec<BrokenBundle> {
    const GAP: &str = "dsc/scheduleTree_/0/backGapCore_/mb/-1";
    let handles = json!([{"op": 1, "handle": {"id": "7"}}]);
    vec![
        break_bundle(&["sdsc_r137"], "program", edit_program(|value| value["launches"][0]["debug_handles"] = handles)),
        break_bundle(&["sdsc_r87"], "program", set_in_file("bundle_0/sdsc_0.json", GAP, json!("320"))),
        break_bundle(
            &["sdsc_r90"],
            "program",
            edit_program(|value| {
                value["buffers"] = value["arguments"].take();
                value["arguments"] = json!([]);
            }),
        ),
        break_bundle(
            &["sdsc_r91"],
            "program",
            edit_program(|value| {
                let result = value["results"][0].take();
                value["arguments"].as_array_mut().unwrap().push(result);
                value["results"] = json!([]);
            }),
        ),
        break_bundle(&["sdsc_r92"], "program", edit_program(|value| value["results"][0]["shape"] = json!([512, 63]))),
        break_bundle(
            &["sdsc_r92"],
            "program",
            edit_program(|value| value["results"][0]["element_type"] = json!("f128")),
        ),
        break_bundle(&["sdsc_r92"], "program", edit_program(|value| value["results"][0]["bytes"] = json!(131_072))),
        break_bundle(
            &["sdsc_r93"],
            "program",
            edit_program(|value| {
                let twice = value["arguments"][0].clone();
                value["arguments"].as_array_mut().unwrap().push(twice);
            }),
        ),
        break_bundle(
            &["sdsc_r94"],
            "program",
            edit_program(|value| {
                let mut more = value["arguments"][0].clone();
                more["name"] = json!("t2");
                value["arguments"].as_array_mut().unwrap().push(more);
                value["launches"][0]["arguments"] = json!(["t0", "t1", "t2"]);
            }),
        ),
        break_bundle(
            &["sdsc_r94"],
            "program",
            edit_program(|value| {
                let again = value["launches"][0].clone();
                value["launches"].as_array_mut().unwrap().push(again);
            }),
        ),
        break_bundle(&["sdsc_r95"], "program", edit_program(|value| value["launches"][0]["pool_bytes"] = json!(8192))),
        break_bundle(&["sdsc_r95"], "program", |files| {
            let bytes = files.get_mut("bundle_0/bundle.mlir").unwrap();
            *bytes = String::from_utf8(bytes.clone())
                .unwrap()
                .replace("allocate 8192 bytes", "allocate 16384 bytes")
                .into_bytes();
        }),
        break_bundle(&["sdsc_r95"], "slice of the pool", |files| {
            let bytes = files.get_mut("bundle_0/bundle.mlir").unwrap();
            *bytes = String::from_utf8(bytes.clone())
                .unwrap()
                .replace("allocate 32768 bytes", "allocate 32896 bytes")
                .into_bytes();
        }),
        break_bundle(
            &["sdsc_r96"],
            "table",
            edit_program(|value| drop(value["arguments"][0].as_object_mut().unwrap().remove("index_range"))),
        ),
        break_bundle(
            &["sdsc_r96"],
            "table",
            edit_program(|value| value["arguments"][0]["index_range"] = json!([0, 511])),
        ),
        break_bundle(
            &["sdsc_r96"],
            "table",
            edit_program(|value| value["arguments"][0]["index_range"] = json!([1, 512])),
        ),
        break_bundle(&["sdsc_r97"], "shared", edit_program(|value| value["buffer_bytes"] = json!(131_200))),
        break_bundle(
            &["sdsc_r99"],
            "program",
            edit_program(|value| {
                let tensor = json!({"name": "t0", "shape": [512, 32], "element_type": "f32", "format": "IEEE_FP32",
                                "device_size": [1, 512, 32], "stride_map": [32, 32, 1], "bytes": 65536});
                value["arguments"][0] = tensor;
            }),
        ),
        break_bundle(&["sdsc_r21"], "add", set_edit("dsc/computeOp_/0/attributes_/fidelity_", json!("fast"))),
        break_bundle(
            &["sdsc_r84"],
            "pooling",
            set_edit("dsc/primaryDsInfo_/OUTPUT/layoutDimOrder_", json!(["out", "j", "i"])),
        ),
        break_bundle(&["sdsc_r101"], "pooling", set_edit("dsc/labeledDs_/0/memOrg_/lx/isPadded", json!(0))),
        break_bundle(&["sdsc_r101"], "pooling", |files| remove(files, "dsc/labeledDs_/1/memOrg_/hbm/dsOffset")),
        break_bundle(&["sdsc_r101"], "pooling", set_edit("dsc/pdsRelation_/isPdsReuse", json!(0))),
        break_bundle(&["sdsc_r101"], "pooling", |files| remove(files, "dsc/primaryDsInfo_/OUTPUT/stickRepl_")),
        break_bundle(&["sdsc_r101"], "pooling", |files| {
            set(files, "dsc/scheduleTree_/0/padding_/i", json!("padded"));
            set(files, "dsc/scheduleTree_/0/coordinates_/coordInfo/i/padding", json!("padded"));
        }),
        break_bundle(&["sdsc_r101"], "pooling", set_edit(WINDOW_FACTOR_PATH, json!(7))),
        break_bundle(&["sdsc_r101"], "pooling", |files| {
            for member in ["dsc/N_/", "dsc/dataStageParam_/0/ss_/", "dsc/dataStageParam_/0/el_/"] {
                set(files, &format!("{member}paddingSizes_/i/padBack_"), json!(1));
            }
        }),
    ]
}

const WINDOW_FACTOR_PATH: &str = "dsc/scheduleTree_/0/coordinates_/coordInfo/i/folds/dim_prop_attr/3/factor_";
