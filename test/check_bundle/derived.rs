//! Bundles with a member that is inconsistent with the others, and programs with inconsistent files.

use crate::check_bundle::bundles::Files;
use crate::check_bundle::edits::{json, pointer, remove, set, sets, text, texts};
use crate::check_bundle::mutations::{Broken, broken};
use serde_json::{Value, json};

/// Changes `program.json`.
fn program(edit: impl FnOnce(&mut Value)) -> impl FnOnce(&mut Files) {
    move |files| json(files, "program.json", edit)
}

/// Sets a member of a file that there is.
fn in_file(file: &'static str, path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| {
        json(files, file, |value| {
            let pointer = pointer(value, path);
            *value.pointer_mut(&pointer).unwrap() = to;
        });
    }
}

/// The second op reads unwritten memory of the pool.
fn reads_elsewhere(files: &mut Files) {
    text(files, "allocate 8192 bytes", "allocate 24576 bytes");
    let far = "\t\t%far = arith.constant 16384 : index\n\t\t%there = arith.addi %pool, %far : index\n\t\t%farther = arith.constant 20480 : index\n\
               \t\t%beyond = arith.addi %pool, %farther : index\n\t\t%c0 = ";
    text(files, "\t\t%c0 = ", far);
    text(files, "(%pool_addr_0, %pool_addr_4096, ", "(%there, %beyond, ");
}

pub(crate) fn broken_members() -> Vec<Broken> {
    vec![
        broken(&["sdsc_r2"], "add", sets("dsc/constantInfo_", json!({}))),
        broken(&["sdsc_r2"], "add", sets("dsc/dataStageParam_/0/ss_/rowSplit_", json!([]))),
        broken(&["sdsc_r2"], "add", sets("dsc/labeledDs_/0/memOrg_/lx", json!(null))),
        broken(&["sdsc_r2"], "add", sets("dsc/scheduleTree_/0/startAddressCoreCorelet_/dim_prop_func/0/Map/x", json!(1))),
        broken(&["sdsc_r23"], "add", sets("dsc/coreIdsUsed_", json!([1, 0, 2, 3]))),
        broken(&["sdsc_r80"], "add", texts("%arg_0_core_4096, %arg_0_core_8192, ", "%arg_0_core_8192, %arg_0_core_4096, ")),
        broken(&["sdsc_r80"], "add of columns", texts("%arg_1_core_16384, %arg_1_core_32768, ", "%arg_1_core_32768, %arg_1_core_16384, ")),
        broken(&["sdsc_r81"], "relayout", |files| {
            sets("op/coreIdToWkSlice_/1/mb", json!(2))(files);
            sets("op/coreIdToWkSlice_/2/mb", json!(1))(files);
        }),
        broken(&["sdsc_r82"], "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/padding", json!("nopadx"))),
        broken(&["sdsc_r82"], "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/out/folds/dim_prop_func/3/Affine/alpha_", json!(65))),
        broken(&["sdsc_r83"], "gather", sets("dsc/scheduleTree_/1/maxDimSizes_/1", json!(129))),
        broken(&["sdsc_r84"], "add", sets("dsc/primaryDsInfo_/OUTPUT/layoutDimOrder_", json!(["out", "mb"]))),
        broken(&["sdsc_r85"], "add", |files| remove(files, "dsc/labeledDs_/1/memOrg_/lx")),
        broken(&["sdsc_r85"], "add", sets("dsc/labeledDs_/1/memOrg_/lx/isPresent", json!(2))),
        broken(&["sdsc_r86"], "padded sum", sets("dsc/computeOp_/0/inputLabeledDs", json!(["Tensor0-idx0"]))),
        broken(&["sdsc_r88"], "chain", |files| {
            for core in ["[0, 0, 0]", "[1, 0, 0]"] {
                json(files, "sdsc_1.json", |value| {
                    let starts = pointer(value, "dsc/scheduleTree_/0/startAddressCoreCorelet_/data_");
                    value.pointer_mut(&starts).unwrap()[core] = json!("128");
                });
            }
        }),
        broken(&["sdsc_r89"], "nest", reads_elsewhere),
    ]
}

/// Changes the live range that a program states for the tile in its pool.
fn life(member: &'static str, number: i64) -> Broken {
    broken(&["sdsc_r100"], "program", program(move |value| value["launches"][0]["pool"][0][member] = json!(number)))
}

pub(crate) fn broken_lives() -> Vec<Broken> {
    let second = |offset: i64, [first_op, last_op]: [i64; 2]| {
        program(move |value| {
            let lives = value["launches"][0]["pool"].as_array_mut().unwrap();
            lives.push(json!({"offset": offset, "bytes": 8192, "first_op": first_op, "last_op": last_op}));
        })
    };
    vec![
        life("offset", 128),
        life("offset", 64),
        life("offset", -128),
        life("bytes", 8064),
        life("bytes", 8320),
        life("bytes", 0),
        life("first_op", 1),
        life("last_op", 0),
        life("last_op", 2),
        broken(&["sdsc_r100"], "program", program(|value| drop(value["launches"][0].as_object_mut().unwrap().remove("pool")))),
        // A second live range of the same bytes, one of untouched bytes, and one at the wrong place in the list.
        broken(&["sdsc_r103"], "program", program(|value| value["sizes"] = json!([{"name": "s0", "maximum": 64, "granularity": 48}]))),
        broken(&["sdsc_r103"], "program", program(|value| value["arguments"][0]["symbolic"] = json!([{"dim": 0, "size": "s0"}]))),
        broken(&["sdsc_r103"], "program", program(|value| value["launches"][0]["sizes"] = json!(["s0"]))),
        broken(&["sdsc_r100"], "program", second(0, [1, 1])),
        broken(&["sdsc_r100"], "program", second(8192, [1, 1])),
        broken(&["sdsc_r100"], "program", second(-8192, [0, 1])),
    ]
}

pub(crate) fn broken_programs() -> Vec<Broken> {
    const GAP: &str = "dsc/scheduleTree_/0/backGapCore_/mb/-1";
    let handles = json!([{"op": 1, "handle": {"id": "7"}}]);
    vec![
        broken(&["sdsc_r137"], "program", program(|value| value["launches"][0]["debug_handles"] = handles)),
        broken(&["sdsc_r87"], "program", in_file("bundle_0/sdsc_0.json", GAP, json!("320"))),
        broken(
            &["sdsc_r90"],
            "program",
            program(|value| {
                value["buffers"] = value["arguments"].take();
                value["arguments"] = json!([]);
            }),
        ),
        broken(
            &["sdsc_r91"],
            "program",
            program(|value| {
                let result = value["results"][0].take();
                value["arguments"].as_array_mut().unwrap().push(result);
                value["results"] = json!([]);
            }),
        ),
        broken(&["sdsc_r92"], "program", program(|value| value["results"][0]["shape"] = json!([512, 63]))),
        broken(&["sdsc_r92"], "program", program(|value| value["results"][0]["element_type"] = json!("f128"))),
        broken(&["sdsc_r92"], "program", program(|value| value["results"][0]["bytes"] = json!(131_072))),
        broken(
            &["sdsc_r93"],
            "program",
            program(|value| {
                let twice = value["arguments"][0].clone();
                value["arguments"].as_array_mut().unwrap().push(twice);
            }),
        ),
        broken(
            &["sdsc_r94"],
            "program",
            program(|value| {
                let mut more = value["arguments"][0].clone();
                more["name"] = json!("t2");
                value["arguments"].as_array_mut().unwrap().push(more);
                value["launches"][0]["arguments"] = json!(["t0", "t1", "t2"]);
            }),
        ),
        broken(
            &["sdsc_r94"],
            "program",
            program(|value| {
                let again = value["launches"][0].clone();
                value["launches"].as_array_mut().unwrap().push(again);
            }),
        ),
        broken(&["sdsc_r95"], "program", program(|value| value["launches"][0]["pool_bytes"] = json!(8192))),
        broken(&["sdsc_r95"], "program", |files| {
            let bytes = files.get_mut("bundle_0/bundle.mlir").unwrap();
            *bytes = String::from_utf8(bytes.clone()).unwrap().replace("allocate 8192 bytes", "allocate 16384 bytes").into_bytes();
        }),
        broken(&["sdsc_r95"], "slice of the pool", |files| {
            let bytes = files.get_mut("bundle_0/bundle.mlir").unwrap();
            *bytes = String::from_utf8(bytes.clone()).unwrap().replace("allocate 32768 bytes", "allocate 32896 bytes").into_bytes();
        }),
        broken(&["sdsc_r96"], "table", program(|value| drop(value["arguments"][0].as_object_mut().unwrap().remove("index_range")))),
        broken(&["sdsc_r96"], "table", program(|value| value["arguments"][0]["index_range"] = json!([0, 511]))),
        broken(&["sdsc_r96"], "table", program(|value| value["arguments"][0]["index_range"] = json!([1, 512]))),
        broken(&["sdsc_r97"], "shared", program(|value| value["buffer_bytes"] = json!(131_200))),
        broken(
            &["sdsc_r99"],
            "program",
            program(|value| {
                let tensor = json!({"name": "t0", "shape": [512, 32], "element_type": "f32", "format": "IEEE_FP32",
                                "device_size": [1, 512, 32], "stride_map": [32, 32, 1], "bytes": 65536});
                value["arguments"][0] = tensor;
            }),
        ),
        broken(&["sdsc_r21"], "add", sets("dsc/computeOp_/0/attributes_/fidelity_", json!("fast"))),
        broken(&["sdsc_r84"], "pooling", sets("dsc/primaryDsInfo_/OUTPUT/layoutDimOrder_", json!(["out", "j", "i"]))),
        broken(&["sdsc_r101"], "pooling", sets("dsc/labeledDs_/0/memOrg_/lx/isPadded", json!(0))),
        broken(&["sdsc_r101"], "pooling", |files| remove(files, "dsc/labeledDs_/1/memOrg_/hbm/dsOffset")),
        broken(&["sdsc_r101"], "pooling", sets("dsc/pdsRelation_/isPdsReuse", json!(0))),
        broken(&["sdsc_r101"], "pooling", |files| remove(files, "dsc/primaryDsInfo_/OUTPUT/stickRepl_")),
        broken(&["sdsc_r101"], "pooling", |files| {
            set(files, "dsc/scheduleTree_/0/padding_/i", json!("padded"));
            set(files, "dsc/scheduleTree_/0/coordinates_/coordInfo/i/padding", json!("padded"));
        }),
        broken(&["sdsc_r101"], "pooling", sets(PART_OF_WINDOWS, json!(7))),
        broken(&["sdsc_r101"], "pooling", |files| {
            for member in ["dsc/N_/", "dsc/dataStageParam_/0/ss_/", "dsc/dataStageParam_/0/el_/"] {
                set(files, &format!("{member}paddingSizes_/i/padBack_"), json!(1));
            }
        }),
    ]
}

const PART_OF_WINDOWS: &str = "dsc/scheduleTree_/0/coordinates_/coordInfo/i/folds/dim_prop_attr/3/factor_";
