//! Legal files of release 1.0.0 whose sizes, cores, tensors, windows or indices have another structure than those of
//! torch-spyre.

use super::legal::{LegalFile, edit_base, replace_numbers_in_text};
use crate::check_bundle::bundles::Files;
use crate::check_bundle::edits::{json, remove, set, to_pointer};
use serde_json::{Value, json};

/// Gives the last of four cores 8 rows, and the others 40 each.
fn shorten_last_slice(files: &mut Files) {
    set(files, "dsc/dataStageParam_/0/ss_/mb_", json!(40));
    set(files, "dsc/dataStageParam_/0/el_/mb_", json!(8));
    replace_numbers_in_text(
        files,
        [("core_offset_4096 = arith.constant 4096", 5120), ("core_offset_8192 = arith.constant 8192", 10240)],
    );
    replace_numbers_in_text(files, [("core_offset_12288 = arith.constant 12288", 15360), ("", 0)]);
}

/// Edits the two stages of a core.
fn edit_stages(files: &mut Files, mut edit: impl FnMut(&mut Value)) {
    json(files, "sdsc_0.json", |file| {
        let path = to_pointer(file, "dsc/dataStageParam_/0");
        let stages = file.pointer_mut(&path).unwrap();
        ["ss_", "el_"].into_iter().for_each(|stage| edit(&mut stages[stage]));
    });
}

fn unset_other_dims(files: &mut Files) {
    let unset = ["x_", "in_", "ki_"];
    unset.into_iter().for_each(|dim| set(files, &format!("dsc/N_/{dim}"), json!(-1)));
    edit_stages(files, |stage| unset.into_iter().for_each(|dim| stage[dim] = json!(-1)));
}

fn bound_sizes_of_op(files: &mut Files) {
    set(files, "dsc/N_/mb_", json!(-1));
    set(files, "dsc/N_/symbolicDimInfo_", json!({"mb_": {"maxSize_": 128, "granularity_": 64}}));
    edit_stages(files, |stage| {
        stage["mb_"] = json!(-1);
        stage["symbolicDimInfo_"] = json!({});
    });
}

/// Renumbers the cores of an op on four cores.
fn renumber_cores(files: &mut Files, cores: [i64; 4]) {
    json(files, "sdsc_0.json", |file| {
        let operation = file.as_object_mut().unwrap().values_mut().next().unwrap();
        let renumber = |map: &mut Value, key: &dyn Fn(i64) -> String| {
            let members = map.as_object().unwrap().clone();
            *map = (0..4).map(|core| (key(cores[core as usize]), members[&key(core)].clone())).collect();
        };
        for member in ["coreIdToDsc_", "coreIdToDscSchedule", "coreIdToWkSlice_"] {
            renumber(&mut operation[member], &|core| core.to_string());
        }
        let dsc = operation["dscs_"][0].as_object_mut().unwrap().values_mut().next().unwrap();
        dsc["coreIdsUsed_"] = json!(cores);
        for node in dsc["scheduleTree_"].as_array_mut().unwrap() {
            renumber(&mut node["startAddressCoreCorelet_"]["data_"], &|core| format!("[{core}, 0, 0]"));
        }
    });
}

fn reverse_list(files: &mut Files, list: &str) {
    json(files, "sdsc_0.json", |file| {
        let path = to_pointer(file, list);
        file.pointer_mut(&path).unwrap().as_array_mut().unwrap().reverse();
    });
}

pub(super) fn legal_divisions() -> Vec<LegalFile> {
    vec![
        edit_base("a last slice that is smaller", "add", shorten_last_slice),
        edit_base("a smaller last slice without slice counts", "add", |files| {
            shorten_last_slice(files);
            remove(files, "op/numWkSlicesPerDim_");
        }),
        edit_base("dimensions of size -1", "add", unset_other_dims),
        edit_base("bounds of a symbolic size in N_", "symbolic", bound_sizes_of_op),
        edit_base("cores 2, 5, 7 and 9", "add", |files| renumber_cores(files, [2, 5, 7, 9])),
        edit_base("cores in another order", "add", |files| set(files, "dsc/coreIdsUsed_", json!([3, 1, 0, 2]))),
        edit_base("nodes in another order", "add", |files| reverse_list(files, "dsc/scheduleTree_")),
        edit_base("tensors in another order", "add", |files| reverse_list(files, "dsc/labeledDs_")),
    ]
}

/// Edits the windows of the op and of a core.
fn edit_windows(files: &mut Files, edit: impl Fn(&mut serde_json::Map<String, Value>)) {
    json(files, "sdsc_0.json", |file| {
        for place in ["dsc/N_", "dsc/dataStageParam_/0/ss_", "dsc/dataStageParam_/0/el_"] {
            let path = to_pointer(file, &format!("{place}/paddingSizes_"));
            let windows = file.pointer_mut(&path).unwrap().as_object_mut().unwrap();
            windows.values_mut().for_each(|window| edit(window.as_object_mut().unwrap()));
        }
    });
}

pub(super) fn legal_windows() -> Vec<LegalFile> {
    vec![
        edit_base("windows without a total", "pooling", |files| {
            edit_windows(files, |window| drop(window.remove("totalSize_").unwrap()));
        }),
        edit_base("windows without a dimension", "pooling", |files| {
            edit_windows(files, |window| drop(window.remove("windowDim_").unwrap()));
        }),
        edit_base("window dimensions with an underscore", "pooling", |files| {
            edit_windows(files, |window| {
                let dim = window["windowDim_"].as_str().unwrap().to_owned();
                window["windowDim_"] = json!(format!("{dim}_"));
            });
        }),
        edit_base("a total that is not stated", "split pooling", |files| {
            for stage in ["ss_", "el_"] {
                let path = format!("dsc/dataStageParam_/0/{stage}/paddingSizes_/i");
                remove(files, &format!("{path}/windowDim_"));
                set(files, &format!("{path}/totalSize_"), json!("N/A"));
            }
        }),
    ]
}

/// Gives the class of index tensors the sticks of the example of the release.
fn widen_index_sticks(files: &mut Files) {
    set(files, "dsc/labeledDs_/0/dataFormat_", json!("IEEE_INT32"));
    set(files, "dsc/primaryDsInfo_/KERNEL_IDX/stickSize_", json!([64]));
}

pub(super) fn legal_tensors() -> Vec<LegalFile> {
    vec![
        edit_base("an index tensor that alone names its partner", "gathered rows", |files| {
            remove(files, "dsc/scheduleTree_/1/relatedIndirectAccessAlloc_");
        }),
        edit_base("an index tensor without a type", "gathered rows", |files| {
            remove(files, "dsc/scheduleTree_/0/indexTensorType_");
        }),
        edit_base("index sticks of the example", "gathered rows", widen_index_sticks),
        edit_base("no constants as an object", "add", |files| set(files, "dsc/constantInfo_", json!({}))).canonical(),
        edit_base("constants with other numbers", "clip", |files| {
            json(files, "sdsc_0.json", |file| {
                let path = to_pointer(file, "dsc/constantInfo_");
                let constants = file.pointer_mut(&path).unwrap();
                *constants = json!({"4": constants["0"], "7": constants["1"]});
            });
        }),
        edit_base("symbols of dimensions with an underscore", "symbolic", |files| {
            set(files, "dsc/dimToSymbolMapping_", json!({"mb_": ["-1"]}));
        }),
        edit_base("a symbolic size without a name", "symbolic", |files| remove(files, "op/inputSymbolsAndTags_")),
        edit_base("names of other symbols", "symbolic", |files| {
            set(files, "op/inputSymbolsAndTags_", json!({"s0": "arg0.0"}));
        }),
    ]
}
