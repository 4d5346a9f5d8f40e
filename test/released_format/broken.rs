//! Files with one violation each of a rule of release 1.0.0, or of torch-spyre of September 2026.

use super::broken_folds::broken_folds;
use super::legal::{find_legal, split_description};
use super::{Profile, convert_to_release};
use crate::check_bundle::bundles::{Files, emit_ops, find_valid_bundle, op, operand, widened_sum};
use crate::check_bundle::edits::{json, remove, replace_text, set, set_starts, to_pointer};
use machine::DeviceFormat;
use serde_json::{Value, json};
use spyre_compiler::bundle::{Coordinate as C, OpSpecOperand};

pub(crate) struct RejectedFile {
    pub(crate) label: &'static str,
    pub(crate) files: Files,
    pub(crate) profile: Profile,
    /// Whether the fault violates later rules, too.
    pub(crate) has_consequences: bool,
}

pub(super) fn break_base(label: &'static str, base_name: &str, edit: impl FnOnce(&mut Files)) -> RejectedFile {
    break_files(label, find_valid_bundle(base_name), edit)
}

fn break_files(label: &'static str, base: Files, edit: impl FnOnce(&mut Files)) -> RejectedFile {
    break_converted(label, convert_to_release(base), edit)
}

/// Breaks a file of the release.
fn break_converted(label: &'static str, before: Files, edit: impl FnOnce(&mut Files)) -> RejectedFile {
    let mut files = before.clone();
    edit(&mut files);
    assert_ne!(files, before, "the edit for {label} changes nothing");
    RejectedFile { label, files, profile: Profile::Release1_0, has_consequences: false }
}

impl RejectedFile {
    pub(super) fn with_consequences(self) -> Self {
        Self { has_consequences: true, ..self }
    }
}

pub(super) fn set_member(path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| set(files, path, to)
}

fn remove_member(path: &'static str) -> impl FnOnce(&mut Files) {
    move |files| remove(files, path)
}

fn rename_everywhere(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("sdsc_0.json").unwrap();
    *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace(from, to).into_bytes();
}

/// Appends a copy of an entry of a list.
fn repeat_entry(files: &mut Files, list: &str) {
    json(files, "sdsc_0.json", |file| {
        let path = to_pointer(file, list);
        let entries = file.pointer_mut(&path).unwrap().as_array_mut().unwrap();
        entries.push(entries[0].clone());
    });
}

pub(super) const NODE: &str = "dsc/scheduleTree_/1";

/// Returns files with members that the schema does not have, requires, or has with another type.
fn broken_members() -> Vec<RejectedFile> {
    let handle =
        json!({"id": "7", "source": null, "aten_op": null, "ir_chain": [], "fused_from": [], "transform_history": []});
    let without = |member: &str| {
        let mut handle = handle.clone();
        handle.as_object_mut().unwrap().remove(member);
        set_member("op/debug_handle_", handle)
    };
    let with = |member: &str, value: Value| {
        let mut handle = handle.clone();
        handle[member] = value;
        set_member("op/debug_handle_", handle)
    };
    let history = |steps: Value| with("transform_history", steps);
    let mut with_source = handle.clone();
    with_source["source"] = json!({"file": "model.py", "start_line": 1});
    vec![
        break_base("sdsc_r2", "add", set_member("dsc/computeOp_/0/location", json!("Inner"))),
        break_base("sdsc_r2", "add", set_member("dsc/computeOp_/0/interimLabeledDs", json!([]))),
        break_base("sdsc_r2", "add", set_member("dsc/labeledDs_/0/memOrg_/hbm/dsOffset", json!(0))),
        break_base("sdsc_r2", "add", set_member("op/ldsShareInfo_", json!([]))),
        break_base("sdsc_r2", "add", set_member("op/target_", json!("card"))),
        break_base("sdsc_r2", "add", set_member("dsc/WkSplit", json!({}))),
        break_base("sdsc_r2", "add", set_member("dsc/N_/ij_", json!(4))),
        break_base("sdsc_r2", "symbolic rows", set_member("dsc/dimToSymbolMapping_/mb", json!([-1]))),
        break_base("sdsc_r2", "clip", set_member("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": ["31744"]}))),
        break_base("sdsc_r2", "clip", remove_member("dsc/constantInfo_/1/name_")),
        break_base("sdsc_r2", "add", remove_member("dsc/labeledDs_/0/dataFormat_")),
        break_base("sdsc_r2", "add", remove_member("dsc/labeledDs_/0/memOrg_")),
        break_base("sdsc_r2", "add", remove_member("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/elemArr")),
        break_base("sdsc_r2", "add", remove_member("dsc/coreIdsUsed_")),
        break_base("sdsc_r2", "add", remove_member("op/coreIdToDscSchedule")),
        break_base("sdsc_r2", "add", set_member("op/coreIdToDscSchedule/0", json!([[-1, 0, 0]]))),
        break_base("sdsc_r2", "add", set_member("dsc/scheduleTree_/1/isStartAddrSymbolic_", json!("yes"))),
        break_base("sdsc_r2", "add", set_member("dsc/labeledDs_/0/wordLength", json!(0))),
        break_base(
            "sdsc_r2",
            "add",
            set_member("dsc/scheduleTree_/1/startAddressCoreCorelet_/data_", json!({"[0]": "-1"})),
        ),
        break_base("sdsc_r2", "add", set_member("dsc/scheduleTree_/1/component_", json!(""))),
        break_base("sdsc_r2", "add", without("aten_op")),
        break_base("sdsc_r2", "add", without("fused_from")),
        break_base("sdsc_r2", "add", without("transform_history")),
        break_base("sdsc_r2", "add", history(json!([{"kind": "nonsense", "pass_name": "fuse", "reason": null}]))),
        break_base("sdsc_r2", "add", history(json!([{"kind": "fusion", "pass_name": "fuse"}]))),
        break_base("sdsc_r2", "add", history(json!([5]))),
        break_base("sdsc_r2", "add", history(json!([["fusion", "fuse", null]]))),
        break_base("sdsc_r2", "add", with("fused_from", json!([{"id": "8"}]))),
        break_base("sdsc_r2", "add", with("fused_from", json!([with_source]))),
        break_base("sdsc_r2", "add", set_member("op/debug_handle_", json!(["7", null, null, [], [], []]))),
        break_base("sdsc_r2", "add", set_member("dsc/scheduleTree_/1/coordinates_", json!([]))),
        break_base("sdsc_r2", "add", set_member("dsc/computeOp_/0/attributes_", json!([]))),
        break_base("sdsc_r2", "add", set_member("dsc/labeledDs_/0/memOrg_", json!([]))),
        break_base("sdsc_r2", "add", set_member("op/numWkSlicesPerDim_", json!({}))),
        break_base("sdsc_r2", "add", set_member("op/coreIdToWkSlice_", json!({}))),
        break_base("sdsc_r2", "add", set_member("dsc/scheduleTree_/1/layoutDimOrder_", json!([]))),
        break_base("sdsc_r2", "add", set_member("dsc/scheduleTree_/1/maxDimSizes_", json!([]))),
        break_base("sdsc_r2", "add", set_member("dsc/scheduleTree_/1/coordinates_/coordInfo", json!({}))),
        break_base("sdsc_r2", "add", set_member("dsc/labeledDs_/0/scale_", json!([]))),
    ]
}

fn broken_tensors() -> Vec<RejectedFile> {
    let many = |files: &mut Files| {
        for list in ["dsc/labeledDs_", "dsc/scheduleTree_"] {
            (0..6).for_each(|_| repeat_entry(files, list));
        }
        for tensor in 3..9 {
            set(files, &format!("dsc/labeledDs_/{tensor}/ldsIdx_"), json!(tensor));
            set(files, &format!("dsc/labeledDs_/{tensor}/dsName_"), json!(format!("Tensor{tensor}")));
            set(files, &format!("dsc/scheduleTree_/{tensor}/ldsIdx_"), json!(tensor));
            set(files, &format!("dsc/scheduleTree_/{tensor}/name_"), json!(format!("allocate-Tensor{tensor}_hbm")));
        }
    };
    vec![
        break_base(
            "sdsc_r104",
            "add",
            set_member("dsc/scheduleTree_/1/coordinates_/coordInfo/out/folds/dim_prop_attr/3/factor_", json!(0)),
        )
        .with_consequences(),
        break_base("sdsc_r104", "add", set_member("op/sdscFolds_/dim_prop_attr/0/factor_", json!(0))),
        break_base("sdsc_r105", "add", many),
        break_base("sdsc_r106", "add", set_member("dsc/scheduleTree_/1/name_", json!("allocate-Tensor0_hbm"))),
        break_base("sdsc_r106", "add", set_member("dsc/scheduleTree_/1/prev_", json!("nobody"))),
        break_base("sdsc_r106", "add", set_member("dsc/scheduleTree_/1/prev_", json!("allocate-Tensor1_hbm"))),
        break_base("sdsc_r106", "add", set_member("dsc/labeledDs_/1/ldsIdx_", json!(2))),
        break_base("sdsc_r106", "add", set_member("dsc/labeledDs_/1/dsName_", json!("Tensor0"))).with_consequences(),
        break_base("sdsc_r107", "add", set_member("dsc/labeledDs_/1/memOrg_/hbm/isPresent", json!(0))),
        break_base("sdsc_r107", "add", set_member("dsc/labeledDs_/1/memOrg_/hbm/isPresent", json!(2)))
            .with_consequences(),
        break_base("sdsc_r107", "add", set_member("dsc/labeledDs_/1/memOrg_/hbm/isZeroPadded", json!(1))),
        break_base(
            "sdsc_r107",
            "add",
            set_member("dsc/labeledDs_/1/memOrg_/hbm/allocateNode_", json!("allocate-Tensor0_hbm")),
        ),
        break_base("sdsc_r108", "add", set_member("dsc/computeOp_/0/inputLabeledDs/1", json!("Tensor1"))),
        break_base(
            "sdsc_r108",
            "gather",
            set_member("dsc/computeOp_/0/indirectAccessIndexLabeledDs/0", json!("Tensor1-idx1")),
        ),
        break_base("sdsc_r108", "add", set_member("dsc/computeOp_/0/outputLabeledDs", json!([]))),
        break_base("sdsc_r109", "gather", set_member("dsc/labeledDs_/0/dataFormat_", json!("IEEE_FP32"))),
        break_base("sdsc_r109", "gather", set_member("dsc/scheduleTree_/0/indexTensorType_", json!("row"))),
        break_base("sdsc_r112", "add", |files| {
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_attr/1/label_"), json!("core"));
        }),
        break_base("sdsc_r112", "add", |files| {
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/2"), json!({"Map": {}}))
        }),
        break_base("sdsc_r192", "add", |files| {
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/1"), json!({"Map": {}}))
        }),
        break_base("sdsc_r112", "add", |files| {
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/0"), json!({"Const": {}}))
        }),
        break_base("sdsc_r113", "add", set_member("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/elemArr", json!(2))),
        break_base("sdsc_r167", "chain", |files| set_starts(files, "13", 2)),
        break_base("sdsc_r167", "chain", |files| set_starts(files, "-128", 2)),
        break_base("sdsc_r113", "add", set_member("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/spatial", json!(0))),
        break_base("sdsc_r122", "add", |files| {
            set(files, &format!("{NODE}/nonUnifiedAllocInHBM_"), json!(true));
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/0"), json!({"Const": {}}));
            set(files, &format!("{NODE}/startAddressCoreCorelet_/data_"), json!({"[0, 0, 0]": "-5"}));
            replace_text(files, "%arg_1_core_4096, %arg_1_core_8192, %arg_1_core_12288, ", "");
            replace_text(files, "-6, -7, -8, ", "");
        }),
        break_base("sdsc_r123", "add", set_member("dsc/primaryDsInfo_/OUTPUT/stickRepl_", json!([1, 1]))),
        break_base("sdsc_r123", "add", set_member("dsc/primaryDsInfo_/OUTPUT/stickRepl_", json!([0]))),
        break_base(
            "sdsc_r129",
            "add",
            set_member("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/padding", json!("pad")),
        ),
        break_base("sdsc_r134", "add", set_member("dsc/scheduleTree_/1/nodeType_", json!("free"))),
        break_base("sdsc_r134", "add", set_member("dsc/computeOp_/0/exUnit", json!("pe"))),
        break_base("sdsc_r134", "add", set_member("dsc/computeOp_/0/attributes_/fidelity_", json!("high"))),
    ]
}

/// Returns a file of the release in which cores divide a symbolic size: the starts of their slices are offsets from a
/// buffer.
pub(crate) fn divided_size() -> Files {
    let mut files = convert_to_release(find_valid_bundle("symbolic"));
    let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
    let moved: Vec<String> = text
        .lines()
        .map(|line| match line.trim().split_once(" = arith.constant ") {
            Some((name, number)) if name.starts_with("%sym_") => {
                format!("{name}_offset = arith.constant {number}\n{name} = arith.addi %arg_0, {name}_offset : index")
            }
            _ => line.to_owned(),
        })
        .collect();
    assert_ne!(moved.join("\n"), text.trim_end(), "no start is a number");
    files.insert("bundle.mlir".to_owned(), moved.join("\n").into_bytes());
    files
}

/// Sets the granularity of the rows of a core.
fn set_granularity(to: i64) -> impl FnOnce(&mut Files) {
    move |files| {
        for stage in ["ss_", "el_"] {
            set(files, &format!("dsc/dataStageParam_/0/{stage}/symbolicDimInfo_/mb/granularity_"), json!(to));
        }
    }
}

/// Replaces core 3 by core 7 in a map over cores.
fn replace_core(files: &mut Files, member: &str) {
    json(files, "sdsc_0.json", |file| {
        let path = to_pointer(file, &format!("op/{member}"));
        let by_core = file.pointer_mut(&path).unwrap().as_object_mut().unwrap();
        let last = by_core.remove("3").unwrap();
        by_core.insert("7".to_owned(), last);
    });
}

fn broken_divisions() -> Vec<RejectedFile> {
    let schedule = |steps: Value| {
        move |files: &mut Files| {
            (0..4).for_each(|core| set(files, &format!("op/coreIdToDscSchedule/{core}"), steps.clone()))
        }
    };
    vec![
        break_base("sdsc_r110", "add", schedule(json!([[-1, -1, 0, 0]]))),
        break_base("sdsc_r110", "add", schedule(json!([[-1, 1, 0, 0]]))),
        break_base("sdsc_r110", "add", schedule(json!([[0, -1, 0, 1], [-1, 0, 1, 0]]))),
        break_base("sdsc_r110", "add", schedule(json!([[-1, 0, 2, 0]]))),
        break_base("sdsc_r110", "add", set_member("op/coreIdToDscSchedule/3", json!([[-1, 0, 0, 1]]))),
        break_base("sdsc_r111", "add", set_member("op/coreIdToDsc_/3", json!(1))),
        break_base("sdsc_r23", "add", set_member("dsc/coreIdsUsed_", json!([0, 1, 2, 2]))).with_consequences(),
        break_base("sdsc_r29", "symbolic rows", remove_member("dsc/dataStageParam_/0/ss_/symbolicDimInfo_/mb"))
            .with_consequences(),
        break_base("sdsc_r121", "symbolic rows", set_granularity(24)),
        break_base(
            "sdsc_r121",
            "symbolic rows",
            set_member("dsc/dataStageParam_/0/el_/symbolicDimInfo_/mb/maxSize_", json!(64)),
        ),
        break_base("sdsc_r121", "symbolic rows", set_granularity(32)),
        break_converted("sdsc_r121", divided_size(), |files| {
            set(files, "dsc/N_/symbolicDimInfo_", json!({"mb": {"maxSize_": 128, "granularity_": 2}}));
        }),
        break_converted("sdsc_r121", divided_size(), |files| {
            replace_text(files, "granularity=64", "granularity=2");
            replace_text(files, "granularity=64", "granularity=2");
            set_granularity(1)(files);
        }),
        break_base("sdsc_r156", "symbolic rows", set_member("dsc/N_/mb_", json!(128))),
        break_converted("sdsc_r157", divided_size(), |files| {
            let start = "%sym_4 = arith.addi %arg_0, %sym_4_offset : index";
            replace_text(files, start, "%sym_4 = arith.constant 4096 : index");
        }),
        RejectedFile {
            label: "sdsc_r157",
            files: convert_to_release(find_valid_bundle("symbolic")),
            profile: Profile::Release1_0,
            has_consequences: false,
        },
        break_base("sdsc_r128", "add", set_member("op/datadscs_", json!([]))),
        break_base("sdsc_r128", "add", set_member("op/datadscs_", json!([{"copy": {}}]))),
        break_base("sdsc_r130", "pooling", set_member("dsc/N_/paddingSizes_/i/totalSize_", json!(7))),
        break_base("sdsc_r130", "pooling", set_member("dsc/N_/paddingSizes_/i/totalSize_", json!("N/A"))),
        break_base("sdsc_r2", "pooling", set_member("dsc/N_/paddingSizes_/i/totalSize_", json!("none"))),
        break_base("sdsc_r2", "pooling", set_member("dsc/N_/paddingSizes_/i/totalSize_", json!(0))),
        break_base("sdsc_r2", "pooling", set_member("dsc/N_/paddingSizes_/i/windowDim_", json!(""))),
        break_base(
            "sdsc_r130",
            "pooling",
            set_member("dsc/dataStageParam_/0/ss_/paddingSizes_/i/padFront_", json!(-1)),
        )
        .with_consequences(),
        break_base("sdsc_r131", "add", set_member("op/coreletFoldProp_/factor_", json!(3))),
        break_base("sdsc_r131", "add", set_member("dsc/numCoreletsUsed_", json!(4))),
        break_base("sdsc_r23", "add", |files| {
            replace_core(files, "coreIdToDsc_");
        })
        .with_consequences(),
        break_base("sdsc_r23", "add", |files| {
            replace_core(files, "coreIdToWkSlice_");
        })
        .with_consequences(),
        // The last slice ends the dimension, and is the smallest.
        break_base("sdsc_r132", "add", set_member("dsc/dataStageParam_/0/el_/mb_", json!(31))),
        break_base("sdsc_r132", "add", set_member("dsc/dataStageParam_/0/el_/mb_", json!(64))),
        break_base("sdsc_r132", "add", set_member("dsc/dataStageParam_/0/el_/out_", json!(128))),
        break_base("sdsc_r132", "add", |files| split_description(files, [48, 32])),
        break_base("sdsc_r135", "add", set_member("dsc/pdsRelation_", json!({"isPdsReuse": 2}))),
        break_base(
            "sdsc_r193",
            "add",
            set_member("dsc/dataStageParam_/0/ss_/maxSymbolicVolume_", json!({"unknown_": 1})),
        ),
        break_base(
            "sdsc_r193",
            "add",
            set_member("dsc/dataStageParam_/0/el_/maxSymbolicVolume_", json!({"[\"mb_\"]": 0})),
        ),
        break_base("sdsc_r193", "add", set_member("dsc/dataStageParam_/0/ss_/coreletSplit_", json!({"x": [1, 1]}))),
        break_base("sdsc_r194", "add", set_member("dsc/scheduleTree_/1/maxDimSizes_", json!([0, -1]))),
        break_base("sdsc_r194", "add", set_member("dsc/scheduleTree_/1/maxDimSizes_", json!([-1, 100]))),
        break_base("sdsc_r194", "add", set_member("dsc/scheduleTree_/1/maxDimSizes_", json!([-1, 512]))),
    ]
}

/// Returns a top-k of a tensor with two stick dimensions in addition to the searched one.
fn top_k_of_two() -> Files {
    let tensor = |searched: usize, size: i64| {
        operand(&[1, size, 64, 64], vec![C::floordiv(0, 64), C::dim(searched), C::dim(3), C::modulo(0, 64)])
    };
    emit_ops(vec![op("topkvalue", &[(64, 1), (4, 1), (256, 1), (64, 1)], 0, vec![tensor(2, 256), tensor(1, 4)])])
}

/// Applies a function to a matrix in single precision.
fn single_precision(function: &str) -> Files {
    let tensor = || OpSpecOperand {
        format: DeviceFormat::IeeeFp32,
        ..operand(&[4, 64, 32], vec![C::floordiv(1, 32), C::dim(0), C::modulo(1, 32)])
    };
    emit_ops(vec![op(function, &[(64, 1), (128, 1)], 0, vec![tensor(), tensor()])])
}

fn broken_families() -> Vec<RejectedFile> {
    let blocks = |files: &mut Files| {
        set(files, "dsc/primaryDsInfo_/OUTPUT/stickDimOrder_", json!(["mb", "out"]));
        set(files, "dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([2, 32]));
        set(files, "dsc/labeledDs_/0/scale_", json!([-1, 1]));
    };
    let other_sticks = |files: &mut Files| {
        json(files, "sdsc_0.json", |file| {
            let path = to_pointer(file, "dsc/primaryDsInfo_");
            let sizes = file.pointer(&to_pointer(file, "dsc/N_")).unwrap().clone();
            let output = &mut file.pointer_mut(&path).unwrap()["OUTPUT"];
            let is_other = |label: &&Value| {
                output["stickDimOrder_"][0] != **label && sizes[format!("{}_", label.as_str().unwrap())] == 64
            };
            let other = output["layoutDimOrder_"].as_array().unwrap().iter().find(is_other).unwrap().clone();
            let (other, known) = (other.as_str().unwrap().to_owned(), output["stickDimOrder_"][0].clone());
            output["stickDimOrder_"] = json!([other]);
            // The folds of both dimensions are those of the other sticks.
            let nodes = file.pointer_mut(&to_pointer(file, "dsc/scheduleTree_")).unwrap().as_array_mut().unwrap();
            let dims = &mut nodes[0]["coordinates_"]["coordInfo"];
            let known = known.as_str().unwrap();
            let (one, two) = (dims[&other].take(), dims[known].take());
            (dims[&other], dims[known]) = (two, one);
        });
    };
    vec![
        break_base("sdsc_r114", "add", blocks),
        break_files("sdsc_r115", top_k_of_two(), other_sticks),
        break_base("sdsc_r161", "add", |files| {
            let bytes = files.get_mut("sdsc_0.json").unwrap();
            *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace("SEN169_FP16", "BFLOAT16").into_bytes();
        }),
        break_files("sdsc_r161", single_precision("exp"), |files| rename_everywhere(files, "exp", "tanh")),
        break_files("sdsc_r161", single_precision("neg"), |files| rename_everywhere(files, "neg", "sqrt")),
        break_base("sdsc_r161", "matmul", |files| rename_everywhere(files, "batchmatmul", "batchmatmulint4")),
        break_converted("sdsc_r162", find_legal("constants of a quantization"), |files| {
            set(files, "dsc/primaryDsInfo_/OUTPUT/stickDimOrder_", json!(["mb", "out"]));
            set(files, "dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([2, 64]));
        }),
        break_converted("sdsc_r163", find_legal("sticks of 4-bit blocks"), |files| {
            set(files, "dsc/primaryDsInfo_/INPUT/stickSize_", json!([8, 2, 16]));
        }),
        break_converted("sdsc_r163", find_legal("sticks of 4-bit blocks"), |files| {
            set(files, "dsc/primaryDsInfo_/KERNEL/stickDimOrder_", json!(["out", "in"]));
            set(files, "dsc/primaryDsInfo_/KERNEL/stickSize_", json!([64, 4]));
        }),
        break_base("sdsc_r116", "restickify", |files| {
            for tensor in 0..2 {
                set(files, &format!("dsc/labeledDs_/{tensor}/dataFormat_"), json!("BFLOAT16"));
            }
            set(files, "dsc/computeOp_/0/attributes_/dataFormat_", json!("BFLOAT16"));
        }),
        break_base("sdsc_r117", "add", set_member("dsc/maskingConstId_", json!(3))),
        break_base("sdsc_r117", "padded sum", remove_member("dsc/maskingConstId_")),
        break_base("sdsc_r51", "matmul", |files| {
            set(files, "dsc/computeOp_/0/inputLabeledDs", json!(["Tensor1-idx1", "Tensor0-idx0"]));
        })
        .with_consequences(),
        break_base("sdsc_r118", "add", |files| rename_everywhere(files, "\"add\"", "\"greaterthan\"")),
        break_base("sdsc_r118", "add", |files| rename_everywhere(files, "\"add\"", "\"fly\"")),
        break_base("sdsc_r150", "relayout", remove_member("dsc/scheduleTree_/1/coordinates_/coreIdToWkSlice_/3")),
        break_base("sdsc_r151", "relayout", |files| {
            (0..4).for_each(|core| {
                set(files, &format!("{NODE}/startAddressCoreCorelet_/data_/[{core}, 0, 0]"), json!("128"))
            });
        }),
        break_base("sdsc_r118", "columns", |files| rename_everywhere(files, "\"sumnonstick\"", "\"prodnonstick\"")),
        break_base("sdsc_r133", "clip", set_member("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [70000]}))),
        break_base("sdsc_r133", "clip", set_member("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [1, 2]}))),
        break_base(
            "sdsc_r133",
            "clip",
            set_member("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [1], "[1, 0, 0]": [1]})),
        ),
        break_base("sdsc_r38", "add", set_member("dsc/labeledDs_/1/dataFormat_", json!("FP16"))).with_consequences(),
        break_base("sdsc_r38", "add", set_member("dsc/labeledDs_/1/wordLength", json!(0.5))).with_consequences(),
        break_base("sdsc_r62", "clip", remove_member("dsc/constantInfo_/1")),
    ]
}

fn broken_texts() -> Vec<RejectedFile> {
    let runs_twice = |files: &mut Files| {
        let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
        let execute = text.lines().find(|line| line.contains("sdsc_execute")).unwrap().to_owned();
        files.insert("bundle.mlir".to_owned(), text.replace(&execute, &format!("{execute}\n{execute}")).into_bytes());
    };
    let other_ids = |files: &mut Files| {
        runs_twice(files);
        let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
        let (first, second) = text.rsplit_once("[-1, -2, ").unwrap();
        files.insert("bundle.mlir".to_owned(), format!("{first}[-2, -1, {second}").into_bytes());
    };
    let practice = |label, base, edit: &dyn Fn(&mut Files)| {
        let mut files = find_valid_bundle(base);
        edit(&mut files);
        RejectedFile { label, files, profile: Profile::TorchSpyre2026_09, has_consequences: false }
    };
    vec![
        RejectedFile {
            label: "sdsc_r153",
            files: convert_to_release(widened_sum()),
            profile: Profile::Release1_0,
            has_consequences: false,
        },
        break_base("sdsc_r119", "add", runs_twice),
        practice("sdsc_r120", "add", &other_ids),
        practice("sdsc_r155", "nest", &|files| replace_text(files, "%c1 = arith.constant 1", "%c1 = arith.constant 2")),
        practice("sdsc_r155", "nest", &|files| bound_loop_by_size(files, 3, 2)),
        practice("sdsc_r155", "nest", &|files| bound_loop_by_size(files, 4, 0)),
        break_base("sdsc_r124", "nest", |files| bound_loop_by_size(files, 4, 1)),
        break_base("sdsc_r124", "nest", |files| replace_text(files, "to %loop_bound_1", "to %arg_0")),
        break_base("sdsc_r124", "nest", |files| {
            replace_text(files, "%c1 = arith.constant 1", "%c1 = arith.constant 0")
        }),
        break_base("sdsc_r168", "add", |files| {
            let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
            let function = text.trim_end().strip_prefix("module {").unwrap().strip_suffix('}').unwrap().to_owned();
            files.insert("bundle.mlir".to_owned(), function.into_bytes());
        }),
        break_base("sdsc_r125", "nest", |files| {
            replace_text(files, "allocate 8192 bytes", "allocate 17179869184 bytes")
        }),
        break_base("sdsc_r126", "nest", |files| {
            let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
            let line =
                text.lines().find(|line| line.contains("extract value from %arg_0_base_addr")).unwrap().to_owned();
            let inner = "step %c1 {\n";
            let at = text.rfind(inner).unwrap() + inner.len();
            let text = format!("{}{}\n{}", &text[..at], line.replace("%arg_0 =", "%again ="), &text[at..]);
            files.insert("bundle.mlir".to_owned(), text.into_bytes());
        }),
        break_base("sdsc_r127", "nest", |files| {
            let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
            let apply = text.lines().find(|line| line.contains("affine.apply")).unwrap().to_owned();
            let (before, symbol) = apply.split_once(")[").unwrap();
            let moved = format!("%moved = arith.addi {}, %c0 : index\n{before})[%moved]", symbol.trim_end_matches(']'));
            files.insert("bundle.mlir".to_owned(), text.replace(&apply, &moved).into_bytes());
        }),
    ]
}

/// Makes the inner loop of a bundle run up to a symbolic size, which is a multiple of `granularity`, by a step.
fn bound_loop_by_size(files: &mut Files, granularity: i64, step: i64) {
    let kind = format!("!sdscbundle.input_arg<index, granularity={granularity}, max_value={granularity}>");
    replace_text(files, ") {\n", &format!(", %dim_0_base: {kind}) {{\n"));
    let extract = format!("%dim_0 = sdscbundle.input_arg_extract value from %dim_0_base : {kind} -> index");
    let zero = "%c0 = arith.constant 0 : index\n";
    replace_text(files, zero, &format!("{zero}{extract}\n%step_1 = arith.constant {step} : index\n"));
    replace_text(files, "to %loop_bound_1 step %c1", "to %dim_0 step %step_1");
}

pub(crate) fn all_broken() -> Vec<RejectedFile> {
    [broken_members, broken_tensors, broken_folds, broken_divisions, broken_families, broken_texts]
        .into_iter()
        .flat_map(|group| group())
        .collect()
}
