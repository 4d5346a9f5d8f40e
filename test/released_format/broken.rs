//! Files that break a rule of release 1.0.0, or of torch-spyre of September 2026, in one way each.

use super::{Profile, released};
use crate::check_bundle::bundles::{Files, base, emit_ops, op, operand};
use crate::check_bundle::edits::{json, pointer, remove, set, text};
use serde_json::{Value, json};
use spyre::bundle::Coordinate as C;

pub(crate) struct Broken {
    pub(crate) label: &'static str,
    pub(crate) files: Files,
    pub(crate) profile: Profile,
    /// Whether the fault breaks later rules too.
    pub(crate) has_consequences: bool,
}

fn broken(label: &'static str, base_name: &str, edit: impl FnOnce(&mut Files)) -> Broken {
    broken_of(label, base(base_name), edit)
}

fn broken_of(label: &'static str, base: Files, edit: impl FnOnce(&mut Files)) -> Broken {
    let before = released(base);
    let mut files = before.clone();
    edit(&mut files);
    assert_ne!(files, before, "the edit for {label} changes nothing");
    Broken { label, files, profile: Profile::Release1_0, has_consequences: false }
}

impl Broken {
    fn with_consequences(self) -> Self {
        Self { has_consequences: true, ..self }
    }
}

fn sets(path: &'static str, to: Value) -> impl FnOnce(&mut Files) {
    move |files| set(files, path, to)
}

fn removes(path: &'static str) -> impl FnOnce(&mut Files) {
    move |files| remove(files, path)
}

fn rename(files: &mut Files, from: &str, to: &str) {
    let bytes = files.get_mut("sdsc_0.json").unwrap();
    *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace(from, to).into_bytes();
}

/// Appends a copy of an entry of a list.
fn repeat(files: &mut Files, list: &str) {
    json(files, "sdsc_0.json", |file| {
        let path = pointer(file, list);
        let entries = file.pointer_mut(&path).unwrap().as_array_mut().unwrap();
        entries.push(entries[0].clone());
    });
}

const NODE: &str = "dsc/scheduleTree_/1";

/// Members that the schema does not have, lacks, or has in another type.
fn members() -> Vec<Broken> {
    let handle = json!({"id": "7", "source": null, "aten_op": null, "ir_chain": [], "fused_from": [], "transform_history": []});
    let without = |member: &str| {
        let mut handle = handle.clone();
        handle.as_object_mut().unwrap().remove(member);
        sets("op/debug_handle_", handle)
    };
    vec![
        broken("sdsc_r2", "add", sets("dsc/computeOp_/0/location", json!("Inner"))),
        broken("sdsc_r2", "add", sets("dsc/computeOp_/0/interimLabeledDs", json!([]))),
        broken("sdsc_r2", "add", sets("dsc/labeledDs_/0/memOrg_/hbm/dsOffset", json!(0))),
        broken("sdsc_r2", "add", sets("op/ldsShareInfo_", json!([]))),
        broken("sdsc_r2", "add", sets("op/target_", json!("card"))),
        broken("sdsc_r2", "add", sets("dsc/WkSplit", json!({}))),
        broken("sdsc_r2", "add", sets("dsc/N_/ij_", json!(4))),
        broken("sdsc_r2", "symbolic", sets("dsc/dimToSymbolMapping_/mb", json!([-1]))),
        broken("sdsc_r2", "clip", sets("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": ["31744"]}))),
        broken("sdsc_r2", "clip", removes("dsc/constantInfo_/1/name_")),
        broken("sdsc_r2", "add", removes("dsc/labeledDs_/0/dataFormat_")),
        broken("sdsc_r2", "add", removes("dsc/labeledDs_/0/memOrg_")),
        broken("sdsc_r2", "add", removes("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/elemArr")),
        broken("sdsc_r2", "add", removes("dsc/coreIdsUsed_")),
        broken("sdsc_r2", "add", removes("op/coreIdToDscSchedule")),
        broken("sdsc_r2", "add", sets("op/coreIdToDscSchedule/0", json!([[-1, 0, 0]]))),
        broken("sdsc_r2", "add", sets("dsc/scheduleTree_/1/isStartAddrSymbolic_", json!("yes"))),
        broken("sdsc_r2", "add", sets("dsc/labeledDs_/0/wordLength", json!(0))),
        broken("sdsc_r2", "add", sets("dsc/scheduleTree_/1/startAddressCoreCorelet_/data_", json!({"[0]": "-1"}))),
        broken("sdsc_r2", "add", without("aten_op")),
        broken("sdsc_r2", "add", without("fused_from")),
        broken("sdsc_r2", "add", without("transform_history")),
    ]
}

fn tensors() -> Vec<Broken> {
    let many = |files: &mut Files| {
        for list in ["dsc/labeledDs_", "dsc/scheduleTree_"] {
            (0..6).for_each(|_| repeat(files, list));
        }
        for tensor in 3..9 {
            set(files, &format!("dsc/labeledDs_/{tensor}/ldsIdx_"), json!(tensor));
            set(files, &format!("dsc/labeledDs_/{tensor}/dsName_"), json!(format!("Tensor{tensor}")));
            set(files, &format!("dsc/scheduleTree_/{tensor}/ldsIdx_"), json!(tensor));
            set(files, &format!("dsc/scheduleTree_/{tensor}/name_"), json!(format!("allocate-Tensor{tensor}_hbm")));
        }
    };
    vec![
        broken("sdsc_r104", "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/out/folds/dim_prop_attr/3/factor_", json!(0))),
        broken("sdsc_r105", "add", many),
        broken("sdsc_r106", "add", sets("dsc/scheduleTree_/1/name_", json!("allocate-Tensor0_hbm"))),
        broken("sdsc_r106", "add", sets("dsc/scheduleTree_/1/prev_", json!("nobody"))),
        broken("sdsc_r106", "add", sets("dsc/scheduleTree_/1/prev_", json!("allocate-Tensor1_hbm"))),
        broken("sdsc_r106", "add", sets("dsc/labeledDs_/1/ldsIdx_", json!(2))),
        broken("sdsc_r106", "add", sets("dsc/labeledDs_/1/dsName_", json!("Tensor0"))).with_consequences(),
        broken("sdsc_r107", "add", sets("dsc/labeledDs_/1/memOrg_/hbm/isPresent", json!(0))),
        broken("sdsc_r107", "add", sets("dsc/labeledDs_/1/memOrg_/hbm/isPresent", json!(2))).with_consequences(),
        broken("sdsc_r107", "add", sets("dsc/labeledDs_/1/memOrg_/hbm/isZeroPadded", json!(1))),
        broken("sdsc_r107", "add", sets("dsc/labeledDs_/1/memOrg_/hbm/allocateNode_", json!("allocate-Tensor0_hbm"))),
        broken("sdsc_r108", "add", sets("dsc/computeOp_/0/inputLabeledDs/1", json!("Tensor1"))),
        broken("sdsc_r108", "gather", sets("dsc/computeOp_/0/indirectAccessIndexLabeledDs/0", json!("Tensor1-idx1"))),
        broken("sdsc_r108", "add", sets("dsc/computeOp_/0/outputLabeledDs", json!([]))),
        broken("sdsc_r109", "gather", sets("dsc/labeledDs_/0/dataFormat_", json!("IEEE_FP32"))),
        broken("sdsc_r109", "gather", sets("dsc/scheduleTree_/0/indexTensorType_", json!("row"))),
        broken("sdsc_r112", "add", |files| {
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_attr/1/label_"), json!("core"));
        }),
        broken("sdsc_r112", "add", |files| set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/1"), json!({"Map": {}}))),
        broken("sdsc_r112", "add", |files| set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/0"), json!({"Const": {}}))),
        broken("sdsc_r113", "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/elemArr", json!(2))),
        broken("sdsc_r113", "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/spatial", json!(0))),
        broken("sdsc_r122", "add", |files| {
            set(files, &format!("{NODE}/nonUnifiedAllocInHBM_"), json!(true));
            set(files, &format!("{NODE}/startAddressCoreCorelet_/dim_prop_func/0"), json!({"Const": {}}));
            set(files, &format!("{NODE}/startAddressCoreCorelet_/data_"), json!({"[0, 0, 0]": "-5"}));
            text(files, "%arg_1_core_4096, %arg_1_core_8192, %arg_1_core_12288, ", "");
            text(files, "-6, -7, -8, ", "");
        }),
        broken("sdsc_r123", "add", sets("dsc/primaryDsInfo_/OUTPUT/stickRepl_", json!([1, 1]))),
        broken("sdsc_r123", "add", sets("dsc/primaryDsInfo_/OUTPUT/stickRepl_", json!([0]))),
        broken("sdsc_r129", "add", sets("dsc/scheduleTree_/1/coordinates_/coordInfo/mb/padding", json!("pad"))),
        broken("sdsc_r134", "add", sets("dsc/scheduleTree_/1/nodeType_", json!("free"))),
        broken("sdsc_r134", "add", sets("dsc/computeOp_/0/exUnit", json!("pe"))),
        broken("sdsc_r134", "add", sets("dsc/computeOp_/0/attributes_/fidelity_", json!("high"))),
    ]
}

fn divisions() -> Vec<Broken> {
    let schedule = |steps: Value| {
        move |files: &mut Files| (0..4).for_each(|core| set(files, &format!("op/coreIdToDscSchedule/{core}"), steps.clone()))
    };
    vec![
        broken("sdsc_r110", "add", schedule(json!([[-1, -1, 0, 0]]))),
        broken("sdsc_r110", "add", schedule(json!([[-1, 1, 0, 0]]))),
        broken("sdsc_r110", "add", schedule(json!([[0, -1, 0, 1], [-1, 0, 1, 0]]))),
        broken("sdsc_r110", "add", schedule(json!([[-1, 0, 2, 0]]))),
        broken("sdsc_r110", "add", sets("op/coreIdToDscSchedule/3", json!([[-1, 0, 0, 1]]))),
        broken("sdsc_r111", "add", sets("op/coreIdToDsc_/3", json!(1))),
        broken("sdsc_r111", "add", sets("dsc/coreIdsUsed_", json!([0, 1, 2, 2]))),
        broken("sdsc_r121", "symbolic", removes("dsc/dataStageParam_/0/ss_/symbolicDimInfo_/mb")),
        broken("sdsc_r121", "symbolic", |files| {
            set(files, "dsc/dataStageParam_/0/ss_/symbolicDimInfo_/mb/granularity_", json!(24));
        }),
        broken("sdsc_r121", "symbolic", sets("dsc/N_/symbolicDimInfo_", json!({"mb": {"maxSize_": 128, "granularity_": 2}}))),
        broken("sdsc_r128", "add", sets("op/datadscs_", json!([]))),
        broken("sdsc_r128", "add", sets("op/datadscs_", json!([{"copy": {}}]))),
        broken("sdsc_r130", "pooling", sets("dsc/N_/paddingSizes_/i/totalSize_", json!(7))),
        broken("sdsc_r130", "pooling", sets("dsc/dataStageParam_/0/ss_/paddingSizes_/i/padFront_", json!(-1))),
        broken("sdsc_r131", "add", sets("op/coreletFoldProp_/factor_", json!(3))),
        broken("sdsc_r131", "add", sets("dsc/numCoreletsUsed_", json!(4))),
        broken("sdsc_r132", "add", |files| super::legal::two_descriptions(files, [48, 32])),
        broken("sdsc_r135", "add", sets("dsc/pdsRelation_", json!({"isPdsReuse": 2}))),
    ]
}

/// A top-k of a tensor with two dimensions of a stick besides the searched one.
fn top_k_of_two() -> Files {
    let tensor =
        |searched: usize, size: i64| operand(&[1, size, 64, 64], vec![C::floordiv(0, 64), C::dim(searched), C::dim(3), C::modulo(0, 64)]);
    emit_ops(vec![op("topkvalue", &[(64, 1), (4, 1), (256, 1), (64, 1)], 0, vec![tensor(2, 256), tensor(1, 4)])])
}

fn families() -> Vec<Broken> {
    let blocks = |files: &mut Files| {
        set(files, "dsc/primaryDsInfo_/OUTPUT/stickDimOrder_", json!(["mb", "out"]));
        set(files, "dsc/primaryDsInfo_/OUTPUT/stickSize_", json!([2, 32]));
        set(files, "dsc/labeledDs_/0/scale_", json!([-1, 1]));
    };
    let other_sticks = |files: &mut Files| {
        json(files, "sdsc_0.json", |file| {
            let path = pointer(file, "dsc/primaryDsInfo_");
            let sizes = file.pointer(&pointer(file, "dsc/N_")).unwrap().clone();
            let output = &mut file.pointer_mut(&path).unwrap()["OUTPUT"];
            let is_other = |label: &&Value| output["stickDimOrder_"][0] != **label && sizes[format!("{}_", label.as_str().unwrap())] == 64;
            let other = output["layoutDimOrder_"].as_array().unwrap().iter().find(is_other).unwrap().clone();
            output["stickDimOrder_"] = json!([other]);
        });
    };
    vec![
        broken("sdsc_r114", "add", blocks),
        broken_of("sdsc_r115", top_k_of_two(), other_sticks),
        broken("sdsc_r116", "restickify", |files| {
            for tensor in 0..2 {
                set(files, &format!("dsc/labeledDs_/{tensor}/dataFormat_"), json!("BFLOAT16"));
            }
            set(files, "dsc/computeOp_/0/attributes_/dataFormat_", json!("BFLOAT16"));
        }),
        broken("sdsc_r117", "add", sets("dsc/maskingConstId_", json!(3))),
        broken("sdsc_r118", "add", |files| rename(files, "\"add\"", "\"greaterthan\"")),
        broken("sdsc_r118", "add", |files| rename(files, "\"add\"", "\"fly\"")),
        broken("sdsc_r118", "columns", |files| rename(files, "\"sumnonstick\"", "\"prodnonstick\"")),
        broken("sdsc_r133", "clip", sets("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [70000]}))),
        broken("sdsc_r133", "clip", sets("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [1, 2]}))),
        broken("sdsc_r133", "clip", sets("dsc/constantInfo_/1/data_/data_", json!({"[0, 0, 0]": [1], "[1, 0, 0]": [1]}))),
        broken("sdsc_r38", "add", sets("dsc/labeledDs_/1/dataFormat_", json!("FP16"))),
        broken("sdsc_r38", "add", sets("dsc/labeledDs_/1/wordLength", json!(0.5))).with_consequences(),
        broken("sdsc_r62", "clip", removes("dsc/constantInfo_/1")),
    ]
}

fn texts() -> Vec<Broken> {
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
    let practice = |label, edit: &dyn Fn(&mut Files)| {
        let mut files = base("add");
        edit(&mut files);
        Broken { label, files, profile: Profile::TorchSpyre2026_09, has_consequences: false }
    };
    vec![
        broken("sdsc_r119", "add", runs_twice),
        practice("sdsc_r120", &other_ids),
        broken("sdsc_r124", "nest", |files| text(files, "to %loop_bound_1", "to %arg_0")),
        broken("sdsc_r124", "nest", |files| text(files, "%c1 = arith.constant 1", "%c1 = arith.constant 0")),
        broken("sdsc_r125", "nest", |files| text(files, "allocate 8192 bytes", "allocate 17179869184 bytes")),
        broken("sdsc_r126", "nest", |files| {
            let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
            let line = text.lines().find(|line| line.contains("extract value from %arg_0_base_addr")).unwrap().to_owned();
            let inner = "step %c1 {\n";
            let at = text.rfind(inner).unwrap() + inner.len();
            let text = format!("{}{}\n{}", &text[..at], line.replace("%arg_0 =", "%again ="), &text[at..]);
            files.insert("bundle.mlir".to_owned(), text.into_bytes());
        }),
        broken("sdsc_r127", "nest", |files| {
            let text = String::from_utf8(files["bundle.mlir"].clone()).unwrap();
            let apply = text.lines().find(|line| line.contains("affine.apply")).unwrap().to_owned();
            let (before, symbol) = apply.split_once(")[").unwrap();
            let moved = format!("%moved = arith.addi {}, %c0 : index\n{before})[%moved]", symbol.trim_end_matches(']'));
            files.insert("bundle.mlir".to_owned(), text.replace(&apply, &moved).into_bytes());
        }),
    ]
}

pub(crate) fn all() -> Vec<Broken> {
    [members, tensors, divisions, families, texts].into_iter().flat_map(|group| group()).collect()
}
